/* The loop over steps. A step of the batch is always in flight, and where nothing can come between, the next
 * one is sent before the host has seen the tokens of the first.
 *
 *   device:  N ........................ N+1 ........................ N+2
 *   host:    send N+1, wait for N, take N's tokens, send N+2, wait for N+1, take ...
 *
 * The step before leaves on the device all that a step needs: OP_sample writes the next tokens and positions
 * of the rows, and when a sequence draws an end token it turns its row into padding, so that a step sent
 * already does nothing for it. Some things only the host knows: that a request can be admitted, that a length
 * or a stop string is reached, that KV blocks run out. When one of these may happen, or when the step's
 * logits are to be compared with a reference's (pairs.c), the host takes the step in flight before it sends
 * the next.
 *
 * Rows are ordered by policy instance. The rows of a policy group are rounded up to a bucket, so that one
 * captured graph serves batches of several sizes (graphs.c). */
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"
#include "evalcore/base/clock.h"

_Static_assert((MAX_BATCH + MAX_BATCH / 2) * sizeof(struct sample_result) <= BACKEND_STAGING_BYTES,
               "a step's results fit one download");

static void lay_out(struct engine *en)
{
    struct batch *b = &en->batch;
    b->n_groups = b->n_rows = b->changed = 0;
    for (int p = 0; p < en->n_policies; p++) {
        int n = 0;
        for (int i = 0; i < en->n_active; i++)
            if (en->active[i]->req.policy == en->policies[p])
                b->row[b->n_rows + n++] = en->active[i];
        if (!n)
            continue;
        struct policy_group g = {en->policies[p], b->n_rows, graphs_bucket(n)};
        for (; n < g.cap; n++)
            b->row[b->n_rows + n] = NULL;
        b->group[b->n_groups++] = g;
        b->n_rows += g.cap;
    }
}

int rows_upload(struct engine *en, struct sequence *const *row, int n, struct err *e)
{
    size_t bytes = (size_t)n * sizeof(int32_t);
    int32_t *v = xmalloc(3 * bytes), *seq = v, *pos = v + n, *token = v + 2 * n;
    for (int i = 0; i < n; i++) {
        const struct sequence *s = row[i];
        seq[i] = s ? s->seq : -1;
        pos[i] = s ? s->req.n_prompt + s->n_ids - 1 : 0;
        token[i] = s ? s->ids[s->n_ids - 1] : 0;
    }
    device_upload(en->be, en->dev, en->tf.row_seq, seq, bytes, e);
    device_upload(en->be, en->dev, en->tf.row_pos, pos, bytes, e);
    device_upload(en->be, en->dev, en->tf.row_token, token, bytes, e);
    free(v);
    return e->code;
}

/* Sends a step and, after it, the copy of its results. ahead: 1 when the host has not yet seen the tokens of
 * the step before, else 0. */
static int begin_step(struct engine *en, int ahead, struct err *e)
{
    struct batch *b = &en->batch;
    for (int i = 0; i < b->n_rows; i++) {
        const struct sequence *s = b->row[i];
        if (s && sequence_settings_change(s, s->n_ids + ahead) &&
            sequence_upload_settings(en, s, s->n_ids + ahead, e))
            return e->code;
    }
    if (watch_is_due(en))
        watch_step(en, e);
    else
        graphs_run(en, e);
    if (e->code)
        return e->code;
    if (en->be->download_begin(en->dev, (int)(b->begun % BACKEND_STAGING_BUFFERS), en->tf.sampled,
                               (size_t)b->n_rows * sizeof *b->result) < 0)
        return err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev));
    b->begun++;
    en->stats.decode_steps_ahead += (uint64_t)ahead;
    return 0;
}

/* When nothing is in flight: reserves KV blocks for the next token of each sequence, lays out the rows, sends
 * a step. */
static int begin_batch(struct engine *en, struct err *e)
{
    struct batch *b = &en->batch;
    if (batch_reserve_blocks(en, e))
        return e->code;
    lay_out(en);
    return rows_upload(en, b->row, b->n_rows, e) ? e->code : begin_step(en, 0, e);
}

/* 1 when the next step can be sent before the tokens of the one in flight are seen; it then has its blocks.
 */
static int may_go_ahead(struct engine *en, struct err *e)
{
    if (en->batch.changed || batch_may_admit(en) || pairs_are_active(en) || en->watch.fn)
        return 0;
    for (int i = 0; i < en->n_active; i++)
        if (sequence_must_be_seen(en->active[i]))
            return 0;
    return batch_reserve_ahead(en, e);
}

/* Takes the tokens of the step in flight. They count even if a step that was sent after it fails. */
static int take_step(struct engine *en, struct err *e)
{
    struct batch *b = &en->batch;
    struct err ahead = {0};
    if (may_go_ahead(en, &ahead) == 1)
        begin_step(en, 1, &ahead);
    if (en->be->download_wait(en->dev, (int)(b->taken % BACKEND_STAGING_BUFFERS), b->result,
                              (size_t)b->n_rows * sizeof *b->result) < 0)
        return err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev));
    b->taken++;
    en->stats.decode_steps++;
    if (pairs_compare(en, e))
        return e->code;
    for (int i = 0; i < b->n_rows; i++) {
        struct sequence *s = b->row[i];
        if (!s)
            continue;
        s->reads_full += model_step_reads(&en->model.config, s->req.n_prompt + s->n_ids);
        sequence_take(en, s, &b->result[i]);
        if (curve_is_due(s, s->n_ids) && curve_note(en, s, e))
            return e->code;
        en->stats.decode_tokens += !s->is_reference;
    }
    pairs_end(en);
    batch_collect(en, e);
    if (!e->code && ahead.code)
        *e = ahead;
    if (en->n_active == 0) /* a step in flight has only padding left, so its results are not needed */
        b->taken = b->begun;
    return e->code;
}

/* Takes the step in flight, and leaves another in flight if any sequence is active. */
static int advance_steps(struct engine *en, struct err *e)
{
    const struct batch *b = &en->batch;
    double start = clock_seconds();
    if (b->taken != b->begun && take_step(en, e))
        return e->code;
    en->stats.decode_seconds += clock_seconds() - start;
    if (b->taken != b->begun)
        return 0;
    if (batch_admit(en, e))
        return e->code;
    start = clock_seconds();
    if (en->n_active && begin_batch(en, e))
        return e->code;
    en->stats.decode_seconds += clock_seconds() - start;
    return 0;
}

/* After a failure what has finished is still handed out, and the next call returns the failure. */
int engine_step(struct engine *en, const struct completion **out, int *n_out, struct err *e)
{
    *out = en->out;
    *n_out = 0;
    for (int i = 0; i < en->n_finished; i++)
        sequence_release(en->finished[i]);
    en->n_finished = 0;
    if (!en->failed.code)
        advance_steps(en, &en->failed);
    if (en->failed.code && !en->n_finished) {
        *e = en->failed;
        return e->code;
    }
    for (int i = 0; i < en->n_finished; i++)
        sequence_completion(en->finished[i], &en->out[i]);
    *n_out = en->n_finished;
    return 0;
}
