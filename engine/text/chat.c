/* Prompts by a named chat form (chat_forms.c) or by the chat template in a model's folder. The whole prompt
 * is rendered first and then encoded at once, with the user text as the guarded range. So the ids are those
 * that a template in the model's own files gives, even where line breaks merge across the borders of the user
 * text. */
#include "engine/text/chat.h"

#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja.h"
#include "engine/text/tokenizer_parts.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/thinking_marks.h"

/* ---- the chat template of a model's folder: where Transformers looks for it, and the variables that its
 * apply_chat_template() gives one. Newer versions of Transformers save a template as a file of its own, which
 * wins. */

enum { TURNS_MAX = 62 };

/* The variables by which templates switch thinking: Qwen3, GLM and SmolLM3 use the first, DeepSeek-V3.1 and
 * Granite the second. */
static const char *const thinking_names[] = {"enable_thinking", "thinking", NULL};

static int render_messages(const struct chat_own *o, enum chat_thinking thinking,
                           const struct jinja_message *messages, size_t n_messages, struct str *out,
                           size_t guard[2], struct err *e)
{
    struct jinja_var vars[16] = {{.name = "tools"},
                                 {.name = "documents"},
                                 {.name = "add_generation_prompt", .kind = JINJA_BOOL, .flag = 1}};
    struct jinja_input in = {.messages = messages, .n_messages = n_messages, .vars = vars, .n_vars = 3};
    for (int i = 0; tokenizer_token_names[i]; i++)
        if (o->token[i])
            vars[in.n_vars++] =
                (struct jinja_var){.name = tokenizer_token_names[i], .kind = JINJA_TEXT, .text = o->token[i]};
    for (int i = 0; thinking_names[i] && thinking != CHAT_THINKING_AUTO; i++)
        vars[in.n_vars++] = (struct jinja_var){
            .name = thinking_names[i], .kind = JINJA_BOOL, .flag = thinking == CHAT_THINKING_ON};
    return jinja_render(o->template, &in, out, guard, e);
}

/* "thinking" is honoured when on and off make a difference for a message. */
static int check_thinking(const struct chat_own *o, struct err *e)
{
    struct jinja_message one = {.role = "user", .text = "x", .n = 1};
    struct str on = {0}, off = {0};
    size_t guard[2];
    int rc = render_messages(o, CHAT_THINKING_ON, &one, 1, &on, guard, e);
    if (!rc)
        rc = render_messages(o, CHAT_THINKING_OFF, &one, 1, &off, guard, e);
    if (!rc && !strcmp(str_text(&on), str_text(&off)))
        rc = err_set(e, ERR_USAGE,
                     "the model's chat template does not switch thinking on or off; leave \"thinking\" out");
    str_release(&on);
    str_release(&off);
    return rc;
}

/* A template that drops the system message would drop it silently. */
static int check_system(const char *system, const struct str *out, struct err *e)
{
    size_t skip = strspn(system, " \t\r\n"), n = strlen(system + skip);
    while (n && strchr(" \t\r\n", system[skip + n - 1]))
        n--;
    char *trimmed = xcalloc(n + 1, 1);
    memcpy(trimmed, system + skip, n);
    int is_there = strstr(str_text(out), trimmed) != NULL;
    free(trimmed);
    if (is_there)
        return 0;
    return err_set(e, ERR_USAGE,
                   "the model's chat template leaves the system message out or changes it; leave \"system\" "
                   "out or choose another form");
}

/* A prompt by the template. turns: roles and texts in turn, n_turns of each, between the system message and
 * the user's. */
static int render_template(const struct chat_own *o, const struct chat_words *w, const char *const *turns,
                           size_t n_turns, const char *user, size_t n_user, struct str *out, size_t guard[2],
                           struct err *e)
{
    struct jinja_message messages[TURNS_MAX + 2];
    struct str text = {0}, prompt = {0};
    size_t n = 0;
    int rc = 0;
    if (n_turns > TURNS_MAX)
        return err_set(e, ERR_USAGE, "%zu turns; at most %d are possible", n_turns, TURNS_MAX);
    if (w->system)
        messages[n++] = (struct jinja_message){.role = "system", .text = w->system, .n = strlen(w->system)};
    for (size_t i = 0; i < n_turns; i++)
        messages[n++] = (struct jinja_message){
            .role = turns[2 * i], .text = turns[2 * i + 1], .n = strlen(turns[2 * i + 1])};
    struct jinja_message *last = &messages[n++];
    str_puts(&text, w->prefix ? w->prefix : "");
    size_t from = text.len;
    str_add_utf8(&text, user, n_user);
    size_t to = text.len;
    str_puts(&text, w->suffix ? w->suffix : "");
    *last = (struct jinja_message){
        .role = "user", .text = str_text(&text), .n = text.len, .from = from, .to = to};
    if (w->thinking != CHAT_THINKING_AUTO)
        rc = check_thinking(o, e);
    if (!rc)
        rc = render_messages(o, w->thinking, messages, n, &prompt, guard, e);
    if (!rc && w->system)
        rc = check_system(w->system, &prompt, e);
    if (!rc) {
        guard[0] += out->len;
        guard[1] += out->len;
        str_add(out, str_text(&prompt), prompt.len);
    }
    str_release(&text);
    str_release(&prompt);
    return rc;
}

/* The template's text among the values of a tokenizer_config.json; NULL: none. */
static const char *find_template(struct chat_own *o, const json_t *config)
{
    const json_t *v = json_object_get(config, "chat_template"), *entry;
    if (!v || json_is_null(v) || json_is_string(v))
        return json_string_value(v);
    size_t i;
    json_array_foreach(v, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const char *text = json_string_value(json_object_get(entry, "template"));
        if (name && text && !strcmp(name, "default"))
            return text;
    }
    str_puts(&o->problem, "tokenizer_config.json has a chat_template that is neither a text nor a list with "
                          "an entry \"default\"");
    return NULL;
}

static void read_tokens(struct chat_own *o, const json_t *config)
{
    for (int i = 0; tokenizer_token_names[i]; i++) {
        const char *text = tokenizer_config_token(config, tokenizer_token_names[i]);
        if (text)
            o->token[i] = xstrdup(text);
    }
}

/* A template that reads a token of which neither a file nor a known class says what it is, or one that
 * tokenizer.json lacks, would silently write something else than Transformers does. */
static void check_tokens(struct chat_own *o, const json_t *config, const struct tokenizer *t)
{
    const char *name;
    json_t *v;
    for (int i = 0; !o->problem.len && (name = tokenizer_token_names[i]); i++) {
        const char *text = o->token[i];
        if (!jinja_reads(o->template, name))
            continue;
        if (tokenizer_config_is_unsaid(config, name))
            str_printf(&o->problem,
                       "it reads %s, which tokenizer_config.json does not name; write it there, or null for "
                       "none",
                       name);
        else if (text && *text && tokenizer_find(t, text) < 0)
            str_printf(&o->problem, "it reads %s, by default \"%s\", which is no token of tokenizer.json",
                       name, text);
    }
    json_object_foreach(json_object_get(config, "extra_special_tokens"), name, v)
    {
        if (!o->problem.len && jinja_reads(o->template, name))
            str_printf(&o->problem, "it reads \"%.60s\" of extra_special_tokens, which is not supported",
                       name);
    }
}

static void use_template(struct chat_own *o, const json_t *config, const struct tokenizer *t,
                         const char *text, size_t n, const char *what)
{
    struct jinja_message one = {.role = "user", .text = "x", .n = 1};
    struct str sample = {0};
    struct err e = {0};
    size_t guard[2];
    if (!jinja_open(&o->template, text, n, what, &e)) {
        check_tokens(o, config, t);
        if (!o->problem.len)
            render_messages(o, CHAT_THINKING_AUTO, &one, 1, &sample, guard, &e);
    }
    str_release(&sample);
    if (e.code)
        str_puts(&o->problem, e.text);
    if (o->problem.len) {
        jinja_close(o->template);
        o->template = NULL;
        return;
    }
    o->form = (struct chat){.name = "template", .help = "the model's own", .end = o->token[1], .own = o};
}

int chat_own_open(struct chat_own *o, const char *folder, const struct tokenizer *t, struct err *e)
{
    struct str path = {0}, file = {0};
    json_t *config = NULL;
    int rc = 0;
    memset(o, 0, sizeof *o);
    o->guess = t ? chat_guess(t) : NULL;
    if (!folder || !t)
        return 0;
    rc = tokenizer_config_read(&config, folder, e);
    if (!rc)
        rc = foreign_check_missing(folder, "chat_template.jinja", e);
    file_join(&path, folder, "chat_template.jinja");
    if (!rc && config)
        read_tokens(o, config);
    if (!rc && file_exists(path.data)) {
        rc = file_read(path.data, &file, e);
        const char *foreign = rc ? NULL : foreign_bytes(str_text(&file), file.len);
        if (foreign)
            rc = err_set(e, ERR_FORMAT, "%s: %s", path.data, foreign);
        if (!rc)
            use_template(o, config, t, str_text(&file), file.len, "chat_template.jinja");
    } else if (!rc && config) {
        const char *text = find_template(o, config);
        if (text)
            use_template(o, config, t, text, strlen(text), "chat_template of tokenizer_config.json");
    }
    json_decref(config);
    str_release(&path);
    str_release(&file);
    return rc;
}

void chat_own_release(struct chat_own *o)
{
    jinja_close(o->template);
    str_release(&o->problem);
    for (int i = 0; tokenizer_token_names[i]; i++)
        free(o->token[i]);
    memset(o, 0, sizeof *o);
}

/* kveval's own model has tokens that no other has, and no template: for it the guess is certain. */
static int is_certain(const struct chat_own *o)
{
    return o->guess && !strcmp(o->guess->name, "pocket");
}

int chat_own_form(const struct chat_own *o, const struct chat **out, struct err *e)
{
    *out = o->template ? &o->form : is_certain(o) ? o->guess : NULL;
    if (!o->problem.len)
        return 0;
    return err_set(
        e, ERR_UNSUPPORTED,
        "the model's chat template cannot be used: %.500s. Choose a form by name (\"chat\" in a run "
        "file, --set chat=NAME, generate --chat NAME; `none`: no form)%s%s",
        str_text(&o->problem), o->guess ? "; by its tokens the model looks like " : "",
        o->guess ? o->guess->name : "");
}

const char *chat_own_notice(const struct chat_own *o, struct str *out)
{
    if (o->template || o->problem.len || !o->guess || is_certain(o))
        return NULL;
    str_printf(out,
               "the model's folder has no chat template, so prompts get no chat form; by its tokens it looks "
               "like %s, which \"chat\" can ask for",
               o->guess->name);
    return str_text(out);
}

/* ---- prompts */

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
    int rc = c->own ? render_template(c->own, w, turns, n_turns, user, n_user, out, guard, e)
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
    return chat_encode_turns(c, t, s, w, NULL, 0, user, n_user, out, e);
}

int chat_encode_turns(const struct chat *c, const struct tokenizer *t, struct tokenizer_scratch *s,
                      const struct chat_words *w, const char *const *turns, size_t n_turns, const char *user,
                      size_t n_user, struct token_list *out, struct err *e)
{
    struct str text = {0};
    size_t guard[2];
    int rc = 0, is_plain = !c;
    if (is_plain)
        c = chat_find("none");
    if (!c->own && chat_lacks_tokens(c, t, &text))
        rc = err_set(e, ERR_USAGE,
                     "the chat form %s needs the token %s, which this model's tokenizer.json does not have; "
                     "choose another form, or none",
                     c->name, text.data);
    str_clear(&text);
    if (!rc)
        rc = check_plain(t, s, w->system, "the system message", e);
    if (!rc)
        rc = check_plain(t, s, w->answer_prefix, "the answer prefix", e);
    for (size_t i = 0; i < n_turns && !rc; i++)
        rc = check_plain(t, s, turns[2 * i + 1], "an earlier turn", e);
    if (!rc)
        rc = chat_render_turns(c, w, turns, n_turns, user, n_user, &text, guard, e);
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
        for (size_t i = guard[1], n; i < text.len; i++) {
            enum thinking_mark mark = thinking_mark_at(text.data, text.len, i, &n);
            opens = mark == THINKING_MARK_NONE ? opens : mark == THINKING_MARK_OPENS;
        }
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
