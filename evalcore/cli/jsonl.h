#ifndef EVALCORE_CLI_JSONL_H
#define EVALCORE_CLI_JSONL_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* Commands that answer JSON Lines: for each line in there is one line out, in the same order, and nothing
 * else on standard output. Lines are answered in parallel (lines_run()). */

/* The answer to one object, a new reference; NULL with a message becomes an error object:
 * {"error": "line N: ...", "line": N} with the fields of error_fields. Runs in any thread unless serial. */
typedef json_t *(*jsonl_fn)(void *context, const json_t *in, struct err *e);

struct jsonl {
    jsonl_fn fn;
    void *context;
    const char *error_fields; /* a JSON object as text whose "reason" becomes the message; NULL: none */
    int serial;               /* one line at a time: fn uses something that all lines share */
};

/* Reads path ("-" or NULL: standard input). Returns an exit code: EXIT_DONE; EXIT_INCOMPLETE when an answer
 * was an error object, or path could not be read to its end; EXIT_USAGE when it cannot be opened. Errors of
 * the last two kinds are printed to standard error. */
int jsonl_run(const struct jsonl *j, const char *path);

/* Fields of a line. Both return 0, or ERR_FORMAT for another value. *out: the string, borrowed from `in`,
 * with *n bytes (it may hold NULs); a missing or null field is an error. */
int jsonl_text(const json_t *in, const char *key, const char **out, size_t *n, struct err *e);
/* *out: the index of the word in a NULL-ended list; a missing or null field leaves it as it is. */
int jsonl_word(const json_t *in, const char *key, const char *const *words, int *out, struct err *e);

/* Passes a stream of lines through a function, on all cores. Whatever has arrived is answered at once, so a
 * program may send one line and wait for its answer. The lines of a block are answered in parallel and
 * written in order. Memory stays bounded: one block and its answers, or the longest line. */

enum { LINES_MAX_LINE = 64 << 20 }; /* bytes of a line that is read at all */

/* Answers one line, without its "\n", by adding text to `out`, to which "\n" is added; n is 0 and line NULL
 * for one that has LINES_MAX_LINE bytes or more. number: of the line, from 1. Returns nonzero when the answer
 * is an error. Runs in any thread unless the lines are serial. */
typedef int (*lines_fn)(void *context, const char *line, size_t n, long number, struct str *out);

struct lines {
    lines_fn fn;
    void *context;
    int serial;
};

/* Reads path ("-" or NULL: standard input) and writes standard output, until the end or until nobody reads
 * the answers any more. *errors: how many answers were errors. Returns 0, also when nobody
 * reads any more; ERR_USAGE when path cannot be opened, ERR_DISK where that is the system's fault, ERR_IO
 * when it cannot be read to the end. e is not NULL. */
int lines_run(const struct lines *l, const char *path, long *errors, struct err *e);

#endif
