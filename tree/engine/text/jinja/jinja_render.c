/* Statements, and the door (contract: jinja.h). A loop's body, a macro, a set block and a group have scopes
 * of their own; an `if` has none. */
#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja_parts.h"

struct jinja_template {
    struct arena arena;
    struct jtokens tokens;
    struct jnode *root;
    char *what;
};

static int assign_value(struct jinja_state *r, const struct jnode *target, struct jvalue v)
{
    if (target->kind == N_NAME) {
        jscope_set(r, target->text, target->n, v);
    } else if (target->kind == N_ATTR) {
        struct jvalue *of = jscope_find(r->scope, target->a->text, target->a->n);
        if (!of || of->kind != V_SPACE || of->text)
            return jinja_fail(r, ERR_FORMAT, "%s is no namespace, so its attributes cannot be set",
                              target->a->text);
        jdict_set(r, of->list, jv_text(target->text, target->n), v);
    } else {
        struct jvalue items;
        size_t i = 0;
        if (jv_items(r, &v, &items))
            return r->e->code;
        for (const struct jnode *t = target->list; t; t = t->next, i++)
            if (i < items.list->n)
                jscope_set(r, t->text, t->n, items.list->v[i]);
        if (i != items.list->n)
            return jinja_fail(r, ERR_FORMAT, "%zu names are set from %zu values", i, items.list->n);
    }
    return r->e->code;
}

static struct jvalue loop_facts(struct jinja_state *r, const struct jlist *l, size_t i)
{
    const struct {
        const char *name;
        int64_t v;
        int is_bool;
    } facts[] = {
        {"index", (int64_t)i + 1, 0},
        {"index0", (int64_t)i, 0},
        {"first", i == 0, 1},
        {"last", i + 1 == l->n, 1},
        {"length", (int64_t)l->n, 0},
        {"revindex", (int64_t)(l->n - i), 0},
        {"revindex0", (int64_t)(l->n - i) - 1, 0},
    };
    struct jvalue v = jv_list(r);
    v.kind = v.kind == V_LIST ? V_SPACE : V_NONE;
    v.text = "loop";
    for (size_t k = 0; k < sizeof facts / sizeof *facts && !r->e->code; k++)
        jdict_set(r, v.list, jv_text(facts[k].name, strlen(facts[k].name)),
                  facts[k].is_bool ? jv_bool(facts[k].v != 0) : jv_int(facts[k].v));
    if (!r->e->code && i)
        jdict_set(r, v.list, jv_text("previtem", 8), l->v[i - 1]);
    if (!r->e->code && i + 1 < l->n)
        jdict_set(r, v.list, jv_text("nextitem", 8), l->v[i + 1]);
    return v;
}

/* The items for which the loop's own `if` holds. */
static int filter_items(struct jinja_state *r, const struct jnode *n, struct jvalue *items)
{
    struct jvalue all = *items, yes;
    struct jscope inner = {.up = r->scope}, *outer = r->scope;
    if (!n->b)
        return 0;
    *items = jv_list(r);
    r->scope = &inner;
    for (size_t i = 0; i < all.list->n && !r->e->code; i++)
        if (!assign_value(r, n->list, all.list->v[i]) && !jinja_eval(r, n->b, &yes) && jv_true(&yes))
            jlist_add(r, items->list, all.list->v[i]);
    r->scope = outer;
    return r->e->code;
}

static int exec_for(struct jinja_state *r, const struct jnode *n, struct jtext *out)
{
    struct jvalue over, items;
    struct jscope *outer = r->scope;
    if (jinja_eval(r, n->a, &over) || jv_items(r, &over, &items) || filter_items(r, n, &items))
        return r->e->code;
    for (size_t i = 0; i < items.list->n && !r->e->code; i++) {
        struct jscope *inner = jinja_alloc(r, sizeof *inner); /* a macro of the body may keep it */
        if (!inner)
            break;
        inner->up = outer;
        r->scope = inner;
        jscope_set(r, "loop", 4, loop_facts(r, items.list, i));
        if (!assign_value(r, n->list, items.list->v[i]))
            jinja_exec(r, n->body, out);
        int leaving = r->leaving;
        r->leaving = 0;
        if (leaving == N_BREAK)
            break;
    }
    r->scope = outer;
    if (!items.list->n && !r->e->code)
        return jinja_exec(r, n->c, out);
    return r->e->code;
}

/* In a scope of its own, which a macro that is defined there may keep. */
static int exec_inner(struct jinja_state *r, const struct jnode *body, struct jtext *out)
{
    struct jscope *inner = jinja_alloc(r, sizeof *inner), *outer = r->scope;
    if (!inner)
        return r->e->code;
    inner->up = outer;
    r->scope = inner;
    jinja_exec(r, body, out);
    r->scope = outer;
    return r->e->code;
}

static int exec_set(struct jinja_state *r, const struct jnode *n)
{
    struct jvalue v = {0};
    struct jtext text = {0};
    if (n->kind == N_SET) {
        jinja_eval(r, n->b, &v);
    } else {
        exec_inner(r, n->body, &text);
        v = jtext_take(r, &text);
    }
    return r->e->code ? r->e->code : assign_value(r, n->a, v);
}

static int exec_one(struct jinja_state *r, const struct jnode *n, struct jtext *out)
{
    struct jvalue v, text;
    r->line = n->line;
    switch (n->kind) {
    case N_DATA:
        v = jv_text(n->text, n->n);
        jtext_add(out, &v);
        return 0;
    case N_OUTPUT:
        if (!jinja_eval(r, n->a, &v) && !jv_string(r, &v, &text))
            jtext_add(out, &text);
        return r->e->code;
    case N_IF:
        if (jinja_eval(r, n->a, &v))
            return r->e->code;
        return jinja_exec(r, jv_true(&v) ? n->list : n->b, out);
    case N_FOR:
        return exec_for(r, n, out);
    case N_MACRO:
        jscope_set(r, n->text, n->n, (struct jvalue){.kind = V_MACRO, .node = n, .scope = r->scope});
        return r->e->code;
    case N_BODY:
        return exec_inner(r, n->body, out);
    case N_BREAK:
    case N_CONTINUE:
        r->leaving = n->kind;
        return 0;
    default:
        return exec_set(r, n);
    }
}

int jinja_exec(struct jinja_state *r, const struct jnode *list, struct jtext *out)
{
    if (++r->depth > 4 * JINJA_DEPTH_MAX)
        return jinja_fail(r, ERR_UNSUPPORTED, "tags and macros are nested too deeply");
    for (; list && !r->e->code && !r->leaving; list = list->next) {
        if (++r->steps > JINJA_STEPS_MAX || out->s.len > JINJA_MEMORY_MAX)
            return jinja_fail(r, ERR_UNSUPPORTED, "the template runs for too long");
        exec_one(r, list, out);
    }
    r->depth--;
    return r->e->code;
}

int jinja_open(struct jinja_template **out, const char *text, size_t n, const char *what, struct err *e)
{
    struct err own = {0};
    struct jinja_template *t = xcalloc(1, sizeof *t);
    e = e ? e : &own;
    *out = NULL;
    t->what = xstrdup(what);
    int rc = jinja_lex(&t->tokens, &t->arena, text, n, what, e);
    if (!rc)
        rc = jinja_parse(&t->root, &t->tokens, &t->arena, what, e);
    if (rc)
        jinja_close(t);
    else
        *out = t;
    return rc;
}

void jinja_close(struct jinja_template *t)
{
    if (!t)
        return;
    arena_release(&t->arena);
    free(t->tokens.v);
    free(t->what);
    free(t);
}

int jinja_reads(const struct jinja_template *t, const char *name)
{
    const struct jtoken *v = t->tokens.v;
    for (size_t i = 0; i < t->tokens.n; i++)
        if (v[i].kind == T_NAME && !strcmp(v[i].text, name) &&
            !(i && v[i - 1].kind == T_OP && v[i - 1].text[0] == '.') &&
            !(i && v[i - 1].kind == T_NAME && !strcmp(v[i - 1].text, "set")))
            return 1;
    return 0;
}

static struct jvalue message_value(struct jinja_state *r, const struct jinja_message *m)
{
    struct jvalue v = jv_list(r), content = jv_text(m->text, m->n);
    if (m->from < m->to) {
        content.from = m->from;
        content.to = m->to;
    }
    if (!r->e->code) {
        v.kind = V_DICT;
        jdict_set(r, v.list, jv_text("role", 4), jv_text(m->role, strlen(m->role)));
        jdict_set(r, v.list, jv_text("content", 7), content);
    }
    return v;
}

static void set_input(struct jinja_state *r, const struct jinja_input *in)
{
    struct jvalue messages = jv_list(r);
    for (size_t i = 0; i < in->n_messages; i++)
        jlist_add(r, messages.list, message_value(r, &in->messages[i]));
    jscope_set(r, "messages", 8, messages);
    for (size_t i = 0; i < in->n_vars; i++) {
        const struct jinja_var *x = &in->vars[i];
        struct jvalue v = {.kind = V_NONE};
        if (x->kind == JINJA_BOOL)
            v = jv_bool(x->flag);
        else if (x->kind == JINJA_TEXT)
            v = jv_text(x->text, strlen(x->text));
        jscope_set(r, x->name, strlen(x->name), v);
    }
}

int jinja_render(const struct jinja_template *t, const struct jinja_input *in, struct str *out,
                 size_t guard[2], struct err *e)
{
    struct err own = {0};
    struct jscope globals = {0};
    struct jtext text = {0};
    struct jinja_state r = {.what = t->what, .e = e ? e : &own, .scope = &globals};
    guard[0] = guard[1] = 0;
    set_input(&r, in);
    int rc = jinja_exec(&r, t->root, &text);
    if (!rc && text.is_scattered)
        rc = err_set(r.e, ERR_UNSUPPORTED,
                     "%s: the template writes the user's text into several places, so special tokens in it "
                     "could not be told from the template's own",
                     t->what);
    if (!rc) {
        if (text.from < text.to) {
            guard[0] = out->len + text.from;
            guard[1] = out->len + text.to;
        }
        str_add(out, str_text(&text.s), text.s.len);
    }
    str_release(&text.s);
    arena_release(&r.arena);
    return rc;
}
