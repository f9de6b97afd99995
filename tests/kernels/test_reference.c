/* The dense operations against double-precision loops, over a table of shapes. */
#include "tests/kernels/rig.h"

static float buf_a[1 << 18], buf_b[1 << 18], buf_c[1 << 18], got[1 << 18];

static void check_close(const char *what, const float *have, const double *want, size_t n, double tolerance)
{
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)have[i] - want[i]) <= worst)) {
            worst = fabs((double)have[i] - want[i]);
            at = i;
        }
    if (!(worst <= tolerance))
        fprintf(stderr, "%s: element %zu is %.9g, want %.9g\n", what, at, (double)have[at], want[at]);
    CHECK(worst <= tolerance);
}

static void check_embed(struct rig *r, enum dtype t, float scale)
{
    int32_t token[4] = {7, 0, 36, 3}, seq[4] = {0, 5, -1, 1};
    struct weight w = rig_weight(r, 37, 24, t, buf_a, NULL);
    rig_fill(r, buf_b, 96);
    struct embed_args a = {
        rig_up(r, token, sizeof token), rig_up(r, seq, sizeof seq), w, rig_up(r, buf_b, 96 * 4), 4, scale};
    rig_run(r, OP_embed, &a);
    rig_get(r, got, a.out, 96 * 4);
    for (int i = 0; i < 96; i++)
        CHECK(got[i] == (i / 24 == 2 ? 0 : buf_a[token[i / 24] * 24 + i % 24] * scale));
    rig_weight_free(r, &w);
}

static void check_rmsnorm(struct rig *r, int rows, int dim)
{
    static double want[1 << 18];
    rig_fill(r, buf_a, (size_t)(rows * dim));
    rig_fill(r, buf_b, (size_t)dim);
    struct rmsnorm_args a = {.x = rig_up(r, buf_a, (size_t)(rows * dim) * 4),
                             .w = rig_up(r, buf_b, (size_t)dim * 4),
                             .out = rig_alloc(r, (size_t)(rows * dim) * 4),
                             .rows = rows,
                             .dim = dim,
                             .eps = 1e-6f};
    rig_run(r, OP_rmsnorm, &a);
    rig_get(r, got, a.out, (size_t)(rows * dim) * 4);
    if (r->b->activations == DTYPE_BF16) {
        a.type = DTYPE_BF16;
        rig_run(r, OP_rmsnorm, &a);
        CHECK(rig_is_rounded(r, a.out, got, (size_t)(rows * dim)));
    }
    for (int i = 0; i < rows; i++) {
        double s = 0;
        for (int j = 0; j < dim; j++)
            s += (double)buf_a[i * dim + j] * (double)buf_a[i * dim + j];
        for (int j = 0; j < dim; j++)
            want[i * dim + j] = (double)buf_a[i * dim + j] / sqrt(s / dim + 1e-6) * (double)buf_b[j];
    }
    check_close("rmsnorm", got, want, (size_t)(rows * dim), 1e-6);
}

/* In place on rows that are apart: the bits of rows that are not, and nothing between them changes. */
static void norm_apart(struct rig *r, int rows, int dim, int stride)
{
    static float want[1 << 15];
    size_t floats = (size_t)(rows * stride);
    rig_fill(r, buf_a, floats);
    rig_fill(r, buf_b, (size_t)dim);
    for (int i = 0; i < rows; i++)
        memcpy(buf_c + i * dim, buf_a + i * stride, (size_t)dim * 4);
    float *x = rig_up(r, buf_a, floats * 4), *close = rig_up(r, buf_c, (size_t)(rows * dim) * 4);
    struct rmsnorm_args a = {close, rig_up(r, buf_b, (size_t)dim * 4), close, rows, dim, 1e-6f, DTYPE_F32, 0};
    rig_run(r, OP_rmsnorm, &a);
    rig_get(r, want, close, (size_t)(rows * dim) * 4);
    a.x = a.out = x;
    a.stride = stride;
    rig_run(r, OP_rmsnorm, &a);
    rig_get(r, got, x, floats * 4);
    for (int i = 0; i < rows; i++) {
        CHECK(memcmp(got + i * stride, want + i * dim, (size_t)dim * 4) == 0);
        CHECK(memcmp(got + i * stride + dim, buf_a + i * stride + dim, (size_t)(stride - dim) * 4) == 0);
    }
}

/* Without weights rows are only brought into the type of the output. */
static void no_norm(struct rig *r, int rows, int dim)
{
    int n = rows * dim;
    enum dtype type = r->b->activations;
    rig_fill(r, buf_a, (size_t)n);
    float *x = rig_up(r, buf_a, (size_t)n * 4), *out = rig_up(r, buf_b, (size_t)n * 4);
    struct rmsnorm_args a = {x, NULL, out, rows, dim, 1e-6f, type, 0};
    rig_run(r, OP_rmsnorm, &a);
    if (type == DTYPE_BF16) {
        CHECK(rig_is_rounded(r, out, buf_a, (size_t)n));
        return;
    }
    rig_get(r, got, out, (size_t)n * 4);
    CHECK(memcmp(got, buf_a, (size_t)n * 4) == 0);
}

static void check_add_part(struct rig *r, int rows, int dim, int with_norm, float scale)
{
    static double want[1 << 18];
    size_t n = (size_t)(rows * dim);
    rig_fill(r, buf_a, n);
    rig_fill(r, buf_b, n);
    rig_fill(r, buf_c, (size_t)dim);
    struct add_part_args a = {.x = rig_up(r, buf_a, n * 4),
                              .t = rig_up(r, buf_b, n * 4),
                              .w = with_norm ? rig_up(r, buf_c, (size_t)dim * 4) : NULL,
                              .rows = rows,
                              .dim = dim,
                              .eps = 0.01f,
                              .scale = scale};
    rig_run(r, OP_add_part, &a);
    for (int i = 0; i < rows; i++) {
        const float *t = buf_b + i * dim;
        double s = 0;
        for (int j = 0; j < dim; j++)
            s += (double)t[j] * (double)t[j];
        double root = sqrt(s / dim + (double)a.eps);
        for (int j = 0; j < dim; j++)
            want[i * dim + j] = (double)buf_a[i * dim + j] +
                                (double)scale * (double)t[j] * (with_norm ? (double)buf_c[j] / root : 1);
    }
    rig_get(r, got, a.x, n * 4);
    check_close("add_part", got, want, n, 1e-6);
    rig_get(r, got, a.t, n * 4);
    CHECK(memcmp(got, buf_b, n * 4) == 0);
}

enum { HEAD_ROWS = 40, HEAD_POS = 1000 };

/* What check_heads does: norms, behind the rotation; no rotation; queries scaled by their position. */
enum { NORM = 1, BEHIND = 2, STILL = 4, SCALED = 8 };

static void want_norm(double *p, const float *w, int d, float eps)
{
    double s = 0;
    for (int j = 0; j < d; j++)
        s += p[j] * p[j];
    for (int j = 0; j < d; j++)
        p[j] *= (double)w[j] / sqrt(s / d + (double)eps);
}

static void want_turned(double *p, const float *table, int d)
{
    for (int j = 0; j < d / 2; j++) {
        double u = p[j], v = p[j + d / 2], c = (double)table[j], sine = (double)table[d / 2 + j];
        p[j] = u * c - v * sine;
        p[j + d / 2] = v * c + u * sine;
    }
}

/* q and k after norms, rotation and scaling, where they were (x); padding rows as they were. w: of q,
 * then of k. Angles and scales by position lie in buf_c. */
static void want_heads(double *want, const float *x, const float *w, const struct rope_append_args *a,
                       const int32_t *seq, const int32_t *pos)
{
    int d = a->kv.head_dim, heads = a->n_q + a->kv.n_kv;
    for (int i = 0; i < a->rows.cap * a->stride; i++)
        want[i] = (double)x[i];
    for (int i = 0; i < a->rows.cap * heads; i++) {
        int r = i / heads, h = i % heads;
        double *p = want + r * a->stride + h * d;
        const float *gain = w + (h < a->n_q ? 0 : d);
        if (seq[r] < 0)
            continue;
        if (a->wq && !a->norm_after)
            want_norm(p, gain, d, a->eps);
        if (a->cos_sin)
            want_turned(p, buf_c + pos[r] * d, d);
        if (a->wq && a->norm_after)
            want_norm(p, gain, d, a->eps);
        for (int j = 0; j < d && h < a->n_q && a->q_scale; j++)
            p[j] *= (double)buf_c[HEAD_POS * d + pos[r]];
    }
}

/* rope_append on one buffer of rows (q, k, v, something else): q and k against double precision, the cache
 * against append of the k and v that came out. Then once more, so that pages are continued. */
static void check_heads(struct rig *r, int n_q, int n_kv, int d, enum dtype t, int prefill, int flags)
{
    int rows = prefill ? HEAD_ROWS : 5, stride = (n_q + 2 * n_kv) * d + 7, owned = r->n_owned;
    size_t floats = (size_t)(rows * stride);
    static double want[1 << 16];
    static const int32_t some_seq[] = {0, 1, -1, 3, 2}, some_pos[] = {0, 17, 0, 900, 3};
    int32_t seq[HEAD_ROWS], pos[HEAD_ROWS];
    struct cache c, other;
    cache_open(&c, r, 4, 2, n_q, n_kv, d, 6, t);
    cache_open(&other, r, 4, 2, n_q, n_kv, d, 6, t);
    rig_fill(r, buf_b, (size_t)(2 * d));
    for (int p = 0; p < HEAD_POS; p++) {
        for (int i = 0; i < d / 2; i++) {
            double angle = p * pow(10000, -2.0 * i / d);
            buf_c[p * d + i] = (float)cos(angle);
            buf_c[p * d + d / 2 + i] = (float)sin(angle);
        }
        buf_c[HEAD_POS * d + p] = 1 + 0.01f * (float)p;
    }
    float *x = rig_alloc(r, floats * 4), *w = rig_up(r, buf_b, (size_t)(2 * d) * 4);
    float *tables = rig_up(r, buf_c, (size_t)(HEAD_POS * (d + 1)) * 4);
    int32_t *ids = rig_alloc(r, 2 * sizeof seq);
    struct rope_append_args a = {.rows = {rows, ids, ids + HEAD_ROWS},
                                 .kv = c.kv,
                                 .layer = 1,
                                 .prefill = prefill,
                                 .n_q = n_q,
                                 .q = x,
                                 .k = x + n_q * d,
                                 .v = x + (n_q + n_kv) * d,
                                 .stride = stride,
                                 .cos_sin = flags & STILL ? NULL : tables,
                                 .wq = flags & NORM ? w : NULL,
                                 .wk = flags & NORM ? w + d : NULL,
                                 .eps = 1e-5f,
                                 .norm_after = (flags & BEHIND) != 0,
                                 .q_scale = flags & SCALED ? tables + HEAD_POS * d : NULL};
    struct append_args p = {a.rows, other.kv, 1, prefill, a.k, a.v, stride};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < rows; i++) {
            seq[i] = prefill ? 2 : some_seq[i];
            pos[i] = prefill ? turn * rows + i : some_pos[i] + turn;
        }
        rig_put(r, ids, seq, (size_t)rows * 4);
        rig_put(r, ids + HEAD_ROWS, pos, (size_t)rows * 4);
        rig_fill(r, buf_a, floats);
        rig_put(r, x, buf_a, floats * 4);
        rig_run(r, OP_rope_append, &a);
        rig_get(r, got, x, floats * 4);
        want_heads(want, buf_a, buf_b, &a, seq, pos);
        check_close("rope_append", got, want, floats, flags & SCALED ? 1e-5 : 1e-6);
        rig_run(r, OP_append, &p);
        cache_compare(r, &c.kv, r, &other.kv);
    }
    cache_close(&c);
    cache_close(&other);
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
}

/* What a unit's sigmoid is of: fp32 rounds it. */
static double sigmoid_of(enum glu glu, double z)
{
    return glu == GLU_GELU ? 1.6 * (z + 0.044715 * z * z * z) : glu == GLU_CLAMPED ? 1.702 * z : 0;
}

static void check_swiglu(struct rig *r, int rows, int n, enum glu glu)
{
    static const float edge[] = {0, -0.0f, 88, -88, 100, -100, 104, -104, 1e30f, -1e30f, 1e-40f, 3.4e38f};
    rig_fill(r, buf_a, (size_t)(rows * 2 * n));
    for (int i = 0; i < rows * 2 * n; i++)
        buf_a[i] *= 20;
    for (int i = 0; i < n && i < 12; i++)
        buf_a[i] = edge[i];
    struct swiglu_args a = {.x = rig_up(r, buf_a, (size_t)(rows * 2 * n) * 4),
                            .out = rig_alloc(r, (size_t)(rows * n) * 4),
                            .rows = rows,
                            .n = n,
                            .glu = glu};
    rig_run(r, OP_swiglu, &a);
    rig_get(r, got, a.out, (size_t)(rows * n) * 4);
    if (r->b->activations == DTYPE_BF16) {
        a.type = DTYPE_BF16;
        rig_run(r, OP_swiglu, &a);
        CHECK(rig_is_rounded(r, a.out, got, (size_t)(rows * n)));
    }
    double worst = 0;
    for (int i = 0; i < rows * n; i++) {
        double z = (double)buf_a[i / n * 2 * n + i % n], u = (double)buf_a[i / n * 2 * n + n + i % n];
        double want = rig_glu(glu, z, u), error = fabs((double)got[i] - want) / (fabs(want) + 1e-30);
        error /= 1 + fabs(sigmoid_of(glu, z < 7 || glu != GLU_CLAMPED ? z : 7));
        /* exp(-z) leaves the range of fp32 near -88.7: the result is 0 where the true one is below 1e-36 */
        if (fabs(want) > 1e-35 && fabs(want) < 3e38)
            worst = error > worst ? error : worst;
        else
            CHECK(fabs(want) >= 3e38 || fabs((double)got[i]) < 1e-34);
    }
    CHECK_NEAR(worst, 0, 5e-7);
}

/* What is not a number stays so in every unit, as gate and as up. */
static void check_lost(struct rig *r)
{
    const float x[4] = {NAN, 1, 1, NAN};
    struct swiglu_args a = {rig_up(r, x, sizeof x), rig_alloc(r, 8), 1, 2, DTYPE_F32, GLU_SILU};
    for (int glu = GLU_SILU; glu <= GLU_CLAMPED; glu++) {
        a.glu = (enum glu)glu;
        rig_run(r, OP_swiglu, &a);
        rig_get(r, got, a.out, 8);
        CHECK(isnan(got[0]) && isnan(got[1]));
    }
}

/* Logits of every size to a few ulp; what is not finite stays. cap 0: scaled only. */
static void check_cap(struct rig *r, float scale, float cap)
{
    enum { N = 9001 };
    static const float odd[] = {INFINITY, -INFINITY, NAN, 0, -0.0f, 1e-30f, 3e38f};
    rig_fill(r, buf_a, N);
    for (int i = 0; i < N; i++)
        buf_a[i] *= powf(10, (float)(i % 9) - 5);
    memcpy(buf_a, odd, sizeof odd);
    struct cap_logits_args a = {rig_up(r, buf_a, N * 4), N - 1, scale, cap};
    rig_run(r, OP_cap_logits, &a);
    rig_get(r, got, a.v, N * 4);
    CHECK(got[0] == INFINITY && got[1] == -INFINITY && isnan(got[2]) && got[N - 1] == buf_a[N - 1]);
    for (int i = 3; i < N - 1; i++) {
        float scaled = buf_a[i] * scale;
        double want = cap > 0 ? (double)cap * tanh((double)scaled / (double)cap) : (double)scaled;
        CHECK_NEAR((double)got[i], want, 4e-7 * fabs(want));
        CHECK(cap > 0 || got[i] == scaled);
    }
}

static void check_gate(struct rig *r, int per_layer)
{
    enum { ROWS = 6, DIM = 100, HEADS = 4 };
    rig_fill(r, buf_a, ROWS * DIM);
    rig_fill(r, buf_b, HEADS * DIM + HEADS);
    float *w = rig_up(r, buf_b, (HEADS * DIM + HEADS) * 4);
    int32_t flag[ROWS * HEADS];
    struct gate_args a = {rig_up(r, buf_a, ROWS * DIM * 4),
                          w,
                          w + HEADS * DIM,
                          3,
                          0.5f,
                          rig_alloc(r, sizeof flag),
                          ROWS,
                          DIM,
                          HEADS,
                          per_layer,
                          DTYPE_F32};
    rig_run(r, OP_gate, &a);
    rig_get(r, flag, a.flag, sizeof flag);
    for (int i = 0; i < ROWS * HEADS; i++) {
        int h = per_layer ? 0 : i % HEADS;
        double s = (double)buf_b[HEADS * DIM + h];
        for (int j = 0; j < DIM; j++)
            s += (double)buf_b[h * DIM + j] * (double)buf_a[i / HEADS * DIM + j];
        CHECK_INT(flag[i], s * 3 + 0.5 > 0);
    }
}

/* The last tile is short; what lies between the rows is not read. */
static void check_pool(struct rig *r, int n_q, int n_kv, int dim, int tile)
{
    enum { ROWS = 21 };
    static double want[ROWS * 1024];
    int stride = n_q * dim + 5, group = n_q / n_kv;
    size_t n = (size_t)(ROWS * n_q * dim);
    rig_fill(r, buf_a, (size_t)(ROWS * stride));
    struct pool_queries_args a = {.q = rig_up(r, buf_a, (size_t)(ROWS * stride) * 4),
                                  .q_stride = stride,
                                  .out = rig_alloc(r, n * 4),
                                  .rows = ROWS,
                                  .n_q = n_q,
                                  .n_kv = n_kv,
                                  .dim = dim,
                                  .tile = tile};
    rig_run(r, OP_pool_queries, &a);
    for (int i = 0; i < ROWS * n_q * dim; i++) {
        int row = i / (n_q * dim), h = i / dim % n_q / group * group, from = row / tile * tile;
        int to = from + tile < ROWS ? from + tile : ROWS;
        want[i] = 0;
        for (int t = from; t < to; t++)
            for (int g = h; g < h + group; g++)
                want[i] += (double)buf_a[t * stride + g * dim + i % dim] / ((to - from) * group);
    }
    rig_get(r, got, a.out, n * 4);
    check_close("pool_queries", got, want, n, 1e-6);
}

/* head_norm and then rope_append without weights give the bits of rope_append with them, padding rows stay as
 * they are. */
static void split_heads(struct rig *r, int n_q, int n_kv, int d)
{
    enum { ROWS = 5 };
    static const int32_t ids[2 * ROWS] = {0, 1, -1, 3, 2, 0, 17, 0, 900, 3};
    static float want[1 << 14];
    int stride = (n_q + 2 * n_kv) * d + 3;
    size_t floats = (size_t)(ROWS * stride);
    struct cache c;
    cache_open(&c, r, 4, 1, n_q, n_kv, d, 6, DTYPE_F32);
    rig_fill(r, buf_a, floats);
    rig_fill(r, buf_b, (size_t)(2 * d));
    rig_fill(r, buf_c, (size_t)(HEAD_POS * d));
    const int32_t *rows = rig_up(r, ids, sizeof ids);
    float *x = rig_up(r, buf_a, floats * 4), *w = rig_up(r, buf_b, (size_t)(2 * d) * 4);
    struct rope_append_args a = {.rows = {ROWS, rows, rows + ROWS},
                                 .kv = c.kv,
                                 .n_q = n_q,
                                 .q = x,
                                 .k = x + n_q * d,
                                 .v = x + (n_q + n_kv) * d,
                                 .stride = stride,
                                 .cos_sin = rig_up(r, buf_c, (size_t)(HEAD_POS * d) * 4),
                                 .wq = w,
                                 .wk = w + d,
                                 .eps = 1e-5f};
    struct head_norm_args n = {a.rows, n_q, n_kv, d, a.q, a.k, stride, a.wq, a.wk, a.eps};
    rig_run(r, OP_rope_append, &a);
    rig_get(r, want, x, floats * 4);
    rig_put(r, x, buf_a, floats * 4);
    rig_run(r, OP_head_norm, &n);
    rig_get(r, got, x, floats * 4);
    CHECK(memcmp(got, buf_a, floats * 4) != 0);
    a.wq = a.wk = NULL;
    rig_run(r, OP_rope_append, &a);
    rig_get(r, got, x, floats * 4);
    CHECK(memcmp(got, want, floats * 4) == 0);
    n.head_dim = 7;
    CHECK_INT(r->b->launch(r->d, OP_head_norm, &n), BACKEND_ERR_UNSUPPORTED);
    cache_close(&c);
}

/* The channel of the first query head of each group decides and becomes 0; nothing else changes. */
static void check_borrow(struct rig *r, int channel)
{
    enum { ROWS = 4, Q = 6, KV = 2, DIM = 16, STRIDE = (Q + 2 * KV) * DIM, FLOATS = ROWS * STRIDE };
    static const int32_t ids[2 * ROWS] = {2, -1, 0, 1};
    const int32_t *rows = rig_up(r, ids, sizeof ids);
    int32_t flag[ROWS * KV];
    for (int i = 0; i < ROWS * KV; i++)
        flag[i] = -7;
    rig_fill(r, buf_a, FLOATS);
    float *q = rig_up(r, buf_a, FLOATS * 4);
    struct borrow_args a = {{ROWS, rows, rows + ROWS},   Q, KV, DIM, q, STRIDE, channel, 100, -5,
                            rig_up(r, flag, sizeof flag)};
    struct mute_args m = {a.rows, Q, KV, DIM, q, STRIDE, channel};
    rig_run(r, OP_borrow, &a);
    rig_get(r, flag, a.flag, sizeof flag);
    for (int turn = 0; turn < 2; turn++) {
        rig_get(r, got, q, FLOATS * 4);
        for (int i = 0; i < FLOATS; i++) {
            int row = i / STRIDE, head = i % STRIDE / DIM, kv = head / (Q / KV);
            int here = head < Q && head % (Q / KV) == 0 && i % DIM == channel;
            if (here)
                CHECK_INT(flag[row * KV + kv], ids[row] < 0 ? -7 : buf_a[i] * 100 - 5 > 0);
            CHECK(got[i] == (here && ids[row] >= 0 ? 0 : buf_a[i]));
        }
        rig_put(r, q, buf_a, FLOATS * 4);
        rig_run(r, OP_mute, &m);
    }
    m.channel = a.channel = DIM;
    CHECK_INT(r->b->launch(r->d, OP_mute, &m), BACKEND_ERR_UNSUPPORTED);
    CHECK_INT(r->b->launch(r->d, OP_borrow, &a), BACKEND_ERR_UNSUPPORTED);
}

static void small_ops(struct rig *r)
{
    int32_t out[100];
    struct fill_i32_args f = {rig_alloc(r, sizeof out), -7, 99};
    rig_run(r, OP_fill_i32, &f);
    rig_get(r, out, f.out, sizeof out);
    for (int i = 0; i < 100; i++)
        CHECK_INT(out[i], i < 99 ? -7 : 0);
    const int32_t at[4] = {98, 0, 7, 99}, value[4] = {5, INT32_MIN, -1, 12};
    struct put_i32_args put = {f.out, rig_up(r, at, sizeof at), rig_up(r, value, sizeof value), 3};
    rig_run(r, OP_put_i32, &put);
    rig_get(r, out, f.out, sizeof out);
    for (int i = 0; i < 100; i++)
        CHECK_INT(out[i], i == 98 ? 5 : i == 0 ? INT32_MIN : i == 7 ? -1 : i < 99 ? -7 : 0);

    struct rmsnorm_args n = {.type = DTYPE_BF16};
    struct linear_args l = {.w = {.dtype = DTYPE_F32}, .type = DTYPE_BF16};
    if (r->b->activations == DTYPE_F32)
        CHECK_INT(r->b->launch(r->d, OP_rmsnorm, &n), BACKEND_ERR_UNSUPPORTED);
    CHECK_INT(r->b->launch(r->d, OP_linear, &l), BACKEND_ERR_UNSUPPORTED);
    struct linear_swiglu_args g = {.w = {.dtype = DTYPE_F32, .n = 7}, .type = DTYPE_F32};
    CHECK_INT(r->b->launch(r->d, OP_linear_swiglu, &g), BACKEND_ERR_UNSUPPORTED);

    struct cache c;
    cache_open(&c, r, 3, 2, 4, 2, 16, 4, DTYPE_F32);
    cache_prefill(&c, r, 2, 0, 20);
    int32_t seq[3] = {2, -1, 0}, pos[3] = {20, 0, 0}, peak[3] = {5, 6, 7}, bounds[3] = {0, 0, 1};
    rig_put(r, c.kv.peak, peak, sizeof peak);
    struct account_args a = {{3, rig_up(r, seq, sizeof seq), rig_up(r, pos, sizeof pos)},
                             c.kv,
                             rig_up(r, bounds, sizeof bounds),
                             NULL};
    rig_run(r, OP_account, &a);
    rig_get(r, peak, c.kv.peak, sizeof peak);
    CHECK_INT(peak[0], 5);
    CHECK_INT(peak[1], 6);
    CHECK_INT(peak[2], 80 + 8); /* 20 tokens and 2 pages in each of 4 heads */
    const int32_t window[2] = {16, 0}, none[3] = {0};
    rig_put(r, c.kv.peak, none, sizeof none);
    a.window = rig_up(r, window, sizeof window);
    rig_run(r, OP_account, &a);
    rig_get(r, peak, c.kv.peak, sizeof peak);
    CHECK_INT(peak[0], 0);
    CHECK_INT(peak[2], 2 * (16 + 1) + 2 * (20 + 2));
    cache_close(&c);
}

static void check_all(struct rig *r)
{
    check_embed(r, DTYPE_BF16, 1);
    check_embed(r, DTYPE_F32, 1);
    check_embed(r, DTYPE_BF16, 50.5f);
    check_embed(r, DTYPE_F32, 0.3f);
    check_rmsnorm(r, 3, 256);
    check_rmsnorm(r, 2, 100);
    check_rmsnorm(r, 1, 4099);
    norm_apart(r, 3, 256, 640);
    norm_apart(r, 3, 256, 259);
    norm_apart(r, 2, 100, 101);
    norm_apart(r, 2, 8196, 9000);
    no_norm(r, 3, 256);
    no_norm(r, 2, 99);
    for (int with_norm = 0; with_norm < 2; with_norm++) {
        check_add_part(r, 3, 256, with_norm, 1);
        check_add_part(r, 2, 99, with_norm, 0.22f);
        check_add_part(r, 1, 8200, with_norm, 3);
    }
    for (int i = 0; i < 4; i++) {
        check_heads(r, 4, 2, 64, i % 2 ? DTYPE_F32 : DTYPE_BF16, i / 2, NORM);
        check_heads(r, 5, 1, 128, DTYPE_BF16, i / 2, i % 2 ? NORM : 0);
        check_heads(r, 2, 2, 48, i % 2 ? DTYPE_BF16 : DTYPE_F32, i / 2, 0);
        check_heads(r, 4, 2, 64, DTYPE_BF16, i / 2, i % 2 ? NORM | BEHIND : STILL);
        check_heads(r, 2, 1, 48, DTYPE_F32, i / 2, i % 2 ? NORM | STILL : SCALED);
        check_heads(r, 2, 2, 112, DTYPE_BF16, i / 2, SCALED | (i % 2 ? NORM | BEHIND : STILL));
    }
    for (int glu = GLU_SILU; glu <= GLU_CLAMPED; glu++) {
        check_swiglu(r, 2, 768, (enum glu)glu);
        check_swiglu(r, 3, 1100, (enum glu)glu);
        check_swiglu(r, 1, 13, (enum glu)glu);
    }
    check_lost(r);
    check_cap(r, 1, 30);
    check_cap(r, 0.125f, 0);
    check_cap(r, 0.5f, 50);
    check_pool(r, 8, 2, 64, 16);
    check_pool(r, 3, 1, 48, 1);
    check_pool(r, 4, 4, 100, 32);
    check_gate(r, 0);
    check_gate(r, 1);
    split_heads(r, 4, 2, 64);
    split_heads(r, 5, 1, 128);
    check_borrow(r, 15);
    check_borrow(r, 0);
    small_ops(r);
}

int main(void)
{
    rig_each_isa(check_all);
    return check_done();
}
