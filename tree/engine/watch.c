/* A look at what the layers of a step read (contract: engine.h). The lists of a policy are scratch that the
 * next layer may overwrite, so a step that is watched is not replayed: its operations are launched one after
 * the other, and between a layer's selection and its attention the lists are copied to the host. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"

void engine_watch(struct engine *en, int every, seen_fn *fn, void *context)
{
    free(en->watch.idx);
    en->watch = (struct watch){.fn = fn, .context = context, .every = every > 0 ? every : 1};
}

static int is_watched(const struct engine *en, const struct sequence *s)
{
    return s && !s->is_reference && s->n_ids % en->watch.every == 0;
}

int watch_is_due(const struct engine *en)
{
    for (int i = 0; en->watch.fn && i < en->batch.n_rows; i++)
        if (is_watched(en, en->batch.row[i]))
            return 1;
    return 0;
}

/* Room for n lists of `stride` entries and their lengths in front. */
static int32_t *list_memory(struct watch *w, size_t n, size_t stride)
{
    xgrow(&w->idx, &w->cap, n * (stride + 1), sizeof *w->idx);
    return w->idx;
}

static void see_lists(struct engine *en, const struct selection *s, int row, struct seen *out)
{
    size_t n = (size_t)s->n_rows, stride = (size_t)s->cap;
    int32_t *len = list_memory(&en->watch, n, stride), *idx = len + n;
    device_download(en->be, en->dev, len, s->len + (size_t)row * n, n * sizeof *len, en->watch.e);
    device_download(en->be, en->dev, idx, s->idx + (size_t)row * n * stride, n * stride * sizeof *idx,
                    en->watch.e);
    out->granularity = s->granularity;
    out->block_pages = s->block_pages;
    out->n_lists = s->n_rows;
    out->stride = s->cap;
    out->idx = idx;
    out->len = len;
}

/* The live slots of each KV head. */
static void see_live(struct engine *en, int seq, int layer, struct seen *out)
{
    const struct kv_view *kv = &en->cache.view;
    size_t pages = (size_t)kv->max_pages, n = (size_t)kv->n_kv, stride = pages * KV_PAGE_TOKENS;
    int32_t *len = list_memory(&en->watch, n, stride), *idx = len + n;
    uint16_t *live = xmalloc(pages * sizeof *live);
    size_t head = ((size_t)seq * (size_t)kv->n_layers + (size_t)layer) * n;
    for (size_t h = 0; h < n && !en->watch.e->code; h++) {
        device_download(en->be, en->dev, live, kv->live + (head + h) * pages, pages * sizeof *live,
                        en->watch.e);
        len[h] = 0;
        for (size_t slot = 0; slot < stride; slot++)
            if (live[slot / KV_PAGE_TOKENS] >> slot % KV_PAGE_TOKENS & 1)
                idx[h * stride + (size_t)len[h]++] = (int32_t)slot;
    }
    free(live);
    out->granularity = SEL_LIVE;
    out->block_pages = 1;
    out->n_lists = kv->n_kv;
    out->stride = (int)stride;
    out->idx = idx;
    out->len = len;
}

static void see_selection(void *context, const struct policy_group *g, int layer, const struct selection *s)
{
    struct engine *en = context;
    int drops = (g->policy->needs & POLICY_DROP) != 0;
    if (s->granularity == SEL_LIVE && !drops)
        return;
    for (int i = 0; i < g->cap && !en->watch.e->code; i++) {
        const struct sequence *q = en->batch.row[g->row0 + i];
        if (!is_watched(en, q))
            continue;
        struct seen out = {.user = q->req.user, .step = q->n_ids, .layer = layer, .kv_map = s->kv_map};
        if (s->granularity == SEL_LIVE)
            see_live(en, q->seq, layer, &out);
        else
            see_lists(en, s, i, &out);
        if (!en->watch.e->code)
            en->watch.fn(en->watch.context, &out);
    }
}

void watch_step(struct engine *en, struct err *e)
{
    en->watch.e = e;
    en->tf.seen = see_selection;
    en->tf.seen_context = en;
    transformer_step(&en->tf, en->batch.group, en->batch.n_groups, en->batch.n_rows, e);
    en->tf.seen = NULL;
    en->watch.e = NULL;
}
