/* pairs.csv and against.csv: a row per comparison of two cells. */
#include <math.h>

#include "evalcore/export/csv_write.h"

/* What two cells on the same problems give; the names of the columns differ. */
struct pair_names {
    const char *only_a, *only_b, *accuracy_a, *accuracy_b;
};

static void pair_fields(struct csv *c, const struct pair *p, const struct pair_names *n)
{
    csv_int(c, "problems", p->problems);
    csv_int(c, "both", p->both);
    csv_int(c, n->only_a, p->only_a);
    csv_int(c, n->only_b, p->only_b);
    csv_int(c, "neither", p->neither);
    csv_float(c, n->accuracy_a, p->accuracy_a);
    csv_float(c, n->accuracy_b, p->accuracy_b);
    csv_float(c, "delta", p->delta);
    csv_float(c, "ci_low", p->problems ? p->ci.low : NAN);
    csv_float(c, "ci_high", p->problems ? p->ci.high : NAN);
    csv_p(c, "p", p->p);
    csv_p(c, "p_holm", p->holm);
    csv_text(c, "test", p->test);
}

#define PAIR_COLUMNS(only_a, only_b, accuracy_a, accuracy_b, first, second)                                  \
    {"problems", CSV_INT, "problems", "answered in both"},                                                   \
        {"both", CSV_INT, "problems", "solved in both: a mean score above 1/2"},                             \
        {only_a, CSV_INT, "problems", "the same, of " first " alone"},                                       \
        {only_b, CSV_INT, "problems", "the same, of " second " alone"},                                      \
        {"neither", CSV_INT, "problems", "in neither a mean score above 1/2"},                               \
        {accuracy_a, CSV_FLOAT, "fraction", "mean over these problems, of " first},                          \
        {accuracy_b, CSV_FLOAT, "fraction", "mean over these problems, of " second},                         \
        {"delta", CSV_FLOAT, "fraction", "accuracy of " second " minus that of " first},                     \
        {"ci_low", CSV_FLOAT, "fraction", "95 % interval of delta"},                                         \
        {"ci_high", CSV_FLOAT, "fraction", "95 % interval of delta"},                                        \
        {"p", CSV_FLOAT, "probability", "two-sided p of no difference"},                                     \
        {"p_holm", CSV_FLOAT, "probability",                                                                 \
         "p after Holm's adjustment over the comparisons of the model in the task"},                         \
    {                                                                                                        \
        "test", CSV_TEXT, "", "mcnemar_exact, stratified_exact, signflip_exact or signflip_monte_carlo"      \
    }

static const struct csv_column pair_columns[] = {
    CSV_CELL_COLUMNS,
    CSV_POLICY_COLUMN,
    CSV_BUDGET_COLUMNS,
    CSV_TASK_COLUMN,
    {"baseline", CSV_TEXT, "", "id of the baseline's cell"},
    {"baseline_label", CSV_TEXT, "", "its label"},
    PAIR_COLUMNS("only_baseline", "only_cell", "baseline_accuracy", "accuracy", "the baseline", "the cell"),
    CSV_MODEL_COLUMN,
    CSV_SETTINGS_COLUMN,
    CSV_KIND_COLUMNS,
    CSV_MARK_COLUMNS,
    {0}};

static void write_pairs(struct csv *c, const struct report *r)
{
    static const struct pair_names names = {"only_baseline", "only_cell", "baseline_accuracy", "accuracy"};
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pair *p = &r->pairs[i];
        const struct cell *cell = r->cells[p->b].cell, *base = r->cells[p->a].cell;
        csv_cell(c, cell);
        csv_text(c, "policy", cell->policy);
        csv_budget(c, &r->cells[p->b]);
        csv_text(c, "task", cell->task->name);
        csv_text(c, "baseline", base->id);
        csv_text(c, "baseline_label", base->label);
        pair_fields(c, p, &names);
        csv_text(c, "model", cell->model);
        csv_text(c, "settings", cell->settings);
        csv_kind(c, &r->cells[p->b]);
        csv_marks(c, p, r->run->margin);
        csv_end(c);
    }
}

const struct csv_table csv_pairs = {"pairs.csv",
                                    "A row per comparison of a cell with the baseline's cell of its task.",
                                    pair_columns, write_pairs};

static const struct csv_column against_columns[] = {
    CSV_CELL_COLUMNS,
    CSV_POLICY_COLUMN,
    CSV_BUDGET_COLUMNS,
    CSV_TASK_COLUMN,
    {"old_cell", CSV_TEXT, "", "id of the other run's cell"},
    PAIR_COLUMNS("only_old", "only_new", "old_accuracy", "new_accuracy", "the old run", "the new run"),
    {"dropped_problems", CSV_INT, "problems", "in only one of the runs"},
    {"old_mean_tokens", CSV_FLOAT, "tokens", "mean length on the shared problems"},
    {"new_mean_tokens", CSV_FLOAT, "tokens", "mean length on the shared problems"},
    {"length_ratio", CSV_FLOAT, "ratio", "geometric mean over problems of new over old length"},
    {"length_p", CSV_FLOAT, "probability", "sign-flip test of that ratio being 1"},
    {"differs", CSV_TEXT, "",
     "what is not the same, reference answers and missing answers with their number"},
    CSV_MODEL_COLUMN,
    CSV_SETTINGS_COLUMN,
    CSV_KIND_COLUMNS,
    CSV_MARK_COLUMNS,
    {0}};

static void write_against(struct csv *c, const struct report *r)
{
    static const struct pair_names names = {"only_old", "only_new", "old_accuracy", "new_accuracy"};
    for (int i = 0; i < r->n_against; i++) {
        const struct against *x = &r->against[i];
        const struct cell_stats *s = &r->cells[x->pair.b];
        csv_cell(c, s->cell);
        csv_text(c, "policy", s->cell->policy);
        csv_budget(c, s);
        csv_text(c, "task", s->cell->task->name);
        csv_text(c, "old_cell", r->old->cells[x->pair.a].cell->id);
        pair_fields(c, &x->pair, &names);
        csv_int(c, "dropped_problems", x->dropped);
        csv_float(c, "old_mean_tokens", x->tokens_a);
        csv_float(c, "new_mean_tokens", x->tokens_b);
        csv_float(c, "length_ratio", x->length_ratio);
        csv_p(c, "length_p", x->length_p);
        csv_text(c, "differs", x->differs);
        csv_text(c, "model", s->cell->model);
        csv_text(c, "settings", s->cell->settings);
        csv_kind(c, s);
        csv_marks(c, &x->pair, r->run->margin);
        csv_end(c);
    }
}

const struct csv_table csv_against = {
    "against.csv",
    "A row per cell that has a counterpart in the other run (same label, task, "
    "model and swept settings; another model only where there is no choice).",
    against_columns, write_against};

/* ---- published.csv: a row per figure of a paper that has a cell. */

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
