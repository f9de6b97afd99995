/* Filters, tests and methods that chat templates use on the way of a prompt without tools. What is not in the
 * tables here is refused when it is reached. */
#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja_parts.h"

static int refuse_arguments(struct jinja_state *r, const char *what, const char *name, const struct jvalue *v)
{
    return jinja_fail(r, ERR_UNSUPPORTED, "the %s \"%s\" on %s, or with these arguments, is not supported",
                      what, name, jv_kind(v));
}

static const struct jvalue *argument_at(const struct jargs *a, size_t i)
{
    return i < a->at.n ? &a->at.v[i] : NULL;
}

static int quote_json(struct jinja_state *r, const struct jvalue *v, struct jtext *t)
{
    static const char escapes[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
    str_putc(&t->s, '"');
    for (size_t i = 0; i < v->n; i++) {
        const char *known = v->text[i] ? strchr(escapes, v->text[i]) : NULL;
        if (known)
            str_printf(&t->s, "\\%c", letters[known - escapes]);
        else if ((unsigned char)v->text[i] < 32)
            str_printf(&t->s, "\\u%04x", (unsigned)(unsigned char)v->text[i]);
        else
            str_putc(&t->s, v->text[i]);
    }
    str_putc(&t->s, '"');
    return r->e->code;
}

/* As json.dumps(v, ensure_ascii=False) writes it. */
static int json_of(struct jinja_state *r, const struct jvalue *v, struct jtext *t)
{
    int rc = 0, is_dict = v->kind == V_DICT;
    if (++r->depth > 4 * JINJA_DEPTH_MAX || t->s.len > JINJA_MEMORY_MAX || ++r->steps > JINJA_STEPS_MAX)
        return jinja_fail(r, ERR_UNSUPPORTED, "this value as JSON is too large or nested too deeply");
    if (v->kind == V_STRING) {
        size_t from = t->s.len;
        rc = quote_json(r, v, t);
        if (v->from < v->to) { /* all of it counts as coming from others */
            t->is_scattered |= v->is_scattered || (t->from < t->to && t->to != from);
            t->from = t->from < t->to ? t->from : from;
            t->to = t->s.len;
        }
    } else if (v->kind == V_LIST || is_dict) {
        str_putc(&t->s, is_dict ? '{' : '[');
        for (size_t i = 0; i < v->list->n && !rc; i++) {
            if (i)
                str_puts(&t->s, is_dict && i % 2 ? ": " : ", ");
            rc = json_of(r, &v->list->v[i], t);
        }
        str_putc(&t->s, is_dict ? '}' : ']');
    } else if (v->kind == V_INT) {
        str_printf(&t->s, "%lld", (long long)v->number);
    } else if (v->kind == V_BOOL || v->kind == V_NONE) {
        str_puts(&t->s, v->kind == V_NONE ? "null" : v->number ? "true" : "false");
    } else {
        rc = refuse_arguments(r, "filter", "tojson", v);
    }
    r->depth--;
    return rc;
}

static int replace_text(struct jinja_state *r, const struct jvalue *v, const struct jvalue *from,
                        const struct jvalue *to, struct jvalue *out)
{
    struct jtext t = {0};
    size_t done = 0;
    for (size_t i = 0; i + from->n <= v->n && t.s.len < JINJA_MEMORY_MAX;) {
        if (memcmp(v->text + i, from->text, from->n)) {
            i++;
            continue;
        }
        struct jvalue part = jv_slice(v, done, i), new = *to;
        if (i < v->to && i + from->n > v->from) { /* what stands for others' text counts as theirs */
            new.from = 0;
            new.to = new.n;
        }
        jtext_add(&t, &part);
        jtext_add(&t, &new);
        done = i += from->n;
    }
    /* Where that bound ended the loop, jtext_take() refuses the text. */
    struct jvalue rest = jv_slice(v, done, v->n);
    jtext_add(&t, &rest);
    t.is_scattered |= v->is_scattered;
    *out = jtext_take(r, &t);
    return r->e->code;
}

static int change_case(struct jinja_state *r, const char *name, const struct jvalue *v, struct jvalue *out)
{
    struct jtext t = {0};
    for (size_t i = 0; i < v->n; i++)
        if ((unsigned char)v->text[i] > 127)
            return refuse_arguments(r, "change of case", name, v);
    jtext_add(&t, v);
    for (size_t i = 0; i < v->n; i++) {
        char *c = &t.s.data[i];
        if (*name == 'u' && *c >= 'a' && *c <= 'z')
            *c = (char)(*c - 32);
        if (*name == 'l' && *c >= 'A' && *c <= 'Z')
            *c = (char)(*c + 32);
    }
    *out = jtext_take(r, &t);
    return r->e->code;
}

static int join_list(struct jinja_state *r, const struct jvalue *list, const struct jvalue *with,
                     struct jvalue *out)
{
    struct jtext t = {0};
    struct jvalue items, text;
    int rc = jv_items(r, list, &items);
    for (size_t i = 0; !rc && i < items.list->n && t.s.len < JINJA_MEMORY_MAX; i++) {
        if (i && with)
            jtext_add(&t, with);
        rc = jv_string(r, &items.list->v[i], &text);
        if (!rc)
            jtext_add(&t, &text);
    }
    *out = jtext_take(r, &t);
    return rc ? rc : r->e->code;
}

static int pairs_of(struct jinja_state *r, const struct jvalue *v, struct jvalue *out)
{
    *out = jv_list(r);
    for (size_t i = 0; v->kind == V_DICT && i < v->list->n && !r->e->code; i += 2) {
        struct jvalue pair = jv_list(r);
        jlist_add(r, pair.list, v->list->v[i]);
        jlist_add(r, pair.list, v->list->v[i + 1]);
        jlist_add(r, out->list, pair);
    }
    return r->e->code;
}

/* selectattr, rejectattr: key, test, value. map: attribute=key. */
static int by_attribute(struct jinja_state *r, const char *name, const struct jvalue *v,
                        const struct jargs *a, struct jvalue *out)
{
    struct jvalue items, *named = jdict_find(&a->named, "attribute", 9);
    const struct jvalue *key = *name == 'm' ? named : argument_at(a, 0), *test = argument_at(a, 1);
    if (!key || key->kind != V_STRING || memchr(key->text, '.', key->n) || (test && test->kind != V_STRING) ||
        (*name == 'm' && (a->at.n || a->named.n != 2)))
        return refuse_arguments(r, "filter", name, v);
    struct jargs rest = {.at = {.v = a->at.v + 2, .n = a->at.n > 2 ? a->at.n - 2 : 0}};
    int rc = jv_items(r, v, &items);
    *out = jv_list(r);
    for (size_t i = 0; !rc && i < items.list->n && !r->e->code; i++) {
        struct jvalue value = jv_item(r, &items.list->v[i], key);
        int yes = jv_true(&value);
        if (*name == 'm') {
            jlist_add(r, out->list, value);
            continue;
        }
        if (test)
            rc = jinja_test(r, test->text, &value, &rest, &yes);
        if (yes == (*name == 's'))
            jlist_add(r, out->list, items.list->v[i]);
    }
    return rc ? rc : r->e->code;
}

static int is_name(const char *name, const char *a, const char *b)
{
    return !strcmp(name, a) || (b && !strcmp(name, b));
}

static int text_filter(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *a,
                       struct jvalue *out)
{
    struct jvalue s;
    if (jv_string(r, v, &s))
        return r->e->code;
    *out = s;
    if (is_name(name, "trim", NULL) && a->at.n <= 1 && (!a->at.n || a->at.v[0].kind == V_STRING))
        *out = jv_strip(&s, argument_at(a, 0), 1, 1);
    else if (is_name(name, "safe", NULL))
        out->is_markup = 1;
    else if (is_name(name, "upper", "lower"))
        return change_case(r, name, &s, out);
    else if (is_name(name, "replace", NULL) && a->at.n == 2 && a->at.v[0].kind == V_STRING && a->at.v[0].n &&
             a->at.v[1].kind == V_STRING)
        return replace_text(r, &s, &a->at.v[0], &a->at.v[1], out);
    else if (!is_name(name, "string", NULL))
        return refuse_arguments(r, "filter", name, v);
    return 0;
}

static int list_filter(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *a,
                       struct jvalue *out)
{
    struct jvalue items, last = jv_int(*name == 'l' ? -1 : 0);
    const struct jvalue *with = argument_at(a, 0);
    if (is_name(name, "selectattr", "rejectattr") || is_name(name, "map", NULL))
        return by_attribute(r, name, v, a, out);
    if (a->named.n || a->at.n > (size_t)is_name(name, "join", NULL) || (with && with->kind != V_STRING))
        return refuse_arguments(r, "filter", name, v);
    if (is_name(name, "join", NULL))
        return join_list(r, v, with, out);
    if (is_name(name, "items", NULL))
        return v->kind == V_DICT || v->kind == V_UNDEFINED ? pairs_of(r, v, out)
                                                           : refuse_arguments(r, "filter", name, v);
    if (jv_items(r, v, &items))
        return r->e->code;
    *out = is_name(name, "list", NULL) ? items : jv_item(r, &items, &last);
    return 0;
}

int jinja_filter(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *a,
                 struct jvalue *out)
{
    static const char *const lists[] = {"selectattr", "rejectattr", "map",   "join",
                                        "items",      "list",       "first", "last"};
    struct jtext t = {0};
    jinja_cost(r, v->n);
    if (is_name(name, "length", "count") && !a->at.n) {
        *out = jv_int(jv_length(r, v));
        return r->e->code;
    }
    if (is_name(name, "tojson", NULL)) {
        struct jvalue *ascii = jdict_find(&a->named, "ensure_ascii", 12);
        if (a->at.n || a->named.n > (ascii ? 2 : 0) || (ascii && jv_true(ascii)))
            return refuse_arguments(r, "filter", name, v);
        int rc = json_of(r, v, &t);
        *out = jtext_take(r, &t);
        return rc ? rc : r->e->code;
    }
    if (is_name(name, "default", "d") && a->at.n && a->at.n <= 2 && !a->named.n) {
        int or_false = a->at.n == 2 && jv_true(&a->at.v[1]);
        *out = v->kind == V_UNDEFINED || (or_false && !jv_true(v)) ? a->at.v[0] : *v;
        return 0;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(name, lists[i]))
            return list_filter(r, name, v, a, out);
    return a->named.n ? refuse_arguments(r, "filter", name, v) : text_filter(r, name, v, a, out);
}

int jinja_test(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *a,
               int *out)
{
    static const struct {
        const char *name;
        unsigned kinds; /* bits of enum jvalue_kind */
    } tests[] = {
        {"undefined", 1u << V_UNDEFINED},
        {"none", 1u << V_NONE},
        {"string", 1u << V_STRING},
        {"mapping", 1u << V_DICT},
        {"boolean", 1u << V_BOOL},
        {"integer", 1u << V_INT},
        {"number", 1u << V_INT | 1u << V_BOOL},
        {"iterable", 1u << V_UNDEFINED | 1u << V_STRING | 1u << V_LIST | 1u << V_DICT},
        {"sequence", 1u << V_UNDEFINED | 1u << V_STRING | 1u << V_LIST | 1u << V_DICT},
        {"callable", 1u << V_UNDEFINED | 1u << V_MACRO | 1u << V_FUNCTION | 1u << V_METHOD},
    };
    const struct jvalue *other = argument_at(a, 0);
    for (size_t i = 0; i < sizeof tests / sizeof *tests && !a->at.n; i++)
        if (!strcmp(name, tests[i].name))
            return *out = (tests[i].kinds >> v->kind & 1) != 0, 0;
    if (is_name(name, "defined", NULL) && !other)
        *out = v->kind != V_UNDEFINED;
    else if (is_name(name, "true", "false") && !other)
        *out = v->kind == V_BOOL && v->number == (*name == 't');
    else if ((is_name(name, "equalto", "eq") || is_name(name, "==", NULL)) && other)
        *out = jv_equal(r, v, other);
    else if ((is_name(name, "ne", "!=")) && other)
        *out = !jv_equal(r, v, other);
    else if (is_name(name, "in", NULL) && other)
        return jv_contains(r, other, v, out);
    else if (is_name(name, "odd", "even") && !other && v->kind == V_INT)
        *out = (v->number & 1) == (*name == 'o');
    else
        return refuse_arguments(r, "test", name, v);
    return r->e->code;
}

static const char *const string_methods[] = {"strip",   "lstrip", "rstrip", "startswith", "endswith", "split",
                                             "replace", "upper",  "lower",  "find",       NULL};
static const char *const dict_methods[] = {
    "get",   "items", "keys",     "values", /* and those that may not be called: */
    "clear", "copy",  "fromkeys", "pop",    "popitem", "setdefault", "update", NULL};

int jinja_has_method(const struct jvalue *v, const char *name)
{
    const char *const *m = v->kind == V_STRING ? string_methods : v->kind == V_DICT ? dict_methods : NULL;
    for (; m && *m; m++)
        if (!strcmp(*m, name))
            return 1;
    return 0;
}

static int split_text(struct jinja_state *r, const struct jvalue *s, const struct jvalue *by, int64_t most,
                      struct jvalue *out)
{
    size_t from = 0;
    *out = jv_list(r);
    for (size_t i = 0; i + by->n <= s->n && most && !r->e->code;) {
        if (memcmp(s->text + i, by->text, by->n)) {
            i++;
            continue;
        }
        jlist_add(r, out->list, jv_slice(s, from, i));
        from = i += by->n;
        most--;
    }
    jlist_add(r, out->list, jv_slice(s, from, s->n));
    return r->e->code;
}

static int string_method(struct jinja_state *r, const char *name, const struct jvalue *v,
                         const struct jargs *a, struct jvalue *out)
{
    const struct jvalue *x = argument_at(a, 0), *y = argument_at(a, 1);
    int is_text = x && x->kind == V_STRING;
    if (strstr(name, "strip") && (!x || is_text) && !y) {
        *out = jv_strip(v, x, *name != 'r', *name != 'l');
    } else if (is_name(name, "startswith", "endswith") && is_text && !y) {
        size_t at = *name == 's' || x->n > v->n ? 0 : v->n - x->n;
        *out = jv_bool(x->n <= v->n && !memcmp(v->text + at, x->text, x->n));
    } else if (is_name(name, "split", NULL) && is_text && x->n && (!y || y->kind == V_INT)) {
        return split_text(r, v, x, y ? y->number : -1, out);
    } else if (is_name(name, "replace", NULL) && is_text && x->n && y && y->kind == V_STRING &&
               a->at.n == 2) {
        return replace_text(r, v, x, y, out);
    } else if (is_name(name, "upper", "lower") && !x) {
        return change_case(r, name, v, out);
    } else if (is_name(name, "find", NULL) && is_text && !y) {
        size_t i = 0;
        while (i + x->n <= v->n && memcmp(v->text + i, x->text, x->n))
            i++;
        struct jvalue head = jv_slice(v, 0, i <= v->n ? i : v->n);
        *out = jv_int(i + x->n <= v->n ? jv_length(r, &head) : -1);
    } else {
        return refuse_arguments(r, "method", name, v);
    }
    return 0;
}

int jinja_method(struct jinja_state *r, const char *name, const struct jvalue *v, const struct jargs *a,
                 struct jvalue *out)
{
    jinja_cost(r, v->n);
    if (a->named.n)
        return refuse_arguments(r, "method", name, v);
    if (v->kind == V_STRING)
        return string_method(r, name, v, a, out);
    if (is_name(name, "get", NULL)) {
        if (!a->at.n || a->at.n > 2 || a->at.v[0].kind != V_STRING)
            return refuse_arguments(r, "method", name, v);
        struct jvalue *found = jdict_find(v->list, a->at.v[0].text, a->at.v[0].n);
        *out = found ? *found : a->at.n > 1 ? a->at.v[1] : (struct jvalue){.kind = V_NONE};
        return 0;
    }
    if (a->at.n)
        return refuse_arguments(r, "method", name, v);
    if (is_name(name, "items", NULL))
        return pairs_of(r, v, out);
    if (!is_name(name, "keys", "values"))
        return refuse_arguments(r, "method", name, v);
    *out = jv_list(r);
    for (size_t i = *name == 'v'; i < v->list->n; i += 2)
        jlist_add(r, out->list, v->list->v[i]);
    return r->e->code;
}
