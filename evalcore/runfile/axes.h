#ifndef EVALCORE_RUNFILE_AXES_H
#define EVALCORE_RUNFILE_AXES_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Sweep axes: an option that takes one value is given a list of them. The points of an object are all
 * combinations of its axes' values, in the order the axes are written, the last one fastest. */
struct axis_point {
    json_t *object;    /* scalars only */
    const char *swept; /* "k_pages=8 l_pages=2"; "" without axes */
};
struct axis_points {
    struct axis_point *point;
    size_t n;
};

/* Does option `key` take a list as its value? Then only a list of lists is an axis. */
typedef int (*axis_takes_list_fn)(const char *key);

enum { AXIS_POINTS_MAX = 5000 };

int axes_expand(struct axis_points *out, const json_t *object, axis_takes_list_fn takes_list,
                const char *where, struct arena *a, struct err *e);
void axes_release(struct axis_points *p);

#endif
