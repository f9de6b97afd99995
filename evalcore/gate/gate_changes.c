/* What is no chance: options of a policy that are not the baseline's, and greedy answers that have changed
 * (contract: gate.h). */
#include <math.h>
#include <string.h>

#include "engine/policies/policy.h"
#include "evalcore/gate/gate.h"

static void put_value(struct str *out, const json_t *v)
{
    if (v)
        json_canonical(out, v);
    else
        str_puts(out, "nothing");
}

static void add_changes(struct str *out, const char *prefix, const json_t *was, const json_t *is);

static void add_change(struct str *out, const char *prefix, const char *key, const json_t *was,
                       const json_t *is)
{
    struct str name = {0};
    str_printf(&name, "%s%s%s", prefix, *prefix ? "." : "", key);
    if (json_is_object(was) && json_is_object(is)) {
        add_changes(out, str_text(&name), was, is);
    } else if (!was || !is || !json_equal(was, is)) {
        str_printf(out, "%s%s is ", out->len ? ", " : "", str_text(&name));
        put_value(out, is);
        str_puts(out, ", the base has ");
        put_value(out, was);
    }
    str_release(&name);
}

static void add_changes(struct str *out, const char *prefix, const json_t *was, const json_t *is)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)is, key, v) add_change(out, prefix, key, json_object_get(was, key), v);
    json_object_foreach((json_t *)was, key, v)
    {
        if (!json_object_get(is, key))
            add_change(out, prefix, key, v, NULL);
    }
}

const char *gate_changed(const char *base, const char *now, struct arena *a)
{
    json_t *x = json_loads(base, 0, NULL), *y = json_loads(now, 0, NULL);
    struct str out = {0};
    add_changes(&out, "", x, y);
    if (!out.len && strcmp(base, now) && !(x && y && json_equal(x, y)))
        str_puts(&out, "they cannot be read");
    const char *kept = out.len ? arena_strdup(a, str_text(&out)) : NULL;
    json_decref(x);
    json_decref(y);
    str_release(&out);
    return kept;
}

/* The first option of the policy that names a file; NULL: none does. */
static const char *file_option(const char *policy)
{
    json_t *o = json_loads(policy, 0, NULL);
    const char *name = json_string_value(json_object_get(o, "name"));
    const struct policy_ops *ops = name ? policy_find(name) : NULL;
    const struct param *p = ops ? policy_params(ops) : NULL;
    while (p && p->name && (p->type != PARAM_FILE || !json_is_string(json_object_get(o, p->name))))
        p++;
    json_decref(o);
    return p ? p->name : NULL;
}

/* Of another policy all options differ; its name says it. NULL: it is the same policy. */
static const char *changed_policy(const char *base, const char *now, struct arena *a)
{
    json_t *x = json_loads(base, 0, NULL), *y = json_loads(now, 0, NULL);
    const char *was = json_string_value(json_object_get(x, "name")),
               *is = json_string_value(json_object_get(y, "name"));
    const char *words = was && is && strcmp(was, is)
                            ? arena_printf(a, "the policy is \"%s\", the base has \"%s\"", is, was)
                            : NULL;
    json_decref(x);
    json_decref(y);
    return words;
}

const char *gate_changed_options(const struct gate_cell *base, const struct gate_cell *now, int same_class,
                                 struct arena *a)
{
    const char *other = changed_policy(base->policy, now->policy, a);
    if (other)
        return other;
    const char *words = gate_changed(base->policy, now->policy, a), *file = file_option(now->policy);
    /* All else in the identity was compared, or is of the numerics class. */
    if (!words && file && same_class && base->identity && now->identity &&
        strcmp(base->identity, now->identity))
        return arena_printf(a, "the file of %s holds something else than in the base", file);
    return words;
}

/* What may be why greedy answers of one numerics class have changed. */
static const char *greedy_reason(const struct gate_side *base, const struct gate_side *now,
                                 const char *setting, struct arena *a)
{
    for (int c = 0; c < base->n_cells; c++) {
        const struct gate_cell *x = &base->cells[c], *y = now->cells;
        if (strcmp(x->setting, setting))
            continue;
        while (strcmp(y->setting, x->setting) || strcmp(y->task, x->task))
            y++;
        if (x->context && y->context && x->context != y->context)
            return arena_printf(a,
                                "the model's context is %d tokens, the base has %d "
                                "(max_position_embeddings of config.json)",
                                y->context, x->context);
    }
    return "with the same model, options, seed and numerics class that is no chance";
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
 * the few that are there could earn no verdict by one. Not those of a server, which vary with its batch. */
void gate_judge_greedy(struct gate_result *r, struct arena *a)
{
    for (int i = 0; i < r->n_settings && r->same_class && !gate_is_served(r->now); i++) {
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
            s->why = arena_printf(a, "%ld of %ld greedy answers have changed and %.1f points are lost; %s",
                                  changed, n, 100 * (l->base - l->now),
                                  greedy_reason(r->base, r->now, s->label, a));
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
        s->why = arena_printf(a, "%s; with other options than the baseline's it cannot pass", s->differs);
        first = first ? first : s;
    }
    if (!first || n_failed)
        return 0;
    return err_set(e, ERR_USAGE,
                   "\"%s\" has other options than in the baseline: %s. It has not failed, but only the same "
                   "options can pass; compare with a baseline of these, or make one with kveval gate "
                   "--rebaseline",
                   first->label, first->differs);
}
