#ifndef EVALCORE_REPORT_DATA_REPORT_BUDGET_H
#define EVALCORE_REPORT_DATA_REPORT_BUDGET_H

#include "engine/policies/policy.h"
#include "evalcore/base/arena.h"
#include "evalcore/store/run.h"

/* What a report asks the policy of a cell about its budget. The options are those that the run folder keeps,
 * which may come from a program with other policies or other options; its numbers are reported all the same.
 * None of these functions fails. */
struct cell_budget {
    struct policy_spec spec;
    const char *unknown; /* why there is no spec, in the arena; NULL: there is one */
    const struct cell *cell;
};
/* Reads the options of a cell, which is borrowed; strings come from `a`. Where they cannot be read, `unknown`
 * says why, and the functions below say what holds then. */
struct cell_budget report_budget_read(const struct cell *c, struct arena *a);

/* 1 when the policy has a budget, 0 when not, like full attention. When it is unknown: 1 if the cell names an
 * option that is the budget. c: the cell that b was read from. */
int report_has_budget(const struct cell_budget *b, const struct cell *c);
/* The number of decode steps of a completion, each of which read the context once. The first token comes from
 * the prompt's pass; a completion that ended at its end token took one more step, since that token is not
 * counted in `tokens`. One that ended at a stop string did not: what full attention would have read tells, of
 * a model with windows what it reads itself. c: its cell. */
double report_decode_steps(const struct cell *c, const struct record *r);
/* Returns the contexts of these steps added up, what full attention in each layer would read. */
double report_context_sum(const struct cell *c, const struct record *r);
/* 1 when some context of this record exceeded what the policy reads whole; 0 when none did, when it failed or
 * has no decode step, and when the budget is unknown. */
int report_exceeds_budget(const struct cell_budget *b, const struct record *r);
/* 1 when the same policy would have another budget if completions could be shorter, so that a completion
 * under a smaller limit is not the beginning of this one; also when the budget is unknown. Else 0. */
int report_budget_needs_limit(const struct cell_budget *b);

/* The budget in tokens as the papers count it (DELTA, arXiv 2510.09883, Figure 3): pages as their tokens, a
 * share or a compression ratio of the context. What a policy keeps of the prompt besides its budget (RaaS,
 * arXiv 2502.11147, pins the pages of the prefill) is not part of it and stands apart. */
struct budget_tokens {
    double tokens; /* not finite: none, or unknown */
    double beside; /* further tokens of the prompt that a step reads; 0: none */
};
/* The budget at a step that sees `context` tokens behind a prompt of `prompt`; longest: tokens that a
 * completion may have. */
struct budget_tokens report_budget_tokens(const struct cell_budget *b, double context, double prompt,
                                          double longest);

#endif
