/* How alike the attention of neighbouring layers is, and how much of a layer's attention the pages that
 * another chooses hold, for DELTA's refresh layers (contract: calibration.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/calibration/probe_policy.h"

struct delta_measurer {
    int n_layers, n_q, stride, pages, k_pages, l_pages; /* layers: those with full attention, here by index */
    float *logits;
    double *p, *before;      /* (n_q, stride): probabilities of it and of the layer below */
    double *page;            /* (n_layers, pages): its mass, the largest over the heads */
    char *kept;              /* (n_layers, pages): chosen */
    double *distance, *held; /* (n_layers), (n_layers, n_layers): sums over steps */
    long steps, chosen;      /* steps; those with more pages than a layer chooses */
};

static int delta_open(struct policy *pol, struct err *e)
{
    struct delta_measurer *m = pol->own = xcalloc(1, sizeof *m);
    size_t n_q = (size_t)pol->dims.n_q;
    (void)e;
    m->n_layers = probe_layer_index(&pol->dims, pol->dims.n_layers);
    size_t layers = (size_t)m->n_layers;
    m->n_q = pol->dims.n_q;
    m->pages = pol->dims.max_pages;
    m->stride = m->pages * KV_PAGE_TOKENS;
    m->logits = xmalloc((size_t)m->stride * sizeof *m->logits);
    m->p = xcalloc(n_q * (size_t)m->stride, sizeof *m->p);
    m->before = xcalloc(n_q * (size_t)m->stride, sizeof *m->before);
    m->page = xcalloc(layers * (size_t)m->pages, sizeof *m->page);
    m->kept = xcalloc(layers, (size_t)m->pages);
    m->distance = xcalloc(layers, sizeof *m->distance);
    m->held = xcalloc(layers * layers, sizeof *m->held);
    return 0;
}

static void delta_close(struct policy *pol)
{
    struct delta_measurer *m = pol->own;
    void *all[] = {m->logits, m->p, m->before, m->page, m->kept, m->distance, m->held, m};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static double cosine_distance(const struct delta_measurer *m, int n)
{
    double xy = 0, xx = 0, yy = 0;
    for (int h = 0; h < m->n_q; h++) {
        const double *x = m->before + (size_t)h * (size_t)m->stride,
                     *y = m->p + (size_t)h * (size_t)m->stride;
        for (int t = 0; t < n; t++) {
            xy += x[t] * y[t];
            xx += x[t] * x[t];
            yy += y[t] * y[t];
        }
    }
    return 1 - xy / sqrt(xx * yy);
}

/* The pages that the layer would choose: the last l, and the k - l best of the others; where scores are
 * equal, the lower index. */
static void choose_pages(const struct delta_measurer *m, int layer, int pages)
{
    const double *mass = m->page + (size_t)layer * (size_t)m->pages;
    char *kept = m->kept + (size_t)layer * (size_t)m->pages;
    int old = pages - m->l_pages;
    memset(kept, pages <= m->k_pages, (size_t)pages);
    if (pages <= m->k_pages)
        return;
    memset(kept + old, 1, (size_t)m->l_pages);
    for (int k = 0; k < m->k_pages - m->l_pages; k++) {
        int best = -1;
        for (int u = 0; u < old; u++)
            if (!kept[u] && (best < 0 || mass[u] > mass[best]))
                best = u;
        kept[best] = 1;
    }
}

/* The layer's probabilities over n tokens are in p. */
static void take_layer(struct delta_measurer *m, int layer, int n)
{
    int pages = kv_pages(n);
    double *page = m->page + (size_t)layer * (size_t)m->pages;
    if (layer)
        m->distance[layer] += cosine_distance(m, n);
    for (int u = 0; u < pages; u++)
        page[u] = 0;
    for (int t = 0; t < n; t++) {
        double max = 0;
        for (int h = 0; h < m->n_q; h++)
            max = fmax(max, m->p[(size_t)h * (size_t)m->stride + (size_t)t]);
        page[t / KV_PAGE_TOKENS] += max;
    }
    choose_pages(m, layer, pages);
    for (int a = 0; a <= layer; a++) {
        double all = 0, held = 0;
        for (int u = 0; u < pages; u++) {
            all += page[u];
            held += m->kept[(size_t)a * (size_t)m->pages + (size_t)u] ? page[u] : 0;
        }
        m->held[(size_t)a * (size_t)m->n_layers + (size_t)layer] += held / all;
    }
    m->steps += layer == 0;
    m->chosen += layer == 0 && pages > m->k_pages;
}

static void delta_select(const struct policy *pol, const struct policy_ctx *c, int layer, struct selection *s)
{
    (void)pol, (void)c, (void)layer;
    s->want_stats = STATS_TOKENS;
}

static void delta_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    struct delta_measurer *m = pol->own;
    double *swap = m->before;
    m->before = m->p;
    m->p = swap;
    int n = probe_probabilities(c, m->logits, m->p, m->stride);
    if (!c->e->code)
        take_layer(m, probe_layer_index(&pol->dims, layer), n);
}

static const struct policy_ops delta_probe = {.name = "calibrate_delta",
                                              .help = "",
                                              .params = probe_no_options,
                                              .budget_keys = "",
                                              .needs = POLICY_STATS,
                                              .init = delta_open,
                                              .release = delta_close,
                                              .select = delta_select,
                                              .observe = delta_observe};

/* The curves of single tasks: sums of distances and steps, in the order in which the tasks come. */
struct task_sums {
    const char *task;
    double *distance; /* (n_layers) */
    long steps;
};

static struct task_sums *sums_of(struct task_sums *all, int *n, const char *task, size_t layers)
{
    for (int i = 0; i < *n; i++)
        if (!strcmp(all[i].task, task))
            return &all[i];
    all[*n] = (struct task_sums){task, xcalloc(layers, sizeof *all->distance), 0};
    return &all[(*n)++];
}

/* Replays all problems; what each adds to the sums is also put down for its task. */
static int replay_tasks(struct task_sums *tasks, int *n_tasks, struct engine *en, const struct dev_set *d,
                        struct policy *p, struct err *e)
{
    struct delta_measurer *m = p->own;
    size_t layers = (size_t)m->n_layers;
    double *before = xcalloc(layers, sizeof *before);
    int rc = 0;
    for (int i = 0; i < d->n && !rc; i++) {
        long steps = m->steps;
        memcpy(before, m->distance, layers * sizeof *before);
        rc = probe_replay(en, &d->problems[i], p, NULL, NULL, NULL, e);
        struct task_sums *t = sums_of(tasks, n_tasks, d->problems[i].task, layers);
        for (size_t l = 0; l < layers; l++)
            t->distance[l] += m->distance[l] - before[l];
        t->steps += m->steps - steps;
    }
    free(before);
    return rc;
}

/* The means of tasks that have steps; of one task the whole curve is it. */
static void put_tasks(struct layer_measure *out, struct task_sums *tasks, int n)
{
    out->by_task = n > 1 ? xcalloc((size_t)n, sizeof *out->by_task) : NULL;
    for (int i = 0; i < n; i++) {
        for (int l = 0; l < out->n_layers; l++)
            tasks[i].distance[l] /= (double)tasks[i].steps;
        if (n > 1 && tasks[i].steps)
            out->by_task[out->n_tasks++] = (struct task_curve){tasks[i].task, tasks[i].distance};
        else
            free(tasks[i].distance);
    }
}

int measure_delta(struct layer_measure *out, struct engine *en, const struct dev_set *d, int k_pages,
                  int l_pages, struct err *e)
{
    struct policy *p;
    int rc = probe_bind(&p, en, &delta_probe, e);
    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    struct delta_measurer *m = p->own;
    size_t layers = (size_t)m->n_layers;
    m->k_pages = k_pages;
    m->l_pages = l_pages;
    struct task_sums *tasks = xcalloc((size_t)d->n + 1, sizeof *tasks);
    int n_tasks = 0;
    rc = replay_tasks(tasks, &n_tasks, en, d, p, e);
    if (!rc && !m->steps)
        rc = err_set(e, ERR_USAGE, "the completions have no tokens to calibrate on");
    if (!rc && !m->chosen)
        rc = err_set(
            e, ERR_USAGE,
            "no context has more than %d pages of %d tokens, so every layer would choose everything; use "
            "a smaller --k-pages or longer problems",
            k_pages, KV_PAGE_TOKENS);
    if (rc) {
        for (int i = 0; i < n_tasks; i++)
            free(tasks[i].distance);
        free(tasks);
        return rc;
    }
    probe_layers(out, &p->dims);
    put_tasks(out, tasks, n_tasks);
    free(tasks);
    out->samples = m->steps;
    out->similarity = xcalloc(layers * layers, sizeof *out->similarity);
    out->curve = xcalloc(layers, sizeof *out->curve);
    for (size_t i = 0; i < layers; i++)
        out->curve[i] = m->distance[i] / (double)m->steps;
    for (size_t i = 0; i < layers * layers; i++)
        out->similarity[i] = m->held[i] / (double)m->steps;
    return 0;
}
