/* Which readings of an answer are tried (contract: equal_parts.h): where a letter is a unit or a variable,
 * where a comma separates, and where a letter before a parenthesis is a function or a factor. */
#include "answer_check/equal/equal_parts.h"

#include <string.h>

/* ---- units and decimal commas ---- */

int equal_unit_applies(const struct math_node *unit, const struct math_node *gold)
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

/* Is a number in m read with a decimal comma, 3,5? */
static int has_decimal_comma(const struct math_node *m)
{
    if (m->kind == MATH_NUMBER)
        return m->literal.comma;
    for (int i = 0; i < m->n; i++)
        if (has_decimal_comma(m->child[i]))
            return 1;
    return 0;
}

/* Readings of the reference that are not tried: a letter as a unit, and 3,5 as 3.5, since a list is what
 * references write so. */
int equal_is_no_gold_reading(const struct math_node *m)
{
    return (m->kind == MATH_UNIT && strlen(m->name) == 1) || has_decimal_comma(m);
}

/* ---- functions and factors ----
 *
 * f(x + 1) is no product, unless f also stands alone in one of the two answers: a(b + c) and ab + ac. The
 * reader offers both readings, and here those are dropped that take a letter for a factor without such a
 * sign; otherwise f(3) would be 3 f(1), as products. */

/* Is the name applied to something (MATH_APPLY), or does it stand by itself (MATH_SYMBOL)? */
static int occurs_as(const struct math_node *m, enum math_kind kind, const char *name)
{
    if (m->kind == kind && !strcmp(m->name, name))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (occurs_as(m->child[i], kind, name))
            return 1;
    return 0;
}

/* How many letters are applied to something in m? */
static int count_applied(const struct math_node *m)
{
    int n = m->kind == MATH_APPLY;
    for (int i = 0; i < m->n; i++)
        n += count_applied(m->child[i]);
    return n;
}

/* The reading that takes most letters for functions; m itself where it has one reading only. */
static const struct math_node *most_functions_reading(const struct math_node *m)
{
    int max = 0;
    const struct math_node *best = m;
    if (m->kind != MATH_EITHER)
        return m;
    best = m->child[0];
    for (int i = 0; i < m->n; i++) {
        int n = count_applied(m->child[i]);
        if (n > max) {
            max = n;
            best = m->child[i];
        }
    }
    return best;
}

enum { NAMES = 16 }; /* more applied letters than this are in no answer */
struct letters {
    const struct math_node *usual;        /* the first reading of this answer */
    const struct math_node *own, *others; /* the readings with most functions, of this answer and the other */
    const char *applied[NAMES];           /* the letters that `own` applies */
    int n;
};

/* Collects the letters that are applied, each once; -1 for too many. */
static int collect_applied(struct letters *l, const struct math_node *m)
{
    int known = m->kind != MATH_APPLY;
    for (int i = 0; i < l->n && !known; i++)
        known = !strcmp(l->applied[i], m->name);
    if (!known && l->n == NAMES)
        return -1;
    if (!known)
        l->applied[l->n++] = m->name;
    for (int i = 0; i < m->n; i++)
        if (collect_applied(l, m->child[i]))
            return -1;
    return 0;
}

/* May the reading take for factors what l->own applies? A letter that usually is a factor needs no sign for
 * it, unless the other answer applies it as well. */
static int is_sound(const struct math_node *reading, const struct letters *l)
{
    for (int i = 0; i < l->n; i++) {
        const char *name = l->applied[i];
        if (!occurs_as(reading, MATH_SYMBOL, name))
            continue;
        int is_function = strlen(name) == 1 && strchr("fg", *name) && occurs_as(l->usual, MATH_APPLY, name);
        if (is_function)
            return 0; /* f(1 + x) is no (1 + x)f */
        int is_usual = !occurs_as(l->usual, MATH_APPLY, name) && !occurs_as(l->others, MATH_APPLY, name);
        if (!is_usual && !occurs_as(l->own, MATH_SYMBOL, name) && !occurs_as(l->others, MATH_SYMBOL, name))
            return 0;
    }
    return 1;
}

/* How many names of two capitals does it hold: AB, the segment? *first: one of them; two are distinct. */
static int count_segments(const struct math_node *m, const char **first, int *distinct)
{
    int n = m->kind == MATH_SYMBOL && strlen(m->name) == 2 && m->name[0] >= 'A' && m->name[0] <= 'Z' &&
            m->name[1] >= 'A' && m->name[1] <= 'Z';
    if (n) {
        *distinct |= *first && strcmp(*first, m->name) != 0;
        *first = m->name;
    }
    for (int i = 0; i < m->n; i++)
        n += count_segments(m->child[i], first, distinct);
    return n;
}

/* Does the usual reading hold two different segments? */
static int has_segments(const struct math_node *m)
{
    const char *first = NULL;
    int distinct = 0;
    count_segments(m->kind == MATH_EITHER ? m->child[0] : m, &first, &distinct);
    return distinct;
}

/* Where both answers hold several segments, AB and CD, those are no products of letters. */
static const struct math_node *settle_segments(struct comparison *e, const struct math_node *m,
                                               const struct math_node *other)
{
    const struct math_node *kept[MATH_TREE_READINGS];
    int n = 0, distinct = 0;
    const char *first = NULL;
    if (!has_segments(m) || !has_segments(other))
        return m;
    int usual = count_segments(m->child[0], &first, &distinct);
    for (int i = 0; i < m->n && i < MATH_TREE_READINGS; i++)
        if (count_segments(m->child[i], &first, &distinct) == usual)
            kept[n++] = m->child[i];
    return n == m->n ? m : n == 1 ? kept[0] : math_node_new(e->w, MATH_EITHER, m->source, n, kept);
}

const struct math_node *equal_settle_letters(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other)
{
    m = settle_segments(e, m, other);
    if (!m || m->kind != MATH_EITHER)
        return m;
    const struct math_node *kept[MATH_TREE_READINGS];
    struct letters l = {
        .usual = m->child[0], .own = most_functions_reading(m), .others = most_functions_reading(other)};
    int n = 0;
    if (collect_applied(&l, l.own))
        return l.own;
    if (!l.n)
        return m;
    for (int i = 0; i < m->n && i < MATH_TREE_READINGS; i++)
        if (is_sound(m->child[i], &l))
            kept[n++] = m->child[i];
    if (n == m->n)
        return m;
    if (!n) /* f is applied on one side of a relation and a factor on the other */
        return l.own;
    return n == 1 ? kept[0] : math_node_new(e->w, MATH_EITHER, m->source, n, kept);
}
