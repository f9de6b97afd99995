#ifndef EVALCORE_PAGE_SVG_H
#define EVALCORE_PAGE_SVG_H

#include <stddef.h>

#include "evalcore/base/str.h"

/* Figures as SVG text. Each is one <svg> element with a
 * size of its own and a viewBox; it can be a file of its own, with its style, fonts' names and background, or
 * be put into a page that scales it. Sizes are chosen so that text stays readable when the figure is as wide
 * as a phone. Colours follow the reader's light or dark setting. The same input gives the same bytes.
 *
 * What stands for a cell of the run (a marker, a curve, a square, a bar) is a mark: <g class="mark"
 * data-cell="CELL" tabindex="0"><title>TIP</title>...</g>. The title is what browsers show as a tooltip, one
 * line each; a page's script finds the cell by data-cell. `cell` or `tip` NULL: without that part.
 *
 * Functions append to `out` and cannot fail. Strings are plain text, NUL-terminated; they are borrowed
 * during the call and escaped here, invalid UTF-8 included. Text that would not fit is shortened with an
 * ellipsis. `id` makes element ids unique within a page: letters, digits, '-', '_'. */

/* The palette: black and 16 colours that differ by at least 16 in CIELAB to any eye, with full sight and with
 * each of the three kinds of colour blindness, on a light and on a dark page; the first six differ most. Grey
 * and the pale one are for what belongs to no policy. */
enum svg_colour {
    SVG_BLACK,
    SVG_PINK,
    SVG_GOLD,
    SVG_GREEN,
    SVG_PURPLE,
    SVG_RED,
    SVG_OLIVE,
    SVG_WINE,
    SVG_ROSE,
    SVG_LILAC,
    SVG_MAGENTA,
    SVG_VIOLET,
    SVG_SKY,
    SVG_BLUE,
    SVG_NAVY,
    SVG_PLUM,
    SVG_MOSS,
    SVG_GREY,
    SVG_PALE,
    SVG_COLOURS,
    SVG_TOLD_APART = SVG_GREY /* how many of them, from the first */
};
/* The colour as "#rrggbb" on a light or a dark page; static. */
const char *svg_colour_text(enum svg_colour c, int is_dark);
enum svg_marker {
    SVG_CIRCLE,
    SVG_SQUARE,
    SVG_TRIANGLE,
    SVG_DIAMOND,
    SVG_DOWN,
    SVG_CROSS,
    SVG_MARKERS,
    SVG_NONE
};
/* Also plain numbers from 0 to SVG_DASHES - 1: lines of one colour take them in turn. */
enum svg_dash { SVG_SOLID, SVG_DASHED, SVG_DOTTED, SVG_DASHES = 8 };

enum svg_kind {
    SVG_LINE,   /* points joined by a line, with markers and error bars */
    SVG_POINTS, /* the same without the line */
    SVG_STEP,   /* distribution function: a step up at every point, from 0 */
    /* The same with the axes exchanged (a quantile function): the points are (share, length), from share 0.
     */
    SVG_QUANTILE,
    SVG_FLAT /* one point: a horizontal line over the whole plot with its interval as a band */
};

struct svg_point {
    double x, y, low, high; /* low, high: error bar, NaN for none */
    const char *cell, *tip; /* the mark's cell and tooltip; a curve uses its series' */
    const char *label;      /* beside the marker, left out where it does not fit; NULL: none */
    int is_hollow;          /* the marker is an outline */
    int is_cut;             /* STEP, QUANTILE: no step but a tick on the curve: something was cut off here */
};

struct svg_series {
    const char *name; /* NULL: not in the legend */
    enum svg_kind kind;
    enum svg_colour colour;
    enum svg_marker marker;
    enum svg_dash dash;
    const struct svg_point *points;
    size_t n;
    double cut_x; /* STEP, QUANTILE: the length at which longer completions were cut off; the curve goes on to
                     here and ends in a bar. NaN: nowhere */
    int is_wide;  /* drawn as a broad, pale line, which an equal curve does not hide */
    int is_faint; /* drawn as a thin, pale line */
    const char *cell, *tip; /* a curve's cell and tooltip */
};

struct svg_axis {
    const char *label;
    double low, high; /* NaN: taken from the data, with a margin */
    int is_log;
    int is_percent; /* values are fractions, labels are percent */
};

struct svg_chart {
    const char *id, *title, *desc;
    struct svg_axis x, y;
    const struct svg_series *series;
    size_t n_series;
};
/* Draws a chart. Points that are not finite, or not positive on a log axis, are left out. Every point stands
 * where it was measured; of markers at one place those behind are larger, and their bars have wider ends.
 * Without any point it says "no data yet". */
void svg_chart(struct str *out, const struct svg_chart *c);

struct svg_square {
    double value;            /* NaN: blank */
    const char *text, *note; /* inside the square, two lines; NULL: none */
    int is_marked;           /* drawn with the border */
    const char *cell, *tip;
};
struct svg_heat {
    const char *id, *title, *desc;
    const char *x_label, *y_label;
    const char *const *x_names, *const *y_names;
    size_t n_x, n_y;
    const struct svg_square *squares; /* n_y rows of n_x; row 0 at the bottom */
    double low, high;                 /* values of the two ends of the colour scale, printed as percent; what
                                       * is beyond has the colour of the end */
    const char *mark_label;           /* what the border means; NULL: no square has one */
};
/* Draws a heat map: squares coloured by value, with their text. */
void svg_heat(struct str *out, const struct svg_heat *h);

/* A matrix of many small squares that shows who solved what: a row for each name, a column for each
 * problem. */
struct svg_matrix {
    const char *id, *title, *desc;
    const char *const *names;
    size_t n_rows, n_columns;
    const signed char
        *level; /* n_rows x n_columns: 0 none to 4 all correct; -1: cut off or unfinished; -2: missing */
    const char *const *cells, *const *tips; /* by row, each may be NULL */
};
/* Draws the matrix. */
void svg_matrix(struct str *out, const struct svg_matrix *m);

/* Horizontal bars: a row for each name, side by side one bar for each column. */
struct svg_bar {
    double value, low, high; /* low, high: interval, NaN for none; value NaN: no bar */
    const char *text;        /* behind the bar; NULL: none */
    enum svg_colour colour;
    const char *cell, *tip; /* set in the first bar of a row, for the whole row */
};
struct svg_bar_column {
    const char *label;
    double top; /* value of a full bar, NaN: the largest */
};
struct svg_bars {
    const char *id, *title, *desc;
    const char *const *names;
    size_t n, n_columns;
    const struct svg_bar_column *columns;
    const struct svg_bar *bars; /* n rows of n_columns */
};
/* Draws the bars, each column on its own scale from 0. */
void svg_bars(struct str *out, const struct svg_bars *b);

/* Stacked bars, one below the other, on one scale. */
struct svg_stack_part {
    const char *name;
    enum svg_colour colour;
};
struct svg_stacks {
    const char *id, *title, *desc;
    const char *const *names, *const *texts, *const *tips; /* by bar: above it, behind it, as a mark */
    size_t n;
    const struct svg_stack_part *parts;
    size_t n_parts;
    const double *value; /* n bars of n_parts; not finite: none */
};
/* Draws the stacks with a legend of their parts. */
void svg_stacks(struct str *out, const struct svg_stacks *s);

/* Appends s for text and attribute values of SVG and HTML: & < > " ' are escaped, invalid UTF-8 and
 * characters that turn the direction of text become U+FFFD, and control characters are dropped. */
void svg_escape(struct str *out, const char *s);

/* Ticks of an axis: writes at most `max` values from low to high, ascending, to `ticks`: multiples of a step
 * of 1, 2, 2.5 or 5 times a power of ten, or on a log axis 1, 2 and 5 (or 1 alone) times each power of ten.
 * Returns their number and sets *step, which is 0 on a log axis. There are none (0) unless low < high and max
 * >= 2, nor on a log axis with low <= 0. */
size_t svg_ticks(double low, double high, int is_log, size_t max, double *ticks, double *step);

/* ---- for the files that draw ---- */
/* Append the start and the end tag of a mark's <g> element; cell or tip NULL: without that part. */
void svg_mark_begin(struct str *out, const char *cell, const char *tip);
void svg_mark_end(struct str *out);
/* The width of s at this font size, an upper estimate for common sans-serif fonts. */
double svg_text_width(const char *s, double size);
/* Appends a <text> element: anchor "start", "middle" or "end"; classes as in the style sheet; when max_width
 * > 0 a longer text is shortened to that width in its middle, and the whole is its tooltip. */
void svg_text(struct str *out, double x, double y, const char *anchor, const char *class_name, double size,
              double max_width, const char *s);
/* Appends v with at most two decimals, no trailing zeros and never as "-0". */
void svg_number(struct str *out, double v);
/* Appends "<svg ...><title>..<desc>..<style>" and the background; the caller ends the figure with
 * "</svg>\n". */
void svg_begin(struct str *out, const char *id, const char *title, const char *desc, double width,
               double height);
/* Draws the title, wrapped to `width` in at most two lines, and returns the y below it. When out is NULL
 * it only measures. */
double svg_title(struct str *out, const char *title, double width);
/* Draws a marker centred at (x, y), or its outline; nothing for SVG_NONE. */
void svg_draw_marker(struct str *out, enum svg_marker m, enum svg_colour c, double x, double y,
                     double scale /* 1: as usual */, int is_hollow);

#endif
