/* The words and tables of a report: summary, accuracy, health, configuration.
 *
 * The tone is deliberate: a table of 30 problems looks more certain than it is, so every number carries its
 * interval, differences carry a test, and the text says what this many problems cannot show. */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *report_row_name(const struct report *r, const struct cell_stats *s)
{
    const struct row *row = &r->rows[s->row];
    return row->settings_label[0] ? arena_printf(r->arena, "%s %s", row->policy_label, row->settings_label)
                                  : row->policy_label;
}

static const char *short_hash(struct arena *a, const char *hash)
{
    return hash && *hash ? arena_printf(a, "%.12s", hash) : "unknown";
}

static const char *or_unknown(const char *s)
{
    return s && *s ? s : "unknown";
}

/* One sentence per policy. */
static void add_unknown_budgets(struct doc *d, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        int is_first = s->unknown_budget != NULL;
        for (int k = 0; k < i && is_first; k++)
            is_first = !r->cells[k].unknown_budget || strcmp(r->cells[k].cell->policy, s->cell->policy) != 0;
        if (is_first)
            doc_warning(d,
                        "The budget of policy %s in tokens is unknown to this version of kveval: %s. The "
                        "figures of accuracy against budget are drawn without it, and whether it was active "
                        "is not checked.",
                        s->cell->policy, s->unknown_budget);
    }
}

static void add_warnings(struct doc *d, const struct report *r)
{
    long errors = 0;
    int error_cells = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        errors += s->count[VERDICT_ERROR];
        error_cells += s->count[VERDICT_ERROR] > 0;
        if (s->activity == ACTIVITY_INACTIVE)
            doc_warning(d,
                        "policy inactive: %s on %s. Contexts exceeded its budget (%s), yet every step read "
                        "everything, "
                        "as full attention does. Its accuracy says nothing about the policy.",
                        report_row_name(r, s), s->cell->task->label, s->cell->budget_rule);
    }
    if (errors)
        doc_warning(
            d,
            "%ld job%s failed, in %d cell%s. They count as not correct; kveval show prints why each one "
            "failed.",
            errors, errors == 1 ? "" : "s", error_cells, error_cells == 1 ? "" : "s");
    if (r->run->n_conflicts)
        doc_warning(d,
                    "%ld completion%s found twice with different tokens: results depended on something that "
                    "they must "
                    "not depend on. Of each, the one whose tokens have the smaller digest is used.",
                    r->run->n_conflicts, r->run->n_conflicts == 1 ? " was" : "s were");
    long repeated = r->run->n_duplicates - r->run->n_conflicts;
    if (repeated > 0)
        doc_paragraph(d, "%ld completion%s found more than once with the same tokens; each counts once.",
                      repeated, repeated == 1 ? " was" : "s were");
    if (r->run->n_bad_lines)
        doc_warning(d, "%ld journal line%s a wrong checksum and %s ignored; those jobs count as missing.",
                    r->run->n_bad_lines, r->run->n_bad_lines == 1 ? " has" : "s have",
                    r->run->n_bad_lines == 1 ? "was" : "were");
    if (r->run->n_foreign)
        doc_paragraph(
            d,
            "%ld finished completions belong to cells that are no longer in the run file; they are left out.",
            r->run->n_foreign);
}

static void add_findings(struct doc *d, const struct report *r)
{
    int lower = 0, higher = 0;
    for (int i = 0; i < r->n_pairs; i++) {
        if (!(r->pairs[i].holm < 0.05))
            continue;
        lower += r->pairs[i].delta < 0;
        higher += r->pairs[i].delta > 0;
    }
    if (!r->n_pairs) {
        int has_baseline = 0;
        for (int i = 0; i < r->run->n_cells; i++)
            has_baseline |= r->run->cells[i].is_baseline;
        doc_paragraph(d, has_baseline ? "The run has no cell beside the baseline, so cells are not compared."
                                      : "No baseline was named in the run file (or it is not part of it), so "
                                        "cells are not compared.");
        return;
    }
    int same = r->n_pairs - lower - higher;
    doc_paragraph(d,
                  "Compared with the baseline on the same problems, %d of %d cells %s lower and %d %s higher "
                  "beyond chance "
                  "(Holm-adjusted p below 0.05 within a task). The other %d cannot be told apart from it "
                  "with this many "
                  "problems, which is not the same as being equal.",
                  lower, r->n_pairs, lower == 1 ? "is" : "are", higher, higher == 1 ? "is" : "are", same);
}

void report_add_summary(struct doc *d, const struct report *r)
{
    const struct run *run = r->run;
    long missing = run->n_expected - run->n_done;
    if (missing > 0)
        doc_warning(
            d,
            "incomplete %ld/%ld (biased to short): %ld completions are still missing. Short completions "
            "finish "
            "first, so accuracies and lengths of unfinished cells are not those of the finished run. Repeat "
            "the same kveval sweep command to go on.",
            run->n_done, run->n_expected, missing);
    doc_paragraph(
        d,
        "%s%ld of %ld completions: %d policy setting%s on %d task%s, %d cell%s. Model %s (weights %s), "
        "numerics class %s, device %s, grader %s, kveval %s.",
        missing > 0 ? "" : "Complete, ", run->n_done, run->n_expected, r->n_rows, r->n_rows == 1 ? "" : "s",
        r->n_columns, r->n_columns == 1 ? "" : "s", run->n_cells, run->n_cells == 1 ? "" : "s",
        or_unknown(run->model), short_hash(r->arena, run->weights), or_unknown(run->numerics),
        or_unknown(run->device), or_unknown(run->grader), or_unknown(run->version));
    add_warnings(d, r);
    add_unknown_budgets(d, r);
    add_findings(d, r);
}

const char *report_pair_sign(const struct pair *p)
{
    if (!p || isnan(p->holm))
        return "";
    if (p->holm >= 0.05)
        return " \xE2\x89\x88";
    return p->delta < 0 ? " \xE2\x96\xBC" : " \xE2\x96\xB2";
}

unsigned report_pair_flags(const struct pair *p)
{
    if (!p || !(p->holm < 0.05))
        return 0;
    return p->delta < 0 ? CELL_BAD : CELL_GOOD;
}

int report_cell_at(const struct report *r, int row, int column)
{
    int found = -1;
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row && r->cells[i].column == column)
            found = i;
    return found;
}

static void accuracy_cell(struct doc *d, struct table *t, const struct report *r, int i)
{
    const struct cell_stats *s = &r->cells[i];
    const struct cell *c = s->cell;
    if (!c->n_records) {
        table_add(d, t, CELL_MUTED, "not run yet");
        table_small(d, t, "0/%d done", c->n_expected);
        return;
    }
    const struct pair *p = report_pair_of(r, i);
    unsigned flags = (c->is_baseline ? CELL_STRONG : 0) | report_pair_flags(p);
    table_add(d, t, flags, "%.1f \xC2\xB1%.1f (n=%d\xC3\x97%d)%s", 100 * s->accuracy,
              50 * (s->ci.high - s->ci.low), c->task->n_problems, c->samples, report_pair_sign(p));
    struct str note = {0};
    if (c->n_records < c->n_expected)
        str_printf(&note, "incomplete %d/%d (biased to short), ", c->n_records, c->n_expected);
    str_printf(&note, "%.0f tokens", s->mean_tokens);
    if (s->activity == ACTIVITY_INACTIVE)
        str_puts(&note, ", policy inactive");
    else if (c->budget_key[0] && isfinite(s->kv_density))
        str_printf(&note, ", reads %.*f%%", s->kv_density < 0.0995 ? 1 : 0, 100 * s->kv_density);
    table_small(d, t, "%s", str_text(&note));
    str_release(&note);
}

void report_add_accuracy(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(d, "Percent correct over all jobs \xC2\xB1 half of the 95 % interval (n = "
                                   "problems \xC3\x97 samples), mean "
                                   "length of a completion, share of KV tokens read. \xE2\x96\xBC lower or "
                                   "\xE2\x96\xB2 higher than the baseline "
                                   "beyond chance, \xE2\x89\x88 cannot be told apart from it.");
    int several_models = 0;
    for (int i = 1; i < r->n_rows; i++)
        several_models |= strcmp(r->rows[i].model, r->rows[0].model) != 0;
    table_column(d, t, "policy", 0);
    for (int i = 0; i < r->n_columns; i++)
        table_column(d, t, r->columns[i], 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (several_models && (!row || strcmp(r->rows[row].model, r->rows[row - 1].model)))
            table_group(d, t, r->rows[row].model);
        table_row(d, t);
        table_add(d, t, 0, "%s%s%s", r->rows[row].policy_label, r->rows[row].settings_label[0] ? " " : "",
                  r->rows[row].settings_label);
        for (int col = 0; col < r->n_columns; col++) {
            int found = report_cell_at(r, row, col);
            if (found < 0)
                table_add(d, t, CELL_MUTED, "-");
            else
                accuracy_cell(d, t, r, found);
        }
    }
}

static void count_cell(struct doc *d, struct table *t, int n, int is_bad)
{
    table_add(d, t, !n ? CELL_MUTED : is_bad ? CELL_BAD : 0, "%d", n);
}

void report_number_cell(struct doc *d, struct table *t, double v, int digits)
{
    if (isfinite(v))
        table_add(d, t, 0, "%.*f", digits, v);
    else
        table_add(d, t, CELL_MUTED, "-");
}

static void health_row(struct doc *d, struct table *t, const struct report *r, const struct cell_stats *s)
{
    static const char *const activity[] = {"-", "active", "not reached", "INACTIVE", "-"};
    const struct cell *c = s->cell;
    table_row(d, t);
    table_add(d, t, 0, "%s", report_row_name(r, s));
    table_add(d, t, c->n_records < c->n_expected ? CELL_BAD : 0, "%d/%d", c->n_records, c->n_expected);
    static const enum verdict order[] = {VERDICT_WRONG,      VERDICT_AMBIGUOUS, VERDICT_UNPARSED,
                                         VERDICT_UNFINISHED, VERDICT_TRUNCATED, VERDICT_ERROR};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        count_cell(d, t, s->count[order[i]], order[i] == VERDICT_ERROR);
    count_cell(d, t, s->n_length, 0);
    report_number_cell(d, t, s->mean_tokens, 0);
    report_number_cell(d, t, s->median_tokens, 0);
    report_number_cell(d, t, s->p95_tokens, 0);
    report_number_cell(d, t, s->kv_density, 3);
    report_number_cell(d, t, s->aux_density, 3);
    report_number_cell(d, t, s->peak_tokens, 0);
    table_add(d, t,
              s->activity == ACTIVITY_INACTIVE ? CELL_BAD
              : s->activity == ACTIVITY_USED   ? 0
                                               : CELL_MUTED,
              "%s", activity[s->activity]);
}

void report_add_health(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d, "What became of the jobs that are not correct (at limit: stopped by the length limit), completion "
           "lengths in tokens, and what the engine "
           "counted: KV "
           "density (KV tokens read over those that full attention would have read on the same tokens), "
           "auxiliary reads "
           "(page bounds, key scans) in the same unit, and the most tokens held at once (mean over jobs).");
    static const struct table_column columns[] = {{"cell", 0},
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
                                                  {"KV density", CELL_NUMBER},
                                                  {"aux", CELL_NUMBER},
                                                  {"peak tokens", CELL_NUMBER},
                                                  {"policy", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int col = 0; col < r->n_columns; col++) {
        table_group(d, t, r->columns[col]);
        for (int i = 0; i < r->run->n_cells; i++)
            if (r->cells[i].column == col)
                health_row(d, t, r, &r->cells[i]);
    }
}

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
            table_add(d, t, 0, "%s", report_row_name(r, &r->cells[i]));
            table_add(d, t, 0, "%s", c->preset);
            table_add(d, t, 0, "%s", c->budget_rule);
            table_add(d, t, CELL_MUTED, "%s", options_text(d->arena, c));
            break;
        }
    }
    t = doc_table(d, "Tasks.");
    static const struct table_column task_columns[] = {{"task", 0},
                                                       {"name", 0},
                                                       {"version", 0},
                                                       {"metric", 0},
                                                       {"problems", CELL_NUMBER},
                                                       {"SHA-256 of the problems", 0}};
    table_columns(d, t, task_columns, sizeof task_columns / sizeof *task_columns);
    for (int i = 0; i < run->n_tasks; i++) {
        const struct run_task *k = &run->tasks[i];
        table_row(d, t);
        table_add(d, t, 0, "%s", k->label);
        table_add(d, t, 0, "%s", k->name);
        table_add(d, t, 0, "%s", or_unknown(k->version));
        table_add(d, t, 0, "%s", or_unknown(k->metric));
        table_add(d, t, 0, "%d", k->n_problems);
        table_add(d, t, CELL_MUTED, "%s", short_hash(d->arena, k->source));
    }
    doc_paragraph(
        d,
        "Weights %s. Intervals of single answers are Wilson's; with several samples they are clustered by "
        "problem.",
        or_unknown(run->weights));
    struct str text = {0};
    char *json = run->config ? json_dumps(run->config, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    if (json) {
        str_puts(&text, json);
        free(json);
        doc_literal(d, "config.resolved.json", &text);
    }
    str_release(&text);
}
