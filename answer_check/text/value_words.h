#ifndef ANSWER_CHECK_TEXT_VALUE_WORDS_H
#define ANSWER_CHECK_TEXT_VALUE_WORDS_H

#include "answer_check/text/span.h"

/* Words beside a number that make it another value, or no statement of it: "at least 5", "not 5", "5 dozen",
 * "5 squared". They are no units and may not be left out. All functions return 1 or 0. */

/* Is it such a word when it stands behind a number? Case does not count. */
int value_word_behind(struct span word);
/* Do the words behind a number make a bound of it, in Chinese, Japanese, Korean and others: "5 ways or
 * fewer"? */
int value_word_bounds(struct span words);
/* Does such a bound stand behind a number in the text? */
int value_is_bounded(struct span text);
/* Is the number or formula at `part`, which points into `text`, qualified by the words around it? Words that
 * only lead up to it ("equal to", "of the") are looked past. */
int value_is_qualified(struct span text, struct span part);

#endif
