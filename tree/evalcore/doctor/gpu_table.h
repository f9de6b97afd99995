#ifndef EVALCORE_DOCTOR_GPU_TABLE_H
#define EVALCORE_DOCTOR_GPU_TABLE_H

#include "evalcore/base/str.h"

/* The GPUs of this machine as an aligned table, a line each, its heading first: name, memory, compute
 * capability, driver, and the peers that a copy reaches. */
struct gpu_table {
    int n;             /* GPUs, whether they work or not */
    int n_bad;         /* that cannot be opened, or whose copies do not arrive at a peer */
    int is_unreadable; /* there may be GPUs, and they cannot be counted */
    char why[320];     /* why there is none; a sentence */
    char kernels[320]; /* what kernels they are given: a sentence for each capability, joined by "; " */
};

/* Looks at the GPUs, fills *t and appends the table to *out, each line behind `indent`; nothing where there
 * is no GPU, and t->why then says why. It cannot fail: a GPU that cannot be opened is a row with the reason.
 */
void gpu_table(struct gpu_table *t, struct str *out, const char *indent);

#endif
