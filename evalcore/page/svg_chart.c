/* Line, point and step charts: their axes and their legend.
 *
 * The legend stands below the axes in as many rows as its entries need, so it can never cover a curve. */
#include "evalcore/page/svg_chart.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 480, PLOT_HEIGHT = 260, TICKS_MAX = 24 };
static const double font = 14.5;

double svg_place(const struct svg_scale *s, double v)
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

int svg_is_usable(const struct svg_chart *c, const struct svg_point *p)
{
    return isfinite(p->x) && isfinite(p->y) && !(c->x.is_log && p->x <= 0) && !(c->y.is_log && p->y <= 0);
}

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
            if (r->kind == SVG_FLAT ? !isfinite(q->y) : !svg_is_usable(p->c, q))
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
        snprintf(out, size, "%g%s", rounded, axis->is_percent ? "%" : "");
    else
        snprintf(out, size, "%.*f%s", digits, rounded, axis->is_percent ? "%" : "");
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

static size_t axis_ticks(const struct svg_scale *s, const struct svg_axis *axis, size_t most, double *ticks,
                         double *step)
{
    return svg_ticks(s->low, s->high, axis->is_log, most < TICKS_MAX ? most : TICKS_MAX, ticks, step);
}

static void draw_axes(struct str *out, const struct svg_plot *p)
{
    double ticks[TICKS_MAX], step;
    char text[32];
    size_t n = axis_ticks(&p->y, &p->c->y, 6, ticks, &step);
    for (size_t i = 0; i < n; i++) {
        double y = svg_place(&p->y, ticks[i]);
        put_line(out, "kv-g", p->left, y, p->right, y);
        tick_text(text, sizeof text, ticks[i], step, &p->c->y);
        svg_text(out, p->left - 7, y + 4.5, "end", "kv-m", font, 0, text);
    }
    n = axis_ticks(&p->x, &p->c->x, 8, ticks, &step);
    double end_of_last = -1;
    for (size_t i = 0; i < n; i++) {
        double x = svg_place(&p->x, ticks[i]);
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

const char *svg_dash_text(enum svg_dash d)
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

const char *svg_line_class(const struct svg_series *s)
{
    return s->is_wide ? "kv-l kv-w" : s->is_faint ? "kv-l kv-p" : "kv-l";
}

static void draw_flat(struct str *out, const struct svg_plot *p, const struct svg_series *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct svg_point *q = &s->points[i];
        if (!isfinite(q->y))
            continue;
        double y = svg_place(&p->y, q->y);
        svg_mark_begin(out, q->cell, q->tip);
        if (isfinite(q->low) && isfinite(q->high)) {
            double high = svg_place(&p->y, q->high), low = svg_place(&p->y, q->low);
            str_printf(
                out,
                "<rect class=\"kv-f%d kv-band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                (int)s->colour, p->left, high, p->right - p->left, low - high);
        }
        str_printf(out, "<path class=\"kv-l kv-s%d\"%s d=\"M%.1f ", (int)s->colour, svg_dash_text(s->dash),
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
    const double left = 14, room = WIDTH - 2 * left, key = 42, gap = 14, row = 23;
    double x = left;
    y += row;
    for (size_t i = 0; i < c->n_series; i++) {
        const struct svg_series *s = &c->series[i];
        if (!s->name)
            continue;
        double text = svg_text_width(s->name, font);
        if (text > room - key)
            text = room - key;
        if (x > left && x + key + text > left + room) {
            x = left;
            y += row;
        }
        if (out) {
            if (s->kind != SVG_POINTS)
                str_printf(out, "<path class=\"%s kv-s%d\"%s d=\"M%.1f %.1fh36\"/>\n", svg_line_class(s),
                           (int)s->colour, svg_dash_text(s->dash), x, y - 4.5);
            if (s->kind != SVG_FLAT && (!is_curve(s) || isfinite(s->cut_x)))
                svg_draw_marker(out, s->marker, s->colour, x + 18, y - 4.5, 1);
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
                svg_draw_step(out, &p, &c->series[i]);
    svg_draw_points(out, &p);
    put_legend(out, c, p.bottom + 52);
    str_puts(out, "</svg>\n");
}
