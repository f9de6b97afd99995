#ifndef ENGINE_TEXT_VOCAB_H
#define ENGINE_TEXT_VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The vocabulary: from ids to bytes and back. The file of a byte-level tokenizer writes each byte as a
 * printable character (by GPT-2's table, in which a space is U+0120); here tokens are the bytes themselves.
 * Other files write tokens as they are, in UTF-8. */
enum { VOCAB_IDS_MAX = 1 << 22 };

enum vocab_kind { VOCAB_NONE, VOCAB_BYTES, VOCAB_RAW, VOCAB_ADDED, VOCAB_SPECIAL };

struct vocab {
    struct vocab_entry {
        uint32_t at, n; /* in text */
        enum vocab_kind kind;
    } * entry;
    int32_t size; /* one past the largest id */
    size_t cap;
    struct str text;
    int32_t *slot; /* open addressing from bytes to id, VOCAB_BYTES only; -1: empty */
    uint64_t mask;
};

/* From "model.vocab", an object of token to id. */
int vocab_open(struct vocab *v, const json_t *spec, int is_byte_level, const char *what, struct err *e);
void vocab_close(struct vocab *v);
/* Gives an id to an added token. An id that the vocabulary has already still takes part in merges. */
void vocab_put_added(struct vocab *v, int32_t id, const char *text, size_t n, int special);

int32_t vocab_find(const struct vocab *v, const char *bytes, size_t n); /* -1: no token has these bytes */

#endif
