/* Looking more than once: the levels of the nightly gate's three looks, and the control chart over nights. */
#include <math.h>

#include "evalcore/stats/stats.h"

/* One-sided levels that together reject 5 % of what did not change, small at first (the shape of O'Brien and
 * Fleming 1979); `kveval bench stats` measures what they do. */
const struct stat_look stat_looks[3] = {{4, 0.0006, 0.98}, {8, 0.015, 0.98}, {16, 0.045, 0.95}};

int stat_cusum_add(struct stat_cusum *c, double z)
{
    if (isnan(z))
        return 0;
    c->high = fmax(0, c->high + z - c->k);
    c->low = fmax(0, c->low - z - c->k);
    return c->low > c->h ? -1 : c->high > c->h;
}
