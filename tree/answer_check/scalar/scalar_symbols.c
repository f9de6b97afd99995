/* The symbols of trees: which occur free, how they are replaced, and how opaque subtrees are replaced by
 * symbols (contracts: scalar.h, scalar_compare.h). */
#include "answer_check/scalar/scalar_compare.h"

#include <stdlib.h>
#include <string.h>

#include "answer_check/scalar/scalar_build.h"
#include "answer_check/scalar/scalar_form.h"

/* Which opaque subtree each new symbol stands for, in both sides of a comparison. */
enum { ABSTRACT_MAX = 12 };
struct abstraction {
    struct math_work *w;
    scalar_equality *equal;
    int n, depth, full;
    const struct math_node *node[ABSTRACT_MAX], *symbol[ABSTRACT_MAX];
};

/* A visitor of free symbols: 0 goes on. */
typedef int symbol_visit(void *context, const char *name);
struct bound_name {
    const char *name;
    const struct bound_name *outer;
};

static int is_bound(const struct bound_name *b, const char *name)
{
    for (; b; b = b->outer)
        if (!strcmp(b->name, name))
            return 1;
    return 0;
}

/* Calls `call` for every free occurrence of a symbol. Returns what stopped it, or 0. */
static int visit_symbols(const struct math_node *m, const struct bound_name *bound, int depth,
                         symbol_visit *call, void *context)
{
    if (!m || depth > SCALAR_DEPTH)
        return 0;
    if (m->kind == MATH_SYMBOL)
        return is_bound(bound, m->name) ? 0 : call(context, m->name);
    int is_sum = m->kind == MATH_SUM && m->n == 4 && m->child[1]->kind == MATH_SYMBOL;
    struct bound_name inner = {is_sum ? m->child[1]->name : "", bound};
    for (int i = 0; i < m->n; i++) {
        if ((is_sum && i == 1) || (m->kind == MATH_BASE && i == 0)) /* the variable; digits such as 2F */
            continue;
        int rc = visit_symbols(m->child[i], is_sum && i == 0 ? &inner : bound, depth + 1, call, context);
        if (rc)
            return rc;
    }
    return 0;
}

static int is_name(void *context, const char *name)
{
    return !strcmp(context, name);
}

int math_has_symbol(const struct math_node *m, const char *name)
{
    return visit_symbols(m, NULL, 0, is_name, (void *)(uintptr_t)name);
}

struct collected {
    struct math_work *w;
    const char **out;
    int n, capacity;
};

/* Inserts in order; fails when all places are used. */
static int collect_name(void *context, const char *name)
{
    struct collected *l = context;
    int at = 0;
    if (math_step(l->w, 1 + l->n))
        return -1;
    while (at < l->n && strcmp(l->out[at], name) < 0)
        at++;
    if (at < l->n && !strcmp(l->out[at], name))
        return 0;
    if (l->n == l->capacity)
        return -1;
    memmove(l->out + at + 1, l->out + at, (size_t)(l->n - at) * sizeof *l->out);
    l->out[at] = name;
    l->n++;
    return 0;
}

int math_symbols(struct math_work *w, const struct math_node *m, const char **out, int capacity)
{
    struct collected l = {w, out, 0, capacity};
    return visit_symbols(m, NULL, 0, collect_name, &l) ? -1 : l.n;
}

static const struct math_node *substitute_symbol(struct math_work *w, const struct math_node *m,
                                                 const char *name, const struct math_node *value, int depth)
{
    if (!m || depth > SCALAR_DEPTH || math_step(w, 1))
        return NULL;
    if (m->kind == MATH_SYMBOL)
        return strcmp(m->name, name) ? m : value;
    if (!m->n)
        return m;
    int is_sum = m->kind == MATH_SUM && m->n == 4 && m->child[1]->kind == MATH_SYMBOL;
    const struct math_node **child = arena_alloc(w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++) {
        int kept = (is_sum && i == 1) || (is_sum && i == 0 && !strcmp(m->child[1]->name, name)) ||
                   (m->kind == MATH_BASE && i == 0);
        child[i] = kept ? m->child[i] : substitute_symbol(w, m->child[i], name, value, depth + 1);
        if (!child[i])
            return NULL;
        if (is_sum && i == 0 && child[0] != m->child[0] && math_has_symbol(value, m->child[1]->name))
            return NULL; /* the bound variable would catch a symbol of the value */
    }
    return math_node_like(w, m, child);
}

const struct math_node *math_substitute(struct math_work *w, const struct math_node *m, const char *name,
                                        const struct math_node *value)
{
    return value ? substitute_symbol(w, m, name, value, 0) : NULL;
}

static int holds_opaque(const struct math_node *m, int depth);

/* The length of "x_" if the symbol is x_i and i is the given name, else 0. */
static size_t subscript_prefix(const char *symbol, const char *name)
{
    const char *mark = strrchr(symbol, '_');
    return mark && !strcmp(mark + 1, name) ? (size_t)(mark + 1 - symbol) : 0;
}

/* Does a symbol of m have the given name as its subscript? */
static int has_subscript(const struct math_node *m, const char *name)
{
    if (m->kind == MATH_SYMBOL && subscript_prefix(m->name, name))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (has_subscript(m->child[i], name))
            return 1;
    return 0;
}

/* Is m a subtree that arithmetic does not look into? A sum of f(k) or of x_k is opaque as a whole, because a
 * symbol for f(k) would not depend on k. So is a series, which has no values at sample points. */
static int is_opaque(const struct math_node *m)
{
    if (m->kind == MATH_SUM)
        return m->which == MATH_INTEGRAL || holds_opaque(m->child[0], 0) ||
               (m->n == 4 && m->child[3]->kind == MATH_CONSTANT && m->child[3]->which == MATH_INFINITY) ||
               (m->n == 4 && has_subscript(m->child[0], m->child[1]->name));
    return m->kind == MATH_APPLY || m->kind == MATH_OPAQUE;
}

static int holds_opaque(const struct math_node *m, int depth)
{
    if (is_opaque(m))
        return 1;
    for (int i = 0; i < m->n && depth < SCALAR_DEPTH; i++)
        if (holds_opaque(m->child[i], depth + 1))
            return 1;
    return 0;
}

/* A copy in which a bound variable has another name, in subscripts too. NULL if that name occurs already. */
static const struct math_node *rename_bound(struct math_work *w, const struct math_node *m, const char *from,
                                            const char *to, int depth)
{
    if (depth > SCALAR_DEPTH || math_step(w, 1))
        return NULL;
    if (m->kind == MATH_SYMBOL) {
        size_t n = subscript_prefix(m->name, from);
        if (!strcmp(m->name, to) || subscript_prefix(m->name, to))
            return NULL;
        if (!strcmp(m->name, from))
            return tree_symbol(w, to);
        return n ? tree_symbol(w, arena_printf(w->arena, "%.*s%s", (int)n, m->name, to)) : m;
    }
    if (!m->n)
        return m;
    const struct math_node **child = arena_alloc(w->arena, (size_t)m->n * sizeof *child);
    for (int i = 0; i < m->n; i++)
        if (!(child[i] = rename_bound(w, m->child[i], from, to, depth + 1)))
            return NULL;
    return math_node_like(w, m, child);
}

/* Are two opaque subtrees the same, as f(x + 1) and f(1 + x) are? They need the same name and equal
 * arguments. The names of bound variables do not matter. */
static int same_opaque(struct math_work *w, scalar_equality *equal, const struct math_node *a,
                       const struct math_node *b)
{
    if (a->kind == MATH_SUM && b->kind == MATH_SUM && a->n == 4 && b->n == 4 &&
        strcmp(a->child[1]->name, b->child[1]->name) != 0) {
        const struct math_node *body = rename_bound(w, b->child[0], b->child[1]->name, a->child[1]->name, 0);
        const struct math_node *child[] = {body, a->child[1], b->child[2], b->child[3]};
        b = body ? math_node_like(w, b, child) : NULL;
        if (!b)
            return 0;
    }
    if (a->kind != b->kind || a->which != b->which || a->n != b->n || strcmp(a->name, b->name) != 0)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!scalar_same_tree(w, a->child[i], b->child[i]) &&
            !(math_is_scalar(a->child[i]) && math_is_scalar(b->child[i]) &&
              equal(w, a->child[i], b->child[i]) == MATH_TRUE))
            return 0;
    return 1;
}

/* The symbol that stands for an opaque subtree, which may be new. NULL if there are too many. */
static const struct math_node *symbol_for(struct abstraction *t, const struct math_node *m)
{
    for (int i = 0; i < t->n; i++)
        if (same_opaque(t->w, t->equal, t->node[i], m))
            return t->symbol[i];
    if (t->n == ABSTRACT_MAX) {
        t->full = 1;
        return NULL;
    }
    t->node[t->n] = m;
    t->symbol[t->n] =
        tree_symbol(t->w, arena_printf(t->w->arena, "\\%d", t->n)); /* no other symbol has such a name */
    return t->symbol[t->n++];
}

/* A copy of m with symbols for its opaque subtrees. */
static const struct math_node *abstract_tree(struct abstraction *t, const struct math_node *m)
{
    if (!m || t->depth > SCALAR_DEPTH || math_step(t->w, 1))
        return NULL;
    if (is_opaque(m))
        return symbol_for(t, m);
    if (!m->n)
        return m;
    const struct math_node **child = arena_alloc(t->w->arena, (size_t)m->n * sizeof *child);
    t->depth++;
    for (int i = 0; i < m->n; i++)
        if (!(child[i] = abstract_tree(t, m->child[i])))
            return NULL;
    t->depth--;
    return math_node_like(t->w, m, child);
}

int scalar_abstract(struct math_work *w, const struct math_node **a, const struct math_node **b,
                    scalar_equality *equal)
{
    if (!holds_opaque(*a, 0) && !holds_opaque(*b, 0))
        return 0;
    struct abstraction t = {.w = w, .equal = equal};
    *a = abstract_tree(&t, *a);
    *b = *a ? abstract_tree(&t, *b) : NULL;
    return *a && *b ? 0 : -1;
}

int math_is_scalar(const struct math_node *m)
{
    if (!m || m->kind > MATH_OPAQUE)
        return m && m->kind == MATH_BASE;
    if (m->kind == MATH_PLUS_MINUS)
        return 0;
    if (m->kind == MATH_OPAQUE) /* what it holds is not looked at */
        return 1;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *x = m->child[i];
        if (m->kind == MATH_FUNCTION && x->kind == MATH_NEGATE && x->child[0]->kind == MATH_DEGREES)
            x = x->child[0];
        int angle = m->kind == MATH_FUNCTION && x->kind == MATH_DEGREES; /* sin 45 degrees is a number */
        if (angle ? x->n < 1 || !math_is_scalar(x->child[0]) : !math_is_scalar(x))
            return 0;
    }
    return 1;
}
