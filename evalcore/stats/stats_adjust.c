/* Several tests at once: p values adjusted so that the first error (Holm 1979) or the share of errors among
 * the findings (Benjamini and Hochberg 1995) stays below the level. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/stats/stats.h"

struct ranked {
    double p;
    size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p ? 1 : -1) : x->at < y->at ? -1 : x->at > y->at;
}

/* The p values that are numbers, smallest first. */
static struct ranked *rank_p_values(const double *p, size_t n, double *adjusted, size_t *m)
{
    struct ranked *r = xcalloc(n ? n : 1, sizeof *r);
    *m = 0;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            r[(*m)++] = (struct ranked){p[i], i};
    }
    qsort(r, *m, sizeof *r, compare_ranked);
    return r;
}

void stat_holm(const double *p, size_t n, double *adjusted)
{
    size_t m;
    struct ranked *r = rank_p_values(p, n, adjusted, &m);
    double floor_p = 0;
    for (size_t i = 0; i < m; i++) {
        floor_p = fmin(1, fmax(floor_p, r[i].p * (double)(m - i)));
        adjusted[r[i].at] = floor_p;
    }
    free(r);
}

void stat_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
    size_t m;
    struct ranked *r = rank_p_values(p, n, adjusted, &m);
    double ceiling = 1;
    for (size_t i = m; i-- > 0;) {
        ceiling = fmin(ceiling, r[i].p * (double)m / (double)(i + 1));
        adjusted[r[i].at] = ceiling;
    }
    free(r);
}
