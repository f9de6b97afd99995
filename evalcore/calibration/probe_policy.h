#ifndef EVALCORE_CALIBRATION_PROBE_POLICY_H
#define EVALCORE_CALIBRATION_PROBE_POLICY_H

#include "engine/engine.h"
#include "engine/policies/policy.h"
#include "evalcore/calibration/calibration.h"

/* Binds a policy that measures to the engine, which owns it: its hooks keep in (*out)->own what they have
 * seen, until the engine closes. Returns 0 or an ERR_ code of engine_policy(). */
int probe_bind(struct policy **out, struct engine *en, const struct policy_ops *ops, struct err *e);
extern const struct param probe_no_options[];

/* Returns how many layers with full attention are below `layer`; of n_layers: how many the model has. */
int probe_layer_index(const struct policy_dims *d, int layer);
/* Sets m->n_layers, n_all, number and n_kv to the layers with full attention of this model. */
void probe_layers(struct layer_measure *m, const struct policy_dims *d);

/* Copies bytes from the device to dst, for a hook. A failure sets *c->e to ERR_DEVICE; it does nothing once
 * that holds an error. */
void probe_download(const struct policy_ctx *c, void *dst, const void *src, size_t bytes);

/* Decodes the completion of p under a policy, token by token as it stands; `reference`: NULL, or a policy
 * that is decoded beside it. Every step runs operation by operation, so that hooks see what is there; seen
 * (NULL: none) is called as engine_watch() says. Returns 0, also for an empty completion, or an ERR_ code of
 * engine_run(). */
int probe_replay(struct engine *en, const struct dev_problem *p, struct policy *policy,
                 struct policy *reference, seen_fn *seen, void *context, struct err *e);

/* In observe() of a policy that asks for statistics: the attention probabilities of the first row, one
 * sequence's, as (n_q, stride); logits is scratch memory of `stride` numbers. Returns how many tokens each
 * head sees: all that are there. A failed copy sets *c->e, as probe_download() does. */
int probe_probabilities(const struct policy_ctx *c, float *logits, double *p, int stride);

#endif
