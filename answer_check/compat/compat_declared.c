/* The declarations that every target looks for, each with its own reader of what is declared:
 * "final answer is X. I hope", "final answer to your question is X", "answer: .. X", "answer .. X". */
#include "answer_check/compat/compat.h"

int compat_hope(struct span t, size_t *end)
{
    size_t i = *end + (size_t)span_at(t, *end, ".");
    i += compat_space(t, i);
    if (!span_at(t, i, "I hope"))
        return 0;
    *end = i + 6;
    return 1;
}

/* Finds the "is" behind "final answer": the blank before it is at most 100 characters away, and a colon
 * may follow it. Called first with *i behind "final answer" and *gap 0; each call returns where the next
 * "is" ends and moves both on, or returns 0 when there is no further one. */
static size_t next_is(struct span t, size_t *i, int *gap, int same_line)
{
    enum { REACH = 100 };
    while (*gap <= REACH && *i < t.n) {
        size_t at = *i, word = compat_skip_space(t, at);
        if (word == at) {
            *i = compat_next(t, at);
            ++*gap;
            continue;
        }
        int within = 1; /* at least one of the blanks before the word must be in reach */
        for (size_t k = at; same_line && k < word; k++)
            within &= t.s[k] != '\n';
        *gap = within ? *gap + (int)compat_length((struct span){t.s + at, word - at}) : REACH + 1;
        *i = word;
        if (span_at(t, word, "is"))
            return word + 2 + (size_t)span_at(t, word + 2, ":");
    }
    return 0;
}

static int behind_is(const struct compat_pattern *p, struct compat_text *t, size_t i,
                     struct compat_match *out)
{
    size_t is;
    int gap = 0;
    while ((is = next_is(t->t, &i, &gap, p->start == COMPAT_FINAL_IS_ON_LINE)))
        if (p->read(t, is, out))
            return 1;
    return 0;
}

/* The end of `words`, given in lower case, at i; 0 when they are not there. */
static size_t behind(const struct compat_text *t, size_t i, const char *words)
{
    return compat_at_folded(t->t, i, words) ? i + strlen(words) : 0;
}

int compat_pattern_at(const struct compat_pattern *p, struct compat_text *t, size_t i,
                      struct compat_match *out)
{
    size_t end;
    switch (p->start) {
    case COMPAT_FINAL_HOPE:
        end = behind(t, i, "final answer is");
        return end && p->read(t, end + (size_t)span_at(t->t, end, ":"), out);
    case COMPAT_FINAL_IS:
    case COMPAT_FINAL_IS_ON_LINE:
        end = behind(t, i, "final answer");
        return end && behind_is(p, t, end, out);
    case COMPAT_ANSWER_COLON:
        end = behind(t, i, "answer:");
        return end && p->read(t, end, out);
    case COMPAT_ANSWER:
        end = behind(t, i, "answer");
        return end && p->read(t, end, out);
    default:
        return p->read(t, i, out);
    }
}
