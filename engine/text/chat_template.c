/* The chat template in a model's folder: where Transformers looks for it, and the variables that its
 * apply_chat_template() gives one. A template of a later date may be left as a file of its own, which wins.
 */
#include "engine/text/chat_template.h"

#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja.h"
#include "engine/text/tokenizer_config.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"

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

int chat_template_render(const struct chat_own *o, const struct chat_words *w, const char *const *turns,
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
    file_join(&path, folder, "chat_template.jinja");
    if (!rc && config)
        read_tokens(o, config);
    if (!rc && file_exists(path.data)) {
        rc = file_read(path.data, &file, e);
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
