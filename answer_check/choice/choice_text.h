#ifndef ANSWER_CHECK_CHOICE_CHOICE_TEXT_H
#define ANSWER_CHECK_CHOICE_CHOICE_TEXT_H

#include <string.h>

#include "answer_check/choice/choice_scan.h"

/* The text that is cut into tokens, which comes from choice_plain(); for choice_tokens.c and choice_letters.c
 * only. */
struct choice_text {
    const char *s;
    size_t n;
    char last_letter; /* 'A' + n_options - 1 */
    int is_cut;       /* the length limit cut the text: its last byte may be the start of a word */
    const struct choice_lexicon *words;
};

/* The byte at i; a new line behind the end. */
static inline char byte_at(const struct choice_text *t, size_t i)
{
    return i < t->n ? t->s[i] : '\n';
}

/* Does the byte at i belong to a word? */
static inline int is_word_at(const struct choice_text *t, size_t i)
{
    return span_is_word((struct span){t->s, t->n}, i);
}

/* The position behind the bytes from i on that occur in `marks`. */
static inline size_t skip_marks(const struct choice_text *t, size_t i, const char *marks)
{
    while (i < t->n && t->s[i] && strchr(marks, t->s[i]))
        i++;
    return i;
}

/* Is the letter at i a unit ("25 C", "°C") or part of a formula ("C + 1", "x/C", "C-14", "C = 3")? 1 or 0. */
int choice_is_formula(const struct choice_text *t, size_t i);
/* The option at i in upper case, written as `dress` says, or 0 where there is none: a letter never stands
 * inside a word or a formula, and "A" before a lower-case word ("A good approach") is an article. */
char choice_letter_at(const struct choice_text *t, size_t i, enum choice_dress dress);

#endif
