/* The table of marks of thinking (contract: thinking_marks.h). */
#include "evalcore/base/thinking_marks.h"

#include <ctype.h>
#include <string.h>

/* Names of tags: "<think>" opens and "</think>" closes, in any case of their letters. DeepSeek, Qwen and most
 * others write <think>, Seed-OSS <seed:think>, LongCat-Flash <longcat_think>, EXAONE Deep <thought>, Reka
 * Flash <reasoning>; the other ones are asked for in prompts. */
static const char *const tags[] = {"think",    "thinking", "thought",    "thoughts",      "reasoning",
                                   "reason",   "cot",      "scratchpad", "seed:think",    "longcat_think",
                                   "mm:think", "analysis", "monologue",  "inner_thoughts"};
enum { TAG_MAX = 14 };

/* Marks that are written in one way only. The last column of gpt-oss's channels runs up to <|message|>. */
static const struct mark {
    const char *text;
    enum thinking_mark is;
} marks[] = {
    {"[THINK]", THINKING_MARK_OPENS}, /* Magistral */
    {"[/THINK]", THINKING_MARK_CLOSES},
    {"\xe2\x97\x81think\xe2\x96\xb7", THINKING_MARK_OPENS}, /* Kimi */
    {"\xe2\x97\x81/think\xe2\x96\xb7", THINKING_MARK_CLOSES},
    {"<|begin_of_thought|>", THINKING_MARK_OPENS}, /* Sky-T1, OpenThinker */
    {"<|end_of_thought|>", THINKING_MARK_CLOSES},
    {"<|START_THINKING|>", THINKING_MARK_OPENS}, /* Command A */
    {"<|END_THINKING|>", THINKING_MARK_CLOSES},
    {"<|inner_prefix|>", THINKING_MARK_OPENS}, /* Apertus */
    {"<|inner_suffix|>", THINKING_MARK_CLOSES},
    {"<unused94>", THINKING_MARK_OPENS}, /* MedGemma */
    {"<unused95>", THINKING_MARK_CLOSES},
    {"[unused16]", THINKING_MARK_OPENS}, /* openPangu */
    {"[unused17]", THINKING_MARK_CLOSES},
    {"<|channel|>analysis", THINKING_MARK_OPENS}, /* gpt-oss */
    {"<|channel|>commentary", THINKING_MARK_OPENS},
    {"<|channel|>final", THINKING_MARK_CLOSES},
    {"<|channel>thought", THINKING_MARK_OPENS}, /* Gemma 4 */
    {"<channel|>", THINKING_MARK_CLOSES},
    {"<|think|>", THINKING_MARK_OPENS}, /* Solar Open */
    {"<|content|>", THINKING_MARK_CLOSES},
    {"<|im_start|>think", THINKING_MARK_OPENS}, /* s1 */
    {"<|im_start|>answer", THINKING_MARK_CLOSES},
    {"<|im_start|>assistant/think", THINKING_MARK_OPENS}, /* HyperCLOVA X SEED Think */
    {"<|im_start|>assistant\n", THINKING_MARK_CLOSES},
};

static int starts(const char *text, size_t n, const char *what)
{
    size_t k = strlen(what);
    return k <= n && !memcmp(text, what, k);
}

/* A tag at the start of the text, of one of the names. */
static enum thinking_mark tag_at(const char *text, size_t n, size_t *len)
{
    size_t closes = n > 1 && text[1] == '/', from = 1 + closes, end = from;
    while (end < n && end - from <= TAG_MAX &&
           (isalpha((unsigned char)text[end]) || text[end] == ':' || text[end] == '_'))
        end++;
    if (end >= n || text[end] != '>' || end == from)
        return THINKING_MARK_NONE;
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) {
        size_t i = 0;
        while (tags[k][i] && i < end - from && tags[k][i] == tolower((unsigned char)text[from + i]))
            i++;
        if (!tags[k][i] && i == end - from) {
            *len = end + 1;
            return closes ? THINKING_MARK_CLOSES : THINKING_MARK_OPENS;
        }
    }
    return THINKING_MARK_NONE;
}

/* May a mark begin with these two bytes? */
static int may_begin(const char *text)
{
    char next = text[1];
    switch (text[0]) {
    case '<':
        return next == '|' || next == '/' || isalpha((unsigned char)next) || next == ':' || next == '_';
    case '[':
        return next == 'T' || next == '/' || next == 'u';
    case '\xe2':
        return next == '\x97';
    default:
        return 0;
    }
}

enum thinking_mark thinking_mark_at(const char *all, size_t n_all, size_t i, size_t *len)
{
    enum { HEADER_MAX = 64 };
    static const char message[] = "<|message|>";
    const char *text = all + i;
    size_t n = n_all - i;
    if (n < 5 || !may_begin(text))
        return THINKING_MARK_NONE;
    enum thinking_mark tag = text[0] == '<' ? tag_at(text, n, len) : THINKING_MARK_NONE;
    if (tag != THINKING_MARK_NONE)
        return tag;
    if (text[0] == '<' && text[1] != '|' && text[1] != 'c' && text[1] != 'u')
        return THINKING_MARK_NONE; /* all others are tags */
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        if (marks[k].text[1] != text[1] || marks[k].text[2] != text[2] || !starts(text, n, marks[k].text))
            continue;
        *len = strlen(marks[k].text);
        if (starts(text, n, "<|channel|>")) { /* "final <|constrain|>json<|message|>" */
            size_t reach = n < HEADER_MAX ? n : HEADER_MAX;
            const char *end = memmem(text, reach, message, sizeof message - 1);
            *len = end ? (size_t)(end - text) + sizeof message - 1 : *len;
        }
        return marks[k].is;
    }
    return THINKING_MARK_NONE;
}

int thinking_mark_is_token(const char *text, size_t n)
{
    static const char *const parts[] = {"<|channel|>", "<|message|>", "<|channel>"};
    size_t len = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (n == strlen(parts[k]) && starts(text, n, parts[k]))
            return 1;
    return thinking_mark_at(text, n, 0, &len) != THINKING_MARK_NONE && len == n;
}
