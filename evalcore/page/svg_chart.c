/* Line, point and step charts: their axes and their legend.
 *
 * The legend stands below the axes in as many rows as its entries need, so it can never cover a curve. */
#include "evalcore/page/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"

/* A chart that is being drawn. */
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

enum { WIDTH = 480, PLOT_HEIGHT = 260, TICKS_MAX = 24 };
static const double font = 14.5;

static double position_of(const struct svg_scale *s, double v)
{
    double low = s->low, high = s->high;
    if (s->is_log) {
        v = log(v);
        low = log(low);
        high = log(high);
    }
    double at = (v - low) / (high - low);
    if (at < 0)
        at = 0;
    if (at > 1)
        at = 1;
    return s->from + at * (s->to - s->from);
}

static int is_usable(const struct svg_chart *c, const struct svg_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && !(c->x.is_log && p->x <= 0) && !(c->y.is_log && p->y <= 0);
}

static const char *dash_text(enum svg_dash d)
{
#define DASHES(lengths) " stroke-dasharray=\"" lengths "\""
    static const char *const text[SVG_DASHES] = {"",
                                                 DASHES("7 4"),
                                                 DASHES("2 3.5"),
                                                 DASHES("10 3 2 3"),
                                                 DASHES("24 6"),
                                                 DASHES("8 3 2 3 2 3"),
                                                 DASHES("2 8"),
                                                 DASHES("12 3 5 3")};
#undef DASHES
    return text[d];
}

static const char *line_class(const struct svg_series *s)
{
    return s->is_wide ? "kv-l kv-w" : s->is_faint ? "kv-l kv-p" : "kv-l";
}

/* ---- Points of a chart: lines, error bars, markers and their labels.
 *
 * A point is never moved: it stands where it was measured. Several at one place would hide each other, so
 * those behind are drawn larger and show as rings around those in front, and their error bars have wider
 * ends. Labels give way instead: to the first free place beside their marker, or they are left out. */

enum { RINGS_MAX = 4 };
static const double near = 5, label_size = 11.5, marker_half = 5.5;

struct spot {
    const struct svg_series *s;
    const struct svg_point *q;
    double x, y, low, high; /* positions; low and high NaN without a bar */
    int behind, beneath;    /* later markers at the same place; later bars at the same x */
};
struct box {
    double left, right, top, bottom;
};

static int is_points(const struct svg_series *s)
{
    return s->kind == SVG_LINE || s->kind == SVG_POINTS;
}

static size_t find_spots(const struct svg_plot *p, struct spot *spots)
{
    size_t n = 0;
    for (size_t i = 0; i < p->c->n_series; i++) {
        const struct svg_series *s = &p->c->series[i];
        for (size_t k = 0; is_points(s) && s->marker < SVG_MARKERS && k < s->n; k++) {
            const struct svg_point *q = &s->points[k];
            if (!is_usable(p->c, q))
                continue;
            int has_bar = isfinite(q->low) && isfinite(q->high);
            spots[n++] = (struct spot){s,
                                       q,
                                       position_of(&p->x, q->x),
                                       position_of(&p->y, q->y),
                                       has_bar ? position_of(&p->y, q->low) : NAN,
                                       has_bar ? position_of(&p->y, q->high) : NAN,
                                       0,
                                       0};
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            int same_x = fabs(spots[i].x - spots[k].x) < near;
            spots[i].behind += same_x && fabs(spots[i].y - spots[k].y) < near;
            spots[i].beneath += same_x && !isnan(spots[i].low) && !isnan(spots[k].low);
        }
    return n;
}

static void draw_line(struct str *out, const struct svg_plot *p, const struct svg_series *s)
{
    int pen = 0;
    if (s->kind != SVG_LINE || s->n < 2)
        return;
    str_printf(out, "<path class=\"%s kv-s%d\"%s d=\"", line_class(s), (int)s->colour, dash_text(s->dash));
    for (size_t i = 0; i < s->n; i++) {
        if (!is_usable(p->c, &s->points[i]))
            continue;
        str_putc(out, pen++ ? 'L' : 'M');
        svg_number(out, position_of(&p->x, s->points[i].x));
        str_putc(out, ' ');
        svg_number(out, position_of(&p->y, s->points[i].y));
    }
    str_puts(out, "\"/>\n");
}

static int at_most(int n, int max)
{
    return n < max ? n : max;
}

/* How much larger a marker is drawn than one that hides no other. */
static double ring_scale(const struct spot *t)
{
    return 1 + 0.55 * at_most(t->behind, RINGS_MAX);
}

static void draw_spot(struct str *out, const struct spot *t)
{
    svg_mark_begin(out, t->q->cell, t->q->tip);
    if (!isnan(t->low)) {
        int half = 3 + 2 * at_most(t->beneath, RINGS_MAX);
        str_printf(out, "<path class=\"kv-e kv-s%d\" d=\"M%.1f %.1fh%dm-%d 0V%.1fm-%d 0h%d\"/>\n",
                   (int)t->s->colour, t->x - half, t->high, 2 * half, half, t->low, half, 2 * half);
    }
    svg_draw_marker(out, t->s->marker, t->s->colour, t->x, t->y, ring_scale(t), t->q->is_hollow);
    svg_mark_end(out);
}

static int boxes_overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* A label's box at one of eight places around its marker, whose outermost ring reaches this far. */
static struct box label_box(const struct spot *t, int place, double width, double reach)
{
    static const struct {
        double x, y; /* the way to go; 0: along the middle */
        double side; /* which part of the text is there: left end (0), middle (-.5) or right end (-1) */
    } at[] = {{1, 0, 0},    {-1, 0, -1}, {0, -1, -.5},   {0, 1, -.5},
              {.9, -.8, 0}, {.9, .8, 0}, {-.9, -.8, -1}, {-.9, .8, -1}};
    double gap = reach + 2.5, tall = 0.5 * label_size;
    double left = t->x + gap * at[place].x + at[place].side * width;
    double middle = t->y + (at[place].x == 0 ? gap + tall : gap) * at[place].y;
    return (struct box){left, left + width, middle - tall, middle + tall};
}

static int is_free(const struct svg_plot *p, const struct box *b, const struct box *taken, size_t n)
{
    if (b->left < p->left || b->right > p->right + 14 || b->top < p->top || b->bottom > p->bottom)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (boxes_overlap(b, &taken[i]))
            return 0;
    return 1;
}

static double reach_of(const struct spot *spots, size_t n, const struct spot *t)
{
    double reach = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(spots[i].x - t->x) < near && fabs(spots[i].y - t->y) < near)
            reach = fmax(reach, marker_half * ring_scale(&spots[i]));
    return reach;
}

static void draw_labels(struct str *out, const struct svg_plot *p, const struct spot *spots, size_t n)
{
    struct box *taken = xmalloc((3 * n + 1) * sizeof *taken);
    size_t n_taken = 0;
    for (size_t i = 0; i < n; i++) {
        double half = marker_half * ring_scale(&spots[i]);
        taken[n_taken++] =
            (struct box){spots[i].x - half, spots[i].x + half, spots[i].y - half, spots[i].y + half};
        if (!isnan(spots[i].low))
            taken[n_taken++] = (struct box){spots[i].x - 1, spots[i].x + 1, spots[i].high, spots[i].low};
    }
    for (size_t i = 0; i < n; i++) {
        const char *text = spots[i].q->label;
        double reach = reach_of(spots, n, &spots[i]);
        for (int place = 0; text && place < 8; place++) {
            struct box b = label_box(&spots[i], place, svg_text_width(text, label_size), reach);
            if (!is_free(p, &b, taken, n_taken))
                continue;
            taken[n_taken++] = b;
            svg_text(out, b.left, b.bottom - 0.15 * label_size, "start", "kv-m", label_size, 0, text);
            break;
        }
    }
    free(taken);
}

static void draw_points(struct str *out, const struct svg_plot *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->c->n_series; i++)
        n += is_points(&p->c->series[i]) ? p->c->series[i].n : 0;
    struct spot *spots = xmalloc((n + 1) * sizeof *spots);
    n = find_spots(p, spots);
    for (size_t i = 0; i < p->c->n_series; i++)
        draw_line(out, p, &p->c->series[i]);
    for (size_t i = 0; i < n; i++)
        draw_spot(out, &spots[i]);
    draw_labels(out, p, spots, n);
    free(spots);
}

/* ---- Distribution functions of a chart, with the share up (STEP) or across (QUANTILE).
 *
 * The path is made in the order of the lengths. Steps too small to be seen are merged, so that the curve of
 * tens of thousands of completions stays a small file. */

struct pen {
    const struct svg_plot *p;
    int is_turned;
    double length, share; /* positions in the picture */
};

static double place_length(const struct pen *n, double v)
{
    return position_of(n->is_turned ? &n->p->y : &n->p->x, v);
}

static double place_share(const struct pen *n, double v)
{
    return position_of(n->is_turned ? &n->p->x : &n->p->y, v);
}

/* Along the axis of lengths, or along that of shares. */
static void draw_line_to(struct str *out, const struct pen *n, int along_length)
{
    str_putc(out, along_length != n->is_turned ? 'H' : 'V');
    svg_number(out, along_length ? n->length : n->share);
}

static void draw_tick(struct str *out, const struct pen *n, double half)
{
    double x = n->is_turned ? n->share : n->length, y = n->is_turned ? n->length : n->share;
    str_printf(out, n->is_turned ? "M%.1f %.1fh%g" : "M%.1f %.1fv%g", n->is_turned ? x - half : x,
               n->is_turned ? y : y - half, 2 * half);
}

static void draw_path(struct str *out, struct pen *n, const struct svg_series *s)
{
    const double finest = 0.3;
    for (size_t i = 0; i < s->n; i++) {
        const struct svg_point *q = &s->points[i];
        if (!is_usable(n->p->c, q) || q->is_cut)
            continue;
        double length = place_length(n, n->is_turned ? q->y : q->x);
        double share = place_share(n, n->is_turned ? q->x : q->y);
        if (i + 1 < s->n && fabs(length - n->length) < finest && fabs(share - n->share) < finest)
            continue;
        n->length = length;
        draw_line_to(out, n, 1);
        n->share = share;
        draw_line_to(out, n, 0);
    }
    if (isfinite(s->cut_x)) {
        n->length = place_length(n, s->cut_x);
        draw_line_to(out, n, 1);
    }
}

/* Ticks closer together than they are wide are one. */
static void draw_cuts(struct str *out, const struct pen *n, const struct svg_series *s)
{
    struct pen at = *n;
    double last = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        const struct svg_point *q = &s->points[i];
        if (!q->is_cut || !is_usable(n->p->c, q))
            continue;
        at.length = place_length(n, n->is_turned ? q->y : q->x);
        at.share = place_share(n, n->is_turned ? q->x : q->y);
        if (fabs(at.length - last) < 3)
            continue;
        draw_tick(out, &at, 4);
        last = at.length;
    }
}

/* Equal curves lie on each other: those behind are broader, so that each shows an edge. */
static double width_of(const struct svg_chart *c, const struct svg_series *s)
{
    double width = 2;
    for (const struct svg_series *later = s + 1; later < c->series + c->n_series; later++)
        width += later->kind == s->kind && !later->is_faint ? 1 : 0;
    return width < 5 ? width : 5;
}

static void draw_steps(struct str *out, const struct svg_plot *p, const struct svg_series *s)
{
    struct pen n = {.p = p, .is_turned = s->kind == SVG_QUANTILE};
    /* A quantile function begins at its first step: lengths below it have no share. */
    n.length = !n.is_turned                             ? p->left
               : s->n && is_usable(p->c, &s->points[0]) ? place_length(&n, s->points[0].y)
                                                        : p->bottom;
    n.share = place_share(&n, 0);
    svg_mark_begin(out, s->cell, s->tip);
    str_printf(out, "<path class=\"%s kv-s%d\"%s", line_class(s), (int)s->colour, dash_text(s->dash));
    if (!s->is_wide && !s->is_faint)
        str_printf(out, " style=\"stroke-width:%.1f\"", width_of(p->c, s));
    str_printf(out, " d=\"M%.1f %.1f", n.is_turned ? n.share : p->left, n.is_turned ? n.length : n.share);
    draw_path(out, &n, s);
    str_puts(out, "\"/>\n");
    struct str cuts = {0};
    draw_cuts(&cuts, &n, s);
    if (isfinite(s->cut_x))
        draw_tick(&cuts, &n, 6);
    if (cuts.len)
        str_printf(out, "<path class=\"%s kv-s%d\" d=\"%s\"/>\n", s->is_faint ? "kv-l kv-p" : "kv-l",
                   (int)s->colour, str_text(&cuts));
    str_release(&cuts);
    if (isfinite(s->cut_x) && !s->is_faint)
        svg_draw_marker(out, s->marker, s->colour, n.is_turned ? n.share : n.length,
                        n.is_turned ? n.length : n.share, 1, 0);
    svg_mark_end(out);
}

/* ---- Axes and legend. */

static void widen_range(double v, int is_log, double *low, double *high)
{
    if (!isfinite(v) || (is_log && v <= 0))
        return;
    if (isnan(*low) || v < *low)
        *low = v;
    if (isnan(*high) || v > *high)
        *high = v;
}

static int is_curve(const struct svg_series *s)
{
    return s->kind == SVG_STEP || s->kind == SVG_QUANTILE;
}

/* The range of an axis: the one that is given, else the range of the data with a margin of 6 %. */
static void find_range(struct svg_plot *p, const struct svg_axis *axis, int is_x, struct svg_scale *s)
{
    double low = NAN, high = NAN;
    for (size_t i = 0; i < p->c->n_series; i++) {
        const struct svg_series *r = &p->c->series[i];
        for (size_t k = 0; k < r->n; k++) {
            const struct svg_point *q = &r->points[k];
            if (r->kind == SVG_FLAT ? !isfinite(q->y) : !is_usable(p->c, q))
                continue;
            p->has_data = 1;
            if (is_x) {
                if (r->kind != SVG_FLAT)
                    widen_range(q->x, axis->is_log, &low, &high);
            } else {
                widen_range(q->y, axis->is_log, &low, &high);
                widen_range(q->low, axis->is_log, &low, &high);
                widen_range(q->high, axis->is_log, &low, &high);
            }
        }
        if (r->kind == (is_x ? SVG_STEP : SVG_QUANTILE))
            widen_range(r->cut_x, axis->is_log, &low, &high);
    }
    if (isnan(low)) {
        low = axis->is_log ? 1 : 0;
        high = axis->is_log ? 10 : 1;
    }
    if (axis->is_log) {
        double factor = high > low ? pow(high / low, 0.06) : 1.5;
        low /= factor;
        high *= factor;
    } else {
        double margin = high > low ? 0.06 * (high - low) : (fabs(high) > 0 ? 0.1 * fabs(high) : 1);
        low -= margin;
        high += margin;
    }
    s->low = isnan(axis->low) ? low : axis->low;
    s->high = isnan(axis->high) ? high : axis->high;
    if (!(s->high > s->low))
        s->high = s->low + 1;
    s->is_log = axis->is_log;
}

static void tick_text(char *out, size_t size, double v, double step, const struct svg_axis *axis)
{
    if (axis->is_percent) {
        v *= 100;
        step *= 100;
    }
    int digits = step > 0 && step < 0.0999 ? 2 : step > 0 && fabs(step - floor(step + 1e-9)) > 1e-6 ? 1 : 0;
    double rounded = fabs(v) < 1e-9 ? 0 : v;
    if (axis->is_log)
        snprintf(out, size, "%g%s", rounded, axis->is_percent ? " %" : "");
    else
        snprintf(out, size, "%.*f%s", digits, rounded, axis->is_percent ? " %" : "");
    if (!axis->is_percent && rounded >= 10000)
        snprintf(out, size, rounded >= 1e6 ? "%gM" : "%gk", rounded / (rounded >= 1e6 ? 1e6 : 1e3));
}

static void put_line(struct str *out, const char *class_name, double x1, double y1, double x2, double y2)
{
    str_printf(out, "<path class=\"%s\" d=\"M", class_name);
    svg_number(out, x1);
    str_putc(out, ' ');
    svg_number(out, y1);
    str_putc(out, 'L');
    svg_number(out, x2);
    str_putc(out, ' ');
    svg_number(out, y2);
    str_puts(out, "\"/>\n");
}

static size_t axis_ticks(const struct svg_scale *s, const struct svg_axis *axis, size_t max, double *ticks,
                         double *step)
{
    return svg_ticks(s->low, s->high, axis->is_log, max < TICKS_MAX ? max : TICKS_MAX, ticks, step);
}

static void draw_axes(struct str *out, const struct svg_plot *p)
{
    double ticks[TICKS_MAX], step;
    char text[32];
    size_t n = axis_ticks(&p->y, &p->c->y, 6, ticks, &step);
    for (size_t i = 0; i < n; i++) {
        double y = position_of(&p->y, ticks[i]);
        put_line(out, "kv-g", p->left, y, p->right, y);
        tick_text(text, sizeof text, ticks[i], step, &p->c->y);
        svg_text(out, p->left - 7, y + 4.5, "end", "kv-m", font, 0, text);
    }
    n = axis_ticks(&p->x, &p->c->x, 8, ticks, &step);
    double end_of_last = -1;
    for (size_t i = 0; i < n; i++) {
        double x = position_of(&p->x, ticks[i]);
        put_line(out, "kv-ax", x, p->bottom, x, p->bottom + 5);
        tick_text(text, sizeof text, ticks[i], step, &p->c->x);
        double half = svg_text_width(text, font) / 2;
        if (x - half < end_of_last + 6)
            continue;
        svg_text(out, x, p->bottom + 22, "middle", "kv-m", font, 0, text);
        end_of_last = x + half;
    }
    str_puts(out, "<path class=\"kv-ax\" d=\"M");
    svg_number(out, p->left);
    str_printf(out, " %.1fV%.1fH%.1f\"/>\n", p->top, p->bottom, p->right);
    svg_text(out, (p->left + p->right) / 2, p->bottom + 44, "middle", "", font, p->right - p->left + 20,
             p->c->x.label);
    str_printf(out, "<g transform=\"translate(17 %.1f) rotate(-90)\">\n", (p->top + p->bottom) / 2);
    svg_text(out, 0, 0, "middle", "", font, p->bottom - p->top, p->c->y.label);
    str_puts(out, "</g>\n");
}

static void draw_flat(struct str *out, const struct svg_plot *p, const struct svg_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct svg_point *q = &s->points[i];
        if (!isfinite(q->y))
            continue;
        double y = position_of(&p->y, q->y);
        svg_mark_begin(out, q->cell, q->tip);
        if (isfinite(q->low) && isfinite(q->high)) {
            double high = position_of(&p->y, q->high), low = position_of(&p->y, q->low);
            str_printf(
                out,
                "<rect class=\"kv-f%d kv-band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                (int)s->colour, p->left, high, p->right - p->left, low - high);
        }
        str_printf(out, "<path class=\"kv-l kv-s%d\"%s d=\"M%.1f ", (int)s->colour, dash_text(s->dash),
                   p->left);
        svg_number(out, y);
        str_printf(out, "H%.1f\"/>\n", p->right);
        svg_mark_end(out);
    }
}

/* Draws the legend's entries in rows and returns the y below the last row. When out is NULL it only
 * measures. */
static double put_legend(struct str *out, const struct svg_chart *c, double y)
{
    const double left = 14, max_width = WIDTH - 2 * left, key = 42, gap = 14, row = 23;
    double x = left;
    y += row;
    for (size_t i = 0; i < c->n_series; i++) {
        const struct svg_series *s = &c->series[i];
        if (!s->name)
            continue;
        double text = svg_text_width(s->name, font);
        if (text > max_width - key)
            text = max_width - key;
        if (x > left && x + key + text > left + max_width) {
            x = left;
            y += row;
        }
        if (out) {
            if (s->kind != SVG_POINTS)
                str_printf(out, "<path class=\"%s kv-s%d\"%s d=\"M%.1f %.1fh36\"/>\n", line_class(s),
                           (int)s->colour, dash_text(s->dash), x, y - 4.5);
            if (s->kind != SVG_FLAT && (!is_curve(s) || isfinite(s->cut_x)))
                svg_draw_marker(out, s->marker, s->colour, x + 18, y - 4.5, 1, 0);
            svg_text(out, x + key, y, "start", "", font, text + 1, s->name);
        }
        x += key + text + gap;
    }
    return y + 10;
}

void svg_chart(struct str *out, const struct svg_chart *c)
{
    struct svg_plot p = {.c = c};
    find_range(&p, &c->x, 1, &p.x);
    find_range(&p, &c->y, 0, &p.y);
    p.left = 74;
    p.right = WIDTH - 16;
    p.top = svg_title(NULL, c->title, WIDTH) + 10;
    p.bottom = p.top + PLOT_HEIGHT;
    p.x.from = p.left + 8;
    p.x.to = p.right - 8;
    p.y.from = p.bottom;
    p.y.to = p.top + 4;
    double height = put_legend(NULL, c, p.bottom + 52);
    svg_begin(out, c->id, c->title, c->desc, WIDTH, height);
    svg_title(out, c->title, WIDTH);
    draw_axes(out, &p);
    if (!p.has_data)
        svg_text(out, (p.left + p.right) / 2, (p.top + p.bottom) / 2, "middle", "kv-m", font, 0,
                 "no data yet");
    for (size_t i = 0; i < c->n_series; i++)
        if (c->series[i].kind == SVG_FLAT)
            draw_flat(out, &p, &c->series[i]);
    /* pale curves first, so that they lie behind the others */
    for (int faint = 1; faint >= 0; faint--)
        for (size_t i = 0; i < c->n_series; i++)
            if (is_curve(&c->series[i]) && c->series[i].is_faint == faint)
                draw_steps(out, &p, &c->series[i]);
    draw_points(out, &p);
    put_legend(out, c, p.bottom + 52);
    str_puts(out, "</svg>\n");
}
