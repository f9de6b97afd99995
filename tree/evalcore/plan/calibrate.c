/* Measuring speed before a run (contract: calibrate.h). The sequences of a step have the same prompt, which
 * is run once, and pages of their own, as those of a run have. */
#include "evalcore/plan/calibrate.h"

#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"

enum { SHORT = 64, LONG = 1024, STEPS = 8, WARM_STEPS = 12 };
#define MOST_SECONDS 3.0 /* of one prompt, or of the steps at one context */

struct point {
    double context, step, prompt_speed, rows;
};

static int submit_rows(struct engine *en, struct policy *full, int rows, const int32_t *ids, int n_prompt,
                       struct err *e)
{
    struct request r = {.prompt = ids,
                        .n_prompt = n_prompt,
                        .policy = full,
                        .max_new_tokens = STEPS + WARM_STEPS,
                        .ignore_eos = 1,
                        .end_token = -1};
    for (int i = 0; i < rows && !e->code; i++)
        engine_submit(en, &r, e);
    return e->code;
}

/* Steps until everything has finished. The first steps, in which sequences are admitted and after which a
 * step is captured (engine/graphs.c), do not count, nor those after the first sequences have finished. */
static int time_steps(struct engine *en, struct point *p, struct err *e)
{
    const struct completion *done = NULL;
    struct engine_stats s, start, from = {0};
    double began = 0;
    int n = 0, some_finished = 0;
    engine_stats(en, &start);
    while (engine_pending(en)) {
        if (engine_step(en, &done, &n, e))
            return e->code;
        engine_stats(en, &s);
        double now = clock_seconds();
        some_finished |= n > 0;
        if (some_finished || s.decode_steps < start.decode_steps + WARM_STEPS)
            continue;
        if (!began) {
            began = now;
            from = s;
        } else if (s.decode_steps > from.decode_steps) {
            double steps = (double)(s.decode_steps - from.decode_steps);
            p->step = (now - began) / steps;
            p->rows = (double)(s.decode_tokens - from.decode_tokens) / steps;
        }
    }
    return 0;
}

static int measure_steps(struct engine *en, struct policy *full, int rows, int n_prompt, struct point *p,
                         struct err *e)
{
    const struct engine_info *info = engine_info(en);
    int32_t *ids = xmalloc((size_t)n_prompt * sizeof *ids);
    struct engine_stats a, b;
    for (int i = 0; i < n_prompt; i++) /* any tokens do: the speed does not depend on them */
        ids[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)info->vocab);
    engine_stats(en, &a);
    int rc = submit_rows(en, full, rows, ids, n_prompt, e);
    if (!rc)
        rc = time_steps(en, p, e);
    engine_stats(en, &b);
    double seconds = b.prefill_seconds - a.prefill_seconds;
    p->context = n_prompt + WARM_STEPS + STEPS / 2.0;
    p->prompt_speed = seconds > 0 ? (double)(b.prefill_tokens - a.prefill_tokens) / seconds : 0;
    free(ids);
    return rc;
}

/* The longer context: LONG, or what the run or the time allows. */
static int longer_context(int longest, double prompt_speed)
{
    double most = prompt_speed * MOST_SECONDS;
    int n = longest < LONG ? longest : LONG;
    return most < n ? (int)most : n;
}

int calibrate(struct speed *out, const struct engine_options *o, int rows, int longest, struct err *e)
{
    struct engine_options options = *o;
    struct arena a = {0};
    struct policy_spec spec;
    struct policy *full;
    struct engine *en = NULL;
    struct point p[2] = {{0}};
    *out = (struct speed){0};
    options.share_prompts = 1;
    int rc = engine_open(&en, &options, e);
    if (!rc && longest > engine_info(en)->max_context - STEPS - WARM_STEPS)
        longest = engine_info(en)->max_context - STEPS - WARM_STEPS;
    if (!rc)
        rc = policy_spec_text(&spec, "full", &a, e);
    if (!rc)
        rc = engine_policy(en, &spec, &full, e);
    if (!rc)
        rc = measure_steps(en, full, rows, longest < SHORT ? longest : SHORT, &p[0], e);
    p[1] = p[0];
    int n = rc ? 0 : longer_context(longest, p[0].prompt_speed);
    if (!rc && n > 2 * SHORT && p[0].step * (STEPS + WARM_STEPS) < MOST_SECONDS)
        rc = measure_steps(en, full, rows, n, &p[1], e);
    if (!rc && !(p[0].step > 0 && p[1].step > 0 && p[1].prompt_speed > 0))
        rc = err_set(e, ERR_DEVICE, "no step could be timed");
    if (!rc) /* fewer rows at the longer context, where memory is short, are scaled up */
        *out = (struct speed){.rows = (int)(p[0].rows + 0.5),
                              .context = {p[0].context, p[1].context},
                              .step = {p[0].step, p[1].step * p[0].rows / p[1].rows},
                              .prompt = p[1].prompt_speed};
    engine_close(en);
    arena_release(&a);
    return rc;
}

double speed_completion(const struct speed *s, double prompt, double tokens)
{
    double context = prompt + tokens / 2, span = s->context[1] - s->context[0];
    double slope = span > 0 ? (s->step[1] - s->step[0]) / span : 0;
    double step = s->step[0] + (slope > 0 ? slope : 0) * (context - s->context[0]);
    return tokens * (step > s->step[0] / 2 ? step : s->step[0] / 2) / s->rows;
}
