/* Statements of Jinja: the tags between {% and %}. Bodies are lists of statements up to the tag that ends
 * them. */
#include <stdlib.h>
#include <string.h>

#include "engine/text/jinja/jinja_expression.h"

static struct jnode *parse_body(struct jparser *x, const char *const *ends, int *ok);

static int is_any(const struct jparser *x, const char *const *names)
{
    for (; *names; names++)
        if (jparse_is_name(x, *names))
            return 1;
    return 0;
}

static int want_tag_end(struct jparser *x)
{
    if (x->at->kind == T_BLOCK_END) {
        x->at++;
        return 1;
    }
    jparse_fail(x, ERR_FORMAT, "a tag holds more than is supported, or does not end");
    return 0;
}

struct jnode *jparse_parameters(struct jparser *x)
{
    struct jnode *head = jparse_node(x, N_LIST), **end = &head->list;
    if (!jparse_want_op(x, "("))
        return NULL;
    while (!jparse_skip_op(x, ")")) {
        if (head->list && !jparse_want_op(x, ","))
            return NULL;
        struct jnode *p = jparse_node(x, N_ARG);
        if (!(p->text = jparse_want_name(x)))
            return NULL;
        p->n = strlen(p->text);
        if (jparse_skip_op(x, "=") && !(p->a = jparse_expression(x)))
            return NULL;
        *end = p;
        end = &p->next;
    }
    return head;
}

/* The tail of an `if`, behind the word if or elif. */
static struct jnode *parse_if(struct jparser *x)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL}, *const last[] = {"endif", NULL};
    struct jnode *n = jparse_node(x, N_IF);
    int ok = 1;
    if (++x->depth > JINJA_DEPTH_MAX)
        return jparse_fail(x, ERR_UNSUPPORTED, "tags are nested too deeply");
    if (!(n->a = jparse_expression(x)) || !want_tag_end(x))
        return NULL;
    n->list = parse_body(x, ends, &ok);
    if (!ok)
        return NULL;
    if (jparse_skip_name(x, "elif")) {
        n->b = parse_if(x);
        x->depth--;
        return n->b ? n : NULL;
    }
    if (jparse_skip_name(x, "else")) {
        if (!want_tag_end(x))
            return NULL;
        n->b = parse_body(x, last, &ok);
    }
    x->depth--;
    return ok && jparse_skip_name(x, "endif") && want_tag_end(x) ? n : NULL;
}

static struct jnode *parse_target(struct jparser *x)
{
    struct jnode *n = jparse_node(x, N_NAME), **end;
    int has_bracket = jparse_skip_op(x, "(");
    if (!(n->text = jparse_want_name(x)))
        return NULL;
    n->n = strlen(n->text);
    if (jparse_is_op(x, ",")) {
        struct jnode *list = jparse_node(x, N_LIST);
        list->list = n;
        for (end = &n->next; jparse_skip_op(x, ","); end = &(*end)->next) {
            *end = jparse_node(x, N_NAME);
            if (!((*end)->text = jparse_want_name(x)))
                return NULL;
            (*end)->n = strlen((*end)->text);
        }
        n = list;
    }
    return !has_bracket || jparse_want_op(x, ")") ? n : NULL;
}

static struct jnode *parse_for(struct jparser *x)
{
    static const char *const ends[] = {"else", "endfor", NULL}, *const last[] = {"endfor", NULL};
    struct jnode *n = jparse_node(x, N_FOR);
    int ok = 1;
    if (!(n->list = parse_target(x)))
        return NULL;
    if (!jparse_skip_name(x, "in"))
        return jparse_fail(x, ERR_FORMAT, "the word in is missing in a loop");
    if (!(n->a = jparse_simple(x)) || (jparse_skip_name(x, "if") && !(n->b = jparse_expression(x))))
        return NULL;
    if (jparse_is_name(x, "recursive"))
        return jparse_fail(x, ERR_UNSUPPORTED, "recursive loops are not supported");
    if (!want_tag_end(x))
        return NULL;
    x->in_loop++;
    n->body = parse_body(x, ends, &ok);
    x->in_loop--;
    if (ok && jparse_skip_name(x, "else"))
        n->c = want_tag_end(x) ? parse_body(x, last, &ok) : NULL;
    if (!ok || x->e->code)
        return NULL;
    return jparse_skip_name(x, "endfor") && want_tag_end(x) ? n : NULL;
}

/* The target of `set`: a name, several, or a name's attribute. */
static struct jnode *parse_set_target(struct jparser *x)
{
    struct jnode *n = parse_target(x);
    if (!n || n->kind != N_NAME || !jparse_skip_op(x, "."))
        return n;
    struct jnode *attr = jparse_node(x, N_ATTR);
    attr->a = n;
    if (!(attr->text = jparse_want_name(x)))
        return NULL;
    attr->n = strlen(attr->text);
    return attr;
}

static struct jnode *parse_set(struct jparser *x)
{
    static const char *const ends[] = {"endset", NULL};
    struct jnode *n = jparse_node(x, N_SET);
    int ok = 1;
    if (!(n->a = parse_set_target(x)))
        return NULL;
    if (jparse_skip_op(x, "="))
        return (n->b = jparse_tuple(x)) && want_tag_end(x) ? n : NULL;
    n->kind = N_SET_BLOCK;
    if (jparse_is_op(x, "|"))
        return jparse_fail(x, ERR_UNSUPPORTED, "a set block with a filter is not supported");
    if (!want_tag_end(x))
        return NULL;
    n->body = parse_body(x, ends, &ok);
    return ok && jparse_skip_name(x, "endset") && want_tag_end(x) ? n : NULL;
}

static struct jnode *parse_macro(struct jparser *x)
{
    static const char *const ends[] = {"endmacro", NULL};
    struct jnode *n = jparse_node(x, N_MACRO), *parameters;
    int ok = 1, loops = x->in_loop;
    if (!(n->text = jparse_want_name(x)) || !(parameters = jparse_parameters(x)) || !want_tag_end(x))
        return NULL;
    n->n = strlen(n->text);
    n->list = parameters->list;
    x->in_loop = 0;
    n->body = parse_body(x, ends, &ok);
    x->in_loop = loops;
    return ok && jparse_skip_name(x, "endmacro") && want_tag_end(x) ? n : NULL;
}

/* {% generation %}, with which Transformers marks the assistant's part, only groups. */
static struct jnode *parse_group(struct jparser *x)
{
    static const char *const ends[] = {"endgeneration", NULL};
    struct jnode *n = jparse_node(x, N_BODY);
    int ok = 1;
    if (!want_tag_end(x))
        return NULL;
    n->body = parse_body(x, ends, &ok);
    return ok && jparse_skip_name(x, "endgeneration") && want_tag_end(x) ? n : NULL;
}

static struct jnode *parse_leave(struct jparser *x, enum jnode_kind kind)
{
    struct jnode *n = jparse_node(x, kind);
    if (!x->in_loop)
        return jparse_fail(x, ERR_FORMAT, "break or continue stands outside of a loop");
    return want_tag_end(x) ? n : NULL;
}

static struct jnode *parse_tag(struct jparser *x)
{
    if (jparse_skip_name(x, "if"))
        return parse_if(x);
    if (jparse_skip_name(x, "for"))
        return parse_for(x);
    if (jparse_skip_name(x, "set"))
        return parse_set(x);
    if (jparse_skip_name(x, "macro"))
        return parse_macro(x);
    if (jparse_skip_name(x, "generation"))
        return parse_group(x);
    if (jparse_skip_name(x, "break"))
        return parse_leave(x, N_BREAK);
    if (jparse_skip_name(x, "continue"))
        return parse_leave(x, N_CONTINUE);
    err_set(x->e, x->at->kind == T_NAME ? ERR_UNSUPPORTED : ERR_FORMAT,
            "%s, line %d: the tag \"%s\" is not supported here", x->what, x->at->line,
            x->at->kind == T_NAME ? x->at->text : "");
    return NULL;
}

static struct jnode *parse_statement(struct jparser *x)
{
    struct jnode *n;
    if (x->at->kind == T_DATA) {
        n = jparse_node(x, N_DATA);
        n->text = x->at->text;
        n->n = (x->at++)->n;
        return n;
    }
    if (x->at->kind == T_VAR) {
        x->at++;
        n = jparse_node(x, N_OUTPUT);
        if (!(n->a = jparse_tuple(x)))
            return NULL;
        if (x->at->kind != T_VAR_END)
            return jparse_fail(x, ERR_FORMAT, "an expression holds more than is supported");
        x->at++;
        return n;
    }
    x->at++;
    return parse_tag(x);
}

/* Statements up to a tag whose word is one of `ends`; that word is the next token then. ends NULL: up to the
 * end of the template. */
static struct jnode *parse_body(struct jparser *x, const char *const *ends, int *ok)
{
    struct jnode *first = NULL, **end = &first;
    *ok = 0;
    if (++x->depth > JINJA_DEPTH_MAX) {
        jparse_fail(x, ERR_UNSUPPORTED, "tags are nested too deeply");
        return NULL;
    }
    while (x->at->kind != T_END) {
        if (ends && x->at->kind == T_BLOCK) {
            x->at++;
            if (is_any(x, ends)) {
                x->depth--;
                *ok = 1;
                return first;
            }
            x->at--;
        }
        if (!(*end = parse_statement(x))) {
            jparse_fail(x, ERR_FORMAT, "a tag is not complete");
            return NULL;
        }
        end = &(*end)->next;
    }
    x->depth--;
    *ok = !ends;
    if (ends)
        err_set(x->e, ERR_FORMAT, "%s: the tag \"%s\" is missing at the end", x->what, ends[0]);
    return first;
}

int jinja_parse(struct jnode **out, const struct jtokens *tokens, struct arena *a, const char *what,
                struct err *e)
{
    struct jparser x = {.at = tokens->v, .a = a, .what = what, .e = e};
    int ok;
    *out = parse_body(&x, NULL, &ok);
    return ok ? 0 : e->code;
}
