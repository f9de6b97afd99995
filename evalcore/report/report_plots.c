/* Accuracy against the budget, and against the KV reads that the engine counted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/report_parts.h"
#include "evalcore/report/report_series.h"

static int compare_points(const void *a, const void *b)
{
    double x = ((const struct svg_point *)a)->x, y = ((const struct svg_point *)b)->x;
    return x < y ? -1 : x > y;
}

/* Name of the curve that a cell is a point of: its label without the budget. */
static const char *curve_name(const struct report *r, const struct cell_stats *s)
{
    return report_label_without(r->arena, s->cell->policy_label, s->cell->budget_key);
}

/* Points of one curve: cells of the panel with this curve name, sorted by budget. */
static void add_curve(struct series_set *set, const struct report *r, int panel, const char *name,
                      const char *policy)
{
    struct svg_series *s = series_add(set, name, policy, SVG_LINE);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *c = &r->cells[i];
        if (report_is_shown(r, i, panel) && isfinite(c->budget_tokens) && !strcmp(c->cell->policy, policy) &&
            !strcmp(curve_name(r, c), name))
            series_add_point(set, s, c->budget_tokens, c);
    }
    qsort(set->points + set->n_points - s->n, s->n, sizeof(struct svg_point), compare_points);
}

int report_has_budgets(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel) && isfinite(r->cells[i].budget_tokens))
            return 1;
    return 0;
}

void report_draw_budgets(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct series_set set = series_begin(r);
    int left_out = 0, has_beside = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *c = &r->cells[i];
        if (!report_is_shown(r, i, panel))
            continue;
        has_beside |= c->budget_beside >= 1;
        if (!c->has_budget) {
            series_add_point(&set, series_add(&set, c->cell->policy_label, c->cell->policy, SVG_FLAT), NAN,
                             c);
            continue;
        }
        if (!isfinite(c->budget_tokens)) {
            left_out++;
            continue;
        }
        const char *name = curve_name(r, c);
        int is_new = 1;
        for (size_t k = 0; k < set.n; k++)
            if (!strcmp(set.s[k].name, name) && !strcmp(set.policy[k], c->cell->policy))
                is_new = 0;
        if (is_new)
            add_curve(&set, r, panel, name, c->cell->policy);
    }
    struct svg_chart chart = {.id = "budget",
                              .desc = "Accuracy with 95 % intervals against the budget in tokens per decode "
                                      "step, one series per policy; the values are in accuracy.csv.",
                              .x = {"budget, tokens per decode step", NAN, NAN, 1, 0},
                              .y = {"accuracy", 0, 1, 0, 1}};
    const char *note =
        "Bars and the band of full attention are 95 % intervals. Pages count their tokens; a ratio or a "
        "compression ratio is taken of the mean context. Of marks at one place those behind show as rings.";
    if (has_beside)
        note = arena_printf(
            d->arena, "%s RaaS pins the prompt besides its budget, which the papers' axis leaves out.", note);
    if (left_out)
        note = arena_printf(d->arena, "%s Not drawn: %d cell%s whose budget is not known in tokens.", note,
                            left_out, left_out == 1 ? "" : "s");
    series_draw(d, &set, chart, panel, f, note);
}

int report_has_reads(const struct report *r, int panel)
{
    int n = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        n += report_is_shown(r, i, panel) && isfinite(r->cells[i].total_density);
    return n > 1;
}

void report_draw_reads(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct series_set set = series_begin(r);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *first = &r->cells[i];
        int seen = 0;
        for (size_t k = 0; k < set.n; k++)
            seen |= !strcmp(set.policy[k], first->cell->policy);
        if (seen || !report_is_shown(r, i, panel) || !isfinite(first->total_density))
            continue;
        /* Without a budget it is the reference: a line across, as in the figure against the budget. */
        enum svg_kind kind = first->has_budget ? SVG_POINTS : SVG_FLAT;
        struct svg_series *s =
            series_add(&set, report_series_name(r, first->cell->policy), first->cell->policy, kind);
        for (int k = i; k < r->run->n_cells; k++)
            if (report_is_shown(r, k, panel) && !strcmp(r->cells[k].cell->policy, first->cell->policy))
                series_add_point(&set, s, r->cells[k].total_density, &r->cells[k]);
    }
    struct svg_chart chart = {.id = "reads",
                              .desc = "Accuracy with 95 % intervals against the share of KV tokens that was "
                                      "read, one point per cell; the values are in accuracy.csv.",
                              .x = {"total KV reads, share of full attention", 0, NAN, 0, 1},
                              .y = {"accuracy", 0, 1, 0, 1}};
    series_draw(
        d, &set, chart, panel, f,
        arena_printf(d->arena,
                     "What the engine counted, page bounds and key scans among it, not what the budget "
                     "promised; up and to the left is better. Of marks at one place those behind show as "
                     "rings.%s",
                     report_bound_note(r)));
}

/* ---- Texts by position: what a policy loses as the context grows. A curve per cell; tokens are put together
 * in buckets that begin at powers of two. */

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
