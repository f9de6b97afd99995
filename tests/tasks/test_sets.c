/* The sets that are files of the program beside the harness that each is known by: three made-up rows in the
 * set's own columns, and the prompts and answers that the harness makes of them (sets/render.py), byte for
 * byte. */
#include "answer_check/answer_check.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tasks/rows.h"
#include "tasks/task.h"
#include "tests/check.h"

#define SETS SOURCE_DIR "/tests/tasks/sets/"

static int open_set(struct task *t, const char *name, const char *variant, const char *subset, struct err *e)
{
    struct task_options o;
    char path[400];
    param_defaults(task_params, &o);
    snprintf(path, sizeof path, SETS "%s.jsonl", name);
    if (!file_exists(path))
        snprintf(path, sizeof path, SETS "%s.json", name);
    o.file = path;
    o.prompt = variant;
    o.subset = subset;
    return task_open(t, name, &o, NULL, NULL, e);
}

/* A completion that is the answer in the form that the set asks for, or `right` where the harness's row has
 * one. What this machine cannot grade is left out. */
static void check_right(const struct task *t, const struct problem *p, const char *right)
{
    struct arena a = {0};
    struct grade g;
    if (t->ops->check_machine && t->ops->check_machine(NULL))
        return;
    const char *said = right          ? right
                       : p->n_options ? arena_printf(&a, "Some words.\nThe correct answer is (%s).", p->gold)
                                      : arena_printf(&a, "Some words.\n\\boxed{%s}", p->gold);
    struct response r = {said, strlen(said), THINKING_NONE, FINISH_STOP};
    CHECK_INT(t->ops->grade(&g, p, &r, &a), 0);
    CHECK_STR(verdict_name(g.verdict), "correct");
    arena_release(&a);
}

static void check_variant(const char *name, const char *variant, const json_t *want)
{
    struct task t;
    struct err e = {0};
    int before = check_failures;
    CHECK_INT(open_set(&t, name, variant, NULL, &e), 0);
    CHECK_STR(e.text, "");
    CHECK_INT(t.n_problems, json_array_size(want));
    for (size_t i = 0; i < t.n_problems && i < json_array_size(want); i++) {
        const json_t *o = json_array_get(want, i);
        CHECK_STR(t.problems[i].prompt, json_string_value(json_object_get(o, "prompt")));
        CHECK_STR(t.problems[i].gold, json_string_value(json_object_get(o, "gold")));
        check_right(&t, &t.problems[i], json_string_value(json_object_get(o, "right")));
    }
    task_close(&t);
    if (check_failures > before)
        fprintf(stderr, "in set %s, prompt %s\n", name, variant);
}

/* The default prompt of each is among those that are compared. */
static void check_set(const char *name)
{
    const struct task_ops *ops = task_find(name);
    char path[400], first[80];
    json_t *want = NULL, *rows;
    const char *variant;
    struct err e = {0};
    snprintf(path, sizeof path, SETS "%s.expected.json", name);
    CHECK(ops && ops->prompts);
    CHECK_INT(json_read_file(&want, path, &e), 0);
    snprintf(first, sizeof first, "%.*s", ops ? (int)strcspn(ops->prompts, ",") : 0, ops ? ops->prompts : "");
    CHECK(json_object_get(want, first));
    json_object_foreach(want, variant, rows)
    {
        CHECK(ops && list_has(ops->prompts, variant));
        check_variant(name, variant, rows);
    }
    json_decref(want);
}

/* A subset's rows are those whose column has the value; what the set is is told of all rows of the file. */
static void subsets(void)
{
    struct task t;
    struct err e = {0};
    CHECK_INT(open_set(&t, "longbench_v2", NULL, "hard", &e), 0);
    CHECK_INT(t.n_problems, 2);
    CHECK_STR(t.problems[0].id, "66ab");
    CHECK_INT(t.problems[0].truncate_middle, 1);
    CHECK_INT(t.problems[0].max_new_tokens, 128);
    task_close(&t);
    CHECK_INT(open_set(&t, "longbench_v2", NULL, "long", &e), 0);
    CHECK_INT(t.n_problems, 1);
    task_close(&t);
    CHECK_INT(open_set(&t, "supergpqa", NULL, "Science", &e), 0);
    CHECK_INT(t.n_problems, 2);
    task_close(&t);
    CHECK(open_set(&t, "supergpqa", NULL, "Astrology", &e) < 0);
    CHECK(strstr(e.text, "Astrology") && strstr(e.text, "discipline"));
    task_close(&t);
}

/* The ways in which these prompts ask for a letter, up to the tenth. "I" is a letter here. */
static void letters(void)
{
    static const char *const forms[] = {
        "It is so because of that. The answer is (%c).",
        "First A, then B. the answer is %c",
        "Answer: %c",
        "**Answer: %c**",
        "The correct answer is (%c)",
        "The correct answer is %c: that one.",
        "I think so. Therefore the final answer is $\\boxed{%c}$.",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (char letter = 'A'; letter <= 'J'; letter++) {
            struct arena a = {0};
            struct grade g;
            char text[200];
            int n = 0;
            for (const char *p = forms[i]; *p; p++) {
                int is_letter = p[0] == '%' && p[1] == 'c';
                text[n++] = is_letter ? letter : *p;
                p += is_letter;
            }
            struct response r = {text, (size_t)n, THINKING_NONE, FINISH_STOP};
            CHECK_INT(grade_choice(&g, letter, &r, 10, &a), 0);
            CHECK_STR(verdict_name(g.verdict), "correct");
            CHECK_INT(grade_choice(&g, letter == 'A' ? 'J' : 'A', &r, 10, &a), 0);
            CHECK_STR(verdict_name(g.verdict), "wrong");
            arena_release(&a);
        }
}

/* Windows of contest dates: whole months, whole days, both ends with all of theirs. */
static void windows(void)
{
    static const struct {
        const char *window, *ids;
    } rows[] = {{"2024-08..2025-01", "9001 1900_C "},
                {"2024-10-12..2024-10-12", "9001 "},
                {"2024-07-27..2025-01-31", "abc900_a 9001 1900_C "},
                {"2024-07..2024-09", "abc900_a "},
                {"2024-10-13..2025-02", "1900_C "},
                {"2024-07-28..2025-01-30", "9001 "}};
    static const char *const bad[] = {"2024",
                                      "2024-08",
                                      "2024-08..",
                                      "..2025-01",
                                      "2024-8..2025-01",
                                      "2024-08...2025-01",
                                      "2024-08-01..2025-01-31T00:00",
                                      "hard",
                                      "2024-11..2024-12"};
    struct task t;
    struct err e = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str ids = {0};
        CHECK_INT(open_set(&t, "livecodebench", NULL, rows[i].window, &e), 0);
        for (size_t k = 0; k < t.n_problems; k++)
            str_printf(&ids, "%s ", t.problems[k].id);
        CHECK_STR(str_text(&ids), rows[i].ids);
        str_release(&ids);
        task_close(&t);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        e = (struct err){0};
        CHECK_INT(open_set(&t, "livecodebench", NULL, bad[i], &e), ERR_USAGE);
        CHECK(strstr(e.text, bad[i]));
    }
}

int main(void)
{
    struct file_list files;
    struct err e = {0};
    CHECK_INT(file_list(&files, SETS, ".expected.json", &e), 0);
    CHECK(files.n >= 12);
    for (int i = 0; i < (int)files.n; i++) {
        char name[80];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(files.name[i], "."), files.name[i]);
        check_set(name);
    }
    file_list_release(&files);
    subsets();
    letters();
    windows();
    return check_done();
}
