/* The summary: what was run, what went wrong, and what was found.
 *
 * The tone is deliberate: a table of 30 problems looks more certain than it is, so every number carries its
 * interval, differences carry a test, and the text says what this many problems cannot show. */
#include "evalcore/report/report_parts.h"

#include <string.h>

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

/* The beginnings of a list of hashes. */
static const char *short_hashes(struct arena *a, const char *hashes)
{
    const char *all = report_short_hash(a, hashes);
    for (const char *at = hashes ? strstr(hashes, ", ") : NULL; at; at = strstr(at + 2, ", "))
        all = arena_printf(a, "%s, %s", all, report_short_hash(a, at + 2));
    return all;
}

void report_add_summary(struct doc *d, const struct report *r)
{
    const struct run *run = r->run;
    int n_tasks = r->n_columns;
    for (int i = 0; i < run->n_tasks; i++)
        n_tasks += run->tasks[i].is_text && !report_task_is_told(run, i);
    long missing = run->n_expected - run->n_done;
    add_findings(d, r);
    if (missing > 0)
        doc_warning(d,
                    "incomplete %ld/%ld (biased to short): %ld completions are still missing. Short "
                    "completions finish first, so accuracies and lengths of incomplete cells are not those "
                    "of the finished run. Repeat the same kveval sweep command to go on.",
                    run->n_done, run->n_expected, missing);
    doc_paragraph(
        d,
        "%s%ld of %ld completions: %d policy setting%s on %d task%s, %d cell%s. Model%s %s (weights "
        "%s), numerics class %s, device %s, grader %s, kveval %s.",
        missing > 0 ? "" : "Complete, ", run->n_done, run->n_expected, r->n_rows, r->n_rows == 1 ? "" : "s",
        n_tasks, n_tasks == 1 ? "" : "s", run->n_cells, run->n_cells == 1 ? "" : "s",
        report_several_models(r) ? "s" : "", report_or_unknown(run->model),
        short_hashes(r->arena, run->weights), report_or_unknown(run->numerics),
        report_or_unknown(run->device), report_or_unknown(run->grader), report_or_unknown(run->version));
    report_add_warnings(d, r);
}
