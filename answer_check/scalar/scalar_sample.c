/* Which values the symbols of two trees take at sample points (contract: scalar_sample.h).
 *
 * A symbol is an integer where only integers make sense: under a factorial, a binomial, a gcd or a remainder,
 * as the bound of a sum, in the exponent of a number that is not positive, as in (-1)^n or i^k, and, if its
 * letter is one of i to n, under a floor or ceiling. It is complex under a conjugate, a real or imaginary
 * part and an angle, and, if it is called z, w, omega or zeta, under an absolute value. Otherwise it is real.
 */
#include "answer_check/scalar/scalar_sample.h"

#include <string.h>

#include "evalcore/base/hash.h"

static uint64_t name_hash(const char *name)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a, then mixed */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return hash_mix64(h);
}

/* Is the name's letter one of these? Subscripts and strokes do not matter. */
static int has_letter(const char *name, const char *const *letters, size_t n)
{
    size_t stem = strcspn(name, "_'");
    for (size_t i = 0; i < n; i++)
        if (strlen(letters[i]) == stem && !memcmp(letters[i], name, stem))
            return 1;
    return 0;
}

static int names_complex(const char *name)
{
    static const char *const letters[] = {"z", "w", "omega", "zeta"};
    return has_letter(name, letters, sizeof letters / sizeof *letters);
}

static int names_integer(const char *name)
{
    static const char *const letters[] = {"i", "j", "k", "l", "m", "n", "N", "M", "K"};
    return has_letter(name, letters, sizeof letters / sizeof *letters);
}

typedef int names_kind(const char *name);
static int names_any(const char *name)
{
    return *name != 0;
}

/* Gives the symbols of m whose name fits a kind, unless they have one. Returns how many fit. */
static int mark_symbols(struct samples *p, const struct math_node *m, enum symbol_kind kind, names_kind *fits)
{
    int found = 0;
    for (int i = 0; i < p->n; i++)
        if (fits(p->names[i]) && math_has_symbol(m, p->names[i])) {
            found++;
            if (p->kind[i] == SYMBOL_REAL)
                p->kind[i] = kind;
        }
    return found;
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

static void scan_function(struct samples *p, const struct math_node *m)
{
    switch (m->which) {
    case MATH_ABS:
        p->has_corner = 1;
        mark_symbols(p, m, SYMBOL_COMPLEX, names_complex);
        break;
    case MATH_SQRT: /* of a square */
    case MATH_SIGN:
    case MATH_MIN:
    case MATH_MAX:
        p->has_corner = 1;
        break;
    case MATH_FLOOR:
    case MATH_CEILING:
        p->has_corner = p->has_jump = 1;
        mark_symbols(p, m, SYMBOL_INTEGER, names_integer);
        break;
    case MATH_REAL:
    case MATH_IMAGINARY:
    case MATH_ARGUMENT:
    case MATH_CONJUGATE: /* of a z and b z only z is complex */
        if (!mark_symbols(p, m, SYMBOL_COMPLEX, names_complex))
            mark_symbols(p, m, SYMBOL_COMPLEX, names_any);
        break;
    case MATH_BINOMIAL:
    case MATH_GCD:
    case MATH_LCM:
    case MATH_MOD:
        mark_symbols(p, m, SYMBOL_INTEGER, names_any);
        break;
    default:
        break;
    }
}

static void note_corner(struct samples *p, const struct math_node *m)
{
    enum { DIGITS = 9 };
    const struct math_literal *l = &m->literal;
    int64_t value = 0;
    if (l->n > DIGITS || l->exponent || p->n_corners == SAMPLE_CORNERS)
        return;
    for (int i = 0; i < l->n - l->decimals; i++)
        value = 10 * value + l->digits[i] - '0';
    for (int i = 0; i < p->n_corners; i++)
        if (p->corner[i] == value)
            return;
    p->corner[p->n_corners++] = value;
}

static void scan_tree(struct samples *p, const struct math_node *m, int depth)
{
    if (depth > SCALAR_DEPTH || math_step(p->w, 1))
        return;
    if (m->kind == MATH_FUNCTION) {
        scan_function(p, m);
    } else if (m->kind == MATH_NUMBER) {
        note_corner(p, m);
    } else if (m->kind == MATH_FACTORIAL) {
        mark_symbols(p, m, SYMBOL_INTEGER, names_any);
    } else if (m->kind == MATH_SUM && m->n == 4 && m->which != MATH_INTEGRAL) {
        mark_symbols(p, m->child[2], SYMBOL_INTEGER, names_any);
        mark_symbols(p, m->child[3], SYMBOL_INTEGER, names_any);
    } else if (m->kind == MATH_POWER && is_not_positive(m->child[0])) {
        mark_symbols(p, m->child[1], SYMBOL_INTEGER, names_any);
    } else if (m->kind == MATH_POWER && m->child[1]->kind == MATH_DIVIDE) { /* (x^2)^{1/2} */
        p->has_corner = 1;
    }
    for (int i = 0; i < m->n; i++)
        scan_tree(p, m->child[i], depth + 1);
}

void samples_scan(struct samples *p)
{
    for (int i = 0; i < p->n; i++)
        p->hash[i] = name_hash(p->names[i]);
    scan_tree(p, p->a, 0);
    scan_tree(p, p->b, 0);
    for (int i = 0; i < p->n; i++)
        p->n_complex += p->kind[i] == SYMBOL_COMPLEX;
}
