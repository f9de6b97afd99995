/* The distribution of completion lengths: one step curve per cell, with the share up, or across as in DELTA
 * (arXiv 2510.09883), Figure 4 left. Completions that were cut off would have gone on, so the curves are the
 * product-limit estimate (Kaplan and Meier 1958). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/report_series.h"

struct curve {
    struct svg_point *points; /* (length, share) */
    size_t n, n_cut, n_all;
    double cut_x;
};

static size_t collect_lengths(const struct cell *c, struct ecdf_item *items, double *longest_cut)
{
    size_t m = 0;
    *longest_cut = NAN;
    for (int i = 0; i < c->n_records; i++) {
        const struct record *rec = &c->records[i];
        if (rec->finish == FINISHED_ERROR)
            continue;
        int is_cut = rec->finish == FINISHED_LENGTH;
        items[m++] = (struct ecdf_item){rec->tokens, is_cut};
        if (is_cut && !(rec->tokens <= *longest_cut))
            *longest_cut = rec->tokens;
    }
    return m;
}

/* The steps, and between them the places where something was cut off. The longest of those is the end of the
 * curve, unless a longer completion ended by itself. */
static struct curve make_curve(struct arena *a, const struct cell *c)
{
    size_t capacity = (size_t)c->n_records + 1, at = 0;
    struct ecdf_item *items = xmalloc(capacity * sizeof *items);
    struct ecdf_step *steps = xmalloc(capacity * sizeof *steps);
    double longest;
    struct curve out = {.points = arena_alloc(a, 2 * capacity * sizeof *out.points)};
    out.n_all = collect_lengths(c, items, &longest);
    size_t n_steps = stat_ecdf(items, out.n_all, steps);
    out.cut_x = n_steps && steps[n_steps - 1].x > longest ? NAN : longest;
    double share = 0;
    for (size_t i = 0; i < out.n_all; i++) {
        out.n_cut += (size_t)items[i].is_cut;
        for (; at < n_steps && steps[at].x <= items[i].x; at++) {
            share = steps[at].share;
            out.points[out.n++] = (struct svg_point){.x = steps[at].x, .y = share, .low = NAN, .high = NAN};
        }
        if (items[i].is_cut && !(items[i].x >= out.cut_x))
            out.points[out.n++] =
                (struct svg_point){.x = items[i].x, .y = share, .low = NAN, .high = NAN, .is_cut = 1};
    }
    free(items);
    free(steps);
    return out;
}

static void add_lengths(struct series_set *set, const struct cell_stats *s, enum svg_kind kind, int is_faint)
{
    const struct report *r = set->report;
    const struct cell *c = s->cell;
    struct curve k = make_curve(r->arena, c);
    const char *name = k.n_cut ? arena_printf(r->arena, "%s (%.0f %% cut)", c->policy_label,
                                              100 * (double)k.n_cut / (double)k.n_all)
                               : c->policy_label;
    for (size_t i = 0; i < k.n && kind == SVG_QUANTILE; i++) {
        double length = k.points[i].x;
        k.points[i].x = k.points[i].y;
        k.points[i].y = length;
    }
    struct svg_series *curve = series_add(set, is_faint ? NULL : name, c->policy, kind);
    curve->points = k.points;
    curve->n = k.n;
    curve->cut_x = k.cut_x;
    curve->is_wide = c->is_baseline;
    curve->is_faint = is_faint;
    curve->dash = SVG_SOLID;
    curve->cell = c->id;
    curve->tip = report_tip(r, s);
}

/* More curves than this cannot be told apart. Then one cell of each policy stands for it and the others are
 * pale: the cheapest that is as accurate as the baseline on the same problems, else the most accurate. */
enum { CURVES_MAX = 7 };

static int is_as_good(const struct report *r, int i)
{
    const struct pair *p = report_pair_of(r, i);
    return p && p->delta >= 0;
}

static int is_better_choice(const struct report *r, int i, int than)
{
    const struct cell_stats *a = &r->cells[i], *b = &r->cells[than];
    int good_a = is_as_good(r, i), good_b = is_as_good(r, than);
    if (good_a != good_b)
        return good_a;
    if (!good_a && (a->accuracy > b->accuracy || a->accuracy < b->accuracy))
        return a->accuracy > b->accuracy;
    return a->total_density < b->total_density;
}

/* Does cell i stand for its policy? */
static int is_chosen(const struct report *r, int i, int panel)
{
    if (r->cells[i].cell->is_baseline)
        return 1;
    for (int k = 0; k < r->run->n_cells; k++)
        if (k != i && report_is_shown(r, k, panel) && !r->cells[k].cell->is_baseline &&
            !strcmp(r->cells[k].cell->policy, r->cells[i].cell->policy) &&
            (is_better_choice(r, k, i) || (k < i && !is_better_choice(r, i, k))))
            return 0;
    return 1;
}

int report_has_lengths(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel))
            return 1;
    return 0;
}

static const char *lengths_caption(struct doc *d, const struct series_set *set, int n_faint)
{
    const char *note = "None of these completions was cut off at the length limit.";
    for (size_t i = 0; i < set->n; i++)
        if (isfinite(set->s[i].cut_x))
            note =
                "A curve that ends in a bar stops at the length limit: the completions beyond were cut off "
                "there and would have gone on.";
    if (n_faint)
        note = arena_printf(d->arena,
                            "%s Of each policy the cheapest setting is drawn that is as accurate as the "
                            "baseline, or the most accurate if none is; the %d others are pale.",
                            note, n_faint);
    return note;
}

static void draw_length_curves(struct doc *d, const struct report *r, int panel,
                               const struct report_figure *f, struct svg_chart chart, enum svg_kind kind)
{
    struct series_set set = series_begin(r);
    int n = 0, n_faint = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        n += report_is_shown(r, i, panel);
    for (int faint = 0; faint < 2; faint++)
        for (int i = 0; i < r->run->n_cells; i++)
            if (report_is_shown(r, i, panel) && (n > CURVES_MAX && !is_chosen(r, i, panel)) == faint) {
                add_lengths(&set, &r->cells[i], kind, faint);
                n_faint += faint;
            }
    series_draw(d, &set, chart, panel, f, lengths_caption(d, &set, n_faint));
}

void report_draw_lengths(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    draw_length_curves(
        d, r, panel, f,
        (struct svg_chart){.id = "lengths",
                           .desc = "Share of completions that ended by a length, as a step curve per cell; a "
                                   "curve with completions cut off at the length limit ends there in a bar.",
                           .x = {"completion length, tokens", 0, NAN, 0, 0},
                           .y = {"share of completions ended", 0, 1, 0, 1}},
        SVG_STEP);
}

void report_draw_quantiles(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    draw_length_curves(
        d, r, panel, f,
        (struct svg_chart){.id = "quantiles",
                           .desc = "Completion length against the share of completions that are no longer, a "
                                   "step curve per cell; the values are in lengths.csv.",
                           .x = {"share of completions ended", 0, 1, 0, 1},
                           .y = {"completion length, tokens", 0, NAN, 0, 0}},
        SVG_QUANTILE);
    doc_beside(d); /* the same curves as completion lengths, as DELTA prints them */
}
