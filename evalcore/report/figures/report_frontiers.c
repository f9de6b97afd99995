/* Accuracy against what it costs, over limits and widths, with the frontier of each policy (DMS, arXiv
 * 2506.05345, Figures 3 and 4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_frontier.h"
#include "evalcore/report/figures/report_series.h"

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
                        c->policy_label, c->task->label, p->limit, p->width > 1 ? "majority" : "mean",
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
    struct svg_series *points = series_add(set, policy, policy, SVG_POINTS);
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
