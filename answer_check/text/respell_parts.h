#ifndef ANSWER_CHECK_TEXT_RESPELL_PARTS_H
#define ANSWER_CHECK_TEXT_RESPELL_PARTS_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* The parts of respell_words(), for answer_check/text only. Nothing fails. */

enum { RESPELL_MAX = 160 }; /* bytes of an answer that is looked at */

/* Writes s without the marks of words and formulas, with single blanks and no full stop. Returns its length,
 * 0 where a brace stays open: a piece of a formula is none. */
size_t respell_flatten(char out[RESPELL_MAX], struct span s);

/* Returns where the phrase stands in s, as whole words, or s.n. Phrases are in lower case, and ASCII case
 * does not count. */
size_t respell_find(struct span s, const char *phrase);
/* Take a phrase, one of several that end with NULL, from the start of *s, with the blank behind it: 1, or 0.
 */
int respell_take(struct span *s, const char *phrase);
int respell_take_one(struct span *s, const char *const *phrases);
/* Takes a number of at most two digits, or its word up to thirty-nine: the number, or -1. */
int respell_take_number(struct span *s);
struct span respell_take_digits(struct span *s); /* takes a run of digits, which may be empty */

/* Each rule returns the flat text as a formula, in the arena or static, or NULL where it is none of its kind.
 */
const char *respell_choose(struct arena *a, struct span f);    /* "5 choose 2", wherever it stands */
const char *respell_time(struct arena *a, struct span f);      /* "half past seven" */
const char *respell_duration(struct arena *a, struct span f);  /* "1 h 20 min" */
const char *respell_axis(struct arena *a, struct span f);      /* "the y-axis" */
const char *respell_remainder(struct arena *a, struct span f); /* "3 R 2" */
const char *respell_extrema(struct arena *a, struct span f);   /* "max 5, min 2" */
const char *respell_quotient(struct arena *a, struct span f);  /* Z/6Z */
const char *respell_sign(struct arena *a, struct span f);      /* "5 k\Omega", five per mille */
const char *respell_cycles(struct arena *a, struct span f);    /* "(3 4)(1 2)" in its usual order */
const char *respell_gamma(struct arena *a, struct span f);     /* "\Gamma(5)" as (5-1)! */
const char *respell_markup(struct arena *a, struct span f);    /* "\SI{5}{cm}", "x<sup>2</sup>", "3*I" */

#endif
