/* Words that qualify a number, as tables, and the search for them around it (contract: value_words.h). */
#include "answer_check/text/value_words.h"

#include <string.h>

/* Is the word in the table, which ends with NULL? ASCII case does not count. */
static int is_in(struct span word, const char *const *table)
{
    char first = word.n ? ascii_lower(word.s[0]) : 0;
    for (; *table; table++) {
        if ((*table)[0] != first)
            continue;
        size_t n = strlen(*table), i = 0;
        while (n == word.n && i < n && ascii_lower(word.s[i]) == (*table)[i])
            i++;
        if (n == word.n && i == n)
            return 1;
    }
    return 0;
}

/* A word of another language before a number that makes a bound of it: "kleiner als 5", "au moins 5". */
static int is_bound_before(struct span word)
{
    static const char *const table[] = {
        "almeno",     "grand",      "grande",      "grösser",    "größer",    "höchstens",  "höher",
        "inferior",   "inferiore",  "inferiores",  "inferiori",  "inférieur", "inférieure", "inférieures",
        "inférieurs", "kleiner",    "maggiore",    "maggiori",   "maior",     "maiores",    "mais",
        "mayor",      "mayores",    "mehr",        "meno",       "menor",     "menores",    "menos",
        "mindestens", "minore",     "minori",      "moins",      "más",       "niedriger",  "petit",
        "petite",     "più",        "sumo",        "superior",   "superiore", "superiores", "superiori",
        "supérieur",  "supérieure", "supérieures", "supérieurs", "weniger",   "wenigstens", "более",
        "больше",     "выше",       "менее",       "меньше",     "ниже",      NULL};
    return is_in(word, table);
}

/* The words "no máximo", "au maximum" that end before byte i, the last of which is `word`? */
static int is_extreme_before(struct span text, struct span word, size_t i)
{
    static const char *const table[] = {"máximo", "mínimo", "massimo", "minimo", "maximum", "minimum", NULL};
    static const char *const before[] = {"como", "no", "ao", "al", "au", NULL};
    size_t end = i;
    if (!is_in(word, table) || !i || text.s[i - 1] != ' ')
        return 0;
    for (i = --end; i && ascii_is_letter(text.s[i - 1]);)
        i--;
    return is_in((struct span){text.s + i, end - i}, before);
}

int value_word_behind(struct span word)
{
    static const char *const table[] = {
        "squared",    "cubed",      "factorial",  "dozen",       "dozens",     "score",     "gross",
        "tenth",      "tenths",     "hundredths", "thousandths", "millionths", "halves",    "thirds",
        "quarters",   "fourths",    "fifths",     "sixths",      "sevenths",   "eighths",   "ninths",
        "rds",        "negative",   "minus",      "below",       "not",        "incorrect", "wrong",
        "false",      "ppm",        "ppb",        "permille",    "basis",      "mod",       "modulo",
        "fold",       "double",     "triple",     "plus",        "x",          "root",      "or",
        "reversed",   "doubled",    "tripled",    "halved",      "inverted",   "negated",   "mirrored",
        "swapped",    "flipped",    "rotated",    "transposed",  "conjugated", "excluded",  "rejected",
        "discarded",  "omitted",    "repeating",  "recurring",   "unless",     "except",    "excluding",
        "impossible", "extraneous", "invalid",    "if",          "backwards",  "upside",    "sometimes",
        NULL};
    static const char *const scales[] = {
        "ten", "tens", "hundreds", "thousands", "millions", "billions", "trillions", "mn", "mio",
        "bn",  "lakh", "lakhs",    "crore",     "crores",   "wan",      "bps",       NULL};
    return is_in(word, table) || is_in(word, scales);
}

int value_word_bounds(struct span words)
{
    static const char *const bounds[] = {
        "以下", "以上", "未満", "未满", "以内",   "より", "を超",   "超える",   "이하",     "이상",
        "미만", "초과", "이내", "보다", " oder ", " ou ", " o más", " o menos", " at most", " at least"};
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
        if (memmem(words.s, words.n, bounds[k], strlen(bounds[k])))
            return 1;
    return 0;
}

int value_is_bounded(struct span text)
{
    enum { REACH = 15 }; /* a unit of some characters may stand between */
    for (size_t i = 1; i < text.n; i++) {
        if (!ascii_is_digit(text.s[i - 1]))
            continue;
        size_t from = i + (text.s[i] == '$' || text.s[i] == ' '), to = from;
        while (to < text.n && to - from < REACH && (unsigned char)text.s[to] >= 0x80)
            to++;
        while (to < text.n && to - from < REACH + 6 &&
               ((unsigned char)text.s[to] >= 0x80 || text.s[to] == ' '))
            to++;
        if (to > from && (unsigned char)text.s[from] >= 0xe3 &&
            value_word_bounds((struct span){text.s + from, to - from}))
            return 1;
    }
    return 0;
}

/* A word before a number that makes it another value, or no statement of it. */
static int is_word_before(struct span word)
{
    static const char *const table[] = {
        "not",        "never",     "cannot",      "isn't",    "isnt",      "can't",     "wasn't",
        "doesn't",    "but",       "except",      "least",    "most",      "more",      "less",
        "fewer",      "greater",   "larger",      "smaller",  "bigger",    "above",     "below",
        "over",       "under",     "beyond",      "exceeds",  "exceeding", "negative",  "minus",
        "twice",      "thrice",    "half",        "third",    "quarter",   "times",     "double",
        "triple",     "root",      "square",      "cube",     "multiple",  "divisible", "divided",
        "multiplied", "plus",      "modulo",      "mod",      "log",       "logarithm", "factorial",
        "reciprocal", "inverse",   "congruent",   "divisor",  "divisors",  "multiples", "power",
        "powers",     "percent",   "coprime",     "factor",   "factors",   "divides",   "divide",
        "dividing",   "successor", "predecessor", "opposite", NULL};
    return is_in(word, table);
}

/* A noun that only makes another value of what "of" or "to" joins to it: "a divisor of 24". */
static int is_relative(struct span word)
{
    static const char *const table[] = {"divisor", "divisors",   "multiple", "multiples",
                                        "factor",  "factors",    "power",    "powers",
                                        "inverse", "reciprocal", "opposite", NULL};
    return is_in(word, table);
}

/* Words between a qualifier and its number. */
static int leads_up(struct span word)
{
    static const char *const table[] = {"equal", "equals",  "to",     "than",  "or", "of",
                                        "by",    "the",     "a",      "an",    "be", "is",
                                        "just",  "exactly", "number", "value", NULL};
    static const char *const foreign[] = {"als", "gleich", "oder", "que", "ou", "égal",   "égale", "à",
                                          "o",   "igual",  "de",   "do",  "di", "uguale", NULL};
    return is_in(word, table) || is_in(word, foreign);
}

static int is_word_byte(char c)
{
    return ascii_is_letter(c) || c == '\'' || (unsigned char)c >= 0x80;
}

/* Marks of Markdown and formulas, which the search passes over. */
static int is_mark(char c)
{
    return c == ' ' || c == '*' || c == '_' || c == '$' || c == '"' || c == '`';
}

/* A sign or command directly before a number: "> 5", "\geq 5", "\sqrt{5}". */
static int sign_before(struct span text, size_t i)
{
    if (!i)
        return 0;
    static const char *const signs[] = {"\xe2\x89\xa5", "\xe2\x89\xa4", "\xe2\x89\xa0", "\xe2\x88\x9a", NULL};
    for (int k = 0; signs[k]; k++)
        if (i >= 3 && !memcmp(text.s + i - 3, signs[k], 3))
            return 1;
    return strchr("<>^~!", text.s[i - 1]) != NULL;
}

/* Does a sign, a command or one of the last words before byte i qualify what stands at i? */
static int qualified_before(struct span text, size_t i)
{
    struct span later = {0};
    for (int words = 0; words < 5; words++) {
        while (i && is_mark(text.s[i - 1]))
            i--;
        if (sign_before(text, i))
            return 1;
        size_t end = i;
        while (i && is_word_byte(text.s[i - 1]))
            i--;
        struct span word = {text.s + i, end - i};
        if (i && text.s[i - 1] == '\\') /* a command, as \geq */
            return words == 0 && (word.n < 4 || memcmp(word.s, "text", 4) != 0) && word.n > 0;
        if (i > 4 && span_is(word, "factor") &&
            !memcmp(text.s + i - 5, "by a ", 5)) /* "grows by a factor of 5" */
            return 0;
        if (is_relative(word) && !span_is(later, "of") && !span_is(later, "to"))
            return 0; /* "the number of divisors is 24" */
        if (!word.n || is_word_before(word) || is_bound_before(word) || (words && span_is(word, "prime")) ||
            (!words && is_extreme_before(text, word, i)))
            return word.n > 0;
        if (!leads_up(word))
            return 0;
        later = word;
    }
    return 0;
}

/* Does the sign or the word at byte i qualify what stands before it? */
static int qualified_behind(struct span text, size_t i)
{
    if (i + 1 < text.n && text.s[i] == '!' && text.s[i + 1] == '!')
        return 1;
    while (i < text.n && is_mark(text.s[i]))
        i++;
    size_t from = i;
    while (i < text.n && is_word_byte(text.s[i]))
        i++;
    struct span word = {text.s + from, i - from}, or = {"or", 2};
    static const char *const compared[] = {"more",    "less",  "fewer", "greater", "larger",
                                           "smaller", "times", "units", NULL};
    static const char *const with[] = {"than", "as", "the", "larger", "greater", "more", "bigger", NULL};
    if (is_in(word, compared)) { /* "4 more than x", "4 times as large" */
        size_t next = i, end;
        while (next < text.n && is_mark(text.s[next]))
            next++;
        for (end = next; end < text.n && is_word_byte(text.s[end]);)
            end++;
        if (is_in((struct span){text.s + next, end - next}, with))
            return 1;
    }
    struct span next = {text.s + i, text.n - i};
    while (next.n && is_mark(next.s[0]))
        next = (struct span){next.s + 1, next.n - 1};
    if ((word.n == 4 && span_starts(word, "only")) || (word.n == 5 && span_starts(word, "works"))) {
        static const char *const limits[] = {"for ", "if ", "when ", "where ", "only "};
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
            if (span_starts(next, limits[k]))
                return 1; /* "5 only for even n" */
    }
    if (word.n == 2 && span_starts(word, "at") && (span_starts(next, "most") || span_starts(next, "least")))
        return 1;
    if (word.n == 3 && span_starts(word, "and") &&
        (span_starts(next, "a half") || span_starts(next, "a quarter") || span_starts(next, "a third") ||
         span_starts(next, "one half")))
        return 1; /* "5 and a half" */
    if (word.n == 2 && span_starts(word, "to") &&
        (span_starts(next, "the power") || span_starts(next, "power")))
        return 1; /* "2 to the power of 5" */
    if (word.n != or.n || memcmp(word.s, or.s, or.n) != 0)
        return value_word_behind(word) ||
               (word.n && (unsigned char)word.s[0] >= 0xe3 &&
                value_word_bounds((struct span){word.s, word.n < 15 ? word.n : 15}));
    static const char *const bounds[] = {"more",   "less",    "fewer", "greater", "higher", "lower",
                                         "larger", "smaller", "above", "below",   "so",     NULL};
    while (i < text.n && is_mark(text.s[i]))
        i++;
    for (from = i; i < text.n && is_word_byte(text.s[i]);)
        i++;
    return is_in((struct span){text.s + from, i - from}, bounds);
}

int value_is_qualified(struct span text, struct span part)
{
    size_t from = (size_t)(part.s - text.s);
    return qualified_before(text, from) || qualified_behind(text, from + part.n);
}
