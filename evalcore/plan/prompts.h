#ifndef EVALCORE_PLAN_PROMPTS_H
#define EVALCORE_PLAN_PROMPTS_H

#include "engine/engine.h"
#include "evalcore/runfile/settings.h"
#include "tasks/task.h"

/* The problems of one task as token ids, under one chat form: cells that ask for the same share it. */
struct prompt_row {
    size_t first; /* into ids */
    int n;
    char sha256[65];
};
struct prompt_set {
    struct task task;
    size_t n_original;       /* problems of the task before --limit and --sample-ids */
    const char *label;       /* of the task entry */
    const struct chat *chat; /* effective; NULL: none */
    int32_t end_token;       /* of the chat form, or -1 */
    struct prompt_row *rows; /* (task.n_problems) */
    struct token_list ids;
    const char *file; /* name inside the run folder */
};

/* The chat form that `chat` ("auto", "none" or a name) means for a model whose own is `own` (NULL: none);
 * *out NULL: none. */
int prompts_chat(const struct chat **out, const struct chat *own, const char *chat, struct err *e);

/* Fills rows and ids of s, whose task, chat and end_token are set. t may be NULL: an error. A prompt that
 * leaves no room for a completion is an error that names it, unless its task lets the middle be cut out. */
int prompts_render(struct prompt_set *s, const struct tokenizer *t, const struct engine_info *info,
                   const struct settings *settings, struct err *e);
void prompts_release(struct prompt_set *s);

#endif
