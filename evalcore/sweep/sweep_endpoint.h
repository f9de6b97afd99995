#ifndef EVALCORE_SWEEP_SWEEP_ENDPOINT_H
#define EVALCORE_SWEEP_SWEEP_ENDPOINT_H

#include "evalcore/endpoint/endpoint.h"
#include "evalcore/sweep/sweep_progress.h"

/* A door of the room of sweeps (sweep_progress.h): a sweep whose model another program serves (run files with
 * an "endpoint"). Requests take the place of the engine's batch; journal, order and resuming are the same.
 *
 *   sweep_endpoint_open -> sweep_endpoint_bind (with a dry plan) -> sweep_endpoint_run -> endpoint_close */

/* key: NULL for none. */
int sweep_endpoint_open(struct endpoint **out, const struct runplan *p, const char *key, struct err *e);
/* Asks the server for the model and binds the plan to what it says. ERR_IO: the server is not there. */
int sweep_endpoint_bind(struct endpoint *ep, struct runplan *p, struct err *e);
/* Decodes the jobs in the plan's order. Returns 0 when all are in the journal, or when a signal or the end of
 * the time stopped it (*signal, else 0). After an error, what was journalled so far stays. A job whose
 * request can never come through, or whose tries run out while others come through, becomes an error; when
 * nothing comes through any more, or nothing but errors does from the start, the sweep ends with an error
 * itself. */
int sweep_endpoint_run(struct endpoint *ep, const struct runplan *p, struct sweep_progress *t, int *signal,
                       struct err *e);

#endif
