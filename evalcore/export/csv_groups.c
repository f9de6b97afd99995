/* longbench.csv and ruler.csv: means over groups of data sets, and how they compare with the baseline's. */
#include <math.h>

#include "evalcore/export/csv_write.h"
#include "evalcore/report/data/report_longbench.h"
#include "evalcore/report/data/report_ruler.h"

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
