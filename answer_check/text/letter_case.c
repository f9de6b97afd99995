#include "answer_check/text/letter_case.h"

#include <string.h>

/* The next run of letters from *i on that is no command; empty at the end. */
static struct span next_word(struct span t, size_t *i)
{
    while (*i < t.n && !ascii_is_letter(t.s[*i])) {
        size_t skipped = 1;
        if (t.s[*i] == '\\')
            while (*i + skipped < t.n && ascii_is_letter(t.s[*i + skipped]))
                skipped++;
        *i += skipped;
    }
    size_t from = *i;
    while (*i < t.n && ascii_is_letter(t.s[*i]))
        ++*i;
    return (struct span){t.s + from, *i - from};
}

static int is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Short words of English, which are no symbols. */
static int is_short_word(struct span word)
{
    static const char words[] = " no ok or an is in on at of to up so it he we go do my by as if ";
    char key[] = {' ', ascii_lower(word.s[0]), word.n > 1 ? ascii_lower(word.s[1]) : ' ', ' ', '\0'};
    return word.n == 2 && strstr(words, key) != NULL;
}

static int is_symbol(struct span word)
{
    if (word.n <= 2)
        return !is_short_word(word);
    for (size_t i = 1; i < word.n; i++)
        if (is_capital(word.s[i]) && !is_capital(word.s[i - 1]))
            return 1;
    return 0;
}

int letter_case_differs(struct span a, struct span b)
{
    for (size_t i = 0, k = 0;;) {
        struct span x = next_word(a, &i), y = next_word(b, &k);
        if (!x.n || x.n != y.n)
            return 0;
        int same = !memcmp(x.s, y.s, x.n), folded = 1;
        for (size_t c = 0; c < x.n; c++)
            folded &= ascii_lower(x.s[c]) == ascii_lower(y.s[c]);
        if (!folded)
            return 0; /* other words: nothing to say */
        if (!same && (is_symbol(x) || is_symbol(y)))
            return 1;
    }
}
