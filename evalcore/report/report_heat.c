/* K x L heat maps: accuracy over a policy's page budget K and recency window L.
 *
 * A map of a few dozen problems per square shows patterns where there are none. So every square prints its
 * number, squares that a paired test cannot tell from the best one share its border, and the caption prints
 * how far apart the squares would lie if K and L did nothing: within each problem the results are shuffled
 * over the squares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/page/svg.h"
#include "evalcore/report/data/report_match.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_parts.h"

enum { HEAT_MAX = 32 };

struct heat {
    int *cell; /* by square and then panel: index of the cell, -1: none; squares are row-major by (k, l) */
    const char *k[HEAT_MAX], *l[HEAT_MAX];
    int n_k, n_l;
    const int *panels; /* one, or all tasks of a model and its settings */
    int n_panels;
    double *score; /* by square and then problem, of all panels: mean of its samples times the task's weight,
                    * NaN: unanswered */
    int n_problems;
    double unit; /* differences of scores are multiples of it; 0: not known */
};

static int has_k_and_l(const struct cell *c)
{
    return c->k_pages[0] && c->l_pages[0];
}

static const char *family_name(const struct report *r, const struct cell_stats *s)
{
    const char *name = report_label_without(r->arena, s->cell->policy_label, "k_pages");
    return report_label_without(r->arena, name, "l_pages");
}

static int in_panels(const struct heat *h, int panel)
{
    for (int p = 0; p < h->n_panels; p++)
        if (h->panels[p] == panel)
            return p;
    return -1;
}

static int same_family(const struct report *r, int i, int k)
{
    const struct cell_stats *a = &r->cells[i], *b = &r->cells[k];
    return !strcmp(a->cell->policy, b->cell->policy) && !strcmp(family_name(r, a), family_name(r, b));
}

/* Inserts a value into a list of numbers kept as text, ascending; -1 when it is full. */
static int insert_value(const char **list, int *n, const char *text)
{
    double v = strtod(text, NULL);
    int at = 0;
    while (at < *n && strtod(list[at], NULL) < v)
        at++;
    if (at < *n && strtod(list[at], NULL) <= v)
        return 0;
    if (*n == HEAT_MAX)
        return -1;
    memmove(list + at + 1, list + at, (size_t)(*n - at) * sizeof *list);
    list[at] = text;
    ++*n;
    return 0;
}

static int find_value(const char *const *list, int n, const char *text)
{
    for (int i = 0; i < n; i++)
        if (strtod(list[i], NULL) == strtod(text, NULL))
            return i;
    return -1;
}

static int belongs_to_heat(const struct heat *h, const struct report *r, int first, int i)
{
    return has_k_and_l(r->cells[i].cell) && in_panels(h, r->cells[i].panel) >= 0 && same_family(r, first, i);
}

/* Collects the cells that differ from cell `first` in K and L only. 0 unless both are swept. */
static int collect_heat(struct heat *h, const struct report *r, int first)
{
    h->n_k = h->n_l = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        if (belongs_to_heat(h, r, first, i) &&
            (insert_value(h->k, &h->n_k, c->k_pages) || insert_value(h->l, &h->n_l, c->l_pages)))
            return 0;
    }
    if (h->n_k < 2 || h->n_l < 2)
        return 0;
    size_t n = (size_t)(h->n_k * h->n_l * h->n_panels);
    h->cell = arena_alloc(r->arena, n * sizeof *h->cell);
    for (size_t i = 0; i < n; i++)
        h->cell[i] = -1;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        if (!belongs_to_heat(h, r, first, i) || !c->n_records)
            continue;
        int k = find_value(h->k, h->n_k, c->k_pages), l = find_value(h->l, h->n_l, c->l_pages);
        h->cell[(k * h->n_l + l) * h->n_panels + in_panels(h, r->cells[i].panel)] = i;
    }
    return 1;
}

/* Do all squares without a gap have an answer to this problem? */
static int is_shared(const struct heat *h, int problem)
{
    for (int i = 0; i < h->n_k * h->n_l; i++) {
        int has_gap = 0;
        for (int p = 0; p < h->n_panels; p++)
            has_gap |= h->cell[i * h->n_panels + p] < 0;
        if (!has_gap && isnan(h->score[i * h->n_problems + problem]))
            return 0;
    }
    return 1;
}

/* Weighs the scores of several tasks, so that a mean over the problems that all squares have answered is that
 * of the tasks' means. Returns 1 where every weight is 1. */
static int weigh_tasks(struct heat *h, const struct report *r)
{
    int *shared = xcalloc((size_t)h->n_panels + 1, sizeof *shared), n = 0, with = 0, offset = 0, is_even = 1;
    for (int p = 0; p < h->n_panels; p++) {
        for (int q = 0; q < r->panels[h->panels[p]].task->n_problems; q++)
            shared[p] += is_shared(h, offset + q);
        offset += r->panels[h->panels[p]].task->n_problems;
        n += shared[p];
        with += shared[p] > 0;
    }
    offset = 0;
    for (int p = 0; p < h->n_panels; p++) {
        int n_problems = r->panels[h->panels[p]].task->n_problems;
        double weight = shared[p] ? n / ((double)with * shared[p]) : 1;
        is_even &= fabs(weight - 1) < 1e-9;
        for (int i = 0; i < h->n_k * h->n_l; i++)
            for (int q = 0; q < n_problems; q++)
                h->score[i * h->n_problems + offset + q] *= weight;
        offset += n_problems;
    }
    free(shared);
    return is_even;
}

/* The scores of all squares, problem by problem. */
static void fill_scores(struct heat *h, const struct report *r)
{
    int n = h->n_k * h->n_l, offset = 0;
    h->n_problems = 0;
    for (int p = 0; p < h->n_panels; p++)
        h->n_problems += r->panels[h->panels[p]].task->n_problems;
    h->score = arena_alloc(r->arena, ((size_t)n * (size_t)h->n_problems + 1) * sizeof *h->score);
    long lcm = 1;
    int is_binary = 1;
    for (int i = 0; i < n * h->n_problems; i++)
        h->score[i] = NAN;
    for (int p = 0; p < h->n_panels; p++) {
        const struct run_task *task = r->panels[h->panels[p]].task;
        for (int i = 0; i < n; i++) {
            int at = h->cell[i * h->n_panels + p];
            const struct cell_stats *s = at >= 0 ? &r->cells[at] : NULL;
            for (int q = 0; s && q < task->n_problems && q < s->cell->task->n_problems; q++)
                if (s->jobs[q] > 0) {
                    h->score[i * h->n_problems + offset + q] = s->sum[q] / (double)s->jobs[q];
                    lcm = match_multiple(lcm, s->jobs[q]);
                }
            is_binary &= !s || !strcmp(task->metric, "accuracy");
        }
        offset += task->n_problems;
    }
    is_binary &= h->n_panels == 1 || weigh_tasks(h, r);
    h->unit = is_binary ? match_unit(lcm) : 0;
}

static int is_first_of_family(const struct heat *h, const struct report *r, int i)
{
    for (int k = 0; k < i; k++)
        if (belongs_to_heat(h, r, i, k))
            return 0;
    return 1;
}

/* Two-sided p of the squares' difference, by sign flips over the problems that both have answered; with one
 * sample a problem that is McNemar's exact test. */
static double compare_squares(const struct heat *h, int a, int b, double *d)
{
    size_t n = 0;
    enum signflip how;
    for (int q = 0; q < h->n_problems; q++) {
        double v = h->score[b * h->n_problems + q] - h->score[a * h->n_problems + q];
        if (!isnan(v))
            d[n++] = v;
    }
    return n ? stat_signflip(d, n, h->unit, &how) : NAN;
}

static int lacks_answers(const struct heat *h, const struct report *r, int first)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (belongs_to_heat(h, r, first, i) && r->cells[i].cell->n_records < r->cells[i].cell->n_expected)
            return 1;
    return 0;
}

/* The smallest p that a square could have had against the best one: of a square that solves none of what the
 * best one solves, where both have answered. */
static double least_p(const struct heat *h, int best, int i, double *d)
{
    size_t n = 0;
    enum signflip how;
    for (int q = 0; q < h->n_problems; q++) {
        double v = h->score[best * h->n_problems + q];
        if (!isnan(v) && !isnan(h->score[i * h->n_problems + q]))
            d[n++] = -v;
    }
    return n ? stat_signflip(d, n, h->unit, &how) : NAN;
}

/* Marks the best square and those that the test could have told from it (Holm over the squares, 5 %) and did
 * not; no square where it could have told none, and so few problems show nothing. */
static int mark_best(struct svg_square *squares, const struct heat *h)
{
    int n = h->n_k * h->n_l, best = -1, marked = 0, compared = 0;
    double *p = xmalloc((size_t)n * sizeof *p), *adjusted = xmalloc((size_t)n * sizeof *adjusted);
    double *d = xmalloc(((size_t)h->n_problems + 1) * sizeof *d);
    for (int i = 0; i < n; i++)
        if (!isnan(squares[i].value) && (best < 0 || squares[i].value > squares[best].value))
            best = i;
    for (int i = 0; i < n; i++) {
        p[i] = isnan(squares[i].value) || i == best ? NAN : compare_squares(h, best, i, d);
        compared += !isnan(p[i]);
    }
    stat_holm(p, (size_t)n, adjusted);
    for (int i = 0; i < n; i++) {
        squares[i].is_marked =
            !isnan(p[i]) && adjusted[i] >= 0.05 && compared * least_p(h, best, i, d) < 0.05;
        marked += squares[i].is_marked;
    }
    for (int i = 0; i < n && best >= 0 && !squares[best].is_marked; i++)
        if (marked || adjusted[i] < 0.05) {
            squares[best].is_marked = 1;
            marked++;
        }
    free(p);
    free(adjusted);
    free(d);
    return marked;
}

/* The range of the squares if K and L did nothing, over the problems that every square has answered. */
static struct null_range chance_range(const struct heat *h, const struct svg_square *squares, int *n_cells,
                                      int *n_problems)
{
    int n = h->n_k * h->n_l;
    *n_cells = *n_problems = 0;
    double *score = xmalloc(((size_t)n * (size_t)h->n_problems + 1) * sizeof *score);
    int *shared = xmalloc(((size_t)h->n_problems + 1) * sizeof *shared);
    for (int q = 0; q < h->n_problems; q++) {
        int everywhere = 1;
        for (int i = 0; i < n && everywhere; i++)
            everywhere = isnan(squares[i].value) || !isnan(h->score[i * h->n_problems + q]);
        if (everywhere)
            shared[(*n_problems)++] = q;
    }
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        if (isnan(squares[i].value))
            continue;
        ++*n_cells;
        for (int q = 0; q < *n_problems; q++)
            score[at++] = h->score[i * h->n_problems + shared[q]];
    }
    struct null_range out = stat_null_range(score, (size_t)*n_cells, (size_t)*n_problems);
    free(score);
    free(shared);
    return out;
}

static const char *range_text(struct arena *a, const struct null_range *g, int n_cells, int n_problems)
{
    if (isnan(g->median))
        return "";
    return arena_printf(a,
                        " If K and L made no difference, these %d squares of %d problems would still lie "
                        "%.0f points apart (at most %.0f in 95 %% of cases); here they lie %.0f apart%s.",
                        n_cells, n_problems, 100 * g->median, 100 * g->q95, 100 * g->observed,
                        g->p < 0.05 ? "" : ", so this map is consistent with no effect at all");
}

/* One task: its cell as everywhere else. Several: the mean over tasks, which all weigh the same (fill_scores
 * has weighed their problems), and blank where a task has none. */
static void fill_square(struct svg_square *out, const struct heat *h, const struct report *r, int i)
{
    const int *cell = &h->cell[i * h->n_panels];
    double sum = 0;
    int n = 0, jobs = 0;
    *out = (struct svg_square){.value = NAN};
    for (int p = 0; p < h->n_panels; p++) {
        if (cell[p] < 0)
            return;
        jobs += r->cells[cell[p]].cell->n_records;
    }
    for (int q = 0; q < h->n_problems; q++)
        if (!isnan(h->score[i * h->n_problems + q])) {
            sum += h->score[i * h->n_problems + q];
            n++;
        }
    const struct cell_stats *first = &r->cells[cell[0]];
    out->value = h->n_panels == 1 ? first->accuracy : sum / n;
    out->text = arena_printf(r->arena, "%.1f", 100 * out->value);
    out->note = arena_printf(r->arena, "n=%d", jobs);
    out->cell = h->n_panels == 1 ? first->cell->id : report_row_cell(r, first->row);
    out->tip = h->n_panels == 1
                   ? report_tip(r, first)
                   : arena_printf(r->arena, "%s, %d tasks\naccuracy %.1f %%, n=%d", first->cell->policy_label,
                                  h->n_panels, 100 * out->value, jobs);
}

static int has_values(const struct svg_square *squares, int n)
{
    for (int i = 0; i < n; i++)
        if (!isnan(squares[i].value))
            return 1;
    return 0;
}

static void add_map(struct doc *d, const struct report *r, int first, struct heat *h,
                    const struct report_figure *f)
{
    const struct panel *panel = &r->panels[h->panels[0]];
    int n = h->n_k * h->n_l, n_cells, n_problems;
    struct svg_square *squares = arena_alloc(d->arena, (size_t)n * sizeof *squares);
    fill_scores(h, r);
    for (int i = 0; i < n; i++)
        fill_square(&squares[i], h, r, i);
    struct null_range chance = chance_range(h, squares, &n_cells, &n_problems);
    int is_partial = lacks_answers(h, r, first), marked = is_partial ? 0 : mark_best(squares, h);
    const char *name = family_name(r, &r->cells[first]), *where = panel->title, *place = panel->slug;
    if (h->n_panels > 1) {
        where = arena_printf(d->arena, "all tasks%s", panel->title + strlen(panel->task->label));
        place = report_slug(d->arena, where);
    }
    const char *title = arena_printf(d->arena, "%s: %s %s", where, name, f->title);
    const char *slug = arena_printf(d->arena, "%s_%s", report_slug(d->arena, name), place);
    struct svg_heat map = {.id = arena_printf(d->arena, "heat-%s", slug),
                           .title = title,
                           .desc = "Accuracy in percent for every pair of page budget K and recency window "
                                   "L, with the number of jobs; the values are in accuracy.csv.",
                           .x_label = "L (l_pages)",
                           .y_label = "K (k_pages)",
                           .x_names = h->l,
                           .y_names = h->k,
                           .n_x = (size_t)h->n_l,
                           .n_y = (size_t)h->n_k,
                           .squares = squares,
                           .low = 0, /* the same scale in all maps: noise must not look like a pattern */
                           .high = 1,
                           .mark_label = marked > 1   ? "best, or not told apart from it (Holm, 5 %)"
                                         : marked > 0 ? "the best"
                                                      : NULL};
    if (!has_values(squares, n))
        return;
    struct str svg = {0};
    svg_heat(&svg, &map);
    doc_figure(d, arena_printf(d->arena, "%s_%s.svg", f->name, slug), title, &svg, 0,
               "Accuracy in percent, n jobs.%s%s%s", h->n_panels > 1 ? " All tasks weigh the same." : "",
               is_partial ? " Answers are missing, so no square is framed as the best."
               : !marked  ? " No test could tell squares of so few problems apart, so none is framed."
                          : "",
               range_text(d->arena, &chance, n_cells, n_problems));
}

int report_has_k_and_l(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel) && has_k_and_l(r->cells[i].cell))
            return 1;
    return 0;
}

/* The panels of a panel's model and settings that have a map. */
static int count_maps(const struct report *r, int panel)
{
    const struct panel *p = &r->panels[panel];
    int n = 0;
    for (int i = 0; i < r->n_panels; i++)
        n += !strcmp(r->panels[i].model, p->model) &&
             !strcmp(r->panels[i].settings_label, p->settings_label) && !r->panels[i].task->is_text &&
             report_has_k_and_l(r, i);
    return n;
}

int report_has_only_k_and_l(const struct report *r, int panel)
{
    return report_has_k_and_l(r, panel) && count_maps(r, panel) == 1;
}

int report_has_one_of_k_and_l(const struct report *r, int panel)
{
    return report_has_k_and_l(r, panel) && count_maps(r, panel) > 1;
}

static void draw_heat(struct doc *d, const struct report *r, const int *panels, int n_panels,
                      const struct report_figure *f)
{
    struct heat *h = arena_alloc(r->arena, sizeof *h);
    *h = (struct heat){.panels = panels, .n_panels = n_panels};
    for (int i = 0; i < r->run->n_cells; i++)
        if (has_k_and_l(r->cells[i].cell) && in_panels(h, r->cells[i].panel) >= 0 &&
            is_first_of_family(h, r, i) && collect_heat(h, r, i))
            add_map(d, r, i, h, f);
}

void report_draw_k_and_l(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    draw_heat(d, r, &panel, 1, f);
}

/* All tasks of the panel's model and settings that have a map, drawn once, with the first of them. */
void report_draw_pooled_k_and_l(struct doc *d, const struct report *r, int panel,
                                const struct report_figure *f)
{
    const struct panel *p = &r->panels[panel];
    int *panels = arena_alloc(r->arena, (size_t)r->n_panels * sizeof *panels), n = 0;
    for (int i = 0; i < r->n_panels; i++)
        if (!strcmp(r->panels[i].model, p->model) &&
            !strcmp(r->panels[i].settings_label, p->settings_label) && !r->panels[i].task->is_text &&
            report_has_k_and_l(r, i))
            panels[n++] = i;
    if (n > 1 && panels[0] == panel)
        draw_heat(d, r, panels, n, f);
}

/* ---- Who solved what: one row per cell, one square per problem. */

static void matrix_levels(signed char *level, const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    int n = c->task->n_problems;
    for (int i = 0; i < n; i++) {
        double share = s->jobs[i] ? s->sum[i] / (double)s->jobs[i] : -2;
        level[i] = (signed char)(share < -1     ? -2
                                 : share <= 0   ? 0
                                 : share >= 1   ? 4
                                 : share < 0.34 ? 1
                                 : share < 0.67 ? 2
                                                : 3);
    }
    for (int i = 0; i < c->n_records; i++) {
        enum verdict v = c->records[i].verdict;
        signed char *at = &level[c->records[i].problem];
        if (*at == 0 && v != VERDICT_WRONG && v != VERDICT_AMBIGUOUS && v != VERDICT_CORRECT)
            *at = -1;
    }
}

static int in_matrix(const struct report *r, int i, int panel)
{
    return report_is_shown(r, i, panel) &&
           r->cells[i].cell->task->n_problems == r->panels[panel].task->n_problems;
}

int report_has_matrix(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (in_matrix(r, i, panel))
            return r->panels[panel].task->n_problems > 0;
    return 0;
}

void report_draw_matrix(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    const struct panel *p = &r->panels[panel];
    size_t columns = (size_t)p->task->n_problems, n = 0;
    const char **names = arena_alloc(d->arena, (size_t)(r->run->n_cells + 1) * sizeof *names);
    const char **cells = arena_alloc(d->arena, (size_t)(r->run->n_cells + 1) * sizeof *cells);
    const char **tips = arena_alloc(d->arena, (size_t)(r->run->n_cells + 1) * sizeof *tips);
    signed char *level = arena_alloc(d->arena, ((size_t)r->run->n_cells + 1) * (columns + 1));
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (!in_matrix(r, i, panel))
            continue;
        names[n] = s->cell->policy_label;
        cells[n] = s->cell->id;
        tips[n] = report_tip(r, s);
        matrix_levels(level + n++ * columns, s);
    }
    const char *title = report_figure_title(d->arena, p, f);
    struct svg_matrix m = {.id = arena_printf(d->arena, "problems-%s", p->slug),
                           .title = title,
                           .desc = "One row per cell, one square per problem in the order of the task; the "
                                   "verdicts are in lengths.csv.",
                           .names = names,
                           .n_rows = n,
                           .n_columns = columns,
                           .level = level,
                           .cells = cells,
                           .tips = tips};
    struct str svg = {0};
    svg_matrix(&svg, &m);
    doc_figure(
        d, report_figure_file(d->arena, p, f), title, &svg, columns > 20,
        "In the task's order. Look for columns that only one policy loses; lengths.csv names the problems.");
}
