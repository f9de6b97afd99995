#ifndef ANSWER_CHECK_NUMBER_NUMBER_H
#define ANSWER_CHECK_NUMBER_NUMBER_H

#include <gmp.h>

#include "answer_check/tree/math_tree.h"

/* Exact numbers: fractions and Gaussian fractions (re + im i), and the context of a calculation. A small
 * fraction is two 64-bit integers; where those overflow, GMP takes over. Everything that GMP and MPFI
 * allocate belongs to the context and is freed by number_close(), so a value is never freed by hand and may
 * be copied freely.
 *
 * A function that returns int and takes a context and `out` is an operation. It returns a number_status, and
 * its result is valid only with NUMBER_OK; *out may be one of the operands. Operations on big numbers take
 * steps of the context in proportion to their cost: NUMBER_UNKNOWN when none are left, and NUMBER_INEXACT
 * when the result has more than c->bits bits. Division by 0 is NUMBER_UNDEFINED. */

enum number_status {
    NUMBER_OK = 0,
    NUMBER_INEXACT = -1,   /* the result is no Gaussian fraction, or has more bits than the context allows */
    NUMBER_UNDEFINED = -2, /* the result is proved not to exist: 1/0, log 0, 0^0 */
    NUMBER_UNKNOWN = -3    /* no steps are left, or the precision or what is implemented does not suffice */
};

/* Limits on the bits of an exact number: the usual one, and the one for a last try. */
enum { NUMBER_BITS = 4096, NUMBER_BITS_LAST = 131072 };

struct big;  /* a GMP fraction, see fraction.c */
struct ball; /* a complex interval, see ball.h */

/* The reduced fraction n/d with d > 0. If big is set, it holds the value, and n and d mean nothing. */
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
    int64_t bits;   /* most bits of an exact number */
    long precision; /* bits of an interval's ends; 0: only exact numbers are wanted */
    int real_only;  /* even roots and logarithms of negative numbers count as undefined */
    int wide;       /* set when a number beyond 2^900 or below 2^-900 took part */
    int huge;       /* set when a number beyond MPFR's range took part */
    int depth;      /* how deep in the tree an evaluation is */
    const struct binding *bound;
    struct big *bigs, *free_bigs;
    struct ball *balls, *free_balls;
};

/* Starts a calculation with exact numbers of at most NUMBER_BITS bits only; the caller sets precision and
 * bound if it wants more. w is borrowed. number_close() frees all numbers and intervals of the context, which
 * no value may use afterwards. Neither fails. */
void number_open(struct number_context *c, struct math_work *w);
void number_close(struct number_context *c);
void fraction_close(struct number_context *c); /* the part of number_close() that frees the fractions */

/* ---- fractions (fraction.c) */

struct fraction fraction_of(int64_t n); /* the integer n > INT64_MIN */
/* The fraction n/d in lowest terms; n and d > INT64_MIN. NUMBER_UNDEFINED if d is 0. */
int fraction_ratio(struct number_context *c, struct fraction *out, int64_t n, int64_t d);
/* a + b, a - b, a b and a/b; -a, which never fails; and a to an integer power, where 0^0 is 1 and a negative
 * power of 0 is NUMBER_UNDEFINED. */
int fraction_add(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_sub(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_mul(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_div(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);
int fraction_neg(struct number_context *c, struct fraction *out, struct fraction a);
int fraction_pow(struct number_context *c, struct fraction *out, struct fraction a, int64_t e);
/* The real q-th root, q >= 1. NUMBER_INEXACT if it is no fraction, or if a is negative and q even. */
int fraction_root(struct number_context *c, struct fraction *out, struct fraction a, int64_t q);
/* The largest integer that is not above a. */
int fraction_floor(struct number_context *c, struct fraction *out, struct fraction a);
/* < 0, 0 or > 0 as a is below, equal to or above b; takes no steps and cannot fail. */
int fraction_compare(struct number_context *c, struct fraction a, struct fraction b);
int fraction_sign(struct fraction a);                /* -1, 0 or 1 */
int fraction_is_integer(struct fraction a);          /* 1 or 0 */
int fraction_int64(struct fraction a, int64_t *out); /* 1 and *out if a is an integer that fits, else 0 */
int64_t fraction_bits(struct fraction a);            /* bits of numerator and denominator together */

/* The value as a GMP fraction, which must not be changed and lives as long as the context. */
mpq_srcptr fraction_mpq(struct number_context *c, struct fraction a);
/* Makes *owner a GMP fraction that the caller fills in and reduces to lowest terms, and returns it; it
 * belongs to the context. fraction_normalise() then makes *owner a valid fraction (small if it fits) and
 * returns NUMBER_OK, or NUMBER_INEXACT if it has more than c->bits bits. */
mpq_ptr fraction_scratch(struct number_context *c, struct fraction *owner);
int fraction_normalise(struct number_context *c, struct fraction *owner);
/* The value of n >= 1 digits in a base from 2 to 36; letters of either case are digits above 9.
 * NUMBER_UNKNOWN if a character is no digit of the base. */
int fraction_digits(struct number_context *c, struct fraction *out, const char *digits, int n, int base);

/* ---- Gaussian fractions and number theory (gauss.c) */

struct gauss gauss_of(struct fraction re); /* re + 0 i */
/* a + b, a b, a/b and -a; and a to an integer power, where 0^0 is NUMBER_UNDEFINED. */
int gauss_add(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b);
int gauss_mul(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b);
int gauss_div(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b);
int gauss_neg(struct number_context *c, struct gauss *out, struct gauss a);
int gauss_pow(struct number_context *c, struct gauss *out, struct gauss a, int64_t e);
/* 1 or 0: is a exactly 0, is its imaginary part exactly 0, are a and b the same number? */
int gauss_is_zero(struct gauss a);
int gauss_is_real(struct gauss a);
int gauss_equal(struct number_context *c, struct gauss a, struct gauss b);

/* n! with step 1, n!! with step 2, no other step. A negative n is NUMBER_UNDEFINED. */
int fraction_factorial(struct number_context *c, struct fraction *out, int64_t n, int step);
/* n over k for any fraction n; 0 for a negative k, and for a k above an integer n >= 0. */
int fraction_binomial(struct number_context *c, struct fraction *out, struct fraction n, int64_t k);
/* The greatest common divisor of two integers, at least 0; the caller checks that a and b are integers. */
int fraction_gcd(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b);

#endif
