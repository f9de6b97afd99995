/* Arithmetic on sparse polynomials (contract: scalar_sparse.h). */
#include "answer_check/scalar/scalar_sparse.h"

#include <stdlib.h>
#include <string.h>

enum { EXPONENT_MASK = (1 << SPARSE_EXPONENT_BITS) - 1 };

int monomial_exponent(monomial m, int variable)
{
    return (int)(m >> (variable * SPARSE_EXPONENT_BITS)) & EXPONENT_MASK;
}

monomial monomial_power(int variable, int exponent)
{
    return (monomial)(unsigned)exponent << (variable * SPARSE_EXPONENT_BITS);
}

/* Memory for n terms, bounded by the steps that it takes. */
static struct sparse_term *terms_new(struct sparse_ring *r, int64_t n)
{
    if (math_step(r->c->w, 8 * n + 4))
        return NULL;
    return arena_alloc(r->c->w->arena, (size_t)n * sizeof(struct sparse_term));
}

int sparse_constant(struct sparse_ring *r, struct sparse *out, struct gauss g)
{
    *out = (struct sparse){0};
    if (gauss_is_zero(g))
        return NUMBER_OK;
    struct sparse_term *t = terms_new(r, 1);
    if (!t)
        return NUMBER_UNKNOWN;
    *t = (struct sparse_term){0, g};
    *out = (struct sparse){1, t};
    return NUMBER_OK;
}

int sparse_variable(struct sparse_ring *r, struct sparse *out, int variable, int exponent)
{
    if (exponent < 0 || exponent > SPARSE_DEGREE)
        return NUMBER_INEXACT;
    int rc = sparse_constant(r, out, gauss_of(fraction_of(1)));
    if (!rc)
        out->terms[0].m = monomial_power(variable, exponent);
    return rc;
}

int sparse_is_constant(const struct sparse *a, struct gauss *value)
{
    if (a->n > 1 || (a->n == 1 && a->terms[0].m))
        return 0;
    *value = a->n ? a->terms[0].c : gauss_of(fraction_of(0));
    return 1;
}

int sparse_add(struct sparse_ring *r, struct sparse *out, const struct sparse *a, const struct sparse *b)
{
    struct sparse_term *t = terms_new(r, (int64_t)a->n + b->n);
    if (!t)
        return NUMBER_UNKNOWN;
    int i = 0, j = 0, n = 0;
    while (i < a->n || j < b->n) {
        if (j == b->n || (i < a->n && a->terms[i].m > b->terms[j].m)) {
            t[n++] = a->terms[i++];
        } else if (i == a->n || b->terms[j].m > a->terms[i].m) {
            t[n++] = b->terms[j++];
        } else {
            t[n].m = a->terms[i].m;
            int rc = gauss_add(r->c, &t[n].c, a->terms[i++].c, b->terms[j++].c);
            if (rc)
                return rc;
            n += !gauss_is_zero(t[n].c);
        }
    }
    *out = (struct sparse){n, t};
    return NUMBER_OK;
}

int sparse_sub(struct sparse_ring *r, struct sparse *out, const struct sparse *a, const struct sparse *b)
{
    struct sparse minus, negated;
    int rc = sparse_constant(r, &minus, gauss_of(fraction_of(-1)));
    rc = rc ? rc : sparse_mul(r, &negated, b, &minus);
    return rc ? rc : sparse_add(r, out, a, &negated);
}

static int by_monomial(const void *a, const void *b)
{
    monomial x = ((const struct sparse_term *)a)->m, y = ((const struct sparse_term *)b)->m;
    return (x < y) - (x > y);
}

/* Replaces the squares of square roots by their numbers. */
static int reduce_roots(struct sparse_ring *r, struct sparse_term *t)
{
    for (int v = 0; v < SPARSE_VARIABLES; v++) {
        int e = r->square[v] ? monomial_exponent(t->m, v) : 0;
        if (e < 2)
            continue;
        struct gauss factor = gauss_of(fraction_of(r->square[v]));
        int rc = e < 4 ? NUMBER_OK : gauss_pow(r->c, &factor, factor, e / 2);
        rc = rc ? rc : gauss_mul(r->c, &t->c, t->c, factor);
        if (rc)
            return rc;
        t->m -= monomial_power(v, e - e % 2);
    }
    return NUMBER_OK;
}

static int multiply_terms(struct sparse_ring *r, struct sparse_term *out, const struct sparse_term *a,
                          const struct sparse_term *b)
{
    out->m = a->m + b->m; /* no carry: exponents stay below 2^11 */
    if (a->m && b->m)
        for (int v = 0; v < SPARSE_VARIABLES; v++)
            if (monomial_exponent(out->m, v) > SPARSE_DEGREE)
                return NUMBER_INEXACT;
    int rc = gauss_mul(r->c, &out->c, a->c, b->c);
    return rc || !a->m || !b->m ? rc : reduce_roots(r, out);
}

int sparse_mul(struct sparse_ring *r, struct sparse *out, const struct sparse *a, const struct sparse *b)
{
    int64_t products = (int64_t)a->n * b->n;
    if (products > SPARSE_PRODUCTS)
        return NUMBER_INEXACT;
    struct sparse_term *t = terms_new(r, products);
    if (!t)
        return NUMBER_UNKNOWN;
    int n = 0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            int rc = multiply_terms(r, &t[n++], &a->terms[i], &b->terms[j]);
            if (rc)
                return rc;
        }
    if (a->n > 1 || b->n > 1)
        qsort(t, (size_t)n, sizeof *t, by_monomial);
    int kept = 0;
    for (int i = 0; i < n;) {
        struct sparse_term sum = t[i++];
        for (; i < n && t[i].m == sum.m; i++) {
            int rc = gauss_add(r->c, &sum.c, sum.c, t[i].c);
            if (rc)
                return rc;
        }
        if (!gauss_is_zero(sum.c))
            t[kept++] = sum;
    }
    *out = (struct sparse){kept, t};
    return NUMBER_OK;
}

/* Has a sum of n terms to the power e, with C(e + n - 1, n - 1) terms, more than SPARSE_POWER_TERMS? */
static int power_is_long(int n, int64_t e)
{
    int64_t terms = 1;
    for (int i = 1; i < n && terms <= SPARSE_POWER_TERMS; i++)
        terms = terms * (e + i) / i;
    return terms > SPARSE_POWER_TERMS;
}

int sparse_pow(struct sparse_ring *r, struct sparse *out, const struct sparse *a, int64_t e)
{
    if (e < 0 || e > SPARSE_DEGREE || power_is_long(a->n, e))
        return NUMBER_INEXACT;
    struct sparse result, base = *a;
    int rc = sparse_constant(r, &result, gauss_of(fraction_of(1)));
    for (; e && !rc; e >>= 1) {
        if (e & 1)
            rc = sparse_mul(r, &result, &result, &base);
        if (e > 1 && !rc)
            rc = sparse_mul(r, &base, &base, &base);
    }
    *out = result;
    return rc;
}

int sparse_equal(struct sparse_ring *r, const struct sparse *a, const struct sparse *b)
{
    if (a->n != b->n)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (a->terms[i].m != b->terms[i].m || !gauss_equal(r->c, a->terms[i].c, b->terms[i].c))
            return 0;
    return 1;
}
