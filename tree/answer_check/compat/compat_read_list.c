/* Relations, lists, sets, intervals and tuples in the original's grammar, and the three forms of a formula: a
 * relation to a list ("x = 1, 2"), a list, and an expression of sets. */
#include "answer_check/compat/compat_reader.h"

#include <string.h>

typedef const struct math_node *node;

enum { ELEMENTS = 256 };
struct elements {
    const struct math_node *at[ELEMENTS];
    int n;
    int groups; /* how many parts there are between semicolons */
    int size[ELEMENTS];
};

/* A set in brackets, or an interval, or a tuple. */
static node read_set_atom(struct compat_reader *r);

/* ---- relations */

static int relation_op(enum compat_token t)
{
    switch (t) {
    case CT_EQUALS:
    case CT_EQUIV:
        return MATH_EQUAL;
    case CT_LESS:
        return MATH_LESS;
    case CT_LESS_EQUAL:
        return MATH_LESS_EQUAL;
    case CT_GREATER:
        return MATH_GREATER;
    case CT_GREATER_EQUAL:
        return MATH_GREATER_EQUAL;
    case CT_UNEQUAL:
        return MATH_NOT_EQUAL;
    default:
        return -1;
    }
}

/* Adds one more side to `left`, which is a side or a chain. */
static node extend_chain(struct compat_reader *r, node left, int op, node right)
{
    int n = left->kind == MATH_RELATION ? left->n : 1;
    node *side = arena_alloc(r->w->arena, (size_t)(n + 1) * sizeof *side);
    unsigned char *ops = arena_alloc(r->w->arena, (size_t)n);
    if (math_step(r->w, n))
        return NULL;
    memcpy(side, left->kind == MATH_RELATION ? left->child : &left, (size_t)n * sizeof *side);
    if (n > 1)
        memcpy(ops, left->ops, (size_t)(n - 1));
    side[n] = right;
    ops[n - 1] = (unsigned char)op;
    struct math_node *m = math_node_new(r->w, MATH_RELATION, r->at->text, n + 1, side);
    if (m)
        m->ops = ops;
    return m;
}

/* Reads sides with relation signs between them. An approximation is dropped, unless only symbols stand to its
 * left; then it is the value. */
static node read_relation(struct compat_reader *r)
{
    node m = compat_expr(r);
    while (m) {
        enum compat_token t = r->at->kind;
        int op = relation_op(t);
        if (op < 0 && t != CT_APPROX)
            break;
        r->at++;
        node right = compat_expr(r);
        if (!right)
            return NULL;
        if (t != CT_APPROX)
            m = extend_chain(r, m, op, right);
        else if (compat_only_symbols(m))
            m = right;
    }
    return m;
}

/* ---- elements */

static int add_element(struct elements *e, node m)
{
    if (!m || e->n == ELEMENTS)
        return -1;
    e->at[e->n++] = m;
    e->size[e->groups - 1]++;
    return 0;
}

/* Does a complete element end here? */
static int ends_element(const struct compat_reader *r)
{
    switch (r->at->kind) {
    case CT_END:
    case CT_COMMA:
    case CT_SEMICOLON:
    case CT_R_PAREN:
    case CT_R_BRACKET:
    case CT_R_BRACE:
    case CT_R_SET:
    case CT_R_VISUAL:
        return 1;
    default:
        return 0;
    }
}

/* Reads "\pm a" or "a \pm b", which are two elements. Returns 0, or -1 if none stands there. */
static int plus_minus(struct compat_reader *r, struct elements *e)
{
    node left = NULL, right;
    if (r->at->kind != CT_PLUS_MINUS && !(left = compat_expr(r)))
        return -1;
    if (!compat_accept(r, CT_PLUS_MINUS) || !(right = compat_expr(r)) || !ends_element(r))
        return -1;
    node minus = compat_negated(r->w, right);
    if (!left)
        return add_element(e, minus) || add_element(e, right) ? -1 : 0;
    return add_element(e, math_node_2(r->w, MATH_ADD, left->source, left, right)) ||
                   add_element(e, math_node_2(r->w, MATH_ADD, left->source, left, minus))
               ? -1
               : 0;
}

static int read_element(struct compat_reader *r, struct elements *e, int with_relation)
{
    const struct compat_lexed *from = r->at;
    int depth = r->depth, n = e->n;
    if (!plus_minus(r, e))
        return 0;
    r->at = from;
    r->depth = depth;
    if (e->n != n)
        return -1;
    node m = read_set_atom(r);
    if (!m || !ends_element(r)) {
        r->at = from;
        r->depth = depth;
        m = with_relation ? read_relation(r) : compat_expr(r);
    }
    return add_element(e, m);
}

/* Reads elements separated by commas, in groups separated by semicolons. */
static struct elements *read_elements(struct compat_reader *r, int with_relation)
{
    struct elements *e = arena_alloc(r->w->arena, sizeof *e);
    if (math_step(r->w, ELEMENTS))
        return NULL;
    do {
        if (e->groups == ELEMENTS)
            return NULL;
        e->groups++;
        do {
            if (read_element(r, e, with_relation))
                return NULL;
        } while (compat_accept(r, CT_COMMA));
    } while (compat_accept(r, CT_SEMICOLON));
    return e;
}

/* A list without brackets: one element stands for itself, several are a set, several groups are a set of
 * tuples. */
static node as_list(struct compat_reader *r, const struct elements *e)
{
    if (!e)
        return NULL;
    if (e->n == 1)
        return e->at[0];
    if (e->groups == 1 || e->groups == e->n)
        return compat_node(r, MATH_SET, 0, e->n, e->at);
    node tuple[ELEMENTS];
    for (int g = 0, i = 0; g < e->groups; i += e->size[g++])
        tuple[g] = compat_node(r, MATH_TUPLE, 0, e->size[g], e->at + i);
    return compat_node(r, MATH_SET, 0, e->groups, tuple);
}

/* ---- sets */

/* Is it proved that a < b, or with or_equal that a <= b? */
static int is_below(struct compat_reader *r, node a, node b, int or_equal)
{
    if (math_scalar_less(r->w, a, b) == MATH_TRUE)
        return 1;
    return or_equal && math_is_scalar(a) && math_is_scalar(b) && math_scalar_equal(r->w, a, b) == MATH_TRUE;
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

/* Reads "(a, b)", "[a, b)" and so on: an interval or, if that could be empty, a pair. */
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

static node literal_set(struct compat_reader *r)
{
    int value = r->at->value;
    if (compat_accept(r, CT_NUMBER_SET))
        return math_node_number_set(r->w, r->at->text, (char)value, "");
    if (compat_accept(r, CT_EMPTY) || (compat_accept(r, CT_L_BRACE) && compat_accept(r, CT_R_BRACE)))
        return math_node_number_set(r->w, r->at->text, '0', "");
    return NULL;
}

/* Reads a tuple, "( .. )" or "[ .. ]"; a single element stands for itself. */
static node read_tuple(struct compat_reader *r)
{
    enum compat_token close = r->at->kind == CT_L_PAREN     ? CT_R_PAREN
                              : r->at->kind == CT_L_BRACKET ? CT_R_BRACKET
                              : r->at->kind == CT_L_VISUAL  ? CT_R_VISUAL
                                                            : CT_END;
    if (close == CT_END)
        return NULL;
    r->at++;
    const struct elements *e = read_elements(r, 1);
    if (!e || !compat_accept(r, close))
        return NULL;
    return e->n == 1 ? e->at[0] : compat_node(r, MATH_TUPLE, 0, e->n, e->at);
}

/* Reads a set, "{ .. }" or "\{ .. \}", or a list, "\boxed{ .. }". */
static node finite_set(struct compat_reader *r)
{
    int boxed = compat_accept(r, CT_BOXED), visual = !boxed && compat_accept(r, CT_L_SET);
    if (!visual && !compat_accept(r, CT_L_BRACE))
        return NULL;
    const struct elements *e = read_elements(r, 1);
    if (!e || !compat_accept(r, visual ? CT_R_SET : CT_R_BRACE))
        return NULL;
    return boxed ? as_list(r, e) : compat_node(r, MATH_SET, 0, e->n, e->at);
}

static node read_set_atom(struct compat_reader *r)
{
    static compat_parse *const parse[] = {read_interval, literal_set, read_tuple, finite_set};
    const struct compat_lexed *from = r->at;
    if (math_step(r->w, 1) || r->depth >= MATH_TREE_DEPTH)
        return NULL;
    int depth = r->depth++;
    node m = NULL;
    for (size_t k = 0; k < sizeof parse / sizeof *parse && !m; k++) {
        r->at = from;
        m = parse[k](r);
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
        m = read_set_atom(r);
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

/* Reads "x" or "(x, y)". */
static node read_symbols(struct compat_reader *r)
{
    node at[ELEMENTS];
    int n = 0;
    if (!compat_accept(r, CT_L_PAREN))
        return compat_atom_symbol(r);
    do {
        if (n == ELEMENTS || !(at[n] = compat_atom_symbol(r)))
            return NULL;
        n++;
    } while (compat_accept(r, CT_COMMA));
    if (!compat_accept(r, CT_R_PAREN))
        return NULL;
    return n == 1 ? at[0] : compat_node(r, MATH_TUPLE, 0, n, at);
}

/* ---- the forms of a formula */

/* Reads "x \in .." or "(x, y) = .."; membership counts as equality. */
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
        right = as_list(r, read_elements(r, 0));
    else if (depth < MATH_TREE_DEPTH) /* "x = k = .." */
        right = symbols_equal(r, 1);
    r->depth = depth;
    if (of_sets && !right) {
        r->at = from;
        right = compat_set_expression(r);
    }
    node m = right ? extend_chain(r, left, MATH_EQUAL, right) : NULL;
    return m && not_in ? math_node_1(r->w, MATH_NOT, m->source, m) : m;
}

node compat_relation_to_list(struct compat_reader *r)
{
    return symbols_equal(r, 0);
}

node compat_list(struct compat_reader *r)
{
    return as_list(r, read_elements(r, 1));
}

node compat_relation_to_sets(struct compat_reader *r)
{
    return symbols_equal(r, 1);
}
