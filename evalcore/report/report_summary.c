/* The summary: what was run, what went wrong, and what was found.
 *
 * The tone is deliberate: a table of 30 problems looks more certain than it is, so every number carries its
 * interval, differences carry a test, and the text says what this many problems cannot show. */
#include "evalcore/report/report_parts.h"

#include <string.h>

/* One sentence per policy. */
static void add_unknown_budgets(struct doc *d, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        int is_first = s->unknown_budget != NULL;
        for (int k = 0; k < i && is_first; k++)
            is_first = !r->cells[k].unknown_budget || strcmp(r->cells[k].cell->policy, s->cell->policy) != 0;
        if (is_first)
            doc_warning(
                d,
                "The budget of policy %s in tokens is unknown to this version of kveval: %s. The figures of "
                "accuracy against budget are drawn without it, and whether it was active is not checked.",
                s->cell->policy, s->unknown_budget);
    }
}

static void add_warnings(struct doc *d, const struct report *r)
{
    long errors = 0, windows = 0;
    int error_cells = 0, window_cells = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        int failed = s->count[VERDICT_ERROR], is_text = s->cell->task->is_text;
        errors += is_text ? 0 : failed;
        error_cells += !is_text && failed;
        windows += is_text ? failed : 0;
        window_cells += is_text && failed;
        if (s->activity == ACTIVITY_INACTIVE)
            doc_warning(d,
                        "policy inactive: %s on %s. Contexts exceeded its budget (%s), yet every step read "
                        "everything, as full attention does. Its %s says nothing about the policy.",
                        report_row_name(r, s->row), s->cell->task->label, s->cell->budget_rule,
                        s->cell->task->is_text ? "likelihood" : "accuracy");
    }
    if (errors)
        doc_warning(d,
                    "%ld job%s failed, in %d cell%s. They count as not correct; kveval show prints why each "
                    "one failed.",
                    errors, errors == 1 ? "" : "s", error_cells, error_cells == 1 ? "" : "s");
    if (windows)
        doc_warning(d,
                    "%ld window%s of a text failed, in %d cell%s. The sums are over the others; kveval show "
                    "prints why each one failed.",
                    windows, windows == 1 ? "" : "s", window_cells, window_cells == 1 ? "" : "s");
    if (r->run->n_conflicts)
        doc_warning(
            d,
            "%ld completion%s found twice with different tokens (of a text, with different likelihoods): "
            "results depended on something that they must not depend on. Of each, the one whose "
            "tokens have the smaller digest, or with fewer bits, is used.",
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
    const char *sentence = report_verdict_sentence(r);
    int has_baseline = 0;
    if (!r->n_columns) /* texts only: their table says it */
        return;
    for (int i = 0; i < r->run->n_cells; i++)
        has_baseline |= r->run->cells[i].is_baseline;
    if (*sentence)
        doc_paragraph(d, "%s", sentence);
    else if (r->n_pairs)
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
        n_tasks += run->tasks[i].is_text;
    long missing = run->n_expected - run->n_done;
    add_findings(d, r);
    if (missing > 0)
        doc_warning(d,
                    "incomplete %ld/%ld (biased to short): %ld completions are still missing. Short "
                    "completions finish first, so accuracies and lengths of unfinished cells are not those "
                    "of the finished run. Repeat the same kveval sweep command to go on.",
                    run->n_done, run->n_expected, missing);
    doc_paragraph(d,
                  "%s%ld of %ld completions: %d policy setting%s on %d task%s, %d cell%s. Model %s (weights "
                  "%s), numerics class %s, device %s, grader %s, kveval %s.",
                  missing > 0 ? "" : "Complete, ", run->n_done, run->n_expected, r->n_rows,
                  r->n_rows == 1 ? "" : "s", n_tasks, n_tasks == 1 ? "" : "s", run->n_cells,
                  run->n_cells == 1 ? "" : "s", report_or_unknown(run->model),
                  report_short_hash(r->arena, run->weights), report_or_unknown(run->numerics),
                  report_or_unknown(run->device), report_or_unknown(run->grader),
                  report_or_unknown(run->version));
    add_warnings(d, r);
    add_unknown_budgets(d, r);
}
