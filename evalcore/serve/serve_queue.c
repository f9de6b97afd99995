/* Completions and the decoder that decodes them (contract: serve_parts.h). */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/serve/serve_parts.h"

/* ---- waiting */

int serve_enqueue(struct exchange *x)
{
    struct server *s = x->s;
    size_t tokens = 0;
    for (int i = 0; i < x->q.n_prompts; i++)
        tokens += x->prompt[i].n;
    if (x->n_choices > s->n_places || tokens > PROMPT_TOKENS_MAX)
        return api_refuse(&x->refusal, 400, "prompt",
                          "%d answers to prompts of %zu tokens are more than fit the queue (%d answers, %d "
                          "tokens); divide the request",
                          x->n_choices, tokens, s->n_places, PROMPT_TOKENS_MAX);
    if ((size_t)x->n_choices + s->n_waiting > (size_t)s->n_free ||
        tokens + s->prompt_tokens > PROMPT_TOKENS_MAX)
        return api_refuse(&x->refusal, 429, NULL, "the queue is full; try again later");
    if (s->reply_bytes + x->n_echoed > REPLIES_MAX)
        return api_refuse(&x->refusal, 429, NULL, UNREAD, s->reply_bytes >> 20);
    serve_hold(x, x->n_echoed);
    s->prompt_tokens += tokens;
    s->counted.prompt_tokens += (double)tokens;
    xgrow(&s->waiting, &s->cap_waiting, s->n_waiting + (size_t)x->n_choices, sizeof *s->waiting);
    for (int i = 0; i < x->n_choices; i++)
        s->waiting[s->n_waiting++] = &x->choice[i];
    x->is_queued = 1;
    x->state = EXCHANGE_DECODING;
    return 0;
}

/* A choice that was lost waits again, in front. */
static void wait_again(struct server *s, struct served *c)
{
    xgrow(&s->waiting, &s->cap_waiting, s->n_waiting + 1, sizeof *s->waiting);
    memmove(s->waiting + 1, s->waiting, s->n_waiting++ * sizeof *s->waiting);
    s->waiting[0] = c;
    s->n_suspects += c->fate.company > 0;
}

static void leave_queue(struct server *s, const struct exchange *x)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_waiting; i++)
        if (s->waiting[i]->of != x)
            s->waiting[kept++] = s->waiting[i];
        else
            s->n_suspects -= s->waiting[i]->fate.company > 0;
    s->n_waiting = kept;
}

/* ---- places */

static void leave_place(struct server *s, struct served *c)
{
    s->place[c->place] = NULL;
    s->free_place[s->n_free++] = (int)c->place;
    c->place = -1;
    c->of->n_held--;
}

void serve_abandon(struct exchange *x)
{
    struct server *s = x->s;
    struct err ignored = {0};
    if (x->is_gone)
        return;
    x->is_gone = 1;
    leave_queue(s, x);
    s->counted.cancelled += x->n_open > 0;
    for (int i = 0; i < x->n_choices; i++)
        if (x->choice[i].place >= 0)
            s->decoder.cancel(&s->decoder, x->choice[i].place, &ignored);
}

void serve_give_up(struct exchange *x)
{
    struct err ignored = {0};
    if (x->is_gone || !x->n_open)
        return;
    api_refuse(&x->refusal, 503, NULL, "the server ends before the answer is there; try again later");
    leave_queue(x->s, x);
    for (int i = 0; i < x->n_choices; i++) {
        struct served *c = &x->choice[i];
        if (c->place >= 0)
            x->s->decoder.cancel(&x->s->decoder, c->place, &ignored);
        c->is_over = 1;
    }
    x->n_open = 0;
    serve_conclude(x);
    serve_wake(x);
}

void serve_forget_places(struct server *s)
{
    for (int i = 0; i < s->n_places && s->place; i++) {
        struct served *c = s->place[i];
        if (!c)
            continue;
        leave_place(s, c);
        serve_drop(c->of);
    }
}

/* ---- what the decoder says */

static void keep_tokens(struct served *c, const struct decoder_tokens *t)
{
    int to = t->from + t->n;
    if (to <= c->n_ids || t->from > c->n_ids)
        return; /* a completion that began anew has the same tokens */
    xgrow(&c->ids, &c->cap_ids, (size_t)to + 1, sizeof *c->ids);
    memcpy(c->ids + t->from, t->ids, (size_t)t->n * sizeof *t->ids);
    c->n_ids = to;
    if (t->logprobs)
        token_scores_put(&c->scores, t->from, t->n, t->logprobs, t->tops, t->top_logprobs);
}

/* The log-probabilities of a completion begin with those of its prompt, where that was scored: with a forced
 * token's, which is the prompt's last one. Returns -1 where they are not there. */
static int keep_completion(struct served *c, const struct completion *done)
{
    const struct request *r = &c->request.r;
    int first = r->want_logprobs ? r->n_scored + r->n_forced : 0, n = done->n_logprobs;
    if (n < first)
        return -1;
    token_scores_put(&c->prompt_scores, 0, first, done->logprobs, done->tops, done->top_logprobs);
    c->c = *done;
    c->c.n_ids = c->of->q.max_tokens ? done->n_ids : 0;
    int has_scores = done->logprobs && n - first >= c->c.n_ids, has_tops = has_scores && done->tops;
    const struct decoder_tokens t = {.n = c->c.n_ids,
                                     .ids = done->ids,
                                     .logprobs = has_scores ? done->logprobs + first : NULL,
                                     .tops = has_tops ? done->tops + first : NULL,
                                     .top_logprobs = has_tops ? done->top_logprobs + first : NULL};
    keep_tokens(c, &t);
    c->n_ids = c->c.n_ids;
    c->has_end = c->of->q.is_echo && c->of->q.max_tokens && has_scores && n - first > c->c.n_ids;
    if (c->has_end) {
        xgrow(&c->ids, &c->cap_ids, (size_t)c->n_ids + 1, sizeof *c->ids);
        c->ids[c->n_ids] = done->end_token;
        token_scores_put(&c->scores, c->n_ids, 1, t.logprobs + c->n_ids, has_tops ? t.tops + c->n_ids : NULL,
                         has_tops ? t.top_logprobs + c->n_ids : NULL);
    }
    if (c->of->q.max_tokens)
        str_add(&c->text, done->text, done->n_text);
    return 0;
}

static void end_choice(struct served *c)
{
    struct exchange *x = c->of;
    c->is_over = 1;
    x->n_open--;
    if (x->is_gone) {
        serve_drop(x);
        return;
    }
    if (x->q.is_streamed)
        serve_tell(c);
    if (!x->n_open)
        serve_conclude(x);
    if (!x->n_open || x->q.is_streamed)
        serve_wake(x);
}

/* A completion that failed: the request fails with it. */
static void fail_choice(struct served *c, int status, const char *why)
{
    struct exchange *x = c->of;
    c->c.finish = FINISHED_ERROR;
    if (!x->is_gone) {
        x->s->counted.errors++;
        api_refuse(&x->refusal, status, NULL, "%s", why);
    }
    end_choice(c);
}

static void count_completion(struct server *s, const struct completion *c)
{
    s->counted.completions++;
    s->counted.tokens += c->n_ids;
    s->counted.kv_reads += c->kv.reads;
    s->counted.kv_reads_full += c->kv.reads_full;
    s->counted.aux_reads += c->kv.aux_reads;
}

/* An error of a completion that never ran is the request's own. */
static int take_done(void *context, int w, long j, const struct decoded_job *d, struct err *e)
{
    struct server *s = context;
    if (j >= s->n_places)
        return serve_pin_done(s, w, &d->c, e);
    struct served *c = s->place[j];
    leave_place(s, c);
    if (d->c.finish == FINISHED_ERROR) {
        fail_choice(c, d->c.n_ids || d->c.seconds > 0 ? 500 : 400, d->c.error ? d->c.error : "it failed");
        return 0;
    }
    if (keep_completion(c, &d->c)) {
        fail_choice(c, 500, "the worker told no log-probabilities of the prompt");
        return 0;
    }
    count_completion(s, &c->c);
    end_choice(c);
    return 0;
}

static int take_lost(void *context, int w, long j, const struct err *why, int *is_proven, struct err *e)
{
    struct server *s = context;
    (void)e;
    if (j >= s->n_places) {
        serve_pin_lost(s, w);
        return 1;
    }
    struct served *c = s->place[j];
    leave_place(s, c);
    s->counted.restarts++;
    if (c->of->is_gone) {
        fail_choice(c, 500, why->text);
        return 0;
    }
    if (why->code != ERR_DEVICE || serve_lost(s, w, c)) {
        wait_again(s, c);
        return 1;
    }
    *is_proven = 1; /* one worker is enough: it decoded the pinned request before */
    struct str text = {0};
    str_printf(&text, "the request ended %d workers, the last one alone: %s", c->fate.deaths, why->text);
    log_warn("%s: %s", c->of->id, str_text(&text));
    fail_choice(c, 500, str_text(&text));
    str_release(&text);
    return 0;
}

static void take_tokens(void *context, long j, const struct decoder_tokens *t)
{
    struct server *s = context;
    struct served *c = s->place[j];
    if (!c || c->of->is_gone)
        return;
    keep_tokens(c, t);
    serve_tell(c);
    serve_wake(c->of);
}

struct decoder_user serve_user(struct server *s)
{
    return (struct decoder_user){.context = s, .done = take_done, .lost = take_lost, .tokens = take_tokens};
}
