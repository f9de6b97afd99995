/* Pareto frontiers of accuracy against cost, and how far one lies above another. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/stats/stats.h"

/* Cheapest first; the better of two that cost the same first. */
static int compare_points(const void *a, const void *b)
{
    const struct stat_point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->y > q->y ? -1 : p->y < q->y;
}

size_t stat_frontier(struct stat_point *p, size_t n)
{
    size_t m = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i].x) && !isnan(p[i].y))
            p[m++] = p[i];
    qsort(p, m, sizeof *p, compare_points);
    for (size_t i = 0; i < m; i++)
        if (!kept || p[i].y > p[kept - 1].y)
            p[kept++] = p[i];
    return kept;
}

/* The height at x, which lies between the first and the last point. */
static double height_at(const struct stat_point *p, size_t n, double x)
{
    size_t i = 1;
    while (i < n && p[i].x < x)
        i++;
    if (i >= n || p[i].x <= p[i - 1].x)
        return p[n - 1].y;
    double share = (x - p[i - 1].x) / (p[i].x - p[i - 1].x);
    return p[i - 1].y + share * (p[i].y - p[i - 1].y);
}

/* The area between both over [from, to], where neither has a corner in between. */
static double strip_area(const struct stat_point *a, size_t n_a, const struct stat_point *b, size_t n_b,
                         double from, double to)
{
    double left = height_at(a, n_a, from) - height_at(b, n_b, from);
    double right = height_at(a, n_a, to) - height_at(b, n_b, to);
    return 0.5 * (left + right) * (to - from);
}

double stat_frontier_margin(const struct stat_point *a, size_t n_a, const struct stat_point *b, size_t n_b)
{
    if (!n_a || !n_b)
        return NAN;
    double from = fmax(a[0].x, b[0].x), to = fmin(a[n_a - 1].x, b[n_b - 1].x);
    if (!(from <= to))
        return NAN;
    if (from == to)
        return height_at(a, n_a, from) - height_at(b, n_b, from);
    double area = 0, at = from;
    for (size_t i = 0, j = 0; at < to;) {
        while (i < n_a && a[i].x <= at)
            i++;
        while (j < n_b && b[j].x <= at)
            j++;
        double next = to;
        if (i < n_a && a[i].x < next)
            next = a[i].x;
        if (j < n_b && b[j].x < next)
            next = b[j].x;
        area += strip_area(a, n_a, b, n_b, at, next);
        at = next;
    }
    return area / (to - from);
}
