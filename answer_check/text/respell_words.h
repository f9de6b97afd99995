#ifndef ANSWER_CHECK_TEXT_RESPELL_WORDS_H
#define ANSWER_CHECK_TEXT_RESPELL_WORDS_H

#include "answer_check/text/span.h"
#include "evalcore/base/arena.h"

/* A part of respell(), for answer_check/text only. Returns a short answer that says in words or signs what
 * the grammar of formulas writes otherwise, "5 choose 2" or "half past seven", as a formula in the arena;
 * else the text itself. */
struct span respell_words(struct arena *a, struct span s);

#endif
