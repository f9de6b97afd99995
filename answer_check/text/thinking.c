/* The answer section of a response: where thinking ends (contract: grade.h). The section starts behind the
 * LAST mark that ends thinking. A mark that opens it and that no such mark follows means that the model was
 * still thinking when it stopped: whatever it had written by then is not an answer. */
#include "answer_check/text/response.h"
#include "evalcore/base/thinking_marks.h"

#include <string.h>

/* Words in front of thinking at the start of a response, and those that end it. */
static const char *const sayings[][2] = {
    {"Here is my thought process:", "Here is my response:"}, /* Granite 3.2 */
    {"Here's my thought process:", "Here's my response:"},
    {"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"}, /* Apriel */
    {"Thinking...", "...done thinking."},                       /* as Ollama prints it */
    {"analysis", "assistantfinal"} /* gpt-oss, whose tokens were not printed: "analysisWe need .." */
};

/* What some families put around an answer, and tokens that end a message, which decoding may leave. */
static const char *const begins[] = {"<|START_RESPONSE|>", "<|begin_of_solution|>"};
static const char *const ends[] = {"<|return|>",
                                   "<|end|>",
                                   "<|im_end|>",
                                   "<|im_start|>user",
                                   "<|im_start|>",
                                   "<|eot_id|>",
                                   "<|eom_id|>",
                                   "<|endoftext|>",
                                   "<|end_of_text|>",
                                   "</s>",
                                   "<end_of_turn>",
                                   "<turn|>",
                                   "<eos>",
                                   "<seed:eos>",
                                   "<|END_RESPONSE|>",
                                   "<|END_OF_TURN_TOKEN|>",
                                   "<|end_of_solution|>",
                                   "<|end_of_sentence|>",
                                   ("<\xef\xbd\x9c"
                                    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>"),
                                   "[END FINAL RESPONSE]"};

/* Does the text end with one of those tokens? What stands before it, or the whole text. */
static struct span before_end(struct span s)
{
    enum { LONGEST = 32 };
    static const char opening[] = {'<', '['}; /* the first bytes of all tokens, of which they hold no other */
    size_t end = s.n, near, from = 0;
    while (end && ascii_is_space(s.s[end - 1]))
        end--;
    if (!end || !strchr(">]r", s.s[end - 1])) /* the last bytes of all tokens */
        return s;
    near = end > LONGEST ? end - LONGEST : 0;
    for (size_t k = 0; k < sizeof opening; k++) {
        const char *found = memrchr(s.s + near, opening[k], end - near);
        if (found && (size_t)(found - s.s) >= from)
            from = (size_t)(found - s.s);
    }
    struct span token = {s.s + from, end - from};
    for (size_t k = 0; token.n > 2 && k < sizeof ends / sizeof *ends; k++)
        if (token.s[1] == ends[k][1] && token.s[2] == ends[k][2] && span_is(token, ends[k]))
            return (struct span){s.s, from};
    return s;
}

/* Drops what begins and ends the message. */
static struct span without_frame(struct span s)
{
    for (struct span before; (before = before_end(s)).n < s.n;) /* another one may stand before it */
        s = before;
    size_t from = 0;
    while (from < s.n && ascii_is_space(s.s[from]))
        from++;
    for (size_t k = 0; k < sizeof begins / sizeof *begins; k++)
        if (span_at(s, from, begins[k])) {
            size_t n = from + strlen(begins[k]);
            return (struct span){s.s + n, s.n - n};
        }
    return s;
}

/* Does the response begin with such words? *start is where the answer section does, or the end of the text.
 */
static int said_thinking(size_t *start, struct span s)
{
    size_t from = 0;
    while (from < s.n && ascii_is_space(s.s[from]))
        from++;
    for (size_t k = 0; k < sizeof sayings / sizeof *sayings; k++) {
        const char *open = sayings[k][0], *close = sayings[k][1], *found = NULL, *next = s.s;
        size_t n = from + strlen(open);
        int is_printed = ascii_is_letter(close[0]) && open[strlen(open) - 1] != ':';
        if (!span_at(s, from, open) ||
            (is_printed && (s.n == n || !ascii_is_letter(s.s[n]) || ascii_lower(s.s[n]) == s.s[n])))
            continue;
        while ((next = memmem(next, s.n - (size_t)(next - s.s), close, strlen(close))))
            found = next += strlen(close);
        *start = found ? (size_t)(found - s.s) : s.n;
        return 1;
    }
    return 0;
}

/* Behind the last such byte before byte `end`, or 0. */
static size_t behind_last(struct span s, size_t end, char c)
{
    if (end && s.s[end - 1] == c)
        return end;
    const char *found = end ? memrchr(s.s, c, end) : NULL;
    return found ? (size_t)(found - s.s) + 1 : 0;
}

/* The last mark before byte `end`: what it is, with *at and *len. */
static enum thinking_mark last_mark(struct span s, size_t end, size_t *at, size_t *len)
{
    static const char first[] = {'<', '[', '\xe2'};
    size_t behind[sizeof first]; /* where each was found, plus one; 0: nowhere */
    for (size_t k = 0; k < sizeof first; k++)
        behind[k] = behind_last(s, end, first[k]);
    for (;;) {
        size_t k = behind[0] > behind[1] ? 0 : 1;
        k = behind[2] > behind[k] ? 2 : k;
        if (!behind[k])
            return THINKING_MARK_NONE;
        enum thinking_mark mark = thinking_mark_at(s.s, s.n, behind[k] - 1, len);
        if (mark != THINKING_MARK_NONE) {
            *at = behind[k] - 1;
            return mark;
        }
        behind[k] = behind_last(s, behind[k] - 1, first[k]);
    }
}

/* What was said between two thoughts, where nothing follows the last one: "</think> 7 <think>..</think>".
 * `at` is the mark that ends the last one. */
static struct span said_before(struct span s, size_t at, int starts_inside)
{
    size_t open, close = 0, len = 0;
    if (last_mark(s, at, &open, &len) != THINKING_MARK_OPENS)
        return (struct span){0};
    if (last_mark(s, open, &close, &len) == THINKING_MARK_CLOSES)
        close += len;
    else if (starts_inside)
        return (struct span){0};
    return span_trim((struct span){s.s + close, open - close});
}

int response_answer(const struct response *r, const char **text, size_t *len)
{
    struct span all = {r->text, r->len};
    size_t start, n;
    *text = r->text;
    *len = r->len;
    if (r->thinking == THINKING_NONE || !r->len)
        return r->thinking == THINKING_OPEN;
    all = without_frame(all);
    while (said_thinking(&start, all)) {
        if (start == all.n)
            return 1;
        all = without_frame((struct span){all.s + start, all.n - start});
    }
    enum thinking_mark mark = last_mark(all, all.n, &start, &n);
    if (mark == THINKING_MARK_OPENS || (mark == THINKING_MARK_NONE && r->thinking == THINKING_OPEN))
        return 1;
    struct span section = all;
    if (mark == THINKING_MARK_CLOSES) {
        section = (struct span){all.s + start + n, all.n - start - n};
        struct span before = {0};
        if (!span_trim(section).n)
            before = said_before(all, start, r->thinking == THINKING_OPEN);
        section = before.n ? before : section;
    }
    section = without_frame(section);
    *text = section.s;
    *len = section.n;
    return 0;
}
