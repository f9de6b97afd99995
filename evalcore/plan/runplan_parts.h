#ifndef EVALCORE_PLAN_RUNPLAN_PARTS_H
#define EVALCORE_PLAN_RUNPLAN_PARTS_H

#include "evalcore/plan/runplan.h"
#include "evalcore/plan/sample_ids.h"

/* The steps of runplan_build(), in files of their own. Those that take a struct err return 0 or a negative
 * ERR_ code, with its meaning as in runplan_build(); what they have added to the plan by then goes with
 * runplan_release(). */

/* runplan_models.c. The loaded model for a model and a KV type, which is opened when there is none yet:
 * *index receives its number. */
int runplan_open_model(struct runplan *p, int model, enum kv_dtype kv_dtype, const struct runplan_options *o,
                       int *index, struct err *e);
/* Only for a dry plan: checks the weights of each loaded model by their headers, binds its policies, counts
 * its memory. */
int runplan_measure(struct runplan *p, struct err *e);
/* Reserves K and V for the engines of all loaded models, once all of them are open and their policies bound;
 * ERR_DEVICE when memory is too short. In a dry plan it does nothing.
 */
int runplan_reserve(struct runplan *p, struct err *e);

/* runplan_sets.c. Returns 1 when two settings give the same token ids for a task's problems, else 0. */
int runplan_same_prompts(const struct settings *a, const struct settings *b);
int runplan_same_text(const char *a, const char *b); /* 1: the same characters, or both NULL; else 0 */
/* Opens the task and renders its prompts, as the next of p->sets. ids: of --sample-ids; those that match are
 * marked. */
int runplan_open_set(struct runplan *p, const struct runfile_task *t, const struct settings *settings,
                     const struct loaded_model *loaded, const struct runplan_options *o,
                     struct sample_ids *ids, struct err *e);

/* ERR_USAGE when a token of a set lies outside of the loaded model's model. */
int runplan_check_vocabulary(const struct prompt_set *s, const struct loaded_model *loaded, struct err *e);
/* ERR_USAGE when two problems of these sets, of the tasks under the same model and settings, have the same
 * prompt; but a published set may repeat itself.
 * Verdicts are over the problems of all tasks, each of which must count once. */
int runplan_check_overlap(const struct prompt_set *const *sets, int n, struct err *e);

/* runplan_cells.c. Opens loaded models and sets and makes the cells from them, in run-file order. */
int runplan_make_cells(struct runplan *p, const struct runplan_options *o, struct err *e);
/* What the model adds to a resolved cell: identity, and the names that are made from it. */
int runplan_identify(struct runplan *p, struct plan_cell *c, struct err *e);

/* runplan_notices.c. Where a setting has chat "auto", warns once for each model for which that means no chat
 * form, though its tokens look like a known one. Another call warns again: call it when all models are open.
 */
void runplan_log_chat(const struct runplan *p);
/* Tells of settings in a model's generation_config.json that are not applied. */
void runplan_log_unapplied(const struct runplan *p);
/* What the files of a model say and the program does otherwise (engine_log_notices()). */
void runplan_log_files(const struct runplan *p);

/* Part of dryrun_print(): for each model which marks its settings can earn, and how many problems would do.
 */
void dryrun_marks(const struct runplan *p);

#endif
