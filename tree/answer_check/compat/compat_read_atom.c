/* Numbers, symbols and their subscripts in the original's grammar. */
#include "answer_check/compat/compat_reader.h"
#include "evalcore/base/str.h"

#include <stdlib.h>
#include <string.h>

typedef const struct math_node *node;

int compat_accept(struct compat_reader *r, enum compat_token kind)
{
    if (r->at->kind != kind)
        return 0;
    r->at++;
    return 1;
}

node compat_braced(struct compat_reader *r)
{
    int bars = r->bars;
    r->bars = 0;
    node m = compat_accept(r, CT_L_BRACE) ? compat_expr(r) : NULL;
    r->bars = bars;
    return m && compat_accept(r, CT_R_BRACE) ? m : NULL;
}

node compat_node(struct compat_reader *r, enum math_kind kind, int which, int n, const node *child)
{
    struct math_node *m = math_node_new(r->w, kind, r->at->text, n, child);
    if (m)
        m->which = which;
    return m;
}

/* ---- symbols */

const char *compat_joined_text(struct compat_reader *r, const struct compat_lexed *from)
{
    struct str s = {0};
    if (math_step(r->w, r->at - from))
        return NULL;
    for (const struct compat_lexed *t = from; t < r->at; t++)
        str_add(&s, t->text.s, t->text.n);
    const char *out = arena_strndup(r->w->arena, str_text(&s), s.len);
    str_release(&s);
    return out;
}

/* The subscript of a symbol is kept as text, because it need not be a value. */
const char *compat_subscript(struct compat_reader *r)
{
    const struct compat_lexed *from = r->at + 1;
    if (!compat_accept(r, CT_UNDERSCORE))
        return NULL;
    if (!compat_accept(r, CT_L_BRACE))
        return compat_lone_atom(r) ? compat_joined_text(r, from) : NULL;
    from = r->at;
    do {
        if (!compat_expr(r))
            return NULL;
    } while (compat_accept(r, CT_COMMA));
    const char *text = compat_joined_text(r, from);
    return compat_accept(r, CT_R_BRACE) ? text : NULL;
}

node compat_superscript(struct compat_reader *r)
{
    if (!compat_accept(r, CT_CARET))
        return NULL;
    if (r->at->kind == CT_L_BRACE)
        return compat_braced(r);
    return r->at->kind == CT_NUMBER ? compat_lone_atom(r) : compat_atom(r); /* the _n of x^2_n is that of x */
}

/* The name inside "\hat{..}", without text and box commands, blanks and parentheses. */
static const char *accent_name(struct compat_reader *r, struct span t)
{
    struct span inner = {memchr(t.s, '{', t.n), 0};
    struct str s = {0};
    inner.n = (size_t)(t.s + t.n - inner.s);
    struct span name = compat_trim((struct span){t.s + 1, (size_t)(inner.s - t.s) - 1});
    int text = memmem(name.s, name.n, "text", 4) || memmem(name.s, name.n, "mbox", 4);
    static const char *const same[][2] = {
        {"overline", "bar"}, {"overrightarrow", "vec"}, {"widetilde", "tilde"}};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        if (name.n == strlen(same[k][0]) && !memcmp(name.s, same[k][0], name.n))
            name = (struct span){same[k][1], strlen(same[k][1])};
    if (!text)
        str_printf(&s, "%.*s{", (int)name.n, name.s);
    for (size_t i = 1; i + 1 < inner.n; i++)
        if (inner.s[i] != ' ' && !(text && (inner.s[i] == '(' || inner.s[i] == ')')))
            str_putc(&s, inner.s[i]);
    if (!text)
        str_putc(&s, '}');
    const char *out = arena_strndup(r->w->arena, str_text(&s), s.len);
    str_release(&s);
    return out;
}

static node make_symbol(struct compat_reader *r, const char *name, const char *sub, int fold)
{
    static const char mark[] = {COMPAT_COMPLEX, '\0'};
    struct math_node *m = math_node_new(r->w, MATH_SYMBOL, r->at->text, 0, NULL);
    const char *end = r->complex ? mark : "";
    char *out;
    if (!m)
        return NULL;
    if (!sub)
        out = arena_printf(r->w->arena, "%s%s", name, end);
    else
        out = arena_printf(r->w->arena, strlen(sub) > 1 ? "%s_{%s}%s" : "%s_%s%s", name, sub, end);
    for (char *p = out; fold && *p; p++)
        *p = ascii_lower(*p);
    m->name = out;
    return m;
}

int compat_is_symbol(const struct compat_lexed *t)
{
    return t->kind == CT_LETTER || t->kind == CT_GREEK || t->kind == CT_OTHER || t->kind == CT_ACCENT;
}

/* The symbol of a token with its subscript, which may be NULL. */
static node named_symbol(struct compat_reader *r, const struct compat_lexed *t, const char *sub)
{
    const char *name;
    if (t->kind == CT_LETTER && t->text.s[0] == 'I')
        return compat_node(r, MATH_CONSTANT, MATH_I, 0, NULL);
    if (t->kind == CT_ACCENT)
        name = accent_name(r, t->text);
    else if (t->kind == CT_GREEK)
        name = compat_greek(t->value);
    else
        name =
            arena_strndup(r->w->arena, t->text.s + (t->kind == CT_OTHER), t->text.n - (t->kind == CT_OTHER));
    if (!sub && (!strcmp(name, "pi") || !strcmp(name, "Pi")))
        return compat_node(r, MATH_CONSTANT, MATH_PI, 0, NULL);
    return make_symbol(r, name, sub, 1);
}

node compat_symbol(struct compat_reader *r, const char *name)
{
    return make_symbol(r, name, NULL, 1);
}

/* A symbol with its subscript and its power. */
node compat_atom_symbol(struct compat_reader *r)
{
    const struct compat_lexed *t = r->at;
    const char *sub = NULL;
    node power = NULL;
    if (!compat_is_symbol(t))
        return NULL;
    r->at++;
    if (r->at->kind == CT_UNDERSCORE && !(sub = compat_subscript(r)))
        return NULL;
    if (r->at->kind == CT_CARET && !(power = compat_superscript(r)))
        return NULL;
    if (power && !sub && r->at->kind == CT_UNDERSCORE && !(sub = compat_subscript(r)))
        return NULL;
    node m = named_symbol(r, t, sub);
    if (m && m->kind == MATH_CONSTANT && m->which == MATH_I) /* the original loses its power */
        return m;
    return m && power ? math_node_2(r->w, MATH_POWER, t->text, m, power) : m;
}

/* "dx" is one symbol. */
static node differential_node(struct compat_reader *r, struct span t)
{
    size_t i = 1;
    while (i < t.n && (compat_space(t, i) || t.s[i] == '\\'))
        i++;
    return make_symbol(r, arena_printf(r->w->arena, "d%.*s", (int)(t.n - i), t.s + i), NULL, 0);
}

node compat_atom(struct compat_reader *r)
{
    const struct compat_lexed *t = r->at;
    if (compat_is_symbol(t))
        return compat_atom_symbol(r);
    r->at++;
    switch (t->kind) {
    case CT_NUMBER: /* the subscript that gives a number's base is ignored */
        if (r->at->kind == CT_UNDERSCORE && !compat_subscript(r))
            return NULL;
        return compat_number_node(r->w, t->text, 0);
    case CT_E_NOTATION:
        return compat_number_node(r->w, t->text, 0);
    case CT_PERCENT:
        return compat_number_node(r->w, (struct span){t->text.s, (size_t)t->value}, 1);
    case CT_INFINITY:
        return compat_node(r, MATH_CONSTANT, MATH_INFINITY, 0, NULL);
    case CT_BIG_E:
        return make_symbol(r, "e", NULL, 1);
    case CT_DIFFERENTIAL:
        return differential_node(r, t->text);
    default:
        return NULL;
    }
}

node compat_lone_atom(struct compat_reader *r)
{
    const struct compat_lexed *t = r->at;
    if (!compat_is_symbol(t) && t->kind != CT_NUMBER)
        return compat_atom(r);
    r->at++;
    return t->kind == CT_NUMBER ? compat_number_node(r->w, t->text, 0) : named_symbol(r, t, NULL);
}
