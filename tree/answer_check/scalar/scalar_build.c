/* Trees for computed values (contract: scalar_build.h). */
#include "answer_check/scalar/scalar_build.h"

#include <string.h>

const struct math_node *tree_integer(struct math_work *w, int64_t n)
{
    return math_node_integer(w, (struct span){0}, n);
}

/* The literal of a big integer. */
static const struct math_node *tree_big(struct number_context *c, mpz_srcptr z)
{
    size_t size = mpz_sizeinbase(z, 10) + 2;
    if (math_step(c->w, (int64_t)size * 4))
        return NULL;
    char *text = arena_alloc(c->w->arena, size);
    mpz_get_str(text, 10, z);
    const char *digits = text + (mpz_sgn(z) < 0);
    const struct math_node *m = math_node_digits(c->w, (struct span){0}, digits, (int)strlen(digits));
    return mpz_sgn(z) < 0 ? tree_neg(c->w, m) : m;
}

const struct math_node *tree_fraction(struct number_context *c, struct fraction f)
{
    const struct math_node *n, *d;
    int negative = fraction_sign(f) < 0;
    if (negative && fraction_neg(c, &f, f))
        return NULL;
    if (f.big) {
        mpq_srcptr q = fraction_mpq(c, f);
        n = tree_big(c, mpq_numref(q));
        d = tree_big(c, mpq_denref(q));
    } else {
        n = tree_integer(c->w, f.n);
        d = tree_integer(c->w, f.d);
    }
    if (!fraction_is_integer(f))
        n = tree_div(c->w, n, d);
    return negative ? tree_neg(c->w, n) : n;
}

const struct math_node *tree_gauss(struct number_context *c, struct gauss g)
{
    if (gauss_is_real(g))
        return tree_fraction(c, g.re);
    const struct math_node *im =
        tree_mul(c->w, tree_fraction(c, g.im), math_node_constant(c->w, (struct span){0}, MATH_I));
    return fraction_sign(g.re) ? tree_add(c->w, tree_fraction(c, g.re), im) : im;
}

const struct math_node *tree_symbol(struct math_work *w, const char *name)
{
    return math_node_named(w, MATH_SYMBOL, (struct span){0}, name);
}

const struct math_node *tree_function(struct math_work *w, enum math_function f, const struct math_node *a)
{
    struct math_node *m = math_node_1(w, MATH_FUNCTION, (struct span){0}, a);
    if (m)
        m->which = (int)f;
    return m;
}

const struct math_node *tree_add(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    return math_node_2(w, MATH_ADD, (struct span){0}, a, b);
}

const struct math_node *tree_sub(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    return tree_add(w, a, tree_neg(w, b));
}

const struct math_node *tree_mul(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    return math_node_2(w, MATH_MULTIPLY, (struct span){0}, a, b);
}

const struct math_node *tree_div(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    return math_node_2(w, MATH_DIVIDE, (struct span){0}, a, b);
}

const struct math_node *tree_power(struct math_work *w, const struct math_node *a, const struct math_node *b)
{
    return math_node_2(w, MATH_POWER, (struct span){0}, a, b);
}

const struct math_node *tree_neg(struct math_work *w, const struct math_node *a)
{
    return math_node_1(w, MATH_NEGATE, (struct span){0}, a);
}
