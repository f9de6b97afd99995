/* What looks like a formula or an answer and is none: money, the end of a proof, program text. */
#include "answer_check/strict/extract.h"

#include <string.h>

int extract_is_money(struct span s, size_t i, int cut_behind)
{
    size_t j = i + 1;
    while (j < s.n && (ascii_is_digit(s.s[j]) || s.s[j] == '.' || s.s[j] == ','))
        j++;
    if (j < s.n && s.s[j] == '*') /* a mark of Markdown, "**$18**" */
        j += span_at(s, j, "**") ? 2 : 1;
    if (j < s.n && j > i + 1 && s.s[j - 1] == '*')
        return ascii_is_space(s.s[j]) || strchr(".,;:!?)", s.s[j]);
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

/* Program text ("open('x').write(..) or 0") answers nothing. */
int extract_is_program(struct span s)
{
    static const char *const marks[] = {"__", "('",  "(\"", "lambda", "import ",  "()",
                                        "['", "[\"", "(['", "print(", "\\input{", "DROP TABLE"};
    static const unsigned char may_begin[256] = {
        ['_'] = 1, ['('] = 1, ['l'] = 1, ['i'] = 1, ['['] = 1, ['p'] = 1, ['\\'] = 1, ['D'] = 1};
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; may_begin[(unsigned char)s.s[i]] && k < sizeof marks / sizeof *marks; k++)
            if (span_at(s, i, marks[k]))
                return 1;
    return 0;
}
