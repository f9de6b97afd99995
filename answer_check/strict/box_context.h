#ifndef ANSWER_CHECK_STRICT_BOX_CONTEXT_H
#define ANSWER_CHECK_STRICT_BOX_CONTEXT_H

#include "answer_check/strict/extract.h"

/* The last boxes of a section (at least a run of them) as the formulas around them make them: the box of
 * "$x = -\boxed{5}$" as "-5", of "$\boxed{16}\pi$" as "16\pi". One that takes in the box before it stands for
 * both: "\frac{\boxed{3}}{\boxed{4}}". start and end hold what was read. Taken in are a sign without an
 * operand before it, factors \pi, \sqrt, \frac, i and e behind the box, powers and "!", and the braces of a
 * fraction, a root or an exponent; where anything else stands at the box, and outside formulas, it stays what
 * it is, and so does the label of an option. Returns whether any box was changed; the list and its texts live
 * in the arena. */
int box_contexts(struct box_list *out, struct span section, const struct box_list *boxes,
                 struct math_work *w);

#endif
