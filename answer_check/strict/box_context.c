/* What the formula around a box makes of it (contract: extract.h). A model boxes what it takes for the
 * number and leaves a sign or a factor outside; the answer is what stands there as a whole. A box that was
 * right must not become doubtful for a unit or a mark beside it, so the formula is matched against the few
 * forms that surely belong to the value, from one relation or end to the other, or else left alone. */
#include "answer_check/strict/extract.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const fractions[] = {"\\frac", "\\dfrac", "\\tfrac", "\\cfrac"};

static int is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Behind blanks and the spaces "\," and "\!" at i; wider ones separate. */
static size_t behind_space(struct span s, size_t i)
{
    while (i < s.n) {
        size_t n = ascii_is_space(s.s[i]) ? 1 : span_at(s, i, "\\,") || span_at(s, i, "\\!") ? 2 : 0;
        if (!n)
            break;
        i += n;
    }
    return i;
}

/* Where the blanks and such spaces that end at i begin. */
static size_t before_space(struct span s, size_t i)
{
    while (i) {
        size_t n =
            i > 1 && is_one_of(s.s[i - 1], ",!") && s.s[i - 2] == '\\' ? 2 : ascii_is_space(s.s[i - 1]);
        if (!n || (i > n && s.s[i - n - 1] == '\\')) /* "\\," and "\ " */
            break;
        i -= n;
    }
    return i;
}

/* The length of the command of the list that stands at i, or 0. */
static size_t command_at(struct span s, size_t i, const char *const *names, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t n = strlen(names[k]);
        if (span_at(s, i, names[k]) && !(i + n < s.n && ascii_is_letter(s.s[i + n])))
            return n;
    }
    return 0;
}

/* Where the command of the list that ends at i begins, or `none`. */
static size_t command_before(struct span s, size_t i, const char *const *names, size_t count, size_t none)
{
    for (size_t k = 0; k < count; k++) {
        size_t n = strlen(names[k]);
        if (i >= n && span_at(s, i - n, names[k]) && !(i > n && s.s[i - n - 1] == '\\'))
            return i - n;
    }
    return none;
}

/* Behind the bracket that closes the one at i, or 0. */
static size_t group_end(struct span s, size_t i)
{
    char open = i < s.n ? s.s[i] : 0, close = open == '[' ? ']' : '}';
    if (open != '{' && open != '[')
        return 0;
    for (int depth = 0; i < s.n; i++) {
        if (s.s[i] == '\\')
            i++;
        else if (s.s[i] == open || s.s[i] == close)
            depth += s.s[i] == open ? 1 : -1;
        if (!depth)
            return i + 1;
    }
    return 0;
}

/* Where the group that ends before i begins, or i. */
static size_t group_start(struct span s, size_t i, char open, char close)
{
    int depth = 0;
    for (size_t k = i; k-- > 0;) {
        if (k && s.s[k - 1] == '\\')
            continue;
        depth += (s.s[k] == close) - (s.s[k] == open);
        if (!depth)
            return s.s[k] == open ? k : i;
    }
    return i;
}

/* Is this writing of numbers alone? Letters may be units. Boxes are seen through. */
static int is_plain(struct span s, size_t from, size_t to)
{
    static const char *const known[] = {"\\pi",   "\\sqrt",  "\\frac", "\\dfrac", "\\tfrac",
                                        "\\cdot", "\\boxed", "\\fbox", "\\,",     "\\!"};
    struct span inner = {s.s + from, to - from};
    if (!span_trim(inner).n)
        return 0;
    for (size_t i = 0; i < inner.n;) {
        size_t n = command_at(inner, i, known, COUNT(known));
        if (!n && !ascii_is_digit(inner.s[i]) && !ascii_is_space(inner.s[i]) &&
            !is_one_of(inner.s[i], "+-.^{}()"))
            return 0;
        i += n ? n : 1;
    }
    return 1;
}

/* Behind an argument of numbers at i, a digit or in braces; 0 when there is none. */
static size_t argument_end(struct span s, size_t i)
{
    if (i < s.n && ascii_is_digit(s.s[i]))
        return i + 1;
    size_t end = i < s.n && s.s[i] == '{' ? group_end(s, i) : 0;
    return end && is_plain(s, i + 1, end - 1) ? end : 0;
}

/* Behind the exponent at i: numbers, or one letter that makes neither degrees nor a transpose. 0: others. */
static size_t exponent_end(struct span s, size_t i)
{
    size_t brace = i < s.n && s.s[i] == '{', letter = i + brace, end = letter + 1 + brace;
    if (end <= s.n && s.s[letter] >= 'a' && s.s[letter] <= 'z' && s.s[letter] != 'o' &&
        (brace ? s.s[end - 1] == '}' : end == s.n || !ascii_is_letter(s.s[end])))
        return end;
    return argument_end(s, i);
}

/* Behind the factor, power or "!" that stands at i, which is where the value ends so far. 0: none. */
static size_t factor_end(struct span s, size_t i)
{
    static const char *const pi[] = {"\\pi"}, *const root[] = {"\\sqrt"};
    size_t n;
    if (i < s.n && (s.s[i] == '!' || s.s[i] == '^'))
        return s.s[i] == '!' ? i + 1 : exponent_end(s, behind_space(s, i + 1));
    i = behind_space(s, i);
    if ((n = command_at(s, i, pi, 1)))
        return i + n;
    if ((n = command_at(s, i, fractions, COUNT(fractions)))) {
        size_t over = argument_end(s, behind_space(s, i + n));
        return over ? argument_end(s, behind_space(s, over)) : 0;
    }
    if ((n = command_at(s, i, root, 1))) {
        size_t index = i + n < s.n && s.s[i + n] == '[' ? group_end(s, i + n) : 0;
        if (index && !is_plain(s, i + n + 1, index - 1))
            return 0;
        return argument_end(s, behind_space(s, index ? index : i + n));
    }
    static const char letters[] = "iexyznk"; /* no units */
    if (i < s.n && is_one_of(s.s[i], letters) && !(i + 1 < s.n && ascii_is_letter(s.s[i + 1])))
        return i + 1;
    return 0;
}

/* Does a value begin at i: the formula's start, or a relation of equality before it? */
static int begins_value(struct span s, size_t i)
{
    static const char *const equal[] = {"=", "\\approx", "\\equiv", "\\simeq", "\\cong", "\\sim"};
    static const char *const others[] = {"!", "<", ">", "\\not"};
    i = before_space(s, i);
    size_t relation = command_before(s, i, equal, COUNT(equal), s.n);
    return !i || (relation < s.n && command_before(s, relation, others, COUNT(others), s.n) == s.n);
}

/* Does a value end at i: a full stop, the formula's end, or that of its row? */
static int ends_value(struct span s, size_t i)
{
    i = behind_space(s, i);
    if (span_at(s, i, "."))
        i = behind_space(s, i + 1);
    return i >= s.n || span_at(s, i, "\\\\") || span_at(s, i, "\\end{");
}

/* Where the base of the power with its ^ at i begins, a number or e; i when it is another. */
static size_t base_start(struct span s, size_t i)
{
    size_t from = i;
    while (from && ascii_is_digit(s.s[from - 1]))
        from--;
    if (from == i && i && s.s[i - 1] == 'e')
        from--;
    return from && (ascii_is_letter(s.s[from - 1]) || s.s[from - 1] == '\\') ? i : from;
}

/* The value from *from to *to fills the braces around it. Widens it to the root, power or fraction that they
 * belong to; 0 when it is another command's. */
static int widen_group(struct span s, size_t *from, size_t *to)
{
    static const char *const root[] = {"\\sqrt"};
    size_t open = *from - 1, end = *to + 1, start = s.n;
    if (open && s.s[open - 1] == '^') {
        start = base_start(s, open - 1);
        if (start == open - 1)
            return 0;
    } else if (open && s.s[open - 1] == ']') {
        size_t index = group_start(s, open, '[', ']');
        if (index < open && is_plain(s, index + 1, open - 1))
            start = command_before(s, index, root, 1, s.n);
    } else if (open && s.s[open - 1] == '}') { /* the second argument */
        size_t first = group_start(s, open, '{', '}');
        if (first < open && is_plain(s, first + 1, open - 1))
            start = command_before(s, first, fractions, COUNT(fractions), s.n);
    } else {
        start = command_before(s, open, root, 1, s.n);
        size_t over = command_before(s, open, fractions, COUNT(fractions), s.n);
        if (over < s.n) {
            start = over;
            end = argument_end(s, behind_space(s, end));
        }
    }
    if (start == s.n || !end)
        return 0;
    *from = start;
    *to = end;
    return 1;
}

/* Widens the value from *from to *to, first a box. Returns 1 when it is wider now and nothing else stands at
 * it. */
static int widen_value(struct span s, size_t *from, size_t *to)
{
    static const char *const minus[] = {"-", "+", "\xe2\x88\x92"};
    int is_wider = 0;
    for (;;) {
        for (size_t end; (end = factor_end(s, *to)); is_wider = 1)
            *to = end;
        size_t left = before_space(s, *from), right = behind_space(s, *to);
        size_t sign = command_before(s, left, minus, COUNT(minus), left);
        if (sign < left) {
            *from = sign;
            left = before_space(s, sign);
            is_wider = 1;
        }
        if (begins_value(s, left) && ends_value(s, right))
            return is_wider;
        if (!left || s.s[left - 1] != '{' || right >= s.n || s.s[right] != '}')
            return 0;
        *from = left;
        *to = right;
        if (!widen_group(s, from, to))
            return 0;
        is_wider = 1;
    }
}

static int is_digits(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.s[i]))
            return 0;
    return 1;
}

/* The section from `start` to `end` with the boxes there unwrapped. Whole numbers need no parentheses, which
 * would make a product of a mixed number. */
static struct span unwrap_boxes(struct span section, size_t start, size_t end, const struct box_list *boxes,
                                struct arena *a)
{
    struct str s = {0};
    for (size_t k = 0; k < boxes->n; k++) {
        const struct box *b = &boxes->box[k];
        if (b->start < start || b->end > end)
            continue;
        int is_bare = is_digits(b->content);
        str_add(&s, section.s + start, b->start - start);
        str_puts(&s, is_bare ? "" : "(");
        str_add(&s, b->content.s, b->content.n);
        str_puts(&s, is_bare ? "" : ")");
        start = b->end;
    }
    str_add(&s, section.s + start, end - start);
    struct span out = {arena_strndup(a, str_text(&s), s.len), s.len};
    str_release(&s);
    return out;
}

/* Is it the label of an option, "\text{(B)}" or "B", beside which its text may stand? */
static int is_label(struct span s)
{
    static const char *const fonts[] = {"\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{"};
    size_t i = 0;
    for (size_t k = 0; k < COUNT(fonts); k++)
        i += !i && span_at(s, 0, fonts[k]) ? strlen(fonts[k]) : 0;
    i += i < s.n && s.s[i] == '(';
    if (i == s.n || s.s[i] < 'A' || s.s[i] > 'Z')
        return 0;
    for (i++; i < s.n; i++)
        if (!is_one_of(s.s[i], ")}. "))
            return 0;
    return 1;
}

/* Is the formula nothing but numbers with an operator beside the box from `from` to `to`, "\boxed{8} + 1"? */
static int is_arithmetic(struct span s, size_t from, size_t to)
{
    static const char *const operators[] = {"+", "-", "/", "\\cdot", "\\times", "\xe2\x88\x92"};
    size_t left = before_space(s, from), right = behind_space(s, to);
    int is_beside = command_before(s, left, operators, COUNT(operators), s.n) < s.n && left > 1;
    for (size_t k = 0; k < COUNT(operators); k++)
        is_beside |= span_at(s, right, operators[k]) && right + 1 < s.n;
    for (size_t i = 0; i < s.n && is_beside; i++) {
        if (i >= from && i < to)
            continue;
        size_t n = 0;
        for (size_t k = 0; k < COUNT(operators) && !n; k++)
            n = span_at(s, i, operators[k]) ? strlen(operators[k]) : 0;
        if (!n && !ascii_is_digit(s.s[i]) && !ascii_is_space(s.s[i]))
            return 0;
        i += n ? n - 1 : 0;
    }
    return is_beside;
}

/* The box with what stands at it. Returns whether that changed it. */
static int read_box(struct box *b, struct span section, const struct box_list *boxes, struct math_work *w)
{
    enum { BOX_MAX = 8192 };
    struct span formula;
    if (b->end - b->start > BOX_MAX || is_label(b->content) ||
        !extract_formula_around(&formula, section, b->start, b->end))
        return 0;
    size_t at = (size_t)(formula.s - section.s), from = b->start - at, to = b->end - at;
    if (!widen_value(formula, &from, &to)) {
        if (!is_arithmetic(formula, from, to))
            return 0;
        from = 0;
        to = formula.n;
    }
    struct span read = unwrap_boxes(section, at + from, at + to, boxes, w->arena);
    if (!math_is_value(w, read))
        return 0;
    *b = (struct box){at + from, at + to, read};
    return 1;
}

int extract_box_contexts(struct box_list *out, struct span section, const struct box_list *boxes,
                         struct math_work *w)
{
    enum { LAST = 16 };
    size_t first = boxes->n > LAST ? boxes->n - LAST : 0;
    int is_changed = 0;
    *out = (struct box_list){arena_alloc(w->arena, (boxes->n - first) * sizeof *out->box), 0};
    for (size_t k = first; k < boxes->n; k++) {
        struct box b = boxes->box[k];
        int is_read = read_box(&b, section, boxes, w);
        if (!is_read && out->n && out->box[out->n - 1].end > b.start)
            continue; /* the one before took it in */
        while (out->n && out->box[out->n - 1].end > b.start)
            out->n--; /* taken in */
        is_changed |= is_read;
        out->box[out->n++] = b;
    }
    return is_changed;
}
