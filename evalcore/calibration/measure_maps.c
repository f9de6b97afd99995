/* Maps of attention: how the query of one decode step spreads over all positions, by layer (contract:
 * calibration.h). DELTA's Figure 1, left (arXiv 2510.09883), is two of them. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/calibration/probe_policy.h"

struct maps_measurer {
    struct map_measure *out;
    int n_q, n_prompt, stride;
    float *logits;
    double *p; /* (n_q, stride): of the layer at work */
};

static int maps_open(struct policy *pol, struct err *e)
{
    struct maps_measurer *m = pol->own = xcalloc(1, sizeof *m);
    (void)e;
    m->n_q = pol->dims.n_q;
    m->stride = pol->dims.max_pages * KV_PAGE_TOKENS;
    m->logits = xmalloc((size_t)m->stride * sizeof *m->logits);
    m->p = xcalloc((size_t)m->n_q * (size_t)m->stride, sizeof *m->p);
    return 0;
}

static void maps_close(struct policy *pol)
{
    struct maps_measurer *m = pol->own;
    free(m->logits);
    free(m->p);
    free(m);
}

static void maps_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->want_stats = STATS_TOKENS;
}

static struct attention_map *map_of(struct map_measure *out, int step)
{
    for (int i = 0; i < out->n_maps; i++)
        if (out->map[i].step == step)
            return &out->map[i];
    return NULL;
}

/* The query of step s is token s of the completion, which sees the prompt and s tokens, itself included. */
static void maps_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    struct maps_measurer *m = pol->own;
    int32_t pos = 0;
    probe_download(c, &pos, c->rows.pos, sizeof pos);
    struct attention_map *map = map_of(m->out, pos + 1 - m->n_prompt);
    if (!map || c->e->code)
        return;
    int n = probe_probabilities(c, m->logits, m->p, m->stride);
    if (!map->p) {
        map->n = n;
        map->p = xcalloc((size_t)m->out->n_layers * (size_t)n, sizeof *map->p);
    }
    double *to = map->p + (size_t)probe_layer_index(&pol->dims, layer) * (size_t)n;
    for (int h = 0; h < m->n_q; h++)
        for (int t = 0; t < n; t++)
            to[t] += m->p[(size_t)h * (size_t)m->stride + (size_t)t] / m->n_q;
}

static const struct policy_ops maps_probe = {.name = "probe_maps",
                                             .help = "",
                                             .params = probe_no_options,
                                             .budget_keys = "",
                                             .needs = POLICY_STATS,
                                             .init = maps_open,
                                             .release = maps_close,
                                             .select = maps_select,
                                             .observe = maps_observe};

int measure_maps(struct map_measure *out, struct engine *en, const struct dev_problem *d, const int *steps,
                 int n_steps, struct err *e)
{
    struct policy *p;
    struct layer_measure names = {0};
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n_steps; i++)
        if (steps[i] >= d->n - d->n_prompt)
            return err_set(
                e, ERR_USAGE,
                "the completion has %d tokens, the first of which comes from the prompt, so there is "
                "no decode step %d; raise --max-new-tokens, or take a problem with a longer one",
                d->n - d->n_prompt, steps[i]);
    int rc = probe_bind(&p, en, &maps_probe, e);
    if (rc)
        return rc;
    struct maps_measurer *m = p->own;
    probe_layers(&names, &p->dims);
    *out = (struct map_measure){
        .n_layers = names.n_layers, .number = names.number, .n_prompt = d->n_prompt, .n_maps = n_steps};
    for (int i = 0; i < n_steps; i++)
        out->map[i].step = steps[i];
    m->out = out;
    m->n_prompt = d->n_prompt;
    rc = probe_replay(en, d, p, NULL, NULL, NULL, e);
    if (rc)
        map_measure_release(out);
    return rc;
}

void map_measure_release(struct map_measure *m)
{
    for (int i = 0; i < m->n_maps; i++)
        free(m->map[i].p);
    free(m->number);
    *m = (struct map_measure){0};
}
