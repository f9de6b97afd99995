/* Recursive-descent parser from cleaned LaTeX or plain text to exact values. Depth, length and polynomial
 * work are bounded; whatever does not fit (roots of non-squares, relations, matrices, words) is refused as a
 * whole, and the grader falls back to comparing text. No part of a refused text is ever taken for the answer.
 */
#include "answer_check/latex_clean.h"
#include "answer_check/math_value.h"

#include <string.h>

struct parser {
    const char *start, *p, *end;
    struct poly_work *w;
    int depth;
};

static int parse_sum(struct parser *ps, struct polynomial *out);

static void skip_spaces(struct parser *ps)
{
    while (ps->p < ps->end && *ps->p == ' ')
        ps->p++;
}

static int peek(struct parser *ps)
{
    skip_spaces(ps);
    return ps->p < ps->end ? (unsigned char)*ps->p : -1;
}

static int at_word(struct parser *ps, const char *word)
{
    size_t n = strlen(word);
    skip_spaces(ps);
    return (size_t)(ps->end - ps->p) >= n && !memcmp(ps->p, word, n);
}

static int parse_number(struct parser *ps, struct polynomial *out)
{
    int64_t num = 0, den = 1;
    int digits = 0, point = 0;
    for (; ps->p < ps->end && (ascii_is_digit(*ps->p) || (*ps->p == '.' && !point)); ps->p++) {
        if (*ps->p == '.') {
            point = 1;
            continue;
        }
        if (num > (INT64_MAX - 9) / 10 || (point && den > INT64_MAX / 10))
            return -1;
        num = num * 10 + (*ps->p - '0');
        den *= point ? 10 : 1;
        digits++;
    }
    struct rational r;
    return !digits || rational_set(&r, num, den) || poly_const(ps->w, out, r) ? -1 : 0;
}

static int parse_closed(struct parser *ps, struct polynomial *out, char close)
{
    ps->p++;
    if (parse_sum(ps, out) || peek(ps) != close)
        return -1;
    ps->p++;
    return 0;
}

/* One argument of \frac or \sqrt: {...}, a digit or a letter. */
static int parse_argument(struct parser *ps, struct polynomial *out)
{
    int c = peek(ps);
    if (c == '{')
        return parse_closed(ps, out, '}');
    if (c > 0 && ascii_is_digit((char)c)) {
        ps->p++;
        return poly_const(ps->w, out, (struct rational){c - '0', 1});
    }
    if (c > 0 && ascii_is_letter((char)c))
        return poly_symbol(ps->w, out, symbol_find(ps->p++, 1));
    return -1;
}

static int divide(struct parser *ps, struct polynomial *out, const struct polynomial *a,
                  const struct polynomial *b)
{
    struct rational c, one = {1, 1};
    return !poly_is_const(b, &c) || rational_div(&c, one, c) || poly_scale(ps->w, out, a, c) ? -1 : 0;
}

static int parse_fraction(struct parser *ps, struct polynomial *out)
{
    struct polynomial a, b;
    ps->p += strlen("\\frac");
    return parse_argument(ps, &a) || parse_argument(ps, &b) ? -1 : divide(ps, out, &a, &b);
}

static int parse_command(struct parser *ps, struct polynomial *out)
{
    if (at_word(ps, "\\frac"))
        return parse_fraction(ps, out);
    if (at_word(ps, "\\sqrt")) {
        struct polynomial a;
        struct rational c;
        ps->p += strlen("\\sqrt");
        if (parse_argument(ps, &a) || !poly_is_const(&a, &c) || rational_sqrt(&c, c))
            return -1;
        return poly_const(ps->w, out, c);
    }
    const char *name = ++ps->p;
    while (ps->p < ps->end && ascii_is_letter(*ps->p))
        ps->p++;
    int symbol = symbol_find(name, (size_t)(ps->p - name));
    return ps->p - name < 2 || symbol < 0 ? -1 : poly_symbol(ps->w, out, symbol);
}

/* A letter is a symbol. Longer runs of letters are products ("6xyz"), but for words and names of functions.
 */
static int parse_letters(struct parser *ps, struct polynomial *out)
{
    static const char *const names[] = {"sin", "cos", "tan", "log", "exp", "ln"};
    size_t n = 1;
    while (ps->p + n < ps->end && ascii_is_letter(ps->p[n]))
        n++;
    int inside = ps->p > ps->start && ascii_is_letter(ps->p[-1]);
    for (int k = 0; !inside && k < 6; k++)
        if (n == strlen(names[k]) && !memcmp(ps->p, names[k], n))
            return -1;
    if (!inside && n > 3 && !at_word(ps, "percent"))
        return -1;
    if (!inside && n == 2 && at_word(ps, "pi")) {
        ps->p += 2;
        return poly_symbol(ps->w, out, symbol_find("pi", 2));
    }
    return poly_symbol(ps->w, out, symbol_find(ps->p++, 1));
}

static int parse_primary(struct parser *ps, struct polynomial *out)
{
    int c = peek(ps), rc = -1;
    if (c < 0 || ++ps->depth > MATH_DEPTH_MAX)
        return -1;
    if (ascii_is_digit((char)c) || c == '.')
        rc = parse_number(ps, out);
    else if (ascii_is_letter((char)c))
        rc = parse_letters(ps, out);
    else if (c == '\\')
        rc = parse_command(ps, out);
    else if (c == '(' || c == '[' || c == '{')
        rc = parse_closed(ps, out, c == '(' ? ')' : c == '[' ? ']' : '}');
    ps->depth--;
    return rc;
}

static int parse_power(struct parser *ps, struct polynomial *out)
{
    if (parse_primary(ps, out))
        return -1;
    int python = at_word(ps, "**");
    if (peek(ps) != '^' && !python)
        return 0;
    ps->p += python ? 2 : 1;
    int sign = 1;
    if (peek(ps) == '-') {
        sign = -1;
        ps->p++;
    }
    struct polynomial e;
    struct rational c;
    if (++ps->depth > MATH_DEPTH_MAX || parse_power(ps, &e))
        return -1;
    ps->depth--;
    if (!poly_is_const(&e, &c) || c.den != 1 || c.num > 1000 || c.num < -1000)
        return -1;
    return poly_pow(ps->w, out, out, sign * (int)c.num);
}

static int parse_signed(struct parser *ps, struct polynomial *out)
{
    int sign = 1;
    for (int c = peek(ps); c == '-' || c == '+'; c = peek(ps)) {
        sign = c == '-' ? -sign : sign;
        ps->p++;
    }
    if (parse_power(ps, out))
        return -1;
    return sign < 0 ? poly_scale(ps->w, out, out, (struct rational){-1, 1}) : 0;
}

/* Is the text from `start` to here an integer, perhaps with a sign? */
static int read_integer(const struct parser *ps, const char *start)
{
    int digits = 0;
    for (const char *s = start; s < ps->p; s++) {
        if (!ascii_is_digit(*s) && !strchr(" +-", *s))
            return 0;
        digits += ascii_is_digit(*s);
    }
    return digits > 0;
}

/* "3/4" behind an integer and a blank. */
static int parse_plain_fraction(struct parser *ps, struct polynomial *out)
{
    struct polynomial a, b;
    if (parse_number(ps, &a) || peek(ps) != '/')
        return -1;
    ps->p++;
    return peek(ps) < 0 || parse_number(ps, &b) ? -1 : divide(ps, out, &a, &b);
}

/* "1\frac{1}{2}" and "1 1/2" are 1 + 1/2; "2\frac{x}{3}" is a product, "2 3/2" nothing certain. */
static int parse_mixed(struct parser *ps, struct polynomial *whole)
{
    struct polynomial b;
    struct rational r, n;
    int plain = ascii_is_digit(*ps->p);
    if (plain ? parse_plain_fraction(ps, &b) : parse_fraction(ps, &b))
        return -1;
    if (!poly_is_const(&b, &r) || !poly_is_const(whole, &n) || r.num <= 0 || r.num >= r.den)
        return plain ? -1 : poly_mul(ps->w, whole, whole, &b);
    if (n.num < 0 && poly_scale(ps->w, &b, &b, (struct rational){-1, 1}))
        return -1;
    return poly_add(ps->w, whole, whole, &b);
}

/* A product. Juxtaposition multiplies, but not by a number: "2 3" and "x5" mean nothing certain. */
static int parse_product(struct parser *ps, struct polynomial *out)
{
    const char *start = ps->p;
    if (parse_signed(ps, out))
        return -1;
    int fraction = at_word(ps, "\\frac") || (ps->p < ps->end && ascii_is_digit(*ps->p));
    if (fraction && read_integer(ps, start) && parse_mixed(ps, out))
        return -1;
    for (;;) {
        struct polynomial b;
        int c = peek(ps);
        if (c == '*' || c == '/') {
            ps->p++;
            if (parse_signed(ps, &b) || (c == '*' ? poly_mul(ps->w, out, out, &b) : divide(ps, out, out, &b)))
                return -1;
        } else if (c > 0 && (ascii_is_letter((char)c) || strchr("\\({[", c))) {
            if (at_word(ps, "percent"))
                return 0;
            if (parse_power(ps, &b) || poly_mul(ps->w, out, out, &b))
                return -1;
        } else {
            return 0;
        }
    }
}

static int parse_sum(struct parser *ps, struct polynomial *out)
{
    if (++ps->depth > MATH_DEPTH_MAX || parse_product(ps, out))
        return -1;
    for (int c = peek(ps); c == '+' || c == '-'; c = peek(ps)) {
        struct polynomial b;
        ps->p++;
        if (parse_product(ps, &b))
            return -1;
        if (c == '-' && poly_scale(ps->w, &b, &b, (struct rational){-1, 1}))
            return -1;
        if (poly_add(ps->w, out, out, &b))
            return -1;
    }
    ps->depth--;
    return 0;
}

int math_parse_expression(struct math_value *out, struct poly_work *w, struct span s)
{
    if (s.n > MATH_INPUT_MAX || latex_is_word(s))
        return -1;
    struct parser ps = {s.s, s.s, s.s + s.n, w, 0};
    *out = (struct math_value){.n_items = 0};
    if (parse_sum(&ps, &out->poly))
        return -1;
    if (peek(&ps) == '%' || at_word(&ps, "percent")) {
        out->is_percent = 1;
        ps.p += *ps.p == '%' ? 1 : strlen("percent");
    }
    return peek(&ps) == -1 ? 0 : -1;
}
