/* The answer section of a response: where thinking ends (contract: grade.h). The section starts behind the
 * LAST mark that ends thinking. A mark that opens it and that no such mark follows means that the model was
 * still thinking when it stopped: whatever it had written by then is not an answer. */
#include "answer_check/text/response.h"

#include <string.h>

/* How families of models mark their thinking. A kind of marks need not match: the last mark decides. */
static const struct mark {
    const char *text;
    int n;
    int is_open;
} marks[] = {
#define OPENS(text)                                                                                          \
    {                                                                                                        \
        text, sizeof text - 1, 1                                                                             \
    }
#define CLOSES(text)                                                                                         \
    {                                                                                                        \
        text, sizeof text - 1, 0                                                                             \
    }
    OPENS("<think>"),
    CLOSES("</think>"), /* DeepSeek, Qwen and most others */
    OPENS("<thinking>"),
    CLOSES("</thinking>"),
    OPENS("<thought>"),
    CLOSES("</thought>"),
    OPENS("<reasoning>"),
    CLOSES("</reasoning>"),
    OPENS("<seed:think>"),
    CLOSES("</seed:think>"), /* Seed-OSS */
    OPENS("<|begin_of_thought|>"),
    CLOSES("<|end_of_thought|>"),
    OPENS("<|START_THINKING|>"),
    CLOSES("<|END_THINKING|>"), /* Command A */
    OPENS("<|inner_prefix|>"),
    CLOSES("<|inner_suffix|>"), /* Apertus */
    OPENS("<unused94>"),
    CLOSES("<unused95>"), /* MedGemma */
    OPENS("<|channel|>analysis<|message|>"),
    OPENS("<|channel|>commentary<|message|>"),
    CLOSES("<|channel|>final<|message|>"), /* gpt-oss */
    OPENS("<|channel>thought"),
    CLOSES("<channel|>"),
    OPENS("[THINK]"),
    CLOSES("[/THINK]"), /* Magistral */
    OPENS("\xe2\x97\x81think\xe2\x96\xb7"),
    CLOSES("\xe2\x97\x81/think\xe2\x96\xb7"), /* Kimi */
#undef OPENS
#undef CLOSES
};

/* Tokens that end a message, which decoding may leave behind the answer. */
static const char *const ends[] = {"<|return|>",    "<|end|>", "<|im_end|>",    "<|eot_id|>",
                                   "<|endoftext|>", "</s>",    "<end_of_turn>", "<eos>"};

/* Drops what ends the message. */
static size_t without_end(struct span s)
{
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        size_t n = strlen(ends[k]), end = s.n;
        while (end && ascii_is_space(s.s[end - 1]))
            end--;
        if (end >= n && !memcmp(s.s + end - n, ends[k], n))
            s.n = end - n;
    }
    return s.n;
}

/* The mark at i: -1 where it opens, its length where it closes, 0 where there is none. */
static int mark_at(struct span s, size_t i)
{
    size_t left = s.n - i;
    if (left < 7 || !strchr("/tsr|ucT\x97", s.s[i + 1]))
        return 0;
    for (const struct mark *m = marks; m < marks + sizeof marks / sizeof *marks; m++)
        if (m->text[0] == s.s[i] && m->text[1] == s.s[i + 1] && (size_t)m->n <= left &&
            m->text[m->n - 1] == s.s[i + (size_t)m->n - 1] && !memcmp(m->text, s.s + i, (size_t)m->n))
            return m->is_open ? -1 : m->n;
    return 0;
}

/* The channels of gpt-oss where the tokens between were not printed: "analysisWe need ..assistantfinalSo ..".
 * Returns 1 and *start, the length of the thinking, or 0; *start is the whole text where none followed. */
static int printed_channels(size_t *start, struct span s)
{
    static const char open[] = "analysis", close[] = "assistantfinal";
    const char *found = NULL, *next = s.s;
    size_t n = strlen(open);
    if (!span_at(s, 0, open) || s.n == n || !ascii_is_letter(s.s[n]) || ascii_lower(s.s[n]) == s.s[n])
        return 0;
    while ((next = memmem(next, s.n - (size_t)(next - s.s), close, strlen(close))))
        found = next += strlen(close);
    *start = found ? (size_t)(found - s.s) : s.n;
    return 1;
}

int response_answer(const struct response *r, const char **text, size_t *len)
{
    const struct span all = {r->text, r->len};
    size_t start;
    *text = r->text;
    *len = r->len;
    if (r->thinking == THINKING_NONE || !r->len)
        return r->thinking == THINKING_OPEN;
    if (printed_channels(&start, all)) {
        *text += start < all.n ? start : 0;
        *len -= start < all.n ? start : 0;
        return start == all.n;
    }
    for (size_t i = r->len; i-- > 0;) {
        char c = r->text[i];
        int mark = c == '<' || c == '[' || (unsigned char)c == 0xe2 ? mark_at(all, i) : 0;
        if (mark < 0)
            return 1;
        if (!mark)
            continue;
        struct span section = {r->text + i + mark, r->len - i - (size_t)mark};
        *text = section.s;
        *len = without_end(section);
        return 0;
    }
    *len = without_end(all);
    return r->thinking == THINKING_OPEN;
}
