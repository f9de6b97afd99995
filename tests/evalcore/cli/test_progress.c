/* The status line's text. */
#include "evalcore/cli/progress.h"
#include "tests/check.h"

static struct str text;

static const char *duration(double s)
{
    str_clear(&text);
    progress_duration(&text, s);
    return str_text(&text);
}

static const char *line(long done, double tokens, double left, double elapsed)
{
    const struct progress_now n = {done, 256, tokens, left};
    str_clear(&text);
    progress_text(&text, &n, elapsed);
    return str_text(&text);
}

int main(void)
{
    CHECK_STR(duration(0), "0 s");
    CHECK_STR(duration(59.4), "59 s");
    CHECK_STR(duration(59.6), "1 min 00 s");
    CHECK_STR(duration(125), "2 min 05 s");
    CHECK_STR(duration(3600 * 11 + 60 * 7), "11 h 07 min");
    CHECK_STR(line(0, 100, -1, 2), "0 of 256 jobs"); /* too early for a guess */
    CHECK_STR(line(0, 20000, 250, 5), "0 of 256 jobs, 4000 tokens/s, about 4 min 10 s left");
    CHECK_STR(line(100, 200000, 5, 10), "100 of 256 jobs, 20.0k tokens/s, about 5 s left");
    CHECK_STR(line(1, 0, -1, 10), "1 of 256 jobs, 0 tokens/s");
    str_release(&text);
    return check_done();
}
