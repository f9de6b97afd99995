/* Tokens of the original's grammar. At each place the longest token is taken, whatever follows it: \pix is
 * \pi and x, and letters that spell one of its operator names ("tr", "norm", "floor") cannot be read as
 * letters. */
#include "answer_check/compat/compat_reader.h"

#include <string.h>

const char *compat_greek(int value)
{
    return compat_greek_letters[value].name;
}

static void keep_longest(struct compat_lexed *best, struct span t, size_t n, enum compat_token kind,
                         int value)
{
    if (n > best->text.n)
        *best = (struct compat_lexed){kind, value, {t.s, n}};
}

/* "\hat{..}": up to the first closing brace. */
static size_t accent_length(struct span t)
{
    for (const char *const *name = compat_accents; *name; name++) {
        size_t n = 1 + strlen(*name);
        if (!span_at(t, 1, *name))
            continue;
        size_t open = n + (size_t)(n < t.n && strchr(" \t\r\n", t.s[n]) != NULL && t.s[n]);
        if (!span_at(t, open, "{"))
            continue;
        const char *close = memchr(t.s + open, '}', t.n - open);
        return close ? (size_t)(close - t.s) + 1 : 0;
    }
    return 0;
}

static void lex_command(struct compat_lexed *best, struct span t)
{
    for (size_t k = 0; compat_greek_letters[k].name; k++) {
        const char *name = compat_greek_letters[k].name;
        if (span_at(t, 1, name)) {
            size_t n = 1 + strlen(name);
            int is_gamma = !strcmp(name, "gamma") || !strcmp(name, "Gamma");
            /* without a blank behind it, it is taken for the gamma function */
            keep_longest(best, t, n, is_gamma && !span_at(t, n, " ") ? CT_UNREADABLE : CT_GREEK, (int)k);
        }
    }
    for (const char *const *name = compat_other_symbols; *name; name++)
        if (span_at(t, 1, *name))
            keep_longest(best, t, 1 + strlen(*name), CT_OTHER, 0);
    keep_longest(best, t, accent_length(t), CT_ACCENT, 0);
    if (span_at(t, 0, "\\begin{array}{")) {
        size_t i = strlen("\\begin{array}{");
        while (i < t.n && (t.s[i] == 'c' || t.s[i] == 'l' || t.s[i] == 'r'))
            i++;
        if (span_at(t, i, "}"))
            keep_longest(best, t, i + 1, CT_ARRAY, 0);
    }
}

/* 12, .5, 12.5; with E and an exponent; with a percent sign, which may have a blank before it. */
static void lex_number(struct compat_lexed *best, struct span t)
{
    size_t n = compat_digits(t, 0), decimals = span_at(t, n, ".") ? compat_digits(t, n + 1) : 0;
    if (decimals > n + 1)
        n = decimals;
    if (!n)
        return;
    keep_longest(best, t, n, CT_NUMBER, 0);
    size_t sign = n + 1 + (size_t)(span_at(t, n + 1, "-") || span_at(t, n + 1, "+"));
    if (span_at(t, n, "E") && compat_digits(t, sign) > sign)
        keep_longest(best, t, compat_digits(t, sign), CT_E_NOTATION, 0);
    size_t percent = n + (size_t)(n < t.n && t.s[n] == ' ');
    percent += (size_t)(span_at(t, percent, "\\%"));
    if (span_at(t, percent, "%"))
        keep_longest(best, t, percent + 1, CT_PERCENT, (int)n);
}

/* "dx", "d x", "d\theta" */
static void lex_differential(struct compat_lexed *best, struct span t)
{
    size_t i = span_at(t, 0, "d") ? 1 : t.n, end;
    while (i < t.n && (t.s[i] == ' ' || t.s[i] == '\t'))
        i++;
    if (i >= t.n)
        return;
    if (ascii_is_letter(t.s[i])) {
        keep_longest(best, t, i + 1, CT_DIFFERENTIAL, 0);
    } else if (t.s[i] == '\\') {
        for (end = i + 1; end < t.n && ascii_is_letter(t.s[end]);)
            end++;
        if (end > i + 1)
            keep_longest(best, t, end, CT_DIFFERENTIAL, 0);
    }
}

static struct compat_lexed next_token(struct span t)
{
    struct compat_lexed best = {CT_END, 0, {t.s, 0}};
    for (const struct compat_literal *l = compat_literals; l->text; l++)
        if (l->text[0] == t.s[0] && span_at(t, 0, l->text))
            keep_longest(&best, t, strlen(l->text), (enum compat_token)l->kind, l->value);
    if (t.s[0] == '\\')
        lex_command(&best, t);
    lex_number(&best, t);
    lex_differential(&best, t);
    for (const char *const *name = compat_operator_names; *name; name++)
        if (span_at(t, 0, *name))
            keep_longest(&best, t, strlen(*name), CT_UNREADABLE, 1);
    for (size_t k = 0; (unsigned char)t.s[0] >= 0x80 && compat_greek_letters[k].sign; k++)
        if (span_at(t, 0, compat_greek_letters[k].sign))
            keep_longest(&best, t, strlen(compat_greek_letters[k].sign), CT_GREEK, (int)k);
    if (ascii_is_letter(t.s[0]))
        keep_longest(&best, t, 1, CT_LETTER, 0);
    if (t.s[0] == ' ' || t.s[0] == '\t' || t.s[0] == '\r' || t.s[0] == '\n')
        keep_longest(&best, t, 1, CT_SKIP, 0);
    return best;
}

struct compat_lexed *compat_lex(struct span t, struct arena *a)
{
    struct compat_lexed *out = arena_alloc(a, (t.n + 1) * sizeof *out);
    size_t n = 0;
    for (size_t i = 0; i < t.n;) {
        struct compat_lexed token = next_token((struct span){t.s + i, t.n - i});
        if (!token.text.n)
            return NULL;
        i += token.text.n;
        if (token.kind != CT_SKIP)
            out[n++] = token;
    }
    out[n] = (struct compat_lexed){CT_END, 0, {t.s + t.n, 0}};
    return out;
}
