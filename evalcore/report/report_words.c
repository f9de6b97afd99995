/* Words and marks that several sections use (contract: report_parts.h). */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

const char *report_short_hash(struct arena *a, const char *hash)
{
    return hash && *hash ? arena_printf(a, "%.12s", hash) : "unknown";
}

const char *report_or_unknown(const char *s)
{
    return s && *s ? s : "unknown";
}

int report_cell_at(const struct report *r, int row, int column)
{
    int found = -1;
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row && r->cells[i].column == column)
            found = i;
    return found;
}

void report_number_cell(struct doc *d, struct table *t, double v, int digits)
{
    if (isfinite(v))
        table_add(d, t, 0, "%.*f", digits, v);
    else
        table_add(d, t, CELL_MUTED, "-");
}

void report_share_cell(struct doc *d, struct table *t, double v)
{
    table_add(d, t, isfinite(v) ? 0 : CELL_MUTED, "%s", report_share(d->arena, v));
}

/* ---- Verdicts in words, and the signs that stand for them (contract: report_parts.h). */

const char *report_mark_sign(enum mark m)
{
    switch (m) {
    case MARK_LOWER:
        return "\xE2\x96\xBC";
    case MARK_HIGHER:
        return "\xE2\x96\xB2";
    case MARK_WITHIN:
        return "=";
    case MARK_OPEN:
        return "?";
    case MARK_NONE:
    case MARK_TOO_FEW:
        break;
    }
    return "";
}

const char *report_pair_sign(struct arena *a, const struct pair *p)
{
    const char *sign = p ? report_mark_sign(p->mark) : "";
    return *sign ? arena_printf(a, " %s", sign) : "";
}

const char *report_points(struct arena *a, double points)
{
    return arena_printf(a, "%.4g point%s", points, points > 1 - 1e-9 && points < 1 + 1e-9 ? "" : "s");
}

/* "about 96 would do", "more than 100,000 would". */
static const char *enough_words(struct arena *a, const struct pair *p, const char *about)
{
    return p->enough < 0 ? "no number below 100,000 would do"
                         : arena_printf(a, "%s%ld would do", about, p->enough);
}

const char *report_scope(const struct pair *p)
{
    return !strcmp(p->test, "stratified_exact") ? " on these problems" : "";
}

const char *report_mark_words(struct arena *a, const struct pair *p, double margin)
{
    if (p->is_incomplete && p->mark == MARK_OPEN)
        return "? answers are missing";
    switch (p->mark) {
    case MARK_LOWER:
        return arena_printf(a, "\xE2\x96\xBC lower%s", report_scope(p));
    case MARK_HIGHER:
        return arena_printf(a, "\xE2\x96\xB2 higher%s", report_scope(p));
    case MARK_WITHIN:
        return arena_printf(a, "= within %s", report_points(a, margin));
    case MARK_OPEN:
        return arena_printf(a, "? not decided, %s", enough_words(a, p, "about "));
    case MARK_TOO_FEW:
        return arena_printf(a, "too few problems, %s", enough_words(a, p, ""));
    case MARK_NONE:
        break;
    }
    return "not compared";
}

const char *report_marks_legend(struct arena *a, double margin)
{
    return arena_printf(
        a,
        "\xE2\x96\xBC lower, \xE2\x96\xB2 higher than the baseline beyond chance; = as good as it "
        "within %s (a one-sided test, so the interval may reach further); ? not decided",
        report_points(a, margin));
}

unsigned report_pair_flags(const struct pair *p)
{
    enum mark m = p ? p->mark : MARK_NONE;
    return m == MARK_LOWER ? CELL_BAD : m == MARK_HIGHER || m == MARK_WITHIN ? CELL_GOOD : 0;
}

unsigned report_differs_flags(const struct pair *p)
{
    return p->mark == MARK_WITHIN ? 0 : report_pair_flags(p);
}

unsigned report_within_flags(const struct pair *p)
{
    return p->mark == MARK_WITHIN ? CELL_GOOD : 0;
}

const char *const report_interval_note =
    "The interval is two-sided and of another method than the one-sided test that \"=\" rests on, so it may "
    "reach beyond the margin.";

const char *report_difference(struct arena *a, const struct pair *p)
{
    int digits = p->ci.high - p->ci.low < 0.1;
    return arena_printf(a, "%+.*f [%+.*f, %+.*f]", digits, 100 * p->delta, digits, 100 * p->ci.low, digits,
                        100 * p->ci.high);
}

const char *report_share(struct arena *a, double v)
{
    return isfinite(v) ? arena_printf(a, "%.*f %%", v > 0 && v < 0.0995 ? 1 : 0, 100 * v) : "-";
}

const char *report_reads(struct arena *a, double share, int is_bound)
{
    return arena_printf(a, "%s%s", report_share(a, share), is_bound ? ", a bound" : "");
}

/* Mostly the limit, and often enough to matter. */
static int is_cut_short(long cut, long missed, long n)
{
    return 2 * cut > missed && 10 * cut >= n;
}

const char *report_cut_words(struct arena *a, long cut, long missed, long n)
{
    return is_cut_short(cut, missed, n) ? arena_printf(a, "%ld of %ld cut off at the limit", cut, n) : "";
}

const char *report_idle_words(struct arena *a, int idle, int answered)
{
    return idle && idle < answered ? arena_printf(a, "read everything on %d of %d problems", idle, answered)
                                   : "";
}

const char *report_baseline_name(const struct report *r)
{
    int row = -1, is_others = 0;
    for (int i = 0; i < r->n_settings; i++) {
        int base = r->settings[i].baseline_row;
        if (base < 0)
            continue;
        if (row >= 0 && strcmp(r->rows[base].policy_label, r->rows[row].policy_label) != 0)
            return "the baseline";
        row = base;
        is_others |= strcmp(r->rows[base].model, r->rows[r->settings[i].row].model) != 0;
    }
    return row < 0 ? "the baseline"
           : is_others
               ? arena_printf(r->arena, "%s on %s", r->rows[row].policy_label, report_model_name(r, row))
               : r->rows[row].policy_label;
}

/* ---- The verdict: a row for each policy setting over all its tasks. */

/* "over 300 problems of 4 tasks"; "over 240 to 300 problems" where settings do not have the same. */
const char *report_problem_basis(const struct report *r, int *is_same)
{
    int low = 0, high = 0, min_tasks = 0, max_tasks = 0, n = 0;
    for (int i = 0; i < r->n_settings; i++) {
        const struct setting *s = &r->settings[i];
        int problems = s->pooled.problems;
        if (s->pooled.mark == MARK_NONE)
            continue;
        low = !n || problems < low ? problems : low;
        high = problems > high ? problems : high;
        min_tasks = !n || s->n_tasks < min_tasks ? s->n_tasks : min_tasks;
        max_tasks = s->n_tasks > max_tasks ? s->n_tasks : max_tasks;
        n++;
    }
    *is_same = n && low == high && min_tasks == max_tasks;
    if (*is_same)
        return arena_printf(r->arena, "over %d problem%s of %d task%s", low, low == 1 ? "" : "s", min_tasks,
                            min_tasks == 1 ? "" : "s of the same weight");
    return n ? arena_printf(r->arena, "over %d to %d problems", low, high) : "";
}

const char *report_setting_verdict(const struct report *r, const struct setting *s)
{
    if (s->is_baseline && s->pooled.mark == MARK_NONE)
        return "baseline";
    if (!s->n_records)
        return "not run yet";
    if (s->pooled.mark == MARK_NONE && s->baseline_row >= 0)
        return "no shared problem yet";
    return report_mark_words(r->arena, &s->pooled, r->run->margin);
}

const char *report_setting_notes(const struct report *r, const struct setting *s)
{
    struct str t = {0};
    const char *cut = report_cut_words(r->arena, s->n_cut, s->n_missed, s->n_records);
    if (s->n_records && s->n_records < s->n_expected)
        str_printf(&t, "incomplete %ld/%ld, biased to short", s->n_records, s->n_expected);
    if (s->activity == ACTIVITY_INACTIVE)
        str_printf(&t, "%sINACTIVE on %d task%s: over its budget, yet it read everything", t.len ? "; " : "",
                   s->n_inactive, s->n_inactive == 1 ? "" : "s");
    else if (s->activity == ACTIVITY_UNNEEDED)
        str_printf(&t, "%sits budget was never reached: it read everything", t.len ? "; " : "");
    const char *idle = report_idle_words(r->arena, s->n_idle, s->n_answered);
    if (*idle)
        str_printf(&t, "%sbudget without effect: %s", t.len ? "; " : "", idle);
    if (*cut)
        str_printf(&t, "%s%s", t.len ? "; " : "", cut);
    const char *kept = arena_strdup(r->arena, str_text(&t));
    str_release(&t);
    return kept;
}

const char *report_bound_note(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].is_bound)
            return " A bound stands at what it attends to: what it reads to choose is not counted, since no "
                   "policy chooses better.";
    return "";
}

const char *report_series_name(const struct report *r, const char *policy)
{
    const struct policy_ops *ops = policy_find(policy);
    return ops && policy_is_bound(ops) ? arena_printf(r->arena, "%s (bound)", policy) : policy;
}

const char *report_row_cell(const struct report *r, int row)
{
    return arena_printf(r->arena, "row %d", row);
}

static void setting_row(struct doc *d, struct table *t, const struct report *r, const struct setting *s,
                        int is_same)
{
    const struct pair *p = &s->pooled;
    const char *notes = report_setting_notes(r, s);
    table_row(d, t);
    table_add(d, t, s->is_baseline ? CELL_STRONG : 0, "%s", report_row_name(r, s->row));
    table_cell_of(d, t, report_row_cell(r, s->row));
    table_add(d, t, report_pair_flags(p), "%s", report_setting_verdict(r, s));
    if (!is_same && p->problems && p->mark != MARK_NONE)
        table_small(d, t, "%d problems of %d task%s", p->problems, s->n_tasks, s->n_tasks == 1 ? "" : "s");
    if (isnan(s->accuracy))
        table_add(d, t, CELL_MUTED, "-");
    else
        table_add(d, t, 0, "%s", report_percent(d->arena, s->accuracy, s->ci));
    if (p->mark == MARK_NONE)
        table_add(d, t, CELL_MUTED, "-");
    else
        table_add(d, t, report_pair_flags(p), "%s", report_difference(d->arena, p));
    table_add(d, t, 0, "%s", report_share(d->arena, s->reads));
    if (s->is_bound)
        table_small(d, t, "a bound: without %s to choose", report_share(d->arena, s->aux_share));
    else if (s->aux_share > 0)
        table_small(d, t, "%s attended, %s to choose", report_share(d->arena, s->kv_share),
                    report_share(d->arena, s->aux_share));
    table_add(d, t, s->activity == ACTIVITY_INACTIVE ? CELL_BAD : 0, "%s", notes);
}

/* With several samples lower and higher answer another question than "=" and the interval. */
static const char *scope_note(const struct report *r)
{
    for (int i = 0; i < r->n_settings; i++)
        if (*report_scope(&r->settings[i].pooled))
            return " With several samples of a problem, lower and higher are said of these problems alone; = "
                   "and the intervals take them as a sample of problems like these, so an interval may hold "
                   "0 "
                   "beside a mark.";
    return "";
}

void report_add_verdict(struct doc *d, const struct report *r)
{
    int is_same;
    const char *over = report_problem_basis(r, &is_same);
    struct table *t = doc_table(
        d, arena_printf(
               d->arena,
               "Each policy setting over all its tasks%s%s: percent correct "
               "[95 %% interval], difference from %s in points on the same problems, and total reads (tokens "
               "attended and read to choose them) as a share of what full attention would have read. %s. All "
               "settings of a model are one family of tests (Holm, 5 %%); \"would do\" counts problems, if "
               "the shares stay as they are.%s%s",
               is_same ? ", " : ", which weigh the same", is_same ? over : "", report_baseline_name(r),
               report_marks_legend(d->arena, r->run->margin), report_bound_note(r), scope_note(r)));
    static const struct table_column columns[] = {{"policy", 0},
                                                  {"verdict", 0},
                                                  {"accuracy", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"total reads", CELL_NUMBER},
                                                  {"note", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    int models = report_several_models(r);
    for (int i = 0; i < r->n_settings; i++) {
        const struct setting *s = &r->settings[i];
        if (models && (!i || strcmp(r->rows[s->row].model, r->rows[s[-1].row].model) != 0))
            table_group(d, t, r->rows[s->row].model);
        setting_row(d, t, r, s, is_same);
    }
}

int report_task_is_repeated(const struct run *run, int i)
{
    const struct run_task *t = &run->tasks[i];
    for (int k = 0; k < i; k++) {
        const struct run_task *o = &run->tasks[k];
        if (!strcmp(o->label, t->label) && !strcmp(o->name, t->name) && !strcmp(o->source, t->source) &&
            o->n_problems == t->n_problems)
            return 1;
    }
    return 0;
}
