/* Reads a whole formula: the first of its forms that takes all of the text. */
#include "answer_check/compat/compat_reader.h"

#include <string.h>

typedef const struct math_node *node;

/* Is the whole text a number such as "1,234,567.8"? */
static int grouped_number(struct span t)
{
    size_t i = compat_skip_space(t, 0), from;
    i += (size_t)span_at(t, i, "-");
    for (from = i; i < t.n && ascii_is_digit(t.s[i]);)
        i++;
    if (i == from || i - from > 3 || !span_at(t, i, ","))
        return 0;
    while (span_at(t, i, ",")) {
        for (int k = 1; k <= 3; k++)
            if (i + (size_t)k >= t.n || !ascii_is_digit(t.s[i + (size_t)k]))
                return 0;
        i += 4;
    }
    if (span_at(t, i, ".") && i + 1 < t.n && ascii_is_digit(t.s[i + 1]))
        for (i++; i < t.n && ascii_is_digit(t.s[i]);)
            i++;
    return compat_skip_space(t, i) == t.n;
}

/* The value of such a number; a leading zero makes the comma a decimal comma. */
static node grouped_value(struct math_work *w, struct span t)
{
    t = compat_trim(t);
    int negative = span_at(t, 0, "-"), decimal = span_at(t, (size_t)negative, "0");
    char *out = arena_alloc(w->arena, t.n + 1);
    size_t n = 0;
    for (size_t i = (size_t)negative; i < t.n; i++)
        if (t.s[i] != ',' || decimal)
            out[n++] = t.s[i] == ',' ? '.' : t.s[i];
    node m = compat_number_node(w, (struct span){out, n}, 0);
    return negative ? compat_negated(w, m) : m;
}

/* Does the text speak of complex numbers, with a lone i, Re, Im or arguments? Otherwise symbols are taken
 * for real. */
static int speaks_of_complex(struct span t)
{
    static const char *const word[] = {
        "\\mathbb{C}", "\\det", "\\operatorname{tr}", "\\operatorname{rank}", "\\text{rank}", "\\arg{",
        "\\Re{",       "\\Im{", "\\operatorname{Re}", "\\operatorname{Im}",   "\\text{Re}",   "\\text{Im}"};
    for (size_t i = 0; i < t.n; i++) {
        if (t.s[i] == '\\')
            for (size_t k = 0; k < sizeof word / sizeof *word; k++)
                if (span_at(t, i, word[k]))
                    return 1;
        size_t end = span_at(t, i, "\\imath") ? i + 6 : t.s[i] == 'i' ? i + 1 : 0;
        int joins_left = i && t.s[i] == 'i' &&
                         (ascii_is_letter(t.s[i - 1]) || ascii_is_digit(t.s[i - 1]) || t.s[i - 1] == '_' ||
                          (t.s[i - 1] & 0x80));
        int joins_right =
            end && end < t.n &&
            (ascii_is_letter(t.s[end]) || ascii_is_digit(t.s[end]) || t.s[end] == '_' || (t.s[end] & 0x80));
        if (end && !joins_left && !joins_right)
            return 1;
    }
    return 0;
}

static node read_whole(struct math_work *w, struct span t)
{
    static compat_parse *const parse[] = {compat_relation_to_list, compat_list, compat_relation_to_sets,
                                          compat_set_expression};
    const struct compat_lexed *tokens = t.n <= MATH_TREE_BYTES ? compat_lex(t, w->arena) : NULL;
    if (!tokens)
        return NULL;
    if (grouped_number(t))
        return grouped_value(w, t);
    struct compat_reader r = {.w = w, .complex = speaks_of_complex(t)};
    for (size_t k = 0; k < sizeof parse / sizeof *parse && !r.failed; k++) {
        r.at = tokens;
        r.depth = r.bars = 0;
        node m = parse[k](&r);
        if (m && r.at->kind == CT_END && !r.failed)
            return m;
    }
    return NULL;
}

/* What stands behind the last of at least two equals signs, if the text has neither comma nor semicolon. */
static struct span last_side(struct span t)
{
    size_t last = 0;
    int n = 0;
    for (size_t i = 0; i < t.n; i++) {
        if (t.s[i] == ',' || t.s[i] == ';')
            return t;
        if (t.s[i] == '=' && !(i && strchr("\\<!>", t.s[i - 1]) && t.s[i - 1])) {
            last = i + 1;
            n++;
        }
    }
    return n > 1 ? (struct span){t.s + last, t.n - last} : t;
}

const struct math_node *compat_read(struct math_work *w, struct span t)
{
    node m = read_whole(w, t);
    struct span last = last_side(t);
    return m || last.n == t.n ? m : read_whole(w, last);
}
