/* Values of which each holds in a case of its own (contract: sentence.h): "2 when a > 1, and 1 when a <= 1",
 * "3 if n is even, otherwise 5". None of them is the answer. */
#include "answer_check/strict/sentence.h"

#include <string.h>

enum sort {
    SORT_NONE,
    SORT_LESS,
    SORT_GREATER,
    SORT_EQUAL,
    SORT_UNEQUAL,
    SORT_EVEN,
    SORT_ODD,
    SORT_PLUS,
    SORT_MINUS,
    SORT_REST
};

/* A condition: what it says of which letter, and what stands behind the sign. */
struct condition {
    enum sort sort;
    struct span letter, other;
};

static const char opening[] = "if|when|whenever|for|wenn|falls|für|si|cuando|para|pour|quand|se|当|若";
static const char rest[] =
    "otherwise|else|sonst|andernfalls|sinon|de lo contrario|caso contrário|altrimenti|否则";
static const char conclusion[] =
    "so|thus|hence|therefore|total|altogether|giving|leaves|leaving|finally|in all|donc|"
    "por tanto|por lo tanto|所以|因此|故|综上|总";

static struct span behind_blanks(struct span s)
{
    while (s.n && (strchr(" $*,~{}", s.s[0]) || span_at(s, 0, "\\(") || span_at(s, 0, "\\,"))) {
        size_t n = s.s[0] == '\\' ? 2 : 1;
        s = (struct span){s.s + n, s.n - n};
    }
    return s;
}

/* What the sign or the words at the start of *s say; *s moves behind them. */
static enum sort sort_at(struct span *s)
{
    static const struct {
        const char *text;
        enum sort sort;
    } table[] = {{"<=", SORT_LESS},          {"<", SORT_LESS},
                 {"≤", SORT_LESS},           {"\\leq", SORT_LESS},
                 {"\\le", SORT_LESS},        {"\\lt", SORT_LESS},
                 {">=", SORT_GREATER},       {">", SORT_GREATER},
                 {"≥", SORT_GREATER},        {"\\geq", SORT_GREATER},
                 {"\\ge", SORT_GREATER},     {"\\gt", SORT_GREATER},
                 {"\\neq", SORT_UNEQUAL},    {"\\ne", SORT_UNEQUAL},
                 {"≠", SORT_UNEQUAL},        {"=", SORT_EQUAL},
                 {"is even", SORT_EVEN},     {"is odd", SORT_ODD},
                 {"is positive", SORT_PLUS}, {"is negative", SORT_MINUS},
                 {"even ", SORT_EVEN},       {"odd ", SORT_ODD},
                 {"positive ", SORT_PLUS},   {"negative ", SORT_MINUS}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        size_t n = strlen(table[k].text);
        if (s->n >= n && !memcmp(s->s, table[k].text, n)) {
            *s = (struct span){s->s + n, s->n - n};
            return table[k].sort;
        }
    }
    return SORT_NONE;
}

/* The condition that the words behind "if" make. */
static struct condition condition_at(struct span s)
{
    struct condition c = {0};
    s = behind_blanks(s);
    c.sort = sort_at(&s); /* "for even n" */
    if (c.sort)
        return c;
    size_t n = s.n && s.s[0] == '\\' ? 1 : 0;
    while (n < s.n && ascii_is_letter(s.s[n]))
        n++;
    if (!n || (n > 1 && s.s[0] != '\\'))
        return c;
    c.letter = (struct span){s.s, n};
    s = behind_blanks((struct span){s.s + n, s.n - n});
    c.sort = sort_at(&s);
    s = behind_blanks(s);
    for (n = 0;
         n < s.n && (s.s[n] == '-' || s.s[n] == '\\' || ascii_is_digit(s.s[n]) || ascii_is_letter(s.s[n]));)
        n++;
    c.other = (struct span){s.s, n};
    return c;
}

static int is_same(struct span a, struct span b)
{
    return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

/* Can both conditions not hold at once? */
static int exclude(const struct condition *a, const struct condition *b)
{
    static const enum sort pairs[][2] = {{SORT_LESS, SORT_GREATER}, {SORT_EQUAL, SORT_UNEQUAL},
                                         {SORT_EVEN, SORT_ODD},     {SORT_PLUS, SORT_MINUS},
                                         {SORT_LESS, SORT_EQUAL},   {SORT_GREATER, SORT_EQUAL}};
    if (a->sort == SORT_REST || b->sort == SORT_REST)
        return 1;
    if (a->letter.n && b->letter.n && !is_same(a->letter, b->letter))
        return 0;
    if (a->sort == SORT_EQUAL && b->sort == SORT_EQUAL)
        return !is_same(a->other, b->other);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        int is_pair = (a->sort == pairs[k][0] && b->sort == pairs[k][1]) ||
                      (a->sort == pairs[k][1] && b->sort == pairs[k][0]);
        if (is_pair)
            return k < 4 || is_same(a->other, b->other); /* a > 0 and a = 0 */
    }
    return 0;
}

int sentence_gives_cases(struct span s)
{
    enum { CASES = 4 };
    struct condition seen[CASES];
    int n = 0;
    size_t last = 0;
    if (!sentence_says(s, opening))
        return 0;
    for (size_t i = 0; i < s.n && n < CASES; i++) {
        int begins = !i || !ascii_is_letter(s.s[i - 1]);
        struct span word = {s.s + i, s.n - i};
        if (!begins || !(ascii_is_letter(s.s[i]) || (unsigned char)s.s[i] >= 0xe4))
            continue;
        size_t length = 0;
        while (length < word.n && (ascii_is_letter(word.s[length]) || (unsigned char)word.s[length] == 0xc3 ||
                                   (length && (unsigned char)word.s[length - 1] == 0xc3)))
            length++;
        struct condition c = {0};
        if (sentence_begins((struct span){word.s, word.n < 24 ? word.n : 24}, rest))
            c.sort = n ? SORT_REST : SORT_NONE;
        else if (length < 9 && sentence_begins((struct span){word.s, length       ? length
                                                                     : word.n < 6 ? word.n
                                                                                  : 6},
                                               opening))
            c = condition_at((struct span){word.s + (length ? length : 3), word.n - (length ? length : 3)});
        if (c.sort) {
            seen[n++] = c;
            last = i;
        }
    }
    if (n < 2 || sentence_says((struct span){s.s + last, s.n - last}, conclusion))
        return 0;
    for (int k = 0; k + 1 < n; k++)
        if (exclude(&seen[k], &seen[n - 1]))
            return 1;
    return 0;
}
