/* Values of a rendering. Strings are bytes of UTF-8, indexed by characters as in Python, and remember which
 * range of them comes from others: every operation that cuts or joins strings keeps that range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja_parts.h"
#include "evalcore/base/str.h"

int jinja_fail(struct jinja_state *r, int code, const char *fmt, ...)
{
    char line[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    return err_set(r->e, code, "%s, line %d: %s", r->what, r->line, line);
}

void jinja_cost(struct jinja_state *r, size_t n)
{
    r->steps += (long)(n / 256);
}

void *jinja_alloc(struct jinja_state *r, size_t bytes)
{
    if (bytes < JINJA_MEMORY_MAX && r->arena.used < JINJA_MEMORY_MAX)
        return arena_alloc(&r->arena, bytes);
    jinja_fail(r, ERR_UNSUPPORTED, "the template needs more memory than a rendering may use");
    return NULL;
}

struct jvalue jv_int(int64_t v)
{
    return (struct jvalue){.kind = V_INT, .number = v};
}

struct jvalue jv_bool(int v)
{
    return (struct jvalue){.kind = V_BOOL, .number = v != 0};
}

struct jvalue jv_text(const char *text, size_t n)
{
    return (struct jvalue){.kind = V_STRING, .text = text, .n = n};
}

struct jvalue jv_slice(const struct jvalue *s, size_t from, size_t to)
{
    struct jvalue v = *s;
    size_t low = s->from > from ? s->from : from, high = s->to < to ? s->to : to;
    v.text = s->text + from;
    v.n = to - from;
    v.from = low < high ? low - from : 0;
    v.to = low < high ? high - from : 0;
    return v;
}

struct jvalue jv_list(struct jinja_state *r)
{
    struct jvalue v = {.kind = V_LIST, .list = jinja_alloc(r, sizeof *v.list)};
    if (!v.list)
        v.kind = V_NONE;
    return v;
}

void jlist_add(struct jinja_state *r, struct jlist *l, struct jvalue v)
{
    if (!l)
        return;
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 8;
        struct jvalue *more = jinja_alloc(r, cap * sizeof *more);
        if (!more)
            return;
        if (l->n)
            memcpy(more, l->v, l->n * sizeof *more);
        l->v = more;
        l->cap = cap;
    }
    l->v[l->n++] = v;
}

struct jvalue *jdict_find(const struct jlist *l, const char *key, size_t n)
{
    for (size_t i = 0; i + 1 < l->n; i += 2)
        if (l->v[i].kind == V_STRING && l->v[i].n == n && !memcmp(l->v[i].text, key, n))
            return &l->v[i + 1];
    return NULL;
}

void jdict_set(struct jinja_state *r, struct jlist *l, struct jvalue key, struct jvalue v)
{
    struct jvalue *old = jdict_find(l, key.text, key.n);
    if (old) {
        *old = v;
        return;
    }
    jlist_add(r, l, key);
    jlist_add(r, l, v);
}

int jv_true(const struct jvalue *v)
{
    switch (v->kind) {
    case V_UNDEFINED:
    case V_NONE:
        return 0;
    case V_BOOL:
    case V_INT:
        return v->number != 0;
    case V_STRING:
        return v->n > 0;
    case V_LIST:
    case V_DICT:
        return v->list->n > 0;
    default:
        return 1;
    }
}

int jv_equal(struct jinja_state *r, const struct jvalue *a, const struct jvalue *b)
{
    int numbers = (a->kind == V_INT || a->kind == V_BOOL) && (b->kind == V_INT || b->kind == V_BOOL);
    if (numbers)
        return a->number == b->number;
    if (a->kind != b->kind)
        return 0;
    if (a->kind == V_STRING) {
        jinja_cost(r, a->n);
        return a->n == b->n && !memcmp(a->text, b->text, a->n);
    }
    if (a->kind == V_UNDEFINED || a->kind == V_NONE)
        return 1;
    if (a->list == b->list)
        return a->node == b->node && a->text == b->text;
    if (a->kind == V_DICT)
        jinja_fail(r, ERR_UNSUPPORTED, "comparing two mappings is not supported");
    if (a->kind == V_LIST && a->number != b->number)
        jinja_fail(r, ERR_UNSUPPORTED, "comparing a list with a tuple is not supported");
    if (a->kind != V_LIST || a->list->n != b->list->n)
        return 0; /* a namespace equals itself alone */
    jinja_cost(r, 16 * a->list->n);
    for (size_t i = 0; i < a->list->n && !r->e->code; i++) {
        if (a->list->v[i].kind == V_LIST && b->list->v[i].kind == V_LIST)
            jinja_fail(r, ERR_UNSUPPORTED, "comparing lists of lists is not supported");
        else if (!jv_equal(r, &a->list->v[i], &b->list->v[i]))
            return 0;
    }
    return 1;
}

int jv_is(const struct jvalue *v, const char *text)
{
    return v->kind == V_STRING && v->n == strlen(text) && !memcmp(v->text, text, v->n);
}

const char *jv_kind(const struct jvalue *v)
{
    static const char *const names[] = {
        "an undefined value", "none",        "true or false", "a number",   "a string", "a list",
        "a mapping",          "a namespace", "a macro",       "a function", "a method"};
    return names[v->kind];
}

void jtext_add(struct jtext *t, const struct jvalue *v)
{
    size_t at = t->s.len;
    str_add(&t->s, v->text, v->n);
    if (v->from == v->to)
        return;
    t->is_scattered |= v->is_scattered;
    if (t->from == t->to)
        t->from = at + v->from;
    else if (t->to != at + v->from)
        t->is_scattered = 1;
    t->to = at + v->to;
}

struct jvalue jtext_take(struct jinja_state *r, struct jtext *t)
{
    struct jvalue v = {.kind = V_STRING, .text = "", .is_scattered = t->is_scattered};
    char *copy = jinja_alloc(r, t->s.len + 1);
    if (copy) {
        memcpy(copy, str_text(&t->s), t->s.len);
        v.text = copy;
        v.n = t->s.len;
        v.from = t->from;
        v.to = t->to;
    }
    str_release(&t->s);
    return v;
}

int jv_string(struct jinja_state *r, const struct jvalue *v, struct jvalue *out)
{
    char digits[32];
    *out = jv_text("", 0);
    if (v->kind == V_STRING) {
        *out = *v;
    } else if (v->kind == V_NONE) {
        *out = jv_text("None", 4);
    } else if (v->kind == V_BOOL) {
        *out = v->number ? jv_text("True", 4) : jv_text("False", 5);
    } else if (v->kind == V_INT) {
        struct jtext t = {0};
        snprintf(digits, sizeof digits, "%lld", (long long)v->number);
        str_puts(&t.s, digits);
        *out = jtext_take(r, &t);
    } else if (v->kind != V_UNDEFINED) {
        return jinja_fail(r, ERR_UNSUPPORTED, "%s as text is not supported", jv_kind(v));
    }
    return r->e->code;
}

int jv_items(struct jinja_state *r, const struct jvalue *v, struct jvalue *out)
{
    *out = *v;
    if (v->kind == V_LIST)
        return 0;
    *out = jv_list(r);
    if (v->kind == V_DICT) {
        for (size_t i = 0; i < v->list->n; i += 2)
            jlist_add(r, out->list, v->list->v[i]);
    } else if (v->kind == V_STRING) {
        for (size_t i = 0, n; i < v->n && !r->e->code; i += n) {
            n = jinja_char(v->text + i, v->n - i);
            jlist_add(r, out->list, jv_slice(v, i, i + n));
        }
    } else if (v->kind != V_UNDEFINED) {
        return jinja_fail(r, ERR_FORMAT, "a loop over %s is not possible", jv_kind(v));
    }
    return r->e->code;
}

static int has_text(const struct jvalue *s, const struct jvalue *part)
{
    for (size_t i = 0; i + part->n <= s->n; i++)
        if (!memcmp(s->text + i, part->text, part->n))
            return 1;
    return 0;
}

int jv_contains(struct jinja_state *r, const struct jvalue *in, const struct jvalue *v, int *is_in)
{
    struct jvalue items;
    *is_in = 0;
    if (in->kind == V_STRING) {
        if (v->kind != V_STRING)
            return jinja_fail(r, ERR_FORMAT, "%s is looked for in a string", jv_kind(v));
        jinja_cost(r, in->n);
        *is_in = has_text(in, v);
        return 0;
    }
    if (jv_items(r, in, &items))
        return r->e->code;
    for (size_t i = 0; i < items.list->n; i++)
        *is_in |= jv_equal(r, &items.list->v[i], v);
    jinja_cost(r, 16 * items.list->n);
    return r->e->code;
}

int64_t jv_length(struct jinja_state *r, const struct jvalue *v)
{
    int64_t n = 0;
    jinja_cost(r, v->n);
    if (v->kind == V_STRING)
        for (size_t i = 0; i < v->n; i += jinja_char(v->text + i, v->n - i))
            n++;
    else if (v->kind == V_LIST || v->kind == V_DICT)
        n = (int64_t)(v->kind == V_LIST ? v->list->n : v->list->n / 2);
    else if (v->kind != V_UNDEFINED)
        jinja_fail(r, ERR_FORMAT, "%s has no length", jv_kind(v));
    return n;
}

/* Byte offset of character i, which is at most the length. */
static size_t byte_offset(const struct jvalue *s, int64_t i)
{
    size_t at = 0;
    while (i-- > 0 && at < s->n)
        at += jinja_char(s->text + at, s->n - at);
    return at;
}

struct jvalue jv_item(struct jinja_state *r, const struct jvalue *of, const struct jvalue *key)
{
    struct jvalue none = {0}, *found;
    if (of->kind == V_DICT || of->kind == V_SPACE) {
        found = key->kind == V_STRING ? jdict_find(of->list, key->text, key->n) : NULL;
        return found ? *found : none;
    }
    if ((of->kind != V_LIST && of->kind != V_STRING) || key->kind != V_INT)
        return none;
    int64_t n = jv_length(r, of), i = key->number < 0 ? key->number + n : key->number;
    if (i < 0 || i >= n)
        return none;
    return of->kind == V_LIST ? of->list->v[i] : jv_slice(of, byte_offset(of, i), byte_offset(of, i + 1));
}

int jv_part(struct jinja_state *r, const struct jvalue *of, const struct jvalue at[3], struct jvalue *out)
{
    int64_t n = jv_length(r, of), step = at[2].kind == V_INT ? at[2].number : 1, bound[2];
    if (r->e->code)
        return r->e->code;
    if ((of->kind != V_STRING && of->kind != V_LIST) || !step || (step != 1 && of->kind == V_STRING))
        return jinja_fail(r, ERR_UNSUPPORTED, "this slice of %s is not supported", jv_kind(of));
    for (int i = 0; i < 2; i++) {
        int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
        bound[i] = (i == 0) == (step > 0) ? low : high;
        if (at[i].kind == V_INT) {
            int64_t v = at[i].number < 0 ? at[i].number + n : at[i].number;
            bound[i] = v < low ? low : v > high ? high : v;
        } else if (at[i].kind != V_NONE && at[i].kind != V_UNDEFINED) {
            return jinja_fail(r, ERR_FORMAT, "a slice is bounded by %s", jv_kind(&at[i]));
        }
    }
    if (of->kind == V_STRING) {
        size_t from = byte_offset(of, bound[0]), to = byte_offset(of, bound[1]);
        *out = jv_slice(of, from, to > from ? to : from);
        return 0;
    }
    *out = jv_list(r);
    for (int64_t i = bound[0]; step > 0 ? i < bound[1] : i > bound[1]; i += step) {
        jlist_add(r, out->list, of->list->v[i]);
        if (step > n || step < -n)
            break;
    }
    return r->e->code;
}

/* Bytes of the character at p, when it is one of `chars` (NULL: white space), else 0. */
static size_t stripped_bytes(const char *p, size_t n, const struct jvalue *chars, int at_end)
{
    if (!chars)
        return at_end ? str_space_before(p, n) : str_space_at(p, n);
    for (size_t i = 0, k; i < chars->n; i += k) {
        k = jinja_char(chars->text + i, chars->n - i);
        if (k <= n && !memcmp(at_end ? p + n - k : p, chars->text + i, k))
            return k;
    }
    return 0;
}

struct jvalue jv_strip(const struct jvalue *s, const struct jvalue *chars, int left, int right)
{
    size_t from = 0, to = s->n, k;
    while (left && from < to && (k = stripped_bytes(s->text + from, to - from, chars, 0)))
        from += k;
    while (right && from < to && (k = stripped_bytes(s->text + from, to - from, chars, 1)))
        to -= k;
    return jv_slice(s, from, to);
}

struct jvalue *jscope_find(struct jscope *s, const char *name, size_t n)
{
    for (; s; s = s->up) {
        struct jvalue *v = jdict_find(&s->vars, name, n);
        if (v)
            return v;
    }
    return NULL;
}

void jscope_set(struct jinja_state *r, const char *name, size_t n, struct jvalue v)
{
    jdict_set(r, &r->scope->vars, jv_text(name, n), v);
}
