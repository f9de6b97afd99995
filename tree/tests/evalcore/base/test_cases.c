/* The reader of .test files, on the form that its header describes (cases.test). */
#include "tests/cases.h"

static void section_file(const char *path)
{
    struct cases c;
    struct test_case t;
    cases_open(&c, path);

    CHECK_INT(cases_next(&c, &t), 1);
    CHECK_STR(t.name, "first case");
    CHECK_INT(t.line, 4);
    CHECK_INT(t.n, 2);
    CASE_STR(&t, "in", "one line");
    CHECK_STR(case_text(&t, "want"), "two lines\nof text");
    CHECK_INT(case_line(&t, "want"), 7);
    CHECK(!case_text(&t, "absent"));

    CHECK_INT(cases_next(&c, &t), 1);
    CHECK_STR(t.name, "empty texts, inner blank lines, things that look like markers");
    CHECK_STR(case_text(&t, "empty"), "");
    CHECK_STR(case_text(&t, "blank"), "\na\n\nb\n");
    CHECK_STR(case_text(&t, "marked"), "--- key\n=== name\n--- two words\n---\n\\frac");
    CHECK_STR(case_text(&t, "also_empty"), "");

    CHECK_INT(cases_next(&c, &t), 1);
    CHECK_STR(t.name, "no section");
    CHECK_INT(t.n, 0);

    CHECK_INT(cases_next(&c, &t), 1);
    CHECK_STR(case_need(&t, "last"), "# not a comment here");
    CHECK_INT(cases_next(&c, &t), 0);
    CHECK_INT(cases_next(&c, &t), 0);
    cases_close(&c);
}

static void line_file(void)
{
    static const char path[] = "test_cases.tmp";
    FILE *f = fopen(path, "w");
    fputs("# comment\n\n\\frac{1}{2}  ==  0.5\n   \nplain", f);
    fclose(f);
    struct cases c;
    int line;
    cases_open(&c, path);
    char *left = cases_line(&c, &line), *right = case_cut(left, "==");
    CHECK_INT(line, 3);
    CHECK_STR(left, "\\frac{1}{2}");
    CHECK_STR(right, "0.5");
    left = cases_line(&c, &line);
    CHECK_STR(left, "plain");
    CHECK_INT(line, 5);
    CHECK(!case_cut(left, "=="));
    CHECK(!cases_line(&c, &line));
    cases_close(&c);
    remove(path);
}

int main(int argc, char **argv)
{
    section_file(argc > 1 ? argv[1] : NULL);
    line_file();
    return check_done();
}
