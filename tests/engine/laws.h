#ifndef TESTS_LAWS_H
#define TESTS_LAWS_H

#include "tests/engine/decode.h"

/* What the law tests share: the embedded model's problems, requests on them, and the specs of every
 * registered policy, so that a new policy is under the laws without a line here. */
enum { LAW_FAMILIES = 4, LAW_LONGEST = 3, LAW_SPEC = 96 };
extern const char *const law_families[LAW_FAMILIES]; /* the longest last */

void laws_open(struct engine *en);
void laws_close(void);

/* Prompt k / 4 % 4 of family k % 4; log-probabilities are wanted. */
struct item law_item(struct policy *p, int k, int steps);

/* "NAME:options" for each registered policy, in the registry's order; at most LAW_POLICIES. Returns how many.
 * A policy without a budget has no options, and no generous spec. */
enum { LAW_POLICIES = 32 };
int law_generous_specs(char spec[LAW_POLICIES][LAW_SPEC]);
int law_tight_specs(char spec[LAW_POLICIES][LAW_SPEC]);

#endif
