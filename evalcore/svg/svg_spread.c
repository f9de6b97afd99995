/* Moves points apart so that they stand side by side: error bars at nearly the same x would hide each
 * other. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/svg/svg.h"

struct place {
    double x;
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->index < q->index ? -1 : 1;
}

/* With z[i] = x[i] - i * gap the condition becomes that z never decreases, so the nearest solution is an
 * isotonic regression: neighbours that decrease are pooled into their mean. */
void svg_spread(double *x, size_t n, double gap, double low, double high)
{
    if (n < 2)
        return;
    gap = fmin(gap, (high - low) / (double)(n - 1));
    struct place *order = xmalloc(n * sizeof *order);
    double *mean = xmalloc(n * sizeof *mean);
    size_t *count = xmalloc(n * sizeof *count), pools = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct place){x[i], i};
    qsort(order, n, sizeof *order, compare_places);
    for (size_t i = 0; i < n; i++) {
        mean[pools] = order[i].x - (double)i * gap;
        count[pools++] = 1;
        for (; pools > 1 && mean[pools - 1] < mean[pools - 2]; pools--) {
            size_t a = count[pools - 2], b = count[pools - 1];
            mean[pools - 2] = ((double)a * mean[pools - 2] + (double)b * mean[pools - 1]) / (double)(a + b);
            count[pools - 2] = a + b;
        }
    }
    for (size_t p = 0; p < pools; p++)
        for (size_t k = 0; k < count[p]; k++, at++)
            x[order[at].index] = fmin(fmax(mean[p], low), high - (double)(n - 1) * gap) + (double)at * gap;
    free(order);
    free(mean);
    free(count);
}
