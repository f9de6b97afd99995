/* lengths.csv: a row per completion. */
#include <math.h>
#include <string.h>

#include "evalcore/export/csv_write.h"
#include "evalcore/report/data/report_samples.h"

enum { CELLS_AT_ONCE = 16 };

static const struct csv_column record_columns[] = {
    CSV_CELL_COLUMNS,
    CSV_POLICY_COLUMN,
    CSV_BUDGET_COLUMNS,
    CSV_TASK_COLUMN,
    {"problem", CSV_TEXT, "", "id of the problem"},
    {"sample", CSV_INT, "", "number of the sample, from 0"},
    {"tokens", CSV_INT, "tokens",
     "length of the completion without the end token; empty where the job failed"},
    {"finish", CSV_TEXT, "", "stop (end token or stop string), length (the limit) or error"},
    {"correct", CSV_BOOL, "", "is the verdict correct? empty for a window of a text"},
    {"verdict", CSV_TEXT, "", "correct, wrong, ambiguous, unparsed, unfinished, truncated or error"},
    {"score", CSV_FLOAT, "fraction", "1 or 0, or the metric's value"},
    {"prompt_tokens", CSV_INT, "tokens", "length of the prompt"},
    {"kv_reads", CSV_FLOAT, "tokens", "KV tokens read, summed over decode steps"},
    {"kv_reads_full", CSV_FLOAT, "tokens", "what full attention would have read"},
    {"peak_tokens", CSV_FLOAT, "tokens",
     "most tokens held while decoding; empty where the job failed or ended with the prompt's pass"},
    CSV_LIKELIHOOD_COLUMNS,
    {"aux_reads", CSV_FLOAT, "tokens", "read to choose, in KV tokens; total reads are kv_reads and this"},
    CSV_MODEL_COLUMN,
    CSV_SETTINGS_COLUMN,
    CSV_KIND_COLUMNS,
    {"prefill_reads", CSV_FLOAT, "tokens",
     "KV tokens read by the prompt's n queries, n (n + 1) / 2 in a dense prefill; empty where the record "
     "lacks it"},
    {"prefill_aux_reads", CSV_FLOAT, "tokens", "keys scanned to choose them, in KV tokens"},
    {"kv_selected", CSV_FLOAT, "tokens",
     "KV tokens that a query head selected, mean over heads, summed over decode steps; empty where the "
     "record lacks it"},
    {0}};

static void write_record_row(struct csv *c, const struct cell_stats *s, const struct record *rec)
{
    static const struct likelihood none;
    const struct cell *cell = s->cell;
    int is_text = rec->likelihood != NULL, has_failed = rec->finish == FINISHED_ERROR;
    csv_cell(c, cell);
    csv_text(c, "policy", cell->policy);
    csv_budget(c, s);
    csv_text(c, "task", cell->task->name);
    csv_text(c, "problem", cell->task->problems[rec->problem].id);
    csv_int(c, "sample", rec->sample);
    if (has_failed)
        csv_none(c, "tokens");
    else
        csv_int(c, "tokens", rec->tokens);
    csv_text(c, "finish", finish_name(rec->finish));
    csv_bool(c, "correct", is_text ? NAN : rec->verdict == VERDICT_CORRECT);
    csv_text(c, "verdict", is_text ? NULL : verdict_name(rec->verdict));
    csv_float(c, "score", is_text ? NAN : rec->score);
    csv_int(c, "prompt_tokens", rec->prompt_tokens);
    csv_float(c, "kv_reads", rec->kv.reads);
    csv_float(c, "kv_reads_full", rec->kv.reads_full);
    csv_float(c, "peak_tokens", has_failed || rec->kv.peak_tokens == 0 ? NAN : rec->kv.peak_tokens);
    csv_likelihood_fields(c, is_text ? rec->likelihood : &none);
    csv_float(c, "aux_reads", rec->kv.aux_reads);
    csv_text(c, "model", cell->model);
    csv_text(c, "settings", cell->settings);
    csv_kind(c, s);
    csv_float(c, "prefill_reads", rec->kv.prefill_reads > 0 ? rec->kv.prefill_reads : NAN);
    csv_float(c, "prefill_aux_reads", rec->kv.prefill_reads > 0 ? rec->kv.prefill_aux_reads : NAN);
    csv_float(c, "kv_selected", rec->kv.selected > 0 ? rec->kv.selected : NAN);
    csv_end(c);
}

/* Rows of several cells are written side by side, each cell's into a text of its own, and put together in the
 * order of cells; a few cells at a time, for the whole is large. */
static void write_lengths(struct csv *c, const struct report *r)
{
    struct str part[CELLS_AT_ONCE];
    int n = r->run->n_cells;
    for (int at = 0; at < n; at += CELLS_AT_ONCE) {
        int some = n - at < CELLS_AT_ONCE ? n - at : CELLS_AT_ONCE;
        memset(part, 0, sizeof part);
#pragma omp parallel for schedule(dynamic, 1)
        for (int i = 0; i < some; i++) {
            struct csv own = {{&part[i], 0}, c->table};
            const struct cell_stats *s = &r->cells[at + i];
            for (int k = 0; k < s->cell->n_records; k++)
                write_record_row(&own, s, &s->cell->records[k]);
        }
        for (int i = 0; i < some; i++) {
            str_add(c->row.out, str_text(&part[i]), part[i].len);
            str_release(&part[i]);
        }
    }
}

const struct csv_table csv_lengths = {"lengths.csv", "A row per completion.", record_columns, write_lengths};

/* ---- samples.csv: what several answers to a problem say about each cell. */

static const struct csv_column sample_columns[] = {
    CSV_CELL_COLUMNS,
    CSV_MODEL_COLUMN,
    CSV_POLICY_COLUMN,
    CSV_TASK_COLUMN,
    {"samples", CSV_INT, "", "answers to each problem"},
    {"problems", CSV_INT, "problems", "that have all their answers; the others are left out"},
    {"measure", CSV_TEXT, "",
     "avg (mean of all answers), pass (one of k is right, over all choices of k answers) or maj (the "
     "commonest "
     "of k is right; a tie of t counts 1/t)"},
    {"k", CSV_INT, "", "answers that the measure is about"},
    {"value", CSV_FLOAT, "fraction", "mean over problems"},
    {"standard_error", CSV_FLOAT, "fraction", "of value, across problems; empty with one problem"},
    CSV_SETTINGS_COLUMN,
    {0}};

static void write_sample_row(struct csv *c, const struct cell *cell, const struct sample_stats *s,
                             const struct sample_value *v)
{
    csv_cell(c, cell);
    csv_text(c, "model", cell->model);
    csv_text(c, "policy", cell->policy);
    csv_text(c, "task", cell->task->name);
    csv_int(c, "samples", s->n);
    csv_int(c, "problems", s->n_problems);
    csv_text(c, "measure", sample_kind_name(v->kind));
    csv_int(c, "k", v->k);
    csv_float(c, "value", v->over.mean);
    csv_float(c, "standard_error", v->over.se);
    csv_text(c, "settings", cell->settings);
    csv_end(c);
}

static void write_samples(struct csv *c, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        struct sample_stats s;
        report_samples(&s, &r->cells[i]);
        for (int k = 0; k < s.n_values; k++)
            write_sample_row(c, r->cells[i].cell, &s, &s.value[k]);
    }
}

const struct csv_table csv_samples = {"samples.csv",
                                      "A row per cell with several answers to a problem, and measure.",
                                      sample_columns, write_samples};

/* ---- likelihood.csv: a row for each cell of a text, and one for each of its buckets of positions. */

static const struct csv_column text_columns[] = {
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
    text_columns, write_likelihood};
