/* Fractions: 64-bit integers as long as they fit, GMP beyond (contract: number.h). Typical answers
 * never allocate. */
#include "answer_check/number/number.h"

#include <stdlib.h>
#include <string.h>

struct big {
    mpq_t q;
    struct big *next, *next_free;
};

void fraction_close(struct number_context *c)
{
    for (struct big *b = c->bigs; b; b = b->next)
        mpq_clear(b->q);
    c->bigs = c->free_bigs = NULL;
}

/* A GMP fraction of the context, with any value. */
static struct big *big_new(struct number_context *c)
{
    struct big *b = c->free_bigs;
    if (b) {
        c->free_bigs = b->next_free;
        return b;
    }
    b = arena_alloc(c->w->arena, sizeof *b);
    mpq_init(b->q);
    b->next = c->bigs;
    c->bigs = b;
    return b;
}

/* Take the steps, about ten nanoseconds each, of an operation on big integers, and on big fractions, which
 * need a gcd.
 */
static int integer_cost(struct number_context *c, int64_t bits)
{
    int64_t limbs = bits / 64 + 1;
    return math_step(c->w, 14 + 4 * limbs + limbs * limbs / 256) ? NUMBER_UNKNOWN : NUMBER_OK;
}

static int big_cost(struct number_context *c, int64_t bits)
{
    int64_t limbs = bits / 64 + 1;
    return math_step(c->w, 20 + 24 * limbs + limbs * limbs / 16) ? NUMBER_UNKNOWN : NUMBER_OK;
}

struct fraction fraction_of(int64_t n)
{
    return (struct fraction){n, 1, NULL};
}

static uint64_t abs_int64(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

static int64_t gcd_int64(int64_t a, int64_t b)
{
    uint64_t x = abs_int64(a), y = abs_int64(b);
    while (y) {
        uint64_t t = x % y;
        x = y;
        y = t;
    }
    return x ? (int64_t)x : 1;
}

int fraction_ratio(struct number_context *c, struct fraction *out, int64_t n, int64_t d)
{
    (void)c;
    if (!d)
        return NUMBER_UNDEFINED;
    int64_t g = gcd_int64(n, d);
    *out = (struct fraction){(d < 0 ? -n : n) / g, (d < 0 ? -d : d) / g, NULL};
    return NUMBER_OK;
}

mpq_srcptr fraction_mpq(struct number_context *c, struct fraction a)
{
    if (a.big)
        return a.big->q;
    struct big *b = big_new(c);
    mpq_set_si(b->q, a.n, (unsigned long)a.d);
    return b->q;
}

mpq_ptr fraction_scratch(struct number_context *c, struct fraction *owner)
{
    owner->big = big_new(c);
    return owner->big->q;
}

int fraction_normalise(struct number_context *c, struct fraction *owner)
{
    struct big *b = owner->big;
    mpz_ptr n = mpq_numref(b->q), d = mpq_denref(b->q);
    if (mpz_fits_slong_p(n) && mpz_fits_slong_p(d) && mpz_get_si(n) != INT64_MIN) {
        *owner = (struct fraction){mpz_get_si(n), mpz_get_si(d), NULL};
        b->next_free = c->free_bigs;
        c->free_bigs = b;
        return NUMBER_OK;
    }
    return fraction_bits(*owner) > c->bits ? NUMBER_INEXACT : NUMBER_OK;
}

/* Does an operation by GMP that did not fit 64 bits. */
typedef void big_operation(mpq_ptr, mpq_srcptr, mpq_srcptr);
static int by_gmp(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b,
                  big_operation *operation)
{
    int64_t bits = fraction_bits(a) + fraction_bits(b);
    int integers = operation != mpq_div && fraction_is_integer(a) && fraction_is_integer(b);
    int rc = integers ? integer_cost(c, bits) : big_cost(c, bits);
    if (rc)
        return rc;
    struct fraction r = {0};
    mpq_srcptr x = fraction_mpq(c, a), y = fraction_mpq(c, b);
    operation(fraction_scratch(c, &r), x, y);
    rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}

int fraction_add(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b)
{
    if (!a.big && !b.big) {
        int64_t n, x, y, d, g = a.d == 1 || b.d == 1 ? 1 : gcd_int64(a.d, b.d);
        if (!__builtin_mul_overflow(a.n, b.d / g, &x) && !__builtin_mul_overflow(b.n, a.d / g, &y) &&
            !__builtin_add_overflow(x, y, &n) && n != INT64_MIN) {
            int64_t t = g == 1 ? 1 : gcd_int64(n, g);
            if (!__builtin_mul_overflow(a.d / g, b.d / t, &d)) {
                *out = (struct fraction){n / t, n ? d : 1, NULL};
                return NUMBER_OK;
            }
        }
    }
    return by_gmp(c, out, a, b, mpq_add);
}

int fraction_neg(struct number_context *c, struct fraction *out, struct fraction a)
{
    if (!a.big) {
        *out = (struct fraction){-a.n, a.d, NULL};
        return NUMBER_OK;
    }
    struct fraction r = {0};
    mpq_neg(fraction_scratch(c, &r), a.big->q);
    *out = r;
    return NUMBER_OK;
}

int fraction_sub(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b)
{
    int rc = fraction_neg(c, &b, b);
    return rc ? rc : fraction_add(c, out, a, b);
}

int fraction_mul(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b)
{
    if (!a.big && !b.big) {
        int64_t n, d, g = b.d == 1 ? 1 : gcd_int64(a.n, b.d), h = a.d == 1 ? 1 : gcd_int64(b.n, a.d);
        if (!__builtin_mul_overflow(a.n / g, b.n / h, &n) && n != INT64_MIN &&
            !__builtin_mul_overflow(a.d / h, b.d / g, &d)) {
            *out = (struct fraction){n, n ? d : 1, NULL};
            return NUMBER_OK;
        }
    }
    return by_gmp(c, out, a, b, mpq_mul);
}

int fraction_div(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b)
{
    if (!fraction_sign(b))
        return NUMBER_UNDEFINED;
    if (!b.big) {
        struct fraction inverse = {b.n < 0 ? -b.d : b.d, b.n < 0 ? -b.n : b.n, NULL};
        return fraction_mul(c, out, a, inverse);
    }
    return by_gmp(c, out, a, b, mpq_div);
}

int fraction_sign(struct fraction a)
{
    if (a.big)
        return mpq_sgn(a.big->q);
    return (a.n > 0) - (a.n < 0);
}

int fraction_is_integer(struct fraction a)
{
    return a.big ? !mpz_cmp_ui(mpq_denref(a.big->q), 1) : a.d == 1;
}

int fraction_int64(struct fraction a, int64_t *out)
{
    if (a.big || a.d != 1)
        return 0;
    *out = a.n;
    return 1;
}

/* How many bits |a| has. */
static int64_t bits_int64(int64_t a)
{
    return a ? 64 - __builtin_clzll(abs_int64(a)) : 0;
}

int64_t fraction_bits(struct fraction a)
{
    if (a.big)
        return (int64_t)(mpz_sizeinbase(mpq_numref(a.big->q), 2) + mpz_sizeinbase(mpq_denref(a.big->q), 2));
    return bits_int64(a.n) + bits_int64(a.d);
}

int fraction_compare(struct number_context *c, struct fraction a, struct fraction b)
{
    if (!a.big && !b.big) {
        __int128 x = (__int128)a.n * b.d, y = (__int128)b.n * a.d;
        return (x > y) - (x < y);
    }
    return mpq_cmp(fraction_mpq(c, a), fraction_mpq(c, b));
}

int fraction_pow(struct number_context *c, struct fraction *out, struct fraction a, int64_t e)
{
    if (e < 0) {
        int rc = fraction_div(c, &a, fraction_of(1), a);
        if (rc || e == INT64_MIN)
            return rc ? rc : NUMBER_INEXACT;
        e = -e;
    }
    if (!a.big && a.d == 1 && a.n >= -1 && a.n <= 1) { /* 0, 1 and -1 to any power */
        *out = fraction_of(e == 0 ? 1 : a.n < 0 && e % 2 == 0 ? 1 : a.n);
        return NUMBER_OK;
    }
    if (e > 2 * c->bits || e * (fraction_bits(a) - 1) > 2 * c->bits)
        return NUMBER_INEXACT;
    struct fraction r = fraction_of(1);
    if (a.big || e * fraction_bits(a) > 120) {
        int rc = integer_cost(c, e * fraction_bits(a)); /* no gcd */
        if (rc)
            return rc;
        mpq_srcptr q = fraction_mpq(c, a);
        mpq_ptr p = fraction_scratch(c, &r);
        mpz_pow_ui(mpq_numref(p), mpq_numref(q), (unsigned long)e);
        mpz_pow_ui(mpq_denref(p), mpq_denref(q), (unsigned long)e);
        rc = fraction_normalise(c, &r);
        *out = r;
        return rc;
    }
    for (int rc; e; e >>= 1) {
        if ((e & 1) && (rc = fraction_mul(c, &r, r, a)))
            return rc;
        if (e > 1 && (rc = fraction_mul(c, &a, a, a)))
            return rc;
    }
    *out = r;
    return NUMBER_OK;
}

int fraction_root(struct number_context *c, struct fraction *out, struct fraction a, int64_t q)
{
    if (q == 1 || !fraction_sign(a)) {
        *out = a;
        return NUMBER_OK;
    }
    if (fraction_sign(a) < 0 && q % 2 == 0)
        return NUMBER_INEXACT;
    if (q > fraction_bits(a)) { /* only 1 and -1 have an exact root of so high an order */
        *out = a;
        return !a.big && a.d == 1 && abs_int64(a.n) == 1 ? NUMBER_OK : NUMBER_INEXACT;
    }
    int rc = big_cost(c, 2 * fraction_bits(a));
    if (rc)
        return rc;
    struct fraction r = {0};
    mpq_srcptr x = fraction_mpq(c, a);
    mpq_ptr p = fraction_scratch(c, &r);
    if (!mpz_root(mpq_numref(p), mpq_numref(x), (unsigned long)q) ||
        !mpz_root(mpq_denref(p), mpq_denref(x), (unsigned long)q))
        return NUMBER_INEXACT;
    rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}

int fraction_floor(struct number_context *c, struct fraction *out, struct fraction a)
{
    if (!a.big) {
        int64_t q = a.n / a.d;
        *out = fraction_of(a.n % a.d < 0 ? q - 1 : q);
        return NUMBER_OK;
    }
    struct fraction r = {0};
    mpq_ptr p = fraction_scratch(c, &r);
    mpz_fdiv_q(mpq_numref(p), mpq_numref(a.big->q), mpq_denref(a.big->q));
    mpz_set_ui(mpq_denref(p), 1);
    int rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}

int fraction_digits(struct number_context *c, struct fraction *out, const char *digits, int n, int base)
{
    if (n <= 18 && base == 10) {
        int64_t v = 0;
        for (int i = 0; i < n; i++) {
            if (digits[i] < '0' || digits[i] > '9')
                return NUMBER_UNKNOWN;
            v = v * 10 + (digits[i] - '0');
        }
        *out = fraction_of(v);
        return NUMBER_OK;
    }
    if (math_step(c->w, 20 + n + (int64_t)n * n / 65536))
        return NUMBER_UNKNOWN;
    int rc;
    struct fraction r = {0};
    mpq_ptr p = fraction_scratch(c, &r);
    mpz_set_ui(mpq_denref(p), 1);
    if (mpz_set_str(mpq_numref(p), arena_strndup(c->w->arena, digits, (size_t)n), base))
        return NUMBER_UNKNOWN;
    rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}
