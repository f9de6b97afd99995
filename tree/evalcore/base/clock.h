#ifndef EVALCORE_BASE_CLOCK_H
#define EVALCORE_BASE_CLOCK_H

#include <time.h>

/* Returns seconds of the monotonic clock: only differences have a meaning, and setting the time does not
 * change them.
 */
static inline double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
