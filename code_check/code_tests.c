/* Reading a problem's tests (contract: code_check.h). */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "code_check/code_check.h"
#include "code_check/pickle_text.h"
#include "evalcore/base/hash.h"

enum { NO_LETTER = 64 };

/* The value of each letter of base64. */
static void fill_sextets(unsigned char value[256])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memset(value, NO_LETTER, 256);
    for (int i = 0; letters[i]; i++)
        value[(unsigned char)letters[i]] = (unsigned char)i;
}

static int read_base64(struct str *out, const char *s, size_t n, const char *where, struct err *e)
{
    unsigned char value[256];
    fill_sextets(value);
    while (n && s[n - 1] == '\n')
        n--;
    size_t padding = n && s[n - 1] == '=' ? 1 + (n > 1 && s[n - 2] == '=') : 0;
    if (!n || n % 4)
        return err_set(e, ERR_FORMAT, "%s: neither a JSON list nor base64: its length is no multiple of 4",
                       where);
    char *bytes = xmalloc(n / 4 * 3), *to = bytes;
    unsigned bits = 0;
    size_t i = 0;
    for (; i < n; i++) {
        unsigned six = i < n - padding ? value[(unsigned char)s[i]] : 0;
        if (six == NO_LETTER)
            break;
        bits = bits << 6 | six;
        if (i % 4 != 3)
            continue;
        *to++ = (char)(bits >> 16);
        *to++ = (char)(bits >> 8);
        *to++ = (char)bits;
    }
    if (i == n)
        str_add(out, bytes, n / 4 * 3 - padding);
    free(bytes);
    return i == n ? 0
                  : err_set(e, ERR_FORMAT, "%s: neither a JSON list nor base64: byte %zu is no letter of it",
                            where, i + 1);
}

/* Replaces what `data` holds by what it was before zlib compressed it. */
static int decompress(struct str *data, const char *where, struct err *e)
{
    enum { CHUNK = 256 << 10 };
    struct str out = {0};
    z_stream z = {.next_in = (Bytef *)data->data, .avail_in = (uInt)data->len};
    if (data->len > UINT32_MAX || inflateInit(&z) != Z_OK)
        return err_set(e, ERR_FORMAT, "%s: it cannot be decompressed", where);
    char *chunk = xmalloc(CHUNK);
    int state = Z_OK, rc = 0;
    while (state == Z_OK && !rc) {
        z.next_out = (Bytef *)chunk;
        z.avail_out = CHUNK;
        state = inflate(&z, Z_NO_FLUSH);
        str_add(&out, chunk, CHUNK - z.avail_out);
        if (out.len > CODE_TESTS_BYTES_MAX)
            rc = err_set(e, ERR_FORMAT, "%s: more than %d MiB when decompressed", where,
                         CODE_TESTS_BYTES_MAX >> 20);
    }
    if (!rc && state != Z_STREAM_END)
        rc = err_set(e, ERR_FORMAT, "%s: its compressed data are damaged or cut short", where);
    if (!rc && z.avail_in)
        rc = err_set(e, ERR_FORMAT, "%s: %u bytes follow its compressed data", where, z.avail_in);
    inflateEnd(&z);
    free(chunk);
    str_release(data);
    *data = out;
    return rc;
}

static int is_list(const char *s, size_t n)
{
    while (n && strchr(" \t\r\n", *s)) {
        s++;
        n--;
    }
    return n && *s == '[';
}

static int read_list(json_t **out, const char *s, size_t n, const char *where, struct err *e)
{
    int rc = json_read_text(out, s, n, where, e);
    if (!rc && !json_is_array(*out))
        rc = err_set(e, ERR_FORMAT, "%s: a list of tests was expected", where);
    return rc;
}

static int read_packed(json_t **out, const char *s, size_t n, const char *where, struct err *e)
{
    struct str data = {0};
    const char *text;
    size_t len;
    int rc = read_base64(&data, s, n, where, e);
    if (!rc)
        rc = decompress(&data, where, e);
    if (!rc)
        rc = pickle_text(&text, &len, str_text(&data), data.len, where, e);
    if (!rc)
        rc = read_list(out, text, len, where, e);
    str_release(&data);
    return rc;
}

static int add_test(struct code_tests *t, const json_t *o, const char *where, struct err *e)
{
    const json_t *input = json_object_get(o, "input"), *output = json_object_get(o, "output");
    const char *type = json_string_value(json_object_get(o, "testtype"));
    if (!json_is_string(input) || !json_is_string(output) || !type)
        return err_set(e, ERR_FORMAT, "%s: test %d lacks a text for input, output or testtype", where,
                       t->n + 1);
    if (strcmp(type, t->call ? "functional" : "stdin") != 0)
        return err_set(e, ERR_FORMAT, "%s: test %d is of type \"%.40s\", but the problem's metadata name %s",
                       where, t->n + 1, type, t->call ? "a function" : "no function (func_name)");
    t->test[t->n++] = (struct code_test){json_string_value(input), json_string_value(output),
                                         json_string_length(input), json_string_length(output)};
    return 0;
}

static int read_fields(struct code_tests *t, const struct code_test field[2], const char *where,
                       struct err *e)
{
    static const char *const names[] = {"public_test_cases", "private_test_cases"};
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        struct str place = {0};
        str_printf(&place, "%s: %s", where, names[i]);
        int packed = i && !is_list(field[i].input, field[i].input_len);
        int rc = (packed ? read_packed : read_list)(&t->owned[i], field[i].input, field[i].input_len,
                                                    str_text(&place), e);
        str_release(&place);
        if (rc)
            return rc;
        n += json_array_size(t->owned[i]);
    }
    if (!n)
        return err_set(e, ERR_FORMAT, "%s: the problem has no tests", where);
    t->test = xcalloc(n, sizeof *t->test);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < json_array_size(t->owned[i]); k++)
            if (add_test(t, json_array_get(t->owned[i], k), where, e))
                return ERR_FORMAT;
    return 0;
}

int code_tests_read(struct code_tests *out, const char *public_tests, size_t n_public,
                    const char *private_tests, size_t n_private, const char *call, const char *where,
                    struct err *e)
{
    const struct code_test field[2] = {{.input = public_tests, .input_len = n_public},
                                       {.input = private_tests, .input_len = n_private}};
    *out = (struct code_tests){.call = call && *call ? call : NULL};
    int rc = read_fields(out, field, where, e);
    if (rc)
        code_tests_release(out);
    return rc;
}

void code_tests_release(struct code_tests *t)
{
    for (int i = 0; i < 2; i++)
        json_decref(t->owned[i]);
    free(t->test);
    *t = (struct code_tests){0};
}

void code_tests_digest(char out[17], const char *public_tests, size_t n_public, const char *private_tests,
                       size_t n_private)
{
    char both[129];
    sha256_hex(public_tests, n_public, both, 64);
    sha256_hex(private_tests, n_private, both + 64, 64);
    sha256_hex(both, 128, out, 16);
}
