#ifndef EVALCORE_CLI_PROGRESS_H
#define EVALCORE_CLI_PROGRESS_H

#include "evalcore/base/str.h"

/* One line of text about long work, on standard error, that is redrawn in place on a terminal. A sweep has
 * more to show: evalcore/status/board.h. */
struct progress {
    int live, columns; /* live: standard error is a terminal that can redraw a line */
    double drawn;      /* seconds of the monotonic clock; 0: never */
    int shown;         /* characters on the line now */
};

void progress_init(struct progress *p, int live, int columns); /* draws nothing yet */
void progress_line(struct progress *p,
                   const char *text);  /* draws the text, cut to columns - 1 bytes, also when not live */
void progress_end(struct progress *p); /* clears the line; when not live it writes nothing */

/* Appends "3 s", "2 min 05 s" or "1 h 20 min", rounded to whole seconds first. */
void progress_duration(struct str *out, double seconds);

#endif
