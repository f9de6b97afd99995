/* Numbers and plain arithmetic in running text, as the Expr target finds them: "1,234.5", "$20", "12 %",
 * "(3 + 4) / 2". They stand behind a blank, an equals sign or the start of the text. */
#include "answer_check/compat/compat.h"

enum { RUN_END = 6, NEXT_OPERATOR = 7 };
enum tail { TAIL_NONE, TAIL_HOPE, TAIL_NO_EQUALS }; /* what must follow: nothing, "I hope", no equals sign */

/* Does the tail stand at `end`? Moves the end behind it. */
static int tail_holds(struct span t, size_t *end, enum tail tail)
{
    if (tail == TAIL_NO_EQUALS)
        return !span_at(t, compat_skip_space(t, *end), "=");
    return tail == TAIL_NONE || compat_skip_hope(t, end);
}

/* ---- numbers */

/* Ends the match at `end`, including a percent word that follows, if the required tail is there. */
static int number_ends(struct span t, size_t end, enum tail tail, struct compat_match *out)
{
    size_t word = compat_skip_space(t, end), percent = compat_percent(t, word);
    out->percent = 1;
    out->end = word + percent;
    if (percent && tail_holds(t, &out->end, tail))
        return 1;
    out->percent = 0;
    out->end = end;
    return tail_holds(t, &out->end, tail);
}

/* A number whose integer part is [from, end) and whose decimals, if any, begin with the mark at `end`:
 * takes all decimals or, if the tail does not fit, fewer, as a backtracking search would. */
static int with_decimals(struct span t, size_t from, size_t end, enum tail tail, struct compat_match *out)
{
    out->integer = (struct span){t.s + from, end - from};
    for (size_t last = compat_digits(t, end + 1); last > end + 1; last--) {
        out->decimal = (struct span){t.s + end, last - end};
        if (number_ends(t, last, tail, out))
            return 1;
    }
    out->decimal = (struct span){"", 0};
    return 0;
}

/* Matches a number with separators of thousands, "1,234.5". */
static int thousands_at(struct span t, size_t i, enum tail tail, struct compat_match *out)
{
    size_t first = i + (size_t)span_at(t, i, "-"), end = compat_digits(t, first), groups = 0;
    if (end == first || end - first > 3 || t.s[first] == '0')
        return 0;
    while (end + 4 <= t.n && (t.s[end] == ' ' || t.s[end] == ',') &&
           compat_digits((struct span){t.s, end + 4}, end + 1) == end + 4) {
        end += 4;
        groups++;
    }
    for (; groups; groups--, end -= 4) {
        if (span_at(t, end, ".") && with_decimals(t, i, end, tail, out))
            return 1;
        out->integer = (struct span){t.s + i, end - i};
        if (number_ends(t, end, tail, out))
            return 1;
    }
    return 0;
}

/* Matches any number. */
static int number_at(struct span t, size_t i, enum tail tail, struct compat_match *out)
{
    if (i && ascii_is_digit(t.s[i - 1]))
        return 0;
    if (thousands_at(t, i, tail, out))
        return 1;
    size_t first = i + (size_t)span_at(t, i, "-"), end = compat_digits(t, first);
    if (end > first && end < t.n && (t.s[end] == '.' || t.s[end] == ',') &&
        with_decimals(t, i, end, tail, out))
        return 1;
    if (span_at(t, i, ".") && with_decimals(t, i, i, tail, out))
        return 1;
    for (; end > first; end--) {
        out->integer = (struct span){t.s + i, end - i};
        if (number_ends(t, end, tail, out))
            return 1;
    }
    return 0;
}

/* A currency sign at i: its length, or 0. */
static size_t currency_length(struct span t, size_t i)
{
    if (span_at(t, i, "$"))
        return 1;
    if (span_at(t, i, "£") || span_at(t, i, "¥"))
        return 2;
    int block = i + 3 <= t.n && (unsigned char)t.s[i] == 0xe2 && (unsigned char)t.s[i + 1] == 0x82;
    return span_at(t, i, "฿") || (block && (unsigned char)t.s[i + 2] >= 0xa1) ? 3 : 0;
}

/* Matches a number, perhaps behind a currency sign. */
static int money_at(struct span t, size_t i, enum tail tail, struct compat_match *out)
{
    size_t sign = currency_length(t, i);
    return (sign && number_at(t, i + sign, tail, out)) || number_at(t, i, tail, out);
}

/* ---- arithmetic */

/* The length of the arithmetic sign at i, or 0. */
static size_t operator_at(struct span t, size_t i)
{
    switch (t.s[i]) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '^':
    case '(':
    case ')':
        return 1;
    default:
        return span_at(t, i, "×") || span_at(t, i, "÷") ? 2 : 0;
    }
}

/* The first position from `from` on that ends a run of arithmetic characters or, depending on `kind`, that
 * holds an operator. */
static size_t find_stop(struct compat_text *t, size_t from, int kind)
{
    if (t->seen[kind].known && t->seen[kind].from <= from && from <= t->seen[kind].stop)
        return t->seen[kind].stop;
    size_t i = from;
    while (i < t->t.n) {
        size_t op = operator_at(t->t, i), blank = compat_space(t->t, i);
        if (kind == NEXT_OPERATOR ? op > 0 : !op && !blank && !ascii_is_digit(t->t.s[i]) && t->t.s[i] != '.')
            break;
        i += op ? op : blank ? blank : 1;
    }
    t->seen[kind].from = from;
    t->seen[kind].stop = i;
    t->seen[kind].known = 1;
    return i;
}

/* What must follow arithmetic: a mark, a blank or the end, perhaps after the "**" of bold type. Returns
 * where it ends, or 0. */
static size_t suffix_end(struct span t, size_t i)
{
    for (int bold = span_at(t, i, "**"); bold >= 0; bold--) {
        size_t k = i + (bold ? 2 : 0), blank = compat_space(t, k);
        if (k == t.n || blank)
            return k + blank;
        if (t.s[k] == '.' || t.s[k] == ',' || t.s[k] == ':' || t.s[k] == ')' || t.s[k] == '$')
            return k + 1;
    }
    return 0;
}

/* The longest run of arithmetic from i that holds an operator with something behind it and ends well. */
static int arithmetic_at(struct compat_text *t, size_t i, enum tail tail, struct compat_match *out)
{
    struct span s = t->t;
    size_t from = i + (size_t)span_at(s, i, "-");
    from += (size_t)span_at(s, from, "(");
    from += (size_t)span_at(s, from, "-");
    if (from >= s.n || !ascii_is_digit(s.s[from]))
        return 0;
    size_t end = find_stop(t, from, RUN_END), op = find_stop(t, from, NEXT_OPERATOR);
    if (op >= end)
        return 0;
    for (size_t last = end; last > op + operator_at(s, op); last--) {
        if (last < s.n && ((unsigned char)s.s[last] & 0xc0) == 0x80)
            continue;
        out->end = suffix_end(s, last);
        if (out->end && tail_holds(s, &out->end, tail)) {
            out->arithmetic = (struct span){s.s + i, last - i};
            return 1;
        }
    }
    return 0;
}

/* ---- both, with what stands before them */

typedef int reader(struct compat_text *t, size_t i, enum tail tail, struct compat_match *out);

static int money_reader(struct compat_text *t, size_t i, enum tail tail, struct compat_match *out)
{
    return money_at(t->t, i, tail, out);
}

int compat_may_be_number(char c)
{
    return ascii_is_digit(c) || strchr("-.($*\xc2\xe0\xe2", c) != NULL;
}

/* Can a number, a currency sign or "**" begin here? Asked first because most blanks stand before words. */
static int may_begin(struct span t, size_t i)
{
    return i < t.n && compat_may_be_number(t.s[i]);
}

/* Matches the start of the text, a blank or "=", then perhaps "**", then what `read` reads. */
static int read_anchored(struct compat_text *t, size_t i, reader *read, enum tail tail,
                         struct compat_match *out)
{
    size_t ahead[2] = {i, i + (span_at(t->t, i, "=") ? 1 : compat_space(t->t, i))};
    for (int k = i == 0 ? 0 : 1; k < 2; k++) {
        size_t p = ahead[k];
        if ((k == 1 && p == i) || !may_begin(t->t, p))
            continue;
        if (span_at(t->t, p, "**") && read(t, p + 2, tail, out))
            return 1;
        if (read(t, p, tail, out))
            return 1;
    }
    return 0;
}

/* Matches arithmetic or else a number, with what must stand before it. */
static int arithmetic_or_money(struct compat_text *t, size_t i, enum tail tail, struct compat_match *out)
{
    return read_anchored(t, i, arithmetic_at, tail, out) || read_anchored(t, i, money_reader, tail, out);
}

/* Matches behind any number of blanks; the last of them is the blank that must stand before a number. */
static int behind_blanks(struct compat_text *t, size_t i, enum tail tail, struct compat_match *out)
{
    size_t start = i, last = i, n;
    while ((n = compat_space(t->t, start))) {
        last = start;
        start += n;
    }
    return (start < t->t.n && arithmetic_or_money(t, start, tail, out)) ||
           (last < start && arithmetic_or_money(t, last, tail, out));
}

static int value_with_hope(struct compat_text *t, size_t i, struct compat_match *out)
{
    return behind_blanks(t, i, TAIL_HOPE, out);
}

static int any_value(struct compat_text *t, size_t i, struct compat_match *out)
{
    return i < t->t.n && arithmetic_or_money(t, i, TAIL_NONE, out);
}

/* Matches a number behind the last "=" within 100 characters on the same line, or else the nearest number
 * within 50 characters. In both cases no "=" may follow the number. */
static int after_answer(struct compat_text *t, size_t i, struct compat_match *out)
{
    size_t equals[101], p = i;
    int n = 0;
    for (int gap = 0; gap <= 100 && p < t->t.n; gap++, p = compat_next(t->t, p)) {
        if (t->t.s[p] == '=')
            equals[n++] = p + 1;
        if (t->t.s[p] == '\n')
            break;
    }
    while (n--)
        if (behind_blanks(t, equals[n], TAIL_NO_EQUALS, out))
            return 1;
    for (int gap = 0; gap <= 50 && i < t->t.n; gap++, i = compat_next(t->t, i)) {
        if (arithmetic_or_money(t, i, TAIL_NO_EQUALS, out))
            return 1;
        if (t->t.s[i] == '\n')
            break;
    }
    return 0;
}

static int any_arithmetic(struct compat_text *t, size_t i, struct compat_match *out)
{
    return read_anchored(t, i, arithmetic_at, TAIL_NONE, out);
}

static int any_number(struct compat_text *t, size_t i, struct compat_match *out)
{
    return read_anchored(t, i, money_reader, TAIL_NONE, out);
}

int compat_expr_patterns(struct compat_pattern *out)
{
    out[0] = (struct compat_pattern){value_with_hope, 0, COMPAT_FINAL_HOPE, 0};
    out[1] = (struct compat_pattern){any_value, 50, COMPAT_FINAL_IS_ON_LINE, 0};
    out[2] = (struct compat_pattern){after_answer, 100, COMPAT_ANSWER_COLON, 0};
    out[3] = (struct compat_pattern){after_answer, 200, COMPAT_ANSWER, 0};
    out[4] = (struct compat_pattern){any_arithmetic, 300, COMPAT_NUMBER, 0};
    out[5] = (struct compat_pattern){any_number, 300, COMPAT_NUMBER, 0};
    return 6;
}
