/* Limits, integrals, derivatives and determinants in the original's grammar. The trees are those of the
 * reader of mode strict, so that answer_check/scalar can evaluate them. */
#include "answer_check/compat/compat_reader.h"
#include "answer_check/tree/math_matrix.h"

#include <string.h>

typedef const struct math_node *node;

/* Steps that an integral, limit or derivative takes, because what follows it is read anew for every reading
 * of what stands before it. */
enum { READING = 1000 };

/* ---- stretches of tokens */

/* +1 where a group opens, -1 where it closes. */
static int nesting_change(enum compat_token kind)
{
    switch (kind) {
    case CT_L_PAREN:
    case CT_L_BRACE:
    case CT_L_SET:
    case CT_L_CURL:
    case CT_L_BRACKET:
    case CT_L_BRACK:
    case CT_L_GROUP:
    case CT_L_VISUAL:
    case CT_L_VERT:
    case CT_L_FLOOR:
    case CT_L_CEIL:
    case CT_MATRIX:
    case CT_ARRAY:
    case CT_DET:
        return 1;
    case CT_R_PAREN:
    case CT_R_BRACE:
    case CT_R_SET:
    case CT_R_CURL:
    case CT_R_BRACKET:
    case CT_R_BRACK:
    case CT_R_GROUP:
    case CT_R_VISUAL:
    case CT_R_VERT:
    case CT_R_FLOOR:
    case CT_R_CEIL:
    case CT_MATRIX_END:
    case CT_ARRAY_END:
    case CT_DET_END:
        return -1;
    default:
        return 0;
    }
}

static int ends_expression(enum compat_token kind)
{
    return kind == CT_COMMA || kind == CT_SEMICOLON || kind == CT_COLUMN || kind == CT_ROW ||
           (kind >= CT_IN && kind <= CT_UNEQUAL);
}

/* The last place where the expression that begins at t can end: the end of its group, a comma or a relation.
 * Sets *differential to the last dx that stands in no group, or NULL. */
static const struct compat_lexed *expression_end(const struct compat_reader *r, const struct compat_lexed *t,
                                                 const struct compat_lexed **differential)
{
    *differential = NULL;
    for (int depth = 0; t->kind != CT_END; t++) {
        depth += nesting_change(t->kind);
        if (depth < 0 || (!depth && (ends_expression(t->kind) || (r->bars && t->kind == CT_BAR))))
            break;
        if (!depth && t->kind == CT_DIFFERENTIAL)
            *differential = t;
    }
    return t;
}

/* The brace that closes the group which opens at t, or NULL. */
static const struct compat_lexed *closing_brace(const struct compat_lexed *t)
{
    if (t->kind != CT_L_BRACE)
        return NULL;
    for (int depth = 0; t->kind != CT_END; t++)
        if (!(depth += nesting_change(t->kind)))
            return t->kind == CT_R_BRACE ? t : NULL;
    return NULL;
}

/* Reads all of [from, to) as one expression, with `first` in place of the token at `from` unless it is NULL,
 * and without the token `left_out`. r->at is then `to`. */
static node whole_of(struct compat_reader *r, const struct compat_lexed *from, const struct compat_lexed *to,
                     const struct compat_lexed *first, const struct compat_lexed *left_out)
{
    size_t n = 0;
    if (math_step(r->w, 1 + (to - from)) || from >= to)
        return NULL;
    struct compat_lexed *copy = arena_alloc(r->w->arena, (size_t)(to - from + 1) * sizeof *copy);
    for (const struct compat_lexed *t = from; t < to; t++)
        if (t != left_out)
            copy[n++] = t == from && first ? *first : *t;
    copy[n] = (struct compat_lexed){CT_END, 0, {to->text.s, 0}};
    int bars = r->bars;
    r->bars = 0;
    r->at = copy;
    node m = compat_expr(r);
    int all = m && r->at->kind == CT_END;
    r->bars = bars;
    r->at = to;
    return all ? m : NULL;
}

/* The token of the symbol x in "dx". */
static struct compat_lexed differential_symbol(const struct compat_lexed *t)
{
    struct compat_lexed x = *t;
    size_t i = 1;
    while (i < t->text.n && (t->text.s[i] == ' ' || t->text.s[i] == '\t'))
        i++;
    x.text = (struct span){t->text.s + i, t->text.n - i};
    x.kind = CT_LETTER;
    if (x.text.n && x.text.s[0] == '\\') {
        x.kind = CT_OTHER;
        for (int k = 0; compat_greek(k); k++)
            if (strlen(compat_greek(k)) == x.text.n - 1 &&
                !memcmp(compat_greek(k), x.text.s + 1, x.text.n - 1)) {
                x.kind = CT_GREEK;
                x.value = k;
            }
    }
    return x;
}

/* The symbol of one token. */
static node symbol_of(struct compat_reader *r, struct compat_lexed t)
{
    const struct compat_lexed alone[] = {t, {CT_END, 0, {t.text.s, 0}}}, *at = r->at;
    r->at = alone;
    node m = compat_is_symbol(alone) ? compat_lone_atom(r) : NULL;
    r->at = at;
    return m && m->kind == MATH_SYMBOL ? m : NULL;
}

/* ---- \lim_{x \to a} f(x) takes the product that follows */

/* Reads "a" or "a^{+}" up to the brace. *below is set for a limit from below; the original approaches from
 * above otherwise. */
static node read_target(struct compat_reader *r, const struct compat_lexed *end, int *below)
{
    const struct compat_lexed *t = end - 4;
    int has_side = t > r->at && t->kind == CT_CARET && t[1].kind == CT_L_BRACE && t[3].kind == CT_R_BRACE &&
                   (t[2].kind == CT_ADD || t[2].kind == CT_SUB);
    *below = has_side && t[2].kind == CT_SUB;
    node m = whole_of(r, r->at, has_side ? t : end, NULL, NULL);
    r->at = end;
    return m;
}

node compat_limit(struct compat_reader *r)
{
    static const unsigned char to[] = {MATH_OTHER_RELATION};
    const struct compat_lexed *end = r->at->kind == CT_UNDERSCORE ? closing_brace(r->at + 1) : NULL;
    int below;
    if (!end || !compat_is_symbol(r->at + 2) || r->at[3].kind != CT_TO || math_step(r->w, READING))
        return NULL;
    node x = symbol_of(r, r->at[2]);
    r->at += 4;
    node a = x ? read_target(r, end, &below) : NULL;
    struct math_node *approach = a ? math_node_2(r->w, MATH_RELATION, r->at->text, x, a) : NULL;
    if (!approach)
        return NULL;
    approach->ops = to;
    approach->name = "to";
    r->at = end + 1;
    node body = compat_product(r, 0);
    struct math_node *m = math_node_2(r->w, MATH_OPAQUE, r->at->text, approach, body);
    if (m)
        m->name = below ? "limit from below" : "limit";
    return m;
}

/* ---- integrals */

/* Reads "\frac{x dx}{2}" as the fraction without its differential, and sets *x to the symbol of that. */
static node fraction_with_differential(struct compat_reader *r, node *x)
{
    const struct compat_lexed *open = r->at + 1, *close = r->at->kind == CT_FRAC ? closing_brace(open) : NULL,
                              *d;
    if (!close || expression_end(r, open + 1, &d) != close || !d || compat_is_derivative(open))
        return NULL;
    *x = symbol_of(r, differential_symbol(d));
    node above =
        close - open == 2 ? math_node_integer(r->w, r->at->text, 1) : whole_of(r, open + 1, close, NULL, d);
    r->at = close + 1;
    node below = above ? compat_braced(r) : NULL;
    return below ? math_node_2(r->w, MATH_DIVIDE, above->source, above, below) : NULL;
}

/* Reads the integrand, which ends with the last dx, is a fraction with dx in it, or is a sum without a dx;
 * the original then takes x for the variable. */
static node read_integrand(struct compat_reader *r, node *x)
{
    const struct compat_lexed *from = r->at, *d;
    expression_end(r, from, &d);
    node body = NULL;
    if (d) {
        *x = symbol_of(r, differential_symbol(d));
        body = d == from ? math_node_integer(r->w, r->at->text, 1) : whole_of(r, from, d, NULL, NULL);
        r->at = d + 1;
    }
    if (!body) {
        r->at = from;
        body = fraction_with_differential(r, x);
    }
    if (!body) {
        r->at = from;
        *x = compat_symbol(r, "x");
        body = compat_expr(r);
    }
    return body;
}

static node read_bound(struct compat_reader *r)
{
    r->at++; /* the underscore or the caret */
    return r->at->kind == CT_L_BRACE ? compat_braced(r) : compat_lone_atom(r);
}

node compat_integral(struct compat_reader *r)
{
    node low = NULL, high = NULL, x = NULL;
    for (int k = 0; k < 2; k++) {
        if (r->at->kind == CT_UNDERSCORE && !low && !(low = read_bound(r)))
            return NULL;
        if (r->at->kind == CT_CARET && !high && !(high = read_bound(r)))
            return NULL;
    }
    if (!low != !high || math_step(r->w, READING))
        return NULL;
    node body = read_integrand(r, &x);
    if (!body || !x)
        return NULL;
    if (low)
        return compat_node(r, MATH_SUM, MATH_INTEGRAL, 4, (node[]){body, x, low, high});
    struct math_node *m = math_node_2(r->w, MATH_OPAQUE, r->at->text, x, body);
    if (m)
        m->name = "integral";
    return m;
}

/* ---- derivatives */

static int is_d(const struct compat_lexed *t)
{
    return t->kind == CT_LETTER && t->text.s[0] == 'd';
}

int compat_is_derivative(const struct compat_lexed *t)
{
    const struct compat_lexed *close = closing_brace(t), *below = close ? close + 1 : NULL;
    if (!close || below->kind != CT_L_BRACE)
        return 0;
    if (t[1].kind == CT_PARTIAL)
        return below[1].kind == CT_PARTIAL && compat_is_symbol(below + 2) && below[3].kind == CT_R_BRACE;
    return (is_d(t + 1) || t[1].kind == CT_DIFFERENTIAL) && below[1].kind == CT_DIFFERENTIAL &&
           below[2].kind == CT_R_BRACE;
}

/* What is differentiated may stand in the fraction or behind it. A letter that depends on nothing has the
 * derivative 0, so that in the original dy/dx equals dx/dy. */
node compat_derivative(struct compat_reader *r)
{
    const struct compat_lexed *above = r->at + 1, *close = closing_brace(r->at), *below = close + 2;
    int partial = above->kind == CT_PARTIAL;
    if (math_step(r->w, READING))
        return NULL;
    node x = symbol_of(r, partial ? below[1] : differential_symbol(below)), body;
    const struct compat_lexed *end = below + 2 + partial;
    if (above->kind == CT_DIFFERENTIAL) {
        struct compat_lexed first = differential_symbol(above);
        body = whole_of(r, above, close, &first, NULL);
    } else if (above + 1 < close) {
        body = whole_of(r, above + 1, close, NULL, NULL);
    } else {
        r->at = end;
        body = compat_product(r, 1);
        end = r->at;
    }
    r->at = end;
    r->failed |= !x || !body;
    struct math_node *m = x && body ? math_node_1(r->w, MATH_OPAQUE, r->at->text, body) : NULL;
    if (m)
        m->name = arena_printf(r->w->arena, "derivative d/d%s", x->name);
    return m;
}

/* ---- determinants */

node compat_determinant(struct compat_reader *r)
{
    node m = compat_component(r, 0);
    return m && m->kind == MATH_MATRIX ? math_matrix_determinant(r->w, m) : NULL;
}
