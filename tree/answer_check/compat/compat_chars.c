/* Characters as the original's patterns see them: code points, with Unicode's white space. */
#include "answer_check/compat/compat.h"

#include <string.h>

size_t compat_next(struct span t, size_t i)
{
    unsigned char c = (unsigned char)t.s[i];
    size_t n = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
    for (size_t k = 1; k < n; k++)
        if (i + k >= t.n || ((unsigned char)t.s[i + k] & 0xc0) != 0x80)
            return i + 1;
    return i + n;
}

size_t compat_space(struct span t, size_t i)
{
    if (i >= t.n)
        return 0;
    const unsigned char *p = (const unsigned char *)t.s + i;
    if (p[0] < 0x80)
        return p[0] == ' ' || (p[0] >= 9 && p[0] <= 13) || (p[0] >= 0x1c && p[0] <= 0x1f);
    size_t left = t.n - i;
    if (left >= 2 && p[0] == 0xc2)
        return p[1] == 0x85 || p[1] == 0xa0 ? 2 : 0;
    if (left < 3)
        return 0;
    unsigned c = (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    if (p[0] < 0xe1 || p[0] > 0xe3)
        return 0;
    return c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
                   c == 0x205f || c == 0x3000
               ? 3
               : 0;
}

size_t compat_skip_space(struct span t, size_t i)
{
    for (size_t n; (n = compat_space(t, i));)
        i += n;
    return i;
}

struct span compat_trim(struct span s)
{
    size_t i = compat_skip_space(s, 0), end = i;
    for (size_t k = i; k < s.n; k = compat_next(s, k))
        if (!compat_space(s, k))
            end = compat_next(s, k);
    return (struct span){s.s + i, end - i};
}

int compat_at_folded(struct span t, size_t i, const char *lower)
{
    return i <= t.n && span_starts((struct span){t.s + i, t.n - i}, lower);
}

size_t compat_length(struct span t)
{
    size_t n = 0;
    for (size_t i = 0; i < t.n; i = compat_next(t, i))
        n++;
    return n;
}

struct span compat_move_str(struct str *s, struct arena *a)
{
    struct span out = {arena_strndup(a, str_text(s), s->len), s->len};
    str_release(s);
    return out;
}

size_t compat_digits(struct span t, size_t i)
{
    while (i < t.n && ascii_is_digit(t.s[i]))
        i++;
    return i;
}

size_t compat_percent(struct span t, size_t i)
{
    if (span_at(t, i, "%"))
        return 1;
    if (i >= t.n || ascii_lower(t.s[i]) != 'p')
        return 0;
    return span_at(t, i + 1, "ercent") ? 7 : span_at(t, i + 1, "ct") ? 3 : 0;
}
