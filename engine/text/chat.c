/* Chat forms as text. The whole prompt is rendered first and then encoded at once, with the user text as the
 * guarded range. So the ids are those that a template in the model's own files gives, even where line breaks
 * merge across the borders of the user text. */
#include "engine/text/chat.h"

#include <string.h>

#include "engine/text/chat_template.h"

/* 1 when the text has a "<...>" that is no added token of the tokenizer; the first one is copied to
 * `missing`. */
static int lacks_token(const struct tokenizer *t, const char *text, struct str *missing)
{
    const char *end;
    for (; text && (text = strchr(text, '<')) && (end = strchr(text, '>')); text = end) {
        str_clear(missing);
        str_add(missing, text, (size_t)(end + 1 - text));
        if (tokenizer_find_added(t, missing->data) < 0)
            return 1;
    }
    return 0;
}

static int lacks_tokens(const struct chat *c, const struct tokenizer *t, struct str *missing)
{
    return lacks_token(t, c->begin, missing) || lacks_token(t, c->before, missing) ||
           lacks_token(t, c->after, missing) || lacks_token(t, c->end, missing);
}

const struct chat *chat_guess(const struct tokenizer *t)
{
    const struct chat *found = NULL;
    struct str missing = {0};
    for (size_t i = 0; !found && chat_at(i); i++)
        if (!chat_at(i)->is_unguessed && !lacks_tokens(chat_at(i), t, &missing))
            found = chat_at(i);
    str_release(&missing);
    return found;
}

static int check_words(const struct chat *c, const struct chat_words *w, struct err *e)
{
    if (w->system && !c->system_before)
        return err_set(e, ERR_USAGE,
                       "the chat form %s has no place for a system message; leave \"system\" out or choose "
                       "another form",
                       c->name);
    if (w->thinking != CHAT_THINKING_AUTO && !c->thinking_off)
        return err_set(e, ERR_USAGE,
                       "the chat form %s cannot switch thinking on or off; leave \"thinking\" out or choose "
                       "another form",
                       c->name);
    return 0;
}

/* Up to where the model continues. */
static int render_form(const struct chat *c, const struct chat_words *w, const char *user, size_t n_user,
                       struct str *out, size_t guard[2], struct err *e)
{
    if (check_words(c, w, e))
        return e->code;
    const char *system = w->system ? w->system : c->default_system;
    /* In a form whose system message opens the user's turn, the turn's own beginning is written once. */
    int is_inside = system && *c->system_before && !strcmp(c->system_before, c->before);
    str_puts(out, c->begin);
    if (system) {
        str_puts(out, c->system_before);
        str_puts(out, system);
        str_puts(out, c->system_after);
    }
    str_puts(out, is_inside ? "" : c->before);
    str_puts(out, w->prefix ? w->prefix : "");
    guard[0] = out->len;
    str_add(out, user, n_user);
    guard[1] = out->len;
    str_puts(out, w->suffix ? w->suffix : "");
    str_puts(out, c->after);
    str_puts(out, w->thinking == CHAT_THINKING_OFF ? c->thinking_off : "");
    return 0;
}

int chat_render_turns(const struct chat *c, const struct chat_words *w, const char *const *turns,
                      size_t n_turns, const char *user, size_t n_user, struct str *out, size_t guard[2],
                      struct err *e)
{
    if (n_turns && !c->own)
        return err_set(e, ERR_UNSUPPORTED,
                       "the chat form %s holds one user turn; several need the model's own template",
                       c->name);
    int rc = c->own ? chat_template_render(c->own, w, turns, n_turns, user, n_user, out, guard, e)
                    : render_form(c, w, user, n_user, out, guard, e);
    if (!rc)
        str_puts(out, w->answer_prefix ? w->answer_prefix : "");
    return rc;
}

int chat_render(const struct chat *c, const struct chat_words *w, const char *user, size_t n_user,
                struct str *out, size_t guard[2], struct err *e)
{
    return chat_render_turns(c, w, NULL, 0, user, n_user, out, guard, e);
}

/* A system message or an answer prefix may come from anywhere, and a second guarded range there is not: a
 * special token in it is refused. NULL is fine. */
static int check_plain(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text,
                       const char *what, struct err *e)
{
    struct token_list plain = {0}, special = {0};
    size_t n = text ? strlen(text) : 0;
    int rc = n ? tokenizer_encode(t, s, text, n, 0, &plain, e) : 0;
    if (!rc && n)
        rc = tokenizer_encode(t, s, text, n, 1, &special, e);
    if (!rc &&
        (plain.n != special.n || (plain.n && memcmp(plain.id, special.id, plain.n * sizeof *plain.id))))
        rc = err_set(e, ERR_USAGE, "%s holds a special token of the model; take it out", what);
    token_list_release(&plain);
    token_list_release(&special);
    return rc;
}

int chat_encode(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                const struct chat_words *w, const char *user, size_t n_user, struct token_list *out,
                struct err *e)
{
    struct str text = {0};
    size_t guard[2];
    int rc = 0, is_plain = !c;
    if (is_plain)
        c = chat_find("none");
    if (!c->own && lacks_tokens(c, t, &text))
        rc = err_set(e, ERR_USAGE,
                     "the chat form %s needs the token %s, which this model's tokenizer.json does not have; "
                     "choose another form, or none",
                     c->name, text.data);
    str_clear(&text);
    if (!rc)
        rc = check_plain(t, s, w->system, "the system message", e);
    if (!rc)
        rc = check_plain(t, s, w->answer_prefix, "the answer prefix", e);
    if (!rc)
        rc = chat_render(c, w, user, n_user, &text, guard, e);
    if (!rc)
        rc = (is_plain ? tokenizer_encode_plain : tokenizer_encode_guarded)(t, s, str_text(&text), text.len,
                                                                            guard[0], guard[1], out, e);
    str_release(&text);
    return rc;
}

int chat_opens_thinking(const struct chat *c, const struct chat_words *w)
{
    struct str user = {0}, text = {0};
    struct err e = {0};
    struct chat_words words = *w;
    size_t guard[2];
    int opens = 0;
    str_puts(&user, "x");
    if (c) { /* then the suffix lies in the user's turn, and only what follows that is searched */
        str_puts(&user, w->suffix ? w->suffix : "");
        words.suffix = NULL;
    }
    if (!chat_render(c ? c : chat_find("none"), &words, user.data, user.len, &text, guard, &e) &&
        guard[1] <= text.len) {
        for (const char *at = str_text(&text) + guard[1]; (at = strchr(at, '<')); at++)
            if (!strncmp(at, "<think>", 7))
                opens = 1;
            else if (!strncmp(at, "</think>", 8))
                opens = 0;
    }
    str_release(&user);
    str_release(&text);
    return opens;
}

int chat_encode_rendered(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                         struct token_list *out, struct err *e)
{
    const int32_t *before;
    size_t n_before = tokenizer_before(t, &before);
    const struct chat *form = n_before ? NULL : chat_guess(t);
    struct token_list begin = {0}, ids = {0};
    /* The embedded model's tokenizer puts nothing in front, but all its prompts begin with this token. */
    int rc = form && !strcmp(form->name, "pocket")
                 ? tokenizer_encode(t, s, form->begin, strlen(form->begin), 1, &begin, e)
                 : 0;
    for (size_t i = 0; i < n_before; i++)
        token_list_add(&begin, before[i]);
    if (!rc)
        rc = tokenizer_encode(t, s, text, n, 1, &ids, e);
    int is_there = begin.n <= ids.n && (!begin.n || !memcmp(ids.id, begin.id, begin.n * sizeof *ids.id));
    for (size_t i = 0; i < begin.n && !rc && !is_there; i++)
        token_list_add(out, begin.id[i]);
    for (size_t i = 0; i < ids.n && !rc; i++)
        token_list_add(out, ids.id[i]);
    token_list_release(&begin);
    token_list_release(&ids);
    return rc;
}
