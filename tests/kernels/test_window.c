/* The scores that a sequence's last queries give its keys, and how alike these are, against loops in double
 * precision over the host's mirror of the cache. */
#include "tests/kernels/set.h"

/* Windows: the long one is more than a block of a GPU has at once, and the others are the most that its
 * tensor cores take, and one more. */
enum { SHORT = 6, LONG = 71, MOST = 128, MORE = 129 };

static int scored, alike, sunk, capped; /* heads so far */

/* What the next softmaxes have. */
static struct {
    int sinks;
    float cap;
} also;

/* What one test looks at. */
struct window_test {
    struct set *s;
    struct window_mass_args a;
    int n;                  /* queries */
    int n_rows;             /* those of the set, and padding between them */
    int layers;             /* 1: LAYER, else all */
    float *q[LAYERS][SEQS]; /* (n, n_q, d): the last queries, in the order of positions */
    float sink[16];         /* by query head */
};

/* Where compare() puts the scores of the set's rows, or NULL: (ROWS, n_kv, SLOTS). */
static float *seen_scores;

static int first_layer(const struct window_test *w)
{
    return w->layers == 1 ? LAYER : 0;
}

static size_t row_width(const struct set *s)
{
    return (size_t)(s->c.n_q * s->c.kv.head_dim);
}

/* Random queries for the last n + 3 positions of every sequence, of which the first go in as a piece of
 * a prompt and the last as a decode step. Shorter sequences have queries for their positions only. */
static void put_queries(struct window_test *w, int layer, char *state, size_t state_bytes)
{
    struct set *s = w->s;
    int most = w->n + 3;
    size_t wide = row_width(s), stride = wide + 5;
    float *rows = malloc((size_t)most * stride * sizeof *rows);
    for (int seq = 0; seq < SEQS; seq++) {
        int owned = s->r->n_owned, n = set_length(seq), many = n < most ? n : most;
        int32_t ids[2 * (MORE + 3)];
        rig_fill(s->r, rows, (size_t)many * stride);
        for (int i = 0; i < many; i++) {
            ids[i] = seq;
            ids[many + i] = n - many + i;
        }
        const int32_t *dev = rig_up(s->r, ids, (size_t)(2 * many) * sizeof *ids);
        const float *q = rig_up(s->r, rows, (size_t)many * stride * sizeof *rows);
        struct put_queries_args p = {.rows = {many - 1, dev, dev + many},
                                     .layer = layer,
                                     .n_q = s->c.n_q,
                                     .dim = s->c.kv.head_dim,
                                     .n = w->n,
                                     .prefill = 1,
                                     .q = q,
                                     .q_stride = (int)stride,
                                     .state = state,
                                     .state_bytes = state_bytes};
        rig_run(s->r, OP_put_queries, &p);
        p.rows = (struct rows){1, dev + many - 1, dev + many + many - 1};
        p.q = q + (size_t)(many - 1) * stride;
        p.prefill = 0;
        rig_run(s->r, OP_put_queries, &p);
        float *last = w->q[layer][seq] = malloc((size_t)w->n * wide * sizeof *last);
        for (int i = 0; i < w->n && many >= w->n; i++)
            memcpy(last + (size_t)i * wide, rows + (size_t)(many - w->n + i) * stride, wide * sizeof *rows);
        set_forget(s, owned);
    }
    free(rows);
}

/* Softmax over the first n slots of the largest logit of query heads from .. to - 1, added to sum. */
static void plain_add(const struct window_test *w, int head, const float *q, int from, int to, int n,
                      double *sum)
{
    static double x[SLOTS];
    int d = w->s->c.kv.head_dim;
    double top = -INFINITY, all = 0, sink = -INFINITY;
    for (int h = from; h < to && also.sinks; h++)
        top = sink = fmax(sink, (double)w->sink[h]);
    for (int t = 0; t < n; t++) {
        const float *k = w->s->c.k + ((size_t)head * SLOTS + (size_t)t) * (size_t)d;
        x[t] = -INFINITY;
        for (int h = from; h < to; h++) {
            double dot = 0;
            for (int i = 0; i < d; i++)
                dot += (double)q[h * d + i] * (double)k[i];
            dot *= (double)w->a.scale;
            x[t] = fmax(x[t], also.cap > 0 ? (double)also.cap * tanh(dot / (double)also.cap) : dot);
        }
        top = fmax(top, x[t]);
    }
    for (int t = 0; t < n; t++)
        all += exp(x[t] - top);
    all += sink > -INFINITY ? exp(sink - top) : 0;
    for (int t = 0; t < n; t++)
        sum[t] += exp(x[t] - top) / all;
}

static void plain_scores(const struct window_test *w, int layer, int seq, int h, double *out)
{
    static double sum[SLOTS + 2 * WINDOW_KERNEL_LIMIT];
    const struct window_mass_args *a = &w->a;
    int n = set_length(seq), before = n - a->params.recent, group = a->n_q / a->kv.n_kv, half = a->kernel / 2;
    int head = cache_head(&w->s->c, seq, layer, h), passes = a->largest_first ? 1 : group;
    memset(out, 0, SLOTS * sizeof *out);
    for (int g = 0; g < passes; g++) {
        double *at = sum + WINDOW_KERNEL_LIMIT;
        memset(sum, 0, sizeof sum);
        for (int i = 0; i < w->n; i++)
            plain_add(w, head, w->q[layer][seq] + (size_t)i * row_width(w->s), h * group + g,
                      h * group + (a->largest_first ? group : g + 1), a->causal ? n - w->n + 1 + i : before,
                      at);
        for (int t = before; t < n; t++)
            at[t] = 0;
        for (int t = 0; t < before; t++) {
            double x = 0;
            for (int u = t - half; u <= t + half; u++)
                x = a->pool == WINDOW_MEAN ? x + at[u] / a->kernel : fmax(x, at[u]);
            out[t] += x / w->n / passes;
        }
    }
}

/* R-KV's mixture of these scores with the redundancy of keys, in place. */
static void plain_mix(const struct key_redundancy_args *a, const struct set *s, int head, int n, double *v)
{
    int d = s->c.kv.head_dim;
    double *c = malloc((size_t)(n * n) * sizeof *c), *rho = calloc((size_t)n, sizeof *rho), all = 0;
    double *norm = calloc((size_t)n, sizeof *norm);
    const float *key = s->c.k + (size_t)head * SLOTS * (size_t)d;
    for (int i = 0; i < n; i++) {
        for (int x = 0; x < d; x++)
            norm[i] += (double)key[i * d + x] * (double)key[i * d + x];
        norm[i] = sqrt(norm[i]) + 1e-8;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double ij = 0;
            for (int x = 0; x < d; x++)
                ij += (double)key[i * d + x] * (double)key[j * d + x];
            c[i * n + j] = i == j ? 0 : ij / (norm[i] * norm[j]);
        }
    for (int i = 0; i < n; i++) {
        int spare = -1;
        for (int j = 0; j < n; j++)
            if (c[i * n + j] > (double)a->threshold && (spare < 0 || !a->first))
                spare = j;
        c[i * n + (spare < 0 ? 0 : spare)] = 0;
        for (int j = 0; j < n; j++)
            rho[j] += c[i * n + j] / n;
    }
    for (int t = 0; t < n; t++)
        all += exp(rho[t]);
    for (int t = 0; t < n - a->recent; t++)
        v[t] = (double)a->lambda * v[t] - (1 - (double)a->lambda) * exp(rho[t]) / all;
    free(norm);
    free(c);
    free(rho);
}

static void check_aux(const struct set *s, int64_t *out)
{
    rig_get(s->r, out, s->c.kv.aux_half, (size_t)s->c.heads * sizeof *out);
}

/* The first rows of the set come first, its others last. */
static int set_row(const struct window_test *w, int row)
{
    return row < 3 ? row : row >= w->n_rows - ROWS + 3 ? row - w->n_rows + ROWS : -1;
}

static int seq_of(const struct window_test *w, int row)
{
    int at = set_row(w, row);
    return at < 0 ? -1 : w->s->seq[at];
}

static struct rows make_rows(const struct window_test *w)
{
    size_t bytes = (size_t)w->n_rows * sizeof(int32_t);
    int32_t *seq = malloc(bytes), *pos = calloc(1, bytes);
    for (int i = 0; i < w->n_rows; i++) {
        seq[i] = seq_of(w, i);
        if (seq[i] >= 0)
            pos[i] = w->s->pos[set_row(w, i)];
    }
    struct rows rows = {w->n_rows, rig_up(w->s->r, seq, bytes), rig_up(w->s->r, pos, bytes)};
    free(seq);
    free(pos);
    return rows;
}

/* Compares all lists, and what each head with scores was charged for. */
static void compare_scores(struct window_test *w, const struct key_redundancy_args *mix,
                           const int64_t *before)
{
    static double want[SLOTS], alone[SLOTS]; /* alone: before keys are compared */
    struct set *s = w->s;
    int n_kv = w->a.kv.n_kv, of_row = w->layers * n_kv, lists = w->n_rows * of_row;
    int32_t *n = malloc((size_t)lists * sizeof *n), *m = malloc((size_t)lists * sizeof *m);
    int64_t after[SEQS * LAYERS * 8], charged = 0;
    float *v = malloc((size_t)lists * SLOTS * sizeof *v);
    rig_get(s->r, v, w->a.out.v, (size_t)lists * SLOTS * sizeof *v);
    rig_get(s->r, n, w->a.out.n, (size_t)lists * 4);
    rig_get(s->r, m, w->a.out.m, (size_t)lists * 4);
    check_aux(s, after);
    for (int i = 0; i < lists; i++) {
        int row = i / of_row, h = i % n_kv, layer = first_layer(w) + i % of_row / n_kv;
        int seq = seq_of(w, row), live = seq < 0 ? 0 : set_length(seq);
        if (seq < 0)
            continue;
        int acts = w->a.params.late ? live >= w->a.params.tokens && (live - 1) % w->a.params.every == 0
                                    : live > w->a.params.tokens && live % w->a.params.every == 0,
            head = cache_head(&s->c, seq, layer, h);
        CHECK_INT(n[i], acts ? live : 0);
        CHECK_INT(m[i], n[i]);
        charged = !acts ? 0 : (w->a.causal ? live : live - w->a.params.recent) + (mix ? live : 0);
        CHECK_INT(after[head] - before[head], charged);
        if (!acts)
            continue;
        if (seen_scores)
            memcpy(seen_scores + (size_t)(set_row(w, row) * n_kv + h) * SLOTS, v + (size_t)i * SLOTS,
                   (size_t)live * sizeof *v);
        plain_scores(w, layer, seq, h, want);
        memcpy(alone, want, sizeof alone);
        if (mix)
            plain_mix(mix, s, head, live, want);
        for (int t = 0; t < live; t++) {
            /* What is mixed may nearly cancel. */
            double share = mix ? (double)mix->lambda * alone[t] : 0;
            double close = 1e-9 + 2e-5 * (fabs(share) + fabs(want[t] - share));
            if (t < live - w->a.params.recent || !mix)
                CHECK_NEAR(v[(size_t)i * SLOTS + (size_t)t], want[t], close);
        }
        scored++;
        alike += mix != NULL;
        sunk += also.sinks;
        capped += also.cap > 0;
    }
    free(v);
    free(n);
    free(m);
}

enum { UNMIXED, SPARE_LAST, SPARE_FIRST };

/* every below 0: R-KV's released rule, every -every tokens. */
static void window_of_rows(struct set *s, int n_rows, int layers, int queries, int causal, int largest_first,
                           int kernel, enum window_pool pool, int every, int mixed)
{
    struct window_test w = {.s = s, .n = queries, .n_rows = n_rows, .layers = layers};
    int n_kv = s->c.kv.n_kv, owned = s->r->n_owned, of_row = layers * n_kv;
    size_t lists = (size_t)(n_rows * of_row),
           state_bytes = LAYERS * (size_t)queries * row_width(s) * sizeof(float) + 64;
    char *state = rig_alloc(s->r, SEQS * state_bytes);
    int64_t before[SEQS * LAYERS * 8];
    for (int i = 0; i < layers; i++)
        put_queries(&w, first_layer(&w) + i, state, state_bytes);
    struct rows rows = make_rows(&w);
    for (int q = 0; q < 16; q++) /* near the logits, above them and below */
        w.sink[q] = q % 3 == 0 ? 4 : q % 3 == 1 ? 15 : -90;
    w.a = (struct window_mass_args){
        .rows = rows,
        .kv = s->c.kv,
        .layer = first_layer(&w),
        .n_q = s->c.n_q,
        .scale = 0.3f,
        .params = {.tokens = queries + 4,
                   .min_tokens = queries + 3,
                   .every = every < 0 ? -every : every,
                   .recent = queries + 2,
                   .late = every < 0},
        .n = queries,
        .state = state,
        .state_bytes = state_bytes,
        .causal = causal,
        .largest_first = largest_first,
        .kernel = kernel,
        .pool = pool,
        .softmax = {also.sinks ? rig_up(s->r, w.sink, sizeof w.sink) : NULL, also.cap},
        .out = {rig_alloc(s->r, lists * SLOTS * 4), rig_alloc(s->r, lists * 4), rig_alloc(s->r, lists * 4),
                of_row, SLOTS}};
    struct key_redundancy_args mix = {.rows = rows,
                                      .kv = s->c.kv,
                                      .layer = first_layer(&w),
                                      .recent = queries + 2,
                                      .first = mixed == SPARE_FIRST,
                                      .threshold = 0.2f,
                                      .lambda = 0.4f,
                                      .io = w.a.out,
                                      .spare = rig_alloc(s->r, lists * SLOTS * 4),
                                      .mean = rig_alloc(s->r, lists * SLOTS * 4)};
    check_aux(s, before);
    if (layers > 1) { /* whose sinks would these be? */
        struct window_mass_args bad = w.a;
        bad.softmax.sink = (const float *)(const void *)state;
        CHECK_INT(s->r->b->launch(s->r->d, OP_window_mass, &bad), BACKEND_ERR_UNSUPPORTED);
    }
    rig_run(s->r, OP_window_mass, &w.a);
    if (mixed)
        rig_run(s->r, OP_key_redundancy, &mix);
    compare_scores(&w, mixed ? &mix : NULL, before);
    for (int i = 0; i < LAYERS * SEQS; i++)
        free(w.q[i / SEQS][i % SEQS]);
    set_forget(s, owned);
}

static void check_window(struct set *s, int queries, int causal, int largest_first, int kernel,
                         enum window_pool pool, int every, int mixed)
{
    window_of_rows(s, ROWS, 1, queries, causal, largest_first, kernel, pool, every, mixed);
}

/* Lengths are 1, 16, 17, 513 and more; of all live slots, as the operations want them. */
static void check_windows(struct set *s, int shape)
{
    if (s->punch)
        return;
    check_window(s, SHORT, 0, 0, 5, WINDOW_MEAN, 1, UNMIXED);
    check_window(s, LONG, 0, 0, 5, WINDOW_MEAN, 3, UNMIXED);
    if (!rig_small() && shape)
        check_window(s, SHORT, 0, 1, 1, WINDOW_MEAN, 1, UNMIXED);
    check_window(s, SHORT, 1, 0, 7, WINDOW_MAX, 19, UNMIXED);
    check_window(s, LONG, 1, 0, 7, WINDOW_MAX, 19, UNMIXED);
    check_window(s, SHORT, 0, 1, 7, WINDOW_MAX, 17, SPARE_LAST);
    check_window(s, SHORT, 0, 1, 7, WINDOW_MAX, 17, SPARE_FIRST);
    check_window(s, SHORT, 0, 1, 7, WINDOW_MAX, -16, SPARE_LAST);
    check_window(s, SHORT, 0, 1, 15, WINDOW_MAX, 19, SPARE_LAST);
    check_window(s, SHORT, 0, 1, 15, WINDOW_MAX, 19, SPARE_FIRST);
}

/* Sinks, a softcap, and both. */
static void check_softmaxes(struct set *s, int shape)
{
    if (s->punch)
        return;
    for (int form = 0; form < 3; form++) {
        also.sinks = form != 1;
        also.cap = form ? 1.5f : 0;
        if (rig_small() && form != shape % 3)
            continue;
        check_window(s, SHORT, 0, 0, 5, WINDOW_MEAN, 1, UNMIXED);
        check_window(s, LONG, 1, 0, 7, WINDOW_MAX, 19, UNMIXED);
        check_window(s, SHORT, 0, 1, 7, WINDOW_MAX, 17, SPARE_LAST);
    }
    also.sinks = 0;
    also.cap = 0;
}

static void open_extra(struct set *s, struct rig *r, int shape)
{
    rig_open(r, NULL, 2);
    set_open(s, r, shape);
}

static void close_extra(struct set *s, struct rig *r)
{
    set_close(s);
    rig_close(r);
}

/* More lists than a block looks at in one go; nearly all of them are padding. */
static void many_rows(void)
{
    enum { MANY = 1100 };
    static struct set s;
    struct rig r;
    open_extra(&s, &r, 2); /* bf16, one query head over each of two KV heads of 128 dimensions */
    window_of_rows(&s, MANY, 1, SHORT, 0, 0, 5, WINDOW_MEAN, 1, UNMIXED);
    window_of_rows(&s, MANY, 1, SHORT, 0, 1, 7, WINDOW_MAX, 19, SPARE_LAST);
    /* With few:3 these do not all have room for their sums at once. */
    window_of_rows(&s, MANY, 1, LONG, 0, 0, 5, WINDOW_MEAN, 19, UNMIXED);
    close_extra(&s, &r);
}

/* Heads of several layers. */
static void both_layers(void)
{
    static const int shapes[] = {0, 2, SET_ODD};
    static struct set s;
    struct rig r;
    for (int i = 0; i < 3; i++) {
        open_extra(&s, &r, shapes[i]);
        window_of_rows(&s, ROWS, LAYERS, SHORT, 0, 0, 5, WINDOW_MEAN, 19, UNMIXED);
        window_of_rows(&s, ROWS, LAYERS, SHORT, 0, 1, 7, WINDOW_MAX, 19, SPARE_LAST);
        close_extra(&s, &r);
    }
}

/* A sequence's scores have the same bits beside so many rows that a GPU has no counter for each of their
 * jobs, on tensor cores and not. Those of a multiple of 15 tokens have several parts. */
static void same_bits(int shape, int mixed)
{
    enum { QUERIES = 16, MANY = 2100 };
    static float scores[2][ROWS * 2 * SLOTS];
    static struct set s;
    struct rig r;
    for (int i = 0; i < 2; i++) {
        open_extra(&s, &r, shape);
        seen_scores = scores[i];
        window_of_rows(&s, i ? MANY : ROWS, 1, QUERIES, 0, 1, 7, WINDOW_MAX, 15, mixed);
        seen_scores = NULL;
        close_extra(&s, &r);
    }
    CHECK(!memcmp(scores[0], scores[1], sizeof scores[0]));
}

/* A group of more heads than a block without tensor cores meets a key with at once, an odd group, and the
 * largest heads. Sequences of a multiple of 10 or 15 tokens are the long ones, which are of several stages.
 */
static void extra_shapes(void)
{
    static struct set s;
    struct rig r;
    open_extra(&s, &r, SET_GROUP);
    check_window(&s, SHORT, 0, 1, 7, WINDOW_MAX, 19, SPARE_LAST);
    check_window(&s, LONG, 1, 0, 5, WINDOW_MEAN, 19, UNMIXED);
    check_softmaxes(&s, SET_GROUP);
    close_extra(&s, &r);
    open_extra(&s, &r, SET_ODD);
    check_window(&s, SHORT, 1, 0, 5, WINDOW_MEAN, 10, UNMIXED);
    check_window(&s, LONG, 1, 0, 7, WINDOW_MAX, 10, UNMIXED);
    check_window(&s, MOST, 0, 0, 5, WINDOW_MEAN, 19, UNMIXED);
    check_window(&s, MORE, 0, 0, 5, WINDOW_MEAN, 19, UNMIXED);
    check_window(&s, SHORT, 0, 1, 7, WINDOW_MAX, 15, SPARE_LAST);
    check_window(&s, SHORT, 0, 1, 7, WINDOW_MAX, 15, SPARE_FIRST);
    check_window(&s, SHORT, 0, 1, 7, WINDOW_MAX, 3, SPARE_LAST); /* lists of several lengths */
    check_window(&s, LONG, 1, 1, 7, WINDOW_MAX, 10, UNMIXED);
    close_extra(&s, &r);
    open_extra(&s, &r, SET_WIDE);
    check_window(&s, SHORT, 0, 0, 5, WINDOW_MEAN, 19, UNMIXED);
    check_window(&s, SHORT, 0, 1, 7, WINDOW_MAX, 19, SPARE_LAST);
    close_extra(&s, &r);
}

int main(void)
{
    set_each(check_windows);
    set_each(check_softmaxes);
    extra_shapes();
    many_rows();
    both_layers();
    same_bits(0, UNMIXED);
    same_bits(2, SPARE_LAST);
    rig_ran("heads scored by a window", scored);
    rig_ran("heads of which keys were compared", alike);
    rig_ran("heads with sinks", sunk);
    rig_ran("heads with a softcap", capped);
    return check_done();
}
