/* The time that a sweep takes (contract: dryrun_parts.h): expected tokens over the speed of each policy,
 * which was measured on the device just now. Nothing is guessed where nothing was measured; of a policy that
 * was not, the slowest that was stands in, and the output names it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/cli/progress.h"
#include "evalcore/plan/calibrate.h"
#include "evalcore/plan/dryrun_parts.h"

/* --calibrate auto does not load more than this. */
#define LARGE_WEIGHTS ((size_t)2 << 30)

struct speeds { /* of one model */
    const struct dryrun *d;
    const struct loaded_model *loaded; /* the first one of the model */
    struct calibration c;
    const struct runfile_policy **policy; /* (c.n) */
    int *of_cell;                         /* (n_cells): index of its policy, -1: of another model */
};

double dryrun_expected(const struct dryrun *d, int cell, size_t q)
{
    const struct plan_cell *c = &d->plan->cells[cell];
    const struct settings *t = &c->settings->s;
    int limit = runplan_limit(d->plan, c, q);
    if (settings_only_limit(t))
        return limit;
    return d->length[cell] < limit ? d->length[cell] : limit;
}

/* ---- the policies of a model ---- */

/* The step of no context yet. */
static struct budget_at budget_of(const struct speeds *s, int cell, size_t q)
{
    const struct runplan *p = s->d->plan;
    const struct plan_cell *c = &p->cells[cell];
    return (struct budget_at){.prompt = p->sets[c->set].rows[q].n,
                              .longest = runplan_limit(p, c, q),
                              .n_layers = s->loaded->info.n_layers,
                              .window = engine_windows(&s->loaded->info)};
}

static int find_policy(struct speeds *s, const struct plan_cell *c)
{
    int k = 0;
    while (k < s->c.n && s->policy[k] != c->policy)
        k++;
    if (k == s->c.n) {
        s->policy[s->c.n++] = c->policy;
        s->c.policy[k] = (struct policy_speed){.spec = &c->spec};
    }
    return k;
}

static void find_policies(struct speeds *s, const struct dryrun *d)
{
    const struct runplan *p = d->plan;
    size_t n = (size_t)p->n_cells + 1;
    *s = (struct speeds){.d = d, .loaded = p->loaded};
    s->c.policy = xcalloc(n, sizeof *s->c.policy);
    s->policy = xcalloc(n, sizeof *s->policy);
    s->of_cell = xcalloc(n, sizeof *s->of_cell);
    while (s->loaded->model != d->model)
        s->loaded++;
    s->c.options = &s->loaded->options;
    s->c.rows = (int)d->rows;
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *set = &p->sets[c->set];
        s->of_cell[i] = -1;
        if (p->loaded[c->loaded_model].model != d->model)
            continue;
        s->of_cell[i] = find_policy(s, c);
        struct policy_speed *speed = &s->c.policy[s->of_cell[i]];
        for (size_t q = 0; q < set->task.n_problems; q++) {
            struct budget_at at = budget_of(s, i, q);
            at.context = at.prompt + at.longest;
            speed->longest = at.context > speed->longest ? (int)at.context : speed->longest;
            speed->most_held = fmax(speed->most_held, policy_held_at(&c->spec, &at));
        }
    }
}

static void release_speeds(struct speeds *s)
{
    free(s->c.policy);
    free(s->policy);
    free(s->of_cell);
}

/* ---- time ---- */

/* Seconds of prompts that are prefilled densely. They are shared by the cells and samples of a problem, which
 * follow each other; but on a GPU, where completions are longer, jobs are taken policy by policy, and a
 * prompt is run for each (evalcore/sweep/queue_order.c). */
static double prompt_seconds(const struct speeds *s)
{
    const struct runplan *p = s->d->plan;
    int n_prompts = p->n_sets * p->n_loaded, is_gpu = engine_is_on_gpu(&s->loaded->options);
    double seconds = 0;
    char *is_counted = xcalloc((size_t)n_prompts * ((size_t)s->c.n + 1) + 1, 1); /* by all, then by policy */
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *set = &p->sets[c->set];
        int k = s->of_cell[i], at = c->set * p->n_loaded + c->loaded_model;
        if (k < 0 || speed_own_prompts(&s->c.policy[k]))
            continue;
        char *by_all = &is_counted[at], *by_policy = &is_counted[(k + 1) * n_prompts + at];
        for (size_t q = 0; q < set->task.n_problems && !*by_policy; q++)
            if (!*by_all || (is_gpu && set->rows[q].n <= dryrun_expected(s->d, i, q)))
                seconds += speed_prompt(&s->c, set->rows[q].n);
        *by_all = *by_policy = 1;
    }
    free(is_counted);
    return seconds;
}

struct seconds {
    double prompts, decoding;
};

/* Returns what the completions of a cell take at the speed of policy k, which was measured. own: each of them
 * is prefilled on its own, as k does it or, where k prefills densely, so. */
static struct seconds cell_seconds(const struct speeds *s, int cell, int k, int own)
{
    const struct runplan *p = s->d->plan;
    const struct plan_cell *c = &p->cells[cell];
    const struct prompt_set *set = &p->sets[c->set];
    const struct policy_speed *speed = &s->c.policy[k];
    struct seconds t = {0};
    for (size_t q = 0; q < set->task.n_problems; q++) {
        struct budget_at at = budget_of(s, cell, q);
        t.decoding += speed_completion(speed, at, dryrun_expected(s->d, cell, q));
        t.prompts += speed_admission(speed, at.prompt);
        if (own && !speed_own_prompts(speed))
            t.prompts += speed_prompt(&s->c, at.prompt);
    }
    t.decoding *= c->settings->s.samples;
    t.prompts *= c->settings->s.samples;
    return t;
}

/* Of a policy that was not measured: as of the slowest that was. */
static struct seconds slowest_seconds(const struct speeds *s, int cell, int own)
{
    struct seconds slowest = {0};
    for (int k = 0; k < s->c.n; k++) {
        if (!s->c.policy[k].n)
            continue;
        struct seconds t = cell_seconds(s, cell, k, own);
        if (t.prompts + t.decoding > slowest.prompts + slowest.decoding)
            slowest = t;
    }
    return slowest;
}

static void say_time(const struct speeds *s)
{
    double decoding = 0, prompts = prompt_seconds(s);
    double n = s->d->options->n_devices;
    struct str text = {0};
    for (int i = 0; i < s->d->plan->n_cells; i++) {
        int k = s->of_cell[i];
        if (k < 0)
            continue;
        const struct policy_speed *speed = &s->c.policy[k];
        struct seconds t = speed->n ? cell_seconds(s, i, k, speed_own_prompts(speed))
                                    : slowest_seconds(s, i, speed_own_prompts(speed));
        decoding += t.decoding;
        prompts += t.prompts;
    }
    progress_duration(&text, (prompts + decoding) / n);
    printf("time: about %s", str_text(&text));
    if (n > 1)
        printf(" on each of %.0f devices", n);
    str_clear(&text);
    progress_duration(&text, prompts / n);
    printf(", %s of it for prompts, if completions are as long as expected, places stay taken,\n"
           "and each policy has the batch to itself.\n",
           str_text(&text));
    str_release(&text);
}

/* ---- what was measured ---- */

static void say_policy(const char *label, const struct policy_speed *s)
{
    printf("  %-28s", label);
    for (int i = 0; i < s->n; i++)
        printf("%s %.1f ms at %.0f", i ? "," : "", 1e3 * s->step[i], s->context[i]);
    if (speed_own_prompts(s) && s->admit[s->n - 1] > 0)
        printf("; own prefill %.0f tokens/s at %.0f", s->prompt[s->n - 1] / s->admit[s->n - 1],
               s->prompt[s->n - 1]);
    printf("\n");
}

static const char *reason(const struct policy_speed *s)
{
    return s->why.code ? s->why.text : "the time for measuring was up";
}

/* Those that were not measured, each reason with all policies that have it. */
static void say_others(const struct speeds *s)
{
    char *told = xcalloc((size_t)s->c.n + 1, 1);
    int n = 0;
    for (int i = 0; i < s->c.n; i++) {
        const struct policy_speed *of = &s->c.policy[i];
        if (of->n || told[i])
            continue;
        printf("  not measured: %s", s->policy[i]->label);
        for (int k = i + 1; k < s->c.n; k++)
            if (!s->c.policy[k].n && !strcmp(reason(&s->c.policy[k]), reason(of))) {
                printf(", %s", s->policy[k]->label);
                told[k] = 1;
            }
        printf(" (%s)\n", reason(of));
        n++;
    }
    if (n)
        printf("  These count as the slowest of those that were measured.\n");
    free(told);
}

static void say_speeds(const struct speeds *s)
{
    int first = 0;
    while (!s->c.policy[first].n)
        first++;
    printf("speed: measured now, time of a step with %.0f sequences by tokens of context\n",
           s->c.policy[first].rows);
    for (int i = 0; i < s->c.n; i++)
        if (s->c.policy[i].n)
            say_policy(s->policy[i]->label, &s->c.policy[i]);
    say_others(s);
    for (int i = 0; i < s->c.n_prompts; i++)
        printf("%s %.0f tokens/s at %.0f%s",
               i ? "," : "dense prefill:", s->c.prompt[i] / s->c.prompt_seconds[i], s->c.prompt[i],
               i == s->c.n_prompts - 1 ? "\n" : "");
}

void dryrun_time(const struct dryrun *d)
{
    struct speeds s;
    struct err why = {0};
    struct str weights = {0};
    find_policies(&s, d);
    printf("\n");
    str_bytes(&weights, (double)s.loaded->info.weight_bytes);
    if (d->options->calibration == CALIBRATE_NO || d->rows < 1)
        printf("speed: not measured, so no time is given\n");
    else if (d->options->calibration == CALIBRATE_AUTO && s.loaded->info.weight_bytes > LARGE_WEIGHTS)
        printf(
            "speed: not measured, since that would load %s of weights, so no time is given; --calibrate yes "
            "does it\n",
            weights.data);
    else if (calibrate(&s.c, &why))
        printf("speed: could not be measured, so no time is given: %s\n", why.text);
    else {
        say_speeds(&s);
        say_time(&s);
    }
    str_release(&weights);
    release_speeds(&s);
}
