/* A failed job has no length: it ended at some token, which says nothing of how long its answer would be. */
#include "tests/check.h"

#include "evalcore/base/log.h"
#include "evalcore/export/csv_tables.h"
#include "evalcore/report/report_parts.h"
#include "tests/evalcore/report/fake_run.h"
#include "tests/evalcore/report/written.h"

static const struct fake_policy policies[] = {
    {"full", "full", "{}", "", "", "", "", "", "everything", 1, 1},
    {"quest", "quest k_pages=8", "{\"k_pages\":8}", "8", "", "", "k_pages", "8", "8 pages", 0.4, 1},
};

/* Job i has 100 + 10 i tokens, in both cells; of the second cell the odd ones have failed. */
static void make_run(struct run *r, int samples)
{
    static const struct fake_task task = {"relay", "relay", "accuracy", 0, 100, 346};
    fake_run(r, &(struct fake_options){.policies = policies,
                                       .n_policies = 2,
                                       .tasks = &task,
                                       .n_tasks = 1,
                                       .problems = 8,
                                       .samples = samples,
                                       .limit = 1400,
                                       .seed = 7});
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < r->cells[c].n_records; i++) {
            struct record *rec = (struct record *)&r->cells[c].records[i];
            rec->tokens = 100 + 10 * i;
            rec->finish = FINISHED_STOP;
            rec->kv.peak_tokens = 1000;
            if (!c || i % 2 == 0)
                continue;
            rec->finish = FINISHED_ERROR;
            rec->verdict = VERDICT_ERROR;
            rec->tokens = 5000; /* it got so far */
            rec->kv.peak_tokens = 6000;
            rec->score = 0;
        }
}

static void test_cell(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    make_run(&r, 1);
    report_compute(&rep, &r, &a);
    const struct cell_stats *s = &rep.cells[1];
    CHECK_NEAR(s->mean_tokens, 130, 1e-9); /* 100, 120, 140, 160 */
    CHECK_NEAR(s->median_tokens, 130, 1e-9);
    CHECK(s->p95_tokens > 150 && s->p95_tokens <= 160);
    CHECK_NEAR(s->peak_tokens, 1000, 1e-9);
    CHECK_INT(s->count[VERDICT_ERROR], 4); /* they stay in the accuracy */
    CHECK_NEAR(s->accuracy, s->score / 8, 1e-12);
    /* One that ended with the prompt's pass counted as a peak of 0. */
    struct record *rec = (struct record *)r.cells[1].records;
    rec->tokens = 1;
    rec->kv.peak_tokens = 0;
    report_compute(&rep, &r, &a);
    CHECK_NEAR(rep.cells[1].mean_tokens, 130 - 99 / 4.0, 1e-9);
    CHECK_NEAR(rep.cells[1].peak_tokens, 1000, 1e-9);
    for (int i = 0; i < 8; i++)
        rec[i].kv.peak_tokens = 0;
    report_compute(&rep, &r, &a);
    CHECK(isnan(rep.cells[1].peak_tokens));
    for (int i = 0; i < 8; i++)
        ((struct record *)r.cells[1].records)[i].finish = FINISHED_ERROR;
    report_compute(&rep, &r, &a);
    CHECK(isnan(rep.cells[1].mean_tokens) && isnan(rep.cells[1].p95_tokens) &&
          isnan(rep.cells[1].peak_tokens));
    arena_release(&a);
    fake_release(&r);
}

/* Of single answers only the problems count that both decoded; of two samples the one that is there. */
static void test_against(void)
{
    for (int samples = 1; samples <= 2; samples++) {
        struct run r, old;
        struct report rep, rep_old;
        struct arena a = {0};
        make_run(&r, samples);
        make_run(&old, samples);
        old.cells[1].records = old.cells[0].records; /* nothing failed there */
        report_compute(&rep, &r, &a);
        report_compute(&rep_old, &old, &a);
        report_against(&rep, &rep_old);
        const struct against *x = &rep.against[1];
        CHECK_INT(x->pair.problems, 8);
        if (samples == 1) {
            CHECK_NEAR(x->length_ratio, 1, 1e-12);
            CHECK_NEAR(x->length_p, 1, 1e-12);
            CHECK_NEAR(x->tokens_a, 130, 1e-9);
            CHECK_NEAR(x->tokens_b, 130, 1e-9);
        } else { /* 100 + 20 i of 100 + 20 i + 5 */
            CHECK_NEAR(x->tokens_a, 175, 1e-9);
            CHECK_NEAR(x->tokens_b, 170, 1e-9);
            CHECK(x->length_ratio > 0.96 && x->length_ratio < 1);
        }
        arena_release(&a);
        fake_release(&r);
        fake_release(&old);
    }
}

static void test_csv(void)
{
    const struct csv_table *t = NULL;
    struct run r;
    struct report rep;
    struct arena a = {0};
    struct str text = {0};
    make_run(&r, 1);
    report_compute(&rep, &r, &a);
    for (int i = 0; (t = csv_table_at(i)) != NULL && strcmp(t->file, "lengths.csv"); i++)
        ;
    csv_print(&text, t, &rep);
    CHECK_INT(count_text(str_text(&text), "\n"), 17); /* failed jobs have a row, too */
    CHECK_INT(count_text(str_text(&text), ",error,0,error,0,"), 4);
    CHECK_INT(count_text(str_text(&text), ",0,,error,0,error,0,"), 4); /* sample 0, without tokens */
    str_release(&text);
    arena_release(&a);
    fake_release(&r);
}

int main(void)
{
    test_cell();
    test_against();
    test_csv();
    return check_done();
}
