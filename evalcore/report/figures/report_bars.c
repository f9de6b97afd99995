/* Accuracy and length of every setting as bars (Kascade, arXiv 2512.16391, Figure 7): a policy that keeps the
 * accuracy may still pay for it with longer completions. */
#include <math.h>

#include "evalcore/report/figures/report_series.h"

static void add_row(struct svg_bar *row, const struct report *r, const struct cell_stats *s)
{
    enum svg_colour colour = series_colour(r, s->cell->policy);
    row[0] = (struct svg_bar){.value = s->accuracy,
                              .low = s->ci.low,
                              .high = s->ci.high,
                              .text = arena_printf(r->arena, "%.0f", 100 * s->accuracy),
                              .colour = colour,
                              .cell = s->cell->id,
                              .tip = report_tip(r, s)};
    row[1] = (struct svg_bar){
        .value = s->mean_tokens,
        .low = NAN,
        .high = NAN,
        .text = isnan(s->mean_tokens)
                    ? "-"
                    : arena_printf(r->arena, s->n_length ? "\xE2\x89\xA5 %.0f" : "%.0f", s->mean_tokens),
        .colour = colour};
}

void report_draw_bars(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    static const struct svg_bar_column columns[] = {{"accuracy, %", 1}, {"mean tokens", NAN}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const struct panel *p = &r->panels[panel];
    size_t room = (size_t)r->run->n_cells + 1, n = 0;
    const char **names = arena_alloc(d->arena, room * sizeof *names);
    struct svg_bar *bars = arena_alloc(d->arena, room * COLUMNS * sizeof *bars);
    int n_cut = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        if (!report_is_shown(r, i, panel))
            continue;
        names[n] = r->cells[i].cell->policy_label;
        n_cut += r->cells[i].n_length;
        add_row(&bars[n++ * COLUMNS], r, &r->cells[i]);
    }
    struct svg_bars b = {.id = arena_printf(d->arena, "bars-%s", p->slug),
                         .title = report_figure_title(d->arena, p, f),
                         .desc = "Accuracy with its 95 % interval and mean length of a completion, one row "
                                 "per cell; the values are in accuracy.csv.",
                         .names = names,
                         .n = n,
                         .n_columns = COLUMNS,
                         .columns = columns,
                         .bars = bars};
    struct str svg = {0};
    svg_bars(&svg, &b);
    doc_figure(d, report_figure_file(d->arena, p, f), b.title, &svg, 0, "Grey: 95 %% intervals.%s",
               n_cut ? " A length with \xE2\x89\xA5 counts completions that were cut off at the limit as if "
                       "they had ended there."
                     : "");
}
