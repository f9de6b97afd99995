#ifndef ANSWER_CHECK_TEXT_WORD_LIST_H
#define ANSWER_CHECK_TEXT_WORD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/str.h"

/* Words one behind the other in one text. A zeroed list is an empty one; words may be empty. */
struct word_list {
    struct str text;
    size_t *end; /* of word i in text; it begins where the one before ends */
    size_t n, cap;
};
void word_list_end(struct word_list *l); /* what was added to text since the last word is one */
void word_list_add(struct word_list *l, const char *s, size_t n);
void word_list_release(struct word_list *l);
const char *word_at(const struct word_list *l, size_t i, size_t *n);

/* Numbers 0.. for the words of both lists, the same for the same bytes: a's, then b's. free() it. *n_distinct
 * is how many there are. Sorted, not hashed: no text makes it slow. */
uint32_t *word_numbers(const struct word_list *a, const struct word_list *b, size_t *n_distinct);

#endif
