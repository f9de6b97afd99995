#ifndef ENGINE_TEXT_JINJA_JINJA_H
#define ENGINE_TEXT_JINJA_JINJA_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* The room of chat templates. It evaluates the part of the Jinja language that the chat templates of
 * published models use, with the settings of Hugging Face's Transformers (trim_blocks, lstrip_blocks, loop
 * controls, the `generation` block). engine/text includes it.
 *
 * A template comes with a downloaded model, so it is untrusted: it reaches nothing but its input, and steps,
 * depth, memory and output are bounded. A construct outside the supported part is an error
 * that names it and the line; it never renders something else. It is an error only when it is reached:
 * templates hold branches for tools that a prompt without tools does not take. */
struct jinja_template;

/* Reads a template of at most 1 MiB. `what` names it in messages. The text is copied. Returns 0 and *out,
 * which the caller closes; or, with *out NULL, ERR_FORMAT for what is no Jinja, or ERR_UNSUPPORTED for tags
 * that are not supported or a template that is too long or nested too deeply. */
int jinja_open(struct jinja_template **out, const char *text, size_t n, const char *what, struct err *e);
void jinja_close(struct jinja_template *t); /* accepts NULL */
/* Returns 1 when an expression of the template reads a variable of that name, else 0. */
int jinja_reads(const struct jinja_template *t, const char *name);

struct jinja_message {
    const char *role, *text; /* text: n bytes of UTF-8 */
    size_t n;
    size_t from, to; /* text[from..to) is foreign: a user's text, not the template's; equal: none is */
};
enum jinja_kind { JINJA_NONE, JINJA_BOOL, JINJA_TEXT };
struct jinja_var {
    const char *name;
    enum jinja_kind kind;
    int flag;         /* JINJA_BOOL */
    const char *text; /* JINJA_TEXT */
};
struct jinja_input {
    const struct jinja_message *messages; /* the variable `messages`: mappings with role and content */
    size_t n_messages;
    const struct jinja_var *vars; /* further variables; all others are undefined */
    size_t n_vars;
};

/* Appends the rendered text to out. guard receives the range of out that holds the foreign bytes, equal
 * offsets if there are none. Returns 0. ERR_UNSUPPORTED: the template scatters foreign bytes over several
 * places, so they could not be told from its own, or uses an unsupported construct or too many steps or too
 * much memory. ERR_FORMAT: an operation that Jinja refuses too. ERR_USAGE: the template raised an exception,
 * with its message. On an error nothing is appended. Any number of threads may render one template. */
int jinja_render(const struct jinja_template *t, const struct jinja_input *in, struct str *out,
                 size_t guard[2], struct err *e);

#endif
