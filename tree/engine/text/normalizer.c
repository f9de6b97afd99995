/* The steps of a normalizer (contract: tokenizer_parts.h). They do what the tokenizers library's normalizers
 * of these names do: Prepend leaves an empty text alone, Strip takes away White_Space. */
#include "engine/text/tokenizer_parts.h"

#include <string.h>

#include "engine/text/unicode.h"

static struct normalizer_step *add_step(struct normalizer *z, enum normalizer_kind kind, const char *what,
                                        struct err *e)
{
    if (z->n == NORMALIZER_STEPS) {
        err_set(e, ERR_UNSUPPORTED, "%s: normalizer has more than %d steps", what, NORMALIZER_STEPS);
        return NULL;
    }
    z->step[z->n].kind = kind;
    return &z->step[z->n++];
}

static int add_strip(struct normalizer *z, const json_t *spec, const char *what, struct err *e)
{
    struct normalizer_step *s = add_step(z, NORMALIZE_STRIP, what, e);
    if (!s)
        return e->code;
    int rc = json_opt_bool(spec, "strip_left", &s->left, what, e);
    return rc ? rc : json_opt_bool(spec, "strip_right", &s->right, what, e);
}

static int add_prepend(struct normalizer *z, const json_t *spec, const char *what, struct err *e)
{
    const char *text;
    int rc = json_get_str(spec, "prepend", &text, what, e);
    struct normalizer_step *s = rc ? NULL : add_step(z, NORMALIZE_PREPEND, what, e);
    if (!s)
        return e->code;
    str_puts(&s->to, text);
    return 0;
}

static int add_replace(struct normalizer *z, const json_t *spec, const char *what, struct err *e)
{
    const char *content;
    const json_t *from = json_object_get(json_object_get(spec, "pattern"), "String");
    if (!json_string_length(from))
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: normalizer Replace needs a pattern of the form {\"String\": \"...\"}", what);
    int rc = json_get_str(spec, "content", &content, what, e);
    struct normalizer_step *s = rc ? NULL : add_step(z, NORMALIZE_REPLACE, what, e);
    if (!s)
        return e->code;
    str_add(&s->from, json_string_value(from), json_string_length(from));
    str_puts(&s->to, content);
    return 0;
}

static int read_one(struct normalizer *z, const json_t *spec, int depth, const char *what, struct err *e)
{
    const char *type;
    if (!spec || json_is_null(spec))
        return 0;
    int rc = json_get_str(spec, "type", &type, what, e);
    if (rc)
        return err_add(e, "normalizer");
    if (!strcmp(type, "NFC"))
        return add_step(z, NORMALIZE_NFC, what, e) ? 0 : e->code;
    if (!strcmp(type, "Strip"))
        return add_strip(z, spec, what, e);
    if (!strcmp(type, "Prepend"))
        return add_prepend(z, spec, what, e);
    if (!strcmp(type, "Replace"))
        return add_replace(z, spec, what, e);
    if (strcmp(type, "Sequence") || depth > 4)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: normalizer %.60s is not supported; NFC, Strip, Prepend, Replace and Sequence are",
                       what, type);
    const json_t *list = json_object_get(spec, "normalizers");
    for (size_t i = 0; !rc && i < json_array_size(list); i++)
        rc = read_one(z, json_array_get(list, i), depth + 1, what, e);
    return rc;
}

int normalizer_open(struct normalizer *z, const json_t *spec, const char *what, struct err *e)
{
    *z = (struct normalizer){0};
    return read_one(z, spec, 0, what, e);
}

void normalizer_close(struct normalizer *z)
{
    for (int i = 0; i < z->n; i++) {
        str_release(&z->step[i].from);
        str_release(&z->step[i].to);
    }
    *z = (struct normalizer){0};
}

static int strip_text(const struct normalizer_step *s, const char *text, size_t n, struct str *out,
                      size_t mark[2])
{
    size_t from = 0, to = n, step;
    while (s->left && from < to && unicode_is_space(utf8_after(text, to, from, &step)))
        from += step;
    while (s->right && to > from && unicode_is_space(utf8_before(text, to, &step)))
        to -= step;
    if (from == 0 && to == n)
        return 0;
    str_clear(out);
    str_add(out, text + from, to - from);
    for (int i = 0; i < 2; i++)
        mark[i] = mark[i] < from ? 0 : mark[i] > to ? to - from : mark[i] - from;
    return 1;
}

static int prepend_text(const struct normalizer_step *s, const char *text, size_t n, struct str *out,
                        size_t mark[2])
{
    if (!n || !s->to.len)
        return 0;
    str_clear(out);
    str_add(out, s->to.data, s->to.len);
    str_add(out, text, n);
    for (int i = 0; i < 2; i++)
        mark[i] += s->to.len;
    return 1;
}

/* The next place of `what` in text[at..n), or n. */
static size_t find_text(const char *text, size_t n, size_t at, const struct str *what)
{
    const char *p;
    while (at + what->len <= n && (p = memchr(text + at, what->data[0], n - at - what->len + 1))) {
        at = (size_t)(p - text);
        if (!memcmp(p, what->data, what->len))
            return at;
        at++;
    }
    return n;
}

static int replace_text(const struct normalizer_step *s, const char *text, size_t n, struct str *out,
                        size_t mark[2])
{
    size_t done = 0, at = find_text(text, n, 0, &s->from);
    if (at == n)
        return 0;
    size_t moved[2] = {mark[0], mark[1]};
    str_clear(out);
    for (; at < n; at = find_text(text, n, done, &s->from)) {
        str_add(out, text + done, at - done);
        size_t before = out->len, end = at + s->from.len;
        str_add(out, str_text(&s->to), s->to.len);
        for (int i = 0; i < 2; i++)
            if (mark[i] >= end)
                moved[i] = out->len + (mark[i] - end);
            else if (mark[i] > at)
                moved[i] = i == 0 ? before : out->len;
        done = end;
    }
    str_add(out, text + done, n - done);
    mark[0] = moved[0];
    mark[1] = moved[1];
    return 1;
}

int normalizer_apply(const struct normalizer *z, const char *text, size_t n, struct str buffer[2],
                     size_t mark[2])
{
    int changed = 0;
    for (int i = 0; i < z->n; i++) {
        const struct normalizer_step *s = &z->step[i];
        struct str *out = &buffer[1];
        int moved = s->kind == NORMALIZE_NFC       ? nfc_normalize(text, n, out, mark)
                    : s->kind == NORMALIZE_STRIP   ? strip_text(s, text, n, out, mark)
                    : s->kind == NORMALIZE_PREPEND ? prepend_text(s, text, n, out, mark)
                                                   : replace_text(s, text, n, out, mark);
        if (!moved)
            continue;
        struct str last = buffer[0];
        buffer[0] = buffer[1];
        buffer[1] = last;
        text = str_text(&buffer[0]);
        n = buffer[0].len;
        changed = 1;
    }
    return changed;
}
