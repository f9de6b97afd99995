#ifndef ANSWER_CHECK_TEXT_LATEX_CLEAN_H
#define ANSWER_CHECK_TEXT_LATEX_CLEAN_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* Removes differences of spelling between LaTeX and plain text, in one pass over the bytes. A door of
 * answer_check/text. Texts may hold any bytes; what is not known is kept. Results live in the arena. Nothing
 * fails; questions are answered with 1 or 0. */

/* For parsing: without $, \left, \right, spacing commands and degree signs; boxes unwrapped, \dfrac as
 * \frac, \cdot as *, "{,}" and "and" as a comma, single spaces, no final full stop. \text{..} stays. */
struct span latex_clean(struct arena *a, struct span s);

/* For comparing as text: a cleaned span without its white space (except between two digits: "1 2" is not
 * 12), with \text{..} unwrapped and {x} as x. Letters are folded to lower case when the text consists of
 * words only. */
struct span latex_flatten(struct arena *a, struct span cleaned);

/* Are these letters a word rather than a product? Three letters are ("yes"), and so are the short words
 * that occur as answers ("no"); "xy" is a product. Blanks may stand between the letters. */
int latex_is_word(struct span s);

/* Does the brace at s[0] close at the last byte? */
int latex_is_group(struct span s);

#endif
