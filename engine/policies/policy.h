#ifndef ENGINE_POLICIES_POLICY_H
#define ENGINE_POLICIES_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/param.h"
#include "kernels/backend.h"

/* The room of the policies. A policy decides which cached tokens a decode step reads and which it forgets. It
 * only chooses, and the backend computes, so a policy is written once and runs on every backend. Nothing here
 * loads models or runs steps.
 *
 * This is its only door and a front door. Part 1, names and parameters, is for the rooms of evalcore, which
 * read run files, plan, report and print help. Part 2, the hooks (policy_hooks.h), is for policies and the
 * engine.
 */

/* ---- 1. names and parameters ---- */

struct policy; /* an instance: a policy with parameters, bound to an engine (engine_policy) */
struct policy_ops;

struct policy_spec { /* a policy with parameters whose ranges are checked, not yet bound to a model */
    const struct policy_ops *ops;
    void *params;       /* ops->params_size bytes, in the arena given to policy_spec_* */
    const char *preset; /* name, or NULL */
    const char *taken;  /* after policy_spec_resolve(): a note for people on the options that come from the
                         * model,  and how it was recognised; NULL: none */
};

struct policy_model {
    const char *path; /* "pocket", a folder or "random:CONFIG.json" */
    const char *name; /* name of the model whose published layers are taken; NULL: found by its path
                         (model_defaults.h) */
    int n_layers;
    const int32_t *window; /* (n_layers): tokens that a layer's attention reads at most, 0 where it is full;
                              NULL: all are */
};

struct preset {               /* a published variant: options that differ from the defaults */
    const char *name, *pairs; /* "min_pages=3,force_last=false" */
    const char *help;
};

/* What these return is static. policy_at() returns policy i in the order of the list, NULL past the end;
 * policy_find() the policy of exactly this name, NULL if there is none; policy_nearest() the name that
 * differs in the fewest letters, for "did you mean", NULL if none is near. */
const struct policy_ops *policy_at(size_t i);
const struct policy_ops *policy_find(const char *name);
const char *policy_nearest(const char *name);
/* Return the name, a sentence for help, the table of options (ends with name NULL), and the presets (end with
 * name NULL; NULL: none) of a policy. */
const char *policy_name(const struct policy_ops *ops);
const char *policy_help(const struct policy_ops *ops);
const struct param *policy_params(const struct policy_ops *ops);
const struct preset *policy_presets(const struct policy_ops *ops);
/* Returns the options that are this policy's budget, comma-separated ("k_pages,ratio,cr"), of which exactly
 * one must be given; "" if there is no such option (full). */
const char *policy_budget_keys(const struct policy_ops *ops);

/* Reads a policy from a JSON object with "name", "preset" and scalar options ("as", "where" and "note" are
 * ignored), or from a text "name:key=value,key=value". The preset is applied first. params lie in the arena,
 * which out needs as long as it lives. Returns 0, or ERR_USAGE when policy, preset or option is unknown, when
 * a value is out of range, when the budget is missing or given twice, or when options contradict each other
 * (l_pages above k_pages). */
int policy_spec_json(struct policy_spec *out, const json_t *o, struct arena *a, struct err *e);
int policy_spec_text(struct policy_spec *out, const char *text, struct arena *a, struct err *e);
/* Returns {"name": ..., and every effective option}, which job keys and reports use; a new reference. */
json_t *policy_spec_to_json(const struct policy_spec *s);
/* Copies the spec and gives options that depend on the model (layers, anchors, gates) the model's defaults.
 * The copy shares no memory with `in`; options that are set stay. Returns 0; ERR_USAGE if the model has no
 * defaults, with the models that have them and what to write, if an option names a layer that has a window,
 * or if all have one and the policy is not full; or the code of a file (gates, config.json) that cannot be
 * read or used. Called by engine_policy(), and by dry runs to show effective values. */
int policy_spec_resolve(struct policy_spec *out, const struct policy_spec *in, const struct policy_model *m,
                        struct arena *a, struct err *e);
/* Sets *out to the policy with which the likelihood of a text under `in` is compared: full attention (name
 * "full"), and *own to 0; or, if `in` reads a changed model, the same policy with nothing forgotten, and *own
 * to 1. It is resolved if `in` is. Returns 0; an error would be a mistake in the policy's own table. */
int policy_spec_reference(struct policy_spec *out, const struct policy_spec *in, int *own, struct arena *a,
                          struct err *e);
/* The decode step for which a budget is computed. Reports also pass means over steps and jobs, so a policy
 * must not round these numbers to whole tokens. */
struct budget_at {
    double context; /* tokens that full attention reads in the step, the current one among them */
    double prompt;  /* tokens of the prompt */
    double longest; /* tokens that the completion may have at most */
    /* Of the model, as in struct policy_model; only policy_held_at() needs them. */
    int n_layers;
    const int32_t *window;
};
struct policy_budget {
    double tokens; /* tokens a list may hold in this step: the x axis of reports. INFINITY: there is no
                    * budget; NaN: the options do not determine it (learned gates from a file) */
    double whole;  /* a context of at most this many tokens is read whole. If a longer one is read whole too,
                    * the policy had no effect, and reports say so. INFINITY: no such length is known */
};
/* Returns the budget. Full attention, and every policy without the hook, has none: both fields are INFINITY.
 */
struct policy_budget policy_budget_at(const struct policy_spec *s, const struct budget_at *at);
/* Returns the tokens a KV head holds in that step, mean over layers, without the peak during prefill: the
 * context, or less for policies that drop tokens, and in layers with a window no more than that. What learned
 * gates drop is not known in advance; for them
 * it is the ratio they were trained for, and the recency window. */
double policy_held_at(const struct policy_spec *s, const struct budget_at *at);
/* policy_period() returns when a policy forgets that does not do so in every step: within `first` decoded
 * tokens after it holds more than its budget, and then after every `next`. 1 and 1 if it forgets in every
 * step, or never. */
struct policy_period {
    int first, next;
};
struct policy_period policy_period(const struct policy_spec *s, const struct budget_at *at);
/* Returns 1 when the policy itself draws at random, else 0, so that samples of a problem differ at
 * temperature 0 too. */
int policy_draws(const struct policy_ops *ops);
/* Returns 1 for what is no method but the bound of others (oracle), else 0. Reports show it at what it
 * attends to, since its search stands for a choice that costs nothing, and call it a bound. */
int policy_is_bound(const struct policy_ops *ops);
/* Returns the bytes that decide results of a resolved spec although no option names them, and sets *n to
 * their number, so that a job's identity includes them: a file that is part of the program (gates that ship),
 * or the description of a changed rule. They are static. NULL, and *n may stay as it was: there are none. */
const void *policy_data(const struct policy_spec *s, size_t *n);
/* Returns the set of enum policy_needs that the policy has with these options. */
unsigned policy_needs(const struct policy_spec *s);
/* Appends the budget in words, printed with every result: "64 pages of 16 tokens, the last one forced". */
void policy_describe_budget(const struct policy_spec *s, struct str *out);

#include "engine/policies/policy_hooks.h"

#endif
