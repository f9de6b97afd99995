#ifndef EVALCORE_STORE_RECORD_ORDER_H
#define EVALCORE_STORE_RECORD_ORDER_H

#include "evalcore/store/run.h"

/* Which of several records of one key counts must not depend on when they were written: a completion is
 * preferred to an error, then the record whose digest of the tokens is smaller, then, of a text, the one with
 * fewer bits. */

/* Are the results alike? Below 0, 0 or above 0, whatever the order of the two. */
int record_compare(const struct record *a, const char *digest_a, const struct record *b,
                   const char *digest_b);
int record_is_better(const struct record *a, const char *digest_a, const struct record *b,
                     const char *digest_b);

#endif
