#ifndef TESTS_LAWS_H
#define TESTS_LAWS_H

#include "tests/engine/decode.h"

/* What the law tests share: the embedded model's problems, requests on them, and the rule that no policy may
 * be missing from a law's table. */
enum { LAW_FAMILIES = 4, LAW_LONGEST = 3 };
extern const char *const law_families[LAW_FAMILIES]; /* the longest last */

void laws_open(struct engine *en);
void laws_close(void);

/* Prompt k / 4 % 4 of family k % 4; log-probabilities are wanted. */
struct item law_item(struct policy *p, int k, int steps);

/* 1 when every registered policy has a spec "name" or "name:..." in the table; prints those that have none.
 * The table is an array of structs that begin with the spec, or of specs. */
int law_covers(const char *law, const void *table, size_t n, size_t item);

#endif
