#ifndef ENGINE_TEXT_CHAT_H
#define ENGINE_TEXT_CHAT_H

#include "engine/text/tokenizer.h"
#include "evalcore/base/str.h"

/* The second door of engine/text (tokenizer.h says what the room is for). A chat form turns a user text into
 * a prompt for one model family: a row of the table in chat_forms.c, or the chat template in a model's
 * folder. Special tokens are recognised in the form, the prefix and the suffix, but never in the user text,
 * so a problem cannot forge a turn; a system message or an answer prefix with a special token is refused. */
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
    const struct chat_own *own; /* the template that this form stands for; NULL for a row of the table */
};

/* Row i of the table of forms, NULL past the end; and the row of a name, or NULL. */
const struct chat *chat_at(size_t i);
const struct chat *chat_find(const char *name);
/* Guesses the form from the special tokens of a tokenizer; NULL if none fits. Several forms have the same
 * tokens. */
const struct chat *chat_guess(const struct tokenizer *t);
/* 1 when the form has a "<...>" that is no added token of the tokenizer; the first one is copied to
 * `missing`. */
int chat_lacks_tokens(const struct chat *c, const struct tokenizer *t, struct str *missing);

/* The chat template of a model's folder: chat_template.jinja, else "chat_template" of tokenizer_config.json
 * (a text, or the entry "default" of a list), with that file's special tokens. A template that cannot be
 * used is no error here but a `problem`. */
struct chat_own {
    struct chat form;                /* usable when `template` is set */
    struct jinja_template *template; /* NULL: none */
    struct str problem;              /* why there is none though the folder has one; else empty */
    const struct chat *guess;        /* chat_guess() of the tokenizer */
    char *token[8];                  /* texts of the special tokens, in the order of tokenizer_token_names */
};
/* folder NULL, or a folder without a template, gives an empty struct. Keeps a pointer to o: it must not move.
 * The caller releases it. Errors: files that cannot be read. */
int chat_own_open(struct chat_own *o, const char *folder, const struct tokenizer *t, struct err *e);
void chat_own_release(struct chat_own *o);
/* The form that "auto" means for this model; *out is NULL for none. ERR_UNSUPPORTED, with advice, if the
 * folder has a template that cannot be used. */
int chat_own_form(const struct chat_own *o, const struct chat **out, struct err *e);
/* Writes a notice to out if "auto" means no form although the tokens look like one, and returns its text;
 * else NULL. */
const char *chat_own_notice(const struct chat_own *o, struct str *out);

enum chat_thinking { CHAT_THINKING_AUTO, CHAT_THINKING_ON, CHAT_THINKING_OFF };
struct chat_words {              /* NULL: none */
    const char *prefix, *suffix; /* around the user text, in its message */
    const char *system;          /* a system message; NULL: the form's own default */
    enum chat_thinking thinking;
    const char *answer_prefix; /* the model's turn begins with it, and the completion goes on from there */
};

/* Appends the prompt as text to out. guard receives the range of the user text, which is shorter than the
 * text if a template trims it. ERR_USAGE for a setting that the form lacks (a system message, thinking on or
 * off). */
int chat_render(const struct chat *c, const struct chat_words *w, const char *user, size_t n_user,
                struct str *out, size_t guard[2], struct err *e);
/* The same with n_turns earlier turns before the user text, for a model's own template only. turns: role,
 * text, role, text, ... */
int chat_render_turns(const struct chat *c, const struct chat_words *w, const char *const *turns,
                      size_t n_turns, const char *user, size_t n_user, struct str *out, size_t guard[2],
                      struct err *e);
/* Renders the prompt and appends its ids, encoded as one text. ERR_USAGE names a token of the form that the
 * tokenizer lacks. c NULL means no form: the text is prefix, user text, suffix and answer prefix, with the
 * tokens that the tokenizer puts around a text. */
int chat_encode(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                const struct chat_words *w, const char *user, size_t n_user, struct token_list *out,
                struct err *e);
/* Appends the ids of a prompt that is rendered already: recognises its special tokens, and adds the tokens
 * that the tokenizer puts in front of a text (begin of sentence) unless the text has them. */
int chat_encode_rendered(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                         struct token_list *out, struct err *e);
/* 1 if the prompt ends inside <think>. A <think> in the user's turn does not count; without a form (c NULL)
 * the suffix is the end of the prompt. */
int chat_opens_thinking(const struct chat *c, const struct chat_words *w);

#endif
