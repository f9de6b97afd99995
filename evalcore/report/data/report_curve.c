/* Compression by position and by head (contract: report_curve.h). Both are ratios of sums: of the tokens held
 * to those that the model itself holds of the contexts, since what layers with windows drop is no policy's
 * merit. */
#include "evalcore/report/data/report_curve.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_budget.h"
#include "evalcore/store/curve_json.h"

static int holds_less(const struct cell *c)
{
    for (int i = 0; i < c->n_records; i++) {
        const struct record *rec = &c->records[i];
        /* the last token is sampled and never stored */
        if (rec->finish != FINISHED_ERROR && rec->tokens > 1 &&
            rec->kv.peak_tokens < run_own_tokens(c, (double)rec->prompt_tokens + rec->tokens - 1))
            return 1;
    }
    return 0;
}

int report_forgets(const struct cell *c)
{
    struct arena a = {0};
    struct cell_budget b = report_budget_read(c, &a);
    int drops = b.unknown || (policy_needs(&b.spec) & POLICY_DROP);
    arena_release(&a);
    return drops && holds_less(c);
}

/* Sums over completions. */
struct sums {
    int every, cap, layers, heads, completions, n_by_head;
    double *context, *live, *own; /* by point */
    int *n;
    double *ends, *by_head; /* by layer what the model itself held at the end, and by head what was held */
};

static void grow_sums(struct sums *s, int n)
{
    if (n <= s->cap)
        return;
    s->context = xrealloc(s->context, (size_t)n * sizeof *s->context);
    s->live = xrealloc(s->live, (size_t)n * sizeof *s->live);
    s->own = xrealloc(s->own, (size_t)n * sizeof *s->own);
    s->n = xrealloc(s->n, (size_t)n * sizeof *s->n);
    for (; s->cap < n; s->cap++)
        s->context[s->cap] = s->live[s->cap] = s->own[s->cap] = s->n[s->cap] = 0;
}

static void add_heads(struct sums *s, const struct cell *cell, const struct record *rec,
                      const struct kv_curve *c)
{
    double context = rec->prompt_tokens + report_decode_steps(cell, rec);
    if (!c->by_head)
        return;
    if (!s->by_head) {
        s->by_head = xcalloc((size_t)c->heads, sizeof *s->by_head);
        s->ends = xcalloc((size_t)c->layers, sizeof *s->ends);
    }
    for (int h = 0; h < c->heads; h++)
        s->by_head[h] += c->by_head[h];
    for (int l = 0; l < c->layers; l++) {
        int w = l < cell->n_layers ? cell->windows[l] : 0;
        s->ends[l] += w && w < context ? w : context;
    }
    s->n_by_head++;
}

/* Completions of one cell have one limit, so their points are equally far apart, and one model. */
static void add_curve(struct sums *s, const struct cell *cell, const struct record *rec,
                      const struct kv_curve *c)
{
    if (!c->every || (s->heads && (c->every != s->every || c->heads != s->heads || c->layers != s->layers)))
        return;
    s->every = c->every;
    s->heads = c->heads;
    s->layers = c->layers;
    s->completions++;
    grow_sums(s, c->n);
    for (int i = 0; i < c->n; i++) {
        double context = rec->prompt_tokens + (double)(i + 1) * c->every - 1;
        s->context[i] += context;
        s->own[i] += run_own_tokens(cell, context);
        s->live[i] += (double)c->point[i].live / c->heads;
        s->n[i]++;
    }
    add_heads(s, cell, rec, c);
}

/* A curve costs a line fetched from its journal, and this number shows the mean well enough. */
enum { PROBLEMS_READ = 200 };

static int read_curves(const struct report *r, const struct cell *c, struct sums *s, struct err *e)
{
    struct kv_curve curve;
    for (int i = 0; i < c->n_records; i++) {
        const struct record *rec = &c->records[i];
        if (rec->problem >= PROBLEMS_READ)
            break;
        if (rec->sample || rec->finish == FINISHED_ERROR)
            continue;
        if (run_curve(r->run, rec, &curve, e))
            return e->code;
        add_curve(s, c, rec, &curve);
        curve_json_release(&curve);
    }
    return 0;
}

static void fill_points(struct arena *a, const struct sums *s, struct compression *out)
{
    *out = (struct compression){.layers = s->layers, .heads = s->heads, .completions = s->completions};
    out->point = arena_alloc(a, (size_t)(s->cap + 1) * sizeof *out->point);
    for (int i = 0; i < s->cap && s->n[i] > 0 && 10 * s->n[i] >= s->completions; i++)
        out->point[out->n++] = (struct compression_point){s->context[i] / s->n[i], s->live[i] / s->n[i],
                                                          s->own[i] / s->n[i], s->n[i]};
    if (!s->n_by_head)
        return;
    out->live = arena_alloc(a, (size_t)s->heads * sizeof *out->live);
    for (int h = 0; h < s->heads; h++)
        out->live[h] = s->by_head[h] / s->ends[h / (s->heads / s->layers)];
}

int report_compression(const struct report *r, const struct cell *c, struct compression *out, struct err *e)
{
    struct sums s = {0};
    memset(out, 0, sizeof *out);
    int rc = read_curves(r, c, &s, e);
    if (!rc)
        fill_points(r->arena, &s, out);
    free(s.context);
    free(s.live);
    free(s.own);
    free(s.ends);
    free(s.n);
    free(s.by_head);
    return rc;
}
