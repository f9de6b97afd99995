/* Polynomials with rational coefficients, the exact layer of the math grader: "6x - 5" and "-5+6x" have the
 * same normal form. Work is bounded by a step count, so that a power tower or a product of long sums is
 * refused at once instead of being expanded. */
#include "answer_check/polynomial.h"

#include <stdlib.h>
#include <string.h>

static const char *const symbol_names[] = {
    "alpha",  "beta",  "gamma", "delta", "epsilon", "varepsilon", "zeta",  "eta", "theta", "iota",   "kappa",
    "lambda", "mu",    "nu",    "xi",    "pi",      "rho",        "sigma", "tau", "phi",   "varphi", "chi",
    "psi",    "omega", "Gamma", "Delta", "Theta",   "Lambda",     "Sigma", "Phi", "Psi",   "Omega",  "infty",
};
enum { N_SYMBOL_NAMES = sizeof symbol_names / sizeof symbol_names[0] };

int symbol_find(const char *name, size_t n)
{
    if (n == 1 && *name >= 'a' && *name <= 'z')
        return *name - 'a';
    if (n == 1 && *name >= 'A' && *name <= 'Z')
        return 26 + *name - 'A';
    for (int i = 0; i < N_SYMBOL_NAMES; i++)
        if (strlen(symbol_names[i]) == n && !memcmp(symbol_names[i], name, n))
            return 52 + i;
    return -1;
}

static int degree(const struct term *t)
{
    int d = 0;
    for (int i = 0; i < t->n; i++)
        d += t->exp[i];
    return d;
}

static int compare_terms(const void *pa, const void *pb)
{
    const struct term *a = pa, *b = pb;
    int d = degree(b) - degree(a);
    for (int i = 0; !d && i < a->n && i < b->n; i++) {
        d = a->sym[i] - b->sym[i];
        if (!d)
            d = b->exp[i] - a->exp[i];
    }
    return d ? d : a->n - b->n;
}

/* Sorts, adds up like terms, drops zeros. */
static int normalise(struct polynomial *p)
{
    if (p->n > 1)
        qsort(p->terms, (size_t)p->n, sizeof *p->terms, compare_terms);
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        if (n && !compare_terms(&p->terms[n - 1], &p->terms[i])) {
            if (rational_add(&p->terms[n - 1].c, p->terms[n - 1].c, p->terms[i].c))
                return -1;
        } else {
            if (n && p->terms[n - 1].c.num == 0)
                n--;
            p->terms[n++] = p->terms[i];
        }
    }
    if (n && p->terms[n - 1].c.num == 0)
        n--;
    p->n = n;
    return n > POLY_TERMS_MAX ? -1 : 0;
}

static int reserve(struct poly_work *w, struct polynomial *p, int n)
{
    if (w->steps < n + 1)
        return -1;
    w->steps -= n + 1;
    p->n = n;
    p->terms = n ? arena_alloc(w->arena, (size_t)n * sizeof *p->terms) : NULL;
    return 0;
}

int poly_const(struct poly_work *w, struct polynomial *out, struct rational c)
{
    if (reserve(w, out, c.num != 0))
        return -1;
    if (c.num)
        out->terms[0].c = c;
    return 0;
}

int poly_symbol(struct poly_work *w, struct polynomial *out, int symbol)
{
    if (reserve(w, out, 1))
        return -1;
    out->terms[0] = (struct term){.c = {1, 1}, .n = 1};
    out->terms[0].sym[0] = (unsigned char)symbol;
    out->terms[0].exp[0] = 1;
    return 0;
}

int poly_add(struct poly_work *w, struct polynomial *out, const struct polynomial *a,
             const struct polynomial *b)
{
    struct polynomial r;
    if (reserve(w, &r, a->n + b->n))
        return -1;
    for (int i = 0; i < a->n; i++)
        r.terms[i] = a->terms[i];
    for (int i = 0; i < b->n; i++)
        r.terms[a->n + i] = b->terms[i];
    if (normalise(&r))
        return -1;
    *out = r;
    return 0;
}

int poly_scale(struct poly_work *w, struct polynomial *out, const struct polynomial *a, struct rational c)
{
    struct polynomial f;
    return poly_const(w, &f, c) || poly_mul(w, out, a, &f) ? -1 : 0;
}

static int multiply_terms(struct term *out, const struct term *a, const struct term *b)
{
    struct term r = {.n = 0};
    if (rational_mul(&r.c, a->c, b->c) || degree(a) + degree(b) > POLY_DEGREE_MAX)
        return -1;
    for (int i = 0, j = 0; i < a->n || j < b->n;) {
        if (r.n == POLY_TERM_SYMBOLS)
            return -1;
        int sa = i < a->n ? a->sym[i] : 256, sb = j < b->n ? b->sym[j] : 256;
        r.sym[r.n] = (unsigned char)(sa < sb ? sa : sb);
        int e = 0;
        if (sa <= sb)
            e += a->exp[i++];
        if (sb <= sa)
            e += b->exp[j++];
        r.exp[r.n++] = (unsigned char)e;
    }
    *out = r;
    return 0;
}

int poly_mul(struct poly_work *w, struct polynomial *out, const struct polynomial *a,
             const struct polynomial *b)
{
    struct polynomial r;
    if (reserve(w, &r, a->n * b->n))
        return -1;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++)
            if (multiply_terms(&r.terms[i * b->n + j], &a->terms[i], &b->terms[j]))
                return -1;
    if (normalise(&r))
        return -1;
    *out = r;
    return 0;
}

int poly_pow(struct poly_work *w, struct polynomial *out, const struct polynomial *a, int e)
{
    struct rational c;
    if (poly_is_const(a, &c))
        return rational_pow(&c, c, e) || poly_const(w, out, c) ? -1 : 0;
    if (e < 0 || e > POLY_DEGREE_MAX)
        return -1;
    struct polynomial r, base = *a;
    if (poly_const(w, &r, (struct rational){1, 1}))
        return -1;
    for (int i = 0; i < e; i++)
        if (poly_mul(w, &r, &r, &base))
            return -1;
    *out = r;
    return 0;
}

int poly_is_const(const struct polynomial *a, struct rational *value)
{
    if (a->n > 1 || (a->n == 1 && a->terms[0].n))
        return 0;
    *value = a->n ? a->terms[0].c : (struct rational){0, 1};
    return 1;
}

int poly_equal(const struct polynomial *a, const struct polynomial *b)
{
    if (a->n != b->n)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (compare_terms(&a->terms[i], &b->terms[i]) || !rational_equal(a->terms[i].c, b->terms[i].c))
            return 0;
    return 1;
}

static void print_symbol(struct str *out, int symbol, int exp)
{
    if (symbol < 26)
        str_putc(out, (char)('a' + symbol));
    else if (symbol < 52)
        str_putc(out, (char)('A' + symbol - 26));
    else
        str_printf(out, "\\%s", symbol_names[symbol - 52]);
    if (exp > 1)
        str_printf(out, "^%d", exp);
    else if (symbol >= 52)
        str_putc(out, ' ');
}

void poly_print(struct str *out, const struct polynomial *a)
{
    if (!a->n)
        str_putc(out, '0');
    for (int i = 0; i < a->n; i++) {
        const struct term *t = &a->terms[i];
        int64_t num = t->c.num < 0 ? -t->c.num : t->c.num;
        if (i)
            str_puts(out, t->c.num < 0 ? " - " : " + ");
        else if (t->c.num < 0)
            str_putc(out, '-');
        if (num != 1 || t->c.den != 1 || !t->n)
            str_printf(out, t->c.den == 1 || !t->n ? "%lld" : "(%lld", (long long)num);
        if (t->c.den != 1)
            str_printf(out, t->n ? "/%lld)" : "/%lld", (long long)t->c.den);
        for (int j = 0; j < t->n; j++)
            print_symbol(out, t->sym[j], t->exp[j]);
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
}
