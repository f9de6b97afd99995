/* Numbers, names and words of trees as LaTeX. */
#include <string.h>

#include "answer_check/tree/math_print_latex.h"

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

/* x, x_1, alpha, AB, vector PQ: letters with a subscript; a longer name is a command or a word. */
void math_latex_name(struct str *out, const char *s)
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

void math_latex_leaf(struct str *out, const struct math_node *m)
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
        math_latex_name(out, m->name);
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

/* A relation of which only the name is known: as its command, or in words. */
void math_latex_relation(struct str *out, const char *name)
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
