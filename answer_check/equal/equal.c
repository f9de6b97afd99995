/* Which comparison two trees need, and what may stand on one side only: readings, assignments, brackets. */
#include "answer_check/equal/equal.h"

#include <string.h>

enum { DEPTH_MAX = 60 };

enum math_truth equal_better(enum math_truth a, enum math_truth b)
{
    if (a == MATH_TRUE || b == MATH_TRUE)
        return MATH_TRUE;
    return a == MATH_UNKNOWN || b == MATH_UNKNOWN ? MATH_UNKNOWN : MATH_FALSE;
}

enum math_truth equal_worse(enum math_truth a, enum math_truth b)
{
    if (a == MATH_FALSE || b == MATH_FALSE)
        return MATH_FALSE;
    return a == MATH_UNKNOWN || b == MATH_UNKNOWN ? MATH_UNKNOWN : MATH_TRUE;
}

void equal_set_how(struct comparison *e, const char *how)
{
    e->how = how;
}

int equal_same(const struct math_node *a, const struct math_node *b)
{
    if (a == b)
        return 1;
    if (a->kind != b->kind || a->which != b->which || a->n != b->n || strcmp(a->name, b->name) != 0 ||
        a->rows != b->rows || a->columns != b->columns)
        return 0;
    if (a->kind == MATH_NUMBER) {
        const struct math_literal *x = &a->literal, *y = &b->literal;
        return x->n == y->n && !memcmp(x->digits, y->digits, (size_t)x->n) && x->decimals == y->decimals &&
               x->period == y->period && x->exponent == y->exponent && x->point == y->point;
    }
    if (a->kind == MATH_RELATION && memcmp(a->ops, b->ops, (size_t)(a->n - 1)) != 0)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!equal_same(a->child[i], b->child[i]))
            return 0;
    return 1;
}

int equal_is_number(struct comparison *e, const struct math_node *m)
{
    const char *name[1];
    return math_is_scalar(m) && math_symbols(e->w, m, name, 1) == 0;
}

static int is_collection(const struct math_node *m)
{
    return m->kind == MATH_LIST || m->kind == MATH_SET;
}

static int is_statements(const struct math_node *m)
{
    return m->kind == MATH_AND || m->kind == MATH_OR;
}

/* ---- readings ---- */

/* A letter that may be a unit or a variable ("3m"): it is a unit only where the reference has no such symbol
 * and the prediction sets it apart ("3 m", "3 m²"). */
static int unit_applies(const struct math_node *unit, const struct math_node *gold)
{
    struct span s = unit->source;
    int apart = 0;
    if (strlen(unit->name) > 1 && unit->name[1] != '^')
        return 1;
    char letter[2] = {unit->name[0], 0};
    for (size_t i = 0; i < s.n; i++)
        apart |= ascii_is_space(s.s[i]) || s.s[i] == '~' || (unsigned char)s.s[i] >= 0x80 ||
                 (s.s[i] == '\\' && i + 1 < s.n && strchr(",:; tm", s.s[i + 1]));
    return apart && !math_has_symbol(gold, letter);
}

static enum math_truth by_gold_reading(struct comparison *e, const struct math_node *gold,
                                       const struct math_node *pred)
{
    enum math_truth best = MATH_FALSE;
    for (int i = 0; i < gold->n && best != MATH_TRUE; i++)
        if (i == 0 || gold->child[i]->kind != MATH_UNIT || strlen(gold->child[i]->name) > 1)
            best = equal_better(best, equal_trees(e, gold->child[i], pred));
    return best;
}

static enum math_truth by_pred_reading(struct comparison *e, const struct math_node *gold,
                                       const struct math_node *pred)
{
    enum math_truth best = MATH_FALSE;
    for (int i = 0; i < pred->n && best != MATH_TRUE; i++)
        if (i == 0 || pred->child[i]->kind != MATH_UNIT || unit_applies(pred->child[i], gold))
            best = equal_better(best, equal_trees(e, gold, pred->child[i]));
    return best;
}

/* ---- one side in other dress ---- */

/* (f(n), g(n)) = (n, 1) as the list of its equations, or NULL. */
static const struct math_node *by_coordinates(struct comparison *e, const struct math_node *m)
{
    const struct math_node *equation[16], *a = m->child[0], *b = m->child[1];
    if (m->n != 2 || m->ops[0] != MATH_EQUAL || a->kind != MATH_TUPLE || b->kind != MATH_TUPLE ||
        a->n != b->n || a->n > 16)
        return NULL;
    for (int i = 0; i < a->n; i++) {
        struct math_node *one = math_node_2(e->w, MATH_RELATION, m->source, a->child[i], b->child[i]);
        if (!one)
            return NULL;
        one->ops = m->ops;
        equation[i] = one;
    }
    return math_node_new(e->w, MATH_AND, m->source, a->n, equation);
}

/* Without the brackets of a set or list of one. */
static const struct math_node *only_item(const struct math_node *m)
{
    return is_collection(m) && m->n == 1 ? m->child[0] : NULL;
}

/* P(3, -2) as the point that it names. */
static const struct math_node *named_point(struct comparison *e, const struct math_node *m)
{
    int named = m->kind == MATH_APPLY && m->n > 1 && *m->name >= 'A' && *m->name <= 'Z' && !m->name[1];
    return named ? math_node_new(e->w, MATH_TUPLE, m->source, m->n, m->child) : NULL;
}

/* "3/8 or 0.375": several writings of one value, where every one is the other side's. */
static enum math_truth alternatives(struct comparison *e, const struct math_node *gold,
                                    const struct math_node *pred)
{
    const struct math_node *list = gold->kind == MATH_LIST ? gold : pred, *value = list == gold ? pred : gold;
    enum math_truth all = MATH_TRUE;
    if (list->kind != MATH_LIST || !list->which || !equal_is_value(value))
        return MATH_FALSE;
    for (int i = 0; i < list->n && all != MATH_FALSE; i++)
        all = equal_worse(all, list == gold ? equal_trees(e, list->child[i], pred)
                                            : equal_trees(e, gold, list->child[i]));
    return all;
}

/* The last of a chain of sets: \{1, 2\} = \{2, 1\}. */
static const struct math_node *last_set(const struct math_node *m)
{
    if (m->kind != MATH_RELATION)
        return NULL;
    for (int i = 0; i < m->n; i++)
        if (m->child[i]->kind != MATH_SET || (i && m->ops[i - 1] != MATH_EQUAL))
            return NULL;
    return m->child[m->n - 1];
}

/* What m means when the other side is no statement: the value it assigns, the only item it holds. */
static const struct math_node *undressed(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other, int is_pred)
{
    const struct math_node *item = only_item(m);
    if (m->kind == MATH_RELATION && other->kind != MATH_RELATION && !is_statements(other))
        return equal_assigned(e, m, is_pred && equal_is_value(other));
    if (item && !is_collection(other))
        return item;
    /* f(x) = 1 for all x: the condition goes where the other side states none. */
    if (m->kind == MATH_CASES && m->n == 2 && other->kind != MATH_CASES && !equal_declares(e, other))
        return m->child[0];
    if (m->kind == MATH_RELATION && (is_statements(other) || is_collection(other)))
        return by_coordinates(e, m);
    if (other->kind == MATH_TUPLE)
        return m->kind == MATH_APPLY ? named_point(e, m) : equal_assigned_tuple(e, m);
    if (is_collection(other) && m->kind == MATH_SYMBOL)
        return equal_letters(e, m, other);
    if (is_collection(other) && !equal_assigned_items(e, other))
        return equal_assigned_items(e, m);
    return NULL;
}

/* ---- kinds ---- */

static enum math_truth all_children(struct comparison *e, const struct math_node *gold,
                                    const struct math_node *pred)
{
    enum math_truth all = gold->n == pred->n && gold->which == pred->which ? MATH_TRUE : MATH_FALSE;
    for (int i = 0; i < gold->n && all != MATH_FALSE; i++)
        all = equal_worse(all, equal_trees(e, gold->child[i], pred->child[i]));
    return all;
}

/* a : b is the fraction a / b, and a : b : c the same up to a factor. */
static const struct math_node *quotient(struct comparison *e, const struct math_node *m)
{
    return m->kind == MATH_RATIO && m->n == 2
               ? math_node_2(e->w, MATH_DIVIDE, m->source, m->child[0], m->child[1])
               : NULL;
}

static enum math_truth ratios(struct comparison *e, const struct math_node *gold,
                              const struct math_node *pred)
{
    enum math_truth all = gold->n == pred->n ? MATH_TRUE : MATH_FALSE;
    for (int i = 1; i < gold->n && all != MATH_FALSE; i++) {
        const struct math_node *g =
            math_node_2(e->w, MATH_MULTIPLY, gold->source, gold->child[i], pred->child[0]);
        const struct math_node *p =
            math_node_2(e->w, MATH_MULTIPLY, pred->source, pred->child[i], gold->child[0]);
        all = equal_worse(all, g && p ? equal_trees(e, g, p) : MATH_UNKNOWN);
    }
    return all;
}

/* "v, x > 0" and "v (x > 0)": a value with its condition. */
static int is_conditional(const struct math_node *m)
{
    return m->n == 2 && (m->kind == MATH_CASES || ((m->kind == MATH_AND || m->kind == MATH_LIST) &&
                                                   m->child[1]->kind == MATH_RELATION));
}

/* Cases in whatever order: pairs of value and condition. */
static enum math_truth cases(struct comparison *e, const struct math_node *gold, const struct math_node *pred)
{
    enum { PAIRS = 16 };
    const struct math_node *pair[2][PAIRS];
    if (gold->n != pred->n || gold->n > 2 * PAIRS)
        return MATH_FALSE;
    for (int i = 0; i < gold->n / 2; i++) {
        pair[0][i] = math_node_new(e->w, MATH_TUPLE, gold->source, 2, gold->child + 2 * i);
        pair[1][i] = math_node_new(e->w, MATH_TUPLE, pred->source, 2, pred->child + 2 * i);
    }
    const struct math_node *g = math_node_new(e->w, MATH_SET, gold->source, gold->n / 2, pair[0]),
                           *p = math_node_new(e->w, MATH_SET, pred->source, pred->n / 2, pair[1]);
    return g && p ? equal_items(e, g, p, 0) : MATH_UNKNOWN;
}

static int is_vector(const struct math_node *m)
{
    return m->kind == MATH_MATRIX && (m->rows == 1 || m->columns == 1);
}

static enum math_truth same_kind(struct comparison *e, const struct math_node *gold,
                                 const struct math_node *pred)
{
    switch (gold->kind) {
    case MATH_MATRIX:
        return equal_matrices(e, gold, pred);
    case MATH_TUPLE:
        return equal_items(e, gold, pred, 1);
    case MATH_RATIO:
        return ratios(e, gold, pred);
    case MATH_TEXT:
        return equal_texts(e, gold, pred);
    case MATH_CASES:
        return cases(e, gold, pred);
    case MATH_TIME:
        return strcmp(gold->name, pred->name) == 0 || !*gold->name || !*pred->name
                   ? all_children(e, gold, pred)
                   : MATH_FALSE;
    default: /* cases, opaque expressions, number sets */
        return strcmp(gold->name, pred->name) == 0 ? all_children(e, gold, pred) : MATH_FALSE;
    }
}

/* f(x) = 0 and f(x) = 2x: equations of one name are alternatives, whatever joins them. */
static int of_one_name(const struct math_node *m)
{
    const struct math_node *name = NULL;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i];
        c = c->kind == MATH_CASES && c->n == 2 ? c->child[0] : c;
        if (c->kind != MATH_RELATION || c->ops[0] != MATH_EQUAL || !equal_is_name(c->child[0]) ||
            (name && !equal_same(name, c->child[0])))
            return 0;
        name = c->child[0];
    }
    return 1;
}

static enum math_truth by_kind(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred)
{
    int unordered_gold = is_collection(gold), unordered_pred = is_collection(pred);
    if (equal_is_value(gold) && equal_is_value(pred))
        return equal_values(e, gold, pred);
    if (unordered_gold && unordered_pred)
        return equal_items(e, gold, pred, 0);
    /* "1, 2, 3" as a reference asks for these values, in whatever brackets they are given. */
    if (gold->kind == MATH_LIST && pred->kind == MATH_TUPLE)
        return equal_items(e, gold, pred, 0);
    if (gold->kind == MATH_TUPLE && pred->kind == MATH_LIST)
        return equal_items(e, gold, pred, 1);
    /* A vector may be written as a tuple. */
    if ((is_vector(gold) && pred->kind == MATH_TUPLE) || (gold->kind == MATH_TUPLE && is_vector(pred)))
        return equal_items(e, gold, pred, 1);
    if (gold->kind == MATH_RELATION && pred->kind == MATH_RELATION) {
        enum math_truth r = equal_relations(e, gold, pred);
        return r == MATH_TRUE || !(equal_is_region(gold) || equal_is_region(pred))
                   ? r
                   : equal_regions(e, gold, pred);
    }
    if (is_statements(gold) && is_statements(pred) &&
        (gold->kind == pred->kind || (gold->kind == MATH_OR && gold->which) ||
         (pred->kind == MATH_OR && pred->which) || (of_one_name(gold) && of_one_name(pred)))) {
        enum math_truth r = equal_items(e, gold, pred, 0);
        return r == MATH_TRUE ? r : equal_better(r, equal_regions(e, gold, pred));
    }
    if (equal_number_sets(gold, pred) == MATH_TRUE)
        return MATH_TRUE;
    if (equal_is_region(gold) || equal_is_region(pred))
        return equal_regions(e, gold, pred);
    return gold->kind == pred->kind ? same_kind(e, gold, pred) : MATH_FALSE;
}

/* A matrix, or a vector's coordinates, where the other side is one; NULL when m is none. */
static const struct math_node *as_matrix(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other)
{
    const struct math_node *value = NULL;
    if (other->kind == MATH_MATRIX || (m->kind == MATH_MULTIPLY && !math_is_scalar(m)))
        value = equal_matrix(e, m);
    if (!value && (is_vector(other) || other->kind == MATH_TUPLE))
        value = equal_vector(e, m, other->n);
    return value;
}

static enum math_truth in_other_dress(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred)
{
    const struct math_node *g = last_set(gold), *p = last_set(pred);
    if (!g && !p) {
        g = equal_expand(e, gold);
        p = equal_expand(e, pred);
    }
    if (!g && !p) {
        g = equal_quantities(e, gold, pred);
        p = equal_quantities(e, pred, gold);
    }
    if (!g && !p && (gold->kind == MATH_TEXT) != (pred->kind == MATH_TEXT)) {
        g = equal_meaning(e, gold);
        p = equal_meaning(e, pred);
    }
    if (!g && !p) {
        g = as_matrix(e, gold, pred);
        p = as_matrix(e, pred, gold);
    }
    if (g || p)
        return equal_trees(e, g ? g : gold, p ? p : pred);
    enum math_truth r = alternatives(e, gold, pred);
    if (r != MATH_TRUE && gold->kind != pred->kind && is_conditional(gold) && is_conditional(pred))
        r = equal_worse(equal_trees(e, gold->child[0], pred->child[0]),
                        equal_trees(e, gold->child[1], pred->child[1]));
    if (r != MATH_TRUE)
        r = equal_families(e, gold, pred);
    if (r != MATH_TRUE)
        r = equal_antiderivatives(e, gold, pred);
    if (r == MATH_TRUE)
        return r;
    g = is_statements(gold) || is_statements(pred) ? equal_alternatives(e, gold) : NULL;
    p = g ? equal_alternatives(e, pred) : NULL;
    if (p)
        return equal_trees(e, g, p);
    g = undressed(e, gold, pred, 0);
    p = undressed(e, pred, gold, 1);
    r = g || p ? equal_trees(e, g ? g : gold, p ? p : pred) : MATH_FALSE;
    if (r == MATH_TRUE)
        return r;
    if (gold->kind == MATH_RELATION && math_is_scalar(pred))
        return equal_solved(e, gold, pred);
    if (pred->kind == MATH_RELATION && math_is_scalar(gold))
        return equal_solved(e, pred, gold);
    g = quotient(e, gold);
    p = quotient(e, pred);
    if ((g && equal_is_value(pred)) || (p && equal_is_value(gold)))
        return equal_trees(e, g ? g : gold, p ? p : pred);
    return r;
}

/* What a call takes: the rules look through both trees several times, which counts where they are long. */
static int64_t steps_of(const struct math_node *gold, const struct math_node *pred)
{
    enum { LONG = 256 };
    size_t n = gold->source.n + pred->source.n;
    return 10 + (n > LONG ? 2 * (int64_t)n : 0);
}

enum math_truth equal_trees(struct comparison *e, const struct math_node *gold, const struct math_node *pred)
{
    enum math_truth r;
    if (!gold || !pred || e->depth >= DEPTH_MAX || math_step(e->w, steps_of(gold, pred)))
        return MATH_UNKNOWN;
    if (equal_same(gold, pred))
        return MATH_TRUE;
    e->depth++;
    if (gold->kind == MATH_EITHER)
        r = by_gold_reading(e, gold, pred);
    else if (pred->kind == MATH_EITHER)
        r = by_pred_reading(e, gold, pred);
    else if ((r = by_kind(e, gold, pred)) != MATH_TRUE)
        r = equal_better(r, in_other_dress(e, gold, pred));
    e->depth--;
    return r;
}
