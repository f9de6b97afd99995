/* Finds the tags in which an answer stands by itself (contract: extract.h). */
#include "answer_check/strict/extract.h"

#include <string.h>

/* The length of the tag at i in which an answer stands, "<answer>", "[ANSWER]", "<answer type=..>", and its
 * name; 0 where there is none. */
static size_t tag_length(struct span *name, struct span s, size_t i)
{
    static const char *const names[] = {"answer",   "final_answer", "finalanswer", "final-answer",
                                        "ans",      "final",        "result",      "final_result",
                                        "solution", "output",       "conclusion",  "response"};
    enum { ATTRIBUTES_MAX = 40 };
    char close = s.s[i] == '[' ? ']' : '>';
    size_t from = i + 1, end = from;
    while (end < s.n && (ascii_is_letter(s.s[end]) || s.s[end] == '_' || s.s[end] == '-'))
        end++;
    *name = (struct span){s.s + from, end - from};
    char first = name->n ? ascii_lower(name->s[0]) : 0;
    for (size_t k = 0; first && k < sizeof names / sizeof *names; k++) {
        if (first != names[k][0] || name->n != strlen(names[k]) || !span_starts(*name, names[k]) ||
            (close == ']' && k > 4))
            continue;
        for (size_t j = end; j < s.n && j - end < ATTRIBUTES_MAX && (j == end || ascii_is_space(s.s[end]));
             j++)
            if (s.s[j] == close)
                return j + 1 - i;
            else if (close == ']' || strchr("<\n", s.s[j]))
                break;
    }
    return 0;
}

/* Does the tag of that name close at i: "</answer>", "[/ANSWER]"? */
static int closes_tag(struct span s, size_t i, struct span name)
{
    struct span rest = {s.s + i + 2, s.n - i > 2 ? s.n - i - 2 : 0};
    if (rest.n <= name.n || s.s[i + 1] != '/' || (rest.s[name.n] != '>' && rest.s[name.n] != ']'))
        return 0;
    for (size_t k = 0; k < name.n; k++)
        if (ascii_lower(rest.s[k]) != ascii_lower(name.s[k]))
            return 0;
    return 1;
}

int extract_tag(struct span *content, int *is_closed, struct span s, size_t i)
{
    struct span name;
    size_t n = tag_length(&name, s, i), from = i + n, end;
    if (!n)
        return 0;
    for (end = from; end < s.n && end - from < DECLARED_MAX; end++)
        if (s.s[end] == s.s[i] && closes_tag(s, end, name))
            break;
    *is_closed = end < s.n && s.s[end] == s.s[i];
    if (!*is_closed && end < s.n)
        return 0;
    *content = span_trim((struct span){s.s + from, end - from});
    if (content->n > 2 && content->s[0] == '<' && ascii_is_letter(content->s[1])) { /* a tag in the tag */
        const char *inner = memchr(content->s, '>', content->n);
        struct span rest =
            inner ? (struct span){inner + 1, content->n - (size_t)(inner + 1 - content->s)} : *content;
        const char *close = memmem(rest.s, rest.n, "</", 2);
        *content = (struct span){rest.s, close ? (size_t)(close - rest.s) : rest.n};
    }
    return content->n > 0;
}
