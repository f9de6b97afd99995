#ifndef ENGINE_TEXT_ADDED_TOKENS_H
#define ENGINE_TEXT_ADDED_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Added tokens: strings that are looked for in the text before it is cut into pieces. */
struct added_token {
    char *text; /* owned */
    size_t n;
    int32_t id;
    int special, single_word, lstrip, rstrip, normalized;
};

/* The tokens that are looked for together, in the raw text or in the normalized one. Sorted by their bytes.
 */
struct added_set {
    struct added_token *token;
    size_t n, cap;
    unsigned char starts[256]; /* does a token start with this byte? */
};

/* One entry of "added_tokens"; the token owns its text. `where` names file and entry. */
int added_read(struct added_token *t, const json_t *spec, const char *where, struct err *e);
void added_put(struct added_set *s, const struct added_token *t); /* takes over the text of t */
/* To be called after the last added_put(). -1, or the index of a token that is there twice. */
long added_sort(struct added_set *s);
void added_release(struct added_set *s);

/* The longest token with which text[0..n) begins, or NULL. */
const struct added_token *added_at(const struct added_set *s, const char *text, size_t n);

/* Do the neighbours of the token at [*from, *to) allow it (single_word)? If so, widens that range over the
 * white space that lstrip and rstrip remove, but not to before `floor`. */
int added_fits(const struct added_token *t, const char *text, size_t n, size_t floor, size_t *from,
               size_t *to);

#endif
