#ifndef ENGINE_TEXT_ADDED_TOKENS_H
#define ENGINE_TEXT_ADDED_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Added tokens: strings that are found in the text before anything else happens to it. */
struct added_token {
    char *text; /* owned */
    size_t n;
    int32_t id;
    int special, single_word, lstrip, rstrip, normalized;
};

/* Those that are looked for together: in the raw text, or in the normalized one. Sorted by bytes. */
struct added_set {
    struct added_token *token;
    size_t n, cap;
    unsigned char starts[256]; /* does a token start with this byte? */
};

/* One entry of "added_tokens"; the token owns its text. `where` names file and entry. */
int added_read(struct added_token *t, const json_t *spec, const char *where, struct err *e);
void added_put(struct added_set *s, const struct added_token *t); /* takes the text over */
/* After the last added_put; -1 or the index of a token that is there twice. */
long added_sort(struct added_set *s);
void added_release(struct added_set *s);

/* The token at text[0..n), or NULL: of several that fit, the longest. */
const struct added_token *added_at(const struct added_set *s, const char *text, size_t n);

/* Do the token's neighbours in the text allow it (single_word)? Widens [*from, *to) over the white space that
 * lstrip and rstrip swallow, not before `floor`. */
int added_fits(const struct added_token *t, const char *text, size_t n, size_t floor, size_t *from,
               size_t *to);

#endif
