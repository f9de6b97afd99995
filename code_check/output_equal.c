/* Comparing outputs and values (contract: code_check.h). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_check/code_check.h"

struct text {
    const char *s;
    size_t n;
};

static struct text strip(struct text t)
{
    for (size_t k; t.n && (k = str_space_at(t.s, t.n)); t.s += k, t.n -= k)
        ;
    for (size_t k; t.n && (k = str_space_before(t.s, t.n)); t.n -= k)
        ;
    return t;
}

/* Takes the first line off. Returns 0 when there is none left. */
static int next_line(struct text *rest, int *is_over, struct text *line)
{
    if (*is_over)
        return 0;
    const char *end = memchr(rest->s, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->s) : rest->n;
    *line = strip((struct text){rest->s, n});
    *is_over = !end;
    rest->s += end ? n + 1 : n;
    rest->n -= end ? n + 1 : n;
    return 1;
}

/* ---- decimal numbers, as Python's Decimal reads and compares them: exactly */

enum { INFINITE = 1, NAN_VALUE = 2 };
struct decimal {
    int kind, is_negative;
    struct str digits; /* without zeros in front and behind; empty: zero */
    int64_t exponent;  /* of the last digit */
};
#define EXPONENT_MAX 1000000000000000000LL

/* Case does not count. */
static int is_word(const char *s, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)s[i] | 32) != (unsigned char)word[i])
            return 0;
    return n == strlen(word);
}

static int read_special(struct decimal *d, const char *s, size_t n)
{
    if (is_word(s, n, "inf") || is_word(s, n, "infinity"))
        d->kind = INFINITE;
    else if ((n >= 3 && is_word(s, 3, "nan")) || (n >= 4 && is_word(s, 4, "snan"))) {
        for (size_t i = (s[0] | 32) == 's' ? 4 : 3; i < n; i++)
            if (s[i] < '0' || s[i] > '9')
                return 0;
        d->kind = NAN_VALUE;
    } else
        return 0;
    return 1;
}

/* The number behind "e", or 0 for what is none or too large. */
static int read_exponent(int64_t *out, const char *s, size_t n)
{
    size_t i = n && (s[0] == '+' || s[0] == '-');
    int64_t x = 0;
    if (i == n)
        return 0;
    for (; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || x >= EXPONENT_MAX / 10)
            return 0;
        x = x * 10 + (s[i] - '0');
    }
    *out = s[0] == '-' ? -x : x;
    return 1;
}

/* Underscores count for nothing. */
static int read_decimal(struct decimal *d, struct text word)
{
    struct str t = {0};
    size_t i = 0, n_digits = 0, behind = 0;
    int64_t exponent = 0;
    int has_point = 0, ok = 1;
    *d = (struct decimal){0};
    for (size_t k = 0; k < word.n; k++)
        if (word.s[k] != '_')
            str_putc(&t, word.s[k]);
    const char *s = str_text(&t);
    if (i < t.len && (s[i] == '+' || s[i] == '-'))
        d->is_negative = s[i++] == '-';
    if (i < t.len && read_special(d, s + i, t.len - i)) {
        str_release(&t);
        return 1;
    }
    for (; i < t.len && ((s[i] >= '0' && s[i] <= '9') || (s[i] == '.' && !has_point)); i++)
        if (s[i] == '.')
            has_point = 1;
        else {
            n_digits++;
            behind += (size_t)has_point;
            if (d->digits.len || s[i] != '0')
                str_putc(&d->digits, s[i]);
        }
    ok = n_digits > 0;
    if (ok && i < t.len)
        ok = (s[i] | 32) == 'e' && read_exponent(&exponent, s + i + 1, t.len - i - 1);
    d->exponent = exponent - (int64_t)behind;
    while (d->digits.len && d->digits.data[d->digits.len - 1] == '0') {
        d->digits.len--;
        d->exponent++;
    }
    if (!d->digits.len)
        d->exponent = d->is_negative = 0;
    str_release(&t);
    return ok;
}

static int decimals_equal(const struct decimal *a, const struct decimal *b)
{
    if (a->kind == NAN_VALUE || b->kind == NAN_VALUE || a->kind != b->kind ||
        a->is_negative != b->is_negative)
        return 0;
    return a->kind == INFINITE ||
           (a->exponent == b->exponent && a->digits.len == b->digits.len &&
            (!a->digits.len || !memcmp(a->digits.data, b->digits.data, a->digits.len)));
}

/* Takes the first word of a stripped text off. */
static struct text next_word(struct text *rest)
{
    size_t n = 0;
    while (n < rest->n && !str_space_at(rest->s + n, rest->n - n))
        n++;
    struct text word = {rest->s, n};
    *rest = strip((struct text){rest->s + n, rest->n - n});
    return word;
}

/* All words of both must be numbers, as many of one as of the other. */
static int numbers_equal(struct text a, struct text b)
{
    int equal = 1;
    while (a.n && b.n && equal) {
        struct decimal x, y;
        equal = read_decimal(&x, next_word(&a));
        equal &= read_decimal(&y, next_word(&b));
        equal = equal && decimals_equal(&x, &y);
        str_release(&x.digits);
        str_release(&y.digits);
    }
    return equal && !a.n && !b.n;
}

static long count_lines(struct text t)
{
    long n = 1;
    for (const char *p = t.s; (p = memchr(p, '\n', (size_t)(t.s + t.n - p))); p++)
        n++;
    return n;
}

long code_output_differs(const char *got, size_t n_got, const char *want, size_t n_want)
{
    struct text a = strip((struct text){got, n_got}), b = strip((struct text){want, n_want}), x, y;
    long line = 0, n_a = count_lines(a), n_b = count_lines(b);
    int a_over = 0, b_over = 0;
    while (next_line(&a, &a_over, &x) && next_line(&b, &b_over, &y)) {
        line++;
        if ((x.n != y.n || memcmp(x.s, y.s, x.n)) && !numbers_equal(x, y))
            return line;
    }
    return n_a == n_b ? 0 : line + 1;
}

/* ---- values */

/* How values stand in what jansson reads: a text has TEXT_MARK in front, and an integer of so many digits
 * that 64 bits may not hold it is a text of these behind WHOLE_MARK. */
enum { TEXT_MARK = 't', WHOLE_MARK = 'i', LARGE_DIGITS = 19 };

static int is_large(const json_t *v)
{
    return json_is_string(v) && *json_string_value(v) == WHOLE_MARK;
}

/* The digits of a double that is whole are exact; there are at most 309. */
static int large_equal(const json_t *a, const json_t *b)
{
    const json_t *large = is_large(a) ? a : b, *other = large == a ? b : a;
    char digits[400] = "";
    if (is_large(other))
        return json_equal(a, b);
    if (json_is_real(other) && json_real_value(other) == floor(json_real_value(other)))
        snprintf(digits, sizeof digits, "%.0f", json_real_value(other));
    return !strcmp(json_string_value(large) + 1, digits);
}

/* Integers of Python have no bound and compare exactly with floats. */
static int number_equal(const json_t *a, const json_t *b)
{
    if (is_large(a) || is_large(b))
        return large_equal(a, b);
    if (json_is_real(a) && json_is_real(b))
        return json_real_value(a) == json_real_value(b);
    if (!json_is_real(a) && !json_is_real(b)) { /* true is 1 */
        json_int_t x = json_is_integer(a) ? json_integer_value(a) : json_is_true(a);
        json_int_t y = json_is_integer(b) ? json_integer_value(b) : json_is_true(b);
        return x == y;
    }
    const json_t *real = json_is_real(a) ? a : b, *whole = real == a ? b : a;
    json_int_t x = json_is_integer(whole) ? json_integer_value(whole) : json_is_true(whole);
    double d = json_real_value(real);
    return d >= -9223372036854775808.0 && d < 9223372036854775808.0 && (json_int_t)d == x &&
           (double)(json_int_t)d == d;
}

static int is_number(const json_t *v)
{
    return json_is_number(v) || json_is_boolean(v) || is_large(v);
}

/* jansson reads no deeper than 2,048 levels. */
static int value_equal(const json_t *a, const json_t *b)
{
    if (is_number(a) && is_number(b))
        return number_equal(a, b);
    if (json_typeof(a) != json_typeof(b))
        return 0;
    if (json_is_array(a)) {
        int equal = json_array_size(a) == json_array_size(b);
        for (size_t i = 0; equal && i < json_array_size(a); i++)
            equal = value_equal(json_array_get(a, i), json_array_get(b, i));
        return equal;
    }
    if (json_is_object(a)) {
        const char *key;
        json_t *x;
        int equal = json_object_size(a) == json_object_size(b);
        json_object_foreach((json_t *)a, key, x)
        {
            const json_t *y = equal ? json_object_get(b, key) : NULL;
            equal = y && value_equal(x, y);
        }
        return equal;
    }
    return json_equal(a, b);
}

/* The byte behind the text that begins with the quote at i. */
static size_t end_of_string(struct text t, size_t i)
{
    for (i++; i < t.n && t.s[i] != '"'; i++)
        i += t.s[i] == '\\';
    return i < t.n ? i + 1 : t.n;
}

/* Is the number an integer of at least LARGE_DIGITS digits? */
static int is_large_number(struct text t)
{
    size_t sign = t.n && *t.s == '-', i = sign;
    while (i < t.n && t.s[i] >= '0' && t.s[i] <= '9')
        i++;
    return i == t.n && i - sign >= LARGE_DIGITS && t.s[sign] != '0';
}

static json_t *read_value(struct text t)
{
    struct str marked = {0};
    for (size_t i = 0, end; i < t.n; i = end) {
        end = i + 1;
        if (t.s[i] == '"') {
            end = end_of_string(t, i);
            str_printf(&marked, "\"%c", TEXT_MARK);
            str_add(&marked, t.s + i + 1, end - i - 1);
            continue;
        }
        while (strchr("+-.0123456789eE", t.s[i]) && t.s[i] && end < t.n && t.s[end] &&
               strchr("+-.0123456789eE", t.s[end]))
            end++;
        struct text number = {t.s + i, end - i};
        if (is_large_number(number))
            str_printf(&marked, "\"%c%.*s\"", WHOLE_MARK, (int)number.n, number.s);
        else
            str_add(&marked, number.s, number.n);
    }
    json_t *v = json_loadb(str_text(&marked), marked.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    str_release(&marked);
    return v;
}

/* NaN is equal to nothing; in a text it is three letters. */
static int has_nan(struct text t)
{
    for (size_t i = 0; i < t.n; i = t.s[i] == '"' ? end_of_string(t, i) : i + 1)
        if (t.n - i >= 3 && !memcmp(t.s + i, "NaN", 3))
            return 1;
    return 0;
}

int code_value_equal(const char *got, size_t n_got, const char *want, size_t n_want)
{
    struct text a = strip((struct text){got, n_got}), b = strip((struct text){want, n_want});
    if (a.n == b.n && !memcmp(a.s, b.s, a.n)) /* also what jansson does not read: Infinity */
        return !has_nan(a);
    json_t *x = read_value(a), *y = read_value(b);
    int equal = x && y && value_equal(x, y);
    json_decref(x);
    json_decref(y);
    return equal;
}
