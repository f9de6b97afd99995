/* Distribution functions of a chart, with the share up (STEP) or across (QUANTILE).
 *
 * The path is made in the order of the lengths. Steps too small to be seen are merged, so that the curve of
 * tens of thousands of completions stays a small file. */
#include <math.h>

#include "evalcore/page/svg_chart.h"

struct pen {
    const struct svg_plot *p;
    int is_turned;
    double length, share; /* positions in the picture */
};

static double place_length(const struct pen *n, double v)
{
    return svg_place(n->is_turned ? &n->p->y : &n->p->x, v);
}

static double place_share(const struct pen *n, double v)
{
    return svg_place(n->is_turned ? &n->p->x : &n->p->y, v);
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
        if (!svg_is_usable(n->p->c, q) || q->is_cut)
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
        if (!q->is_cut || !svg_is_usable(n->p->c, q))
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

void svg_draw_step(struct str *out, const struct svg_plot *p, const struct svg_series *s)
{
    struct pen n = {.p = p, .is_turned = s->kind == SVG_QUANTILE};
    /* A quantile function begins at its first step: lengths below it have no share. */
    n.length = !n.is_turned                                 ? p->left
               : s->n && svg_is_usable(p->c, &s->points[0]) ? place_length(&n, s->points[0].y)
                                                            : p->bottom;
    n.share = place_share(&n, 0);
    svg_mark_begin(out, s->cell, s->tip);
    str_printf(out, "<path class=\"%s kv-s%d\"%s", svg_line_class(s), (int)s->colour, svg_dash_text(s->dash));
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
                        n.is_turned ? n.length : n.share, 1);
    svg_mark_end(out);
}
