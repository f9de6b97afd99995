/* A model's folder: tokenizer.json, changed where tokenizer_config.json beside it says so.
 *
 * Transformers writes add_prefix_space of tokenizer_config.json over that of a ByteLevel pre-tokenizer, but
 * not inside a Sequence; where the field is absent, it writes false, and null leaves the file as it is. Its
 * class LlamaTokenizer converts sentencepiece's model anew when the field is given, by which the space in
 * front comes or goes; a byte-level file it leaves alone. All this is version 4; version 5 does the same for
 * the classes that it builds itself and ignores the field for others (the fixtures of
 * tests/engine/text/folders.py have both). */
#include <string.h>

#include "engine/text/tokenizer_parts.h"
#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"
#include "evalcore/base/hash.h"

static int has_type(const json_t *spec, const char *type)
{
    const char *name = json_string_value(json_object_get(spec, "type"));
    return name && !strcmp(name, type);
}

static int is_byte_level(const json_t *pre)
{
    const json_t *list = json_object_get(pre, "pretokenizers");
    int found = has_type(pre, "ByteLevel");
    for (size_t i = 0; i < json_array_size(list); i++)
        found |= has_type(json_array_get(list, i), "ByteLevel");
    return found;
}

/* Transformers 4's LlamaConverter: legacy false takes a Metaspace, else normalizer steps write the marks. */
static void convert_llama(json_t *root, int has_prefix, int is_legacy)
{
    static const char mark[] = "\xe2\x96\x81";
    json_t *steps = json_array(), *decoders = json_array(), *pre = json_null();
    if (is_legacy && has_prefix)
        json_array_append_new(steps, json_pack("{s:s, s:s}", "type", "Prepend", "prepend", mark));
    if (is_legacy)
        json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String",
                                               " ", "content", mark));
    else
        pre = json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", mark, "prepend_scheme",
                        has_prefix ? "first" : "never", "split", 0);
    json_array_append_new(decoders, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String",
                                              mark, "content", " "));
    json_array_append_new(decoders, json_pack("{s:s}", "type", "ByteFallback"));
    json_array_append_new(decoders, json_pack("{s:s}", "type", "Fuse"));
    if (has_prefix)
        json_array_append_new(decoders, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ",
                                                  "start", 1, "stop", 0));
    json_object_set_new(root, "normalizer",
                        json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps));
    json_object_set_new(root, "pre_tokenizer", pre);
    json_object_set_new(root, "decoder", json_pack("{s:s, s:o}", "type", "Sequence", "decoders", decoders));
}

static int change_prefix(json_t *root, const json_t *config, const char *what, struct err *e)
{
    const json_t *field = json_object_get(config, "add_prefix_space");
    const char *class = json_string_value(json_object_get(config, "tokenizer_class"));
    json_t *pre = json_object_get(root, "pre_tokenizer");
    int is_llama = class && (!strcmp(class, "LlamaTokenizer") || !strcmp(class, "LlamaTokenizerFast"));
    int has_prefix = 0, is_legacy = 1;
    int rc = json_opt_bool(config, "add_prefix_space", &has_prefix, what, e);
    if (!rc)
        rc = json_opt_bool(config, "legacy", &is_legacy, what, e);
    if (rc)
        return rc;
    if (is_llama && json_is_boolean(field) && !is_byte_level(pre))
        convert_llama(root, has_prefix, is_legacy);
    else if (!is_llama && has_type(pre, "ByteLevel") && (json_is_boolean(field) || (!field && class)))
        json_object_set_new(pre, "add_prefix_space", json_boolean(has_prefix));
    return 0;
}

int tokenizer_open_folder(struct tokenizer **out, const char *folder, struct err *e)
{
    struct str path = {0}, what = {0}, text = {0};
    json_t *root = NULL, *config = NULL;
    *out = NULL;
    file_join(&path, folder, "tokenizer.json");
    file_join(&what, folder, "tokenizer_config.json");
    int rc = file_read(path.data, &text, e);
    if (!rc && !text.len)
        rc = err_set(e, ERR_FORMAT, "%s: %s", path.data, foreign_bytes("", 0));
    if (!rc)
        rc = json_read_text(&root, str_text(&text), text.len, path.data, e);
    if (!rc && json_object_get(root, "error"))
        rc = err_set(e, ERR_FORMAT, "%s: %s", path.data, foreign_message());
    if (!rc)
        rc = tokenizer_config_read(&config, folder, e);
    if (!rc && !config)
        config = json_object(); /* every field is absent */
    if (!rc)
        rc = change_prefix(root, config, what.data, e);
    if (!rc)
        rc = tokenizer_open_json(out, root, hash_bytes64(text.data, text.len), path.data, e);
    if (!rc)
        rc = json_opt_bool(config, "split_special_tokens", &(*out)->splits_special, what.data, e);
    if (!rc)
        rc = tokenizer_config_apply(*out, config, folder, e);
    if (rc) {
        tokenizer_close(*out);
        *out = NULL;
    }
    json_decref(root);
    json_decref(config);
    str_release(&text);
    str_release(&path);
    str_release(&what);
    return rc;
}
