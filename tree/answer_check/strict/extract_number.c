/* The last number of a response that states its answer in no other way; and what is money, or the end of a
 * proof. A number inside a formula is no answer: where the formula could not be read, a part of it must not
 * stand for it. */
#include "answer_check/strict/extract.h"

#include <string.h>

int extract_is_money(struct span s, size_t i, int cut_behind)
{
    size_t j = i + 1;
    while (j < s.n && (ascii_is_digit(s.s[j]) || s.s[j] == '.' || s.s[j] == ','))
        j++;
    return j > i + 1 && (j < s.n ? !strchr("\\^_{}+-*/=", s.s[j]) : !cut_behind);
}

int extract_is_amount(struct span s, size_t open, size_t close)
{
    int run = 0, words = 0, depth = 0;
    if (close + 1 < s.n && ascii_is_digit(s.s[close + 1]) && extract_is_money(s, open, 0))
        return 1;
    for (size_t i = open + 1; i < close; i++) { /* two words side by side, none of them a command */
        char c = s.s[i];
        depth += (c == '{') - (c == '}');
        if (c == '\\')
            return 0;
        run = ascii_is_letter(c) && depth <= 0 ? run + 1 : 0;
        words += run == 3;
        if (!ascii_is_letter(c) && c != ' ')
            words = 0;
        if (words > 1)
            return 1;
    }
    return 0;
}

/* \blacksquare, \square, QED: not an answer. */
int extract_is_end_of_proof(struct span s)
{
    static const char *const marks[] = {
        "\\blacksquare", "\\square",     "\\Box",        "\\qed",        "\\qedsymbol",  "q.e.d.",      "qed",
        "qed.",          "\xe2\x88\x8e", "\xe2\x96\xa0", "\xe2\x96\xa1", "\xe2\x97\xbb", "\xe2\x97\xbc"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strlen(marks[i]) == s.n &&
            (!memcmp(s.s, marks[i], s.n) || (s.s[0] != '\\' && span_starts(s, marks[i]))))
            return 1;
    return 0;
}

/* The end of the formula that starts at i, or i. A kind of formula that once did not close is not tried
 * again, so that a flood of openers costs one pass. */
static size_t formula_end(struct span s, size_t i, unsigned *open_kinds)
{
    static const char *const pairs[][2] = {{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};
    for (unsigned k = 0; k < 4; k++) {
        size_t n = strlen(pairs[k][0]);
        if (s.n - i < n || memcmp(s.s + i, pairs[k][0], n) != 0)
            continue;
        if (*open_kinds >> k & 1)
            return i;
        const char *close = memmem(s.s + i + n, s.n - i - n, pairs[k][1], n);
        if (close && k == 1 && extract_is_amount(s, i, (size_t)(close - s.s)))
            return i;
        if (close)
            return (size_t)(close - s.s) + n;
        *open_kinds |= 1u << k;
        return i;
    }
    return i;
}

/* Do a comma and exactly three digits stand at i? */
static int groups_of_three(struct span s, size_t i)
{
    return s.n - i >= 4 && s.s[i] == ',' && ascii_is_digit(s.s[i + 1]) && ascii_is_digit(s.s[i + 2]) &&
           ascii_is_digit(s.s[i + 3]) && (s.n - i == 4 || !ascii_is_digit(s.s[i + 4]));
}

/* The number at i, with sign, thousands, decimals, a fraction bar and a percent sign. */
static size_t number_end(struct span s, size_t i)
{
    size_t j = i;
    while (j < s.n && (ascii_is_digit(s.s[j]) || groups_of_three(s, j)))
        j += s.s[j] == ',' ? 4 : 1;
    if (j + 1 < s.n && s.s[j] == '.' && ascii_is_digit(s.s[j + 1])) {
        j++;
        while (j < s.n && ascii_is_digit(s.s[j]))
            j++;
    }
    if (j + 1 < s.n && s.s[j] == '/' && ascii_is_digit(s.s[j + 1])) {
        j++;
        while (j < s.n && ascii_is_digit(s.s[j]))
            j++;
    }
    return j < s.n && s.s[j] == '%' ? j + 1 : j;
}

/* Program text ("open('x').write(..) or 0") answers nothing: anywhere, or in the line of the number. */
static int is_code(struct span s)
{
    static const char *const marks[] = {"__", "('", "(\"", "lambda", "import "};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (memmem(s.s, s.n, marks[k], strlen(marks[k])))
            return 1;
    return 0;
}

/* Does the number's line look like program text? */
static int is_code_line(struct span s, struct span number)
{
    static const char *const marks[] = {"()", "['", "[\"", "(['", "print(", "\\input{", "DROP TABLE"};
    const char *from = number.s, *to = number.s + number.n;
    while (from > s.s && from[-1] != '\n')
        from--;
    while (to < s.s + s.n && *to != '\n')
        to++;
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (memmem(from, (size_t)(to - from), marks[k], strlen(marks[k])))
            return 1;
    return 0;
}

int extract_last_number(struct span *out, struct span s)
{
    unsigned open_kinds = 0;
    int found = 0;
    if (is_code(s))
        return 0;
    for (size_t i = 0; i < s.n;) {
        size_t end = formula_end(s, i, &open_kinds);
        if (end > i) {
            i = end;
        } else if (ascii_is_letter(s.s[i]) || s.s[i] == '_' || s.s[i] == '^') { /* x2, 10^5, Theorem_3 */
            while (i < s.n && (ascii_is_letter(s.s[i]) || ascii_is_digit(s.s[i]) || strchr("_^{}", s.s[i])))
                i++;
        } else if (ascii_is_digit(s.s[i]) || (s.s[i] == '.' && i + 1 < s.n && ascii_is_digit(s.s[i + 1]))) {
            size_t from = i;
            if (from && s.s[from - 1] == '-' && (from < 2 || !ascii_is_digit(s.s[from - 2])))
                from--;
            end = s.s[i] == '.' ? number_end(s, i + 1) : number_end(s, i);
            *out = (struct span){s.s + from, end - from};
            found = 1;
            i = end;
        } else {
            i++;
        }
    }
    return found && !is_code_line(s, *out);
}
