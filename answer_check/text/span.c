/* Trimming and comparing pieces of text (contract: span.h). */
#include "answer_check/text/span.h"

struct span span_trim(struct span s)
{
    while (s.n && ascii_is_space(s.s[0])) {
        s.s++;
        s.n--;
    }
    while (s.n && ascii_is_space(s.s[s.n - 1]))
        s.n--;
    return s;
}

struct span span_end(struct span s, size_t max)
{
    if (s.n > max)
        s = span_trim(s);
    return s.n > max ? (struct span){s.s + s.n - max, max} : s;
}

int span_starts(struct span s, const char *lower)
{
    for (size_t i = 0; lower[i]; i++)
        if (i >= s.n || ascii_lower(s.s[i]) != lower[i])
            return 0;
    return 1;
}

const char *span_find(struct span s, const char *text)
{
    size_t n = strlen(text);
    if (s.n < n)
        return NULL;
    const char *p = s.s, *last = s.s + s.n - n;
    while (p <= last && (p = memchr(p, text[0], (size_t)(last - p) + 1)))
        do /* a run of the first byte is not looked for anew */
            if (p[1] == text[1] && !memcmp(p, text, n))
                return p;
        while (++p <= last && *p == text[0]);
    return NULL;
}
