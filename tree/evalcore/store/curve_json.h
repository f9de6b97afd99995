#ifndef EVALCORE_STORE_CURVE_JSON_H
#define EVALCORE_STORE_CURVE_JSON_H

#include "engine/engine.h"
#include "evalcore/base/json.h"

/* A completion's curve of reads (struct kv_curve of engine.h) as JSON, the same in a journal's line and in a
 * worker's message:
 *   {"every":1024,"layers":28,"heads":56,"reads":[...],"live":[...],"peak":[...],"aux":[...],
 *    "by_head":[...]}
 * Four lists with an entry for each point; by_head is there when the policy forgets tokens. */

/* Returns a new reference, or NULL when the completion has no curve. */
json_t *curve_json(const struct kv_curve *c);

/* Reads a curve from o. Returns 1, and the arrays of *out are the caller's, who gives them to
 * curve_json_release(); or 0 when o is no such object, and *out holds nothing. */
int curve_json_read(const json_t *o, struct kv_curve *out);
/* Frees the arrays and zeroes *c, which may be zeroed already. */
void curve_json_release(struct kv_curve *c);

#endif
