/* RULER by length: a run of other tasks has none of it; then the hand-made run's cells become families at two
 * lengths, in the order in which a run file would not have them. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/plain_run.h"
#include "tests/evalcore/report/written.h"

static void make_ruler(struct run *r)
{
    static const char *const options[] = {
        "{\"subset\":\"vt\",\"tokens\":2048}", "{\"subset\":\"cwe\",\"tokens\":2048}",
        "{\"subset\":\"vt\",\"tokens\":1024}", "{\"subset\":\"cwe\",\"tokens\":1024}", "{}"};
    struct run_task *t = arena_alloc(&r->arena, 5 * sizeof *t);
    for (int i = 0; i < 5; i++) {
        t[i] = r->tasks[0];
        t[i].name = i < 4 ? "ruler" : "relay"; /* the fifth belongs to no length */
        t[i].metric = "score";
        t[i].label = options[i];
        t[i].options = options[i];
        r->cells[i].task = &t[i];
        r->cells[i].policy = r->cells[i].policy_label = r->cells[i].label = "full";
        r->cells[i].params = "{}";
    }
    r->n_cells = 5;
}

int main(void)
{
    static const struct fake_policy full = {.policy = "full",
                                            .label = "full",
                                            .params = "{}",
                                            .k_pages = "",
                                            .l_pages = "",
                                            .budget_tokens = "",
                                            .budget_key = "",
                                            .budget = "",
                                            .rule = "everything",
                                            .density = 1};
    static const struct fake_task relay = {"relay", "relay", "accuracy", 0, 100, 50};
    struct run r;
    struct err e = {0};
    struct str text = {0};
    log_set_quiet(1);
    open_folder("test_report_ruler");
    fake_run(&r, &(struct fake_options){.policies = &full,
                                        .n_policies = 1,
                                        .tasks = &relay,
                                        .n_tasks = 1,
                                        .problems = 4,
                                        .samples = 1,
                                        .limit = 1000,
                                        .seed = 3});
    CHECK_INT(report_write_run(&r, NULL, folder, NULL, &e), 0);
    CHECK(!exists("ruler.csv"));
    fake_release(&r);
    plain_run(&r);
    make_ruler(&r);
    CHECK_INT(report_write_run(&r, NULL, folder, NULL, &e), 0);
    /* Scores 0.6 and 0.7 at 1,024 tokens, with half intervals of 0.2972 and 0.2853: sqrt(0.2972^2 + 0.2853^2)
     * / 2 = 0.20597 */
    CHECK_STR(read_file(&text, "ruler.csv"),
              "model,policy,swept,tokens,families,score,ci_low,ci_high,delta,p_holm,margin,p_noninferior,"
              "p_noninferior_holm,mark,enough_problems\n"
              "pocket,full,,1024,2,0.65,0.444033,0.855967,-0.25,0.0625,5,1,1,open,21\n"
              "pocket,full,,2048,2,0.55,0.374308,0.725692,-0.7,0.015625,5,1,1,lower,\n");
    read_file(&text, "report.md");
    CHECK_INT(count(str_text(&text), "## RULER by length"), 1);
    CHECK(strstr(str_text(&text), "55 [37-73]") != NULL);
    CHECK(exists("ruler_length.svg"));
    str_release(&text);
    fake_release(&r);
    file_remove_tree(folder, &e);
    return check_done();
}
