/* What the tokenizer puts around a plain text, which decides whether a begin-of-sentence token stands in
 * front: "post_processor" of tokenizer.json, a TemplateProcessing for one text; or, when
 * tokenizer_config.json has add_bos_token or add_eos_token, these and nothing else, as Transformers 5 does
 * (TokenizersBackend.update_post_processor). config.json's bos_token_id has no say in it. */
#include <string.h>

#include "engine/text/tokenizer_parts.h"
#include "evalcore/base/file.h"

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

/* The id of "bos_token" or "eos_token", a text or an object with "content". */
static int add_named(const struct tokenizer *t, const json_t *config, const char *flag, const char *key,
                     struct token_list *to, const char *what, struct err *e)
{
    int is_on = 0, rc = json_opt_bool(config, flag, &is_on, what, e);
    const json_t *v = json_object_get(config, key);
    const char *text = json_string_value(json_is_object(v) ? json_object_get(v, "content") : v);
    if (rc || !is_on || !text)
        return rc;
    int32_t id = tokenizer_find(t, text);
    if (id < 0)
        return err_set(e, ERR_FORMAT, "%s: %s \"%.60s\" is no token of tokenizer.json", what, key, text);
    token_list_add(to, id);
    return 0;
}

int tokenizer_read_config(struct tokenizer *t, const char *path, struct err *e)
{
    json_t *config;
    int rc = json_read_file(&config, path, e);
    if (rc)
        return rc;
    if (json_object_get(config, "add_bos_token") || json_object_get(config, "add_eos_token")) {
        t->before.n = t->after.n = 0;
        rc = add_named(t, config, "add_bos_token", "bos_token", &t->before, path, e);
        if (!rc)
            rc = add_named(t, config, "add_eos_token", "eos_token", &t->after, path, e);
    }
    json_decref(config);
    return rc;
}

int tokenizer_encode_plain(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                           int with_special, struct token_list *out, struct err *e)
{
    for (size_t i = 0; i < t->before.n; i++)
        token_list_add(out, t->before.id[i]);
    int rc = tokenizer_encode(t, s, text, n, with_special, out, e);
    for (size_t i = 0; i < t->after.n && !rc; i++)
        token_list_add(out, t->after.id[i]);
    return rc;
}
