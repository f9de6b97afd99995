#ifndef EVALCORE_CLI_LINES_H
#define EVALCORE_CLI_LINES_H

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Passes a stream of lines through a function, on all cores. Whatever has arrived is answered at once, so a
 * program may send one line and wait for its answer. The lines of a block are answered in parallel and
 * written in order. Memory stays bounded: one block and its answers, or the longest line. */

enum { LINES_MAX_LINE = 64 << 20 }; /* bytes of a line that is read at all */

/* Answers one line, without its "\n", by adding text to `out`, to which "\n" is added; n is 0 and line NULL
 * for one that is longer than LINES_MAX_LINE. Returns nonzero when the answer is an error. Runs in any thread
 * unless the lines are serial. */
typedef int (*lines_fn)(void *context, const char *line, size_t n, long number, struct str *out);

struct lines {
    lines_fn fn;
    void *context;
    int serial;
};

/* Reads path ("-" or NULL: standard input) and writes standard output, until the end or until nobody reads
 * the answers any more. *errors: how many answers were errors. Returns 0, ERR_USAGE when path cannot be
 * opened, ERR_IO when it cannot be read to the end. */
int lines_run(const struct lines *l, const char *path, long *errors, struct err *e);

#endif
