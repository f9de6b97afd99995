/* Finds declarations of option letters. The section is first rewritten to a plainer text of at most the same
 * length (fonts and $ dropped, braces as parentheses, full-width letters and the Chinese "answer" as ASCII),
 * so that one set of rules serves Markdown, LaTeX and plain text. A letter never stands inside a word, "A"
 * before a lower-case word ("A good approach") is an article, and a bare lower-case letter ("the mass must be
 * a") is an article or a symbol, except right behind a colon. */
#include "answer_check/choice_scan.h"

#include <string.h>

struct scan {
    const char *s;
    size_t n;
    char last_letter; /* 'A' + n_options - 1 */
    int is_cut;       /* the length limit came: the last byte may be the start of a word */
};

static int has(const struct scan *t, size_t i, const char *lower)
{
    return i <= t->n && span_starts((struct span){t->s + i, t->n - i}, lower);
}

static char at(const struct scan *t, size_t i)
{
    return i < t->n ? t->s[i] : '\n';
}

/* One rewriting step; returns the bytes read and sets the bytes written. */
static size_t plain_step(struct span s, char *out, size_t *written)
{
    static const char *const dropped[] = {"\\text",   "\\textbf", "\\textrm", "\\mathrm", "\\mathbf",
                                          "\\textit", "\\mathit", "\\left",   "\\right",  "\\(",
                                          "\\)",      "\\[",      "\\]",      "$"};
    static const struct {
        const char *from, *to;
    } replaced[] = {{"\xe7\xad\x94\xe6\xa1\x88\xe6\x98\xaf", "answer:"}, /* "the answer is" */
                    {"\xe7\xad\x94\xe6\xa1\x88", "answer"},
                    {"\xef\xbc\x9a", ":"},
                    {"\xef\xbc\x88", "("},
                    {"\xef\xbc\x89", ")"},
                    {"{", "("},
                    {"}", ")"}};
    const unsigned char *u = (const unsigned char *)s.s;
    size_t best = 0;
    *written = 0;
    if (!strchr("\\${}\xe7\xef", s.s[0]) || !s.s[0]) { /* most bytes */
        out[(*written)++] = s.s[0];
        return 1;
    }
    for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++) {
        size_t n = strlen(dropped[k]);
        if (s.n >= n && !memcmp(s.s, dropped[k], n) && n > best &&
            (n < 4 || s.n == n || !ascii_is_letter(s.s[n])))
            best = n;
    }
    if (best)
        return best;
    for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
        size_t n = strlen(replaced[k].from);
        if (s.n >= n && !memcmp(s.s, replaced[k].from, n)) {
            *written = strlen(replaced[k].to);
            memcpy(out, replaced[k].to, *written);
            return n;
        }
    }
    int full_width = s.n >= 3 && u[0] == 0xef && u[1] == 0xbc && u[2] >= 0xa1 && u[2] <= 0xba;
    out[(*written)++] = full_width ? (char)('A' + u[2] - 0xa1) : s.s[0];
    return full_width ? 3 : 1;
}

static int ends_word(char c)
{
    return !ascii_is_letter(c) && !ascii_is_digit(c) && c != '_';
}

/* Is what stands at i a whole word of one letter? The apostrophe of "C's" and "I'm" joins, a quotation mark
 * does not. */
static int is_alone(const struct scan *t, size_t i)
{
    char before = i ? t->s[i - 1] : '\n', behind = at(t, i + 1);
    if (before == '\'')
        before = i > 1 && ascii_is_letter(t->s[i - 2]) ? 'x' : '\'';
    if (behind == '\'')
        behind = ascii_is_letter(at(t, i + 2)) ? 'x' : '\'';
    return ends_word(before) && ends_word(behind);
}

/* May a bare letter at i, followed by a blank and a lower-case word, still be an option? */
static int is_article(const struct scan *t, size_t i)
{
    static const char *const follow[] = {"and ", "or ", "is ",  "because ", "since ",
                                         "but ", "as ", "not ", "with "};
    if ((t->s[i] != 'A' && t->s[i] != 'I') || at(t, i + 1) != ' ')
        return 0;
    if (at(t, i + 2) < 'a' || at(t, i + 2) > 'z')
        return 0;
    for (size_t k = 0; k < sizeof follow / sizeof *follow; k++)
        if (has(t, i + 2, follow[k]))
            return 0;
    return 1;
}

/* How a letter stands there: bare, named (behind the colon of "answer:", behind "option", before ")"), or in
 * marks. */
enum dress { BARE, NAMED, ENCLOSED };

/* An option letter at i, as an upper-case letter, or 0. A lower-case letter must not be bare, and nothing but
 * the end of a line or a point may follow it. */
static char letter_at(const struct scan *t, size_t i, enum dress dress)
{
    char c = at(t, i), up = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    if (up < 'A' || up > t->last_letter || !is_alone(t, i))
        return 0;
    if (c != up) {
        char next = at(t, i + 1);
        int ends = next == '\n' || next == '\r' || (next && strchr(")]*`'\"", next)) ||
                   (next == '.' && ascii_is_space(at(t, i + 2)));
        return dress != BARE && ends && !(t->is_cut && i + 1 == t->n) ? up : 0;
    }
    return dress != ENCLOSED && is_article(t, i) ? 0 : up;
}

/* Skips what is in `marks`; counts those that enclose a letter and so make it one. */
static size_t skip_marks(const struct scan *t, size_t i, const char *marks, int *n_enclosing)
{
    for (*n_enclosing = 0; i < t->n && t->s[i] && strchr(marks, t->s[i]); i++)
        *n_enclosing += strchr("(*[`'\"", t->s[i]) != NULL;
    return i;
}

/* The letter that a declaration's content at i starts with: marks, perhaps "option", then the letter. */
static char declared_letter(const struct scan *t, size_t i, size_t *end)
{
    static const char *const nouns[] = {"the ", "option", "choice", "letter"};
    int marks, any, named;
    size_t start = i - (i > 0);
    i = skip_marks(t, i, " \n\r\t*_(:#`['\"", &marks);
    named = memchr(t->s + start, ':', i - start) != NULL;
    if (has(t, i, "\\boxed") || has(t, i, "\\fbox"))
        i = skip_marks(t, i + (has(t, i, "\\boxed") ? 6 : 5), " (*", &marks);
    for (int k = 0; k < 4; k++) {
        if (has(t, i, nouns[k])) {
            i = skip_marks(t, i + strlen(nouns[k]), " *_(:`['\"", &any);
            marks += any;
            named |= k > 0; /* "option c" names a letter as plainly as "answer: c" */
        }
    }
    *end = i + 1;
    named |= at(t, i + 1) == ')';
    return letter_at(t, i, marks ? ENCLOSED : named ? NAMED : BARE);
}

/* Does "A or B", "A, B" or "A / B" follow the letter that ends at i? The end of the second letter, else 0. */
static size_t names_another(const struct scan *t, size_t i, char letter)
{
    int any;
    size_t end, after;
    i = skip_marks(t, i, " )*_`]'\"", &any);
    size_t word = has(t, i, "or ") ? 3 : has(t, i, "and ") ? 4 : 0, sign = at(t, i) == ',' || at(t, i) == '/';
    int adjacent = has(t, i, "\\boxed");
    if (!word && !sign && !adjacent)
        return 0;
    char other = declared_letter(t, i + word + sign, &end);
    if (sign) { /* "A, B is wrong" goes on with another sentence */
        after = skip_marks(t, end, " )*_`]'\"", &any);
        if (ascii_is_letter(at(t, after)))
            return 0;
    }
    return other && other != letter ? end : 0;
}

static void note(struct choice_found *out, const struct scan *t, enum choice_class k, size_t content)
{
    size_t end;
    char letter = content < out->until ? 0 : declared_letter(t, content, &end);
    if (!letter)
        return;
    size_t second = names_another(t, end, letter);
    out->letter[k] = letter;
    out->conflicts[k] = second > 0;
    if (second)
        out->until = second;
}

/* Is "= C" at i a letter, not the start of a formula ("= C + 1")? */
static int equals_letter(const struct scan *t, size_t i)
{
    int any;
    size_t end;
    if (!declared_letter(t, i + 1, &end) || (at(t, end) == '*' && !ends_word(at(t, end + 1))))
        return 0;
    end = skip_marks(t, end, " )*_`]'\"", &any);
    return !strchr("+-/^=\\(", at(t, end)) || !at(t, end);
}

/* After a noun such as "answer" at i: the position behind ":" or "is", with at most 40 bytes of one line
 * between, or behind "=" with nothing between. */
static size_t behind_verb(const struct scan *t, size_t i)
{
    int any;
    size_t equals = skip_marks(t, i, " *_", &any);
    if (at(t, equals) == '=' && equals_letter(t, equals))
        return equals + 1;
    for (size_t j = i; j < t->n && j < i + 40; j++) {
        if (t->s[j] == ':')
            return j + 1;
        if (t->s[j] == '\n' || t->s[j] == '.' || t->s[j] == ';' || t->s[j] == '?')
            return 0;
        if (j > i && !ascii_is_letter(t->s[j - 1]) && has(t, j, "is") && ends_word(at(t, j + 2)))
            return j + 2;
    }
    return 0;
}

/* "option B is correct": declares. "option B" alone: mentions. i is behind the noun. */
static void note_option(struct choice_found *out, const struct scan *t, size_t i)
{
    size_t end;
    int any;
    char letter = at(t, i) == ' ' || at(t, i) == ':' ? declared_letter(t, i, &end) : 0;
    if (!letter)
        return;
    end = skip_marks(t, end, " )*_`]'\"", &any);
    int right = has(t, end, "is correct") || has(t, end, "is right") || has(t, end, "is the correct") ||
                has(t, end, "is the right") || has(t, end, "is the best") || has(t, end, "is the answer");
    enum choice_class k = right ? CHOICE_DECLARED : CHOICE_MENTIONED;
    out->conflicts[k] = right ? 0 : out->conflicts[k] || (out->letter[k] && out->letter[k] != letter);
    out->letter[k] = letter;
}

/* "(B)" and "**B**" in running text. */
static void note_mark(struct choice_found *out, const struct scan *t, size_t i)
{
    size_t j = i;
    char open = t->s[i];
    while (at(t, j) == open)
        j++;
    char letter = letter_at(t, j, ENCLOSED);
    if (!letter || t->s[j] != letter || at(t, j + 1) != (open == '(' ? ')' : '*'))
        return;
    enum choice_class k = CHOICE_MENTIONED;
    out->conflicts[k] |= out->letter[k] && out->letter[k] != letter;
    out->letter[k] = letter;
}

static void scan_at(struct choice_found *out, const struct scan *t, size_t i)
{
    static const char *const chosen[] = {"choose ", "pick ", "select ", "go with ",
                                         "it is ",  "it's ", "must be "};
    size_t content;
    if (t->s[i] == '\\' && (has(t, i, "\\boxed") || has(t, i, "\\fbox")))
        note(out, t, CHOICE_DECLARED, i);
    if ((t->s[i] == '(' || t->s[i] == '*') && (!i || t->s[i - 1] != t->s[i]))
        note_mark(out, t, i);
    if (!strchr("aocpsgim", ascii_lower(t->s[i])) || (i && ascii_is_letter(t->s[i - 1])))
        return;
    if (has(t, i, "answer") && (content = behind_verb(t, i + 6)))
        note(out, t, CHOICE_DECLARED, content);
    if (has(t, i, "option") || has(t, i, "choice")) {
        int is_right = i >= 5 && (has(t, i - (i >= 8 ? 8 : 5), "correct ") ||
                                  has(t, i - (i >= 6 ? 6 : 5), "right ") || has(t, i - 5, "best "));
        note_option(out, t, i + 6);
        if ((content = behind_verb(t, i + 6)))
            note(out, t, is_right ? CHOICE_DECLARED : CHOICE_CHOSEN, content);
    }
    for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++)
        if (has(t, i, chosen[k]))
            note(out, t, CHOICE_CHOSEN, i + strlen(chosen[k]));
}

/* The last line, or its last sentence, when it is a letter ("B", "(B).", "**B**") or starts like an option
 * ("**B) the text of it**"). */
static void scan_last(struct choice_found *out, const struct scan *t)
{
    size_t end = t->n, start, end_letter;
    while (end && ascii_is_space(t->s[end - 1]))
        end--;
    start = end;
    while (start && t->s[start - 1] != '\n' &&
           !(start < end && start > 1 && t->s[start - 1] == ' ' && t->s[start - 2] == '.'))
        start--;
    int marks, after;
    struct scan line = {t->s, end, t->last_letter, t->is_cut};
    size_t i = skip_marks(&line, start, " *_(#`['\"", &marks);
    if (at(&line, i) < 'A' || at(&line, i) > 'Z') /* a lower-case letter alone is no answer */
        return;
    char letter = letter_at(&line, i, ENCLOSED);
    end_letter = skip_marks(&line, i + 1, " *_)]`'\".:", &after);
    if (!letter || (end_letter < end && at(&line, i + 1) != ')'))
        return;
    out->letter[CHOICE_ALONE] = letter;
}

void choice_scan(struct choice_found *out, struct span section, int n_options, enum finish finish,
                 struct arena *a)
{
    memset(out, 0, sizeof *out);
    char *text = arena_alloc(a, section.n + 8);
    size_t n = 0;
    for (size_t i = 0, written; i < section.n; n += written)
        i += plain_step((struct span){section.s + i, section.n - i}, text + n, &written);
    struct scan t = {text, n, (char)('A' + n_options - 1), finish == FINISH_LENGTH};
    for (size_t i = 0; i < n; i++)
        scan_at(out, &t, i);
    scan_last(out, &t);
}
