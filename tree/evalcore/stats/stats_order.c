/* Order and spread of plain numbers, and the distribution of lengths some of which were cut off. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/stats/stats.h"

double stat_mean(const double *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += v[i];
    return n ? s / (double)n : NAN;
}

double stat_sd(const double *v, size_t n)
{
    if (n < 2)
        return NAN;
    double m = stat_mean(v, n), s = 0;
    for (size_t i = 0; i < n; i++)
        s += (v[i] - m) * (v[i] - m);
    return sqrt(s / (double)(n - 1));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void stat_sort(double *v, size_t n)
{
    qsort(v, n, sizeof *v, compare_doubles);
}

double stat_quantile(const double *sorted, size_t n, double q)
{
    if (!n)
        return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

static int compare_items(const void *a, const void *b)
{
    double x = ((const struct ecdf_item *)a)->x, y = ((const struct ecdf_item *)b)->x;
    return x < y ? -1 : x > y;
}

size_t stat_ecdf(struct ecdf_item *items, size_t n, struct ecdf_step *steps)
{
    qsort(items, n, sizeof *items, compare_items);
    size_t n_steps = 0;
    double open_share = 1; /* share of completions that have not yet ended */
    for (size_t i = 0; i < n;) {
        double x = items[i].x;
        size_t ended = 0, at_risk = n - i;
        for (; i < n && items[i].x <= x; i++)
            ended += !items[i].is_cut;
        if (!ended)
            continue;
        open_share *= 1 - (double)ended / (double)at_risk;
        steps[n_steps++] = (struct ecdf_step){x, 1 - open_share};
    }
    return n_steps;
}
