/* Equality of expressions with symbols at fixed points (contract: scalar_compare.h).
 *
 * A point gives every symbol a fraction that is a function of its name and the point's number. Classes of
 * points, in this order:
 * - Integers, for symbols that only make sense as such: under a factorial, a binomial, a gcd or a remainder,
 *   as the bound of a sum, and in the exponent of a number that is not positive, as in (-1)^n or i^k.
 * - Positive reals. Even roots and logarithms of negative numbers count as undefined here and in the next
 *   class, so sqrt(1/n) = 1/sqrt(n) and ln|x| = ln x.
 * - Negative and mixed reals. A disagreement there counts unless an even root or a logarithm stands in one of
 *   the sides and no absolute value: letters under roots are meant to be positive (sqrt(x^2) = x), but who
 *   writes |x| does not mean x.
 * - Principal complex values at positive points, where nothing above was defined.
 * At each point both sides are compared as certified constants; where a side is undefined the point does not
 * count. Three agreements in a class are equality, one disagreement is none. */
#include "answer_check/scalar/scalar_compare.h"

#include <string.h>

#include "answer_check/scalar/scalar_build.h"
#include "evalcore/base/hash.h"

enum { POINTS = 9, MIXED_POINTS = 4, ENOUGH = 3 };
enum point_class { POINT_INTEGER, POINT_POSITIVE, POINT_MIXED, POINT_COMPLEX };

struct samples {
    struct math_work *w;
    const struct math_node *a, *b;
    int is_ratio; /* compare a(p) b(q) with b(p) a(q) instead */
    int n;
    const char *const *names;
    uint64_t hash[SAMPLE_SYMBOLS];
    int integer[SAMPLE_SYMBOLS];
    int has_integer, has_root, has_abs;
    int valid;
};

static uint64_t name_hash(const char *name)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a, then mixed */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return hash_mix64(h);
}

/* Small enough for factorials, of both parities in a pattern of the symbol's own. */
static struct fraction integer_point(uint64_t h, int j)
{
    static const unsigned char parity[4] = {0x55, 0x33, 0x69, 0x1d};
    int64_t even = 4 + 2 * (int64_t)((h >> 4) % 3) + 2 * ((j * (1 + (int64_t)((h >> 8) % 3))) % 7);
    return fraction_of(even + (parity[(h >> 16) % 4] >> (j % 8) & 1));
}

/* Between 0 and 1, 1 and 3, 3 and 12, 20 and 170 in turn, in another order for every symbol. */
static struct fraction real_point(struct scalar_context *c, uint64_t h, int j)
{
    static const short range[4][3] = {{5, 90, 101}, {107, 190, 101}, {310, 860, 97}, {2003, 15000, 103}};
    uint64_t r = hash_mix64(h + 0x9e3779b97f4a7c15u * (uint64_t)(j + 1));
    const short *g = range[j == 8 ? 3 : (r >> 40) % 3];
    struct fraction f;
    return fraction_ratio(c, &f, g[0] + (int64_t)(r % (uint64_t)g[1]), g[2]) ? fraction_of(1) : f;
}

static void set_point(struct scalar_context *c, const struct samples *p, struct binding *bound,
                      enum point_class class, int j)
{
    c->bound = NULL;
    for (int i = 0; i < p->n; i++) {
        struct fraction f =
            p->integer[i] ? integer_point(p->hash[i], j) : real_point(c, p->hash[i], j + 10 * (int)class);
        if (class == POINT_MIXED && !p->integer[i] && (j < 2 || (p->hash[i] >> (20 + j) & 1)))
            f.n = -f.n;
        bound[i] = (struct binding){p->names[i], gauss_of(f), c->bound};
        c->bound = &bound[i];
    }
}

/* Is the ratio of a to b at point j that at point 0? a(p) b(q) = a(q) b(p), as trees with the values in. */
static enum math_truth compare_ratio(struct scalar_context *c, const struct samples *p, struct binding *bound,
                                     enum point_class class, int j)
{
    const struct math_node *side[2] = {p->a, p->b}, *at[2][2];
    for (int point = 0; point < 2; point++) {
        set_point(c, p, bound, class, point ? j + 1 : 0);
        for (int k = 0; k < 2; k++) {
            at[k][point] = side[k];
            for (int i = 0; i < p->n; i++)
                at[k][point] =
                    math_substitute(c->w, at[k][point], p->names[i], tree_fraction(c, bound[i].value.re));
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

/* 0 when a disagreement was proved. */
static int agree_at_class(struct samples *p, enum point_class class, int points, int stop)
{
    struct binding bound[SAMPLE_SYMBOLS];
    p->valid = 0;
    for (int j = 0; j < points && p->valid < stop; j++) {
        struct scalar_context c;
        scalar_open(&c, p->w);
        c.real_only = class != POINT_COMPLEX && class != POINT_INTEGER;
        enum math_truth truth;
        if (p->is_ratio) {
            truth = compare_ratio(&c, p, bound, class, j);
        } else {
            set_point(&c, p, bound, class, j);
            truth = scalar_compare(&c, p->a, p->b, &plan_point);
        }
        scalar_close(&c);
        if (truth == MATH_FALSE)
            return 0;
        p->valid += truth == MATH_TRUE;
    }
    return 1;
}

/* Marks the symbols of m as integers. */
static void mark_integers(struct samples *p, const struct math_node *m)
{
    for (int i = 0; i < p->n; i++)
        if (!p->integer[i] && math_has_symbol(m, p->names[i]))
            p->integer[i] = p->has_integer = 1;
}

/* A number that is certainly not positive: -1, i, -1/2. */
static int is_not_positive(const struct math_node *m)
{
    if (m->kind == MATH_CONSTANT)
        return m->which == MATH_I;
    if (m->kind == MATH_NEGATE) {
        const struct math_node *x = m->child[0];
        return x->kind == MATH_NUMBER || (x->kind == MATH_CONSTANT && x->which != MATH_INFINITY) ||
               (x->kind == MATH_DIVIDE && x->child[0]->kind == MATH_NUMBER &&
                x->child[1]->kind == MATH_NUMBER);
    }
    return m->kind == MATH_DIVIDE && (is_not_positive(m->child[0]) || is_not_positive(m->child[1]));
}

/* Does an exponent, or the order of a root, make an even root? Symbols in it might. */
static int is_even_root(struct samples *p, const struct math_node *m, int is_order)
{
    struct scalar_context c;
    struct gauss g;
    scalar_open(&c, p->w);
    int known = scalar_exact(&c, m, &g) && gauss_is_real(g) && !g.re.big;
    int even = !known || (is_order ? g.re.n : g.re.d) % 2 == 0;
    scalar_close(&c);
    return even;
}

static void look_at_function(struct samples *p, const struct math_node *m)
{
    switch (m->which) {
    case MATH_SQRT:
        p->has_root |= m->n < 2 || is_even_root(p, m->child[1], 1);
        break;
    case MATH_LN:
    case MATH_LOG:
        p->has_root = 1;
        break;
    case MATH_ABS:
        p->has_abs = 1;
        break;
    case MATH_BINOMIAL:
    case MATH_GCD:
    case MATH_LCM:
    case MATH_MOD:
        mark_integers(p, m);
        break;
    default:
        break;
    }
}

/* Finds what decides about the classes. */
static void look(struct samples *p, const struct math_node *m, int depth)
{
    if (depth > SCALAR_DEPTH || math_step(p->w, 1))
        return;
    if (m->kind == MATH_FUNCTION) {
        look_at_function(p, m);
    } else if (m->kind == MATH_FACTORIAL) {
        mark_integers(p, m);
    } else if (m->kind == MATH_SUM && m->n == 4) {
        mark_integers(p, m->child[2]);
        mark_integers(p, m->child[3]);
    } else if (m->kind == MATH_POWER) {
        if (is_not_positive(m->child[0]))
            mark_integers(p, m->child[1]);
        else if (m->child[1]->kind != MATH_NUMBER || m->child[1]->literal.decimals)
            p->has_root |= is_even_root(p, m->child[1], 0) && m->child[0]->kind != MATH_CONSTANT &&
                           m->child[0]->kind != MATH_NUMBER;
    }
    for (int i = 0; i < m->n; i++)
        look(p, m->child[i], depth + 1);
}

static enum math_truth compare_at_points(struct samples *p)
{
    if (p->n > SAMPLE_SYMBOLS)
        return MATH_UNKNOWN;
    for (int i = 0; i < p->n; i++)
        p->hash[i] = name_hash(p->names[i]);
    look(p, p->a, 0);
    look(p, p->b, 0);
    if (p->has_integer) {
        int agree = agree_at_class(p, POINT_INTEGER, 8, 8);
        return !agree ? MATH_FALSE : p->valid >= ENOUGH ? MATH_TRUE : MATH_UNKNOWN;
    }
    if (!agree_at_class(p, POINT_POSITIVE, POINTS, ENOUGH))
        return MATH_FALSE;
    int positive = p->valid >= ENOUGH;
    if (!positive || p->has_abs || !p->has_root) {
        if (!agree_at_class(p, POINT_MIXED, positive ? MIXED_POINTS : POINTS, positive ? 2 : ENOUGH))
            return MATH_FALSE;
        positive |= p->valid >= ENOUGH;
    }
    if (positive)
        return MATH_TRUE;
    if (!agree_at_class(p, POINT_COMPLEX, POINTS, ENOUGH))
        return MATH_FALSE;
    return p->valid >= ENOUGH ? MATH_TRUE : MATH_UNKNOWN;
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
