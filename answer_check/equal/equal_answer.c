/* Reads both answers and compares the trees; what cannot be read is compared as text. */
#include "answer_check/equal/equal_answer.h"

#include <string.h>

#include "answer_check/text/latex_clean.h"

static const char *form_of(struct arena *a, const struct math_node *m, struct span text)
{
    struct str s = {0};
    const char *form;
    if (!m)
        return grade_form(a, text.s, text.n);
    math_print_infix(&s, m);
    form = grade_form(a, str_text(&s), s.len);
    str_release(&s);
    return form;
}

static int same_text(struct span gold, struct span pred, struct arena *a)
{
    if (gold.n == pred.n && !memcmp(gold.s, pred.s, gold.n))
        return 1;
    struct span g = latex_flatten(a, latex_clean(a, gold)), p = latex_flatten(a, latex_clean(a, pred));
    return g.n && g.n == p.n && !memcmp(g.s, p.s, g.n);
}

/* Comparison as text drops degree and currency signs: where they count, it is for what has no tree. */
static int marks_count(const struct grade_policies *p)
{
    return p->units == MARK_KEEP || p->degrees == MARK_KEEP;
}

void math_compare(struct math_match *out, struct math_work *w, struct span gold, struct span pred,
                  const struct grade_policies *policies)
{
    struct arena *a = w->arena;
    const struct math_node *g = math_read(w, gold), *p = math_read(w, pred);
    if (latex_is_word(latex_clean(a, gold)) && latex_is_word(latex_clean(a, pred)))
        g = p = NULL; /* "no" and "on" are words, not the same product */
    struct equal e = {w, policies, "exactly", 0};
    enum math_truth r = g && p ? equal_trees(&e, g, p) : MATH_FALSE;
    *out = (struct math_match){.equal = r == MATH_TRUE, .unknown = r == MATH_UNKNOWN, .how = e.rule};
    if (!g || !p || g->kind == MATH_TEXT || p->kind == MATH_TEXT)
        out->how = "as text";
    if (r == MATH_UNKNOWN)
        out->how = "as far as the limits of arithmetic reach";
    if (r != MATH_TRUE && (!g || !p || !marks_count(policies)) && same_text(gold, pred, a))
        *out = (struct math_match){.equal = 1, .how = "as text"};
    out->gold_form = form_of(a, g, gold);
    out->pred_form = form_of(a, p, pred);
}
