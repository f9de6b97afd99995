#ifndef EVALCORE_BASE_MARGIN_H
#define EVALCORE_BASE_MARGIN_H

/* The margin of non-inferiority, in points of accuracy or score: what a policy may lose and still be called
 * as good as the baseline. Run files and kveval report take it, run folders keep it. */
#define MARGIN_DEFAULT 5.0
#define MARGIN_MIN     0.01
#define MARGIN_MAX     50.0

/* Returns 1 from MARGIN_MIN to MARGIN_MAX, both included, else 0. */
static inline int margin_is_valid(double points)
{
    return points >= MARGIN_MIN && points <= MARGIN_MAX;
}

#endif
