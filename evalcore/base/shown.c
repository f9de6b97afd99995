/* Text that a terminal may show (contract: shown.h). */
#include "evalcore/base/shown.h"

#include <string.h>

int shown_turns(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;
    return c[0] == 0xE2 &&
           ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) || (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

int shown_next(const char *s, const char *end, char out[5])
{
    int n = 1;
    unsigned char c = (unsigned char)*s;
    while (s + n < end && n < 4 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    memcpy(out, s, (size_t)n);
    out[n] = 0;
    if (c < 0x20 || c == 0x7F || (c == 0xC2 && n == 2 && (unsigned char)s[1] < 0xA0))
        memcpy(out, " ", 2);
    else if (n == 3 && shown_turns(s))
        memcpy(out, "\xEF\xBF\xBD", 4);
    return n;
}

void shown_add(struct str *out, const char *text, size_t n)
{
    struct str clean = {0};
    char c[5];
    str_add_utf8(&clean, text, n);
    for (const char *p = str_text(&clean), *end = p + clean.len; p < end;) {
        p += shown_next(p, end, c);
        str_puts(out, c);
    }
    str_release(&clean);
}
