/* Means over groups of data sets (contract: report_group.h). */
#include "evalcore/report/data/report_group.h"

#include <math.h>
#include <stdlib.h>

#include "evalcore/report/data/report_match.h"

/* Sums over parts: of the means, and of the squared distances to the ends of their intervals. */
struct part_sums {
    double mean, below, above;
    int n;
};

static void add_part(struct part_sums *s, double mean, struct interval ci)
{
    s->mean += mean;
    s->below += (mean - ci.low) * (mean - ci.low);
    s->above += (ci.high - mean) * (ci.high - mean);
    s->n++;
}

/* The distances to each end by themselves (MOVER; Zou and Donner 2008, Stat. Med. 27:1693): where the parts
 * solve nothing their intervals lie above the mean alone. Of one part it is that part's own interval. */
static struct group_mean finish_mean(const struct part_sums *s, int n, long missing)
{
    struct group_mean m = {NAN, {NAN, NAN}, n, missing};
    if (!s->n)
        return m;
    m.mean = s->mean / s->n;
    m.ci = (struct interval){m.mean - sqrt(s->below) / s->n, m.mean + sqrt(s->above) / s->n};
    return m;
}

struct group_mean group_mean(const struct report *r, int row, group_fn *is_in, int k)
{
    struct part_sums sums = {0};
    long missing = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (s->row != row || !is_in(s->cell, k))
            continue;
        missing += s->cell->n_expected - s->cell->n_records;
        if (s->cell->n_records)
            add_part(&sums, s->accuracy, s->ci);
    }
    return finish_mean(&sums, sums.n, missing);
}

struct group_mean group_mean_of(const struct group_mean *m, int n)
{
    struct part_sums sums = {0};
    long missing = 0;
    int n_sets = 0;
    for (int i = 0; i < n; i++) {
        missing += m[i].missing;
        n_sets += m[i].n;
        add_part(&sums, m[i].mean, m[i].ci);
    }
    return finish_mean(&sums, n_sets, missing);
}

struct data_set {
    int part, from, to; /* its problems among those matched */
};

/* None where all problems weigh the same, so that the exact tests hold. */
static void weigh_problems(struct matched *m, const struct data_set *sets, int n)
{
    int n_parts = 0, is_even = 1;
    double *share = xcalloc((size_t)n + 1, sizeof *share); /* of a data set in its part */
    for (int i = 0; i < n; i++) {
        int same = 0, is_first = 1;
        for (int k = 0; k < n; k++) {
            int together = sets[k].part == sets[i].part && sets[k].to > sets[k].from;
            same += together;
            is_first &= !together || k >= i;
        }
        n_parts += is_first && sets[i].to > sets[i].from;
        share[i] = same ? 1.0 / same : 0;
    }
    m->weight = xmalloc(((size_t)m->n + 1) * sizeof *m->weight);
    for (int i = 0; i < n; i++)
        for (int k = sets[i].from; k < sets[i].to; k++) {
            m->weight[k] = share[i] / n_parts * m->n / (sets[i].to - sets[i].from);
            is_even &= fabs(m->weight[k] - 1) < 1e-9;
        }
    if (is_even) {
        free(m->weight);
        m->weight = NULL;
    }
    free(share);
}

static void compare_group(struct pair *out, const struct report *r, int row, const struct group *g, int key)
{
    struct matched m = match_begin();
    struct data_set *sets = xcalloc((size_t)r->run->n_cells + 1, sizeof *sets);
    int n = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        int base = r->run->cells[i].baseline, from = m.n;
        if (r->cells[i].row != row || base < 0 || base == i || !g->is_in(r->cells[i].cell, key))
            continue;
        match_add(&m, &r->cells[base], &r->cells[i], NULL);
        sets[n] = (struct data_set){g->part ? g->part(r->cells[i].cell) : n, from, m.n};
        n++;
    }
    weigh_problems(&m, sets, n);
    match_compare(out, &m, r->run->margin / 100);
    out->a = out->b = -1;
    match_release(&m);
    free(sets);
}

struct pair *group_pairs(const struct report *r, const struct group *g, const int *key, int n)
{
    size_t room = (size_t)(r->n_rows * n) + 1;
    struct pair *pairs = arena_alloc(r->arena, room * sizeof *pairs);
    int *family = xcalloc(room, sizeof *family);
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k < n; k++) {
            compare_group(&pairs[row * n + k], r, row, g, key[k]);
            family[row * n + k] = report_family(r, row) * n + k;
        }
    report_mark_pairs(pairs, r->n_rows * n, family, r->run->margin);
    free(family);
    return pairs;
}
