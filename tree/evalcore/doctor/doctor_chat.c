/* Which chat form is in force, what a prompt becomes under it, and which tokens end an answer. */
#include <string.h>

#include "evalcore/doctor/doctor_parts.h"

/* The rendered text, a line of it on each line. */
static void print_text(const struct str *text)
{
    struct str line = {0};
    const char *at = str_text(text), *end = at + text->len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop + 1 : end;
        str_clear(&line);
        doctor_visible(&line, at, (size_t)(stop - at));
        doctor_note("%s", str_text(&line));
        at = stop;
    }
    str_release(&line);
}

/* A "<|name|>" of the rendered prompt that is no token of its own: the template belongs to another
 * tokenizer. 1: `name` has the first one. */
static int finds_no_token(const struct tokenizer *t, const char *text, struct str *name)
{
    while ((text = strstr(text, "<|"))) {
        const char *end = strstr(text, "|>");
        if (!end)
            return 0;
        str_clear(name);
        str_add(name, text, (size_t)(end + 2 - text));
        if (tokenizer_find(t, name->data) < 0)
            return 1;
        text = end + 2;
    }
    return 0;
}

static void show_prompt(struct patient *p)
{
    const char *q = p->order->question;
    struct tokenizer_scratch scratch = {0};
    struct chat_words words = {0};
    struct str text = {0}, name = {0};
    struct err e = {0};
    size_t guard[2];
    int rc = p->form ? chat_render(p->form, &words, q, strlen(q), &text, guard, &e) : 0;
    if (!rc)
        rc = chat_encode(p->form, p->tokenizer, &scratch, &words, q, strlen(q), &p->prompt, &e);
    if (rc) {
        doctor_say(p, FINDING_FAULT, "prompt", "%s", e.text);
        p->prompt.n = 0;
    } else {
        doctor_say(p, FINDING_OK, "prompt", "\"%s\" becomes%s", q, p->form ? "" : " itself");
        print_text(&text);
        doctor_note("which is %zu tokens:", p->prompt.n);
        doctor_tokens(p->tokenizer, p->prompt.id, p->prompt.n);
        if (finds_no_token(p->tokenizer, str_text(&text), &name)) {
            doctor_say(p, FINDING_WARNING, "prompt", "%s is no token here, so it is spelled out", name.data);
            doctor_way_out("template and tokenizer are of different models? get the folder's files anew");
        }
    }
    tokenizer_scratch_release(&scratch);
    str_release(&text);
    str_release(&name);
}

static void check_template(struct patient *p)
{
    struct str notice = {0};
    struct err e = {0};
    if (chat_own_form(&p->chat, &p->form, &e)) {
        doctor_say(p, FINDING_FAULT, "template", "%s", str_text(&p->chat.problem));
        doctor_way_out(
            "name a form with \"chat\" in the run file or --set chat=NAME%s%s; `none` asks without "
            "one",
            p->chat.guess ? "; by its tokens the model looks like " : "",
            p->chat.guess ? p->chat.guess->name : "");
        p->form = p->chat.guess;
        if (p->form)
            doctor_note("What follows is by the form %s.", p->form->name);
    } else if (p->form && p->form->own) {
        doctor_say(p, FINDING_OK, "template", "the model's own, from its folder");
    } else if (p->form) {
        doctor_say(p, FINDING_OK, "template", "the form %s: %s", p->form->name, p->form->help);
    } else if (chat_own_notice(&p->chat, &notice)) {
        doctor_say(p, FINDING_WARNING, "template", "%s", str_text(&notice));
        doctor_way_out("--set chat=%s, or nothing if this is a base model", p->chat.guess->name);
    } else {
        doctor_say(p, FINDING_OK, "template", "none: prompts are plain texts");
    }
    str_release(&notice);
}

static int is_model_end(const struct patient *p, int32_t id)
{
    for (int i = 0; i < p->config.n_eos; i++)
        if (p->config.eos[i] == id)
            return 1;
    return 0;
}

static int ends_answer(const struct patient *p, int32_t id)
{
    return is_model_end(p, id) ||
           (p->form && p->form->end && tokenizer_find(p->tokenizer, p->form->end) == id);
}

/* The token that the model's template writes behind an answer must end a completion, else the model goes on
 * with turns of its own up to the limit. Looked for behind a known answer in the middle of a conversation. */
static void check_turn_end(struct patient *p)
{
    static const char answer[] = "A short answer.";
    static const char *const turns[] = {"user", "One?", "assistant", answer};
    struct chat_words words = {0};
    struct tokenizer_scratch scratch = {0};
    struct token_list ids = {0};
    struct str text = {0}, token = {0};
    struct err e = {0};
    size_t guard[2];
    if (!p->form || !p->form->own ||
        chat_render_turns(p->form, &words, turns, 2, "Two?", 4, &text, guard, &e))
        goto out; /* a template may refuse earlier turns, which kveval never asks for */
    const char *at = strstr(str_text(&text), answer);
    if (!at)
        goto out;
    at += strlen(answer);
    at += strspn(at, " \n");
    if (tokenizer_encode(p->tokenizer, &scratch, at, strlen(at), 1, &ids, &e) || !ids.n ||
        ends_answer(p, ids.id[0]))
        goto out;
    doctor_token(&token, p->tokenizer, ids.id[0]);
    doctor_say(p, FINDING_WARNING, "end",
               "the template closes an answer with %s, which ends no completion: answers would run on to "
               "their limit",
               token.data);
    doctor_way_out(
        "put its id into \"eos_token_id\" of generation_config.json, or \"stop\" into the run file");
out:
    tokenizer_scratch_release(&scratch);
    token_list_release(&ids);
    str_release(&text);
    str_release(&token);
}

static void check_end(struct patient *p)
{
    struct str list = {0};
    int unknown = 0;
    for (int i = 0; i < p->config.n_eos; i++) {
        str_puts(&list, list.len ? " | " : "");
        doctor_token(&list, p->tokenizer, p->config.eos[i]);
        unknown += !tokenizer_has(p->tokenizer, p->config.eos[i]);
    }
    int32_t id = p->form && p->form->end ? tokenizer_find(p->tokenizer, p->form->end) : -1;
    if (id >= 0 && !is_model_end(p, id)) {
        str_puts(&list, list.len ? " | " : "");
        doctor_token(&list, p->tokenizer, id);
    }
    if (!list.len) {
        doctor_say(p, FINDING_WARNING, "end", "no token ends a completion, only its limit does");
        doctor_way_out("put \"eos_token_id\" into generation_config.json, or \"stop\" into the run file");
    } else if (unknown) {
        doctor_say(p, FINDING_WARNING, "end", "%s: %d of these ids are no token of tokenizer.json", list.data,
                   unknown);
        doctor_way_out("\"eos_token_id\" of config.json or generation_config.json is of another model?");
    } else {
        doctor_say(p, FINDING_OK, "end", "a completion ends with %s", list.data);
    }
    str_release(&list);
    check_turn_end(p);
}

void doctor_chat(struct patient *p)
{
    struct err e = {0};
    if (!p->tokenizer)
        return;
    if (engine_open_chat(p->model, p->tokenizer, &p->chat, &e)) {
        p->is_refused = 1;
        doctor_say(p, FINDING_FAULT, "template", "%s", e.text);
        doctor_way_out("get tokenizer_config.json of this model anew");
        return;
    }
    check_template(p);
    show_prompt(p);
    check_end(p);
}
