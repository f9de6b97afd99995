/* The distribution of completion lengths: one step curve per cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/figures/report_series.h"

static void add_lengths(struct series_set *set, const struct report *r, const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    size_t n = (size_t)c->n_records, m = 0, n_cut = 0;
    struct ecdf_item *items = xmalloc((n + 1) * sizeof *items);
    struct ecdf_step *steps = xmalloc((n + 1) * sizeof *steps);
    double longest = 0;
    for (size_t i = 0; i < n; i++) {
        const struct record *rec = &c->records[i];
        if (rec->finish == FINISHED_ERROR)
            continue;
        items[m++] = (struct ecdf_item){rec->tokens, rec->finish == FINISHED_LENGTH};
        n_cut += rec->finish == FINISHED_LENGTH;
        if (rec->finish == FINISHED_LENGTH && rec->tokens > longest)
            longest = rec->tokens;
    }
    size_t n_steps = stat_ecdf(items, m, steps);
    struct svg_point *points = arena_alloc(r->arena, (n_steps + 1) * sizeof *points);
    for (size_t i = 0; i < n_steps; i++)
        points[i] = (struct svg_point){.x = steps[i].x, .y = steps[i].share, .low = NAN, .high = NAN};
    const char *name =
        n_cut ? arena_printf(r->arena, "%s (%.0f%% cut)", c->policy_label, 100 * (double)n_cut / (double)m)
              : c->policy_label;
    struct svg_series *curve = series_add(set, name, c->policy, SVG_STEP);
    curve->points = points;
    curve->n = n_steps;
    curve->cut_x = n_cut ? longest : NAN;
    curve->is_wide = c->is_baseline;
    free(items);
    free(steps);
}

/* More curves than this cannot be told apart; then of each policy only the cell that reads least is drawn. */
enum { CURVES_MAX = 7 };

static int is_drawn(const struct report *r, int i, int panel)
{
    const struct cell_stats *s = &r->cells[i];
    int n = 0, least = i;
    for (int k = 0; k < r->run->n_cells; k++) {
        if (!report_is_shown(r, k, panel))
            continue;
        n++;
        double v = r->cells[k].total_density, w = r->cells[least].total_density;
        if (!strcmp(r->cells[k].cell->policy, s->cell->policy) && (v < w || (v <= w && k < least)))
            least = k;
    }
    return n <= CURVES_MAX || i == least;
}

int report_has_lengths(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel))
            return 1;
    return 0;
}

void report_draw_lengths(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct series_set set = series_begin(r);
    int left_out = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        if (!report_is_shown(r, i, panel))
            continue;
        if (is_drawn(r, i, panel))
            add_lengths(&set, r, &r->cells[i]);
        else
            left_out++;
    }
    struct svg_chart chart = {.id = "lengths",
                              .desc =
                                  "Share of completions that ended by a length, as a step curve per cell; a "
                                  "curve with completions cut off at the length limit ends there in a bar.",
                              .x = {"completion length, tokens", 0, NAN, 0, 0},
                              .y = {"share of completions ended", 0, 1, 0, 1}};
    const char *note = "None of these completions was cut off at the length limit.";
    for (size_t i = 0; i < set.n; i++)
        if (isfinite(set.s[i].cut_x))
            note = "A curve that ends in a bar stops at the length limit: the completions above it were cut "
                   "off there and would have gone on.";
    if (left_out)
        note = arena_printf(
            d->arena, "%s Of each policy the cell that reads least is drawn; all are in lengths.csv.", note);
    series_draw(d, &set, chart, panel, f, note);
}
