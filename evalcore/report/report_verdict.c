/* The verdict: one line for each policy setting over all its tasks, and the same in a sentence. */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

enum { NAMES_SHOWN = 6 };

/* What takes from the verdict on a setting, in brackets behind its name. */
static const char *setting_remark(const struct report *r, const struct setting *s)
{
    int all = s->activity == ACTIVITY_UNNEEDED || s->activity == ACTIVITY_INACTIVE;
    const char *idle = all ? "it read everything" : report_idle_words(r->arena, s->n_idle, s->n_answered);
    const char *incomplete = s->pooled.is_incomplete ? "incomplete" : "";
    if (!*idle && !*incomplete)
        return "";
    return arena_printf(r->arena, " (%s%s%s)", incomplete, *idle && *incomplete ? "; " : "", idle);
}

/* "quest k_pages=8, raas budget_tokens=512 and 3 more". */
static const char *setting_names(const struct report *r, enum mark m)
{
    struct str s = {0};
    int n = 0;
    for (int i = 0; i < r->n_settings; i++) {
        int row = r->settings[i].row;
        if (r->settings[i].pooled.mark != m || n++ >= NAMES_SHOWN)
            continue;
        const char *what = setting_remark(r, &r->settings[i]);
        str_printf(&s, "%s%s%s", s.len ? ", " : "", report_full_name(r, row), what);
    }
    if (n > NAMES_SHOWN)
        str_printf(&s, " and %d more", n - NAMES_SHOWN);
    const char *kept = arena_strdup(r->arena, str_text(&s));
    str_release(&s);
    return kept;
}

static int count_marks(const struct report *r, enum mark m)
{
    int n = 0;
    for (int i = 0; i < r->n_settings; i++)
        n += r->settings[i].pooled.mark == m;
    return n;
}

/* Lower and higher hold for the problems at hand where some setting was tested so. */
static const char *marks_scope(const struct report *r, enum mark m)
{
    const char *words = "";
    for (int i = 0; i < r->n_settings && !*words; i++)
        if (r->settings[i].pooled.mark == m && (m == MARK_LOWER || m == MARK_HIGHER))
            words = report_scope(&r->settings[i].pooled);
    return words;
}

static void add_part(struct str *s, const struct report *r, enum mark m, const char *singular,
                     const char *plural)
{
    int n = count_marks(r, m);
    if (n)
        str_printf(s, "%s%d %s%s: %s", s->len ? "; " : "", n, n == 1 ? singular : plural, marks_scope(r, m),
                   setting_names(r, m));
}

/* "over 300 problems of 4 tasks"; "over 240 to 300 problems" where settings do not have the same. */
static const char *problem_basis(const struct report *r, int *is_same)
{
    int low = 0, high = 0, least = 0, most = 0, n = 0;
    for (int i = 0; i < r->n_settings; i++) {
        const struct setting *s = &r->settings[i];
        int problems = s->pooled.problems;
        if (s->pooled.mark == MARK_NONE)
            continue;
        low = !n || problems < low ? problems : low;
        high = problems > high ? problems : high;
        least = !n || s->n_tasks < least ? s->n_tasks : least;
        most = s->n_tasks > most ? s->n_tasks : most;
        n++;
    }
    *is_same = n && low == high && least == most;
    if (*is_same)
        return arena_printf(r->arena, "over %d problem%s of %d task%s", low, low == 1 ? "" : "s", least,
                            least == 1 ? "" : "s");
    return n ? arena_printf(r->arena, "over %d to %d problems", low, high) : "";
}

const char *report_verdict_sentence(const struct report *r)
{
    static const enum mark marks[] = {MARK_WITHIN, MARK_HIGHER, MARK_LOWER, MARK_OPEN, MARK_TOO_FEW};
    struct str s = {0};
    int compared = 0, within = count_marks(r, MARK_WITHIN), is_same;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        compared += count_marks(r, marks[i]);
    if (!compared)
        return "";
    str_printf(&s, "%d of %d setting%s %s as good as %s within %s %s", within, compared,
               compared == 1 ? "" : "s", within == 1 || compared == 1 ? "is" : "are", report_baseline_name(r),
               report_points(r->arena, r->run->margin), problem_basis(r, &is_same));
    if (within)
        str_printf(&s, ": %s", setting_names(r, MARK_WITHIN));
    add_part(&s, r, MARK_HIGHER, "is better", "are better");
    add_part(&s, r, MARK_LOWER, "is worse", "are worse");
    add_part(&s, r, MARK_OPEN, "is not decided", "are not decided");
    add_part(&s, r, MARK_TOO_FEW, "has too few problems for any verdict",
             "have too few problems for any verdict");
    const char *kept = arena_printf(r->arena, "%s.", str_text(&s));
    str_release(&s);
    return kept;
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

static void setting_row(struct doc *d, struct table *t, const struct report *r, const struct setting *s,
                        int is_same)
{
    const struct pair *p = &s->pooled;
    const char *notes = report_setting_notes(r, s);
    table_row(d, t);
    table_add(d, t, s->is_baseline ? CELL_STRONG : 0, "%s", report_row_name(r, s->row));
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
    if (s->aux_share > 0)
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
    const char *over = problem_basis(r, &is_same);
    struct table *t = doc_table(
        d,
        arena_printf(
            d->arena,
            "Each policy setting over all its tasks%s%s, every problem with the same weight: percent correct "
            "[95 %% interval], difference from %s in points on the same problems, and total reads (tokens "
            "attended and read to choose them) as a share of what full attention would have read. %s. All "
            "settings of a model are one family of tests (Holm, 5 %%); \"would do\" counts problems, if "
            "the shares stay as they are.%s",
            is_same ? ", " : "", is_same ? over : "", report_baseline_name(r),
            report_marks_legend(d->arena, r->run->margin), scope_note(r)));
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
