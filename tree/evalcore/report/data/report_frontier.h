#ifndef EVALCORE_REPORT_DATA_REPORT_FRONTIER_H
#define EVALCORE_REPORT_DATA_REPORT_FRONTIER_H

#include "evalcore/report/data/report_data.h"

/* What a completion costs under a limit on its tokens. A shorter completion is the beginning of
 * the longer one, and its costs stand in the longer one's curve (struct kv_curve of engine.h). */
struct cost {
    double reads; /* total reads in tokens, mean over layers and KV heads */
    double peak;  /* tokens in the cache, the prompt's included */
};

/* What accuracy costs when an answer may take up to L tokens and is the majority of W completions (DMS,
 * Lancucki et al., arXiv 2506.05345, Figures 3 and 4). A journal of long completions holds the shorter limits
 * too, for a completion under a smaller limit is the beginning of this one; and N samples of a problem hold
 * every smaller width, as all their subsets. */
struct frontier_point {
    int cell;
    int limit, width;        /* L in tokens, W in completions */
    double accuracy;         /* mean over problems, like the two below */
    double reads;            /* total reads of all W, in tokens (mean over layers and KV heads) */
    double peak;             /* tokens in the cache if all W run at once, each with a prompt of its own */
    int is_bound;            /* the two costs may be lower */
    const struct cost *cost; /* the cost of each record of the cell under the limit */
    struct interval ci;      /* interval of the accuracy */
    const double *by[3];     /* the same three by problem of the task; NaN: not all its samples are there */
    const char *label;       /* L-W-B: "32k-4-8", B the values of the swept budget, 1 without a budget */
};
enum { FRONTIER_ACCURACY, FRONTIER_READS, FRONTIER_PEAK };
struct frontier {
    struct frontier_point *points; /* cells in run-file order, then longest limit first, then width */
    int n, n_problems;
};

/* The points of a panel, in the report's arena; none of a text's. Limits are the cell's own, a half and a
 * quarter of it, where they cut anything off, leave something solved and the budget does not follow from the
 * limit; what is longer counts as wrong. Widths are 1, 4, 8, 16 .. as far as the samples go, where these are
 * drawn at a temperature and right or wrong. */
struct frontier report_frontier(const struct report *r, int panel);
/* An array of n_panels, the frontier of every panel; in the report's arena. */
const struct frontier *report_frontiers(const struct report *r);

#endif
