/* See probe.h. */
#include "kernels/probe.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double probe_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return n ? x[n / 2] : 0;
}
