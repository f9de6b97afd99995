/* Trees as LaTeX: what `kveval grade --explain` shows, so that a user sees which reading was compared. Every
 * bracket that the tree implies is written. Long trees are cut off. */
#include "answer_check/tree/math_tree.h"

#include <string.h>

/* ---- numbers, names and words ---- */

static void print_number(struct str *out, const struct math_literal *l)
{
    int whole = l->n - l->decimals, plain = l->decimals - l->period;
    if (whole > 0)
        str_add(out, l->digits, (size_t)whole);
    else
        str_puts(out, "0");
    if (l->decimals) {
        str_puts(out, ".");
        for (int i = whole; i < 0; i++) /* leading zeros are not stored */
            str_puts(out, "0");
        int from = whole > 0 ? whole : 0, to = l->n - l->period;
        if (plain > 0 && to > from)
            str_add(out, l->digits + from, (size_t)(to - from));
        if (l->period)
            str_printf(out, "\\overline{%.*s}", l->period < l->n ? l->period : l->n,
                       l->digits + (l->n > l->period ? l->n - l->period : 0));
    } else if (l->point) {
        str_puts(out, ".");
    }
    if (l->exponent)
        str_printf(out, " \\times 10^{%d}", l->exponent);
}

/* Prints the name of a symbol: letters with a subscript as they are (x, x_1, AB), a longer name as a
 * command (alpha) or a word. */
static void print_name(struct str *out, const char *s)
{
    static const char greek[] =
        " alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma "
        "tau phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ";
    size_t stem = strcspn(s, "_");
    struct str t = {0};
    str_printf(&t, " %.*s ", (int)stem, s);
    int command = stem > 1 && strstr(greek, str_text(&t)) != NULL;
    if (!strncmp(s, "vector ", 7))
        str_printf(out, "\\overrightarrow{%s}", s + 7);
    else
        str_printf(out, command ? "\\%.*s" : stem > 2 ? "\\text{%.*s}" : "%.*s", (int)stem, s);
    if (s[stem] && s[stem + 1])
        str_printf(out, "_{%s}", s + stem + 1);
    str_release(&t);
}

static void print_leaf(struct str *out, const struct math_node *m)
{
    static const char *const constants[] = {"\\pi", "e", "i", "\\infty"};
    switch (m->kind) {
    case MATH_NUMBER:
        print_number(out, &m->literal);
        return;
    case MATH_CONSTANT:
        str_puts(out, constants[m->which]);
        return;
    case MATH_SYMBOL:
        print_name(out, m->name);
        return;
    case MATH_TEXT:
        str_printf(out, "\\text{%s}", m->name);
        return;
    default: /* a set of numbers */
        if (m->which == '0')
            str_puts(out, "\\emptyset");
        else
            str_printf(out, "\\mathbb{%c}", m->which);
        if (*m->name)
            str_printf(out, "^{%s}", m->name);
    }
}

/* A relation that is known by its name only: its command, or the name in words. */
static void print_relation_name(struct str *out, const char *name)
{
    static const char *const commands[][2] = {
        {"to", "\\to"},       {"parallel", "\\parallel"}, {"perpendicular", "\\perp"},
        {"similar", "\\sim"}, {"congruent", "\\cong"},    {"implies", "\\implies"},
        {"iff", "\\iff"},     {"superset", "\\supset"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i][0], name)) {
            str_printf(out, " %s ", commands[i][1]);
            return;
        }
    str_printf(out, " \\text{ %s } ", name);
}

/* ---- trees ---- */

enum { LATEX_BYTES = 2000 };

/* How tightly an operator binds; a child that binds less gets parentheses. */
enum { BIND_LIST, BIND_RELATION, BIND_SET, BIND_SUM, BIND_PRODUCT, BIND_POWER, BIND_ATOM };

struct latex {
    struct str *out;
    size_t limit;
    int depth;
};

static void print_node(struct latex *p, const struct math_node *m, int binding);

static void put_text(struct latex *p, const char *s)
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
    case MATH_NEGATE:
    case MATH_PLUS_MINUS:
        return BIND_SUM;
    case MATH_MULTIPLY:
    case MATH_SUM:
    case MATH_UNIT:
        return BIND_PRODUCT;
    case MATH_POWER:
    case MATH_FACTORIAL:
    case MATH_DEGREES:
        return BIND_POWER;
    default:
        return BIND_ATOM;
    }
}

/* Prints the children with a separator between them; binding as for print_node(). */
static void print_children(struct latex *p, const struct math_node *m, const char *separator, int binding)
{
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        put_text(p, i ? separator : "");
        print_node(p, m->child[i], binding);
    }
}

static void print_enclosed(struct latex *p, const struct math_node *m, const char *left, const char *right)
{
    put_text(p, left);
    print_children(p, m, ", ", BIND_LIST + 1);
    put_text(p, right);
}

static void put_around(struct latex *p, const char *left, const char *s, const char *right)
{
    put_text(p, left);
    put_text(p, s);
    put_text(p, right);
}

/* Prints `before` and the tree in braces. */
static void print_braced(struct latex *p, const char *before, const struct math_node *m)
{
    put_text(p, before);
    put_text(p, "{");
    print_node(p, m, BIND_LIST);
    put_text(p, "}");
}

/* ---- operators ---- */

static void print_sum(struct latex *p, const struct math_node *m)
{
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        const struct math_node *c = m->child[i];
        int minus = i && c->kind == MATH_NEGATE, both = i && c->kind == MATH_PLUS_MINUS;
        put_text(p, !i ? "" : minus ? " - " : both ? c->which ? " \\mp " : " \\pm " : " + ");
        print_node(p, minus || both ? c->child[0] : c, i ? BIND_PRODUCT : BIND_SUM);
    }
}

static void print_relation(struct latex *p, const struct math_node *m)
{
    static const char *const ops[] = {" = ",       " \\ne ",     " < ",        " \\le ",
                                      " > ",       " \\ge ",     " \\approx ", " \\in ",
                                      " \\notin ", " \\subset ", " \\equiv ",  " \\mid "};
    int congruence = m->n > 2 && m->ops[m->n - 2] == MATH_CONGRUENT;
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        int op = i ? m->ops[i - 1] : 0;
        if (congruence && i == m->n - 1) {
            print_braced(p, " \\pmod", m->child[i]);
            return;
        }
        if (i && op == MATH_OTHER_RELATION) {
            print_relation_name(p->out, m->name);
        } else if (i) {
            put_text(p, ops[op]);
        }
        print_node(p, m->child[i], BIND_SET);
    }
}

/* Prints a known function in its own notation, \sqrt[3]{x}, |x|, \binom{n}{k}, \log_2(x); the others by
 * their names. */
static void print_function(struct latex *p, const struct math_node *m)
{
    static const struct {
        enum math_function f;
        const char *left, *right;
    } brackets[] = {{MATH_ABS, "\\left|", "\\right|"},
                    {MATH_FLOOR, "\\lfloor ", " \\rfloor"},
                    {MATH_CEILING, "\\lceil ", " \\rceil"},
                    {MATH_CONJUGATE, "\\overline{", "}"}};
    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++)
        if (m->which == (int)brackets[i].f) {
            print_enclosed(p, m, brackets[i].left, brackets[i].right);
            return;
        }
    if (m->which == MATH_SQRT) {
        put_text(p, "\\sqrt");
        if (m->n > 1) {
            put_text(p, "[");
            print_node(p, m->child[1], BIND_LIST);
            put_text(p, "]");
        }
        print_braced(p, "", m->child[0]);
    } else if (m->which == MATH_BINOMIAL && m->n == 2) {
        print_braced(p, "\\binom", m->child[0]);
        print_braced(p, "", m->child[1]);
    } else if (m->which == MATH_LOG && m->n == 2) {
        print_braced(p, "\\log_", m->child[1]);
        put_text(p, "(");
        print_node(p, m->child[0], BIND_LIST);
        put_text(p, ")");
    } else {
        put_around(p, "\\operatorname{", math_function_name((enum math_function)m->which), "}");
        print_enclosed(p, m, "(", ")");
    }
}

/* Sums, products and integrals with bounds. */
static void print_big_sum(struct latex *p, const struct math_node *m)
{
    static const char *const sign[] = {"\\sum", "\\prod", "\\int"};
    int integral = m->which == MATH_INTEGRAL;
    put_text(p, sign[m->which]);
    put_text(p, "_{");
    if (!integral) {
        print_node(p, m->child[1], BIND_ATOM);
        put_text(p, "=");
    }
    print_node(p, m->child[2], BIND_LIST);
    print_braced(p, "}^", m->child[3]);
    put_text(p, " ");
    print_node(p, m->child[0], BIND_PRODUCT);
    if (integral) {
        put_text(p, " \\, d");
        print_node(p, m->child[1], BIND_ATOM);
    }
}

/* Prints a function that is known by its name: f(x), and P(A \mid B), whose name is "P|". */
static void print_application(struct latex *p, const struct math_node *m)
{
    size_t n = strlen(m->name);
    int given = n > 1 && m->name[n - 1] == '|' && m->n == 2;
    struct str name = {0};
    str_add(&name, m->name, given ? n - 1 : n);
    print_name(p->out, str_text(&name));
    str_release(&name);
    put_text(p, "(");
    print_children(p, m, given ? " \\mid " : ", ", BIND_LIST + 1);
    put_text(p, ")");
}

/* Prints the node named "derivative dy/dx" as \frac{dy}{dx}. */
static void print_derivative(struct latex *p, const struct math_node *m)
{
    const char *above = m->name + strlen("derivative "), *slash = strchr(above, '/');
    struct str s = {0};
    str_printf(&s, "\\frac{%.*s}{%s}", slash ? (int)(slash - above) : 0, above, slash ? slash + 1 : "");
    put_text(p, str_text(&s));
    str_release(&s);
    if (m->n) {
        put_text(p, " ");
        print_node(p, m->child[0], BIND_POWER);
    }
}

/* Expressions known by their name only: derivatives, cross products, integrals, limits. */
static void print_opaque(struct latex *p, const struct math_node *m)
{
    if (!strncmp(m->name, "derivative ", 11)) {
        print_derivative(p, m);
    } else if (!strcmp(m->name, "cross") && m->n == 2) {
        print_braced(p, "\\mathbf", m->child[0]);
        print_braced(p, " \\times \\mathbf", m->child[1]);
    } else if (!strcmp(m->name, "integral") && m->n == 2 && m->child[0]->kind == MATH_SYMBOL) {
        put_text(p, "\\int ");
        print_node(p, m->child[1], BIND_PRODUCT);
        put_text(p, " \\, d");
        print_node(p, m->child[0], BIND_ATOM);
    } else if (!strcmp(m->name, "limit") && m->n == 2) {
        print_braced(p, "\\lim_", m->child[0]);
        put_text(p, " ");
        print_node(p, m->child[1], BIND_PRODUCT);
    } else {
        put_around(p, "\\text{", m->name, "}");
        if (m->n)
            print_enclosed(p, m, "(", ")");
    }
}

static void print_scalar(struct latex *p, const struct math_node *m)
{
    switch (m->kind) {
    case MATH_ADD:
        print_sum(p, m);
        return;
    case MATH_MULTIPLY:
        print_children(p, m, " \\cdot ", BIND_PRODUCT);
        return;
    case MATH_DIVIDE:
        print_braced(p, "\\frac", m->child[0]);
        print_braced(p, "", m->child[1]);
        return;
    case MATH_POWER:
        print_node(p, m->child[0], BIND_ATOM);
        print_braced(p, "^", m->child[1]);
        return;
    case MATH_NEGATE:
    case MATH_PLUS_MINUS:
    case MATH_NOT:
        put_text(p, m->kind == MATH_NEGATE ? "-"
                    : m->kind == MATH_NOT  ? "\\neg "
                    : m->which             ? "\\mp "
                                           : "\\pm ");
        print_node(p, m->child[0], BIND_PRODUCT);
        return;
    case MATH_FACTORIAL:
        print_node(p, m->child[0], BIND_ATOM);
        put_text(p, m->which == 2 ? "!!" : "!");
        return;
    case MATH_FUNCTION:
        print_function(p, m);
        return;
    case MATH_SUM:
        if (m->n == 4) {
            print_big_sum(p, m);
            return;
        }
        break;
    case MATH_BASE:
        print_node(p, m->child[0], BIND_ATOM);
        print_braced(p, "_", m->child[1]);
        return;
    default:
        break;
    }
    if (m->kind == MATH_OPAQUE)
        print_opaque(p, m);
    else
        print_application(p, m);
}

/* ---- marks and collections ---- */

static void print_marked(struct latex *p, const struct math_node *m)
{
    static const char *const minutes[] = {"^\\circ", "'", "''"};
    if (m->kind == MATH_CURRENCY) {
        put_text(p, !strcmp(m->name, "$") ? "\\$" : m->name);
        print_node(p, m->child[0], BIND_PRODUCT);
        return;
    }
    for (int i = 0; i < m->n; i++) {
        print_node(p, m->child[i], BIND_POWER);
        put_text(p, m->kind == MATH_DEGREES ? minutes[i > 2 ? 2 : i] : "");
    }
    if (m->kind == MATH_UNIT)
        put_around(p, "\\text{ ", m->name, "}");
    put_text(p, m->kind == MATH_PERCENT ? "\\%" : "");
}

/* A matrix or cases as an environment of that kind. */
static void print_table(struct latex *p, const struct math_node *m, const char *kind, int columns)
{
    put_around(p, "\\begin{", kind, "} ");
    for (int i = 0; i < m->n && p->out->len < p->limit; i++) {
        put_text(p, !i ? "" : i % columns ? " & " : " \\\\ ");
        print_node(p, m->child[i], BIND_LIST + 1);
    }
    put_around(p, " \\end{", kind, "}");
}

static void print_collection(struct latex *p, const struct math_node *m)
{
    switch (m->kind) {
    case MATH_LIST:
        print_children(p, m, m->which == MATH_BY_OR ? " \\text{ or } " : ", ", BIND_LIST + 1);
        return;
    case MATH_AND:
    case MATH_OR:
        print_children(p, m, m->kind == MATH_AND ? " \\land " : " \\lor ", BIND_LIST + 1);
        return;
    case MATH_TUPLE:
        print_enclosed(p, m, "(", ")");
        return;
    case MATH_SET:
        print_enclosed(p, m, "\\{", "\\}");
        return;
    case MATH_INTERVAL:
        print_enclosed(p, m, m->which & MATH_OPEN_LEFT ? "(" : "[", m->which & MATH_OPEN_RIGHT ? ")" : "]");
        return;
    case MATH_UNION:
        print_children(p, m, " \\cup ", BIND_SUM);
        return;
    case MATH_INTERSECTION:
        print_children(p, m, " \\cap ", BIND_SUM);
        return;
    case MATH_DIFFERENCE:
        print_children(p, m, " \\setminus ", BIND_SUM);
        return;
    case MATH_SET_BUILDER:
        put_text(p, "\\{");
        print_children(p, m, " : ", BIND_LIST);
        put_text(p, "\\}");
        return;
    case MATH_MATRIX:
        print_table(p, m, m->which ? "vmatrix" : "pmatrix", m->columns);
        return;
    case MATH_CASES:
        print_table(p, m, "cases", 2);
        return;
    default: /* a ratio, a time */
        print_children(p, m, "{:}", BIND_SUM);
        if (m->kind == MATH_TIME && *m->name)
            put_around(p, "\\text{ ", m->name, "}");
    }
}

static void print_any(struct latex *p, const struct math_node *m)
{
    enum math_kind k = m->kind;
    if (k == MATH_EITHER) /* the usual reading */
        print_node(p, m->child[0], BIND_LIST);
    else if (k == MATH_RELATION)
        print_relation(p, m);
    else if (k == MATH_NUMBER || k == MATH_CONSTANT || k == MATH_SYMBOL || k == MATH_TEXT ||
             k == MATH_NUMBER_SET)
        print_leaf(p->out, m);
    else if (k == MATH_PERCENT || k == MATH_DEGREES || k == MATH_UNIT || k == MATH_CURRENCY)
        print_marked(p, m);
    else if ((k >= MATH_LIST && k <= MATH_TIME) || k == MATH_AND || k == MATH_OR)
        print_collection(p, m);
    else
        print_scalar(p, m);
}

/* Prints a tree, in parentheses where its operator binds less than `binding`. */
static void print_node(struct latex *p, const struct math_node *m, int binding)
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

void math_print_latex(struct str *out, const struct math_node *m)
{
    struct latex p = {out, out->len + LATEX_BYTES, 0};
    if (!m)
        return;
    print_node(&p, m, BIND_LIST);
    if (out->len >= p.limit)
        str_puts(out, " \\ldots");
}
