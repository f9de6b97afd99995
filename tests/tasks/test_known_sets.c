/* Published sets are recognised by facts about their rows. The texts here are written for the test; rows of
 * the sets themselves are stood for by their fingerprints. */
#include "evalcore/base/file.h"
#include "tasks/known_sets.h"
#include "tests/check.h"

/* A task of n problems with these fingerprints. */
static void fill(struct task *t, const char *name, const char *subset, const uint32_t *rows, int n)
{
    *t = (struct task){.ops = task_find(name)};
    t->problems = arena_alloc(&t->arena, (size_t)n * sizeof *t->problems);
    t->n_problems = (size_t)n;
    for (int i = 0; i < n; i++)
        t->problems[i] =
            (struct problem){.id = "x", .prompt = "x", .gold = "x", .row = rows[i], .subset = subset};
}

static void says(const struct task *t, const char *want, int is_it, int first)
{
    struct task_set_facts f;
    struct str text = {0};
    task_set_facts(&f, &text, t);
    CHECK_STR(str_text(&text), want);
    CHECK_INT(f.is_it, is_it);
    CHECK_INT(f.first, first);
    str_release(&text);
}

/* Parts of a set, in its order and in another. */
static void parts(void)
{
    struct task t;
    uint32_t rows[500];
    memcpy(rows, known_math500, sizeof rows);
    fill(&t, "math500", NULL, rows, 500);
    known_set_match(&t);
    CHECK(known_set_is_whole(&t));
    says(&t, "MATH-500, all 500", 1, 500);
    t.n_problems = 30;
    says(&t, "the first 30 of MATH-500's 500", 1, 30);
    t.problems++;
    says(&t, "30 of MATH-500's 500", 1, 0);
    task_close(&t);
    rows[3] = known_math500[4];
    rows[4] = known_math500[3];
    fill(&t, "math500", NULL, rows, 500);
    known_set_match(&t);
    CHECK(known_set_is_whole(&t));
    says(&t, "MATH-500, all 500, in another order", 1, 500);
    t.n_problems = 30;
    says(&t, "30 of MATH-500's 500", 1, 0);
    task_close(&t);
    rows[3] = rows[4]; /* one of its rows twice is not the set */
    fill(&t, "math500", NULL, rows, 500);
    known_set_match(&t);
    CHECK(!known_set_is_whole(&t));
    says(&t, "not MATH-500: 499 of 500 problems and 1 other problem; name the task otherwise", 0, 0);
    task_close(&t);
}

/* GPQA-Diamond is known by its file alone. */
static void gpqa(void)
{
    struct task t;
    uint32_t rows[198] = {0};
    fill(&t, "gpqa_diamond", NULL, rows, 198);
    known_set_match(&t);
    says(&t, "not GPQA-Diamond, whose published file is another; name the task otherwise", 0, 0);
    memcpy(t.source, "41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305", 65);
    known_set_match(&t);
    says(&t, "GPQA-Diamond, all 198", 1, 198);
    t.n_problems = 100;
    says(&t, "the first 100 of GPQA-Diamond's 198", 1, 100);
    task_close(&t);
}

/* Which way out the refusal of another set shows. */
static void others(void)
{
    static const struct {
        const char *name, *subset;
        const uint32_t *rows;
        int n;
        const char *want, *label;
    } c[] = {
        {"gsm8k", NULL, known_math500, 500,
         "f: these are problems of MATH-500, not of GSM8K; name the task \"math500\"", NULL},
        {"math500", NULL, known_aime24, 2,
         "f: these are problems of AIME 2024, not of MATH-500; name the task \"aime24\"", NULL},
        {"longbench", "qasper", known_longbench_musique, 200,
         "f: these are problems of LongBench musique, not of LongBench qasper; ask for it with \"subset\": "
         "\"musique\"",
         NULL},
        {"longbench", "qasper", known_longbench_qasper, 200,
         "f: these are problems of LongBench qasper, not of LongBench lcc; leave out \"as\", or write "
         "\"qasper\"",
         "lcc"},
        {"longbench", "qasper", known_longbench_qasper, 200, "", "qasper"},
        {"longbench", "qasper", known_longbench_qasper, 200, "", "longbench subset=qasper"},
        {"math500", NULL, known_math500, 30,
         "f: these are problems of MATH-500, not of GSM8K; leave out \"as\", or write \"math500\"",
         "gsm8k problems=30"},
        {"longbench", "trec", known_longbench_trec, 50, "", NULL},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct task t;
        struct err e = {0};
        fill(&t, c[i].name, c[i].subset, c[i].rows, c[i].n);
        t.label = c[i].label;
        known_set_match(&t);
        CHECK_INT(known_set_check(&t, "f", &e), *c[i].want ? ERR_USAGE : 0);
        CHECK_STR(e.text, c[i].want);
        task_close(&t);
    }
}

/* Every LongBench set is told from the others by its answers alone. */
static void longbench(void)
{
    static const struct {
        const char *name;
        const uint32_t *rows;
        int n;
    } sets[] = {
        {"narrativeqa", known_longbench_narrativeqa, 200},         {"lcc", known_longbench_lcc, 500},
        {"repobench-p", known_longbench_repobench_p, 500},         {"lsht", known_longbench_lsht, 200},
        {"multifieldqa_en", known_longbench_multifieldqa_en, 150},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct task t;
        char want[100];
        fill(&t, "longbench", sets[i].name, sets[i].rows, sets[i].n);
        known_set_match(&t);
        snprintf(want, sizeof want, "LongBench %s, all %d", sets[i].name, sets[i].n);
        says(&t, want, 1, sets[i].n);
        task_close(&t);
    }
}

/* Whether they are LongBench-E's nothing tells, which is said. */
static void longbench_e(void)
{
    static const struct {
        const char *subset, *file;
    } ways[] = {{"qasper_e", NULL}, {NULL, "data/qasper_e.jsonl"}};
    const uint32_t rows[3] = {known_longbench_qasper[0], 1, 2};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct task t;
        fill(&t, "longbench", "qasper", rows, 3);
        t.options.subset = ways[i].subset;
        t.options.file = ways[i].file;
        known_set_match(&t);
        says(&t,
             "not LongBench qasper: 1 of 200 problems and 2 other problems; the problems of LongBench-E are "
             "not "
             "known here; name the task otherwise",
             0, 0);
        task_close(&t);
    }
}

/* Copies that write the same problem differently have one fingerprint, which tasks/known_rows.py computes,
 * too. */
static void fingerprints(void)
{
    static const char *const same[] = {
        "Let $x\\ge \\frac{1}{2}$. Find \\(x+1\\).", "let  $x \\geq \\dfrac12$. \nFind $x + 1$.",
        "Let x \xe2\x89\xa5 \\tfrac{1}{2}. [asy] draw((0,0)--(3,4)); [/asy]Find x+1."};
    for (int i = 0; i < 3; i++)
        CHECK_INT(known_row_of_text(same[i], strlen(same[i])), 0x9c040972U);
    CHECK_INT(known_row_of_text("$ \\alpha $", 10), 0);
    CHECK(known_row_of_text("[asy] x", 7) == known_row_of_text("asyx", 4));
    const char *answers[] = {"a", "b"}, *joined[] = {"ab"};
    CHECK(known_row_of_answers(answers, 2) != known_row_of_answers(joined, 1));
    CHECK_INT(known_row_of_answers(answers, 2), 0x7e18f737U);
}

/* AIME under names that are true and that are not: made-up problems with the contests' answers. */
static void aime(void)
{
    static const int a24[] = {204, 25,  809, 116, 104, 294, 540, 197, 480, 113, 371, 385, 110, 104, 721,
                              73,  236, 45,  33,  80,  55,  699, 127, 902, 468, 601, 23,  321, 211, 315};
    static const int a26[] = {277, 62,  79,  70,  65,  441, 396, 244, 29,  156, 896, 161, 39,  681, 83,
                              178, 243, 503, 279, 190, 50,  754, 245, 669, 850, 132, 223, 107, 157, 393};
    static const struct {
        const char *name, *label;
        const int *answers;
        int n, invented;  /* answers from 1000 on, which no contest has */
        const char *want; /* what is said, or the error */
    } c[] = {
        {"aime24", NULL, a24, 30, 0, "AIME 2024, all 30 by their answers, with other texts"},
        {"aime24", "mine", a24, 30, 0, "AIME 2024, all 30 by their answers, with other texts"},
        {"aime24", "aime24 problems=15", a24, 15, 0,
         "15 of AIME 2024's 30 by their answers, with other texts"},
        {"aime24", NULL, a24, 3, 27,
         "not AIME 2024: 3 of 30 answers and 27 other problems; name the task otherwise"},
        {"aime24", "aime26", a24, 0, 30, "not AIME 2026: 0 of 30 answers; name the task otherwise"},
        {"aime24", "mine", a24, 0, 30, "not AIME 2024: 0 of 30 answers"},
        {"aime24", "aime26", a26, 30, 0, "AIME 2026, all 30 by their answers"},
        {"aime24", "AIME 2026", a26, 30, 0, "AIME 2026, all 30 by their answers"},
        {"aime24", NULL, a26, 30, 0,
         "these are problems of AIME 2026, not of AIME 2024; give it \"as\": \"aime26\""},
        {"aime25", NULL, a24, 30, 0,
         "these are problems of AIME 2024, not of AIME 2025; name the task \"aime24\""},
        {"aime24", "aime26", a24, 30, 0,
         "these are problems of AIME 2024, not of AIME 2026; leave out \"as\", or write \"aime24\""},
        {"aime24", "AIME-2025", a24, 10, 0,
         "these are problems of AIME 2024, not of AIME 2025; leave out \"as\", or write \"aime24\""},
    };
    struct task_options o;
    param_defaults(task_params, &o);
    o.file = "known_sets.jsonl";
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct task t;
        struct err e = {0};
        struct str rows = {0};
        for (int k = 0; k < c[i].n + c[i].invented; k++)
            str_printf(&rows, "{\"problem\": \"Which %d?\", \"answer\": \"%d\"}\n", k,
                       k < c[i].n ? c[i].answers[k] : 1000 + k);
        CHECK_INT(file_write_atomic(o.file, rows.data, rows.len, &e), 0);
        int rc = task_open_as(&t, task_find(c[i].name), c[i].label, &o, NULL, NULL, &e);
        if (rc)
            CHECK_STR(strstr(e.text, ": ") ? strstr(e.text, ": ") + 2 : "", c[i].want);
        else
            says(&t, c[i].want, !strstr(c[i].want, "not "), 0);
        CHECK_INT(rc, strncmp(c[i].want, "these", 5) ? 0 : ERR_USAGE);
        task_close(&t);
        str_release(&rows);
    }
    remove(o.file);
}

int main(void)
{
    parts();
    gpqa();
    others();
    longbench();
    longbench_e();
    fingerprints();
    aime();
    return check_done();
}
