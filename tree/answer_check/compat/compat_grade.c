/* Mode compat: the verdict of Math-Verify 0.8.0 on a reference and a response. */
#include "answer_check/compat/compat_equal.h"
#include "answer_check/text/response.h"

#include <string.h>

static int same_text(struct span a, struct span b)
{
    a = compat_trim(a);
    b = compat_trim(b);
    return a.n && a.n == b.n && !memcmp(a.s, b.s, a.n);
}

/* All pairs of candidates are compared, trees with trees and strings with strings. Returns the reason, or
 * NULL when they differ. */
static const char *agreement_reason(struct math_work *w, const struct compat_candidate *gold,
                                    const struct compat_candidate *pred, const struct grade_options *o)
{
    if (gold->tree && pred->tree) {
        struct compat_comparison c = {w, o->float_rounding, !o->strict, o->allow_set_relation_comp, 0};
        if (compat_equal(&c, gold->tree, pred->tree))
            return "Both mean the same.";
    }
    if (same_text(gold->text, pred->text) || same_text(gold->word, pred->word) ||
        same_text(gold->word, pred->text) || same_text(gold->text, pred->word))
        return "Both are the same text.";
    return NULL;
}

static int is_empty(const struct compat_candidate *c)
{
    return !c->tree && !c->word.n && !c->text.n;
}

/* The text that the original sees. It knows nothing of thinking, so it is the whole text, unless the
 * caller says that the prompt opened the thinking. Returns 1 if that was never closed; `out` is then set
 * to `unfinished`. */
static int visible_text(struct grade *out, const struct response *r, struct span *text)
{
    *text = (struct span){r->text, r->len};
    return r->thinking == THINKING_OPEN && grade_section(out, r, text);
}

int grade_math_compat(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                      const struct grade_options *o, struct arena *a)
{
    struct math_work gold_work = {.arena = a, .steps = MATH_STEPS, .principal_values = 1},
                     text_work = gold_work, work = gold_work;
    struct compat_candidate g, p;
    struct span text;
    if (visible_text(out, r, &text))
        return 0;
    compat_extract(&g, &gold_work, (struct span){gold, gold_len}, o);
    if (is_empty(&g))
        return grade_set(out, VERDICT_ERROR, "No answer could be read from the reference.");
    compat_extract(&p, &text_work, text, o);
    if (is_empty(&p)) {
        grade_no_answer(out, r);
    } else {
        const char *same = agreement_reason(&work, &g, &p, o);
        grade_set(out, same ? VERDICT_CORRECT : VERDICT_WRONG, same ? same : "The answers differ.");
        out->pred_form = grade_form(a, p.text.s, p.text.n);
    }
    out->gold_form = grade_form(a, g.text.s, g.text.n);
    out->steps = 3 * MATH_STEPS - gold_work.steps - text_work.steps - work.steps;
    return 0;
}
