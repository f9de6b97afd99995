/* Words that occur in answers beside mathematics. All tables are sorted; case does not matter. */
#include <stdlib.h>
#include <string.h>

#include "answer_check/math/math_reader.h"

/* Units of two letters and more; single letters are ambiguous, math_read_unit.c handles them. */
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

static int compare_word(const void *a, const void *b)
{
    const struct span *k = a;
    const char *word = *(const char *const *)b;
    for (size_t i = 0; i < k->n; i++) {
        unsigned char x = (unsigned char)ascii_lower(k->s[i]);
        if (x != (unsigned char)word[i])
            return x < (unsigned char)word[i] ? -1 : 1;
    }
    return word[k->n] ? -1 : 0;
}

static int is_in_table(const char *const *table, size_t bytes, struct span word)
{
    return bsearch(&word, table, bytes / sizeof *table, sizeof *table, compare_word) != NULL;
}

int math_word_is_unit(struct span word)
{
    return is_in_table(units, sizeof units, word);
}

int math_word_is_degree(struct span word)
{
    static const char *const table[] = {"deg", "degree", "degrees"};
    return is_in_table(table, sizeof table, word);
}

int math_word_announces(struct span word)
{
    static const char *const table[] = {"answer",  "answers",  "final",     "hence", "result",
                                        "results", "solution", "solutions", "thus"};
    return is_in_table(table, sizeof table, word);
}

int math_word_is_prose(struct span word)
{
    static const char *const table[] = {"are",  "has",  "hence", "is",   "it",    "its",       "of",   "so",
                                        "than", "that", "the",   "then", "there", "therefore", "they", "this",
                                        "thus", "to",   "was",   "we",   "were",  "which"};
    return is_in_table(table, sizeof table, word);
}

int math_word_is_stop(struct span word)
{
    return is_in_table(stops, sizeof stops, word);
}

int math_word_is_short(struct span word)
{
    return is_in_table(short_words, sizeof short_words, word);
}

struct value {
    const char *word;
    int value;
};

static int find_value(const struct value *table, size_t n, struct span word, int none)
{
    for (size_t i = 0; i < n; i++)
        if (!compare_word(&word, &table[i].word))
            return table[i].value;
    return none;
}

int math_word_number(struct span word)
{
    static const struct value table[] = {
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
    static const struct value table[] = {
        {"hundred", 2}, {"thousand", 3}, {"million", 6}, {"billion", 9}, {"trillion", 12}};
    return find_value(table, sizeof table / sizeof *table, word, 0);
}
