/* Points of a chart: lines, error bars, markers and their labels.
 *
 * A point is never moved: it stands where it was measured. Several at one place would hide each other, so
 * those behind are drawn larger and show as rings around those in front, and their error bars have wider
 * ends. Labels give way instead: to the first free place beside their marker, or they are left out. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/page/svg_chart.h"

enum { RINGS_MAX = 4 };
static const double near = 5, label_size = 11.5;

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
            if (!svg_is_usable(p->c, q))
                continue;
            int has_bar = isfinite(q->low) && isfinite(q->high);
            spots[n++] = (struct spot){s,
                                       q,
                                       svg_place(&p->x, q->x),
                                       svg_place(&p->y, q->y),
                                       has_bar ? svg_place(&p->y, q->low) : NAN,
                                       has_bar ? svg_place(&p->y, q->high) : NAN,
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
    str_printf(out, "<path class=\"%s kv-s%d\"%s d=\"", svg_line_class(s), (int)s->colour,
               svg_dash_text(s->dash));
    for (size_t i = 0; i < s->n; i++) {
        if (!svg_is_usable(p->c, &s->points[i]))
            continue;
        str_putc(out, pen++ ? 'L' : 'M');
        svg_number(out, svg_place(&p->x, s->points[i].x));
        str_putc(out, ' ');
        svg_number(out, svg_place(&p->y, s->points[i].y));
    }
    str_puts(out, "\"/>\n");
}

static int at_most(int n, int most)
{
    return n < most ? n : most;
}

static void draw_spot(struct str *out, const struct spot *t)
{
    svg_mark_begin(out, t->q->cell, t->q->tip);
    if (!isnan(t->low)) {
        int half = 3 + 2 * at_most(t->beneath, RINGS_MAX);
        str_printf(out, "<path class=\"kv-e kv-s%d\" d=\"M%.1f %.1fh%dm-%d 0V%.1fm-%d 0h%d\"/>\n",
                   (int)t->s->colour, t->x - half, t->high, 2 * half, half, t->low, half, 2 * half);
    }
    svg_draw_marker(out, t->s->marker, t->s->colour, t->x, t->y, 1 + 0.55 * at_most(t->behind, RINGS_MAX));
    svg_mark_end(out);
}

static int boxes_overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* A label's box at one of eight places around its marker. */
static struct box label_box(const struct spot *t, int place, double width)
{
    static const struct {
        double x, y; /* from the marker's centre to the text's left end (0), middle (-.5) or right end (-1) */
        double side;
    } at[] = {{8, 4, 0},  {-8, 4, -1}, {0, -9, -.5}, {0, 18, -.5},
              {7, -6, 0}, {7, 15, 0},  {-7, -6, -1}, {-7, 15, -1}};
    double left = t->x + at[place].x + at[place].side * width, base = t->y + at[place].y;
    return (struct box){left, left + width, base - 0.8 * label_size, base + 0.2 * label_size};
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

static void draw_labels(struct str *out, const struct svg_plot *p, const struct spot *spots, size_t n)
{
    struct box *taken = xmalloc((2 * n + 1) * sizeof *taken);
    size_t n_taken = 0;
    for (size_t i = 0; i < n; i++)
        taken[n_taken++] =
            (struct box){spots[i].x - 5.5, spots[i].x + 5.5, spots[i].y - 5.5, spots[i].y + 5.5};
    for (size_t i = 0; i < n; i++) {
        const char *text = spots[i].q->label;
        for (int place = 0; text && place < 8; place++) {
            struct box b = label_box(&spots[i], place, svg_text_width(text, label_size));
            if (!is_free(p, &b, taken, n_taken))
                continue;
            taken[n_taken++] = b;
            svg_text(out, b.left, b.bottom - 0.2 * label_size, "start", "kv-m", label_size, 0, text);
            break;
        }
    }
    free(taken);
}

void svg_draw_points(struct str *out, const struct svg_plot *p)
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
