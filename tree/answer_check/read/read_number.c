/* Numbers in all the ways in which they are written. Digits stay as written; other files decide about
 * values and rounding. Where a comma may group digits or separate two numbers, both are readings. */
#include "answer_check/read/reader.h"

#include <string.h>

#include "evalcore/base/arena.h"

enum { EXPONENT_DIGITS = 6 };

struct digits {
    struct arena *arena;
    const struct token *end; /* behind the last token used */
    char *s;
    int n, capacity;
    int decimals, period, exponent, point, comma;
};

/* Is it a token of that kind, with no space before it? */
static int is_tight(const struct token *t, enum token_kind kind)
{
    return t->kind == kind && t->space == SPACE_NONE;
}

/* Appends n digits; the array grows in the arena. */
static void append_digits(struct digits *d, const char *s, int n)
{
    if (n > d->capacity - d->n) {
        d->capacity = 2 * (d->n + n);
        char *more = arena_alloc(d->arena, (size_t)d->capacity);
        if (d->n)
            memcpy(more, d->s, (size_t)d->n);
        d->s = more;
    }
    memcpy(d->s + d->n, s, (size_t)n);
    d->n += n;
}

/* How groups of three digits are separated: not at all, by a sign that says so ({,} or a thin space), by a
 * blank, by a comma without a blank, by a comma with one. */
enum group_style { GROUP_NONE, GROUP_SURE, GROUP_SPACE, GROUP_TIGHT, GROUP_LOOSE };

/* How the digits at t are separated from those behind them. */
static enum group_style group_style(const struct token *t)
{
    if (t[1].kind == T_DIGITS && t[1].space)
        return t[1].space == SPACE_WIDE ? GROUP_NONE : GROUP_SPACE;
    if (t[1].kind != T_COMMA || t[2].kind != T_DIGITS || t[1].space > SPACE_THIN)
        return GROUP_NONE;
    if (t[1].value == 1)
        return GROUP_SURE;
    switch (t[2].space) {
    case SPACE_NONE:
        return GROUP_TIGHT;
    case SPACE_BLANK:
        return GROUP_LOOSE;
    case SPACE_WIDE:
        return GROUP_NONE;
    default:
        return GROUP_SURE;
    }
}

/* The number of groups behind a first run of one to three digits, all separated in the same way, or 0. */
static int count_groups(const struct token *t, enum group_style *style, int *zeros)
{
    int n = 0, width = 1;
    *style = group_style(t);
    *zeros = 0;
    if (*style == GROUP_NONE || t->n > 3 || *t->s == '0')
        return 0;
    width = *style == GROUP_SPACE ? 1 : 2;
    for (; group_style(t) == *style; t += width) {
        if (t[width].n != 3)
            return 0;
        *zeros |= *t[width].s == '0';
        n++;
    }
    if (*style == GROUP_TIGHT && group_style(t) != GROUP_NONE) /* 1,234, 5 is a list; 1,234,\!567 nothing */
        return group_style(t) == GROUP_LOOSE ? n : 0;
    return n;
}

/* Do the groups form one number in this reading? */
static int groups_are_number(struct math_reader *r, enum group_style style, int zeros)
{
    if (style == GROUP_SURE || style == GROUP_SPACE)
        return 1;
    if (style == GROUP_LOOSE)
        return !r->in_bracket && reader_option(r, READ_COMMA);
    if (r->in_bracket && !zeros)
        return 0;
    return !reader_option(r, READ_COMMA);
}

/* Does this number stand inside a run of numbers and commas that did not begin with groups of three, as in
 * 1,2,345? */
static int is_behind_list(const struct math_reader *r)
{
    const struct token *t = reader_token(r);
    return r->pos > 1 && t[-1].kind == T_COMMA && t[-2].kind == T_DIGITS && t->space <= SPACE_NEGATIVE &&
           !t[-1].space;
}

/* Is the comma of 3,14 or 3{,}14 a decimal comma? Never inside brackets, where commas separate. */
static int is_decimal_comma(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    if (t[1].kind != T_COMMA || t[1].space || !is_tight(&t[2], T_DIGITS) || t[3].kind == T_COMMA ||
        is_behind_list(r))
        return 0;
    if (t[1].value == 1)
        return 1;
    if (r->in_bracket || r->commas != 1 || t[3].kind == T_DOT)
        return 0;
    return reader_option(r, READ_DECIMAL_COMMA);
}

/* The digits before the point, with groups of three, and a decimal comma with what follows it. */
static void read_integer_part(struct math_reader *r, struct digits *d)
{
    const struct token *t = reader_token(r);
    enum group_style style;
    int zeros, many = r->commas > 1 && group_style(t) == GROUP_LOOSE; /* 1, 200, 300 is a list */
    int groups = many || is_behind_list(r) ? 0 : count_groups(t, &style, &zeros);
    append_digits(d, t->s, t->n);
    d->end = t + 1;
    if (groups && groups_are_number(r, style, zeros)) {
        int width = style == GROUP_SPACE ? 1 : 2;
        for (int i = 0; i < groups; i++) {
            t += width;
            append_digits(d, t->s, t->n);
        }
        d->end = t + 1;
    } else if (!groups && is_decimal_comma(r)) {
        append_digits(d, t[2].s, t[2].n);
        d->decimals = t[2].n;
        d->point = 1;
        d->comma = t[1].value != 1;
        d->end = t + 3;
    }
}

/* How many tokens digits under a mark take, \dot{3} or \dot3, or 0; *digits is the token of the digits. */
static int accented_digits(const struct token *t, const struct token **digits)
{
    int braced = t[1].kind == T_OPEN;
    *digits = t + 1 + braced;
    if (t->kind != T_ACCENT || (*digits)->kind != T_DIGITS)
        return 0;
    if (braced)
        return t[3].kind == T_CLOSE ? 4 : 0;
    return t[1].n == 1 ? 2 : 0;
}

/* Reads the period behind the point: \overline{3}, \dot{1}42\dot{7} or (3). */
static void read_period(struct digits *d)
{
    const struct token *t = d->end;
    int n = 0;
    if (t->kind == T_OPEN && t->value == '(' && !t->space && is_tight(&t[1], T_DIGITS) &&
        t[2].kind == T_CLOSE) {
        append_digits(d, t[1].s, t[1].n);
        n = t[1].n;
        d->end = t + 3;
    }
    int dot = t->kind == T_ACCENT && !strcmp(t->s, "dot"), repeats = n;
    const struct token *marked;
    int used;
    while (!repeats && (used = accented_digits(t, &marked))) {
        append_digits(d, marked->s, marked->n);
        n += marked->n;
        d->end = t += used;
        repeats = !dot;
        if (dot && is_tight(t, T_DIGITS) && accented_digits(t + 1, &marked)) {
            append_digits(d, t->s, t->n);
            n += t->n;
            t++;
        }
    }
    d->period = n;
    d->decimals += n;
}

/* Finds what dots repeat: in 0.333... and 0.1212... a block written at least twice repeats for ever;
 * 3.14159... means the digits that are written. */
static void find_repeating_block(struct digits *d)
{
    const char *end = d->s + d->n;
    d->end++;
    for (int block = 1; 2 * block <= d->decimals; block++)
        if (!memcmp(end - block, end - 2 * block, (size_t)block)) {
            d->period = block;
            return;
        }
}

/* Is a point before this token a full stop rather than that of a decimal? */
static int ends_sentence(const struct token *t)
{
    return t->kind == T_FINISH || t->kind == T_ROW || t->kind == T_CELL || t->kind == T_CLOSE;
}

/* The point, the digits behind it, and their period. */
static void read_fraction_part(struct digits *d)
{
    const struct token *t = d->end;
    if (t->kind != T_DOT || (d->n && t->space)) /* what stands before .5 does not matter */
        return;
    d->end = ++t;
    d->point = !ends_sentence(t);
    if (t->kind == T_DIGITS && !t->space) {
        append_digits(d, t->s, t->n);
        d->decimals += t->n;
        d->end = ++t;
        while (t->kind == T_DIGITS && t->space == SPACE_THIN) { /* 3.141\,592 */
            append_digits(d, t->s, t->n);
            d->decimals += t->n;
            d->end = ++t;
        }
    }
    read_period(d);
    if (d->end->kind == T_DOTS && d->decimals && !d->end->space && !d->period)
        find_repeating_block(d);
}

/* Reads e3, E-5 behind a number. Without a point, 3e-5 may also be a difference. */
static void read_exponent_part(struct math_reader *r, struct digits *d)
{
    const struct token *t = d->end;
    if (!is_tight(t, T_WORD) || t->n != 1 || (*t->s != 'e' && *t->s != 'E') || d->period)
        return;
    int capital = *t->s == 'E', sign = t[1].kind == T_MINUS || t[1].kind == T_PLUS;
    const struct token *k = t + 1 + sign;
    if ((sign && t[1].space) || !is_tight(k, T_DIGITS) || k->n > EXPONENT_DIGITS)
        return;
    if (sign && !d->point && !capital && !reader_option(r, READ_SCIENTIFIC))
        return;
    for (int i = 0; i < k->n; i++)
        d->exponent = 10 * d->exponent + k->s[i] - '0';
    if (sign && t[1].kind == T_MINUS)
        d->exponent = -d->exponent;
    d->end = k + 1;
}

/* The MATH_NUMBER of the digits, without leading zeros. */
static const struct math_node *make_literal(struct math_reader *r, struct digits *d, int from)
{
    r->pos = (int)(d->end - r->t);
    struct math_node *m = math_node_new(r->w, MATH_NUMBER, reader_source(r, from), 0, NULL);
    if (!m)
        return NULL;
    while (d->n > 1 && *d->s == '0') {
        d->s++;
        d->n--;
    }
    m->literal = (struct math_literal){d->s, d->n, d->decimals, d->period, d->exponent, d->point, d->comma};
    return m;
}

/* Is the whole number of token a smaller than that of b? */
static int is_less(const struct token *a, const struct token *b)
{
    return a->n != b->n ? a->n < b->n : memcmp(a->s, b->s, (size_t)a->n) < 0;
}

/* Is it a mixed number with a blank between, 1 2/3? */
static int is_plain_mixed(const struct token *t)
{
    return t[1].kind == T_DIGITS && t[1].space >= SPACE_THIN && t[1].space <= SPACE_BLANK &&
           t[2].kind == T_SLASH && t[3].kind == T_DIGITS && *t[1].s != '0' && is_less(&t[1], &t[3]) &&
           t[4].kind != T_DOT;
}

static const struct math_node *read_plain_mixed(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    int from = r->pos;
    const struct math_node *whole = reader_integer(r, t->s, t->n), *a = reader_integer(r, t[1].s, t[1].n),
                           *b = reader_integer(r, t[3].s, t[3].n);
    r->pos += 4;
    const struct math_node *f = reader_two(r, MATH_DIVIDE, from + 1, a, b);
    return reader_two(r, MATH_ADD, from, whole, f);
}

static int is_plain_integer(const struct math_node *m)
{
    return m->kind == MATH_NUMBER && !m->literal.point && !m->literal.exponent && !m->literal.decimals;
}

const struct math_node *read_mixed(struct math_reader *r, const struct math_node *whole, int from,
                                   int *joined)
{
    const struct math_node *f = read_primary(r);
    if (!f || r->skip || f->kind != MATH_DIVIDE || !is_plain_integer(f->child[0]) ||
        !is_plain_integer(f->child[1]))
        return f;
    const struct math_literal *a = &f->child[0]->literal, *b = &f->child[1]->literal;
    int proper = a->n != b->n ? a->n < b->n : memcmp(a->digits, b->digits, (size_t)a->n) < 0;
    if (!proper || (a->n == 1 && *a->digits == '0'))
        return f;
    *joined = 1;
    return reader_two(r, MATH_ADD, from, whole, f);
}

/* The base of 1101_2, 52_{8} or 12_{\text{eight}}. */
const struct math_node *read_base(struct math_reader *r, const struct math_node *digits, int from)
{
    const struct token *t = reader_token(r) + 1;
    int braced = t->kind == T_OPEN && t->value == '{', word;
    const struct math_node *base;
    t += braced;
    word = braced && t->kind == T_WORD && t->n == 4 && span_starts((struct span){t->s, 4}, "base");
    t += word;
    int number = t->kind == T_WORD ? math_word_number(token_text(t)) : -1;
    if (number > 1 && (!braced || t[1].kind == T_CLOSE)) {
        char *s = arena_printf(r->w->arena, "%d", number);
        base = reader_integer(r, s, (int)strlen(s));
        r->pos += 2 + 2 * braced + word;
    } else if (word && t->kind == T_DIGITS && t[1].kind == T_CLOSE) { /* 52_{base 8} */
        base = reader_integer(r, t->s, t->n);
        r->pos += 5;
    } else if (t->kind == T_DIGITS && !braced) {
        base = reader_integer(r, t->s, t->n);
        r->pos += 2;
    } else {
        reader_next(r);
        base = read_argument(r);
    }
    return reader_two(r, MATH_BASE, from, digits, base);
}

const struct math_node *read_number(struct math_reader *r)
{
    const struct token *t = reader_token(r);
    struct digits d = {.arena = r->w->arena, .end = t};
    int from = r->pos;
    if (r->skip) { /* the rest of a run whose first digit was read as TeX takes it */
        const struct math_node *m = reader_integer(r, t->s + r->skip, t->n - r->skip);
        reader_next(r);
        return m;
    }
    if (is_plain_mixed(t))
        return read_plain_mixed(r);
    if (t->kind == T_DIGITS)
        read_integer_part(r, &d);
    if (!d.point)
        read_fraction_part(&d);
    if (!d.n || math_step(r->w, d.n))
        return NULL;
    read_exponent_part(r, &d);
    const struct math_node *m = make_literal(r, &d, from);
    return m && reader_is(r, T_UNDERSCORE) ? read_base(r, m, from) : m;
}
