#ifndef EVALCORE_REPORT_DATA_REPORT_BUDGET_H
#define EVALCORE_REPORT_DATA_REPORT_BUDGET_H

#include "engine/policies/policy.h"
#include "evalcore/base/arena.h"
#include "evalcore/store/run.h"

/* What a report asks the policy of a cell about its budget. The options are those that the run folder keeps,
 * which may come from a program with other policies or other options; its numbers are reported all the same.
 */
struct cell_budget {
    struct policy_spec spec;
    const char *unknown; /* why there is no spec, in the arena; NULL: there is one */
    const struct cell *cell;
};
struct cell_budget report_budget_read(const struct cell *c, struct arena *a);

/* Has the policy a budget at all? Full attention has none. */
int report_has_budget(const struct cell_budget *b, const struct cell *c);
/* Decode steps of a completion, each of which read the context once. The first token comes from the prompt's
 * pass; a completion that ended at its end token took one more step, since that token is not counted in
 * `tokens`. One that ended at a stop string did not: what full attention would have read tells. */
double report_decode_steps(const struct record *r);
/* Did some context of this record exceed what the policy reads whole? */
int report_exceeds_budget(const struct cell_budget *b, const struct record *r);
/* Would the same policy have another budget if completions could be shorter? Then a completion under a
 * smaller limit is not the beginning of this one. 1 where that is not known. */
int report_budget_needs_limit(const struct cell_budget *b);

/* The budget in tokens as the papers count it (DELTA, arXiv 2510.09883, Figure 3): pages as their tokens, a
 * share or a compression ratio of the context. What a policy keeps of the prompt besides its budget (RaaS,
 * arXiv 2502.11147, pins the pages of the prefill) is not part of it and stands apart. */
struct budget_tokens {
    double tokens; /* not finite: none, or unknown */
    double beside; /* further tokens of the prompt that a step reads; 0: none */
};
/* longest: tokens that a completion may have. */
struct budget_tokens report_budget_tokens(const struct cell_budget *b, double context, double prompt,
                                          double longest);

#endif
