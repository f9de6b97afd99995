/* Several runs on one page: the header names every model. That of one run was left out where its name was a
 * part of another's. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/report/report.h"
#include "tests/evalcore/report/plain_run.h"
#include "tests/evalcore/report/written.h"

int main(void)
{
    enum { RUNS = 3 };
    static const char *const models[RUNS] = {"Qwen3-8B-Base", "Qwen3-8B", "Qwen3-8B-Base"};
    static const char *const dirs[RUNS] = {"out/a", "out/b", "out/c"};
    struct run runs[RUNS];
    struct err e = {0};
    struct str text = {0};
    log_set_quiet(1);
    open_folder("test_merge");
    for (int i = 0; i < RUNS; i++) {
        plain_run(&runs[i]);
        runs[i].model = models[i];
        runs[i].dir = dirs[i];
        for (int k = 0; k < runs[i].n_cells; k++)
            runs[i].cells[k].model = models[i];
    }
    CHECK_INT(report_write_merged(runs, RUNS, 0, &(struct report_options){0}, folder, NULL, &e), 0);
    read_file(&text, "report.md");
    CHECK_INT(count_text(str_text(&text), "Models Qwen3-8B-Base, Qwen3-8B."), 1);
    CHECK_INT(count_text(str_text(&text), "# kveval report: Qwen3-8B-Base, Qwen3-8B\n"), 1);
    str_release(&text);
    for (int i = 0; i < RUNS; i++)
        fake_release(&runs[i]);
    file_remove_tree(folder, &e);
    return check_done();
}
