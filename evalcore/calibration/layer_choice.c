/* Which layers choose for the others: dynamic programming over their last one (contract: calibration.h). */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/calibration/calibration.h"

/* best[m][j]: the largest sum over layers first .. j-1 with m + 1 chosen ones. from[m][j]: the last chosen
 * layer of that set, the earliest one where sums are equal. */
double choose_layers(const double *s, int n, int first, int m, int *out)
{
    if (m < 1 || first < 0 || first + m > n)
        return NAN;
    size_t row = (size_t)n + 1, cells = (size_t)m * row;
    double *best = xmalloc(cells * sizeof *best), sum;
    int *from = xcalloc(cells, sizeof *from); /* 0 where no sum is a number */
    for (int k = 0; k < m; k++)
        for (int j = 0; j <= n; j++) {
            double *to = &best[(size_t)k * row + (size_t)j];
            *to = -INFINITY;
            for (int i = first + k; i < j && (k || i == first); i++) {
                sum = k ? best[(size_t)(k - 1) * row + (size_t)i] : 0;
                for (int l = i; l < j; l++)
                    sum += s[(size_t)i * (size_t)n + (size_t)l];
                if (sum > *to) {
                    *to = sum;
                    from[(size_t)k * row + (size_t)j] = i;
                }
            }
        }
    for (int k = m - 1, j = n; k >= 0; k--)
        j = out[k] = from[(size_t)k * row + (size_t)j];
    sum = best[(size_t)(m - 1) * row + (size_t)n];
    free(best);
    free(from);
    return sum;
}

void layer_measure_release(struct layer_measure *m)
{
    free(m->number);
    free(m->similarity);
    free(m->curve);
    free(m->best);
    for (int i = 0; i < m->n_tasks; i++)
        free(m->by_task[i].curve);
    free(m->by_task);
    *m = (struct layer_measure){0};
}
