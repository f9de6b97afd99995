/* Takes requests: refuses those that can never run and copies the others into the queue. Runs lists of them
 * to their ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"

/* Is a second sequence decoded beside the request? */
static int has_pair(const struct request *r)
{
    return r->reference && r->reference != r->policy;
}

static int refuse_long(const struct engine *en, const struct request *r, struct err *e)
{
    int context = en->options.max_context;
    struct str advice = {0};
    if (context == en->info.max_position)
        engine_context_advice(&en->info, &advice);
    int rc = r->n_prompt >= context
                 ? err_set(e, ERR_USAGE, "a prompt of %d tokens leaves no room in a context of %d%s",
                           r->n_prompt, context, str_text(&advice))
                 : err_set(e, ERR_USAGE, "%d tokens do not fit a context of %d%s", r->n_prompt + r->n_forced,
                           context, str_text(&advice));
    str_release(&advice);
    return rc;
}

static int check_request(const struct engine *en, const struct request *r, struct err *e)
{
    int context = en->options.max_context;
    if (r->n_prompt < 1)
        return err_set(e, ERR_USAGE, "the prompt is empty");
    if (r->max_new_tokens < 1 && !r->n_forced)
        return err_set(e, ERR_USAGE, "max_new_tokens is %d; at least 1 is needed", r->max_new_tokens);
    if (r->n_prompt >= context || (r->n_forced && r->n_prompt + r->n_forced > context))
        return refuse_long(en, r, e);
    if (r->n_forced && r->max_total_tokens > 0 && r->n_prompt + r->n_forced > r->max_total_tokens)
        return err_set(e, ERR_USAGE, "%d forced tokens after a prompt of %d do not fit max_total_tokens %d",
                       r->n_forced, r->n_prompt, r->max_total_tokens);
    if (r->max_total_tokens > 0 && r->n_prompt >= r->max_total_tokens)
        return err_set(e, ERR_USAGE, "a prompt of %d tokens leaves no room in max_total_tokens %d",
                       r->n_prompt, r->max_total_tokens);
    if (r->n_scored < 0 || r->n_scored >= r->n_prompt || (r->n_scored && (r->reference || !r->want_logprobs)))
        return err_set(e, ERR_USAGE,
                       "%d tokens of a prompt of %d cannot be scored: at least one stands before them, and "
                       "their log-probabilities are wanted, without a reference",
                       r->n_scored, r->n_prompt);
    if (r->reference && !r->n_forced)
        return err_set(e, ERR_USAGE, "a likelihood is that of given tokens, and the request has none");
    if (has_pair(r) && en->options.max_batch < 2)
        return err_set(
            e, ERR_USAGE,
            "a likelihood is decoded beside its reference, which takes two places of the batch; use "
            "a max_batch of 2 or more");
    if (!(r->sampling.temperature >= 0) || isinf(r->sampling.temperature))
        return err_set(e, ERR_USAGE, "temperature is %g; 0 or more is needed", r->sampling.temperature);
    for (int i = 0; i < r->n_prompt; i++)
        if (r->prompt[i] < 0 || r->prompt[i] >= en->model.config.vocab)
            return err_set(e, ERR_USAGE, "prompt token %d is %d, outside the vocabulary of %d", i,
                           r->prompt[i], en->model.config.vocab);
    for (int i = 0; i < r->n_forced; i++)
        if (r->forced[i] < 0 || r->forced[i] >= en->model.config.vocab)
            return err_set(e, ERR_USAGE, "token %d is %d, outside the vocabulary of %d", r->n_prompt + i,
                           r->forced[i], en->model.config.vocab);
    return 0;
}

/* The most tokens that the completion may have by the limits of the request and of the context. */
static int completion_limit(const struct engine *en, const struct request *r)
{
    int limit = r->n_forced ? r->n_forced : r->max_new_tokens;
    int left = en->options.max_context - r->n_prompt;
    if (r->max_total_tokens > 0 && r->max_total_tokens - r->n_prompt < left)
        left = r->max_total_tokens - r->n_prompt;
    return limit < left ? limit : left;
}

/* A sequence of the request in the queue. Its copies are its own. */
static struct sequence *enqueue_request(struct engine *en, const struct request *r, int limit)
{
    struct sequence *s = xcalloc(1, sizeof *s);
    s->req = *r;
    s->seq = -1;
    s->limit = limit;
    s->prompt = xmalloc((size_t)r->n_prompt * sizeof *s->prompt);
    memcpy(s->prompt, r->prompt, (size_t)r->n_prompt * sizeof *s->prompt);
    s->req.prompt = s->prompt;
    if (r->n_forced) {
        s->forced = xmalloc((size_t)r->n_forced * sizeof *s->forced);
        memcpy(s->forced, r->forced, (size_t)r->n_forced * sizeof *s->forced);
        s->req.forced = s->forced;
    }
    s->stop = xcalloc((size_t)r->n_stop + 1, sizeof *s->stop);
    for (int i = 0; i < r->n_stop; i++)
        s->stop[i] = xstrdup(r->stop[i]);
    s->ids = xmalloc((size_t)limit * sizeof *s->ids);
    if (r->want_logprobs) {
        size_t n = (size_t)r->n_scored + (size_t)limit + 1;
        s->logprobs = xmalloc(n * sizeof *s->logprobs);
        s->gaps = xmalloc(n * sizeof *s->gaps);
        s->tops = xmalloc(n * sizeof *s->tops);
        s->top_logprobs = xmalloc(n * sizeof *s->top_logprobs);
    }
    xgrow(&en->waiting, &en->cap_waiting, (size_t)en->n_waiting + 1, sizeof *en->waiting);
    en->waiting[en->n_waiting++] = s;
    return s;
}

/* The sequence that the request is compared with: the same tokens under the other policy. */
static struct sequence *enqueue_reference(struct engine *en, const struct request *r, int limit)
{
    struct request q = *r;
    q.policy = r->reference;
    q.reference = NULL;
    q.want_logprobs = 0;
    struct sequence *s = enqueue_request(en, &q, limit);
    s->is_reference = 1;
    return s;
}

int engine_submit(struct engine *en, const struct request *r, struct err *e)
{
    if (check_request(en, r, e) || engine_reserve(en, 1, e))
        return e->code;
    int limit = completion_limit(en, r), pages = kv_pages(r->n_prompt + limit) + SPARE_PAGES;
    if (pages > en->cache.view.max_pages)
        pages = en->cache.view.max_pages;
    int64_t blocks = kvcache_most(&en->cache, pages) * (has_pair(r) ? 2 : 1);
    if (blocks > en->cache.n_blocks)
        return err_set(e, ERR_USAGE,
                       "a sequence of %d tokens needs %lld KV blocks and the cache has %d; give it a larger "
                       "pool or a smaller limit",
                       r->n_prompt + limit, (long long)blocks, en->cache.n_blocks);
    struct sequence *reference = has_pair(r) ? enqueue_reference(en, r, limit) : NULL;
    struct sequence *s = enqueue_request(en, r, limit);
    s->pair = reference;
    if (reference)
        reference->pair = s;
    return 0;
}

static int hand_out(const struct completion *c, completion_fn *fn, void *context, struct err *e)
{
    if (c->finish == FINISHED_ERROR)
        return err_set(e, ERR_DEVICE, "%s", c->error ? c->error : "decoding failed");
    return fn ? fn(context, c, e) : 0;
}

int engine_run(struct engine *en, const struct request *requests, int n, completion_fn *fn, void *context,
               struct err *e)
{
    int rc = 0;
    for (int i = 0; i < n && !rc; i++)
        rc = engine_submit(en, &requests[i], e);
    while (!rc && engine_pending(en)) {
        const struct completion *done;
        int n_done = 0;
        rc = engine_step(en, &done, &n_done, e);
        for (int i = 0; i < n_done && !rc; i++)
            rc = hand_out(&done[i], fn, context, e);
    }
    return rc;
}

static int keep_completion(void *context, const struct completion *c, struct err *e)
{
    (void)e;
    *(const struct completion **)context = c;
    return 0;
}

int engine_run_one(struct engine *en, const struct request *r, const struct completion **out, struct err *e)
{
    return engine_run(en, r, 1, keep_completion, out, e);
}
