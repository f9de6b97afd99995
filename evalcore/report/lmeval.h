#ifndef EVALCORE_REPORT_LMEVAL_H
#define EVALCORE_REPORT_LMEVAL_H

#include "evalcore/store/run.h"

/* DIR/cells/CELL/samples_TASK.jsonl and results.json for every cell, in the layout and with the keys of
 * lm-evaluation-harness 0.4, so that its tools read them. What it has no name for is under keys of our own
 * beside them: per sample `keys`, `verdicts`, `tokens`, `finish`, `kv_reads`, `kv_reads_full`, `peak_tokens`;
 * `x_kv` in results. Samples hold no times and no machine names: the same run gives the same bytes. */
int lmeval_write(const struct run *r, struct err *e);

#endif
