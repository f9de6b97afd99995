/* Reads and counts faults (contract: fault.h). This and main.c are the only places that call getenv: in this
 * way a test reaches the device of a worker process without a setting that passes through the whole program.
 */
#include "kernels/fault.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void fault_read(struct fault *f, const char *variable)
{
    static const char *const kinds[] = {
        "", "open:", "alloc:", "launch:", "replay:", "hang:", "few:", "nowgmma:", "card:", "slow:"};
    const char *text = getenv(variable);
    memset(f, 0, sizeof *f);
    for (int i = FAULT_OPEN; text && i <= FAULT_SLOW; i++) {
        size_t n = strlen(kinds[i]);
        char *end;
        long value = !strncmp(text, kinds[i], n) ? strtol(text + n, &end, 10) : 0;
        if (value > 0 && !*end)
            *f = (struct fault){(enum fault_kind)i, value, 0};
    }
}

int fault_due(struct fault *f, enum fault_kind kind)
{
    return f->kind == kind && (kind == FAULT_OPEN || ++f->seen == f->n);
}

void fault_wait(struct fault *f)
{
    struct timespec t = {f->n / 1000, f->n % 1000 * 1000000};
    while (f->kind == FAULT_SLOW && nanosleep(&t, &t))
        ;
    if (fault_due(f, FAULT_HANG))
        for (;;)
            pause();
}
