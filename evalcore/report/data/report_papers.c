/* The accuracy table in the form of the papers (contract: report_papers.h). */
#include "evalcore/report/data/report_papers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_match.h"

static const struct cell_stats *stats_at(const struct report *r, int row, int column)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row && r->cells[i].column == column)
            return &r->cells[i];
    return NULL;
}

/* Is the difference of two rows' means over tasks significant? */
static double mean_p(const struct report *r, int a, int b)
{
    struct matched all = match_begin();
    struct pair pair;
    for (int col = 0; col < r->n_columns; col++) {
        const struct cell_stats *x = stats_at(r, a, col), *y = stats_at(r, b, col);
        if (x && y)
            match_add(&all, x, y, NULL);
    }
    match_weigh(&all, NULL);
    match_compare(&pair, &all, NAN);
    match_release(&all);
    return pair.p;
}

static double task_p(const struct report *r, int a, int b, int column)
{
    struct pair pair;
    report_compare(&pair, stats_at(r, a, column), stats_at(r, b, column), NULL);
    return pair.p;
}

/* Could any outcome of the column's comparisons have been significant? Otherwise all would be bold. */
static int can_distinguish(const struct report *r, int best, int column, const double *p)
{
    long problems = 0, samples = 0;
    int n = 0;
    for (int row = 0; row < r->n_rows; row++)
        n += !isnan(p[row]);
    for (int col = 0; best >= 0 && col < r->n_columns; col++) {
        const struct cell_stats *s = stats_at(r, best, col);
        if (!s || (column < r->n_columns && col != column))
            continue;
        int is_binary = !strcmp(s->cell->task->metric, "accuracy") && column < r->n_columns;
        for (int i = 0; i < s->cell->task->n_problems; i++) {
            problems += s->jobs[i] > 0;
            samples = is_binary && s->jobs[i] > samples ? s->jobs[i] : samples;
        }
    }
    return n && stat_can_differ(problems, samples > 0 ? samples : 1, n, 0.05);
}

/* column n_columns: of any task. */
static int lacks_answers(const struct report *r, int row, int column)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (s->row == row && s->column >= 0 && (column == r->n_columns || s->column == column) &&
            s->cell->n_records < s->cell->n_expected)
            return 1;
    }
    return 0;
}

/* Marks the best of one model's rows in one column, and those that do not differ from it significantly. */
static void mark_top(const struct report *r, struct paper_cell *t, int first, int column)
{
    int width = r->n_columns + 1, best = -1;
    double *p = xmalloc((size_t)r->n_rows * sizeof *p), *holm = xmalloc((size_t)r->n_rows * sizeof *holm);
    for (int row = first; row < r->n_rows; row++)
        if (report_family(r, row) == first && isfinite(t[row * width + column].value) &&
            (best < 0 || t[row * width + column].value > t[best * width + column].value))
            best = row;
#pragma omp parallel for schedule(dynamic, 1)
    for (int row = 0; row < r->n_rows; row++) {
        int is_compared = best >= 0 && row != best && report_family(r, row) == first &&
                          isfinite(t[row * width + column].value);
        p[row] = !is_compared             ? NAN
                 : column == r->n_columns ? mean_p(r, best, row)
                                          : task_p(r, best, row, column);
    }
    stat_holm(p, (size_t)r->n_rows, holm);
    if (!can_distinguish(r, best, column, p))
        best = -1;
    for (int row = 0; row < r->n_rows; row++)
        if (report_family(r, row) == first && lacks_answers(r, row, column))
            best = -1; /* the missing answers may make any of them the best */
    for (int row = 0; row < r->n_rows; row++)
        if (best >= 0 && (row == best || holm[row] >= 0.05))
            t[row * width + column].is_top = 1;
    free(p);
    free(holm);
}

const struct paper_cell *report_papers(const struct report *r)
{
    int width = r->n_columns + 1;
    struct paper_cell *t = arena_alloc(r->arena, (size_t)(r->n_rows * width + 1) * sizeof *t);
    for (int row = 0; row < r->n_rows; row++) {
        double sum = 0;
        for (int col = 0; col < r->n_columns; col++) {
            const struct cell_stats *s = stats_at(r, row, col);
            t[row * width + col] = (struct paper_cell){.cell = s ? (int)(s - r->cells) : -1,
                                                       .value = s ? s->accuracy : NAN,
                                                       .is_partial = lacks_answers(r, row, col)};
            sum += t[row * width + col].value;
        }
        t[row * width + r->n_columns] = (struct paper_cell){
            .cell = -1, .value = sum / r->n_columns, .is_partial = lacks_answers(r, row, r->n_columns)};
    }
    for (int row = 0; row < r->n_rows; row++)
        for (int col = 0; col < width && report_family(r, row) == row; col++)
            mark_top(r, t, row, col);
    return t;
}

static const struct cell *cell_of(const struct report *r, int row)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row)
            return r->cells[i].cell;
    return NULL;
}

const char *report_paper_method(const struct report *r, int row)
{
    const struct cell *c = cell_of(r, row);
    const char *name = report_label_without(r->arena, r->rows[row].policy_label, c ? c->budget_key : "");
    return report_setting_name(r->arena, name, r->rows[row].settings_label);
}

const char *report_paper_budget(const struct report *r, int row)
{
    const struct cell *c = cell_of(r, row);
    return c && *c->budget_key ? arena_printf(r->arena, "%s=%s", c->budget_key, c->budget) : "";
}
