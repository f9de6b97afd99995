#ifndef ANSWER_CHECK_POLYNOMIAL_H
#define ANSWER_CHECK_POLYNOMIAL_H

#include "answer_check/rational.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/str.h"

/* Polynomials in several letters with rational coefficients, in normal form: terms sorted by total degree
 * (descending) and then by letters, no zero coefficient. Equal polynomials have equal terms. */
enum { POLY_TERM_SYMBOLS = 6, POLY_TERMS_MAX = 256, POLY_DEGREE_MAX = 64, POLY_STEPS = 200000 };

/* Symbols are small numbers: a..z 0..25, A..Z 26..51, then the names of symbol_names in polynomial.c. */
int symbol_find(const char *name, size_t n); /* -1: no such symbol. name without backslash: "x", "pi" */

struct term {
    struct rational c;
    unsigned char n;                                              /* symbols in this term */
    unsigned char sym[POLY_TERM_SYMBOLS], exp[POLY_TERM_SYMBOLS]; /* sym ascending, exp >= 1 */
};

struct polynomial {
    int n;
    struct term *terms;
};

struct poly_work {
    struct arena *arena;
    int steps; /* left; at 0 every operation refuses */
};

/* All return 0, or -1 when a limit above is exceeded or a coefficient does not fit. out may be an operand. */
int poly_const(struct poly_work *w, struct polynomial *out, struct rational c);
int poly_symbol(struct poly_work *w, struct polynomial *out, int symbol);
int poly_add(struct poly_work *w, struct polynomial *out, const struct polynomial *a,
             const struct polynomial *b);
int poly_scale(struct poly_work *w, struct polynomial *out, const struct polynomial *a, struct rational c);
int poly_mul(struct poly_work *w, struct polynomial *out, const struct polynomial *a,
             const struct polynomial *b);
int poly_pow(struct poly_work *w, struct polynomial *out, const struct polynomial *a, int e);
int poly_is_const(const struct polynomial *a, struct rational *value);
int poly_equal(const struct polynomial *a, const struct polynomial *b);
void poly_print(struct str *out, const struct polynomial *a);

#endif
