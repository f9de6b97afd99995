/* Somebody else's text on a terminal. */
#include <string.h>

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

int main(void)
{
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
