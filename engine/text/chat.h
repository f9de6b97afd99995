#ifndef ENGINE_TEXT_CHAT_H
#define ENGINE_TEXT_CHAT_H

#include "engine/text/tokenizer.h"
#include "evalcore/base/str.h"

/* The second door of engine/text (tokenizer.h says what the room is for): chat forms, which turn a user text
 * into a prompt for one model family. A form is a row of the table in chat_forms.c or the chat template that
 * a model's folder holds. Special tokens are recognised in the form, the prefix and the suffix, but never in
 * the user text, so a problem cannot forge a turn; a system message or an answer prefix with a special
 * token is refused. */
struct jinja_template;
struct chat_own;

struct chat {
    const char *name; /* "chatml", "none", ...; "template": a model's own */
    const char *help;
    const char *begin; /* begin of sentence, before everything */
    /* Around a system message; NULL: the form has none. */
    const char *system_before, *system_after;
    const char *default_system; /* when the run gives none; NULL: no message then */
    const char *before;         /* before the user text */
    const char *after;          /* after it, up to where the model continues */
    const char
        *thinking_off; /* what `after` goes on with when thinking is off; NULL: it cannot be switched */
    const char *end;   /* token that ends a turn, besides the model's own end token; NULL: none */
    int is_unguessed;  /* its tokens do not tell it from other forms */
    const struct chat_own *own; /* the template, whose form this is; NULL for a row of the table */
};

const struct chat *chat_at(size_t i);           /* NULL past the end */
const struct chat *chat_find(const char *name); /* NULL: there is none */
/* The form that the special tokens of a tokenizer look like; NULL when none fits. Only a guess: several forms
 * have the same tokens. */
const struct chat *chat_guess(const struct tokenizer *t);

/* The chat template of a model's folder: chat_template.jinja, else "chat_template" of tokenizer_config.json
 * (a text, or the entry "default" of a list), with that file's special tokens. folder NULL, or one without a
 * template, gives an empty one. A template that cannot be used is no error here but a `problem`. */
struct chat_own {
    struct chat form;                /* usable when `template` is set */
    struct jinja_template *template; /* NULL: none */
    struct str problem;              /* why there is none though the folder has one; else empty */
    const struct chat *guess;        /* chat_guess() of the tokenizer */
    char *token[8];                  /* texts of the special tokens, in the order of chat_own.c */
};
int chat_own_open(struct chat_own *o, const char *folder, const struct tokenizer *t, struct err *e);
void chat_own_release(struct chat_own *o);
/* What "auto" means for this model; *out NULL: no form. ERR_UNSUPPORTED, with the way out, when the folder
 * has a template that cannot be used. */
int chat_own_form(const struct chat_own *o, const struct chat **out, struct err *e);
/* A sentence for the person where "auto" means no form although the tokens look like one; NULL: none. */
const char *chat_own_notice(const struct chat_own *o, struct str *out);

enum chat_thinking { CHAT_THINKING_AUTO, CHAT_THINKING_ON, CHAT_THINKING_OFF };
struct chat_words {              /* NULL: none */
    const char *prefix, *suffix; /* around the user text, in its message */
    const char *system;          /* a system message; NULL: the form's own default */
    enum chat_thinking thinking;
    const char *answer_prefix; /* the model's turn begins with it, and the completion goes on from there */
};

/* Appends the prompt as text; guard receives the range of the user text, which may be less than all of it
 * where a template trims. What the form cannot honour (a system message, thinking on or off) is ERR_USAGE. */
int chat_render(const struct chat *c, const struct chat_words *w, const char *user, size_t n_user,
                struct str *out, size_t guard[2], struct err *e);
/* The same with earlier turns before the user text, for a model's own template only: roles and texts in
 * turn. */
int chat_render_turns(const struct chat *c, const struct chat_words *w, const char *const *turns,
                      size_t n_turns, const char *user, size_t n_user, struct str *out, size_t guard[2],
                      struct err *e);
/* Appends its ids, encoded as one text. A token of a form that the tokenizer lacks is an error that names
 * it. c NULL: no form, so the text is prefix, user text, suffix and answer prefix, with the tokens around it
 * that the tokenizer asks for. */
int chat_encode(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                const struct chat_words *w, const char *user, size_t n_user, struct token_list *out,
                struct err *e);
/* Appends the ids of a prompt that is rendered already: its special tokens are recognised, and the tokens
 * that the tokenizer puts in front of a text (begin of sentence) stand there once, also when the text has
 * them. */
int chat_encode_rendered(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                         struct token_list *out, struct err *e);
/* 1 when the prompt ends inside <think>. What the user's turn says of <think> opens nothing; without a form
 * (c NULL) the suffix is the end of the prompt. */
int chat_opens_thinking(const struct chat *c, const struct chat_words *w);

#endif
