/* What became of the jobs, and what the engine counted. */
#include <math.h>

#include "evalcore/report/report_parts.h"

static void count_cell(struct doc *d, struct table *t, int n, int is_bad)
{
    table_add(d, t, !n ? CELL_MUTED : is_bad ? CELL_BAD : 0, "%d", n);
}

/* What a prefill reads, scans included, over what a dense one reads. */
static double prompt_reads(const struct cell_stats *s)
{
    return s->prefill_density + s->prefill_aux_density;
}

/* Is there a cell whose prompts were not read densely? Only then the table has a column for it. */
static int has_sparse_prefill(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (fabs(prompt_reads(&r->cells[i]) - 1) > 1e-9)
            return 1;
    return 0;
}

/* Does some cell's head select less than its group reads? */
static int has_merged(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].kv_density - r->cells[i].selected_density > 1e-9)
            return 1;
    return 0;
}

static void health_row(struct doc *d, struct table *t, const struct report *r, const struct cell_stats *s,
                       int prefill, int merged)
{
    static const char *const activity[] = {"-", "active", "not reached", "INACTIVE", "-"};
    const struct cell *c = s->cell;
    table_row(d, t);
    table_add(d, t, 0, "%s", report_full_name(r, s->row));
    table_cell_of(d, t, c->id);
    table_add(d, t, c->n_records < c->n_expected ? CELL_BAD : 0, "%d/%d", c->n_records, c->n_expected);
    static const enum verdict order[] = {VERDICT_WRONG,      VERDICT_AMBIGUOUS, VERDICT_UNPARSED,
                                         VERDICT_UNFINISHED, VERDICT_TRUNCATED, VERDICT_ERROR};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        count_cell(d, t, s->count[order[i]], order[i] == VERDICT_ERROR);
    count_cell(d, t, s->n_length, 0);
    report_number_cell(d, t, s->mean_tokens, 0);
    report_number_cell(d, t, s->median_tokens, 0);
    report_number_cell(d, t, s->p95_tokens, 0);
    report_number_cell(d, t, s->total_density, 3);
    report_number_cell(d, t, s->kv_density, 3);
    report_number_cell(d, t, s->aux_density, 3);
    if (merged)
        report_number_cell(d, t, s->selected_density, 3);
    if (prefill)
        report_number_cell(d, t, prompt_reads(s), 3);
    report_number_cell(d, t, s->peak_tokens, 0);
    table_add(d, t,
              s->activity == ACTIVITY_INACTIVE ? CELL_BAD
              : s->activity == ACTIVITY_USED   ? 0
                                               : CELL_MUTED,
              "%s", activity[s->activity]);
}

/* One word for one thing, here and in the journals, CSV files and commands. */
static void add_words(struct doc *d)
{
    static const char *const words[][2] = {
        {"wrong", "a readable answer that is not the reference"},
        {"ambiguous", "answers that contradict each other"},
        {"unparsed", "the completion ended by itself, and no answer could be read from it"},
        {"unfinished", "the thinking block was opened and never closed, whatever ended the completion"},
        {"truncated", "cut off at the length limit outside of a thinking block, and no answer could be read"},
        {"error", "the job or its grader failed; kveval show prints why"},
        {"at limit", "ended at the length limit, with or without an answer"},
        {"missing", "a job that has not been decoded yet"},
        {"incomplete", "of a cell or a run: some of its jobs are missing"}};
    struct table *t = doc_table(d, "What the words mean.");
    table_column(d, t, "word", 0);
    table_column(d, t, "meaning", 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        table_row(d, t);
        table_add(d, t, 0, "%s", words[i][0]);
        table_add(d, t, 0, "%s", words[i][1]);
    }
}

void report_add_health(struct doc *d, const struct report *r)
{
    int prefill = has_sparse_prefill(r), merged = has_merged(r);
    struct table *t = doc_table(
        d,
        arena_printf(
            d->arena,
            "What became of the jobs that are not correct (at limit: stopped by the length limit), "
            "completion "
            "lengths in tokens, and what the engine counted: total reads as a share of what full attention "
            "would "
            "have read on the same tokens, split into tokens attended and what was read to choose them (page "
            "bounds, key scans) in the same unit%s%s, and the most tokens held at once (mean over jobs).",
            merged ? ", the share that one query head selects, where the heads of a group select for "
                     "themselves and "
                     "what any of them selects is read for all"
                   : "",
            prefill ? ", what the prompt's queries read as a share of a dense prefill" : ""));
    static const struct table_column columns[] = {
        {"cell", 0},
        {"jobs", CELL_NUMBER},
        {"wrong", CELL_NUMBER},
        {"ambiguous", CELL_NUMBER},
        {"unparsed", CELL_NUMBER},
        {"unfinished", CELL_NUMBER},
        {"truncated", CELL_NUMBER},
        {"errors", CELL_NUMBER},
        {"at limit", CELL_NUMBER},
        {"mean", CELL_NUMBER},
        {"median", CELL_NUMBER},
        {"p95", CELL_NUMBER},
        {"total reads", CELL_NUMBER},
        {"attended", CELL_NUMBER},
        {"to choose", CELL_NUMBER},
    };
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    if (merged)
        table_column(d, t, "a head selects", CELL_NUMBER);
    if (prefill)
        table_column(d, t, "prompt reads", CELL_NUMBER);
    table_column(d, t, "peak tokens", CELL_NUMBER);
    table_column(d, t, "policy", 0);
    for (int col = 0; col < r->n_columns; col++) {
        table_group(d, t, r->columns[col]);
        for (int i = 0; i < r->run->n_cells; i++)
            if (r->cells[i].column == col)
                health_row(d, t, r, &r->cells[i], prefill, merged);
    }
    add_words(d);
}
