/* What benchmarks ask of a running engine: how many bytes its steps read, and where the time of a step goes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"
#include "kernels/limits.h"

/* The result is the median of the rounds. MAX_APPENDED: how many tokens the replays append, by the two
 * programs that do.
 */
enum { ROUNDS = 5, REPLAYS = 8, MAX_APPENDED = 2 * (ROUNDS * REPLAYS + 1) };

int engine_read_bytes(struct engine *en, double *bytes, struct err *e)
{
    const struct kv_view *v = &en->cache.view;
    double token = 2 * (double)v->head_dim * (double)dtype_bytes(v->dtype); /* K and V of a head */
    *bytes = 0;
    for (int i = 0; i < en->n_active; i++) {
        struct kvcache_sums s;
        if (kvcache_sums(&en->cache, en->active[i]->seq, &s, NULL, e))
            return e->code;
        *bytes += token * ((double)s.reads + s.aux);
    }
    return 0;
}

const char *step_part_name(enum step_part p)
{
    static const char *const names[STEP_PARTS] = {"linear layers",
                                                  "output head",
                                                  "attention, dense layers",
                                                  "attention, refresh layers",
                                                  "attention, sparse layers",
                                                  "page selection",
                                                  "rotation and append",
                                                  "other",
                                                  "sampling"};
    return (unsigned)p < STEP_PARTS ? names[p] : "?";
}

/* The operations of a step, in order. */
struct tape {
    const void *head; /* the output head's weights */
    struct tape_item {
        enum op op;
        enum step_part part;
        void *args;
    } * item;
    size_t cap;
    int n;
};

static enum step_part attention_part(const struct attend_args *a)
{
    if (a->granularity != SEL_LIVE)
        return STEP_ATTENTION_SPARSE;
    return a->stats.logits ? STEP_ATTENTION_REFRESH : STEP_ATTENTION_DENSE;
}

static_assert(offsetof(struct linear_args, w) == 0 && offsetof(struct linear_swiglu_args, w) == 0,
              "part_of() takes the weight from there");

static enum step_part part_of(const struct tape *t, enum op op, const void *args)
{
    switch (backend_op_part(op)) {
    case OP_PART_LINEAR:
        return ((const struct weight *)args)->data == t->head ? STEP_HEAD : STEP_LINEAR;
    case OP_PART_ATTENTION:
        return attention_part(args);
    case OP_PART_SELECTION:
        return STEP_SELECTION;
    case OP_PART_APPEND:
        return STEP_APPEND;
    case OP_PART_SAMPLING:
        return STEP_SAMPLING;
    case OP_PART_OTHER:
    case OP_PART_PREFILL:
        break;
    }
    return STEP_OTHER;
}

/* launch() of a backend that only writes down its operations; its device is the tape. */
static int tape_launch(struct device *d, enum op op, const void *args)
{
    struct tape *t = (struct tape *)(void *)d;
    size_t bytes = backend_op_bytes(op);
    xgrow(&t->item, &t->cap, (size_t)t->n + 1, sizeof *t->item);
    struct tape_item i = {op, part_of(t, op, args), xmalloc(bytes)};
    memcpy(i.args, args, bytes);
    t->item[t->n++] = i;
    return 0;
}

/* For both: operations are written down, or timed, one at a time. */
static int no_branch(struct device *d)
{
    (void)d;
    return 0;
}

static void tape_step(struct tape *t, struct engine *en, struct err *e)
{
    struct backend be = *en->be;
    struct transformer tf = en->tf; /* the same buffers */
    struct policy_group g = {en->active[0]->req.policy, 0, en->n_active};
    be.launch = tape_launch;
    be.branch = be.join = no_branch;
    tf.be = &be;
    tf.dev = (struct device *)(void *)t;
    t->head = en->model.head.data;
    transformer_step(&tf, &g, 1, en->n_active, e);
}

static void tape_release(struct tape *t)
{
    for (int i = 0; i < t->n; i++)
        free(t->item[i].args);
    free(t->item);
}

static int check_batch(const struct engine *en, struct err *e)
{
    if (!en->n_active)
        return err_set(e, ERR_USAGE, "no sequence is decoding; submit some and step first");
    for (int i = 0; i < en->n_active; i++)
        if (en->active[i]->req.policy != en->active[0]->req.policy)
            return err_set(e, ERR_USAGE, "the parts of a step can be timed for one policy at a time");
    if (sequence_drops(en->active[0]))
        return err_set(e, ERR_USAGE,
                       "policy %s drops tokens, and a step that is replayed would drop more of them: the "
                       "parts of its step cannot be timed alone",
                       en->active[0]->req.policy->ops->name);
    return 0;
}

/* Uploads the rows of the next step, and gets units for what the replays append. */
static int set_rows(struct engine *en, struct err *e)
{
    for (int i = 0; i < en->n_active; i++) {
        const struct sequence *s = en->active[i];
        int rc = kvcache_map(&en->cache, s->seq, kv_pages(s->req.n_prompt + s->n_ids + MAX_APPENDED), e);
        if (rc)
            return rc < 0 ? rc
                          : err_set(e, ERR_USAGE,
                                    "the KV cache has no room for the %d tokens that timing a step takes",
                                    (int)MAX_APPENDED);
    }
    return rows_upload(en, en->active, en->n_active, e);
}

static int wait_for_device(struct engine *en, struct err *e)
{
    int32_t x;
    return device_download(en->be, en->dev, &x, en->tf.row_seq, sizeof x, e);
}

static void replay_times(struct engine *en, struct op_graph *p, int n, struct err *e)
{
    for (int i = 0; i < n && !e->code; i++)
        if (en->be->replay(en->dev, p) < 0)
            err_set(e, ERR_DEVICE, "replaying a step: %s", en->be->last_error(en->dev));
    wait_for_device(en, e);
}

/* Seconds that the operations of `part` take, or all operations for STEP_PARTS. */
static int time_part(struct engine *en, const struct tape *t, enum step_part part, double *seconds,
                     struct err *e)
{
    struct op_graph *p = NULL;
    if (set_rows(en, e))
        return e->code;
    if (en->be->capture_begin(en->dev) < 0)
        return err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
    for (int i = 0; i < t->n; i++)
        if (part == STEP_PARTS || t->item[i].part == part)
            device_launch(en->be, en->dev, t->item[i].op, t->item[i].args, e);
    if (en->be->capture_end(en->dev, &p) < 0)
        return err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
    replay_times(en, p, 1, e);
    double round[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double start = clock_seconds();
        replay_times(en, p, REPLAYS, e);
        round[i] = (clock_seconds() - start) / REPLAYS;
    }
    *seconds = limits_median(round, ROUNDS);
    en->be->graph_release(en->dev, p);
    return e->code;
}

/* What timed_launch() times for; its device is the backend's own, so there is no other way to tell it. */
static _Thread_local struct op_clock {
    const struct backend *be;
    const int32_t *word; /* of the device: getting it waits for all before */
    int n[OP_COUNT + 1];
    double seconds[OP_COUNT + 1]; /* the last: sparse attention to prompts */
} * op_clock;

static int timed_launch(struct device *d, enum op op, const void *args)
{
    struct op_clock *c = op_clock;
    const struct prefill_attend_args *a = op == OP_prefill_attend ? args : NULL;
    int at = a && (a->idx || a->until) ? OP_COUNT : (int)op;
    int32_t x;
    double start = clock_seconds();
    int rc = c->be->launch(d, op, args);
    if (!rc)
        rc = c->be->download(d, &x, c->word, sizeof x);
    c->seconds[at] += clock_seconds() - start;
    c->n[at]++;
    return rc;
}

int engine_time_operations(struct engine *en, op_time_fn *fn, void *context, struct err *e)
{
    struct op_clock c = {.be = en->tf.be, .word = en->tf.row_seq};
    struct backend timed = *c.be;
    timed.launch = timed_launch;
    timed.branch = timed.join = no_branch;
    op_clock = &c;
    en->tf.be = &timed;
    engine_run(en, NULL, 0, NULL, NULL, e);
    en->tf.be = c.be;
    op_clock = NULL;
    for (int i = 0; i <= OP_COUNT && !e->code; i++)
        if (c.n[i])
            fn(context, i < OP_COUNT ? backend_op_name((enum op)i) : "prefill_attend, sparse", c.n[i],
               c.seconds[i]);
    return e->code;
}

int engine_time_step(struct engine *en, struct step_times *out, struct err *e)
{
    struct tape t = {NULL, NULL, 0, 0};
    memset(out, 0, sizeof *out);
    if (check_batch(en, e))
        return e->code;
    tape_step(&t, en, e);
    for (int i = 0; i < t.n; i++)
        out->part[t.item[i].part].n_ops++;
    if (!e->code)
        time_part(en, &t, STEP_PARTS, &out->whole, e);
    for (int p = 0; p < STEP_PARTS && !e->code; p++)
        if (out->part[p].n_ops)
            time_part(en, &t, (enum step_part)p, &out->part[p].seconds, e);
    tape_release(&t);
    return e->code;
}
