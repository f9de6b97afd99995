/* One captured graph appends a token and attends to it, by a list and to everything, and is replayed several
 * times. On a GPU, attention then begins while the kernel before it still runs (programmatic dependent
 * launch), with a norm and a product before the append even while that product does, and must read the pages
 * as the append leaves them, cut into splits as their number is then. Steps of several worlds run as branches
 * of one graph, at once. The results are compared bit for bit with the same operations run one at a time,
 * each followed by a download. */
#include "tests/kernels/rig.h"

enum {
    N_Q = 12,
    N_KV = 2,
    N_SEQS = 4,
    N_ROWS = N_SEQS + 1,
    MOST_PAGES = 144, /* more than two chunks of them */
    AT_ONCE = 5,
    TAKE = 36,
    DIM = 512, /* of what is normed; where lists are chosen FEW, so that all kernels of a step have room */
    FEW = 64,
    MOST_WORLDS = 4
};

/* Tokens before the first step: within a page, at its end, shortly before a second and before a third chunk
 * of pages begins. */
static const int before[N_SEQS] = {5, 16, 509, 1020};

/* What is special about a world's steps: a list is of everything; K is a product; tokens were dropped;
 * nothing is promised of the lists' lengths, so that a second kernel adds their chunks; each step chooses its
 * lists, before the products of which the second has a norm that waits for nothing before it goes on;
 * attention to everything writes its logits, and in every other step page sums; what is appended is turned
 * before; each query head has a list of its own, chosen after the append by page bounds; a step forgets what
 * got the least attention so far; attention to everything is to a window of it. */
enum {
    DENSE = 1,
    PRODUCT = 2,
    HOLES = 4,
    LONG = 8,
    CHOSEN = 16,
    STATS = 32,
    TURNED = 64,
    SCORED = 128,
    FORGETS = 256,
    WINDOWED = 512
};

struct world {
    struct rig r;
    struct cache c;
    struct rows rows;
    struct plan plan;
    int d;
    float *q, *k, *v;     /* k, v: (AT_ONCE, N_ROWS, N_KV, d) */
    float *turned, *turn; /* as k, queries that no one reads; (MOST_PAGES * 16, d): angles. NULL: none */
    int32_t *pos;         /* (AT_ONCE, N_ROWS) */
    int product;          /* k is a product of what is normed before */
    int dim;
    struct weight weight;
    float *x, *norm; /* (AT_ONCE, N_ROWS, dim); (dim) */
    void *y;         /* (N_ROWS, dim) */
    int holes;       /* something was dropped */
    int windowed;
    int block, most;    /* pages of a list's entry, and of a list */
    float *out;         /* (AT_ONCE, 2, N_ROWS, N_Q, d) */
    int32_t *idx, *len; /* (N_ROWS, TAKE): some pages, and all that the steps reach; or by_bounds' lists */
    int chosen;
    struct scores mass;       /* (N_ROWS, N_KV, MOST_PAGES * 16), where steps forget; v NULL: they do not */
    char *state;              /* see accumulate_args */
    int32_t *forget, *n_left; /* (N_ROWS, N_KV, MOST_PAGES * 16): slots that stay; (N_ROWS, N_KV): how many */
    struct scores by_bounds;  /* (N_ROWS, N_Q, MOST_PAGES); v NULL: lists are not chosen so */
    struct stats logits, sums; /* of each: room for one attention; NULL: not wanted */
    float *score;              /* (AT_ONCE, N_ROWS, MOST_PAGES), where lists are chosen */
    int32_t *scored;           /* (N_ROWS): how many of them */
};

static size_t kv_floats(const struct world *w)
{
    return (size_t)N_ROWS * N_KV * (size_t)w->d;
}

static size_t out_floats(const struct world *w)
{
    return (size_t)N_ROWS * N_Q * (size_t)w->d;
}

static void open_lists(struct world *w, int with_dense)
{
    int32_t idx[N_ROWS * TAKE] = {0}, len[N_ROWS] = {0};
    for (int row = 1; row < N_ROWS; row++) { /* row 0 is padding */
        int at = row * TAKE, last = (before[row - 1] - 1) / KV_PAGE_TOKENS / w->block;
        for (int page = 0; page < last && page < 6; page += 2)
            idx[at + len[row]++] = page;
        for (int page = last; len[row] < TAKE; page++)
            idx[at + len[row]++] = page; /* those that are not there yet are passed over */
    }
    if (with_dense)
        len[2] = -1;
    w->idx = rig_up(&w->r, idx, sizeof idx);
    w->len = rig_up(&w->r, len, sizeof len);
}

/* Pages that are there from the start, from the highest scores. */
static void choose_pages(struct world *w, int i)
{
    struct topk_args a = {
        .rows = {N_ROWS, w->rows.seq, w->pos + i * N_ROWS},
        .in = {w->score + (size_t)i * N_ROWS * MOST_PAGES, w->scored, w->scored, 1, MOST_PAGES},
        .params = {.kind = TOPK_FIXED, .k = 20},
        .idx = w->idx,
        .len = w->len,
        .cap = TAKE};
    rig_run(&w->r, OP_topk, &a);
}

static void open_scores(struct world *w)
{
    int32_t n[N_ROWS] = {0};
    for (int row = 1; row < N_ROWS; row++)
        n[row] = (before[row - 1] + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
    w->score = rig_alloc(&w->r, (size_t)AT_ONCE * N_ROWS * MOST_PAGES * sizeof *w->score);
    w->scored = rig_up(&w->r, n, sizeof n);
    w->chosen = 1;
}

static void open_bounds(struct world *w)
{
    size_t lists = (size_t)N_ROWS * N_Q;
    w->by_bounds = (struct scores){rig_alloc(&w->r, lists * MOST_PAGES * sizeof(float)),
                                   rig_alloc(&w->r, lists * sizeof(int32_t)),
                                   rig_alloc(&w->r, lists * sizeof(int32_t)), N_Q, MOST_PAGES};
    w->idx = rig_alloc(&w->r, lists * TAKE * sizeof *w->idx);
    w->len = rig_alloc(&w->r, lists * sizeof *w->len);
}

/* Lists for the queries that the steps attend with. */
static void choose_by_bounds(struct world *w, struct rows rows)
{
    struct page_scores_args s = {.rows = rows,
                                 .kv = w->c.kv,
                                 .n_q = N_Q,
                                 .block_pages = w->block,
                                 .scope = SCORE_Q,
                                 .q = w->q,
                                 .q_stride = N_Q * w->d,
                                 .out = w->by_bounds};
    struct topk_args t = {.rows = rows,
                          .in = w->by_bounds,
                          .params = {.kind = TOPK_FIXED, .k = 10, .force_last = 1},
                          .idx = w->idx,
                          .len = w->len,
                          .cap = TAKE};
    rig_run(&w->r, OP_page_scores, &s);
    rig_run(&w->r, OP_topk, &t);
}

enum { TOKENS = MOST_PAGES * KV_PAGE_TOKENS, STATE = 2 * N_KV * TOKENS * 4, LEFT = 500 };

static void open_masses(struct world *w)
{
    size_t lists = (size_t)N_ROWS * N_KV;
    char *zeros = calloc(N_SEQS, STATE);
    w->mass = (struct scores){rig_alloc(&w->r, lists * TOKENS * sizeof(float)),
                              rig_alloc(&w->r, lists * sizeof(int32_t)),
                              rig_alloc(&w->r, lists * sizeof(int32_t)), N_KV, TOKENS};
    w->state = rig_up(&w->r, zeros, (size_t)N_SEQS * STATE);
    w->forget = rig_alloc(&w->r, lists * TOKENS * sizeof *w->forget);
    w->n_left = rig_alloc(&w->r, lists * sizeof *w->n_left);
    free(zeros);
}

/* As H2O does, of the logits that attention has just written. */
static void launch_forget(struct world *w, struct rows rows)
{
    const struct keep_params params = {.tokens = LEFT, .every = 1, .recent = 8};
    struct reduce_stats_args m = {
        .rows = rows, .kv = w->c.kv, .n_q = N_Q, .mode = REDUCE_SUM, .in = w->logits, .out = w->mass};
    struct accumulate_args a = {.rows = rows,
                                .kv = w->c.kv,
                                .params = params,
                                .recent = 0.1,
                                .state = w->state,
                                .state_bytes = STATE,
                                .io = w->mass};
    struct topk_args t = {.rows = rows,
                          .in = w->mass,
                          .params = {.kind = TOPK_FIXED, .k = LEFT, .tokens_per = 1, .dense_when_short = 1},
                          .idx = w->forget,
                          .len = w->n_left,
                          .cap = TOKENS};
    struct keep_args k = {
        .rows = rows, .kv = w->c.kv, .idx = w->forget, .len = w->n_left, .n_rows = N_KV, .cap = TOKENS};
    rig_run(&w->r, OP_reduce_stats, &m);
    rig_run(&w->r, OP_accumulate, &a);
    rig_run(&w->r, OP_topk, &t);
    rig_run(&w->r, OP_keep, &k);
}

static void open_stats(struct world *w)
{
    size_t heads = (size_t)N_ROWS * N_Q;
    w->logits.stride = MOST_PAGES * KV_PAGE_TOKENS;
    w->logits.logits = rig_alloc(&w->r, heads * MOST_PAGES * KV_PAGE_TOKENS * sizeof(float));
    w->logits.lse = rig_alloc(&w->r, heads * sizeof(float));
    w->sums.stride = MOST_PAGES;
    w->sums.by_page = 1;
    w->sums.logits = rig_alloc(&w->r, heads * MOST_PAGES * sizeof(float));
    w->sums.lse = rig_alloc(&w->r, heads * sizeof(float));
}

static void open_angles(struct world *w)
{
    size_t n = (size_t)(MOST_PAGES * KV_PAGE_TOKENS * w->d);
    float *host = calloc(n, sizeof *host);
    rig_fill(&w->r, host, n);
    w->turn = rig_up(&w->r, host, n * sizeof *host);
    w->turned = rig_alloc(&w->r, AT_ONCE * kv_floats(w) * sizeof(float));
    free(host);
}

static void open_product(struct world *w)
{
    float *host = calloc((size_t)N_KV * (size_t)(w->d * w->dim), sizeof *host), ones[DIM];
    for (int i = 0; i < DIM; i++)
        ones[i] = 1;
    w->weight = rig_weight(&w->r, N_KV * w->d, w->dim, DTYPE_BF16, host, NULL);
    w->x = rig_alloc(&w->r, (size_t)(AT_ONCE * N_ROWS * w->dim) * sizeof(float));
    w->norm = rig_up(&w->r, ones, sizeof ones);
    w->y = rig_alloc(&w->r, (size_t)(N_ROWS * w->dim) * sizeof(float));
    free(host);
}

/* Every other token of three pages on the lists is dropped, so that the next ones come there. */
static void make_holes(struct world *w)
{
    struct kv_view *kv = &w->c.kv;
    for (int i = 0; i < N_SEQS * N_KV * 3; i++) {
        int head = i / 3;
        int32_t n;
        uint16_t live;
        uint16_t *page = kv->live + (size_t)head * MOST_PAGES + i % 3 * 2;
        rig_get(&w->r, &n, kv->n_live + head, sizeof n);
        rig_get(&w->r, &live, page, sizeof live);
        if (live != 0xffff)
            continue;
        live = 0x5555;
        n -= 8;
        rig_put(&w->r, kv->n_live + head, &n, sizeof n);
        rig_put(&w->r, page, &live, sizeof live);
    }
    w->holes = 1;
}

/* host: the rig whose device it shares, or NULL. */
static void world_open(struct world *w, const struct rig *host, int d, enum dtype type, int block, int flags)
{
    int32_t seq[N_ROWS] = {-1, 0, 1, 2, 3};
    memset(w, 0, sizeof *w);
    if (host)
        rig_join(&w->r, host);
    else
        rig_open(&w->r, NULL, 2);
    w->r.random = 77;
    w->d = d;
    w->block = block;
    w->most = flags & (DENSE | LONG) ? 0 : TAKE * block;
    cache_open(&w->c, &w->r, N_SEQS, 1, N_Q, N_KV, d, MOST_PAGES, type);
    for (int s = 0; s < N_SEQS; s++)
        cache_prefill(&w->c, &w->r, s, 0, before[s]);
    w->rows = (struct rows){N_ROWS, rig_up(&w->r, seq, sizeof seq), NULL};
    w->pos = rig_alloc(&w->r, AT_ONCE * N_ROWS * sizeof *w->pos);
    float *q = calloc(out_floats(w), sizeof *q);
    rig_fill(&w->r, q, out_floats(w));
    w->q = rig_up(&w->r, q, out_floats(w) * sizeof *q);
    free(q);
    w->k = rig_alloc(&w->r, AT_ONCE * kv_floats(w) * sizeof(float));
    w->v = rig_alloc(&w->r, AT_ONCE * kv_floats(w) * sizeof(float));
    w->out = rig_alloc(&w->r, 2 * AT_ONCE * out_floats(w) * sizeof(float));
    w->plan = (struct plan){rig_alloc(&w->r, (size_t)N_ROWS * N_KV * MOST_PAGES * sizeof *w->plan.entry),
                            rig_alloc(&w->r, (size_t)N_ROWS * N_KV * sizeof(int32_t))};
    open_lists(w, flags & DENSE);
    w->product = flags & PRODUCT;
    w->dim = flags & CHOSEN ? FEW : DIM;
    if (w->product)
        open_product(w);
    if (flags & CHOSEN)
        open_scores(w);
    if (flags & SCORED)
        open_bounds(w);
    if (flags & FORGETS)
        open_masses(w);
    if (flags & (STATS | FORGETS))
        open_stats(w);
    if (flags & TURNED)
        open_angles(w);
    w->windowed = flags & WINDOWED;
    if (flags & HOLES)
        make_holes(w);
}

static void world_close(struct world *w)
{
    if (w->product)
        rig_weight_free(&w->r, &w->weight);
    cache_close(&w->c);
    rig_close(&w->r);
}

/* k of step i. */
static void run_product(struct world *w, int i)
{
    enum dtype type = w->r.b->activations;
    float *k = w->k + (size_t)i * kv_floats(w);
    struct rmsnorm_args n = {
        w->x + (size_t)(i * N_ROWS * w->dim), w->norm, w->y, N_ROWS, w->dim, 1e-6f, type, 0};
    struct linear_args p = {w->weight, w->y, k, N_ROWS, w->dim, N_KV * w->d, 0, type, 1};
    rig_run(&w->r, OP_rmsnorm, &n);
    if (w->chosen) {
        choose_pages(w, i);
        rig_run(&w->r, OP_linear, &p);
        rig_run(&w->r, OP_rmsnorm, &n);
    }
    rig_run(&w->r, OP_linear, &p);
}

static void launch_append(struct world *w, struct rows rows, int i)
{
    float *k = w->k + (size_t)i * kv_floats(w), *v = w->v + (size_t)i * kv_floats(w);
    struct append_args a = {.rows = rows, .kv = w->c.kv, .k = k, .v = v, .stride = N_KV * w->d};
    struct rope_append_args t = {
        .rows = rows, .kv = w->c.kv, .k = k, .v = v, .stride = N_KV * w->d, .n_q = N_KV, .cos_sin = w->turn};
    if (!w->turn) {
        rig_run(&w->r, OP_append, &a);
        return;
    }
    t.q = w->turned + (size_t)i * kv_floats(w);
    rig_run(&w->r, OP_rope_append, &t);
}

static void launch_step(struct world *w, int i)
{
    struct rows rows = {N_ROWS, w->rows.seq, w->pos + i * N_ROWS};
    struct attend_args t = {.rows = rows,
                            .in_order = !w->holes && !w->mass.v,
                            .kv = w->c.kv,
                            .n_q = N_Q,
                            .q = w->q,
                            .q_stride = N_Q * w->d,
                            .out = w->out + (size_t)i * 2 * out_floats(w),
                            .scale = 0.1f,
                            .granularity = SEL_PAGES,
                            .n_rows = 1,
                            .cap = TAKE,
                            .block_pages = w->block,
                            .idx = w->idx,
                            .len = w->len,
                            .plan = w->plan};
    if (w->product)
        run_product(w, i);
    launch_append(w, rows, i);
    if (w->by_bounds.v) {
        choose_by_bounds(w, rows);
        t.n_rows = N_Q;
        for (int q = 0; q < N_Q; q++)
            t.row_of_q[q] = (uint8_t)q;
    }
    for (int k = 0; k < 2; k++) {
        t.granularity = (i + k) % 2 ? SEL_LIVE : SEL_PAGES;
        t.max_pages_read = t.granularity == SEL_PAGES ? w->most : 0;
        t.stats = t.granularity == SEL_PAGES ? (struct stats){0} : i % 2 && !w->mass.v ? w->sums : w->logits;
        t.window = w->windowed && t.granularity == SEL_LIVE ? i % 4 < 2 ? 40 : 700 : 0;
        rig_run(&w->r, OP_attend, &t);
        t.out = (float *)t.out + out_floats(w);
    }
    if (w->mass.v)
        launch_forget(w, rows);
}

/* AT_ONCE new tokens of each sequence, the same in every world. */
static void next_tokens(struct world *w, int round)
{
    size_t n = AT_ONCE * kv_floats(w);
    float *x = calloc(n, sizeof *x);
    int32_t pos[AT_ONCE][N_ROWS] = {{0}};
    for (int i = 0; i < AT_ONCE; i++)
        for (int row = 1; row < N_ROWS; row++)
            pos[i][row] = before[row - 1] + round * AT_ONCE + i;
    rig_put(&w->r, w->pos, pos, sizeof pos);
    w->r.random = 1000 + (uint64_t)round;
    rig_fill(&w->r, x, n);
    rig_put(&w->r, w->k, x, n * sizeof *x);
    rig_fill(&w->r, x, n);
    rig_put(&w->r, w->v, x, n * sizeof *x);
    free(x);
    if (w->chosen) {
        n = (size_t)AT_ONCE * N_ROWS * MOST_PAGES;
        x = calloc(n, sizeof *x);
        rig_fill(&w->r, x, n);
        rig_put(&w->r, w->score, x, n * sizeof *x);
        free(x);
    }
    if (!w->product)
        return;
    n = (size_t)(AT_ONCE * N_ROWS * w->dim);
    x = calloc(n, sizeof *x);
    rig_fill(&w->r, x, n);
    rig_put(&w->r, w->x, x, n * sizeof *x);
    free(x);
}

static void compare_world(struct world *one, struct world *all)
{
    size_t n = 2 * AT_ONCE * out_floats(one) * sizeof(float);
    float *want = calloc(1, n), *have = calloc(1, n);
    for (int i = 0; i < AT_ONCE; i++)
        launch_step(one, i);
    rig_get(&one->r, want, one->out, n);
    rig_get(&all->r, have, all->out, n);
    CHECK(memcmp(want, have, n) == 0);
    cache_compare(&one->r, &one->c.kv, &all->r, &all->c.kv);
    size_t first_row = out_floats(one) / N_ROWS; /* behind the padding row: something was computed */
    CHECK(want[first_row] != 0);
    free(want);
    free(have);
}

/* The steps of several worlds, by their flags, are branches. */
static int compare_worlds(int d, enum dtype type, int block, const int *flags, int n)
{
    int rounds = rig_small() ? 2 : 6;
    struct world one[MOST_WORLDS], all[MOST_WORLDS];
    struct op_graph *p;
    for (int k = 0; k < n; k++) {
        world_open(&one[k], NULL, d, type, block, flags[k]);
        world_open(&all[k], k ? &all[0].r : NULL, d, type, block, flags[k]);
        one[k].r.apart = 1;
    }
    const struct rig *r = &all[0].r;
    CHECK_INT(r->b->capture_begin(r->d), 0);
    for (int i = 0; i < AT_ONCE; i++) {
        for (int k = 0; k < n; k++) {
            CHECK_INT(n > 1 ? r->b->branch(r->d) : 0, 0);
            launch_step(&all[k], i);
        }
        CHECK_INT(r->b->join(r->d), 0);
    }
    CHECK_INT(r->b->capture_end(r->d, &p), 0);
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < n; k++) {
            next_tokens(&one[k], round);
            next_tokens(&all[k], round);
        }
        CHECK_INT(r->b->replay(r->d, p), 0);
        for (int k = 0; k < n; k++)
            compare_world(&one[k], &all[k]);
    }
    r->b->graph_release(r->d, p);
    for (int k = n - 1; k >= 0; k--) {
        world_close(&one[k]);
        world_close(&all[k]);
    }
    return rounds * AT_ONCE * n;
}

static int compare_steps(int d, enum dtype type, int block, int flags)
{
    return compare_worlds(d, type, block, &flags, 1);
}

int main(void)
{
    static const int mixed[MOST_WORLDS] = {PRODUCT | DENSE, PRODUCT | TURNED | SCORED,
                                           PRODUCT | TURNED | FORGETS, PRODUCT | LONG};
    rig_ran("steps of lists, d 64", compare_steps(64, DTYPE_BF16, 1, 0));
    rig_ran("steps of lists, d 128", compare_steps(128, DTYPE_BF16, 1, 0));
    rig_ran("steps of lists of two pages an entry", compare_steps(128, DTYPE_BF16, 2, 0));
    rig_ran("steps with a whole sequence among the lists", compare_steps(128, DTYPE_BF16, 1, DENSE));
    rig_ran("steps of windows", compare_steps(128, DTYPE_BF16, 1, WINDOWED));
    rig_ran("steps of windows behind a product",
            compare_steps(64, DTYPE_BF16, 1, PRODUCT | TURNED | WINDOWED));
    rig_ran("steps in fp32", compare_steps(64, DTYPE_F32, 1, 0));
    rig_ran("steps of lists behind a product", compare_steps(128, DTYPE_BF16, 1, PRODUCT));
    rig_ran("steps of lists of any length behind a product",
            compare_steps(128, DTYPE_BF16, 1, PRODUCT | LONG));
    rig_ran("steps of everything behind a product", compare_steps(64, DTYPE_BF16, 1, PRODUCT | DENSE));
    rig_ran("steps with statistics behind a product", compare_steps(128, DTYPE_BF16, 1, PRODUCT | STATS));
    rig_ran("steps behind a product where tokens were dropped",
            compare_steps(128, DTYPE_BF16, 1, PRODUCT | HOLES));
    rig_ran("steps of lists that were chosen just before",
            compare_steps(128, DTYPE_BF16, 1, PRODUCT | CHOSEN));
    rig_ran("steps of lists chosen by page bounds",
            compare_steps(128, DTYPE_BF16, 1, PRODUCT | TURNED | SCORED));
    rig_ran("steps of lists chosen by bounds of two pages",
            compare_steps(64, DTYPE_BF16, 2, PRODUCT | SCORED));
    rig_ran("steps of lists chosen by bounds where tokens were dropped",
            compare_steps(64, DTYPE_BF16, 1, PRODUCT | TURNED | HOLES | SCORED));
    rig_ran("steps that forget", compare_steps(128, DTYPE_BF16, 1, PRODUCT | TURNED | FORGETS));
    rig_ran("steps that turn what they append", compare_steps(128, DTYPE_BF16, 1, PRODUCT | TURNED));
    rig_ran("steps that turn where tokens were dropped",
            compare_steps(64, DTYPE_BF16, 1, PRODUCT | TURNED | HOLES));
    rig_ran("steps that turn, in fp32 and with d 256", compare_steps(256, DTYPE_F32, 1, PRODUCT | TURNED));
    rig_ran("steps in branches", compare_worlds(128, DTYPE_BF16, 1, mixed, MOST_WORLDS));
    if (!rig_small())
        rig_ran("steps in branches, in fp32", compare_worlds(64, DTYPE_F32, 1, mixed, MOST_WORLDS));
    return check_done();
}
