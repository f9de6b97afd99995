/* Comparison of numbers too large to be written out: powers, factorials and towers. A quotient of two
 * products is brought to powers of coprime integers, whose product is 1 only if every exponent is 0; n!/m!
 * with n near m becomes the few factors between them. Other trees are ordered by their logarithms, again
 * written as trees; towers by the logarithms of these. */
#include "answer_check/scalar/scalar_compare.h"

#include "answer_check/scalar/scalar_build.h"

enum { FACTORS = 160, TELESCOPE = 64, LOG_DEPTH = 6 };

/* base^exponent of an integer > 1, or (base!)^exponent. */
struct factor {
    struct fraction base, exponent;
    int is_factorial;
};

struct product {
    struct number_context *c;
    int n, negative;
    struct factor factor[FACTORS];
};

/* Adds base^exponent, or (base!)^exponent, to the product. NUMBER_UNKNOWN if it has too many factors. */
static int push_factor(struct product *p, struct fraction base, struct fraction exponent, int is_factorial)
{
    if (p->n == FACTORS)
        return NUMBER_UNKNOWN;
    if (!fraction_compare(p->c, base, fraction_of(1)) || !fraction_sign(exponent))
        return NUMBER_OK;
    p->factor[p->n++] = (struct factor){base, exponent, is_factorial};
    return NUMBER_OK;
}

/* Multiplies the product by (-1)^exponent. */
static int flip_sign(struct product *p, struct fraction exponent)
{
    if (!fraction_is_integer(exponent))
        return NUMBER_UNKNOWN;
    p->negative ^= exponent.big ? mpz_odd_p(mpq_numref(fraction_mpq(p->c, exponent))) : exponent.n & 1;
    return NUMBER_OK;
}

/* Adds f^exponent as factors of its numerator and denominator. */
static int push_fraction(struct product *p, struct fraction f, struct fraction exponent)
{
    struct number_context *c = p->c;
    struct fraction n = {0}, d = {0}, minus;
    int rc = NUMBER_OK;
    if (!fraction_sign(f))
        return NUMBER_UNKNOWN;
    if (fraction_sign(f) < 0) {
        rc = flip_sign(p, exponent);
        rc = rc ? rc : fraction_neg(c, &f, f);
    }
    if (rc)
        return rc;
    mpq_srcptr q = fraction_mpq(c, f);
    mpq_set_z(fraction_scratch(c, &n), mpq_numref(q));
    mpq_set_z(fraction_scratch(c, &d), mpq_denref(q));
    rc = fraction_normalise(c, &n);
    rc = rc ? rc : fraction_normalise(c, &d);
    rc = rc ? rc : fraction_neg(c, &minus, exponent);
    rc = rc ? rc : push_factor(p, n, exponent, 0);
    return rc ? rc : push_factor(p, d, minus, 0);
}

static int push_factorial(struct product *p, struct fraction n, struct fraction exponent)
{
    int64_t v;
    if (!fraction_int64(n, &v) || v < 0)
        return NUMBER_UNKNOWN;
    return v < 2 ? NUMBER_OK : push_factor(p, n, exponent, 1);
}

static int collect_factors(struct product *p, const struct math_node *m, struct fraction exponent);

static int collect_binomial(struct product *p, const struct math_node *m, struct fraction exponent)
{
    struct gauss n, k;
    struct fraction rest, minus;
    if (!scalar_exact(p->c, m->child[0], &n) || !scalar_exact(p->c, m->child[1], &k) || !gauss_is_real(n) ||
        !gauss_is_real(k))
        return NUMBER_UNKNOWN;
    int rc = fraction_sub(p->c, &rest, n.re, k.re);
    rc = rc ? rc : fraction_neg(p->c, &minus, exponent);
    rc = rc ? rc : push_factorial(p, n.re, exponent);
    rc = rc ? rc : push_factorial(p, k.re, minus);
    return rc ? rc : push_factorial(p, rest, minus);
}

static int collect_power(struct product *p, const struct math_node *m, struct fraction exponent)
{
    struct gauss e;
    int negative = p->negative;
    if (!scalar_exact(p->c, m->child[1], &e) || !gauss_is_real(e))
        return NUMBER_UNKNOWN;
    int rc = fraction_mul(p->c, &exponent, exponent, e.re);
    rc = rc ? rc : collect_factors(p, m->child[0], exponent);
    /* as in (-8)^(2/2): only with an integer exponent is the sign known */
    return rc || negative == p->negative || fraction_is_integer(e.re) ? rc : NUMBER_UNKNOWN;
}

/* Adds m^exponent to the product. NUMBER_UNKNOWN if m is no product of powers and factorials. */
static int collect_factors(struct product *p, const struct math_node *m, struct fraction exponent)
{
    struct number_context *c = p->c;
    struct gauss g;
    struct fraction e = exponent;
    if (math_step(c->w, 4) || c->depth >= SCALAR_DEPTH)
        return NUMBER_UNKNOWN;
    if (scalar_exact(c, m, &g))
        return gauss_is_real(g) ? push_fraction(p, g.re, exponent) : NUMBER_UNKNOWN;
    int rc = NUMBER_UNKNOWN;
    c->depth++;
    if (m->kind == MATH_MULTIPLY || m->kind == MATH_DIVIDE) {
        rc = NUMBER_OK;
        for (int i = 0; i < m->n && !rc; i++) {
            if (i == 1 && m->kind == MATH_DIVIDE)
                rc = fraction_neg(c, &e, exponent);
            rc = rc ? rc : collect_factors(p, m->child[i], e);
        }
    } else if (m->kind == MATH_NEGATE) {
        rc = flip_sign(p, exponent);
        rc = rc ? rc : collect_factors(p, m->child[0], exponent);
    } else if (m->kind == MATH_POWER) {
        rc = collect_power(p, m, exponent);
    } else if (m->kind == MATH_FACTORIAL && m->which != 2) {
        if (scalar_exact(c, m->child[0], &g) && gauss_is_real(g))
            rc = push_factorial(p, g.re, exponent);
    } else if (m->kind == MATH_FUNCTION && m->which == MATH_BINOMIAL && m->n == 2) {
        rc = collect_binomial(p, m, exponent);
    } else if (m->kind == MATH_FUNCTION && m->which == MATH_SQRT && m->n == 1) {
        rc = fraction_div(c, &e, exponent, fraction_of(2));
        rc = rc ? rc : collect_factors(p, m->child[0], e);
    }
    c->depth--;
    return rc;
}

/* Writes each factorial as factors above the next smaller one: n! = n (n-1) .. (m+1) m!. NUMBER_UNKNOWN if
 * they are far apart. */
static int telescope_factorials(struct product *p)
{
    struct number_context *c = p->c;
    for (;;) {
        int top = -1;
        for (int i = 0; i < p->n; i++)
            if (p->factor[i].is_factorial && fraction_sign(p->factor[i].exponent) &&
                (top < 0 || p->factor[i].base.n > p->factor[top].base.n))
                top = i;
        if (top < 0)
            return NUMBER_OK;
        struct factor f = p->factor[top];
        int64_t below = 1;
        p->factor[top].exponent = fraction_of(0);
        for (int i = 0; i < p->n; i++)
            if (i != top && p->factor[i].is_factorial && fraction_sign(p->factor[i].exponent) &&
                p->factor[i].base.n > below)
                below = p->factor[i].base.n;
        if (f.base.n - below > TELESCOPE)
            return NUMBER_UNKNOWN;
        int rc = NUMBER_OK;
        for (int64_t k = below + 1; k <= f.base.n && !rc; k++)
            rc = push_factor(p, fraction_of(k), f.exponent, 0);
        for (int i = 0; i < p->n && !rc && below > 1; i++)
            if (i != top && p->factor[i].is_factorial && p->factor[i].base.n == below &&
                fraction_sign(p->factor[i].exponent)) {
                rc = fraction_add(c, &p->factor[i].exponent, p->factor[i].exponent, f.exponent);
                break;
            }
        if (rc)
            return rc;
    }
}

/* Splits two bases a and b by their greatest common divisor g: a^x b^y = (a/g)^x (b/g)^y g^(x+y). */
static int split_by_gcd(struct product *p, int i, int j)
{
    struct number_context *c = p->c;
    struct factor *a = &p->factor[i], *b = &p->factor[j];
    struct fraction g, sum;
    int rc = fraction_gcd(c, &g, a->base, b->base);
    if (rc || !fraction_compare(c, g, fraction_of(1)))
        return rc;
    rc = fraction_add(c, &sum, a->exponent, b->exponent);
    rc = rc ? rc : fraction_div(c, &a->base, a->base, g);
    rc = rc ? rc : fraction_div(c, &b->base, b->base, g);
    return rc ? rc : push_factor(p, g, sum, 0);
}

/* Makes the bases pairwise coprime. Bases that become 1 and exponents that become 0 no longer count. */
static int make_coprime(struct product *p)
{
    struct fraction one = fraction_of(1);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < i && fraction_compare(p->c, p->factor[i].base, one); j++) {
            int live = fraction_compare(p->c, p->factor[j].base, one) &&
                       fraction_sign(p->factor[j].exponent) && fraction_sign(p->factor[i].exponent);
            int rc = live ? split_by_gcd(p, i, j) : NUMBER_OK;
            if (rc)
                return rc;
        }
    return NUMBER_OK;
}

enum math_truth scalar_products_equal(struct number_context *c, const struct math_node *a,
                                      const struct math_node *b)
{
    struct product *p = arena_alloc(c->w->arena, sizeof *p);
    p->c = c;
    if (collect_factors(p, a, fraction_of(1)) || collect_factors(p, b, fraction_of(-1)) ||
        telescope_factorials(p) || make_coprime(p))
        return MATH_UNKNOWN;
    if (p->negative)
        return MATH_FALSE;
    for (int i = 0; i < p->n; i++)
        if (!p->factor[i].is_factorial && fraction_sign(p->factor[i].exponent) &&
            fraction_compare(c, p->factor[i].base, fraction_of(1)))
            return MATH_FALSE;
    return MATH_TRUE;
}

/* ln |m| as a tree, and the sign of m. NULL if m is not proved to be a real number other than 0. */
static const struct math_node *log_tree(struct number_context *c, const struct math_node *m, int *sign);

static const struct math_node *log_of_product(struct number_context *c, const struct math_node *m, int *sign)
{
    const struct math_node *sum = NULL;
    *sign = 1;
    for (int i = 0; i < m->n; i++) {
        int s;
        const struct math_node *t = log_tree(c, m->child[i], &s);
        *sign *= s;
        if (i && m->kind == MATH_DIVIDE)
            t = tree_neg(c->w, t);
        sum = i ? tree_add(c->w, sum, t) : t;
    }
    return sum;
}

static const struct math_node *log_of_power(struct number_context *c, const struct math_node *m, int *sign)
{
    struct gauss g;
    const struct math_node *t = log_tree(c, m->child[0], sign);
    if (t && *sign < 0) { /* only exact integer exponents say what becomes of the sign */
        if (!scalar_exact(c, m->child[1], &g) || !gauss_is_real(g) || !fraction_is_integer(g.re))
            return NULL;
        if (!(g.re.big ? mpz_odd_p(mpq_numref(fraction_mpq(c, g.re))) : g.re.n & 1))
            *sign = 1;
    }
    return tree_mul(c->w, m->child[1], t);
}

static const struct math_node *log_tree(struct number_context *c, const struct math_node *m, int *sign)
{
    *sign = 1;
    if (math_step(c->w, 4) || c->depth >= SCALAR_DEPTH)
        return NULL;
    const struct math_node *t = NULL;
    c->depth++;
    if (m->kind == MATH_MULTIPLY || m->kind == MATH_DIVIDE) {
        t = log_of_product(c, m, sign);
    } else if (m->kind == MATH_POWER) {
        t = log_of_power(c, m, sign);
    } else if (m->kind == MATH_NEGATE) {
        t = log_tree(c, m->child[0], sign);
        *sign = -*sign;
    } else if (m->kind == MATH_FUNCTION && m->which == MATH_EXP) {
        t = m->child[0];
    } else if (m->kind == MATH_FUNCTION && m->which == MATH_SQRT && m->n == 1) {
        t = log_tree(c, m->child[0], sign);
        t = *sign > 0 ? tree_div(c->w, t, tree_integer(c->w, 2)) : NULL;
    } else if (scalar_order(c, m, tree_integer(c->w, 0), sign) && *sign) {
        t = tree_function(c->w, MATH_LN, *sign < 0 ? tree_neg(c->w, m) : m);
    } else if (m->kind == MATH_FACTORIAL) { /* ln n! has its own evaluation */
        t = tree_function(c->w, MATH_LN, m);
        *sign = 1;
    }
    c->depth--;
    return t;
}

/* Replaces b^x and b^y with b > 1 by x and y, as often as possible: their order is the same. */
static void strip_bases(struct number_context *c, const struct math_node **a, const struct math_node **b)
{
    struct gauss x, y;
    while ((*a)->kind == MATH_POWER && (*b)->kind == MATH_POWER && scalar_exact(c, (*a)->child[0], &x) &&
           scalar_exact(c, (*b)->child[0], &y) && gauss_is_real(x) && gauss_equal(c, x, y) &&
           fraction_compare(c, x.re, fraction_of(1)) > 0) {
        *a = (*a)->child[1];
        *b = (*b)->child[1];
    }
}

static int is_exact_zero(struct number_context *c, const struct math_node *m)
{
    struct gauss g;
    return scalar_exact(c, m, &g) && gauss_is_zero(g);
}

int scalar_huge_order(struct number_context *c, const struct math_node *a, const struct math_node *b,
                      int *order)
{
    int s, t;
    if (is_exact_zero(c, a) && log_tree(c, b, &t)) {
        *order = -t;
        return 1;
    }
    if (is_exact_zero(c, b) && log_tree(c, a, &s)) {
        *order = s;
        return 1;
    }
    strip_bases(c, &a, &b);
    if (scalar_order(c, a, b, order))
        return *order != 0;
    for (int depth = 0, flip = 1; depth < LOG_DEPTH; depth++) {
        a = log_tree(c, a, &s);
        b = log_tree(c, b, &t);
        if (!a || !b)
            return 0;
        if (s != t) {
            *order = flip * (s < t ? -1 : 1);
            return 1;
        }
        flip *= s; /* the larger of two negative numbers has the smaller absolute value */
        if (scalar_order(c, a, b, order)) {
            *order *= flip;
            return *order != 0;
        }
        if (!c->huge)
            return 0;
    }
    return 0;
}

enum math_truth scalar_huge_equal(struct number_context *c, const struct math_node *a,
                                  const struct math_node *b)
{
    int order;
    return scalar_huge_order(c, a, b, &order) ? MATH_FALSE : MATH_UNKNOWN;
}
