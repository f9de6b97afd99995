#ifndef ANSWER_CHECK_EXTRACT_H
#define ANSWER_CHECK_EXTRACT_H

#include "answer_check/response.h"

/* Finds the places where an answer section states an answer. One pass each, whatever the text holds. */

struct box {
    size_t start, end; /* of the whole \boxed{...} in the section */
    struct span content;
};
struct box_list {
    struct box *box;
    size_t n;
};

/* All balanced, non-empty \boxed{..} and \fbox{..}, in order of position; of nested ones the outermost. */
void extract_boxes(struct box_list *out, struct span section, struct arena *a);

/* What the last "final answer ... is", "answer is" or "answer:" states: a formula in $..$ and the like, or
 * the rest of the line. 0 when there is none. */
int extract_declared(struct span *out, struct span section);

/* Content of the last $..$, $$..$$, \(..\) or \[..\]; 0 when there is none. */
int extract_formula(struct span *out, struct span section);

/* The last line that is not blank, trimmed; 0 when there is none. */
int extract_last_line(struct span *out, struct span section);

#endif
