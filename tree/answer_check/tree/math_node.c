/* Nodes of mathematical trees: how they are made and compared, and the steps that every loop over input takes
 * (contract: math_tree.h). */
#include "answer_check/tree/math_tree.h"

#include <string.h>

#include "evalcore/base/arena.h"

int math_step(struct math_work *w, int64_t n)
{
    if (w->steps < n) {
        w->steps = 0;
        w->ran_out = 1;
        return -1;
    }
    w->steps -= n;
    return 0;
}

struct math_node *math_node_new(struct math_work *w, enum math_kind kind, struct span source, int n,
                                const struct math_node *const *child)
{
    for (int i = 0; i < n; i++)
        if (!child[i])
            return NULL;
    if (math_step(w, 1 + n))
        return NULL;
    struct math_node *m = arena_alloc(w->arena, sizeof *m);
    m->kind = kind;
    m->n = n;
    m->name = "";
    m->source = source;
    if (n) {
        m->child = arena_alloc(w->arena, (size_t)n * sizeof *child);
        memcpy(m->child, child, (size_t)n * sizeof *child);
    }
    return m;
}

struct math_node *math_node_1(struct math_work *w, enum math_kind kind, struct span source,
                              const struct math_node *a)
{
    return math_node_new(w, kind, source, 1, &a);
}

struct math_node *math_node_2(struct math_work *w, enum math_kind kind, struct span source,
                              const struct math_node *a, const struct math_node *b)
{
    const struct math_node *child[] = {a, b};
    return math_node_new(w, kind, source, 2, child);
}

const struct math_node *math_node_named(struct math_work *w, enum math_kind kind, struct span source,
                                        const char *name)
{
    struct math_node *m = math_node_new(w, kind, source, 0, NULL);
    if (m)
        m->name = name;
    return m;
}

const struct math_node *math_node_constant(struct math_work *w, struct span source, enum math_constant which)
{
    struct math_node *m = math_node_new(w, MATH_CONSTANT, source, 0, NULL);
    if (m)
        m->which = (int)which;
    return m;
}

const struct math_node *math_node_number_set(struct math_work *w, struct span source, char which,
                                             const char *name)
{
    struct math_node *m = math_node_new(w, MATH_NUMBER_SET, source, 0, NULL);
    if (m) {
        m->which = which;
        m->name = name;
    }
    return m;
}

const struct math_node *math_node_digits(struct math_work *w, struct span source, const char *digits, int n)
{
    struct math_node *m = math_node_new(w, MATH_NUMBER, source, 0, NULL);
    if (m)
        m->literal = (struct math_literal){.digits = digits, .n = n};
    return m;
}

const struct math_node *math_node_integer(struct math_work *w, struct span source, int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    const char *digits = arena_printf(w->arena, "%llu", (unsigned long long)size);
    const struct math_node *m = math_node_digits(w, source, digits, (int)strlen(digits));
    return value < 0 ? math_node_1(w, MATH_NEGATE, source, m) : m;
}

static int is_same_literal(const struct math_literal *a, const struct math_literal *b)
{
    return a->n == b->n && a->decimals == b->decimals && a->period == b->period &&
           a->exponent == b->exponent && a->point == b->point &&
           (!a->n || !memcmp(a->digits, b->digits, (size_t)a->n));
}

int math_node_same(const struct math_node *a, const struct math_node *b)
{
    if (a == b)
        return 1;
    if (a->kind != b->kind || a->which != b->which || a->n != b->n || a->rows != b->rows ||
        a->columns != b->columns || strcmp(a->name, b->name) != 0 ||
        !is_same_literal(&a->literal, &b->literal))
        return 0;
    if (a->kind == MATH_RELATION && memcmp(a->ops, b->ops, (size_t)a->n - 1) != 0)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!math_node_same(a->child[i], b->child[i]))
            return 0;
    return 1;
}

static const char *const function_names[MATH_FUNCTIONS] = {
    [MATH_SQRT] = "sqrt",       [MATH_EXP] = "exp",       [MATH_LN] = "ln",
    [MATH_LOG] = "log",         [MATH_ABS] = "abs",       [MATH_FLOOR] = "floor",
    [MATH_CEILING] = "ceiling", [MATH_SIGN] = "sign",     [MATH_SIN] = "sin",
    [MATH_COS] = "cos",         [MATH_TAN] = "tan",       [MATH_COT] = "cot",
    [MATH_SEC] = "sec",         [MATH_CSC] = "csc",       [MATH_ARCSIN] = "arcsin",
    [MATH_ARCCOS] = "arccos",   [MATH_ARCTAN] = "arctan", [MATH_ARCCOT] = "arccot",
    [MATH_ARCSEC] = "arcsec",   [MATH_ARCCSC] = "arccsc", [MATH_SINH] = "sinh",
    [MATH_COSH] = "cosh",       [MATH_TANH] = "tanh",     [MATH_COTH] = "coth",
    [MATH_ARSINH] = "arsinh",   [MATH_ARCOSH] = "arcosh", [MATH_ARTANH] = "artanh",
    [MATH_BINOMIAL] = "binom",  [MATH_GCD] = "gcd",       [MATH_LCM] = "lcm",
    [MATH_MIN] = "min",         [MATH_MAX] = "max",       [MATH_MOD] = "mod",
    [MATH_REAL] = "re",         [MATH_IMAGINARY] = "im",  [MATH_ARGUMENT] = "arg",
    [MATH_CONJUGATE] = "conj",
};

const char *math_function_name(enum math_function f)
{
    return (unsigned)f < MATH_FUNCTIONS ? function_names[f] : "?";
}

const char *math_sum_name(enum math_sum s)
{
    return s == MATH_INTEGRAL ? "integral" : s == MATH_PRODUCT ? "product" : "sum";
}

const struct math_node *math_node_like(struct math_work *w, const struct math_node *m,
                                       const struct math_node *const *child)
{
    int same = 1;
    for (int i = 0; i < m->n; i++)
        same &= child[i] == m->child[i];
    if (same)
        return m;
    struct math_node *copy = math_node_new(w, m->kind, m->source, m->n, child);
    if (!copy)
        return NULL;
    const struct math_node **children = copy->child;
    *copy = *m;
    copy->child = children;
    return copy;
}
#include "answer_check/answer_check.h"
