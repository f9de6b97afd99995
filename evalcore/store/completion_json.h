#ifndef EVALCORE_STORE_COMPLETION_JSON_H
#define EVALCORE_STORE_COMPLETION_JSON_H

#include "engine/engine.h"
#include "evalcore/base/json.h"
#include "evalcore/store/flat_json.h"

/* What the engine says of a completion, as fields of a JSON object: the same names in a journal's line and in
 * a worker's message. Token ids and text are not among them: each of the two has its own form for these. */

/* Adds to o "finish", "tokens", the eight counts of struct kv_counts ("kv_reads", ...), "seconds",
 * "preempted" and, for a job that failed, "error", for one of a text "likelihood", for one of options
 * "options". Counts that nobody made (kv.reads is NaN) are left out, and "kv_counts" is false. */
enum { COMPLETION_JSON_FIELDS = 13 }; /* "error", "likelihood" and "options" apart */
void completion_json_add(json_t *o, const struct completion *c);

/* The counts alone, and the other way: returns 1, or 0 when one is missing. */
void completion_json_add_counts(json_t *o, const struct kv_counts *k);
int completion_json_read_counts(const json_t *o, struct kv_counts *k);
/* Adds the counts of a further completion: reads add up, of what was held the most counts. */
void completion_add_counts(struct kv_counts *to, const struct kv_counts *k);

/* The other way: finish, n_ids, kv, seconds, preempted, likelihood, options, error (borrowed from o); the
 * rest of *c is not touched. Counts that were left out are NaN. Returns NULL, or the name, a constant, of a
 * field that is missing or has a wrong value; *c then holds what is there, zeros for the rest, and
 * FINISHED_ERROR for an end that is not known. */
const char *completion_json_read(const json_t *o, struct completion *c);

/* The same of an object of plain values, whose fields are not checked: a missing one is 0. Returns 1; or 0
 * for a failed job, a text, options, an unknown end or a completion without counts: those are for
 * completion_json_read(), which overwrites what was read. */
int completion_flat_read(const struct flat_object *o, struct completion *c);

#endif
