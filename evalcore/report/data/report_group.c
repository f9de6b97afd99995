/* Means over groups of data sets (contract: report_group.h). */
#include "evalcore/report/data/report_group.h"

#include <math.h>

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
