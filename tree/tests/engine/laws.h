#ifndef TESTS_LAWS_H
#define TESTS_LAWS_H

#include "tests/engine/decode.h"

/* What the law tests share: problems of the embedded model, requests for them, and the specs of every
 * registered policy, so that the laws are tested for a new policy without a line here. */
enum { LAW_FAMILIES = 4, LAW_LONGEST = 3, LAW_SPEC = 96 };
extern const char *const law_families[LAW_FAMILIES]; /* the longest last */

void laws_open(struct engine *en);
void laws_close(void);

/* A request for prompt k / 4 % 4 of family k % 4, with log-probabilities. */
struct item law_item(struct policy *p, int k, int steps);

/* Write "NAME:options" for each registered policy, in the order of the registry, and return how many, at most
 * LAW_POLICIES. A policy without a budget has no generous spec, and a tight one without options. */
enum { LAW_POLICIES = 32 };
int law_generous_specs(char spec[LAW_POLICIES][LAW_SPEC]);
int law_tight_specs(char spec[LAW_POLICIES][LAW_SPEC]);

#endif
