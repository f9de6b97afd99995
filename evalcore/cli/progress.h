#ifndef EVALCORE_CLI_PROGRESS_H
#define EVALCORE_CLI_PROGRESS_H

#include "evalcore/base/str.h"

/* One line of text about long work, on standard error, that is redrawn in place on a terminal. A sweep has
 * more to show: evalcore/status/board.h. */
struct progress {
    int live, columns;
    double drawn; /* seconds of the monotonic clock; 0: never */
    int shown;    /* characters on the line now */
};

void progress_init(struct progress *p, int live, int columns);
void progress_line(struct progress *p, const char *text); /* draws any text there, cut to the columns */
void progress_end(struct progress *p);                    /* clears the line */

/* "3 s", "2 min 05 s", "1 h 20 min" */
void progress_duration(struct str *out, double seconds);

#endif
