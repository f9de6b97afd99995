/* Looking more than once: the levels of the nightly gate's three looks, and the control chart over nights. */
#include <math.h>

#include "evalcore/stats/stats.h"

/* One-sided levels, small at first (the shape of O'Brien and Fleming 1979), that together call a regression
 * in at most 5 % of the nights without a change. Ruling the margin out is stricter while later looks can
 * still do it. `kveval bench stats` measures both (docs/statistics.md has the figures). */
const struct stat_look stat_looks[STAT_LOOKS] = {{4, 0.0006, 0.98}, {8, 0.015, 0.98}, {16, 0.045, 0.95}};

enum stat_decision stat_look_rule(const struct stat_look *look, double lower, double loss)
{
    if (lower <= look->fail_p)
        return STAT_REGRESSION;
    return loss < 1 - look->pass_level ? STAT_WITHIN : STAT_UNDECIDED;
}

int stat_cusum_add(struct stat_cusum *c, double z)
{
    if (isnan(z))
        return 0;
    c->high = fmax(0, c->high + z - c->k);
    c->low = fmax(0, c->low - z - c->k);
    return c->low > c->h ? -1 : c->high > c->h;
}
