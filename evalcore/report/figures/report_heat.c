/* K x L heat maps: accuracy over a policy's page budget K and recency window L.
 *
 * A map of a few dozen problems per square shows patterns where there are none. So every square prints its
 * number, squares that a paired test cannot tell from the best one share its border, and the caption prints
 * how far apart the squares would lie if K and L did nothing: within each problem the results are shuffled
 * over the squares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/figures/report_figures.h"
#include "evalcore/svg/svg.h"

enum { HEAT_MAX = 32 };

struct heat {
    int cell[HEAT_MAX * HEAT_MAX]; /* index of the cell, -1: none; row-major by (k, l) */
    const char *k[HEAT_MAX], *l[HEAT_MAX];
    int n_k, n_l;
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

static int same_family(const struct report *r, int i, int k)
{
    const struct cell_stats *a = &r->cells[i], *b = &r->cells[k];
    return a->panel == b->panel && !strcmp(a->cell->policy, b->cell->policy) &&
           !strcmp(family_name(r, a), family_name(r, b));
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

/* Collects the cells that differ from cell `first` in K and L only. 0 unless both are swept. */
static int collect(struct heat *h, const struct report *r, int first)
{
    h->n_k = h->n_l = 0;
    for (int i = first; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        if (!has_k_and_l(c) || !same_family(r, first, i))
            continue;
        if (insert_value(h->k, &h->n_k, c->k_pages) || insert_value(h->l, &h->n_l, c->l_pages))
            return 0;
    }
    if (h->n_k < 2 || h->n_l < 2)
        return 0;
    for (int i = 0; i < h->n_k * h->n_l; i++)
        h->cell[i] = -1;
    for (int i = first; i < r->run->n_cells; i++) {
        const struct cell *c = r->cells[i].cell;
        if (!has_k_and_l(c) || !same_family(r, first, i) || !c->n_records)
            continue;
        int k = find_value(h->k, h->n_k, c->k_pages), l = find_value(h->l, h->n_l, c->l_pages);
        h->cell[k * h->n_l + l] = i;
    }
    return 1;
}

static int is_first_of_family(const struct report *r, int i)
{
    for (int k = 0; k < i; k++)
        if (has_k_and_l(r->cells[k].cell) && same_family(r, k, i))
            return 0;
    return 1;
}

/* Marks the squares that are the best one or cannot be told from it (Holm over the squares, 5 %). */
static int mark_best(struct svg_square *squares, const struct heat *h, const struct report *r)
{
    int n = h->n_k * h->n_l, best = -1;
    double *p = xmalloc((size_t)n * sizeof *p), *adjusted = xmalloc((size_t)n * sizeof *adjusted);
    for (int i = 0; i < n; i++)
        if (h->cell[i] >= 0 && (best < 0 || r->cells[h->cell[i]].accuracy > r->cells[h->cell[best]].accuracy))
            best = i;
    for (int i = 0; i < n; i++) {
        p[i] = NAN;
        if (h->cell[i] < 0 || i == best)
            continue;
        struct pair pair;
        report_compare(&pair, &r->cells[h->cell[best]], &r->cells[h->cell[i]], NULL);
        p[i] = pair.p;
    }
    stat_holm(p, (size_t)n, adjusted);
    int marked = 0;
    for (int i = 0; i < n; i++) {
        squares[i].is_marked = h->cell[i] >= 0 && (i == best || !(adjusted[i] < 0.05));
        marked += squares[i].is_marked;
    }
    free(p);
    free(adjusted);
    return marked;
}

/* The range of the squares if K and L did nothing, over the problems that every square has answered. */
static struct null_range chance_range(const struct heat *h, const struct report *r, int *n_cells)
{
    int n = h->n_k * h->n_l, problems = 0, total = 0;
    *n_cells = 0;
    for (int i = 0; i < n; i++)
        if (h->cell[i] >= 0) {
            ++*n_cells;
            total = r->cells[h->cell[i]].cell->task->n_problems;
        }
    double *score = xmalloc(((size_t)*n_cells * (size_t)total + 1) * sizeof *score);
    char *everywhere = xmalloc((size_t)total + 1);
    memset(everywhere, 1, (size_t)total);
    for (int i = 0; i < n; i++)
        for (int q = 0; h->cell[i] >= 0 && q < total; q++)
            everywhere[q] &= r->cells[h->cell[i]].jobs[q] > 0;
    for (int q = 0; q < total; q++)
        problems += everywhere[q];
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        const struct cell_stats *s = h->cell[i] >= 0 ? &r->cells[h->cell[i]] : NULL;
        for (int q = 0; s && q < total; q++)
            if (everywhere[q])
                score[at++] = s->sum[q] / (double)s->jobs[q];
    }
    struct null_range out = stat_null_range(score, (size_t)*n_cells, (size_t)problems);
    free(score);
    free(everywhere);
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

static void add_map(struct doc *d, const struct report *r, int first, const struct heat *h,
                    const struct report_figure *f)
{
    const struct cell_stats *s = &r->cells[first];
    const struct panel *panel = &r->panels[s->panel];
    struct svg_square *squares = arena_alloc(d->arena, (size_t)(h->n_k * h->n_l) * sizeof *squares);
    double low = 1, high = 0;
    for (int i = 0; i < h->n_k * h->n_l; i++) {
        squares[i].value = NAN;
        if (h->cell[i] < 0)
            continue;
        const struct cell_stats *c = &r->cells[h->cell[i]];
        squares[i].value = c->accuracy;
        squares[i].text = arena_printf(d->arena, "%.1f", 100 * c->accuracy);
        squares[i].note = arena_printf(d->arena, "n=%d", c->cell->n_records);
        low = c->accuracy < low ? c->accuracy : low;
        high = c->accuracy > high ? c->accuracy : high;
    }
    if (high < low)
        return;
    int n_cells, marked = mark_best(squares, h, r);
    struct null_range chance = chance_range(h, r, &n_cells);
    /* Colours span at least twice what chance would: noise must not look like a pattern. */
    if (2 * chance.q95 > high - low)
        low = high > 2 * chance.q95 ? high - 2 * chance.q95 : 0;
    const char *name = family_name(r, s);
    const char *title = arena_printf(d->arena, "%s: %s %s", panel->title, name, f->title);
    const char *slug = arena_printf(d->arena, "%s_%s", report_slug(d->arena, name), panel->slug);
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
                           .low = low,
                           .high = high,
                           .mark_label =
                               marked > 1 ? "best, or not told apart from it (Holm, 5 %)" : "the best"};
    struct str svg = {0};
    svg_heat(&svg, &map);
    doc_figure(d, arena_printf(d->arena, "%s_%s.svg", f->name, slug), title, &svg, 0,
               "Accuracy in percent, n jobs.%s",
               range_text(d->arena, &chance, n_cells, panel->task->n_problems));
}

int report_has_k_and_l(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel) && has_k_and_l(r->cells[i].cell))
            return 1;
    return 0;
}

void report_draw_k_and_l(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct heat *h = arena_alloc(r->arena, sizeof *h);
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].panel == panel && has_k_and_l(r->cells[i].cell) && is_first_of_family(r, i) &&
            collect(h, r, i))
            add_map(d, r, i, h, f);
}
