/* See step.h. The step makes no sense as a model. It feeds the results of one operation to the next, so that
 * a wrong bit anywhere changes the final result. Sparse rows drop tokens before they append, like DMS and
 * RaaS. */
#include "tests/kernels/step.h"

enum {
    N_Q = 6,
    N_KV = 2,
    D = 64,
    DIM = N_Q * D,
    QKV = (N_Q + 2 * N_KV) * D,
    VOCAB = 75,
    PAGES = 40,
    SLOTS = PAGES * 16,
    REACH = 9,
    TAKE = 6,
    TOKENS = 40,
    WIDE = 304
};

struct step {
    struct rig *r;
    struct cache c;
    struct rows rows;
    int n, owned;
    enum dtype type; /* of what goes into linear layers */
    struct weight embed, qkv, o, up, down;
    float *host;
    int32_t *token, *pos, *seq, *with_bounds, *page_idx, *page_len, *tok_idx, *tok_len, *flag, *prompt;
    float *x, *y, *qkv_out, *att, *att2, *part, *wide, *act, *logits, *workspace, *norm, *table, *gate_w;
    struct softmax_args softmax;
    char *state;
    struct plan plan;
    struct stats st, st2, sums;
    struct scores page, mass, block;
    struct sample_settings *settings;
    struct sample_result *result;
};

static const size_t state_bytes = (size_t)(2 * N_KV * PAGES + 2 * N_KV * REACH) * 4;

static void start_sequences(struct step *s, const int32_t *seqs)
{
    int32_t seq[STEP_SEQS], pos[STEP_SEQS], token[STEP_SEQS], prompt[STEP_SEQS] = {0};
    struct sample_settings set[STEP_SEQS];
    memset(set, 0, sizeof set);
    for (int i = 0; i < s->n; i++) {
        int q = seqs[i], len = q < 0 ? 0 : q % 5 == 4 ? 560 + q : q * 9 % 200 + (q > 0);
        seq[i] = q;
        pos[i] = len;
        token[i] = q < 0 ? 0 : q * 7 % VOCAB;
        if (q < 0)
            continue;
        s->r->random = 1000 + (uint64_t)q;
        if (len)
            cache_prefill(&s->c, s->r, q, 0, len);
        prompt[q] = len / 2;
        set[q] = (struct sample_settings){q % 3 ? 0.8f : 0,
                                          q % 4 ? 0.9f : 1,
                                          q % 2 ? 20 : 0,
                                          (uint32_t)q,
                                          7,
                                          1ull << 40 | (uint64_t)q,
                                          {q % VOCAB, -1, -1, -1, -1, -1, -1, -1},
                                          {-1, -1, -1, -1, -1, -1, -1, -1},
                                          -1,
                                          1};
    }
    size_t cap = (size_t)s->n * 4;
    s->with_bounds = rig_alloc(s->r, STEP_SEQS * sizeof(int32_t));
    s->rows = (struct rows){s->n, s->seq = rig_up(s->r, seq, cap), s->pos = rig_up(s->r, pos, cap)};
    s->token = rig_up(s->r, token, cap);
    s->prompt = rig_up(s->r, prompt, sizeof prompt);
    s->settings = rig_up(s->r, set, sizeof set);
}

static float *alloc_floats(struct step *s, size_t n)
{
    return rig_alloc(s->r, n * sizeof(float));
}

static float *random_floats(struct step *s, size_t n)
{
    rig_fill(s->r, s->host, n);
    return rig_up(s->r, s->host, n * sizeof(float));
}

struct step *step_open(struct rig *r, const int32_t *seqs, int rows, enum dtype weights, enum dtype kv)
{
    struct step *s = calloc(1, sizeof *s);
    if (!s)
        exit(1);
    s->r = r;
    s->n = rows;
    s->owned = r->n_owned;
    s->type = weights == DTYPE_BF16 ? r->b->activations : DTYPE_F32;
    s->host = calloc(1 << 18, sizeof *s->host);
    cache_open(&s->c, r, STEP_SEQS, 1, N_Q, N_KV, D, PAGES, kv);
    start_sequences(s, seqs);
    r->random = 5;
    float bias[4096];
    s->embed = rig_weight(r, VOCAB, DIM, weights, s->host, NULL);
    s->qkv = rig_weight(r, QKV, DIM, weights, s->host, bias);
    s->o = rig_weight(r, DIM, DIM, weights, s->host, NULL);
    s->up = rig_weight(r, 2 * WIDE, DIM, weights, s->host, NULL);
    s->down = rig_weight(r, DIM, WIDE, weights, s->host, NULL);
    s->norm = random_floats(s, DIM);
    s->table = random_floats(s, (size_t)SLOTS * D);
    s->gate_w = random_floats(s, N_KV * DIM + N_KV);
    /* A cap is for plain kernels only, of which a GPU has other ones for bf16. */
    s->softmax = (struct softmax_args){random_floats(s, N_Q), kv == DTYPE_F32 ? 3 : 0};
    size_t n = (size_t)rows, lists = n * N_KV, q = n * N_Q;
    s->x = alloc_floats(s, n * DIM);
    s->y = alloc_floats(s, n * DIM);
    s->qkv_out = alloc_floats(s, n * QKV);
    s->att = alloc_floats(s, n * DIM);
    s->att2 = alloc_floats(s, n * DIM);
    s->part = alloc_floats(s, n * DIM);
    s->wide = alloc_floats(s, n * 2 * WIDE);
    s->act = alloc_floats(s, n * WIDE);
    s->logits = alloc_floats(s, n * VOCAB);
    s->workspace = alloc_floats(s, n * VOCAB);
    s->flag = rig_alloc(r, lists * 4);
    s->state = rig_alloc(r, STEP_SEQS * state_bytes);
    s->plan = (struct plan){rig_alloc(r, lists * PAGES * sizeof *s->plan.entry), rig_alloc(r, lists * 4)};
    s->st = (struct stats){alloc_floats(s, q * SLOTS), alloc_floats(s, q), SLOTS, 0};
    s->st2 = (struct stats){alloc_floats(s, q * SLOTS), alloc_floats(s, q), SLOTS, 0};
    s->sums = (struct stats){alloc_floats(s, q * PAGES), alloc_floats(s, q), PAGES, 1};
    s->block =
        (struct scores){alloc_floats(s, n * PAGES), rig_alloc(r, n * 4), rig_alloc(r, n * 4), 1, PAGES};
    s->page =
        (struct scores){alloc_floats(s, q * PAGES), rig_alloc(r, q * 4), rig_alloc(r, q * 4), N_Q, PAGES};
    s->mass = (struct scores){alloc_floats(s, lists * SLOTS), rig_alloc(r, lists * 4),
                              rig_alloc(r, lists * 4), N_KV, SLOTS};
    s->page_idx = rig_alloc(r, q * TAKE * 4);
    s->page_len = rig_alloc(r, q * 4);
    s->tok_idx = rig_alloc(r, lists * TOKENS * 4);
    s->tok_len = rig_alloc(r, lists * 4);
    s->result = rig_alloc(r, n * sizeof *s->result);
    return s;
}

void step_close(struct step *s)
{
    rig_weight_free(s->r, &s->embed);
    rig_weight_free(s->r, &s->qkv);
    rig_weight_free(s->r, &s->o);
    rig_weight_free(s->r, &s->up);
    rig_weight_free(s->r, &s->down);
    cache_close(&s->c);
    while (s->r->n_owned > s->owned)
        s->r->b->release(s->r->d, s->r->owned[--s->r->n_owned]);
    free(s->host);
    free(s);
}

static void run_linear(struct step *s, struct weight w, const float *x, float *out, int accumulate)
{
    struct linear_args a = {w, x, out, s->n, w.k, w.n, accumulate, s->type, 1};
    rig_run(s->r, OP_linear, &a);
}

static void run_norm(struct step *s)
{
    struct rmsnorm_args a = {s->x, s->norm, s->y, s->n, DIM, 1e-6f, s->type, 0};
    rig_run(s->r, OP_rmsnorm, &a);
}

static void before_attention(struct step *s)
{
    struct embed_args e = {s->token, s->rows.seq, s->embed, s->x, s->n, 1};
    float *q = s->qkv_out, *k = q + N_Q * D;
    struct gate_args g = {s->y, s->gate_w, s->gate_w + N_KV * DIM, 1, 0, s->flag, s->n, DIM, N_KV,
                          0,    s->type};
    struct expire_args x = {s->rows, s->c.kv, 0, s->state, state_bytes, state_bytes - 2 * N_KV * REACH * 4,
                            s->flag, REACH,   1, 0};
    struct drop_lowest_args d = {s->rows, s->c.kv, 0, s->state, state_bytes, s->prompt, 3, 1, 0, 1};
    struct rope_append_args a = {.rows = s->rows,
                                 .kv = s->c.kv,
                                 .n_q = N_Q,
                                 .q = q,
                                 .k = k,
                                 .v = k + N_KV * D,
                                 .stride = QKV,
                                 .cos_sin = s->table,
                                 .wq = s->norm,
                                 .wk = s->norm + D,
                                 .eps = 1e-6f};
    rig_run(s->r, OP_embed, &e);
    run_norm(s);
    rig_run(s->r, OP_gate, &g);
    rig_run(s->r, OP_expire, &x);
    rig_run(s->r, OP_drop_lowest, &d);
    run_linear(s, s->qkv, s->y, s->qkv_out, 0);
    rig_run(s->r, OP_rope_append, &a);
}

static void launch_attend(struct step *s, enum sel_granularity granularity, int lists, const int32_t *idx,
                          const int32_t *len, int cap, float *out, const struct stats *stats)
{
    struct attend_args a = {.rows = s->rows,
                            .kv = s->c.kv,
                            .n_q = N_Q,
                            .q = s->qkv_out,
                            .q_stride = QKV,
                            .out = out,
                            .type = s->type,
                            .scale = 0.2f,
                            .granularity = granularity,
                            .n_rows = lists,
                            .cap = cap,
                            .block_pages = 1,
                            .idx = idx,
                            .len = len,
                            .plan = s->plan,
                            .softmax = s->softmax};
    for (int q = 0; q < N_Q; q++)
        a.row_of_q[q] = (uint8_t)(q * lists / N_Q);
    if (stats)
        a.stats = *stats;
    rig_run(s->r, OP_attend, &a);
}

static void launch_attention(struct step *s)
{
    struct page_scores_args p = {s->rows, s->c.kv, 0, N_Q, 1, SCORE_Q, s->qkv_out, QKV, s->page};
    struct topk_args t = {.rows = s->rows,
                          .in = s->page,
                          .params = {.kind = TOPK_FIXED, .k = TAKE, .force_last = 1, .tokens_per = 16},
                          .idx = s->page_idx,
                          .len = s->page_len,
                          .cap = TAKE};
    struct qk_stats_args q = {s->rows, s->c.kv, 0, N_Q, s->qkv_out, QKV, 0.2f, s->st2, s->softmax};
    struct reduce_stats_args m = {s->rows, s->c.kv, 0, N_Q, REDUCE_SUM, 0, 0, s->st2, s->mass};
    struct topk_args u = {.rows = s->rows,
                          .in = s->mass,
                          .params = {.kind = TOPK_RATIO, .ratio = 0.1, .min_tokens = 12},
                          .idx = s->tok_idx,
                          .len = s->tok_len,
                          .cap = TOKENS};
    struct reduce_stats_args b = {s->rows, s->c.kv, 0, N_Q, REDUCE_MEAN, 1, 0, s->sums, s->block};
    launch_attend(s, SEL_LIVE, 1, NULL, NULL, 0, s->att, &s->sums);
    rig_run(s->r, OP_reduce_stats, &b);
    rig_run(s->r, OP_page_scores, &p);
    rig_run(s->r, OP_topk, &t);
    launch_attend(s, SEL_PAGES, N_Q, s->page_idx, s->page_len, TAKE, s->att, &s->st);
    rig_run(s->r, OP_qk_stats, &q);
    rig_run(s->r, OP_reduce_stats, &m);
    rig_run(s->r, OP_topk, &u);
    launch_attend(s, SEL_TOKENS, N_KV, s->tok_idx, s->tok_len, TOKENS, s->att2, NULL);
}

void step_run(struct step *s)
{
    struct linear_swiglu_args w = {.w = s->up,
                                   .x = s->y,
                                   .workspace = s->wide,
                                   .out = s->act,
                                   .rows = s->n,
                                   .type = s->type,
                                   .decode = 1};
    struct add_part_args p = {s->x, s->part, s->norm, s->n, DIM, 1e-6f, 0.7f};
    struct cap_logits_args l = {s->logits, (int64_t)s->n * VOCAB, 0.9f, 30};
    struct account_args c = {s->rows, s->c.kv, s->with_bounds, NULL};
    struct sample_args a = {s->rows,   s->logits, VOCAB,  VOCAB,  s->settings,
                            s->result, s->token,  s->pos, s->seq, s->workspace};
    before_attention(s);
    launch_attention(s);
    run_linear(s, s->o, s->att, s->x, 1);
    run_linear(s, s->o, s->att2, s->part, 0);
    rig_run(s->r, OP_add_part, &p);
    run_norm(s);
    for (int glu = GLU_CLAMPED; glu >= GLU_SILU; glu--) {
        w.glu = (enum glu)glu;
        rig_run(s->r, OP_linear_swiglu, &w);
        run_linear(s, s->down, s->act, s->x, 1);
    }
    run_norm(s);
    run_linear(s, s->embed, s->y, s->logits, 0);
    rig_run(s->r, OP_cap_logits, &l);
    rig_run(s->r, OP_account, &c);
    rig_run(s->r, OP_sample, &a);
}

struct bytes {
    unsigned char *p;
    size_t n, room;
    struct rig *r;
};

static void make_room(struct bytes *b, size_t item)
{
    while (b->n + item > b->room)
        b->p = realloc(b->p, b->room = b->room ? 2 * b->room : 1 << 20);
}

static void add_bytes(struct bytes *b, const void *src, size_t item, int row)
{
    make_room(b, item);
    rig_get(b->r, b->p + b->n, (const char *)src + (size_t)row * item, item);
    b->n += item;
}

static void add_head(struct bytes *b, struct step *s, int head, int row_list)
{
    const struct kv_view *kv = &s->c.kv;
    int32_t n, kv_block[PAGES];
    uint16_t live[PAGES];
    size_t at = b->n, kv_block_bytes = s->r->b->kv_block_bytes(kv->dtype, D);
    add_bytes(b, kv->n_slots, 4, head);
    memcpy(&n, b->p + at, 4);
    add_bytes(b, kv->n_live, 4, head);
    add_bytes(b, kv->tail, 4, head);
    add_bytes(b, kv->reads, 8, head);
    add_bytes(b, kv->not_chosen, 8, head);
    add_bytes(b, kv->aux_half, 8, head);
    add_bytes(b, kv->aux_values, 8, head);
    add_bytes(b, s->flag, 4, row_list);
    rig_get(b->r, kv_block, kv->block_table + (size_t)head * PAGES, sizeof kv_block);
    rig_get(b->r, live, kv->live + (size_t)head * PAGES, sizeof live);
    for (int p = 0; p < (n + 15) / 16; p++) {
        make_room(b, sizeof live[p]);
        memcpy(b->p + b->n, live + p, sizeof live[p]);
        b->n += sizeof live[p];
        /* K of slots never written is an earlier owner's. */
        if (live[p] == 0xffff)
            add_bytes(b, kv->pool, kv_block_bytes, kv_block[p]);
        if (live[p])
            add_bytes(b, kv->bounds, kv_bounds_bytes(kv), kv_block[p]);
    }
    for (int q = 0; q < N_Q / N_KV; q++) {
        add_bytes(b, s->st.logits + ((size_t)row_list * (N_Q / N_KV) + (size_t)q) * SLOTS,
                  (size_t)(n + 15) / 16 * 64, 0);
        add_bytes(b, s->st2.logits + ((size_t)row_list * (N_Q / N_KV) + (size_t)q) * SLOTS,
                  (size_t)(n + 15) / 16 * 64, 0);
    }
    add_bytes(b, s->sums.logits + (size_t)row_list * (N_Q / N_KV) * PAGES,
              (size_t)(n + 15) / 16 * (N_Q / N_KV) * 4, 0);
    add_bytes(b, s->mass.v + (size_t)row_list * SLOTS, (size_t)n * 4, 0);
    add_bytes(b, s->mass.m, 4, row_list);
}

unsigned char *step_row(struct step *s, int row, size_t *bytes)
{
    struct bytes b = {NULL, 0, 0, s->r};
    size_t item = s->type == DTYPE_BF16 ? 2 : 4;
    int32_t seq;
    rig_get(s->r, &seq, s->rows.seq + row, 4);
    add_bytes(&b, s->x, DIM * 4, row);
    add_bytes(&b, s->y, DIM * item, row);
    add_bytes(&b, s->qkv_out, QKV * 4, row);
    add_bytes(&b, s->att, DIM * item, row);
    add_bytes(&b, s->att2, DIM * item, row);
    add_bytes(&b, s->act, WIDE * item, row);
    add_bytes(&b, s->logits, VOCAB * 4, row);
    add_bytes(&b, s->pos, 4, row);
    if (seq >= 0) {
        add_bytes(&b, s->result, sizeof *s->result, row);
        add_bytes(&b, s->c.kv.peak, 4, seq);
        add_bytes(&b, s->st.lse, N_Q * 4, row);
        add_bytes(&b, s->st2.lse, N_Q * 4, row);
        add_bytes(&b, s->page.m, N_Q * 4, row);
        int32_t blocks;
        rig_get(s->r, &blocks, s->block.n + row, 4);
        add_bytes(&b, s->block.v + (size_t)row * PAGES, (size_t)blocks * 4, 0);
        add_bytes(&b, s->block.m, 4, row);
        add_bytes(&b, s->page_len, N_Q * 4, row);
        add_bytes(&b, s->tok_len, N_KV * 4, row);
        add_bytes(&b, s->state, state_bytes, seq);
        for (int h = 0; h < N_KV; h++)
            add_head(&b, s, seq * N_KV + h, row * N_KV + h);
    }
    *bytes = b.n;
    return b.p;
}
