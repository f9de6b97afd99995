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

/* Return row i of the table of forms, NULL past the end; and the row of exactly this name, NULL if there is
 * none. */
const struct chat *chat_at(size_t i);
const struct chat *chat_find(const char *name);
/* Returns the form guessed from the special tokens of a tokenizer, NULL if none fits: the first row of the
 * table that lacks no token and is not is_unguessed. Several forms have the same tokens. */
const struct chat *chat_guess(const struct tokenizer *t);
/* Returns 1 when the form has a "<...>" that is no added token of the tokenizer, and copies the first one to
 * `missing`; else 0, and `missing` has no meaning. */
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
/* Opens the template of a folder. folder or t NULL, or a folder without a template, leaves `template` NULL
 * and `problem` empty; `guess` is set whenever t is given. Keeps a pointer to o: it must not move. The caller
 * releases it, after an error too. Returns 0, or ERR_IO or ERR_FORMAT for a file that cannot be read or is no
 * JSON object. */
int chat_own_open(struct chat_own *o, const char *folder, const struct tokenizer *t, struct err *e);
void chat_own_release(struct chat_own *o);
/* Sets *out to the form that "auto" means for this model, which o or the table owns: the model's own
 * template, for the embedded model its form, else NULL for none. Returns 0, or ERR_UNSUPPORTED, with advice,
 * if the folder has a template that cannot be used. */
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

/* Appends the prompt as text to out. guard receives the range of the user text in out, which is shorter than
 * the text if a template trims it. Returns 0, ERR_USAGE for a setting that the form lacks (a system message,
 * thinking on or off), or the error of jinja_render() for a model's own template; then nothing is appended.
 */
int chat_render(const struct chat *c, const struct chat_words *w, const char *user, size_t n_user,
                struct str *out, size_t guard[2], struct err *e);
/* The same with n_turns earlier turns before the user text. turns: role, text, role, text, ...
 * ERR_UNSUPPORTED for a form that is not a model's own template, unless n_turns is 0; ERR_USAGE for too many
 * turns. */
int chat_render_turns(const struct chat *c, const struct chat_words *w, const char *const *turns,
                      size_t n_turns, const char *user, size_t n_user, struct str *out, size_t guard[2],
                      struct err *e);
/* Renders the prompt and appends its ids, encoded as one text. Returns 0; ERR_USAGE for a token of the form
 * that the tokenizer lacks, which it names, or a special token in the system message or the answer prefix; or
 * an error of chat_render() or tokenizer_encode(). c NULL means no form: the text is prefix, user text,
 * suffix and answer prefix, with the tokens that the tokenizer puts around a text. */
int chat_encode(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                const struct chat_words *w, const char *user, size_t n_user, struct token_list *out,
                struct err *e);
/* The same with n_turns earlier turns, as chat_render_turns() has them; a special token in one of them is
 * refused as in the system message. */
int chat_encode_turns(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                      const struct chat_words *w, const char *const *turns, size_t n_turns, const char *user,
                      size_t n_user, struct token_list *out, struct err *e);
/* Appends the ids of a prompt that is rendered already: recognises its special tokens, and adds the tokens
 * that the tokenizer puts in front of a text (begin of sentence) unless the text has them. Returns 0 or an
 * error of tokenizer_encode(), and then appends nothing. */
int chat_encode_rendered(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                         struct token_list *out, struct err *e);
/* Returns 1 if the prompt ends inside thinking (evalcore/base/thinking_marks.h), else 0, also if it cannot be
 * rendered. A mark in the user's turn does not count; without a form (c NULL) the suffix is the end of the
 * prompt. */
int chat_opens_thinking(const struct chat *c, const struct chat_words *w);

#endif
