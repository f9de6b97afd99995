/* What a setting's verdict may not hide: answers that are missing, a baseline with nothing to lose, problems
 * on which the policy had no part. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/export/csv_tables.h"
#include "evalcore/report/report_parts.h"
#include "tests/check.h"
#include "tests/evalcore/report/fake_run.h"

static int count_text(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what))
        n++;
    return n;
}

static int has_caution(const struct report *r, const char *what)
{
    struct cautions c = report_cautions(r);
    int n = 0;
    for (int i = 0; i < c.n; i++)
        n += strstr(c.text[i], what) != NULL;
    return n;
}

/* In how many lines of the lead this stands. */
static int has_line(const struct report *r, const char *what)
{
    struct verdict_lines l = report_verdict_lines(r);
    int n = 0;
    for (int i = 0; i < l.n; i++)
        n += strstr(arena_printf(r->arena, "%s: %s; %s", l.line[i].name, l.line[i].text,
                                 l.line[i].more ? l.line[i].more : ""),
                    what) != NULL;
    return n;
}

/* A setting that read everything on most problems was called as good as full attention without a word. */
static void test_idle_problems(void)
{
    static const struct fake_task tasks[] = {{"relay", "relay", "accuracy", 0, 100, 346},
                                             {"choice", "choice", "accuracy", 0, 100, 20}};
    struct run r;
    struct report rep;
    struct arena a = {0};
    fake_two(&r, tasks, 2, 10, 2, 4, 4);
    for (int i = 0; i < 20; i++) { /* of choice, the first problem's second sample alone was sparse */
        struct record *k = &((struct record *)r.cells[3].records)[i];
        if (i != 1)
            k->kv.reads = k->kv.reads_full;
    }
    report_compute(&rep, &r, &a);
    const struct setting *s = &rep.settings[1];
    CHECK_INT(rep.settings[0].n_idle, 0);
    CHECK_INT(s->n_idle, 9);
    CHECK_INT(s->n_answered, 20);
    CHECK_INT(s->activity, ACTIVITY_USED);
    CHECK_INT(count_text(report_setting_notes(&rep, s), "read everything on 9 of 20 problems"), 1);
    CHECK_INT(has_line(&rep, "read everything on 9 of 20 problems"), 1);
    arena_release(&a);
    fake_release(&r);
}

/* Of a baseline that solved nothing of 60 problems every setting was as good. */
static void test_little_to_lose(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    fake_two(&r, &fake_relay, 1, 60, 1, -20, -20);
    report_compute(&rep, &r, &a);
    struct doc d; /* what all rows agree in is said once */
    struct str md = {0};
    doc_init(&d, &a, "");
    doc_section(&d, "verdict", NULL);
    report_add_verdict(&d, &rep);
    doc_markdown(&md, &d);
    CHECK_INT(count_text(str_text(&md), "60 problems of 1 task"), 1);
    CHECK_INT(count_text(str_text(&md), "over all its tasks, over 60 problems of 1 task: percent"), 1);
    doc_release(&d);
    str_release(&md);
    CHECK(rep.settings[1].pooled.noninferior_holm < 0.05 && rep.settings[1].pooled.mark == MARK_OPEN);
    CHECK_INT(count_text(report_verdict_sentence(&rep),
                         "0 of 1 setting is as good as full within 5 points over 60 problems of 1 task;"),
              1);
    CHECK_INT(has_caution(&rep, "less than the margin of 5 points: no setting"), 1);
    arena_release(&a);
    fake_release(&r);
}

/* With all answers to one of two tasks missing, the setting was judged on the other one alone: lower became
 * not decided or as good, "of 2 tasks". */
static void test_missing_task_earns_no_mark(void)
{
    static const struct fake_task tasks[] = {{"relay", "relay", "accuracy", 0, 100, 346},
                                             {"choice", "choice", "accuracy", 0, 100, 346}};
    struct run r;
    struct report rep;
    struct arena a = {0};
    fake_two(&r, tasks, 2, 30, 1, 4, -1);
    report_compute(&rep, &r, &a);
    const struct setting *s = &rep.settings[1];
    CHECK_INT(s->pooled.mark, MARK_LOWER);
    CHECK_INT(s->n_tasks, 2);
    CHECK_INT(count_text(report_verdict_sentence(&rep), "incomplete"), 0);
    r.cells[3].n_records = 0;
    report_compute(&rep, &r, &a);
    s = &rep.settings[1];
    CHECK_INT(s->pooled.mark, MARK_OPEN);
    CHECK_INT(s->n_tasks, 1);
    CHECK_INT(report_pair_of(&rep, 1)->mark, MARK_LOWER); /* that task is complete */
    CHECK_STR(report_setting_verdict(&rep, s), "? answers are missing");
    CHECK_INT(has_line(&rep, "k_pages=8 (incomplete)"), 1);
    arena_release(&a);
    fake_release(&r);
}

/* With several samples "lower" stood without a word beside an interval that asks another question. */
static void test_lower_on_these_problems(void)
{
    for (int samples = 1; samples <= 4; samples += 3) {
        struct run r;
        struct report rep;
        struct arena a = {0};
        fake_two(&r, &fake_relay, 1, 30, samples, 4, -1);
        report_compute(&rep, &r, &a);
        const struct setting *s = &rep.settings[1];
        CHECK_INT(s->pooled.mark, MARK_LOWER);
        CHECK_STR(report_setting_verdict(&rep, s),
                  samples > 1 ? "\xE2\x96\xBC lower on these problems" : "\xE2\x96\xBC lower");
        CHECK_INT(count_text(report_verdict_sentence(&rep), "1 is lower on these problems"), samples > 1);
        CHECK_INT(has_line(&rep, "lower on these problems: k_pages=8"), samples > 1);
        arena_release(&a);
        fake_release(&r);
    }
}

/* A number of the second setting's row in settings.csv. */
static double settings_field(const struct report *r, const char *column)
{
    const struct csv_table *t = NULL;
    struct str text = {0};
    int at = 0;
    for (int i = 0; (t = csv_table_at(i)) != NULL && strcmp(t->file, "settings.csv"); i++)
        ;
    while (strcmp(t->columns[at].name, column) != 0)
        at++;
    csv_print(&text, t, r);
    const char *p = str_text(&text);
    for (int line = 0; line < 2; line++)
        p = strchr(p, '\n') + 1;
    for (int k = 0; k < at; k++) /* no field before holds a comma */
        p = strchr(p, ',') + 1;
    double v = strtod(p, NULL);
    str_release(&text);
    return v;
}

/* Where the baseline lacks answers, settings.csv had the accuracy of the shared problems beside the interval
 * over all that the setting had answered. */
static void test_settings_csv_accuracy(void)
{
    struct run r;
    struct report rep;
    struct arena a = {0};
    double score = 0, shared = 0, base = 0;
    fake_two(&r, &fake_relay, 1, 20, 1, 1, 0.5);
    r.cells[0].n_records = 7;
    for (int i = 0; i < 20; i++)
        score += r.cells[1].records[i].score;
    for (int i = 0; i < 7; i++) {
        shared += r.cells[1].records[i].score;
        base += r.cells[0].records[i].score;
    }
    CHECK(fabs(shared / 7 - score / 20) > 0.01);
    report_compute(&rep, &r, &a);
    struct interval ci = stat_wilson(score, 20);
    CHECK_NEAR(settings_field(&rep, "accuracy"), score / 20, 1e-6);
    CHECK_NEAR(settings_field(&rep, "accuracy_low"), ci.low, 1e-6);
    CHECK_NEAR(settings_field(&rep, "accuracy_high"), ci.high, 1e-6);
    CHECK_NEAR(settings_field(&rep, "compared_accuracy"), shared / 7, 1e-6);
    CHECK_NEAR(settings_field(&rep, "delta"), (shared - base) / 7, 1e-6);
    arena_release(&a);
    fake_release(&r);
}

/* Solved and not solved, one answer a problem. */
static void set_scores(const struct cell *c, const char *solved)
{
    struct record *k = (struct record *)c->records;
    for (int i = 0; i < c->n_records; i++) {
        k[i].verdict = solved[i] == '1' ? VERDICT_CORRECT : VERDICT_WRONG;
        k[i].score = solved[i] == '1';
    }
}

/* The two-sided p by all flips of the weighed differences. */
static double all_flips(const double *d, int n)
{
    double seen = 0;
    long extreme = 0;
    for (int i = 0; i < n; i++)
        seen += d[i];
    for (long f = 0; f < 1L << n; f++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += f >> i & 1 ? -d[i] : d[i];
        extreme += fabs(sum) >= fabs(seen) - 1e-9;
    }
    return ldexp((double)extreme, -n);
}

/* 58 problems that no policy hurt outweighed 17 on which it lost most: "85" beside 38, 20 and 50. */
static void test_large_task_hides_no_loss(void)
{
    static const struct fake_task tasks[] = {{"lookup", "lookup", "accuracy", 0, 100, 346},
                                             {"relay", "relay", "accuracy", 0, 100, 346}};
    enum { LARGE = 40, SMALL = 10 };
    struct run r;
    struct report rep;
    struct arena a = {0};
    char all[LARGE + 1], some[] = "0000000011";
    double d[LARGE + SMALL] = {0};
    memset(all, '1', LARGE);
    fake_two(&r, tasks, 2, LARGE, 1, 4, 4); /* cells: two of lookup, two of relay */
    r.tasks[1].n_problems = SMALL;
    for (int i = 0; i < 4; i++) {
        int is_small = r.cells[i].task == &r.tasks[1];
        r.cells[i].n_records = r.cells[i].n_expected = is_small ? SMALL : LARGE;
        set_scores(&r.cells[i], is_small && !r.cells[i].is_baseline ? some : all);
    }
    report_compute(&rep, &r, &a);
    const struct setting *s = &rep.settings[1];
    CHECK_NEAR(s->accuracy, (1 + 0.2) / 2, 1e-9);
    CHECK_NEAR(s->pooled.accuracy_b, 0.6, 1e-9);
    CHECK_NEAR(s->pooled.delta, -0.4, 1e-9);
    CHECK(s->pooled.ci.low < -0.4 && s->pooled.ci.high > -0.4 && s->pooled.ci.high < 0);
    CHECK(s->ci.low < 0.6 && s->ci.low > 0.35 && s->ci.high > 0.6 && s->ci.high < 0.8);
    for (int i = 0; i < 8; i++)
        d[i] = -1;
    CHECK_NEAR(s->pooled.p, all_flips(d, 8), 1e-12);
    CHECK_STR(s->pooled.test, "signflip_exact");
    CHECK_INT(s->pooled.mark, MARK_LOWER);
    CHECK(settings_field(&rep, "accuracy") > 0.59 && settings_field(&rep, "accuracy") < 0.61);
    CHECK_INT(count_text(report_verdict_sentence(&rep), "50 problems of 2 tasks of the same weight"), 1);

    /* Gains of many small weights beside losses of large ones; nothing is decided by their mere number. */
    memset(some + 2, '1', SMALL - 2);
    set_scores(&r.cells[3], some);
    memset(all, '0', 4);
    set_scores(&r.cells[0], all);
    report_compute(&rep, &r, &a);
    s = &rep.settings[1];
    for (int i = 0; i < 6; i++)
        d[i] = i < 2 ? -1 : (double)SMALL / LARGE;
    CHECK_NEAR(s->pooled.delta, (4.0 / LARGE - 2.0 / SMALL) / 2, 1e-9);
    CHECK_NEAR(s->pooled.p, all_flips(d, 6), 1e-12);

    /* Nothing lost: 50 problems of one task would be within 5 points at 7.7 %; here the loss of 5 points may
     * be one of 10 in ten problems. */
    memset(all, '1', LARGE);
    memset(some, '1', SMALL);
    set_scores(&r.cells[0], all);
    set_scores(&r.cells[3], some);
    report_compute(&rep, &r, &a);
    s = &rep.settings[1];
    CHECK(s->pooled.noninferior >= pow(1 - 2 * 0.05, SMALL));
    CHECK_INT(s->pooled.mark, MARK_OPEN);
    CHECK(s->pooled.enough > 59);

    /* Three losses in 50: six that go one way are needed, so twice as many problems. It said 61, as if every
     * problem were lost. */
    memset(some, '0', 3);
    set_scores(&r.cells[3], some);
    report_compute(&rep, &r, &a);
    CHECK_NEAR(rep.settings[1].pooled.p, 0.25, 1e-12);
    CHECK_INT(rep.settings[1].pooled.enough, 100);
    arena_release(&a);
    fake_release(&r);
}

/* The lead cut the names behind the sixth, the cheapest good setting among them. A line for each policy: its
 * cheapest good setting with the reads, where it loses, and those without one last; a bound says that it is
 * one, and its search is not counted. */
static void test_cheapest_of_each_policy(void)
{
    static const struct fake_policy list[] = {
        {"full", "full", "{}", "", "", "", "", "", "everything", 1, 4},
        {"kascade", "kascade ratio=0.2", "{\"ratio\":0.2}", "", "", "", "ratio", "0.2", "r", 0.3, -1},
        {"quest", "quest k_pages=32", "{\"k_pages\":32}", "32", "", "", "k_pages", "32", "r", 0.8, 4},
        {"quest", "quest k_pages=16", "{\"k_pages\":16}", "16", "", "", "k_pages", "16", "r", 0.5, 4},
        {"quest", "quest k_pages=4", "{\"k_pages\":4}", "4", "", "", "k_pages", "4", "r", 0.1, -3},
        {"oracle", "oracle ratio=0.1", "{\"ratio\":0.1}", "", "", "", "ratio", "0.1", "r", 0.1, 4},
        {"dms", "dms cr=4", "{\"cr\":4,\"window\":16}", "", "", "", "cr", "4", "r", 0.26, 4},
    };
    static const struct fake_task tasks[] = {{"relay", "relay", "accuracy", 0, 100, 346},
                                             {"choice", "choice", "accuracy", -9, 100, 346}};
    const struct fake_options o = {.policies = list,
                                   .n_policies = 7,
                                   .tasks = tasks,
                                   .n_tasks = 2,
                                   .problems = 60,
                                   .samples = 1,
                                   .limit = 100000,
                                   .seed = 7};
    struct run r;
    struct report rep;
    struct arena a = {0};
    fake_run(&r, &o);
    r.margin = 10;
    report_compute(&rep, &r, &a);
    struct verdict_lines l = report_verdict_lines(&rep);
    CHECK_INT(l.n, 4);
    CHECK_INT(l.n_good, 3);
    CHECK_STR(l.line[0].name, "dms cr=4");
    CHECK_STR(l.line[0].text, "as good within 10 points at 32 % of the reads"); /* 26 and 6 to choose */
    CHECK_STR(l.line[1].name, "quest k_pages=16");
    CHECK(strstr(l.line[1].more, "lower: k_pages=4, most on relay (") && !strstr(l.line[1].more, "choice"));
    CHECK_STR(l.line[2].name, "oracle ratio=0.1");
    CHECK_STR(l.line[2].text, "a bound, as good within 10 points at 10 % of the reads");
    CHECK_STR(l.line[3].name, "kascade");
    CHECK(strstr(l.line[3].more, "lower: ratio=0.2, most on relay (") != NULL);
    CHECK_INT(count_text(report_verdict_sentence(&rep), "4 of 6 settings are as good"), 1);
    CHECK_NEAR(rep.cells[5].total_density, 0.1, 1e-9);
    struct str text = {0};
    report_text(&text, &rep);
    CHECK_INT(count_text(str_text(&text), "10 %, a bound"), 1);
    str_release(&text);
    CHECK_NEAR(settings_field(&rep, "total_density"), rep.settings[1].reads, 1e-6);
    arena_release(&a);
    fake_release(&r);
}

int main(void)
{
    test_cheapest_of_each_policy();
    test_large_task_hides_no_loss();
    test_idle_problems();
    test_little_to_lose();
    test_lower_on_these_problems();
    test_missing_task_earns_no_mark();
    test_settings_csv_accuracy();
    return check_done();
}
