/* Pieces of the patterns that nearly every model uses, and a pattern that does not end. */
#include "engine/text/pretoken.h"
#include "tests/check.h"

static void note(void *context, const char *piece, size_t n)
{
    struct str *out = context;
    str_add(out, piece, n);
    str_puts(out, "|");
}

static int open_pattern(struct pretoken *p, const char *pattern)
{
    struct err e = {0};
    json_t *spec = json_pack("{s:s, s:[{s:s, s:s, s:{s:s}}, {s:s, s:b, s:b}]}", "type", "Sequence",
                             "pretokenizers", "type", "Split", "behavior", "Isolated", "pattern", "Regex",
                             pattern, "type", "ByteLevel", "add_prefix_space", 0, "use_regex", 0);
    int rc = pretoken_open(p, spec, "test", &e);
    CHECK_STR(e.text, "");
    json_decref(spec);
    return rc;
}

/* The patterns of GPT-2, Qwen2 and Llama 3 as their tokenizer.json files have them; the pieces are those of
 * Python's module regex. */
#define QWEN2_START "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define QWEN2_END   "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
static const char gpt2[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
static const char qwen2[] = QWEN2_START "\\p{N}" QWEN2_END;
static const char llama3[] = QWEN2_START "\\p{N}{1,3}" QWEN2_END;

static void check_pieces(const char *pattern, const char *text, const char *want)
{
    struct pretoken p;
    struct pretoken_scratch scratch = {0};
    struct str out = {0};
    struct err e = {0};
    CHECK_INT(open_pattern(&p, pattern), 0);
    CHECK(p.n == 1 && p.stage[0].compiled);
    CHECK_INT(pretoken_split(&p, &scratch, text, strlen(text), 1, note, &out, &e), 0);
    CHECK_STR(str_text(&out), want);
    pretoken_close(&p);
    pretoken_scratch_release(&scratch);
    str_release(&out);
}

/* A pattern that backtracks without end must fail with a message instead of hanging. */
static void check_limit(void)
{
    struct pretoken p;
    struct pretoken_scratch scratch = {0};
    struct str text = {0}, out = {0};
    struct err e = {0};
    CHECK_INT(open_pattern(&p, "(?:a+)+b"), 0);
    for (int i = 0; i < 60; i++)
        str_putc(&text, 'a');
    str_puts(&text, "c b");
    CHECK_INT(pretoken_split(&p, &scratch, text.data, text.len, 1, note, &out, &e), ERR_UNSUPPORTED);
    CHECK(strstr(e.text, "gave up at byte 0 of a text of 63 bytes"));
    pretoken_close(&p);
    pretoken_scratch_release(&scratch);
    str_release(&text);
    str_release(&out);
}

int main(void)
{
    static const char text[] = "It's  1234 (x_1)\r\n\n\tI'LL pay.\n \xC3\xA9t\xC3\xA9\xC2\xA0"
                               "3 ";
    check_pieces(gpt2, text,
                 "It|'s| | 1234| (|x|_|1|)|\r\n\n|\t|I|'|LL| pay|.|\n| \xC3\xA9t\xC3\xA9|\xC2\xA0|"
                 "3| |");
    check_pieces(qwen2, text,
                 "It|'s| | |1|2|3|4| (|x|_|1|)\r\n\n|\tI|'LL| pay|.\n| \xC3\xA9t\xC3\xA9|\xC2\xA0|"
                 "3| |");
    check_pieces(llama3, text,
                 "It|'s| | |123|4| (|x|_|1|)\r\n\n|\tI|'LL| pay|.\n| \xC3\xA9t\xC3\xA9|\xC2\xA0|"
                 "3| |");
    check_limit();
    return check_done();
}
