#ifndef ANSWER_CHECK_CHOICE_CHOICE_SCAN_H
#define ANSWER_CHECK_CHOICE_CHOICE_SCAN_H

#include "answer_check/answer_check.h"
#include "answer_check/verdict/response.h"

/* Finding option letters in an answer section; for answer_check/choice only, the entry is choice_extract()
 * in answer_check.h. These are the classes of declarations, strongest first. */
enum choice_class {
    CHOICE_DECLARED,
    CHOICE_CHOSEN,
    CHOICE_ALONE,
    CHOICE_LABELLED,
    CHOICE_MENTIONED,
    CHOICE_CLASSES
};

struct choice_found {
    char letter[CHOICE_CLASSES];   /* the last letter of each class, 0: none */
    int conflicts[CHOICE_CLASSES]; /* that declaration names several letters, or the mentions differ */
    size_t until;                  /* while scanning: where the last conflicting declaration ends */
};

/* Finds the last declaration of each class. `finish` tells whether the length limit cut the text: then its
 * last byte may be the start of a word. */
void choice_scan(struct choice_found *out, struct span section, int n_options, enum finish finish,
                 struct arena *a);

/* The section rewritten as plainer text in the arena (choice_plain.c). */
struct span choice_plain(struct span section, struct arena *a);

/* Reading letters (choice_letter.c). The text comes from choice_plain(). */
struct choice_text {
    const char *s;
    size_t n;
    char last_letter; /* 'A' + n_options - 1 */
    int is_cut;       /* the length limit cut the text: its last byte may be the start of a word */
};

/* How a letter is written: bare, named (behind the colon of "answer:", behind "option", before ")"), or in
 * marks. */
enum choice_dress { CHOICE_BARE, CHOICE_NAMED, CHOICE_ENCLOSED };

/* The byte at i; a new line behind the end. */
static inline char choice_at(const struct choice_text *t, size_t i)
{
    return i < t->n ? t->s[i] : '\n';
}
/* ASCII case ignored. */
static inline int choice_has(const struct choice_text *t, size_t i, const char *lower)
{
    return i < t->n && span_starts((struct span){t->s + i, t->n - i}, lower);
}
/* The length of the first of the words (up to a NULL) that stands at i, or 0. */
size_t choice_has_any(const struct choice_text *t, size_t i, const char *const *words);
/* Skips bytes that occur in `marks` and returns the position behind them; unless NULL, *n_enclosing is how
 * many of them can enclose a letter. */
size_t choice_skip(const struct choice_text *t, size_t i, const char *marks, int *n_enclosing);
int choice_is_word(const struct choice_text *t, size_t i); /* does the byte at i belong to a word? */
/* The option letter at i in upper case, or 0. */
char choice_letter_at(const struct choice_text *t, size_t i, enum choice_dress dress);
/* The letter with which the content of a declaration starts at i, behind marks and words such as "clearly
 * option"; 0 when there is none. *end is the position behind the letter. */
char choice_declared(const struct choice_text *t, size_t i, size_t *end);
/* Does "A or B", "A, B" or "A / B" follow the letter that ends at i? Returns the end of the second letter,
 * or 0. */
size_t choice_another(const struct choice_text *t, size_t i, char letter);
/* Does the line, or the sentence, end at i, behind closing marks? */
int choice_ends(const struct choice_text *t, size_t i);

#endif
