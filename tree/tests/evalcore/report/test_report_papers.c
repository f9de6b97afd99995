/* The table in the papers' form: which numbers are bold, and that its LaTeX is whole and escaped whatever the
 * labels are. */
#include "tests/cases.h"

#include "evalcore/base/log.h"
#include "evalcore/report/data/report_papers.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

static void check_escaped(const char *path, int line, char *text)
{
    struct str out = {0};
    char *want = case_cut(text, "=>");
    report_tex_text(&out, text);
    check_count++;
    if (strcmp(str_text(&out), want) != 0) {
        check_failures++;
        fprintf(stderr, "%s:%d: got \"%s\", want \"%s\"\n", path, line, str_text(&out), want);
    }
    str_release(&out);
}

/* Braces that no backslash escapes close as they open, and every begin has its end. */
static void check_whole(const char *tex)
{
    int depth = 0, lowest = 0;
    for (const char *p = tex; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else
            depth += (*p == '{') - (*p == '}');
        lowest = depth < lowest ? depth : lowest;
    }
    CHECK_INT(depth, 0);
    CHECK_INT(lowest, 0);
    CHECK_INT(count_text(tex, "\\begin{"), count_text(tex, "\\end{"));
    CHECK_INT(count_text(tex, "\\toprule"), 2);
    CHECK_INT(count_text(tex, "\\bottomrule"), 2);
}

/* Best, as good, and worse by a lot: 40 problems tell the last one apart, 2 tell nothing. */
static void check_table(int problems, int samples)
{
    static const struct fake_policy policies[] = {
        FAKE_FULL(2),
        {"quest", "q_1 {&} k_pages=8", "{}", "8", "", "", "k_pages", "8", "x", 0.5, 2},
        {"quest", "q_1 {&} k_pages=1", "{}", "1", "", "", "k_pages", "1", "x", 0.1, -3},
    };
    static const struct fake_task tasks[] = {{"relay", "re%lay", "accuracy", 0, 100, 50},
                                             {"lookup", "look\\up", "accuracy", 0, 100, 50}};
    struct run r;
    struct err e = {0};
    struct arena a = {0};
    struct report rep;
    struct str text = {0};
    fake_run(&r, &(struct fake_options){.policies = policies,
                                        .n_policies = 3,
                                        .tasks = tasks,
                                        .n_tasks = 2,
                                        .problems = problems,
                                        .samples = samples,
                                        .limit = 1000,
                                        .seed = 3});
    report_compute(&rep, &r, &a);
    const struct paper_cell *t = report_papers(&rep);
    int tells = problems > 10;
    CHECK_INT(rep.n_columns, 2);
    for (int col = 0; col < 3; col++) {
        CHECK_INT(t[0 * 3 + col].is_top, tells);
        CHECK_INT(t[1 * 3 + col].is_top, tells);
        CHECK_INT(t[2 * 3 + col].is_top, 0);
    }
    CHECK_NEAR(t[0 * 3 + 2].value, (t[0].value + t[1].value) / 2, 1e-12);
    CHECK_STR(report_paper_method(&rep, 1), "q_1 {&}");
    CHECK_STR(report_paper_budget(&rep, 1), "k_pages=8");
    CHECK_STR(report_paper_budget(&rep, 0), "");
    CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
    read_file(&text, "tables.tex");
    CHECK(is_written("columns.md"));
    check_whole(str_text(&text));
    CHECK_INT(count_text(str_text(&text), "\\textbf{"), tells ? 6 : 0);
    CHECK(strstr(str_text(&text), "q\\_1 \\{\\&\\} & k\\_pages=8 & ") != NULL);
    CHECK(strstr(str_text(&text), "& re\\%lay & look\\textbackslash{}up & Avg. & Reads \\\\") != NULL);
    str_release(&text);
    arena_release(&a);
    fake_release(&r);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    log_set_quiet(1);
    cases_each_line(argc > 1 ? argv[1] : NULL, check_escaped);
    open_folder("test_report_papers");
    check_table(40, 1);
    check_table(40, 2);
    check_table(2, 1);
    file_remove_tree(folder, &e);
    return check_done();
}
