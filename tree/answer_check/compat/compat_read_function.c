/* Functions of the original's grammar: "f(x)" with one atom is an applied function, and \sin x takes the
 * whole product that follows. */
#include "answer_check/compat/compat_reader.h"

#include <string.h>

typedef const struct math_node *node;

static node as_power(struct compat_reader *r, node base, node exponent)
{
    if (!base || !exponent)
        return base;
    return math_node_2(r->w, MATH_POWER, base->source, base, exponent);
}

static int is_minus_one(node m)
{
    return m->kind == MATH_NEGATE && m->child[0]->kind == MATH_NUMBER && m->child[0]->literal.n == 1 &&
           m->child[0]->literal.digits[0] == '1' && !m->child[0]->literal.point;
}

static int inverse_of(int f)
{
    if (f >= MATH_SIN && f <= MATH_CSC)
        return f - MATH_SIN + MATH_ARCSIN;
    return f == MATH_SINH ? MATH_ARSINH : f == MATH_COSH ? MATH_ARCOSH : f == MATH_TANH ? MATH_ARTANH : -1;
}

/* Reads the argument of a function: "(..)", else the product that follows, without further functions. */
static node read_argument(struct compat_reader *r)
{
    const struct compat_lexed *from = r->at;
    int bars = r->bars;
    r->bars = 0;
    node m = compat_accept(r, CT_L_PAREN) ? compat_expr(r) : NULL;
    r->bars = bars;
    if (m && compat_accept(r, CT_R_PAREN))
        return m;
    r->at = from;
    return compat_product(r, 1);
}

/* Reads \sin^2 x or \log_2 8, with subscript and superscript in either order. */
static node read_known_function(struct compat_reader *r, int f)
{
    node power = NULL, base = NULL;
    for (int k = 0; k < 2; k++) {
        if (r->at->kind == CT_CARET && !power && !(power = compat_superscript(r)))
            return NULL;
        if (r->at->kind == CT_UNDERSCORE && !base) {
            r->at++;
            if (!(base = r->at->kind == CT_L_BRACE ? compat_braced(r) : compat_atom(r)))
                return NULL;
        }
    }
    node x = read_argument(r);
    if (!x)
        return NULL;
    if (power && is_minus_one(power) && inverse_of(f) >= 0) {
        f = inverse_of(f);
        power = NULL;
    }
    if (f == MATH_LOG || (f == MATH_LN && base))
        return as_power(r,
                        compat_node(r, MATH_FUNCTION, MATH_LOG, 2,
                                    (node[]){x, base ? base : math_node_integer(r->w, x->source, 10)}),
                        power);
    return as_power(r, compat_node(r, MATH_FUNCTION, f, 1, &x), power);
}

enum { ARGUMENTS = 16 };

/* Reads expressions separated by commas, up to `close`; returns their number, or -1. */
static int read_arguments(struct compat_reader *r, enum compat_token close, node *out)
{
    int n = 0;
    do {
        if (n == ARGUMENTS || !(out[n] = compat_expr(r)))
            return -1;
        n++;
    } while (compat_accept(r, CT_COMMA) && r->at->kind != close);
    return compat_accept(r, close) ? n : -1;
}

static node read_several(struct compat_reader *r, int f)
{
    node arg[ARGUMENTS], power = NULL;
    if (r->at->kind == CT_CARET && !(power = compat_superscript(r)))
        return NULL;
    int n = compat_accept(r, CT_L_PAREN) ? read_arguments(r, CT_R_PAREN, arg) : -1;
    return n > 0 ? as_power(r, compat_node(r, MATH_FUNCTION, f, n, arg), power) : NULL;
}

/* Reads \operatorname{..} for the names that occur in answers. */
static node read_operator_name(struct compat_reader *r)
{
    static const struct {
        const char *name;
        int f;
    } known[] = {{"gcd", MATH_GCD},       {"lcm", MATH_LCM},        {"floor", MATH_FLOOR},
                 {"ceil", MATH_CEILING},  {"arsinh", MATH_ARSINH},  {"arcsinh", MATH_ARSINH},
                 {"arcosh", MATH_ARCOSH}, {"arccosh", MATH_ARCOSH}, {"artanh", MATH_ARTANH},
                 {"arctanh", MATH_ARTANH}};
    const struct compat_lexed *name = r->at + 1;
    if (!compat_accept(r, CT_L_BRACE) || !compat_accept(r, CT_UNREADABLE) || !compat_accept(r, CT_R_BRACE))
        return NULL;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (name->text.n == strlen(known[k].name) && span_at(name->text, 0, known[k].name))
            return k < 2 ? read_several(r, known[k].f) : read_known_function(r, known[k].f);
    return NULL;
}

/* Reads "f(x)" or "f(x, y)". A single argument must be an atom; otherwise this is the symbol times a
 * parenthesis. */
node compat_applied(struct compat_reader *r)
{
    const struct compat_lexed *from = r->at, *open;
    node arg[ARGUMENTS], power = NULL;
    r->at++;
    if (r->at->kind == CT_UNDERSCORE && !compat_subscript(r))
        return NULL;
    const char *name = compat_joined_text(r, from);
    if (!name)
        return NULL;
    if (r->at->kind == CT_CARET && !(power = compat_superscript(r)))
        return NULL;
    int braces = r->at->kind == CT_L_BRACE;
    r->at += braces;
    open = r->at;
    if (open->kind != CT_L_PAREN && open->kind != CT_L_BRACKET)
        return NULL;
    enum compat_token close = open->kind == CT_L_PAREN ? CT_R_PAREN : CT_R_BRACKET;
    r->at++;
    int n = (arg[0] = compat_atom(r)) && compat_accept(r, close) ? 1 : 0;
    if (!n) {
        r->at = open + 1;
        n = read_arguments(r, close, arg);
        if (n < 1 || (n == 1 && r->at[-2].kind != CT_COMMA))
            return NULL;
    }
    if (braces && !compat_accept(r, CT_R_BRACE))
        return NULL;
    struct math_node *m = math_node_new(r->w, MATH_APPLY, from->text, n, arg);
    if (m)
        m->name = name;
    return as_power(r, m, power);
}

static node read_root(struct compat_reader *r)
{
    node index = NULL;
    if (compat_accept(r, CT_L_BRACKET) && (!(index = compat_expr(r)) || !compat_accept(r, CT_R_BRACKET)))
        return NULL;
    node x = compat_braced(r);
    return x ? compat_node(r, MATH_FUNCTION, MATH_SQRT, index ? 2 : 1, (node[]){x, index}) : NULL;
}

/* Reads \sum_{k=1}^{n} and the product behind it. */
static node read_sum(struct compat_reader *r, int is_product)
{
    node variable = NULL, from = NULL, to = NULL;
    if (r->at->kind == CT_CARET && !(to = compat_superscript(r)))
        return NULL;
    if (!compat_accept(r, CT_UNDERSCORE) || !compat_accept(r, CT_L_BRACE) || !(variable = compat_expr(r)) ||
        !(compat_accept(r, CT_EQUALS) || compat_accept(r, CT_EQUIV)) || !(from = compat_expr(r)) ||
        !compat_accept(r, CT_R_BRACE))
        return NULL;
    if (!to && !(to = compat_superscript(r)))
        return NULL;
    node body = compat_product(r, 0);
    return body ? compat_node(r, MATH_SUM, is_product, 4, (node[]){body, variable, from, to}) : NULL;
}

/* e alone is the number, e^x the function. */
static node read_exponential(struct compat_reader *r)
{
    if (r->at->kind != CT_CARET)
        return compat_node(r, MATH_CONSTANT, MATH_E, 0, NULL);
    node power = compat_superscript(r);
    if (power && power->kind == MATH_FUNCTION &&
        power->which == MATH_LN) /* the original simplifies this one */
        return power->child[0];
    return power ? compat_node(r, MATH_FUNCTION, MATH_EXP, 1, &power) : NULL;
}

int compat_is_function(const struct compat_lexed *t)
{
    return t->kind == CT_FUNCTION || t->kind == CT_SEVERAL || t->kind == CT_OPERATORNAME ||
           t->kind == CT_SQRT || t->kind == CT_SUM || t->kind == CT_PROD || t->kind == CT_LIM ||
           t->kind == CT_INT || t->kind == CT_E;
}

node compat_function(struct compat_reader *r, const struct compat_lexed *t)
{
    switch (t->kind) {
    case CT_FUNCTION:
        return read_known_function(r, t->value);
    case CT_SEVERAL:
        return read_several(r, t->value);
    case CT_OPERATORNAME:
        return read_operator_name(r);
    case CT_SQRT:
        return read_root(r);
    case CT_SUM:
        return read_sum(r, 0);
    case CT_PROD:
        return read_sum(r, 1);
    case CT_LIM:
        return compat_limit(r);
    case CT_INT:
        return compat_integral(r);
    default:
        return read_exponential(r);
    }
}
