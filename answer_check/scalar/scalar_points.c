/* Equality of expressions with symbols at fixed points (contract: scalar_compare.h).
 *
 * Two sides are equal if they are equal wherever both are defined on the reals: sqrt(x) sqrt(y) = sqrt(xy),
 * but sqrt(x^2) is not x. Even roots and logarithms of negative numbers are undefined there. A point gives
 * every symbol a fraction that is a function of its name and the point's number. The points lie
 * - at positive values of all symbols;
 * - at all patterns of signs for up to four symbols, at some of them for more;
 * - where a side has corners (|x|, max): at zero, near the numbers in the text and far out; where it has
 * jumps (floor): at integers and half-integers;
 * - off the real axis for symbols that are complex (scalar_sample.c);
 * - at principal complex values, if nothing above was defined.
 * At each point both sides are compared as certified constants. One disagreement is inequality, three
 * agreements in one group of points are equality. */
#include "answer_check/scalar/scalar_sample.h"

#include "answer_check/scalar/scalar_build.h"
#include "evalcore/base/hash.h"

enum { POINTS = 9, ENOUGH = 3, SIGNED_SYMBOLS = 4, SIGN_PATTERNS = 16 };
static const int64_t FAR_OUT = 10000000;

struct point {
    int j;             /* which magnitudes */
    unsigned negative; /* bit i: symbol i, if it is real */
    enum { BETWEEN, AT_INTEGERS, AT_HALVES, OFF_AXIS } where;
    int special; /* one more than the number of a symbol with a value of its own; 0: none */
    struct fraction special_value;
    int is_principal; /* even roots and logarithms have their complex values */
};

/* Small enough for factorials, but in the end beyond the numbers in the text (m choose 21 is 0 below 21).
 * Over eight points each of eight symbols is odd in a pattern of its own, and no sum of up to four of them is
 * always odd or always even: (-1)^n is not (-1)^m. */
static struct fraction integer_value(const struct samples *p, int symbol, int j)
{
    enum { BEYOND_MAX = 200 };
    uint64_t h = p->hash[symbol];
    int64_t beyond = 0;
    for (int i = 0; i < p->n_corners && j >= 5; i++)
        if (p->corner[i] > beyond && p->corner[i] <= BEYOND_MAX)
            beyond = p->corner[i];
    static const unsigned char odd[8] = {0xe0, 0x8b, 0x52, 0x2d, 0xa9, 0x16, 0x8d, 0x99};
    int64_t even = 4 + 2 * (int64_t)((h >> 4) % 3) + 2 * ((j * (1 + (int64_t)((h >> 8) % 3))) % 7);
    return fraction_of(even + 2 * ((beyond + 1) / 2) + (odd[symbol % 8] >> (j % 8) & 1));
}

/* Between 0 and 1, 1 and 3, 3 and 12, 20 and 170 in turn, in another order for every symbol. */
static struct fraction real_value(struct number_context *c, uint64_t h, int j)
{
    static const short range[4][3] = {{5, 90, 101}, {107, 190, 101}, {310, 860, 97}, {2003, 15000, 103}};
    uint64_t r = hash_mix64(h + 0x9e3779b97f4a7c15u * (uint64_t)(j + 1));
    const short *g = range[j == 8 ? 3 : (r >> 40) % 3];
    struct fraction f;
    return fraction_ratio(c, &f, g[0] + (int64_t)(r % (uint64_t)g[1]), g[2]) ? fraction_of(1) : f;
}

static struct gauss symbol_value(struct number_context *c, const struct samples *p, const struct point *at,
                                 int i)
{
    if (at->special == i + 1)
        return gauss_of(at->special_value);
    if (p->kind[i] == SYMBOL_INTEGER)
        return gauss_of(integer_value(p, i, at->j));
    struct fraction f = real_value(c, p->hash[i], at->j);
    if (at->where == AT_INTEGERS || at->where == AT_HALVES) {
        int64_t n = 1 + (int64_t)((p->hash[i] >> 8) % 5) + at->j;
        if (at->where == AT_INTEGERS || fraction_ratio(c, &f, 2 * n + 1, 2))
            f = fraction_of(n);
    }
    if (at->negative >> i & 1)
        fraction_neg(c, &f, f);
    struct gauss g = gauss_of(f);
    if (at->where == OFF_AXIS && p->kind[i] == SYMBOL_COMPLEX) {
        g.im = real_value(c, p->hash[i] + 1, at->j);
        if ((p->hash[i] >> (30 + at->j)) & 1)
            fraction_neg(c, &g.im, g.im);
    }
    return g;
}

static void set_point(struct number_context *c, const struct samples *p, struct binding *bound,
                      const struct point *at)
{
    c->bound = NULL;
    for (int i = 0; i < p->n; i++) {
        bound[i] = (struct binding){p->names[i], symbol_value(c, p, at, i), c->bound};
        c->bound = &bound[i];
    }
}

/* Is the ratio of a to b at this point that at positive values? a(p) b(q) = a(q) b(p), as trees with the
 * values in. */
static enum math_truth compare_ratio(struct number_context *c, const struct samples *p, struct binding *bound,
                                     const struct point *there)
{
    const struct math_node *side[2] = {p->a, p->b}, *at[2][2];
    const struct point here = {.j = POINTS, .is_principal = there->is_principal};
    for (int point = 0; point < 2; point++) {
        set_point(c, p, bound, point ? there : &here);
        for (int k = 0; k < 2; k++) {
            at[k][point] = side[k];
            for (int i = 0; i < p->n; i++)
                at[k][point] =
                    math_substitute(c->w, at[k][point], p->names[i], tree_gauss(c, bound[i].value));
        }
    }
    c->bound = NULL;
    for (int k = 0; k < 2; k++) { /* a zero on both sides says nothing, on one side it is another function */
        const struct math_node *zero = tree_integer(c->w, 0);
        if (!at[0][k] || !at[1][k] || !zero)
            return MATH_UNKNOWN;
        enum math_truth x = scalar_compare(c, at[0][k], zero, &plan_point);
        enum math_truth y = scalar_compare(c, at[1][k], zero, &plan_point);
        if (x == MATH_UNKNOWN || y == MATH_UNKNOWN || (x == MATH_TRUE && y == MATH_TRUE))
            return MATH_UNKNOWN;
        if (x != y)
            return MATH_FALSE;
    }
    return scalar_compare(c, tree_mul(c->w, at[0][0], at[1][1]), tree_mul(c->w, at[0][1], at[1][0]),
                          &plan_point);
}

static enum math_truth compare_at(struct samples *p, const struct point *at)
{
    struct binding bound[SAMPLE_SYMBOLS];
    struct number_context c;
    enum math_truth truth;
    number_open(&c, p->w);
    c.real_only = !at->is_principal;
    if (p->is_ratio) {
        truth = compare_ratio(&c, p, bound, at);
    } else {
        set_point(&c, p, bound, at);
        truth = scalar_compare(&c, p->a, p->b, &plan_point);
    }
    number_close(&c);
    return truth;
}

/* Compares at up to `points` points that differ in their magnitudes, until `stop` of them agree. Returns how
 * many agree, or -1 when a disagreement was proved. */
static int count_agreements(struct samples *p, struct point at, int points, int stop)
{
    int valid = 0;
    for (at.j = 0; at.j < points && valid < stop; at.j++) {
        enum math_truth truth = compare_at(p, &at);
        if (truth == MATH_FALSE)
            return -1;
        valid += truth == MATH_TRUE;
    }
    return valid;
}

/* All patterns of signs of up to four real symbols; of more, all negative and some mixed ones. Returns as
 * count_agreements(). */
static int count_agreements_at_signs(struct samples *p)
{
    unsigned real = 0;
    int n = 0, valid = 0;
    for (int i = 0; i < p->n; i++)
        if (p->kind[i] != SYMBOL_INTEGER) {
            real |= 1u << i;
            n++;
        }
    static const int with_corners[] = {0, POINTS, POINTS, 6, 3}; /* by the number of real symbols */
    static const int smooth[] = {0, ENOUGH, 2, 1, 1};
    int few = n > SIGNED_SYMBOLS ? SIGNED_SYMBOLS : n, patterns = n > SIGNED_SYMBOLS ? SIGN_PATTERNS : 1 << n;
    int each = p->has_corner ? with_corners[few] : smooth[few];
    for (int k = 1; k < patterns; k++) {
        unsigned negative = n <= SIGNED_SYMBOLS ? 0
                            : k == 1            ? real
                                                : (unsigned)hash_mix64((uint64_t)k) & real;
        for (int i = 0, bit = 0; n <= SIGNED_SYMBOLS && i < p->n; i++)
            if (real >> i & 1)
                negative |= (unsigned)(k >> bit++ & 1) << i;
        int agreed = count_agreements(
            p, (struct point){.negative = negative, .is_principal = p->w->principal_values}, POINTS, each);
        if (agreed < 0)
            return -1;
        valid += agreed;
    }
    return valid;
}

/* Zero and near it, the numbers in the text and a third, and far out, for one real symbol after the other. 0
 * when a disagreement was proved. */
static int agrees_at_corners(struct samples *p)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < 2 * (p->n_corners + 3) && p->kind[i] != SYMBOL_INTEGER; k++) {
            int64_t near = k < 2 ? FAR_OUT : k < 6 ? 0 : p->corner[k / 2 - 3];
            struct point at = {.j = 1, .special = i + 1, .is_principal = p->w->principal_values};
            at.special_value = (struct fraction){3 * near + 1, 3, NULL};
            if (k == 4 || k == 5)
                at.special_value = (struct fraction){1, FAR_OUT, NULL}; /* where a logarithm is small */
            if (k == 2)
                at.special_value = fraction_of(0);
            else if (k % 2)
                at.special_value.n = -at.special_value.n;
            if (compare_at(p, &at) == MATH_FALSE)
                return 0;
        }
    return 1;
}

static int agrees_at_jumps(struct samples *p)
{
    for (int k = 0; k < 4; k++) {
        struct point at = {.where = k % 2 ? AT_HALVES : AT_INTEGERS,
                           .negative = k < 2 ? 0 : ~0u,
                           .is_principal = p->w->principal_values};
        if (count_agreements(p, at, 2, 2) < 0)
            return 0;
    }
    return 1;
}

static enum math_truth compare_at_points(struct samples *p)
{
    if (p->n > SAMPLE_SYMBOLS)
        return MATH_UNKNOWN;
    samples_scan(p);
    int has_integer = 0;
    for (int i = 0; i < p->n; i++)
        has_integer |= p->kind[i] == SYMBOL_INTEGER;
    int stop = p->has_corner ? POINTS : has_integer ? POINTS - 1 : ENOUGH;
    int positive = count_agreements(p, (struct point){.is_principal = p->w->principal_values}, POINTS, stop);
    int mixed = positive < 0 ? -1 : count_agreements_at_signs(p);
    if (mixed < 0 || (p->has_corner && !agrees_at_corners(p)) || (p->has_jump && !agrees_at_jumps(p)) ||
        (p->n_complex && !p->w->principal_values &&
         count_agreements(p, (struct point){.where = OFF_AXIS}, POINTS, ENOUGH) < 0))
        return MATH_FALSE;
    if (p->w->ran_out) /* the points that were left out might disagree */
        return MATH_UNKNOWN;
    if (positive >= ENOUGH || mixed >= ENOUGH)
        return MATH_TRUE;
    int principal = count_agreements(p, (struct point){.is_principal = 1}, POINTS, ENOUGH);
    return principal < 0 ? MATH_FALSE : principal >= ENOUGH ? MATH_TRUE : MATH_UNKNOWN;
}

enum math_truth scalar_equal_at_points(struct math_work *w, const struct math_node *a,
                                       const struct math_node *b, const char *const *names, int n)
{
    struct samples p = {.w = w, .a = a, .b = b, .n = n, .names = names};
    return compare_at_points(&p);
}

enum math_truth scalar_proportional_at_points(struct math_work *w, const struct math_node *a,
                                              const struct math_node *b, const char *const *names, int n)
{
    struct samples p = {.w = w, .a = a, .b = b, .n = n, .names = names, .is_ratio = 1};
    return compare_at_points(&p);
}
