/* Accuracy against what it costs, over limits and widths, with the frontier of each policy (DMS, arXiv
 * 2506.05345, Figures 3 and 4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_frontier.h"
#include "evalcore/report/data/report_samples.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_parts.h"
#include "evalcore/report/report_series.h"

static double cost_of(const struct frontier_point *p, int axis)
{
    return axis == FRONTIER_READS ? p->reads : p->peak;
}

/* Is the point better than all that cost the policy no more? */
static int is_on_frontier(const struct report *r, const struct frontier *f, int i, int axis)
{
    const struct frontier_point *p = &f->points[i];
    const char *policy = r->cells[p->cell].cell->policy;
    for (int k = 0; k < f->n; k++) {
        const struct frontier_point *q = &f->points[k];
        double d = cost_of(q, axis) - cost_of(p, axis);
        if (k == i || strcmp(r->cells[q->cell].cell->policy, policy) != 0 || d > 0)
            continue;
        if (q->accuracy > p->accuracy || (q->accuracy >= p->accuracy && (d < 0 || k < i)))
            return 0;
    }
    return 1;
}

static const char *tip_of(const struct report *r, const struct frontier_point *p)
{
    const struct cell *c = r->cells[p->cell].cell;
    return arena_printf(r->arena,
                        "%s, %s\nat most %d tokens, %s of %d\naccuracy %s\n%s%.4g reads a problem, "
                        "lists and scans\n%s%.0f tokens in the cache",
                        c->policy_label, c->task->label, p->limit,
                        p->width == 1              ? "mean"
                        : report_can_vote(c->task) ? "majority"
                                                   : "any",
                        p->width > 1 ? p->width : c->samples, report_percent(r->arena, p->accuracy, p->ci),
                        p->is_bound ? "at most " : "", p->reads, p->is_bound ? "at most " : "", p->peak);
}

static int compare_points(const void *a, const void *b)
{
    double x = ((const struct svg_point *)a)->x, y = ((const struct svg_point *)b)->x;
    return x < y ? -1 : x > y;
}

/* The points of one policy, and the line over its frontier. */
static void add_policy(struct series_set *set, const struct frontier *f, const char *policy, int axis)
{
    const struct report *r = set->report;
    size_t n = 0, n_front = 0;
    struct svg_point *all = arena_alloc(r->arena, ((size_t)f->n + 1) * sizeof *all);
    struct svg_point *front = arena_alloc(r->arena, ((size_t)f->n + 1) * sizeof *front);
    for (int i = 0; i < f->n; i++) {
        const struct frontier_point *p = &f->points[i];
        const struct cell *c = r->cells[p->cell].cell;
        if (strcmp(c->policy, policy) != 0)
            continue;
        int is_front = is_on_frontier(r, f, i, axis);
        all[n++] = (struct svg_point){.x = cost_of(p, axis),
                                      .y = p->accuracy,
                                      .low = is_front ? p->ci.low : NAN,
                                      .high = is_front ? p->ci.high : NAN,
                                      .cell = c->id,
                                      .tip = tip_of(r, p),
                                      .label = is_front ? p->label : NULL};
        if (is_front)
            front[n_front++] = all[n - 1];
    }
    qsort(front, n_front, sizeof *front, compare_points);
    struct svg_series *line = series_add(set, NULL, policy, SVG_LINE);
    line->points = front;
    line->n = n_front;
    line->marker = SVG_NONE;
    struct svg_series *points = series_add(set, report_series_name(r, policy), policy, SVG_POINTS);
    points->points = all;
    points->n = n;
}

int report_has_frontier(const struct report *r, int panel)
{
    int n = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        n += report_is_shown(r, i, panel) && isfinite(r->cells[i].total_density) &&
             !r->cells[i].cell->task->is_text;
    return n > 1;
}

static void draw_frontier(struct doc *d, const struct report *r, int panel, const struct report_figure *f,
                          struct svg_chart chart, int axis)
{
    struct frontier points = r->frontiers[panel];
    struct series_set set = series_begin(r);
    int has_bounds = 0;
    for (int i = 0; i < points.n; i++) {
        const char *policy = r->cells[points.points[i].cell].cell->policy;
        int seen = 0;
        has_bounds |= points.points[i].is_bound;
        for (int k = 0; k < i && !seen; k++)
            seen = !strcmp(r->cells[points.points[k].cell].cell->policy, policy);
        if (!seen)
            add_policy(&set, &points, policy, axis);
    }
    chart.y = (struct svg_axis){"accuracy", 0, 1, 0, 1};
    series_draw(
        d, &set, chart, panel, f,
        arena_printf(d->arena,
                     "L-W-B: longest completion, completions that vote, budget (1: all). Lines join the "
                     "best of each policy; the more settings a policy has, the luckier its best one.%s",
                     has_bounds ? " A shorter L is cut from the longer completions, and stands at the most "
                                  "that it can have cost: no curve of their reads was kept, or too many "
                                  "would have to be read."
                                : ""));
}

void report_draw_frontier_reads(struct doc *d, const struct report *r, int panel,
                                const struct report_figure *f)
{
    draw_frontier(
        d, r, panel, f,
        (struct svg_chart){.id = "frontier-reads",
                           .desc = "Accuracy with 95 % intervals against total KV reads of a problem, over "
                                   "settings, limits and widths, with a line over the best of each policy.",
                           .x = {"total KV reads a problem, tokens", NAN, NAN, 1, 0}},
        FRONTIER_READS);
}

void report_draw_frontier_peak(struct doc *d, const struct report *r, int panel,
                               const struct report_figure *f)
{
    draw_frontier(d, r, panel, f,
                  (struct svg_chart){
                      .id = "frontier-peak",
                      .desc = "Accuracy with 95 % intervals against the most tokens held in the cache, over "
                              "settings, limits and widths, with a line over the best of each policy.",
                      .x = {"most tokens in the cache", NAN, NAN, 1, 0}},
                  FRONTIER_PEAK);
}

/* ---- How far each policy's frontier lies above that of the baseline's policy, as in DMS (arXiv 2506.05345),
 * Tables 5 and 6: the mean difference in accuracy over the costs that both span. A frontier is made of maxima
 * of noisy points, so the interval comes from drawing the problems anew and finding the frontiers anew. */

enum { REPLICATES = 500 };

struct contest {
    const struct report *r;
    const struct frontier *f;
    const char *policy[2]; /* the one and the baseline's */
    int axis;
    const int *problem; /* those that every point has answered */
    size_t n_problems;
};

static const char *policy_at_point(const struct report *r, const struct frontier_point *p)
{
    return r->cells[p->cell].cell->policy;
}

static double mean_over(const double *by, const int *problem, const unsigned *pick, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += by[problem[pick[i]]];
    return sum / (double)n;
}

static size_t frontier_of(const struct contest *c, int side, const unsigned *pick, size_t n,
                          struct stat_point *out)
{
    size_t m = 0;
    for (int i = 0; i < c->f->n; i++) {
        const struct frontier_point *p = &c->f->points[i];
        if (!strcmp(policy_at_point(c->r, p), c->policy[side]))
            out[m++] = (struct stat_point){mean_over(p->by[c->axis], c->problem, pick, n),
                                           mean_over(p->by[FRONTIER_ACCURACY], c->problem, pick, n)};
    }
    return stat_frontier(out, m);
}

static double frontier_margin(const void *data, const unsigned *pick, size_t n)
{
    const struct contest *c = data;
    struct stat_point *points = xmalloc(2 * (size_t)(c->f->n + 1) * sizeof *points);
    size_t n_a = frontier_of(c, 0, pick, n, points);
    struct stat_point *base = points + n_a;
    size_t n_b = frontier_of(c, 1, pick, n, base);
    double out = stat_frontier_margin(points, n_a, base, n_b);
    free(points);
    return out;
}

static size_t shared_problems(const struct frontier *f, int *problem)
{
    size_t n = 0;
    for (int q = 0; q < f->n_problems; q++) {
        int everywhere = 1;
        for (int i = 0; i < f->n && everywhere; i++)
            everywhere = !isnan(f->points[i].by[FRONTIER_ACCURACY][q]);
        if (everywhere)
            problem[n++] = q;
    }
    return n;
}

static void add_margin(struct doc *d, struct table *t, const struct contest *c)
{
    unsigned *all = xmalloc((c->n_problems + 1) * sizeof *all);
    for (size_t i = 0; i < c->n_problems; i++)
        all[i] = (unsigned)i;
    double v = c->n_problems ? frontier_margin(c, all, c->n_problems) : NAN;
    struct interval ci = stat_bootstrap(frontier_margin, c, c->n_problems, REPLICATES, 1);
    free(all);
    if (isnan(v))
        table_add(d, t, CELL_MUTED, "no common costs");
    else if (isnan(ci.low) || !(ci.high > ci.low)) /* draws that are all alike say nothing */
        table_add(d, t, 0, "%+.1f", 100 * v);
    else
        table_add(d, t, 0, "%+.1f [%+.1f, %+.1f]", 100 * v, 100 * ci.low, 100 * ci.high);
}

static const char *baseline_policy(const struct report *r, const struct frontier *f)
{
    for (int i = 0; i < f->n; i++)
        if (r->cells[f->points[i].cell].cell->is_baseline)
            return policy_at_point(r, &f->points[i]);
    return NULL;
}

/* Has the baseline more than one limit or width? A single point has no frontier to compare with. */
static int has_margins(const struct report *r, int panel)
{
    if (!report_has_frontier(r, panel))
        return 0;
    struct frontier f = r->frontiers[panel];
    const char *base = baseline_policy(r, &f);
    int n = 0;
    for (int i = 0; base && i < f.n; i++)
        n += !strcmp(policy_at_point(r, &f.points[i]), base);
    return n > 1;
}

static void add_panel(struct doc *d, const struct report *r, int panel, struct table *t)
{
    struct frontier f = r->frontiers[panel];
    int *problem = arena_alloc(d->arena, ((size_t)f.n_problems + 1) * sizeof *problem);
    struct contest c = {.r = r, .f = &f, .problem = problem, .n_problems = shared_problems(&f, problem)};
    c.policy[1] = baseline_policy(r, &f);
    table_group(d, t, r->panels[panel].title);
    for (int i = 0; i < f.n; i++) {
        c.policy[0] = policy_at_point(r, &f.points[i]);
        int seen = !strcmp(c.policy[0], c.policy[1]);
        for (int k = 0; k < i && !seen; k++)
            seen = !strcmp(c.policy[0], policy_at_point(r, &f.points[k]));
        if (seen)
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", c.policy[0]);
        c.axis = FRONTIER_READS;
        add_margin(d, t, &c);
        c.axis = FRONTIER_PEAK;
        add_margin(d, t, &c);
    }
}

void report_add_margins(struct doc *d, const struct report *r)
{
    static const struct table_column columns[] = {
        {"policy", 0}, {"at equal total reads", CELL_NUMBER}, {"at equal memory", CELL_NUMBER}};
    int n = 0;
    for (int panel = 0; panel < r->n_panels; panel++)
        n += has_margins(r, panel);
    if (!n)
        return;
    struct table *t = doc_table(
        d,
        "Frontier margins: points of accuracy by which the best of a policy lie above the best of the "
        "baseline's, mean over the costs that both span (DMS, Tables 5 and 6), with 95 % intervals from 500 "
        "draws of the problems. A policy with more settings has the higher frontier by chance alone.");
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int panel = 0; panel < r->n_panels; panel++)
        if (has_margins(r, panel))
            add_panel(d, r, panel, t);
}
