/* Continuous batching: sequences join the batch while there are KV blocks and leave it when they end. Gives
 * them blocks for their next tokens, and preempts the youngest when blocks run out. None of this can change a
 * completion, because the arithmetic of a row does not depend on the other rows. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"
#include "evalcore/base/clock.h"

static int free_seq(const struct engine *en)
{
    for (int seq = 0; seq < en->options.max_batch; seq++) {
        int taken = 0;
        for (int i = 0; i < en->n_active; i++)
            taken |= en->active[i]->seq == seq;
        if (!taken)
            return seq;
    }
    return -1;
}

/* Zeroes the policy's state of the sequence and tells the device its lengths. */
static int prepare_seq(struct engine *en, struct sequence *s, struct err *e)
{
    const struct policy *p = s->req.policy;
    int32_t n = s->req.n_prompt, total = s->req.n_prompt + s->limit;
    int32_t bounds = (p->needs & POLICY_BOUNDS) != 0;
    if (kvcache_clear(&en->cache, s->seq, e) ||
        device_upload(en->be, en->dev, en->tf.prompt_len + s->seq, &n, sizeof n, e) ||
        device_upload(en->be, en->dev, en->tf.total_len + s->seq, &total, sizeof total, e) ||
        device_upload(en->be, en->dev, en->tf.with_bounds + s->seq, &bounds, sizeof bounds, e) ||
        sequence_upload_settings(en, s, 0, e))
        return e->code;
    if (!p->state_bytes)
        return 0;
    void *zero = xcalloc(1, p->state_bytes);
    int rc =
        device_upload(en->be, en->dev, p->state + (size_t)s->seq * p->state_bytes, zero, p->state_bytes, e);
    free(zero);
    return rc;
}

static int take_first_token(struct engine *en, struct sequence *s, const float *logits, struct err *e)
{
    struct sample_result r;
    if (pair_first_token(en, s, logits, e) ||
        device_download(en->be, en->dev, &r, en->tf.sampled, sizeof r, e))
        return e->code;
    sequence_take(en, s, &r);
    return curve_is_due(s, s->n_ids) ? curve_note(en, s, e) : 0;
}

static void push_front(struct engine *en, struct sequence *s)
{
    xgrow(&en->waiting, &en->cap_waiting, (size_t)en->n_waiting + 1, sizeof *en->waiting);
    memmove(en->waiting + 1, en->waiting, (size_t)en->n_waiting++ * sizeof *en->waiting);
    en->waiting[0] = s;
}

/* 1: admitted, 0: too few blocks now, negative: the device failed. */
static int admit_one(struct engine *en, struct err *e)
{
    struct sequence *s = en->waiting[0];
    const float *logits = NULL;
    s->seq = free_seq(en);
    if (s->start == 0)
        s->start = clock_seconds();
    if (prepare_seq(en, s, e))
        return e->code;
    int rc = prompt_admit(en, s, &logits, e);
    if (rc < 0)
        return rc;
    if (rc == KVCACHE_FULL) {
        if (sequence_free_blocks(en, s, e))
            return e->code;
        return en->n_active
                   ? 0
                   : err_set(e, ERR_DEVICE,
                             "the KV cache cannot hold a prompt of %d tokens; this should have been refused",
                             s->req.n_prompt);
    }
    memmove(en->waiting, en->waiting + 1, (size_t)--en->n_waiting * sizeof *en->waiting);
    en->active[en->n_active++] = s;
    return take_first_token(en, s, logits, e) ? e->code : 1;
}

int batch_may_admit(const struct engine *en)
{
    int n_seqs = en->n_waiting && en->waiting[0]->is_reference ? 2 : 1;
    return en->n_waiting && !en->hold && en->n_active + n_seqs <= en->options.max_batch;
}

/* The youngest sequence goes back to the queue and leaves its blocks to the older ones, so some sequence
 * always finishes. Until then nobody is admitted: the newcomer would be the next to be preempted, and its
 * prefill wasted. A request and its reference go together. */
static int preempt_youngest(struct engine *en, struct err *e)
{
    struct sequence *s = en->active[--en->n_active];
    sequence_restart(s);
    push_front(en, s);
    en->hold = 1;
    en->stats.preemptions++;
    if (sequence_free_blocks(en, s, e))
        return e->code;
    int with_reference = s->pair && en->n_active && en->active[en->n_active - 1] == s->pair;
    return with_reference ? preempt_youngest(en, e) : 0;
}

/* Admits the next sequence; a reference only together with the request behind it. Returns as admit_one(). */
static int admit_next(struct engine *en, struct err *e)
{
    struct sequence *s = en->waiting[0];
    int rc = admit_one(en, e);
    if (rc != 1 || !s->is_reference)
        return rc;
    rc = admit_one(en, e);
    if (rc == 0 && en->n_active == 1)
        return err_set(e, ERR_DEVICE,
                       "the KV cache cannot hold a prompt of %d tokens twice; this should have been refused",
                       s->req.n_prompt);
    return rc == 0 && preempt_youngest(en, e) ? e->code : rc;
}

/* When blocks run out nobody else is admitted until a sequence finishes, since only then blocks become free.
 */
int batch_admit(struct engine *en, struct err *e)
{
    while (batch_may_admit(en) && en->n_finished < 2 * en->options.max_batch) {
        double start = clock_seconds();
        int rc = admit_next(en, e);
        en->stats.prefill_seconds += clock_seconds() - start;
        if (rc < 0)
            return rc;
        pairs_end(en);
        if (rc == 0)
            en->hold = 1;
        else if (en->active[en->n_active - 1]->done && batch_collect(en, e))
            return e->code;
    }
    return 0;
}

/* Gets blocks for the first `tokens` tokens, the last of which is the next one to be appended. Returns 0 or
 * KVCACHE_FULL. A head of a sequence that drops needs at most one new slot for each further token, so its
 * spare page lasts for a page of tokens, however full its last page is. */
static int fit_blocks(struct engine *en, struct sequence *s, int tokens, struct err *e)
{
    kvcache_slide(&en->cache, s->seq, tokens - 1);
    int capacity =
        sequence_drops(s) ? tokens - 1 + SPARE_PAGES * KV_PAGE_TOKENS : kv_pages(tokens) * KV_PAGE_TOKENS;
    int rc = sequence_drops(s) ? kvcache_fit_ragged(&en->cache, s->seq, SPARE_PAGES, e)
                               : kvcache_map(&en->cache, s->seq, kv_pages(tokens), e);
    s->capacity = rc ? s->capacity : capacity;
    return rc;
}

int batch_reserve_ahead(struct engine *en, struct err *e)
{
    for (int i = 0; i < en->n_active; i++) {
        struct sequence *s = en->active[i];
        int tokens = s->req.n_prompt + s->n_ids + 1;
        if (tokens <= s->capacity)
            continue;
        if (sequence_drops(s)) /* its slots must be read back, and the step in flight changes them */
            return 0;
        int rc = fit_blocks(en, s, tokens, e);
        if (rc)
            return rc < 0 ? rc : 0;
    }
    return 1;
}

int batch_reserve_blocks(struct engine *en, struct err *e)
{
    for (int i = 0; i < en->n_active;) {
        struct sequence *s = en->active[i];
        int rc = fit_blocks(en, s, s->req.n_prompt + s->n_ids, e);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            i++;
            continue;
        }
        rc = prompt_evict_one(en, e);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            if (en->n_active == 1 || (en->n_active == 2 && en->active[0]->pair))
                return err_set(
                    e, ERR_DEVICE,
                    "the KV cache cannot hold a sequence of %d tokens; this should have been refused",
                    en->active[0]->req.n_prompt + en->active[0]->n_ids);
            if (preempt_youngest(en, e))
                return e->code;
        }
    }
    return 0;
}

/* The row may be in a step in flight. The device has made it padding there, and its result is ignored. */
static void leave_row(struct batch *b, const struct sequence *s)
{
    for (int i = 0; i < b->n_rows; i++)
        if (b->row[i] == s)
            b->row[i] = NULL;
    b->changed = 1;
}

int batch_collect(struct engine *en, struct err *e)
{
    int kept = 0;
    for (int i = 0; i < en->n_active; i++) {
        struct sequence *s = en->active[i];
        if (!s->done || sequence_finish(en, s, e)) { /* after a failure all stay where they are */
            en->active[kept++] = s;
            continue;
        }
        leave_row(&en->batch, s);
        en->hold = 0;
        if (s->is_reference)
            sequence_release(s); /* the other of the pair has ended too and is collected with it */
        else
            en->finished[en->n_finished++] = s;
    }
    en->n_active = kept;
    return e->code;
}
