/* Durations in words. */
#include "evalcore/cli/progress.h"
#include "tests/check.h"

static struct str text;

static const char *duration(double s)
{
    str_clear(&text);
    progress_duration(&text, s);
    return str_text(&text);
}

int main(void)
{
    CHECK_STR(duration(0), "0 s");
    CHECK_STR(duration(59.4), "59 s");
    CHECK_STR(duration(59.6), "1 min 00 s");
    CHECK_STR(duration(125), "2 min 05 s");
    CHECK_STR(duration(3600 * 11 + 60 * 7), "11 h 07 min");
    str_release(&text);
    return check_done();
}
