/* The words and tables of a report: summary, accuracy, comparisons with the baseline, health, configuration.
 *
 * The tone is deliberate: a table of 30 problems looks more certain than it is, so every number carries its
 * interval, differences carry a test, and the text says what this many problems cannot show. */
#include "evalcore/report_parts.h"

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
                    "not depend on. Only the first of each is used.",
                    r->run->n_conflicts, r->run->n_conflicts == 1 ? " was" : "s were");
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
        doc_paragraph(
            d, "No baseline was named in the run file (or it is not part of it), so cells are not compared.");
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
    doc_section(d, "summary", NULL);
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
    add_findings(d, r);
}

/* The sign after an accuracy: against the baseline, after Holm's adjustment. */
static const char *pair_sign(const struct pair *p)
{
    if (!p || isnan(p->holm))
        return "";
    if (p->holm >= 0.05)
        return " \xE2\x89\x88";
    return p->delta < 0 ? " \xE2\x96\xBC" : " \xE2\x96\xB2";
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
    unsigned flags = c->is_baseline ? CELL_STRONG : 0;
    if (p && p->holm < 0.05)
        flags |= p->delta < 0 ? CELL_BAD : CELL_GOOD;
    table_add(d, t, flags, "%.1f \xC2\xB1%.1f (n=%d\xC3\x97%d)%s", 100 * s->accuracy,
              50 * (s->ci.high - s->ci.low), c->task->n_problems, c->samples, pair_sign(p));
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
    doc_section(d, "accuracy", "Accuracy");
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
            int found = -1;
            for (int i = 0; i < r->run->n_cells; i++)
                if (r->cells[i].row == row && r->cells[i].column == col)
                    found = i;
            if (found < 0)
                table_add(d, t, CELL_MUTED, "-");
            else
                accuracy_cell(d, t, r, found);
        }
    }
}

static const char *p_text(struct arena *a, double p)
{
    if (isnan(p))
        return "";
    return p < 0.001 ? arena_printf(a, "%.0e", p) : arena_printf(a, "%.3f", p);
}

static const char *test_text(const char *test)
{
    return !strcmp(test, "mcnemar_exact")    ? "exact McNemar"
           : !strcmp(test, "signflip_exact") ? "exact sign flip"
           : *test                           ? "random sign flips"
                                             : "";
}

static void pair_cells(struct doc *d, struct table *t, const struct pair *p)
{
    table_add(d, t, 0, "%d", p->problems);
    table_add(d, t, 0, "%d", p->both);
    table_add(d, t, 0, "%d", p->only_a);
    table_add(d, t, 0, "%d", p->only_b);
    table_add(d, t, 0, "%d", p->neither);
    unsigned flags = p->holm < 0.05 ? p->delta < 0 ? CELL_BAD : CELL_GOOD : 0;
    if (p->problems)
        table_add(d, t, flags, "%+.1f [%+.1f, %+.1f]", 100 * p->delta, 100 * p->ci.low, 100 * p->ci.high);
    else
        table_add(d, t, CELL_MUTED, "no shared problem yet");
    table_add(d, t, 0, "%s", p_text(d->arena, p->p));
    table_add(d, t, flags, "%s", p_text(d->arena, p->holm));
    table_add(d, t, CELL_MUTED, "%s", test_text(p->test));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What this many problems can show. */
static void limits_row(struct doc *d, struct table *t, const struct report *r, int column)
{
    double *spread = xmalloc((size_t)(r->n_pairs + 1) * sizeof *spread);
    size_t n = 0;
    int problems = 0, samples = 0, is_single = 1;
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pair *p = &r->pairs[i];
        if (r->cells[p->b].column != column || p->problems < 2 || (n && p->is_single != is_single))
            continue;
        spread[n++] = p->spread;
        is_single = p->is_single;
        problems = p->problems > problems ? p->problems : problems;
        samples = r->cells[p->b].cell->samples;
    }
    if (n) {
        qsort(spread, n, sizeof *spread, compare_doubles);
        double typical = stat_quantile(spread, n, 0.5);
        struct interval half = stat_wilson(problems / 2.0, problems);
        double found =
            is_single ? stat_mdd_mcnemar(problems, typical) : stat_mdd_paired((size_t)problems, typical);
        table_row(d, t);
        table_add(d, t, 0, "%s", r->columns[column]);
        table_add(d, t, 0, "%d \xC3\x97 %d", problems, samples);
        table_add(d, t, 0, "%.1f points", 100.0 / problems);
        table_add(d, t, 0, "\xC2\xB1%.0f points", 50 * (half.high - half.low));
        table_add(d, t, CELL_STRONG, "%.0f points", 100 * found);
        if (is_single)
            table_add(d, t, CELL_MUTED, "cells differ from the baseline on %.0f %% of the problems (median)",
                      100 * typical);
        else
            table_add(d, t, CELL_MUTED, "standard deviation of the problems' differences %.2f (median)",
                      typical);
    }
    free(spread);
}

static void add_limits(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(d, "What sets of this size can show. A true difference from the baseline "
                                   "that is smaller than the fifth column "
                                   "would be missed more than one time in five (two-sided test at 5 %, "
                                   "before the adjustment for several cells).");
    static const char *const columns[] = {"task",
                                          "problems \xC3\x97 samples",
                                          "one problem is",
                                          "95 % interval at 50 %",
                                          "smallest difference found",
                                          "because"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 5 ? CELL_NUMBER : 0);
    for (int col = 0; col < r->n_columns; col++)
        limits_row(d, t, r, col);
}

void report_add_pairs(struct doc *d, const struct report *r)
{
    if (!r->n_pairs)
        return;
    doc_section(d, "pairs", "Compared with the baseline");
    struct table *t = doc_table(d, "Problem by problem: solved by both, by the baseline only, by the cell "
                                   "only, by neither (with several samples: "
                                   "by more than half of them); difference in points with its 95 % interval; "
                                   "two-sided p, and the same adjusted "
                                   "for the number of comparisons in the task (Holm).");
    static const char *const columns[] = {"cell",    "problems",   "both", "only baseline", "only cell",
                                          "neither", "difference", "p",    "Holm p",        "test"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 9 ? CELL_NUMBER : 0);
    for (int col = 0; col < r->n_columns; col++) {
        int last_base = -1;
        for (int i = 0; i < r->n_pairs; i++) {
            const struct pair *p = &r->pairs[i];
            if (r->cells[p->b].column != col)
                continue;
            if (p->a != last_base)
                table_group(d, t,
                            arena_printf(d->arena, "%s, against %s", r->columns[col],
                                         report_row_name(r, &r->cells[p->a])));
            last_base = p->a;
            table_row(d, t);
            table_add(d, t, 0, "%s", report_row_name(r, &r->cells[p->b]));
            pair_cells(d, t, p);
        }
    }
    add_limits(d, r);
}

static void count_cell(struct doc *d, struct table *t, int n, int is_bad)
{
    table_add(d, t, !n ? CELL_MUTED : is_bad ? CELL_BAD : 0, "%d", n);
}

static void number_cell(struct doc *d, struct table *t, double v, int digits)
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
    number_cell(d, t, s->mean_tokens, 0);
    number_cell(d, t, s->median_tokens, 0);
    number_cell(d, t, s->p95_tokens, 0);
    number_cell(d, t, s->kv_density, 3);
    number_cell(d, t, s->aux_density, 3);
    number_cell(d, t, s->peak_tokens, 0);
    table_add(d, t,
              s->activity == ACTIVITY_INACTIVE ? CELL_BAD
              : s->activity == ACTIVITY_USED   ? 0
                                               : CELL_MUTED,
              "%s", activity[s->activity]);
}

void report_add_health(struct doc *d, const struct report *r)
{
    doc_section(d, "health", "Health");
    struct table *t = doc_table(
        d, "What became of the jobs that are not correct (at limit: stopped by the length limit), completion "
           "lengths in tokens, and what the engine "
           "counted: KV "
           "density (KV tokens read over those that full attention would have read on the same tokens), "
           "auxiliary reads "
           "(page bounds, key scans) in the same unit, and the most tokens held at once (mean over jobs).");
    static const char *const columns[] = {
        "cell",     "jobs", "wrong",  "ambiguous", "unparsed",   "unfinished", "truncated",   "errors",
        "at limit", "mean", "median", "p95",       "KV density", "aux",        "peak tokens", "policy"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 15 ? CELL_NUMBER : 0);
    for (int col = 0; col < r->n_columns; col++) {
        table_group(d, t, r->columns[col]);
        for (int i = 0; i < r->run->n_cells; i++)
            if (r->cells[i].column == col)
                health_row(d, t, r, &r->cells[i]);
    }
}

void report_add_config(struct doc *d, const struct report *r)
{
    const struct run *run = r->run;
    doc_section(d, "config", "Configuration");
    struct table *t = doc_table(d, "Budget rules, as the policies applied them.");
    table_column(d, t, "policy", 0);
    table_column(d, t, "preset", 0);
    table_column(d, t, "budget rule", 0);
    table_column(d, t, "options", 0);
    for (int row = 0; row < r->n_rows; row++) {
        for (int i = 0; i < run->n_cells; i++) {
            const struct cell *c = &run->cells[i];
            if (r->cells[i].row != row)
                continue;
            table_row(d, t);
            table_add(d, t, 0, "%s", report_row_name(r, &r->cells[i]));
            table_add(d, t, 0, "%s", c->preset);
            table_add(d, t, 0, "%s", c->budget_rule);
            table_add(d, t, CELL_MUTED, "%s", c->params);
            break;
        }
    }
    t = doc_table(d, "Tasks.");
    static const char *const columns[] = {"task",   "name",     "version",
                                          "metric", "problems", "SHA-256 of the problems"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i == 4 ? CELL_NUMBER : 0);
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

void report_add_against(struct doc *d, const struct report *old, const struct report *now,
                        const struct against *list, int n)
{
    doc_section(d, "against", "Compared with another run");
    doc_paragraph(d,
                  "The other run: %s. %d of %d cells here have a counterpart there (same label, task and "
                  "swept settings).",
                  or_unknown(old->run->dir), n, now->run->n_cells);
    if (!n)
        return;
    struct table *t = doc_table(d, "Accuracy in percent, old and new, on the problems that both have; "
                                   "difference in points with its 95 % interval "
                                   "and Holm-adjusted p; mean completion length, its change (geometric mean "
                                   "over problems) and a sign-flip test "
                                   "of that change.");
    static const char *const columns[] = {"cell",       "problems",   "old",      "new",         "only old",
                                          "only new",   "difference", "p",        "Holm p",      "old tokens",
                                          "new tokens", "length",     "length p", "not the same"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 13 ? CELL_NUMBER : 0);
    int column = -1;
    for (int i = 0; i < n; i++) {
        const struct pair *p = &list[i].pair;
        if (now->cells[p->b].column != column)
            table_group(d, t, now->columns[column = now->cells[p->b].column]);
        unsigned flags = p->holm < 0.05 ? p->delta < 0 ? CELL_BAD : CELL_GOOD : 0;
        table_row(d, t);
        table_add(d, t, 0, "%s", report_row_name(now, &now->cells[p->b]));
        table_add(d, t, 0, "%d", p->problems);
        if (list[i].dropped)
            table_small(d, t, "%d not in both", list[i].dropped);
        number_cell(d, t, 100 * p->accuracy_a, 1);
        number_cell(d, t, 100 * p->accuracy_b, 1);
        table_add(d, t, 0, "%d", p->only_a);
        table_add(d, t, 0, "%d", p->only_b);
        if (p->problems)
            table_add(d, t, flags, "%+.1f [%+.1f, %+.1f]", 100 * p->delta, 100 * p->ci.low, 100 * p->ci.high);
        else
            table_add(d, t, CELL_MUTED, "no shared problem");
        table_add(d, t, 0, "%s", p_text(d->arena, p->p));
        table_add(d, t, flags, "%s", p_text(d->arena, p->holm));
        number_cell(d, t, list[i].tokens_a, 0);
        number_cell(d, t, list[i].tokens_b, 0);
        if (isfinite(list[i].length_ratio))
            table_add(d, t, 0, "%+.1f%%", 100 * (list[i].length_ratio - 1));
        else
            table_add(d, t, CELL_MUTED, "-");
        table_add(d, t, 0, "%s", p_text(d->arena, list[i].length_p));
        table_add(d, t, *list[i].differs ? CELL_BAD : CELL_MUTED, "%s",
                  *list[i].differs ? list[i].differs : "-");
    }
}
