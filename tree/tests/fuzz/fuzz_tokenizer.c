/* Fuzzes the tokenizer. The first byte chooses what the rest is: a tokenizer.json; or fields that replace
 * those of a small valid one (up to the first NUL), and a text; or a split pattern (up to the first NUL)
 * and a text; or a text for the valid tokenizer. There is no crash, and a refusal has a message. Where
 * nothing is normalized, decoding gives the repaired text back. A text that is guarded as a whole has no
 * special token. */
#undef NDEBUG /* the checks are the point, whatever the build type */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/tokenizer.h"
#include "evalcore/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char PATTERN[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+"
    "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static void put_char(json_t *vocab, int c, int id)
{
    char name[3] = {(char)c, 0, 0};
    if (c >= 0x80) {
        name[0] = (char)(0xC0 | c >> 6);
        name[1] = (char)(0x80 | (c & 0x3F));
    }
    json_object_set_new(vocab, name, json_integer(id));
}

/* All 256 bytes and a few merges. */
static json_t *good_file(const char *pattern, size_t n_pattern)
{
    static const char *const merges[][3] = {{"t", "h", "th"},           {"th", "e", "the"},
                                            {"e", "e", "ee"},           {"ee", "ee", "eeee"},
                                            {"\u0120", "t", "\u0120t"}, {"1", "2", "12"}};
    json_t *vocab = json_object(), *list = json_array();
    int id = 0;
    for (int c = 33; c < 256 + 68; c++)
        if ((c < 127 || c > 160) && c != 173)
            put_char(vocab, c, id++);
    for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
        json_object_set_new(vocab, merges[i][2], json_integer(id++));
        json_array_append_new(list, json_pack("[s,s]", merges[i][0], merges[i][1]));
    }
    json_t *file = json_pack("{s:n, s:{s:s, s:o, s:o}, s:{s:s}}", "normalizer", "model", "type", "BPE",
                             "vocab", vocab, "merges", list, "decoder", "type", "ByteLevel");
    json_object_set_new(file, "added_tokens",
                        json_pack("[{s:i,s:s,s:b,s:b},{s:i,s:s,s:b}]", "id", 400, "content", "<s>", "special",
                                  1, "normalized", 0, "id", 401, "content", "<t", "special", 0));
    json_object_set_new(file, "pre_tokenizer",
                        json_pack("{s:s, s:[{s:s, s:s, s:{s:o}}, {s:s, s:b, s:b}]}", "type", "Sequence",
                                  "pretokenizers", "type", "Split", "behavior", "Isolated", "pattern",
                                  "Regex", json_stringn_nocheck(pattern, n_pattern), "type", "ByteLevel",
                                  "add_prefix_space", 0, "use_regex", 0));
    return file;
}

static void use(const struct tokenizer *t, const char *text, size_t n, int reversible)
{
    /* One for all inputs: what it remembers must not be used for another tokenizer. */
    static struct tokenizer_scratch scratch;
    struct token_list a = {0}, b = {0};
    struct str back = {0}, clean = {0};
    struct err e = {0};
    int rc = tokenizer_encode(t, &scratch, text, n, 1, &a, &e);
    assert(rc == 0 || e.text[0]);
    assert(tokenizer_encode(t, &scratch, text, n, 1, &b, &e) == rc);
    assert(rc || (a.n == b.n && (!a.n || !memcmp(a.id, b.id, a.n * sizeof *a.id))));
    tokenizer_decode(t, a.id, a.n, 0, &back);
    str_add_utf8(&clean, text, n);
    if (reversible && !rc)
        assert(back.len == clean.len && !memcmp(str_text(&back), str_text(&clean), clean.len));
    b.n = 0;
    if (!tokenizer_encode_guarded(t, &scratch, text, n, 0, n, &b, &e) && reversible)
        for (size_t i = 0; i < b.n; i++)
            assert(b.id[i] != 400);
    tokenizer_encode_guarded(t, &scratch, text, n, n / 3, n / 2, &b, &e);
    token_list_release(&a);
    token_list_release(&b);
    str_release(&back);
    str_release(&clean);
}

static void run_file(json_t *file, const char *text, size_t n, int reversible)
{
    struct tokenizer *t;
    struct err e = {0};
    char *json = json_dumps(file, JSON_COMPACT);
    if (!json)
        return;
    int rc = tokenizer_open_text(&t, json, strlen(json), "fuzz.json", &e);
    assert(rc == 0 ? t != NULL : t == NULL && strstr(e.text, "fuzz.json"));
    if (!rc)
        use(t, text, n, reversible);
    tokenizer_close(t);
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *rest = (const char *)data + 1;
    size_t n = size - 1;
    const char *nul = memchr(rest, 0, n);
    size_t n_first = nul ? (size_t)(nul - rest) : n;
    const char *text = nul ? nul + 1 : rest;
    size_t n_text = nul ? n - n_first - 1 : n;
    json_t *file = NULL, *fields = NULL, *value;
    struct tokenizer *t;
    struct err e = {0};
    const char *key;
    switch (data[0] % 4) {
    case 0:
        if (!tokenizer_open_text(&t, rest, n, "fuzz.json", &e))
            use(t, "the 12 \xFF text", 12, 0);
        else
            assert(!t && e.text[0]);
        tokenizer_close(t);
        break;
    case 1:
        file = good_file(PATTERN, strlen(PATTERN));
        if (!json_read_text(&fields, rest, n_first, "fields", &e))
            json_object_foreach(fields, key, value) json_object_set(
                strchr("vmtdubiceF", *key) ? json_object_get(file, "model") : file, key, value);
        run_file(file, text, n_text, 0);
        break;
    case 2:
        file = good_file(rest, n_first);
        run_file(file, text, n_text, 1);
        break;
    default:
        file = good_file(PATTERN, strlen(PATTERN));
        if (data[0] & 4)
            json_object_set_new(file, "normalizer", json_pack("{s:s}", "type", "NFC"));
        if (data[0] & 8)
            json_object_set_new(json_object_get(file, "model"), "ignore_merges", json_true());
        run_file(file, rest, n, !(data[0] & 4));
    }
    json_decref(file);
    json_decref(fields);
    return 0;
}
