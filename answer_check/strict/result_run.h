#ifndef ANSWER_CHECK_STRICT_RESULT_RUN_H
#define ANSWER_CHECK_STRICT_RESULT_RUN_H

#include "answer_check/text/span.h"

/* Runs of plain mathematics in a sentence, which result.c chooses among: private to strict. */

/* A run of words that are mathematics, and whether it may be an answer. */
struct plain_run {
    size_t from, to;
    int has_number, has_sign, is_list;
};

/* What a number is to the sentence. */
enum role {
    ROLE_RESULT,
    ROLE_GIVEN,  /* what the sentence takes as known: "the 16 glasses", the 10 of "3 of 10" */
    ROLE_CIRCUM, /* a circumstance of another number, if there is one: "12 km in 3 hours", "12 ways to choose
                    3" */
};

/* The next word from *i on; empty at the end. */
struct span run_next_word(struct span s, size_t *i);
/* The signs of prose at the end of a word are no part of a formula. */
size_t run_without_stops(struct span s, size_t from, size_t to);
/* The last run with a number or a sign in it, or a list of such that "and" or "or" joins: 1, or 0. */
int run_last(struct plain_run *out, struct span s);
/* The word that ends before byte i, without blanks and marks; empty where there is none. */
struct span run_word_before(struct span s, size_t i);
/* The word that begins at byte i or behind it. */
struct span run_word_behind(struct span s, size_t i);
/* Does the number from `from` to `to` only name a place, "step 3", "AIME 2024", or count what is no result,
 * "12 cases to consider"? */
int run_is_named_place(struct span s, size_t from, size_t to);
/* Is "n = 4" behind "for" or "when" a case rather than a result? */
int run_is_case(struct span s, size_t from);
enum role run_role(struct span s, struct plain_run run);

#endif
