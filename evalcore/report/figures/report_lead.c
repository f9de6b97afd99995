/* The figure of the first screen: every policy setting over all its tasks, accuracy against total reads. */
#include <math.h>
#include <string.h>

#include "evalcore/report/figures/report_series.h"

static const struct cell *cell_of(const struct report *r, int row)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row)
            return r->cells[i].cell;
    return NULL;
}

static int is_drawn(const struct report *r, const struct setting *s, const char *model)
{
    return !isnan(s->accuracy) && !isnan(s->reads) && !strcmp(r->rows[s->row].model, model);
}

static void add_setting(struct series_set *set, struct svg_series *s, const struct setting *x)
{
    const struct report *r = set->report;
    set->points[set->n_points++] = (struct svg_point){
        .x = x->reads,
        .y = x->accuracy,
        .low = x->ci.low,
        .high = x->ci.high,
        .tip = arena_printf(r->arena,
                            "%s, %s\naccuracy %s over all tasks\nreads %.1f%% of full attention: "
                            "%.1f%% KV, %.1f%% bounds and scans",
                            report_row_name(r, x->row), r->rows[x->row].model,
                            report_percent(r->arena, x->accuracy, x->ci), 100 * x->reads, 100 * x->kv_share,
                            100 * x->aux_share)};
    s->n++;
}

/* The settings of the model of a row. */
static void draw_lead_panel(struct doc *d, const struct report *r, int row)
{
    struct series_set set = series_begin(r);
    const char *model = r->rows[row].model,
               *name = report_several_models(r) ? report_model_name(r, row) : NULL;
    int n = 0;
    for (int i = 0; i < r->n_settings; i++) {
        const struct cell *c = cell_of(r, r->settings[i].row);
        int seen = !c || !is_drawn(r, &r->settings[i], model);
        for (size_t k = 0; k < set.n && !seen; k++)
            seen = !strcmp(set.policy[k], c->policy);
        if (seen)
            continue;
        struct svg_series *s =
            series_add(&set, c->policy, c->policy, r->settings[i].is_baseline ? SVG_FLAT : SVG_POINTS);
        for (int k = i; k < r->n_settings; k++) {
            const struct cell *other = cell_of(r, r->settings[k].row);
            /* A line across is one setting's; another run's baseline is drawn as a point of its own name. */
            if (!other || strcmp(other->policy, c->policy) != 0 || !is_drawn(r, &r->settings[k], model) ||
                (s->kind == SVG_FLAT && k > i))
                continue;
            add_setting(&set, s, &r->settings[k]);
            n++;
        }
    }
    if (n < 2)
        return;
    struct svg_chart chart = {
        .id = name ? report_slug(r->arena, arena_printf(r->arena, "lead %s", name)) : "lead",
        .title = name ? arena_printf(r->arena, "%s, all tasks: accuracy for total reads", name)
                      : "all tasks: accuracy for total reads",
        .desc = "Accuracy over all tasks with 95 % intervals against total reads, one point "
                "per policy setting; the values are in settings.csv.",
        .x = {"total KV reads, share of full attention", 0, NAN, 0, 1},
        .y = {"accuracy", 0, 1, 0, 1},
        .series = set.s,
        .n_series = set.n};
    struct str svg = {0};
    svg_chart(&svg, &chart);
    doc_figure(
        d, arena_printf(r->arena, "%s.svg", chart.id), chart.title, &svg, 0,
        "Each point is a policy setting over all its tasks; up and to the left is better. Bars and the band "
        "of the baseline are 95 %% intervals.");
}

/* One of each model, whose full attention reads more or less than another's. */
void report_add_lead(struct doc *d, const struct report *r)
{
    for (int row = 0; row < r->n_rows; row++) {
        int first = 0;
        while (strcmp(r->rows[first].model, r->rows[row].model) != 0)
            first++;
        if (first == row)
            draw_lead_panel(d, r, row);
    }
}
