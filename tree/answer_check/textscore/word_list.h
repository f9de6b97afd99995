#ifndef ANSWER_CHECK_TEXTSCORE_WORD_LIST_H
#define ANSWER_CHECK_TEXTSCORE_WORD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/str.h"

/* A list of words, stored one after the other in one text. A zeroed list is an empty one; words may be empty
 * and hold any bytes. Release it with word_list_release(), which leaves an empty list. Nothing here fails. */
struct word_list {
    struct str text;
    size_t *end; /* where word i ends in text; it begins where the word before it ends */
    size_t n, cap;
};
void word_list_end(struct word_list *l); /* makes one word of what was added to text since the last word */
void word_list_add(struct word_list *l, const char *s, size_t n); /* adds a copy of n bytes as a word */
void word_list_release(struct word_list *l);
/* Returns word i (i < l->n), which is not terminated, and sets *n to its bytes; it stays until the next word
 * is added. */
const char *word_at(const struct word_list *l, size_t i, size_t *n);

/* Numbers the distinct words of both lists from 0 on, so that equal bytes have equal numbers. Returns the
 * numbers of a's words, then of b's, to be released with free(); *n_distinct is how many there are. The
 * words are sorted, not hashed, so that no text can make it slow. */
uint32_t *word_numbers(const struct word_list *a, const struct word_list *b, size_t *n_distinct);

#endif
