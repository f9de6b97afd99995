#ifndef EVALCORE_CLI_JSONL_H
#define EVALCORE_CLI_JSONL_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Commands that answer JSON Lines: for each line in there is one line out, in the same order, and nothing
 * else on standard output. Lines are answered in parallel (lines.h). */

/* The answer to one object, a new reference; NULL with a message becomes an error object:
 * {"error": "line N: ...", "line": N} with the fields of error_fields. Runs in any thread unless serial. */
typedef json_t *(*jsonl_fn)(void *context, const json_t *in, struct err *e);

struct jsonl {
    jsonl_fn fn;
    void *context;
    const char *error_fields; /* a JSON object as text whose "reason" becomes the message; NULL: none */
    int serial;               /* one line at a time: fn uses something that all lines share */
};

/* Reads path ("-" or NULL: standard input). Returns an exit code: 3 when an answer was an error object. */
int jsonl_run(const struct jsonl *j, const char *path);

/* Fields of a line. A missing or null field leaves the default where one is allowed. */
int jsonl_text(const json_t *in, const char *key, const char **out, size_t *n, struct err *e);
/* *out: the index of the word in a NULL-ended list. */
int jsonl_word(const json_t *in, const char *key, const char *const *words, int *out, struct err *e);

#endif
