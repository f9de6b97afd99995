/* The CPU's device memory. Blocks of 256 KiB and more get a mapping of their own: the operating system zeroes
 * them when they are first touched and refuses them when they cannot fit. They use huge pages where the
 * system allows it, because with small pages a pass over the weights of a small model spends its time looking
 * up pages. A 64-byte header before the block says what to give back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/cpu/cpu.h"

struct header {
    void *base;
    size_t mapped; /* 0: from the heap */
};

enum { HEADER_BYTES = 64 };
static const size_t map_from = (size_t)256 << 10, huge = (size_t)2 << 20;

void *cpu_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t room = (bytes + HEADER_BYTES + 63) / 64 * 64;
    struct header h = {NULL, 0};
    char *p;
    if (room < map_from) {
        h.base = aligned_alloc(64, room);
        if (!h.base)
            return NULL;
        memset(h.base, 0, room);
        p = (char *)h.base + HEADER_BYTES;
    } else {
        room = (room + huge - 1) / huge * huge;
        h.mapped = room + huge;
        h.base = mmap(NULL, h.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (h.base == MAP_FAILED)
            return NULL;
        uintptr_t start = ((uintptr_t)h.base + HEADER_BYTES + huge - 1) / huge * huge;
        madvise((void *)start, room, MADV_HUGEPAGE);
        p = (char *)start;
    }
    memcpy(p - HEADER_BYTES, &h, sizeof h);
    return p;
}

void cpu_release(void *p)
{
    struct header h;
    if (!p)
        return;
    memcpy(&h, (char *)p - HEADER_BYTES, sizeof h);
    if (h.mapped)
        munmap(h.base, h.mapped);
    else
        free(h.base);
}
