#ifndef ANSWER_CHECK_EQUAL_EQUAL_ANSWER_H
#define ANSWER_CHECK_EQUAL_EQUAL_ANSWER_H

#include "answer_check/equal/equal.h"

/* Two answers as they stand in a text: read, compared, and shown. */

struct math_match {
    int equal;
    int unknown;     /* not equal only because steps, precision or limits ran out */
    const char *how; /* "exactly", "as text", ... */
    const char *gold_form;
    const char *pred_form;
};
void math_compare(struct math_match *out, struct math_work *w, struct span gold, struct span pred,
                  const struct grade_policies *policies);

#endif
