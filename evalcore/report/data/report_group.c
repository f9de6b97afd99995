/* Means over groups of data sets (contract: report_group.h). */
#include "evalcore/report/data/report_group.h"

#include <math.h>
#include <stdlib.h>

#include "evalcore/report/data/report_match.h"

static struct group_mean finished(double sum, double variances, int n_parts, int n)
{
    struct group_mean m = {NAN, NAN, {NAN, NAN}, n};
    if (!n_parts)
        return m;
    m.mean = sum / n_parts;
    m.variance = variances / ((double)n_parts * n_parts);
    double half = stat_normal_quantile(0.975) * sqrt(m.variance);
    if (!isnan(m.mean))
        m.ci = (struct interval){fmax(m.mean - half, 0), fmin(m.mean + half, 1)};
    return m;
}

struct group_mean group_mean(const struct report *r, int row, group_fn *is_in, int k)
{
    double sum = 0, variances = 0;
    int n = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (s->row != row || !s->cell->n_records || !is_in(s->cell, k))
            continue;
        double sd = (s->ci.high - s->ci.low) / 2 / stat_normal_quantile(0.975);
        sum += s->accuracy;
        variances += sd * sd;
        n++;
    }
    return finished(sum, variances, n, n);
}

struct group_mean group_mean_of(const struct group_mean *m, int n)
{
    double sum = 0, variances = 0;
    int n_sets = 0;
    for (int i = 0; i < n; i++) {
        sum += m[i].mean;
        variances += m[i].variance;
        n_sets += m[i].n;
    }
    return finished(sum, variances, n, n_sets);
}

static void compare_group(struct pair *out, const struct report *r, int row, group_fn *is_in, int key)
{
    struct matched m = match_begin();
    for (int i = 0; i < r->run->n_cells; i++) {
        int base = r->run->cells[i].baseline;
        if (r->cells[i].row == row && base >= 0 && base != i && is_in(r->cells[i].cell, key))
            match_add(&m, &r->cells[base], &r->cells[i], NULL);
    }
    match_compare(out, &m, r->run->margin / 100);
    out->a = out->b = -1;
    match_release(&m);
}

const struct pair *group_pairs(const struct report *r, group_fn *is_in, const int *key, int n)
{
    size_t room = (size_t)(r->n_rows * n) + 1;
    struct pair *pairs = arena_alloc(r->arena, room * sizeof *pairs);
    int *family = xcalloc(room, sizeof *family);
    for (int row = 0; row < r->n_rows; row++)
        for (int k = 0; k < n; k++) {
            compare_group(&pairs[row * n + k], r, row, is_in, key[k]);
            family[row * n + k] = report_family(r, row) * n + k;
        }
    report_mark_pairs(pairs, r->n_rows * n, family, r->run->margin);
    free(family);
    return pairs;
}
