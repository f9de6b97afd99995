#ifndef EVALCORE_CLI_PROGRESS_H
#define EVALCORE_CLI_PROGRESS_H

#include "evalcore/base/str.h"

/* The status line of long work, on standard error: on a terminal it is redrawn in place, at most five times a
 * second; elsewhere a plain line is printed now and then. */
struct progress {
    int live, columns, quiet;
    double started, drawn; /* seconds of the monotonic clock; drawn 0: never */
    double interval;       /* between plain lines; grows */
    int shown;             /* characters on the line now */
};

struct progress_now {
    long done, total; /* jobs */
    double tokens;    /* decoded since the start */
    double left;      /* seconds; below 0: not known yet */
};

void progress_init(struct progress *p, int live, int columns, int quiet);
/* Would progress_show() draw now? */
int progress_is_due(const struct progress *p);
void progress_show(struct progress *p, const struct progress_now *n);
void progress_line(struct progress *p, const char *text); /* draws any text there, cut to the columns */
void progress_end(struct progress *p);                    /* clears the line */
double progress_clock(void);

/* "3 s", "2 min 05 s", "1 h 20 min" */
void progress_duration(struct str *out, double seconds);
/* The text of the line, without drawing it. */
void progress_text(struct str *out, const struct progress_now *n, double elapsed);

#endif
