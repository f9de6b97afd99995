/* JSON: error texts, canonical form and reading text (json.test), numbers that read back the same, quoting.
 */
#include "evalcore/base/json.h"

#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tests/cases.h"

/* --- in: JSON text; --- want: its canonical form, or --- error. */
static void text_cases(const char *path)
{
    struct cases c;
    struct test_case t;
    cases_open(&c, path);
    while (cases_next(&c, &t)) {
        json_t *v;
        struct err e = {0};
        struct str got = {0};
        const char *in = case_need(&t, "in");
        int rc = json_read_text(&v, in, strlen(in), "run.json", &e);
        if (case_text(&t, "error")) {
            CHECK_INT(rc, ERR_FORMAT);
            CASE_STR(&t, "error", e.text);
        } else {
            if (!rc)
                json_canonical(&got, v);
            CASE_STR(&t, "want", rc ? e.text : got.data);
        }
        json_decref(v);
        str_release(&got);
    }
    cases_close(&c);
}

static void fields(void)
{
    json_t *o;
    struct err e = {0};
    int64_t i = 0;
    double d = 0;
    int b = -1;
    const char *s = NULL,
               text[] =
                   "{\"i\":7,\"d\":0.5,\"b\":true,\"s\":\"x\",\"z\":null,\"nul\":\"a\\u0000b\",\"l\":[]}";
    CHECK_INT(json_read_text(&o, text, strlen(text), "t", &e), 0);
    CHECK_INT(json_get_int(o, "i", &i, "c", &e), 0);
    CHECK_INT(i, 7);
    CHECK_INT(json_get_double(o, "d", &d, "c", &e), 0);
    CHECK_NEAR(d, 0.5, 0);
    CHECK_INT(json_get_double(o, "i", &d, "c", &e), 0);
    CHECK_NEAR(d, 7, 0);
    CHECK_INT(json_get_str(o, "s", &s, "c", &e), 0);
    CHECK_STR(s, "x");
    CHECK_INT(json_opt_int(o, "none", &i, "c", &e), 0);
    CHECK_INT(json_opt_int(o, "z", &i, "c", &e), 0);
    CHECK_INT(i, 7);
    CHECK_INT(json_opt_str(o, "z", &s, "c", &e), 0);
    CHECK_INT(json_opt_bool(o, "none", &b, "c", &e), 0);
    CHECK_INT(json_opt_double(o, "none", &d, "c", &e), 0);
    CHECK_STR(s, "x");
    CHECK_INT(e.code, 0);

#define FAILS(call, want)                                                                                    \
    do {                                                                                                     \
        e = (struct err){0};                                                                                 \
        CHECK_INT(call, ERR_FORMAT);                                                                         \
        CHECK_STR(e.text, want);                                                                             \
    } while (0)
    FAILS(json_get_int(o, "none", &i, "config.json", &e), "config.json: field \"none\" is missing");
    FAILS(json_get_int(o, "d", &i, "c", &e), "c: field \"d\" must be an integer, but it is a decimal number");
    FAILS(json_opt_int(o, "s", &i, "c", &e), "c: field \"s\" must be an integer, but it is a string");
    FAILS(json_get_double(o, "b", &d, "c", &e), "c: field \"b\" must be a number, but it is true or false");
    FAILS(json_opt_bool(o, "i", &b, "c", &e), "c: field \"i\" must be true or false, but it is an integer");
    FAILS(json_get_str(o, "z", &s, "c", &e), "c: field \"z\" must be a string, but it is null");
    FAILS(json_get_str(o, "l", &s, "c", &e), "c: field \"l\" must be a string, but it is a list");
    FAILS(json_get_str(o, "nul", &s, "c", &e), "c: field \"nul\" holds a NUL character; remove it");
    FAILS(json_get_str(json_object_get(o, "l"), "x", &s, "c", &e),
          "c: an object with a field \"x\" was expected, but this is a list");
    FAILS(json_opt_str(NULL, "x", &s, "c", &e),
          "c: an object with a field \"x\" was expected, but this is missing");
#undef FAILS
    json_decref(o);
}

static void files(void)
{
    static const char path[] = "test_json.tmp";
    json_t *v;
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, "{\n  \"a\": 1,\n  \"a\": 2}", 21, &e), 0);
    CHECK_INT(json_read_file(&v, path, &e), ERR_FORMAT);
    CHECK_STR(e.text, "test_json.tmp:3:5: not valid JSON: duplicate object key near '\"a\"'");
    CHECK(!v);
    unlink(path);
    e = (struct err){0};
    CHECK_INT(json_read_file(&v, path, &e), ERR_IO);
    CHECK_STR(e.text, "cannot read test_json.tmp: No such file or directory");
}

static void number_is(double v, const char *want)
{
    struct str s = {0};
    json_number(&s, v);
    CHECK_STR(s.data, want);
    str_release(&s);
}

static void numbers(void)
{
    number_is(0, "0");
    number_is(-0.0, "-0.0");
    number_is(3, "3");
    number_is(-17, "-17");
    number_is(0.1, "0.1");
    number_is(1e-7, "1e-07");
    number_is(0.1 + 0.2, "0.30000000000000004");
    number_is(1.0 / 3, "0.3333333333333333");
    number_is(123456.789, "123456.789");
    number_is(1e15, "1000000000000000");
    number_is(1e16, "1e+16");
    number_is(123456789012345, "123456789012345");
    number_is(5e-324, "4.94065645841247e-324");
    number_is(1.7976931348623157e308, "1.7976931348623157e+308");
    number_is(NAN, "null");
    number_is(-INFINITY, "null");
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bits = hash_mix64(i);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        struct str s = {0};
        json_number(&s, v);
        CHECK(strtod(s.data, NULL) == v);
        str_release(&s);
    }
}

static void quoting(void)
{
    struct str s = {0};
    json_quote(&s, "a\"\\/\b\f\n\r\t\x01\x1f\x7f\0\xc3\xa9\xff", 16);
    CHECK_STR(s.data, "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000\xc3\xa9\xef\xbf\xbd\"");
    json_t *v;
    struct err e = {0};
    CHECK_INT(json_read_text(&v, s.data, s.len, "t", &e), 0);
    CHECK_INT(json_string_length(v), 18);
    json_decref(v);
    str_clear(&s);
    json_quote(&s, "", 0);
    CHECK_STR(s.data, "\"\"");
    str_release(&s);
}

int main(int argc, char **argv)
{
    text_cases(argc > 1 ? argv[1] : NULL);
    fields();
    files();
    numbers();
    quoting();
    return check_done();
}
