#ifndef EVALCORE_REPORT_FIGURES_REPORT_SERIES_H
#define EVALCORE_REPORT_FIGURES_REPORT_SERIES_H

#include "evalcore/report/report_figures.h"
#include "evalcore/page/svg.h"

/* The curves and point sets of one figure. A policy has the same colour in every figure and every report:
 * that of its place among the registered policies. Policies that this program does not know come behind them,
 * in the order in which the run has them. Everything lives in the report's arena, and nothing here fails. */
struct series_set {
    const struct report *report;
    struct svg_series *s;
    const char **policy; /* registered name, by series */
    struct svg_point *points;
    size_t n, n_points;
};

/* An empty set with room for 2 n + 1 series and as many points, for the n cells of the run: the sums of what
 * series_add() and series_add_point() may add. */
struct series_set series_begin(const struct report *r);
/* The colour of a policy, by its registered name. */
enum svg_colour series_colour(const struct report *r, const char *policy);
/* Adds a series without points to the set and returns it; it belongs to the set. name: in the legend,
 * borrowed, NULL for none; policy: its registered name, borrowed. Later named series of the same policy and
 * kind are dashed. */
struct svg_series *series_add(struct series_set *set, const char *name, const char *policy,
                              enum svg_kind kind);
/* The cell's accuracy with its interval at x, as the next point of `s`, the series added last. */
void series_add_point(struct series_set *set, struct svg_series *s, double x, const struct cell_stats *c);
/* Draws the set as the figure `f` of a panel and adds it to the last section of d. The caller fills in the
 * chart's id, description and axes; the panel's slug is put behind its id. `note` is the caption. */
void series_draw(struct doc *d, const struct series_set *set, struct svg_chart chart, int panel,
                 const struct report_figure *f, const char *note);

#endif
