#ifndef ANSWER_CHECK_NUMBER_BALL_H
#define ANSWER_CHECK_NUMBER_BALL_H

#include <mpfi.h>
#include <stdio.h>
#include <mpfr.h>

#include "answer_check/number/number.h"

/* Complex intervals: the true value lies in re + im i. MPFI rounds outwards, so every result encloses what it
 * stands for. Balls belong to the context and have its precision. ball_free() makes one reusable, and
 * number_close() frees those that were not given back. A result may be one of the operands. Every operation
 * takes steps in proportion to its cost and returns a number_status: UNDEFINED is proved, UNKNOWN may go away
 * with more precision. Branches are the principal ones except for odd roots of negative real numbers (see
 * ball_power). */
struct ball {
    mpfi_t re, im;
    int real; /* im is exactly 0 and not looked at */
    struct ball *next, *next_free;
};

struct ball *ball_new(struct number_context *c);
void ball_free(struct number_context *c, struct ball *b); /* NULL is fine */
void ball_close(struct number_context *c);
int ball_check_range(struct number_context *c, struct ball *b); /* checks the range after direct work on b */
int ball_elementary_cost(struct number_context *c);

void ball_set(struct ball *out, const struct ball *a);
int ball_set_gauss(struct number_context *c, struct ball *out, struct gauss g);
void ball_set_int(struct ball *out, long n);
int ball_add(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
int ball_sub(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
int ball_mul(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
int ball_div(struct number_context *c, struct ball *out, const struct ball *a, const struct ball *b);
void ball_neg(struct ball *out, const struct ball *a);
void ball_times_i(struct ball *out, const struct ball *a);

int ball_has_zero(const struct ball *a);
int ball_is_zero(const struct ball *a);              /* exactly */
int ball_below(const struct ball *a, long exponent); /* |re| and |im| < 2^exponent in the whole interval */
int ball_sign(const struct ball *a);                 /* of a real one: -1 or 1; 0 when not certain */
long ball_exponent(const struct ball *a);            /* |a| < 2^exponent; LONG_MIN for exact 0 */

/* ball_elementary.c */
int ball_abs(struct number_context *c, struct ball *out, const struct ball *a);
int ball_argument(struct number_context *c, struct ball *out, const struct ball *a);
int ball_sqrt(struct number_context *c, struct ball *out, const struct ball *a);
int ball_exp(struct number_context *c, struct ball *out, const struct ball *a);
int ball_log(struct number_context *c, struct ball *out, const struct ball *a);
int ball_sin_cos(struct number_context *c, struct ball *sine, struct ball *cosine, const struct ball *a);
/* A base to an exact exponent. Where the base is real and negative and the exponent's denominator is odd, it
 * is the real root, which is what answers mean: (-8)^(1/3) = -2, unless principal values are asked for
 * (struct math_work). Every other power is the principal one. */
int ball_power(struct number_context *c, struct ball *out, const struct ball *base, struct fraction e);
int ball_power_ball(struct number_context *c, struct ball *out, const struct ball *base,
                    const struct ball *e);
/* ball_function.c: functions of one argument. NUMBER_UNKNOWN for those of number theory and for floor,
 * ceiling and sign, which scalar_special.c evaluates. */
int ball_function(struct number_context *c, struct ball *out, enum math_function f, const struct ball *a);

#endif
