/* Infinite series: geometric ones with a ratio below 1, also multiplied by the index, and others with a known
 * sum: r^n/n!, quotients of polynomials by partial fractions, reciprocal squares and fourth powers, and the
 * alternating harmonic series. Each is recognised by an identity of its terms. */
#include "answer_check/scalar/calculus_parts.h"

#include <string.h>

#include "answer_check/scalar/scalar_build.h"

typedef const struct math_node *node;

/* ---- known sums */

enum { TERMS = 40, POLES = 6 }; /* TERMS: most terms between the first one of a series and of the known one */

struct series {
    struct math_work *w;
    node term;
    const char *x;
    int64_t first;
};

/* m at x = n. */
static node value_at(const struct series *s, node m, int64_t n)
{
    return math_substitute(s->w, m, s->x, tree_integer(s->w, n));
}

static int is_equal(const struct series *s, node a, node b)
{
    return a && b && math_scalar_equal(s->w, a, b) == MATH_TRUE;
}

/* The sum of c r^n/n!, which is c e^r minus the terms before the first one. */
static node sum_exponential(const struct series *s)
{
    struct math_work *w = s->w;
    if (s->first < 0 || s->first > TERMS)
        return NULL;
    node a = value_at(s, s->term, s->first), b = value_at(s, s->term, s->first + 1), x = tree_symbol(w, s->x);
    if (!a || !b || math_scalar_equal(w, a, tree_integer(w, 0)) != MATH_FALSE)
        return NULL;
    node r = tree_div(w, tree_mul(w, b, tree_integer(w, s->first + 1)), a), one = tree_integer(w, 1);
    node next = math_substitute(w, s->term, s->x, tree_add(w, x, one));
    if (!next || !is_equal(s, tree_mul(w, next, tree_add(w, x, one)), tree_mul(w, r, s->term)))
        return NULL;
    node power = one, sum = tree_function(w, MATH_EXP, r); /* power: r^n/n!, up to a/c */
    for (int64_t n = 0; n < s->first; n++) {
        sum = tree_sub(w, sum, power);
        power = tree_div(w, tree_mul(w, power, r), tree_integer(w, n + 1));
    }
    return tree_mul(w, tree_div(w, a, power), sum);
}

/* The sum of 1/(n - pole)^k over n from `from` to `to` - 1. */
static node sum_head(const struct series *s, node pole, int64_t from, int64_t to, int k)
{
    struct math_work *w = s->w;
    node sum = tree_integer(w, 0);
    for (int64_t n = from; n < to; n++)
        sum = tree_add(w, sum,
                       tree_div(w, tree_integer(w, 1),
                                math_node_2(w, MATH_POWER, s->term->source,
                                            tree_sub(w, tree_integer(w, n), pole), tree_integer(w, k))));
    return sum;
}

/* Sets *twice to twice the pole. Returns 0, or -1 if that is no integer or not near the first index. */
static int twice_pole(const struct series *s, node pole, int64_t *twice)
{
    if (!math_scalar_integer(s->w, tree_mul(s->w, tree_integer(s->w, 2), pole), twice))
        return -1;
    return *twice<2 * s->first && * twice> 2 * s->first - 2 * TERMS ? 0 : -1;
}

/* The first index above a pole. */
static int64_t index_above(int64_t twice)
{
    return (twice >= 0 ? twice / 2 : -((1 - twice) / 2)) + 1;
}

/* The sum of c/(n - p)^k for k = 2 and 4. From the first n above p on, the sum of 1/(n - p)^k is pi^2/6 and
 * pi^4/90 for an integer p, and pi^2/2 and pi^4/6 for p half way between two integers. */
static node sum_reciprocal_powers(const struct series *s, node pole, int64_t twice)
{
    struct math_work *w = s->w;
    node distance = tree_sub(w, tree_symbol(w, s->x), pole), scaled = s->term;
    const struct math_node *pi = math_node_constant(w, s->term->source, MATH_PI);
    if (!pi)
        return NULL;
    for (int k = 2; k <= 4; k += 2) {
        scaled = tree_mul(w, tree_mul(w, scaled, distance), distance);
        node c = scaled ? value_at(s, scaled, s->first) : NULL;
        if (!is_equal(s, scaled, c))
            continue;
        node power = math_node_2(w, MATH_POWER, pi->source, pi, tree_integer(w, k));
        node sum = tree_div(w, power, tree_integer(w, twice % 2 ? (k == 2 ? 2 : 6) : (k == 2 ? 6 : 90)));
        return tree_mul(w, c, tree_sub(w, sum, sum_head(s, pole, index_above(twice), s->first, k)));
    }
    return NULL;
}

/* The sum of c (-1)^n/(n - p). From the first n above p on, it is that of 1 - 1/2 + 1/3 - ..., ln 2, or that
 * of 2 - 2/3 + 2/5 - ..., pi/2. */
static node sum_alternating(const struct series *s, node pole, int64_t twice)
{
    struct math_work *w = s->w;
    node x = tree_symbol(w, s->x), one = tree_integer(w, 1);
    node scaled = tree_mul(w, s->term, tree_sub(w, x, pole));
    node c = scaled ? value_at(s, scaled, s->first) : NULL;
    node next = scaled ? math_substitute(w, scaled, s->x, tree_add(w, x, one)) : NULL;
    if (!c || !next || !is_equal(s, next, tree_neg(w, scaled)))
        return NULL;
    node sum = twice % 2 ? tree_mul(w, tree_integer(w, 2), tree_function(w, MATH_ARCTAN, one))
                         : tree_function(w, MATH_LN, tree_integer(w, 2));
    int64_t start = index_above(twice);
    for (int64_t n = start; n < s->first; n++) {
        node term = tree_div(w, one, tree_sub(w, tree_integer(w, n), pole));
        sum = (n - start) % 2 ? tree_add(w, sum, term) : tree_sub(w, sum, term);
    }
    return tree_mul(w, c, (s->first - start) % 2 ? tree_neg(w, sum) : sum);
}

/* The sum of a quotient of polynomials with simple poles that differ by integers, in ascending order. Its
 * partial fractions A/(n - p) cancel from some index on; what is left is their sum before that index. */
static node sum_telescoping(const struct series *s, const struct calculus_quotient *q, const node *pole,
                            int n)
{
    struct math_work *w = s->w;
    node slope = calculus_derivative(w, q->below, s->x), x = tree_symbol(w, s->x), zero = tree_integer(w, 0);
    node parts = zero, residues = zero, sum = zero;
    for (int i = 0; i < n; i++) {
        int64_t shift;
        node below = slope ? math_substitute(w, slope, s->x, pole[i]) : NULL;
        if (!below || math_scalar_equal(w, below, zero) != MATH_FALSE ||
            !math_scalar_integer(w, tree_sub(w, pole[n - 1], pole[i]), &shift) || shift > TERMS)
            return NULL;
        node residue = tree_div(w, math_substitute(w, q->above, s->x, pole[i]), below);
        residues = tree_add(w, residues, residue);
        parts = tree_add(w, parts, tree_div(w, residue, tree_sub(w, x, pole[i])));
        sum = tree_sub(w, sum, tree_mul(w, residue, sum_head(s, pole[n - 1], s->first, s->first + shift, 1)));
    }
    return is_equal(s, residues, zero) && is_equal(s, parts, s->term) ? sum : NULL;
}

/* The sum of one of the known series from the first index on, or NULL. */
static const struct math_node *known_series(struct math_work *w, const struct math_node *m, const char *x,
                                            int64_t first)
{
    struct series s = {w, m, x, first};
    struct calculus_quotient q;
    node pole[POLES], sum = sum_exponential(&s);
    int64_t twice;
    if (sum)
        return sum;
    int n = calculus_as_quotient(w, m, x, &q) ? 0 : math_real_roots(w, q.below, x, pole, POLES);
    for (int i = 0; i < n; i++)
        if (twice_pole(&s, pole[i], &twice))
            return NULL;
    if (n == 1 && (sum = sum_reciprocal_powers(&s, pole[0], twice)))
        return sum;
    if (n == 1)
        return sum_alternating(&s, pole[0], twice);
    return n > 1 ? sum_telescoping(&s, &q, pole, n) : NULL;
}

/* ---- geometric series */

static int is_zero(struct math_work *w, const struct math_node *m)
{
    return m && math_scalar_equal(w, m, tree_integer(w, 0)) == MATH_TRUE;
}

/* The term at x = n, with n counted from the first one. */
static const struct math_node *term_at(struct math_work *w, const struct math_node *m, const char *x,
                                       const struct math_node *from, int n)
{
    return math_substitute(w, m, x, tree_add(w, from, tree_integer(w, n)));
}

/* The ratio m(x + 1)/m(x) if it is a constant below 1 in absolute value, else NULL. */
static const struct math_node *ratio_of(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from)
{
    const struct math_node *one = tree_integer(w, 1), *first = term_at(w, m, x, from, 0),
                           *next = math_substitute(w, m, x, tree_add(w, tree_symbol(w, x), one));
    if (!first || is_zero(w, first))
        return NULL;
    const struct math_node *ratio = tree_div(w, term_at(w, m, x, from, 1), first);
    if (!ratio || math_scalar_equal(w, next, tree_mul(w, ratio, m)) != MATH_TRUE ||
        math_scalar_less(w, tree_function(w, MATH_ABS, ratio), one) != MATH_TRUE)
        return NULL;
    return ratio;
}

/* The sum of x m(x) with a geometric m. The sum of n q^n from 0 on is q/(1 - q)^2, so from the index a on it
 * is m(a) (a/(1 - q) + q/(1 - q)^2). */
static const struct math_node *sum_with_index(struct math_work *w, const struct math_node *m, const char *x,
                                              const struct math_node *from)
{
    const struct math_node *geometric = NULL, *q = NULL;
    int is_product = (m->kind == MATH_MULTIPLY && m->n == 2) || m->kind == MATH_DIVIDE;
    if (!is_product || m->child[0]->kind != MATH_SYMBOL || strcmp(m->child[0]->name, x) != 0)
        return NULL; /* another letter is a factor */
    if (m->kind == MATH_MULTIPLY)
        geometric = m->child[1];
    else
        geometric = tree_div(w, tree_integer(w, 1), m->child[1]);
    if (!geometric || !(q = ratio_of(w, geometric, x, from)))
        return NULL;
    const struct math_node *left = tree_sub(w, tree_integer(w, 1), q), *square = tree_mul(w, left, left);
    return tree_mul(w, term_at(w, geometric, x, from, 0),
                    tree_add(w, tree_div(w, from, left), tree_div(w, q, square)));
}

const struct math_node *calculus_series(struct math_work *w, const struct math_node *m, const char *x,
                                        const struct math_node *from)
{
    int64_t first;
    if (math_step(w, 50) || !math_scalar_integer(w, from, &first))
        return NULL;
    const struct math_node *q = ratio_of(w, m, x, from);
    if (q)
        return tree_div(w, term_at(w, m, x, from, 0), tree_sub(w, tree_integer(w, 1), q));
    const struct math_node *sum = sum_with_index(w, m, x, from);
    return sum ? sum : known_series(w, m, x, first);
}
