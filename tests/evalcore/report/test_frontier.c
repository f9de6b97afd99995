/* Accuracy against cost over limits and widths: one problem with four samples, by hand. */
#include "evalcore/report/data/report_frontier.h"
#include "tests/check.h"
#include "tests/evalcore/report/fake_run.h"

static const struct fake_policy policies[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1},
    {"delta", "delta k_pages=8 l_pages=2", "{\"k_pages\":8,\"l_pages\":2}", "8", "2", "", "k_pages", "8",
     "8 pages", 0.5, 1},
    {"quest", "quest cr=4", "{\"cr\":4}", "", "", "", "cr", "4", "a share of the longest", 0.5, 1},
};
static const struct fake_task tasks[] = {{"relay", "relay", "accuracy", 0, 100, 100}};

/* 100, 200, 300 and 400 tokens: right, "7", "7", right. */
static void write_records(struct run *r)
{
    for (int i = 0; i < r->n_cells; i++) {
        struct record *list = (struct record *)r->cells[i].records;
        r->cells[i].temperature = 0.7;
        for (int s = 0; s < 4; s++) {
            int ok = s == 0 || s == 3, tokens = 100 * (s + 1);
            double full = 100.0 * tokens + 0.5 * tokens * (tokens + 1);
            list[s].tokens = tokens;
            list[s].finish = FINISHED_STOP;
            list[s].verdict = ok ? VERDICT_CORRECT : VERDICT_WRONG;
            list[s].score = ok;
            list[s].pred_form = ok ? "5" : "7";
            list[s].kv = (struct kv_counts){.reads = i ? full / 2 : full,
                                            .reads_full = full,
                                            .aux_reads = i ? full / 10 : 0,
                                            .peak_tokens = 100 + tokens};
        }
    }
}

static const struct want {
    const char *label, *what;
    double accuracy, reads, peak;
    int is_bound;
} rows[] = {
    {"400-1-1", "everything", 0.5, (15050 + 40100 + 75150 + 120200) / 4.0, 350, 0},
    {"400-4-1", "two against two, a tie", 0.5, 15050 + 40100 + 75150 + 120200, 1400, 0},
    {"200-1-1", "two of four are cut, one of them right", 0.25, (15050 + 40100 + 2 * 39800) / 4.0, 275, 0},
    {"200-4-1", "the two that remain differ", 0.5, 15050 + 40100 + 2 * 39800, 1100, 0},
    {"100-1-1", "only the right one is left", 0.25, (15050 + 3 * 14850) / 4.0, 200, 0},
    {"100-4-1", "who has no answer does not vote", 1, 15050 + 3 * 14850, 800, 0},
    {"400-1-8/2", "two options", 0.5, 0.6 * (15050 + 40100 + 75150 + 120200) / 4, 350, 0},
    {"200-1-8/2", "at most their share", 0.25,
     0.6 * (15050 + 40100 + 75150 * 199 / 300. + 120200 * 199 / 400.) / 4, 275, 1},
    {"400-1-4", "a budget that follows from the limit", 0.5, 0.6 * (15050 + 40100 + 75150 + 120200) / 4, 350,
     0},
};

static const struct frontier_point *find(const struct frontier *f, const char *label)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->points[i].label, label))
            return &f->points[i];
    return NULL;
}

int main(void)
{
    struct fake_options o = {.policies = policies,
                             .n_policies = 3,
                             .tasks = tasks,
                             .n_tasks = 1,
                             .problems = 1,
                             .samples = 4,
                             .limit = 400,
                             .seed = 3};
    struct run r;
    struct arena a = {0};
    struct report report;
    fake_run(&r, &o);
    write_records(&r);
    report_compute(&report, &r, &a);
    struct frontier f = report_frontier(&report, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct frontier_point *p = find(&f, rows[i].label);
        int ok = p && fabs(p->accuracy - rows[i].accuracy) < 1e-9 && fabs(p->reads - rows[i].reads) < 1e-6 &&
                 fabs(p->peak - rows[i].peak) < 1e-9 && p->is_bound == rows[i].is_bound;
        if (!ok)
            fprintf(stderr, "%s (%s): accuracy %g, reads %.9g, peak %g\n", rows[i].label, rows[i].what,
                    p ? p->accuracy : NAN, p ? p->reads : NAN, p ? p->peak : NAN);
        CHECK(ok);
    }
    CHECK(!find(&f, "200-1-4")); /* cut from a run with another budget, it would be another policy */
    CHECK(!find(&f, "400-8-1")); /* more than there are samples */
    CHECK_INT(f.n, 6 + 6 + 2);
    arena_release(&a);
    fake_release(&r);
    return check_done();
}
