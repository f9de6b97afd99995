#ifndef EVALCORE_PAGE_SVG_CHART_H
#define EVALCORE_PAGE_SVG_CHART_H

#include "evalcore/page/svg.h"

/* A chart that is being drawn, for the files svg_chart*.c. */
struct svg_scale {
    double low, high, from, to; /* range of values, and the range of positions in the picture */
    int is_log;
};
struct svg_plot {
    const struct svg_chart *c;
    struct svg_scale x, y;
    double left, right, top, bottom;
    int has_data;
};

/* Position of a value; values outside the range are put on its ends. */
double svg_place(const struct svg_scale *s, double v);
int svg_is_usable(const struct svg_chart *c, const struct svg_point *p);
const char *svg_dash_text(enum svg_dash d);
const char *svg_line_class(const struct svg_series *s);

/* All series of the kinds LINE and POINTS with their labels; one of STEP or QUANTILE. */
void svg_draw_points(struct str *out, const struct svg_plot *p);
void svg_draw_step(struct str *out, const struct svg_plot *p, const struct svg_series *s);

#endif
