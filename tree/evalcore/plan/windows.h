#ifndef EVALCORE_PLAN_WINDOWS_H
#define EVALCORE_PLAN_WINDOWS_H

#include "evalcore/plan/prompts.h"

/* The problems of a text (task_is_text(), tasks/task.h): windows of `window` tokens, one after the other.
 * Each begins with the tokens that the tokenizer puts in front of a text (begin of sentence), which count as
 * part of the window, and goes on where the one before ended. Its first `prompt_tokens` tokens are the
 * prompt, and the others are given to the model one by one and scored. Tokens at the end of the text that
 * fill no window are left out. */

/* Replaces the task's one problem, the whole text, by its windows, whose ids go into s->ids. Returns 0;
 * ERR_USAGE when t is NULL, a window does not fit the model's context, its prompt has no room for the tokens
 * in front, or the text is too short; or an error of the tokenizer. The task keeps its one problem after an
 * error. A tokenizer that cannot spell all of the text is warned of. */
int windows_cut(struct prompt_set *s, const struct tokenizer *t, const struct engine_info *info,
                struct err *e);

/* Makes s->rows for the problems that are left of these (sample_ids_filter()). */
void windows_rows(struct prompt_set *s);

/* The settings that decode a text: those of the run file with everything at its default that has no effect on
 * given tokens, that is all but kv_dtype. *out keeps no pointer into `given`. Returns 1 when something was
 * left out, else 0. */
int windows_settings(struct settings *out, const struct settings *given);

#endif
