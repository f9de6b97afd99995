#ifndef EVALCORE_RUNFILE_WHERE_H
#define EVALCORE_RUNFILE_WHERE_H

#include "evalcore/base/err.h"

/* The condition of a run file's "where": comparisons (< <= > >= == !=) of sums and products of numbers and
 * names, joined by `and`. Every comparison is evaluated, so that a misspelt name is noticed even when it
 * would not matter. */

/* Value of a name; negative with a message when there is none. */
typedef int (*expr_lookup_fn)(void *context, const char *name, double *out, struct err *e);

int expr_true(const char *text, expr_lookup_fn lookup, void *context, int *result, struct err *e);

#endif
