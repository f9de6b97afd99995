/* Where full attention lies: how much of each head's probability its K best keys hold, and how well one
 * layer's K best serve another (contract: calibration.h). These are Kascade's Figures 1 and 3 (arXiv
 * 2512.16391). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/calibration/probe_policy.h"

struct keys_measurer {
    int n_layers, n_q, stride, keys; /* layers: those with full attention, here by index */
    float *logits;
    double *p;                      /* (n_q, stride): of the layer at work */
    double *mean;                   /* (stride): over the heads */
    double *scratch;                /* (stride) */
    char *best;                     /* (n_layers, stride): the K best of the mean */
    double *share, *pooled, *alike; /* (n_layers, n_q), (n_layers), (n_layers, n_layers): sums over steps */
    long steps;                     /* those with more than K keys */
};

static int keys_open(struct policy *pol, struct err *e)
{
    struct keys_measurer *m = pol->own = xcalloc(1, sizeof *m);
    size_t n_q = (size_t)pol->dims.n_q;
    (void)e;
    m->n_layers = probe_layer_index(&pol->dims, pol->dims.n_layers);
    m->n_q = pol->dims.n_q;
    m->stride = pol->dims.max_pages * KV_PAGE_TOKENS;
    size_t layers = (size_t)m->n_layers, stride = (size_t)m->stride;
    m->logits = xmalloc(stride * sizeof *m->logits);
    m->p = xcalloc(n_q * stride, sizeof *m->p);
    m->mean = xcalloc(stride, sizeof *m->mean);
    m->scratch = xcalloc(stride, sizeof *m->scratch);
    m->best = xcalloc(layers, stride);
    m->share = xcalloc(layers * n_q, sizeof *m->share);
    m->pooled = xcalloc(layers, sizeof *m->pooled);
    m->alike = xcalloc(layers * layers, sizeof *m->alike);
    return 0;
}

static void keys_close(struct policy *pol)
{
    struct keys_measurer *m = pol->own;
    void *all[] = {m->logits, m->p, m->mean, m->scratch, m->best, m->share, m->pooled, m->alike, m};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* The k-th largest of n numbers, k from 1; v is put into another order. */
static double kth_largest(double *v, int n, int k)
{
    int low = 0, high = n - 1, at = k - 1;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (v[i] > pivot)
                i++;
            while (v[j] < pivot)
                j--;
            if (i <= j) {
                double t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (at <= j)
            high = j;
        else if (at >= i)
            low = i;
        else
            break;
    }
    return v[at];
}

/* Returns what the k largest of p sum to; of equal ones the first count, and are marked in best unless that
 * is NULL. */
static double sum_of_best(struct keys_measurer *m, const double *p, int n, char *best)
{
    memcpy(m->scratch, p, (size_t)n * sizeof *p);
    double least = kth_largest(m->scratch, n, m->keys), sum = 0;
    int left = m->keys;
    for (int t = 0; t < n; t++)
        left -= p[t] > least;
    for (int t = 0; t < n; t++) {
        int is_best = p[t] > least || (p[t] == least && left-- > 0);
        sum += is_best ? p[t] : 0;
        if (best)
            best[t] = (char)is_best;
    }
    return sum;
}

static double sum_over(const double *p, const char *best, int n)
{
    double sum = 0;
    for (int t = 0; t < n; t++)
        sum += best && !best[t] ? 0 : p[t];
    return sum;
}

/* The layer's probabilities over n keys are in p. What a sink takes is left out: shares are of the keys'
 * part. */
static void take_layer(struct keys_measurer *m, int layer, int n)
{
    size_t stride = (size_t)m->stride;
    char *best = m->best + (size_t)layer * stride;
    memset(m->mean, 0, (size_t)n * sizeof *m->mean);
    for (int h = 0; h < m->n_q; h++) {
        const double *p = m->p + (size_t)h * stride;
        double all = sum_over(p, NULL, n);
        m->share[(size_t)layer * (size_t)m->n_q + (size_t)h] += sum_of_best(m, p, n, NULL) / all;
        for (int t = 0; t < n; t++)
            m->mean[t] += p[t] / all;
    }
    double own = sum_of_best(m, m->mean, n, best);
    m->pooled[layer] += own / m->n_q;
    for (int a = 0; a <= layer; a++)
        m->alike[(size_t)a * (size_t)m->n_layers + (size_t)layer] +=
            sum_over(m->mean, m->best + (size_t)a * stride, n) / own;
    m->steps += layer == 0;
}

static void keys_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->want_stats = STATS_TOKENS;
}

static void keys_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    struct keys_measurer *m = pol->own;
    int n = probe_probabilities(c, m->logits, m->p, m->stride);
    if (!c->e->code && n > m->keys)
        take_layer(m, probe_layer_index(&pol->dims, layer), n);
}

static const struct policy_ops keys_probe = {.name = "probe_keys",
                                             .help = "",
                                             .params = probe_no_options,
                                             .budget_keys = "",
                                             .needs = POLICY_STATS,
                                             .init = keys_open,
                                             .release = keys_close,
                                             .select = keys_select,
                                             .observe = keys_observe};

int measure_keys(struct keys_measure *out, struct engine *en, const struct dev_set *d, int keys,
                 struct err *e)
{
    struct policy *p;
    int rc = probe_bind(&p, en, &keys_probe, e);
    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    struct keys_measurer *m = p->own;
    m->keys = keys;
    for (int i = 0; i < d->n && !rc; i++)
        rc = probe_replay(en, &d->problems[i], p, NULL, NULL, NULL, e);
    if (!rc && !m->steps)
        rc = err_set(e, ERR_USAGE,
                     "no context has more than %d keys, so the best ones would hold everything; use a "
                     "smaller --keys or "
                     "longer problems",
                     keys);
    if (rc)
        return rc;
    size_t layers = (size_t)m->n_layers, heads = layers * (size_t)m->n_q;
    struct layer_measure names;
    probe_layers(&names, &p->dims);
    *out = (struct keys_measure){.n_layers = m->n_layers,
                                 .n_q = m->n_q,
                                 .keys = keys,
                                 .number = names.number,
                                 .share = xcalloc(heads, sizeof *out->share),
                                 .pooled = xcalloc(layers, sizeof *out->pooled),
                                 .similarity = xcalloc(layers * layers, sizeof *out->similarity),
                                 .steps = m->steps};
    for (size_t i = 0; i < heads; i++)
        out->share[i] = m->share[i] / (double)m->steps;
    for (size_t i = 0; i < layers; i++)
        out->pooled[i] = m->pooled[i] / (double)m->steps;
    for (size_t i = 0; i < layers * layers; i++)
        out->similarity[i] = m->alike[i] / (double)m->steps;
    return 0;
}

void keys_measure_release(struct keys_measure *m)
{
    free(m->number);
    free(m->share);
    free(m->pooled);
    free(m->similarity);
    *m = (struct keys_measure){0};
}
