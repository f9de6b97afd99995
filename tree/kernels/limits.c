/* See limits.h. */
#include "kernels/limits.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double limits_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare_doubles);
    return n ? x[n / 2] : 0;
}
