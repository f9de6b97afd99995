/* published.csv: a row per figure of a paper that has a cell. */
#include <math.h>

#include "evalcore/export/csv_write.h"

static const struct csv_column columns[] = {
    CSV_CELL_COLUMNS,
    CSV_MODEL_COLUMN,
    CSV_POLICY_COLUMN,
    CSV_TASK_COLUMN,
    {"paper", CSV_TEXT, "", "the paper"},
    {"where", CSV_TEXT, "", "table or figure"},
    {"paper_task", CSV_TEXT, "", "the paper's task"},
    {"metric", CSV_TEXT, "", "accuracy, score or mean_tokens"},
    {"word", CSV_TEXT, "", "about or below before the paper's number"},
    {"published", CSV_FLOAT, "fraction or tokens", "the paper's number"},
    {"published_low", CSV_FLOAT, "fraction", "its 95 % interval by its number of problems"},
    {"published_high", CSV_FLOAT, "fraction", "its 95 % interval by its number of problems"},
    {"published_problems", CSV_INT, "problems", "the paper's problems"},
    {"published_samples", CSV_INT, "completions", "the paper's samples of a problem"},
    {"data_sets", CSV_INT, "data sets", "of this run in the mean"},
    {"measured", CSV_FLOAT, "fraction or tokens", "ours"},
    {"ci_low", CSV_FLOAT, "as measured", "95 % interval of ours"},
    {"ci_high", CSV_FLOAT, "as measured", "95 % interval of ours"},
    {"is_inside", CSV_BOOL, "", "is the paper's number inside our interval?"},
    {"p_problems", CSV_FLOAT, "probability", "Fisher's test over problems"},
    {"p_answers", CSV_FLOAT, "probability", "Fisher's test over answers"},
    {"told_from_low", CSV_FLOAT, "fraction", "accuracies of ours up to this could be told from the paper's"},
    {"told_from_high", CSV_FLOAT, "fraction",
     "accuracies of ours from this on could be told from the paper's"},
    {"differs", CSV_TEXT, "", "settings in which the paper and the cell differ"},
    {"verdict", CSV_TEXT, "", "in words"},
    {0}};

static void put_problem_figure(struct csv *c, const char *column, const struct published *x, double v)
{
    if (x->problems > 0)
        csv_int(c, column, lround(v));
    else
        csv_none(c, column);
}

static void write_published_row(struct csv *c, const struct report *r, const struct published *x)
{
    const struct cell *cell = r->cells[x->cell].cell;
    int is_known = isfinite(x->p), is_run = isfinite(x->measured);
    double n = (double)x->n_ours;
    csv_cell(c, cell);
    csv_text(c, "model", cell->model);
    csv_text(c, "policy", cell->policy);
    csv_text(c, "task", cell->task->name);
    csv_text(c, "paper", x->paper);
    csv_text(c, "where", x->where);
    csv_text(c, "paper_task", x->task);
    csv_text(c, "metric", x->metric);
    csv_text(c, "word", x->word);
    csv_float(c, "published", x->value);
    csv_float(c, "published_low", x->theirs_ci.low);
    csv_float(c, "published_high", x->theirs_ci.high);
    put_problem_figure(c, "published_problems", x, x->problems);
    put_problem_figure(c, "published_samples", x, x->samples);
    csv_int(c, "data_sets", x->n_cells);
    csv_float(c, "measured", x->measured);
    csv_float(c, "ci_low", x->ci.low);
    csv_float(c, "ci_high", x->ci.high);
    csv_bool(c, "is_inside", is_run && !x->is_bound ? x->value >= x->ci.low && x->value <= x->ci.high : NAN);
    csv_p(c, "p_problems", x->p);
    csv_p(c, "p_answers", x->p_answers);
    csv_float(c, "told_from_low", is_known && x->reach.low >= 0 ? (double)x->reach.low / n : NAN);
    csv_float(c, "told_from_high", is_known && x->reach.high <= x->n_ours ? (double)x->reach.high / n : NAN);
    csv_text(c, "differs", report_published_differs(r, x));
    csv_text(c, "verdict", report_published_verdict(r, x));
    csv_end(c);
}

static void write_published(struct csv *c, const struct report *r)
{
    for (int i = 0; i < r->n_published; i++)
        write_published_row(c, r, &r->published[i]);
}

const struct csv_table csv_published = {
    "published.csv", "A row per figure of a paper and the cell beside it.", columns, write_published};
