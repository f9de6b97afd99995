#ifndef ENGINE_TEXT_CHAT_TEMPLATE_H
#define ENGINE_TEXT_CHAT_TEMPLATE_H

#include "engine/text/chat.h"

/* For chat.c: a prompt by a model's own template, with the variables that Transformers' apply_chat_template
 * gives it. turns: roles and texts in turn, n_turns of each, between the system message and the user's. */
int chat_template_render(const struct chat_own *o, const struct chat_words *w, const char *const *turns,
                         size_t n_turns, const char *user, size_t n_user, struct str *out, size_t guard[2],
                         struct err *e);

#endif
