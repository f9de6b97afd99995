/* Expressions of the original's grammar: sums, products, groups, matrices. Where the grammar allows two
 * readings its first alternative counts, as in the original: "2 \frac{1}{2}" and even "2(3)" are mixed
 * numbers. */
#include "answer_check/compat/compat_reader.h"
#include "answer_check/tree/math_matrix.h"

#include <stdlib.h>
#include <string.h>

typedef const struct math_node *node;

static int holds_matrix(node m)
{
    if (m->kind == MATH_MATRIX)
        return 1;
    if (m->kind == MATH_MULTIPLY || m->kind == MATH_ADD || m->kind == MATH_NEGATE)
        for (int i = 0; i < m->n; i++)
            if (m->child[i]->kind == MATH_MATRIX)
                return 1;
    return 0;
}

static node make_quotient(struct compat_reader *r, node a, node b)
{
    if (a && b && holds_matrix(b)) /* the original has no such quotient */
        r->failed = 1;
    if (!a || !b || r->failed)
        return NULL;
    return compat_node(r, MATH_DIVIDE, compat_is_integer(a) && compat_is_integer(b), 2, (node[]){a, b});
}

/* a and b as one flat sum or product. */
static node join_flat(struct compat_reader *r, enum math_kind kind, node a, node b)
{
    if (!a || !b)
        return NULL;
    int na = a->kind == kind ? a->n : 1, nb = b->kind == kind ? b->n : 1;
    node *all = arena_alloc(r->w->arena, (size_t)(na + nb) * sizeof *all);
    if (math_step(r->w, na + nb))
        return NULL;
    for (int i = 0; i < na; i++)
        all[i] = a->kind == kind ? a->child[i] : a;
    for (int i = 0; i < nb; i++)
        all[na + i] = b->kind == kind ? b->child[i] : b;
    return compat_node(r, kind, 0, na + nb, all);
}

/* ---- groups, fractions, matrices */

static node read_enclosed(struct compat_reader *r, enum compat_token close)
{
    int bars = r->bars;
    r->bars = 0;
    node m = compat_expr(r);
    r->bars = bars;
    return m && compat_accept(r, close) ? m : NULL;
}

/* "{a}" or "{n \choose k}" */
static node read_brace_group(struct compat_reader *r)
{
    int bars = r->bars;
    r->bars = 0;
    node a = compat_expr(r), b = NULL;
    if (a && compat_accept(r, CT_CHOOSE) && !(b = compat_expr(r)))
        a = NULL;
    r->bars = bars;
    if (!a || !compat_accept(r, CT_R_BRACE))
        return NULL;
    return b ? compat_node(r, MATH_FUNCTION, MATH_BINOMIAL, 2, (node[]){a, b}) : a;
}

static node read_absolute(struct compat_reader *r, enum compat_token close)
{
    int outer = r->bars;
    r->bars = 1;
    node m = compat_expr(r);
    r->bars = outer;
    return m && compat_accept(r, close) ? compat_node(r, MATH_FUNCTION, MATH_ABS, 1, &m) : NULL;
}

static node read_rounded(struct compat_reader *r, enum compat_token close, int f)
{
    node m = read_enclosed(r, close);
    return m ? compat_node(r, MATH_FUNCTION, f, 1, &m) : NULL;
}

static node read_matrix(struct compat_reader *r, enum compat_token end)
{
    node cell[MATH_MATRIX_ENTRIES];
    int n = 0, rows = 0, columns = 0;
    do {
        int row = n;
        if (rows && r->at->kind == end)
            break;
        do {
            if (n == MATH_MATRIX_ENTRIES || !(cell[n] = compat_expr(r)))
                return NULL;
            n++;
        } while (compat_accept(r, CT_COLUMN));
        if (rows && n - row != columns)
            return NULL;
        columns = n - row;
        rows++;
    } while (compat_accept(r, CT_ROW));
    if (!compat_accept(r, end))
        return NULL;
    return math_matrix(r->w, r->at->text, rows, columns, cell);
}

static node read_pair(struct compat_reader *r, int binomial)
{
    node a = compat_braced(r), b = a ? compat_braced(r) : NULL;
    if (!b)
        return NULL;
    return binomial ? compat_node(r, MATH_FUNCTION, MATH_BINOMIAL, 2, (node[]){a, b})
                    : make_quotient(r, a, b);
}

static node component_of(struct compat_reader *r, const struct compat_lexed *t)
{
    r->at++;
    switch (t->kind) {
    case CT_L_PAREN:
        return read_enclosed(r, CT_R_PAREN);
    case CT_L_BRACKET:
        return read_enclosed(r, CT_R_BRACKET);
    case CT_L_BRACK:
        return read_enclosed(r, CT_R_BRACK);
    case CT_L_GROUP:
        return read_enclosed(r, CT_R_GROUP);
    case CT_L_SET:
        return read_enclosed(r, CT_R_SET);
    case CT_L_CURL:
        return read_enclosed(r, CT_R_CURL);
    case CT_L_BRACE:
        return read_brace_group(r);
    case CT_BOXED:
    case CT_PHANTOM:
        return compat_braced(r);
    case CT_BAR:
        return read_absolute(r, CT_BAR);
    case CT_VERT:
        return read_absolute(r, CT_VERT);
    case CT_L_VERT:
        return read_absolute(r, CT_R_VERT);
    case CT_L_FLOOR:
        return read_rounded(r, CT_R_FLOOR, MATH_FLOOR);
    case CT_L_CEIL:
        return read_rounded(r, CT_R_CEIL, MATH_CEILING);
    case CT_FRAC:
        return compat_is_derivative(r->at) ? compat_derivative(r) : read_pair(r, 0);
    case CT_BINOM:
        return read_pair(r, 1);
    case CT_DETERMINANT:
        return compat_determinant(r);
    case CT_DET:
        return math_matrix_determinant(r->w, read_matrix(r, CT_DET_END));
    case CT_MATRIX:
        return read_matrix(r, CT_MATRIX_END);
    case CT_ARRAY:
        return read_matrix(r, CT_ARRAY_END);
    default:
        if (compat_is_function(t))
            return compat_function(r, t);
        r->at = t;
        return compat_atom(r);
    }
}

/* Can an operand begin here? A bar closes an absolute value that is open. */
static int operand_begins(const struct compat_reader *r, int no_function)
{
    const struct compat_lexed *t = r->at;
    if (compat_is_function(t))
        return !no_function;
    switch (t->kind) {
    case CT_L_PAREN:
    case CT_L_BRACKET:
    case CT_L_BRACK:
    case CT_L_GROUP:
    case CT_L_SET:
    case CT_L_CURL:
    case CT_L_BRACE:
    case CT_BOXED:
    case CT_PHANTOM:
    case CT_L_VERT:
    case CT_L_FLOOR:
    case CT_L_CEIL:
    case CT_FRAC:
    case CT_BINOM:
    case CT_DETERMINANT:
    case CT_DET:
    case CT_MATRIX:
    case CT_ARRAY:
    case CT_NUMBER:
    case CT_E_NOTATION:
    case CT_PERCENT:
    case CT_INFINITY:
    case CT_BIG_E:
    case CT_DIFFERENTIAL:
        return 1;
    case CT_BAR:
    case CT_VERT:
        return !r->bars;
    default:
        return compat_is_symbol(t);
    }
}

node compat_component(struct compat_reader *r, int no_function)
{
    const struct compat_lexed *t = r->at;
    if (math_step(r->w, 1) || r->depth > MATH_TREE_DEPTH)
        return NULL;
    r->depth++;
    node m = NULL;
    if (compat_is_symbol(t) && !no_function && !(m = compat_applied(r)))
        r->at = t;
    if (!m)
        m = component_of(r, t);
    r->depth--;
    return m;
}

/* A component with its powers, which group from the left, and with what may follow it. */
static node read_operand(struct compat_reader *r, int no_function)
{
    node m = compat_component(r, no_function);
    while (m && r->at->kind == CT_CARET) {
        m = math_node_2(r->w, MATH_POWER, m->source, m, compat_superscript(r));
        if (m && r->at->kind == CT_UNDERSCORE && !compat_subscript(r))
            m = NULL;
    }
    while (m && (r->at->kind == CT_BANG || r->at->kind == CT_DEGREE || r->at->kind == CT_TRANSPOSE))
        if (r->at++->kind == CT_BANG)
            m = compat_node(r, MATH_FACTORIAL, 1, 1, &m);
    return m;
}

/* "2 \frac{1}{2}", and even "2(3)": an integer and a positive fraction or integer are one mixed number. */
static node mixed_number(struct compat_reader *r, node whole, node part)
{
    int negative = whole->kind == MATH_NEGATE;
    struct math_node *m =
        (struct math_node *)join_flat(r, MATH_ADD, negative ? whole->child[0] : whole, part);
    if (m)
        m->which = compat_is_integer(part) ? COMPAT_WHOLE : COMPAT_FRACTION;
    return negative ? compat_negated(r->w, m) : m;
}

/* Operands side by side, combined from the right. */
static node read_juxtaposed(struct compat_reader *r, int no_function)
{
    enum { OPERANDS = 512 };
    node part[OPERANDS];
    int n = 0;
    do {
        if (n == OPERANDS || !(part[n] = read_operand(r, no_function && n)))
            return NULL;
        n++;
    } while (operand_begins(r, no_function));
    node m = part[--n];
    while (m && n--) {
        int is_mixed = compat_is_integer(part[n]) && compat_is_rational(m) && compat_is_positive(m);
        m = is_mixed ? mixed_number(r, part[n], m) : join_flat(r, MATH_MULTIPLY, part[n], m);
    }
    return m;
}

static node read_signed(struct compat_reader *r, int no_function)
{
    int negative = 0, signs = 0;
    for (; r->at->kind == CT_ADD || r->at->kind == CT_SUB; r->at++)
        if (r->at->kind == CT_SUB) {
            negative = !negative;
            signs++;
        }
    if (math_step(r->w, signs))
        return NULL;
    node m = read_juxtaposed(r, no_function);
    return negative ? compat_negated(r->w, m) : m;
}

node compat_product(struct compat_reader *r, int no_function)
{
    node m = read_signed(r, no_function);
    while (m) {
        enum compat_token op = r->at->kind;
        if (op != CT_MUL && op != CT_DIV && op != CT_MOD)
            break;
        r->at++;
        node right = read_signed(r, no_function);
        if (op == CT_MUL)
            m = join_flat(r, MATH_MULTIPLY, m, right);
        else if (op == CT_DIV)
            m = make_quotient(r, m, right);
        else
            m = right ? compat_node(r, MATH_FUNCTION, MATH_MOD, 2, (node[]){m, right}) : NULL;
    }
    return m;
}

struct terms {
    node *at;
    int n;
    size_t cap;
};

/* Adds a term to a sum; a sum inside the sum is replaced by its terms. 0 when m is NULL. */
static int add_terms(struct terms *out, node m)
{
    int n = m ? m->kind == MATH_ADD ? m->n : 1 : 0;
    xgrow(&out->at, &out->cap, (size_t)(out->n + n), sizeof *out->at);
    for (int i = 0; i < n; i++)
        out->at[out->n++] = m->kind == MATH_ADD ? m->child[i] : m;
    return n > 0;
}

/* The terms of a sum are collected first and joined once, because sums may be long. */
node compat_expr(struct compat_reader *r)
{
    struct terms sum = {0};
    if (++r->depth > MATH_TREE_DEPTH)
        return NULL;
    node m = compat_product(r, 0);
    if (m && (r->at->kind == CT_ADD || r->at->kind == CT_SUB)) {
        int more = add_terms(&sum, m);
        while (more && (r->at->kind == CT_ADD || r->at->kind == CT_SUB)) {
            int minus = r->at++->kind == CT_SUB;
            node right = compat_product(r, 0);
            more = add_terms(&sum, minus ? compat_negated(r->w, right) : right);
        }
        m = more ? compat_node(r, MATH_ADD, 0, sum.n, sum.at) : NULL;
        free(sum.at);
    }
    r->depth--;
    return m;
}
