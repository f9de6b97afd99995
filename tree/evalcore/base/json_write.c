/* Writing JSON (contract: json.h). Each value has one text, because job keys are hashes of it: a number
 * has exactly one spelling, and 8 and 8.0 are the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/json.h"

void json_number(struct str *out, double v)
{
    char text[40];
    if (!isfinite(v)) {
        str_puts(out, "null");
        return;
    }
    if (v == 0 && signbit(v)) {
        str_puts(out, "-0.0"); /* "-0" would be read back as the integer 0 */
        return;
    }
    if (v == floor(v) && fabs(v) <= 1e15) {
        str_printf(out, "%.0f", v);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    str_puts(out, text);
}

void json_quote(struct str *out, const char *s, size_t n)
{
    struct str clean = {0};
    str_add_utf8(&clean, s, n);
    str_putc(out, '"');
    size_t from = 0, at = 0;
    for (; at < clean.len; at++) {
        unsigned char c = (unsigned char)clean.data[at];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        str_add(out, clean.data + from, at - from);
        from = at + 1;
        static const char plain[] = "\b\f\n\r\t\"\\", letter[] = "bfnrt\"\\";
        const char *known = c ? strchr(plain, c) : NULL;
        if (known)
            str_printf(out, "\\%c", letter[known - plain]);
        else
            str_printf(out, "\\u%04x", c);
    }
    str_add(out, clean.data + from, at - from);
    str_putc(out, '"');
    str_release(&clean);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_object(struct str *out, const json_t *v)
{
    size_t n = 0;
    const char **keys = xcalloc(json_object_size(v), sizeof *keys);
    json_t *o = (json_t *)(uintptr_t)v; /* jansson's iterators want a mutable object; they do not change it */
    for (void *it = json_object_iter(o); it; it = json_object_iter_next(o, it))
        keys[n++] = json_object_iter_key(it);
    qsort(keys, n, sizeof *keys, by_bytes);
    str_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            str_putc(out, ',');
        json_quote(out, keys[i], strlen(keys[i]));
        str_putc(out, ':');
        json_canonical(out, json_object_get(v, keys[i]));
    }
    str_putc(out, '}');
    free(keys);
}

void json_canonical(struct str *out, const json_t *v)
{
    switch (v ? json_typeof(v) : JSON_NULL) {
    case JSON_OBJECT:
        write_object(out, v);
        break;
    case JSON_ARRAY:
        str_putc(out, '[');
        for (size_t i = 0; i < json_array_size(v); i++) {
            if (i)
                str_putc(out, ',');
            json_canonical(out, json_array_get(v, i));
        }
        str_putc(out, ']');
        break;
    case JSON_STRING:
        json_quote(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        str_printf(out, "%lld", (long long)json_integer_value(v));
        break;
    case JSON_REAL:
        json_number(out, json_real_value(v));
        break;
    case JSON_TRUE:
        str_puts(out, "true");
        break;
    case JSON_FALSE:
        str_puts(out, "false");
        break;
    default:
        str_puts(out, "null");
    }
}

/* For invalid UTF-8 jansson would return NULL, which is easily passed on unnoticed. */
json_t *json_text(const char *s, size_t n)
{
    struct str clean = {0};
    str_add_utf8(&clean, s ? s : "", s ? n : 0);
    json_t *v = json_stringn(str_text(&clean), clean.len);
    str_release(&clean);
    return v;
}

json_t *json_text_of(const char *s)
{
    return json_text(s, s ? strlen(s) : 0);
}
