#ifndef ANSWER_CHECK_NUMBER_BALL_H
#define ANSWER_CHECK_NUMBER_BALL_H

#include <mpfi.h>
#include <stdio.h>
#include <mpfr.h>

#include "answer_check/number/number.h"

/* Complex intervals: the true value lies in re + im i. MPFI rounds outwards, so every result encloses the
 * true value of the operation. Balls belong to the context and have its precision.
 *
 * An operation takes steps in proportion to its cost and returns a number_status, with a result only under
 * NUMBER_OK: NUMBER_UNDEFINED is proved; NUMBER_UNKNOWN may go away with more precision, or no steps are
 * left. A result beyond MPFR's range is NUMBER_UNKNOWN with c->huge set. The functions that return void
 * cannot fail. The result may be one of the operands. Functions with branches have their principal values,
 * except for odd roots of negative real numbers (see ball_power). */
struct ball {
    mpfi_t re, im;
    int real; /* im is exactly 0, and its member is not looked at */
    struct ball *next, *next_free;
};

/* A ball of the context, with any real value; never NULL. ball_free() lets it be used again and accepts NULL;
 * a ball that nobody frees lives until number_close(), whose part ball_close() frees all balls. c->precision
 * must not be 0. */
struct ball *ball_new(struct number_context *c);
void ball_free(struct number_context *c, struct ball *b);
void ball_close(struct number_context *c);
/* For callers that work on the members of b: notes in the context whether b is wide or huge, and returns
 * NUMBER_OK, or NUMBER_UNKNOWN if it is not bounded. An imaginary part of exactly 0 makes b real. */
int ball_check_range(struct number_context *c, struct ball *b);
/* Takes the steps of one elementary function. Returns NUMBER_OK, or NUMBER_UNKNOWN when none are left. */
int ball_elementary_cost(struct number_context *c);

/* The value of a, of g, of n. */
void ball_set(struct ball *out, const struct ball *a);
int ball_set_gauss(struct number_context *c, struct ball *out, struct gauss g);
void ball_set_int(struct ball *out, long n);
/* a + b, a - b, a b and a/b; a/b is NUMBER_UNDEFINED where b is exactly 0 and NUMBER_UNKNOWN where b may be.
 */
int ball_add(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
int ball_sub(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
int ball_mul(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
int ball_div(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
/* -a and i a. */
void ball_neg(struct ball *out, const struct ball *a);
void ball_times_i(struct ball *out, const struct ball *a);

int ball_has_zero(const struct ball *a); /* may the value be 0? 1 or 0 */
int ball_is_zero(const struct ball *a);  /* is it exactly 0? 1 or 0 */
int ball_below(const struct ball *a,
               long exponent); /* are |re| and |im| < 2^exponent in the whole interval? 1 or 0 */
/* 1 or -1 if the value is real with that sign, else 0: it is complex, or may be 0. */
int ball_sign(const struct ball *a);
long ball_exponent(const struct ball *a); /* the least one with |re|, |im| < 2^exponent; LONG_MIN for 0 */

/* ---- elementary functions (ball_elementary.c) */

/* The absolute value. */
int ball_abs(struct number_context *c, struct ball *out, const struct ball *a);
/* The angle, in (-pi, pi]. NUMBER_UNDEFINED for 0, NUMBER_UNKNOWN across the negative real axis. */
int ball_argument(struct number_context *c, struct ball *out, const struct ball *a);
/* The square root, the exponential and the natural logarithm (NUMBER_UNDEFINED for 0). Under c->real_only
 * square root and logarithm of a negative number are NUMBER_UNDEFINED. ball_sin_cos() writes both the sine
 * and the cosine. */
int ball_sqrt(struct number_context *c, struct ball *out, const struct ball *a);
int ball_exp(struct number_context *c, struct ball *out, const struct ball *a);
int ball_log(struct number_context *c, struct ball *out, const struct ball *a);
int ball_sin_cos(struct number_context *c, struct ball *sine, struct ball *cosine, const struct ball *a);
/* base^e for an exact exponent. If the base is real and negative and the exponent's denominator is odd, the
 * result is the real root, which is what answers mean: (-8)^(1/3) = -2; unless principal values are asked for
 * (struct math_work). 0 to a power that is not above 0 is NUMBER_UNDEFINED. */
int ball_power(struct number_context *c, struct ball *out, const struct ball *base, struct fraction e);
/* base^e for any exponent, as e^(e log base); fails as ball_log() does, so also for base 0. */
int ball_power_ball(struct number_context *c, struct ball *out, const struct ball *base,
                    const struct ball *e);

/* The function f of the one argument a (ball_function.c). NUMBER_UNDEFINED where f has no value.
 * NUMBER_UNKNOWN for the functions of number theory and for floor, ceiling and sign, which scalar_special.c
 * evaluates. */
int ball_function(struct number_context *c, struct ball *out, enum math_function f, const struct ball *a);

#endif
