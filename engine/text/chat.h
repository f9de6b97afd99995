#ifndef ENGINE_TEXT_CHAT_H
#define ENGINE_TEXT_CHAT_H

#include "engine/text/tokenizer.h"
#include "evalcore/base/str.h"

/* The second door of engine/text (tokenizer.h says what the room is for): chat forms, which turn a user text
 * into a prompt for one model family. To add one, add a row to the table in chat.c. Special tokens are
 * recognised in the form, the prefix and the suffix, but never in the user text, so a problem cannot forge a
 * turn. */
struct chat {
    const char *name; /* "r1-distill", "qwen3", "llama3", "pocket", "none" */
    const char *help;
    const char *before; /* text with special tokens, before the user text (begin-of-sentence included) */
    const char *after;  /* after it, up to where the model continues */
    int opens_thinking; /* `after` ends inside <think> */
    const char *end;    /* token that ends a turn, besides the model's own end token; NULL: none */
};

const struct chat *chat_at(size_t i);           /* NULL past the end */
const struct chat *chat_find(const char *name); /* NULL: there is none */
/* The form for a model folder: by the special tokens its tokenizer has; NULL when none fits. */
const struct chat *chat_guess(const struct tokenizer *t);

/* Appends the ids of: before + prefix + user + suffix + after, encoded as one text. prefix and suffix may be
 * NULL. A token of the form that the tokenizer lacks is an error that names it. */
int chat_encode(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                const char *prefix, const char *user, size_t n_user, const char *suffix,
                struct token_list *out, struct err *e);

#endif
