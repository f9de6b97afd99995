/* Real roots of polynomials in one symbol (contract: scalar.h): rational ones by trial, quadratics, and
 * p(x^k) by the roots of p. */
#include "answer_check/scalar/scalar.h"

#include <stdlib.h>
#include <string.h>

#include "answer_check/scalar/scalar_build.h"
#include "answer_check/scalar/scalar_compare.h"
#include "answer_check/scalar/scalar_form.h"

enum { ROOT_DEGREE = 40, DIVISORS = 256, CANDIDATES = 20000 };

/* A polynomial in one symbol with coefficients that are constants. */
struct univariate {
    struct form_space *s;
    struct math_work *w;
    int degree;
    struct sparse coefficient[ROOT_DEGREE + 1];
    const struct math_node **out;
    int n, capacity;
};

/* Splits p into its coefficients by powers of the symbol. Returns -1 if it has other symbols or too high a
 * degree. */
static int split_coefficients(struct univariate *u, const struct sparse *p, const char *name)
{
    struct form_space *s = u->s;
    int variable = -1;
    for (int v = 0; v < s->n; v++) {
        int is_symbol = s->variable[v].kind == FORM_SYMBOL;
        if (is_symbol && strcmp(s->variable[v].tree->name, name) != 0)
            return -1;
        if (is_symbol)
            variable = v;
        if (s->variable[v].kind == FORM_ATOM && math_has_symbol(s->variable[v].tree, name))
            return -1;
    }
    monomial unit = variable < 0 ? 0 : monomial_power(variable, 1);
    u->degree = unit ? monomial_exponent(form_leading(s, p), variable) : 0;
    if (u->degree > ROOT_DEGREE)
        return -1;
    for (int k = 0; k <= u->degree; k++)
        if (form_coefficient(s, p, unit * (unsigned)k, &u->coefficient[k]))
            return -1;
    return 0;
}

/* A coefficient as a tree. */
static const struct math_node *coefficient_tree(struct univariate *u, const struct sparse *p)
{
    struct gauss g;
    struct math_work *w = u->w;
    if (sparse_is_constant(p, &g))
        return tree_gauss(u->s->ring.c, g);
    const struct math_node *sum = NULL;
    for (int i = 0; i < p->n; i++) {
        const struct math_node *t = tree_gauss(u->s->ring.c, p->terms[i].c);
        for (int v = 0; v < u->s->n; v++) {
            const struct math_node *x = u->s->variable[v].tree;
            int e = monomial_exponent(p->terms[i].m, v);
            if (e && u->s->variable[v].kind == FORM_ROOT)
                x = tree_function(w, MATH_SQRT, x);
            if (e)
                t = tree_mul(w, t,
                             e > 1 ? math_node_2(w, MATH_POWER, (struct span){0}, x, tree_integer(w, e)) : x);
        }
        sum = i ? tree_add(w, sum, t) : t;
    }
    return sum;
}

/* Adds a root to the result. Returns 0, or -1 if it is NULL or the result is full. */
static int put_root(struct univariate *u, const struct math_node *root)
{
    if (!root || u->n == u->capacity)
        return -1;
    u->out[u->n++] = root;
    return 0;
}

/* The root of a x + b. */
static int linear_root(struct univariate *u)
{
    struct gauss a, b, g;
    struct number_context *c = u->s->ring.c;
    if (sparse_is_constant(&u->coefficient[1], &a) && sparse_is_constant(&u->coefficient[0], &b)) {
        if (gauss_div(c, &g, b, a) || gauss_neg(c, &g, g))
            return -1;
        return gauss_is_real(g) ? put_root(u, tree_fraction(c, g.re)) : 0;
    }
    return put_root(u, tree_neg(u->w, tree_div(u->w, coefficient_tree(u, &u->coefficient[0]),
                                               coefficient_tree(u, &u->coefficient[1]))));
}

/* The roots (-b -+ sqrt(b^2 - 4ac)) / 2a, as exact numbers where the square root is one. */
static int quadratic_roots(struct univariate *u)
{
    struct sparse_ring *r = &u->s->ring;
    struct number_context *c = r->c;
    struct math_work *w = u->w;
    struct sparse d, t, four;
    const struct sparse *k = u->coefficient;
    int sign, leading_sign;
    if (sparse_mul(r, &d, &k[1], &k[1]) || sparse_mul(r, &t, &k[2], &k[0]) ||
        sparse_constant(r, &four, gauss_of(fraction_of(4))) || sparse_mul(r, &t, &t, &four) ||
        sparse_sub(r, &d, &d, &t))
        return -1;
    const struct math_node *zero = tree_integer(w, 0), *b = coefficient_tree(u, &k[1]);
    const struct math_node *twice = tree_mul(w, tree_integer(w, 2), coefficient_tree(u, &k[2]));
    const struct math_node *inside = coefficient_tree(u, &d);
    if (!zero || !twice || !b || !inside || !scalar_order(c, inside, zero, &sign) ||
        !scalar_order(c, twice, zero, &leading_sign) || !leading_sign)
        return -1;
    if (sign < 0)
        return 0;
    if (!sign)
        return put_root(u, tree_neg(w, tree_div(w, b, twice)));
    const struct math_node *root = tree_function(w, MATH_SQRT, inside);
    for (int k2 = 0; k2 < 2; k2++) {
        const struct math_node *signed_root = (k2 == 0) == (leading_sign > 0) ? tree_neg(w, root) : root;
        const struct math_node *x = tree_div(w, tree_add(w, tree_neg(w, b), signed_root), twice);
        struct gauss g;
        if (x && scalar_exact(c, x, &g))
            x = tree_gauss(c, g);
        if (put_root(u, x))
            return -1;
    }
    return 0;
}

/* Writes the positive divisors of an integer, found by trial. Returns their number, or -1 if there may be
 * more. */
static int list_divisors(struct math_work *w, int64_t n, int64_t *out)
{
    int count = 0;
    n = n < 0 ? -n : n;
    if (n > 1000000000000 || math_step(w, 1 + (n < 100 ? n : n / 1000000 + 2000)))
        return -1;
    for (int64_t d = 1; d * d <= n; d++) {
        if (d % 1024 == 0 && math_step(w, 512))
            return -1;
        if (n % d)
            continue;
        if (count + 2 > DIVISORS)
            return -1;
        out[count++] = d;
        if (d * d != n)
            out[count++] = n / d;
    }
    return count;
}

/* Writes the coefficients of a rational polynomial, multiplied to integers. Returns 0, or -1 if they are not
 * rational or too large. */
static int integer_coefficients(struct univariate *u, int64_t *k)
{
    struct number_context *c = u->s->ring.c;
    struct fraction common = fraction_of(1), f[ROOT_DEGREE + 1];
    for (int i = 0; i <= u->degree; i++) {
        struct gauss g;
        if (!sparse_is_constant(&u->coefficient[i], &g) || !gauss_is_real(g) || g.re.big)
            return -1;
        f[i] = g.re;
        struct fraction gcd, d = fraction_of(g.re.d);
        if (fraction_gcd(c, &gcd, common, d) || fraction_div(c, &d, d, gcd) ||
            fraction_mul(c, &common, common, d))
            return -1;
    }
    for (int i = 0; i <= u->degree; i++)
        if (fraction_mul(c, &f[i], f[i], common) || !fraction_int64(f[i], &k[i]))
            return -1;
    return 0;
}

/* Divides the polynomial by (x - root) by Horner's scheme. Returns 1, 0 if it is no root, or -1 on failure.
 */
static int deflate_root(struct univariate *u, struct fraction root)
{
    struct number_context *c = u->s->ring.c;
    struct fraction rest[ROOT_DEGREE + 1], sum = fraction_of(0);
    for (int i = u->degree; i >= 0; i--) {
        struct gauss g;
        sparse_is_constant(&u->coefficient[i], &g);
        if (fraction_mul(c, &sum, sum, root) || fraction_add(c, &sum, sum, g.re))
            return -1;
        rest[i] = sum;
    }
    if (fraction_sign(rest[0]))
        return 0;
    u->degree--;
    for (int i = 0; i <= u->degree; i++)
        if (sparse_constant(&u->s->ring, &u->coefficient[i], gauss_of(rest[i + 1])))
            return -1;
    return 1;
}

/* Takes out the root 0, of any order. */
static int zero_root(struct univariate *u)
{
    if (u->degree < 1 || u->coefficient[0].n)
        return 0;
    while (u->degree > 0 && !u->coefficient[0].n) {
        memmove(u->coefficient, u->coefficient + 1, (size_t)u->degree * sizeof *u->coefficient);
        u->degree--;
    }
    return put_root(u, tree_integer(u->w, 0));
}

/* Takes out the rational roots of a polynomial of higher degree, each once, until it is quadratic; none if
 * the coefficients are not rational or too large. */
static int rational_roots(struct univariate *u)
{
    int64_t k[ROOT_DEGREE + 1], low[DIVISORS], high[DIVISORS];
    struct number_context *c = u->s->ring.c;
    if (integer_coefficients(u, k))
        return 0;
    int n = list_divisors(u->w, k[0], low), m = list_divisors(u->w, k[u->degree], high);
    if (n < 0 || m < 0 || n * m > CANDIDATES)
        return 0;
    for (int i = 0; i < 2 * n * m && u->degree > 2; i++) {
        struct fraction root;
        int64_t p = low[i / 2 / m], q = high[i / 2 % m];
        if (math_step(u->w, 4 * u->degree) || fraction_ratio(c, &root, i % 2 ? -p : p, q))
            return -1;
        if (root.d != q) /* not in lowest terms: tried before or later */
            continue;
        int found = 0, rc;
        while (u->degree > 0 && (rc = deflate_root(u, root)) != 0) {
            if (rc < 0)
                return -1;
            found = 1;
        }
        if (found && put_root(u, tree_fraction(c, root)))
            return -1;
    }
    return 0;
}

static int all_roots(struct univariate *u);

/* The largest k for which the polynomial is p(x^k): the greatest common divisor of its exponents. */
static int common_exponent(const struct univariate *u)
{
    int k = 0;
    for (int i = 1; i <= u->degree; i++)
        for (int x = u->coefficient[i].n ? i : 0, t; x; x = t) {
            t = k % x;
            k = x;
        }
    return k;
}

/* The roots of p(x^k) from those of p. */
static int roots_of_power(struct univariate *u, int k)
{
    const struct math_node *t[ROOT_DEGREE], *zero = tree_integer(u->w, 0);
    struct univariate *inner = arena_alloc(u->w->arena, sizeof *inner);
    *inner =
        (struct univariate){.s = u->s, .w = u->w, .degree = u->degree / k, .out = t, .capacity = ROOT_DEGREE};
    for (int i = 0; i <= inner->degree; i++)
        inner->coefficient[i] = u->coefficient[i * k];
    if (all_roots(inner))
        return -1;
    for (int i = 0; i < inner->n; i++) {
        int sign;
        if (!zero || !scalar_order(u->s->ring.c, t[i], zero, &sign))
            return -1;
        if (sign < 0 && k % 2 == 0)
            continue;
        const struct math_node *pair[2] = {t[i], tree_integer(u->w, k)};
        struct math_node *root = math_node_new(u->w, MATH_FUNCTION, (struct span){0}, k == 2 ? 1 : 2, pair);
        struct gauss g;
        if (!root)
            return -1;
        root->which = MATH_SQRT;
        const struct math_node *x = scalar_exact(u->s->ring.c, root, &g) ? tree_gauss(u->s->ring.c, g) : root;
        if (put_root(u, x) || (k % 2 == 0 && put_root(u, tree_neg(u->w, x))))
            return -1;
    }
    return 0;
}

static int all_roots(struct univariate *u)
{
    if (zero_root(u))
        return -1;
    while (u->degree > 2) {
        int k = common_exponent(u), before = u->degree;
        if (k > 1)
            return roots_of_power(u, k);
        if (rational_roots(u) || u->degree == before)
            return -1;
    }
    return u->degree == 2 ? quadratic_roots(u) : u->degree == 1 ? linear_root(u) : 0;
}

/* Sorts the roots and drops equal ones. Returns their number, or -1 if an order is not certain. */
static int sort_roots(struct univariate *u)
{
    for (int i = 1; i < u->n; i++)
        for (int j = i; j > 0; j--) {
            int order;
            if (!scalar_order(u->s->ring.c, u->out[j - 1], u->out[j], &order)) {
                if (math_scalar_equal(u->w, u->out[j - 1], u->out[j]) != MATH_TRUE)
                    return -1;
                order = 0;
            }
            if (order < 0)
                break;
            if (!order) {
                memmove(u->out + j, u->out + j + 1, (size_t)(u->n - j - 1) * sizeof *u->out);
                u->n--;
                i--;
                break;
            }
            const struct math_node *t = u->out[j];
            u->out[j] = u->out[j - 1];
            u->out[j - 1] = t;
        }
    return u->n;
}

/* math_real_roots() with its work space. */
static int find_roots(struct univariate *u, const struct math_node *m, const char *name)
{
    struct form f;
    struct sparse p;
    struct gauss g;
    if (form_of(u->s, m, &f) || !sparse_is_constant(&f.den, &g))
        return -1;
    p = f.num;
    if (!p.n || split_coefficients(u, &p, name)) /* 0 = 0: every number is a root */
        return -1;
    return all_roots(u) ? -1 : sort_roots(u);
}

int math_real_roots(struct math_work *w, const struct math_node *m, const char *name,
                    const struct math_node **out, int capacity)
{
    struct number_context c;
    struct form_space s;
    if (!m)
        return -1;
    number_open(&c, w);
    form_open(&s, &c);
    struct univariate *u = arena_alloc(w->arena, sizeof *u);
    *u = (struct univariate){.s = &s, .w = w, .out = out, .capacity = capacity};
    int n = find_roots(u, m, name);
    number_close(&c);
    return n;
}
