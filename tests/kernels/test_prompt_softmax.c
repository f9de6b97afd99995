/* Prompt attention through windows, with sinks and with softcaps, against loops in double precision over the
 * host's mirror of the cache (set.h). That its bits depend on neither chunks nor threads nor instruction sets
 * is in test_bits.c. */
#include "tests/kernels/set.h"

/* Sinks: none, among the logits, far below them, far above. */
enum { NONE, AMONG, BELOW, ABOVE, SINKS, MOST_Q = 16 };
static const float level[SINKS] = {0, 0, -300, 60};

static int windows, sinks, caps;

/* Entries of block tables that no memory is behind, on pages wholly before the first query's window: before
 * the call, and back afterwards. */
static void spoil_tables(struct set *s, const struct prefill_attend_args *a, int32_t *kept, int back)
{
    int pages = window_start(a->window, a->pos0) / KV_PAGE_TOKENS;
    int32_t stale[PAGES];
    for (int p = 0; p < PAGES; p++)
        stale[p] = (1 << 26) - 1 - p;
    for (int h = 0; h < s->c.kv.n_kv && pages; h++) {
        int32_t *table =
            s->c.kv.block_table + (size_t)cache_head(&s->c, a->seq, LAYER, h) * (size_t)s->c.kv.max_pages;
        if (!back)
            rig_get(s->r, kept + h * PAGES, table, (size_t)pages * 4);
        rig_put(s->r, table, back ? kept + h * PAGES : stale, (size_t)pages * 4);
    }
}

static void run_prompt(struct set *s, const struct prefill_attend_args *a, float *out)
{
    static int32_t kept[8 * PAGES];
    spoil_tables(s, a, kept, 0);
    rig_run(s->r, OP_prefill_attend, a);
    spoil_tables(s, a, kept, 1);
    rig_get(s->r, out, a->out, (size_t)(a->nq * a->n_q * s->c.kv.head_dim) * 4);
}

/* How far the output of one row of a query head is off, beyond what rounding explains. */
static double off_by(struct set *s, const struct prefill_attend_args *a, int pos, int q_head, const float *q,
                     double sink, const float *out)
{
    int d = s->c.kv.head_dim, head = cache_head(&s->c, a->seq, LAYER, q_head / (a->n_q / s->c.kv.n_kv));
    double want[256], slack[256] = {0}, softcap = (double)a->softmax.softcap, worst = 0;
    uint8_t read[SLOTS] = {0};
    for (int t = window_start(a->window, pos); t <= pos; t++)
        read[t] = s->c.live[(size_t)head * SLOTS + (size_t)t];
    if (s->c.kv.dtype == DTYPE_BF16 && softcap == 0 && rig_rounds_weights(s->r, d)) {
        double lse = rounded_attend(s, head, q, read, a->scale, want, slack);
        for (int x = 0; x < d; x++) {
            want[x] /= 1 + exp(sink - lse);
            slack[x] /= 1 + exp(sink - lse);
        }
    } else {
        plain_softmax(s, head, q, read, (double)a->scale, sink, softcap, want);
    }
    for (int x = 0; x < d; x++) {
        double off = fabs((double)out[x] - want[x]) - slack[x];
        worst = off <= worst ? worst : off == off ? off : INFINITY;
    }
    return worst;
}

/* prefill_count beside one query after the other. */
static void count_pairs(struct set *s, const struct prefill_attend_args *a)
{
    int64_t before, after, want = 0;
    const int64_t *reads = s->c.kv.prefill_reads + cache_head(&s->c, a->seq, LAYER, 0);
    struct prefill_count_args p = {.read = *a};
    rig_get(s->r, &before, reads, sizeof before);
    rig_run(s->r, OP_prefill_count, &p);
    rig_get(s->r, &after, reads, sizeof after);
    for (int pos = a->pos0; pos < a->pos0 + a->nq; pos++)
        want += pos + 1 - window_start(a->window, pos);
    CHECK_INT(after - before, want);
}

/* Queries pos0 .. pos0+nq-1 of a sequence. */
static void check_prompt(struct set *s, int seq, int pos0, int nq, int window, int kind, float softcap)
{
    int n_q = s->c.n_q, d = s->c.kv.head_dim, stride = n_q * d + 1, owned = s->r->n_owned;
    size_t floats = (size_t)(nq * n_q * d);
    float *q = malloc((size_t)(nq * stride) * 4), *out = malloc(floats * 4), sink[MOST_Q];
    rig_fill(s->r, q, (size_t)(nq * stride));
    rig_fill(s->r, sink, MOST_Q);
    for (int h = 0; h < MOST_Q; h++)
        sink[h] = 3 * sink[h] + level[kind];
    struct prefill_attend_args a = {.kv = s->c.kv,
                                    .seq = seq,
                                    .layer = LAYER,
                                    .n_q = n_q,
                                    .pos0 = pos0,
                                    .nq = nq,
                                    .q = rig_up(s->r, q, (size_t)(nq * stride) * 4),
                                    .q_stride = stride,
                                    .out = rig_alloc(s->r, floats * 4),
                                    .scale = 0.25f,
                                    .window = window,
                                    .softmax.softcap = softcap};
    a.softmax.sink = kind == NONE ? NULL : rig_up(s->r, sink, sizeof sink);
    run_prompt(s, &a, out);
    count_pairs(s, &a);
    double worst = 0;
    for (int i = 0; i<nq * n_q; i += nq> 20 ? 3 : 1)
        worst = fmax(worst, off_by(s, &a, pos0 + i / n_q, i % n_q, q + i / n_q * stride + i % n_q * d,
                                   kind == NONE ? -INFINITY : (double)sink[i % n_q], out + (size_t)(i * d)));
    CHECK_NEAR(worst, 0, rig_rounds(s->r) && s->c.kv.dtype == DTYPE_BF16 ? 2e-5 : 2e-6);
    windows += window > 0;
    sinks += kind > NONE;
    caps += softcap > 0;
    /* What changes nothing leaves the bits as they are: a sink far below; where a prompt is not cut into
     * parts (prefill.cuh), also a window that holds it. */
    float *plain = malloc(floats * 4);
    int same = kind == BELOW;
    if (kind == BELOW)
        a.softmax.sink = NULL;
    if (window >= pos0 + nq && pos0 + nq <= 2048) {
        a.window = 0;
        same = 1;
    }
    if (same) {
        run_prompt(s, &a, plain);
        CHECK(memcmp(plain, out, floats * 4) == 0);
    }
    if (s->r->b->activations == DTYPE_BF16 && kind == AMONG) {
        a.type = DTYPE_BF16;
        rig_run(s->r, OP_prefill_attend, &a);
        CHECK(same || rig_is_rounded(s->r, a.out, out, floats));
    }
    free(plain);
    free(q);
    free(out);
    set_forget(s, owned);
}

/* Every window at the end, in the middle and at the beginning of every sequence. Small: fewer of each. */
static void check_shape(struct set *s, int shape)
{
    static const int window[] = {0, 1, 15, 16, 17, 100, 600, 4096, 5000};
    int most = rig_small() ? 20 : 70, turn = shape;
    if (s->punch)
        return; /* nothing is dropped from a layer with a window */
    for (int seq = 0; seq < SEQS; seq += rig_small() ? 2 : 1)
        for (size_t i = 0; i < sizeof window / sizeof *window; i++, turn++) {
            int n = set_length(seq), nq = n < most ? n : most, kind = turn % SINKS;
            float softcap = window[i] == 0 || turn % 3 == 0 ? 1.5f : 0;
            check_prompt(s, seq, n - nq, nq, window[i], kind, softcap);
            if (rig_small() && turn % 4)
                continue;
            check_prompt(s, seq, n - nq, nq, window[i], (kind + 1) % SINKS, 0);
            check_prompt(s, seq, n / 2 - nq / 2, (nq + 1) / 2, window[i], AMONG, 0);
            check_prompt(s, seq, 0, nq, window[i], kind, 0);
        }
}

static void check_one(int shape)
{
    static struct set s;
    struct rig r;
    rig_open(&r, NULL, 2);
    set_open(&s, &r, shape);
    check_shape(&s, shape);
    set_close(&s);
    rig_close(&r);
}

static void check_refusals(void)
{
    struct rig r;
    struct cache c;
    rig_open(&r, NULL, 1);
    cache_open(&c, &r, 1, 1, 4, 2, 16, 2, DTYPE_F32);
    struct prefill_attend_args good = {.kv = c.kv, .n_q = 4, .window = 8};
    struct prefill_attend_args bad[4] = {good, good, good, good};
    int32_t some[1] = {0};
    bad[0].until = some;
    bad[1].tile = 16;
    bad[1].cap = bad[1].n_rows = 1;
    bad[1].idx = bad[1].len = some;
    bad[2].window = -1;
    bad[3].softmax.softcap = -30;
    for (int i = 0; i < 4; i++) {
        struct prefill_count_args count = {.read = bad[i]};
        CHECK_INT(r.b->launch(r.d, OP_prefill_attend, &bad[i]), BACKEND_ERR_UNSUPPORTED);
        CHECK(i == 3 || r.b->launch(r.d, OP_prefill_count, &count) == BACKEND_ERR_UNSUPPORTED);
    }
    CHECK(strstr(r.b->last_error(r.d), "softcap") != NULL);
    CHECK_INT(r.b->launch(r.d, OP_prefill_attend, &bad[0]), BACKEND_ERR_UNSUPPORTED);
    CHECK(strstr(r.b->last_error(r.d), "window of 8 tokens with expiry") != NULL);
    cache_close(&c);
    rig_close(&r);
}

int main(void)
{
    set_each(check_shape);
    check_one(SET_WIDE);
    check_one(SET_GROUP);
    check_one(SET_ODD);
    check_refusals();
    rig_ran("prompt chunks through windows", windows);
    rig_ran("prompt chunks with sinks", sinks);
    rig_ran("prompt chunks with softcaps", caps);
    return check_done();
}
