/* How well a layer's list serves the layers after it, for Kascade's anchors (contract: calibration.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/calibration/probe_policy.h"

enum { TILE = 32, KEEP = 32 }; /* KEEP: of the 64 tokens those before the tile */

struct kascade_measurer {
    int n_layers, n_kv, stride,
        tiles;          /* layers: with full attention, here by index; tiles: of a chunk at most */
    struct scores mass; /* device */
    float *own;
    int32_t *idx, *len;
    float *host_mass, *host_own; /* of the layer being measured */
    double *p;                   /* (n_kv, stride): the same as probabilities, of one tile */
    int32_t *lists, *lens;       /* (n_layers, tiles, n_kv, KEEP), (n_layers, tiles, n_kv): of the chunk */
    float *before, *after;       /* (rows, hidden): the residual stream around attention */
    double *worst, *recall;      /* (n_layers, n_layers, n_kv, n_kv): of the problem, and summed over them */
    double *turn;                /* (n_layers): sum of 1 - cosine */
    long tokens, samples;
};

static size_t pair_at(const struct kascade_measurer *m, int a, int b, int hb, int ha)
{
    return (((size_t)a * (size_t)m->n_layers + (size_t)b) * (size_t)m->n_kv + (size_t)hb) * (size_t)m->n_kv +
           (size_t)ha;
}

static size_t list_at(const struct kascade_measurer *m, int layer, int tile, int h)
{
    return ((size_t)layer * (size_t)m->tiles + (size_t)tile) * (size_t)m->n_kv + (size_t)h;
}

static void *device_buffer(const struct policy *p, size_t n, struct err *e)
{
    void *buffer = p->be->alloc(p->dev, n * 4);
    if (!buffer)
        err_set(e, ERR_DEVICE, "no device memory for a calibration; use a shorter context");
    return buffer;
}

static int kascade_open(struct policy *p, struct err *e)
{
    struct kascade_measurer *m = p->own = xcalloc(1, sizeof *m);
    int n_full = probe_layer_index(&p->dims, p->dims.n_layers);
    size_t layers = (size_t)n_full, n_kv = (size_t)p->dims.n_kv;
    size_t rows = (size_t)p->dims.max_rows * (size_t)p->dims.hidden;
    m->n_layers = n_full;
    m->n_kv = p->dims.n_kv;
    m->stride = p->dims.max_context;
    m->tiles = p->dims.max_rows / TILE + 1;
    size_t lists = (size_t)m->tiles * n_kv, stride = (size_t)m->stride, pairs = layers * layers * n_kv * n_kv;
    m->mass = (struct scores){device_buffer(p, lists * stride, e), device_buffer(p, lists, e),
                              device_buffer(p, lists, e), m->n_kv, m->stride};
    m->own = device_buffer(p, lists, e);
    m->idx = device_buffer(p, lists * KEEP, e);
    m->len = device_buffer(p, lists, e);
    m->host_mass = xmalloc(lists * stride * sizeof *m->host_mass);
    m->host_own = xmalloc(lists * sizeof *m->host_own);
    m->p = xmalloc(n_kv * stride * sizeof *m->p);
    m->lists = xcalloc(layers * lists * KEEP, sizeof *m->lists);
    m->lens = xcalloc(layers * lists, sizeof *m->lens);
    m->before = xmalloc(rows * sizeof *m->before);
    m->after = xmalloc(rows * sizeof *m->after);
    m->recall = xcalloc(pairs, sizeof *m->recall);
    m->worst = xmalloc(pairs * sizeof *m->worst);
    m->turn = xcalloc(layers, sizeof *m->turn);
    return e->code;
}

static void kascade_close(struct policy *p)
{
    struct kascade_measurer *m = p->own;
    void *device[] = {m->mass.v, m->mass.n, m->mass.m, m->own, m->idx, m->len};
    void *host[] = {m->host_mass, m->host_own, m->p,     m->lists,  m->lens,
                    m->before,    m->after,    m->worst, m->recall, m->turn};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        p->be->release(p->dev, device[i]);
    for (size_t i = 0; i < sizeof host / sizeof *host; i++)
        free(host[i]);
    free(m);
}

static double on_list(const struct kascade_measurer *m, int layer, int tile, int h, const double *p)
{
    size_t at = list_at(m, layer, tile, h);
    double sum = 0;
    for (int i = 0; i < m->lens[at]; i++)
        sum += p[m->lists[at * KEEP + (size_t)i]];
    return sum;
}

/* A tile's recalls of reader b under all choosers up to it. */
static void take_tile(struct kascade_measurer *m, int b, int tile, int start)
{
    for (int h = 0; h < m->n_kv; h++) {
        size_t list = (size_t)tile * (size_t)m->n_kv + (size_t)h;
        double *p = m->p + (size_t)h * (size_t)m->stride, own = exp((double)m->host_own[list]);
        for (int i = 0; i < start; i++)
            p[i] = exp((double)m->host_mass[list * (size_t)m->stride + (size_t)i]);
        double whole = on_list(m, b, tile, h, p) + own;
        for (int a = 0; a <= b; a++)
            for (int ha = 0; ha < m->n_kv; ha++) {
                double r = (on_list(m, a, tile, ha, p) + own) / whole,
                       *worst = &m->worst[pair_at(m, a, b, h, ha)];
                *worst = r < *worst ? r : *worst;
            }
    }
}

static void kascade_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                            struct prefill_selection *s)
{
    struct kascade_measurer *m = pol->own;
    int tiles = (c->nq + TILE - 1) / TILE, index = probe_layer_index(&c->dims, layer);
    size_t lists = (size_t)(tiles * m->n_kv), first = list_at(m, index, 0, 0);
    struct topk_args t = {.rows = {tiles, c->rows.seq, c->rows.pos},
                          .in = m->mass,
                          .params = {.kind = TOPK_FIXED, .k = KEEP, .tokens_per = 1},
                          .idx = m->idx,
                          .len = m->len,
                          .cap = KEEP};
    policy_prefill_mass(c, layer,
                        (struct prefill_mass_args){.tile = TILE, .before = 1, .out = m->mass, .own = m->own});
    policy_launch(c, OP_topk, &t);
    probe_download(c, m->host_mass, m->mass.v, lists * (size_t)m->stride * sizeof *m->host_mass);
    probe_download(c, m->host_own, m->own, lists * sizeof *m->host_own);
    probe_download(c, m->lists + first * KEEP, m->idx, lists * KEEP * sizeof *m->lists);
    probe_download(c, m->lens + first, m->len, lists * sizeof *m->lens);
    probe_download(c, m->before, c->x, (size_t)c->nq * (size_t)c->dims.hidden * sizeof *m->before);
    if (index == 0 && c->pos0 == 0)
        for (size_t i = 0; i < pair_at(m, m->n_layers, 0, 0, 0); i++)
            m->worst[i] = 1;
    for (int tile = 0; tile < tiles && !c->e->code; tile++)
        take_tile(m, index, tile, c->pos0 + tile * TILE);
    m->samples += index ? 0 : tiles;
    *s = (struct prefill_selection){
        .kind = PREFILL_TILES, .tile = TILE, .cap = KEEP, .n_rows = m->n_kv, .idx = m->idx, .len = m->len};
}

static void kascade_after(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    struct kascade_measurer *m = pol->own;
    size_t hidden = (size_t)c->dims.hidden;
    int index = probe_layer_index(&c->dims, layer);
    if (!c->prefill)
        return;
    probe_download(c, m->after, c->x, (size_t)c->nq * hidden * sizeof *m->after);
    for (int i = 0; i < c->nq && !c->e->code; i++) {
        const float *x = m->before + (size_t)i * hidden, *y = m->after + (size_t)i * hidden;
        double xy = 0, xx = 0, yy = 0;
        for (size_t k = 0; k < hidden; k++) {
            xy += (double)x[k] * (double)y[k];
            xx += (double)x[k] * (double)x[k];
            yy += (double)y[k] * (double)y[k];
        }
        m->turn[index] += 1 - xy / sqrt(xx * yy);
    }
    m->tokens += index ? 0 : c->nq;
}

static void kascade_fold(const struct policy *pol, const struct policy_ctx *c)
{
    struct kascade_measurer *m = pol->own;
    (void)c;
    for (size_t i = 0; i < pair_at(m, m->n_layers, 0, 0, 0); i++)
        m->recall[i] += m->worst[i];
}

static const struct policy_ops kascade_probe = {.name = "calibrate_kascade",
                                                .help = "",
                                                .params = probe_no_options,
                                                .budget_keys = "",
                                                .needs = POLICY_PREFILL,
                                                .init = kascade_open,
                                                .release = kascade_close,
                                                .select_prefill = kascade_prefill,
                                                .on_attn_out = kascade_after,
                                                .prefill_end = kascade_fold};

/* The matrix, the weights and the head maps, from the sums. */
static void kascade_result(struct layer_measure *out, const struct policy *p, int n_problems)
{
    const struct kascade_measurer *m = p->own;
    size_t layers = (size_t)m->n_layers, n_kv = (size_t)m->n_kv;
    probe_layers(out, &p->dims);
    out->samples = m->samples;
    out->similarity = xcalloc(layers * layers, sizeof *out->similarity);
    out->curve = xcalloc(layers, sizeof *out->curve);
    out->best = xcalloc(layers * layers * n_kv, sizeof *out->best);
    for (int b = 0; b < m->n_layers; b++)
        out->curve[b] = m->turn[b] / (double)m->tokens;
    for (int a = 0; a < m->n_layers; a++)
        for (int b = a; b < m->n_layers; b++) {
            double sum = 0;
            size_t at = (size_t)a * layers + (size_t)b;
            for (int hb = 0; hb < m->n_kv; hb++) {
                const double *r = m->recall + pair_at(m, a, b, hb, 0);
                int best = 0;
                for (int ha = 1; ha < m->n_kv; ha++)
                    best = r[ha] > r[best] ? ha : best;
                out->best[at * n_kv + (size_t)hb] = best;
                sum += r[best] / n_problems;
            }
            out->similarity[at] = out->curve[b] * sum / m->n_kv;
        }
}

int measure_kascade(struct layer_measure *out, struct engine *en, const struct dev_set *d, struct err *e)
{
    struct policy *p;
    int rc = probe_bind(&p, en, &kascade_probe, e), context = engine_info(en)->max_context;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < d->n && !rc; i++) {
        int all = d->problems[i].n;
        struct request r = {.prompt = d->problems[i].ids,
                            .n_prompt = all < context ? all : context - 1,
                            .policy = p,
                            .max_new_tokens = 1,
                            .end_token = -1,
                            .ignore_eos = 1};
        rc = engine_run(en, &r, 1, NULL, NULL, e);
    }
    if (!rc)
        kascade_result(out, p, d->n);
    return rc;
}
