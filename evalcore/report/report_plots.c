/* The figures that have one curve or point set per policy: accuracy against budget, accuracy against measured
 * KV reads, distribution of completion lengths; and the matrix of who solved what. One figure per panel
 * (task, model, swept settings). */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/svg/svg.h"

struct look {
    enum svg_colour colour;
    enum svg_marker marker;
};

/* A policy keeps its colour in every figure and every report; one that is not in this table gets one by its
 * place. */
static struct look policy_look(const char *policy)
{
    static const struct {
        const char *name;
        struct look look;
    } known[] = {{"full", {SVG_BLACK, SVG_CIRCLE}},    {"quest", {SVG_ORANGE, SVG_SQUARE}},
                 {"raas", {SVG_VIOLET, SVG_TRIANGLE}}, {"delta", {SVG_PURPLE, SVG_DIAMOND}},
                 {"kascade", {SVG_SKY, SVG_DOWN}},     {"dms", {SVG_GREEN, SVG_CIRCLE}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, policy))
            return known[i].look;
    unsigned sum = 0;
    for (const char *p = policy; *p; p++)
        sum = sum * 31 + (unsigned char)*p;
    return (struct look){sum & 1 ? SVG_RED : SVG_GREY, SVG_CROSS};
}

/* Series of one figure, with room for every cell of the panel. */
struct series_set {
    struct svg_series *s;
    const char **policy; /* registered name, by series */
    struct svg_point *points;
    size_t n, n_points;
};

static struct series_set new_set(const struct report *r)
{
    size_t n = (size_t)r->run->n_cells + 1;
    return (struct series_set){.s = arena_alloc(r->arena, n * sizeof(struct svg_series)),
                               .policy = arena_alloc(r->arena, n * sizeof(char *)),
                               .points = arena_alloc(r->arena, n * sizeof(struct svg_point))};
}

static struct svg_series *add_series(struct series_set *set, const char *name, const char *policy,
                                     enum svg_kind kind)
{
    struct look look = policy_look(policy);
    int same = 0;
    for (size_t i = 0; i < set->n; i++)
        same += !strcmp(set->policy[i], policy) && set->s[i].kind == kind;
    struct svg_series *s = &set->s[set->n];
    set->policy[set->n++] = policy;
    *s = (struct svg_series){.name = name,
                             .kind = kind,
                             .colour = look.colour,
                             .marker = look.marker,
                             .dash = (enum svg_dash)(same % 4),
                             .points = set->points + set->n_points,
                             .cut_x = NAN};
    return s;
}

static void add_point(struct series_set *set, struct svg_series *s, double x, const struct cell_stats *c)
{
    set->points[set->n_points++] = (struct svg_point){x, c->accuracy, c->ci.low, c->ci.high};
    s->n++;
}

static int compare_points(const void *a, const void *b)
{
    double x = ((const struct svg_point *)a)->x, y = ((const struct svg_point *)b)->x;
    return x < y ? -1 : x > y;
}

static int shown(const struct report *r, int i, int panel)
{
    return r->cells[i].panel == panel && r->cells[i].cell->n_records > 0;
}

/* The chart of these series: the panel's name goes to its id, its title and the file's name. */
static void add_figure(struct doc *d, const struct panel *p, const struct series_set *set,
                       struct svg_chart chart, const char *file, const char *note)
{
    struct str svg = {0};
    chart.id = arena_printf(d->arena, "%s-%s", chart.id, p->slug);
    chart.title = arena_printf(d->arena, "%s: %s", p->title, chart.title);
    chart.series = set->s;
    chart.n_series = set->n;
    svg_chart(&svg, &chart);
    doc_figure(d, arena_printf(d->arena, "%s_%s.svg", file, p->slug), chart.title, &svg, 0, "%s", note);
}

/* Name of the curve that a cell is a point of: its label without the budget. */
static const char *curve_name(const struct report *r, const struct cell_stats *s)
{
    return report_label_without(r->arena, s->cell->policy_label, s->cell->budget_key);
}

/* Points of one curve: cells of the panel with this curve name, sorted by x. value() gives x. */
static void add_curve(struct series_set *set, const struct report *r, int panel, const char *name,
                      const char *policy)
{
    struct svg_series *s = add_series(set, name, policy, SVG_LINE);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *c = &r->cells[i];
        if (shown(r, i, panel) && isfinite(c->budget_tokens) && !strcmp(c->cell->policy, policy) &&
            !strcmp(curve_name(r, c), name))
            add_point(set, s, c->budget_tokens, c);
    }
    qsort(set->points + set->n_points - s->n, s->n, sizeof(struct svg_point), compare_points);
}

static void plot_budget(struct doc *d, const struct report *r, int panel)
{
    struct series_set set = new_set(r);
    int n_points = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *c = &r->cells[i];
        if (!shown(r, i, panel))
            continue;
        if (!c->cell->budget_key[0]) {
            add_point(&set, add_series(&set, c->cell->policy_label, c->cell->policy, SVG_FLAT), NAN, c);
            continue;
        }
        if (!isfinite(c->budget_tokens))
            continue;
        n_points++;
        const char *name = curve_name(r, c);
        int is_new = 1;
        for (size_t k = 0; k < set.n; k++)
            if (!strcmp(set.s[k].name, name) && !strcmp(set.policy[k], c->cell->policy))
                is_new = 0;
        if (is_new)
            add_curve(&set, r, panel, name, c->cell->policy);
    }
    if (!n_points)
        return;
    struct svg_chart chart = {
        .id = "budget",
        .title = "accuracy against budget",
        .desc = "Accuracy with 95 % intervals against the budget in tokens per decode step, one "
                "series per policy; the values are in accuracy.csv.",
        .x = {"budget, tokens per decode step", NAN, NAN, 1, 0},
        .y = {"accuracy", 0, 1, 0, 1}};
    add_figure(
        d, &r->panels[panel], &set, chart, "accuracy_budget",
        "Bars and the band of full attention are 95 % intervals. Pages count their tokens; a ratio or a "
        "compression ratio is taken of the mean context. Points that would hide each other stand side by "
        "side.");
}

static void plot_reads(struct doc *d, const struct report *r, int panel)
{
    struct series_set set = new_set(r);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *first = &r->cells[i];
        int seen = 0;
        for (size_t k = 0; k < set.n; k++)
            seen |= !strcmp(set.policy[k], first->cell->policy);
        if (seen || !shown(r, i, panel) || !isfinite(first->kv_density))
            continue;
        /* Without a budget it is the reference: a line across, as in the figure against the budget. */
        enum svg_kind kind = first->cell->budget_key[0] ? SVG_POINTS : SVG_FLAT;
        struct svg_series *s = add_series(&set, first->cell->policy, first->cell->policy, kind);
        for (int k = i; k < r->run->n_cells; k++)
            if (shown(r, k, panel) && !strcmp(r->cells[k].cell->policy, first->cell->policy))
                add_point(&set, s, r->cells[k].kv_density, &r->cells[k]);
    }
    if (set.n_points < 2)
        return;
    struct svg_chart chart = {
        .id = "reads",
        .title = "accuracy against KV reads",
        .desc = "Accuracy with 95 % intervals against the share of KV tokens that was read, one "
                "point per cell; the values are in accuracy.csv.",
        .x = {"KV tokens read, share of full attention", 0, 1.02, 0, 1},
        .y = {"accuracy", 0, 1, 0, 1}};
    add_figure(
        d, &r->panels[panel], &set, chart, "accuracy_reads",
        "What the engine counted, not what the budget promised; up and to the left is better. Points that "
        "would hide each other stand side by side.");
}

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
        points[i] = (struct svg_point){steps[i].x, steps[i].share, NAN, NAN};
    const char *name =
        n_cut ? arena_printf(r->arena, "%s (%.0f%% cut)", c->policy_label, 100 * (double)n_cut / (double)m)
              : c->policy_label;
    struct svg_series *curve = add_series(set, name, c->policy, SVG_STEP);
    curve->points = points;
    curve->n = n_steps;
    curve->cut_x = n_cut ? longest : NAN;
    curve->is_wide = c->is_baseline;
    free(items);
    free(steps);
}

/* More curves than this cannot be told apart: then only the cell of each policy that reads least is drawn. */
enum { CURVES_MAX = 7 };

static int is_drawn(const struct report *r, int i, int panel)
{
    const struct cell_stats *s = &r->cells[i];
    int n = 0, least = i;
    for (int k = 0; k < r->run->n_cells; k++) {
        if (!shown(r, k, panel))
            continue;
        n++;
        double v = r->cells[k].kv_density, w = r->cells[least].kv_density;
        if (!strcmp(r->cells[k].cell->policy, s->cell->policy) && (v < w || (v <= w && k < least)))
            least = k;
    }
    return n <= CURVES_MAX || i == least;
}

static void plot_lengths(struct doc *d, const struct report *r, int panel)
{
    struct series_set set = new_set(r);
    int left_out = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        if (!shown(r, i, panel))
            continue;
        if (is_drawn(r, i, panel))
            add_lengths(&set, r, &r->cells[i]);
        else
            left_out++;
    }
    if (!set.n)
        return;
    struct svg_chart chart = {
        .id = "lengths",
        .title = "completion lengths",
        .desc = "Share of completions that ended by a length, as a step curve per cell; a curve "
                "with completions cut off at the length limit ends there in a bar.",
        .x = {"completion length, tokens", 0, NAN, 0, 0},
        .y = {"share of completions ended", 0, 1, 0, 1}};
    const char *note =
        "A curve that ends in a bar stops at the length limit: the completions above it were cut off there "
        "and would have gone on.";
    if (left_out)
        note = arena_printf(
            d->arena, "%s Of each policy the cell that reads least is drawn; all are in lengths.csv.", note);
    add_figure(d, &r->panels[panel], &set, chart, "length_cdf", note);
}

void report_add_plots(struct doc *d, const struct report *r)
{
    doc_section(d, "figures", "Figures");
    for (int i = 0; i < r->n_panels; i++) {
        plot_budget(d, r, i);
        plot_reads(d, r, i);
        plot_lengths(d, r, i);
        report_add_heat_maps(d, r, i);
    }
}

static void matrix_levels(signed char *level, const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    int n = c->task->n_problems;
    for (int i = 0; i < n; i++) {
        double share = s->jobs[i] ? s->sum[i] / (double)s->jobs[i] : -2;
        level[i] = (signed char)(share < -1     ? -2
                                 : share <= 0   ? 0
                                 : share >= 1   ? 4
                                 : share < 0.34 ? 1
                                 : share < 0.67 ? 2
                                                : 3);
    }
    for (int i = 0; i < c->n_records; i++) {
        enum verdict v = c->records[i].verdict;
        signed char *at = &level[c->records[i].problem];
        if (*at == 0 && v != VERDICT_WRONG && v != VERDICT_AMBIGUOUS && v != VERDICT_CORRECT)
            *at = -1;
    }
}

static void plot_matrix(struct doc *d, const struct report *r, int panel)
{
    const struct panel *p = &r->panels[panel];
    size_t columns = (size_t)p->task->n_problems, n = 0;
    const char **names = arena_alloc(d->arena, (size_t)(r->run->n_cells + 1) * sizeof *names);
    signed char *level = arena_alloc(d->arena, ((size_t)r->run->n_cells + 1) * (columns + 1));
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (!shown(r, i, panel) || s->cell->task->n_problems != p->task->n_problems)
            continue;
        names[n] = s->cell->policy_label;
        matrix_levels(level + n++ * columns, s);
    }
    if (!n || !columns)
        return;
    const char *title = arena_printf(d->arena, "%s: problem by problem", p->title);
    struct svg_matrix m = {
        .id = arena_printf(d->arena, "problems-%s", p->slug),
        .title = title,
        .desc = "One row per cell, one square per problem in the order of the task; the verdicts are "
                "in lengths.csv.",
        .names = names,
        .n_rows = n,
        .n_columns = columns,
        .level = level};
    struct str svg = {0};
    svg_matrix(&svg, &m);
    doc_figure(
        d, arena_printf(d->arena, "problems_%s.svg", p->slug), title, &svg, columns > 20,
        "In the task's order. Look for columns that only one policy loses; lengths.csv names the problems.");
}

void report_add_matrix(struct doc *d, const struct report *r)
{
    doc_section(d, "problems", "Problem by problem");
    for (int i = 0; i < r->n_panels; i++)
        plot_matrix(d, r, i);
}
