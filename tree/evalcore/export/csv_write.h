#ifndef EVALCORE_EXPORT_CSV_WRITE_H
#define EVALCORE_EXPORT_CSV_WRITE_H

#include "evalcore/base/csv_row.h"
#include "evalcore/export/csv_tables.h"

/* Writing rows, for the files of this room. Each call names the column that it fills, which must be the
 * table's next and of the function's type; a table and its code that disagree end the program (abort) at the
 * first row. Nothing else fails, and nothing is returned. */
struct csv {
    struct csv_row row;
    const struct csv_table *table;
};

/* Each appends the next field to the row. csv_p() writes a probability with six significant digits, into a
 * column of type CSV_FLOAT; csv_none() leaves a field of any type empty; csv_end()
 * ends the row, whose fields must all be there. */
void csv_text(struct csv *c, const char *column, const char *s); /* NULL and "": empty */
void csv_int(struct csv *c, const char *column, long v);
void csv_float(struct csv *c, const char *column, double v); /* not finite: empty */
void csv_bool(struct csv *c, const char *column, double v);  /* 1, 0, or NaN for empty */
void csv_p(struct csv *c, const char *column, double p);     /* not finite: empty */
void csv_none(struct csv *c, const char *column);
void csv_end(struct csv *c);

extern const struct csv_table csv_accuracy, csv_settings, csv_pairs, csv_lengths, csv_likelihood, csv_against,
    csv_published, csv_longbench, csv_ruler, csv_samples;

/* ---- columns that several tables have, and their values */

#define CSV_CELL_COLUMNS                                                                                     \
    {"cell", CSV_TEXT, "", "id of the cell"},                                                                \
    {                                                                                                        \
        "label", CSV_TEXT, "", "label of the cell: policy with its swept options, and the task's \"as\""     \
    }
#define CSV_MODEL_COLUMN                                                                                     \
    {                                                                                                        \
        "model", CSV_TEXT, "", "model, as the run file names it"                                             \
    }
#define CSV_POLICY_COLUMN                                                                                    \
    {                                                                                                        \
        "policy", CSV_TEXT, "", "registered name of the policy"                                              \
    }
#define CSV_TASK_COLUMN                                                                                      \
    {                                                                                                        \
        "task", CSV_TEXT, "", "registered name of the task"                                                  \
    }
#define CSV_SETTINGS_COLUMN                                                                                  \
    {                                                                                                        \
        "settings", CSV_TEXT, "JSON", "effective generation settings"                                        \
    }
#define CSV_BUDGET_COLUMNS                                                                                   \
    {"k_pages", CSV_INT, "pages", "option of the policy; empty when it has none of this name"},              \
        {"l_pages", CSV_INT, "pages", "option of the policy; empty when it has none of this name"},          \
    {                                                                                                        \
        "budget_tokens", CSV_FLOAT, "tokens",                                                                \
            "the budget of every policy as tokens that a step may read: pages times 16, a share or a "       \
            "divisor of the mean "                                                                           \
            "context; empty for full attention and before anything was decoded"                              \
    }
#define CSV_KIND_COLUMNS                                                                                     \
    {"budget_kind", CSV_TEXT, "",                                                                            \
     "the option that is the budget: k_pages, budget_tokens, ratio, cr or gate; empty for full attention"},  \
        {"budget_value", CSV_TEXT, "",                                                                       \
         "its value as the run file gives it: a number, or the file of a gate"},                             \
    {                                                                                                        \
        "budget_beside", CSV_FLOAT, "tokens", "of the prompt, which a step reads besides its budget (RaaS)"  \
    }
#define CSV_LIKELIHOOD_COLUMNS                                                                               \
    {"bits_per_byte", CSV_FLOAT, "bits per byte",                                                            \
     "of a text: -log2 of its tokens' probabilities over its bytes"},                                        \
        {"kl", CSV_FLOAT, "nats", "of a text: divergence from full attention, mean over tokens"},            \
    {                                                                                                        \
        "top1", CSV_FLOAT, "fraction",                                                                       \
            "of a text: tokens with the same likeliest token as under full attention"                        \
    }
#define CSV_IDLE_COLUMNS                                                                                     \
    {"answered_problems", CSV_INT, "problems", "with at least one finished completion"},                     \
    {                                                                                                        \
        "idle_problems", CSV_INT, "problems",                                                                \
            "of these, on which no step read less than full attention does, though the policy has a budget"  \
    }
#define CSV_MARK_COLUMNS                                                                                     \
    {"margin", CSV_FLOAT, "points", "what may be lost and still be called as good"},                         \
        {"p_noninferior", CSV_FLOAT, "probability", "one-sided p of a loss of at least the margin"},         \
        {"p_noninferior_holm", CSV_FLOAT, "probability",                                                     \
         "the same after Holm's adjustment over the family of p_holm"},                                      \
        {"mark", CSV_TEXT, "",                                                                               \
         "lower, higher, within (as good within the margin), open (not decided), too_few (no outcome of so " \
         "many problems could have earned a mark) or incomplete (answers are missing, so none is given)"},   \
    {                                                                                                        \
        "enough_problems", CSV_INT, "problems",                                                              \
            "open: about how many decide it if the shares stay as they are; too_few: the fewest that "       \
            "could; empty beyond "                                                                           \
            "100,000"                                                                                        \
    }

/* Fill the fields of the column lists above: CSV_CELL_COLUMNS, CSV_BUDGET_COLUMNS, CSV_KIND_COLUMNS,
 * CSV_LIKELIHOOD_COLUMNS and CSV_MARK_COLUMNS, in this order. A field without a value is left empty.
 * csv_activity() returns the word for an activity, a constant; "" for ACTIVITY_FULL and ACTIVITY_UNKNOWN. */
void csv_cell(struct csv *c, const struct cell *cell);
void csv_budget(struct csv *c, const struct cell_stats *s);
void csv_kind(struct csv *c, const struct cell_stats *s);
void csv_likelihood_fields(struct csv *c, const struct likelihood *l);
void csv_marks(struct csv *c, const struct pair *p, double margin); /* p NULL or not compared: all empty */
const char *csv_activity(enum activity a);

#endif
