/* How long a run will take: expected tokens over a speed that was measured on the device just now. Nothing is
 * guessed where nothing was measured. */
#include <stdio.h>
#include <stdlib.h>

#include "evalcore/cli/progress.h"
#include "evalcore/plan/calibrate.h"
#include "evalcore/plan/dryrun_parts.h"

#define LARGE_WEIGHTS ((size_t)2 << 30)

/* Tokens of all prompts. Dense prefills are shared by the cells and samples of a problem, which follow each
 * other; a policy with a prefill of its own pays for each. */
static double prompt_tokens(const struct runplan *p, int model)
{
    double tokens = 0;
    char *is_counted = xcalloc((size_t)p->n_sets * (size_t)p->n_loaded + 1, 1);
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *s = &p->sets[c->set];
        char *counted = &is_counted[c->set * p->n_loaded + c->loaded_model];
        int own = (policy_needs(&c->spec) & POLICY_PREFILL) != 0;
        if (p->loaded[c->loaded_model].model != model)
            continue;
        for (size_t q = 0; q < s->task.n_problems && (own || !*counted); q++)
            tokens += (double)s->rows[q].n * (own ? c->settings->s.samples : 1);
        *counted |= !own;
    }
    free(is_counted);
    return tokens;
}

static void say_time(const struct dryrun *d, const struct speed *s)
{
    const struct runplan *p = d->plan;
    double decode = 0, prompts = prompt_tokens(p, d->model) / s->prompt, n = d->options->n_devices;
    struct str text = {0};
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *set = &p->sets[c->set];
        for (size_t q = 0; q < set->task.n_problems && p->loaded[c->loaded_model].model == d->model; q++)
            decode += speed_completion(s, set->rows[q].n, dryrun_tokens(d, i, q)) * c->settings->s.samples;
    }
    progress_duration(&text, (prompts + decode) / n);
    printf("time: about %s", text.data);
    if (n > 1)
        printf(" on each of %.0f devices", n);
    str_clear(&text);
    progress_duration(&text, prompts / n);
    printf(", %s of it for prompts, if completions are as long as expected, places stay taken,\nand all "
           "policies "
           "are as fast as full attention.\n",
           text.data);
    str_release(&text);
}

void dryrun_time(const struct dryrun *d)
{
    const struct loaded_model *loaded = d->plan->loaded;
    while (loaded->model != d->model)
        loaded++;
    struct speed s;
    struct err why = {0};
    struct str weights = {0};
    printf("\n");
    str_bytes(&weights, (double)loaded->info.weight_bytes);
    if (d->options->calibration == CALIBRATE_NO || d->rows < 1)
        printf("speed: not measured, so no time is given\n");
    else if (d->options->calibration == CALIBRATE_AUTO && loaded->info.weight_bytes > LARGE_WEIGHTS)
        printf(
            "speed: not measured, since that would load %s of weights, so no time is given; --calibrate yes "
            "does it\n",
            weights.data);
    else if (calibrate(&s, &loaded->options, (int)d->rows, (int)d->longest, &why))
        printf("speed: could not be measured, so no time is given: %s\n", why.text);
    else {
        printf("speed: measured now with full attention, %d sequences: %.1f ms a step at a context of %.0f "
               "tokens",
               s.rows, 1e3 * s.step[0], s.context[0]);
        if (s.context[1] > s.context[0])
            printf(", %.1f ms at %.0f", 1e3 * s.step[1], s.context[1]);
        printf(";\nprompts %.0f tokens/s\n", s.prompt);
        say_time(d, &s);
    }
    str_release(&weights);
}
