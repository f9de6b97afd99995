/* Texts by position: what a policy loses as the context grows. A curve per cell; tokens are put together in
 * buckets that begin at powers of two. */
#include <math.h>
#include <string.h>

#include "evalcore/report/figures/report_series.h"

typedef double value_fn(const struct likelihood_figures *f);

static double kl_of(const struct likelihood_figures *f)
{
    return f->kl;
}

static double bits_of(const struct likelihood_figures *f)
{
    return f->bits_per_byte;
}

int report_has_positions(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel) && r->cells[i].likelihood.n)
            return 1;
    return 0;
}

static void add_cell(struct series_set *set, const struct report *r, const struct cell_stats *s,
                     value_fn *value)
{
    const struct likelihood *l = &s->likelihood;
    struct svg_point *points = arena_alloc(r->arena, (size_t)(l->n + 1) * sizeof *points);
    for (int k = 0; k < l->n; k++) {
        struct likelihood one = {.n = 1};
        one.bucket[0] = l->bucket[k];
        struct likelihood_figures f = report_likelihood_figures(&one);
        points[k] =
            (struct svg_point){.x = l->bucket[k].first,
                               .y = value(&f),
                               .low = NAN,
                               .high = NAN,
                               .cell = s->cell->id,
                               .tip = arena_printf(r->arena, "%s\nfrom position %d on: %.4g",
                                                   s->cell->policy_label, l->bucket[k].first, value(&f))};
    }
    struct svg_series *curve = series_add(set, s->cell->policy_label, s->cell->policy, SVG_LINE);
    curve->points = points;
    curve->n = (size_t)l->n;
    curve->is_wide = s->cell->is_baseline;
}

static void draw_positions(struct doc *d, const struct report *r, int panel, const struct report_figure *f,
                           struct svg_chart chart, value_fn *value, const char *note)
{
    struct series_set set = series_begin(r);
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel))
            add_cell(&set, r, &r->cells[i], value);
    chart.x = (struct svg_axis){"tokens before it, first of a bucket", NAN, NAN, 1, 0};
    series_draw(d, &set, chart, panel, f, note);
}

void report_draw_divergence(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct svg_chart chart = {.id = "divergence",
                              .desc = "Mean divergence of the policy's next-token distribution from that of "
                                      "full attention, by position; the values are in likelihood.csv.",
                              .y = {"KL from the reference, nats", 0, NAN, 0, 0}};
    draw_positions(d, r, panel, f, chart, kl_of,
                   "A bucket ends before twice its first position. Full attention is 0 by definition.");
}

void report_draw_bits(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct svg_chart chart = {.id = "bits",
                              .desc = "Bits per byte by position; the values are in likelihood.csv.",
                              .y = {"bits per byte", NAN, NAN, 0, 0}};
    draw_positions(
        d, r, panel, f, chart, bits_of,
        "Lower is better. Buckets hold different parts of the text: compare curves, not points of one.");
}
