/* accuracy.csv and settings.csv: a row per cell, and one per policy setting over all its tasks. */
#include <math.h>
#include <string.h>

#include "evalcore/export/csv_write.h"
#include "evalcore/report/data/report_group.h"

static const struct csv_column accuracy_columns[] = {
    CSV_CELL_COLUMNS,
    CSV_MODEL_COLUMN,
    CSV_POLICY_COLUMN,
    {"preset", CSV_TEXT, "", "the policy's preset"},
    {"params", CSV_TEXT, "JSON", "effective options of the policy"},
    CSV_BUDGET_COLUMNS,
    CSV_TASK_COLUMN,
    {"problems", CSV_INT, "problems", "problems of the task"},
    {"jobs", CSV_INT, "completions", "finished ones"},
    {"correct", CSV_INT, "completions", "verdict correct"},
    {"accuracy", CSV_FLOAT, "fraction",
     "mean score over finished completions, several greedy ones of a problem as one; for 0/1 scores the "
     "share that is correct"},
    {"ci_low", CSV_FLOAT, "fraction", "95 % interval of accuracy"},
    {"ci_high", CSV_FLOAT, "fraction", "95 % interval of accuracy"},
    {"mean_tokens", CSV_FLOAT, "tokens", "mean length of a completion, without failed jobs"},
    {"truncated", CSV_INT, "completions",
     "cut off at the length limit with no answer, thinking closed or never opened"},
    {"unparsed", CSV_INT, "completions", "ended by themselves without a readable answer"},
    {"unfinished", CSV_INT, "completions", "thinking never closed"},
    {"errors", CSV_INT, "completions", "the job failed"},
    {"kv_density", CSV_FLOAT, "fraction", "KV tokens read over those that full attention would have read"},
    {"peak_tokens", CSV_FLOAT, "tokens", "most tokens held while decoding, mean over completions"},
    {"wrong", CSV_INT, "completions", "a readable answer that is not the reference"},
    {"ambiguous", CSV_INT, "completions", "two answers that contradict each other"},
    {"length_limit", CSV_INT, "completions", "ended at the length limit, whatever the verdict"},
    {"median_tokens", CSV_FLOAT, "tokens", "median length of a completion"},
    {"p95_tokens", CSV_FLOAT, "tokens", "95 % quantile of the length of a completion"},
    {"aux_density", CSV_FLOAT, "fraction",
     "read to choose (page bounds, key scans), in KV tokens, over the same"},
    {"samples", CSV_INT, "completions", "per problem"},
    {"expected_jobs", CSV_INT, "completions", "of the whole cell; jobs below it are missing"},
    {"activity", CSV_TEXT, "",
     "active, budget not reached, or policy inactive (its budget was exceeded and it read everything)"},
    CSV_SETTINGS_COLUMN,
    {"budget_rule", CSV_TEXT, "", "the budget in words"},
    CSV_LIKELIHOOD_COLUMNS,
    {"total_density", CSV_FLOAT, "fraction",
     "total reads: kv_density and aux_density together; of a bound (oracle) kv_density alone"},
    CSV_KIND_COLUMNS,
    {"p_holm", CSV_FLOAT, "probability",
     "two-sided p of no difference from the baseline, adjusted within the task"},
    CSV_MARK_COLUMNS,
    CSV_IDLE_COLUMNS,
    {"prefill_density", CSV_FLOAT, "fraction",
     "KV tokens that the prompts' queries attended to, over those of a dense prefill; empty where a record "
     "lacks it"},
    {"prefill_aux_density", CSV_FLOAT, "fraction",
     "keys scanned to choose them, in KV tokens, over the same"},
    {"key_density", CSV_FLOAT, "fraction",
     "elements of keys that decode steps have to read under deltallm, whose other elements kept their value, "
     "over all; empty for other policies"},
    {"selected_density", CSV_FLOAT, "fraction",
     "KV tokens that a query head selects, mean over heads, over what full attention would have read; less "
     "than "
     "kv_density where the heads of a group select for themselves and read what any of them selects; empty "
     "where a record lacks it"},
    {"second_metric", CSV_TEXT, "",
     "of options that are scored: what the next three are by (acc_norm); accuracy is by the first"},
    {"second_accuracy", CSV_FLOAT, "fraction", "as accuracy, by the second metric"},
    {"second_ci_low", CSV_FLOAT, "fraction", "95 % interval of second_accuracy"},
    {"second_ci_high", CSV_FLOAT, "fraction", "95 % interval of second_accuracy"},
    {0}};

/* Counts of verdicts: a text has none. */
static void put_verdicts(struct csv *c, const char *column, const struct cell_stats *s, enum verdict v)
{
    if (s->cell->task->is_text)
        csv_none(c, column);
    else
        csv_int(c, column, s->count[v]);
}

static void accuracy_row(struct csv *c, const struct report *r, int i)
{
    const struct cell_stats *s = &r->cells[i];
    const struct cell *cell = s->cell;
    const struct pair *p = report_pair_of(r, i);
    csv_cell(c, cell);
    csv_text(c, "model", cell->model);
    csv_text(c, "policy", cell->policy);
    csv_text(c, "preset", cell->preset);
    csv_text(c, "params", cell->params);
    csv_budget(c, s);
    csv_text(c, "task", cell->task->name);
    csv_int(c, "problems", cell->task->n_problems);
    csv_int(c, "jobs", cell->n_records);
    put_verdicts(c, "correct", s, VERDICT_CORRECT);
    csv_float(c, "accuracy", s->accuracy);
    csv_float(c, "ci_low", isfinite(s->accuracy) ? s->ci.low : NAN);
    csv_float(c, "ci_high", isfinite(s->accuracy) ? s->ci.high : NAN);
    csv_float(c, "mean_tokens", s->mean_tokens);
    put_verdicts(c, "truncated", s, VERDICT_TRUNCATED);
    put_verdicts(c, "unparsed", s, VERDICT_UNPARSED);
    put_verdicts(c, "unfinished", s, VERDICT_UNFINISHED);
    csv_int(c, "errors", s->count[VERDICT_ERROR]);
    csv_float(c, "kv_density", s->kv_density);
    csv_float(c, "peak_tokens", s->peak_tokens);
    put_verdicts(c, "wrong", s, VERDICT_WRONG);
    put_verdicts(c, "ambiguous", s, VERDICT_AMBIGUOUS);
    csv_int(c, "length_limit", s->n_length);
    csv_float(c, "median_tokens", s->median_tokens);
    csv_float(c, "p95_tokens", s->p95_tokens);
    csv_float(c, "aux_density", s->aux_density);
    csv_int(c, "samples", cell->samples);
    csv_int(c, "expected_jobs", cell->n_expected);
    csv_text(c, "activity", csv_activity(s->activity));
    csv_text(c, "settings", cell->settings);
    csv_text(c, "budget_rule", cell->budget_rule);
    csv_likelihood_fields(c, &s->likelihood);
    csv_float(c, "total_density", s->total_density);
    csv_kind(c, s);
    csv_p(c, "p_holm", p ? p->holm : NAN);
    csv_marks(c, p, r->run->margin);
    csv_int(c, "answered_problems", s->n_answered);
    csv_int(c, "idle_problems", s->n_idle);
    csv_float(c, "prefill_density", s->prefill_density);
    csv_float(c, "prefill_aux_density", s->prefill_aux_density);
    csv_float(c, "key_density", s->key_density);
    csv_float(c, "selected_density", s->selected_density);
    csv_text(c, "second_metric", s->second_name);
    csv_float(c, "second_accuracy", s->second);
    csv_float(c, "second_ci_low", s->second_name ? s->second_ci.low : NAN);
    csv_float(c, "second_ci_high", s->second_name ? s->second_ci.high : NAN);
    csv_end(c);
}

static void write_accuracy(struct csv *c, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        accuracy_row(c, r, i);
}

const struct csv_table csv_accuracy = {"accuracy.csv", "A row per cell, in the order of the run file.",
                                       accuracy_columns, write_accuracy};

static const struct csv_column settings_columns[] = {
    {"label", CSV_TEXT, "", "label of the setting: the policy's \"as\" or name with its swept options"},
    CSV_MODEL_COLUMN,
    CSV_POLICY_COLUMN,
    {"swept", CSV_TEXT, "", "swept generation settings"},
    {"baseline", CSV_TEXT, "", "label of the setting that it is compared with; empty for the baseline"},
    {"tasks", CSV_INT, "tasks", "compared together"},
    {"problems", CSV_INT, "problems", "answered by both, over all tasks"},
    {"both", CSV_INT, "problems", "solved by both: a mean score above 1/2"},
    {"only_baseline", CSV_INT, "problems", "solved by the baseline alone"},
    {"only_setting", CSV_INT, "problems", "solved by the setting alone"},
    {"neither", CSV_INT, "problems", "solved by neither"},
    {"baseline_accuracy", CSV_FLOAT, "fraction", "mean over these problems; all tasks weigh the same"},
    {"accuracy", CSV_FLOAT, "fraction",
     "mean over all problems that the setting has answered; all tasks weigh the same"},
    {"accuracy_low", CSV_FLOAT, "fraction", "95 % interval of accuracy"},
    {"accuracy_high", CSV_FLOAT, "fraction", "95 % interval of accuracy"},
    {"delta", CSV_FLOAT, "fraction", "compared_accuracy minus baseline_accuracy"},
    {"ci_low", CSV_FLOAT, "fraction", "95 % interval of delta"},
    {"ci_high", CSV_FLOAT, "fraction", "95 % interval of delta"},
    {"p", CSV_FLOAT, "probability", "two-sided p of no difference"},
    {"p_holm", CSV_FLOAT, "probability", "p after Holm's adjustment over the settings of the model"},
    {"test", CSV_TEXT, "", "mcnemar_exact, stratified_exact, signflip_exact or signflip_monte_carlo"},
    CSV_MARK_COLUMNS,
    {"could_lower", CSV_BOOL, "", "could any outcome have been marked lower?"},
    {"could_higher", CSV_BOOL, "", "could any outcome have been marked higher?"},
    {"could_within", CSV_BOOL, "",
     "could any outcome have been marked within? with several samples only no difference and a gain of "
     "everything are tried, so 0 is no proof"},
    {"kv_density", CSV_FLOAT, "fraction", "KV tokens read over those of full attention, over all tasks"},
    {"aux_density", CSV_FLOAT, "fraction", "read to choose, over the same"},
    {"total_density", CSV_FLOAT, "fraction",
     "total reads: both together; of a bound (oracle) kv_density alone"},
    {"activity", CSV_TEXT, "", "as in accuracy.csv; policy inactive where it is so in some task"},
    CSV_BUDGET_COLUMNS,
    CSV_KIND_COLUMNS,
    {"budget_rule", CSV_TEXT, "", "the budget in words"},
    CSV_IDLE_COLUMNS,
    {"compared_accuracy", CSV_FLOAT, "fraction",
     "mean over the problems that the baseline has answered, too; all tasks weigh the same"},
    {0}};

static void put_count(struct csv *c, const char *column, const struct setting *s, long v)
{
    if (s->baseline_row >= 0)
        csv_int(c, column, v);
    else
        csv_none(c, column);
}

static void setting_difference(struct csv *c, const struct report *r, const struct setting *s)
{
    const struct pair *p = &s->pooled;
    csv_text(c, "baseline", s->baseline_row < 0 ? NULL : r->rows[s->baseline_row].policy_label);
    put_count(c, "tasks", s, s->n_tasks);
    put_count(c, "problems", s, p->problems);
    put_count(c, "both", s, p->both);
    put_count(c, "only_baseline", s, p->only_a);
    put_count(c, "only_setting", s, p->only_b);
    put_count(c, "neither", s, p->neither);
    csv_float(c, "baseline_accuracy", p->accuracy_a);
    csv_float(c, "accuracy", s->accuracy);
    csv_float(c, "accuracy_low", isfinite(s->accuracy) ? s->ci.low : NAN);
    csv_float(c, "accuracy_high", isfinite(s->accuracy) ? s->ci.high : NAN);
    csv_float(c, "delta", p->delta);
    csv_float(c, "ci_low", p->problems ? p->ci.low : NAN);
    csv_float(c, "ci_high", p->problems ? p->ci.high : NAN);
    csv_p(c, "p", p->p);
    csv_p(c, "p_holm", p->holm);
    csv_text(c, "test", p->test);
    csv_marks(c, s->baseline_row >= 0 ? p : NULL, r->run->margin);
    csv_bool(c, "could_lower", s->baseline_row >= 0 ? (p->could >> MARK_LOWER) & 1 : NAN);
    csv_bool(c, "could_higher", s->baseline_row >= 0 ? (p->could >> MARK_HIGHER) & 1 : NAN);
    csv_bool(c, "could_within", s->baseline_row >= 0 ? (p->could >> MARK_WITHIN) & 1 : NAN);
}

static void setting_row(struct csv *c, const struct report *r, const struct setting *s)
{
    const struct cell_stats *first = NULL;
    for (int i = 0; i < r->run->n_cells && !first; i++)
        if (r->cells[i].row == s->row && r->cells[i].column >= 0)
            first = &r->cells[i];
    csv_text(c, "label", r->rows[s->row].policy_label);
    csv_text(c, "model", r->rows[s->row].model);
    csv_text(c, "policy", first->cell->policy);
    csv_text(c, "swept", r->rows[s->row].settings_label);
    setting_difference(c, r, s);
    csv_float(c, "kv_density", s->kv_share);
    csv_float(c, "aux_density", s->aux_share);
    csv_float(c, "total_density", s->reads);
    csv_text(c, "activity", csv_activity(s->activity));
    csv_budget(c, first);
    csv_kind(c, first);
    csv_text(c, "budget_rule", first->cell->budget_rule);
    csv_int(c, "answered_problems", s->n_answered);
    csv_int(c, "idle_problems", s->n_idle);
    csv_float(c, "compared_accuracy", s->pooled.problems ? s->pooled.accuracy_b : NAN);
    csv_end(c);
}

static void write_settings(struct csv *c, const struct report *r)
{
    for (int i = 0; i < r->n_settings; i++)
        setting_row(c, r, &r->settings[i]);
}

const struct csv_table csv_settings = {"settings.csv",
                                       "A row per policy setting over all its tasks with answers: the "
                                       "verdicts. Budgets are those of its first task.",
                                       settings_columns, write_settings};

/* ---- longbench.csv and ruler.csv: means over groups of data sets, and how they compare with the baseline's.
 */

#define SETTING_COLUMNS                                                                                      \
    CSV_MODEL_COLUMN, {"policy", CSV_TEXT, "", "label of the policy setting"},                               \
    {                                                                                                        \
        "swept", CSV_TEXT, "", "swept generation settings"                                                   \
    }
#define SCORE_COLUMNS                                                                                        \
    {"score", CSV_FLOAT, "fraction", "mean of the data sets' scores"},                                       \
        {"ci_low", CSV_FLOAT, "fraction", "95 % interval of score"},                                         \
        {"ci_high", CSV_FLOAT, "fraction", "95 % interval of score"},                                        \
        {"delta", CSV_FLOAT, "fraction", "mean difference from the baseline, weighed like score"},           \
        {"p_holm", CSV_FLOAT, "probability",                                                                 \
         "two-sided p of no difference, adjusted over the settings of the model"},                           \
        CSV_MARK_COLUMNS

static void setting_fields(struct csv *c, const struct report *r, int row)
{
    csv_text(c, "model", r->rows[row].model);
    csv_text(c, "policy", r->rows[row].policy_label);
    csv_text(c, "swept", r->rows[row].settings_label);
}

static void score_fields(struct csv *c, const struct report *r, double mean, struct interval ci,
                         const struct pair *p)
{
    csv_float(c, "score", mean);
    csv_float(c, "ci_low", ci.low);
    csv_float(c, "ci_high", ci.high);
    csv_float(c, "delta", p ? p->delta : NAN);
    csv_p(c, "p_holm", p ? p->holm : NAN);
    csv_marks(c, p, r->run->margin);
    csv_end(c);
}

static const struct csv_column longbench_columns[] = {
    SETTING_COLUMNS,
    {"class", CSV_TEXT, "", "class of data sets; longbench.avg: the mean of the six"},
    {"data_sets", CSV_INT, "data sets", "with results"},
    {"data_sets_expected", CSV_INT, "data sets", "of the class"},
    SCORE_COLUMNS,
    {0}};

static void write_longbench(struct csv *c, const struct report *r)
{
    const struct pair *marks = longbench_pairs(r);
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k <= LONGBENCH_CLASSES; k++) {
            struct longbench_mean m = longbench_mean(r, k, row);
            const struct pair *p = &marks[row * (LONGBENCH_CLASSES + 1) + k];
            if (!longbench_mean(r, LONGBENCH_CLASSES, row).n)
                continue;
            setting_fields(c, r, row);
            csv_text(c, "class", longbench_name(k));
            csv_int(c, "data_sets", m.n);
            csv_int(c, "data_sets_expected", m.n_sets);
            score_fields(c, r, m.mean, m.ci, p->problems ? p : NULL);
        }
}

const struct csv_table csv_longbench = {"longbench.csv", "A row per policy setting and class of LongBench.",
                                        longbench_columns, write_longbench};

static const struct csv_column ruler_columns[] = {
    SETTING_COLUMNS,
    {"tokens", CSV_INT, "tokens", "length of prompt and completion"},
    {"families", CSV_INT, "families", "with results"},
    SCORE_COLUMNS,
    {0}};

static void write_ruler(struct csv *c, const struct report *r)
{
    int n;
    const int *lengths = ruler_lengths(r, &n);
    const struct pair *marks = ruler_pairs(r);
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k < n; k++) {
            struct group_mean m = ruler_mean(r, row, lengths[k]);
            const struct pair *p = &marks[row * n + k];
            if (!m.n)
                continue;
            setting_fields(c, r, row);
            csv_int(c, "tokens", lengths[k]);
            csv_int(c, "families", m.n);
            score_fields(c, r, m.mean, m.ci, p->problems ? p : NULL);
        }
}

const struct csv_table csv_ruler = {"ruler.csv", "A row per policy setting and length of RULER's tasks.",
                                    ruler_columns, write_ruler};
