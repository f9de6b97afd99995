/* What the tokenizer puts around a plain text, which decides whether a begin-of-sentence token stands in
 * front: "post_processor" of tokenizer.json, a TemplateProcessing for one text. config.json's bos_token_id
 * has no say in it, nor has add_bos_token of tokenizer_config.json, but for a few classes of tokenizers:
 * LlamaTokenizerFast of Transformers 4 makes its own template from add_bos_token (when absent, true) and
 * add_eos_token, as do CodeLlama's and Gemma's, and DeepSeek's distilled models, whose tokenizer.json has no
 * template, get their begin-of-sentence token only so. Transformers 5 ignores both flags when there is a
 * tokenizer.json. We do what version 4 does, with which these models and the papers' figures were made. */
#include <string.h>

#include "engine/text/tokenizer_config.h"
#include "engine/text/tokenizer_parts.h"

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

int frame_read_config(struct tokenizer *t, const json_t *config, const char *what, struct err *e)
{
    t->before.n = t->after.n = 0;
    int rc = add_end(t, config, "add_bos_token", 1, "bos_token", &t->before, what, e);
    return rc ? rc : add_end(t, config, "add_eos_token", 0, "eos_token", &t->after, what, e);
}

size_t tokenizer_before(const struct tokenizer *t, const int32_t **ids)
{
    *ids = t->before.id;
    return t->before.n;
}

int tokenizer_encode_plain(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                           size_t from, size_t to, struct token_list *out, struct err *e)
{
    for (size_t i = 0; i < t->before.n; i++)
        token_list_add(out, t->before.id[i]);
    int rc = tokenizer_encode_guarded(t, s, text, n, from, to, out, e);
    for (size_t i = 0; i < t->after.n && !rc; i++)
        token_list_add(out, t->after.id[i]);
    return rc;
}
