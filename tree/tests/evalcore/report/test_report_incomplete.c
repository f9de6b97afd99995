/* While an answer is missing, on whichever side, nothing that a report says may be a verdict: the missing one
 * may take it back. Each place that gives marks is shown to give one when all answers are there. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/report/data/report_group.h"
#include "evalcore/report/data/report_papers.h"
#include "evalcore/report/report.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

enum { TASKS = 6, PROBLEMS = 40, FULL = 0, QUEST = 1 }; /* cell 2 * task + FULL or QUEST */

static const struct fake_policy policies[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 4},
    {"quest", "quest k_pages=8", "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 0.4, -3},
};

static void make_run(struct run *r, uint64_t seed)
{
    struct fake_task tasks[TASKS];
    static const char *const labels[TASKS] = {"qasper", "hotpotqa", "qmsum", "trec", "passage_count", "lcc"};
    for (int t = 0; t < TASKS; t++)
        tasks[t] = (struct fake_task){"relay", labels[t], "accuracy", 0, 100, 346};
    fake_run(r, &(struct fake_options){.policies = policies,
                                       .n_policies = 2,
                                       .tasks = tasks,
                                       .n_tasks = TASKS,
                                       .problems = PROBLEMS,
                                       .samples = 1,
                                       .limit = 1400,
                                       .seed = seed});
}

/* The six tasks as one data set of each class of LongBench, or as families of RULER at one length. */
static void rename_tasks(struct run *r, int is_ruler)
{
    for (int t = 0; t < TASKS; t++) {
        r->tasks[t].name = is_ruler ? "ruler" : "longbench";
        r->tasks[t].options = is_ruler ? "{\"tokens\":1024}" : "{}";
        r->tasks[t].problems[0].subset = r->tasks[t].label;
    }
}

static void check_withheld(const struct pair *p, int is_withheld)
{
    CHECK_INT(p->mark, is_withheld ? MARK_OPEN : MARK_LOWER);
    CHECK_INT(p->is_incomplete, is_withheld);
    CHECK_INT(p->enough, -1);
}

/* Nothing is missing, then one answer of the baseline, then one of the setting. */
static const int lacking[] = {-1, FULL, QUEST};

static void test_longbench(void)
{
    for (int i = 0; i < 3; i++) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        make_run(&r, 7);
        rename_tasks(&r, 0);
        if (lacking[i] >= 0)
            r.cells[lacking[i]].n_records--;
        report_compute(&rep, &r, &a);
        const struct pair *p = &longbench_pairs(&rep)[QUEST * (LONGBENCH_CLASSES + 1)];
        check_withheld(&p[0], i > 0); /* qasper's class */
        check_withheld(&p[1], 0);     /* hotpotqa's, which is complete */
        check_withheld(&p[LONGBENCH_CLASSES], i > 0);
        /* the average is withheld in the row that lacks an answer */
        for (int row = 0; row < 2; row++) {
            struct longbench_mean m = longbench_mean(&rep, LONGBENCH_CLASSES, row);
            CHECK_INT(isnan(m.mean), row == lacking[i]);
            CHECK_INT(m.missing, row == lacking[i]);
            CHECK_INT(m.n, 6);
            CHECK(isfinite(longbench_mean(&rep, 0, row).mean));
        }
        arena_release(&a);
        fake_release(&r);
    }
}

/* A run without a class had a mark on an average that there was none of. */
static void test_average_without_a_class(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    make_run(&r, 7);
    rename_tasks(&r, 0);
    r.tasks[5].problems[0].subset = "trec";
    report_compute(&rep, &r, &a);
    const struct pair *p = &longbench_pairs(&rep)[QUEST * (LONGBENCH_CLASSES + 1)];
    check_withheld(&p[0], 0);
    CHECK_INT(p[LONGBENCH_CLASSES].mark, MARK_NONE);
    CHECK_INT(p[LONGBENCH_CLASSES].problems, 0);
    CHECK(isnan(longbench_mean(&rep, LONGBENCH_CLASSES, QUEST).mean));
    arena_release(&a);
    fake_release(&r);
}

static void test_ruler(void)
{
    for (int i = 0; i < 3; i++) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        make_run(&r, 7);
        rename_tasks(&r, 1);
        if (lacking[i] >= 0)
            r.cells[2 + lacking[i]].n_records = 0; /* a family that has not begun */
        report_compute(&rep, &r, &a);
        check_withheld(&ruler_pairs(&rep)[QUEST], i > 0);
        CHECK_INT(ruler_mean(&rep, QUEST, 1024).missing, lacking[i] == QUEST ? PROBLEMS : 0);
        arena_release(&a);
        fake_release(&r);
    }
}

/* The old run is full attention under the setting's name, so that all of it is lost. */
static void test_against(void)
{
    for (int i = 0; i < 3; i++) {
        struct run now, old;
        struct report rep, rep_old;
        struct arena a = {0};
        make_run(&now, 7);
        make_run(&old, 7);
        for (int t = 0; t < TASKS; t++)
            old.cells[2 * t + QUEST].records = old.cells[2 * t + FULL].records;
        if (lacking[i] == FULL)
            old.cells[QUEST].n_records--;
        if (lacking[i] == QUEST)
            now.cells[QUEST].n_records--;
        report_compute(&rep, &now, &a);
        report_compute(&rep_old, &old, &a);
        report_against(&rep, &rep_old);
        check_withheld(&rep.against[QUEST].pair, i > 0);
        CHECK_INT(strcmp(rep.against[QUEST].differs, i ? "missing answers (1)" : ""), 0);
        check_withheld(&rep.against[2 + QUEST].pair, 0);
        arena_release(&a);
        fake_release(&now);
        fake_release(&old);
    }
}

/* Bold says which is the best, and which is not told apart from it. */
static void test_papers(void)
{
    for (int i = 0; i < 3; i++) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        make_run(&r, 7);
        if (lacking[i] >= 0)
            r.cells[lacking[i]].n_records--;
        report_compute(&rep, &r, &a);
        const struct paper_cell *t = report_papers(&rep);
        for (int col = 0; col <= TASKS; col++) {
            int is_withheld = i > 0 && (col == 0 || col == TASKS);
            CHECK_INT(t[FULL * (TASKS + 1) + col].is_top, !is_withheld);
            CHECK_INT(t[QUEST * (TASKS + 1) + col].is_top, 0);
            for (int row = 0; row < 2; row++)
                CHECK_INT(t[row * (TASKS + 1) + col].is_partial, is_withheld && row == lacking[i]);
        }
        arena_release(&a);
        fake_release(&r);
    }
}

/* A map of K and L framed the best of those that had answers so far. */
static void test_map(void)
{
    static const struct fake_policy deltas[] = {
        {"full", "full", "{}", "", "", "", "", "", "everything", 1, 4},
        {"delta", "delta k_pages=1 l_pages=1", "{}", "1", "1", "", "k_pages", "1", "1 page", 0.1, -3},
        {"delta", "delta k_pages=1 l_pages=2", "{}", "1", "2", "", "k_pages", "1", "1 page", 0.1, -3},
        {"delta", "delta k_pages=8 l_pages=1", "{}", "8", "1", "", "k_pages", "8", "8 pages", 0.1, 3},
        {"delta", "delta k_pages=8 l_pages=2", "{}", "8", "2", "", "k_pages", "8", "8 pages", 0.1, 3},
    };
    static const struct fake_task task = {"relay", "relay", "accuracy", 0, 100, 346};
    struct str text = {0};
    struct err e = {0};
    for (int i = 0; i < 2; i++) {
        struct run r;
        fake_run(&r, &(struct fake_options){.policies = deltas,
                                            .n_policies = 5,
                                            .tasks = &task,
                                            .n_tasks = 1,
                                            .problems = PROBLEMS,
                                            .samples = 1,
                                            .limit = 1400,
                                            .seed = 7});
        r.cells[1].n_records -= i ? r.cells[1].n_records : 0;
        CHECK_INT(report_write_with(&r, &(struct report_options){0}, folder, NULL, &e), 0);
        CHECK_INT(count_text(read_file(&text, "heat_delta_relay.svg"), ">best, or not told apart"), !i);
        CHECK_INT(count_text(read_file(&text, "report.md"), "no square is framed as the best"), i);
        fake_release(&r);
    }
    str_release(&text);
}

int main(void)
{
    struct err e = {0};
    log_set_quiet(1);
    open_folder("test_report_incomplete");
    test_longbench();
    test_average_without_a_class();
    test_ruler();
    test_against();
    test_papers();
    test_map();
    file_remove_tree(folder, &e);
    return check_done();
}
