#ifndef EVALCORE_EXPORT_EXPORT_LMEVAL_H
#define EVALCORE_EXPORT_EXPORT_LMEVAL_H

#include "evalcore/export/export_parts.h"

/* What the two files of the lm-eval export share. */
const char *lmeval_metric(const struct cell *c);
json_t *lmeval_gen_args(const struct cell *c, const struct run_problem *p); /* p NULL: of the cell */

/* Writes the cell's rows to the open file; `hash` (65 bytes) receives the digest over the hashes of all
 * documents, prompts and targets. */
int lmeval_samples(struct export *x, const struct cell *c, char *hash, struct err *e);

#endif
