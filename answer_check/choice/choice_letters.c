/* Which letters of a text are options: no articles, units, symbols and parts of words (contract:
 * choice_text.h). A bare lower-case letter ("the mass must be a") is an article or a symbol, except where a
 * declaration names it. */
#include "answer_check/choice/choice_text.h"

/* Is the letter at i a whole word? The apostrophe of "C's" and "I'm" makes it part of a longer one, a
 * quotation mark does not; so does the underscore of "x_C", while those of "_C_" are marks. */
static int is_alone(const struct choice_text *t, size_t i)
{
    size_t before = i, behind = i + 1;
    while (before && t->s[before - 1] == '_')
        before--;
    while (byte_at(t, behind) == '_')
        behind++;
    if (before && t->s[before - 1] == '\'')
        before -= before > 1 && ascii_is_letter(t->s[before - 2]);
    if (byte_at(t, behind) == '\'')
        behind += ascii_is_letter(byte_at(t, behind + 1)) != 0;
    return !(before && is_word_at(t, before - 1)) && !is_word_at(t, behind);
}

/* Is the bare letter at i an article or "I" rather than an option? A lower-case word follows an article, and
 * one that a verb or a conjunction does not follow instead. */
static int is_article(const struct choice_text *t, size_t i)
{
    size_t length;
    if ((t->s[i] != 'A' && t->s[i] != 'I') || byte_at(t, i + 1) != ' ')
        return 0;
    if (t->s[i] == 'I' && choice_word(t->words, (struct span){t->s + i, t->n - i}, &length) == K_OWN)
        return 1; /* "I was wrong" */
    if (t->s[i] == 'A' && i > 1 && t->s[i - 1] == ' ' && t->s[i - 2] >= 'a' && t->s[i - 2] <= 'z')
        return 0; /* in the middle of a sentence the article is small */
    for (size_t j = i + 2, n; byte_at(t, j) >= 'a' && byte_at(t, j) <= 'z'; j = skip_marks(t, j + n, " ")) {
        switch (choice_word(t->words, (struct span){t->s + j, t->n - j}, &n)) {
        case K_IS:
        case K_ARE:
        case K_AND:
        case K_OR:
        case K_BREAK:
        case K_BUT:
        case K_IF:
        case K_SO:
        case K_NEITHER:
        case K_IT:
            return 0;
        case K_NOT:
        case K_THAN:
        case K_FITS:
        case K_FAILS:
        case K_LEAVE:
        case K_HEDGE:
        case K_WOULD:
        case K_THINK:
        case K_SEEMS:
        case K_ONLY:
            return t->s[i] == 'I';
        case K_LIGHT:
            break;
        default: /* "A doesn't": no article stands before a negation */
            for (n = 0; is_word_at(t, j + n) || byte_at(t, j + n) == '\'';)
                n++;
            return t->s[i] == 'I' || n < 4 || memcmp(t->s + j + n - 3, "n't", 3) != 0;
        }
        if (t->s[i] == 'I')
            return 1;
    }
    return 0;
}

/* Is there a word such as "correct" or "wrong" at i? */
static int is_verdict(const struct choice_text *t, size_t i)
{
    size_t n;
    enum choice_kind kind = i < t->n ? choice_word(t->words, (struct span){t->s + i, t->n - i}, &n) : K_OTHER;
    return kind == K_RIGHT || kind == K_WRONG;
}

/* Is there an "and" or "or" of LaTeX at i? */
static int is_joint(const struct choice_text *t, size_t i)
{
    size_t n;
    enum choice_kind kind = choice_word(t->words, (struct span){t->s + i, t->n - i}, &n);
    return kind == K_AND || kind == K_OR;
}

int choice_is_formula(const struct choice_text *t, size_t i)
{
    static const char *const operators[] = {"·", "× ", "\xe2\x89", "\xe2\x88", "\xe2\x8a", "\xe2\x8b"};
    static const char *const scripts[] = {"²", "³", "¹", "\xe2\x81", "\xe2\x82"};
    size_t before = i, behind = i + 1;
    while (before && (t->s[before - 1] == ' ' || t->s[before - 1] == '*' || t->s[before - 1] == '`'))
        before--;
    char left = before ? t->s[before - 1] : 0, near = i ? t->s[i - 1] : 0;
    int is_starred = near == '*';
    if (ascii_is_digit(left) || left == '+' || left == '^' ||
        (near == '-' && i > 1 && is_word_at(t, i - 2)) ||
        (before > 1 && (unsigned char)t->s[before - 2] == 0xc2 && ((unsigned char)left | 0x0a) == 0xba) ||
        (before > 6 && (!memcmp(t->s + before - 5, "\\circ", 5) || !memcmp(t->s + before - 6, "\\circ]", 6))))
        return 1;
    char next = byte_at(t, behind);
    struct span rest = {t->s + behind, t->n - behind};
    for (int s = 0; s < 5; s++) /* digits set high or low */
        if (span_at(rest, 0, scripts[s]))
            return 1;
    if (!is_starred && next == '*' && byte_at(t, behind + 1) != '*' && is_word_at(t, behind + 1))
        return 1;
    if ((next == '(' || next == '[') && byte_at(t, behind + 1) != ' ')
        return 1;
    if ((next == '-' || next == '.') && is_word_at(t, behind + 1) &&
        (next == '-' || byte_at(t, behind + 2) == '.'))
        return 1;
    if (next == ':' && byte_at(t, behind + 1) >= 'A' && byte_at(t, behind + 1) <= 'Z' &&
        !is_word_at(t, behind + 2))
        return 1;
    behind = skip_marks(t, behind, " *_`'\")]");
    rest = (struct span){t->s + behind, t->n - behind};
    for (int s = 0; s < 6; s++)
        if (span_at(rest, 0, operators[s]) && !span_at(rest, 0, "∴") && byte_at(t, behind + 2) != '\n')
            return 1;
    next = byte_at(t, behind);
    if (next == '=' && is_verdict(t, skip_marks(t, behind + 1, " ")))
        return 0;
    if (next == '=')
        return byte_at(t, behind + 1) != '>' && byte_at(t, behind + 1) != '=';
    if (next == '/')
        return !ascii_is_letter(byte_at(t, skip_marks(t, behind + 1, " (*_`'\"[")));
    if (next == '\\' && (is_joint(t, behind) || span_at((struct span){t->s, t->n}, behind, "\\end")))
        return 0;
    if (next == '\\')
        return ascii_is_letter(byte_at(t, behind + 1)) && byte_at(t, behind + 1) != 'q' &&
               byte_at(t, behind + 1) != 'b' && byte_at(t, behind + 1) != 'c';
    return next == '+' || next == '^' || next == '>' || (next == '<' && byte_at(t, behind + 1) == ' ');
}

/* A lower-case letter must not be bare, and only the end of a line or a full stop may follow it. */
char choice_letter_at(const struct choice_text *t, size_t i, enum choice_dress dress)
{
    char c = byte_at(t, i), up = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    if (up < 'A' || up > t->last_letter || !is_alone(t, i) || choice_is_formula(t, i))
        return 0;
    if (c != up) {
        char next = byte_at(t, i + 1);
        int ends = next == '\n' || next == '\r' || (next && strchr(")]*`'\"_", next)) ||
                   (next == '.' && ascii_is_space(byte_at(t, i + 2)));
        return dress != CHOICE_BARE && ends && !(t->is_cut && i + 1 == t->n) ? up : 0;
    }
    return dress != CHOICE_ENCLOSED && is_article(t, i) ? 0 : up;
}
