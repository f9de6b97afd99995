#ifndef EVALCORE_REPORT_DATA_REPORT_CURVE_H
#define EVALCORE_REPORT_DATA_REPORT_CURVE_H

#include "evalcore/report/data/report_data.h"

/* How far a policy that forgets tokens compresses K and V as the context grows, and which heads it spares
 * (DMS, Lancucki et al., arXiv 2506.05345, Figure 6). From the curves that the journal keeps behind each
 * completion; the first sample of each of the first 200 problems is enough. */
struct compression_point {
    double context, live; /* tokens, means over completions; live: also over layers and KV heads */
    double own;           /* what the model itself holds of the context: less where layers have windows */
    int completions;      /* that are so long */
};
struct compression {
    struct compression_point *point;
    int n;           /* 0: no completion has a curve that is long enough */
    int completions; /* with a curve */
    int layers, heads;
    double *live; /* share of the tokens that the model itself holds which each head holds at the end,
                   * (heads); NULL: all hold as many */
};

/* 1 when some completion of the cell held fewer tokens than the model itself holds of its context, else 0. */
int report_forgets(const struct cell *c);

/* Reads the curves of the cell's completions and fills *out, from the report's arena, with a point for each
 * context that at least a tenth of the completions reached. Returns 0, also when no completion has a curve;
 * ERR_IO or ERR_FORMAT when one cannot be read from its journal, and *out is then empty. e may not be NULL.
 */
int report_compression(const struct report *r, const struct cell *c, struct compression *out, struct err *e);

#endif
