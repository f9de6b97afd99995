/* Gaussian fractions re + im i, and the number theory on integers (contract: number.h). */
#include "answer_check/number/number.h"

struct gauss gauss_of(struct fraction re)
{
    return (struct gauss){re, fraction_of(0)};
}

int gauss_is_real(struct gauss a)
{
    return !fraction_sign(a.im);
}

int gauss_is_zero(struct gauss a)
{
    return !fraction_sign(a.re) && !fraction_sign(a.im);
}

int gauss_equal(struct number_context *c, struct gauss a, struct gauss b)
{
    return !fraction_compare(c, a.re, b.re) && !fraction_compare(c, a.im, b.im);
}

int gauss_add(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b)
{
    int rc = fraction_add(c, &out->re, a.re, b.re);
    return rc ? rc : fraction_add(c, &out->im, a.im, b.im);
}

int gauss_neg(struct number_context *c, struct gauss *out, struct gauss a)
{
    int rc = fraction_neg(c, &out->re, a.re);
    return rc ? rc : fraction_neg(c, &out->im, a.im);
}

int gauss_mul(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b)
{
    if (gauss_is_real(a) && gauss_is_real(b)) {
        out->im = fraction_of(0);
        return fraction_mul(c, &out->re, a.re, b.re);
    }
    struct fraction x, y, u, v;
    int rc = fraction_mul(c, &x, a.re, b.re);
    rc = rc ? rc : fraction_mul(c, &y, a.im, b.im);
    rc = rc ? rc : fraction_mul(c, &u, a.re, b.im);
    rc = rc ? rc : fraction_mul(c, &v, a.im, b.re);
    rc = rc ? rc : fraction_sub(c, &out->re, x, y);
    return rc ? rc : fraction_add(c, &out->im, u, v);
}

int gauss_div(struct number_context *c, struct gauss *out, struct gauss a, struct gauss b)
{
    if (gauss_is_zero(b))
        return NUMBER_UNDEFINED;
    struct fraction norm = b.re, t;
    int rc = NUMBER_OK;
    if (!gauss_is_real(b)) {
        rc = fraction_mul(c, &norm, b.re, b.re);
        rc = rc ? rc : fraction_mul(c, &t, b.im, b.im);
        rc = rc ? rc : fraction_add(c, &norm, norm, t);
        rc = rc ? rc : fraction_neg(c, &b.im, b.im);
        rc = rc ? rc : gauss_mul(c, &a, a, b);
    }
    rc = rc ? rc : fraction_div(c, &out->re, a.re, norm);
    return rc ? rc : fraction_div(c, &out->im, a.im, norm);
}

int gauss_pow(struct number_context *c, struct gauss *out, struct gauss a, int64_t e)
{
    if (!e && gauss_is_zero(a))
        return NUMBER_UNDEFINED;
    if (gauss_is_real(a)) {
        out->im = fraction_of(0);
        return fraction_pow(c, &out->re, a.re, e);
    }
    int rc = NUMBER_OK;
    if (e < 0) {
        rc = gauss_div(c, &a, gauss_of(fraction_of(1)), a);
        if (rc || e == INT64_MIN)
            return rc ? rc : NUMBER_INEXACT;
        e = -e;
    }
    if (!fraction_sign(a.re) && !a.im.big && a.im.d == 1 && (a.im.n == 1 || a.im.n == -1))
        e %= 4; /* powers of i */
    else if (e > c->bits)
        return NUMBER_INEXACT;
    struct gauss r = gauss_of(fraction_of(1));
    for (; e && !rc; e >>= 1) {
        if (e & 1)
            rc = gauss_mul(c, &r, r, a);
        if (e > 1 && !rc)
            rc = gauss_mul(c, &a, a, a);
    }
    *out = r;
    return rc;
}

int fraction_factorial(struct number_context *c, struct fraction *out, int64_t n, int step)
{
    if (n < 0)
        return NUMBER_UNDEFINED;
    int64_t limit = c->bits;
    if (n > limit ||
        (n > 20 && n * (63 - __builtin_clzll((uint64_t)n) - 1) / step > limit)) /* log2 n! > n (log2 n - 2) */
        return NUMBER_INEXACT;
    if (n <= 20) {
        int64_t v = 1;
        for (; n > 1; n -= step)
            v *= n;
        *out = fraction_of(v);
        return NUMBER_OK;
    }
    if (math_step(c->w, 20 + 16 * n + n * n / 256))
        return NUMBER_UNKNOWN;
    struct fraction r = {0};
    mpq_ptr p = fraction_scratch(c, &r);
    mpz_set_ui(mpq_denref(p), 1);
    if (step == 2)
        mpz_2fac_ui(mpq_numref(p), (unsigned long)n);
    else
        mpz_fac_ui(mpq_numref(p), (unsigned long)n);
    int rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}

/* n (n-1) .. (n-k+1) / k! for any n. If n is an integer, so is every intermediate result. */
static int falling_product(struct number_context *c, struct fraction *out, struct fraction n, int64_t k)
{
    struct fraction r = fraction_of(1);
    if (k > c->bits / 16)
        return NUMBER_INEXACT;
    for (int64_t i = 0; i < k; i++) {
        struct fraction factor;
        int rc = fraction_sub(c, &factor, n, fraction_of(i));
        rc = rc ? rc : fraction_mul(c, &r, r, factor);
        rc = rc ? rc : fraction_div(c, &r, r, fraction_of(i + 1));
        if (rc)
            return rc;
    }
    *out = r;
    return NUMBER_OK;
}

int fraction_binomial(struct number_context *c, struct fraction *out, struct fraction n, int64_t k)
{
    int64_t top;
    if (k < 0) {
        *out = fraction_of(0);
        return NUMBER_OK;
    }
    if (!fraction_int64(n, &top) || top < 0)
        return falling_product(c, out, n, k);
    if (k > top) {
        *out = fraction_of(0);
        return NUMBER_OK;
    }
    if (k > top - k)
        k = top - k;
    if (k <= 8 || top > INT32_MAX)
        return falling_product(c, out, n, k);
    int64_t bits = k * (63 - __builtin_clzll((uint64_t)(top / k))); /* C(n, k) >= (n/k)^k */
    if (bits > c->bits)
        return NUMBER_INEXACT;
    if (math_step(c->w, 50 + 16 * bits / 64 * (1 + bits / 256) + k))
        return NUMBER_UNKNOWN;
    struct fraction r = {0};
    mpq_ptr p = fraction_scratch(c, &r);
    mpz_set_ui(mpq_denref(p), 1);
    mpz_bin_uiui(mpq_numref(p), (unsigned long)top, (unsigned long)k);
    int rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}

int fraction_gcd(struct number_context *c, struct fraction *out, struct fraction a, struct fraction b)
{
    struct fraction r = {0};
    if (math_step(c->w, 10 + (fraction_bits(a) + fraction_bits(b)) / 2))
        return NUMBER_UNKNOWN;
    mpq_srcptr x = fraction_mpq(c, a), y = fraction_mpq(c, b);
    mpq_ptr p = fraction_scratch(c, &r);
    mpz_gcd(mpq_numref(p), mpq_numref(x), mpq_numref(y));
    mpz_set_ui(mpq_denref(p), 1);
    int rc = fraction_normalise(c, &r);
    *out = r;
    return rc;
}
