/* Signs and commands that the grammar of formulas does not know: quotients of Z, ohms and per mille, cycles,
 * and the markup of other programs (contract: respell_parts.h). */
#include "answer_check/text/respell_parts.h"

#include <string.h>

/* ---- Z/6Z as Z_6 ---- */

const char *respell_quotient(struct arena *a, struct span f)
{
    static const char *const sets[] = {"\\mathbb{Z}", "\\mathbb Z"};
    for (size_t k = 0; k < 2; k++) {
        size_t n = strlen(sets[k]);
        for (size_t i = 0; i + 2 * n < f.n; i++) {
            struct span rest = {f.s + i + n + 1, f.n - i - n - 1};
            if (!span_at(f, i, sets[k]) || f.s[i + n] != '/')
                continue;
            struct span order = respell_take_digits(&rest);
            if (!order.n || !span_at(rest, 0, sets[k]))
                continue;
            struct span left = {rest.s + n, rest.n - n};
            const char *text = arena_printf(a, "%.*s\\mathbb{Z}_{%.*s}%.*s", (int)i, f.s, (int)order.n,
                                            order.s, (int)left.n, left.s);
            const char *more = respell_quotient(a, (struct span){text, strlen(text)});
            return more ? more : text;
        }
    }
    return NULL;
}

/* ---- ohms and per mille ---- */

/* The number with a sign and a point at the start of *s, taken. */
static struct span take_decimal(struct span *s)
{
    struct span out = {s->s, 0};
    while (out.n < s->n && (ascii_is_digit(s->s[out.n]) || s->s[out.n] == '.' || (!out.n && s->s[0] == '-')))
        out.n++;
    *s = span_trim((struct span){s->s + out.n, s->n - out.n});
    return out;
}

const char *respell_sign(struct arena *a, struct span f)
{
    static const char *const ohm[] = {"\xce\xa9", "\xe2\x84\xa6", NULL};
    static const char *const mille[] = {"\xe2\x80\xb0", "\\permil", "\\textperthousand", "per mille", NULL};
    struct span number = take_decimal(&f), scale = {f.s, 0};
    if (!number.n || !ascii_is_digit(number.s[number.n - 1]))
        return NULL;
    if (respell_take_one(&f, mille))
        return f.n ? NULL : arena_printf(a, "\\frac{%.*s}{10}\\%%", (int)number.n, number.s);
    if (f.n && strchr("kMm", f.s[0])) {
        scale.n = 1;
        f = span_trim((struct span){f.s + 1, f.n - 1});
    }
    int is_ohm = span_is(f, "\\Omega") || (respell_take_one(&f, ohm) && !f.n);
    if (!is_ohm)
        return NULL;
    return arena_printf(a, "%.*s\\text{ %.*sohm}", (int)number.n, number.s, (int)scale.n, scale.s);
}

const char *respell_gamma(struct arena *a, struct span f)
{
    static const char name[] = "\\Gamma(";
    struct span rest = {f.s + strlen(name), f.n < strlen(name) ? 0 : f.n - strlen(name)};
    if (!span_at(f, 0, name))
        return NULL;
    struct span n = respell_take_digits(&rest);
    int is_natural = n.n && n.n < 3 && n.s[0] != '0' && span_is(rest, ")");
    return is_natural ? arena_printf(a, "(%.*s-1)!", (int)n.n, n.s) : NULL;
}

/* ---- cycles of a permutation ---- */

enum { CYCLES = 12, POINTS = 24 };

struct cycle {
    int n, point[POINTS];
};

/* The cycle "(1 2 3)" at the start of *s, from its smallest point on: 1, or 0. */
static int take_cycle(struct cycle *out, struct span *s)
{
    int point[POINTS], n = 0, first = 0;
    if (!respell_take(s, "("))
        return 0;
    while (n < POINTS && s->n && ascii_is_digit(s->s[0])) {
        size_t before = s->n;
        int value = respell_take_number(s);
        if (value < 0 || (s->n && ascii_is_digit(s->s[0]) && before - s->n < 2))
            return 0;
        for (int k = 0; k < n; k++)
            if (point[k] == value)
                return 0;
        point[n++] = value;
        first = value < point[first] ? n - 1 : first;
    }
    if (n < 2 || !respell_take(s, ")"))
        return 0;
    out->n = n;
    for (int k = 0; k < n; k++)
        out->point[k] = point[(first + k) % n];
    return 1;
}

/* The same of single digits, "(12)(34)". */
static int take_short_cycle(struct cycle *out, struct span *s)
{
    struct span digits = {s->s + 1, 0};
    char spaced[2 * POINTS + 3] = "(";
    size_t n = 1;
    if (!s->n || s->s[0] != '(')
        return 0;
    while (digits.n + 1 < s->n && ascii_is_digit(digits.s[digits.n]))
        digits.n++;
    if (digits.n < 2 || digits.n > 9 || digits.s[digits.n] != ')')
        return 0;
    for (size_t i = 0; i < digits.n; i++) {
        spaced[n++] = digits.s[i];
        spaced[n++] = ' ';
    }
    spaced[n++] = ')';
    struct span one = {spaced, n};
    if (!take_cycle(out, &one) || one.n)
        return 0;
    *s = span_trim((struct span){s->s + digits.n + 2, s->n - digits.n - 2});
    return 1;
}

static int share_point(const struct cycle *x, const struct cycle *y)
{
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < y->n; k++)
            if (x->point[i] == y->point[k])
                return 1;
    return 0;
}

/* Each cycle from its smallest point on, and disjoint ones in the order of these. */
const char *respell_cycles(struct arena *a, struct span f)
{
    struct cycle c[CYCLES], held;
    int n = 0, is_disjoint = 1,
        is_short = f.n > 2 && !memchr(f.s, ' ', f.n) && memmem(f.s, f.n, ")(", 2) != NULL;
    while (n < CYCLES && f.n && (is_short ? take_short_cycle(&c[n], &f) : take_cycle(&c[n], &f))) {
        for (int k = 0; k < n; k++)
            is_disjoint &= !share_point(&c[k], &c[n]);
        n++;
        respell_take(&f, "\\circ");
    }
    if (!n || f.n)
        return NULL;
    for (int i = 1; i < n && is_disjoint; i++)
        for (int k = i; k && c[k].point[0] < c[k - 1].point[0]; k--) {
            held = c[k];
            c[k] = c[k - 1];
            c[k - 1] = held;
        }
    const char *text = "";
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c[i].n; k++)
            text =
                arena_printf(a, "%s%s%d%s", text, k ? "\\ " : "(", c[i].point[k], k + 1 < c[i].n ? "" : ")");
    return text;
}

/* ---- markup of other programs ---- */

/* The brackets, of the kind of the first byte, that open at i: behind them, or 0. */
static size_t behind_group(struct span s, size_t i)
{
    char open = i < s.n ? s.s[i] : 0, close = open == '{' ? '}' : ')';
    int depth = 0;
    for (; open && i < s.n; i++) {
        depth += (s.s[i] == open) - (s.s[i] == close);
        if (!depth)
            return i + 1;
    }
    return 0;
}

/* The rows "1, 2], [3, 4" of a matrix of Python as a pmatrix. */
static const char *respell_rows(struct arena *a, struct span s)
{
    const char *out = "\\begin{pmatrix}";
    for (size_t i = 0; i < s.n; i++) {
        size_t next = i;
        while (s.s[i] == ']' && next < s.n && strchr("], ", s.s[next]))
            next++;
        int is_row = next > i && next < s.n && s.s[next] == '[';
        out = is_row ? arena_printf(a, "%s\\\\", out)
                     : arena_printf(a, "%s%c", out, s.s[i] == ',' ? '&' : s.s[i]);
        i = is_row ? next : i;
    }
    return arena_printf(a, "%s\\end{pmatrix}", out);
}

/* One piece of markup put as LaTeX: "\SI{5}{cm}", "\num{5}", "\ang{30}", "Rational(1, 2)", "x<sup>2</sup>",
 * "&pi;", "3*I". NULL where there is none. */
static const char *read_markup(struct arena *a, struct span f)
{
    static const char *const quantities[] = {"\\SI{", "\\qty{"};
    static const char *const tags[][3] = {{"<sup>", "</sup>", "^"}, {"<sub>", "</sub>", "_"}};
    for (size_t i = 0; i < f.n; i++) {
        size_t first = 0, second = 0, begin = 0;
        for (size_t k = 0; k < 2; k++) {
            size_t n = strlen(quantities[k]);
            if (span_at(f, i, quantities[k]) && (first = behind_group(f, begin = i + n - 1)) &&
                (second = behind_group(f, first)))
                return arena_printf(a, "%.*s%.*s\\text{ %.*s}%.*s", (int)i, f.s, (int)(first - begin - 2),
                                    f.s + begin + 1, (int)(second - first - 2), f.s + first + 1,
                                    (int)(f.n - second), f.s + second);
            n = strlen(tags[k][0]);
            const char *close =
                span_at(f, i, tags[k][0]) ? memmem(f.s + i, f.n - i, tags[k][1], strlen(tags[k][1])) : NULL;
            if (close)
                return arena_printf(a, "%.*s%s{%.*s}%.*s", (int)i, f.s, tags[k][2],
                                    (int)((size_t)(close - f.s) - i - n), f.s + i + n,
                                    (int)(f.n - (size_t)(close - f.s) - strlen(tags[k][1])),
                                    close + strlen(tags[k][1]));
        }
        int is_angle = span_at(f, i, "\\ang{");
        if ((is_angle || span_at(f, i, "\\num{")) && (first = behind_group(f, i + 4)))
            return arena_printf(a, "%.*s%.*s%s%.*s", (int)i, f.s, (int)(first - i - 6), f.s + i + 5,
                                is_angle ? "^\\circ" : "", (int)(f.n - first), f.s + first);
        if (span_at(f, i, "Rational(") && (first = behind_group(f, i + 8))) {
            const char *comma = memchr(f.s + i, ',', first - i);
            if (comma)
                return arena_printf(
                    a, "%.*s\\frac{%.*s}{%.*s}%.*s", (int)i, f.s, (int)((size_t)(comma - f.s) - i - 9),
                    f.s + i + 9, (int)(f.s + first - 2 - comma), comma + 1, (int)(f.n - first), f.s + first);
        }
        if (span_at(f, i, "&pi;") || span_at(f, i, "&pi"))
            return arena_printf(a, "%.*s\\pi %.*s", (int)i, f.s,
                                (int)(f.n - i - (span_at(f, i, "&pi;") ? 4 : 3)),
                                f.s + i + (span_at(f, i, "&pi;") ? 4 : 3));
        if (span_at(f, i, "*I") && !(i + 2 < f.n && ascii_is_letter(f.s[i + 2])))
            return arena_printf(a, "%.*s i%.*s", (int)i, f.s, (int)(f.n - i - 2), f.s + i + 2);
        static const char *const entities[][2] = {
            {"&minus;", "-"},          {"&times;", "\\times "}, {"&divide;", "\\div "},
            {"&radic;", "\\sqrt "},    {"&infin;", "\\infty "}, {"&plusmn;", "\\pm "},
            {"&frac12;", "\\frac12 "}, {"&nbsp;", " "},         {"&deg;", "^\\circ "}};
        for (size_t k = 0; f.s[i] == '&' && k < sizeof entities / sizeof *entities; k++)
            if (span_at(f, i, entities[k][0])) {
                size_t n = strlen(entities[k][0]);
                return arena_printf(a, "%.*s%s%.*s", (int)i, f.s, entities[k][1], (int)(f.n - i - n),
                                    f.s + i + n);
            }
        if (span_at(f, i, "Matrix([[") && (first = behind_group(f, i + 6)) && first - i > 12 &&
            first - i < 400)
            return arena_printf(a, "%.*s%s%.*s", (int)i, f.s,
                                respell_rows(a, (struct span){f.s + i + 9, first - i - 9 - 3}),
                                (int)(f.n - first), f.s + first);
        if (span_at(f, i, "&lt;") || span_at(f, i, "&gt;") || span_at(f, i, "&le;") || span_at(f, i, "&ge;"))
            return arena_printf(a, "%.*s\\%.*s %.*s", (int)i, f.s, 2, f.s + i + 1, (int)(f.n - i - 4),
                                f.s + i + 4);
    }
    return NULL;
}

/* All of them. */
const char *respell_markup(struct arena *a, struct span f)
{
    enum { PIECES = 8 };
    const char *out = NULL;
    for (int k = 0; k < PIECES; k++) {
        const char *next = read_markup(a, f);
        if (!next)
            break;
        out = next;
        f = (struct span){out, strlen(out)};
    }
    return out;
}
