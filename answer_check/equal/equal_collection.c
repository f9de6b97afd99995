/* Lists, sets, tuples and matrices; and plus-minus, which is two values in one writing. */
#include "answer_check/equal/equal_parts.h"
#include "answer_check/tree/math_matrix.h"

#include <string.h>

enum { ITEMS_MAX = 64, EXPANDED_MAX = 64 };

static enum math_truth compare_in_order(struct comparison *e, const struct math_node *gold,
                                        const struct math_node *pred)
{
    enum math_truth all = MATH_TRUE;
    if (gold->n != pred->n)
        return MATH_FALSE;
    for (int i = 0; i < gold->n && all != MATH_FALSE; i++)
        all = equal_worse(all, equal_trees(e, gold->child[i], pred->child[i]));
    return all;
}

struct matching {
    int n;
    unsigned char edge[ITEMS_MAX][ITEMS_MAX]; /* enum math_truth */
    int owner[ITEMS_MAX];                     /* the reference's item that has predicted item j, or -1 */
    unsigned char seen[ITEMS_MAX];
};

/* Finds item i of the reference a partner, moving others where needed (Kuhn's algorithm). */
static int augment_matching(struct matching *m, int i, int min_rank)
{
    for (int j = 0; j < m->n; j++) {
        if (m->seen[j] || m->edge[i][j] < min_rank)
            continue;
        m->seen[j] = 1;
        if (m->owner[j] < 0 || augment_matching(m, m->owner[j], min_rank)) {
            m->owner[j] = i;
            return 1;
        }
    }
    return 0;
}

/* Does every item have a partner with which it is equal to at least that degree? */
static int is_perfect(struct matching *m, int min_rank)
{
    for (int j = 0; j < m->n; j++)
        m->owner[j] = -1;
    for (int i = 0; i < m->n; i++) {
        memset(m->seen, 0, sizeof m->seen);
        if (!augment_matching(m, i, min_rank))
            return 0;
    }
    return 1;
}

/* Every item of the reference with its own item of the prediction: by matching, never by sorting, since
 * equality up to rounding has no order. */
static enum math_truth compare_matched(struct comparison *e, const struct math_node *gold,
                                       const struct math_node *pred)
{
    struct matching m = {.n = gold->n};
    static const unsigned char rank[] = {[MATH_FALSE] = 0, [MATH_UNKNOWN] = 1, [MATH_TRUE] = 2};
    if (gold->n != pred->n)
        return MATH_FALSE;
    if (gold->n > ITEMS_MAX)
        return compare_in_order(e, gold, pred) == MATH_TRUE ? MATH_TRUE : MATH_UNKNOWN;
    for (int i = 0; i < m.n; i++) {
        int possible = 0;
        for (int j = 0; j < m.n; j++) {
            m.edge[i][j] = rank[equal_trees(e, gold->child[i], pred->child[j])];
            possible |= m.edge[i][j];
        }
        if (!possible)
            return MATH_FALSE;
    }
    return is_perfect(&m, 2) ? MATH_TRUE : is_perfect(&m, 1) ? MATH_UNKNOWN : MATH_FALSE;
}

/* Without items that repeat an earlier one; NULL when too many are left. */
static const struct math_node *without_repeats(struct comparison *e, const struct math_node *m)
{
    const struct math_node *kept[ITEMS_MAX];
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        int k = 0;
        while (k < n && equal_trees(e, kept[k], m->child[i]) != MATH_TRUE)
            k++;
        if (k == n && n == ITEMS_MAX)
            return NULL;
        if (k == n)
            kept[n++] = m->child[i];
    }
    return n == m->n ? m : math_node_new(e->w, m->kind, m->source, n, kept);
}

static enum math_truth compare_unordered(struct comparison *e, const struct math_node *gold,
                                         const struct math_node *pred)
{
    if (e->rules->duplicates == DUPLICATES_COLLAPSE) {
        gold = without_repeats(e, gold);
        pred = without_repeats(e, pred);
        if (!gold || !pred)
            return MATH_UNKNOWN;
    }
    return compare_matched(e, gold, pred);
}

enum math_truth equal_items(struct comparison *e, const struct math_node *gold, const struct math_node *pred,
                            int ordered)
{
    if (ordered)
        return compare_in_order(e, gold, pred);
    e->inside++;
    enum math_truth r = compare_unordered(e, gold, pred);
    e->inside--;
    return r;
}

enum math_truth equal_matrices(struct comparison *e, const struct math_node *gold,
                               const struct math_node *pred)
{
    if (gold->which != pred->which || gold->rows != pred->rows || gold->columns != pred->columns)
        return MATH_FALSE;
    return compare_in_order(e, gold, pred);
}

/* ---- plus-minus ---- */

/* Does the tree hold a \pm? */
static int has_sign(const struct math_node *m)
{
    if (m->kind == MATH_PLUS_MINUS)
        return 1;
    for (int i = 0; i < m->n; i++)
        if (has_sign(m->child[i]))
            return 1;
    return 0;
}

/* How many \pm (which = 0) or \mp (which = 1) does it hold? */
static int count_signs(const struct math_node *m, int which)
{
    int n = m->kind == MATH_PLUS_MINUS && (m->which == 1) == which;
    for (int i = 0; i < m->n; i++)
        n += count_signs(m->child[i], which);
    return n;
}

/* A copy in which the k-th \pm has the upper sign, or the lower one where the k-th bit is set, and \mp (which
 * = 1) the other. *k counts them. */
static const struct math_node *with_sign(struct comparison *e, const struct math_node *m, unsigned lower,
                                         int *k)
{
    const struct math_node *child[ITEMS_MAX];
    if (!has_sign(m))
        return m;
    if (m->n > ITEMS_MAX || math_step(e->w, 10))
        return NULL;
    int is_sign = m->kind == MATH_PLUS_MINUS, is_lower = is_sign && *k < 32 && (lower >> *k & 1);
    *k += is_sign;
    for (int i = 0; i < m->n; i++)
        child[i] = with_sign(e, m->child[i], lower, k);
    if (is_sign)
        return is_lower != (m->which == 1) ? math_node_1(e->w, MATH_NEGATE, m->source, child[0]) : child[0];
    return math_node_like(e->w, m, child);
}

/* May the signs be chosen one by one: \pm 2 \pm \sqrt 3? Not beside \mp, nor on both sides of an equation. */
static int are_independent(const struct math_node *m)
{
    int n = count_signs(m, 0);
    if (n < 2 || n > 3 || count_signs(m, 1))
        return 0;
    for (int i = 0; m->kind == MATH_RELATION && i + 1 < m->n; i++)
        if (has_sign(m->child[i]))
            return 0;
    return m->kind == MATH_PLUS_MINUS || m->kind == MATH_ADD || m->kind == MATH_DIVIDE ||
           m->kind == MATH_MULTIPLY || m->kind == MATH_NEGATE || m->kind == MATH_RELATION;
}

/* The values of one item: itself, or both signs, or where they are independent all combinations. Returns how
 * many, 0 when a limit is exceeded. */
enum { SIGNS_MAX = 8 };
static int signs_of(struct comparison *e, const struct math_node *m, const struct math_node *out[SIGNS_MAX])
{
    out[0] = m;
    if (!has_sign(m))
        return 1;
    int is_free = are_independent(m), n = is_free ? 1 << count_signs(m, 0) : 2;
    for (int i = 0; i < n; i++) {
        int k = 0;
        out[i] = with_sign(e, m, is_free ? (unsigned)i : i ? ~0u : 0, &k);
        if (!out[i])
            return 0;
    }
    return n;
}

/* The list with both values in place of each item that has a \pm. */
static const struct math_node *expand_list(struct comparison *e, const struct math_node *m)
{
    const struct math_node *item[EXPANDED_MAX], *two[SIGNS_MAX];
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        int k = signs_of(e, m->child[i], two);
        if (!k || n + k > EXPANDED_MAX)
            return NULL;
        memcpy(item + n, two, (size_t)k * sizeof *two);
        n += k;
    }
    return math_node_new(e->w, m->kind, m->source, n, item);
}

/* Expands (\pm a, \pm b) to all four tuples: the coordinates' signs are independent. */
static const struct math_node *expand_tuple(struct comparison *e, const struct math_node *m)
{
    const struct math_node *item[EXPANDED_MAX], *two[SIGNS_MAX], *coordinate[ITEMS_MAX];
    int combinations = 1;
    if (m->n > ITEMS_MAX)
        return NULL;
    for (int i = 0; i < m->n; i++) /* two values each */
        if (are_independent(m->child[i]))
            return NULL;
    for (int i = 0; i < m->n; i++)
        combinations *= combinations <= EXPANDED_MAX && has_sign(m->child[i]) ? 2 : 1;
    if (combinations > EXPANDED_MAX)
        return NULL;
    for (int c = 0; c < combinations; c++) {
        for (int i = 0, bit = 0; i < m->n; i++) {
            int k = signs_of(e, m->child[i], two);
            if (!k)
                return NULL;
            coordinate[i] = two[k == 2 ? c >> bit++ & 1 : 0];
        }
        item[c] = math_node_new(e->w, MATH_TUPLE, m->source, m->n, coordinate);
        if (!item[c])
            return NULL;
    }
    return math_node_new(e->w, MATH_LIST, m->source, combinations, item);
}

const struct math_node *equal_expand(struct comparison *e, const struct math_node *m)
{
    const struct math_node *two[SIGNS_MAX];
    if (!has_sign(m) || m->kind == MATH_INTERVAL) /* both ends have both signs */
        return NULL;
    if (m->kind == MATH_LIST || m->kind == MATH_SET || m->kind == MATH_OR)
        return expand_list(e, m);
    if (m->kind == MATH_TUPLE)
        return expand_tuple(e, m);
    int n = signs_of(e, m, two);
    if (n < 2)
        return NULL;
    struct math_node *both = math_node_new(e->w,
                                           m->kind != MATH_RELATION      ? MATH_LIST
                                           : m->ops[0] == MATH_NOT_EQUAL ? MATH_AND /* x \ne \pm1 */
                                                                         : MATH_OR,
                                           m->source, n, two);
    if (both && both->kind != MATH_LIST)
        both->which = 1; /* y = \pm x: two statements, whatever joins them on the other side */
    return both;
}

/* ---- matrices and vectors that are written as something else: 2M, M^T, nested lists of rows, 3i - j + 2k
 * ---- */

enum { ENTRIES = 64 };

const struct math_node *equal_determinant(struct comparison *e, const struct math_node *m)
{
    if (m->kind == MATH_MATRIX && m->which)
        return math_matrix_determinant(e->w, m);
    int is_det =
        m->kind == MATH_APPLY && m->n == 1 && !strcmp(m->name, "det") && m->child[0]->kind == MATH_MATRIX;
    return is_det ? math_matrix_determinant(e->w, m->child[0]) : NULL;
}

/* The matrix M^T, M^n for a small n, or M^{-1} of two rows; else NULL. */
static const struct math_node *raise_matrix(struct comparison *e, const struct math_node *m,
                                            const struct math_node *exponent)
{
    enum { EXPONENT_MAX = 8 };
    int64_t n;
    if (exponent->kind == MATH_SYMBOL && !strcmp(exponent->name, "T"))
        return math_matrix_transposed(e->w, m);
    if (m->rows != m->columns || !math_scalar_integer(e->w, exponent, &n) || n > EXPONENT_MAX)
        return NULL;
    if (n == -1 && m->rows == 2) {
        const struct math_node *entry[] = {
            m->child[3], math_node_1(e->w, MATH_NEGATE, m->source, m->child[1]),
            math_node_1(e->w, MATH_NEGATE, m->source, m->child[2]), m->child[0]};
        const struct math_node *adjugate = math_matrix(e->w, m->source, 2, 2, entry),
                               *below = math_matrix_determinant(e->w, m);
        return adjugate && below ? math_matrix_scaled(e->w, adjugate, below, MATH_DIVIDE) : NULL;
    }
    const struct math_node *all = n > 0 ? m : NULL;
    for (int64_t i = 1; i < n && all; i++)
        all = math_matrix_product(e->w, all, m);
    return all;
}

static const struct math_node *matrix_value(struct comparison *e, const struct math_node *m, int depth);

/* The value of a sum or product of matrices, and of scalars as factors. */
static const struct math_node *fold_operands(struct comparison *e, const struct math_node *m, int depth)
{
    const struct math_node *all = NULL, *factor[ENTRIES];
    int factors = 0;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i], *value;
        if (m->kind == MATH_MULTIPLY && math_is_scalar(c) && factors < ENTRIES) {
            factor[factors++] = c;
            continue;
        }
        value = matrix_value(e, c, depth + 1);
        all = !value                ? NULL
              : !all                ? value
              : m->kind == MATH_ADD ? math_matrix_sum(e->w, all, value)
                                    : math_matrix_product(e->w, all, value);
        if (!all)
            return NULL;
    }
    for (int i = 0; all && i < factors; i++)
        all = math_matrix_scaled(e->w, all, factor[i], MATH_MULTIPLY);
    return all;
}

/* The matrix that an expression of matrices is, or NULL. */
static const struct math_node *matrix_value(struct comparison *e, const struct math_node *m, int depth)
{
    const struct math_node *inner;
    if (depth > 6 || m->n > ENTRIES || math_step(e->w, 10 + m->n))
        return NULL;
    switch (m->kind) {
    case MATH_MATRIX:
        return m->which ? NULL : m;
    case MATH_NEGATE:
        inner = matrix_value(e, m->child[0], depth + 1);
        return inner ? math_matrix_negated(e->w, inner) : NULL;
    case MATH_DIVIDE:
        inner = math_is_scalar(m->child[1]) ? matrix_value(e, m->child[0], depth + 1) : NULL;
        return inner ? math_matrix_scaled(e->w, inner, m->child[1], MATH_DIVIDE) : NULL;
    case MATH_POWER:
        inner = matrix_value(e, m->child[0], depth + 1);
        return inner ? raise_matrix(e, inner, m->child[1]) : NULL;
    case MATH_MULTIPLY:
    case MATH_ADD:
        return fold_operands(e, m, depth);
    default:
        return NULL;
    }
}

const struct math_node *equal_matrix(struct comparison *e, const struct math_node *m)
{
    const struct math_node *entry[ENTRIES];
    if (m->kind != MATH_TUPLE)
        return m->kind == MATH_MATRIX ? NULL : matrix_value(e, m, 0);
    int columns = m->n ? m->child[0]->n : 0; /* [[1, 2], [3, 4]] */
    for (int i = 0; i < m->n; i++) {
        const struct math_node *row = m->child[i];
        int closed = row->kind == MATH_INTERVAL && !row->which;
        if ((row->kind != MATH_TUPLE && !closed) || row->n != columns || !columns || m->n * columns > ENTRIES)
            return NULL;
        memcpy(entry + i * columns, row->child, (size_t)columns * sizeof *entry);
    }
    return m->n ? math_matrix(e->w, m->source, m->n, columns, entry) : NULL;
}

/* ---- 3i - j + 2k ---- */

/* The axis of a unit vector: 0, 1, 2 for i, j, k, in whatever accent; -1 for other names. */
static int axis_of(const char *name)
{
    name += strncmp(name, "hat_", 4) ? 0 : 4;
    return *name >= 'i' && *name <= 'k' && !name[1] ? *name - 'i' : -1;
}

const struct math_node *equal_vector(struct comparison *e, const struct math_node *m, int n)
{
    const char *name[4];
    const struct math_node *coordinate[3], *term[3];
    int symbols = math_is_scalar(m) ? math_symbols(e->w, m, name, 4) : 0, plain = 0;
    if (symbols < 1 || symbols > n || n < 2 || n > 3)
        return NULL;
    for (int i = 0; i < symbols; i++) {
        if (axis_of(name[i]) < 0 || axis_of(name[i]) >= n)
            return NULL;
        plain |= axis_of(name[i]) > 0 || name[i][1]; /* i alone is the imaginary unit or an index */
    }
    for (int k = 0; k < n && plain; k++) {
        coordinate[k] = m;
        for (int i = 0; i < symbols && coordinate[k]; i++)
            coordinate[k] = math_substitute(e->w, coordinate[k], name[i],
                                            math_node_integer(e->w, m->source, axis_of(name[i]) == k));
        if (!coordinate[k])
            return NULL;
        term[k] = coordinate[k];
        for (int i = 0; i < symbols; i++)
            if (axis_of(name[i]) == k)
                term[k] = math_node_2(e->w, MATH_MULTIPLY, m->source, coordinate[k],
                                      math_node_named(e->w, MATH_SYMBOL, m->source, name[i]));
    }
    const struct math_node *linear = plain ? math_node_new(e->w, MATH_ADD, m->source, n, term) : NULL;
    if (!linear || math_scalar_equal(e->w, m, linear) != MATH_TRUE)
        return NULL;
    return math_node_new(e->w, MATH_TUPLE, m->source, n, coordinate);
}
