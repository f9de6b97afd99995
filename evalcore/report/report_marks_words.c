/* Verdicts in words, and the signs that stand for them (contract: report_parts.h). */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

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
    return isfinite(v) ? arena_printf(a, "%.*f %%", v < 0.0995 ? 1 : 0, 100 * v) : "-";
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
