/* Requests of options and what becomes of their completions (contract: option_jobs.h). Sums are taken in the
 * order of options, whichever ended first. */
#include "evalcore/sweep/option_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/store/completion_json.h"

static const struct prompt_option *option_of(const struct prompt_set *s, const struct job *j, int option)
{
    return &s->options[(size_t)j->problem * ENGINE_OPTIONS_MAX + (size_t)option];
}

void option_request(struct request *out, const struct runplan *p, const struct job *j, int option,
                    int32_t **buffer, size_t *cap)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    const struct prompt_option *o = option_of(s, j, option);
    int is_block = s->task.options.scored == SCORED_BLOCK, all = o->n_context + o->n_given;
    int prompt = is_block ? all - 1 : o->n_context > 1 ? o->n_context - 1 : 1;
    xgrow(buffer, cap, (size_t)all, sizeof **buffer);
    memcpy(*buffer, s->ids.id + o->context, (size_t)o->n_context * sizeof **buffer);
    memcpy(*buffer + o->n_context, s->ids.id + o->given, (size_t)o->n_given * sizeof **buffer);
    *out = (struct request){.prompt = *buffer,
                            .n_prompt = prompt,
                            .policy = c->instance,
                            .forced = *buffer + prompt,
                            .n_forced = all - prompt,
                            .want_logprobs = 1,
                            .n_scored = is_block ? o->n_given - 1 : 0,
                            .ignore_eos = 1,
                            .end_token = -1};
}

struct option_job *option_job_new(const struct runplan *p, long job)
{
    const struct job *j = &p->jobs[job];
    const struct prompt_set *s = &p->sets[p->cells[j->cell].set];
    const struct problem *problem = &s->task.problems[j->problem];
    struct option_job *o = xcalloc(1, sizeof *o);
    o->job = job;
    o->n = o->n_left = problem->n_options;
    o->ids = xmalloc(((size_t)problem->max_new_tokens + 1) * sizeof *o->ids);
    for (int i = 0; i < o->n; i++) {
        const struct prompt_option *x = option_of(s, j, i);
        memcpy(o->ids + o->n_ids, s->ids.id + x->given, (size_t)x->n_given * sizeof *o->ids);
        o->part[i].first = o->n_ids;
        o->n_ids += x->n_given;
        o->part[i].score.tokens = x->n_given;
        o->part[i].score.prompt = x->n_context; /* what its request prefills follows */
    }
    for (int i = 0, step = 0; i < o->n; i++) {
        struct option_score *x = &o->part[i].score;
        int all = x->prompt + x->tokens;
        if (s->task.options.scored == SCORED_BLOCK)
            x->prompt += x->tokens - 1;
        else
            x->prompt -= x->prompt > 1;
        o->part[i].n_forced = all - x->prompt;
        o->part[i].step = step;
        step += all - x->prompt;
    }
    if (j->replay) {
        o->logprobs = xcalloc((size_t)o->n_ids + 1, sizeof *o->logprobs);
        o->gaps = xcalloc((size_t)o->n_ids + 1, sizeof *o->gaps);
        o->tops = xcalloc((size_t)o->n_ids + 1, sizeof *o->tops);
    }
    return o;
}

static void fail_option(struct option_part *part, int option, const char *why)
{
    struct str text = {0};
    str_printf(&text, "option %c: %s", 'A' + option, why);
    part->error = xstrdup(str_text(&text));
    str_release(&text);
}

static void join_parts(struct option_job *o, struct completion *out)
{
    *out = (struct completion){
        .ids = o->ids, .n_ids = o->n_ids, .text = "", .finish = FINISHED_STOP, .options = {.n = o->n}};
    if (o->logprobs) {
        out->logprobs = o->logprobs;
        out->gaps = o->gaps;
        out->tops = o->tops;
        out->n_logprobs = o->n_ids;
    }
    for (int i = 0; i < o->n; i++) {
        const struct option_part *part = &o->part[i];
        completion_add_counts(&out->kv, &part->kv);
        out->options.option[i] = part->score;
        out->preempted += part->preempted;
        out->seconds = fmax(out->seconds, part->seconds);
        out->error = out->error ? out->error : part->error;
    }
    if (!out->error)
        return;
    out->finish = FINISHED_ERROR;
    out->options.n = out->n_ids = out->n_logprobs = 0;
}

/* The scores of the option's own tokens stand last. */
static void keep_tokens(const struct option_job *o, const struct option_part *part,
                        const struct completion *c)
{
    size_t n = (size_t)part->score.tokens, from = (size_t)(c->n_logprobs - part->score.tokens);
    memcpy(o->logprobs + part->first, c->logprobs + from, n * sizeof *o->logprobs);
    memcpy(o->gaps + part->first, c->gaps + from, n * sizeof *o->gaps);
    memcpy(o->tops + part->first, c->tops + from, n * sizeof *o->tops);
}

int option_job_take(struct option_job *o, int option, const struct completion *c, struct completion *out)
{
    struct option_part *part = &o->part[option];
    part->kv = c->kv;
    part->seconds = c->seconds;
    part->preempted = c->preempted;
    if (c->finish == FINISHED_ERROR) {
        fail_option(part, option, c->error ? c->error : "it could not be decoded");
    } else {
        for (int i = c->n_logprobs - part->score.tokens; i < c->n_logprobs; i++)
            part->score.logprob += (double)c->logprobs[i];
        if (!isfinite(part->score.logprob))
            fail_option(part, option, "its log-likelihood is not finite");
        if (o->logprobs)
            keep_tokens(o, part, c);
    }
    if (--o->n_left)
        return 0;
    join_parts(o, out);
    return 1;
}

void option_job_free(struct option_job *o)
{
    if (!o)
        return;
    for (int i = 0; i < o->n; i++)
        free(o->part[i].error);
    free(o->ids);
    free(o->logprobs);
    free(o->gaps);
    free(o->tops);
    free(o);
}
