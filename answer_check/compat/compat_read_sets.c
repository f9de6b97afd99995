/* Sets, intervals and tuples in the original's grammar, and the three forms of a formula: a relation to a
 * list ("x = 1, 2"), a list, and an expression of sets. */
#include "answer_check/compat/compat_reader.h"

typedef const struct math_node *node;

/* ---- sets */

/* Is it certain that a < b, or with `or_equal` that a <= b? */
static int is_below(struct compat_reader *r, node a, node b, int or_equal)
{
    return compat_less(r->w, a, b) == MATH_TRUE || (or_equal && compat_scalar_equal(r->w, a, b) == MATH_TRUE);
}

static int holds_i(node m)
{
    if (m->kind == MATH_CONSTANT)
        return m->which == MATH_I;
    for (int i = 0; i < m->n; i++)
        if (holds_i(m->child[i]))
            return 1;
    return 0;
}

/* "(a, b)" and the like: an interval or, if that could be empty, a pair. */
static node read_interval(struct compat_reader *r)
{
    enum compat_token open = r->at->kind;
    int left_open = open == CT_L_PAREN || open == CT_L_GROUP || open == CT_L_VISUAL;
    if (!left_open && open != CT_L_BRACKET && open != CT_L_BRACK)
        return NULL;
    r->at++;
    node a = compat_expr(r), b = a && compat_accept(r, CT_COMMA) ? compat_expr(r) : NULL;
    if (!b)
        return NULL;
    enum compat_token close = r->at->kind;
    int right_open = close == CT_R_PAREN || close == CT_R_GROUP || close == CT_R_VISUAL;
    if (!right_open && close != CT_R_BRACKET && close != CT_R_BRACK)
        return NULL;
    r->at++;
    if (holds_i(a) || holds_i(b)) { /* no interval has a complex end */
        r->failed = 1;
        return NULL;
    }
    if (left_open == right_open && is_below(r, b, a, left_open))
        return compat_node(r, MATH_TUPLE, 0, 2, (node[]){a, b});
    struct math_node *m = math_node_2(r->w, MATH_INTERVAL, a->source, a, b);
    if (m)
        m->which = (left_open ? MATH_OPEN_LEFT : 0) | (right_open ? MATH_OPEN_RIGHT : 0);
    return m;
}

static node number_set(struct compat_reader *r, int which)
{
    struct math_node *m = math_node_new(r->w, MATH_NUMBER_SET, r->at->text, 0, NULL);
    if (m)
        m->which = which;
    return m;
}

static node literal_set(struct compat_reader *r)
{
    int value = r->at->value;
    if (compat_accept(r, CT_NUMBER_SET))
        return number_set(r, value);
    if (compat_accept(r, CT_EMPTY) || (compat_accept(r, CT_L_BRACE) && compat_accept(r, CT_R_BRACE)))
        return number_set(r, '0');
    return NULL;
}

/* "( .. )" and "[ .. ]": a tuple; a single element stands for itself. */
static node read_tuple(struct compat_reader *r)
{
    enum compat_token close = r->at->kind == CT_L_PAREN     ? CT_R_PAREN
                              : r->at->kind == CT_L_BRACKET ? CT_R_BRACKET
                              : r->at->kind == CT_L_VISUAL  ? CT_R_VISUAL
                                                            : CT_END;
    if (close == CT_END)
        return NULL;
    r->at++;
    const struct compat_elements *e = compat_elements(r, 1);
    if (!e || !compat_accept(r, close))
        return NULL;
    return e->n == 1 ? e->at[0] : compat_node(r, MATH_TUPLE, 0, e->n, e->at);
}

/* "{ .. }", "\{ .. \}", and "\boxed{ .. }", which is a list. */
static node finite_set(struct compat_reader *r)
{
    int boxed = compat_accept(r, CT_BOXED), visual = !boxed && compat_accept(r, CT_L_SET);
    if (!visual && !compat_accept(r, CT_L_BRACE))
        return NULL;
    const struct compat_elements *e = compat_elements(r, 1);
    if (!e || !compat_accept(r, visual ? CT_R_SET : CT_R_BRACE))
        return NULL;
    return boxed ? compat_as_list(r, e) : compat_node(r, MATH_SET, 0, e->n, e->at);
}

node compat_set_atom(struct compat_reader *r)
{
    static compat_rule *const rule[] = {read_interval, literal_set, read_tuple, finite_set};
    const struct compat_lexed *from = r->at;
    if (math_step(r->w, 1) || r->depth >= MATH_TREE_DEPTH)
        return NULL;
    int depth = r->depth++;
    node m = NULL;
    for (size_t k = 0; k < sizeof rule / sizeof *rule && !m; k++) {
        r->at = from;
        m = rule[k](r);
        r->depth = depth + 1;
    }
    r->depth = depth;
    return m;
}

/* ---- expressions of sets */

static node set_group(struct compat_reader *r)
{
    const struct compat_lexed *from = r->at;
    if (r->depth >= MATH_TREE_DEPTH)
        return NULL;
    int depth = r->depth++;
    node m = compat_accept(r, CT_L_PAREN) ? compat_set_expression(r) : NULL;
    if (m && !compat_accept(r, CT_R_PAREN))
        m = NULL;
    r->depth = depth;
    if (!m) {
        r->at = from;
        m = compat_set_atom(r);
    }
    return m;
}

/* In a union or intersection a tuple counts as the set of its entries. */
static node no_tuple(struct compat_reader *r, node m)
{
    return m && m->kind == MATH_TUPLE ? compat_node(r, MATH_SET, 0, m->n, m->child) : m;
}

static node read_intersection(struct compat_reader *r)
{
    node m = set_group(r);
    while (m && compat_accept(r, CT_INTERSECTION))
        m = math_node_2(r->w, MATH_INTERSECTION, m->source, no_tuple(r, m), no_tuple(r, set_group(r)));
    return m;
}

static node set_union(struct compat_reader *r)
{
    node m = read_intersection(r);
    while (m && compat_accept(r, CT_UNION))
        m = math_node_2(r->w, MATH_UNION, m->source, no_tuple(r, m), no_tuple(r, read_intersection(r)));
    return m;
}

node compat_set_expression(struct compat_reader *r)
{
    node m = set_union(r);
    while (m && compat_accept(r, CT_MINUS_SET))
        m = math_node_2(r->w, MATH_DIFFERENCE, m->source, m, set_union(r));
    return m;
}

/* "x" or "(x, y)" */
static node read_symbols(struct compat_reader *r)
{
    node at[COMPAT_ELEMENTS];
    int n = 0;
    if (!compat_accept(r, CT_L_PAREN))
        return compat_atom_symbol(r);
    do {
        if (n == COMPAT_ELEMENTS || !(at[n] = compat_atom_symbol(r)))
            return NULL;
        n++;
    } while (compat_accept(r, CT_COMMA));
    if (!compat_accept(r, CT_R_PAREN))
        return NULL;
    return n == 1 ? at[0] : compat_node(r, MATH_TUPLE, 0, n, at);
}

/* ---- the forms of a formula */

/* "x \in ..", "(x, y) = ..": membership counts as equality. */
static node symbols_equal(struct compat_reader *r, int of_sets)
{
    node left = read_symbols(r), right = NULL;
    int not_in = left && of_sets && r->at->kind == CT_NOT_IN;
    if (!left ||
        !(not_in ? compat_accept(r, CT_NOT_IN) : compat_accept(r, CT_IN) || compat_accept(r, CT_EQUALS)))
        return NULL;
    const struct compat_lexed *from = r->at;
    int depth = r->depth++;
    if (!of_sets)
        right = compat_as_list(r, compat_elements(r, 0));
    else if (depth < MATH_TREE_DEPTH) /* "x = k = .." */
        right = symbols_equal(r, 1);
    r->depth = depth;
    if (of_sets && !right) {
        r->at = from;
        right = compat_set_expression(r);
    }
    node m = right ? compat_extend_chain(r, left, MATH_EQUAL, right) : NULL;
    return m && not_in ? math_node_1(r->w, MATH_NOT, m->source, m) : m;
}

node compat_relation_to_list(struct compat_reader *r)
{
    return symbols_equal(r, 0);
}

node compat_list(struct compat_reader *r)
{
    return compat_as_list(r, compat_elements(r, 1));
}

node compat_relation_to_sets(struct compat_reader *r)
{
    return symbols_equal(r, 1);
}
