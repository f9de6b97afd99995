/* Texts as Python sees them (contract: code_points.h), from utf8proc's tables and the few facts that it
 * lacks. */
#include "answer_check/text/code_points.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "evalcore/base/arena.h"

struct range {
    int32_t first, last;
};

/* Is c in one of the ranges? The array ends with an entry that is zero. */
static int in_ranges(const struct range *r, int32_t c)
{
    for (; r->last; r++)
        if (c >= r->first && c <= r->last)
            return 1;
    return 0;
}

int32_t utf8_next(const char *s, size_t n, size_t *at)
{
    utf8proc_int32_t c = 0xfffd;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)s + *at, (utf8proc_ssize_t)(n - *at), &c);
    *at += used > 0 ? (size_t)used : 1;
    return used > 0 ? c : 0xfffd;
}

void utf8_put(struct str *out, int32_t c)
{
    utf8proc_uint8_t bytes[4];
    str_add(out, (const char *)bytes, (size_t)utf8proc_encode_char(c, bytes));
}

void code_points_of(struct code_points *out, const char *s, size_t n)
{
    struct str valid = {0};
    str_add_utf8(&valid, s, n);
    out->c = xmalloc((valid.len + 1) * sizeof *out->c);
    out->n = 0;
    for (size_t i = 0; i < valid.len;)
        out->c[out->n++] = utf8_next(valid.data, valid.len, &i);
    str_release(&valid);
}

void code_points_release(struct code_points *t)
{
    free(t->c);
    *t = (struct code_points){0};
}

int py_is_space(int32_t c)
{
    static const struct range space[] = {{0x09, 0x0d},
                                         {0x1c, 0x20},
                                         {0x85, 0x85},
                                         {0xa0, 0xa0},
                                         {0x1680, 0x1680},
                                         {0x2000, 0x200a},
                                         {0x2028, 0x2029},
                                         {0x202f, 0x202f},
                                         {0x205f, 0x205f},
                                         {0x3000, 0x3000},
                                         {0}};
    return in_ranges(space, c);
}

int py_is_word(int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return 1;
    default:
        return c == '_';
    }
}

int py_is_digit(int32_t c)
{
    return utf8proc_category(c) == UTF8PROC_CATEGORY_ND;
}

int py_is_punctuation(int32_t c)
{
    static const struct range ascii[] = {{0x21, 0x2f}, {0x3a, 0x40}, {0x5b, 0x60}, {0x7b, 0x7e}, {0}};
    return in_ranges(ascii, c);
}

/* The public list has gaps, which are kept here: the full-width full stop and the opening double angle
 * bracket, for instance, are not in it. */
int py_is_zh_punctuation(int32_t c)
{
    static const struct range listed[] = {
        {0x2013, 0x2014}, {0x2018, 0x2019}, {0x201b, 0x201f}, {0x2026, 0x2027},
        {0x3001, 0x3003}, {0x300b, 0x3011}, {0x3014, 0x301f}, {0x3030, 0x3030},
        {0x303e, 0x303f}, {0xfe4f, 0xfe4f}, {0xff01, 0xff0d}, {0xff0f, 0xff0f},
        {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff64}, {0}};
    return py_is_punctuation(c) || in_ranges(listed, c);
}

/* Case_Ignorable: marks, formats, modifiers, and the punctuation that may stand inside a word. */
static int is_case_ignorable(int32_t c)
{
    static const struct range inside[] = {{'\'', '\''},
                                          {'.', '.'},
                                          {':', ':'},
                                          {0xb7, 0xb7},
                                          {0x387, 0x387},
                                          {0x55f, 0x55f},
                                          {0x5f4, 0x5f4},
                                          {0x2018, 0x2019},
                                          {0x2024, 0x2024},
                                          {0x2027, 0x2027},
                                          {0xfe13, 0xfe13},
                                          {0xfe52, 0xfe52},
                                          {0xfe55, 0xfe55},
                                          {0xff07, 0xff07},
                                          {0xff0e, 0xff0e},
                                          {0xff1a, 0xff1a},
                                          {0}};
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return 1;
    default:
        return in_ranges(inside, c);
    }
}

/* Cased: letters with case, and the ordinals, Roman numerals and enclosed letters of Other_Lowercase and
 * Other_Uppercase (their modifier letters are case-ignorable, so this function is never asked about them). */
static int is_cased(int32_t c)
{
    static const struct range other[] = {
        {0xaa, 0xaa},       {0xba, 0xba},       {0x2160, 0x217f},   {0x24b6, 0x24e9},
        {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}, {0}};
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
        return 1;
    default:
        return in_ranges(other, c);
    }
}

/* The lower-case sigma for the capital one at i. cased_before: the nearest character before i that is not
 * ignorable is cased. *after only moves forward, so that even a text of ignorable characters and sigmas
 * takes one pass. */
static int32_t lower_sigma(const struct code_points *t, size_t i, int cased_before, size_t *after)
{
    if (!cased_before)
        return 0x3c3;
    if (*after <= i)
        *after = i + 1;
    while (*after < t->n && is_case_ignorable(t->c[*after]))
        ++*after;
    return *after < t->n && is_cased(t->c[*after]) ? 0x3c3 : 0x3c2;
}

void code_points_lower(struct code_points *out, const struct code_points *t)
{
    int cased_before = 0;
    size_t after = 0; /* the first character behind i that is not ignorable, once it was looked for */
    out->c = xmalloc((2 * t->n + 1) * sizeof *out->c);
    out->n = 0;
    for (size_t i = 0; i < t->n; i++) {
        int32_t c = t->c[i];
        if (c == 0x3a3) {
            out->c[out->n++] = lower_sigma(t, i, cased_before, &after);
        } else if (c == 0x130) {
            out->c[out->n++] = 'i';
            out->c[out->n++] = 0x307;
        } else {
            out->c[out->n++] = utf8proc_tolower(c);
        }
        if (!is_case_ignorable(c))
            cased_before = is_cased(c);
    }
}

/* ---- places in UTF-8 text ---- */

/* The character at byte i, or -1 for the end and for invalid UTF-8; *used is its length in bytes, 0 at the
 * end. */
static utf8proc_int32_t decode_character(const char *s, size_t n, size_t i, size_t *used)
{
    utf8proc_int32_t c = 0;
    if (i >= n) {
        *used = 0;
        return -1;
    }
    if ((unsigned char)s[i] < 0x80) {
        *used = 1;
        return s[i];
    }
    utf8proc_ssize_t got =
        utf8proc_iterate((const utf8proc_uint8_t *)s + i, n - i < 4 ? (utf8proc_ssize_t)(n - i) : 4, &c);
    *used = got > 0 ? (size_t)got : 1;
    return got > 0 ? c : -1;
}

size_t python_char(const char *s, size_t n, size_t i)
{
    size_t used;
    decode_character(s, n, i, &used);
    return used;
}

size_t python_skip_space(const char *s, size_t n, size_t i)
{
    size_t used;
    while (py_is_space(decode_character(s, n, i, &used)))
        i += used;
    return i;
}

int python_is_space(const char *s, size_t n, size_t i)
{
    size_t used;
    return py_is_space(decode_character(s, n, i, &used));
}

int python_is_word(const char *s, size_t n, size_t i)
{
    size_t used;
    return py_is_word(decode_character(s, n, i, &used));
}

int python_word_before(const char *s, size_t i)
{
    size_t start = i, used;
    while (start && i - start < 4 && ((unsigned char)s[--start] & 0xc0) == 0x80)
        continue;
    if (start == i)
        return 0;
    utf8proc_int32_t c = decode_character(s, i, start, &used);
    return start + used == i && py_is_word(c);
}
