/* Python's character classes (code_points.h) at a place in UTF-8 text (contract: python_regex.h). */
#include "answer_check/text/python_regex.h"

#include <utf8proc.h>

#include "answer_check/text/code_points.h"

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
