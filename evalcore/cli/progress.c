/* The status line (contract: progress.h). */
#include "evalcore/cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Before that many tokens the time went into prompts, and a speed would be a bad guess. */
enum { FIRST_PLAIN_SECONDS = 5, MAX_PLAIN_SECONDS = 60, ENOUGH_TOKENS = 2000 };

double progress_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_init(struct progress *p, int live, int columns, int quiet)
{
    memset(p, 0, sizeof *p);
    p->live = live;
    p->columns = columns;
    p->quiet = quiet;
    p->started = progress_clock();
    p->interval = FIRST_PLAIN_SECONDS;
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

void progress_text(struct str *out, const struct progress_now *n, double elapsed)
{
    str_printf(out, "%ld of %ld jobs", n->done, n->total);
    double speed = elapsed > 0 ? n->tokens / elapsed : 0;
    if (n->done || n->tokens >= ENOUGH_TOKENS) {
        if (speed >= 10000)
            str_printf(out, ", %.1fk tokens/s", speed / 1000);
        else
            str_printf(out, ", %.0f tokens/s", speed);
    }
    if (n->left >= 0) {
        str_puts(out, ", about ");
        progress_duration(out, n->left);
        str_puts(out, " left");
    }
}

void progress_line(struct progress *p, const char *text)
{
    int n = (int)strlen(text);
    if (n > p->columns - 1)
        n = p->columns - 1;
    fprintf(stderr, "\r%.*s%*s", n, text, p->shown > n ? p->shown - n : 0, "");
    fflush(stderr);
    p->shown = n;
}

int progress_is_due(const struct progress *p)
{
    double wait = p->live ? 0.2 : p->interval;
    return !p->quiet && progress_clock() - (p->drawn > 0 ? p->drawn : p->live ? 0 : p->started) >= wait;
}

void progress_show(struct progress *p, const struct progress_now *n)
{
    double now = progress_clock();
    if (!progress_is_due(p))
        return;
    struct str text = {0};
    progress_text(&text, n, now - p->started);
    if (p->live) {
        progress_line(p, text.data);
    } else {
        fprintf(stderr, "kveval: %s\n", text.data);
        p->interval = p->interval * 1.5 > MAX_PLAIN_SECONDS ? MAX_PLAIN_SECONDS : p->interval * 1.5;
    }
    p->drawn = now;
    str_release(&text);
}

void progress_end(struct progress *p)
{
    if (p->live && p->shown) {
        fprintf(stderr, "\r%*s\r", p->shown, "");
        fflush(stderr);
    }
    p->shown = 0;
}
