/* Splits a response into thinking and answer section, and says what a response without an answer is called.
 *
 * The answer section starts after the LAST </think>. A <think> that no </think> follows means that the model
 * was still thinking when it stopped: whatever it had written by then is not an answer. */
#include "answer_check/response.h"

#include <string.h>

char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

int ascii_is_letter(char c)
{
    c = ascii_lower(c);
    return c >= 'a' && c <= 'z';
}

int ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int ascii_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

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

int span_starts(struct span s, const char *lower)
{
    size_t n = strlen(lower);
    if (s.n < n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (ascii_lower(s.s[i]) != lower[i])
            return 0;
    return 1;
}

/* Start of the last occurrence of tag, or -1. */
static long last_tag(const char *text, size_t len, const char *tag)
{
    size_t n = strlen(tag);
    for (size_t i = len; i >= n; i--)
        if (text[i - n] == '<' && !memcmp(text + i - n, tag, n))
            return (long)(i - n);
    return -1;
}

int response_answer(const struct response *r, const char **text, size_t *len)
{
    *text = r->text;
    *len = r->len;
    if (r->thinking == THINKING_NONE || !r->len)
        return r->thinking == THINKING_OPEN;
    long open = last_tag(r->text, r->len, "<think>");
    long close = last_tag(r->text, r->len, "</think>");
    if (open > close || (close < 0 && r->thinking == THINKING_OPEN))
        return 1;
    if (close >= 0) {
        size_t skip = (size_t)close + strlen("</think>");
        *text += skip;
        *len -= skip;
    }
    return 0;
}

int grade_set(struct grade *out, enum verdict v, const char *reason)
{
    *out = (struct grade){.verdict = v, .reason = reason, .gold_form = "", .pred_form = ""};
    out->score = v == VERDICT_CORRECT;
    return 0;
}

int grade_no_answer(struct grade *out, const struct response *r)
{
    if (r->finish == FINISH_LENGTH)
        return grade_set(out, VERDICT_TRUNCATED, "The length limit came before an answer.");
    return grade_set(out, VERDICT_UNPARSED, "No answer could be read from the answer section.");
}

int grade_section(struct grade *out, const struct response *r, struct span *section)
{
    if (response_answer(r, &section->s, &section->n)) {
        grade_set(out, VERDICT_UNFINISHED, "Thinking was opened and never closed.");
        return 1;
    }
    return 0;
}

const char *grade_form(struct arena *a, const char *text, size_t n)
{
    enum { FORM_MAX = 200 };
    if (n <= FORM_MAX)
        return arena_strndup(a, text, n);
    n = FORM_MAX - 3;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return arena_printf(a, "%.*s...", (int)n, text);
}
