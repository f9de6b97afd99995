/* Reading tests and finding submissions, which needs no sandbox. */
#include <zlib.h>

#include "code_check/code_check.h"
#include "code_check/pickle_text.h"
#include "tests/check.h"

/* ---- pickles: bytes of Python's pickle.dumps(), protocols 2 to 5, and others that must be refused */

#define BYTES(s) s, sizeof s - 1

static void check_pickle(const char *data, size_t n, const char *want)
{
    const char *text = NULL;
    size_t len = 0;
    struct err e = {0};
    CHECK_INT(pickle_text(&text, &len, data, n, "row 1", &e), 0);
    CHECK(text && len == strlen(want) && !memcmp(text, want, len));
    for (size_t cut = 0; cut < n; cut++) /* no beginning of it is one */
        CHECK_INT(pickle_text(&text, &len, data, cut, "row 1", NULL), ERR_FORMAT);
}

static void refuse_pickle(const char *data, size_t n, const char *keyword)
{
    const char *text;
    size_t len;
    struct err e = {0};
    CHECK_INT(pickle_text(&text, &len, data, n, "row 1", &e), ERR_FORMAT);
    if (!strstr(e.text, keyword) || !strstr(e.text, "row 1"))
        fprintf(stderr, "\"%s\" does not name \"%s\"\n", e.text, keyword);
    CHECK(strstr(e.text, keyword) && strstr(e.text, "row 1"));
}

static void test_pickles(void)
{
    check_pickle(BYTES("\x80\x02X\x05\0\0\0[1,2]q\0."), "[1,2]");
    check_pickle(BYTES("\x80\x03X\x05\0\0\0[1,2]q\0."), "[1,2]");
    check_pickle(BYTES("\x80\x04\x95\x09\0\0\0\0\0\0\0\x8c\x05[1,2]\x94."), "[1,2]");
    check_pickle(BYTES("\x80\x05\x95\x09\0\0\0\0\0\0\0\x8c\x05[1,2]\x94."), "[1,2]");
    check_pickle(BYTES("\x80\x04X\x05\0\0\0[1,2]\x94."), "[1,2]");
    check_pickle(BYTES("\x80\x05\x8d\x05\0\0\0\0\0\0\0[1,2]\x94."), "[1,2]");
    check_pickle(BYTES("\x80\x02X\x05\0\0\0[1,2]r\0\0\0\0."), "[1,2]");
    refuse_pickle(BYTES("cos\nsystem\n(S'id'\ntR."), "0x63"); /* GLOBAL of protocol 0 */
    refuse_pickle(BYTES("\x80\x02"
                        "cos\nsystem\nX\x02\0\0\0id\x85R."),
                  "0x63");                                                 /* GLOBAL, REDUCE */
    refuse_pickle(BYTES("\x80\x04\x8c\x02os\x8c\x06system\x93."), "0x8c"); /* two texts, STACK_GLOBAL */
    refuse_pickle(BYTES("\x80\x04\x8c\x02id\x94\x85R."), "0x85");          /* behind the text */
    refuse_pickle(BYTES("\x80\x02]q\0."), "0x5d");                         /* a list */
    refuse_pickle(BYTES("\x80\x02U\x02ids."), "0x55");                     /* bytes of Python 2 */
    refuse_pickle(BYTES("\x80\x06\x8c\x01x\x94."), "protocol 6");
    refuse_pickle(BYTES("\x80\x01X\x01\0\0\0x."), "protocol 1");
    refuse_pickle(BYTES("\x80\x02X\xff\xff\xff\xffx."), "ends before");
    refuse_pickle(BYTES("\x80\x05\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."), "ends before");
    refuse_pickle(BYTES("\x80\x02X\x01\0\0\0xq\0.."), "1 bytes follow");
    refuse_pickle(BYTES("\x80\x02X\x01\0\0\0xP0\n."), "0x50"); /* PERSID */
    refuse_pickle(BYTES("\x80\x04\x95\0\0\0\0\0\0\0\x10\x8c\x01x\x94."), "ends before");
    refuse_pickle(BYTES(""), "ends before");
}

/* ---- rows */

static void put_base64(struct str *out, const unsigned char *s, size_t n)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned x =
            (unsigned)s[i] << 16 | (i + 1 < n ? (unsigned)s[i + 1] << 8 : 0u) | (i + 2 < n ? s[i + 2] : 0u);
        for (int k = 0; k < 4; k++)
            str_putc(out, i + (size_t)k > n ? '=' : letters[x >> 6 * (3 - k) & 63]);
    }
}

/* json, pickled under protocol 2, compressed, in base64. */
static void pack(struct str *out, const char *json)
{
    struct str p = {0};
    uint32_t n = (uint32_t)strlen(json);
    str_add(&p, "\x80\x02X", 3);
    for (int i = 0; i < 4; i++)
        str_putc(&p, (char)(n >> 8 * i));
    str_puts(&p, json);
    str_add(&p, "q\0.", 3);
    uLongf size = compressBound(p.len);
    unsigned char *z = malloc(size);
    CHECK_INT(compress(z, &size, (const unsigned char *)p.data, p.len), Z_OK);
    put_base64(out, z, size);
    free(z);
    str_release(&p);
}

static int read_row(struct code_tests *t, const char *public_tests, const char *private_tests,
                    const char *call, struct err *e)
{
    *e = (struct err){0};
    return code_tests_read(t, public_tests, strlen(public_tests), private_tests, strlen(private_tests), call,
                           "row 7", e);
}

static void refuse_row(const char *public_tests, const char *private_tests, const char *call,
                       const char *keyword)
{
    struct code_tests t;
    struct err e;
    CHECK_INT(read_row(&t, public_tests, private_tests, call, &e), ERR_FORMAT);
    if (!strstr(e.text, keyword) || !strstr(e.text, "row 7"))
        fprintf(stderr, "\"%s\" does not name \"%s\"\n", e.text, keyword);
    CHECK(strstr(e.text, keyword) && strstr(e.text, "row 7"));
}

static const char stdin_1[] = "[{\"input\": \"1\\n\", \"output\": \"2\\n\", \"testtype\": \"stdin\"}]";
static const char stdin_2[] = "[{\"input\": \"3\", \"output\": \"4\", \"testtype\": \"stdin\"}, "
                              "{\"input\": \"a\\u0000b\", \"output\": \"\", \"testtype\": \"stdin\"}]";
static const char call_1[] = "[{\"input\": \"1\", \"output\": \"2\", \"testtype\": \"functional\"}]";

static void test_rows(void)
{
    struct code_tests t;
    struct err e;
    struct str packed = {0};
    pack(&packed, stdin_2);
    for (int i = 0; i < 2; i++) { /* in either form */
        CHECK_INT(read_row(&t, stdin_1, i ? packed.data : stdin_2, NULL, &e), 0);
        CHECK_INT(t.n, 3);
        CHECK(!t.call);
        CHECK_STR(t.test[0].input, "1\n");
        CHECK_STR(t.test[1].output, "4");
        CHECK_INT(t.test[2].input_len, 3);
        CHECK(!memcmp(t.test[2].input, "a\0b", 3));
        code_tests_release(&t);
    }
    CHECK_INT(read_row(&t, call_1, "[]", "f", &e), 0);
    CHECK_STR(t.call, "f");
    code_tests_release(&t);
    refuse_row(stdin_1, stdin_2, "f", "stdin");
    refuse_row(call_1, "[]", "", "functional");
    refuse_row("[]", "[]", "", "no tests");
    refuse_row("{}", "[]", "", "public_test_cases");
    refuse_row("[1]", "[]", "", "test 1");
    refuse_row("[{\"input\": 1, \"output\": \"\", \"testtype\": \"stdin\"}]", "[]", "", "test 1");
    refuse_row(stdin_1, "", "", "private_test_cases");
    refuse_row(stdin_1, "AAA", "", "base64");
    refuse_row(stdin_1, "AA*A", "", "base64");
    refuse_row(stdin_1, "AAAA", "", "compressed");
    packed.data[packed.len / 2] = packed.data[packed.len / 2] == 'A' ? 'B' : 'A';
    refuse_row(stdin_1, packed.data, "", "private_test_cases");
    str_clear(&packed);
    pack(&packed, stdin_2);
    str_puts(&packed, "AAAA");
    refuse_row(stdin_1, packed.data, "", "private_test_cases"); /* something behind it */
    str_clear(&packed);
    pack(&packed, "{\"input\": 1}");
    refuse_row(stdin_1, packed.data, "", "list");
    str_release(&packed);
}

/* A few hundred KiB that would become more than the limit. */
static void test_bomb(void)
{
    struct str text = {0}, packed = {0};
    char *blank = malloc(1 << 20);
    memset(blank, ' ', 1 << 20);
    for (size_t i = 0; i < (size_t)CODE_TESTS_BYTES_MAX + 100; i += 1 << 20)
        str_add(&text, blank, 1 << 20);
    free(blank);
    pack(&packed, text.data);
    CHECK(packed.len < 1 << 20);
    refuse_row(stdin_1, packed.data, "", "MiB");
    str_release(&text);
    str_release(&packed);
}

/* ---- submissions, as extract_code() of LiveCodeBench's utils/extraction_utils.py finds them */

static void check_find(const char *text, const char *want)
{
    const char *code = NULL;
    size_t n = 0;
    int found = code_find(&code, &n, text, strlen(text));
    CHECK_INT(found, want != NULL);
    if (want && (n != strlen(want) || memcmp(code, want, n) != 0))
        fprintf(stderr, "found \"%.*s\", want \"%s\"\n", (int)n, code, want);
    CHECK(!want || (n == strlen(want) && !memcmp(code, want, n)));
}

static void test_find(void)
{
    check_find("so\n```python\nprint(1)\n```\nthat is it", "print(1)");
    check_find("```python\nfirst\n```\n```python\nlast\nline\n```", "last\nline");
    check_find("```python\nfirst\n```\nand ```here```", ""); /* the last two lines with backticks */
    check_find("```python\nfirst\n```\nbetween\n```", "between");
    check_find("no code", NULL);
    check_find("```python\nprint(1)", NULL);
    check_find("one line: ```python print(1)```", NULL);
    check_find("```\n```", "");
    check_find("", NULL);
    check_find("    ```python\n    x\n    ```\n", "    x");
    check_find("```python\n\n\nx\n\n```", "\n\nx\n");
    check_find("~~~\n```\r\nx\r\n```\r\n", "x\r");
}

/* ---- outputs and values; judge.test has what the original says of them */

static void check_output(const char *got, const char *want, long line)
{
    CHECK_INT(code_output_differs(got, strlen(got), want, strlen(want)), line);
}

static void test_outputs(void)
{
    check_output("1\n2\n", "1\n2", 0);
    check_output("\n\n 1 \n2", "1\n2\n\n", 0);
    check_output("1\n3", "1\n2", 2);
    check_output("1", "1\n2", 2);
    check_output("1\n2\n3", "1\n2", 3);
    check_output("", "", 0);
    check_output("", "1", 1);
    check_output("1.0 2e1", "1 20", 0);
    check_output("1e999999999999", "1e999999999998", 1);
    check_output("1e999999999999", "10e999999999998", 0);
    check_output("1e99999999999999999999999", "1e99999999999999999999998", 1);
    check_output("0e5 -0", "0 0", 0);
    check_output("--1", "-1", 1);
    check_output(".", "0", 1);
    check_output("1.2.3", "1.2.30", 1);
    check_output("-inf +INF", "-Infinity inf", 0);
    check_output("inf", "-inf", 1);
    check_output("nan1 1", "nan1 1.0", 1);
    check_output("\xc2\xa0x", "x", 0); /* a no-break space is white */
    check_output("x\ry", "x\ny", 1);   /* lines end with \n alone */
}

static void check_value(const char *got, const char *want, int equal)
{
    CHECK_INT(code_value_equal(got, strlen(got), want, strlen(want)), equal);
}

static void test_values(void)
{
    check_value("[1, 2]", "[1,2]", 1);
    check_value("[1, 2]", "[2,1]", 0);
    check_value("[1]", "[1, 1]", 0);
    check_value("1", "1.0", 1);
    check_value("9007199254740993", "9007199254740992.0", 0);
    check_value("true", "1", 1);
    check_value("false", "0.0", 1);
    check_value("null", "0", 0);
    check_value("null", "false", 0);
    check_value("\"1\"", "1", 0);
    check_value("\"\\u00e9\"", "\"é\"", 1);
    check_value("{\"a\": 1, \"b\": 2}", "{\"b\": 2.0, \"a\": true}", 1);
    check_value("{\"a\": 1}", "{\"b\": 1}", 0);
    check_value("123456789012345678901234567890", "123456789012345678901234567890", 1);
    check_value("123456789012345678901234567890", "123456789012345678901234567891", 0);
    check_value("NaN", "NaN", 0);
    check_value("\"NaN\"", "\"NaN\"", 1);
    /* NaN in a text is three letters, in a list of them too */
    check_value("[\"BaNaNa\"]", "[\"BaNaNa\"]", 1);
    check_value("{\"NaN\": [\"\\\"NaN\"]}", "{\"NaN\": [\"\\\"NaN\"]}", 1);
    check_value("[\"a\", NaN]", "[\"a\", NaN]", 0);
    /* integers beyond 64 bits, wherever they stand and however they are spaced */
    check_value("[1, 123456789012345678901234567890]", "[1,123456789012345678901234567890]", 1);
    check_value("[1, 123456789012345678901234567890]", "[1,123456789012345678901234567891]", 0);
    check_value("{\"a\": -9223372036854775809}", "{\"a\":-9223372036854775809}", 1);
    check_value("[-100000000000000000000]", "[ 100000000000000000000]", 0);
    check_value("[1000000000000000000]", "[ 1000000000000000000]", 1);
    check_value("[100000000000000000000]", "[ 1e20]", 1);
    check_value("[100000000000000000001]", "[ 1e20]", 0);
    check_value("[9007199254740993000]", "[ true]", 0);
    check_value("[100000000000000000000]", "[ \"100000000000000000000\"]", 0);
    check_value("[100000000000000000000]", "[ \"i100000000000000000000\"]", 0);
    check_value("[0.10000000000000000000001]", "[ 0.1]", 1);
    check_value("[00000000000000000000001]", "[ 1]", 0);
    check_value("[\"a\\\\\", \"12345678901234567890\"]", "[\"a\\\\\",\"12345678901234567890\"]", 1);
    check_value("1e400", "1", 0);
    check_value("9223372036854775807", "9223372036854775807", 1);
    check_value("1 2", "1 2 3", 0);
}

int main(void)
{
    test_pickles();
    test_rows();
    if (!check_small())
        test_bomb();
    test_find();
    test_outputs();
    test_values();
    return check_done();
}
