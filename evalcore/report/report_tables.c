/* The accuracy table: a row per policy setting, a column per task. */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_group.h"
#include "evalcore/report/data/report_samples.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_series.h"

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
        str_printf(&note, ", %s %s", s->is_bound ? "a bound, attends to" : "reads",
                   report_share(d->arena, s->total_density));
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

/* ---- The section "Several answers to a problem": its table. */

enum { KS_MAX = 32 };

struct ks { /* of pass@k, over all cells, ascending */
    int k[KS_MAX], n;
};

static void add_k(struct ks *all, int k)
{
    int at = all->n;
    while (at > 0 && all->k[at - 1] > k)
        at--;
    if ((at > 0 && all->k[at - 1] == k) || all->n == KS_MAX)
        return;
    for (int i = all->n++; i > at; i--)
        all->k[i] = all->k[i - 1];
    all->k[at] = k;
}

static const struct sample_value *find_value(const struct sample_stats *s, enum sample_kind kind, int k)
{
    for (int i = 0; i < s->n_values; i++)
        if (s->value[i].kind == kind && (!k || s->value[i].k == k))
            return &s->value[i];
    return NULL;
}

static void value_cell(struct doc *d, struct table *t, const struct sample_value *v)
{
    report_number_cell(d, t, v ? 100 * v->over.mean : NAN, 1);
}

static void add_samples_row(struct doc *d, struct table *t, const struct report *r,
                            const struct cell_stats *s, const struct sample_stats *x, const struct ks *ks)
{
    const struct sample_value *avg = find_value(x, SAMPLE_AVG, 0);
    table_row(d, t);
    table_add(d, t, 0, "%s", report_row_name(r, s->row));
    table_cell_of(d, t, s->cell->id);
    table_add(d, t, 0, "%d \xC3\x97 %d", x->n_problems, x->n);
    if (x->n_problems < s->cell->task->n_problems)
        table_small(d, t, "%d left out", s->cell->task->n_problems - x->n_problems);
    if (!avg)
        table_add(d, t, CELL_MUTED, "-");
    else if (isnan(avg->over.se))
        table_add(d, t, 0, "%.1f", 100 * avg->over.mean);
    else
        table_add(d, t, 0, "%.1f \xC2\xB1 %.1f", 100 * avg->over.mean, 100 * avg->over.se);
    for (int i = 0; i < ks->n; i++)
        value_cell(d, t, find_value(x, SAMPLE_PASS, ks->k[i]));
    value_cell(d, t, find_value(x, SAMPLE_MAJ, 0));
}

void report_add_samples(struct doc *d, const struct report *r)
{
    struct sample_stats *all = xcalloc((size_t)r->run->n_cells + 1, sizeof *all);
    struct ks ks = {{0}, 0};
    int has_programs = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        report_samples(&all[i], &r->cells[i]);
        has_programs |= !report_can_vote(r->cells[i].cell->task);
        for (int k = 0; k < all[i].n_values; k++)
            if (all[i].value[k].kind == SAMPLE_PASS)
                add_k(&ks, all[i].value[k].k);
    }
    static const char caption[] = "In percent. avg@n: the mean of all n answers, and behind \xC2\xB1 its "
                                  "standard error across problems, "
                                  "which are taken as independent. pass@k: how often one of k answers is "
                                  "right, over all choices of k of the "
                                  "n. maj@n: how often the commonest answer is right; a tie of t counts 1/t. "
                                  "Problems that lack some of their "
                                  "answers are left out.";
    static const char programs[] =
        " Programs have no commonest answer; their pass@n is what DMS (arXiv 2506.05345) calls pass@all.";
    struct table *t =
        doc_table(d, has_programs ? arena_printf(d->arena, "%s%s", caption, programs) : caption);
    table_column(d, t, "policy", 0);
    table_column(d, t, "problems \xC3\x97 samples", CELL_NUMBER);
    table_column(d, t, "avg@n", CELL_NUMBER);
    for (int i = 0; i < ks.n; i++)
        table_column(d, t, arena_printf(d->arena, "pass@%d", ks.k[i]), CELL_NUMBER);
    table_column(d, t, "maj@n", CELL_NUMBER);
    for (int panel = 0; panel < r->n_panels; panel++) { /* merged runs have a task of several models */
        int n = 0;
        for (int i = 0; i < r->run->n_cells; i++) {
            if (r->cells[i].panel != panel || !all[i].n_values)
                continue;
            if (!n++)
                table_group(d, t, r->panels[panel].title);
            add_samples_row(d, t, r, &r->cells[i], &all[i], &ks);
        }
    }
    free(all);
}

/* ---- The section "RULER by length": its table and its figure. */

static int has_row(const struct report *r, int row, const int *lengths, int n)
{
    for (int k = 0; k < n; k++)
        if (ruler_mean(r, row, lengths[k]).n)
            return 1;
    return 0;
}

static const char *policy_of(const struct report *r, int row)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row)
            return r->run->cells[i].policy;
    return "";
}

static void draw_lengths_table(struct doc *d, const struct report *r, const int *lengths, int n)
{
    struct series_set set = series_begin(r);
    for (int row = 0; row < r->n_rows; row++) {
        if (!has_row(r, row, lengths, n))
            continue;
        struct svg_series *s = series_add(&set, report_full_name(r, row), policy_of(r, row), SVG_LINE);
        struct svg_point *points = arena_alloc(r->arena, (size_t)n * sizeof *points);
        for (int k = 0; k < n; k++) {
            struct group_mean m = ruler_mean(r, row, lengths[k]);
            if (m.n)
                points[s->n++] =
                    (struct svg_point){.x = lengths[k], .y = m.mean, .low = m.ci.low, .high = m.ci.high};
        }
        s->points = points;
    }
    struct svg_chart chart = {.id = "ruler",
                              .title = "RULER: mean score against length",
                              .desc =
                                  "Mean score over the families with 95 % intervals against the tokens of "
                                  "prompt and completion; the values are in ruler.csv.",
                              .x = {"tokens of prompt and completion", NAN, NAN, 1, 0},
                              .y = {"mean score", 0, 1, 0, 1},
                              .series = set.s,
                              .n_series = set.n};
    struct str svg = {0};
    svg_chart(&svg, &chart);
    doc_figure(
        d, "ruler_length.svg", chart.title, &svg, 0,
        "Bars are 95 %% intervals of the mean over the families. Points that would hide each other stand "
        "side by side.");
}

void report_add_ruler(struct doc *d, const struct report *r)
{
    int n;
    const int *lengths = ruler_lengths(r, &n);
    struct table *t = doc_table(
        d, "Mean score over RULER's families (arXiv 2404.06654) at a length in tokens, with its 95 % "
           "interval, and its mark against the baseline, weighed like the mean. Below: how many families "
           "have results, and the difference in points.");
    const struct pair *pairs = ruler_pairs(r);
    table_column(d, t, "policy", 0);
    for (int k = 0; k < n; k++)
        table_column(d, t, arena_printf(d->arena, "%d", lengths[k]), 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (!has_row(r, row, lengths, n))
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", report_full_name(r, row));
        for (int k = 0; k < n; k++) {
            struct group_mean m = ruler_mean(r, row, lengths[k]);
            const struct pair *p = &pairs[row * n + k];
            if (!m.n)
                table_add(d, t, CELL_MUTED, "-");
            else
                table_add(d, t, report_pair_flags(p), "%s%s", report_percent(d->arena, m.mean, m.ci),
                          report_pair_sign(d->arena, p));
            table_small(d, t, "%d famil%s%s%s%s", m.n, m.n == 1 ? "y" : "ies",
                        m.missing ? ", answers are missing" : "", p->mark ? ", " : "",
                        p->mark ? report_difference(d->arena, p) : "");
        }
    }
    draw_lengths_table(d, r, lengths, n);
}

/* ---- The section "LongBench by class": its table. */

void report_add_longbench(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d, "Mean score over the data sets of a class (arXiv 2308.14508, table 1) [95 % interval]; "
           "average: the mean of the six classes, as papers print it, once no answer is missing. Below: how "
           "many of the class's data sets "
           "have results, and the difference from the baseline in points, weighed like the mean, which the "
           "mark is about.");
    const struct pair *pairs = longbench_pairs(r);
    table_column(d, t, "policy", 0);
    for (int k = 0; k <= LONGBENCH_CLASSES; k++)
        table_column(d, t, longbench_title(k), 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (!longbench_mean(r, LONGBENCH_CLASSES, row).n)
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", report_full_name(r, row));
        for (int k = 0; k <= LONGBENCH_CLASSES; k++) {
            struct longbench_mean m = longbench_mean(r, k, row);
            const struct pair *p = &pairs[row * (LONGBENCH_CLASSES + 1) + k];
            if (isnan(m.mean))
                table_add(d, t, CELL_MUTED, "-");
            else
                table_add(d, t, report_pair_flags(p), "%s%s", report_percent(d->arena, m.mean, m.ci),
                          report_pair_sign(d->arena, p));
            table_small(d, t, "%d of %d%s%s%s", m.n, m.n_sets, m.missing ? ", answers are missing" : "",
                        p->mark ? ", " : "", p->mark ? report_difference(d->arena, p) : "");
        }
    }
}

/* ---- Texts: bits per byte under each policy, and how far its distributions are from those of full
 * attention. A text has no right and wrong, so its cells are in no table of accuracies. */

static void difference_cells(struct doc *d, struct table *t, const struct pair *p)
{
    int is_told = p && !p->is_incomplete && p->holm < 0.05; /* the colour is a verdict */
    unsigned flags = !is_told ? 0 : p->delta > 0 ? CELL_BAD : CELL_GOOD;
    if (!p || !p->problems) {
        table_add(d, t, CELL_MUTED, "-");
        table_add(d, t, CELL_MUTED, "-");
        return;
    }
    table_add(d, t, flags, "%+.4f", p->delta);
    if (isfinite(p->ci.low))
        table_small(d, t, "[%+.4f, %+.4f]", p->ci.low, p->ci.high);
    if (isnan(p->holm))
        table_add(d, t, CELL_MUTED, "-");
    else
        table_add(d, t, flags, "%.3g", p->holm);
}

static void text_row(struct doc *d, struct table *t, const struct report *r, int i)
{
    const struct cell_stats *s = &r->cells[i];
    const struct cell *c = s->cell;
    struct likelihood_figures f = report_likelihood_figures(&s->likelihood);
    int errors = s->count[VERDICT_ERROR];
    table_row(d, t);
    table_add(d, t, c->is_baseline ? CELL_STRONG : 0, "%s", report_row_name(r, s->row));
    table_add(d, t, c->n_records < c->n_expected || errors ? CELL_BAD : 0, "%d/%d", c->n_records - errors,
              c->n_expected);
    if (errors)
        table_small(d, t, "%d failed", errors);
    report_number_cell(d, t, f.bits_per_byte, 4);
    difference_cells(d, t, report_text_pair_of(r, i));
    report_number_cell(d, t, f.kl, 5);
    report_number_cell(d, t, 100 * f.top1, 2);
    report_share_cell(d, t, s->total_density);
    if (s->is_bound)
        table_small(d, t, "a bound");
    report_share_cell(d, t, s->kv_density);
    report_share_cell(d, t, s->aux_density);
    report_number_cell(d, t, s->peak_tokens, 0);
}

void report_add_likelihood(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d,
        arena_printf(
            d->arena,
            "Bits per byte: -log2 of the probabilities of the scored tokens over the bytes of their text, "
            "all "
            "windows together; lower is better. Its difference from the baseline is the mean over windows, "
            "with a 95 %% t interval and the p of a sign-flip test after Holm's adjustment. KL: divergence "
            "of "
            "the policy's next-token distribution from that of full attention on the same tokens, in nats, "
            "over the whole vocabulary. Top-1: percent of tokens before which both have the same likeliest "
            "token. "
            "Total reads: tokens attended and read to choose them, over those that full attention would have "
            "read; "
            "peak tokens: the most held at once (mean over windows).%s",
            report_bound_note(r)));
    static const struct table_column columns[] = {{"policy", 0},
                                                  {"windows", CELL_NUMBER},
                                                  {"bits per byte", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"p, Holm-adjusted", CELL_NUMBER},
                                                  {"KL", CELL_NUMBER},
                                                  {"top-1", CELL_NUMBER},
                                                  {"total reads", CELL_NUMBER},
                                                  {"attended", CELL_NUMBER},
                                                  {"to choose", CELL_NUMBER},
                                                  {"peak tokens", CELL_NUMBER}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int panel = 0; panel < r->n_panels; panel++) {
        if (!r->panels[panel].task->is_text)
            continue;
        table_group(d, t, r->panels[panel].title);
        for (int i = 0; i < r->run->n_cells; i++)
            if (r->cells[i].panel == panel)
                text_row(d, t, r, i);
    }
    report_add_figures(d, r);
}
