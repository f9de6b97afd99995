/* The original's comparison, by the shapes of the two sides. It is not symmetric: the shape of the
 * reference decides what is unwrapped. */
#include "answer_check/compat/compat_equal.h"

#include <string.h>

typedef const struct math_node *node;

/* ---- the same writing */

static int same_literal(struct math_work *w, node a, node b)
{
    if (a->literal.point != b->literal.point)
        return 0;
    return math_scalar_equal(w, a, b) == MATH_TRUE;
}

/* Does each element of a occur in b? */
static int same_elements(struct math_work *w, node a, node b)
{
    for (int i = 0; i < a->n; i++) {
        int found = 0;
        for (int j = 0; j < b->n && !found; j++)
            found = compat_same_writing(w, a->child[i], b->child[j]);
        if (!found)
            return 0;
    }
    return 1;
}

int compat_same_writing(struct math_work *w, node a, node b)
{
    if (math_step(w, 1) || a->kind != b->kind)
        return 0;
    if (a->kind == MATH_NUMBER)
        return same_literal(w, a, b);
    if (a->kind == MATH_SET || a->kind == MATH_INTERSECTION)
        return same_elements(w, a, b) && same_elements(w, b, a);
    int which = a->kind == MATH_ADD || a->kind == MATH_DIVIDE || a->which == b->which;
    if (!which || a->n != b->n || strcmp(a->name, b->name) != 0 || a->rows != b->rows)
        return 0;
    if (a->kind == MATH_RELATION && memcmp(a->ops, b->ops, (size_t)(a->n - 1)) != 0)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!compat_same_writing(w, a->child[i], b->child[i]))
            return 0;
    return 1;
}

/* ---- shapes */

int compat_is_set(node m)
{
    switch (m->kind) {
    case MATH_SET:
    case MATH_INTERVAL:
    case MATH_UNION:
    case MATH_INTERSECTION:
    case MATH_DIFFERENCE:
    case MATH_NUMBER_SET:
        return 1;
    default:
        return 0;
    }
}

static int is_equation(node m)
{
    if (m->kind != MATH_RELATION)
        return 0;
    for (int i = 0; i + 1 < m->n; i++)
        if (m->ops[i] != MATH_EQUAL)
            return 0;
    return 1;
}

/* "x = 1": only symbols stand on the left. In the original this includes "x + y = 1". */
static int is_assignment(node m)
{
    return is_equation(m) && compat_only_symbols(m->child[0]);
}

static node last_side(node m)
{
    return m->child[m->n - 1];
}

/* The equation of the first and the last side of a chain. */
static node shorten_chain(struct math_work *w, node m)
{
    static const unsigned char equal[] = {MATH_EQUAL};
    struct math_node *out = math_node_2(w, MATH_RELATION, m->source, m->child[0], last_side(m));
    if (out)
        out->ops = equal;
    return out;
}

/* ---- symbols */

/* The length of a name without its mark COMPAT_COMPLEX. */
static size_t name_length(const char *name)
{
    size_t n = strlen(name);
    return n && name[n - 1] == COMPAT_COMPLEX ? n - 1 : n;
}

static int is_e(node m)
{
    return m->kind == MATH_CONSTANT && m->which == MATH_E;
}

/* Does the name start with the name of the symbol (or of e)? Returns the number of its letters, or 0. */
static size_t starts_with(const char *name, size_t n, node m)
{
    const char *part = is_e(m) ? "e" : m->name;
    size_t k = name_length(part);
    if ((!is_e(m) && m->kind != MATH_SYMBOL) || !k || k > n)
        return 0;
    for (size_t i = 0; i < k; i++)
        if (ascii_lower(name[i]) != ascii_lower(part[i]))
            return 0;
    return k;
}

/* Is the symbol spelt like the other tree? A symbol of several letters is spelt like the product of its
 * letters, because text and formula write the same word in these two ways; a symbol of digits ("\text{13}")
 * like the number. */
static int is_spelt_alike(node symbol, node other)
{
    const char *name = symbol->name;
    size_t n = name_length(name), i = 0;
    if (other->kind == MATH_MULTIPLY) {
        for (int k = 0; k < other->n; k++) {
            size_t part = starts_with(name + i, n - i, other->child[k]);
            if (!part)
                return 0;
            i += part;
        }
        return i == n;
    }
    if (other->kind == MATH_NEGATE && name[0] == '-') {
        i = 1;
        other = other->child[0];
    }
    if (other->kind == MATH_NUMBER && !other->literal.point)
        return n - i == (size_t)other->literal.n && !memcmp(name + i, other->literal.digits, n - i);
    return starts_with(name, n, other) == n;
}

/* Compares two sides of which at least one is a symbol. */
static int same_symbols(node gold, node pred)
{
    return gold->kind == MATH_SYMBOL ? is_spelt_alike(gold, pred) : is_spelt_alike(pred, gold);
}

/* Gives the symbols of pred the names of those of gold, both in order of their names, if both have equally
 * many. */
static node rename_symbols(struct math_work *w, node gold, node pred)
{
    enum { NAMES = 32 };
    const char *g[NAMES], *p[NAMES];
    int n = math_symbols(w, gold, g, NAMES);
    if (n <= 0 || math_symbols(w, pred, p, NAMES) != n)
        return pred;
    for (int i = 0; i < n && pred; i++) {
        node symbol = math_node_named(w, MATH_SYMBOL, gold->source, g[i]);
        pred = math_substitute(w, pred, p[i], symbol);
    }
    return pred;
}

/* ---- sets and tuples */

/* Does m consist of intervals and numbers only? A list may hold relations; the original takes such a list
 * for no set of real numbers. */
static int is_real_set(node m, int depth)
{
    if (m->kind == MATH_INTERVAL || m->kind == MATH_NUMBER_SET || math_is_scalar(m))
        return 1;
    if (!compat_is_set(m) || depth > MATH_TREE_DEPTH)
        return 0;
    for (int i = 0; i < m->n; i++)
        if (!is_real_set(m->child[i], depth + 1))
            return 0;
    return 1;
}

/* ---- finite sets and tuples */

enum { ELEMENTS = 256 };

/* Writes the elements, those of a set each once. Returns their number. */
static int distinct_elements(struct math_work *w, node m, node *out)
{
    int n = 0;
    for (int i = 0; i < m->n && n < ELEMENTS; i++) {
        int again = 0;
        for (int k = 0; m->kind == MATH_SET && k < n && !again; k++)
            again = compat_same_writing(w, out[k], m->child[i]);
        if (!again)
            out[n++] = m->child[i];
    }
    return n;
}

struct pairing {
    unsigned char equal[ELEMENTS][ELEMENTS];
    int partner[ELEMENTS]; /* for each element of pred its partner in gold, or -1 */
    unsigned char tried[ELEMENTS];
    int n;
};

/* Finds a partner for element i of gold, giving other elements new partners where that helps. */
static int find_partner(struct pairing *p, int i, int depth)
{
    for (int j = 0; j < p->n && depth < ELEMENTS; j++) {
        if (!p->equal[i][j] || p->tried[j])
            continue;
        p->tried[j] = 1;
        if (p->partner[j] < 0 || find_partner(p, p->partner[j], depth + 1)) {
            p->partner[j] = i;
            return 1;
        }
    }
    return 0;
}

static node first_of(node m)
{
    return m->kind == MATH_SET && m->n ? m->child[0] : m;
}

/* The place of an element when the original sorts them: numbers by size, then sets by their first element. */
static int sort_rank(struct math_work *w, const node *all, int n, node m)
{
    int before = 0;
    for (int i = 0; i < n; i++) {
        int is_set = all[i]->kind == MATH_SET, other = (m->kind == MATH_SET) != is_set;
        before += other ? !is_set : math_scalar_less(w, first_of(all[i]), first_of(m)) == MATH_TRUE;
    }
    return before;
}

/* Are the elements equal in any order? The original sorts both sides and compares them in that order,
 * which has the same result unless different ways of writing a value confuse the sorting, or unless a set
 * of one element stands among numbers: that equals its element only in the same place. */
static int any_order(struct compat_comparison *c, const node *gold, const node *pred, int n)
{
    if (math_step(c->w, (int64_t)ELEMENTS * n))
        return 0;
    struct pairing *p = arena_alloc(c->w->arena, sizeof *p);
    p->n = n;
    for (int i = 0; i < n; i++) {
        p->partner[i] = -1;
        for (int j = 0; j < n; j++)
            p->equal[i][j] =
                (unsigned char)(compat_equal(c, gold[i], pred[j]) &&
                                ((gold[i]->kind == MATH_SET) == (pred[j]->kind == MATH_SET) ||
                                 sort_rank(c->w, gold, n, gold[i]) == sort_rank(c->w, pred, n, pred[j])));
    }
    for (int i = 0; i < n; i++) {
        memset(p->tried, 0, sizeof p->tried);
        if (!find_partner(p, i, 0))
            return 0;
    }
    return 1;
}

/* Compares sets and tuples by their elements. */
static int equal_elements(struct compat_comparison *c, node gold, node pred)
{
    node g[ELEMENTS], p[ELEMENTS];
    int n = distinct_elements(c->w, gold, g);
    if (distinct_elements(c->w, pred, p) != n)
        return 0;
    if (gold->kind == MATH_SET)
        return any_order(c, g, p, n);
    if (pred->n != n) /* against a tuple the elements count as written, repeated ones too */
        return 0;
    for (int i = 0; i < n; i++)
        if (!compat_equal(c, gold->child[i], pred->child[i]))
            return 0;
    return 1;
}

static int is_infinite(node m)
{
    if (m->kind == MATH_NEGATE)
        m = m->child[0];
    return m->kind == MATH_CONSTANT && m->which == MATH_INFINITY;
}

/* Which ends are open. Infinite ends always are, however they are written. */
static int open_ends(node m)
{
    return m->which | (is_infinite(m->child[0]) ? MATH_OPEN_LEFT : 0) |
           (is_infinite(m->child[1]) ? MATH_OPEN_RIGHT : 0);
}

static int is_open(node m)
{
    return open_ends(m) == (MATH_OPEN_LEFT | MATH_OPEN_RIGHT);
}

/* m itself if it is a set or tuple, else the set of m. */
static node as_set(struct math_work *w, node m)
{
    return compat_is_set(m) || m->kind == MATH_TUPLE ? m : math_node_1(w, MATH_SET, m->source, m);
}

static int is_listed(node m)
{
    return m->kind == MATH_SET || m->kind == MATH_TUPLE;
}

/* Compares two sides of which at least one is a set or tuple. */
static int compare_sets(struct compat_comparison *c, node gold, node pred)
{
    gold = as_set(c->w, gold);
    pred = as_set(c->w, pred);
    if (!gold || !pred)
        return 0;
    if (gold->kind == MATH_INTERVAL && pred->kind == MATH_INTERVAL)
        return open_ends(gold) == open_ends(pred) && compat_equal(c, gold->child[0], pred->child[0]) &&
               compat_equal(c, gold->child[1], pred->child[1]);
    if (compat_same_writing(c->w, gold, pred) ||
        ((gold->kind != MATH_SET || pred->kind != MATH_SET) && is_real_set(gold, 0) && is_real_set(pred, 0) &&
         compat_same_region(c->w, gold, pred)))
        return 1;
    if (is_listed(gold) && is_listed(pred))
        return equal_elements(c, gold, pred);
    /* "(1, 2)" was read as an open interval and "1, 2" as a set */
    node interval = gold->kind == MATH_INTERVAL ? gold : pred, list = interval == gold ? pred : gold;
    if (interval->kind != MATH_INTERVAL || !is_open(interval) || !is_listed(list))
        return 0;
    node pair = math_node_new(c->w, MATH_TUPLE, interval->source, 2, interval->child);
    if (!pair)
        return 0;
    return interval == gold ? equal_elements(c, pair, pred) : equal_elements(c, gold, pair);
}

/* ---- the whole */

/* Is m a fraction with the denominator 0? */
static int is_undefined(node m)
{
    return m->kind == MATH_DIVIDE && m->which == COMPAT_FRACTION && m->child[1]->kind == MATH_NUMBER &&
           m->child[1]->literal.n == 1 && m->child[1]->literal.digits[0] == '0';
}

/* Compares two sides as their shapes demand. */
static int compare_shapes(struct compat_comparison *c, node gold, node pred)
{
    if (c->relaxed && !(pred = rename_symbols(c->w, gold, pred)))
        return 0;
    if (is_assignment(gold) && gold->n > 2)
        gold = shorten_chain(c->w, gold);
    if (is_assignment(pred) && pred->n > 2)
        pred = shorten_chain(c->w, pred);
    if (!gold || !pred)
        return 0;
    if (is_equation(pred) && !is_equation(gold))
        pred = last_side(pred);
    else if (is_assignment(gold) && !is_equation(pred))
        gold = last_side(gold);
    if (is_undefined(gold))
        return 0;
    if (compat_same_writing(c->w, gold, pred))
        return 1;
    gold = compat_simplify(c->w, gold);
    pred = compat_simplify(c->w, pred);
    if (!gold || !pred)
        return 0;
    int relations = (gold->kind == MATH_RELATION) + (pred->kind == MATH_RELATION);
    if (relations == 2)
        return compat_relations(c, gold, pred);
    if (relations == 1 &&
        (gold->kind == MATH_RELATION ? compat_is_set(pred) : c->both_ways && compat_is_set(gold)))
        return compat_same_region(c->w, gold, pred);
    if (relations)
        return 0;
    if (compat_is_set(gold) || compat_is_set(pred) || gold->kind == MATH_TUPLE || pred->kind == MATH_TUPLE)
        return compare_sets(c, gold, pred);
    if (gold->kind == MATH_SYMBOL || pred->kind == MATH_SYMBOL)
        return same_symbols(gold, pred);
    return compat_values(c, gold, pred);
}

int compat_equal(struct compat_comparison *c, node gold, node pred)
{
    enum { DEPTH = 20 };
    if (c->depth >= DEPTH || math_step(c->w, 10))
        return 0;
    struct compat_comparison inner = *c; /* elements are compared with the default settings */
    inner.depth++;
    if (c->depth) {
        inner.relaxed = 0;
        inner.both_ways = 0;
    }
    return compare_shapes(&inner, gold, pred);
}
