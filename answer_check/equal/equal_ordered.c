/* Products whose factors do not commute. Letters are numbers to the rest of the comparison, so PDP^{-1} would
 * be D there. Where the writing says that a product is one of matrices or vectors, both answers are evaluated
 * with fixed matrices over a prime field in place of the letters, in the order in which they stand. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

enum { SIZE = 3, NAMES_MAX = 24, POWER_MAX = 12 };
static const uint64_t prime = 2147483647; /* 2^31 - 1 */

struct grid {
    int rows, columns; /* 0: a number, in v[0][0] */
    uint64_t v[SIZE][SIZE];
};

/* What both writings say of their letters. */
struct ordered {
    struct math_work *w;
    const char *vector[NAMES_MAX]; /* bold letters, and small ones that are transposed */
    int n_vectors, n_matrices, n_transposed, n_inverse, n_bold, n_hats;
    int n_conjugated; /* products in which a letter stands beside its own inverse: x^{-1}yx */
    const char *matrix[NAMES_MAX];
};

static int is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Is it the name of a matrix: A, A_1, \Lambda, or letters such as PDP that form one name? */
static int is_matrix_name(const char *name)
{
    static const char *const greek[] = {"Lambda", "Sigma", "Gamma", "Omega", "Phi", "Psi", "Theta", "Delta"};
    for (size_t k = 0; k < sizeof greek / sizeof *greek; k++)
        if (!strcmp(name, greek[k]))
            return 1;
    name += strncmp(name, "hat_", 4) ? 0 : 4; /* an operator */
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return n > 0 && n < 9 && (!name[n] || name[n] == '_' || name[n] == '\'');
}

static int is_listed(const char *const *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return 1;
    return 0;
}

static void add_name(const char **list, int *n, const char *name)
{
    if (!is_listed(list, *n, name) && *n < NAMES_MAX)
        list[(*n)++] = name;
}

static int is_transpose(const struct math_node *exponent)
{
    return exponent->kind == MATH_SYMBOL && (!strcmp(exponent->name, "T") || !strcmp(exponent->name, "top") ||
                                             !strcmp(exponent->name, "intercal"));
}

static int is_minus_one(const struct math_node *m)
{
    const struct math_node *one = m->kind == MATH_NEGATE ? m->child[0] : NULL;
    return one && one->kind == MATH_NUMBER && one->literal.n == 1 && one->literal.digits[0] == '1';
}

/* Does a letter of the product stand in it as its inverse too? In a group that is no number: x^{-1}yx. Then
 * all small letters of the product are names of what does not commute. */
static void collect_conjugated(struct ordered *o, const struct math_node *m)
{
    enum { FACTORS_MAX = 32 };
    int is_conjugated = 0;
    for (int i = 0; i < m->n && m->n > 2 && m->n <= FACTORS_MAX; i++) {
        const struct math_node *c = m->child[i];
        if (c->kind != MATH_POWER || c->child[0]->kind != MATH_SYMBOL || !is_minus_one(c->child[1]))
            continue;
        for (int k = 0; k < m->n; k++)
            is_conjugated |= m->child[k]->kind == MATH_SYMBOL &&
                             !strcmp(m->child[k]->name, c->child[0]->name) && (k > i + 1 || k < i - 1);
    }
    for (int i = 0; i < m->n && is_conjugated; i++) {
        const struct math_node *c = m->child[i]->kind == MATH_POWER ? m->child[i]->child[0] : m->child[i];
        if (c->kind == MATH_SYMBOL)
            add_name(o->matrix, &o->n_matrices, c->name);
    }
    o->n_conjugated += is_conjugated;
}

/* Collects what the tree says: its names, transposed and inverted letters. */
static void collect(struct ordered *o, const struct math_node *m)
{
    if (m->kind == MATH_MULTIPLY)
        collect_conjugated(o, m);
    o->n_hats += m->kind == MATH_SYMBOL && !strncmp(m->name, "hat_", 4) && is_matrix_name(m->name);
    if (m->kind == MATH_SYMBOL && is_matrix_name(m->name)) {
        size_t n = strspn(m->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        for (size_t i = 0; n > 1 && i < n; i++)
            add_name(o->matrix, &o->n_matrices, arena_printf(o->w->arena, "%c", m->name[i]));
        if (n <= 1)
            add_name(o->matrix, &o->n_matrices, m->name);
    }
    if (m->kind == MATH_POWER) {
        const struct math_node *base = m->child[0];
        int is_letter = base->kind == MATH_SYMBOL;
        if (is_transpose(m->child[1])) {
            o->n_transposed++;
            if (is_letter && !is_matrix_name(base->name))
                add_name(o->vector, &o->n_vectors, base->name);
            collect(o, base);
            return;
        }
        if (is_minus_one(m->child[1]) && (!is_letter || is_matrix_name(base->name)))
            o->n_inverse++;
    }
    for (int i = 0; i < (m->kind == MATH_EITHER ? 1 : m->n); i++)
        collect(o, m->child[i]);
}

/* Collects the bold letters of a text. */
static void collect_bold(struct ordered *o, struct span s)
{
    static const char *const fonts[] = {"\\mathbf{", "\\boldsymbol{", "\\bm{", "\\textbf{", "\\mathbf "};
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; s.s[i] == '\\' && k < sizeof fonts / sizeof *fonts; k++) {
            size_t n = strlen(fonts[k]);
            if (!span_at(s, i, fonts[k]) || i + n >= s.n || !ascii_is_letter(s.s[i + n]) ||
                (fonts[k][n - 1] == '{' && !span_at(s, i + n + 1, "}")))
                continue;
            o->n_bold++;
            if (!is_capital(s.s[i + n]))
                add_name(o->vector, &o->n_vectors, arena_printf(o->w->arena, "%c", s.s[i + n]));
        }
}

/* ---- arithmetic ---- */

static uint64_t power(uint64_t a, uint64_t n)
{
    uint64_t r = 1;
    for (a %= prime; n; n >>= 1, a = a * a % prime)
        if (n & 1)
            r = r * a % prime;
    return r;
}

static uint64_t hash(const char *name, int at)
{
    uint64_t h = 1469598103934665603u + (uint64_t)at * 7919;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return (h ^ (h >> 32)) % (prime - 2) + 1;
}

static struct grid number(uint64_t v)
{
    struct grid g = {0};
    g.v[0][0] = v % prime;
    return g;
}

/* The matrix, vector or number that stands for a letter. */
static struct grid letter(const char *name, int rows, int columns)
{
    struct grid g = {rows, columns, {{0}}};
    for (int i = 0; i < (rows ? rows : 1); i++)
        for (int k = 0; k < (columns ? columns : 1); k++)
            g.v[i][k] = hash(name, 10 * i + k);
    return g;
}

static struct grid identity(uint64_t v)
{
    struct grid g = {SIZE, SIZE, {{0}}};
    for (int i = 0; i < SIZE; i++)
        g.v[i][i] = v;
    return g;
}

/* A matrix of one entry is a number. */
static struct grid settled(struct grid g)
{
    return g.rows == 1 && g.columns == 1 ? number(g.v[0][0]) : g;
}

static int multiply(struct grid *out, const struct grid *a, const struct grid *b)
{
    struct grid g = {0};
    if (!a->rows || !b->rows) {
        const struct grid *m = a->rows ? a : b, *s = a->rows ? b : a;
        g = *m;
        for (int i = 0; i < SIZE; i++)
            for (int k = 0; k < SIZE; k++)
                g.v[i][k] = m->v[i][k] * s->v[0][0] % prime;
    } else if (a->columns != b->rows) {
        return -1;
    } else {
        g.rows = a->rows;
        g.columns = b->columns;
        for (int i = 0; i < g.rows; i++)
            for (int k = 0; k < g.columns; k++)
                for (int j = 0; j < a->columns; j++)
                    g.v[i][k] = (g.v[i][k] + a->v[i][j] * b->v[j][k]) % prime;
    }
    *out = settled(g);
    return 0;
}

static int add(struct grid *out, struct grid a, struct grid b)
{
    if (!a.rows != !b.rows) { /* A - 1 means A - I */
        struct grid *s = a.rows ? &b : &a;
        *s = identity(s->v[0][0]);
    }
    if (a.rows != b.rows || a.columns != b.columns)
        return -1;
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++)
            a.v[i][k] = (a.v[i][k] + b.v[i][k]) % prime;
    *out = a;
    return 0;
}

static struct grid transposed(struct grid a)
{
    struct grid g = {a.columns, a.rows, {{0}}};
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++)
            g.v[k][i] = a.v[i][k];
    return a.rows ? g : a;
}

/* By Gauss and Jordan; -1 where there is no inverse. */
static int inverted(struct grid *out, struct grid a)
{
    struct grid b = identity(1);
    if (!a.rows) {
        *out = number(power(a.v[0][0], prime - 2));
        return a.v[0][0] ? 0 : -1;
    }
    if (a.rows != SIZE || a.columns != SIZE)
        return -1;
    for (int i = 0; i < SIZE; i++) {
        int p = i;
        while (p < SIZE && !a.v[p][i])
            p++;
        if (p == SIZE)
            return -1;
        for (int k = 0; k < SIZE; k++) {
            uint64_t t = a.v[p][k];
            a.v[p][k] = a.v[i][k];
            a.v[i][k] = t;
            t = b.v[p][k];
            b.v[p][k] = b.v[i][k];
            b.v[i][k] = t;
        }
        uint64_t scale = power(a.v[i][i], prime - 2);
        for (int k = 0; k < SIZE; k++) {
            a.v[i][k] = a.v[i][k] * scale % prime;
            b.v[i][k] = b.v[i][k] * scale % prime;
        }
        for (int r = 0; r < SIZE; r++) {
            uint64_t by = r == i ? 0 : prime - a.v[r][i];
            for (int k = 0; by && k < SIZE; k++) {
                a.v[r][k] = (a.v[r][k] + by * a.v[i][k]) % prime;
                b.v[r][k] = (b.v[r][k] + by * b.v[i][k]) % prime;
            }
        }
    }
    *out = b;
    return 0;
}

/* ---- trees ---- */

enum { NO_MEANING = -1, NOT_KNOWN = -2 }; /* shapes that do not fit; a writing that is not followed */

static int evaluate(const struct ordered *o, const struct math_node *m, struct grid *out);

/* Is it several letters, a capital among them: nRT, PDP? */
static int is_product_name(const char *name)
{
    int n = 0, capitals = 0;
    for (; ascii_is_letter(*name); name++, n++)
        capitals += is_capital(*name);
    return !*name && n > 1 && n < 9 && capitals;
}

static int evaluate_symbol(const struct ordered *o, const char *name, struct grid *out)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (is_listed(o->vector, o->n_vectors, name))
        *out = letter(name, SIZE, 1);
    else if (o->n_conjugated && is_listed(o->matrix, o->n_matrices, name))
        *out = letter(name, SIZE, SIZE);
    else if (!strcmp(name, "I"))
        *out = identity(1);
    else if (!is_product_name(name) && !is_matrix_name(name))
        *out = letter(name, 0, 0);
    else if ((n <= 1 && !is_product_name(name)) || !strncmp(name, "hat_", 4))
        *out = letter(name, SIZE, SIZE);
    else {
        *out = number(1);
        for (; *name; name++) {
            struct grid g, before = *out;
            char one[2] = {*name, 0};
            evaluate_symbol(o, one, &g);
            if (multiply(out, &before, &g))
                return -1;
        }
    }
    return 0;
}

static int evaluate_power(const struct ordered *o, const struct math_node *m, struct grid *out)
{
    struct grid base, product;
    int64_t n = 0;
    int rc = evaluate(o, m->child[0], &base), split = 0;
    if (rc)
        return rc;
    const struct math_node *exponent = m->child[1], *name = m->child[0];
    /* PDP^{-1} as one name: the exponent belongs to the last letter */
    if (name->kind == MATH_SYMBOL && is_product_name(name->name)) {
        size_t last = strlen(name->name) - 1;
        split = 1;
        if (evaluate_symbol(o, arena_printf(o->w->arena, "%.*s", (int)last, name->name), &product) ||
            evaluate_symbol(o, name->name + last, &base))
            return NO_MEANING;
    }
    if (is_transpose(exponent)) {
        base = transposed(base);
    } else if (exponent->kind == MATH_SYMBOL) {
        n = 3 + (int64_t)(hash(exponent->name, 99) % 5);
    } else if (math_scalar_integer(o->w, exponent, &n)) {
        if (n < 0) {
            n = -n;
            if (inverted(&base, base))
                return NO_MEANING;
        }
        if (n > POWER_MAX)
            return NOT_KNOWN;
    } else {
        return NOT_KNOWN;
    }
    if (!is_transpose(exponent)) {
        struct grid one = base, before;
        *out = base.rows ? identity(1) : number(1);
        for (; n > 0; n--) {
            before = *out;
            if (multiply(out, &before, &one))
                return NO_MEANING;
        }
        base = *out;
    }
    *out = base;
    if (split) {
        struct grid right = *out;
        return multiply(out, &product, &right);
    }
    return 0;
}

/* Returns 0, NO_MEANING or NOT_KNOWN. */
static int evaluate(const struct ordered *o, const struct math_node *m, struct grid *out)
{
    struct grid a, b;
    int rc;
    if (math_step(o->w, 30))
        return NOT_KNOWN;
    switch (m->kind) {
    case MATH_EITHER:
        return evaluate(o, m->child[0], out);
    case MATH_RELATION:
        return evaluate(o, m->child[m->n - 1], out);
    case MATH_NUMBER:
        if (m->literal.point || m->literal.exponent || m->literal.n > 18)
            return NOT_KNOWN;
        *out = number(0);
        for (int i = 0; i < m->literal.n; i++)
            out->v[0][0] = (out->v[0][0] * 10 + (uint64_t)(m->literal.digits[i] - '0')) % prime;
        return 0;
    case MATH_CONSTANT:
        *out = number(7001 + (uint64_t)m->which);
        return 0;
    case MATH_SYMBOL:
        return evaluate_symbol(o, m->name, out);
    case MATH_NEGATE:
        rc = evaluate(o, m->child[0], &a);
        b = number(prime - 1);
        return rc ? rc : multiply(out, &a, &b);
    case MATH_ADD:
    case MATH_MULTIPLY:
        rc = evaluate(o, m->child[0], &a);
        for (int i = 1; !rc && i < m->n; i++) {
            rc = evaluate(o, m->child[i], &b);
            struct grid before = a;
            rc = rc ? rc : m->kind == MATH_ADD ? add(&a, before, b) : multiply(&a, &before, &b);
        }
        *out = a;
        return rc;
    case MATH_DIVIDE:
        rc = evaluate(o, m->child[0], &a);
        rc = rc ? rc : evaluate(o, m->child[1], &b);
        if (rc)
            return rc;
        return inverted(&b, b) ? NO_MEANING : multiply(out, &a, &b);
    case MATH_POWER:
        return evaluate_power(o, m, out);
    default:
        return NOT_KNOWN;
    }
}

/* In writings with vectors the usual letters of vectors are such, transposed or not. */
static void add_vectors(struct ordered *o)
{
    static const char *const usual[] = {"a", "b", "u", "v", "w", "x", "y", "z", "p", "q"};
    if (o->n_vectors && o->n_transposed && !o->n_bold)
        for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
            add_name(o->vector, &o->n_vectors, usual[k]);
}

/* Both answers evaluated: TRUE, FALSE, or UNKNOWN where one is no product of what does not commute. */
static enum math_truth compare_ordered(struct math_work *w, const struct math_node *gold,
                                       struct span gold_text, const struct math_node *pred,
                                       struct span pred_text, struct ordered *out)
{
    struct ordered o = {.w = w};
    struct grid g, p;
    collect(&o, gold);
    int n_gold = o.n_transposed + o.n_inverse;
    collect(&o, pred);
    collect_bold(&o, gold_text);
    collect_bold(&o, pred_text);
    if (!n_gold && !o.n_transposed && !o.n_inverse && !o.n_conjugated && o.n_hats < 2 &&
        !(o.n_bold > 1 && o.n_matrices > 1))
        return MATH_UNKNOWN;
    if (o.n_matrices + o.n_vectors < 2 && !o.n_transposed)
        return MATH_UNKNOWN;
    add_vectors(&o);
    int of_gold = evaluate(&o, gold, &g), of_pred = evaluate(&o, pred, &p);
    if (w->ran_out) /* then nothing shows that they are equal as such */
        return MATH_FALSE;
    if (of_gold || of_pred == NOT_KNOWN)
        return MATH_UNKNOWN;
    *out = o;
    int differs =
        of_pred == NO_MEANING || g.rows != p.rows || g.columns != p.columns || memcmp(g.v, p.v, sizeof g.v);
    return differs ? MATH_FALSE : MATH_TRUE;
}

/* The letters of the next bold product, \mathbf{AB}, from *i on; empty at the end. */
static struct span next_bold(struct span s, size_t *i)
{
    static const char bold[] = "\\mathbf{";
    for (; *i < s.n; ++*i) {
        size_t from = *i + strlen(bold), to = from;
        while (span_at(s, *i, bold) && to < s.n && is_capital(s.s[to]))
            to++;
        if (to < s.n && to > from + 1 && s.s[to] == '}') {
            *i = to;
            return (struct span){s.s + from, to - from};
        }
    }
    return (struct span){0};
}

/* Are the bold products of the two texts the same letters in another order? The letters of AB alone name a
 * segment, which is BA too. */
static int bold_differs(struct span a, struct span b)
{
    for (size_t i = 0, k = 0;;) {
        struct span x = next_bold(a, &i), y = next_bold(b, &k);
        if (!x.n || x.n != y.n)
            return 0;
        if (memcmp(x.s, y.s, x.n) != 0)
            return 1;
    }
}

int equal_order_differs(struct math_work *w, const struct math_node *gold, struct span gold_text,
                        const struct math_node *pred, struct span pred_text)
{
    struct ordered o;
    return bold_differs(gold_text, pred_text) ||
           compare_ordered(w, gold, gold_text, pred, pred_text, &o) == MATH_FALSE;
}

int equal_order_agrees(struct math_work *w, const struct math_node *gold, struct span gold_text,
                       const struct math_node *pred, struct span pred_text)
{
    struct ordered o;
    return compare_ordered(w, gold, gold_text, pred, pred_text, &o) == MATH_TRUE && o.n_matrices > 0 &&
           o.n_transposed > 1 && (!o.n_vectors || o.n_bold);
}
