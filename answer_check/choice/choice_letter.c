/* Reading an option letter in plain text (contract: choice_scan.h). A letter never stands inside a word, "A"
 * before a lower-case word ("A good approach") is an article, and a bare lower-case letter ("the mass must be
 * a") is an article or a symbol, except right behind a colon. */
#include "answer_check/choice/choice_scan.h"

#include <string.h>

size_t choice_has_any(const struct choice_text *t, size_t i, const char *const *words)
{
    char c = ascii_lower(choice_at(t, i));
    for (int k = 0; words[k]; k++)
        if (words[k][0] == c && choice_has(t, i, words[k]))
            return strlen(words[k]);
    return 0;
}

size_t choice_skip(const struct choice_text *t, size_t i, const char *marks, int *n_enclosing)
{
    int n = 0;
    for (; i < t->n && t->s[i] && !ascii_is_letter(t->s[i]) && strchr(marks, t->s[i]); i++)
        n += strchr("(*[`'\"_", t->s[i]) != NULL;
    if (n_enclosing)
        *n_enclosing = n;
    return i;
}

/* Letters of two bytes (Latin with accents, Greek, Cyrillic) belong to words too. Chinese characters,
 * which have three bytes, do not: they stand beside an option letter without a space. */
int choice_is_word(const struct choice_text *t, size_t i)
{
    if (i >= t->n)
        return 0;
    unsigned char c = (unsigned char)t->s[i], before = i ? (unsigned char)t->s[i - 1] : 0;
    if (c >= 0x80 && c < 0xc0)
        return before >= 0xc3 && before < 0xe0;
    return ascii_is_letter((char)c) || ascii_is_digit((char)c) || (c >= 0xc3 && c < 0xe0);
}

/* Is the letter at i a whole word? The apostrophe of "C's" and "I'm" makes it part of a longer one, a
 * quotation mark does not; so does the underscore of "x_C", while those of "_C_" are marks. */
static int is_alone(const struct choice_text *t, size_t i)
{
    size_t before = i, behind = i + 1;
    while (before && t->s[before - 1] == '_')
        before--;
    while (choice_at(t, behind) == '_')
        behind++;
    if (before && t->s[before - 1] == '\'')
        before -= before > 1 && ascii_is_letter(t->s[before - 2]);
    if (choice_at(t, behind) == '\'')
        behind += ascii_is_letter(choice_at(t, behind + 1)) != 0;
    return !(before && choice_is_word(t, before - 1)) && !choice_is_word(t, behind);
}

/* Is the bare letter at i an article rather than an option, because a blank and a lower-case word follow? */
static int is_article(const struct choice_text *t, size_t i)
{
    static const char *const follow[] = {"and ", "or ", "is ",  "because ", "since ",
                                         "but ", "as ", "not ", "with ",    NULL};
    if ((t->s[i] != 'A' && t->s[i] != 'I') || choice_at(t, i + 1) != ' ')
        return 0;
    if (choice_at(t, i + 2) < 'a' || choice_at(t, i + 2) > 'z')
        return 0;
    return !choice_has_any(t, i + 2, follow);
}

/* A lower-case letter must not be bare, and only the end of a line or a full stop may follow it. */
char choice_letter_at(const struct choice_text *t, size_t i, enum choice_dress dress)
{
    char c = choice_at(t, i), up = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    if (up < 'A' || up > t->last_letter || !is_alone(t, i))
        return 0;
    if (c != up) {
        char next = choice_at(t, i + 1);
        int ends = next == '\n' || next == '\r' || (next && strchr(")]*`'\"_", next)) ||
                   (next == '.' && ascii_is_space(choice_at(t, i + 2)));
        return dress != CHOICE_BARE && ends && !(t->is_cut && i + 1 == t->n) ? up : 0;
    }
    return dress != CHOICE_ENCLOSED && is_article(t, i) ? 0 : up;
}

char choice_declared(const struct choice_text *t, size_t i, size_t *end)
{
    static const char *const boxes[] = {"\\boxed", "\\fbox", NULL};
    /* the nouns name a letter ("option c"), the other words merely stand before one */
    static const char *const nouns[] = {"option", "choice", "letter", NULL};
    static const char *const fillers[] = {"the ",       "clearly ",  "definitely ", "certainly ", "most ",
                                          "likely ",    "probably ", "obviously ",  "simply ",    "just ",
                                          "therefore ", "thus ",     "indeed ",     "actually ",  "then ",
                                          "either ",    "only ",     NULL};
    int marks, any, named;
    size_t start = i - (i > 0);
    i = choice_skip(t, i, " \n\r\t*_(:#`['\">", &marks);
    named = memchr(t->s + start, ':', i - start) != NULL;
    for (int k = 0; k < 6; k++) {
        size_t box = choice_has_any(t, i, boxes);
        size_t noun = choice_has_any(t, i, nouns);
        size_t word = choice_has_any(t, i, fillers);
        if (!box && !noun && !word)
            break;
        named |= noun > 0;
        i = choice_skip(t, i + (box ? box : noun ? noun : word), " *_(:`['\"", &any);
        marks += any;
    }
    *end = i + 1;
    named |= choice_at(t, i + 1) == ')';
    return choice_letter_at(t, i, marks ? CHOICE_ENCLOSED : named ? CHOICE_NAMED : CHOICE_BARE);
}

size_t choice_another(const struct choice_text *t, size_t i, char letter)
{
    size_t end;
    i = choice_skip(t, i, " )*_`]'\"", NULL);
    size_t word = choice_has(t, i, "or ") ? 3 : choice_has(t, i, "and ") ? 4 : 0;
    size_t sign = choice_at(t, i) == ',' || choice_at(t, i) == '/';
    if (!word && !sign && !choice_has(t, i, "\\boxed"))
        return 0;
    char other = choice_declared(t, i + word + sign, &end);
    if (!other || other == letter)
        return 0;
    /* in "A, B is wrong" another sentence follows */
    return sign && ascii_is_letter(choice_at(t, choice_skip(t, end, " )*_`]'\"", NULL))) ? 0 : end;
}

int choice_ends(const struct choice_text *t, size_t i)
{
    i = choice_skip(t, i, " \t\r)*_]`'\"", NULL);
    if (choice_at(t, i) == '.' || choice_at(t, i) == '!')
        i = choice_skip(t, i + 1, ")*_]`'\"", NULL);
    else if (choice_at(t, i) != '\n')
        return 0;
    return ascii_is_space(choice_at(t, i));
}
