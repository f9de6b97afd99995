/* Trees in prefix form, one canonical line: (add x (negate 1)). For tests, and to see what was read. */
#include "answer_check/tree/math_tree.h"

#include <string.h>

static const char *const kinds[MATH_KINDS] = {
    [MATH_ADD] = "add",
    [MATH_MULTIPLY] = "multiply",
    [MATH_DIVIDE] = "divide",
    [MATH_POWER] = "power",
    [MATH_NEGATE] = "negate",
    [MATH_PLUS_MINUS] = "plus-minus",
    [MATH_FACTORIAL] = "factorial",
    [MATH_APPLY] = "apply",
    [MATH_SUM] = "sum",
    [MATH_OPAQUE] = "opaque",
    [MATH_PERCENT] = "percent",
    [MATH_DEGREES] = "degrees",
    [MATH_UNIT] = "unit",
    [MATH_CURRENCY] = "currency",
    [MATH_BASE] = "base",
    [MATH_LIST] = "list",
    [MATH_TUPLE] = "tuple",
    [MATH_SET] = "set",
    [MATH_INTERVAL] = "interval",
    [MATH_UNION] = "union",
    [MATH_INTERSECTION] = "intersection",
    [MATH_DIFFERENCE] = "difference",
    [MATH_SET_BUILDER] = "set-builder",
    [MATH_MATRIX] = "matrix",
    [MATH_CASES] = "cases",
    [MATH_RATIO] = "ratio",
    [MATH_TIME] = "time",
    [MATH_RELATION] = "relation",
    [MATH_AND] = "and",
    [MATH_OR] = "or",
    [MATH_NOT] = "not",
    [MATH_EITHER] = "either",
};

static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">=", "~=", "in", "notin", "subset", "==", "|"};

/* A number as it was written, with its period in parentheses: 0.1(6). */
static void print_literal(struct str *out, const struct math_literal *v)
{
    int whole = v->n - v->decimals;
    if (whole <= 0)
        str_putc(out, '0');
    else
        str_add(out, v->digits, (size_t)whole);
    if (v->point || v->decimals)
        str_putc(out, '.');
    for (int i = whole; i < v->n; i++) {
        if (v->period && i == v->n - v->period)
            str_putc(out, '(');
        str_putc(out, i < 0 ? '0' : v->digits[i]); /* leading zeros are not kept */
    }
    if (v->period)
        str_putc(out, ')');
    if (v->exponent)
        str_printf(out, "e%d", v->exponent);
}

static const char *constant_name(int which)
{
    static const char *const names[] = {"#pi", "#e", "#i", "#infinity"};
    return names[which];
}

/* Prints what stands between the opening parenthesis and the children. */
static void print_head(struct str *out, const struct math_node *m)
{
    static const char *const brackets[] = {"[]", "(]", "[)", "()"};
    switch (m->kind) {
    case MATH_FUNCTION:
        str_puts(out, math_function_name((enum math_function)m->which));
        return;
    case MATH_APPLY:
    case MATH_OPAQUE:
        str_printf(out, "%s %s", kinds[m->kind], m->name);
        return;
    case MATH_UNIT:
    case MATH_CURRENCY:
        str_printf(out, "%s \"%s\"", kinds[m->kind], m->name);
        return;
    case MATH_SUM:
        str_puts(out, math_sum_name((enum math_sum)m->which));
        return;
    case MATH_FACTORIAL:
        str_puts(out, m->which == 2 ? "factorial2" : "factorial");
        return;
    case MATH_PLUS_MINUS:
        str_puts(out, m->which ? "minus-plus" : "plus-minus");
        return;
    case MATH_LIST:
        str_puts(out, m->which == MATH_BY_OR ? "list-or" : "list");
        return;
    case MATH_INTERVAL:
        str_printf(out, "interval%s", brackets[m->which & 3]);
        return;
    case MATH_MATRIX:
        str_printf(out, "%s %dx%d", m->which ? "determinant" : "matrix", m->rows, m->columns);
        return;
    case MATH_TIME:
        str_printf(out, "time%s%s", *m->name ? "-" : "", m->name);
        return;
    default:
        str_puts(out, kinds[m->kind]);
    }
}

static void print_child(struct str *out, const struct math_node *m, int i, int depth);

static void print_node(struct str *out, const struct math_node *m, int depth)
{
    switch (m->kind) {
    case MATH_NUMBER:
        print_literal(out, &m->literal);
        return;
    case MATH_CONSTANT:
        str_puts(out, constant_name(m->which));
        return;
    case MATH_SYMBOL:
        str_puts(out, m->name);
        return;
    case MATH_TEXT:
        str_printf(out, "\"%s\"", m->name);
        return;
    case MATH_NUMBER_SET:
        if (m->which == '0')
            str_puts(out, "(empty)");
        else
            str_printf(out, "(numbers %c%s)", m->which, m->name);
        return;
    default:
        break;
    }
    if (depth > MATH_TREE_DEPTH) {
        str_puts(out, "...");
        return;
    }
    str_putc(out, '(');
    print_head(out, m);
    for (int i = 0; i < m->n; i++)
        print_child(out, m, i, depth);
    str_putc(out, ')');
}

static void print_child(struct str *out, const struct math_node *m, int i, int depth)
{
    if (m->kind == MATH_RELATION && i) {
        int op = m->ops[i - 1];
        if (op == MATH_CONGRUENT && i > 1 && i == m->n - 1)
            str_puts(out, " mod");
        else
            str_printf(out, " %s", op == MATH_OTHER_RELATION ? m->name : ops[op]);
    }
    str_putc(out, ' ');
    print_node(out, m->child[i], depth + 1);
}

void math_print(struct str *out, const struct math_node *m)
{
    if (m)
        print_node(out, m, 1);
    else
        str_puts(out, "nothing");
}
