/* Is a letter before a parenthesis a function or a factor? f(x + 1) is no product, unless f also stands alone
 * in one of the two answers: a(b + c) and ab + ac. The reader offers both readings, and here those are
 * dropped that take a letter for a factor without such a sign; otherwise f(3) would be 3 f(1), as products.
 */
#include "answer_check/equal/equal.h"

#include <string.h>

/* Is the name applied to something (MATH_APPLY), or does it stand by itself (MATH_SYMBOL)? */
static int occurs(const struct math_node *m, enum math_kind kind, const char *name)
{
    if (m->kind == kind && !strcmp(m->name, name))
        return 1;
    for (int i = 0; i < m->n; i++)
        if (occurs(m->child[i], kind, name))
            return 1;
    return 0;
}

static int count_applied(const struct math_node *m)
{
    int n = m->kind == MATH_APPLY;
    for (int i = 0; i < m->n; i++)
        n += count_applied(m->child[i]);
    return n;
}

/* The reading that takes most letters for functions; m itself where it has one reading only. */
static const struct math_node *most_applied(const struct math_node *m)
{
    int most = 0;
    const struct math_node *best = m;
    if (m->kind != MATH_EITHER)
        return m;
    best = m->child[0];
    for (int i = 0; i < m->n; i++) {
        int n = count_applied(m->child[i]);
        if (n > most) {
            most = n;
            best = m->child[i];
        }
    }
    return best;
}

struct letters {
    const struct math_node *usual;        /* the first reading of this answer */
    const struct math_node *own, *others; /* the readings with most functions, of this answer and the other */
};

/* May the reading take for factors what `applied` (part of l->own) applies? A letter that usually is a factor
 * needs no sign for it, unless the other answer applies it as well. */
static int is_sound(const struct math_node *reading, const struct math_node *applied, const struct letters *l)
{
    const char *name = applied->name;
    if (applied->kind == MATH_APPLY && occurs(reading, MATH_SYMBOL, name)) {
        int is_usual = !occurs(l->usual, MATH_APPLY, name) && !occurs(l->others, MATH_APPLY, name);
        if (!is_usual && !occurs(l->own, MATH_SYMBOL, name) && !occurs(l->others, MATH_SYMBOL, name))
            return 0;
    }
    for (int i = 0; i < applied->n; i++)
        if (!is_sound(reading, applied->child[i], l))
            return 0;
    return 1;
}

const struct math_node *equal_settle_letters(struct comparison *e, const struct math_node *m,
                                             const struct math_node *other)
{
    const struct math_node *kept[MATH_TREE_READINGS];
    struct letters l = {m->child[0], most_applied(m), most_applied(other)};
    int n = 0;
    if (!count_applied(l.own))
        return m;
    for (int i = 0; i < m->n && i < MATH_TREE_READINGS; i++)
        if (is_sound(m->child[i], l.own, &l))
            kept[n++] = m->child[i];
    if (n == m->n)
        return m;
    return n == 1 ? kept[0] : math_node_new(e->w, MATH_EITHER, m->source, n, kept);
}
