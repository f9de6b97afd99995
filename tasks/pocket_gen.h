#ifndef TASKS_POCKET_GEN_H
#define TASKS_POCKET_GEN_H

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/base/str.h"

/* Problems of the embedded model's four families, in the text form of engine/pocket's recipe (gen.py): the
 * question and the reference answer. What is drawn depends on r alone. `steps`: rules (relay, choice,
 * algebra) or facts (lookup), POCKET_STEPS_MIN..POCKET_STEPS_MAX. */
typedef void (*pocket_gen_fn)(struct str *question, struct str *gold, struct rng *r, int steps);

void pocket_relay(struct str *question, struct str *gold, struct rng *r, int steps);
void pocket_choice(struct str *question, struct str *gold, struct rng *r, int steps);
void pocket_algebra(struct str *question, struct str *gold, struct rng *r, int steps);
void pocket_lookup(struct str *question, struct str *gold, struct rng *r, int steps);

#endif
