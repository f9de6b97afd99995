/* kveval tokenize: texts to token ids and back, JSONL in and out, and what a prompt becomes under a chat
 * form. */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "engine/engine.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/cli/jsonl.h"
#include "evalcore/commands/command_parts.h"
#include "evalcore/commands/commands.h"
#include "evalcore/plan/prompts.h"

struct tokenize_options {
    const char *model, *chat;
    struct chat_flags said;
    int bare, skip_special;
};

#define AT(member) offsetof(struct tokenize_options, member)
static const struct cli_option options[] = {
    {"model", 'M', CLI_STRING, AT(model), "MODEL", .help = MODEL_HELP},
    {"chat", 0, CLI_STRING, AT(chat), "FORM",
     .help = "texts are user messages: render them by a chat form, auto for the model's own"},
    CHAT_FLAG_ROWS(AT(said)),
    {"bare", 0, CLI_FLAG, AT(bare), NULL,
     .help = "without the tokens that the tokenizer puts around a text, such as begin of sentence"},
    {"skip-special", 0, CLI_FLAG, AT(skip_special), NULL,
     .help = "leave special tokens out of decoded texts"},
    {0},
};

struct job {
    const struct tokenize_options *o;
    struct tokenizer *tokenizer;
    const struct chat *chat; /* NULL: plain texts */
    struct chat_words words;
};

static json_t *ids_json(const struct token_list *ids)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ids->n; i++)
        json_array_append_new(list, json_integer(ids->id[i]));
    return list;
}

static json_t *encode_text(const struct job *j, const char *text, size_t n, struct err *e)
{
    struct tokenizer_scratch scratch = {0};
    struct token_list ids = {0};
    struct str rendered = {0};
    size_t guard[2];
    int rc = 0;
    if (j->chat && !(rc = chat_render(j->chat, &j->words, text, n, &rendered, guard, e)))
        rc = chat_encode(j->chat, j->tokenizer, &scratch, &j->words, text, n, &ids, e);
    else if (!j->chat && j->o->bare)
        rc = tokenizer_encode(j->tokenizer, &scratch, text, n, 1, &ids, e);
    else if (!j->chat)
        rc = tokenizer_encode_plain(j->tokenizer, &scratch, text, n, 0, 0, &ids, e);
    json_t *out = rc ? NULL : json_pack("{s:o}", "ids", ids_json(&ids));
    if (out && j->chat)
        json_object_set_new(out, "text", json_text(str_text(&rendered), rendered.len));
    tokenizer_scratch_release(&scratch);
    token_list_release(&ids);
    str_release(&rendered);
    return out;
}

static json_t *decode_ids(const struct job *j, const json_t *list, struct err *e)
{
    struct token_list ids = {0};
    struct str text = {0};
    json_t *out = NULL;
    if (!json_is_array(list))
        err_set(e, ERR_FORMAT, "a line must have \"text\", a text, or \"ids\", a list of token ids");
    for (size_t i = 0; !e->code && i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t id = json_integer_value(v);
        if (!json_is_integer(v) || id < 0 || id > INT32_MAX || !tokenizer_has(j->tokenizer, (int32_t)id))
            err_set(e, ERR_FORMAT, "\"ids\"[%zu] is not a token of this model", i);
        else
            token_list_add(&ids, (int32_t)id);
    }
    if (!e->code) {
        tokenizer_decode_text(j->tokenizer, ids.id, ids.n, j->o->skip_special, &text);
        out = json_pack("{s:o}", "text", json_text(str_text(&text), text.len));
    }
    token_list_release(&ids);
    str_release(&text);
    return out;
}

static json_t *answer_line(void *context, const json_t *in, struct err *e)
{
    const struct job *j = context;
    const json_t *text = json_object_get(in, "text"), *ids = json_object_get(in, "ids");
    if (json_is_string(text) && !ids)
        return encode_text(j, json_string_value(text), json_string_length(text), e);
    return decode_ids(j, text ? NULL : ids, e);
}

/* The chat form and what is said in it. */
static int open_chat(struct job *j, struct chat_own *own, struct err *e)
{
    const struct tokenize_options *o = j->o;
    int rc = engine_open_chat(o->model, j->tokenizer, own, e);
    if (!rc && o->chat)
        rc = prompts_chat(&j->chat, own, o->chat, e);
    if (!rc && o->chat && !j->chat && strcmp(o->chat, "none"))
        rc = err_set(e, ERR_USAGE, "%s has no chat template; name a form with --chat, or leave it out",
                     o->model);
    return rc ? rc : prompts_words_said(&j->words, j->chat, o->said.system, o->said.thinking, e);
}

static int run_tokenize(const struct process_env *p, int argc, char **argv)
{
    struct tokenize_options o = {.model = "pocket", .said = {.thinking = "auto"}};
    struct job j = {.o = &o};
    struct chat_own own = {0};
    struct arena a = {0};
    struct err e = {0};
    const char *path = NULL;
    int n, code = command_parse(&cmd_tokenize, &o, argc, argv, &path, 0, 1, &n);
    if (code >= 0)
        return code;
    int rc = hub_model(&o.model, p, o.model, &a, &e);
    if (!rc)
        rc = engine_open_tokenizer(o.model, &j.tokenizer, &e);
    if (!rc && !j.tokenizer)
        rc = err_set(&e, ERR_USAGE, "%s has no tokenizer.json", o.model);
    if (!rc)
        rc = open_chat(&j, &own, &e);
    code = rc ? command_fail(&e, EXIT_USAGE)
              : jsonl_run(&(struct jsonl){.fn = answer_line, .context = &j}, path);
    chat_own_release(&own);
    tokenizer_close(j.tokenizer);
    arena_release(&a);
    return code;
}

const struct command cmd_tokenize = {
    .name = "tokenize",
    .usage = "[FILE] [-M MODEL]",
    .help = "turn texts into token ids and back, JSONL in and out",
    .details =
        "in:  {\"text\": \"...\"}, or {\"ids\": [...]}\n"
        "out: {\"ids\": [...]} as the tokenizers library gives them, or {\"text\": \"...\"}; with --chat\n"
        "     both, the text as the form renders it\n"
        "Special tokens in a text are recognised; under a chat form only in the form.",
    .options = options,
    .prints_data = 1,
    .run = run_tokenize,
};
