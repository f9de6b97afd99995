#ifndef ANSWER_CHECK_NUMBER_NUMBER_H
#define ANSWER_CHECK_NUMBER_NUMBER_H

#include <gmp.h>

#include "answer_check/tree/math_tree.h"

/* Exact numbers of the arithmetic on trees: fractions and Gaussian fractions. Small ones are two 64-bit
 * integers; where those overflow, GMP takes over. Everything that GMP and MPFI allocate belongs to the
 * context and is freed by number_close(), so a value is never freed by hand and may be copied freely. */

enum number_status {
    NUMBER_OK = 0,
    NUMBER_INEXACT = -1,   /* not a Gaussian fraction, or one with more bits than the context allows */
    NUMBER_UNDEFINED = -2, /* proved to have no value: 1/0, log 0, 0^0 */
    NUMBER_UNKNOWN = -3    /* out of steps, of precision, or of what is implemented */
};

/* Limits on the bits of an exact number: the usual one, and the one for a last try. */
enum { NUMBER_BITS = 4096, NUMBER_BITS_LAST = 131072 };

struct big;  /* a GMP fraction, see fraction.c */
struct ball; /* a complex interval, see ball.h */

/* The reduced fraction n/d, d > 0. Where big is set, it holds the value, and n and d mean nothing. */
struct fraction {
    int64_t n, d;
    struct big *big;
};

struct gauss {
    struct fraction re, im;
};

/* A symbol with a value: a coordinate of a sample point, or the bound variable of a sum. */
struct binding {
    const char *name;
    struct gauss value;
    const struct binding *outer;
};

struct number_context {
    struct math_work *w;
    int64_t bits;   /* limit of exact numbers */
    long precision; /* of intervals; 0: only exact numbers are wanted */
    int real_only;  /* even roots and logarithms of negative numbers count as undefined */
    int wide;       /* set when a number beyond 2^900 or below 2^-900 took part */
    int huge;       /* set when a number beyond MPFR's range took part */
    int depth;
    const struct binding *bound;
    struct big *bigs, *free_bigs;
    struct ball *balls, *free_balls;
};

void number_open(struct number_context *c, struct math_work *w);
void number_close(struct number_context *c);
void fraction_close(struct number_context *c); /* called by number_close() */

/* Fractions. A result may be one of the operands. Status as above; NUMBER_INEXACT means too many bits. */
struct fraction fraction_of(int64_t n); /* n > INT64_MIN */
int fraction_ratio(struct number_context *c, struct fraction *out, int64_t n, int64_t d);
int fraction_add(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_sub(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_mul(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_div(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_neg(struct number_context *c, struct fraction *out, struct fraction a);
int fraction_pow(struct number_context *c, struct fraction *out, struct fraction a, int64_t e);
/* The real q-th root when it is a fraction (negative a: only for odd q), else INEXACT. q >= 1. */
int fraction_root(struct number_context *c, struct fraction *out, struct fraction a, int64_t q);
int fraction_floor(struct number_context *c, struct fraction *out, struct fraction a);
int fraction_compare(struct number_context *c, struct fraction a, struct fraction b); /* <0, 0, >0 */
int fraction_sign(struct fraction a);
int fraction_is_integer(struct fraction a);
int fraction_int64(struct fraction a, int64_t *out); /* 1 when it is an integer that fits */
int64_t fraction_bits(struct fraction a);            /* of numerator and denominator together */

/* From and to GMP. The returned pointers live as long as the context. What fraction_mpq() points at must not
 * be changed. */
mpq_srcptr fraction_mpq(struct number_context *c, struct fraction a);
mpq_ptr fraction_scratch(struct number_context *c, struct fraction *owner); /* fill it, then call: */
int fraction_normalise(struct number_context *c,
                       struct fraction *owner); /* makes it canonical and checks the limit */
int fraction_digits(struct number_context *c, struct fraction *out, const char *digits, int n, int base);

/* Gaussian fractions. */
struct gauss gauss_of(struct fraction re);
int gauss_add(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b);
int gauss_mul(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b);
int gauss_div(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b);
int gauss_neg(struct number_context *c, struct gauss *out, struct gauss a);
int gauss_pow(struct number_context *c, struct gauss *out, struct gauss a, int64_t e);
int gauss_is_zero(struct gauss a);
int gauss_is_real(struct gauss a);
int gauss_equal(struct number_context *c, struct gauss a, struct gauss b);

/* Number theory. step: 1 for n!, 2 for n!!; negative n is NUMBER_UNDEFINED. */
int fraction_factorial(struct number_context *c, struct fraction *out, int64_t n, int step);
/* n may be any fraction. */
int fraction_binomial(struct number_context *c, struct fraction *out, struct fraction n, int64_t k);
/* a and b must be integers: the caller checks it. */
int fraction_gcd(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);

#endif
