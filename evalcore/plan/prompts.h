#ifndef EVALCORE_PLAN_PROMPTS_H
#define EVALCORE_PLAN_PROMPTS_H

#include "engine/engine.h"
#include "evalcore/runfile/settings.h"
#include "tasks/task.h"

/* The problems of one task as token ids under one chat form. Cells that ask for the same share one set. */
struct prompt_row {
    size_t first;      /* into ids */
    int n;             /* of the prompt; the tokens of a text that are scored follow it in ids */
    char sha256[65];   /* of the ids, with those that are scored, and how they are */
    int32_t end_token; /* the last token of the problem's own `stop`, -1: it has none */
};
/* An option of a problem: the tokens of its context, and its own, which are scored. */
struct prompt_option {
    size_t context, given; /* into ids; options with one context share its tokens */
    int n_context, n_given;
};
struct prompt_set {
    struct task task;
    size_t n_original;           /* problems of the task before --limit and --sample-ids */
    const char *label;           /* of the task entry */
    struct task_set_facts facts; /* of the problems that are asked, beside the published set of their name */
    const char *known;           /* the same for people; "" or NULL: no set is known by that name */
    const struct chat *chat;     /* effective; NULL: none */
    int32_t end_token;           /* of the chat form, or -1 */
    int opens_thinking;          /* a prompt in this form ends inside thinking */
    int opens_bare;              /* the same for a problem that takes no chat form */
    struct prompt_row *rows;     /* (task.n_problems) */
    struct prompt_option *options; /* of a task that scores options: (problems, ENGINE_OPTIONS_MAX) */
    struct token_list ids;
    const char *file; /* name inside the run folder */
};

/* Finds the chat form that `chat` asks for: "auto" is the model's own, "none" is none, and anything else is a
 * form's name. *out is borrowed; NULL: no chat form. Returns 0, ERR_USAGE when there is no form of that name,
 * or ERR_UNSUPPORTED when the model's own cannot be used. */
int prompts_chat(const struct chat **out, const struct chat_own *own, const char *chat, struct err *e);
/* Fills *out with what the settings put around a user text in its chat form (NULL: none); texts are borrowed.
 * Returns 0, or ERR_USAGE for a system message, or thinking on or off, without a chat form. */
int prompts_words(struct chat_words *out, const struct chat *chat, const struct settings *s, struct err *e);
/* The same for values as they stand on a command line: system NULL for none, thinking "auto", "on" or "off";
 * another word is an error, too.
 */
int prompts_words_said(struct chat_words *out, const struct chat *chat, const char *system,
                       const char *thinking, struct err *e);

/* Turns the problems of one set into ids. It borrows everything but its scratch. */
struct prompt_renderer {
    const struct prompt_set *set;      /* its label and chat are set */
    const struct tokenizer *tokenizer; /* NULL: the model has none, which is an error at the first prompt */
    const struct engine_info *info;
    const struct settings *settings;
    struct tokenizer_scratch scratch;
};
/* Returns 0, or ERR_USAGE when the model has no tokenizer. */
int prompts_has_tokenizer(const struct prompt_renderer *r, struct err *e);
/* Frees its scratch; it may be zeroed. */
void prompts_renderer_release(struct prompt_renderer *r);

/* For the tasks that make problems to a length: counts the tokens of the prompts that r renders. Its count()
 * returns the number, or an ERR_ code (ERR_USAGE when the model has no tokenizer). r is borrowed as long as
 * the counter is used. */
struct task_counter prompts_counter(struct prompt_renderer *r);

/* Fills rows and ids of s, whose task, chat and end_token are set and which is r's. Returns 0, or the first
 * error, which names the problem, and the caller releases s: ERR_USAGE when the model has no tokenizer, or
 * when a prompt leaves no room for a completion and its task does not let the middle be cut out, or when a
 * setting has no place in it; ERR_UNSUPPORTED when the tokenizer cannot spell a problem's stop string; or an
 * error of the tokenizer. */
int prompts_render(struct prompt_set *s, struct prompt_renderer *r, struct err *e);
/* A prompt as the model gets it, as text: its ids decoded, special tokens spelled. own: where the task's own
 * text stands in it; what surrounds that was added by chat form, prefix, suffix, answer prefix and tokenizer.
 * Of a user text whose middle was cut out, what is left of it. */
struct prompt_text {
    struct str text;
    size_t own[2];
};
/* Appends the text of row i of a rendered set to *out, which is empty; settings: those it was rendered with.
 * Where the parts cannot be told apart, as a normalizer may cause, the whole is taken for the task's own. */
void prompts_text(struct prompt_text *out, const struct prompt_set *s, size_t i, const struct tokenizer *t,
                  const struct settings *settings);
/* Frees what s owns, its task included, and zeroes it. */
void prompts_release(struct prompt_set *s);

#endif
