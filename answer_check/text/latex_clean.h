#ifndef ANSWER_CHECK_TEXT_LATEX_CLEAN_H
#define ANSWER_CHECK_TEXT_LATEX_CLEAN_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* Spelling differences of LaTeX and plain text, removed in one pass over the bytes. */

/* For the parser: no $, \left, \right, spacing commands or degree signs, boxes unwrapped, \dfrac as \frac,
 * \cdot as *, "{,}" and "and" as a comma, single spaces, no final full stop. \text{..} stays. */
struct span latex_clean(struct arena *a, struct span s);

/* For comparison as text: a cleaned span further without white space (but between two digits: "1 2" is not
 * 12), with \text{..} unwrapped, {x} as x. Letters are folded to lower case when nothing but words is there.
 */
struct span latex_flatten(struct arena *a, struct span cleaned);

/* Are these letters a word rather than a product? Three letters are ("yes"), and the short words that answers
 * consist of ("no"); "xy" is a product. Blanks may stand between. */
int latex_is_word(struct span s);

/* Does the brace at s[0] close at the last byte? */
int latex_is_group(struct span s);

#endif
