/* What characters and words mean (contract: lex.h). Characters of Unicode stand for a LaTeX command or an
 * ASCII character; plain words such as sqrt, pi, percent and "or" are tokens with a meaning; other words are
 * known by the lists at the end. All tables are sorted. */
#include "answer_check/read/lex.h"
#include "answer_check/read/math_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <utf8proc.h>

struct command_row {
    int c;
    const char *command;
};

static const struct command_row command_rows[] = {
    {0x00A3, "pounds"},    {0x00A5, "yen"},      {0x00AC, "lnot"},      {0x00B0, "textdegree"},
    {0x00B1, "pm"},        {0x00B5, "mu"},       {0x00B7, "cdot"},      {0x00BA, "textdegree"},
    {0x00D7, "times"},     {0x00D8, "emptyset"}, {0x00F7, "div"},       {0x02DA, "textdegree"},
    {0x0393, "Gamma"},     {0x0394, "Delta"},    {0x0398, "Theta"},     {0x039B, "Lambda"},
    {0x039E, "Xi"},        {0x03A0, "Pi"},       {0x03A3, "Sigma"},     {0x03A6, "Phi"},
    {0x03A8, "Psi"},       {0x03A9, "Omega"},    {0x03B1, "alpha"},     {0x03B2, "beta"},
    {0x03B3, "gamma"},     {0x03B4, "delta"},    {0x03B5, "epsilon"},   {0x03B6, "zeta"},
    {0x03B7, "eta"},       {0x03B8, "theta"},    {0x03B9, "iota"},      {0x03BA, "kappa"},
    {0x03BB, "lambda"},    {0x03BC, "mu"},       {0x03BD, "nu"},        {0x03BE, "xi"},
    {0x03C0, "pi"},        {0x03C1, "rho"},      {0x03C2, "sigma"},     {0x03C3, "sigma"},
    {0x03C4, "tau"},       {0x03C5, "upsilon"},  {0x03C6, "phi"},       {0x03C7, "chi"},
    {0x03C8, "psi"},       {0x03C9, "omega"},    {0x03D1, "theta"},     {0x03D5, "phi"},
    {0x03F5, "epsilon"},   {0x2016, "parallel"}, {0x2022, "cdot"},      {0x2026, "ldots"},
    {0x2032, "prime"},     {0x20AC, "euro"},     {0x20B9, "rupee"},     {0x2102, "C"},
    {0x2113, "ell"},       {0x2115, "N"},        {0x211A, "Q"},         {0x211D, "R"},
    {0x2124, "Z"},         {0x2126, "Omega"},    {0x2192, "to"},        {0x21A6, "mapsto"},
    {0x21D2, "implies"},   {0x21D4, "iff"},      {0x2200, "forall"},    {0x2202, "partial"},
    {0x2203, "exists"},    {0x2205, "emptyset"}, {0x2206, "Delta"},     {0x2207, "nabla"},
    {0x2208, "in"},        {0x2209, "notin"},    {0x220F, "prod"},      {0x2211, "sum"},
    {0x2213, "mp"},        {0x2216, "setminus"}, {0x2217, "cdot"},      {0x2218, "circ"},
    {0x2219, "cdot"},      {0x221A, "sqrt"},     {0x221B, "sqrt"},      {0x221C, "sqrt"},
    {0x221D, "propto"},    {0x221E, "infty"},    {0x2220, "angle"},     {0x2223, "mid"},
    {0x2225, "parallel"},  {0x2227, "land"},     {0x2228, "lor"},       {0x2229, "cap"},
    {0x222A, "cup"},       {0x222B, "int"},      {0x2234, "therefore"}, {0x223C, "sim"},
    {0x2243, "approx"},    {0x2245, "cong"},     {0x2248, "approx"},    {0x2260, "ne"},
    {0x2261, "equiv"},     {0x2264, "le"},       {0x2265, "ge"},        {0x2266, "le"},
    {0x2267, "ge"},        {0x226A, "ll"},       {0x226B, "gg"},        {0x2282, "subset"},
    {0x2283, "supset"},    {0x2286, "subseteq"}, {0x2287, "supseteq"},  {0x2299, "odot"},
    {0x22A5, "perp"},      {0x22C5, "cdot"},     {0x22EF, "ldots"},     {0x2300, "emptyset"},
    {0x2308, "lceil"},     {0x2309, "rceil"},    {0x230A, "lfloor"},    {0x230B, "rfloor"},
    {0x25A1, "square"},    {0x25B3, "triangle"}, {0x2705, "checkmark"}, {0x2713, "checkmark"},
    {0x2714, "checkmark"}, {0x2715, "times"},    {0x2716, "times"},     {0x27E8, "langle"},
    {0x27E9, "rangle"},    {0x2A2F, "times"},    {0x2A7D, "le"},        {0x2A7E, "ge"},
    {0x3008, "langle"},    {0x3009, "rangle"},   {0xFF5B, "lbrace"},    {0xFF5D, "rbrace"},
};

struct ascii_row {
    int c;
    char ascii;
};

static const struct ascii_row ascii_rows[] = {
    {0x00A0, ' '},  {0x02B9, '\''}, {0x2010, '-'}, {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'}, {0x2014, '-'},
    {0x2018, '\''}, {0x2019, '\''}, {0x2044, '/'}, {0x2212, '-'}, {0x2215, '/'}, {0x3000, ' '}, {0x3001, ','},
    {0x3002, '.'},  {0x3010, '['},  {0x3011, ']'}, {0xFE63, '-'}, {0xFF0C, ','},
};

struct script_row {
    int c;
    char of;
    char superscript;
};

static const struct script_row script_rows[] = {
    {0x00B2, '2', 1}, {0x00B3, '3', 1}, {0x00B9, '1', 1}, {0x02B8, 'y', 1}, {0x02E3, 'x', 1},
    {0x1D43, 'a', 1}, {0x1D47, 'b', 1}, {0x1D4F, 'k', 1}, {0x1D50, 'm', 1}, {0x1D57, 't', 1},
    {0x1D62, 'i', 0}, {0x2070, '0', 1}, {0x2071, 'i', 1}, {0x2074, '4', 1}, {0x2075, '5', 1},
    {0x2076, '6', 1}, {0x2077, '7', 1}, {0x2078, '8', 1}, {0x2079, '9', 1}, {0x207A, '+', 1},
    {0x207B, '-', 1}, {0x207D, '(', 1}, {0x207E, ')', 1}, {0x207F, 'n', 1}, {0x2080, '0', 0},
    {0x2081, '1', 0}, {0x2082, '2', 0}, {0x2083, '3', 0}, {0x2084, '4', 0}, {0x2085, '5', 0},
    {0x2086, '6', 0}, {0x2087, '7', 0}, {0x2088, '8', 0}, {0x2089, '9', 0}, {0x208A, '+', 0},
    {0x208B, '-', 0}, {0x2093, 'x', 0}, {0x2096, 'k', 0}, {0x2098, 'm', 0}, {0x2099, 'n', 0},
    {0x2C7C, 'j', 0},
};

int math_character(const char *s, size_t n, int *c)
{
    utf8proc_int32_t out;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)s, n > 4 ? 4 : (utf8proc_ssize_t)n, &out);
    *c = used > 0 ? out : -1;
    return used > 0 ? (int)used : 1;
}

/* The rows of all tables begin with the character and are sorted by it. */
static int compare_character(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

const char *math_character_command(int c)
{
    const struct command_row *r = bsearch(&c, command_rows, sizeof command_rows / sizeof *command_rows,
                                          sizeof *command_rows, compare_character);
    return r ? r->command : NULL;
}

int math_character_ascii(int c)
{
    if (c >= 0xFF01 && c <= 0xFF5E) /* full-width forms */
        return c - 0xFF00 + 0x20;
    if (c >= 0x1D400 && c < 0x1D6A4) { /* bold, italic and script letters for mathematics */
        int i = (c - 0x1D400) % 52;
        return i < 26 ? 'A' + i : 'a' + i - 26;
    }
    if (c >= 0x1D7CE && c <= 0x1D7FF)
        return '0' + (c - 0x1D7CE) % 10;
    if (c >= 0x2000 && c <= 0x200A)
        return ' ';
    const struct ascii_row *r = bsearch(&c, ascii_rows, sizeof ascii_rows / sizeof *ascii_rows,
                                        sizeof *ascii_rows, compare_character);
    return r ? r->ascii : 0;
}

int math_character_script(int c, int *superscript)
{
    const struct script_row *r = bsearch(&c, script_rows, sizeof script_rows / sizeof *script_rows,
                                         sizeof *script_rows, compare_character);
    if (r)
        *superscript = r->superscript;
    return r ? r->of : 0;
}

int math_character_is_letter(int c)
{
    utf8proc_category_t k = utf8proc_category(c);
    return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_ME) || k == UTF8PROC_CATEGORY_NO;
}

/* ---- plain words with a mathematical meaning, sorted; case is ignored ---- */

static const struct token_meaning words[] = {
    {"abs", T_FUNCTION, MATH_ABS, NULL},
    {"achieved", T_CONDITION, 0, NULL},
    {"acos", T_FUNCTION, MATH_ARCCOS, NULL},
    {"acosh", T_FUNCTION, MATH_ARCOSH, NULL},
    {"acot", T_FUNCTION, MATH_ARCCOT, NULL},
    {"alpha", T_NAME, 0, NULL},
    {"and", T_AND, 0, NULL},
    {"arccos", T_FUNCTION, MATH_ARCCOS, NULL},
    {"arccosh", T_FUNCTION, MATH_ARCOSH, NULL},
    {"arccot", T_FUNCTION, MATH_ARCCOT, NULL},
    {"arccsc", T_FUNCTION, MATH_ARCCSC, NULL},
    {"arcctg", T_FUNCTION, MATH_ARCCOT, NULL},
    {"arcosh", T_FUNCTION, MATH_ARCOSH, NULL},
    {"arcsec", T_FUNCTION, MATH_ARCSEC, NULL},
    {"arcsin", T_FUNCTION, MATH_ARCSIN, NULL},
    {"arcsinh", T_FUNCTION, MATH_ARSINH, NULL},
    {"arctan", T_FUNCTION, MATH_ARCTAN, NULL},
    {"arctanh", T_FUNCTION, MATH_ARTANH, NULL},
    {"arctg", T_FUNCTION, MATH_ARCTAN, NULL},
    {"arsinh", T_FUNCTION, MATH_ARSINH, NULL},
    {"artanh", T_FUNCTION, MATH_ARTANH, NULL},
    {"asin", T_FUNCTION, MATH_ARCSIN, NULL},
    {"asinh", T_FUNCTION, MATH_ARSINH, NULL},
    {"atan", T_FUNCTION, MATH_ARCTAN, NULL},
    {"atanh", T_FUNCTION, MATH_ARTANH, NULL},
    {"attained", T_CONDITION, 0, NULL},
    {"beta", T_NAME, 0, NULL},
    {"binom", T_FUNCTION, MATH_BINOMIAL, NULL},
    {"binomial", T_FUNCTION, MATH_BINOMIAL, NULL},
    {"cbrt", T_ROOT, 3, NULL},
    {"ceil", T_FUNCTION, MATH_CEILING, NULL},
    {"ceiling", T_FUNCTION, MATH_CEILING, NULL},
    {"chi", T_NAME, 0, NULL},
    {"cis", T_OPERATOR, 0, NULL},
    {"conj", T_FUNCTION, MATH_CONJUGATE, NULL},
    {"conjugate", T_FUNCTION, MATH_CONJUGATE, NULL},
    {"cos", T_FUNCTION, MATH_COS, NULL},
    {"cosec", T_FUNCTION, MATH_CSC, NULL},
    {"cosh", T_FUNCTION, MATH_COSH, NULL},
    {"cot", T_FUNCTION, MATH_COT, NULL},
    {"cotg", T_FUNCTION, MATH_COT, NULL},
    {"coth", T_FUNCTION, MATH_COTH, NULL},
    {"csc", T_FUNCTION, MATH_CSC, NULL},
    {"ctg", T_FUNCTION, MATH_COT, NULL},
    {"delta", T_NAME, 0, NULL},
    {"det", T_OPERATOR, 0, NULL},
    {"epsilon", T_NAME, 0, NULL},
    {"eta", T_NAME, 0, NULL},
    {"exp", T_FUNCTION, MATH_EXP, NULL},
    {"floor", T_FUNCTION, MATH_FLOOR, NULL},
    {"for", T_CONDITION, 0, NULL},
    {"gamma", T_NAME, 0, NULL},
    {"gcd", T_FUNCTION, MATH_GCD, NULL},
    {"if", T_CONDITION, 0, NULL},
    {"iff", T_CONDITION, 0, NULL},
    {"inf", T_CONSTANT, MATH_INFINITY, NULL},
    {"infinity", T_CONSTANT, MATH_INFINITY, NULL},
    {"infty", T_CONSTANT, MATH_INFINITY, NULL},
    {"intersect", T_CAP, 0, NULL},
    {"iota", T_NAME, 0, NULL},
    {"kappa", T_NAME, 0, NULL},
    {"lambda", T_NAME, 0, NULL},
    {"lcm", T_FUNCTION, MATH_LCM, NULL},
    {"lg", T_FUNCTION, MATH_LOG, "lg"},
    {"ln", T_FUNCTION, MATH_LN, NULL},
    {"log", T_FUNCTION, MATH_LOG, NULL},
    {"max", T_FUNCTION, MATH_MAX, NULL},
    {"min", T_FUNCTION, MATH_MIN, NULL},
    {"mod", T_MODULO, 0, NULL},
    {"omega", T_NAME, 0, NULL},
    {"oo", T_CONSTANT, MATH_INFINITY, NULL},
    {"or", T_OR, 0, NULL},
    {"pct", T_PERCENT, 0, NULL},
    {"percent", T_PERCENT, 0, NULL},
    {"percentage", T_PERCENT, 0, NULL},
    {"percents", T_PERCENT, 0, NULL},
    {"phi", T_NAME, 0, NULL},
    {"pi", T_CONSTANT, MATH_PI, NULL},
    {"provided", T_CONDITION, 0, NULL},
    {"psi", T_NAME, 0, NULL},
    {"reached", T_CONDITION, 0, NULL},
    {"rho", T_NAME, 0, NULL},
    {"sec", T_FUNCTION, MATH_SEC, NULL},
    {"sgn", T_FUNCTION, MATH_SIGN, NULL},
    {"sigma", T_NAME, 0, NULL},
    {"sin", T_FUNCTION, MATH_SIN, NULL},
    {"sinh", T_FUNCTION, MATH_SINH, NULL},
    {"sqrt", T_ROOT, 1, NULL},
    {"such", T_CONDITION, 0, NULL},
    {"tan", T_FUNCTION, MATH_TAN, NULL},
    {"tanh", T_FUNCTION, MATH_TANH, NULL},
    {"tau", T_NAME, 0, NULL},
    {"tg", T_FUNCTION, MATH_TAN, NULL},
    {"theta", T_NAME, 0, NULL},
    {"union", T_CUP, 0, NULL},
    {"upsilon", T_NAME, 0, NULL},
    {"when", T_CONDITION, 0, NULL},
    {"whenever", T_CONDITION, 0, NULL},
    {"where", T_CONDITION, 0, NULL},
    {"with", T_CONDITION, 0, NULL},
    {"zeta", T_NAME, 0, NULL},
    {"\xe4\xb8\x8e", T_AND, 0, "and"},
    {"\xe4\xb8\x94", T_AND, 0, "and"},
    {"\xe5\x92\x8c", T_AND, 0, "and"},
    {"\xe6\x88\x96", T_OR, 0, "or"},
    {"\xe6\x88\x96\xe8\x80\x85", T_OR, 0, "or"},
};

/* Compares a span with the word that a row of a table begins with, ASCII case ignored. */
static int compare_word(const void *a, const void *b)
{
    const struct span *k = a;
    const char *word = *(const char *const *)b;
    for (size_t i = 0; i < k->n; i++) {
        unsigned char x = (unsigned char)ascii_lower(k->s[i]);
        if (x != (unsigned char)word[i])
            return x < (unsigned char)word[i] ? -1 : 1; /* also at the NUL that ends `word` */
    }
    return word[k->n] ? -1 : 0;
}

/* ---- lists of words; case does not matter ---- */

/* Units of two letters and more; single letters are ambiguous, read_unit.c handles them. */
static const char *const units[] = {
    "acre",       "acres",       "amp",        "amperes",     "amps",       "apples",  "atm",
    "bits",       "bytes",       "cal",        "calories",    "cc",         "celsius", "cent",
    "centimeter", "centimeters", "centimetre", "centimetres", "cents",      "cm",      "coins",
    "cu",         "cubic",       "cups",       "day",         "days",       "db",      "deg",
    "degree",     "degrees",     "dm",         "dollar",      "dollars",    "dozen",   "euro",
    "euros",      "ev",          "fahrenheit", "feet",        "foot",       "fps",     "ft",
    "gal",        "gallon",      "gallons",    "ghz",         "gm",         "gms",     "gram",
    "grams",      "gs",          "ha",         "hectares",    "hertz",      "hour",    "hours",
    "hr",         "hrs",         "hz",         "in",          "inch",       "inches",  "joule",
    "joules",     "kcal",        "kelvin",     "kg",          "kgs",        "khz",     "kilogram",
    "kilograms",  "kilometer",   "kilometers", "kilometre",   "kilometres", "kj",      "km",
    "kmh",        "kmph",        "kms",        "knots",       "kph",        "kv",      "kw",
    "kwh",        "lb",          "lbs",        "liter",       "liters",     "litre",   "litres",
    "ma",         "mb",          "meter",      "meters",      "metre",      "metres",  "mg",
    "mhz",        "mi",          "mile",       "miles",       "min",        "mins",    "minute",
    "minutes",    "ml",          "mm",         "mol",         "mole",       "moles",   "month",
    "months",     "mph",         "ms",         "mv",          "mw",         "newton",  "newtons",
    "nm",         "ns",          "ohm",        "ohms",        "ounce",      "ounces",  "oz",
    "pa",         "pence",       "people",     "per",         "pound",      "pounds",  "psi",
    "pts",        "rad",         "radian",     "radians",     "rpm",        "rps",     "rupees",
    "sec",        "second",      "seconds",    "secs",        "sq",         "square",  "students",
    "times",      "ton",         "tonne",      "tonnes",      "tons",       "unit",    "units",
    "usd",        "volt",        "volts",      "watt",        "watts",      "ways",    "week",
    "weeks",      "yard",        "yards",      "yd",          "yds",        "year",    "years",
    "yr",         "yrs",         "yuan",
};

/* Words of sentences: a text that contains one is prose, not the name of something. */
static const char *const stops[] = {
    "a",    "an",     "are",       "as",    "at",     "be",    "because", "been", "but",  "by",
    "can",  "cannot", "could",     "do",    "does",   "each",  "every",   "from", "had",  "has",
    "have", "hence",  "is",        "it",    "its",    "let",   "more",    "must", "need", "needs",
    "of",   "on",     "only",      "shall", "should", "since", "so",      "than", "that", "the",
    "then", "there",  "therefore", "these", "they",   "this",  "those",   "thus", "to",   "was",
    "we",   "were",   "which",     "while", "who",    "will",  "would",   "you",
};

/* Answers of two and three letters that are words rather than products of letters. */
static const char *const short_words[] = {
    "all", "any",  "bad",   "big", "blue", "box",  "boy", "cat", "day", "dne", "dog", "dry",  "east", "eight",
    "end", "even", "false", "fri", "go",   "hot",  "jim", "joe", "low", "man", "mon", "new",  "nil",  "no",
    "non", "none", "nor",   "not", "odd",  "off",  "old", "one", "out", "red", "sam", "sat",  "six",  "sun",
    "ten", "tie",  "tim",   "tom", "top",  "true", "two", "up",  "wed", "win", "yes", "zero",
};

static const char *const degrees[] = {"deg", "degree", "degrees"};
static const char *const announcing[] = {"answer",  "answers",  "final",     "hence", "result",
                                         "results", "solution", "solutions", "thus"};
static const char *const prose[] = {"are",  "has",  "hence", "is",   "it",    "its",       "of",   "so",
                                    "than", "that", "the",   "then", "there", "therefore", "they", "this",
                                    "thus", "to",   "was",   "we",   "were",  "which"};

/* ---- looking a word up ---- */

/* A sorted table whose rows begin with the word. `lengths` tells most words that are in none from their first
 * byte: it holds the lengths of the table's words that begin so, as bits. */
struct word_table {
    const void *rows;
    size_t n, row_bytes;
    uint32_t lengths[32];
};
#define TABLE(rows)                                                                                          \
    {                                                                                                        \
        rows, sizeof rows / sizeof *rows, sizeof *rows,                                                      \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }
enum { PLAIN, UNITS, DEGREES, ANNOUNCING, PROSE, STOPS, SHORT_WORDS, TABLES };
static struct word_table tables[TABLES] = {[PLAIN] = TABLE(words),
                                           [UNITS] = TABLE(units),
                                           [DEGREES] = TABLE(degrees),
                                           [ANNOUNCING] = TABLE(announcing),
                                           [PROSE] = TABLE(prose),
                                           [STOPS] = TABLE(stops),
                                           [SHORT_WORDS] = TABLE(short_words)};
static once_flag lengths_are_made = ONCE_FLAG_INIT;

static const char *word_of(const struct word_table *t, size_t row)
{
    return *(const char *const *)((const char *)t->rows + row * t->row_bytes);
}

static void make_lengths(void)
{
    for (struct word_table *t = tables; t < tables + TABLES; t++)
        for (size_t k = 0; k < t->n; k++)
            t->lengths[word_of(t, k)[0] & 31] |= UINT32_C(1) << (strlen(word_of(t, k)) & 31);
}

/* The row of the word, or NULL. */
static const void *find_word(int table, struct span word)
{
    call_once(&lengths_are_made, make_lengths);
    const struct word_table *t = &tables[table];
    if (!word.n || !(t->lengths[ascii_lower(word.s[0]) & 31] >> (word.n & 31) & 1))
        return NULL;
    return bsearch(&word, t->rows, t->n, t->row_bytes, compare_word);
}

const struct token_meaning *math_plain_word(struct span word)
{
    return find_word(PLAIN, word);
}

int math_word_is_unit(struct span word)
{
    return find_word(UNITS, word) != NULL;
}

int math_word_is_degree(struct span word)
{
    return find_word(DEGREES, word) != NULL;
}

int math_word_announces(struct span word)
{
    return find_word(ANNOUNCING, word) != NULL;
}

int math_word_is_prose(struct span word)
{
    return find_word(PROSE, word) != NULL;
}

int math_word_is_stop(struct span word)
{
    return find_word(STOPS, word) != NULL;
}

int math_word_is_short(struct span word)
{
    return find_word(SHORT_WORDS, word) != NULL;
}

struct word_value {
    const char *word;
    int value;
};

/* The value of a word in a table, or `none`. */
static int find_value(const struct word_value *table, size_t n, struct span word, int none)
{
    for (size_t i = 0; i < n; i++)
        if (!compare_word(&word, &table[i].word))
            return table[i].value;
    return none;
}

int math_word_number(struct span word)
{
    static const struct word_value table[] = {
        {"zero", 0},     {"one", 1},      {"two", 2},        {"three", 3},     {"four", 4},
        {"five", 5},     {"six", 6},      {"seven", 7},      {"eight", 8},     {"nine", 9},
        {"ten", 10},     {"eleven", 11},  {"twelve", 12},    {"thirteen", 13}, {"fourteen", 14},
        {"fifteen", 15}, {"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18}, {"nineteen", 19},
        {"twenty", 20},  {"thirty", 30},  {"forty", 40},     {"fifty", 50},    {"sixty", 60},
        {"seventy", 70}, {"eighty", 80},  {"ninety", 90},    {"hundred", 100}, {"thousand", 1000},
    };
    return find_value(table, sizeof table / sizeof *table, word, -1);
}

int math_word_scale(struct span word)
{
    static const struct word_value table[] = {
        {"hundred", 2}, {"thousand", 3}, {"million", 6}, {"billion", 9}, {"trillion", 12}};
    return find_value(table, sizeof table / sizeof *table, word, 0);
}
