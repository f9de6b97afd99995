/* Somebody else's text on a terminal. */
#include <string.h>
#include <unistd.h>

#include "evalcore/base/shown.h"
#include "tests/check.h"

static const struct {
    const char *what, *text, *want;
} rows[] = {
    {"plain", "quest k_pages=8, \xC2\xB1 \xE2\x96\xBC", "quest k_pages=8, \xC2\xB1 \xE2\x96\xBC"},
    {"an escape, a bell, a line", "a\x1b[31m\a\nb\x7F", "a [31m  b "},
    {"the one-character form of escape-bracket",
     "a\xC2\x9B"
     "31m",
     "a 31m"},
    {"an override turned the rest of the line round", "full\xE2\x80\xAEtseuq", "full\xEF\xBF\xBDtseuq"},
    {"the first and the last of them", "\xE2\x80\xAA\xE2\x80\xAE\xE2\x81\xA6\xE2\x81\xA9",
     "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"their neighbours", "\xE2\x80\xA9\xE2\x80\xAF\xE2\x81\xA5\xE2\x81\xAA",
     "\xE2\x80\xA9\xE2\x80\xAF\xE2\x81\xA5\xE2\x81\xAA"},
    {"no UTF-8", "a\xE2\x80", "a\xEF\xBF\xBD"},
    {"nothing", "", ""},
};

static const struct {
    const char *what, *text, *want;
    int is_github;
} escaped[] = {
    {"plain text and its lines stay", "A\tB \xC2\xB1\r\nC\n", "A\tB \xC2\xB1\r\nC\n", 0},
    {"colours and a bell", "\x1b[31mred\a", "\\x1b[31mred\\x07", 0},
    {"a title of the window", "\x1b]0;x\x07", "\\x1b]0;x\\x07", 0},
    {"a line written over", "0 %\rdone\b\b\b", "0 %\\x0ddone\\x08\\x08\\x08", 0},
    {"delete", "a\x7F", "a\\u007f", 0},
    {"C1 as a character",
     "\xC2\x9B"
     "31m\xC2\x85",
     "\\u009b31m\\u0085", 0},
    {"C1 as a byte",
     "\x9B"
     "31m",
     "\\x9b31m", 0},
    {"overrides and isolates", "\xE2\x80\xAE\xE2\x81\xA6\xE2\x81\xA9", "\\u202e\\u2066\\u2069", 0},
    {"marks of direction", "\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "\\u200e\\u200f\\u061c", 0},
    {"lines of other kinds", "\xE2\x80\xA8\xE2\x80\xA9", "\\u2028\\u2029", 0},
    {"what cannot be seen",
     "a\xE2\x80\x8B"
     "b\xEF\xBB\xBF",
     "a\\u200bb\\ufeff", 0},
    {"a joiner inside a word stays", "\xE2\x80\x8D", "\xE2\x80\x8D", 0},
    {"bytes that are no UTF-8", "\xC0\x80\xFF\xED\xA0\x80.", "\\xc0\\x80\\xff\\xed\\xa0\\x80.", 0},
    {"an order to GitHub Actions", "x\n::error::no\n", "x\n:\\u003aerror::no\n", 1},
    {"behind white space", " \xC2\xA0::add-mask::a", " \xC2\xA0:\\u003aadd-mask::a", 1},
    {"an order of the older form", "a ##[group]b", "a ##\\u005bgroup]b", 1},
    {"two colons in a line", "std::vector # [1]", "std::vector # [1]", 1},
    {"nobody takes orders", "::error::no ##[x]", "::error::no ##[x]", 0},
};

/* Whole, and byte by byte through a stream. */
static void escapes(void)
{
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++) {
        struct str out = {0};
        struct shown_state state = {.is_github = escaped[i].is_github};
        size_t n = strlen(escaped[i].text);
        char got[200] = "";
        int pair[2];
        CHECK_INT(shown_escape(&state, &out, escaped[i].text, n), n);
        CHECK_INT(pipe(pair), 0);
        FILE *f = shown_stream(pair[1], escaped[i].is_github);
        setvbuf(f, NULL, _IONBF, 0);
        for (size_t k = 0; k < n; k++)
            fputc(escaped[i].text[k], f);
        CHECK_INT(fclose(f), 0);
        CHECK(read(pair[0], got, sizeof got - 1) > 0);
        if (strcmp(str_text(&out), escaped[i].want) != 0 || strcmp(got, escaped[i].want) != 0)
            fprintf(stderr, "%s\n", escaped[i].what);
        CHECK_STR(str_text(&out), escaped[i].want);
        CHECK_STR(got, escaped[i].want);
        close(pair[0]);
        close(pair[1]);
        str_release(&out);
    }
}

/* The beginning of a character at a stream's end. */
static void cut_off(void)
{
    char got[20] = "";
    int pair[2];
    CHECK_INT(pipe(pair), 0);
    FILE *f = shown_stream(pair[1], 0);
    fputs("a\xE2\x80", f);
    CHECK_INT(fclose(f), 0);
    CHECK(read(pair[0], got, sizeof got - 1) > 0);
    CHECK_STR(got, "a\\xe2\\x80");
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    escapes();
    cut_off();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str out = {0};
        shown_add(&out, rows[i].text, strlen(rows[i].text));
        if (strcmp(str_text(&out), rows[i].want) != 0)
            fprintf(stderr, "%s\n", rows[i].what);
        CHECK_STR(str_text(&out), rows[i].want);
        str_release(&out);
    }
    return check_done();
}
