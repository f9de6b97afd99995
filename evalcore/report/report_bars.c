/* Accuracy and length of every setting as bars (Kascade, arXiv 2512.16391, Figure 7): a policy that keeps the
 * accuracy may still pay for it with longer completions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/page/svg.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_series.h"

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
    size_t capacity = (size_t)r->run->n_cells + 1, n = 0;
    const char **names = arena_alloc(d->arena, capacity * sizeof *names);
    struct svg_bar *bars = arena_alloc(d->arena, capacity * COLUMNS * sizeof *bars);
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

/* ---- Where the time of a decode step goes (DELTA, arXiv 2510.09883, Figures 8 to 10), from a file of
 * benchmarks.
 */

static const char *tip_of(struct arena *a, const struct steps *s, const struct step_stack *k)
{
    struct str out = {0};
    str_puts(&out, k->name);
    for (int i = 0; i < s->n_parts; i++)
        if (!isnan(k->part[i]))
            str_printf(&out, "\n%s: %.0f us, %.1f %%", s->part[i], k->part[i], 100 * k->part[i] / k->sum);
    str_printf(&out, "\nsum of the parts: %.0f us", k->sum);
    if (!isnan(k->whole))
        str_printf(&out, "\nthe whole step: %.0f us", k->whole);
    const char *text = arena_strdup(a, str_text(&out));
    str_release(&out);
    return text;
}

/* "delta:k_pages=64 batch 64 at 16384": the length of what stands before " at ", and the tokens; 0: no such
 * name. */
static size_t split_length(const char *name, double *tokens)
{
    const char *at = NULL;
    for (const char *p = name; (p = strstr(p, " at ")); p++)
        at = p;
    *tokens = at ? strtod(at + 4, NULL) : 0;
    return *tokens > 0 ? (size_t)(at - name) : 0;
}

static int compare_points(const void *a, const void *b)
{
    double x = ((const struct svg_point *)a)->x, y = ((const struct svg_point *)b)->x;
    return (x > y) - (x < y);
}

/* A line for each policy and batch whose steps were measured at several lengths (DELTA, Figures 1, 4 right
 * and 17). */
static void add_lengths(struct doc *d, const struct report *r)
{
    const struct steps *s = r->steps;
    struct svg_series *series = arena_alloc(d->arena, (size_t)s->n * sizeof *series);
    char *is_taken = arena_alloc(d->arena, (size_t)s->n);
    size_t n_series = 0;
    memset(is_taken, 0, (size_t)s->n);
    for (int i = 0; i < s->n; i++) {
        double tokens;
        size_t length = split_length(s->stack[i].name, &tokens), n = 0;
        struct svg_point *points = arena_alloc(d->arena, (size_t)s->n * sizeof *points);
        for (int k = i; k < s->n && length && !is_taken[i]; k++) {
            if (split_length(s->stack[k].name, &tokens) != length ||
                strncmp(s->stack[k].name, s->stack[i].name, length))
                continue;
            points[n++] = (struct svg_point){.x = tokens,
                                             .y = s->stack[k].sum / 1000,
                                             .low = NAN,
                                             .high = NAN,
                                             .tip = tip_of(d->arena, s, &s->stack[k])};
            is_taken[k] = (char)(k > i);
        }
        if (n < 2)
            continue;
        qsort(points, n, sizeof *points, compare_points);
        series[n_series] = (struct svg_series){.name = arena_strndup(d->arena, s->stack[i].name, length),
                                               .kind = SVG_LINE,
                                               .colour = (enum svg_colour)(n_series % SVG_TOLD_APART),
                                               .marker = (enum svg_marker)(n_series % SVG_MARKERS),
                                               .points = points,
                                               .n = n,
                                               .cut_x = NAN};
        n_series++;
    }
    if (!n_series)
        return;
    const char *title =
        arena_printf(d->arena, "%s%stime of a decode step by length", s->model, *s->model ? ": " : "");
    struct svg_chart chart = {.id = "steps-by-length",
                              .title = title,
                              .desc =
                                  "Milliseconds of the parts of a decode step together, against the context.",
                              .x = {.label = "context, tokens", .low = NAN, .high = NAN, .is_log = 1},
                              .y = {.label = "ms", .low = 0, .high = NAN},
                              .series = series,
                              .n_series = n_series};
    struct str svg = {0};
    svg_chart(&svg, &chart);
    doc_figure(d, "steps_by_length.svg", title, &svg, 0, "The sums of the bars, by policy and batch.");
}

void report_add_steps(struct doc *d, const struct report *r)
{
    const struct steps *s = r->steps;
    size_t n = (size_t)s->n, n_parts = (size_t)s->n_parts;
    struct svg_stack_part *parts = arena_alloc(d->arena, n_parts * sizeof *parts);
    const char **names = arena_alloc(d->arena, n * sizeof *names),
               **texts = arena_alloc(d->arena, n * sizeof *texts),
               **tips = arena_alloc(d->arena, n * sizeof *tips);
    double *value = arena_alloc(d->arena, n * n_parts * sizeof *value);
    static const enum svg_colour colours[] = {SVG_GREY,  SVG_BLACK, SVG_GOLD, SVG_PURPLE, SVG_PINK,
                                              SVG_GREEN, SVG_SKY,   SVG_PALE, SVG_RED};
    for (size_t k = 0; k < n_parts; k++)
        parts[k] = (struct svg_stack_part){s->part[k], colours[k % (sizeof colours / sizeof *colours)]};
    for (size_t i = 0; i < n; i++) {
        const struct step_stack *k = &s->stack[i];
        names[i] = k->name;
        tips[i] = tip_of(d->arena, s, k);
        texts[i] = arena_printf(d->arena, "%.2f ms", k->sum / 1000);
        for (size_t p = 0; p < n_parts; p++)
            value[i * n_parts + p] = k->part[p];
    }
    const char *title = arena_printf(d->arena, "%s%stime of a decode step", s->model, *s->model ? ": " : "");
    struct svg_stacks stacks = {
        .id = "steps",
        .title = title,
        .desc = "Milliseconds of each part of a decode step, one stacked bar for each policy, "
                "batch and context.",
        .names = names,
        .texts = texts,
        .tips = tips,
        .n = n,
        .parts = parts,
        .n_parts = n_parts,
        .value = value};
    struct str svg = {0};
    svg_stacks(&svg, &stacks);
    doc_figure(
        d, "steps.svg", title, &svg, 0,
        "Each part was replayed alone; their sum is a little less than the step as a whole. Not measured "
        "in this run: the figures come from the file of benchmarks that the report was given.");
    add_lengths(d, r);
}
