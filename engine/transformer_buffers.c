/* The buffers of the forward pass: what a step and a prefill work on (contract: transformer.h). */
#include <string.h>

#include "engine/memory/device.h"
#include "engine/transformer.h"

/* The type of what feeds linear layers: the backend's own if all of them have bf16 weights, else fp32. */
static enum dtype activation_type(const struct model *m)
{
    int f32 = m->head.dtype == DTYPE_F32;
    for (int i = 0; i < m->config.n_layers; i++) {
        const struct model_layer *y = &m->layer[i];
        f32 |= y->qkv.dtype == DTYPE_F32 || y->o.dtype == DTYPE_F32 || y->gate_up.dtype == DTYPE_F32 ||
               y->down.dtype == DTYPE_F32;
    }
    return f32 ? DTYPE_F32 : m->be->activations;
}

static void *alloc_buffer(struct transformer *t, size_t n, size_t item, struct err *e)
{
    void *p = t->be->alloc(t->dev, n * item);
    if (!p)
        err_set(e, ERR_DEVICE,
                "no device memory for %.1f MiB of activations; use a smaller --max-batch or context",
                (double)(n * item) / 1048576);
    return p;
}

/* Layers whose lists there is room for: four fill a GPU when a policy forgets (evict_layers), but with long
 * contexts and many rows their memory counts. Lists are made once, by the first policy that has any, so the
 * room is there for all. */
static int list_layers(const struct transformer *t)
{
    enum { MOST = 4 };
    const struct kv_view *kv = &t->cache->view;
    double most = 512 * 1048576.0, item = 2 * sizeof(int32_t) + sizeof(float);
    double bytes = item * t->b_rows * kv->n_kv * kv->max_pages * KV_PAGE_TOKENS;
    int fit = bytes * MOST <= most ? MOST : (int)(most / bytes);
    return fit < 1 ? 1 : fit < kv->n_layers ? fit : kv->n_layers;
}

int transformer_init(struct transformer *t, const struct model *m, struct kvcache *c, int max_batch,
                     int max_context, int chunk, struct err *e)
{
    const struct model_config *f = &m->config;
    memset(t, 0, sizeof *t);
    t->model = m;
    t->cache = c;
    t->be = m->be;
    t->dev = m->dev;
    t->type = activation_type(m);
    t->max_context = max_context;
    t->max_batch = max_batch;
    t->b_rows = max_batch + max_batch / 2;
    t->chunk = chunk;
    t->max_rows = t->b_rows > chunk ? t->b_rows : chunk;
    size_t r = (size_t)t->max_rows, b = (size_t)t->b_rows, seqs = (size_t)c->view.n_seqs,
           item = dtype_bytes(t->type);
    t->row_token = alloc_buffer(t, r, sizeof(int32_t), e);
    t->row_seq = alloc_buffer(t, r, sizeof(int32_t), e);
    t->row_pos = alloc_buffer(t, r, sizeof(int32_t), e);
    t->x = alloc_buffer(t, r * (size_t)f->hidden, sizeof(float), e);
    t->y = alloc_buffer(t, r * (size_t)f->hidden, item, e);
    t->qkv = alloc_buffer(t, r * (size_t)model_qkv_values(f), sizeof(float), e);
    t->attn = alloc_buffer(t, r * (size_t)f->n_q * (size_t)f->head_dim, item, e);
    t->gate_up = alloc_buffer(t, r * 2 * (size_t)f->ffn, sizeof(float), e);
    t->act = alloc_buffer(t, r * (size_t)f->ffn, item, e);
    t->logits_stride = (f->vocab + 3) / 4 * 4;
    t->logits = alloc_buffer(t, b * (size_t)t->logits_stride, sizeof(float), e);
    t->sample_scratch = alloc_buffer(t, b * (size_t)f->vocab, sizeof(float), e);
    t->settings = alloc_buffer(t, seqs, sizeof *t->settings, e);
    t->sampled = alloc_buffer(t, b, sizeof *t->sampled, e);
    t->prompt_len = alloc_buffer(t, seqs, sizeof(int32_t), e);
    t->total_len = alloc_buffer(t, seqs, sizeof(int32_t), e);
    t->with_bounds = alloc_buffer(t, seqs, sizeof(int32_t), e);
    t->plan.entry =
        alloc_buffer(t, b * (size_t)f->n_kv * (size_t)c->view.max_pages, sizeof *t->plan.entry, e);
    t->plan.n = alloc_buffer(t, b * (size_t)f->n_kv, sizeof(int32_t), e);
    if (model_has_part_output(f))
        t->part = alloc_buffer(t, r * (size_t)f->hidden, sizeof(float), e);
    if (f->n_windows) {
        t->window = alloc_buffer(t, (size_t)f->n_layers, sizeof *t->window, e);
        device_upload(t->be, t->dev, t->window, f->window, (size_t)f->n_layers * sizeof *t->window, e);
    }
    t->list_layers = list_layers(t);
    t->lists = f->n_q > t->list_layers * f->n_kv ? f->n_q : t->list_layers * f->n_kv;
    return e->code;
}

int transformer_policy_buffers(struct transformer *t, unsigned needs, int has_select, struct err *e)
{
    const struct model_config *f = &t->model->config;
    size_t b = (size_t)t->b_rows, stride = (size_t)t->cache->view.max_pages * KV_PAGE_TOKENS;
    if ((needs & POLICY_STATS) && !t->stats.logits) {
        t->stats.stride = (int)stride;
        t->stats.lse = alloc_buffer(t, b * (size_t)f->n_q, sizeof(float), e);
        t->stats.logits = alloc_buffer(t, b * (size_t)f->n_q * stride, sizeof(float), e);
    }
    if ((needs & POLICY_PAGE_STATS) && !t->page_stats.logits) {
        t->page_stats.by_page = 1;
        t->page_stats.stride = t->cache->view.max_pages;
        t->page_stats.lse = alloc_buffer(t, b * (size_t)f->n_q, sizeof(float), e);
        t->page_stats.logits =
            alloc_buffer(t, b * (size_t)f->n_q * (size_t)t->page_stats.stride, sizeof(float), e);
    }
    if (has_select && !t->score) {
        size_t tokens = (size_t)(t->list_layers * f->n_kv) * stride, lists = (size_t)t->lists;
        size_t pages = (size_t)f->n_q * (size_t)t->cache->view.max_pages;
        size_t most = tokens > pages ? tokens : pages;
        t->score_n = alloc_buffer(t, b * lists, sizeof(int32_t), e);
        t->score_m = alloc_buffer(t, b * lists, sizeof(int32_t), e);
        for (int i = 0; i < 2; i++) {
            t->list[i].cap = (int)most;
            t->list[i].idx = alloc_buffer(t, b * most, sizeof(int32_t), e);
            t->list[i].len = alloc_buffer(t, b * lists, sizeof(int32_t), e);
        }
        t->score = alloc_buffer(t, b * most, sizeof(float), e);
    }
    return e->code;
}

void transformer_release(struct transformer *t)
{
    if (!t->be)
        return;
    void *all[] = {t->row_token,   t->row_seq,     t->row_pos,        t->x,
                   t->y,           t->qkv,         t->attn,           t->gate_up,
                   t->act,         t->logits,      t->sample_scratch, t->settings,
                   t->sampled,     t->prompt_len,  t->total_len,      t->with_bounds,
                   t->plan.entry,  t->plan.n,      t->stats.logits,   t->stats.lse,
                   t->score,       t->score_n,     t->score_m,        t->list[0].idx,
                   t->list[0].len, t->list[1].idx, t->list[1].len};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        t->be->release(t->dev, all[i]);
    t->be->release(t->dev, t->page_stats.logits);
    t->be->release(t->dev, t->page_stats.lse);
    t->be->release(t->dev, t->part);
    t->be->release(t->dev, t->window);
    memset(t, 0, sizeof *t);
}

struct policy_dims transformer_dims(const struct transformer *t)
{
    const struct model_config *f = &t->model->config;
    struct policy_dims d = {f->n_layers,
                            f->n_q,
                            f->n_kv,
                            f->head_dim,
                            f->hidden,
                            t->max_context,
                            t->cache->view.max_pages,
                            t->max_rows,
                            t->max_batch,
                            t->list_layers,
                            model_windows(f)};
    return d;
}
