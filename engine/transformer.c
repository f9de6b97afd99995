/* The forward pass, as the model's plan says (struct model_config). Linear layers run over the whole batch,
 * hooks and attention once per policy group, the rows with the same policy. Heads are grouped as in
 * grouped-query attention: n_q / n_kv query heads share a KV head. The residual stream is fp32, and the
 * output projections add to it directly, unless a norm or a multiplier stands behind them. Policies act on
 * layers with full attention only; a layer with a window reads that. */
#include "engine/transformer.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory/device.h"
#include "evalcore/base/arena.h"

/* The statistics from row and head number n_lists on. All query heads of a KV head lie together for each
 * page, so a row has as many values in either form. */
static struct stats stats_from(const struct stats *all, size_t n_lists)
{
    struct stats s = *all;
    if (s.logits) {
        s.logits += n_lists * (size_t)s.stride;
        s.lse += n_lists;
    }
    return s;
}

/* The context that a hook for a layer gets: the arrays of the batch from the first row of the policy group
 * on.
 */
static struct policy_ctx group_ctx(struct transformer *t, const struct policy *p, int layer, int row0,
                                   int cap, struct err *e)
{
    const struct model_config *f = &t->model->config;
    int stride = model_qkv_values(f);
    float *q = t->qkv + (size_t)row0 * (size_t)stride;
    size_t r = (size_t)row0, nq = (size_t)f->n_q;
    struct policy_ctx c = {.be = t->be,
                           .dev = t->dev,
                           .dims = transformer_dims(t),
                           .kv = t->cache->view,
                           .rows = {cap, t->row_seq + row0, t->row_pos + row0},
                           .settings = t->settings,
                           .prompt_len = t->prompt_len,
                           .total_len = t->total_len,
                           .x = t->x + r * (size_t)f->hidden,
                           .y = (char *)t->y + r * (size_t)f->hidden * dtype_bytes(t->type),
                           .y_type = t->type,
                           .q = q,
                           .k = q + f->n_q * f->head_dim,
                           .v = q + (f->n_q + f->n_kv) * f->head_dim,
                           .qkv_stride = stride,
                           .scale = f->attention_scale,
                           .softmax = {t->model->layer[layer].sinks, f->attention_softcap},
                           .state = p ? p->state : NULL,
                           .state_bytes = p ? p->state_bytes : 0,
                           .e = e};
    c.stats = stats_from(&t->stats, r * nq);
    c.page_stats = stats_from(&t->page_stats, r * nq);
    if (t->score) {
        size_t most = (size_t)t->list[0].cap;
        c.score = t->score + r * most;
        c.score_n = t->score_n + r * (size_t)t->lists;
        c.score_m = t->score_m + r * (size_t)t->lists;
        for (int i = 0; i < 2; i++) {
            c.list[i].idx = t->list[i].idx + r * most;
            c.list[i].len = t->list[i].len + r * (size_t)t->lists;
            c.list[i].cap = t->list[i].cap;
        }
    }
    return c;
}

/* stride: floats from one row of out to the next. */
static void linear_layer(struct transformer *t, const struct weight *w, const void *x, float *out, int stride,
                         int rows, int accumulate, int decode, struct err *e)
{
    struct linear_args a = {*w, x, out, rows, w->k, stride, accumulate, t->type, decode};
    device_launch(t->be, t->dev, OP_linear, &a, e);
}

static void rms_norm(struct transformer *t, const float *x, const float *w, int rows, struct err *e)
{
    struct rmsnorm_args a = {x, w, t->y, rows, t->model->config.hidden, t->model->config.eps, t->type, 0};
    device_launch(t->be, t->dev, OP_rmsnorm, &a, e);
}

/* The product that ends a part of a layer, added to the residual stream; norm: the one behind it, or NULL. */
static void add_part(struct transformer *t, const struct weight *w, const void *x, const float *norm,
                     int rows, int decode, struct err *e)
{
    const struct model_config *f = &t->model->config;
    struct add_part_args a = {t->x, t->part, norm, rows, f->hidden, f->eps, f->residual_scale};
    linear_layer(t, w, x, t->part ? t->part : t->x, w->n, rows, !t->part, decode, e);
    if (t->part)
        device_launch(t->be, t->dev, OP_add_part, &a, e);
}

static void embed_tokens(struct transformer *t, int rows, struct err *e)
{
    struct embed_args a = {t->row_token, t->row_seq, t->model->embed,
                           t->x,         rows,       t->model->config.embed_scale};
    device_launch(t->be, t->dev, OP_embed, &a, e);
}

/* The last norm and the output head. */
static void output_logits(struct transformer *t, const float *x, float *logits, int rows, int decode,
                          struct err *e)
{
    const struct model_config *f = &t->model->config;
    struct cap_logits_args a = {logits, (int64_t)(rows - 1) * t->logits_stride + f->vocab, f->logit_scale,
                                f->logit_softcap};
    rms_norm(t, x, t->model->norm, rows, e);
    linear_layer(t, &t->model->head, t->y, logits, t->logits_stride, rows, 0, decode, e);
    if (a.scale != 1 || a.cap > 0)
        device_launch(t->be, t->dev, OP_cap_logits, &a, e);
}

/* The part before the hook on_qkv: the norm, and the product for q, k and v. */
static void layer_qkv(struct transformer *t, const struct model_layer *y, int rows, int decode, struct err *e)
{
    rms_norm(t, t->x, y->norm_attn, rows, e);
    linear_layer(t, &y->qkv, t->y, t->qkv, y->qkv.n, rows, 0, decode, e);
}

/* Behind it: norms over the whole width of q and of k, if the model has them. */
static void wide_norm(struct transformer *t, const struct model_layer *y, int rows, struct err *e)
{
    const struct model_config *f = &t->model->config;
    int q = f->n_q * f->head_dim, k = f->n_kv * f->head_dim, stride = model_qkv_values(f);
    struct rmsnorm_args of_q = {t->qkv, y->q_norm, t->qkv, rows, q, f->eps, DTYPE_F32, stride};
    struct rmsnorm_args of_k = {t->qkv + q, y->k_norm, t->qkv + q, rows, k, f->eps, DTYPE_F32, stride};
    if (f->qk_norm != QK_NORM_WIDE)
        return;
    device_launch(t->be, t->dev, OP_rmsnorm, &of_q, e);
    device_launch(t->be, t->dev, OP_rmsnorm, &of_k, e);
}

/* The part before the hook on_qk: the norms over heads, if the model has them before the rotation. */
static void head_norm(struct transformer *t, const struct model_layer *y, int rows, struct err *e)
{
    const struct model_config *f = &t->model->config;
    struct head_norm_args a = {.rows = {rows, t->row_seq, t->row_pos},
                               .n_q = f->n_q,
                               .n_kv = f->n_kv,
                               .head_dim = f->head_dim,
                               .q = t->qkv,
                               .k = t->qkv + f->n_q * f->head_dim,
                               .stride = model_qkv_values(f),
                               .wq = y->q_norm,
                               .wk = y->k_norm,
                               .eps = f->eps};
    if (f->qk_norm == QK_NORM_HEAD)
        device_launch(t->be, t->dev, OP_head_norm, &a, e);
}

/* normed: head_norm has been launched. */
static void rope_append(struct transformer *t, int layer, int rows, int prefill, int normed, struct err *e)
{
    const struct model_config *f = &t->model->config;
    const struct model_layer *y = &t->model->layer[layer];
    float *k = t->qkv + f->n_q * f->head_dim;
    int rope = f->rope_of[layer], late = f->qk_norm == QK_NORM_HEAD_AFTER,
        with_norm = late || (f->qk_norm == QK_NORM_HEAD && !normed);
    struct rope_append_args a = {.rows = {rows, t->row_seq, t->row_pos},
                                 .kv = t->cache->view,
                                 .layer = layer,
                                 .prefill = prefill,
                                 .n_q = f->n_q,
                                 .q = t->qkv,
                                 .k = k,
                                 .v = k + f->n_kv * f->head_dim,
                                 .stride = model_qkv_values(f),
                                 .cos_sin = rope < 0 ? NULL : t->model->cos_sin[rope],
                                 .wq = with_norm ? y->q_norm : NULL,
                                 .wk = with_norm ? y->k_norm : NULL,
                                 .eps = f->eps,
                                 .norm_after = late,
                                 .q_scale = t->model->query_scale};
    device_launch(t->be, t->dev, OP_rope_append, &a, e);
}

/* The feed-forward part, added to the residual stream. */
static void layer_ffn(struct transformer *t, const struct model_layer *y, int rows, int decode, struct err *e)
{
    rms_norm(t, t->x, y->norm_ffn, rows, e);
    struct linear_swiglu_args gated = {.w = y->gate_up,
                                       .x = t->y,
                                       .workspace = t->gate_up,
                                       .out = t->act,
                                       .rows = rows,
                                       .type = t->type,
                                       .decode = decode,
                                       .glu = t->model->config.glu};
    device_launch(t->be, t->dev, OP_linear_swiglu, &gated, e);
    add_part(t, &y->down, t->act, y->norm_ffn_out, rows, decode, e);
}

/* select -> attention -> observe, for one policy group in one layer. In a layer with a window attention
 * alone: nothing is dropped there, whatever the policy. */
static void group_attention(struct transformer *t, const struct policy_group *g, int layer, struct err *e)
{
    const struct model_config *f = &t->model->config;
    const struct policy_ops *ops = g->policy->ops;
    struct policy_ctx c = group_ctx(t, g->policy, layer, g->row0, g->cap, e);
    struct selection s = {.granularity = SEL_LIVE, .n_rows = 1, .block_pages = 1};
    int window = f->window[layer];
    if (ops->select && !window)
        ops->select(g->policy, &c, layer, &s);
    if (t->seen && !window)
        t->seen(t->seen_context, g, layer, &s);
    size_t per_row = (size_t)f->n_kv * (size_t)t->cache->view.max_pages;
    struct attend_args a = {
        .rows = c.rows,
        .kv = c.kv,
        .layer = layer,
        .n_q = f->n_q,
        .q = c.q,
        .q_stride = c.qkv_stride,
        .out = (char *)t->attn + (size_t)g->row0 * (size_t)(f->n_q * f->head_dim) * dtype_bytes(t->type),
        .scale = c.scale,
        .granularity = s.granularity,
        .n_rows = s.n_rows,
        .cap = s.cap,
        .block_pages = s.block_pages,
        .max_pages_read = s.max_pages_read,
        .in_order = window || !(g->policy->needs & POLICY_DROP),
        .idx = s.idx,
        .len = s.len,
        .plan = {t->plan.entry + (size_t)g->row0 * per_row, t->plan.n + g->row0 * f->n_kv},
        .type = t->type,
        .softmax = c.softmax,
        .window = window};
    int group = f->n_q / f->n_kv;
    /* Rounded down, h * n_rows / n_q is also right for pairs in odd groups: heads 2i and 2i + 1 of a group of
     * 2m + 1 have list i of its m + 1. */
    for (int h = 0; h < f->n_q; h++)
        a.row_of_q[h] = (uint8_t)(s.n_rows == 1 ? 0 : s.kv_map ? s.kv_map[h / group] : h * s.n_rows / f->n_q);
    if (s.want_stats)
        a.stats = s.want_stats == STATS_PAGES ? c.page_stats : c.stats;
    device_launch(t->be, t->dev, OP_attend, &a, e);
    if (s.want_stats && ops->observe)
        ops->observe(g->policy, &c, layer);
}

/* What policy groups do on their own in a layer: their hooks and attention. */
enum group_part { ON_QKV, ON_QK, ATTENTION, ON_ATTN_OUT };

static policy_hook_fn *hook_of(const struct policy_group *g, enum group_part part)
{
    const struct policy *p = g->policy;
    switch (part) {
    case ON_QKV:
        return p->ops->on_qkv;
    case ON_QK:
        return p->takes_qk ? p->ops->on_qk : NULL;
    case ON_ATTN_OUT:
        return p->ops->on_attn_out;
    case ATTENTION:
        break;
    }
    return NULL;
}

static int takes_part(const struct transformer *t, const struct policy_group *g, enum group_part part,
                      int layer)
{
    return part == ATTENTION || (hook_of(g, part) && !t->model->config.window[layer]);
}

/* A group writes only what belongs to its rows and sequences, so groups are branches, which a GPU runs at
 * once: one of few rows does not fill it. Not while somebody looks at the selections (watch.c), for that
 * copies them to the host. */
static void run_groups(struct transformer *t, const struct policy_group *groups, int n_groups,
                       enum group_part part, int layer, struct err *e)
{
    int are_branches = n_groups > 1 && !t->seen;
    for (int i = 0; i < n_groups; i++) {
        const struct policy_group *g = &groups[i];
        if (!takes_part(t, g, part, layer))
            continue;
        if (are_branches)
            device_branch(t->be, t->dev, e);
        if (part == ATTENTION) {
            group_attention(t, g, layer, e);
            continue;
        }
        struct policy_ctx c = group_ctx(t, g->policy, layer, g->row0, g->cap, e);
        hook_of(g, part)(g->policy, &c, layer);
    }
    if (are_branches)
        device_join(t->be, t->dev, e);
}

static void sample_tokens(struct transformer *t, struct rows rows, const float *logits, struct err *e)
{
    struct sample_args a = {rows,        logits,           t->model->config.vocab, t->logits_stride,
                            t->settings, t->sampled,       t->row_token,           t->row_pos,
                            t->row_seq,  t->sample_scratch};
    device_launch(t->be, t->dev, OP_sample, &a, e);
}

void transformer_step(struct transformer *t, const struct policy_group *groups, int n_groups, int n_rows,
                      struct err *e)
{
    const struct model *m = t->model;
    int takes_qk = 0;
    for (int g = 0; g < n_groups; g++)
        takes_qk |= groups[g].policy->takes_qk;
    embed_tokens(t, n_rows, e);
    for (int l = 0; l < m->config.n_layers; l++) {
        layer_qkv(t, &m->layer[l], n_rows, 1, e);
        run_groups(t, groups, n_groups, ON_QKV, l, e);
        wide_norm(t, &m->layer[l], n_rows, e);
        if (takes_qk)
            head_norm(t, &m->layer[l], n_rows, e);
        run_groups(t, groups, n_groups, ON_QK, l, e);
        rope_append(t, l, n_rows, 0, takes_qk, e);
        run_groups(t, groups, n_groups, ATTENTION, l, e);
        add_part(t, &m->layer[l].o, t->attn, m->layer[l].norm_attn_out, n_rows, 1, e);
        run_groups(t, groups, n_groups, ON_ATTN_OUT, l, e);
        layer_ffn(t, &m->layer[l], n_rows, 1, e);
    }
    output_logits(t, t->x, t->logits, n_rows, 1, e);
    struct rows all = {n_rows, t->row_seq, t->row_pos};
    struct account_args a = {all, t->cache->view, t->with_bounds, t->window};
    device_launch(t->be, t->dev, OP_account, &a, e);
    sample_tokens(t, all, t->logits, e);
}

static void prefill_attention(struct transformer *t, const struct policy *p, struct policy_ctx *c, int layer,
                              struct err *e)
{
    const struct model_config *f = &t->model->config;
    struct prefill_selection s = {.kind = PREFILL_DENSE};
    int window = f->window[layer];
    if (p && p->ops->select_prefill && !window)
        p->ops->select_prefill(p, c, layer, &s);
    struct prefill_attend_args a = {.kv = c->kv,
                                    .seq = c->seq,
                                    .layer = layer,
                                    .n_q = f->n_q,
                                    .pos0 = c->pos0,
                                    .nq = c->nq,
                                    .q = c->q,
                                    .q_stride = c->qkv_stride,
                                    .out = t->attn,
                                    .scale = c->scale,
                                    .type = t->type,
                                    .softmax = c->softmax,
                                    .window = window};
    if (s.kind == PREFILL_UNTIL) {
        a.until = s.until;
        a.until_stride = s.until_stride;
    }
    if (s.kind == PREFILL_TILES) {
        a.tile = s.tile;
        a.cap = s.cap;
        a.n_rows = s.n_rows;
        for (int h = 0; h < f->n_kv; h++)
            a.row_of_kv[h] = (uint8_t)(s.n_rows == 1 ? 0 : s.kv_map ? s.kv_map[h] : h);
        a.idx = s.idx;
        a.len = s.len;
    }
    device_launch(t->be, t->dev, OP_prefill_attend, &a, e);
    if (p) {
        struct prefill_count_args count = {.read = a, .scanned = s.scanned};
        device_launch(t->be, t->dev, OP_prefill_count, &count, e);
    }
}

/* The context that a prefill hook gets. Its scratch, which has rows for a batch, may have none for a chunk.
 */
static struct policy_ctx prefill_ctx(struct transformer *t, const struct policy *p, int layer, int rows,
                                     int seq, int n_prompt, struct err *e)
{
    struct policy_ctx c = group_ctx(t, p, layer, 0, rows, e);
    c.prefill = 1;
    c.seq = seq;
    c.n_prompt = n_prompt;
    return c;
}

static void prefill_chunk(struct transformer *t, int seq, const int32_t *ids, int pos0, int n, int n_prompt,
                          const struct policy *p, struct err *e)
{
    int32_t *pos = xmalloc(2 * (size_t)n * sizeof *pos), *place = pos + n;
    for (int i = 0; i < n; i++) {
        pos[i] = pos0 + i;
        place[i] = seq;
    }
    device_upload(t->be, t->dev, t->row_token, ids, (size_t)n * sizeof *ids, e);
    device_upload(t->be, t->dev, t->row_pos, pos, (size_t)n * sizeof *pos, e);
    device_upload(t->be, t->dev, t->row_seq, place, (size_t)n * sizeof *place, e);
    free(pos);
    embed_tokens(t, n, e);
    for (int l = 0; l < t->model->config.n_layers; l++) {
        const struct model_layer *y = &t->model->layer[l];
        int acts = p && !t->model->config.window[l], takes_qk = acts && p->takes_qk;
        struct policy_ctx c = prefill_ctx(t, p, l, n, seq, n_prompt, e);
        c.pos0 = pos0;
        c.nq = n;
        layer_qkv(t, y, n, 0, e);
        if (acts && p->ops->on_qkv)
            p->ops->on_qkv(p, &c, l);
        wide_norm(t, y, n, e);
        if (takes_qk) {
            head_norm(t, y, n, e);
            p->ops->on_qk(p, &c, l);
        }
        rope_append(t, l, n, 1, takes_qk, e);
        prefill_attention(t, p, &c, l, e);
        add_part(t, &y->o, t->attn, y->norm_attn_out, n, 0, e);
        if (acts && p->ops->on_attn_out)
            p->ops->on_attn_out(p, &c, l);
        layer_ffn(t, y, n, 0, e);
    }
}

void transformer_prefill_end(struct transformer *t, int seq, int n_prompt, const struct policy *policy,
                             struct err *e)
{
    if (!policy || !policy->ops->prefill_end)
        return;
    struct policy_ctx c = prefill_ctx(t, policy, 0, 0, seq, n_prompt, e);
    policy->ops->prefill_end(policy, &c);
}

/* Samples the given token from row `row` of t->logits, as the one after position `pos`. */
static void score_token(struct transformer *t, int seq, int pos, int row, int32_t token,
                        struct sample_result *out, struct err *e)
{
    struct sample_settings s = {.top_p = 1, .force = token, .want_logprob = 1};
    struct rows one = {1, t->row_seq, t->row_pos};
    int32_t place = seq;
    for (int i = 0; i < 8; i++)
        s.banned[i] = s.ends[i] = -1;
    device_upload(t->be, t->dev, t->settings + seq, &s, sizeof s, e);
    device_upload(t->be, t->dev, t->row_seq, &place, sizeof place, e);
    device_upload(t->be, t->dev, t->row_pos, &pos, sizeof pos, e);
    sample_tokens(t, one, t->logits + (size_t)row * (size_t)t->logits_stride, e);
    device_download(t->be, t->dev, out, t->sampled, sizeof *out, e);
}

/* Scores those tokens of the prompt's end that follow one of the chunk's n positions from pos0 on. The
 * residual stream has all rows of the chunk, and t->logits room for a batch of them. */
static void score_chunk(struct transformer *t, int seq, const int32_t *prompt, int pos0, int n, int n_prompt,
                        const struct prefill_scores *scores, struct err *e)
{
    int first = n_prompt - scores->n; /* of the tokens that are scored */
    int at = first - 1 > pos0 ? first - 1 : pos0, end = pos0 + n < n_prompt - 1 ? pos0 + n : n_prompt - 1;
    for (; at < end && !e->code; at += t->b_rows) {
        int rows = end - at < t->b_rows ? end - at : t->b_rows;
        const float *x = t->x + (size_t)(at - pos0) * (size_t)t->model->config.hidden;
        output_logits(t, x, t->logits, rows, 0, e);
        for (int i = 0; i < rows; i++)
            score_token(t, seq, at + i, i, prompt[at + i + 1], &scores->result[at + i + 1 - first], e);
    }
}

void transformer_prefill(struct transformer *t, int seq, const int32_t *prompt, int from, int to,
                         int n_prompt, const struct policy *policy, const struct prefill_scores *scores,
                         float *logits, struct err *e)
{
    int n = 0;
    for (int pos0 = from; pos0 < to && !e->code; pos0 += t->chunk) {
        n = to - pos0 < t->chunk ? to - pos0 : t->chunk;
        prefill_chunk(t, seq, prompt + pos0, pos0, n, n_prompt, policy, e);
        if (scores)
            score_chunk(t, seq, prompt, pos0, n, n_prompt, scores, e);
    }
    if (to < n_prompt)
        return;
    output_logits(t, t->x + (size_t)(n - 1) * (size_t)t->model->config.hidden, logits, 1, 0, e);
    transformer_prefill_end(t, seq, n_prompt, policy, e);
}

void transformer_first_token(struct transformer *t, int seq, int n_prompt, const float *logits, struct err *e)
{
    int32_t place = seq, pos = n_prompt - 1;
    device_upload(t->be, t->dev, t->row_seq, &place, sizeof place, e);
    device_upload(t->be, t->dev, t->row_pos, &pos, sizeof pos, e);
    struct rows one = {1, t->row_seq, t->row_pos};
    sample_tokens(t, one, logits, e);
}
