/* The page's first screen (contract: report_parts.h): how many settings are as good as the baseline, for each
 * policy the cheapest of them and where it loses, and the figure that shows it. The same words head the
 * terminal's tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_parts.h"
#include "evalcore/report/report_series.h"

static int is_good(const struct setting *s)
{
    return s->pooled.mark == MARK_WITHIN || s->pooled.mark == MARK_HIGHER;
}

/* ---- The sentence. */

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
        str_printf(s, "; %d %s%s", n, n == 1 ? singular : plural, marks_scope(r, m));
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
               report_points(r->arena, r->run->margin), report_problem_basis(r, &is_same));
    add_part(&s, r, MARK_HIGHER, "is better", "are better");
    add_part(&s, r, MARK_LOWER, "is lower", "are lower");
    add_part(&s, r, MARK_OPEN, "is not decided", "are not decided");
    add_part(&s, r, MARK_TOO_FEW, "has too few problems for any verdict",
             "have too few problems for any verdict");
    const char *kept = arena_printf(r->arena, "%s.", str_text(&s));
    str_release(&s);
    return kept;
}

/* ---- A line for each policy of a model. */

struct family {              /* the settings of one policy on one model that are compared with a baseline */
    const struct cell *cell; /* of its first setting */
    const struct setting *best; /* the cheapest that is as good; NULL: none is */
    int n, n_lower, first;
};

static const struct cell *cell_of(const struct report *r, int row)
{
    return r->cells[r->rows[row].cell].cell;
}

static int is_in(const struct report *r, const struct family *f, const struct setting *s)
{
    const struct cell *c = cell_of(r, s->row);
    return s->pooled.mark != MARK_NONE && !strcmp(c->policy, f->cell->policy) &&
           !strcmp(c->model, f->cell->model);
}

static int is_cheaper(const struct setting *a, const struct setting *b)
{
    return !b || a->reads < b->reads || (isnan(b->reads) && !isnan(a->reads));
}

/* The family that begins with setting `first`; n 0 where it has begun before, or is not compared. */
static struct family family_at(const struct report *r, int first)
{
    struct family f = {.cell = cell_of(r, r->settings[first].row), .first = first};
    for (int i = 0; i < r->n_settings; i++) {
        const struct setting *s = &r->settings[i];
        if (!is_in(r, &f, s))
            continue;
        if (i < first)
            return (struct family){0};
        f.n++;
        f.n_lower += s->pooled.mark == MARK_LOWER;
        if (is_good(s) && is_cheaper(s, f.best))
            f.best = s;
    }
    return f;
}

/* What takes from the verdict on a setting; "": nothing. That it read everything here and there takes nothing
 * from a loss. */
static const char *setting_remark(const struct report *r, const struct setting *s)
{
    int all = s->activity == ACTIVITY_UNNEEDED || s->activity == ACTIVITY_INACTIVE;
    const char *idle = all ? "it read everything" : report_idle_words(r->arena, s->n_idle, s->n_answered);
    const char *incomplete = s->pooled.is_incomplete ? "incomplete" : "";
    if (s->pooled.mark == MARK_LOWER)
        idle = "";
    return arena_printf(r->arena, "%s%s%s", incomplete, *idle && *incomplete ? "; " : "", idle);
}

/* Settings of the family with a mark: "lower: ratio=0.2, ratio=0.5 and 3 more" or, of those not decided,
 * "3 not decided" where there are several; NULL: none. The policy's name is left out where the labels begin
 * with it. */
static const char *names_of(const struct report *r, const struct family *f, enum mark m, const char *word)
{
    int most = m == MARK_LOWER ? 2 : 1, n = 0;
    struct str s = {0};
    size_t k = strlen(f->cell->policy);
    for (int i = f->first; i < r->n_settings; i++) {
        const struct setting *x = &r->settings[i];
        const char *name = report_row_name(r, x->row);
        if (!is_in(r, f, x) || x->pooled.mark != m || n++ >= most)
            continue;
        if (!strncmp(name, f->cell->policy, k) && name[k] == ' ')
            name += k + 1;
        const char *remark = setting_remark(r, x);
        str_printf(&s, "%s%s", s.len ? ", " : "", name);
        if (*remark)
            str_printf(&s, " (%s)", remark);
    }
    if (n > most)
        str_printf(&s, " and %d more", n - most);
    const char *kept = !n                            ? NULL
                       : n > most && m != MARK_LOWER ? arena_printf(r->arena, "%d %s", n, word)
                                                     : arena_printf(r->arena, "%s: %s", word, str_text(&s));
    str_release(&s);
    return kept;
}

struct loss {
    const char *task;
    double delta;
    enum mark mark;
};

static int by_loss(const void *a, const void *b)
{
    double x = ((const struct loss *)a)->delta, y = ((const struct loss *)b)->delta;
    return x < y ? -1 : x > y;
}

/* Where the family's lower settings lose most: "most on algebra (-80 ▼), relay (-62)". */
static const char *losses_of(const struct report *r, const struct family *f)
{
    enum { SHOWN = 3 };
    struct loss *loss = xcalloc((size_t)r->n_columns + 1, sizeof *loss);
    struct str s = {0};
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pair *p = &r->pairs[i];
        const struct cell_stats *c = &r->cells[p->b];
        if (c->column < 0 || !p->problems || p->delta >= loss[c->column].delta ||
            strcmp(c->cell->policy, f->cell->policy) != 0 || strcmp(c->cell->model, f->cell->model) != 0 ||
            report_setting_of(r, c->row)->pooled.mark != MARK_LOWER)
            continue;
        loss[c->column] = (struct loss){r->columns[c->column], p->delta, p->mark};
    }
    qsort(loss, (size_t)r->n_columns, sizeof *loss, by_loss);
    for (int i = 0; i < SHOWN && i < r->n_columns && loss[i].task; i++)
        str_printf(&s, "%s%s (%+.0f%s%s)", i ? ", " : "most on ", loss[i].task, 100 * loss[i].delta,
                   i ? "" : " points", loss[i].mark == MARK_LOWER ? " \xE2\x96\xBC" : "");
    const char *kept = s.len ? arena_strdup(r->arena, str_text(&s)) : NULL;
    str_release(&s);
    free(loss);
    return kept;
}

static const char *best_words(const struct report *r, const struct setting *s)
{
    const char *how =
        s->pooled.mark == MARK_HIGHER
            ? arena_printf(r->arena, "better%s", report_scope(&s->pooled))
            : arena_printf(r->arena, "as good within %s", report_points(r->arena, r->run->margin));
    const char *reads = isnan(s->reads) ? ""
                        : s->reads < 0.995
                            ? arena_printf(r->arena, " at %s of the reads", report_share(r->arena, s->reads))
                            : arena_printf(r->arena, ", but saves nothing: %s of the reads",
                                           report_share(r->arena, s->reads));
    return arena_printf(r->arena, "%s%s%s", s->is_bound ? "a bound, " : "", how, reads);
}

/* "lower: ratio=0.2, most on algebra (-80 points); 3 not decided". */
static const char *other_words(const struct report *r, const struct family *f)
{
    static const struct {
        enum mark mark;
        const char *word;
    } parts[] = {{MARK_LOWER, "lower"}, {MARK_OPEN, "not decided"}, {MARK_TOO_FEW, "too few problems"}};
    struct str s = {0};
    if (f->best)
        str_puts(&s, setting_remark(r, f->best));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int is_lower = parts[i].mark == MARK_LOWER;
        const char *scope = is_lower ? marks_scope(r, MARK_LOWER) : "";
        const char *names =
            names_of(r, f, parts[i].mark, arena_printf(r->arena, "%s%s", parts[i].word, scope));
        if (!names)
            continue;
        str_printf(&s, "%s%s", s.len ? "; " : "", names);
        const char *losses = is_lower ? losses_of(r, f) : NULL;
        if (losses)
            str_printf(&s, ", %s", losses);
    }
    const char *kept = s.len ? arena_strdup(r->arena, str_text(&s)) : NULL;
    str_release(&s);
    return kept;
}

static struct verdict_line line_of(const struct report *r, const struct family *f)
{
    const char *more = other_words(r, f);
    if (f->best)
        return (struct verdict_line){report_full_name(r, f->best->row), best_words(r, f->best), more};
    const char *name = report_several_models(r)
                           ? arena_printf(r->arena, "%s on %s", f->cell->policy,
                                          report_model_name(r, r->settings[f->first].row))
                           : f->cell->policy;
    const char *none = f->n == 1 ? "not shown to be as good"
                                 : arena_printf(r->arena, "none of %d is shown to be as good", f->n);
    return (struct verdict_line){name, none, more};
}

/* Cheapest first; bounds behind methods; behind both, in the run file's order, policies without one. */
static int by_reads(const void *a, const void *b)
{
    const struct family *f = a, *g = b;
    if (!f->best != !g->best)
        return !f->best - !g->best;
    if (f->best && f->best->is_bound != g->best->is_bound)
        return f->best->is_bound - g->best->is_bound;
    if (f->best && is_cheaper(f->best, g->best) != is_cheaper(g->best, f->best))
        return is_cheaper(f->best, g->best) ? -1 : 1;
    return f->first - g->first;
}

struct verdict_lines report_verdict_lines(const struct report *r)
{
    struct family *f = xcalloc((size_t)r->n_settings + 1, sizeof *f);
    size_t n = 0;
    for (int i = 0; i < r->n_settings; i++) {
        f[n] = family_at(r, i);
        n += f[n].n > 0 && is_in(r, &f[n], &r->settings[i]);
    }
    qsort(f, n, sizeof *f, by_reads);
    struct verdict_lines out = {arena_alloc(r->arena, (n + 1) * sizeof *out.line), (int)n, 0};
    for (size_t i = 0; i < n; i++) {
        out.line[i] = line_of(r, &f[i]);
        out.n_good += f[i].best != NULL;
    }
    free(f);
    return out;
}

/* ---- The figure: every policy setting over all its tasks, accuracy against total reads. */

static int is_drawn(const struct report *r, const struct setting *s, const char *model)
{
    return !isnan(s->accuracy) && !isnan(s->reads) && !strcmp(r->rows[s->row].model, model);
}

static void add_setting(struct series_set *set, struct svg_series *s, const struct setting *x)
{
    const struct report *r = set->report;
    const struct cell *c = cell_of(r, x->row);
    const char *name = report_row_name(r, x->row), *parts = "";
    size_t k = strlen(c->policy);
    if (x->aux_share > 0)
        parts = x->is_bound
                    ? ", a bound: what it reads to choose is not counted"
                    : arena_printf(r->arena, ": %s attended, %s to choose",
                                   report_share(r->arena, x->kv_share), report_share(r->arena, x->aux_share));
    set->points[set->n_points++] = (struct svg_point){
        .x = x->reads,
        .y = x->accuracy,
        .low = x->ci.low,
        .high = x->ci.high,
        .cell = report_row_cell(r, x->row),
        .label = !strncmp(name, c->policy, k) && name[k] == ' ' ? name + k + 1 : NULL,
        .is_hollow = x->pooled.mark != MARK_NONE && !is_good(x),
        .tip = arena_printf(
            r->arena, "%s, %s\n%s\naccuracy %s over all tasks\nreads %s of full attention's%s", name,
            r->rows[x->row].model, report_setting_verdict(r, x), report_percent(r->arena, x->accuracy, x->ci),
            report_share(r->arena, x->reads), parts)};
    s->n++;
}

/* The settings of the model of a row. */
static void draw_lead_panel(struct doc *d, const struct report *r, int row)
{
    struct series_set set = series_begin(r);
    const char *model = r->rows[row].model,
               *name = report_several_models(r) ? report_model_name(r, row) : NULL;
    int n = 0;
    for (int i = 0; i < r->n_settings; i++) {
        const struct cell *c = cell_of(r, r->settings[i].row);
        int seen = !is_drawn(r, &r->settings[i], model);
        for (size_t k = 0; k < set.n && !seen; k++)
            seen = !strcmp(set.policy[k], c->policy);
        if (seen)
            continue;
        struct svg_series *s = series_add(&set, report_series_name(r, c->policy), c->policy,
                                          r->settings[i].is_baseline ? SVG_FLAT : SVG_POINTS);
        for (int k = i; k < r->n_settings; k++) {
            const struct cell *other = cell_of(r, r->settings[k].row);
            /* A line across is one setting's; another run's baseline is drawn as a point of its own name. */
            if (strcmp(other->policy, c->policy) != 0 || !is_drawn(r, &r->settings[k], model) ||
                (s->kind == SVG_FLAT && k > i))
                continue;
            add_setting(&set, s, &r->settings[k]);
            n++;
        }
    }
    if (n < 2)
        return;
    struct svg_chart chart = {
        .id = name ? report_slug(r->arena, arena_printf(r->arena, "lead %s", name)) : "lead",
        .title = name ? arena_printf(r->arena, "%s, all tasks: accuracy against KV reads", name)
                      : "all tasks: accuracy against KV reads",
        .desc = "Accuracy over all tasks with 95 % intervals against total reads, one point "
                "per policy setting; the values are in settings.csv.",
        .x = {"total KV reads, share of full attention", 0, NAN, 0, 1},
        .y = {"accuracy", 0, 1, 0, 1},
        .series = set.s,
        .n_series = set.n};
    struct str svg = {0};
    svg_chart(&svg, &chart);
    doc_figure(d, arena_printf(r->arena, "%s.svg", chart.id), chart.title, &svg, 0,
               "Each point is a policy setting over all its tasks, which weigh the same; up and to the left "
               "is better. Filled "
               "marks are as good as the baseline or better, hollow ones lower or not decided. Bars and the "
               "band of the baseline are 95 %% intervals.%s",
               report_bound_note(r));
}

/* One figure for each model, since full attention of one reads more or less than that of another. */
void report_add_lead(struct doc *d, const struct report *r)
{
    for (int row = 0; row < r->n_rows; row++) {
        int first = 0;
        while (strcmp(r->rows[first].model, r->rows[row].model) != 0)
            first++;
        if (first == row)
            draw_lead_panel(d, r, row);
    }
}
