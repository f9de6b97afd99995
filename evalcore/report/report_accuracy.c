/* The accuracy table: a row per policy setting, a column per task. */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

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
    table_add(d, t, flags, "%s (n=%d\xC3\x97%d)%s", report_percent(d->arena, s->accuracy, s->ci),
              c->task->n_problems, c->samples, report_pair_sign(d->arena, p));
    table_cell_of(d, t, c->id);
    struct str note = {0};
    if (c->n_records < c->n_expected)
        str_printf(&note, "incomplete %d/%d (biased to short), ", c->n_records, c->n_expected);
    if (isfinite(s->mean_tokens))
        str_printf(&note, "%.0f tokens", s->mean_tokens);
    else
        str_puts(&note, "all jobs failed");
    const char *cut =
        report_cut_words(d->arena, s->n_cut, c->n_records - s->count[VERDICT_CORRECT], c->n_records);
    if (*cut)
        str_printf(&note, ", %s", cut);
    if (s->activity == ACTIVITY_INACTIVE)
        str_puts(&note, ", policy inactive");
    else if (s->has_budget && isfinite(s->total_density))
        str_printf(&note, ", reads %s", report_share(d->arena, s->total_density));
    table_small(d, t, "%s", str_text(&note));
    str_release(&note);
}

/* The tasks in which nothing could have been marked, one sentence for each. */
static void add_too_few(struct doc *d, const struct report *r)
{
    for (int col = 0; col < r->n_columns; col++) {
        const struct pair *found = NULL;
        int n = 0, is_same = 1;
        for (int i = 0; i < r->n_pairs; i++) {
            const struct pair *p = &r->pairs[i];
            if (r->cells[p->b].column != col || p->mark == MARK_NONE)
                continue;
            n++;
            is_same &= p->mark == MARK_TOO_FEW;
            found = found && found->enough >= p->enough ? found : p;
        }
        if (n && is_same)
            doc_paragraph(
                d,
                "%s: no verdict. With %d problem%s no outcome of %d comparison%s could have earned one; "
                "%s.",
                r->columns[col], found->problems, found->problems == 1 ? "" : "s", n, n == 1 ? "" : "s",
                found->enough < 0 ? "no number of problems like these would do"
                                  : arena_printf(d->arena, "%ld problems would do", found->enough));
    }
}

/* With several samples of a problem the test takes the problems as given. */
static const char *scope_note(const struct report *r)
{
    for (int i = 0; i < r->n_pairs; i++)
        if (*report_scope(&r->pairs[i]))
            return " With several samples, lower and higher are said of these problems alone.";
    return "";
}

void report_add_accuracy(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d, arena_printf(
               d->arena,
               "Percent correct over all jobs [95 %% interval] (n = problems \xC3\x97 samples), mean length "
               "of a completion, total reads as a share of full attention's. %s; no sign where no outcome of "
               "so many problems could have earned one.%s The comparisons of one task are one family.",
               report_marks_legend(d->arena, r->run->margin), scope_note(r)));
    int several_models = report_several_models(r);
    table_column(d, t, "policy", 0);
    for (int i = 0; i < r->n_columns; i++)
        table_column(d, t, r->columns[i], 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (several_models && (!row || strcmp(r->rows[row].model, r->rows[row - 1].model)))
            table_group(d, t, r->rows[row].model);
        table_row(d, t);
        table_add(d, t, 0, "%s", report_row_name(r, row));
        for (int col = 0; col < r->n_columns; col++) {
            int found = report_cell_at(r, row, col);
            if (found < 0)
                table_add(d, t, CELL_MUTED, "-");
            else
                accuracy_cell(d, t, r, found);
        }
    }
    add_too_few(d, r);
}
