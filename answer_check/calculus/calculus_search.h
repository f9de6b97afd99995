#ifndef ANSWER_CHECK_CALCULUS_CALCULUS_SEARCH_H
#define ANSWER_CHECK_CALCULUS_CALCULUS_SEARCH_H

#include "answer_check/calculus/calculus.h"
#include "answer_check/scalar/scalar_build.h"

/* The search for an antiderivative, shared by the files that know rules. All functions return NULL where they
 * know none. */
enum { SEARCH_PARTS = 24, SEARCH_POLES = 8, SEARCH_POWER = 12 };

struct search {
    struct math_work *w;
    const char *x;
    int depth;
    int poles;
    const struct math_node *pole[SEARCH_POLES]; /* must not be 0 between the bounds */
    int may_end[SEARCH_POLES];                  /* it may be 0 at a bound, as x under a root */
    int turns[SEARCH_POLES];                    /* a polynomial that need not rise or fall throughout */
};

/* calculus_integral.c */
const struct math_node *search_integral(struct search *s, const struct math_node *m);
int search_note_pole(struct search *s, const struct math_node *m, int may_end, int turns); /* -1: too many */

/* calculus_substitution.c: k u' g(u) with a constant k. */
const struct math_node *search_substitution(struct search *s, const struct math_node *m);

#endif
