/* What was run in every detail: budget rules, tasks, the resolved run file. */
#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* {"a":1,"b":[2,5],"name":"delta"} as "a=1, b=[2,5]", which a page can wrap. */
static const char *options_text(struct arena *a, const struct cell *c)
{
    json_t *options = json_loads(c->params, 0, NULL), *value;
    const char *key, *out = "";
    json_object_foreach(options, key, value)
    {
        if (!strcmp(key, "name"))
            continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
        out = arena_printf(a, "%s%s%s=%s", out, *out ? ", " : "", key, text ? text : "?");
        free(text);
    }
    json_decref(options);
    return out;
}

/* Which layers a model has given to its policies, each choice once. */
static void add_taken(struct doc *d, const json_t *config)
{
    json_t *cells = json_object_get(config, "cells"), *told = json_object(), *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        const char *policy = json_string_value(json_object_get(cell, "policy"));
        const char *taken = json_string_value(json_object_get(cell, "taken"));
        if (!policy || !taken)
            continue;
        const char *line = arena_printf(d->arena, "%s: %s.", policy, taken);
        if (!json_object_get(told, line))
            doc_paragraph(d, "%s", line);
        json_object_set_new(told, line, json_true());
    }
    json_decref(told);
}

void report_add_config(struct doc *d, const struct report *r)
{
    const struct run *run = r->run;
    struct table *t = doc_table(d, "Budget rules, as the policies applied them.");
    static const struct table_column policy_columns[] = {
        {"policy", 0}, {"preset", 0}, {"budget rule", 0}, {"options", 0}};
    table_columns(d, t, policy_columns, sizeof policy_columns / sizeof *policy_columns);
    for (int row = 0; row < r->n_rows; row++) {
        for (int i = 0; i < run->n_cells; i++) {
            const struct cell *c = &run->cells[i];
            if (r->cells[i].row != row)
                continue;
            table_row(d, t);
            table_add(d, t, 0, "%s", report_full_name(r, row));
            table_add(d, t, 0, "%s", c->preset);
            table_add(d, t, 0, "%s", c->budget_rule);
            table_add(d, t, CELL_MUTED, "%s", options_text(d->arena, c));
            break;
        }
    }
    add_taken(d, run->config);
    t = doc_table(d, "Tasks.");
    static const struct table_column task_columns[] = {{"task", 0},
                                                       {"name", 0},
                                                       {"version", 0},
                                                       {"metric", 0},
                                                       {"problems", CELL_NUMBER},
                                                       {"SHA-256 of the problems", 0},
                                                       {"published set", 0}};
    int n_columns = sizeof task_columns / sizeof *task_columns, has_set = 0;
    for (int i = 0; i < run->n_tasks; i++)
        has_set |= run->tasks[i].set != NULL;
    table_columns(d, t, task_columns, has_set ? n_columns : n_columns - 1);
    for (int i = 0; i < run->n_tasks; i++) {
        const struct run_task *k = &run->tasks[i];
        if (report_task_is_repeated(run, i))
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", k->label);
        table_add(d, t, 0, "%s", k->name);
        table_add(d, t, 0, "%s", report_or_unknown(k->version));
        table_add(d, t, 0, "%s", report_or_unknown(k->metric));
        table_add(d, t, 0, "%d", k->n_problems);
        table_add(d, t, CELL_MUTED, "%s", report_short_hash(d->arena, k->source));
        if (has_set)
            table_add(d, t, 0, "%s", k->set ? k->set : "");
    }
    doc_paragraph(
        d,
        "Weights %s, configuration %s, numerics class %s, device %s, grader %s, kveval %s. Intervals "
        "of single answers are Wilson's; with several samples they are clustered by problem.",
        report_or_unknown(run->weights), report_or_unknown(run->configuration),
        report_or_unknown(run->numerics), report_or_unknown(run->device), report_or_unknown(run->grader),
        report_or_unknown(run->version));
    struct str text = {0};
    json_t *config = json_copy(run->config); /* the figures have a section of their own */
    if (config)
        json_object_del(config, "published");
    char *json = config ? json_dumps(config, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(config);
    if (json) {
        str_puts(&text, json);
        free(json);
        doc_literal(d, "config.resolved.json", &text);
    }
    str_release(&text);
}

/* ---- The summary: what was run, what went wrong, and what was found.
 *
 * The tone is deliberate: a table of 30 problems looks more certain than it is, so every number carries its
 * interval, differences carry a test, and the text says what this many problems cannot show. */

static void add_findings(struct doc *d, const struct report *r)
{
    const char *sentence = report_verdict_sentence(r);
    int has_baseline = 0;
    if (!r->n_columns) /* texts only: their table says it */
        return;
    for (int i = 0; i < r->run->n_cells; i++)
        has_baseline |= r->run->cells[i].is_baseline;
    if (*sentence) {
        struct verdict_lines l = report_verdict_lines(r);
        doc_paragraph(d, "%s %s", sentence,
                      l.n_good ? "The cheapest good setting of each policy:" : "By policy:");
        int marked = 0;
        for (int i = 0; i < l.n; i++) {
            doc_line(d, l.line[i].name, l.line[i].text, l.line[i].more);
            marked |= l.line[i].more && strstr(l.line[i].more, "\xE2\x96\xBC");
        }
        if (marked)
            doc_paragraph(d, "\xE2\x96\xBC beside a task: a loss beyond chance on that task alone.");
    } else if (r->n_pairs)
        doc_paragraph(d, "No problem is answered by a policy and its baseline yet, so nothing is compared.");
    else
        doc_paragraph(d, has_baseline ? "The run has no cell beside the baseline, so cells are not compared."
                                      : "No baseline was named in the run file (or it is not part of it), so "
                                        "cells are not compared.");
}

void report_add_summary(struct doc *d, const struct report *r)
{
    const struct run *run = r->run;
    int n_tasks = r->n_columns;
    for (int i = 0; i < run->n_tasks; i++)
        n_tasks += run->tasks[i].is_text && !report_task_is_repeated(run, i);
    long missing = run->n_expected - run->n_done;
    add_findings(d, r);
    doc_paragraph(d, "%s%ld of %ld completions: %d policy setting%s on %d task%s, %d cell%s. Model%s %s.",
                  missing > 0 ? "" : "Complete, ", run->n_done, run->n_expected, r->n_rows,
                  r->n_rows == 1 ? "" : "s", n_tasks, n_tasks == 1 ? "" : "s", run->n_cells,
                  run->n_cells == 1 ? "" : "s", report_several_models(r) ? "s" : "",
                  report_or_unknown(run->model));
    report_add_lead(d, r);
    if (missing > 0)
        doc_warning(d,
                    "incomplete %ld/%ld (biased to short): %ld completions are still missing. Short "
                    "completions finish first, so accuracies and lengths of incomplete cells are not those "
                    "of the finished run. Repeat the same kveval sweep command to go on.",
                    run->n_done, run->n_expected, missing);
    report_add_warnings(d, r);
}

/* ---- What became of the jobs, and what the engine counted. */

static void count_cell(struct doc *d, struct table *t, int n, int is_bad)
{
    table_add(d, t, !n ? CELL_MUTED : is_bad ? CELL_BAD : 0, "%d", n);
}

/* What a prefill reads, scans included, over what a dense one reads. */
static double prompt_reads(const struct cell_stats *s)
{
    return s->prefill_density + s->prefill_aux_density;
}

/* Has some cell prompts that were not read densely? Only then the table has a column for them. */
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
    report_share_cell(d, t, s->total_density);
    if (s->is_bound)
        table_small(d, t, "a bound");
    report_share_cell(d, t, s->kv_density);
    report_share_cell(d, t, s->aux_density);
    if (merged)
        report_share_cell(d, t, s->selected_density);
    if (prefill)
        report_share_cell(d, t, prompt_reads(s));
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
            "bounds, key scans) in the same unit%s%s, and the most tokens held at once (mean over jobs).%s",
            merged ? ", the share that one query head selects, where the heads of a group select for "
                     "themselves and "
                     "what any of them selects is read for all"
                   : "",
            prefill ? ", what the prompt's queries read as a share of a dense prefill" : "",
            report_bound_note(r)));
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
