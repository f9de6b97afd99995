/* Equality of expressions with symbols at sample points (contract: scalar_compare.h).
 *
 * Two sides are equal if they are equal wherever both are defined on the reals: sqrt(x) sqrt(y) = sqrt(xy),
 * but sqrt(x^2) is not x. Even roots and logarithms of negative numbers are undefined there. At a point every
 * symbol has a value that depends only on its name and the point's number. The points lie
 * - at positive values of all symbols;
 * - at all patterns of signs for up to four symbols, at some of them for more;
 * - at zero, near the numbers in the text and far out, if a side has corners (|x|, max);
 * - at integers and half-integers, if a side has jumps (floor);
 * - off the real axis for symbols that are complex;
 * - at principal complex values, if no side was defined at the others.
 * At each point both sides are compared as certified constants. One disagreement proves inequality; three
 * agreements in one group of points count as equality.
 *
 * A symbol is an integer where only integers make sense: under a factorial, a binomial, a gcd or a remainder,
 * as the bound of a sum, in the exponent of a number that is not positive, as in (-1)^n or i^k, and, if its
 * letter is one of i to n, under a floor or ceiling. It is complex under a conjugate, a real or imaginary
 * part and an angle, and, if it is called z, w, omega or zeta, under an absolute value. Otherwise it is real.
 */
#include "answer_check/scalar/scalar_compare.h"

#include <string.h>

#include "answer_check/scalar/scalar_build.h"
#include "evalcore/base/hash.h"

/* ---- which values the symbols take */

enum symbol_kind { SYMBOL_REAL, SYMBOL_INTEGER, SYMBOL_COMPLEX };
enum { SAMPLE_CORNERS = 8 };

struct samples {
    struct math_work *w;
    const struct math_node *a, *b;
    int is_ratio; /* compare a(p) b(q) with b(p) a(q) instead */
    int n;
    const char *const *names;
    uint64_t hash[SAMPLE_SYMBOLS];
    enum symbol_kind kind[SAMPLE_SYMBOLS];
    int n_complex;
    int has_corner; /* a side has an absolute value, a maximum or a sign, so it is not one formula everywhere
                     */
    int has_jump;   /* a side has a floor or ceiling */
    int n_corners;
    int64_t corner[SAMPLE_CORNERS]; /* numbers in the text, near which a corner may be */
};

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

/* Sets the kind of those symbols of m that have none and whose name fits. Returns how many names fit. */
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

/* What a function says about its symbols, its corners and its jumps. */
static void scan_function(struct samples *p, const struct math_node *m)
{
    switch (m->which) {
    case MATH_ABS:
        p->has_corner = 1;
        mark_symbols(p, m, SYMBOL_COMPLEX, names_complex);
        break;
    case MATH_SQRT: /* sqrt(x^2) is |x| */
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
    case MATH_CONJUGATE: /* if z is among the symbols, only z is complex */
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

/* Notes the whole part of a number of the text. */
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

/* Notes what m and its subtrees say about symbols, corners and jumps. */
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

/* Sets all of *p but w, a, b, is_ratio, n and names. */
static void samples_scan(struct samples *p)
{
    for (int i = 0; i < p->n; i++)
        p->hash[i] = name_hash(p->names[i]);
    scan_tree(p, p->a, 0);
    scan_tree(p, p->b, 0);
    for (int i = 0; i < p->n; i++)
        p->n_complex += p->kind[i] == SYMBOL_COMPLEX;
}

/* ---- the points */

enum { POINTS = 9, ENOUGH = 3, SIGNED_SYMBOLS = 4, SIGN_PATTERNS = 16 };
static const int64_t FAR_OUT = 10000000;

struct point {
    int j;             /* the point's number, which decides the magnitudes of the values */
    unsigned negative; /* bit i: symbol i, if it is real */
    enum { BETWEEN, AT_INTEGERS, AT_HALVES, OFF_AXIS } where;
    int special; /* 1 + the number of the symbol that takes special_value; 0: none */
    struct fraction special_value;
    int is_principal; /* even roots and logarithms of negative numbers have their complex values */
};

/* The value of a symbol for integers. It is small enough for factorials; from the sixth point on it is beyond
 * the numbers in the text, because m choose 21 is 0 below 21. Over eight points each of eight symbols is odd
 * in a pattern of its own, and no sum of up to four of them is always odd or always even, so that (-1)^n is
 * not taken for (-1)^m. */
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

/* The value of a real symbol: between 0 and 1, 1 and 3, or 3 and 12, in another order for every symbol; at
 * the last point between 20 and 170. */
static struct fraction real_value(struct number_context *c, uint64_t h, int j)
{
    static const short range[4][3] = {{5, 90, 101}, {107, 190, 101}, {310, 860, 97}, {2003, 15000, 103}};
    uint64_t r = hash_mix64(h + 0x9e3779b97f4a7c15u * (uint64_t)(j + 1));
    const short *g = range[j == 8 ? 3 : (r >> 40) % 3];
    struct fraction f;
    return fraction_ratio(c, &f, g[0] + (int64_t)(r % (uint64_t)g[1]), g[2]) ? fraction_of(1) : f;
}

/* The value of symbol i at a point. */
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

/* Binds all symbols to their values at a point. */
static void set_point(struct number_context *c, const struct samples *p, struct binding *bound,
                      const struct point *at)
{
    c->bound = NULL;
    for (int i = 0; i < p->n; i++) {
        bound[i] = (struct binding){p->names[i], symbol_value(c, p, at, i), c->bound};
        c->bound = &bound[i];
    }
}

/* Has the ratio of a to b the same value at this point p and at a point q with positive values? Compares a(p)
 * b(q) with a(q) b(p), as trees in which the symbols are replaced by their values. */
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
    for (int k = 0; k < 2; k++) { /* a zero of both sides says nothing; a zero of one side alone proves that
                                     they are not proportional */
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

/* Compares both sides, or their ratios, at a point. */
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

/* Compares at all patterns of signs of up to four real symbols; for more symbols, with all negative and with
 * some mixed signs. Returns what count_agreements() returns. */
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

/* Compares with each real symbol in turn at zero, near zero, a third beside the numbers in the text, and far
 * out. Returns 0 if a disagreement was proved. */
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

/* Compares at integers and half-integers. Returns 0 if a disagreement was proved. */
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

/* Compares at all groups of points that the symbols and functions ask for. */
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
