#ifndef ANSWER_CHECK_COMPAT_COMPAT_EXTRACT_H
#define ANSWER_CHECK_COMPAT_COMPAT_EXTRACT_H

#include "answer_check/answer_check.h"
#include "answer_check/compat/compat_read.h"

struct compat_candidate {
    const struct math_node *tree; /* the first match that could be read, or NULL */
    struct span word; /* the same for the String target: a lower-case letter; empty when there is none */
    struct span text; /* the first match as a string; empty when there is none */
};
void compat_extract(struct compat_candidate *out, struct math_work *w, struct span text,
                    const struct grade_options *o);

#endif
