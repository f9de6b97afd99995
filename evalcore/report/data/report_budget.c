/* Budgets (contract: report_budget.h). The only place that turns a policy's options into tokens. */
#include "evalcore/report/data/report_budget.h"

#include <math.h>
#include <string.h>

struct cell_budget report_budget_read(const struct cell *c, struct arena *a)
{
    struct cell_budget b = {.cell = c};
    struct err e = {0};
    json_t *o = NULL;
    if (!policy_find(c->policy)) {
        b.unknown = "it has no policy of this name";
        return b;
    }
    int rc = json_read_text(&o, c->params, strlen(c->params), "params", &e);
    if (!rc) {
        json_object_set_new(o, "name", json_string(c->policy));
        rc = policy_spec_json(&b.spec, o, a, &e);
    }
    if (rc)
        b.unknown = arena_strdup(a, e.text);
    json_decref(o);
    return b;
}

static struct policy_budget budget_at_context(const struct cell_budget *b, double context, double prompt,
                                              double longest)
{
    const struct budget_at step = {.context = context, .prompt = prompt, .longest = longest};
    return b->unknown ? (struct policy_budget){NAN, INFINITY} : policy_budget_at(&b->spec, &step);
}

/* A step far into a long completion, where only the kind of the budget matters. */
static struct policy_budget budget_far_out(const struct cell_budget *b, double longest)
{
    return budget_at_context(b, 1e6, 1e5, longest);
}

/* A policy may have a budget that no option sets. */
int report_has_budget(const struct cell_budget *b, const struct cell *c)
{
    return c->budget_key[0] || isfinite(budget_far_out(b, 1e5).tokens);
}

/* Options in steps have a decode step for each token, behind what their requests prefilled; as a block none.
 */
static double option_steps(const struct record *r, double *contexts, double *longest)
{
    double steps = 0;
    *contexts = *longest = 0;
    for (int i = 0; i < r->options->n && r->kv.reads_full > 0; i++) {
        double n = r->options->option[i].tokens, prompt = r->options->option[i].prompt;
        steps += n;
        *contexts += n * prompt + n * (n + 1) / 2;
        *longest = fmax(*longest, prompt + n);
    }
    return steps;
}

double report_decode_steps(const struct cell *c, const struct record *r)
{
    double contexts, longest;
    if (r->options)
        return option_steps(r, &contexts, &longest);
    double least = r->tokens > 1 ? r->tokens - 1 : 0;
    int at_string = fabs(r->kv.reads_full - run_own_reads(c, r->prompt_tokens, least)) < 0.5;
    return r->finish == FINISHED_STOP && !at_string ? r->tokens : least;
}

double report_context_sum(const struct cell *c, const struct record *r)
{
    double contexts, longest;
    if (r->options)
        return option_steps(r, &contexts, &longest), contexts;
    double steps = report_decode_steps(c, r);
    return steps * r->prompt_tokens + steps * (steps + 1) / 2;
}

int report_exceeds_budget(const struct cell_budget *b, const struct record *r)
{
    double steps = report_decode_steps(b->cell, r), context = r->prompt_tokens + steps,
           contexts; /* at the last step */
    if (r->options)
        option_steps(r, &contexts, &context);
    return r->finish != FINISHED_ERROR && steps > 0 &&
           context > budget_at_context(b, context, r->prompt_tokens, run_limit(b->cell, r->problem)).whole;
}

int report_budget_needs_limit(const struct cell_budget *b)
{
    double all = budget_far_out(b, 1e5).tokens, half = budget_far_out(b, 5e4).tokens;
    return b->unknown || all < half || all > half;
}

/* A request of the same length without a prompt has nothing to keep besides the budget. Where a policy keeps
 * less of a prompt than of what is generated, nothing is kept besides either. */
struct budget_tokens report_budget_tokens(const struct cell_budget *b, double context, double prompt,
                                          double longest)
{
    double all = budget_at_context(b, context, prompt, longest).tokens;
    double own = budget_at_context(b, context, 0, longest + prompt).tokens;
    if (all < own)
        return (struct budget_tokens){all, 0};
    return (struct budget_tokens){own, isfinite(all) && isfinite(own) ? fmax(0, all - own) : 0};
}
