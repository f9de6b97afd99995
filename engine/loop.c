/* The loop: a step of the batch is always on its way to the device, and where nothing can come between, the
 * next one too before the host looks at the first one's tokens.
 *
 *   device:  N ........................ N+1 ........................ N+2
 *   host:    send N+1, wait for N, take N's tokens, send N+2, wait for N+1, take ...
 *
 * A step needs nothing from the host that the step before does not leave on the device: OP_sample writes the
 * rows' next tokens and positions, and turns the row of a sequence that drew an end token into padding, so
 * that the step already on its way does nothing for it. What only the host can know comes between: somebody
 * to admit, a length reached, stop strings, pages that run out. Then the step in flight is taken first.
 *
 * Rows are ordered by policy instance; a group's rows are rounded up to a bucket, so that a program serves
 * many memberships. */
#include <string.h>
#include <time.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"

_Static_assert((MAX_BATCH + MAX_BATCH / 2) * sizeof(struct sample_result) <= BACKEND_DOWNLOAD_BYTES,
               "a step's results fit one download");

double engine_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
        struct step_group g = {en->policies[p], b->n_rows, programs_bucket(n)};
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
        seq[i] = s ? s->place : -1;
        pos[i] = s ? s->req.n_prompt + s->n_ids - 1 : 0;
        token[i] = s ? s->ids[s->n_ids - 1] : 0;
    }
    device_upload(en->be, en->dev, en->tf.row_seq, seq, bytes, e);
    device_upload(en->be, en->dev, en->tf.row_pos, pos, bytes, e);
    device_upload(en->be, en->dev, en->tf.row_token, token, bytes, e);
    free(v);
    return e->code;
}

/* Sends a step, `ahead` (0 or 1) of the tokens that the host has seen, and the copy of its results behind it.
 */
static int begin_step(struct engine *en, int ahead, struct err *e)
{
    struct batch *b = &en->batch;
    for (int i = 0; i < b->n_rows; i++) {
        const struct sequence *s = b->row[i];
        if (s && sequence_settings_change(s, s->n_ids + ahead) && batch_settings(en, s, s->n_ids + ahead, e))
            return e->code;
    }
    if (en->be->replay(en->dev, b->program) < 0 ||
        en->be->download_begin(en->dev, (int)(b->begun % BACKEND_DOWNLOADS), en->tf.sampled,
                               (size_t)b->n_rows * sizeof *b->result) < 0)
        return err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev));
    b->begun++;
    en->stats.decode_steps_ahead += (uint64_t)ahead;
    return 0;
}

/* With nothing in flight: room for everybody's next token, rows as they are now, a step. */
static int begin_batch(struct engine *en, struct err *e)
{
    struct batch *b = &en->batch;
    if (batch_make_room(en, e))
        return e->code;
    lay_out(en);
    if (rows_upload(en, b->row, b->n_rows, e))
        return e->code;
    b->program = programs_get(en, b->group, b->n_groups, b->n_rows, e);
    return b->program ? begin_step(en, 0, e) : e->code;
}

/* May the next step go before the tokens of the one in flight are seen? 1: yes, and there is room for it. */
static int may_go_ahead(struct engine *en, struct err *e)
{
    if (en->batch.changed || batch_may_admit(en))
        return 0;
    for (int i = 0; i < en->n_active; i++)
        if (sequence_may_end_unseen(en->active[i]))
            return 0;
    return batch_room_ahead(en, e);
}

/* Takes the tokens of the step in flight. Should the step sent ahead of that fail, these still count. */
static int take_step(struct engine *en, struct err *e)
{
    struct batch *b = &en->batch;
    struct err ahead = {0};
    if (may_go_ahead(en, &ahead) == 1)
        begin_step(en, 1, &ahead);
    if (en->be->download_wait(en->dev, (int)(b->taken % BACKEND_DOWNLOADS), b->result,
                              (size_t)b->n_rows * sizeof *b->result) < 0)
        return err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev));
    b->taken++;
    en->stats.decode_steps++;
    for (int i = 0; i < b->n_rows; i++) {
        struct sequence *s = b->row[i];
        if (!s)
            continue;
        s->reads_full += s->req.n_prompt + s->n_ids;
        sequence_take(en, s, &b->result[i]);
        en->stats.decode_tokens++;
    }
    batch_collect(en, e);
    if (!e->code && ahead.code)
        *e = ahead;
    if (en->n_active == 0) /* a step in flight has only padding left: nobody waits for it */
        b->taken = b->begun;
    return e->code;
}

/* Takes what is in flight, and leaves a step in flight if there is anybody to decode. */
static int advance(struct engine *en, struct err *e)
{
    const struct batch *b = &en->batch;
    double start = engine_clock();
    if (b->taken != b->begun && take_step(en, e))
        return e->code;
    en->stats.decode_seconds += engine_clock() - start;
    if (b->taken != b->begun)
        return 0;
    if (batch_admit(en, e))
        return e->code;
    start = engine_clock();
    if (en->n_active && begin_batch(en, e))
        return e->code;
    en->stats.decode_seconds += engine_clock() - start;
    return 0;
}

/* After a failure what has finished is handed out all the same, and the failure told by the next call. */
int engine_step(struct engine *en, const struct completion **out, int *n_out, struct err *e)
{
    *out = en->out;
    *n_out = 0;
    for (int i = 0; i < en->n_finished; i++)
        sequence_release(en->finished[i]);
    en->n_finished = 0;
    if (!en->failed.code)
        advance(en, &en->failed);
    if (en->failed.code && !en->n_finished) {
        *e = en->failed;
        return e->code;
    }
    for (int i = 0; i < en->n_finished; i++)
        sequence_completion(en->finished[i], &en->out[i]);
    *n_out = en->n_finished;
    return 0;
}
