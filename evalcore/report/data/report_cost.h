#ifndef EVALCORE_REPORT_DATA_REPORT_COST_H
#define EVALCORE_REPORT_DATA_REPORT_COST_H

#include "evalcore/report/data/report_data.h"

/* What a completion costs when it may have at most so many tokens. A shorter completion is the beginning of
 * the longer one, and its costs stand in the longer one's curve (struct kv_curve of engine.h). */
struct cost {
    double reads; /* total reads in tokens, mean over layers and KV heads */
    double peak;  /* tokens in the cache, the prompt's included */
};

/* The costs of the cell's records under the limit, into out (n_records). Returns 1 when some of them are
 * bounds, since their completion was cut and has no curve, or the run has too many completions for all curves
 * to be read; else 0. */
int report_costs(const struct report *r, const struct cell *c, int limit, struct cost *out);

#endif
