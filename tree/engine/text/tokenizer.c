/* Reads tokenizer.json, which is untrusted: every field is checked and unknown ones are refused. */
#include "engine/text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/tokenizer_parts.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"

/* Refuses a field that is not in the list: it might change the ids. */
static int only_known(const json_t *o, const char *const *known, const char *where, struct err *e)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)o, key, value)
    {
        int found = 0;
        for (size_t i = 0; known[i]; i++)
            found |= !strcmp(known[i], key);
        if (!found)
            return err_set(e, ERR_UNSUPPORTED,
                           "%s: field \"%.60s\" is not known here, and it might change the tokens", where,
                           key);
    }
    return 0;
}

/* Refuses options of the BPE model that are not built: random merging, and names of parts of words. */
static int check_model(const json_t *model, const char *what, struct err *e)
{
    static const char *const known[] = {"type",
                                        "dropout",
                                        "unk_token",
                                        "continuing_subword_prefix",
                                        "fuse_unk",
                                        "byte_fallback",
                                        "ignore_merges",
                                        "end_of_word_suffix",
                                        "vocab",
                                        "merges",
                                        NULL};
    static const char *const off[] = {"dropout", "continuing_subword_prefix", "end_of_word_suffix", NULL};
    int rc = only_known(model, known, "model", e);
    if (rc)
        return err_add(e, "%s", what);
    const char *type = "BPE";
    rc = json_opt_str(model, "type", &type, what, e);
    if (!rc && strcmp(type, "BPE"))
        rc = err_set(e, ERR_UNSUPPORTED, "%s: model.type %.60s is not supported; BPE is", what, type);
    for (size_t i = 0; !rc && off[i]; i++) {
        const json_t *v = json_object_get(model, off[i]);
        int is_off = !v || json_is_null(v) || json_is_false(v) ||
                     (json_is_string(v) && !json_string_length(v)) ||
                     (json_is_number(v) && json_number_value(v) == 0);
        if (!is_off)
            rc = err_set(e, ERR_UNSUPPORTED, "%s: model.%s is set; only BPE without it is supported", what,
                         off[i]);
    }
    return rc;
}

/* Reads what replaces a character that is no token (tokenizer_encode.c). */
static int read_unknown(struct tokenizer *t, const json_t *model, const char *what, struct err *e)
{
    const char *unk = "";
    int missing = 0, rc = json_opt_bool(model, "byte_fallback", &t->byte_fallback, what, e);
    if (!rc)
        rc = json_opt_bool(model, "fuse_unk", &t->fuse_unk, what, e);
    if (!rc)
        rc = json_opt_str(model, "unk_token", &unk, what, e);
    if (rc)
        return rc;
    const json_t *id = json_object_get(json_object_get(model, "vocab"), unk);
    t->unk = json_is_integer(id) ? (int32_t)json_integer_value(id) : NO_SYMBOL;
    for (int byte = 0; byte < 256; byte++) {
        char name[8];
        int n = 1;
        if (t->pretoken.is_byte_level)
            name[0] = (char)byte;
        else
            n = snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte);
        t->byte_symbol[byte] = vocab_find(&t->vocab, name, (size_t)n);
        missing += t->byte_symbol[byte] < 0;
    }
    if (*unk && t->unk < 0 && missing)
        return err_set(e, ERR_FORMAT, "%s: model.unk_token \"%.60s\" is not in model.vocab", what, unk);
    if (t->byte_fallback && t->pretoken.is_byte_level && missing)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: model.byte_fallback is set for a byte-level vocabulary without all bytes", what);
    return 0;
}

static int read_added(struct tokenizer *t, const json_t *list, const json_t *vocab, const char *what,
                      struct err *e)
{
    if (list && !json_is_null(list) && !json_is_array(list))
        return err_set(e, ERR_FORMAT, "%s: field \"added_tokens\" must be a list", what);
    struct str where = {0};
    int rc = 0;
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        struct added_token a;
        str_clear(&where);
        str_printf(&where, "%s: added_tokens[%zu]", what, i);
        rc = added_read(&a, json_array_get(list, i), where.data, e);
        if (rc)
            break;
        const json_t *in_vocab = strlen(a.text) == a.n ? json_object_get(vocab, a.text) : NULL;
        if (a.id < 0 || a.id >= VOCAB_IDS_MAX)
            rc = err_set(e, ERR_FORMAT, "%s: the id of \"%.60s\" must be from 0 to %d", where.data, a.text,
                         VOCAB_IDS_MAX - 1);
        else if (in_vocab && json_integer_value(in_vocab) != a.id)
            rc = err_set(e, ERR_FORMAT, "%s: \"%.60s\" has the id %d here and %lld in model.vocab",
                         where.data, a.text, a.id, (long long)json_integer_value(in_vocab));
        else if (!in_vocab && a.id < t->vocab.size && t->vocab.entry[a.id].kind != VOCAB_NONE)
            rc = err_set(e, ERR_FORMAT, "%s: the id %d of \"%.60s\" belongs to another token", where.data,
                         a.id, a.text);
        if (rc) {
            free(a.text);
            break;
        }
        vocab_put_added(&t->vocab, a.id, a.text, a.n, a.special);
        struct str form[2] = {{0}, {0}};
        size_t mark[2] = {0, 0};
        if (a.normalized && normalizer_apply(&t->normalizer, a.text, a.n, form, mark) && form[0].len) {
            free(a.text);
            a.text = form[0].data;
            a.n = form[0].len;
            form[0] = (struct str){0};
        }
        str_release(&form[0]);
        str_release(&form[1]);
        added_put(a.normalized ? &t->normalized : &t->raw, &a);
    }
    str_release(&where);
    struct added_set *set[2] = {&t->raw, &t->normalized};
    for (int k = 0; !rc && k < 2; k++) {
        long twice = added_sort(set[k]);
        if (twice >= 0)
            rc = err_set(e, ERR_FORMAT, "%s: added_tokens holds \"%.60s\" twice", what,
                         set[k]->token[twice].text);
    }
    return rc;
}

/* Copies the two halves of a merge, which is written "a b" or ["a", "b"]. */
static int split_merge(const json_t *m, struct str half[2])
{
    str_clear(&half[0]);
    str_clear(&half[1]);
    if (json_is_array(m) && json_array_size(m) == 2) {
        for (size_t k = 0; k < 2; k++)
            if (json_is_string(json_array_get(m, k)))
                str_puts(&half[k], json_string_value(json_array_get(m, k)));
    } else if (json_is_string(m)) {
        const char *text = json_string_value(m), *space = strchr(text, ' ');
        if (space && !strchr(space + 1, ' ')) {
            str_add(&half[0], text, (size_t)(space - text));
            str_puts(&half[1], space + 1);
        }
    }
    return half[0].len && half[1].len;
}

static int read_merges(struct tokenizer *t, const json_t *list, const json_t *vocab, const char *what,
                       struct err *e)
{
    if (!json_is_array(list))
        return err_set(e, ERR_FORMAT, "%s: field \"model.merges\" must be a list", what);
    size_t n = json_array_size(list);
    struct str half[2] = {{0}, {0}};
    int rc = 0;
    bpe_init(&t->bpe, n);
    for (size_t i = 0; !rc && i < n; i++) {
        if (!split_merge(json_array_get(list, i), half)) {
            rc = err_set(e, ERR_FORMAT,
                         "%s: model.merges[%zu] must be \"left right\" or [\"left\", \"right\"]", what, i);
            break;
        }
        const json_t *left = json_object_get(vocab, half[0].data),
                     *right = json_object_get(vocab, half[1].data);
        str_puts(&half[0], half[1].data);
        const json_t *merged = json_object_get(vocab, half[0].data);
        if (!left || !right || !merged)
            rc = err_set(e, ERR_FORMAT, "%s: model.merges[%zu]: %s is not in model.vocab", what, i,
                         !merged ? "the merged token"
                         : !left ? "the left token"
                                 : "the right token");
        else
            bpe_add(&t->bpe, (uint32_t)json_integer_value(left), (uint32_t)json_integer_value(right),
                    (uint32_t)i, (uint32_t)json_integer_value(merged));
    }
    str_release(&half[0]);
    str_release(&half[1]);
    return rc;
}

static int read_all(struct tokenizer *t, const json_t *root, const char *what, struct err *e)
{
    static const char *const known[] = {"version",    "truncation", "padding",       "added_tokens",
                                        "normalizer", "model",      "pre_tokenizer", "post_processor",
                                        "decoder",    NULL};
    if (!json_is_object(root))
        return err_set(e, ERR_FORMAT, "%s: a tokenizer.json must hold an object", what);
    int rc = only_known(root, known, what, e);
    if (rc)
        return rc;
    const json_t *model = json_object_get(root, "model");
    if (!json_is_object(model))
        return err_set(e, ERR_FORMAT, "%s: field \"model\" is missing", what);
    const json_t *vocab = json_object_get(model, "vocab");
    if ((rc = check_model(model, what, e)) ||
        (rc = json_opt_bool(model, "ignore_merges", &t->ignore_merges, what, e)) ||
        (rc = normalizer_open(&t->normalizer, json_object_get(root, "normalizer"), what, e)) ||
        (rc = pretoken_open(&t->pretoken, json_object_get(root, "pre_tokenizer"), what, e)) ||
        (rc = decoder_open(t, json_object_get(root, "decoder"), what, e)) ||
        (rc = vocab_open(&t->vocab, vocab, t->pretoken.is_byte_level, what, e)) ||
        (rc = read_unknown(t, model, what, e)) ||
        (rc = read_merges(t, json_object_get(model, "merges"), vocab, what, e)) ||
        (rc = read_added(t, json_object_get(root, "added_tokens"), vocab, what, e)))
        return rc;
    return frame_read(t, json_object_get(root, "post_processor"), what, e);
}

int tokenizer_open_json(struct tokenizer **out, const json_t *root, uint64_t identity, const char *what,
                        struct err *e)
{
    struct tokenizer *t = xcalloc(1, sizeof *t);
    *out = NULL;
    t->identity = identity;
    int rc = read_all(t, root, what, e);
    if (rc)
        tokenizer_close(t);
    else
        *out = t;
    return rc;
}

int tokenizer_open_text(struct tokenizer **out, const char *json, size_t n, const char *what, struct err *e)
{
    json_t *root = NULL;
    *out = NULL;
    int rc = json_read_text(&root, json, n, what, e);
    if (!rc)
        rc = tokenizer_open_json(out, root, hash_bytes64(json, n), what, e);
    json_decref(root);
    return rc;
}

int tokenizer_open_file(struct tokenizer **out, const char *path, struct err *e)
{
    struct str text = {0};
    *out = NULL;
    int rc = file_read(path, &text, e);
    if (!rc)
        rc = tokenizer_open_text(out, str_text(&text), text.len, path, e);
    str_release(&text);
    return rc;
}

void tokenizer_close(struct tokenizer *t)
{
    if (!t)
        return;
    vocab_close(&t->vocab);
    bpe_release(&t->bpe);
    normalizer_close(&t->normalizer);
    pretoken_close(&t->pretoken);
    decoder_close(&t->decoder);
    token_list_release(&t->before);
    token_list_release(&t->after);
    added_release(&t->raw);
    added_release(&t->normalized);
    free(t);
}
