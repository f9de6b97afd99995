/* Splits a response into thinking and answer section, and says what a response without an answer is called.
 *
 * The answer section starts after the LAST </think>. A <think> that no </think> follows means that the model
 * was still thinking when it stopped: whatever it had written by then is not an answer. */
#include "answer_check/verdict/response.h"

#include <string.h>

int response_answer(const struct response *r, const char **text, size_t *len)
{
    const struct span all = {r->text, r->len};
    *text = r->text;
    *len = r->len;
    if (r->thinking == THINKING_NONE || !r->len)
        return r->thinking == THINKING_OPEN;
    for (size_t i = r->len; i-- > 0;) { /* the last tag of either kind decides */
        if (r->text[i] != '<')
            continue;
        if (span_at(all, i, "<think>"))
            return 1;
        if (span_at(all, i, "</think>")) {
            size_t skip = i + strlen("</think>");
            *text += skip;
            *len -= skip;
            return 0;
        }
    }
    return r->thinking == THINKING_OPEN;
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
