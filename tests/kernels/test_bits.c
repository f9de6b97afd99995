/* A row's numbers must not depend on what else is computed: they are compared bit for bit for every
 * instruction set of this machine, with one thread and two, alone, in a batch of 5 and in a batch of 33, and
 * for a prompt in one piece or in many. Small: fewer sequences alone and in a batch of 5, and five of the
 * scalar code, which takes minutes in a sanitized build. */
#include "tests/kernels/step.h"

enum { STEPS = 3 };

/* Instruction sets and threads are a CPU's. */
static int on_cpu(void)
{
    return !getenv("KVEVAL_TEST_BACKEND");
}

struct image {
    unsigned char *p[STEP_SEQS];
    size_t n[STEP_SEQS];
};

static void image_free(struct image *m)
{
    for (int i = 0; i < STEP_SEQS; i++)
        free(m->p[i]);
    memset(m, 0, sizeof *m);
}

/* Sequences from .. from+rows-1 (a padding row among them when there are many), STEPS steps; images by
 * sequence. */
static int decode_rows(struct image *m, const char *isa, int threads, int from, int rows, enum dtype w,
                       enum dtype kv)
{
    struct rig r;
    int32_t seqs[STEP_SEQS];
    if (!rig_open(&r, isa, threads))
        return 0;
    for (int i = 0; i < rows; i++)
        seqs[i] = rows > 4 && i == 3 ? -1 : from + (rows - 1 - i);
    struct step *s = step_open(&r, seqs, rows, w, kv);
    struct op_graph *p;
    CHECK_INT(r.b->capture_begin(r.d), 0);
    step_run(s);
    CHECK_INT(r.b->capture_end(r.d, &p), 0);
    for (int i = 0; i < STEPS; i++)
        CHECK_INT(r.b->replay(r.d, p), 0);
    r.b->graph_release(r.d, p);
    for (int i = 0; i < rows; i++)
        if (seqs[i] >= 0)
            m->p[seqs[i]] = step_row(s, i, &m->n[seqs[i]]);
    step_close(s);
    rig_close(&r);
    return 1;
}

static void compare_rows(const struct image *want, const struct image *have, const char *what)
{
    for (int i = 0; i < STEP_SEQS; i++) {
        size_t at = 0;
        if (!have->p[i] || !want->p[i])
            continue;
        CHECK_INT(have->n[i], want->n[i]);
        if (have->n[i] != want->n[i])
            continue;
        while (at < want->n[i] && want->p[i][at] == have->p[i][at])
            at++;
        if (at < want->n[i])
            fprintf(stderr, "%s: sequence %d differs at byte %zu of %zu\n", what, i, at, want->n[i]);
        CHECK(at == want->n[i]);
    }
}

enum part { START, END };
enum hidden { NOTHING, EXPIRED, NOT_LISTED, NOT_IN_WINDOW, SOFTCAPPED };

/* Lists of every tile of `tile` queries and both KV heads: (tiles, 2, cap) and their lengths. */
static void make_lists(int tile, int tiles, int cap, int32_t *idx, int32_t *len)
{
    for (int l = 0; l < 2 * tiles; l++) {
        len[l] = l % 7 == 6 ? -1 : 0;
        for (int t = 0; t < l / 2 * tile && len[l] >= 0; t++)
            if ((5 * t + l) % 4 == 0)
                idx[(size_t)l * (size_t)cap + (size_t)len[l]++] = t;
    }
}

/* Attention outputs of a part of a prompt cut into pieces of `piece` queries; 0: in one. Before its end are
 * more keys than a GPU sums at once, for some pieces and not for others (prefill.cuh), and with one
 * multiprocessor a GPU needs two launches for all. Small: on a CPU, which has no such limits, fewer keys. */
static float *run_prompt(const char *isa, int threads, int piece, enum part part, enum dtype kv,
                         enum hidden hidden, size_t *n)
{
    enum { N_Q = 4, N_KV = 2, D = 64, LEN = 2200, WIDTH = N_Q * D, TILE = 24, TILES = LEN / TILE + 1 };
    static int32_t idx[TILES * N_KV * LEN], lengths[TILES * N_KV];
    const int len = on_cpu() && rig_small() ? 500 : LEN;
    const int from = part == START ? 0 : len - (on_cpu() ? 200 : 410), to = part == START ? 200 : len;
    const size_t values = (size_t)((to - from) * WIDTH);
    struct rig r;
    struct cache c;
    if (!rig_open(&r, isa, threads))
        return NULL;
    cache_open(&c, &r, 2, 1, N_Q, N_KV, D, kv_pages(LEN), kv);
    cache_prefill(&c, &r, 1, 0, to);
    float *q = malloc(values * sizeof *q);
    int32_t until[N_KV * LEN];
    const float sink[N_Q] = {0.5f, -1, 2, 0};
    for (int i = 0; i < N_KV * LEN; i++)
        until[i] = i % 3 ? INT32_MAX : i % LEN + 33;
    rig_fill(&r, q, values);
    struct prefill_attend_args a = {
        .kv = c.kv, .seq = 1, .n_q = N_Q, .q_stride = WIDTH, .scale = 0.5f, .until_stride = LEN};
    const float *dq = rig_up(&r, q, values * sizeof *q);
    float *out = rig_alloc(&r, values * sizeof *q);
    a.until = hidden == EXPIRED ? rig_up(&r, until, sizeof until) : NULL;
    make_lists(TILE, TILES, LEN, idx, lengths);
    const int32_t *all_idx = rig_up(&r, idx, sizeof idx), *all_len = rig_up(&r, lengths, sizeof lengths);
    if (hidden == NOT_LISTED) {
        a.tile = TILE;
        a.cap = LEN;
        a.n_rows = N_KV;
        a.row_of_kv[1] = 1;
    }
    if (hidden == NOT_IN_WINDOW || hidden == SOFTCAPPED)
        a.softmax.sink = rig_up(&r, sink, sizeof sink);
    a.window = hidden == NOT_IN_WINDOW ? 90 : 0;
    a.softmax.softcap = hidden == SOFTCAPPED ? 0.75f : 0;
    for (a.pos0 = from; a.pos0 < to; a.pos0 += a.nq) {
        a.nq = piece && piece < to - a.pos0 ? piece : to - a.pos0;
        a.q = dq + (a.pos0 - from) * WIDTH;
        a.idx = all_idx + (size_t)(a.pos0 / TILE * N_KV) * LEN;
        a.len = all_len + a.pos0 / TILE * N_KV;
        a.out = out + (a.pos0 - from) * WIDTH;
        rig_run(&r, OP_prefill_attend, &a);
    }
    rig_get(&r, q, out, values * sizeof *q);
    *n = values * sizeof *q;
    cache_close(&c);
    rig_close(&r);
    return q;
}

static void check_prompts(enum part part, enum dtype kv, enum hidden hidden)
{
    static const struct {
        const char *isa;
        int threads, piece;
    } way[] = {{"avx2", 2, 128}, {"avx2", 2, 37}, {"avx2", 1, 0}, {"avx512", 2, 128}, {"scalar", 2, 128}};
    const size_t ways = on_cpu() ? sizeof way / sizeof *way : 2;
    size_t n, m;
    float *want = run_prompt("scalar", 1, 0, part, kv, hidden, &n);
    for (size_t i = 0; i < ways; i++) {
        float *have = run_prompt(way[i].isa, way[i].threads, way[i].piece, part, kv, hidden, &m);
        if (have)
            CHECK(n == m && memcmp(want, have, n) == 0);
        free(have);
    }
    free(want);
}

enum { WINDOWED = 5, LATEST = 1200 };

/* Windows of several lengths over rows from .. from+rows-1, one for each sequence; floats of row r of n. */
static float *run_windows(const char *isa, int threads, int from, int rows, enum dtype kv)
{
    enum { N_Q = 6, N_KV = 2, D = 64, WIDTH = N_Q * D };
    static const int32_t window[] = {1, 40, 130, 700}, seq[] = {0, 1, 2, 3, 4},
                         pos[] = {0, 30, 129, 700, LATEST - 1};
    enum { N = sizeof window / sizeof *window };
    struct rig r;
    struct cache c;
    if (!rig_open(&r, isa, threads))
        return NULL;
    cache_open(&c, &r, WINDOWED, 1, N_Q, N_KV, D, kv_pages(LATEST), kv);
    for (int i = 0; i < WINDOWED; i++)
        cache_prefill(&c, &r, i, 0, pos[i] + 1);
    float q[WINDOWED * WIDTH], sink[N_Q], *out = calloc(N * WINDOWED, WIDTH * sizeof *out);
    rig_fill(&r, q, WINDOWED * WIDTH);
    rig_fill(&r, sink, N_Q);
    struct attend_args a = {
        .rows = {rows, rig_up(&r, seq + from, (size_t)rows * 4), rig_up(&r, pos + from, (size_t)rows * 4)},
        .kv = c.kv,
        .n_q = N_Q,
        .q = rig_up(&r, q + from * WIDTH, (size_t)(rows * WIDTH) * sizeof *q),
        .q_stride = WIDTH,
        .out = rig_alloc(&r, (size_t)(rows * WIDTH) * sizeof *q),
        .scale = 0.5f,
        .granularity = SEL_LIVE,
        .n_rows = 1,
        .in_order = 1,
        .plan = {rig_alloc(&r, (size_t)(rows * N_KV * c.kv.max_pages) * sizeof(struct plan_entry)),
                 rig_alloc(&r, (size_t)(rows * N_KV) * 4)},
        .softmax = {rig_up(&r, sink, sizeof sink), kv == DTYPE_F32 ? 2 : 0}};
    for (int i = 0; i < N; i++) {
        a.window = window[i];
        rig_run(&r, OP_attend, &a);
        rig_get(&r, out + (i * WINDOWED + from) * WIDTH, a.out, (size_t)(rows * WIDTH) * sizeof *q);
    }
    cache_close(&c);
    rig_close(&r);
    for (int i = 0; i < N * WINDOWED * WIDTH; i++) /* of other rows: 0 */
        CHECK((out[i] != 0) == (i / WIDTH % WINDOWED >= from && i / WIDTH % WINDOWED < from + rows));
    return out;
}

/* All rows or each alone, whatever reads them. */
static void check_windows(enum dtype kv)
{
    enum { FLOATS = 4 * WINDOWED * 384 };
    static const char *const isas[] = {"scalar", "avx2", "avx512", NULL};
    float *want = run_windows("scalar", 1, 0, WINDOWED, kv);
    for (int set = on_cpu() ? 0 : 3; set < 4; set++)
        for (int from = -1; from < WINDOWED; from++) {
            float *have = run_windows(isas[set], 2, from < 0 ? 0 : from, from < 0 ? WINDOWED : 1, kv);
            for (int i = 0; have && i < FLOATS; i++)
                CHECK(have[i] == (from < 0 || i / 384 % WINDOWED == from ? want[i] : 0));
            free(have);
        }
    free(want);
}

int main(void)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    for (int kind = 0; kind < 2; kind++) {
        enum dtype w = kind ? DTYPE_F32 : DTYPE_BF16, kv = kind ? DTYPE_BF16 : DTYPE_F32;
        struct image want = {{NULL}, {0}}, have = {{NULL}, {0}};
        decode_rows(&want, rig_small() ? NULL : "scalar", 1, 0, STEP_SEQS, w, kv);
        for (int set = 0; set < (on_cpu() ? 3 : 1); set++)
            for (int threads = 1; threads <= (on_cpu() ? 2 : 1); threads++) {
                int rows = on_cpu() && rig_small() && set == 0 ? 5 : STEP_SEQS;
                if (!decode_rows(&have, isas[set], threads, 0, rows, w, kv)) {
                    fprintf(stderr, "notice: %s is not there, not compared\n", isas[set]);
                    break;
                }
                compare_rows(&want, &have, isas[set]);
                image_free(&have);
            }
        for (int from = kind; from < STEP_SEQS; from += rig_small() ? 10 : 2) {
            decode_rows(&have, NULL, 1 + from / 2 % 2, from, 1, w, kv);
            compare_rows(&want, &have, "alone");
            image_free(&have);
        }
        for (int from = 0; from + 5 <= STEP_SEQS; from += rig_small() ? 28 : 7) {
            decode_rows(&have, NULL, 2, from, 5, w, kv);
            compare_rows(&want, &have, "in a batch of 5");
            image_free(&have);
        }
        image_free(&want);
    }
    check_windows(DTYPE_F32);
    check_windows(DTYPE_BF16);
    for (enum part part = START; part <= END; part++) {
        check_prompts(part, DTYPE_F32, NOTHING);
        check_prompts(part, DTYPE_BF16, EXPIRED);
        check_prompts(part, DTYPE_BF16, NOT_LISTED);
        check_prompts(part, DTYPE_F32, NOT_IN_WINDOW);
        check_prompts(part, DTYPE_BF16, NOT_IN_WINDOW);
        check_prompts(part, DTYPE_F32, SOFTCAPPED);
    }
    return check_done();
}
