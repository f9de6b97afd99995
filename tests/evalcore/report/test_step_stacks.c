/* Where the time of a step goes: what is read from files of benchmarks, and the figure of it. */
#include "evalcore/report/data/report_data.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/base/file.h"
#include "tests/check.h"

#include <string.h>
#include <unistd.h>

#define LINE(what, value, unit)                                                                              \
    "{\"name\": \"components m " what "\", \"value\": " value ", \"unit\": \"" unit "\"}\n"
#define FULL  "full batch 4 at 512 tokens: "
#define DELTA "delta:layers=2+5,k_pages=8 batch 4 at 512 tokens: "

static const char lines[] = LINE(FULL "linear layers, 32 operations", "30", "us")
    LINE(FULL "attention, dense layers, 8 operations", "70", "us")
        LINE(FULL "attention, dense layers, one layer", "8.75", "us")
            LINE(FULL "attention, dense layers, share of the sum", "70", "%")
                LINE(FULL "sum of the parts", "100", "us")
                    LINE(FULL "the whole step as recorded", "104", "us")
                        LINE(DELTA "linear layers, 32 operations", "31", "us")
                            LINE(DELTA "page selection, 1 operation", "5", "us")
                                LINE(DELTA "linear layers, 32 operations", "99", "us");

static const struct bad {
    const char *what, *text;
} bad[] = {
    {"an empty file", ""},
    {"no JSON", "<html>"},
    {"figures of something else", "{\"name\": \"decode\", \"value\": 1, \"unit\": \"us\"}\n"},
    {"a name without a part", "{\"name\": \"components x\", \"value\": 1, \"unit\": \"us\"}\n"},
    {"a negative time", LINE(FULL "linear layers, 32 operations", "-1", "us")},
    {"a time that is no number", LINE(FULL "linear layers, 32 operations", "\"1\"", "us")},
};

static int read_text(struct steps *s, const char *text, struct arena *a, struct err *e)
{
    char path[64];
    snprintf(path, sizeof path, "test_step_stacks.%ld.bench.json", (long)getpid());
    CHECK_INT(file_write_atomic(path, text, strlen(text), e), 0);
    int rc = report_steps_read(s, path, a, e);
    unlink(path);
    return rc;
}

static int count_text(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

static void test_read(struct arena *a)
{
    struct steps s;
    struct err e = {0};
    struct str whole = {0};
    CHECK_INT(read_text(&s, lines, a, &e), 0);
    CHECK(s.n == 2 && s.n_parts == 3);
    CHECK_STR(s.model, "m");
    CHECK_STR(s.stack[1].name, "delta:layers=2+5,k_pages=8 batch 4 at 512");
    CHECK_STR(s.part[1], "page selection"); /* in the order of a step, not of the file */
    CHECK_STR(s.part[2], "attention, dense layers");
    CHECK_NEAR(s.stack[0].sum, 100, 0);
    CHECK_NEAR(s.stack[0].whole, 104, 0);
    CHECK(isnan(s.stack[0].part[1]) && isnan(s.stack[1].part[2]) && isnan(s.stack[1].whole));
    CHECK_NEAR(s.stack[1].sum, 36, 0); /* measured twice: the first stays */
    str_puts(&whole, "{\"runs\": [{\"figures\": [");
    for (const char *line = lines; *line; line += strcspn(line, "\n") + 1)
        str_printf(&whole, "%s%.*s", line > lines ? "," : "", (int)strcspn(line, "\n"), line);
    str_puts(&whole, "]}]}");
    CHECK_INT(read_text(&s, str_text(&whole), a, &e), 0);
    CHECK(s.n == 2 && s.n_parts == 3);
    str_release(&whole);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err wrong = {0};
        int rc = read_text(&s, bad[i].text, a, &wrong);
        if (rc == 0 || !strstr(wrong.text, "bench.json"))
            fprintf(stderr, "%s: %d %s\n", bad[i].what, rc, wrong.text);
        CHECK(rc != 0 && strstr(wrong.text, "bench.json"));
    }
}

static void test_figure(struct arena *a)
{
    struct steps s;
    struct err e = {0};
    struct doc d;
    CHECK_INT(read_text(&s, lines, a, &e), 0);
    s.part[0] = "<b>\"&";
    struct report r = {.steps = &s, .arena = a};
    doc_init(&d, a, "t");
    doc_section(&d, "steps", "s");
    report_add_steps(&d, &r);
    const char *svg = str_text(d.sections[0].items[0].body);
    CHECK_INT(count_text(svg, "<g class=\"mark\""), 2);
    CHECK(count_text(svg, ">0.10 ms<") == 1 && count_text(svg, ">0.04 ms<") == 1);
    CHECK(strstr(svg, "&lt;b&gt;&quot;&amp;") && !strstr(svg, "<b>") && !strstr(svg, "nan"));
    doc_release(&d);
}

/* Two policies at three lengths, one at a single one: two lines of three and two points in the order of
 * lengths. */
static void test_lengths(struct arena *a)
{
    static const char text[] = LINE("full batch 4 at 4096 tokens: linear layers, 32 operations", "300", "us")
        LINE("full batch 4 at 512 tokens: linear layers, 32 operations", "100", "us")
            LINE("full batch 4 at 1024 tokens: linear layers, 32 operations", "200", "us")
                LINE("quest:k_pages=4 batch 4 at 512 tokens: linear layers, 32 operations", "90", "us")
                    LINE("quest:k_pages=4 batch 4 at 4096 tokens: linear layers, 32 operations", "95", "us")
                        LINE("raas:budget_tokens=64 batch 4 at 512 tokens: linear layers, 32 operations",
                             "80", "us");
    struct steps s;
    struct err e = {0};
    struct doc d;
    CHECK_INT(read_text(&s, text, a, &e), 0);
    struct report r = {.steps = &s, .arena = a};
    doc_init(&d, a, "t");
    doc_section(&d, "steps", "s");
    report_add_steps(&d, &r);
    CHECK_INT(d.sections[0].n_items, 2);
    const char *svg = str_text(d.sections[0].items[1].body);
    CHECK_INT(count_text(svg, "<g class=\"mark\""), 5);
    CHECK(strstr(svg, "quest:k_pages=4 batch 4") && !strstr(svg, "raas"));
    const char *first = strstr(svg, "full batch 4 at 512"), *last = strstr(svg, "full batch 4 at 4096");
    CHECK(first && last && first < last);
    doc_release(&d);
}

int main(void)
{
    struct arena a = {0};
    test_read(&a);
    test_figure(&a);
    test_lengths(&a);
    arena_release(&a);
    return check_done();
}
