#ifndef EVALCORE_REPORT_DATA_REPORT_STEPS_H
#define EVALCORE_REPORT_DATA_REPORT_STEPS_H

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"

/* Where the time of decode steps goes, as `kveval bench components` printed it. */
enum { STEP_PARTS_MAX = 16 };
struct step_stack {
    const char *name; /* "quest:k_pages=64 batch 64 at 16384", with the model in front where several differ */
    double part[STEP_PARTS_MAX]; /* microseconds, in the order of struct steps' parts; NaN: not in the file */
    double sum, whole; /* time of the parts together, and of the whole captured step; NaN: not in the file */
};
struct steps {
    const char *model; /* "" where the stacks differ in it */
    const char *part[STEP_PARTS_MAX];
    int n_parts;
    struct step_stack *stack; /* in the order of the file */
    int n;
};

/* Reads the lines that `kveval bench components` printed, or a file of bench/results with them. ERR_FORMAT
 * when it holds no such figure. Strings come from `a`. */
int report_steps_read(struct steps *out, const char *path, struct arena *a, struct err *e);

#endif
