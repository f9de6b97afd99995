/* Expressions. A node that is visited costs a step, so that a template cannot run for long. */
#include <string.h>

#include "engine/text/jinja/jinja_parts.h"

static int count_step(struct jinja_state *r, const struct jnode *n)
{
    r->line = n->line;
    if (++r->steps > JINJA_STEPS_MAX)
        return jinja_fail(r, ERR_UNSUPPORTED, "the template runs for too long");
    return r->e->code;
}

static int eval_args(struct jinja_state *r, const struct jnode *list, struct jargs *out)
{
    struct jvalue v;
    for (; list && !r->e->code; list = list->next) {
        if (jinja_eval(r, list->a, &v))
            break;
        if (list->text)
            jdict_set(r, &out->named, jv_text(list->text, list->n), v);
        else
            jlist_add(r, &out->at, v);
    }
    return r->e->code;
}

static int call_macro(struct jinja_state *r, const struct jvalue *macro, struct jargs *a, struct jvalue *out)
{
    struct jscope inner = {.up = macro->scope}, *outer = r->scope;
    struct jtext text = {0};
    size_t i = 0, n_named = 0;
    r->scope = &inner;
    for (const struct jnode *p = macro->node->list; p && !r->e->code; p = p->next, i++) {
        struct jvalue v = {0}, *named = jdict_find(&a->named, p->text, p->n);
        if (i < a->at.n)
            v = a->at.v[i];
        else if (named)
            v = *named;
        else if (p->a)
            jinja_eval(r, p->a, &v);
        n_named += named != NULL;
        jscope_set(r, p->text, p->n, v);
    }
    if (a->at.n > i || 2 * n_named != a->named.n)
        jinja_fail(r, ERR_UNSUPPORTED, "the macro %s is called with further arguments", macro->node->text);
    if (!r->e->code)
        jinja_exec(r, macro->node->body, &text);
    *out = jtext_take(r, &text);
    r->scope = outer;
    return r->e->code;
}

static int call_range(struct jinja_state *r, const struct jargs *a, struct jvalue *out)
{
    int64_t at[3] = {0, 0, 1};
    for (size_t i = 0; i < a->at.n && i < 3; i++)
        at[i] = a->at.v[i].number;
    for (size_t i = 0; i < a->at.n; i++)
        if (a->at.v[i].kind != V_INT || a->at.n > 3)
            return jinja_fail(r, ERR_UNSUPPORTED, "range() wants one to three numbers");
    if (a->at.n == 1) {
        at[1] = at[0];
        at[0] = 0;
    }
    *out = jv_list(r);
    if (!a->at.n || !at[2] || at[1] > JINJA_STEPS_MAX || at[1] < -JINJA_STEPS_MAX ||
        at[0] < -JINJA_STEPS_MAX || at[0] > JINJA_STEPS_MAX)
        return jinja_fail(r, ERR_UNSUPPORTED, "range() with these numbers is not supported");
    for (int64_t i = at[0]; (at[2] > 0 ? i < at[1] : i > at[1]) && !r->e->code; i += at[2]) {
        jlist_add(r, out->list, jv_int(i));
        if (at[2] > JINJA_STEPS_MAX || at[2] < -JINJA_STEPS_MAX)
            break;
    }
    return r->e->code;
}

static int call_function(struct jinja_state *r, const char *name, const struct jargs *a, struct jvalue *out)
{
    if (!strcmp(name, "raise_exception")) {
        struct jvalue text = jv_text("", 0);
        if (a->at.n)
            jv_string(r, &a->at.v[0], &text);
        return jinja_fail(r, ERR_USAGE, "the template refuses these messages: %.*s",
                          text.n < 400 ? (int)text.n : 400, text.text);
    }
    if (!strcmp(name, "range") && !a->named.n)
        return call_range(r, a, out);
    if (!strcmp(name, "namespace") && (!a->at.n || (a->at.n == 1 && a->at.v[0].kind == V_DICT))) {
        *out = jv_list(r);
        out->kind = V_SPACE;
        for (size_t i = 0; a->at.n && i < a->at.v[0].list->n; i += 2)
            jdict_set(r, out->list, a->at.v[0].list->v[i], a->at.v[0].list->v[i + 1]);
        for (size_t i = 0; i < a->named.n; i += 2)
            jdict_set(r, out->list, a->named.v[i], a->named.v[i + 1]);
        return r->e->code;
    }
    if (!strcmp(name, "strftime_now"))
        return jinja_fail(r, ERR_UNSUPPORTED,
                          "the template writes today's date into the prompt, so results would change from "
                          "day to day");
    return jinja_fail(r, ERR_UNSUPPORTED, "the function %s is not supported like this", name);
}

static int eval_call(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue f;
    struct jargs a = {{0}, {0}};
    if (jinja_eval(r, n->a, &f) || eval_args(r, n->list, &a))
        return r->e->code;
    r->line = n->line;
    if (f.kind == V_MACRO)
        return call_macro(r, &f, &a, out);
    if (f.kind == V_METHOD)
        return jinja_method(r, f.text, &f.list->v[0], &a, out);
    if (f.kind == V_FUNCTION)
        return call_function(r, f.text, &a, out);
    return jinja_fail(r, ERR_UNSUPPORTED, "%s%s%s is called, which is not supported", jv_kind(&f),
                      n->a->text ? " named " : "", n->a->text ? n->a->text : "");
}

static int eval_name(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    static const char *const functions[] = {"raise_exception", "namespace", "range", "strftime_now", "dict",
                                            "joiner",          "cycler",    "lipsum"};
    struct jvalue *v = jscope_find(r->scope, n->text, n->n);
    if (v) {
        *out = *v;
        return 0;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(n->text, functions[i]))
            *out = (struct jvalue){.kind = V_FUNCTION, .text = functions[i]};
    return 0;
}

static int method_of(struct jinja_state *r, const struct jvalue *of, const char *name, struct jvalue *out)
{
    *out = jv_list(r);
    jlist_add(r, out->list, *of);
    out->kind = V_METHOD;
    out->text = name;
    return r->e->code;
}

/* What the variable loop lacks here, such as depth, must not look undefined; its neighbours may be. */
static int check_loop(struct jinja_state *r, const struct jvalue *of, const char *name,
                      const struct jvalue *found)
{
    if (of->kind != V_SPACE || !of->text || found->kind != V_UNDEFINED || !strcmp(name, "previtem") ||
        !strcmp(name, "nextitem"))
        return 0;
    return jinja_fail(r, ERR_UNSUPPORTED, "loop.%s is not supported", name);
}

static int eval_attr(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue of, key = jv_text(n->text, n->n);
    if (jinja_eval(r, n->a, &of))
        return r->e->code;
    r->line = n->line;
    if (of.kind == V_UNDEFINED)
        return jinja_fail(r, ERR_FORMAT, "an undefined value is asked for its attribute %s", n->text);
    if (jinja_has_method(&of, n->text))
        return method_of(r, &of, n->text, out);
    if (of.kind == V_STRING || of.kind == V_LIST)
        return jinja_fail(r, ERR_UNSUPPORTED, "the attribute %s of %s is not supported", n->text,
                          jv_kind(&of));
    *out = jv_item(r, &of, &key);
    return check_loop(r, &of, n->text, out);
}

static int eval_part(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue of, at[3];
    const struct jnode *p = n->list;
    if (jinja_eval(r, n->a, &of))
        return r->e->code;
    for (int i = 0; i < 3; i++, p = p->next)
        if (jinja_eval(r, p, &at[i]))
            return r->e->code;
    return jv_part(r, &of, at, out);
}

static int eval_item(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue of, key;
    if (jinja_eval(r, n->a, &of) || jinja_eval(r, n->b, &key))
        return r->e->code;
    r->line = n->line;
    if (of.kind == V_UNDEFINED)
        return jinja_fail(r, ERR_FORMAT, "an undefined value is asked for an item");
    *out = jv_item(r, &of, &key);
    if (out->kind == V_UNDEFINED && key.kind == V_STRING && of.kind == V_DICT &&
        jinja_has_method(&of, key.text))
        return method_of(r, &of, key.text, out);
    if (key.kind == V_STRING && check_loop(r, &of, key.text, out))
        return r->e->code;
    if (out->kind == V_UNDEFINED && key.kind == V_STRING && of.kind != V_DICT && of.kind != V_SPACE &&
        of.kind != V_NONE)
        return jinja_fail(r, ERR_UNSUPPORTED, "the item \"%s\" of %s is not supported", key.text,
                          jv_kind(&of));
    return 0;
}

static int concat_texts(struct jinja_state *r, const struct jvalue *a, const struct jvalue *b,
                        struct jvalue *out)
{
    struct jtext t = {0};
    jtext_add(&t, a);
    jtext_add(&t, b);
    *out = jtext_take(r, &t);
    return r->e->code;
}

static int eval_arithmetic(struct jinja_state *r, const char *op, int64_t a, int64_t b, struct jvalue *out)
{
    int64_t v = 0;
    int bad = 0;
    switch (*op) {
    case '+':
        bad = __builtin_add_overflow(a, b, &v);
        break;
    case '-':
        bad = __builtin_sub_overflow(a, b, &v);
        break;
    case '*':
        bad = __builtin_mul_overflow(a, b, &v) || op[1];
        break;
    case '%':
        bad = b <= 0;
        v = bad ? 0 : (a % b + b) % b;
        break;
    default: /* "//" and "/", which gives a fraction */
        bad = b <= 0 || !op[1];
        v = bad ? 0 : a / b - (a % b < 0);
        break;
    }
    *out = jv_int(v);
    return bad ? jinja_fail(r, ERR_UNSUPPORTED, "this calculation with %s is not supported", op) : 0;
}

static int eval_operator(struct jinja_state *r, const char *op, const struct jvalue *a,
                         const struct jvalue *b, struct jvalue *out)
{
    struct jvalue x, y;
    int numbers = (a->kind == V_INT || a->kind == V_BOOL) && (b->kind == V_INT || b->kind == V_BOOL);
    if (*op == '~')
        return jv_string(r, a, &x) || jv_string(r, b, &y) ? r->e->code : concat_texts(r, &x, &y, out);
    if (numbers)
        return eval_arithmetic(r, op, a->number, b->number, out);
    if (*op == '+' && a->kind == V_STRING && b->kind == V_STRING && !a->is_markup && !b->is_markup)
        return concat_texts(r, a, b, out);
    if (*op == '+' && a->kind == V_LIST && b->kind == V_LIST) {
        *out = jv_list(r);
        for (size_t i = 0; i < a->list->n + b->list->n && !r->e->code; i++)
            jlist_add(r, out->list, i < a->list->n ? a->list->v[i] : b->list->v[i - a->list->n]);
        return r->e->code;
    }
    return jinja_fail(r, ERR_UNSUPPORTED, "%s %s %s is not supported", jv_kind(a), op, jv_kind(b));
}

static int compare_values(struct jinja_state *r, const char *op, const struct jvalue *a,
                          const struct jvalue *b, int *out)
{
    int64_t d;
    if (a->kind == V_STRING && b->kind == V_STRING) {
        d = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
        d = d ? d : (a->n > b->n) - (a->n < b->n);
    } else if ((a->kind == V_INT || a->kind == V_BOOL) && (b->kind == V_INT || b->kind == V_BOOL)) {
        d = (a->number > b->number) - (a->number < b->number);
    } else {
        return jinja_fail(r, ERR_FORMAT, "%s and %s are compared with %s", jv_kind(a), jv_kind(b), op);
    }
    *out = *op == '<' ? d < 0 : d > 0;
    if (op[1])
        *out |= d == 0;
    return 0;
}

static int eval_chain(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue a, b;
    int yes = 1;
    if (jinja_eval(r, n->a, &a))
        return r->e->code;
    for (const struct jnode *c = n->list; c && yes; c = c->next, a = b) {
        if (jinja_eval(r, c->b, &b))
            return r->e->code;
        if (c->text[0] == 'i' || c->text[0] == 'n') {
            if (jv_contains(r, &b, &a, &yes))
                return r->e->code;
            yes ^= c->text[0] == 'n';
        } else if (c->text[0] == '=' || c->text[0] == '!') {
            yes = jv_equal(r, &a, &b) ^ (c->text[0] == '!');
        } else if (compare_values(r, c->text, &a, &b, &yes)) {
            return r->e->code;
        }
    }
    *out = jv_bool(yes);
    return r->e->code;
}

static int eval_named(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue of;
    struct jargs a = {{0}, {0}};
    int yes = 0;
    if (jinja_eval(r, n->a, &of) || eval_args(r, n->list, &a))
        return r->e->code;
    r->line = n->line;
    if (n->kind == N_FILTER)
        return jinja_filter(r, n->text, &of, &a, out);
    jinja_test(r, n->text, &of, &a, &yes);
    *out = jv_bool(yes);
    return r->e->code;
}

static int eval_list(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue v, key;
    *out = jv_list(r);
    out->kind = n->kind == N_DICT ? V_DICT : V_LIST;
    out->number = n->number;
    for (const struct jnode *i = n->list; i && !r->e->code; i = i->next) {
        if (n->kind == N_LIST) {
            if (!jinja_eval(r, i, &v))
                jlist_add(r, out->list, v);
        } else if (!jinja_eval(r, i->a, &key) && !jinja_eval(r, i->b, &v)) {
            if (key.kind != V_STRING)
                return jinja_fail(r, ERR_UNSUPPORTED, "%s as a key is not supported", jv_kind(&key));
            jdict_set(r, out->list, key, v);
        }
    }
    return r->e->code;
}

/* not, minus, and, or, if. */
static int eval_logic(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue a;
    if (jinja_eval(r, n->kind == N_COND ? n->b : n->a, &a))
        return r->e->code;
    int yes = jv_true(&a);
    if (n->kind == N_NOT)
        *out = jv_bool(!yes);
    else if (n->kind == N_NEG && a.kind == V_INT)
        *out = jv_int(-a.number);
    else if (n->kind == N_NEG)
        jinja_fail(r, ERR_UNSUPPORTED, "minus before %s is not supported", jv_kind(&a));
    else if (n->kind == N_COND)
        return yes ? jinja_eval(r, n->a, out) : n->c ? jinja_eval(r, n->c, out) : 0;
    else if (yes == (n->kind == N_OR))
        *out = a;
    else
        return jinja_eval(r, n->b, out);
    return r->e->code;
}

static int eval_node(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    struct jvalue a, b;
    switch (n->kind) {
    case N_NAME:
        return eval_name(r, n, out);
    case N_STRING:
        *out = jv_text(n->text, n->n);
        return 0;
    case N_INT:
        *out = jv_int(n->number);
        return 0;
    case N_TRUE:
    case N_FALSE:
        *out = jv_bool(n->kind == N_TRUE);
        return 0;
    case N_NONE:
        out->kind = V_NONE;
        return 0;
    case N_MISSING:
        return 0;
    case N_LIST:
    case N_DICT:
        return eval_list(r, n, out);
    case N_ATTR:
        return eval_attr(r, n, out);
    case N_ITEM:
        return eval_item(r, n, out);
    case N_SLICE:
        return eval_part(r, n, out);
    case N_CALL:
        return eval_call(r, n, out);
    case N_FILTER:
    case N_TEST:
        return eval_named(r, n, out);
    case N_CHAIN:
        return eval_chain(r, n, out);
    case N_BINARY:
        if (jinja_eval(r, n->a, &a) || jinja_eval(r, n->b, &b))
            return r->e->code;
        r->line = n->line;
        return eval_operator(r, n->text, &a, &b, out);
    default:
        return eval_logic(r, n, out);
    }
}

int jinja_eval(struct jinja_state *r, const struct jnode *n, struct jvalue *out)
{
    memset(out, 0, sizeof *out);
    if (count_step(r, n))
        return r->e->code;
    if (++r->depth > 4 * JINJA_DEPTH_MAX)
        return jinja_fail(r, ERR_UNSUPPORTED, "expressions and macros are nested too deeply");
    int rc = eval_node(r, n, out);
    r->depth--;
    return rc;
}
