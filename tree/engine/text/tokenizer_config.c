/* What the files beside tokenizer.json say of tokens. tokenizer_config.json names the special ones, and what
 * it leaves out its class of tokenizers decides. Transformers also lets added_tokens_decoder, the named
 * tokens and added_tokens.json override and extend what tokenizer.json has. Saved by Transformers the files
 * agree; where they do not, the ids would be others than by tokenizer.json alone, so the folder is refused.
 *
 * special_tokens_map.json and added_tokens.json are an older form of added_tokens_decoder and are read only
 * where that is missing. */
#include "engine/text/tokenizer_parts.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"

#define SAVE_AGAIN "load the tokenizer with Transformers and save it again, which makes the files agree"

/* The first three may stand in a prompt by themselves. The others, to which fine-tunes give names of their
 * own, mark places that no prompt of one text has. */
enum { IN_TEXTS = 3 };
const char *const tokenizer_token_names[] = {"bos_token", "eos_token", "unk_token",  "sep_token",
                                             "pad_token", "cls_token", "mask_token", NULL};

/* The defaults of Transformers 4's classes. A class is meant with and without "Fast". */
static const struct token_class {
    const char *name;
    int has_frame;
    const char *token[5]; /* in the order of the names */
} classes[] = {
    {"LlamaTokenizer", 1, {"<s>", "</s>", "<unk>"}},
    {"CodeLlamaTokenizer", 1, {"<s>", "</s>", "<unk>"}},
    {"GemmaTokenizer", 1, {"<bos>", "<eos>", "<unk>", NULL, "<pad>"}},
    {"GPT2Tokenizer", 0, {"<|endoftext|>", "<|endoftext|>", "<|endoftext|>"}},
    {"Qwen2Tokenizer", 0, {NULL, "<|endoftext|>", "<|endoftext|>", NULL, "<|endoftext|>"}},
    {"PreTrainedTokenizer", 0, {NULL}},
    {"TokenizersBackend", 0, {NULL}}, /* of Transformers 5 */
};

static const struct token_class *class_of(const json_t *config)
{
    const char *name = json_string_value(json_object_get(config, "tokenizer_class"));
    for (size_t i = 0; name && i < sizeof classes / sizeof *classes; i++) {
        size_t n = strlen(classes[i].name);
        if (!strncmp(name, classes[i].name, n) && (!name[n] || !strcmp(name + n, "Fast")))
            return &classes[i];
    }
    return NULL;
}

/* A token is written as a text or as an object with "content". NULL: neither. */
static const char *text_of(const json_t *v)
{
    return json_string_value(json_is_object(v) ? json_object_get(v, "content") : v);
}

const char *tokenizer_config_token(const json_t *config, const char *name)
{
    const struct token_class *c = class_of(config);
    const json_t *v = json_object_get(config, name);
    for (size_t i = 0; !v && c && i < sizeof c->token / sizeof *c->token; i++)
        if (!strcmp(tokenizer_token_names[i], name))
            return c->token[i];
    return text_of(v);
}

int tokenizer_config_is_unsaid(const json_t *config, const char *name)
{
    return !json_object_get(config, name) && !class_of(config);
}

int tokenizer_config_has_frame(const json_t *config)
{
    const struct token_class *c = class_of(config);
    return c && c->has_frame;
}

/* *out NULL: there is no such file. */
static int read_object(json_t **out, const char *folder, const char *name, struct err *e)
{
    struct str path = {0};
    int rc = foreign_check_missing(folder, name, e);
    *out = NULL;
    file_join(&path, folder, name);
    if (!rc && file_exists(path.data))
        rc = json_read_file(out, path.data, e);
    if (!rc && json_object_get(*out, "error"))
        rc = err_set(e, ERR_FORMAT, "%s: %s", path.data, foreign_message());
    if (!rc && *out && !json_is_object(*out))
        rc = err_set(e, ERR_FORMAT, "%s: an object is expected", path.data);
    str_release(&path);
    return rc;
}

int tokenizer_config_read(json_t **out, const char *folder, struct err *e)
{
    json_t *map = NULL;
    int rc = read_object(out, folder, "tokenizer_config.json", e);
    if (!rc && !json_object_get(*out, "added_tokens_decoder"))
        rc = read_object(&map, folder, "special_tokens_map.json", e);
    if (!rc && map) {
        json_t *more = json_object_get(map, "additional_special_tokens");
        if (json_is_array(more))
            json_array_extend(more, json_object_get(*out, "additional_special_tokens"));
        *out = *out ? *out : json_object();
        json_object_update(*out, map);
    }
    json_decref(map);
    return rc;
}

/* The token of tokenizer.json that is written so; NULL: none. */
static const struct added_token *find_written(const struct tokenizer *t, const char *text)
{
    const struct added_set *set[2] = {&t->raw, &t->normalized};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < set[k]->n; i++) {
            const struct added_token *a = &set[k]->token[i];
            const struct vocab_entry *written = &t->vocab.entry[a->id];
            if (written->n == strlen(text) && !memcmp(t->vocab.text.data + written->at, text, written->n))
                return a;
        }
    return NULL;
}

static int check_named(const struct tokenizer *t, const json_t *v, const char *field, const char *what,
                       struct err *e)
{
    const char *text = text_of(v);
    if (!text || !*text || find_written(t, text))
        return 0;
    return err_set(e, ERR_UNSUPPORTED,
                   "%s: %s \"%.60s\" is no token of tokenizer.json, to which Transformers would add it; "
                   "correct it, or " SAVE_AGAIN,
                   what, field, text);
}

/* Every token of a list, or of an object whose keys are names. */
static int check_all_named(const struct tokenizer *t, json_t *v, const char *field, const char *what,
                           struct err *e)
{
    const char *key;
    json_t *one;
    size_t i;
    int rc = 0;
    json_array_foreach(v, i, one) if (!rc) rc = check_named(t, one, field, what, e);
    json_object_foreach(v, key, one) if (!rc) rc = check_named(t, one, field, what, e);
    return rc;
}

/* One entry of added_tokens_decoder against the token of tokenizer.json. */
static int check_entry(const struct tokenizer *t, const char *id, const json_t *spec, const char *what,
                       struct err *e)
{
    struct added_token want;
    json_t *whole = json_copy((json_t *)spec);
    char *end;
    long number = strtol(id, &end, 10);
    json_object_set_new(whole, "id", json_integer(*id && !*end ? number : -1));
    int rc = added_read(&want, whole, what, e);
    json_decref(whole);
    if (rc)
        return err_add(e, "added_tokens_decoder"), rc;
    const struct added_token *have = find_written(t, want.text);
    const char *differs = !have                                   ? "no such token"
                          : have->id != want.id                   ? "another id"
                          : have->lstrip != want.lstrip           ? "another \"lstrip\""
                          : have->rstrip != want.rstrip           ? "another \"rstrip\""
                          : have->single_word != want.single_word ? "another \"single_word\""
                          : have->normalized != want.normalized   ? "another \"normalized\""
                          : have->special != want.special         ? "another \"special\""
                                                                  : NULL;
    if (differs)
        rc = err_set(e, ERR_UNSUPPORTED,
                     "%s: added_tokens_decoder has \"%.60s\" with the id %.20s, and tokenizer.json has %s; "
                     "Transformers would take the former: " SAVE_AGAIN,
                     what, want.text, id, differs);
    free(want.text);
    return rc;
}

/* added_tokens.json: from text to id. */
static int check_older(const struct tokenizer *t, const char *folder, struct err *e)
{
    json_t *all, *id;
    const char *text;
    int rc = read_object(&all, folder, "added_tokens.json", e);
    json_object_foreach(all, text, id)
    {
        const struct added_token *have = find_written(t, text);
        if (!rc && (!have || have->id != json_integer_value(id)))
            rc = err_set(
                e, ERR_UNSUPPORTED,
                "%s/added_tokens.json has the token \"%.60s\", and tokenizer.json has %s; " SAVE_AGAIN,
                folder, text, have ? "another id for it" : "no such token");
    }
    json_decref(all);
    return rc;
}

static int check_tokens(const struct tokenizer *t, const json_t *config, const char *folder, const char *what,
                        struct err *e)
{
    json_t *decoder = json_object_get(config, "added_tokens_decoder"), *spec;
    const char *id;
    int rc = 0;
    if (decoder && !json_is_object(decoder))
        rc = err_set(e, ERR_FORMAT, "%s: field \"added_tokens_decoder\" must be an object", what);
    json_object_foreach(decoder, id, spec) if (!rc) rc = check_entry(t, id, spec, what, e);
    for (int i = 0; !rc && i < IN_TEXTS; i++)
        rc = check_named(t, json_object_get(config, tokenizer_token_names[i]), tokenizer_token_names[i], what,
                         e);
    static const char *const lists[] = {"additional_special_tokens", "extra_special_tokens"};
    for (int i = 0; !rc && i < 2; i++)
        rc = check_all_named(t, json_object_get(config, lists[i]), lists[i], what, e);
    return rc || decoder ? rc : check_older(t, folder, e);
}

/* ---- what the tokenizer puts around a plain text, which decides whether a begin-of-sentence token stands in
 * front: "post_processor" of tokenizer.json, a TemplateProcessing for one text. bos_token_id of config.json
 * does not count, and add_bos_token of tokenizer_config.json counts only for a few classes of tokenizers:
 * LlamaTokenizerFast of Transformers 4 makes its own template from add_bos_token (when absent, true) and
 * add_eos_token, as do CodeLlama's and Gemma's. DeepSeek's distilled models, whose tokenizer.json has no
 * template, get their begin-of-sentence token only so. Transformers 5 ignores both flags when there is a
 * tokenizer.json. We do what version 4 does, with which these models and the papers' figures were made. */

static int add_special(struct tokenizer *t, const json_t *tokens, const char *name, struct token_list *to,
                       const char *what, struct err *e)
{
    const json_t *ids = json_object_get(json_object_get(tokens, name), "ids");
    if (!json_array_size(ids))
        return err_set(e, ERR_FORMAT, "%s: post_processor names the token \"%.60s\" without its ids", what,
                       name);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        json_int_t id = json_integer_value(json_array_get(ids, i));
        if (!json_is_integer(json_array_get(ids, i)) || id < 0 || id >= t->vocab.size)
            return err_set(e, ERR_FORMAT, "%s: post_processor has an id of \"%.60s\" that is no token", what,
                           name);
        token_list_add(to, (int32_t)id);
    }
    return 0;
}

static int read_template(struct tokenizer *t, const json_t *spec, const char *what, struct err *e)
{
    const json_t *single = json_object_get(spec, "single"), *tokens = json_object_get(spec, "special_tokens");
    int seen = 0, rc = 0;
    for (size_t i = 0; !rc && i < json_array_size(single); i++) {
        const json_t *part = json_array_get(single, i);
        const char *name = json_string_value(json_object_get(json_object_get(part, "SpecialToken"), "id"));
        if (name)
            rc = add_special(t, tokens, name, seen ? &t->after : &t->before, what, e);
        else if (json_object_get(part, "Sequence"))
            seen++;
        else
            seen = 2;
    }
    if (!rc && seen != 1)
        rc = err_set(e, ERR_UNSUPPORTED,
                     "%s: post_processor's template for one text must hold it once, among special tokens",
                     what);
    return rc;
}

int frame_read(struct tokenizer *t, const json_t *spec, const char *what, struct err *e)
{
    const char *type;
    if (!spec || json_is_null(spec))
        return 0;
    int rc = json_get_str(spec, "type", &type, what, e);
    if (rc)
        return err_add(e, "post_processor");
    if (!strcmp(type, "ByteLevel")) /* moves offsets only */
        return 0;
    if (!strcmp(type, "TemplateProcessing"))
        return read_template(t, spec, what, e);
    const json_t *list = json_object_get(spec, "processors");
    if (strcmp(type, "Sequence") || !json_is_array(list))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: post_processor %.60s is not supported; ByteLevel, TemplateProcessing and a "
                       "Sequence of them are",
                       what, type);
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        const char *inner = json_string_value(json_object_get(json_array_get(list, i), "type"));
        if (inner && !strcmp(inner, "Sequence"))
            rc = err_set(e, ERR_UNSUPPORTED, "%s: post_processor is a Sequence of Sequences", what);
        else
            rc = frame_read(t, json_array_get(list, i), what, e);
    }
    return rc;
}

/* Adds the id of a token to one end, when the flag is on. */
static int add_end(const struct tokenizer *t, const json_t *config, const char *flag, int is_on,
                   const char *name, struct token_list *to, const char *what, struct err *e)
{
    int rc = json_opt_bool(config, flag, &is_on, what, e);
    if (rc || !is_on)
        return rc;
    const char *text = tokenizer_config_token(config, name);
    int32_t id = text ? tokenizer_find(t, text) : -1;
    if (id < 0)
        return err_set(
            e, ERR_FORMAT,
            "%s: %s \"%.60s\" is no token of tokenizer.json; if no such token belongs at that end of "
            "a text, set %s to false",
            what, name, text ? text : "null", flag);
    token_list_add(to, id);
    return 0;
}

/* For a class that makes its own template, from a tokenizer_config.json. */
static int read_class_frame(struct tokenizer *t, const json_t *config, const char *what, struct err *e)
{
    t->before.n = t->after.n = 0;
    int rc = add_end(t, config, "add_bos_token", 1, "bos_token", &t->before, what, e);
    return rc ? rc : add_end(t, config, "add_eos_token", 0, "eos_token", &t->after, what, e);
}

int tokenizer_config_apply(struct tokenizer *t, const json_t *config, const char *folder, struct err *e)
{
    struct str what = {0};
    file_join(&what, folder, "tokenizer_config.json");
    int rc = check_tokens(t, config, folder, what.data, e);
    if (!rc && tokenizer_config_has_frame(config))
        rc = read_class_frame(t, config, what.data, e);
    str_release(&what);
    return rc;
}
