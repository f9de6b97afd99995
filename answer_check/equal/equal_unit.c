/* Units: are two texts the same unit, and how do two units of one dimension convert? Names are folded (plural
 * and long forms, "square" and "^2", "per" and "/"), then each factor is looked up. A name that is not in the
 * table is itself and converts to nothing else. */
#include "answer_check/equal/equal_parts.h"

#include <stdlib.h>
#include <string.h>

/* A dimension is an exponent of each unit: metre, gram, second, month, the currencies, bit, and those of
 * physics that have a name of their own, which base_units() works out. */
enum {
    LENGTH,
    MASS,
    TIME,
    CALENDAR,
    MONEY,
    EURO,
    STERLING,
    RUPEE,
    YEN,
    DATA,
    FORCE,
    ENERGY,
    POWER,
    PRESSURE,
    FREQUENCY,
    VOLTAGE,
    CURRENT,
    RESISTANCE,
    CHARGE,
    AMOUNT,
    TEMPERATURE,
    ELECTRONVOLT,
    ANGLE,
    DIMENSIONS,
    AREA = DIMENSIONS + 1, /* in base_units() only, where LENGTH, which is 0, has no sign */
    LENGTH_
};

/* Exact by definition: the international yard and pound (1959), the US gallon of 231 cubic inches. */
static const struct unit {
    const char *name[7]; /* the first is the folded name */
    signed char dimension, power;
    int64_t num, den; /* in base units */
} units[] = {
    {{"m", "meter", "meters", "metre", "metres"}, LENGTH, 1, 1, 1},
    {{"dm", "decimeter", "decimeters"}, LENGTH, 1, 1, 10},
    {{"cm", "centimeter", "centimeters", "centimetre", "centimetres"}, LENGTH, 1, 1, 100},
    {{"mm", "millimeter", "millimeters", "millimetre", "millimetres"}, LENGTH, 1, 1, 1000},
    {{"um", "micrometer", "micrometers", "micron", "microns"}, LENGTH, 1, 1, 1000000},
    {{"nm", "nanometer", "nanometers"}, LENGTH, 1, 1, 1000000000},
    {{"km", "kilometer", "kilometers", "kilometre", "kilometres", "kms"}, LENGTH, 1, 1000, 1},
    {{"in", "inch", "inches"}, LENGTH, 1, 127, 5000},
    {{"ft", "foot", "feet"}, LENGTH, 1, 381, 1250},
    {{"yd", "yard", "yards", "yds"}, LENGTH, 1, 1143, 1250},
    {{"mi", "mile", "miles"}, LENGTH, 1, 201168, 125},
    {{"ha", "hectare", "hectares"}, LENGTH, 2, 10000, 1},
    {{"acre", "acres"}, LENGTH, 2, 316160658, 78125},
    {{"l", "liter", "liters", "litre", "litres", "L"}, LENGTH, 3, 1, 1000},
    {{"ml", "milliliter", "milliliters", "millilitre", "millilitres", "mL", "cc"}, LENGTH, 3, 1, 1000000},
    {{"gal", "gallon", "gallons"}, LENGTH, 3, 473176473, 125000000000},
    {{"qt", "quart", "quarts"}, LENGTH, 3, 473176473, 500000000000},
    {{"pint", "pints"}, LENGTH, 3, 473176473, 1000000000000},
    {{"cup", "cups"}, LENGTH, 3, 473176473, 2000000000000},
    {{"kg", "kilogram", "kilograms", "kgs"}, MASS, 1, 1000, 1},
    {{"g", "gram", "grams", "gm", "gms"}, MASS, 1, 1, 1},
    {{"mg", "milligram", "milligrams"}, MASS, 1, 1, 1000},
    {{"tonne", "tonnes"}, MASS, 1, 1000000, 1},
    {{"lb", "lbs", "pound", "pounds"}, MASS, 1, 45359237, 100000},
    {{"oz", "ounce", "ounces"}, MASS, 1, 45359237, 1600000},
    {{"ms", "millisecond", "milliseconds"}, TIME, 1, 1, 1000},
    {{"us", "microsecond", "microseconds"}, TIME, 1, 1, 1000000},
    {{"s", "sec", "second", "seconds", "secs"}, TIME, 1, 1, 1},
    {{"min", "minute", "minutes", "mins"}, TIME, 1, 60, 1},
    {{"h", "hr", "hrs", "hour", "hours"}, TIME, 1, 3600, 1},
    {{"d", "day", "days"}, TIME, 1, 86400, 1},
    {{"week", "weeks"}, TIME, 1, 604800, 1},
    {{"month", "months"}, CALENDAR, 1, 1, 1},
    {{"year", "years", "yr", "yrs"}, CALENDAR, 1, 12, 1},
    {{"decade", "decades"}, CALENDAR, 1, 120, 1},
    {{"dollar", "dollars", "usd", "USD", "$"}, MONEY, 1, 1, 1},
    {{"cent", "cents"}, MONEY, 1, 1, 100},
    {{"EUR", "eur", "euro", "euros"}, EURO, 1, 1, 1},
    {{"GBP", "gbp"}, STERLING, 1, 1, 1},
    {{"pence", "penny"}, STERLING, 1, 1, 100},
    {{"INR", "inr", "rupee", "rupees", "Rs", "rs"}, RUPEE, 1, 1, 1},
    {{"JPY", "jpy", "yen"}, YEN, 1, 1, 1},
    {{"bit", "bits"}, DATA, 1, 1, 1},
    {{"byte", "bytes"}, DATA, 1, 8, 1},
    {{"N", "newton", "newtons", "Newton", "Newtons"}, FORCE, 1, 1, 1},
    {{"kN", "kilonewton", "kilonewtons"}, FORCE, 1, 1000, 1},
    {{"J", "joule", "joules", "Joule", "Joules"}, ENERGY, 1, 1, 1},
    {{"kJ", "kilojoule", "kilojoules"}, ENERGY, 1, 1000, 1},
    {{"MJ", "megajoule", "megajoules"}, ENERGY, 1, 1000000, 1},
    {{"W", "watt", "watts", "Watt", "Watts"}, POWER, 1, 1, 1},
    {{"mW", "milliwatt", "milliwatts"}, POWER, 1, 1, 1000},
    {{"kW", "kilowatt", "kilowatts"}, POWER, 1, 1000, 1},
    {{"MW", "megawatt", "megawatts"}, POWER, 1, 1000000, 1},
    {{"Pa", "pascal", "pascals", "Pascal"}, PRESSURE, 1, 1, 1},
    {{"kPa", "kilopascal", "kilopascals"}, PRESSURE, 1, 1000, 1},
    {{"atm", "atmosphere", "atmospheres"}, PRESSURE, 1, 101325, 1},
    {{"Hz", "hertz", "Hertz"}, FREQUENCY, 1, 1, 1},
    {{"kHz", "kilohertz"}, FREQUENCY, 1, 1000, 1},
    {{"MHz", "megahertz"}, FREQUENCY, 1, 1000000, 1},
    {{"GHz", "gigahertz"}, FREQUENCY, 1, 1000000000, 1},
    {{"V", "volt", "volts", "Volts"}, VOLTAGE, 1, 1, 1},
    {{"mV", "millivolt", "millivolts"}, VOLTAGE, 1, 1, 1000},
    {{"kV", "kilovolt", "kilovolts"}, VOLTAGE, 1, 1000, 1},
    {{"A", "amp", "amps", "ampere", "amperes", "Amps"}, CURRENT, 1, 1, 1},
    {{"mA", "milliamp", "milliamps", "milliampere", "milliamperes"}, CURRENT, 1, 1, 1000},
    {{"ohm", "ohms", "Ohm", "Ohms"}, RESISTANCE, 1, 1, 1},
    {{"kohm", "kilohm", "kilohms", "kiloohm", "kiloohms"}, RESISTANCE, 1, 1000, 1},
    {{"Mohm", "megohm", "megohms", "megaohm", "megaohms"}, RESISTANCE, 1, 1000000, 1},
    {{"mohm", "milliohm", "milliohms"}, RESISTANCE, 1, 1, 1000},
    {{"C", "coulomb", "coulombs", "Coulombs"}, CHARGE, 1, 1, 1},
    {{"mol", "mole", "moles", "mols"}, AMOUNT, 1, 1, 1},
    {{"mmol", "millimole", "millimoles"}, AMOUNT, 1, 1, 1000},
    {{"K", "kelvin", "kelvins", "Kelvin"}, TEMPERATURE, 1, 1, 1},
    {{"eV", "electronvolt", "electronvolts"}, ELECTRONVOLT, 1, 1, 1},
    {{"meV"}, ELECTRONVOLT, 1, 1, 1000},
    {{"keV"}, ELECTRONVOLT, 1, 1000, 1},
    {{"MeV"}, ELECTRONVOLT, 1, 1000000, 1},
    {{"GeV"}, ELECTRONVOLT, 1, 1000000000, 1},
    {{"rad", "radian", "radians", "rads"}, ANGLE, 1, 1, 1},
    {{"unit", "units"}, DIMENSIONS, 0, 1, 1},
    {{"person", "people", "persons"}, DIMENSIONS, 0, 1, 1},
};

/* Speeds that have a name of their own. */
static const char *const speeds[][5] = {{"mi/h", "mph"}, {"km/h", "kph", "kmh", "kmph"}, {"ft/s", "fps"}};

/* The row of a unit by any of its names, or NULL. */
static const struct unit *find_unit(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (int k = 0; k < 7 && units[i].name[k]; k++)
            if (strlen(units[i].name[k]) == n && !strncmp(units[i].name[k], word, n))
                return &units[i];
    return NULL;
}

/* Writes the folded name of a unit, at most `size` bytes, and returns its length. */
static size_t canonical_name(char *out, size_t size, const char *word, size_t n)
{
    const struct unit *u = find_unit(word, n);
    const char *name = u ? u->name[0] : NULL;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        for (int k = 1; k < 5 && speeds[i][k]; k++)
            if (strlen(speeds[i][k]) == n && !strncmp(speeds[i][k], word, n))
                name = speeds[i][0];
    if (name) {
        word = name;
        n = strlen(name);
    } else if (n > 3 && word[n - 1] == 's') {
        n--; /* the plural of any other name */
    }
    n = n < size ? n : size;
    memcpy(out, word, n);
    return n;
}

/* "square", "squared" and the like: the power that they stand for, before or behind the unit. */
static const char *power_word(const char *word, size_t n, int *is_behind)
{
    static const struct {
        const char *word, *power;
        int is_behind;
    } words[] = {{"square", "^2", 0}, {"sq", "^2", 0},      {"cubic", "^3", 0},
                 {"cu", "^3", 0},     {"squared", "^2", 1}, {"cubed", "^3", 1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && !strncmp(words[i].word, word, n)) {
            *is_behind = words[i].is_behind;
            return words[i].power;
        }
    return NULL;
}

/* Does the blank between what is folded so far and the next word join two units, N m? */
static int multiplies(const char *folded, size_t n, const char *next)
{
    size_t from = n;
    while (from && ascii_is_letter(folded[from - 1]))
        from--;
    return from < n && find_unit(folded + from, n - from) && find_unit(next, strcspn(next, " /^*"));
}

/* Folds the writings of a unit: "square meters" and "m^2" become "m^2"; "meters per second" and "m s^-1"
 * become "m/s". */
static void fold_unit(char out[128], const char *unit)
{
    size_t n = 0;
    const char *power = NULL;
    for (const char *p = unit; *p && n < 120;) {
        size_t word = strcspn(p, " /^*");
        int is_behind = 0;
        const char *raised = word ? power_word(p, word, &is_behind) : NULL;
        if (!word) {
            if (*p != ' ')
                out[n++] = *p;
            else if (multiplies(out, n, p + 1))
                out[n++] = '*';
            p++;
            continue;
        }
        if (word == 3 && !strncmp(p, "per", 3)) {
            out[n++] = '/';
        } else {
            int divides = n && out[n - 1] != '/' && !strncmp(p + word, "^-", 2);
            n -= divides && out[n - 1] == '*';
            if (divides)
                out[n++] = '/';
            if (!raised)
                n += canonical_name(out + n, 100 > n ? 100 - n : 0, p, word);
            else if (!is_behind)
                power = raised;
            for (const char *s = is_behind ? raised : raised ? "" : power; s && *s && n < 120; s++)
                out[n++] = *s;
            power = raised && !is_behind ? power : NULL;
            if (divides) { /* the power without its sign, and none for the first */
                const char *digits = p + word + 2;
                p = *digits == '1' && !ascii_is_digit(digits[1]) ? digits + 1 : digits;
                if (p == digits)
                    out[n++] = '^';
                continue;
            }
        }
        p += word;
    }
    out[n] = 0;
}

int equal_units(const char *a, const char *b)
{
    char x[128], y[128];
    fold_unit(x, a);
    fold_unit(y, b);
    return strcmp(x, y) == 0;
}

/* ---- conversion ---- */

struct measure {
    int dimension[DIMENSIONS];
    int64_t num, den;
};

static int64_t gcd_of(int64_t a, int64_t b)
{
    return b ? gcd_of(b, a % b) : a;
}

/* Multiplies by (num/den)^sign; -1 where the result does not fit. */
static int multiply_measure(struct measure *m, int64_t num, int64_t den, int sign)
{
    int64_t x = sign > 0 ? num : den, y = sign > 0 ? den : num, g = gcd_of(m->num, y), h = gcd_of(x, m->den);
    if (__builtin_mul_overflow(m->num / g, x / h, &m->num) ||
        __builtin_mul_overflow(m->den / h, y / g, &m->den))
        return -1;
    return 0;
}

/* A folded unit, "km/h" or "m^2", as a multiple of base units; -1 where a factor has no place in the
 * table. */
static int measure_unit(struct measure *out, const char *unit)
{
    int sign = 1;
    *out = (struct measure){.num = 1, .den = 1};
    for (const char *p = unit; *p;) {
        size_t n = strcspn(p, "/*^");
        const struct unit *u = find_unit(p, n);
        int power = 1;
        if (!u || u->dimension == DIMENSIONS)
            return -1;
        p += n;
        if (*p == '^') {
            char *end;
            power = (int)strtol(p + 1, &end, 10);
            if (end == p + 1 || power < 1 || power > 3)
                return -1;
            p = end;
        }
        out->dimension[u->dimension] += sign * power * u->power;
        for (int i = 0; i < power; i++)
            if (multiply_measure(out, u->num, u->den, sign))
                return -1;
        if (*p && *p != '/' && *p != '*')
            return -1;
        sign = *p == '/' ? -1 : 1;
        p += *p != 0;
    }
    return *unit ? 0 : -1;
}

/* Works out the units with a name of their own to metres, kilograms, seconds and amperes, as a newton to
 * kg m/s^2, the last ones first. */
static int base_units(struct measure *m)
{
    static const struct {
        int of, factor[4]; /* the dimension, and those that it is the product of, negative: divided by */
        int n, grams;
    } table[] = {{RESISTANCE, {VOLTAGE, -CURRENT}, 2, 1},
                 {VOLTAGE, {ENERGY, -CHARGE}, 2, 1},
                 {CHARGE, {CURRENT, TIME}, 2, 1},
                 {POWER, {ENERGY, -TIME}, 2, 1},
                 {PRESSURE, {FORCE, -AREA}, 2, 1},
                 {ENERGY, {FORCE, LENGTH_}, 2, 1},
                 {FORCE, {MASS, LENGTH_, -TIME, -TIME}, 4, 1000},
                 {FREQUENCY, {-TIME}, 1, 1}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        int times = m->dimension[table[k].of];
        m->dimension[table[k].of] = 0;
        for (int i = 0; i < table[k].n && times; i++) {
            int f = table[k].factor[i], sign = f < 0 ? -1 : 1, d = sign * f;
            m->dimension[d == AREA || d == LENGTH_ ? LENGTH : d] += sign * times * (d == AREA ? 2 : 1);
        }
        for (int i = 0; i < (times < 0 ? -times : times); i++)
            if (multiply_measure(m, table[k].grams, 1, times < 0 ? -1 : 1))
                return -1;
    }
    return 0;
}

int equal_unit_ratio(const char *a, const char *b, int64_t *num, int64_t *den)
{
    char x[128], y[128];
    struct measure m, n;
    fold_unit(x, a);
    fold_unit(y, b);
    if (measure_unit(&m, x) || measure_unit(&n, y) || base_units(&m) || base_units(&n) ||
        memcmp(m.dimension, n.dimension, sizeof m.dimension) != 0 || multiply_measure(&m, n.num, n.den, -1))
        return 0;
    *num = m.num;
    *den = m.den;
    return 1;
}

/* ---- angles in sums ---- */

static int has_degrees(const struct math_node *m, int depth)
{
    int found = m->kind == MATH_DEGREES;
    if (m->kind != MATH_ADD && m->kind != MATH_MULTIPLY && m->kind != MATH_NEGATE)
        return found;
    for (int i = 0; i < m->n && depth && !found; i++)
        found = has_degrees(equal_first_reading(m->child[i]), depth - 1);
    return found;
}

/* m with its angles as multiples of pi/180, or NULL. */
static const struct math_node *in_radians(struct comparison *e, const struct math_node *m, int depth)
{
    enum { CHILDREN = 16, HALF_TURN = 180 };
    const struct math_node *child[CHILDREN];
    if (m->kind == MATH_DEGREES) {
        const struct math_node *pi = math_node_constant(e->w, m->source, MATH_PI),
                               *turn = math_node_integer(e->w, m->source, HALF_TURN),
                               *unit =
                                   pi && turn ? math_node_2(e->w, MATH_DIVIDE, m->source, pi, turn) : NULL;
        return unit && m->n == 1 ? math_node_2(e->w, MATH_MULTIPLY, m->source, m->child[0], unit) : NULL;
    }
    if (!has_degrees(m, depth))
        return m;
    if (m->n > CHILDREN || !depth)
        return NULL;
    for (int i = 0; i < m->n; i++)
        if (!(child[i] = in_radians(e, equal_first_reading(m->child[i]), depth - 1)))
            return NULL;
    return math_node_new(e->w, m->kind, m->source, m->n, child);
}

const struct math_node *equal_in_radians(struct comparison *e, const struct math_node *m,
                                         const struct math_node *other)
{
    enum { DEPTH = 4 };
    return m->kind == MATH_ADD && has_degrees(m, DEPTH) && !has_degrees(other, DEPTH)
               ? in_radians(e, m, DEPTH)
               : NULL;
}
