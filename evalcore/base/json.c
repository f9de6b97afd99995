/* Reading JSON with jansson (contract: json.h): errors that a person can act on. NULs in strings are allowed
 * in because model output may hold them; a field asked for as C text must not. */
#include "evalcore/base/json.h"

#include <string.h>

#include "evalcore/base/file.h"

int json_read_text(json_t **out, const char *text, size_t n, const char *what, struct err *e)
{
    json_error_t bad;
    size_t blank = 0;
    *out = NULL;
    while (blank < n && strchr(" \t\r\n", text[blank]) && text[blank])
        blank++;
    if (blank == n)
        return err_set(e, ERR_FORMAT, "%s:1:1: not valid JSON: there is nothing in it", what);
    *out = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &bad);
    if (*out)
        return 0;
    return err_set(e, ERR_FORMAT, "%s:%d:%d: not valid JSON: %s", what, bad.line < 1 ? 1 : bad.line,
                   bad.column < 1 ? 1 : bad.column, bad.text);
}

int json_read_file(json_t **out, const char *path, struct err *e)
{
    struct str text = {0};
    *out = NULL;
    int rc = file_read(path, &text, e);
    if (!rc)
        rc = json_read_text(out, text.data, text.len, path, e);
    str_release(&text);
    return rc;
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

static int wrong_type(struct err *e, const char *where, const char *key, const json_t *v, const char *want)
{
    return err_set(e, ERR_FORMAT, "%s: field \"%s\" must be %s, but it is %s", where, key, want,
                   type_name(v));
}

/* The field, or NULL: with an error when it is needed, without one when it is optional and missing or null.
 */
static const json_t *field(const json_t *o, const char *key, int needed, const char *where, struct err *e,
                           int *rc)
{
    *rc = 0;
    if (!json_is_object(o)) {
        *rc = err_set(e, ERR_FORMAT, "%s: an object with a field \"%s\" was expected, but this is %s", where,
                      key, o ? type_name(o) : "missing");
        return NULL;
    }
    const json_t *v = json_object_get(o, key);
    if (v && (needed || !json_is_null(v)))
        return v;
    if (needed)
        *rc = err_set(e, ERR_FORMAT, "%s: field \"%s\" is missing", where, key);
    return NULL;
}

static int get_int(const json_t *o, const char *key, int64_t *out, int needed, const char *where,
                   struct err *e)
{
    int rc;
    const json_t *v = field(o, key, needed, where, e, &rc);
    if (!v)
        return rc;
    if (!json_is_integer(v))
        return wrong_type(e, where, key, v, "an integer");
    *out = json_integer_value(v);
    return 0;
}

static int get_double(const json_t *o, const char *key, double *out, int needed, const char *where,
                      struct err *e)
{
    int rc;
    const json_t *v = field(o, key, needed, where, e, &rc);
    if (!v)
        return rc;
    if (!json_is_number(v))
        return wrong_type(e, where, key, v, "a number");
    *out = json_number_value(v);
    return 0;
}

static int get_bool(const json_t *o, const char *key, int *out, int needed, const char *where, struct err *e)
{
    int rc;
    const json_t *v = field(o, key, needed, where, e, &rc);
    if (!v)
        return rc;
    if (!json_is_boolean(v))
        return wrong_type(e, where, key, v, "true or false");
    *out = json_is_true(v);
    return 0;
}

static int get_str(const json_t *o, const char *key, const char **out, int needed, const char *where,
                   struct err *e)
{
    int rc;
    const json_t *v = field(o, key, needed, where, e, &rc);
    if (!v)
        return rc;
    if (!json_is_string(v))
        return wrong_type(e, where, key, v, "a string");
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

int json_get_bool(const json_t *o, const char *key, int *out, const char *where, struct err *e)
{
    return get_bool(o, key, out, 1, where, e);
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
