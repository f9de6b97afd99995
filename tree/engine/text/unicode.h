#ifndef ENGINE_TEXT_UNICODE_H
#define ENGINE_TEXT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/str.h"

/* UTF-8, character classes and normalization for the tokenizer. Text must be valid UTF-8 unless a comment
 * says otherwise. */

/* Returns 1 if these bytes are valid UTF-8, else 0; 1 for no bytes. */
int utf8_is_valid(const char *text, size_t n);
/* Return the character that starts at `at` (at < n), and the one that ends there (at > 0); *bytes receives
 * its length. */
int32_t utf8_after(const char *text, size_t n, size_t at, size_t *bytes);
int32_t utf8_before(const char *text, size_t at, size_t *bytes);
/* Return 1 if the character has the property White_Space; and if it is part of a word (Alphabetic, marks,
 * decimal digits, connector punctuation, joiners); else 0. */
int unicode_is_space(int32_t c);
int unicode_is_word(int32_t c);

/* Normalization form C. Returns 0 and leaves `out` alone if the text is in that form already; else returns 1
 * and replaces the contents of `out` by the form. mark holds two offsets into the text, which become the
 * offsets of the same characters in `out`. When a mark is inside a cluster that was recomposed, the first
 * mark moves to the start of the cluster and the second to its end. */
int nfc_normalize(const char *text, size_t n, struct str *out, size_t mark[2]);

#endif
