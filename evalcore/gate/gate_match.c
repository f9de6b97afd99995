/* Whether two sides asked the same questions in the same way (contract: gate.h). */
#include <string.h>

#include "evalcore/gate/gate.h"

static const char *next_step =
    "compare with a baseline of these settings, or make one with kveval gate --rebaseline";

static const struct gate_cell *find_same_cell(const struct gate_side *s, const struct gate_cell *c)
{
    for (int i = 0; i < s->n_cells; i++)
        if (!strcmp(s->cells[i].setting, c->setting) && !strcmp(s->cells[i].task, c->task))
            return &s->cells[i];
    return NULL;
}

static int match_problems(const struct gate_cell *a, const struct gate_cell *b, struct err *e)
{
    if (a->n_problems != b->n_problems)
        return err_set(e, ERR_USAGE, "task %s has %d problems, in the baseline %d; %s", a->task,
                       b->n_problems, a->n_problems, next_step);
    if (!a->n_problems)
        return err_set(e, ERR_USAGE, "task %s has no problems, so there is nothing to compare", a->task);
    for (int i = 0; i < a->n_problems; i++) {
        const struct gate_problem *p = &a->problems[i], *q = &b->problems[i];
        if (strcmp(p->id, q->id))
            return err_set(e, ERR_USAGE, "task %s: problem %d is %s, in the baseline %s; %s", a->task, i + 1,
                           q->id, p->id, next_step);
        if (strcmp(p->prompt_sha256, q->prompt_sha256))
            return err_set(e, ERR_USAGE,
                           "task %s: problem %s is asked with another prompt than in the baseline; %s",
                           a->task, p->id, next_step);
        if (strcmp(p->gold, q->gold))
            return err_set(e, ERR_USAGE,
                           "task %s: problem %s has another reference answer, limit or stop string than in "
                           "the baseline; %s",
                           a->task, p->id, next_step);
        if (!p->n)
            return err_set(e, ERR_USAGE, "the baseline has no answers of \"%s\" to problem %s of %s",
                           a->setting, p->id, a->task);
    }
    return 0;
}

static int match_cell(const struct gate_cell *a, const struct gate_side *now, struct err *e)
{
    const struct gate_cell *b = find_same_cell(now, a);
    struct arena own = {0};
    int rc = 0;
    if (!b)
        return err_set(e, ERR_USAGE, "%s lacks the setting \"%s\" on task %s, which the baseline has; %s",
                       now->path, a->setting, a->task, next_step);
    if (strcmp(a->facts, b->facts))
        rc = err_set(e, ERR_USAGE, "task %s is not the same: %s; %s", a->task,
                     gate_changed(a->facts, b->facts, &own), next_step);
    else if (strcmp(a->settings, b->settings))
        rc = err_set(e, ERR_USAGE, "\"%s\" on task %s has other generation settings: %s; %s", a->setting,
                     a->task, gate_changed(a->settings, b->settings, &own), next_step);
    else
        rc = match_problems(a, b, e);
    arena_release(&own);
    return rc;
}

int gate_match(const struct gate_side *base, const struct gate_side *now, struct err *e)
{
    if (!base->n_cells)
        return err_set(e, ERR_USAGE, "%s has nothing to compare with", base->path);
    if (gate_fit(base, 0, e))
        return e->code;
    int is_served = gate_is_served(base) || gate_is_served(now);
    if (!is_served && strcmp(base->weights, now->weights))
        return err_set(e, ERR_USAGE,
                       "the models differ: %s has weights %.12s (%s), the baseline %.12s (%s); %s", now->path,
                       now->weights, now->model, base->weights, base->model, next_step);
    if (!is_served && strcmp(base->configuration, now->configuration))
        return err_set(e, ERR_USAGE,
                       "the models differ: %s has the weights of the baseline under another configuration "
                       "(%.12s, the baseline %.12s): config.json, generation_config.json or tokenizer.json "
                       "was changed; %s",
                       now->path, now->configuration, base->configuration, next_step);
    for (int i = 0; i < base->n_cells; i++)
        if (match_cell(&base->cells[i], now, e))
            return e->code;
    for (int i = 0; i < now->n_cells; i++)
        if (!find_same_cell(base, &now->cells[i]))
            return err_set(e, ERR_USAGE, "the baseline lacks the setting \"%s\" on task %s, which %s has; %s",
                           now->cells[i].setting, now->cells[i].task, now->path, next_step);
    if (*now->grader && *base->grader && strcmp(base->grader, now->grader))
        return err_set(e, ERR_USAGE, "the answers were graded by other rules (%s, in the baseline %s); %s",
                       now->grader, base->grader, next_step);
    return 0;
}

int gate_terms(const struct gate_side *base, const struct gate_side *now, int has_margin, int other_numerics,
               struct err *e)
{
    if (!has_margin && base->margin != now->margin)
        return err_set(
            e, ERR_USAGE,
            "the margin is %g points in %s and %g in the baseline; say with --margin which one counts",
            now->margin, now->path, base->margin);
    if (!other_numerics && !strcmp(base->numerics, now->numerics) && !gate_same_class(base, now))
        return err_set(e, ERR_USAGE,
                       "the server of %s tells of other weights as \"%s\" than the baseline's (their number "
                       "or bytes, or "
                       "what kveval serve says); %s, or allow it with --other-numerics",
                       now->path, now->model, next_step);
    if (!other_numerics && strcmp(base->numerics, now->numerics))
        return err_set(
            e, ERR_USAGE,
            "%s was computed in the numerics class %s, the baseline in %s, where a difference need "
            "not be the program's; %s, or allow it with --other-numerics",
            now->path, now->numerics, base->numerics, next_step);
    return 0;
}
