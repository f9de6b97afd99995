#ifndef ANSWER_CHECK_MATH_MATH_READ_H
#define ANSWER_CHECK_MATH_MATH_READ_H

#include "answer_check/tree/math_tree.h"

/* From text to tree: the door of answer_check/math, for equal and strict. */

/* Reads the whole text as one expression, in LaTeX or plain text, and returns NULL when it is none: words
 * are read as MATH_TEXT only when they are few and short, and a formula that cannot be read as a whole is
 * NULL, never a part of it. $..$, \(..\) and \[..\] around the whole are dropped, and \boxed{..} means its
 * content. Invalid UTF-8 and NULs make a text unreadable. The tree points into `text`. */
const struct math_node *math_read(struct math_work *w, struct span text);

/* Is the whole text one mathematical expression ("42", "x + 1", "3\text{ cm}"), rather than words? */
int math_is_value(struct math_work *w, struct span text);
int math_is_mathematical(const struct math_node *m); /* the same of a text's tree; 0 for NULL */

#endif
