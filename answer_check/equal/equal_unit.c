/* Are two unit texts the same unit? Names are folded: plural and long forms, "square" and "^2", "per" and
 * "/". A name that is not in the table is itself. No conversion: 5 km and 5000 m differ. */
#include "answer_check/equal/equal.h"

#include <string.h>

static const char *const names[][6] = {
    {"m", "meter", "meters", "metre", "metres"},
    {"cm", "centimeter", "centimeters", "centimetre", "centimetres"},
    {"mm", "millimeter", "millimeters", "millimetre", "millimetres"},
    {"km", "kilometer", "kilometers", "kilometre", "kilometres"},
    {"in", "inch", "inches"},
    {"ft", "foot", "feet"},
    {"yd", "yard", "yards"},
    {"mi", "mile", "miles"},
    {"kg", "kilogram", "kilograms"},
    {"g", "gram", "grams"},
    {"mg", "milligram", "milligrams"},
    {"lb", "lbs", "pound", "pounds"},
    {"oz", "ounce", "ounces"},
    {"l", "liter", "liters", "litre", "litres"},
    {"ml", "milliliter", "milliliters", "millilitre", "millilitres"},
    {"s", "sec", "second", "seconds"},
    {"min", "minute", "minutes", "mins"},
    {"h", "hr", "hrs", "hour", "hours"},
    {"d", "day", "days"},
    {"week", "weeks"},
    {"month", "months"},
    {"year", "years", "yr", "yrs"},
    {"mi/h", "mph"},
    {"km/h", "kph", "kmh", "kmph"},
    {"unit", "units"},
    {"cent", "cents"},
    {"person", "people", "persons"},
};

static size_t canonical(char *out, size_t room, const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 6 && names[i][k]; k++)
            if (strlen(names[i][k]) == n && !strncmp(names[i][k], word, n)) {
                word = names[i][0];
                n = strlen(word);
                k = 5;
            }
    if (n > 3 && word[n - 1] == 's')
        n--; /* the plural of any other name */
    n = n < room ? n : room;
    memcpy(out, word, n);
    return n;
}

/* "square meters" and "m^2" become "m^2"; "meters per second" becomes "m/s". */
static void fold(char out[128], const char *unit)
{
    size_t n = 0;
    const char *power = NULL;
    for (const char *p = unit; *p && n < 120;) {
        size_t word = strcspn(p, " /^*");
        if (!word) {
            if (*p != ' ')
                out[n++] = *p;
            p++;
            continue;
        }
        if ((word == 6 && !strncmp(p, "square", 6)) || (word == 2 && !strncmp(p, "sq", 2))) {
            power = "^2";
        } else if (word == 5 && !strncmp(p, "cubic", 5)) {
            power = "^3";
        } else if (word == 3 && !strncmp(p, "per", 3)) {
            out[n++] = '/';
        } else {
            n += canonical(out + n, 100 > n ? 100 - n : 0, p, word);
            for (; power && *power && n < 120; power++)
                out[n++] = *power;
            power = NULL;
        }
        p += word;
    }
    out[n] = 0;
}

int equal_units(const char *a, const char *b)
{
    char x[128], y[128];
    fold(x, a);
    fold(y, b);
    return strcmp(x, y) == 0;
}
