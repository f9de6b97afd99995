/* Accuracy against cost over limits and widths: one problem with four samples, by hand. */
#include "evalcore/report/data/report_frontier.h"
#include "evalcore/base/file.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/store/journal.h"
#include "tests/check.h"
#include "tests/evalcore/report/fake_run.h"

static const struct fake_policy policies[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1},
    {"delta", "delta k_pages=8 l_pages=2", "{\"k_pages\":8,\"l_pages\":2}", "8", "2", "", "k_pages", "8",
     "8 pages", 0.5, 1},
    {"quest", "quest cr=4", "{\"cr\":4}", "", "", "", "cr", "4", "a share of the longest", 0.5, 1},
    {"random", "random budget_tokens=80", "{\"budget_tokens\":80,\"recent\":16}", "", "", "80",
     "budget_tokens", "80", "80 tokens", 0.5, 1},
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
    {"400-1-80", "what forgets", 0.5, 0.6 * (15050 + 40100 + 75150 + 120200) / 4, 350, 0},
    {"200-1-80", "its share of what it forgot later was less than it read at first", 0.25,
     (0.6 * (15050 + 40100) + 37575 + 7515 + 39800 + 12020) / 4, 275, 1},
};

/* Two heads; after each 80 tokens the reads, tokens held, their peak and auxiliary reads. */
static struct kv_point curve_points[] = {
    {2000, 200, 260, 200}, {6000, 220, 300, 400}, {12000, 240, 320, 600}, {20000, 260, 340, 800}};
/* 200 is half way from 160 to 240, and 100 a quarter from 80 to 160. */
static const struct want with_curves[] = {
    {"400-1-8/2", "nothing is cut", 0.5, 0.6 * (15050 + 40100 + 75150 + 120200) / 4, 350, 0},
    {"200-1-8/2", "along the curve", 0.25, (0.6 * (15050 + 40100) + 2 * 4750) / 4, 205, 0},
    {"100-1-8/2", "a quarter of the way", 0.25, (0.6 * 15050 + 3 * 1625) / 4, 162.5, 0},
};

static const struct frontier_point *find_point(const struct frontier *f, const char *label)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->points[i].label, label))
            return &f->points[i];
    return NULL;
}

static void check_rows(const struct frontier *f, const struct want *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct frontier_point *p = find_point(f, row[i].label);
        int ok = p && fabs(p->accuracy - row[i].accuracy) < 1e-9 && fabs(p->reads - row[i].reads) < 1e-6 &&
                 fabs(p->peak - row[i].peak) < 1e-9 && p->is_bound == row[i].is_bound;
        if (!ok)
            fprintf(stderr, "%s (%s): accuracy %g, reads %.9g, peak %g\n", row[i].label, row[i].what,
                    p ? p->accuracy : NAN, p ? p->reads : NAN, p ? p->peak : NAN);
        CHECK(ok);
    }
}

/* Gives the samples of a cell lines in a journal, with curves. */
static void add_curves(struct run *r, int cell)
{
    struct journal j;
    struct err e = {0};
    int64_t offset = 0;
    journal_init(&j, "curves");
    for (int s = 0; s < 4; s++) {
        struct record *rec = (struct record *)&r->cells[cell].records[s];
        struct kv_curve curve = {80, rec->tokens / 80, 1, 2, curve_points, NULL};
        curve.n = curve.n > 4 ? 4 : curve.n;
        json_t *tail = json_pack("{s:o}", "curve", curve_json(&curve)), *head = json_pack("{s:i}", "v", 1);
        struct str bytes = {0};
        CHECK_INT(journal_add(&j, head, NULL, 0, "", 0, tail, &e), 0);
        CHECK_INT(file_read(j.path, &bytes, &e), 0);
        rec->offset = offset;
        rec->length = bytes.len - (size_t)offset - 1; /* without the newline */
        offset = (int64_t)bytes.len;
        str_release(&bytes);
        json_decref(head);
        json_decref(tail);
    }
    r->journals = arena_alloc(&r->arena, sizeof *r->journals);
    r->journals[0] = arena_strdup(&r->arena, j.path);
    r->n_journals = 1;
    journal_close(&j);
}

int main(void)
{
    struct fake_options o = {.policies = policies,
                             .n_policies = 4,
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
    check_rows(&f, rows, sizeof rows / sizeof *rows);
    CHECK(!find_point(&f, "200-1-4")); /* cut from a run with another budget, it would be another policy */
    CHECK(!find_point(&f, "400-8-1")); /* more than there are samples */
    CHECK_INT(f.n, 6 + 6 + 2 + 6);
    /* Programs do not vote: of four, or of the two or the one that are short enough, any may be right. */
    r.tasks[0].kind = "code";
    report_compute(&report, &r, &a);
    f = report_frontier(&report, 0);
    CHECK_NEAR(find_point(&f, "400-1-1")->accuracy, 0.5, 1e-12);
    CHECK_NEAR(find_point(&f, "400-4-1")->accuracy, 1, 1e-12);
    CHECK_NEAR(find_point(&f, "200-4-1")->accuracy, 1, 1e-12);
    r.tasks[0].kind = NULL;
    report_compute(&report, &r, &a);
    add_curves(&r, 1);
    f = report_frontier(&report, 0);
    check_rows(&f, with_curves, sizeof with_curves / sizeof *with_curves);
    arena_release(&a);
    fake_release(&r);
    return check_done();
}
