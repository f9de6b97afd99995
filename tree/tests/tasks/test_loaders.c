/* Loaders and prompts on small files of the public forms, and every sentence they can say about a bad one. */
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tasks/option_order.h"
#include "tasks/task.h"
#include "tests/cases.h"

static void write_rows(const char *path, const char *text)
{
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, text, strlen(text), &e), 0);
}

static void add_line(struct str *s, const char *separator, const char *text)
{
    str_printf(s, "%s%s", s->len ? separator : "", text);
}

static void compare(const struct test_case *t, const struct task *task, const char *rows)
{
    struct str ids = {0}, golds = {0}, orders = {0}, classes = {0}, more = {0};
    const struct problem *first = task->problems;
    for (size_t i = 0; i < task->n_problems; i++) {
        const struct problem *p = &task->problems[i];
        add_line(&ids, ", ", p->id);
        for (int k = 0; k < p->n_golds; k++)
            add_line(&golds, k ? " | " : "\n", p->golds[k]);
        for (int k = 0; k < p->n_classes; k++)
            add_line(&classes, k ? " | " : "\n", p->all_classes[k]);
        if (p->option_order)
            add_line(&orders, "\n", p->option_order);
        CHECK_INT(p->prompt_len, strlen(p->prompt));
        CHECK_INT(p->gold_len, strlen(p->gold));
        CHECK(p->golds[0] == p->gold);
        CHECK(task->ops != task_find("longbench") || (p->subset && p->subset[0]));
    }
    str_printf(&more, "rendered %d thinking %d options %d no_chat %d middle %d max %d", first->is_rendered,
               first->thinking_open, first->n_options, first->no_chat, first->truncate_middle,
               first->max_new_tokens);
    if (case_text(t, "ids"))
        CASE_STR(t, "ids", str_text(&ids));
    if (case_text(t, "prompt"))
        CASE_STR(t, "prompt", first->prompt);
    if (case_text(t, "golds"))
        CASE_STR(t, "golds", str_text(&golds));
    if (case_text(t, "classes"))
        CASE_STR(t, "classes", str_text(&classes));
    if (case_text(t, "orders"))
        CASE_STR(t, "orders", str_text(&orders));
    if (case_text(t, "more"))
        CASE_STR(t, "more", str_text(&more));
    char hash[65];
    if (case_text(t, "problem")) {
        sha256_hex(case_text(t, "problem"), strlen(case_text(t, "problem")), hash, 16);
        CHECK_STR(first->hash, hash);
    }
    sha256_hex(rows, strlen(rows), hash, 64);
    CHECK_STR(task->source, hash);
    str_release(&ids);
    str_release(&golds);
    str_release(&orders);
    str_release(&classes);
    str_release(&more);
}

static void run(const struct test_case *t)
{
    struct task_options o;
    struct task task;
    struct err e = {0};
    struct arena a = {0};
    const char *problems = case_text(t, "problems"), *rows = case_need(t, "rows");
    char *path = arena_printf(&a, "loaders/%s", case_need(t, "name"));
    write_rows(path, rows);
    param_defaults(task_params, &o);
    o.file = path;
    o.prompt = case_text(t, "prompt_variant");
    o.subset = case_text(t, "subset");
    for (int i = 0; case_text(t, "order") && option_rule_names[i]; i++)
        if (!strcmp(case_text(t, "order"), option_rule_names[i]))
            o.order = i;
    if (case_text(t, "duplicates"))
        o.duplicates = DUPLICATES_FOLD;
    if (problems)
        o.problems = (int)strtol(problems, NULL, 10);
    int rc = task_open(&task, case_need(t, "task"), &o, NULL, NULL, &e);
    if (case_text(t, "error")) {
        CASE_STR(t, "error", e.text);
        CHECK(rc < 0 && rc == e.code);
    } else if (rc) {
        fprintf(stderr, "%s:%d: %s\n", t->path, t->line, e.text);
        CHECK_INT(rc, 0);
    } else {
        compare(t, &task, rows);
    }
    task_close(&task);
    arena_release(&a);
}

/* LongBench's score is the best over the answers; triviaqa counts the first line only. */
static void longbench_grades(void)
{
    static const struct {
        const char *text;
        enum finish finish;
        enum verdict verdict;
        double score;
    } want[] = {
        {"Ann Lee", FINISH_STOP, VERDICT_CORRECT, 1},
        {"\n\nAnn Lee\nand more words", FINISH_LENGTH, VERDICT_CORRECT, 1},
        {"Ann Smith", FINISH_STOP, VERDICT_WRONG, 2.0 / 3},
        {"Bob", FINISH_STOP, VERDICT_WRONG, 0},
        {"\n", FINISH_STOP, VERDICT_UNPARSED, 0},
        {"\n", FINISH_LENGTH, VERDICT_TRUNCATED, 0},
        {"<think>Ann Lee", FINISH_LENGTH, VERDICT_UNFINISHED, 0},
        {"<think>Bob</think>Ann", FINISH_STOP, VERDICT_CORRECT, 1},
    };
    struct task_options o;
    struct task t;
    struct err e = {0};
    write_rows(
        "loaders/triviaqa.jsonl",
        "{\"input\": \"Q\", \"context\": \"C\", \"answers\": [\"Ann\", \"Ann Lee\"], \"_id\": \"aa\"}\n");
    param_defaults(task_params, &o);
    o.file = "loaders/triviaqa.jsonl";
    CHECK_INT(task_open(&t, "longbench", &o, NULL, NULL, &e), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct arena a = {0};
        struct grade g;
        struct response r = {want[i].text, strlen(want[i].text), THINKING_AUTO, want[i].finish};
        CHECK_INT(t.ops->grade(&g, t.problems, &r, &a), 0);
        CHECK_STR(verdict_name(g.verdict), verdict_name(want[i].verdict));
        CHECK_NEAR(g.score, want[i].score, 1e-12);
        arena_release(&a);
    }
    /* a long answer is shown up to a whole character */
    struct arena a = {0};
    struct grade g;
    struct str text = {0};
    for (int i = 0; i < 150; i++)
        str_puts(&text, "\xc3\xa9");
    struct response r = {text.data, text.len, THINKING_AUTO, FINISH_STOP};
    CHECK_INT(t.ops->grade(&g, t.problems, &r, &a), 0);
    CHECK_INT(strlen(g.pred_form), 196 + 3);
    CHECK(!strncmp(g.pred_form, text.data, 196) && !strcmp(g.pred_form + 196, "..."));
    str_release(&text);
    arena_release(&a);
    task_close(&t);
}

/* Each data set by its own metric, with its classes and its segmenter. */
static void longbench_metrics(void)
{
    static const char *const classes[] = {"City", "Date"};
    static const struct {
        const char *subset, *gold, *text;
        enum verdict verdict;
        double score;
        const char *reason;
    } want[] = {
        {"lcc", "x = 1", "```\nx = 1\n```", VERDICT_CORRECT, 1, "code_sim_score of the best of 1 "},
        {"gov_report", "the cat. sat", "the cat. sat", VERDICT_CORRECT, 1, "rouge_score of the best"},
        {"trec", "Date", "City or Date\nDate", VERDICT_WRONG, 0.5, "classification_score of the best"},
        {"passage_count", "12", "12 of 13", VERDICT_WRONG, 0.5, "count_score of the best"},
        {"passage_retrieval_en", "none", "Paragraph 7", VERDICT_ERROR, 0,
         "retrieval_score: the reference has no number"},
        {"vcsum", "\xe7\x9a\x84", "\xe7\x9a\x84", VERDICT_CORRECT, 1,
         "rouge_zh_score with segmenter=char of "},
        {"nosuch", "x", "x", VERDICT_ERROR, 0, "The problem's data set is not one of LongBench's."},
        {NULL, "x", "x", VERDICT_ERROR, 0,
         "the folder does not say of which data set the problem is; repeat the sweep"},
    };
    const struct task_ops *ops = task_find("longbench");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct arena a = {0};
        struct grade g;
        struct response r = {want[i].text, strlen(want[i].text), THINKING_AUTO, FINISH_STOP};
        struct problem p = {.id = "x",
                            .gold = want[i].gold,
                            .gold_len = strlen(want[i].gold),
                            .golds = &want[i].gold,
                            .n_golds = 1,
                            .subset = want[i].subset,
                            .all_classes = classes,
                            .n_classes = 2};
        CHECK_INT(ops->grade(&g, &p, &r, &a), 0);
        CHECK_STR(verdict_name(g.verdict), verdict_name(want[i].verdict));
        CHECK_NEAR(g.score, want[i].score, 1e-6);
        CHECK(!strncmp(g.reason, want[i].reason, strlen(want[i].reason)));
        int needs = want[i].subset && ops->needs_segmenter(want[i].subset);
        CHECK_INT(needs, want[i].subset && !strcmp(want[i].subset, "vcsum"));
        CHECK_STR(g.segmenter ? g.segmenter : "", needs ? "char" : "");
        arena_release(&a);
    }
}

/* A copy of AIME 2025 with one wrong answer is refused; another set of 30 problems is not. */
static void damaged_answers(void)
{
    static const char *const answers[] = {"70",  "588", "016", "117", "279", "504", "821", "077",
                                          "62",  "81",  "259", "510", "204", "60",  "735", "468",
                                          "49",  "82",  "106", "336", "293", "237", "610", "149",
                                          "907", "113", "19",  "248", "104", "240"};
    static const char *const want[] = {
        NULL,
        "loaders/aime.jsonl: 29 answers are those of aime25, but not that of "
        "problem 8: this copy is damaged; `kveval fetch aime25` gets one that is "
        "checked",
        "loaders/aime.jsonl: 29 answers are those of aime25, but not that of "
        "problem 8: this copy is damaged; `kveval fetch aime25` gets one that is "
        "checked",
        NULL};
    static const char *const instead[] = {"077", "78", "x", "077"};
    struct task_options o;
    struct task t;
    param_defaults(task_params, &o);
    o.file = "loaders/aime.jsonl";
    for (int pass = 0; pass < 4; pass++) {
        struct str rows = {0};
        struct err e = {0};
        for (int i = 0; i < 30; i++)
            str_printf(&rows, "{\"problem\": \"Which %d?\", \"answer\": \"%s\"}\n", i,
                       i == 7               ? instead[pass]
                       : i == 19            ? "336^\\\\circ"
                       : pass == 3 && i % 3 ? "1"
                                            : answers[i]);
        write_rows(o.file, rows.data);
        int rc = task_open(&t, "aime25", &o, NULL, NULL, &e);
        CHECK_STR(e.text, want[pass] ? want[pass] : "");
        CHECK_INT(rc, want[pass] ? ERR_FORMAT : 0);
        task_close(&t);
        str_release(&rows);
    }
}

/* An order depends on the record alone: not on its row, nor on the others. */
static void order_is_stable(void)
{
    static const char head[] =
        "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n";
    struct task_options o;
    struct task t;
    struct err e = {0};
    struct str rows = {0}, orders = {0};
    param_defaults(task_params, &o);
    o.file = "loaders/order.csv";
    for (int pass = 0; pass < 2; pass++) {
        str_clear(&rows);
        str_puts(&rows, head);
        for (int i = 0; i < 200; i++)
            str_printf(&rows, "rec%d,q%d,a,b,c,d\r\n", pass ? 199 - i : i, i);
        write_rows(o.file, rows.data);
        CHECK_INT(task_open(&t, "gpqa_diamond", &o, NULL, NULL, &e), 0);
        int at[4] = {0};
        for (int i = 0; i < 200; i++) {
            const struct problem *p = &t.problems[pass ? 199 - i : i];
            if (!pass)
                str_puts(&orders, p->option_order);
            else
                CHECK(!strncmp(orders.data + 4 * i, p->option_order, 4));
            CHECK_INT(p->option_order[p->gold[0] - 'A'], 'A');
            at[p->gold[0] - 'A']++;
        }
        for (int k = 0; k < 4; k++)
            CHECK(at[k] > 25 && at[k] < 75); /* 50 expected, four standard deviations */
        task_close(&t);
    }
    str_release(&rows);
    str_release(&orders);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct cases c;
    struct test_case t;
    struct err e = {0};
    CHECK_INT(file_mkdirs("loaders", &e), 0);
    cases_open(&c, argv[1]);
    while (cases_next(&c, &t))
        run(&t);
    cases_close(&c);
    longbench_grades();
    longbench_metrics();
    damaged_answers();
    order_is_stable();
    CHECK_INT(file_remove_tree("loaders", &e), 0);
    return check_done();
}
