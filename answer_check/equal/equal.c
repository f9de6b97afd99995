/* Which comparison two trees need: by their readings, then by their kinds, then with one side written another
 * way (equal_rewrite.c). */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

enum { DEPTH_MAX = 60 };

/* ---- readings ---- */

/* TRUE where one of the reference's readings equals the prediction; that one is noted. */
static enum math_truth try_gold_readings(struct comparison *e, const struct math_node *gold,
                                         const struct math_node *pred)
{
    enum math_truth best = MATH_FALSE;
    for (int i = 0; i < gold->n && best != MATH_TRUE; i++)
        if (i == 0 || !equal_is_no_gold_reading(gold->child[i])) {
            best = equal_better(best, equal_trees(e, gold->child[i], pred));
            if (best == MATH_TRUE)
                e->reading[0] = gold->child[i];
        }
    return best;
}

/* TRUE where one of the prediction's readings equals the reference; that one is noted. */
static enum math_truth try_pred_readings(struct comparison *e, const struct math_node *gold,
                                         const struct math_node *pred)
{
    enum math_truth best = MATH_FALSE;
    for (int i = 0; i < pred->n && best != MATH_TRUE; i++)
        if (i == 0 || pred->child[i]->kind != MATH_UNIT || equal_unit_applies(pred->child[i], gold)) {
            best = equal_better(best, equal_trees(e, gold, pred->child[i]));
            if (best == MATH_TRUE)
                e->reading[1] = pred->child[i];
        }
    return best;
}

/* ---- kinds ---- */

/* Child by child, for trees of one kind. */
static enum math_truth compare_children(struct comparison *e, const struct math_node *gold,
                                        const struct math_node *pred)
{
    enum math_truth all = gold->n == pred->n && gold->which == pred->which ? MATH_TRUE : MATH_FALSE;
    for (int i = 0; i < gold->n && all != MATH_FALSE; i++)
        all = equal_worse(all, equal_trees(e, gold->child[i], pred->child[i]));
    return all;
}

/* Does the number have a zero before it that a ratio would not: "05", "00"? */
static int is_padded(const struct math_node *m)
{
    return m->kind == MATH_NUMBER && m->source.n == 2 && m->source.s[0] == '0';
}

/* Could it be a time of the day: 4:30? */
static int is_clock(struct comparison *e, const struct math_node *m, int64_t *hours, int64_t *minutes)
{
    return m->n == 2 && m->child[1]->kind == MATH_NUMBER && m->child[1]->source.n == 2 &&
           math_scalar_integer(e->w, m->child[0], hours) && math_scalar_integer(e->w, m->child[1], minutes) &&
           *hours >= 0 && *hours < 24 && *minutes >= 0 && *minutes < 60;
}

/* A time that is not in lowest terms, or that is written with a zero in front or with none, is no ratio. */
static int is_time(struct comparison *e, const struct math_node *m)
{
    int64_t hours, minutes;
    if (!is_clock(e, m, &hours, &minutes))
        return 0;
    if (is_padded(m->child[0]) || is_padded(m->child[1]) || !hours)
        return 1;
    for (int64_t d = 2; d <= hours; d++)
        if (hours % d == 0 && minutes % d == 0)
            return 1;
    return 0;
}

/* Are both "ratios" to be compared as times of the day? */
static int are_times(struct comparison *e, const struct math_node *gold, const struct math_node *pred)
{
    int64_t hours, minutes;
    if (equal_is_duration(gold) || equal_is_duration(pred))
        return 1;
    return is_time(e, gold) || (is_time(e, pred) && is_clock(e, gold, &hours, &minutes));
}

/* a : b : c is determined up to a factor, so products across are compared. */
static enum math_truth compare_ratios(struct comparison *e, const struct math_node *gold,
                                      const struct math_node *pred)
{
    enum math_truth all = gold->n == pred->n ? MATH_TRUE : MATH_FALSE;
    if (are_times(e, gold, pred))
        return all == MATH_TRUE ? compare_children(e, gold, pred) : all;
    for (int i = 1; i < gold->n && all != MATH_FALSE; i++) {
        const struct math_node *g =
            math_node_2(e->w, MATH_MULTIPLY, gold->source, gold->child[i], pred->child[0]);
        const struct math_node *p =
            math_node_2(e->w, MATH_MULTIPLY, pred->source, pred->child[i], gold->child[0]);
        all = equal_worse(all, g && p ? equal_trees(e, g, p) : MATH_UNKNOWN);
    }
    return all;
}

/* Cases in whatever order: pairs of value and condition. */
static enum math_truth compare_cases(struct comparison *e, const struct math_node *gold,
                                     const struct math_node *pred)
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

/* The hour of the day, 0 to 23, or -1: 3 PM is 15, 12 AM is 0, and 3 alone stays 3. */
static int64_t hour_of(struct comparison *e, const struct math_node *m)
{
    int64_t hour;
    if (!math_scalar_integer(e->w, m->child[0], &hour) || (*m->name && (hour < 1 || hour > 12)))
        return *m->name ? -1 : hour;
    return *m->name ? hour % 12 + (*m->name == 'p' ? 12 : 0) : hour;
}

/* Compares times of the day, 15:30 and 3:30 PM. A time without its half of the day may be in either. */
static enum math_truth compare_times(struct comparison *e, const struct math_node *gold,
                                     const struct math_node *pred)
{
    int64_t g = hour_of(e, gold), p = hour_of(e, pred);
    int64_t open = !*gold->name ? g : p; /* the hour without its half of the day; 0 is midnight's */
    int either = !*gold->name != !*pred->name && open > 0 && open <= 12;
    if (g < 0 || p < 0 || gold->n != pred->n || (either ? g % 12 != p % 12 : g != p))
        return MATH_FALSE;
    enum math_truth all = MATH_TRUE;
    for (int i = 1; i < gold->n && all != MATH_FALSE; i++)
        all = equal_worse(all, equal_trees(e, gold->child[i], pred->child[i]));
    return all;
}

/* For trees of one kind that no other rule compares. */
static enum math_truth compare_same_kind(struct comparison *e, const struct math_node *gold,
                                         const struct math_node *pred)
{
    switch (gold->kind) {
    case MATH_MATRIX:
        return equal_matrices(e, gold, pred);
    case MATH_TUPLE:
        return equal_items(e, gold, pred, 1);
    case MATH_RATIO:
        return compare_ratios(e, gold, pred);
    case MATH_TEXT:
        return equal_texts(e, gold, pred);
    case MATH_CASES:
        return compare_cases(e, gold, pred);
    case MATH_TIME:
        return compare_times(e, gold, pred);
    default: /* cases, opaque expressions, number sets */
        return strcmp(gold->name, pred->name) == 0 ? compare_children(e, gold, pred) : MATH_FALSE;
    }
}

/* A \cap B and B \cap A: sets that are known by their names only. */
static enum math_truth compare_letter_sets(struct comparison *e, const struct math_node *gold,
                                           const struct math_node *pred)
{
    if (gold->kind == MATH_UNION || gold->kind == MATH_INTERSECTION)
        return equal_items(e, gold, pred, 0);
    return gold->kind == MATH_DIFFERENCE ? equal_items(e, gold, pred, 1) : MATH_FALSE;
}

/* Are these equations of one name, f(x) = 0 and f(x) = 2x? They are alternatives, whatever joins them. */
static int share_one_name(const struct math_node *m)
{
    const struct math_node *name = NULL;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *c = m->child[i];
        c = c->kind == MATH_CASES && c->n == 2 ? c->child[0] : c;
        if (c->kind != MATH_RELATION || c->ops[0] != MATH_EQUAL || !equal_is_name(c->child[0]) ||
            (name && !math_node_same(name, c->child[0])))
            return 0;
        name = c->child[0];
    }
    return 1;
}

/* Are all elements of the list words or names? */
static int are_words(const struct math_node *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->child[i]->kind != MATH_TEXT && list->child[i]->kind != MATH_SYMBOL)
            return 0;
    return 1;
}

int equal_joined_apart(const struct math_node *gold, const struct math_node *pred)
{
    return gold->kind == MATH_LIST && pred->kind == MATH_LIST && gold->which != pred->which &&
           gold->which != MATH_BY_COMMA && pred->which != MATH_BY_COMMA &&
           (are_words(gold) || are_words(pred));
}

/* Chooses the comparison by the kinds of both trees, which have one reading each. */
static enum math_truth compare_by_kind(struct comparison *e, const struct math_node *gold,
                                       const struct math_node *pred)
{
    int unordered_gold = equal_is_collection(gold), unordered_pred = equal_is_collection(pred);
    if (equal_is_value(gold) && equal_is_value(pred))
        return equal_values(e, gold, pred);
    if (unordered_gold && unordered_pred)
        return equal_joined_apart(gold, pred) ? MATH_FALSE : equal_items(e, gold, pred, 0);
    /* "1, 2, 3" as a reference asks for these values, in whatever brackets they are given. */
    if (gold->kind == MATH_LIST && pred->kind == MATH_TUPLE)
        return equal_items(e, gold, pred, 0);
    if (gold->kind == MATH_TUPLE && pred->kind == MATH_LIST)
        return equal_items(e, gold, pred, 1);
    /* A vector may be written as a tuple. */
    if ((equal_is_vector(gold) && pred->kind == MATH_TUPLE) ||
        (gold->kind == MATH_TUPLE && equal_is_vector(pred)))
        return equal_items(e, gold, pred, 1);
    if (gold->kind == MATH_RELATION && pred->kind == MATH_RELATION) {
        enum math_truth r = equal_relations(e, gold, pred);
        return r == MATH_TRUE || !(equal_is_region(gold) || equal_is_region(pred))
                   ? r
                   : equal_regions(e, gold, pred);
    }
    if (equal_is_statements(gold) && equal_is_statements(pred) &&
        (gold->kind == pred->kind || (gold->kind == MATH_OR && gold->which) ||
         (pred->kind == MATH_OR && pred->which) || (share_one_name(gold) && share_one_name(pred)))) {
        enum math_truth r = equal_items(e, gold, pred, 0);
        return r == MATH_TRUE ? r : equal_better(r, equal_regions(e, gold, pred));
    }
    if (equal_number_sets(gold, pred) == MATH_TRUE)
        return MATH_TRUE;
    if (equal_is_region(gold) || equal_is_region(pred)) {
        enum math_truth r = equal_regions(e, gold, pred);
        return r == MATH_TRUE || gold->kind != pred->kind
                   ? r
                   : equal_better(r, compare_letter_sets(e, gold, pred));
    }
    return gold->kind == pred->kind ? compare_same_kind(e, gold, pred) : MATH_FALSE;
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
    if (math_node_same(gold, pred))
        return MATH_TRUE;
    e->depth++;
    const struct math_node *g = gold->kind == MATH_EITHER ? equal_settle_letters(e, gold, pred) : gold;
    const struct math_node *p = pred->kind == MATH_EITHER ? equal_settle_letters(e, pred, gold) : pred;
    if (g != gold || p != pred)
        r = equal_trees(e, g, p);
    else if (gold->kind == MATH_EITHER)
        r = try_gold_readings(e, gold, pred);
    else if (pred->kind == MATH_EITHER)
        r = try_pred_readings(e, gold, pred);
    else if ((r = compare_by_kind(e, gold, pred)) != MATH_TRUE)
        r = equal_better(r, equal_rewritten(e, gold, pred));
    e->depth--;
    return r;
}
