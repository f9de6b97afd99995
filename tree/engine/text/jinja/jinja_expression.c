/* Expressions of Jinja by recursive descent, with the precedences of Jinja2's parser: a filter binds closer
 * than any operator, ~ closer than +, and a comparison may be chained. */
#include <string.h>

#include "engine/text/jinja/jinja_expression.h"

struct jnode *jparse_node(struct jparser *x, enum jnode_kind kind)
{
    struct jnode *n = arena_alloc(x->a, sizeof *n);
    n->kind = kind;
    n->line = x->at->line;
    return n;
}

struct jnode *jparse_fail(struct jparser *x, int code, const char *problem)
{
    err_set(x->e, code, "%s, line %d: %s", x->what, x->at->line, problem);
    return NULL;
}

static int is_token(const struct jtoken *t, enum jtoken_kind kind, const char *text)
{
    return t->kind == kind && strlen(text) == t->n && !memcmp(t->text, text, t->n);
}

int jparse_is_op(const struct jparser *x, const char *op)
{
    return is_token(x->at, T_OP, op);
}

int jparse_is_name(const struct jparser *x, const char *name)
{
    return is_token(x->at, T_NAME, name);
}

int jparse_skip_op(struct jparser *x, const char *op)
{
    int found = jparse_is_op(x, op);
    x->at += found;
    return found;
}

int jparse_skip_name(struct jparser *x, const char *name)
{
    int found = jparse_is_name(x, name);
    x->at += found;
    return found;
}

int jparse_want_op(struct jparser *x, const char *op)
{
    if (jparse_skip_op(x, op))
        return 1;
    err_set(x->e, ERR_FORMAT, "%s, line %d: \"%s\" is missing in an expression", x->what, x->at->line, op);
    return 0;
}

const char *jparse_want_name(struct jparser *x)
{
    if (x->at->kind == T_NAME)
        return (x->at++)->text;
    jparse_fail(x, ERR_FORMAT, "a name is missing");
    return NULL;
}

static struct jnode *parse_unary(struct jparser *x, int with_filters);

static int is_next(const struct jparser *x, enum jtoken_kind kind, const char *text)
{
    struct jparser next = {.at = x->at + 1};
    return x->at->kind != T_END && (kind == T_OP ? jparse_is_op(&next, text) : jparse_is_name(&next, text));
}

/* Elements up to the bracket `close`, which is skipped. The first element may be given. */
static int parse_elements(struct jparser *x, struct jnode *first, const char *close, struct jnode **list)
{
    struct jnode **end = list;
    if (first) {
        *end = first;
        end = &first->next;
    }
    while (!jparse_skip_op(x, close)) {
        if ((first || *list) && !jparse_want_op(x, ","))
            return 0;
        if (jparse_skip_op(x, close))
            return 1;
        if (!(*end = jparse_expression(x)))
            return 0;
        end = &(*end)->next;
    }
    return 1;
}

static struct jnode *parse_parenthesis(struct jparser *x)
{
    struct jnode *n = jparse_node(x, N_LIST), *first;
    n->number = 1;
    if (jparse_skip_op(x, ")"))
        return n;
    if (!(first = jparse_expression(x)))
        return NULL;
    if (jparse_skip_op(x, ")"))
        return first;
    return parse_elements(x, first, ")", &n->list) ? n : NULL;
}

static struct jnode *parse_dict(struct jparser *x)
{
    struct jnode *n = jparse_node(x, N_DICT), **end = &n->list;
    while (!jparse_skip_op(x, "}")) {
        if (n->list && !jparse_want_op(x, ","))
            return NULL;
        if (jparse_skip_op(x, "}"))
            break;
        struct jnode *pair = jparse_node(x, N_ARG);
        if (!(pair->a = jparse_expression(x)) || !jparse_want_op(x, ":") || !(pair->b = jparse_expression(x)))
            return NULL;
        *end = pair;
        end = &pair->next;
    }
    return n;
}

static struct jnode *parse_strings(struct jparser *x)
{
    struct jnode *n = jparse_node(x, N_STRING);
    n->text = x->at->text;
    n->n = x->at->n;
    for (x->at++; x->at->kind == T_STRING; x->at++) {
        char *both = arena_alloc(x->a, n->n + x->at->n + 1);
        memcpy(both, n->text, n->n);
        memcpy(both + n->n, x->at->text, x->at->n);
        n->text = both;
        n->n += x->at->n;
    }
    return n;
}

static struct jnode *parse_name(struct jparser *x)
{
    static const struct {
        const char *name;
        enum jnode_kind kind;
    } constants[] = {{"true", N_TRUE},   {"True", N_TRUE}, {"false", N_FALSE},
                     {"False", N_FALSE}, {"none", N_NONE}, {"None", N_NONE}};
    struct jnode *n = jparse_node(x, N_NAME);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (jparse_is_name(x, constants[i].name))
            n->kind = constants[i].kind;
    n->text = x->at->text;
    n->n = x->at->n;
    x->at++;
    return n;
}

static struct jnode *parse_primary(struct jparser *x)
{
    struct jnode *n = NULL;
    if (++x->depth > JINJA_DEPTH_MAX)
        return jparse_fail(x, ERR_UNSUPPORTED, "expressions are nested too deeply");
    if (x->at->kind == T_NAME) {
        n = parse_name(x);
    } else if (x->at->kind == T_STRING) {
        n = parse_strings(x);
    } else if (x->at->kind == T_INT) {
        n = jparse_node(x, N_INT);
        n->number = (x->at++)->number;
    } else if (jparse_skip_op(x, "(")) {
        n = parse_parenthesis(x);
    } else if (jparse_skip_op(x, "[")) {
        n = jparse_node(x, N_LIST);
        n = parse_elements(x, NULL, "]", &n->list) ? n : NULL;
    } else if (jparse_skip_op(x, "{")) {
        n = parse_dict(x);
    } else {
        jparse_fail(x, ERR_FORMAT, "an expression is missing");
    }
    x->depth--;
    return n;
}

/* The arguments of a call behind its "(". */
static int parse_arguments(struct jparser *x, struct jnode **list)
{
    struct jnode **end = list;
    while (!jparse_skip_op(x, ")")) {
        if (*list && !jparse_want_op(x, ","))
            return 0;
        if (jparse_skip_op(x, ")"))
            return 1;
        if (jparse_is_op(x, "*") || jparse_is_op(x, "**"))
            return jparse_fail(x, ERR_UNSUPPORTED, "a call with * or ** is not supported") != NULL;
        struct jnode *arg = jparse_node(x, N_ARG);
        if (x->at->kind == T_NAME && is_next(x, T_OP, "=")) {
            arg->text = x->at->text;
            arg->n = x->at->n;
            x->at += 2;
        }
        if (!(arg->a = jparse_expression(x)))
            return 0;
        *end = arg;
        end = &arg->next;
    }
    return 1;
}

/* a[...] behind its "[". */
static struct jnode *parse_subscript(struct jparser *x, struct jnode *of)
{
    struct jnode *n = jparse_node(x, N_ITEM), *part[3] = {NULL, NULL, NULL};
    int i = 0;
    n->a = of;
    while (!jparse_is_op(x, "]")) {
        if (jparse_skip_op(x, ":")) {
            n->kind = N_SLICE;
            if (++i > 2)
                return jparse_fail(x, ERR_FORMAT, "a slice has more than three parts");
        } else if (part[i]) {
            return jparse_fail(x, ERR_FORMAT, "\"]\" is missing");
        } else if (!(part[i] = jparse_expression(x))) {
            return NULL;
        }
    }
    x->at++;
    if (n->kind == N_ITEM)
        return (n->b = part[0]) ? n : jparse_fail(x, ERR_FORMAT, "a subscript is empty");
    for (i = 2; i >= 0; i--) {
        if (!part[i])
            part[i] = jparse_node(x, N_MISSING);
        part[i]->next = n->list;
        n->list = part[i];
    }
    return n;
}

static struct jnode *parse_postfix(struct jparser *x, struct jnode *of)
{
    while (of) {
        struct jnode *n;
        if (jparse_skip_op(x, ".")) {
            n = jparse_node(x, N_ATTR);
            n->a = of;
            if (x->at->kind == T_INT) {
                n->kind = N_ITEM;
                n->b = parse_primary(x);
            } else if (!(n->text = jparse_want_name(x))) {
                return NULL;
            } else {
                n->n = strlen(n->text);
            }
            of = n;
        } else if (jparse_skip_op(x, "[")) {
            of = parse_subscript(x, of);
        } else if (jparse_skip_op(x, "(")) {
            n = jparse_node(x, N_CALL);
            n->a = of;
            of = parse_arguments(x, &n->list) ? n : NULL;
        } else {
            return of;
        }
    }
    return of;
}

static int starts_argument(const struct jparser *x)
{
    if (jparse_is_name(x, "else") || jparse_is_name(x, "or") || jparse_is_name(x, "and"))
        return 0;
    return x->at->kind == T_NAME || x->at->kind == T_STRING || x->at->kind == T_INT || jparse_is_op(x, "[") ||
           jparse_is_op(x, "{");
}

/* Behind `is`. A test's one argument may stand without brackets. */
static struct jnode *parse_test(struct jparser *x, struct jnode *of)
{
    struct jnode *n = jparse_node(x, N_TEST), *outer = NULL;
    if (jparse_skip_name(x, "not"))
        outer = jparse_node(x, N_NOT);
    n->a = of;
    if (!(n->text = jparse_want_name(x)))
        return NULL;
    if (jparse_skip_op(x, "(")) {
        if (!parse_arguments(x, &n->list))
            return NULL;
    } else if (starts_argument(x)) {
        if (jparse_is_name(x, "is"))
            return jparse_fail(x, ERR_FORMAT, "tests cannot be chained with is");
        n->list = jparse_node(x, N_ARG);
        if (!(n->list->a = parse_postfix(x, parse_primary(x))))
            return NULL;
    }
    if (outer)
        outer->a = n;
    return outer ? outer : n;
}

struct jnode *jparse_filters(struct jparser *x, struct jnode *of)
{
    while (of) {
        if (jparse_skip_op(x, "|")) {
            struct jnode *n = jparse_node(x, N_FILTER);
            n->a = of;
            if (!(n->text = jparse_want_name(x)))
                return NULL;
            of = !jparse_skip_op(x, "(") || parse_arguments(x, &n->list) ? n : NULL;
        } else if (jparse_skip_name(x, "is")) {
            of = parse_test(x, of);
        } else if (jparse_skip_op(x, "(")) {
            struct jnode *n = jparse_node(x, N_CALL);
            n->a = of;
            of = parse_arguments(x, &n->list) ? n : NULL;
        } else {
            return of;
        }
    }
    return of;
}

static struct jnode *parse_unary(struct jparser *x, int with_filters)
{
    struct jnode *n;
    if (++x->depth > JINJA_DEPTH_MAX)
        return jparse_fail(x, ERR_UNSUPPORTED, "expressions are nested too deeply");
    if (jparse_is_op(x, "-")) {
        n = jparse_node(x, N_NEG);
        x->at++;
        if (!(n->a = parse_unary(x, 0)))
            return NULL;
    } else if (jparse_is_op(x, "+")) {
        return jparse_fail(x, ERR_UNSUPPORTED, "a plus sign before a value is not supported");
    } else {
        n = parse_primary(x);
    }
    n = parse_postfix(x, n);
    x->depth--;
    return with_filters ? jparse_filters(x, n) : n;
}

static struct jnode *binary_node(struct jparser *x, const char *op, struct jnode *a)
{
    struct jnode *n = jparse_node(x, N_BINARY);
    n->text = op;
    n->a = a;
    return n;
}

/* Three levels: 0 + and -, 1 ~, 2 the multiplications. */
static struct jnode *parse_sum(struct jparser *x, int level)
{
    static const char *const ops[3][5] = {{"+", "-"}, {"~"}, {"*", "/", "//", "%", "**"}};
    struct jnode *n = level < 2 ? parse_sum(x, level + 1) : parse_unary(x, 1);
    for (int i = 0; n && i < 5 && ops[level][i];) {
        if (!jparse_is_op(x, ops[level][i])) {
            i++;
            continue;
        }
        n = binary_node(x, ops[level][i], n);
        x->at++;
        if (!(n->b = level < 2 ? parse_sum(x, level + 1) : parse_unary(x, 1)))
            return NULL;
        i = 0;
    }
    return n;
}

/* The comparison that stands here, skipped; NULL: none. */
static const char *comparison_operator(struct jparser *x)
{
    static const char *const ops[] = {"==", "!=", "<", ">", "<=", ">="};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (jparse_skip_op(x, ops[i]))
            return ops[i];
    if (jparse_skip_name(x, "in"))
        return "in";
    if (!jparse_is_name(x, "not") || !is_next(x, T_NAME, "in"))
        return NULL;
    x->at += 2;
    return "not in";
}

static struct jnode *parse_compare(struct jparser *x)
{
    struct jnode *first = parse_sum(x, 0), *chain = NULL, **end = NULL;
    const char *op;
    while (first && (op = comparison_operator(x))) {
        struct jnode *one = binary_node(x, op, NULL);
        if (!(one->b = parse_sum(x, 0)))
            return NULL;
        if (!chain) {
            chain = jparse_node(x, N_CHAIN);
            chain->a = first;
            end = &chain->list;
        }
        *end = one;
        end = &one->next;
    }
    return chain ? chain : first;
}

static struct jnode *parse_not(struct jparser *x)
{
    if (!jparse_is_name(x, "not"))
        return parse_compare(x);
    struct jnode *n = jparse_node(x, N_NOT);
    x->at++;
    if (++x->depth > JINJA_DEPTH_MAX)
        return jparse_fail(x, ERR_UNSUPPORTED, "expressions are nested too deeply");
    n->a = parse_not(x);
    x->depth--;
    return n->a ? n : NULL;
}

static struct jnode *parse_logic(struct jparser *x, int is_or)
{
    struct jnode *n = is_or ? parse_logic(x, 0) : parse_not(x);
    while (n && jparse_skip_name(x, is_or ? "or" : "and")) {
        struct jnode *both = jparse_node(x, is_or ? N_OR : N_AND);
        both->a = n;
        both->b = is_or ? parse_logic(x, 0) : parse_not(x);
        n = both->b ? both : NULL;
    }
    return n;
}

struct jnode *jparse_simple(struct jparser *x)
{
    return parse_logic(x, 1);
}

struct jnode *jparse_expression(struct jparser *x)
{
    if (++x->depth > JINJA_DEPTH_MAX)
        return jparse_fail(x, ERR_UNSUPPORTED, "expressions are nested too deeply");
    struct jnode *n = jparse_simple(x);
    while (n && jparse_skip_name(x, "if")) {
        struct jnode *choice = jparse_node(x, N_COND);
        choice->a = n;
        if (!(choice->b = jparse_simple(x)) ||
            (jparse_skip_name(x, "else") && !(choice->c = jparse_expression(x))))
            return NULL;
        n = choice;
    }
    x->depth--;
    return n;
}

struct jnode *jparse_tuple(struct jparser *x)
{
    struct jnode *first = jparse_expression(x);
    if (!first || !jparse_is_op(x, ","))
        return first;
    struct jnode *n = jparse_node(x, N_LIST), **end = &first->next;
    n->list = first;
    n->number = 1;
    while (jparse_skip_op(x, ",")) {
        if (x->at->kind == T_BLOCK_END || x->at->kind == T_VAR_END)
            break;
        if (!(*end = jparse_expression(x)))
            return NULL;
        end = &(*end)->next;
    }
    return n;
}
