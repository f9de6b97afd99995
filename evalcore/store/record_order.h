#ifndef EVALCORE_STORE_RECORD_ORDER_H
#define EVALCORE_STORE_RECORD_ORDER_H

#include "evalcore/store/run.h"

/* Which of several records of one key counts must not depend on when they were written: the record with
 * the highest "withdrawn", then a completion before an error, then the record whose digest of the tokens is
 * smaller, then, of a text, the one with fewer bits.
 *
 * A device that is found to be wrong has its completions withdrawn: each gets a record, an error, with
 * "withdrawn": 1, before which records without that field do not count, and what is decoded in its place has
 * 2. Should that be withdrawn, too, the numbers are 3 and 4, and so on. */
int record_is_withdrawal(const struct record *r);

/* Are the results alike? Below 0, 0 or above 0, whatever the order of the two. */
int record_compare(const struct record *a, const char *digest_a, const struct record *b,
                   const char *digest_b);
int record_is_better(const struct record *a, const char *digest_a, const struct record *b,
                     const char *digest_b);

#endif
