#ifndef EVALCORE_REPORT_LMEVAL_H
#define EVALCORE_REPORT_LMEVAL_H

#include "evalcore/store/run.h"

/* The second door of the report room (report.h): the export for tools that read lm-evaluation-harness 0.4.
 *
 * Writes DIR/cells/CELL/samples_TASK.jsonl and results.json for every cell, in that program's layout and with
 * its keys. What it has no name for stands beside them under keys of our own: `keys`, `verdicts`, `tokens`,
 * `finish`, `kv_reads`, `kv_reads_full` and `peak_tokens` in the samples, `x_kv` in the results. The samples
 * hold no times and no machine names, so the same run gives the same bytes. */
int lmeval_write(const struct run *r, struct err *e);

#endif
