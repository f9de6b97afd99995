/* Accuracy against cost over limits and widths (contract: report_frontier.h). */
#include "evalcore/report/data/report_frontier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_budget.h"
#include "evalcore/report/data/report_samples.h"
#include "evalcore/store/curve_json.h"

/* ---- Costs under a smaller limit.
 *
 * Between two points of a curve reads are put on a straight line, and the peak at the next point's, which it
 * cannot have exceeded. Where there is no curve both are put at the most that they can have been: all that
 * the completion read, and at most what full attention reads in its first L steps, which is exact for full
 * attention. A policy that forgets nothing and reads a fixed budget, a share of the context or all of it
 * never reads less in a later step than in an earlier one (but for the part of a page), so there the first
 * steps took at most their share. What forgets may begin with the whole prompt, and a share of the attention
 * mass may be any number of tokens. A sparse policy never looks cheaper than it was. */

/* Each completion's curve is a line fetched from its journal; beyond this number a report would take too
 * long. */
enum { CURVES_MAX = 20000 };

static struct cost cost_of(const struct record *r)
{
    /* 0: it ended with the prompt's pass, and no step's end was counted. */
    double peak = r->kv.peak_tokens == 0 ? r->prompt_tokens : r->kv.peak_tokens;
    return (struct cost){r->kv.reads + r->kv.aux_reads, peak};
}

static int reads_may_fall(const struct cell *c)
{
    struct arena a = {0};
    struct cell_budget b = report_budget_read(c, &a);
    int may = b.unknown || policy_needs(&b.spec) & POLICY_DROP ||
              isnan(report_budget_tokens(&b, 1e6, 1, 1e6).tokens);
    arena_release(&a);
    return may;
}

static struct cost cost_bound(const struct cell *c, const struct record *r, int limit, int may_fall)
{
    double steps = report_decode_steps(c, r), taken = limit - 1;
    if (steps <= taken || isnan(r->kv.reads)) /* not counted: nothing is known of less either */
        return cost_of(r);
    double share = may_fall ? 1 : taken / steps, full = run_own_reads(c, r->prompt_tokens, taken);
    /* Page bounds are held besides the tokens, as many per token at any length. */
    double besides = fmax(1, r->kv.peak_tokens / ((double)r->prompt_tokens + r->tokens));
    return (struct cost){fmin(r->kv.reads * share, full) + r->kv.aux_reads * share,
                         fmin(r->kv.peak_tokens, ((double)r->prompt_tokens + limit) * besides)};
}

/* After point i; before the first one nothing is read and the prompt is held, after the last one the
 * completion ends. */
static struct cost at_point(const struct record *r, const struct kv_curve *c, int i, double *tokens)
{
    if (i < 0) {
        *tokens = 1; /* the prompt's own step gives the first token */
        return (struct cost){0, r->prompt_tokens};
    }
    if (i >= c->n) {
        *tokens = r->tokens;
        return cost_of(r);
    }
    const struct kv_point *p = &c->point[i];
    *tokens = (double)(i + 1) * c->every;
    return (struct cost){((double)p->reads + p->aux) / c->heads, (double)p->peak / c->heads};
}

static struct cost cost_along_curve(const struct record *r, const struct kv_curve *c, int limit)
{
    double from, to;
    int before = limit / c->every - 1;
    before = before < c->n ? before : c->n - 1;
    struct cost a = at_point(r, c, before, &from), b = at_point(r, c, before + 1, &to);
    double share = to > from ? fmin(fmax((limit - from) / (to - from), 0), 1) : 0;
    return (struct cost){a.reads + share * (b.reads - a.reads), share > 0 ? b.peak : a.peak};
}

/* The costs of the cell's records under the limit, into out (n_records). Returns 1 when some of them are
 * bounds, since their completion was cut and has no curve, or the run has too many completions for all curves
 * to be read; else 0. */
static int costs_under(const struct report *r, const struct cell_stats *s, int limit, struct cost *out)
{
    const struct cell *c = s->cell;
    int are_bounds = 0, may_fall = reads_may_fall(c), may_read = r->run->n_done <= CURVES_MAX;
#pragma omp parallel for schedule(dynamic, 16) reduction(| : are_bounds)
    for (int i = 0; i < c->n_records; i++) {
        struct record rec = c->records[i];
        struct kv_curve curve = {0};
        struct err e = {0};
        if (s->is_bound)
            rec.kv.aux_reads = 0;
        if (rec.tokens <= limit) {
            out[i] = cost_of(&rec);
        } else if (may_read && !run_curve(r->run, &rec, &curve, &e) && curve.every) {
            for (int k = 0; s->is_bound && k < curve.n; k++)
                curve.point[k].aux = 0;
            out[i] = cost_along_curve(&rec, &curve, limit);
        } else {
            out[i] = cost_bound(c, &rec, limit, may_fall);
            are_bounds = 1;
        }
        curve_json_release(&curve);
    }
    return are_bounds;
}

/* ---- The points of a panel. */

enum { LIMITS = 3, WIDTHS_MAX = 12 };

static int is_binary(const struct cell *c)
{
    return !strcmp(c->task->metric, "accuracy");
}

/* answer: NULL where answers cannot vote. */
static double accuracy_within(const struct record *first, const int *answer, int n, int limit, int width)
{
    if (width > 1 && !answer)
        return votes_any(first, n, limit, width);
    if (width > 1)
        return votes_majority(first, answer, n, limit, width);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += first[i].tokens <= limit ? first[i].score : 0;
    return sum / n;
}

static double mean_of(const double *v, int n)
{
    double sum = 0;
    int m = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) {
            sum += v[i];
            m++;
        }
    return m ? sum / m : NAN;
}

static struct interval interval_of(const double *v, int n, int is_single)
{
    double *sum = xmalloc(((size_t)n + 1) * sizeof *sum);
    long *count = xmalloc(((size_t)n + 1) * sizeof *count);
    size_t m = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) {
            sum[m] = v[i];
            count[m++] = 1;
        }
    struct interval out = stat_clustered(sum, count, m, is_single);
    free(sum);
    free(count);
    return out;
}

/* values: for by[] of the point, n problems three times. */
static void fill_point(struct frontier_point *p, const struct cell_stats *s, double *values)
{
    const struct cell *c = s->cell;
    int n = c->task->n_problems, at = 0;
    double *by[3];
    for (int k = 0; k < 3; k++) {
        p->by[k] = by[k] = values + (size_t)k * (size_t)n;
        for (int q = 0; q < n; q++)
            by[k][q] = NAN;
    }
    while (at < c->n_records) {
        const struct record *first = &c->records[at];
        const int *answer = s->answer ? s->answer + at : NULL;
        int m = 0, n_costs = 0, q = first->problem;
        double reads = 0, peak = 0;
        for (; at < c->n_records && c->records[at].problem == q; at++, m++) {
            if (c->records[at].finish == FINISHED_ERROR) /* failing makes no policy cheaper */
                continue;
            n_costs++;
            reads += p->cost[at].reads;
            peak += p->cost[at].peak;
        }
        if (m < c->samples)
            continue;
        by[FRONTIER_ACCURACY][q] = accuracy_within(first, answer, m, p->limit, p->width);
        by[FRONTIER_READS][q] = n_costs ? p->width * reads / n_costs : NAN;
        by[FRONTIER_PEAK][q] = n_costs ? p->width * peak / n_costs : NAN;
    }
    p->accuracy = mean_of(by[FRONTIER_ACCURACY], n);
    p->reads = mean_of(by[FRONTIER_READS], n);
    p->peak = mean_of(by[FRONTIER_PEAK], n);
    p->ci = interval_of(by[FRONTIER_ACCURACY], n, is_binary(c) && c->samples == 1);
}

/* "quest k_pages=8" gives "8", several options "8/2". */
static const char *budget_values(struct arena *a, const struct cell *c)
{
    struct str out = {0};
    for (const char *at = c->policy_label; (at = strchr(at, '=')) != NULL; at++)
        str_printf(&out, "%s%.*s", out.len ? "/" : "", (int)strcspn(at + 1, " "), at + 1);
    const char *text = out.len ? arena_strdup(a, out.data) : c->budget[0] ? c->budget : "1";
    str_release(&out);
    return text;
}

static const char *label_of(struct arena *a, const struct cell *c, int limit, int width)
{
    const char *values = budget_values(a, c);
    if (limit < 1000)
        return arena_printf(a, "%d-%d-%s", limit, width, values);
    double thousands = limit % 1024 ? limit / 1000.0 : limit / 1024.0;
    return arena_printf(a, "%.3gk-%d-%s", thousands, width, values);
}

static int is_cut_by(const struct cell *c, int limit)
{
    for (int i = 0; i < c->n_records; i++)
        if (c->records[i].tokens > limit)
            return 1;
    return 0;
}

static int list_widths(const struct cell *c, int *widths)
{
    int n = 0;
    widths[n++] = 1;
    if (c->temperature > 0 && is_binary(c))
        for (int w = 4; w <= c->samples && n < WIDTHS_MAX; w *= 2)
            widths[n++] = w;
    return n;
}

static void list_points(struct frontier *out, const struct report *r, int i)
{
    const struct cell *c = r->cells[i].cell;
    int widths[WIDTHS_MAX], n_widths = list_widths(c, widths);
    for (int k = 0; k < LIMITS; k++) {
        int limit = c->max_new_tokens >> k;
        if (k && (r->cells[i].needs_limit || !is_binary(c) || limit < 2))
            break;
        if (k && !is_cut_by(c, limit))
            continue;
        struct cost *cost = arena_alloc(r->arena, ((size_t)c->n_records + 1) * sizeof *cost);
        int are_bounds = costs_under(r, &r->cells[i], limit, cost);
        for (int w = 0; w < n_widths; w++)
            out->points[out->n++] = (struct frontier_point){.cell = i,
                                                            .limit = limit,
                                                            .width = widths[w],
                                                            .is_bound = are_bounds && r->cells[i].has_budget,
                                                            .cost = cost,
                                                            .label = label_of(r->arena, c, limit, widths[w])};
    }
}

/* A limit under which nothing is solved says nothing about the policy. */
static int says_something(const struct report *r, const struct frontier_point *p)
{
    return !isnan(p->accuracy) && (p->limit == r->cells[p->cell].cell->max_new_tokens || p->accuracy > 0);
}

static void fill_points(struct frontier *f, const struct report *r)
{
    size_t capacity = 3 * (size_t)f->n_problems;
    double *values = arena_alloc(r->arena, ((size_t)f->n * capacity + 1) * sizeof *values);
    int n = f->n;
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < n; i++)
        fill_point(&f->points[i], &r->cells[f->points[i].cell], values + (size_t)i * capacity);
    f->n = 0;
    for (int i = 0; i < n; i++)
        if (says_something(r, &f->points[i]))
            f->points[f->n++] = f->points[i];
}

struct frontier report_frontier(const struct report *r, int panel)
{
    struct frontier out = {.n_problems = r->panels[panel].task->n_problems};
    size_t n_cells = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        n_cells += r->cells[i].panel == panel;
    out.points = arena_alloc(r->arena, (n_cells * LIMITS * WIDTHS_MAX + 1) * sizeof *out.points);
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].panel == panel && r->cells[i].cell->n_records && !r->cells[i].cell->task->is_text &&
            r->cells[i].cell->task->n_problems == out.n_problems && !isnan(r->cells[i].total_density))
            list_points(&out, r, i);
    fill_points(&out, r);
    return out;
}

const struct frontier *report_frontiers(const struct report *r)
{
    struct frontier *f = arena_alloc(r->arena, ((size_t)r->n_panels + 1) * sizeof *f);
    for (int panel = 0; panel < r->n_panels; panel++)
        f[panel] = report_frontier(r, panel);
    return f;
}
