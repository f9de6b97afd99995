#ifndef EVALCORE_PLAN_OPTION_PROMPTS_H
#define EVALCORE_PLAN_OPTION_PROMPTS_H

#include "evalcore/plan/prompts.h"

/* The problems of a task that scores options, as token ids, like lm-evaluation-harness 0.4 makes them: white
 * space at the end of a context moves to its option; context and option are encoded together, and the
 * option's tokens are those behind as many as the context has alone. No chat form and no token of the
 * tokenizer's own, begin of sentence, is added, but for models of the Gemma families, which need it. */

/* Fills rows, options and ids of s, which is r's. Returns 0, or the first error, which names the problem and
 * the option, and the caller releases s: ERR_USAGE when the model has no tokenizer, a context has no token,
 * an option has none behind its context, or both together are longer than the model's context; or an error of
 * the tokenizer. */
int option_prompts_render(struct prompt_set *s, struct prompt_renderer *r, struct err *e);

#endif
