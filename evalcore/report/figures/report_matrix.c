/* Who solved what: one row per cell, one square per problem. */
#include "evalcore/report/figures/report_figures.h"
#include "evalcore/page/svg.h"

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

static int in_matrix(const struct report *r, int i, int panel)
{
    return report_is_shown(r, i, panel) &&
           r->cells[i].cell->task->n_problems == r->panels[panel].task->n_problems;
}

int report_has_matrix(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (in_matrix(r, i, panel))
            return r->panels[panel].task->n_problems > 0;
    return 0;
}

void report_draw_matrix(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    const struct panel *p = &r->panels[panel];
    size_t columns = (size_t)p->task->n_problems, n = 0;
    const char **names = arena_alloc(d->arena, (size_t)(r->run->n_cells + 1) * sizeof *names);
    signed char *level = arena_alloc(d->arena, ((size_t)r->run->n_cells + 1) * (columns + 1));
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (!in_matrix(r, i, panel))
            continue;
        names[n] = s->cell->policy_label;
        matrix_levels(level + n++ * columns, s);
    }
    const char *title = report_figure_title(d->arena, p, f);
    struct svg_matrix m = {.id = arena_printf(d->arena, "problems-%s", p->slug),
                           .title = title,
                           .desc = "One row per cell, one square per problem in the order of the task; the "
                                   "verdicts are in lengths.csv.",
                           .names = names,
                           .n_rows = n,
                           .n_columns = columns,
                           .level = level};
    struct str svg = {0};
    svg_matrix(&svg, &m);
    doc_figure(
        d, report_figure_file(d->arena, p, f), title, &svg, columns > 20,
        "In the task's order. Look for columns that only one policy loses; lengths.csv names the problems.");
}
