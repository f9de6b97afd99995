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

/* Reads the lines that `kveval bench components` printed, or a file of bench/results with them, into *out;
 * memory comes from `a`. Returns 0; ERR_IO when the file cannot be read; ERR_FORMAT when it is not JSON or
 * holds no such figure. Beyond 64 stacks and STEP_PARTS_MAX parts figures are left out; of a figure that is
 * there twice the first counts. e may not be NULL. */
int report_steps_read(struct steps *out, const char *path, struct arena *a, struct err *e);

#endif
