/* likelihood.csv: a row for each cell of a text, and one for each of its buckets of positions. */
#include <math.h>

#include "evalcore/export/csv_write.h"

static const struct csv_column columns[] = {
    CSV_CELL_COLUMNS,
    CSV_POLICY_COLUMN,
    CSV_BUDGET_COLUMNS,
    CSV_TASK_COLUMN,
    {"first_position", CSV_FLOAT, "tokens",
     "where the bucket begins; empty in the row of all buckets together"},
    {"tokens", CSV_INT, "tokens", "scored"},
    {"bytes", CSV_INT, "bytes", "of their text"},
    CSV_LIKELIHOOD_COLUMNS,
    {"baseline", CSV_TEXT, "", "id of the baseline's cell"},
    {"windows", CSV_INT, "windows", "scored in both"},
    {"delta", CSV_FLOAT, "bits per byte", "mean difference over windows; above 0 is worse"},
    {"ci_low", CSV_FLOAT, "bits per byte", "95 % interval of delta"},
    {"ci_high", CSV_FLOAT, "bits per byte", "95 % interval of delta"},
    {"p", CSV_FLOAT, "probability", "two-sided p of no difference, sign flips over windows"},
    {"p_holm", CSV_FLOAT, "probability", "p after Holm's adjustment within the text"},
    CSV_MODEL_COLUMN,
    CSV_SETTINGS_COLUMN,
    CSV_KIND_COLUMNS,
    {0}};

static void write_likelihood_row(struct csv *c, const struct report *r, int i, const struct likelihood *l)
{
    const struct cell_stats *s = &r->cells[i];
    const struct pair *p = l == &s->likelihood ? report_text_pair_of(r, i) : NULL;
    struct likelihood_bucket sum = likelihood_total(l);
    csv_cell(c, s->cell);
    csv_text(c, "policy", s->cell->policy);
    csv_budget(c, s);
    csv_text(c, "task", s->cell->task->name);
    csv_float(c, "first_position", l == &s->likelihood ? NAN : l->bucket[0].first);
    csv_int(c, "tokens", sum.tokens);
    csv_int(c, "bytes", (long)sum.bytes);
    csv_likelihood_fields(c, l);
    csv_text(c, "baseline", p ? r->cells[p->a].cell->id : NULL);
    if (p)
        csv_int(c, "windows", p->problems);
    else
        csv_none(c, "windows");
    csv_float(c, "delta", p ? p->delta : NAN);
    csv_float(c, "ci_low", p ? p->ci.low : NAN);
    csv_float(c, "ci_high", p ? p->ci.high : NAN);
    csv_p(c, "p", p ? p->p : NAN);
    csv_p(c, "p_holm", p ? p->holm : NAN);
    csv_text(c, "model", s->cell->model);
    csv_text(c, "settings", s->cell->settings);
    csv_kind(c, s);
    csv_end(c);
}

static void write_likelihood(struct csv *c, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct likelihood *l = &r->cells[i].likelihood;
        if (!r->run->cells[i].task->is_text)
            continue;
        write_likelihood_row(c, r, i, l);
        for (int k = 0; k < l->n; k++) {
            struct likelihood one = {.n = 1};
            one.bucket[0] = l->bucket[k];
            write_likelihood_row(c, r, i, &one);
        }
    }
}

const struct csv_table csv_likelihood = {
    "likelihood.csv", "A row for each cell of a text, and below it one for each bucket of positions.",
    columns, write_likelihood};
