#ifndef ANSWER_CHECK_TEXT_RESPELL_H
#define ANSWER_CHECK_TEXT_RESPELL_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* Returns the text with writings that the grammar of formulas does not know put into ones that it knows:
 * dates ("14th of March" as "March 14"), 10C3, 4+i4, a number such as 1.6e-19 before its unit, the sign of
 * cents, "no solution" in other languages, \operatorname{Re}, and what respell_words.h names. The text
 * itself, trimmed, where it holds none of them; else a copy in the arena. A door of answer_check/text. */
struct span respell(struct arena *a, struct span s);

#endif
