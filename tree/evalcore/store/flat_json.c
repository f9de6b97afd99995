/* Objects of plain values, read where they lie (contract: flat_json.h). */
#include "evalcore/store/flat_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 18,   /* digits that always fit into 64 bits */
    EXACT_DIGITS = 15, /* digits that a double holds exactly */
    NUMBER_MAX = 64
};

struct scan {
    const char *at, *end;
};

static int accept_char(struct scan *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return 0;
    s->at++;
    return 1;
}

static int is_digit(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static int read_string(struct scan *s, struct flat_text *out)
{
    if (!accept_char(s, '"'))
        return 0;
    const char *from = s->at;
    while (s->at < s->end && *s->at >= 0x20 && *s->at < 0x7F && *s->at != '"' && *s->at != '\\')
        s->at++;
    *out = (struct flat_text){from, (size_t)(s->at - from)};
    return accept_char(s, '"');
}

/* At least one digit. */
static int read_digits(struct scan *s)
{
    const char *from = s->at;
    while (is_digit(s))
        s->at++;
    return s->at > from;
}

/* Digits and power of ten are exact, and their quotient is rounded once: what strtod() gives, in less time.
 */
static double to_decimal(int64_t digits, int decimals)
{
    static const double power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    return (double)digits / power[decimals];
}

static int read_real(const char *from, size_t n, double *out)
{
    char text[NUMBER_MAX + 1];
    char *end;
    if (n > NUMBER_MAX)
        return 0;
    memcpy(text, from, n);
    text[n] = 0;
    errno = 0;
    *out = strtod(text, &end);
    return *end == 0 && errno == 0 && isfinite(*out);
}

static int read_number(struct scan *s, struct flat_field *f)
{
    const char *from = s->at;
    int is_negative = accept_char(s, '-'), decimals = -1, has_power = 0;
    const char *first = s->at;
    if (!accept_char(s, '0') && !read_digits(s))
        return 0;
    size_t digits = (size_t)(s->at - first);
    if (accept_char(s, '.')) {
        const char *point = s->at;
        if (!read_digits(s))
            return 0;
        decimals = (int)(s->at - point);
        digits += (size_t)decimals;
    }
    if (digits > DIGITS_MAX && decimals < 0)
        return 0;
    if (accept_char(s, 'e') || accept_char(s, 'E')) {
        if (!accept_char(s, '-'))
            accept_char(s, '+');
        if (!read_digits(s))
            return 0;
        has_power = 1;
    }
    f->type = decimals < 0 && !has_power ? FLAT_INTEGER : FLAT_REAL;
    if (f->type == FLAT_REAL && (has_power || digits > EXACT_DIGITS))
        return read_real(from, (size_t)(s->at - from), &f->number);
    int64_t value = 0;
    for (const char *p = first; p < s->at; p++)
        value = *p == '.' ? value : 10 * value + (*p - '0');
    f->integer = is_negative ? -value : value;
    f->number = f->type == FLAT_INTEGER ? (double)f->integer
                : is_negative           ? -to_decimal(value, decimals)
                                        : to_decimal(value, decimals);
    return 1;
}

static int read_word(struct scan *s, struct flat_field *f)
{
    static const char *const words[] = {"true", "false", "null"};
    f->type = FLAT_OTHER;
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, words[i], n)) {
            s->at += n;
            return 1;
        }
    }
    return 0;
}

static int same_text(struct flat_text a, const char *name, size_t n)
{
    return a.n == n && !memcmp(a.data, name, n);
}

/* `seen` has a bit for each kind of name there was: mostly no name need be compared. */
static int is_new(const struct flat_object *o, struct flat_text name, uint64_t *seen)
{
    unsigned char a = name.n ? (unsigned char)name.data[0] : 0,
                  b = name.n ? (unsigned char)name.data[name.n - 1] : 0;
    uint64_t bit = (uint64_t)1 << ((name.n * 11 + a + 5U * b) & 63);
    for (int i = 0; i < o->n && (*seen & bit); i++)
        if (same_text(o->field[i].name, name.data, name.n))
            return 0;
    *seen |= bit;
    return 1;
}

static int read_field(struct scan *s, struct flat_object *o, uint64_t *seen)
{
    struct flat_field *f = &o->field[o->n];
    if (!read_string(s, &f->name) || !is_new(o, f->name, seen) || !accept_char(s, ':') || s->at == s->end)
        return 0;
    f->type = FLAT_STRING;
    if (*s->at == '"')
        return read_string(s, &f->text);
    return *s->at == '-' || is_digit(s) ? read_number(s, f) : read_word(s, f);
}

int flat_read(struct flat_object *o, const char *text, size_t n)
{
    struct scan s = {text, text + n};
    uint64_t seen = 0;
    o->n = 0;
    if (!accept_char(&s, '{'))
        return 0;
    do {
        if (o->n == FLAT_FIELDS_MAX || !read_field(&s, o, &seen))
            return 0;
        o->n++;
    } while (accept_char(&s, ','));
    return s.at == s.end;
}

static const struct flat_field *find_field(const struct flat_object *o, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < o->n; i++)
        if (same_text(o->field[i].name, name, n))
            return &o->field[i];
    return NULL;
}

int flat_has(const struct flat_object *o, const char *name)
{
    return find_field(o, name) != NULL;
}

struct flat_text flat_string(const struct flat_object *o, const char *name)
{
    const struct flat_field *f = find_field(o, name);
    return f && f->type == FLAT_STRING ? f->text : (struct flat_text){NULL, 0};
}

double flat_number(const struct flat_object *o, const char *name)
{
    const struct flat_field *f = find_field(o, name);
    return f && (f->type == FLAT_INTEGER || f->type == FLAT_REAL) ? f->number : 0;
}

int64_t flat_integer(const struct flat_object *o, const char *name, int *is_integer)
{
    const struct flat_field *f = find_field(o, name);
    *is_integer = f && f->type == FLAT_INTEGER;
    return *is_integer ? f->integer : 0;
}
