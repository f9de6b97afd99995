#ifndef EVALCORE_JSONL_H
#define EVALCORE_JSONL_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Commands that answer JSONL: one line out per line in, in the same order, and nothing else on standard
 * output. */

/* The answer to one object, a new reference; NULL with a message becomes an error object:
 * {"error": "line N: ...", "line": N} with the fields of error_fields. */
typedef json_t *(*jsonl_fn)(void *context, const json_t *in, struct err *e);

struct jsonl {
    jsonl_fn fn;
    void *context;
    const char *error_fields; /* a JSON object as text whose "reason" becomes the message; NULL: none */
};

/* Reads path ("-" or NULL: standard input). Returns an exit code: 3 when an answer was an error object. */
int jsonl_run(const struct jsonl *j, const char *path);

#endif
