/* The section "RULER by length": its table and its figure. */
#include <math.h>

#include "evalcore/report/report_parts.h"
#include "evalcore/report/data/report_ruler.h"
#include "evalcore/report/figures/report_series.h"

static int has_row(const struct report *r, int row, const int *lengths, int n)
{
    for (int k = 0; k < n; k++)
        if (ruler_mean(r, row, lengths[k]).n)
            return 1;
    return 0;
}

static const char *policy_of(const struct report *r, int row)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row)
            return r->run->cells[i].policy;
    return "";
}

static void draw_lengths_table(struct doc *d, const struct report *r, const int *lengths, int n)
{
    struct series_set set = series_begin(r);
    for (int row = 0; row < r->n_rows; row++) {
        if (!has_row(r, row, lengths, n))
            continue;
        struct svg_series *s = series_add(&set, report_full_name(r, row), policy_of(r, row), SVG_LINE);
        struct svg_point *points = arena_alloc(r->arena, (size_t)n * sizeof *points);
        for (int k = 0; k < n; k++) {
            struct group_mean m = ruler_mean(r, row, lengths[k]);
            if (m.n)
                points[s->n++] =
                    (struct svg_point){.x = lengths[k], .y = m.mean, .low = m.ci.low, .high = m.ci.high};
        }
        s->points = points;
    }
    struct svg_chart chart = {.id = "ruler",
                              .title = "RULER: mean score against length",
                              .desc =
                                  "Mean score over the families with 95 % intervals against the tokens of "
                                  "prompt and completion; the values are in ruler.csv.",
                              .x = {"tokens of prompt and completion", NAN, NAN, 1, 0},
                              .y = {"mean score", 0, 1, 0, 1},
                              .series = set.s,
                              .n_series = set.n};
    struct str svg = {0};
    svg_chart(&svg, &chart);
    doc_figure(
        d, "ruler_length.svg", chart.title, &svg, 0,
        "Bars are 95 %% intervals of the mean over the families. Points that would hide each other stand "
        "side by side.");
}

void report_add_ruler(struct doc *d, const struct report *r)
{
    int n;
    const int *lengths = ruler_lengths(r, &n);
    struct table *t = doc_table(
        d, "Mean score over RULER's families (arXiv 2404.06654) at a length in tokens, with its 95 % "
           "interval, and its mark against the baseline, weighed like the mean. Below: how many families "
           "have results, and the difference in points.");
    const struct pair *pairs = ruler_pairs(r);
    table_column(d, t, "policy", 0);
    for (int k = 0; k < n; k++)
        table_column(d, t, arena_printf(d->arena, "%d", lengths[k]), 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (!has_row(r, row, lengths, n))
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", report_full_name(r, row));
        for (int k = 0; k < n; k++) {
            struct group_mean m = ruler_mean(r, row, lengths[k]);
            const struct pair *p = &pairs[row * n + k];
            if (!m.n)
                table_add(d, t, CELL_MUTED, "-");
            else
                table_add(d, t, report_pair_flags(p), "%s%s", report_percent(d->arena, m.mean, m.ci),
                          report_pair_sign(d->arena, p));
            table_small(d, t, "%d famil%s%s%s%s", m.n, m.n == 1 ? "y" : "ies",
                        m.missing ? ", answers are missing" : "", p->mark ? ", " : "",
                        p->mark ? report_difference(d->arena, p) : "");
        }
    }
    draw_lengths_table(d, r, lengths, n);
}
