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
