#ifndef ANSWER_CHECK_READ_MATH_READ_H
#define ANSWER_CHECK_READ_MATH_READ_H

#include "answer_check/tree/math_tree.h"

/* The door of answer_check/read, for equal and strict: from text to tree. A text is cut into tokens (lex*.c),
 * its brackets are paired (lex_match.c), and a recursive descent reads it (read_*.c), once for every meaning
 * that the writing may have. */

/* Reads the whole text as one expression, in LaTeX or plain text. Returns NULL when it is none, or when no
 * steps are left. Words are read as MATH_TEXT only when they are few and short, and a formula that cannot be
 * read as a whole is NULL, never a part of it. Drops $..$, \(..\) and \[..\] around the whole; \boxed{..}
 * means its content. Invalid UTF-8 and NULs make a text unreadable. The tree lives in w's arena; its sources
 * lie in `text`, or in the copy that respell() made of it in the arena. */
const struct math_node *math_read(struct math_work *w, struct span text);
/* The same for a text that respell() made. */
const struct math_node *math_read_respelled(struct math_work *w, struct span text);

/* Is the whole text one mathematical expression ("42", "x + 1", "3\text{ cm}"), rather than words? 1 or 0; 0
 * also when it cannot be read. */
int math_is_value(struct math_work *w, struct span text);
/* The same for the tree that a text was read as; 0 for NULL. */
int math_is_mathematical(const struct math_node *m);

/* 12 for "twelve", the words from "zero" to "thousand" that are one word; -1 for any other word. ASCII case
 * is ignored. */
int math_word_number(struct span word);
int math_word_scale(struct span word); /* 6 for "million", a power of ten; 0 for other words */

#endif
