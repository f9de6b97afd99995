/* The tokens of one sequence on the host: its limits, end tokens, stop strings and counters, and the
 * completion that is handed out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"
#include "evalcore/base/clock.h"

static const char *const finish_names[] = {
    [FINISHED_STOP] = "stop", [FINISHED_LENGTH] = "length", [FINISHED_ERROR] = "error"};

const char *finish_name(enum finish_reason f)
{
    return finish_names[f];
}

int finish_find(const char *name, enum finish_reason *out)
{
    for (size_t i = 0; i < sizeof finish_names / sizeof *finish_names; i++)
        if (!strcmp(name, finish_names[i])) {
            *out = (enum finish_reason)i;
            return 1;
        }
    return 0;
}

int sequence_drops(const struct sequence *s)
{
    return (s->req.policy->needs & POLICY_DROP) != 0;
}

static int is_end_token(const struct engine *en, const struct sequence *s, int32_t id)
{
    if (s->req.ignore_eos)
        return 0;
    if (id == s->req.end_token)
        return 1;
    for (int i = 0; i < en->model.config.n_eos; i++)
        if (en->model.config.eos[i] == id)
            return 1;
    return 0;
}

/* Lists the end tokens that is_end_token() looks for: at most MODEL_MAX_EOS and one of the request. */
static void list_end_tokens(const struct engine *en, const struct sequence *s, int32_t ids[8])
{
    int n = 0;
    for (; n < en->model.config.n_eos; n++)
        ids[n] = en->model.config.eos[n];
    if (s->req.end_token >= 0)
        ids[n] = s->req.end_token;
}

/* Before min_new_tokens an end token may not be drawn. From there on the device itself sees that it ends the
 * sequence. */
void sequence_settings(const struct engine *en, const struct sequence *s, int n_ids,
                       struct sample_settings *out)
{
    const struct sampling *p = &s->req.sampling;
    memset(out, 0, sizeof *out);
    out->temperature = (float)p->temperature;
    out->top_p = p->top_p > 0 && p->top_p < 1 ? (float)p->top_p : 1;
    out->top_k = p->top_k;
    out->sample = p->sample;
    out->seed = p->seed;
    out->problem = p->problem;
    for (int i = 0; i < 8; i++)
        out->banned[i] = out->ends[i] = -1;
    if (!s->req.ignore_eos && !s->req.n_forced)
        list_end_tokens(en, s, n_ids < s->req.min_new_tokens ? out->banned : out->ends);
    out->force = n_ids < s->req.n_forced ? s->req.forced[n_ids] : -1;
    out->want_logprob = s->req.want_logprobs || s->req.reference;
}

int sequence_upload_settings(struct engine *en, const struct sequence *s, int n_ids, struct err *e)
{
    struct sample_settings v;
    sequence_settings(en, s, n_ids, &v);
    return device_upload(en->be, en->dev, en->tf.settings + s->seq, &v, sizeof v, e);
}

int sequence_settings_change(const struct sequence *s, int n_ids)
{
    return s->req.n_forced > 0 || (s->req.min_new_tokens > 0 && n_ids == s->req.min_new_tokens);
}

int sequence_must_be_seen(const struct sequence *s)
{
    int n = s->n_ids + 1;
    return s->is_cancelled || n >= s->limit || curve_is_due(s, n) ||
           (s->req.n_stop && n >= s->req.min_new_tokens);
}

/* Finds the earliest stop string that the last token completed. */
static int find_stop(struct sequence *s, size_t old_len)
{
    size_t best = (size_t)-1;
    for (int i = 0; i < s->req.n_stop; i++) {
        size_t n = strlen(s->stop[i]);
        size_t from = old_len >= n ? old_len - n + 1 : 0;
        for (size_t at = from; n && at + n <= s->text.len && at < best; at++)
            if (!memcmp(s->text.data + at, s->stop[i], n)) {
                best = at;
                break;
            }
    }
    if (best == (size_t)-1)
        return 0;
    s->text_end = best;
    return 1;
}

static void end_sequence(struct sequence *s, enum finish_reason why)
{
    s->done = 1;
    s->finish = why;
}

static void fail_sequence(struct sequence *s, const char *what)
{
    struct str why = {0};
    str_printf(&why, "%s of token %d of the completion are not finite", what, s->n_ids + 1);
    s->error = xstrdup(str_text(&why));
    str_release(&why);
    end_sequence(s, FINISHED_ERROR);
}

static void note_logprob(struct sequence *s, const struct sample_result *r)
{
    s->logprobs[s->n_logprobs] = r->logprob;
    s->tops[s->n_logprobs] = r->top;
    s->top_logprobs[s->n_logprobs] = r->top_logprob;
    s->gaps[s->n_logprobs++] = r->gap;
}

void sequence_scored(struct sequence *s, const struct sample_result *r, int n)
{
    s->n_logprobs = 0;
    s->has_bad_score = 0;
    for (int i = 0; i < n; i++) {
        s->has_bad_score |= r[i].bad;
        note_logprob(s, &r[i]);
    }
}

void sequence_take(struct engine *en, struct sequence *s, const struct sample_result *r)
{
    if (s->is_cancelled) {
        s->error = xstrdup("the request was cancelled");
        end_sequence(s, FINISHED_ERROR);
        return;
    }
    if (r->bad || s->has_bad_score) {
        fail_sequence(s, "the logits");
        return;
    }
    if (s->req.reference && !(isfinite(s->next.kl) && isfinite(r->logprob))) {
        fail_sequence(s, "the probability or the divergence");
        return;
    }
    if (s->req.want_logprobs)
        note_logprob(s, r);
    int forced = s->req.n_forced > 0;
    if (!forced && is_end_token(en, s, r->token) && s->n_ids >= s->req.min_new_tokens) {
        s->end_token = r->token;
        end_sequence(s, FINISHED_STOP);
        return;
    }
    s->ids[s->n_ids++] = r->token;
    size_t old_len = s->text.len;
    if (en->tokenizer) {
        tokenizer_decode(en->tokenizer, &r->token, 1, 1, &s->text);
        s->text_end = s->text.len;
    }
    if (s->req.reference)
        likelihood_add(&s->likelihood, s->req.n_prompt + s->n_ids - 1, s->text.len - old_len,
                       (double)r->logprob, &s->next);
    if (s->req.n_stop && s->n_ids >= s->req.min_new_tokens && find_stop(s, old_len)) {
        end_sequence(s, FINISHED_STOP);
        return;
    }
    if (s->n_ids >= s->limit)
        end_sequence(s, FINISHED_LENGTH);
}

/* ---- the curve of what a sequence has read and holds (struct kv_curve in engine.h). The device counts; the
 * host reads the counters back after every curve_every tokens. No step may then be in flight, or its reads
 * would be in the numbers, and they would depend on how far the host was ahead: so loop.c asks curve_is_due()
 * before it sends one. */

int curve_is_due(const struct sequence *s, int n_ids)
{
    int every = s->req.curve_every;
    return every > 0 && n_ids == (s->curve.n + 1) * every;
}

int curve_note(const struct engine *en, struct sequence *s, struct err *e)
{
    struct kvcache_sums sums;
    struct kv_curve *c = &s->curve;
    if (kvcache_sums(&en->cache, s->seq, &sums, NULL, e))
        return e->code;
    xgrow(&c->point, &s->curve_cap, (size_t)c->n + 1, sizeof *c->point);
    c->point[c->n++] = (struct kv_point){sums.reads, sums.live, sums.peak, sums.aux};
    return 0;
}

int curve_end(const struct engine *en, struct sequence *s, struct kvcache_sums *sums, struct err *e)
{
    struct kv_curve *c = &s->curve;
    int heads = en->cache.heads_per_seq;
    c->every = s->req.curve_every;
    c->layers = en->model.config.n_layers;
    c->heads = heads;
    if (c->every > 0 && sequence_drops(s))
        c->by_head = xmalloc((size_t)heads * sizeof *c->by_head);
    return kvcache_sums(&en->cache, s->seq, sums, c->by_head, e);
}

void curve_clear(struct sequence *s)
{
    free(s->curve.by_head);
    s->curve.by_head = NULL;
    s->curve.n = 0;
}

void curve_release(struct sequence *s)
{
    curve_clear(s);
    free(s->curve.point);
}

/* ---- its end */

int sequence_free_blocks(struct engine *en, struct sequence *s, struct err *e)
{
    int seq = s->seq;
    s->seq = -1;
    return kvcache_clear(&en->cache, seq, e);
}

int sequence_finish(struct engine *en, struct sequence *s, struct err *e)
{
    struct kvcache_sums sums;
    if (curve_end(en, s, &sums, e))
        return e->code;
    double heads = en->cache.heads_per_seq;
    s->kv.reads = (double)sums.reads / heads;
    s->kv.aux_reads = sums.aux / heads;
    s->kv.reads_full = (double)s->reads_full / en->model.config.n_layers;
    s->kv.peak_tokens = (double)sums.peak / heads;
    double group = (double)en->info.n_q / en->cache.view.n_kv;
    s->kv.selected = s->kv.reads - (double)kvcache_not_chosen(&en->cache, s->seq, e) / group / heads;
    if (s->req.policy->needs & POLICY_OWN_KEYS)
        s->kv.key_elements =
            (double)kvcache_key_elements(&en->cache, s->seq, e) / en->cache.view.head_dim / heads;
    s->seconds = clock_seconds() - s->start;
    size_t cut = s->text.len - s->text_end;
    if (en->tokenizer)
        tokenizer_settle(en->tokenizer, s->ids, (size_t)s->n_ids, &s->text);
    s->text_end = s->text.len > cut ? s->text.len - cut : 0;
    return sequence_free_blocks(en, s, e);
}

/* A preempted sequence starts again from its prompt. Its output cannot be prefilled, since K and V of those
 * tokens came from sparse steps. */
void sequence_restart(struct sequence *s)
{
    s->n_ids = s->n_logprobs = 0;
    str_clear(&s->text);
    s->text_end = 0;
    s->done = 0;
    s->reads_full = 0;
    s->likelihood.n = 0;
    curve_clear(s);
    s->capacity = 0;
    s->preempted++;
}

void sequence_release(struct sequence *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->req.n_stop; i++)
        free(s->stop[i]);
    free(s->stop);
    free(s->prompt);
    free(s->forced);
    free(s->ids);
    free(s->logprobs);
    free(s->gaps);
    free(s->tops);
    free(s->top_logprobs);
    curve_release(s);
    free(s->first_logits);
    free(s->error);
    str_release(&s->text);
    free(s);
}

void sequence_completion(const struct sequence *s, struct completion *out)
{
    memset(out, 0, sizeof *out);
    out->user = s->req.user;
    out->ids = s->ids;
    out->n_ids = s->n_ids;
    out->text = str_text(&s->text);
    out->n_text = s->text_end;
    out->finish = s->finish;
    out->kv = s->kv;
    out->curve = s->curve;
    out->logprobs = s->req.want_logprobs ? s->logprobs : NULL;
    out->gaps = s->req.want_logprobs ? s->gaps : NULL;
    out->tops = s->req.want_logprobs ? s->tops : NULL;
    out->top_logprobs = s->req.want_logprobs ? s->top_logprobs : NULL;
    out->n_logprobs = s->n_logprobs;
    out->end_token = s->end_token;
    out->likelihood = s->likelihood;
    out->preempted = s->preempted;
    out->seconds = s->seconds;
    out->error = s->error;
}
