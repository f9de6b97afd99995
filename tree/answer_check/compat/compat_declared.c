/* The declarations that every target looks for, each with its own reader of what is declared:
 * "final answer is X. I hope", "final answer to your question is X", "answer: .. X", "answer .. X"; and the
 * letters. */
#include "answer_check/compat/compat.h"

int compat_skip_hope(struct span t, size_t *end)
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

/* Matches what the pattern reads behind an "is" in reach of i. */
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

/* The end of the words, given in lower case, at i; 0 if they are not there. */
static size_t words_end(const struct compat_text *t, size_t i, const char *words)
{
    return compat_at_folded(t->t, i, words) ? i + strlen(words) : 0;
}

int compat_pattern_at(const struct compat_pattern *p, struct compat_text *t, size_t i,
                      struct compat_match *out)
{
    size_t end;
    switch (p->start) {
    case COMPAT_FINAL_HOPE:
        end = words_end(t, i, "final answer is");
        return end && p->read(t, end + (size_t)span_at(t->t, end, ":"), out);
    case COMPAT_FINAL_IS:
    case COMPAT_FINAL_IS_ON_LINE:
        end = words_end(t, i, "final answer");
        return end && behind_is(p, t, end, out);
    case COMPAT_ANSWER_COLON:
        end = words_end(t, i, "answer:");
        return end && p->read(t, end, out);
    case COMPAT_ANSWER:
        end = words_end(t, i, "answer");
        return end && p->read(t, end, out);
    default:
        return p->read(t, i, out);
    }
}

/* ---- the letters A to D standing alone, as the String target finds them */

static int letter_at(struct span t, size_t i, struct compat_match *out)
{
    if (i >= t.n || t.s[i] < 'A' || t.s[i] > 'D')
        return 0;
    out->letter = (struct span){t.s + i, 1};
    out->end = i + 1;
    return 1;
}

/* A letter, perhaps with "**" behind it, and what must follow: a mark, a blank or the end. */
static int closed_letter(struct span t, size_t i, struct compat_match *out)
{
    if (!letter_at(t, i, out))
        return 0;
    for (int bold = span_at(t, i + 1, "**"); bold >= 0; bold--) {
        size_t k = i + 1 + (bold ? 2 : 0), blank = compat_space(t, k);
        if (k == t.n || blank || t.s[k] == '.' || t.s[k] == ',' || t.s[k] == ':') {
            out->end = k == t.n ? k : blank ? k + blank : k + 1;
            return 1;
        }
    }
    return 0;
}

/* The text's start or a blank, perhaps "**", then a letter. */
static int standing_letter(struct span t, size_t i, struct compat_match *out)
{
    for (int k = i == 0 ? 0 : 1; k < 2; k++) {
        size_t p = k ? i + compat_space(t, i) : i;
        if (k && p == i)
            break;
        if ((span_at(t, p, "**") && closed_letter(t, p + 2, out)) || closed_letter(t, p, out))
            return 1;
    }
    return 0;
}

static int behind_blanks(struct compat_text *t, size_t i, struct compat_match *out)
{
    return letter_at(t->t, compat_skip_space(t->t, i), out);
}

static int letter_with_hope(struct compat_text *t, size_t i, struct compat_match *out)
{
    return behind_blanks(t, i, out) && compat_skip_hope(t->t, &out->end);
}

/* The nearest letter that begins at most 50 characters behind i, on the same line. */
static int within_50(struct compat_text *t, size_t i, struct compat_match *out)
{
    for (int gap = 0; gap <= 50 && i < t->t.n; gap++, i = compat_next(t->t, i)) {
        if (standing_letter(t->t, i, out))
            return 1;
        if (t->t.s[i] == '\n')
            break;
    }
    return 0;
}

static int first_letter(struct compat_text *t, size_t i, struct compat_match *out)
{
    return i == 0 && ((span_at(t->t, 0, "**") && closed_letter(t->t, 2, out)) || closed_letter(t->t, 0, out));
}

static int any_letter(struct compat_text *t, size_t i, struct compat_match *out)
{
    return standing_letter(t->t, i, out);
}

int compat_string_patterns(struct compat_pattern *out)
{
    out[0] = (struct compat_pattern){letter_with_hope, 0, COMPAT_FINAL_HOPE, 0};
    out[1] = (struct compat_pattern){behind_blanks, 50, COMPAT_FINAL_IS_ON_LINE, 0};
    out[2] = (struct compat_pattern){within_50, 100, COMPAT_ANSWER_COLON, 0};
    out[3] = (struct compat_pattern){within_50, 200, COMPAT_ANSWER, 0};
    out[4] = (struct compat_pattern){first_letter, 250, COMPAT_BLANK, 0};
    out[5] = (struct compat_pattern){any_letter, 300, COMPAT_BLANK, 0};
    return 6;
}
