/* The status line (contract: progress.h). */
#include "evalcore/cli/progress.h"

#include <stdio.h>
#include <string.h>

#include "evalcore/base/shown.h"

void progress_init(struct progress *p, int live, int columns)
{
    memset(p, 0, sizeof *p);
    p->live = live;
    p->columns = columns;
}

void progress_duration(struct str *out, double seconds)
{
    long s = (long)(seconds + 0.5);
    if (s < 60)
        str_printf(out, "%ld s", s);
    else if (s < 3600)
        str_printf(out, "%ld min %02ld s", s / 60, s % 60);
    else
        str_printf(out, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

void progress_line(struct progress *p, const char *text)
{
    struct str clean = {0};
    shown_add(&clean, text, strlen(text));
    int n = (int)clean.len;
    if (n > p->columns - 1)
        n = p->columns - 1;
    fprintf(stderr, "\r%.*s%*s", n, str_text(&clean), p->shown > n ? p->shown - n : 0, "");
    fflush(stderr);
    p->shown = n;
    str_release(&clean);
}

void progress_end(struct progress *p)
{
    if (p->live && p->shown) {
        fprintf(stderr, "\r%*s\r", p->shown, "");
        fflush(stderr);
    }
    p->shown = 0;
}
