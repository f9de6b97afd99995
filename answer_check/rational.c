/* Exact fractions for the math grader. Products of two 64-bit integers are formed in 128 bits, reduced, and
 * only then asked whether they fit: a result is either exact or refused, never rounded. */
#include "answer_check/rational.h"

static int reduce(struct rational *out, __int128 num, __int128 den)
{
    if (den == 0)
        return -1;
    if (den < 0) {
        num = -num;
        den = -den;
    }
    __int128 a = num < 0 ? -num : num, b = den;
    while (b) {
        __int128 t = a % b;
        a = b;
        b = t;
    }
    if (a > 1) {
        num /= a;
        den /= a;
    }
    /* INT64_MIN is left out so that negation always fits */
    if (num > INT64_MAX || num < -INT64_MAX || den > INT64_MAX)
        return -1;
    out->num = (int64_t)num;
    out->den = (int64_t)den;
    return 0;
}

int rational_set(struct rational *out, int64_t num, int64_t den)
{
    return reduce(out, num, den);
}

int rational_add(struct rational *out, struct rational a, struct rational b)
{
    /* each product is below 2^126, their sum below 2^127 */
    return reduce(out, (__int128)a.num * b.den + (__int128)b.num * a.den, (__int128)a.den * b.den);
}

int rational_mul(struct rational *out, struct rational a, struct rational b)
{
    return reduce(out, (__int128)a.num * b.num, (__int128)a.den * b.den);
}

int rational_div(struct rational *out, struct rational a, struct rational b)
{
    return reduce(out, (__int128)a.num * b.den, (__int128)a.den * b.num);
}

int rational_pow(struct rational *out, struct rational a, int e)
{
    if (e < 0) {
        struct rational one = {1, 1};
        if (rational_div(&a, one, a))
            return -1;
    }
    unsigned n = e < 0 ? 0u - (unsigned)e : (unsigned)e;
    struct rational r = {1, 1};
    for (; n; n >>= 1) {
        if ((n & 1) && rational_mul(&r, r, a))
            return -1;
        if (n > 1 && rational_mul(&a, a, a))
            return -1;
    }
    *out = r;
    return 0;
}

static int exact_root(int64_t v, int64_t *root)
{
    int64_t lo = 0, hi = 3037000499; /* floor(sqrt(INT64_MAX)) */
    while (lo < hi) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        if (mid * mid <= v)
            lo = mid;
        else
            hi = mid - 1;
    }
    *root = lo;
    return lo * lo == v;
}

int rational_sqrt(struct rational *out, struct rational a)
{
    struct rational r;
    if (a.num < 0 || !exact_root(a.num, &r.num) || !exact_root(a.den, &r.den))
        return -1;
    *out = r;
    return 0;
}

int rational_equal(struct rational a, struct rational b)
{
    return a.num == b.num && a.den == b.den;
}
