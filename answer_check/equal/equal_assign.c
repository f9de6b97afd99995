/* What several assignments state together: "x = 3, y = -2" the pair (3, -2), "x = 1 or x = 5" the values 1
 * and 5, "p = 5, q = 2 and p = 7, q = 2" two pairs. No value gets lost: what is no assignment gives NULL. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

#include "answer_check/scalar/calculus.h"
#include "evalcore/base/arena.h"

/* ---- one assignment ---- */

/* Is there a function of no known value in it, f(3)? */
static int has_unknown(const struct math_node *m)
{
    int found = m->kind == MATH_APPLY || m->kind == MATH_OPAQUE;
    for (int i = 0; i < m->n && !found; i++)
        found = has_unknown(m->child[i]);
    return found;
}

static int are_different(struct comparison *e, const struct math_node *a, const struct math_node *b)
{
    a = calculus_evaluate(e->w, a);
    b = calculus_evaluate(e->w, b);
    return a && b && math_scalar_equal(e->w, a, b) == MATH_FALSE;
}

/* Is it a chain of numbers that are not equal, 40 + 3 = 42? Such a chain states nothing. Decimals may be
 * rounded. */
static int contradicts_itself(struct comparison *e, const struct math_node *m)
{
    for (int i = 0; i + 1 < m->n; i++)
        if (m->ops[i] == MATH_EQUAL && equal_is_number(e, m->child[i]) &&
            equal_is_number(e, m->child[i + 1]) && !equal_has_decimal(m->child[i]) &&
            !equal_has_decimal(m->child[i + 1]) && !has_unknown(m->child[i]) &&
            !has_unknown(m->child[i + 1]) && are_different(e, m->child[i], m->child[i + 1]))
            return 1;
    return 0;
}

/* Is it the equation of a curve, the right side of which nobody asks for: (x-3)^2 + (y+1)^2 = 16, x^2/4 + y^2
 * = 1?
 */
static int is_shifted_square(const struct math_node *m)
{
    const struct math_node *base = m->kind == MATH_POWER ? m->child[0] : NULL;
    if (base && base->kind == MATH_EITHER)
        base = base->child[0];
    if (base && base->kind == MATH_ADD && (math_has_symbol(base, "x") != math_has_symbol(base, "y")))
        return 1;
    if (m->kind == MATH_DIVIDE && m->child[1]->kind == MATH_NUMBER &&
        (m->child[0]->kind == MATH_POWER || is_shifted_square(m->child[0])))
        return 1;
    for (int i = 0; i < m->n && (m->kind == MATH_ADD || m->kind == MATH_MULTIPLY || m->kind == MATH_NEGATE);
         i++)
        if (is_shifted_square(m->child[i]))
            return 1;
    return 0;
}

const struct math_node *equal_assigned(struct comparison *e, const struct math_node *m, int loose)
{
    const char *symbol[1];
    int n = m->n;
    if (n == 2 && m->ops[0] == MATH_IN && equal_is_name(m->child[0]))
        return m->child[1]; /* x \in S states S */
    for (int i = 0; i + 1 < n; i++)
        if (m->ops[i] != MATH_EQUAL && m->ops[i] != MATH_APPROXIMATELY)
            return NULL;
    if (contradicts_itself(e, m))
        return NULL;
    /* x = 1/3 \approx 0.33 states 1/3; x \approx 0.33 states 0.33 */
    while (n > 1 && m->ops[n - 2] == MATH_APPROXIMATELY && !(n == 2 && equal_is_name(m->child[0])))
        n--;
    if (n == 1)
        return m->child[0];
    if (n > 2 || equal_is_name(m->child[0]))
        return m->child[n - 1];
    if (m->child[1]->kind == MATH_SYMBOL && equal_is_number(e, m->child[0]))
        return m->child[0]; /* 5 = x */
    if (equal_is_number(e, m->child[0]) && equal_is_number(e, m->child[1]))
        return m->child[1]; /* C_8^3 = 56 */
    if (loose && (m->child[0]->kind == MATH_SUM || m->child[0]->kind == MATH_OPAQUE))
        return m->child[1]; /* \int x\,dx = x^2/2 + C */
    if (loose && math_has_symbol(m->child[0], "x") && math_has_symbol(m->child[0], "y") &&
        is_shifted_square(m->child[0]))
        return NULL;
    if (loose && math_is_scalar(m->child[0]) && math_is_scalar(m->child[1]) &&
        math_symbols(e->w, m->child[1], symbol, 1) > 0 &&
        math_scalar_equal(e->w, m->child[0], m->child[1]) == MATH_TRUE)
        return m->child[1]; /* x^2 - 1 = (x - 1)(x + 1) */
    int value = equal_is_number(e, m->child[1]) ||
                (equal_is_value(m->child[1]) && math_symbols(e->w, m->child[1], symbol, 1) == 0);
    return loose && value ? m->child[1] : NULL; /* m + n = 25, 5 * 3 = 15 apples */
}

/* ---- several ---- */

enum { ASSIGNED_MAX = 64 };

struct assignments {
    int n;
    const char *name[ASSIGNED_MAX]; /* "" where the left side is no plain symbol */
    const struct math_node *value[ASSIGNED_MAX];
};

/* The names and values of m's children. Returns 0, or -1 when one of them is no assignment. */
static int read_assignments(struct comparison *e, struct assignments *out, const struct math_node *m)
{
    out->n = m->n;
    if (m->n > ASSIGNED_MAX)
        return -1;
    for (int i = 0; i < m->n; i++) {
        const struct math_node *a = m->child[i];
        out->value[i] = a->kind == MATH_RELATION ? equal_assigned(e, a, 0) : NULL;
        if (!out->value[i])
            return -1;
        const struct math_node *left = a->child[0]->kind == MATH_EITHER ? a->child[0]->child[0] : a->child[0];
        out->name[i] = left->kind == MATH_SYMBOL ? left->name : "";
    }
    return 0;
}

/* Letters that follow one another in the alphabet, each once: x, y; a, b, c. Their usual order is the
 * alphabet's, in whatever order they are given. */
static int is_run(const struct assignments *a, int from, int n)
{
    int low = 127, high = 0;
    for (int i = from; i < from + n; i++) {
        const char *s = a->name[i];
        if (!ascii_is_letter(*s) || s[1])
            return 0;
        for (int k = from; k < i; k++)
            if (!strcmp(a->name[k], s))
                return 0;
        low = *s < low ? *s : low;
        high = *s > high ? *s : high;
    }
    return high - low == n - 1;
}

/* The tuple of n values from the one numbered `from` on, in the alphabet's order if the names are a run. */
static const struct math_node *tuple_of(struct comparison *e, const struct math_node *m,
                                        const struct assignments *a, int from, int n)
{
    const struct math_node *value[ASSIGNED_MAX];
    int sorted = is_run(a, from, n);
    for (int i = 0; i < n; i++) {
        int at = i;
        for (int k = 0; sorted && k < n; k++)
            if (k != i)
                at += (strcmp(a->name[from + k], a->name[from + i]) < 0) - (k < i);
        value[at] = a->value[from + i];
    }
    return math_node_new(e->w, MATH_TUPLE, m->source, n, value);
}

const struct math_node *equal_assigned_tuple(struct comparison *e, const struct math_node *m)
{
    struct assignments a;
    if (m->kind != MATH_AND && m->kind != MATH_LIST && m->kind != MATH_SET)
        return NULL;
    return read_assignments(e, &a, m) ? NULL : tuple_of(e, m, &a, 0, a.n);
}

/* After how many assignments the names begin again, as in p = 5, q = 2 and p = 7, q = 2; 0 when they do
 * not. */
static int period_of(const struct assignments *a)
{
    int k = 1;
    while (k < a->n && strcmp(a->name[k], a->name[0]) != 0)
        k++;
    if (k < 2 || k == a->n || a->n % k)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!*a->name[i] || strcmp(a->name[i], a->name[i % k]) != 0)
            return 0;
    return k;
}

/* The values that stand for the names in x, y = 3, 5, which reads as the list x, (y = 3), 5; or NULL. */
static const struct math_node *names_then_values(struct comparison *e, const struct math_node *m)
{
    const struct math_node *value[32];
    int names = 0;
    while (names < m->n && m->child[names]->kind == MATH_SYMBOL)
        names++;
    if (m->kind != MATH_LIST || !names || m->n != 2 * names + 1 || m->n > 32)
        return NULL;
    const struct math_node *turn = m->child[names];
    if (turn->kind != MATH_RELATION || turn->n != 2 || turn->ops[0] != MATH_EQUAL ||
        !equal_is_name(turn->child[0]))
        return NULL;
    value[0] = turn->child[1];
    for (int i = 1; i <= names; i++)
        value[i] = m->child[names + i];
    return math_node_new(e->w, MATH_LIST, m->source, names + 1, value);
}

/* The list of pairs that x = 1, y = 2 or x = 2, y = 1 states, or NULL. */
static const struct math_node *assigned_tuples(struct comparison *e, const struct math_node *m)
{
    const struct math_node *item[ASSIGNED_MAX];
    if ((m->kind != MATH_OR && m->kind != MATH_LIST) || m->n > ASSIGNED_MAX)
        return NULL;
    for (int i = 0; i < m->n; i++) {
        item[i] = m->child[i]->kind == MATH_AND ? equal_assigned_tuple(e, m->child[i]) : NULL;
        if (!item[i])
            return NULL;
    }
    return math_node_new(e->w, MATH_LIST, m->source, m->n, item);
}

const struct math_node *equal_assigned_items(struct comparison *e, const struct math_node *m)
{
    struct assignments a;
    int collection = m->kind == MATH_LIST || m->kind == MATH_SET;
    if (!collection && m->kind != MATH_AND && m->kind != MATH_OR)
        return NULL;
    const struct math_node *together = names_then_values(e, m);
    if (!together)
        together = assigned_tuples(e, m);
    if (together || read_assignments(e, &a, m))
        return together;
    int k = m->kind == MATH_AND ? period_of(&a) : 0;
    if (!k) /* alternatives are never a point */
        return math_node_new(e->w, m->kind == MATH_OR ? MATH_SET : MATH_LIST, m->source, a.n, a.value);
    const struct math_node *item[ASSIGNED_MAX];
    for (int i = 0; i < a.n / k; i++)
        item[i] = tuple_of(e, m, &a, k * i, k);
    return math_node_new(e->w, MATH_LIST, m->source, a.n / k, item);
}

const struct math_node *equal_letters(struct comparison *e, const struct math_node *m,
                                      const struct math_node *other)
{
    enum { LETTERS = 8 };
    const struct math_node *item[LETTERS];
    size_t n = m->kind == MATH_SYMBOL ? strlen(m->name) : 0;
    if (n < 2 || n > LETTERS || (int)n != other->n)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const struct math_node *c = other->child[i];
        if (c->kind != MATH_SYMBOL || *c->name < 'A' || *c->name > 'H' || c->name[1])
            return NULL;
        item[i] = math_node_named(e->w, MATH_SYMBOL, m->source, arena_strndup(e->w->arena, m->name + i, 1));
    }
    return math_node_new(e->w, MATH_LIST, m->source, (int)n, item);
}

/* The length of "x" in "x" and "x_1". */
static size_t stem_length(const char *name)
{
    return strcspn(name, "_");
}

static int same_stem(const char *a, const char *b)
{
    return stem_length(a) == stem_length(b) && !strncmp(a, b, stem_length(a));
}

const struct math_node *equal_assigned_point(struct comparison *e, const struct math_node *m)
{
    struct assignments a;
    if ((m->kind != MATH_AND && m->kind != MATH_LIST) || read_assignments(e, &a, m))
        return NULL;
    for (int i = 0; i < a.n; i++)
        for (int k = 0; k <= i; k++)
            if (!*a.name[i] || (k < i && same_stem(a.name[k], a.name[i])))
                return NULL;
    return tuple_of(e, m, &a, 0, a.n);
}

const struct math_node *equal_alternatives(struct comparison *e, const struct math_node *m)
{
    struct assignments a;
    if (m->kind == MATH_RELATION && m->n == 2 && m->ops[0] == MATH_IN && m->child[0]->kind == MATH_SYMBOL &&
        m->child[1]->kind == MATH_SET)
        return m->child[1];
    if ((m->kind != MATH_AND && m->kind != MATH_OR) || read_assignments(e, &a, m))
        return NULL;
    for (int i = 0; i < a.n; i++)
        if (!*a.name[i] || !same_stem(a.name[i], a.name[0]))
            return NULL;
    return math_node_new(e->w, MATH_SET, m->source, a.n, a.value);
}

/* The sum that "2 hours and 15 minutes" means beside a sum, or NULL. */
const struct math_node *equal_quantities(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other)
{
    int is_amount = other->kind == MATH_ADD || other->kind == MATH_CURRENCY || other->kind == MATH_UNIT;
    if (m->kind != MATH_LIST || !is_amount || m->which == MATH_BY_OR)
        return NULL;
    for (int i = 0; i < m->n; i++)
        if (m->child[i]->kind != MATH_UNIT || (i && equal_units(m->child[i - 1]->name, m->child[i]->name)))
            return NULL;
    return math_node_new(e->w, MATH_ADD, m->source, m->n, m->child);
}
