/* lengths.csv: a row per completion. */
#include <math.h>
#include <string.h>

#include "evalcore/export/csv_write.h"

enum { CELLS_AT_ONCE = 16 };

static const struct csv_column columns[] = {
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
     "KV tokens read by the prompt's n queries, n (n + 1) / 2 in a dense prefill; empty in older records"},
    {"prefill_aux_reads", CSV_FLOAT, "tokens", "keys scanned to choose them, in KV tokens"},
    {"kv_selected", CSV_FLOAT, "tokens",
     "KV tokens that a query head selected, mean over heads, summed over decode steps; empty in older "
     "records"},
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

const struct csv_table csv_lengths = {"lengths.csv", "A row per completion.", columns, write_lengths};
