/* The mass of full attention on what a policy reads (contract: calibration.h). Each completion is decoded
 * twice side by side, under the policy, whose lists are copied, and then, in the same layer of the same step,
 * under full attention, whose probabilities meet them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/calibration/probe_policy.h"

struct recall_measurer {
    int n_layers, n_q, n_kv, stride;
    int n; /* tokens that full attention sees */
    float *logits;
    double *p;        /* (n_q, stride): of the layer at work */
    double *kept;     /* (n_layers): sums over steps of the mean over heads */
    struct seen seen; /* the policy's lists in the layer at work, copied; their layer is -1: it reads all */
    int32_t *lists;
    size_t cap;
    int *kv_map; /* (n_kv) */
    long steps;
};

static int recall_open(struct policy *pol, struct err *e)
{
    struct recall_measurer *m = pol->own = xcalloc(1, sizeof *m);
    size_t n_q = (size_t)pol->dims.n_q;
    (void)e;
    m->n_layers = pol->dims.n_layers;
    m->n_q = pol->dims.n_q;
    m->n_kv = pol->dims.n_kv;
    m->stride = pol->dims.max_pages * KV_PAGE_TOKENS;
    m->logits = xmalloc((size_t)m->stride * sizeof *m->logits);
    m->p = xcalloc(n_q * (size_t)m->stride, sizeof *m->p);
    m->kept = xcalloc((size_t)m->n_layers, sizeof *m->kept);
    m->kv_map = xcalloc((size_t)m->n_kv, sizeof *m->kv_map);
    m->seen.layer = -1;
    return 0;
}

static void recall_close(struct policy *pol)
{
    struct recall_measurer *m = pol->own;
    void *all[] = {m->logits, m->p, m->kept, m->lists, m->kv_map, m};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void recall_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                          struct selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->want_stats = STATS_TOKENS;
}

/* All that the tokens hold: 1 but for rounding, less where a head has a sink. */
static double on_all(const struct recall_measurer *m, int h)
{
    double sum = 0;
    for (int t = 0; t < m->n; t++)
        sum += m->p[(size_t)h * (size_t)m->stride + (size_t)t];
    return sum;
}

/* Mass of query head h on its list. */
static double on_list(const struct recall_measurer *m, int h)
{
    const struct seen *s = &m->seen;
    const double *p = m->p + (size_t)h * (size_t)m->stride;
    int per = s->granularity == SEL_PAGES ? s->block_pages * KV_PAGE_TOKENS : 1;
    size_t l = (size_t)seen_list_of(s, h, m->n_q, m->n_q / m->n_kv);
    double sum = 0;
    if (s->len[l] < 0)
        return 1;
    for (int i = 0; i < s->len[l]; i++) {
        int from = s->idx[l * (size_t)s->stride + (size_t)i] * per;
        for (int t = from; t < from + per && t < m->n; t++)
            sum += p[t];
    }
    return sum;
}

static void recall_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    struct recall_measurer *m = pol->own;
    double sum = 0;
    m->n = probe_probabilities(c, m->logits, m->p, m->stride);
    for (int h = 0; h < m->n_q && !c->e->code; h++) {
        double share = m->seen.layer == layer ? on_list(m, h) : 1;
        if (c->softmax.sink && share < 1) /* 1: everything is read */
            share /= fmax(on_all(m, h), 1e-300);
        sum += share;
    }
    m->kept[layer] += sum / m->n_q;
    m->steps += layer == policy_next_full(&c->dims, -1);
    m->seen.layer = -1;
}

/* The lists are the policy's scratch, which the next layer may overwrite. */
static void keep_lists(void *context, const struct seen *s)
{
    struct recall_measurer *m = context;
    size_t n = (size_t)s->n_lists, entries = n * (size_t)s->stride;
    xgrow(&m->lists, &m->cap, n + entries, sizeof *m->lists);
    memcpy(m->lists, s->len, n * sizeof *m->lists);
    memcpy(m->lists + n, s->idx, entries * sizeof *m->lists);
    if (s->kv_map)
        memcpy(m->kv_map, s->kv_map, (size_t)m->n_kv * sizeof *m->kv_map);
    m->seen = *s;
    m->seen.len = m->lists;
    m->seen.idx = m->lists + n;
    m->seen.kv_map = s->kv_map ? m->kv_map : NULL;
}

static const struct policy_ops recall_probe = {.name = "probe_recall",
                                               .help = "",
                                               .params = probe_no_options,
                                               .budget_keys = "",
                                               .needs = POLICY_STATS,
                                               .init = recall_open,
                                               .release = recall_close,
                                               .select = recall_select,
                                               .observe = recall_observe};

int recall_is_measurable(const struct policy_spec *s)
{
    return (policy_needs(s) & POLICY_DROP) == 0;
}

int measure_recall(double *by_layer, struct engine *en, const struct dev_set *d, const struct policy_spec *s,
                   struct err *e)
{
    struct policy *full, *p;
    /* Bound last, so that in each layer its row comes behind the policy's. */
    int rc = engine_policy(en, s, &p, e);
    if (!rc)
        rc = probe_bind(&full, en, &recall_probe, e);
    if (rc)
        return rc;
    struct recall_measurer *m = full->own;
    if (full->id < p->id)
        return err_set(e, ERR_USAGE, "all policies must be bound before recall is measured");
    memset(m->kept, 0, (size_t)m->n_layers * sizeof *m->kept);
    m->steps = 0;
    for (int i = 0; i < d->n && !rc; i++)
        rc = probe_replay(en, &d->problems[i], p, full, keep_lists, m, e);
    if (!rc && !m->steps)
        rc = err_set(e, ERR_USAGE, "the completions have no tokens to measure on");
    for (int l = 0; l < m->n_layers && !rc; l++)
        by_layer[l] = policy_layer_is_full(&p->dims, l) ? m->kept[l] / (double)m->steps : NAN;
    return rc;
}
