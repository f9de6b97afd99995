/* What is no chance: options of a policy that are not the baseline's, and greedy answers that have changed
 * (contract: gate.h). */
#include <math.h>
#include <string.h>

#include "evalcore/gate/gate.h"

static void add_change(struct str *out, const char *key, const json_t *was, const json_t *is)
{
    str_printf(out, "%s%s=", out->len ? ", " : "", key);
    if (is)
        json_canonical(out, is);
    else
        str_puts(out, "nothing");
    str_puts(out, " instead of ");
    if (was)
        json_canonical(out, was);
    else
        str_puts(out, "nothing");
}

const char *gate_changed_options(const char *base, const char *now, struct arena *a)
{
    json_t *x = json_loads(base, 0, NULL), *y = json_loads(now, 0, NULL), *v;
    struct str out = {0};
    const char *key;
    json_object_foreach(y, key, v)
    {
        const json_t *was = json_object_get(x, key);
        if (!was || !json_equal(v, was))
            add_change(&out, key, was, v);
    }
    json_object_foreach(x, key, v)
    {
        if (!json_object_get(y, key))
            add_change(&out, key, v, NULL);
    }
    if (!out.len && strcmp(base, now) && !(x && y && json_equal(x, y)))
        str_puts(&out, "they cannot be read");
    const char *kept = out.len ? arena_strdup(a, str_text(&out)) : NULL;
    json_decref(x);
    json_decref(y);
    str_release(&out);
    return kept;
}

static int is_greedy(const struct gate_cell *c)
{
    json_t *o = json_loads(c->settings, 0, NULL);
    const json_t *t = json_object_get(o, "temperature");
    int yes = json_is_number(t) && json_number_value(t) <= 0;
    json_decref(o);
    return yes;
}

/* A base file rounds lengths to an eighth, which keeps those of single answers. */
static int is_same(const struct gate_sums *a, const struct gate_sums *b)
{
    return a->n == b->n && a->right == b->right && a->cut == b->cut && a->unparsed == b->unparsed &&
           a->errors == b->errors && fabs(a->score - b->score) < 1e-9 && fabs(a->tokens - b->tokens) < 0.5;
}

/* How many greedy answers a setting has, and how many are not as right and as long as the baseline's; 0 when
 * some are sampled. */
static long greedy_answers(const struct gate_side *base, const struct gate_side *now, const char *setting,
                           long *changed)
{
    long n = 0;
    *changed = 0;
    for (int c = 0; c < base->n_cells; c++) {
        const struct gate_cell *x = &base->cells[c], *y = now->cells;
        if (strcmp(x->setting, setting))
            continue;
        if (!is_greedy(x))
            return 0;
        while (strcmp(y->setting, x->setting) || strcmp(y->task, x->task))
            y++; /* gate_match() has found it */
        for (int i = 0; i < x->n_problems; i++) {
            struct gate_sums was = x->problems[i].all;
            was.errors = x->problems[i].sample ? was.errors : y->problems[i].all.errors;
            *changed += !is_same(&was, &y->problems[i].all);
            n++;
        }
    }
    return n;
}

/* Greedy answers of one numerics class are the same unless the program has changed: no test is needed, and
 * the few that are there could earn no verdict by one. */
void gate_judge_greedy(struct gate_result *r, struct arena *a)
{
    for (int i = 0; i < r->n_settings && r->same_class; i++) {
        struct gate_setting *s = &r->settings[i];
        long changed = 0,
             n = s->n_looks && !s->differs ? greedy_answers(r->base, r->now, s->label, &changed) : 0;
        if (!n)
            continue;
        const struct gate_look *l = &s->look[s->n_looks - 1];
        if (!changed) {
            s->verdict = GATE_PASS;
            s->why = arena_printf(a, "all %ld greedy answers are as right and as long as the baseline's", n);
        } else if (l->now < l->base) {
            s->verdict = GATE_REGRESSION;
            s->why = arena_printf(a,
                                  "%ld of %ld greedy answers have changed and %.1f points are lost, which in "
                                  "one numerics class is no chance",
                                  changed, n, 100 * (l->base - l->now));
        }
    }
}

/* Settings with other options may fail, but they are not the baseline's, so they cannot pass, nor be let
 * through as inconclusive. */
int gate_refuse_others(struct gate_result *r, struct arena *a, struct err *e)
{
    const struct gate_setting *first = NULL;
    int n_failed = 0;
    for (int i = 0; i < r->n_settings; i++) {
        struct gate_setting *s = &r->settings[i];
        n_failed += s->verdict == GATE_REGRESSION || (s->verdict == GATE_ERROR && !s->differs);
        if (!s->differs || (s->verdict != GATE_PASS && s->verdict != GATE_INCONCLUSIVE))
            continue;
        s->verdict = GATE_ERROR;
        s->why = arena_printf(a, "it cannot pass, for its options are not the baseline's: %s", s->differs);
        first = first ? first : s;
    }
    if (!first || n_failed)
        return 0;
    return err_set(e, ERR_USAGE,
                   "\"%s\" has other options than in the baseline: %s; it has not failed, but only the same "
                   "options can pass; compare with a baseline of these, or make one with kveval gate "
                   "--rebaseline",
                   first->label, first->differs);
}
