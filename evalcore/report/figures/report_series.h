#ifndef EVALCORE_REPORT_FIGURES_REPORT_SERIES_H
#define EVALCORE_REPORT_FIGURES_REPORT_SERIES_H

#include "evalcore/report/figures/report_figures.h"
#include "evalcore/page/svg.h"

/* The curves and point sets of one figure. A policy has the same colour in every figure and every report:
 * that of its place among the registered policies. Policies that this program does not know come behind them,
 * in the order in which the run has them. Everything lives in the report's arena. */
struct series_set {
    const struct report *report;
    struct svg_series *s;
    const char **policy; /* registered name, by series */
    struct svg_point *points;
    size_t n, n_points;
};

/* Empty, with capacity for one series and one point per cell of the run. */
struct series_set series_begin(const struct report *r);
enum svg_colour series_colour(const struct report *r, const char *policy);
/* A new series without points; later series of the same policy and kind are dashed. */
struct svg_series *series_add(struct series_set *set, const char *name, const char *policy,
                              enum svg_kind kind);
/* The cell's accuracy with its interval at x, as the next point of `s`, the series added last. */
void series_add_point(struct series_set *set, struct svg_series *s, double x, const struct cell_stats *c);
/* Draws the set as the figure `f` of a panel. The caller fills in the chart's id, description and axes; the
 * panel's name is put behind its id. `note` is the caption. */
void series_draw(struct doc *d, const struct series_set *set, struct svg_chart chart, int panel,
                 const struct report_figure *f, const char *note);

#endif
