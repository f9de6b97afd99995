/* Trees as people write them in plain text: x - 1, (1, 2], {1, 2}. Long trees are cut off. */
#include "answer_check/tree/math_tree.h"

#include <string.h>

enum { INFIX_BYTES = 400 };

/* How tightly an operator binds; a child that binds less gets parentheses. */
enum { BIND_LIST, BIND_RELATION, BIND_SET, BIND_SUM, BIND_PRODUCT, BIND_SIGN, BIND_POWER, BIND_ATOM };

struct infix {
    struct str *out;
    size_t limit; /* length of `out` at which printing stops */
    int depth;
};

static const char *const ops[] = {
    " = ", " != ", " < ", " <= ", " > ", " >= ", " ~ ", " in ", " not in ", " subset of ", " == ", " | "};

static void print_node(struct infix *p, const struct math_node *m, int binding);

static void put_text(struct infix *p, const char *s)
{
    if (p->out->len < p->limit)
        str_puts(p->out, s);
}

static int binding_of(const struct math_node *m)
{
    switch (m->kind) {
    case MATH_LIST:
    case MATH_AND:
    case MATH_OR:
    case MATH_CASES:
    case MATH_EITHER:
        return BIND_LIST;
    case MATH_RELATION:
    case MATH_RATIO:
        return BIND_RELATION;
    case MATH_UNION:
    case MATH_INTERSECTION:
    case MATH_DIFFERENCE:
        return BIND_SET;
    case MATH_ADD:
        return BIND_SUM;
    case MATH_MULTIPLY:
    case MATH_DIVIDE:
    case MATH_UNIT:
        return BIND_PRODUCT;
    case MATH_NEGATE:
    case MATH_PLUS_MINUS:
    case MATH_NOT:
        return BIND_SIGN;
    case MATH_POWER:
    case MATH_FACTORIAL:
    case MATH_PERCENT:
    case MATH_DEGREES:
        return BIND_POWER;
    default:
        return BIND_ATOM;
    }
}

/* Prints the children with a separator between them; binding as for print_node(). */
static void print_children(struct infix *p, const struct math_node *m, const char *separator, int binding)
{
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        if (i)
            put_text(p, separator);
        print_node(p, m->child[i], binding);
    }
}

static void print_enclosed(struct infix *p, const struct math_node *m, const char *left, const char *right)
{
    put_text(p, left);
    print_children(p, m, ", ", BIND_LIST + 1);
    put_text(p, right);
}

static void print_sum(struct infix *p, const struct math_node *m)
{
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        const struct math_node *c = m->child[i];
        int minus = i && c->kind == MATH_NEGATE, both = i && c->kind == MATH_PLUS_MINUS;
        if (i)
            put_text(p, minus ? " - " : both ? c->which ? " -+ " : " +- " : " + ");
        print_node(p, minus || both ? c->child[0] : c, i ? BIND_PRODUCT : BIND_SUM);
    }
}

/* May two factors stand side by side, as in 2x and 3 sqrt(2)? */
static int needs_no_sign(const struct math_node *left, const struct math_node *right)
{
    int number = left->kind == MATH_NUMBER ||
                 (left->kind == MATH_POWER && left->child[0]->kind != MATH_NUMBER) ||
                 left->kind == MATH_SYMBOL;
    const struct math_node *base = right->kind == MATH_POWER ? right->child[0] : right;
    return number &&
           (base->kind == MATH_SYMBOL || base->kind == MATH_CONSTANT || base->kind == MATH_FUNCTION);
}

static void print_product(struct infix *p, const struct math_node *m)
{
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        if (i)
            put_text(p, needs_no_sign(m->child[i - 1], m->child[i]) && m->child[i - 1]->kind == MATH_NUMBER
                            ? ""
                            : "*");
        print_node(p, m->child[i], i ? BIND_SIGN : BIND_PRODUCT);
    }
}

static void print_relation(struct infix *p, const struct math_node *m)
{
    int congruence = m->n > 2 && m->ops[m->n - 2] == MATH_CONGRUENT;
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        int op = i ? m->ops[i - 1] : 0;
        if (congruence && i == m->n - 1) {
            put_text(p, " (mod ");
        } else if (i && op == MATH_OTHER_RELATION) {
            put_text(p, " ");
            put_text(p, m->name);
            put_text(p, " ");
        } else if (i) {
            put_text(p, ops[op]);
        }
        print_node(p, m->child[i], BIND_SET);
    }
    if (congruence)
        put_text(p, ")");
}

static void print_matrix(struct infix *p, const struct math_node *m)
{
    put_text(p, m->which ? "det [" : "[");
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        put_text(p, !i ? "" : i % m->columns ? ", " : "; ");
        print_node(p, m->child[i], BIND_LIST + 1);
    }
    put_text(p, "]");
}

static void print_cases(struct infix *p, const struct math_node *m)
{
    for (int i = 0; i + 1 < m->n && p->out->len < p->limit; i += 2) {
        put_text(p, i ? "; " : "");
        print_node(p, m->child[i], BIND_LIST + 1);
        if (m->child[i + 1]->kind == MATH_TEXT && !*m->child[i + 1]->name)
            continue;
        put_text(p, " where ");
        print_node(p, m->child[i + 1], BIND_LIST + 1);
    }
}

/* Percent, degrees, units, currencies and factorials. */
static void print_marked(struct infix *p, const struct math_node *m)
{
    static const char *const minutes[] = {" deg", "'", "\""};
    if (m->kind == MATH_CURRENCY)
        put_text(p, m->name);
    for (int i = 0; i < m->n; i++) {
        print_node(p, m->child[i], BIND_POWER);
        put_text(p, m->kind == MATH_DEGREES ? minutes[i > 2 ? 2 : i] : "");
    }
    if (m->kind == MATH_UNIT) {
        put_text(p, " ");
        put_text(p, m->name);
    }
    put_text(p, m->kind == MATH_PERCENT ? "%" : m->kind != MATH_FACTORIAL ? "" : m->which == 2 ? "!!" : "!");
}

static void print_call(struct infix *p, const struct math_node *m, const char *name)
{
    put_text(p, name);
    print_enclosed(p, m, "(", ")");
}

static void print_leaf(struct infix *p, const struct math_node *m)
{
    static const char *const constants[] = {"pi", "e", "i", "infinity"};
    if (m->kind == MATH_SYMBOL || m->kind == MATH_TEXT) {
        put_text(p, m->name);
    } else if (m->kind == MATH_CONSTANT) {
        put_text(p, constants[m->which]);
    } else if (m->kind == MATH_NUMBER_SET) {
        char set[2] = {(char)m->which, 0};
        put_text(p, m->which == '0' ? "{}" : set);
        put_text(p, m->name);
    } else if (p->out->len < p->limit) {
        struct str s = {0};
        math_print(&s, m);
        str_add(p->out, s.data, s.len > p->limit - p->out->len ? p->limit - p->out->len : s.len);
        str_release(&s);
    }
}

static void print_collection(struct infix *p, const struct math_node *m)
{
    switch (m->kind) {
    case MATH_LIST:
        print_children(p, m, m->which == MATH_BY_OR ? " or " : ", ", BIND_LIST + 1);
        return;
    case MATH_AND:
        print_children(p, m, " and ", BIND_LIST + 1);
        return;
    case MATH_OR:
        print_children(p, m, " or ", BIND_LIST + 1);
        return;
    case MATH_TUPLE:
        print_enclosed(p, m, "(", ")");
        return;
    case MATH_SET:
        print_enclosed(p, m, "{", "}");
        return;
    case MATH_INTERVAL:
        print_enclosed(p, m, m->which & MATH_OPEN_LEFT ? "(" : "[", m->which & MATH_OPEN_RIGHT ? ")" : "]");
        return;
    case MATH_UNION:
        print_children(p, m, " U ", BIND_SUM);
        return;
    case MATH_INTERSECTION:
        print_children(p, m, " & ", BIND_SUM);
        return;
    case MATH_DIFFERENCE:
        print_children(p, m, " \\ ", BIND_SUM);
        return;
    case MATH_SET_BUILDER:
        put_text(p, "{");
        print_children(p, m, " : ", BIND_LIST);
        put_text(p, "}");
        return;
    default:
        print_children(p, m, ":", BIND_SUM);
        put_text(p, m->kind == MATH_TIME && *m->name ? " " : "");
        put_text(p, m->kind == MATH_TIME ? m->name : "");
    }
}

static void print_scalar(struct infix *p, const struct math_node *m)
{
    switch (m->kind) {
    case MATH_ADD:
        print_sum(p, m);
        return;
    case MATH_MULTIPLY:
        print_product(p, m);
        return;
    case MATH_DIVIDE:
        print_node(p, m->child[0], BIND_PRODUCT);
        put_text(p, "/");
        print_node(p, m->child[1], BIND_POWER);
        return;
    case MATH_POWER:
        print_node(p, m->child[0], BIND_ATOM);
        put_text(p, "^");
        print_node(p, m->child[1], BIND_POWER);
        return;
    case MATH_NEGATE:
    case MATH_PLUS_MINUS:
    case MATH_NOT:
        put_text(p, m->kind == MATH_NEGATE ? "-" : m->kind == MATH_NOT ? "not " : m->which ? "-+" : "+-");
        print_node(p, m->child[0], BIND_PRODUCT);
        return;
    case MATH_FUNCTION:
        print_call(p, m, math_function_name((enum math_function)m->which));
        return;
    case MATH_SUM:
        print_call(p, m, math_sum_name((enum math_sum)m->which));
        return;
    case MATH_BASE:
        print_node(p, m->child[0], BIND_ATOM);
        put_text(p, "_");
        print_node(p, m->child[1], BIND_ATOM);
        return;
    default:
        print_call(p, m, m->name);
    }
}

static void print_any(struct infix *p, const struct math_node *m)
{
    switch (m->kind) {
    case MATH_NUMBER:
    case MATH_CONSTANT:
    case MATH_SYMBOL:
    case MATH_TEXT:
    case MATH_NUMBER_SET:
        print_leaf(p, m);
        return;
    case MATH_PERCENT:
    case MATH_DEGREES:
    case MATH_UNIT:
    case MATH_CURRENCY:
    case MATH_FACTORIAL:
        print_marked(p, m);
        return;
    case MATH_LIST:
    case MATH_AND:
    case MATH_OR:
    case MATH_TUPLE:
    case MATH_SET:
    case MATH_INTERVAL:
    case MATH_UNION:
    case MATH_INTERSECTION:
    case MATH_DIFFERENCE:
    case MATH_SET_BUILDER:
    case MATH_RATIO:
    case MATH_TIME:
        print_collection(p, m);
        return;
    case MATH_MATRIX:
        print_matrix(p, m);
        return;
    case MATH_CASES:
        print_cases(p, m);
        return;
    case MATH_RELATION:
        print_relation(p, m);
        return;
    case MATH_EITHER: /* only the usual reading is printed */
        print_node(p, m->child[0], BIND_LIST);
        return;
    default:
        print_scalar(p, m);
    }
}

/* Prints a tree, in parentheses where its operator binds less than `binding`. */
static void print_node(struct infix *p, const struct math_node *m, int binding)
{
    int parens = binding_of(m) < binding;
    if (p->out->len >= p->limit || p->depth > MATH_TREE_DEPTH)
        return;
    p->depth++;
    put_text(p, parens ? "(" : "");
    print_any(p, m);
    put_text(p, parens ? ")" : "");
    p->depth--;
}

void math_print_infix(struct str *out, const struct math_node *m)
{
    struct infix p = {out, out->len + INFIX_BYTES, 0};
    if (!m)
        return;
    print_node(&p, m, BIND_LIST);
    if (out->len >= p.limit) {
        out->len = p.limit;
        while (out->len && (out->data[out->len] & 0xC0) == 0x80) /* do not cut inside a character */
            out->len--;
        out->data[out->len] = 0;
        str_puts(out, " ...");
    }
}
