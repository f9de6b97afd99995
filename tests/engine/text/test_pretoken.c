/* Splitting by table and by regular expression must give the same pieces. The same pattern in parentheses is
 * one that the table does not know. The text is random and made of bytes that patterns treat differently. */
#include "engine/text/pretoken.h"
#include "evalcore/base/rng.h"
#include "tests/check.h"

static const char *const PARTS[] = {
    " ",
    "  ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\f",
    "a",
    "B",
    "z",
    "re",
    "'s",
    "'S",
    "'",
    "'t",
    "ll",
    "'R",
    "'vE",
    "1",
    "23",
    "456",
    ".",
    "!?",
    "{",
    "\x7F",
    "\x1C",
    "\v",
    "_",
    "@",
    "[",
    "`",
    "\x01",
    "/",
    ":",
    "\xC3\xA9",
    "\xC2\xA0",
    "\xC2\x85",
    "\xC5\xBF",
    "\xE4\xB8\xAD",
    "\xF0\x9F\x99\x82",
    "\xD9\xA3",
};

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

static void compare(enum pretoken_known known)
{
    struct pretoken table, regex;
    struct pretoken_scratch scratch = {0};
    struct str text = {0}, a = {0}, b = {0}, in_parentheses = {0};
    struct err e = {0};
    struct rng r;
    size_t by_table = 0;
    str_printf(&in_parentheses, "(?:%s)", pretoken_known_pattern(known));
    CHECK_INT(open_pattern(&table, pretoken_known_pattern(known)), 0);
    CHECK_INT(open_pattern(&regex, in_parentheses.data), 0);
    CHECK(table.n == 1 && table.stage[0].known == known && regex.n == 1 &&
          regex.stage[0].known == PRETOKEN_OTHER);
    CHECK(regex.stage[0].compiled);
    rng_init(&r, 7, (uint64_t)known);
    for (int i = 0; i < 30000; i++) {
        str_clear(&text);
        str_clear(&a);
        str_clear(&b);
        uint32_t ascii = rng_below(&r, 2), n = sizeof PARTS / sizeof *PARTS - (ascii ? 7 : 0);
        for (uint32_t k = 1 + rng_below(&r, 12); k > 0; k--)
            str_puts(&text, PARTS[rng_below(&r, n)]);
        CHECK_INT(pretoken_split(&table, &scratch, text.data, text.len, 1, note, &a, &e), 0);
        CHECK_INT(pretoken_split(&regex, &scratch, text.data, text.len, 1, note, &b, &e), 0);
        CHECK_STR(a.data, b.data);
        if (ascii)
            for (size_t at = 0; at < text.len; by_table++)
                if (!(at = pretoken_ascii_end(known, text.data, text.len, at))) {
                    CHECK(!"the table knows ASCII");
                    break;
                }
    }
    CHECK(by_table > 30000);
    pretoken_close(&table);
    pretoken_close(&regex);
    pretoken_scratch_release(&scratch);
    struct str *all[] = {&text, &a, &b, &in_parentheses};
    for (int i = 0; i < 4; i++)
        str_release(all[i]);
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
    compare(PRETOKEN_GPT2);
    compare(PRETOKEN_QWEN2);
    compare(PRETOKEN_LLAMA3);
    check_limit();
    return check_done();
}
