/* Plain arithmetic as the original reads it, by the rules of its programming language: products need a
 * sign, powers group from the right and bind tighter than a minus sign, and numbers have no leading zeros. */
#include "answer_check/compat/compat_read.h"

#include <string.h>

typedef const struct math_node *node;

struct arithmetic {
    struct math_work *w;
    struct span t;
    size_t i;
    int depth;
};

static node read_sum(struct arithmetic *r);
static node read_factor(struct arithmetic *r);

/* If s is next, after blanks, moves behind it and returns 1; else returns 0. */
static int accept_text(struct arithmetic *r, const char *s)
{
    r->i = compat_skip_space(r->t, r->i);
    if (!span_at(r->t, r->i, s))
        return 0;
    r->i += strlen(s);
    return 1;
}

static node read_number(struct arithmetic *r)
{
    size_t from = r->i = compat_skip_space(r->t, r->i), end = compat_digits(r->t, from);
    int whole = !span_at(r->t, end, "."), zeros = 1;
    for (size_t i = from; i < end; i++)
        zeros &= r->t.s[i] == '0';
    if (whole && end > from + 1 && r->t.s[from] == '0' && !zeros)
        return NULL;
    if (!whole)
        end = compat_digits(r->t, end + 1);
    if (end == from || (!whole && end == from + 1))
        return NULL;
    r->i = end;
    return compat_number_node(r->w, (struct span){r->t.s + from, end - from}, 0);
}

static node read_atom(struct arithmetic *r)
{
    if (!accept_text(r, "("))
        return read_number(r);
    node m = read_sum(r);
    return m && accept_text(r, ")") ? m : NULL;
}

static node read_power(struct arithmetic *r)
{
    node base = read_atom(r);
    if (!base || (!accept_text(r, "**") && !accept_text(r, "^")))
        return base;
    return math_node_2(r->w, MATH_POWER, r->t, base, read_factor(r));
}

static node read_factor(struct arithmetic *r)
{
    if (math_step(r->w, 1) || r->depth >= MATH_TREE_DEPTH)
        return NULL;
    r->depth++;
    node m = accept_text(r, "-")   ? compat_negated(r->w, read_factor(r))
             : accept_text(r, "+") ? read_factor(r)
                                   : read_power(r);
    r->depth--;
    return m;
}

static node read_product(struct arithmetic *r)
{
    node m = read_factor(r);
    while (m) {
        int times = accept_text(r, "*");
        if (!times && !accept_text(r, "/"))
            break;
        m = math_node_2(r->w, times ? MATH_MULTIPLY : MATH_DIVIDE, r->t, m, read_factor(r));
    }
    return m;
}

static node read_sum(struct arithmetic *r)
{
    node m = read_product(r);
    while (m) {
        int plus = accept_text(r, "+");
        if (!plus && !accept_text(r, "-"))
            break;
        node right = read_product(r);
        m = math_node_2(r->w, MATH_ADD, r->t, m, plus ? right : compat_negated(r->w, right));
    }
    return m;
}

const struct math_node *compat_arithmetic(struct math_work *w, struct span t)
{
    struct arithmetic r = {w, t, 0, 0};
    node m = read_sum(&r);
    return m && compat_skip_space(t, r.i) == t.n ? m : NULL;
}
