/* Loading a run folder made by hand: which record of a key counts, what is foreign, damaged or missing,
 * grades kept and made anew. */
#include "evalcore/store/grades.h"
#include "evalcore/store/run.h"
#include "tests/evalcore/run_folder.h"

/* Two cells with the same identity (an "as" of the same thing): they share jobs. */
static void write_folder(void)
{
    folder_problems("\"id\":\"one\",\"golds\":[\"42\"],\"prompt\":\"what?\"");
    folder_config(
        json_pack("[o]", folder_task("relay", "relay", "problems/p.jsonl")),
        json_pack("[o, o]", folder_cell("cell-1", "full", 0, 1), folder_cell("cell-2", "twice", 0, 2)));
}

static void add(struct journal *j, const char *problem, const char *sha, int sample, const char *finish,
                const char *digest, int tokens, const char *text)
{
    const struct folder_job job = {problem, sha, sample, finish, digest, tokens, NULL, 0};
    folder_add(j, &job, NULL, 0, text, strlen(text));
}

static void write_journals(void)
{
    struct journal a, b;
    journal_init(&a, "folder");
    journal_init(&b, "folder");
    add(&a, "one", "s1", 0, "error", "zz", 0, "");
    add(&b, "one", "s1", 0, "stop", "bb", 11, "</think> \\boxed{42}");
    add(&a, "one", "s1", 0, "stop", "aa", 10, "</think> \\boxed{41}");
    add(&b, "two", "s2", 0, "length", "cc", 100, "still thinking");
    add(&b, "two", "s2", 0, "length", "cc", 100, "still thinking");
    add(&b, "one", "s1", 1, "error", "", 0, "");
    add(&a, "gone", "s9", 0, "stop", "dd", 1, "");
    FILE *f = fopen(b.path, "ab");
    fputs("{\"key\":\"x\",\"ids\":[],\"text\":\"\",\"crc\":\"00000000\"}\n{\"torn", f);
    fclose(f);
    journal_close(&a);
    journal_close(&b);
}

static void loads(void)
{
    struct run r;
    struct err e = {0};
    struct str text = {0};
    CHECK_INT(run_load(&r, "folder", &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(r.n_cells, 2);
    CHECK_INT(r.n_expected, 2 + 4);
    CHECK_INT(r.n_done, 2 + 3);
    CHECK_INT(r.n_duplicates, 2);
    CHECK_INT(r.n_retried, 1);
    CHECK_INT(r.n_conflicts, 1);
    CHECK_INT(r.n_bad_lines, 1);
    CHECK_INT(r.n_foreign, 1);
    const struct cell *c = &r.cells[0];
    CHECK_INT(c->n_records, 2);
    CHECK_STR(c->budget, "8");
    CHECK_INT(c->max_context, 4096);
    CHECK_INT(run_limit(c, 0), 100);
    CHECK_INT(run_limit(c, 1), 9);       /* its own */
    CHECK_INT(c->records[0].tokens, 10); /* a completion before an error, then the smaller digest */
    CHECK_NEAR(c->records[0].kv.reads, 12.5, 0);
    CHECK_INT(c->records[0].verdict, VERDICT_WRONG);
    CHECK_INT(c->records[1].verdict, VERDICT_UNFINISHED); /* the prompt opened thinking */
    CHECK_INT(c->records[1].finish, FINISHED_LENGTH);
    CHECK_INT(run_text(&r, &c->records[1], &text, &e), 0);
    CHECK_STR(str_text(&text), "still thinking");
    c = &r.cells[1];
    CHECK_INT(c->n_records, 3);
    CHECK_INT(c->records[1].sample, 1);
    CHECK_INT(c->records[1].verdict, VERDICT_ERROR);
    CHECK_STR(c->records[1].error, "it broke");
    CHECK_INT(c->records[2].problem, 1);
    CHECK_INT(run_find_cell(&r, "cell-2", &e), 1);
    CHECK_INT(run_find_cell(&r, "twice", &e), 1);
    CHECK_INT(run_find_cell(&r, "ell-1", &e), 0);
    CHECK_INT(run_find_cell(&r, "cell", &e), -1);
    str_release(&text);
    run_release(&r);
}

/* What a planner loads: the keys and lengths of run_load(), and no completion was graded for them. */
static void loads_ungraded(void)
{
    struct run plan, full;
    struct err e = {0};
    CHECK(!file_exists("folder/grades"));
    CHECK_INT(run_load(&full, "folder", &e), 0);
    CHECK_INT(full.n_graded, 4);
    CHECK_INT(run_load_with(&plan, "folder", &(struct run_options){.grades = RUN_GRADES_NONE}, &e), 0);
    CHECK_INT(plan.n_graded, 0);
    CHECK_INT(plan.n_done, full.n_done);
    CHECK_INT(plan.n_conflicts, full.n_conflicts);
    CHECK_INT(plan.n_bad_lines, full.n_bad_lines);
    for (int c = 0; c < full.n_cells; c++)
        for (int i = 0; i < full.cells[c].n_records; i++) {
            const struct record *a = &plan.cells[c].records[i], *b = &full.cells[c].records[i];
            CHECK_STR(a->key, b->key);
            CHECK_INT(a->problem, b->problem);
            CHECK_INT(a->tokens, b->tokens);
            CHECK_INT(a->finish, b->finish);
        }
    run_release(&plan);
    run_release(&full);
}

/* Kept grades are used while the reference answer is the same; `score` ignores them. */
static void grades(void)
{
    struct run r;
    struct err e = {0};
    struct str path = {0}, book = {0};
    CHECK_INT(run_load(&r, "folder", &e), 0);
    CHECK_INT(r.n_graded, 4);
    CHECK_INT(grades_save(&r, &e), 0);
    run_release(&r);
    CHECK_INT(run_load(&r, "folder", &e), 0);
    CHECK_INT(r.n_graded, 0);
    CHECK_INT(r.cells[0].records[0].verdict, VERDICT_WRONG);
    CHECK_STR(r.cells[0].records[0].gold_form, "42");
    run_release(&r);
    CHECK_INT(run_load_with(&r, "folder", &(struct run_options){.grades = RUN_GRADES_NEW}, &e), 0);
    CHECK_INT(r.n_graded, 4);
    run_release(&r);
    str_printf(&path, "folder/grades/%s.jsonl", answer_check_version());
    CHECK_INT(file_read(path.data, &book, &e), 0);
    char *wrong = strstr(book.data, "\"wrong\"");
    CHECK(wrong != NULL);
    str_puts(&book, "not json\n{\"key\":1}\n");
    write_text(path.data, book.data);
    CHECK_INT(run_load(&r, "folder", &e), 0); /* damaged rows are left out */
    CHECK_INT(r.n_graded, 0);
    run_release(&r);
    str_release(&path);
    str_release(&book);
}

/* Reports, exports and comparisons asked in three ways, which differed where a prompt was not kept. */
static void restricted(void)
{
    static const struct {
        const char *task, *first, *second; /* prompts */
        int is_restricted;
    } rows[] = {
        {"relay", "a", "b", 0},
        {"gpqa_diamond", NULL, NULL, 1},
        {"gpqa_diamond", "a", "b", 1},
        {"of_a_newer_version", "a", "b", 0},
        {"of_a_newer_version", NULL, NULL, 1},
        {"relay", "a", NULL, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_problem p[] = {{.prompt = rows[i].first}, {.prompt = rows[i].second}};
        struct run_task t = {.name = rows[i].task, .problems = p, .n_problems = 2};
        CHECK_INT(run_task_is_restricted(&t), rows[i].is_restricted);
    }
}

static void refusals(void)
{
    struct run r;
    struct err e = {0};
    CHECK_INT(run_load(&r, "nowhere", &e), ERR_USAGE);
    CHECK_STR(e.text, "nowhere: there is no such folder; kveval sweep RUN.json -o nowhere makes one");
    struct err other = {0};
    write_text("folder/problems/p.jsonl", "{\"id\":\"one\"}\n");
    CHECK_INT(run_load(&r, "folder", &other), ERR_FORMAT);
    CHECK(strstr(other.text, "folder/problems/p.jsonl was changed since the sweep wrote it") == other.text);
    folder_config(json_pack("[o]", folder_task("relay", "relay", "problems/p.jsonl")), json_array());
    other = (struct err){0};
    CHECK_INT(run_load(&r, "folder", &other), ERR_FORMAT);
    CHECK_STR(other.text, "folder/problems/p.jsonl:1: field \"prompt_sha256\" is missing");
}

static void add_text(struct journal *j, int sample, const char *likelihood)
{
    const struct folder_job job = {
        "one", "s1", sample, "length", "aa", 3, likelihood ? json_loads(likelihood, 0, NULL) : NULL, 0};
    folder_add(j, &job, NULL, 0, "abc", 3);
}

/* The tokens of a text are given, so two of its records can only differ in their likelihood. */
static void texts(void)
{
    struct run r;
    struct err e = {0};
    struct journal j;
    json_t *config = NULL;
    write_folder();
    CHECK_INT(json_read_file(&config, "folder/config.resolved.json", &e), 0);
    json_t *task = json_array_get(json_object_get(config, "tasks"), 0);
    json_object_set_new(task, "name", json_string("text"));
    json_object_set_new(task, "metric", json_string("bits_per_byte"));
    char *text = json_dumps(config, 0);
    write_text("folder/config.resolved.json", text);
    journal_init(&j, "folder");
    add_text(&j, 0, "[[4,3,2,6,12.5,0.5]]");
    add_text(&j, 0, "[[4,3,2,6,12,0.5]]");
    add_text(&j, 0, "[[4,3,2,6,12,0.5]]");
    add_text(&j, 1, NULL);
    journal_close(&j);
    CHECK_INT(run_load(&r, "folder", &e), 0);
    CHECK_INT(r.n_duplicates, 2);
    CHECK_INT(r.n_conflicts, 1);
    CHECK_INT(r.n_graded, 0);
    const struct record *rec = r.cells[1].records;
    CHECK(r.tasks[0].is_text && rec[0].likelihood && likelihood_total(rec[0].likelihood).tokens == 3);
    CHECK_NEAR(rec[0].score, 2, 0);
    CHECK_INT(rec[1].verdict, VERDICT_ERROR);
    CHECK_STR(rec[1].reason, "the record has no likelihood of a text");
    CHECK_INT(grades_save(&r, &e), 0);
    run_release(&r);
    free(text);
    json_decref(config);
}

/* Of each pair of records of one job the second counts, in whatever order they are read. */
static void withdrawn_records(void)
{
    static const struct {
        const char *finish[2], *digest[2];
        int withdrawn[2];
    } rows[] = {
        {{"stop", "error"}, {"aa", ""}, {0, 1}},  /* a completion that was withdrawn */
        {{"error", "stop"}, {"", "bb"}, {1, 2}},  /* and decoded again */
        {{"stop", "stop"}, {"aa", "bb"}, {0, 2}}, /* to other tokens, which is no conflict */
        {{"stop", "stop"}, {"aa", "aa"}, {0, 2}}, /* to the same */
        {{"stop", "error"}, {"aa", ""}, {0, 2}},  /* or it failed */
        {{"stop", "error"}, {"bb", ""}, {2, 3}},  /* and once more */
        {{"error", "stop"}, {"", "bb"}, {2, 2}},  /* what --retry-errors makes of that */
    };
    for (size_t k = 0; k < 2 * sizeof rows / sizeof *rows; k++) {
        struct run r;
        struct err e = {0};
        struct journal j;
        write_folder();
        journal_init(&j, "folder");
        for (int i = 0; i < 2; i++) {
            int of = (int)(k % 2) ^ i;
            const struct folder_job job = {.problem = "one",
                                           .sha = "s1",
                                           .finish = rows[k / 2].finish[of],
                                           .digest = rows[k / 2].digest[of],
                                           .tokens = 10 + of,
                                           .withdrawn = rows[k / 2].withdrawn[of]};
            folder_add(&j, &job, NULL, 0, "x", 1);
        }
        journal_close(&j);
        CHECK_INT(run_load(&r, "folder", &e), 0);
        int second = rows[k / 2].withdrawn[1];
        if (second % 2) { /* as if it had never been decoded */
            CHECK(r.cells[0].n_records == 0 && r.n_done == 0 && r.n_withdrawals == 1);
            CHECK_INT(r.withdrawals[0].number, second);
        } else {
            CHECK(r.cells[0].n_records == 1 && r.cells[0].records[0].tokens == 11);
            CHECK_INT(r.n_withdrawals, 0);
        }
        CHECK_INT(r.n_conflicts, 0);
        int is_pair = rows[k / 2].withdrawn[0] == second; /* an ordinary error, decoded again */
        CHECK(r.n_retried == is_pair && r.n_withdrawn == !is_pair);
        run_release(&r);
    }
}

int main(void)
{
    write_folder();
    write_journals();
    loads();
    loads_ungraded();
    grades();
    restricted();
    refusals();
    texts();
    withdrawn_records();
    return check_done();
}
