/* From a job of the plan to a request of the engine (contract: job_submit.h). */
#include "evalcore/sweep/job_submit.h"

#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

/* Tokens between two points of a completion's curve of reads: about 32 points over the longest completion,
 * 1,024 tokens apart at a limit of 32,768, but no closer than 32 tokens. */
static int curve_step(int limit)
{
    int every = 32;
    while (every < limit / 32)
        every *= 2;
    return every;
}

int submit_job(const struct runplan *p, struct job *j, struct err *e)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    const struct settings *t = &c->settings->s;
    /* the problem's own end token cannot be the first one (pred.py's min_length for samsum) */
    int32_t own_end = s->rows[j->problem].end_token;
    struct request r = {.prompt = s->ids.id + s->rows[j->problem].first,
                        .n_prompt = s->rows[j->problem].n,
                        .policy = c->instance,
                        .sampling = {.temperature = t->temperature,
                                     .top_k = t->top_k,
                                     .top_p = t->top_p,
                                     .seed = (uint64_t)t->seed,
                                     .problem = hash_bytes64(problem->id, strlen(problem->id)),
                                     .sample = (uint32_t)j->sample},
                        .max_new_tokens = settings_max_new(t, problem->max_new_tokens),
                        .min_new_tokens = own_end >= 0 && !t->min_new_tokens ? 1 : t->min_new_tokens,
                        .max_total_tokens = t->max_total_tokens,
                        .ignore_eos = t->ignore_eos,
                        .stop = t->stop,
                        .n_stop = t->n_stop,
                        .end_token = own_end >= 0 ? own_end : s->end_token,
                        .reference = c->reference,
                        .user = j};
    r.curve_every = c->reference ? 0 : curve_step(r.max_new_tokens);
    if (c->reference) {
        r.forced = r.prompt + r.n_prompt;
        r.n_forced = problem->max_new_tokens;
    }
    int rc = engine_submit(p->loaded[c->loaded_model].engine, &r, e);
    return rc ? err_add(e, "%s, problem %s", c->label, problem->id), rc : 0;
}

void submit_decoded(const struct runplan *p, struct decoded *d)
{
    *d = (struct decoded){.running = d->running, .cap = d->cap};
    for (int i = 0; i < p->n_loaded; i++) {
        const struct engine *en = p->loaded[i].engine;
        struct engine_stats s;
        engine_stats(en, &s);
        d->tokens += (double)s.decode_tokens;
        d->steps += (double)s.decode_steps;
        d->decode_seconds += s.decode_seconds;
        d->prompt_seconds += s.prefill_seconds;
        int most = p->loaded[i].info.max_batch;
        xgrow(&d->running, &d->cap, (size_t)(d->n + most), sizeof *d->running);
        int n = engine_running(en, d->running + d->n);
        d->is_waiting |= engine_waiting(en) && n < most;
        d->n += n;
    }
}
