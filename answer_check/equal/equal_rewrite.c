/* Comparing with one side written another way: several alternatives, a wrapping that says nothing (an
 * assignment, the brackets of one item), words for what they mean, a tuple for a matrix. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

#include "answer_check/tree/math_matrix.h"

/* The list of equations that (f(n), g(n)) = (n, 1) states, or NULL. */
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

/* Without the brackets of a set or list of one; but a set with the empty set in it is not empty, {x} may be
 * the fractional part of x, and inside other sets brackets count. */
static const struct math_node *only_item(const struct comparison *e, const struct math_node *m)
{
    if (!equal_is_collection(m) || m->n != 1 || m->child[0]->kind == MATH_NUMBER_SET)
        return NULL;
    int letter = m->child[0]->kind == MATH_SYMBOL && !m->child[0]->name[1];
    return m->kind == MATH_SET && (e->inside || letter || m->child[0]->kind == MATH_SET) ? NULL : m->child[0];
}

/* The point that P(3, -2) names, or NULL. */
static const struct math_node *named_point(struct comparison *e, const struct math_node *m)
{
    int named = m->kind == MATH_APPLY && m->n > 1 && *m->name >= 'A' && *m->name <= 'Z' && !m->name[1];
    return named ? math_node_new(e->w, MATH_TUPLE, m->source, m->n, m->child) : NULL;
}

/* Compares several writings of one value, "3/8 or 0.375", with the other side: every one must be equal to
 * it. */
static enum math_truth compare_alternatives(struct comparison *e, const struct math_node *gold,
                                            const struct math_node *pred)
{
    const struct math_node *list = gold->kind == MATH_LIST ? gold : pred, *value = list == gold ? pred : gold;
    enum math_truth all = MATH_TRUE;
    if (list->kind != MATH_LIST || list->which != MATH_BY_OR || !equal_is_value(value))
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

/* Do the words begin with one of these? */
static int begins_with(const char *words, const char *const *table, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!strncmp(words, table[k], strlen(table[k])))
            return 1;
    return 0;
}

/* Does the condition speak of some values only: "for some n", but not "for some constant c"? */
static int is_particular(struct span source)
{
    static const char *const kinds[] = {"constant", "integer", "real", "number"};
    if (!memmem(source.s, source.n, " some ", 6) && !memmem(source.s, source.n, " some}", 6))
        return 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (memmem(source.s, source.n, kinds[k], strlen(kinds[k])))
            return 0;
    return 1;
}

/* Do the words speak of all values, or say of what kind they are? Those of a case do not, "if x is rational".
 */
static int is_general(const char *words)
{
    static const char *const cases[] = {"if ", "when ", "whenever ", "only "};
    if (begins_with(words, cases, 4))
        return 0;
    static const char *const general[] = {"all",     "any",      "every",   "each",     "arbitrary",
                                          "real",    "reals",    "integer", "integers", "constant",
                                          "natural", "positive", "number",  "numbers",  "rational",
                                          "complex", "whole",    "forall"};
    for (const char *s = words; *s; s += *s == ' ') {
        size_t n = strcspn(s, " ");
        for (size_t k = 0; k < sizeof general / sizeof *general; k++)
            if (n >= strlen(general[k]) && !strncmp(s, general[k], strlen(general[k])) &&
                (n == strlen(general[k]) || strchr(",;.", s[strlen(general[k])])))
                return 1;
        s += n;
    }
    return !*words;
}

static int holds_letter(const struct math_node *m, const char *name)
{
    if (m->kind == MATH_SYMBOL && !strcmp(m->name, name))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (holds_letter(m->child[i], name))
            return 1;
    return 0;
}

/* Does one of the relation's letters occur in the reference? */
static int shares_letter(const struct math_node *relation, const struct math_node *gold)
{
    if (relation->kind == MATH_SYMBOL && holds_letter(gold, relation->name))
        return 1;
    for (int i = 0; i < relation->n; i++)
        if (shares_letter(relation->child[i], gold))
            return 1;
    return 0;
}

/* Is it an upper bound of one of the function's letters, "f(x) = x for x < 0", beside a lower one, which may
 * be the domain? */
static int is_upper_bound(const struct math_node *condition, const struct math_node *gold)
{
    if (condition->kind != MATH_RELATION || condition->n != 2 || gold->kind != MATH_RELATION)
        return 0;
    int is_less = condition->ops[0] == MATH_LESS || condition->ops[0] == MATH_LESS_EQUAL;
    int is_greater = condition->ops[0] == MATH_GREATER || condition->ops[0] == MATH_GREATER_EQUAL;
    const struct math_node *letter = condition->child[is_less ? 0 : 1];
    return (is_less || is_greater) && letter->kind == MATH_SYMBOL && holds_letter(gold, letter->name);
}

/* May a prediction's condition go? Not where it fixes a letter of the reference, "f(x) = 0 for x = 1", or
 * says in words for which letters of a statement it holds, "f(x) = 0 if x is even". */
static int is_domain(const struct math_node *condition, const struct math_node *gold)
{
    if (condition->kind == MATH_AND || condition->kind == MATH_OR || condition->kind == MATH_LIST ||
        condition->kind == MATH_CASES) {
        for (int i = 0; i < condition->n; i++)
            if (!is_domain(condition->child[i], gold))
                return 0;
        return 1;
    }
    if (condition->kind == MATH_TEXT)
        return gold->kind != MATH_RELATION || is_general(condition->name);
    if (is_upper_bound(condition, gold))
        return 0;
    return condition->kind != MATH_RELATION || condition->ops[0] != MATH_EQUAL ||
           !shares_letter(condition, gold);
}

/* Do the words behind others limit them, or go on: "no solution with x < 0, so x = 3"? */
static int says_more(const char *words)
{
    static const char *const more[] = {"<", ">", "=", " so ", " but ", " only ", " except "};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        if (strstr(words, more[k]))
            return 1;
    return 0;
}

/* May the condition of m go where the other side states none? Of the reference it always may, but for further
 * cases. */
static int may_drop(const struct math_node *m, const struct math_node *other, int is_pred)
{
    if (equal_holds_case(m->child[1]) || (is_pred && span_at(m->source, 0, "\\begin")))
        return 0;
    if (!is_pred)
        return 1;
    if (is_particular(m->source))
        return 0;
    if (m->child[0]->kind == MATH_TEXT && m->child[1]->kind != MATH_TEXT)
        return m->child[1]->kind == MATH_RELATION && m->child[1]->ops[0] == MATH_IN;
    if (m->child[0]->kind == MATH_TEXT && says_more(m->child[1]->name))
        return 0;
    return is_domain(m->child[1], other);
}

/* The value that "x + 1 = 8 \implies x = 7" ends in, behind the last arrow, or NULL. */
static const struct math_node *last_implied(struct comparison *e, const struct math_node *m)
{
    int last = -1;
    if (m->kind != MATH_RELATION)
        return NULL;
    for (int i = 0; i + 1 < m->n; i++)
        if (m->ops[i] == MATH_OTHER_RELATION)
            last = !strcmp(m->name, "implies") ? i + 1 : -1;
    if (last < 0)
        return NULL;
    if (last == m->n - 1)
        return m->child[last];
    struct math_node *rest = math_node_new(e->w, MATH_RELATION, m->source, m->n - last, m->child + last);
    if (rest)
        rest->ops = m->ops + last;
    return rest ? equal_assigned(e, rest, 1) : NULL;
}

/* The option of "(C) 12" where the other side is its letter, or NULL. */
static const struct math_node *option_letter(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other)
{
    const struct math_node *label = m->kind == MATH_RELATION && m->n == 2 ? m->child[0] : NULL;
    int is_option = label && m->ops[0] == MATH_EQUAL && label->kind == MATH_TEXT &&
                    other->kind == MATH_SYMBOL && ascii_is_letter(*label->name) && !label->name[1] &&
                    !other->name[1] && ascii_lower(*other->name) == ascii_lower(*label->name) &&
                    *other->name < 'a';
    return is_option ? math_node_named(e->w, MATH_SYMBOL, m->source, other->name) : NULL;
}

/* What m means when the other side is no statement: the value it assigns, the only item it holds. */
static const struct math_node *without_wrapping(struct comparison *e, const struct math_node *m,
                                                const struct math_node *other, int is_pred)
{
    const struct math_node *item = only_item(e, m);
    if (is_pred && (m->kind == MATH_LIST || m->kind == MATH_AND) && m->n == 2 &&
        math_is_scalar(m->child[0]) && m->child[1]->kind == MATH_RELATION &&
        m->child[1]->ops[0] != MATH_EQUAL && math_is_scalar(other) && shares_letter(m->child[1], other))
        return m->child[0]; /* x + 1, x \ne 1; 1/(1 - x), |x| < 1 */
    if (is_pred && option_letter(e, m, other))
        return option_letter(e, m, other);
    if (is_pred && m->kind == MATH_LIST && m->n == 2 && other->kind == MATH_TEXT &&
        m->child[1]->kind == MATH_TEXT && !strncmp(m->child[1]->name, "not ", 4))
        return m->child[0]; /* Evelyn, not Briana */
    if (is_pred && equal_is_value(other) && equal_remainder(e, m))
        return equal_remainder(e, m);
    if (is_pred && last_implied(e, m) && other->kind != MATH_RELATION)
        return last_implied(e, m);
    int is_conditional_statement =
        other->kind == MATH_CASES && other->n == 2 && other->child[0]->kind == MATH_RELATION;
    if (m->kind == MATH_RELATION && other->kind != MATH_RELATION && !equal_is_statements(other) &&
        !is_conditional_statement)
        return equal_assigned(e, m, is_pred && equal_is_value(other));
    const char *symbol[1];
    if (is_pred && m->kind == MATH_RELATION && m->n == 2 && m->ops[0] == MATH_EQUAL &&
        other->kind == MATH_MATRIX && m->child[1]->kind == MATH_MATRIX && m->child[0]->kind != MATH_MATRIX &&
        !math_symbols(e->w, m->child[0], symbol, 1))
        return m->child[1]; /* the matrix that a product or an inverse is said to be */
    if (item && !equal_is_collection(other))
        return item;
    /* f(x) = 1 for all x: the condition goes where the other side states none, but not further cases. */
    if (m->kind == MATH_CASES && m->n == 2 && other->kind != MATH_CASES && !equal_declares(e, other))
        return may_drop(m, other, is_pred) ? m->child[0] : NULL;
    if (m->kind == MATH_RELATION && (equal_is_statements(other) || equal_is_collection(other)))
        return by_coordinates(e, m);
    if (other->kind == MATH_TUPLE)
        return m->kind == MATH_APPLY ? named_point(e, m) : equal_assigned_tuple(e, m);
    if (equal_is_collection(other) && m->kind == MATH_SYMBOL)
        return equal_letters(e, m, other);
    if (!equal_is_collection(other) || equal_assigned_items(e, other))
        return NULL;
    item = is_pred ? NULL : equal_assigned_point(e, m);
    return item ? item : equal_assigned_items(e, m);
}

/* Is it a value with its condition: "v, x > 0", "v (x > 0)"? */
static int is_conditional(const struct math_node *m)
{
    return m->n == 2 && (m->kind == MATH_CASES || ((m->kind == MATH_AND || m->kind == MATH_LIST) &&
                                                   m->child[1]->kind == MATH_RELATION));
}

/* A matrix, or a vector's coordinates, where the other side is one; NULL when m is none. */
static const struct math_node *as_matrix(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other)
{
    const struct math_node *value = NULL;
    if (other->kind == MATH_MATRIX || (m->kind == MATH_MULTIPLY && !math_is_scalar(m)))
        value = equal_matrix(e, m);
    if (!value && (equal_is_vector(other) || other->kind == MATH_TUPLE))
        value = equal_vector(e, m, other->n);
    return value;
}

/* The equation x = \pm 2 that |x| = 2 states, where the other side has no absolute value. */
static const struct math_node *without_absolute(struct comparison *e, const struct math_node *m,
                                                const struct math_node *other)
{
    static const unsigned char equal = MATH_EQUAL;
    if (m->kind != MATH_RELATION || m->n != 2 || m->ops[0] != MATH_EQUAL ||
        m->child[0]->kind != MATH_FUNCTION || m->child[0]->which != MATH_ABS ||
        m->child[0]->child[0]->kind != MATH_SYMBOL || m->child[1]->kind != MATH_NUMBER ||
        (other->kind != MATH_RELATION && other->kind != MATH_OR) || other->child[0]->kind == MATH_FUNCTION)
        return NULL;
    struct math_node *out = math_node_2(e->w, MATH_RELATION, m->source, m->child[0]->child[0],
                                        math_node_1(e->w, MATH_PLUS_MINUS, m->source, m->child[1]));
    if (out)
        out->ops = &equal;
    return out;
}

/* The derivative of that name in m, or NULL. */
static const struct math_node *find_slope(const struct math_node *m, const char *name)
{
    if (m->kind == MATH_OPAQUE && !strcmp(m->name, name))
        return m;
    const struct math_node *found = NULL;
    for (int i = 0; i < m->n && !found; i++)
        found = find_slope(m->child[i], name);
    return found;
}

/* The equation with dy/dx for y', where the other one has that. */
static const struct math_node *without_prime(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other)
{
    static const char *const names[][2] = {{"y'", "derivative dy/dx"}, {"y\'\'", "derivative d^2y/dx^2"}};
    const struct math_node *out = NULL;
    for (int k = 0; k < 2 && m->kind == MATH_RELATION; k++) {
        const struct math_node *slope =
            math_has_symbol(m, names[k][0]) ? find_slope(other, names[k][1]) : NULL;
        if (slope)
            out = m = math_substitute(e->w, m, names[k][0], slope);
        if (!m)
            return NULL;
    }
    return out;
}

/* The matrix that I_2 and diag(2, 3) name, and the matrix 0, beside a matrix of that size. */
static const struct math_node *named_matrix(struct comparison *e, const struct math_node *m,
                                            const struct math_node *other)
{
    enum { ROWS = 6 };
    const struct math_node *entry[ROWS * ROWS];
    int n = other->rows;
    if (other->kind != MATH_MATRIX || other->which)
        return NULL;
    if (m->kind == MATH_NUMBER && other->n <= ROWS * ROWS &&
        math_scalar_equal(e->w, m, math_node_integer(e->w, m->source, 0)) == MATH_TRUE) {
        for (int i = 0; i < other->n; i++)
            entry[i] = m;
        return math_matrix(e->w, m->source, other->rows, other->columns, entry);
    }
    if (m->kind == MATH_APPLY && !strcmp(m->name, "diag") && m->n == n && n == other->columns && n <= ROWS) {
        for (int i = 0; i < n * n; i++)
            entry[i] = i % (n + 1) ? math_node_integer(e->w, m->source, 0) : m->child[i / n];
        return math_matrix(e->w, m->source, n, n, entry);
    }
    if (m->kind != MATH_SYMBOL || (m->name[0] != 'I' && m->name[0] != 'E') || other->kind != MATH_MATRIX ||
        n != other->columns || n > ROWS ||
        (m->name[1] && (m->name[1] != '_' || m->name[2] != '0' + n || m->name[3])))
        return NULL;
    for (int i = 0; i < n * n; i++)
        entry[i] = math_node_integer(e->w, m->source, i % (n + 1) == 0);
    return math_matrix(e->w, m->source, n, n, entry);
}

/* A multiple of the identity matrix or a sum with it, 2I, with the matrix in its place. */
static const struct math_node *with_identity(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other)
{
    const char *symbol[2];
    const struct math_node *i = NULL;
    if (other->kind != MATH_MATRIX ||
        (m->kind != MATH_MULTIPLY && m->kind != MATH_NEGATE && m->kind != MATH_DIVIDE) ||
        math_symbols(e->w, m, symbol, 2) != 1 ||
        !(i = math_node_named(e->w, MATH_SYMBOL, m->source, symbol[0])) || !(i = named_matrix(e, i, other)))
        return NULL;
    const struct math_node *whole = math_substitute(e->w, m, symbol[0], i);
    return whole ? equal_matrix(e, whole) : NULL;
}

/* The column that (1, 2)^T is, as a tuple. */
static const struct math_node *transposed_tuple(const struct math_node *m, const struct math_node *other)
{
    int is_column = m->kind == MATH_POWER && m->child[0]->kind == MATH_TUPLE && other->kind == MATH_MATRIX &&
                    other->columns == 1 && m->child[1]->kind == MATH_SYMBOL &&
                    !strcmp(m->child[1]->name, "T");
    return is_column ? m->child[0] : NULL;
}

/* The ratio a : b as the fraction a / b, or NULL. */
static const struct math_node *ratio_quotient(struct comparison *e, const struct math_node *m)
{
    return m->kind == MATH_RATIO && m->n == 2
               ? math_node_2(e->w, MATH_DIVIDE, m->source, m->child[0], m->child[1])
               : NULL;
}

/* Are they "true" or "false" and its letter? */
static int is_truth_letter(const struct math_node *text, const struct math_node *letter)
{
    return text->kind == MATH_TEXT && letter->kind == MATH_SYMBOL &&
           ((!strcmp(text->name, "true") && !strcmp(letter->name, "T")) ||
            (!strcmp(text->name, "false") && !strcmp(letter->name, "F")));
}

/* The equation with y for y(x) where the other one has the plain letter; NULL where there is nothing to do.
 */
static const struct math_node *without_argument(struct comparison *e, const struct math_node *m,
                                                const struct math_node *other)
{
    static const unsigned char equal = MATH_EQUAL;
    if (m->kind != MATH_RELATION || other->kind != MATH_RELATION || m->n != 2 || other->n != 2 ||
        m->ops[0] != MATH_EQUAL || other->ops[0] != MATH_EQUAL || other->child[0]->kind != MATH_SYMBOL)
        return NULL;
    const struct math_node *left = equal_first_reading(m->child[0]);
    if (left->kind != MATH_APPLY || left->n != 1 ||
        equal_first_reading(left->child[0])->kind != MATH_SYMBOL ||
        strcmp(left->name, other->child[0]->name) != 0)
        return NULL;
    struct math_node *out = math_node_2(e->w, MATH_RELATION, m->source, other->child[0], m->child[1]);
    if (out)
        out->ops = &equal;
    return out;
}

enum math_truth equal_rewritten(struct comparison *e, const struct math_node *gold,
                                const struct math_node *pred)
{
    if (is_truth_letter(gold, pred) || is_truth_letter(pred, gold))
        return MATH_TRUE;
    const struct math_node *g = last_set(gold), *p = last_set(pred);
    if (!g && !p) {
        g = without_argument(e, gold, pred);
        p = without_argument(e, pred, gold);
    }
    if (!g && !p) {
        g = without_absolute(e, gold, pred);
        p = without_absolute(e, pred, gold);
    }
    if (!g && !p) {
        g = without_prime(e, gold, pred);
        p = without_prime(e, pred, gold);
    }
    if (!g && !p) {
        g = equal_expand(e, gold);
        p = equal_expand(e, pred);
    }
    if (!g && !p) {
        g = equal_quantities(e, gold, pred);
        p = equal_quantities(e, pred, gold);
    }
    if (equal_residues(e, gold, pred) == MATH_TRUE)
        return MATH_TRUE;
    if (!g && !p && (gold->kind == MATH_TEXT) != (pred->kind == MATH_TEXT)) {
        g = equal_meaning(e, gold);
        p = equal_meaning(e, pred);
    }
    if (!g && !p) {
        g = equal_seconds(e, gold, pred);
        p = equal_seconds(e, pred, gold);
    }
    if (!g && !p &&
        (gold->kind == MATH_UNIT || pred->kind == MATH_UNIT || gold->kind == MATH_CURRENCY ||
         pred->kind == MATH_CURRENCY)) {
        g = equal_in_one_unit(e, gold);
        p = equal_in_one_unit(e, pred);
    }
    if (!g && !p) {
        g = equal_in_radians(e, gold, pred);
        p = equal_in_radians(e, pred, gold);
    }
    if (!g && !p) {
        g = equal_without_dots(e, gold);
        p = equal_without_dots(e, pred);
    }
    if (!g && !p) {
        g = equal_determinant(e, gold);
        p = equal_determinant(e, pred);
    }
    if (!g && !p) {
        g = named_matrix(e, gold, pred);
        p = named_matrix(e, pred, gold);
    }
    if (!g && !p) {
        g = with_identity(e, gold, pred);
        p = with_identity(e, pred, gold);
    }
    if (!g && !p) {
        g = transposed_tuple(gold, pred);
        p = transposed_tuple(pred, gold);
    }
    if (!g && !p) {
        g = as_matrix(e, gold, pred);
        p = as_matrix(e, pred, gold);
    }
    if (!g && !p) {
        g = equal_whole_numbers(e, gold, pred);
        p = equal_whole_numbers(e, pred, gold);
    }
    if (g || p)
        return equal_trees(e, g ? g : gold, p ? p : pred);
    enum math_truth r = compare_alternatives(e, gold, pred);
    if (r != MATH_TRUE && gold->kind != pred->kind && is_conditional(gold) && is_conditional(pred))
        r = equal_worse(equal_trees(e, gold->child[0], pred->child[0]),
                        equal_trees(e, gold->child[1], pred->child[1]));
    if (r != MATH_TRUE && (gold->kind == MATH_CASES || pred->kind == MATH_CASES))
        r = equal_piecewise(e, gold, pred);
    if (r != MATH_TRUE)
        r = equal_families(e, gold, pred);
    if (r != MATH_TRUE)
        r = equal_antiderivatives(e, gold, pred);
    if (r != MATH_TRUE)
        r = equal_constants(e, gold, pred);
    if (r == MATH_TRUE)
        return r;
    g = equal_is_statements(gold) || equal_is_statements(pred) ? equal_alternatives(e, gold) : NULL;
    p = g ? equal_alternatives(e, pred) : NULL;
    if (p)
        return equal_trees(e, g, p);
    g = without_wrapping(e, gold, pred, 0);
    p = without_wrapping(e, pred, gold, 1);
    r = g || p ? equal_trees(e, g ? g : gold, p ? p : pred) : MATH_FALSE;
    if (r == MATH_TRUE)
        return r;
    if (gold->kind == MATH_RELATION && math_is_scalar(pred))
        return equal_solved(e, gold, pred);
    if (pred->kind == MATH_RELATION && math_is_scalar(gold))
        return equal_solved(e, pred, gold);
    g = ratio_quotient(e, gold);
    p = ratio_quotient(e, pred);
    if ((g && equal_is_value(pred)) || (p && equal_is_value(gold)))
        return equal_trees(e, g ? g : gold, p ? p : pred);
    return r;
}
