/* Reading JSON with jansson (contract: json.h): errors that a person can act on. Strings may hold NULs
 * because model output may; a field that is fetched as a C string must not. */
#include "evalcore/base/json.h"

#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"

static int read_text(json_t **out, const char *text, size_t n, size_t flags, const char *what, struct err *e)
{
    json_error_t bad;
    size_t blank = 0;
    *out = NULL;
    while (blank < n && strchr(" \t\r\n", text[blank]) && text[blank])
        blank++;
    if (blank == n)
        return err_set(e, ERR_FORMAT, "%s:1:1: not valid JSON: there is nothing in it", what);
    *out = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &bad);
    if (*out)
        return 0;
    const char *foreign = foreign_encoding(text, n);
    if (!foreign && !strstr(what, "://")) /* a server's answer is no file */
        foreign = foreign_bytes(text, n);
    if (foreign)
        return err_set(e, ERR_FORMAT, "%s: %s", what, foreign);
    return err_set(e, ERR_FORMAT, "%s:%d:%d: not valid JSON: %s", what, bad.line < 1 ? 1 : bad.line,
                   bad.column < 1 ? 1 : bad.column,
                   json_error_code(&bad) == json_error_null_character ? "a string holds \\u0000; remove it"
                                                                      : bad.text);
}

int json_read_text(json_t **out, const char *text, size_t n, const char *what, struct err *e)
{
    return read_text(out, text, n, JSON_ALLOW_NUL, what, e);
}

static int read_file(json_t **out, const char *path, size_t most, size_t flags, struct err *e)
{
    struct str text = {0};
    *out = NULL;
    int rc = file_read_most(path, most, &text, e);
    size_t mark = flags & JSON_ALLOW_NUL || text.len < 3 || memcmp(text.data, "\xef\xbb\xbf", 3) != 0 ? 0 : 3;
    if (!rc) /* editors put a byte order mark in front of what people write */
        rc = read_text(out, text.data + mark, text.len - mark, flags, path, e);
    str_release(&text);
    return rc;
}

int json_read_file(json_t **out, const char *path, struct err *e)
{
    return read_file(out, path, SIZE_MAX, JSON_ALLOW_NUL, e);
}

int json_read_written(json_t **out, const char *path, struct err *e)
{
    return read_file(out, path, JSON_WRITTEN_MAX, 0, e);
}

static const char *type_name(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a decimal number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

enum kind { AN_INTEGER, A_NUMBER, A_BOOLEAN, A_STRING };

static int is_kind(const json_t *v, enum kind kind)
{
    switch (kind) {
    case AN_INTEGER:
        return json_is_integer(v);
    case A_NUMBER:
        return json_is_number(v);
    case A_BOOLEAN:
        return json_is_boolean(v);
    default:
        return json_is_string(v);
    }
}

/* Finds a field of the given kind; *found is NULL when there is none. A field that is missing or null is an
 * error only when it is needed. */
static int json_field(const json_t **found, const json_t *o, const char *key, enum kind kind, int needed,
                      const char *where, struct err *e)
{
    static const char *const name[] = {"an integer", "a number", "true or false", "a string"};
    *found = NULL;
    if (!json_is_object(o))
        return err_set(e, ERR_FORMAT, "%s: an object with a field \"%s\" was expected, but this is %s", where,
                       key, o ? type_name(o) : "missing");
    const json_t *v = json_object_get(o, key);
    if (!needed && (!v || json_is_null(v)))
        return 0;
    if (!v)
        return err_set(e, ERR_FORMAT, "%s: field \"%s\" is missing", where, key);
    if (!is_kind(v, kind))
        return err_set(e, ERR_FORMAT, "%s: field \"%s\" must be %s, but it is %s", where, key, name[kind],
                       type_name(v));
    *found = v;
    return 0;
}

static int get_int(const json_t *o, const char *key, int64_t *out, int needed, const char *where,
                   struct err *e)
{
    const json_t *v;
    int rc = json_field(&v, o, key, AN_INTEGER, needed, where, e);
    if (v)
        *out = json_integer_value(v);
    return rc;
}

static int get_double(const json_t *o, const char *key, double *out, int needed, const char *where,
                      struct err *e)
{
    const json_t *v;
    int rc = json_field(&v, o, key, A_NUMBER, needed, where, e);
    if (v)
        *out = json_number_value(v);
    return rc;
}

static int get_bool(const json_t *o, const char *key, int *out, int needed, const char *where, struct err *e)
{
    const json_t *v;
    int rc = json_field(&v, o, key, A_BOOLEAN, needed, where, e);
    if (v)
        *out = json_is_true(v);
    return rc;
}

static int get_str(const json_t *o, const char *key, const char **out, int needed, const char *where,
                   struct err *e)
{
    const json_t *v;
    int rc = json_field(&v, o, key, A_STRING, needed, where, e);
    if (!v)
        return rc;
    if (strlen(json_string_value(v)) != json_string_length(v))
        return err_set(e, ERR_FORMAT, "%s: field \"%s\" holds a NUL character; remove it", where, key);
    *out = json_string_value(v);
    return 0;
}

int json_get_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e)
{
    return get_int(o, key, out, 1, where, e);
}

int json_get_double(const json_t *o, const char *key, double *out, const char *where, struct err *e)
{
    return get_double(o, key, out, 1, where, e);
}

int json_get_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e)
{
    return get_str(o, key, out, 1, where, e);
}

int json_opt_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e)
{
    return get_int(o, key, out, 0, where, e);
}

int json_opt_double(const json_t *o, const char *key, double *out, const char *where, struct err *e)
{
    return get_double(o, key, out, 0, where, e);
}

int json_opt_bool(const json_t *o, const char *key, int *out, const char *where, struct err *e)
{
    return get_bool(o, key, out, 0, where, e);
}

int json_opt_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e)
{
    return get_str(o, key, out, 0, where, e);
}
