/* Policies that measure (contract: probe_policy.h). */
#include "evalcore/calibration/probe_policy.h"

#include <math.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"

const struct param probe_no_options[] = {{0}};

int probe_bind(struct policy **out, struct engine *en, const struct policy_ops *ops, struct err *e)
{
    char none = 0;
    struct policy_spec spec = {.ops = ops, .params = &none};
    return engine_policy(en, &spec, out, e);
}

int probe_layer_index(const struct policy_dims *d, int layer)
{
    int n = 0;
    for (int l = -1; (l = policy_next_full(d, l)) < layer;)
        n++;
    return n;
}

void probe_layers(struct layer_measure *m, const struct policy_dims *d)
{
    m->n_kv = d->n_kv;
    m->n_all = d->n_layers;
    m->n_layers = 0;
    m->number = xcalloc((size_t)d->n_layers, sizeof *m->number);
    for (int l = -1; (l = policy_next_full(d, l)) < d->n_layers;)
        m->number[m->n_layers++] = l;
}

void probe_download(const struct policy_ctx *c, void *dst, const void *src, size_t bytes)
{
    if (!c->e->code && c->be->download(c->dev, dst, src, bytes) < 0)
        err_set(c->e, ERR_DEVICE, "download: %s", c->be->last_error(c->dev));
}

static void ignore_seen(void *context, const struct seen *s)
{
    (void)context, (void)s;
}

int probe_replay(struct engine *en, const struct dev_problem *p, struct policy *policy,
                 struct policy *reference, seen_fn *seen, void *context, struct err *e)
{
    struct request r = {.prompt = p->ids,
                        .n_prompt = p->n_prompt,
                        .policy = policy,
                        .reference = reference,
                        .max_new_tokens = p->n - p->n_prompt,
                        .end_token = -1,
                        .ignore_eos = 1,
                        .forced = p->ids + p->n_prompt,
                        .n_forced = p->n - p->n_prompt};
    if (!r.n_forced)
        return 0;
    engine_watch(en, 1, seen ? seen : ignore_seen, context);
    int rc = engine_run(en, &r, 1, NULL, NULL, e);
    engine_watch(en, 0, NULL, NULL);
    return rc;
}

int probe_probabilities(const struct policy_ctx *c, float *logits, double *p, int stride)
{
    float lse[BACKEND_MAX_Q_HEADS];
    int32_t pos = 0;
    probe_download(c, &pos, c->rows.pos, sizeof pos);
    probe_download(c, lse, c->stats.lse, (size_t)c->dims.n_q * sizeof *lse);
    for (int h = 0; h < c->dims.n_q && !c->e->code; h++) {
        double *to = p + (size_t)h * (size_t)stride;
        probe_download(c, logits, c->stats.logits + (size_t)h * (size_t)c->stats.stride,
                       (size_t)(pos + 1) * sizeof *logits);
        for (int t = 0; t <= pos; t++)
            to[t] = logits[t] > -INFINITY ? exp((double)logits[t] - (double)lse[h]) : 0;
    }
    return pos + 1;
}
