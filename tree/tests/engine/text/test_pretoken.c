/* Pieces of the patterns that nearly every model uses, those of pretoken.test (patterns.py made it and states
 * the format), and a pattern that does not end. */
#include "engine/text/pretoken.h"
#include "tests/cases.h"

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

static json_t *row_text;

static json_t *split_spec(const json_t *pattern, const json_t *behavior)
{
    json_t *split =
        json_pack("{s:s, s:b, s:{s:O}}", "type", "Split", "invert", 0, "pattern", "Regex", pattern);
    json_object_set_new(split, "behavior",
                        json_is_string(behavior) ? json_copy((json_t *)behavior) : json_string("Isolated"));
    return json_pack("{s:s, s:[o, {s:s, s:b, s:b}]}", "type", "Sequence", "pretokenizers", split, "type",
                     "ByteLevel", "add_prefix_space", 0, "use_regex", 0);
}

static void add_piece(void *context, const char *piece, size_t n)
{
    json_array_append_new(context, json_stringn(piece, n));
}

static void check_row(const char *path, int line, char *text)
{
    json_t *row = json_loads(text, JSON_DECODE_ANY, NULL), *pieces = json_array();
    struct pretoken p;
    struct pretoken_scratch scratch = {0};
    struct err e = {0};
    if (json_is_string(row)) {
        row_text = row;
        json_decref(pieces);
        return;
    }
    const json_t *pattern = json_array_get(row, 0), *behavior = json_array_get(row, 1),
                 *want = json_array_get(row, 2);
    json_t *spec = split_spec(pattern, behavior);
    int rc = pretoken_open(&p, spec, "test", &e), is_right;
    if (json_is_string(behavior)) {
        if (!rc)
            rc = pretoken_split(&p, &scratch, json_string_value(row_text), json_string_length(row_text), 1,
                                add_piece, pieces, &e);
        is_right = !rc && json_equal(pieces, want);
    } else {
        is_right = rc < 0 && strstr(e.text, json_string_value(want));
    }
    check_count++;
    if (!is_right) {
        char *got = json_dumps(pieces, JSON_COMPACT);
        check_failures++;
        fprintf(stderr, "%s:%d: %s gives %s %.900s\n", path, line, json_string_value(pattern), e.text, got);
        free(got);
    }
    pretoken_close(&p);
    pretoken_scratch_release(&scratch);
    json_decref(spec);
    json_decref(pieces);
    json_decref(row);
}

int main(int argc, char **argv)
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
    cases_each_line(argc > 1 ? argv[1] : NULL, check_row);
    json_decref(row_text);
    return check_done();
}
