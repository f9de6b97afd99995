/* The table of tasks, its options, where each task looks for its file, and the prompt files. */
#include "evalcore/base/file.h"
#include "tasks/task.h"
#include "tasks/task_file.h"
#include "tests/check.h"

static void table(void)
{
    size_t n = 0;
    for (const struct task_ops *t; (t = task_at(n)); n++) {
        CHECK(task_find(t->name) == t);
        CHECK(t->help && t->help[0] && t->version && t->load && t->expected_tokens > 0);
        CHECK(task_is_text(t->metric) ? !t->grade && !t->default_file : t->grade != NULL);
        CHECK(t->fields ? t->fields[0] : !t->default_file); /* what reads no file has none */
        CHECK(!t->subset || t->subset(0));
        CHECK(!t->subset || !t->default_file || strstr(t->default_file, "SUBSET"));
        CHECK(!strcmp(t->metric, "accuracy") || !strcmp(t->metric, "score") || task_is_text(t->metric));
    }
    CHECK(n > 0);
    CHECK(!task_find("relay") && task_of_run("relay", NULL) == task_find("pocket.relay"));
    CHECK(!task_of_run("relay", "riddle") && task_of_run("anything", "math")->grades_math);
    CHECK(!task_find("aime"));
}

/* Of a list that grows with every task only its beginning and what stands behind it are said: "a, b, ...;
 * remove it". */
static void check_message(const char *got, const char *want)
{
    const char *dots = strstr(want, "...");
    size_t n = dots ? (size_t)(dots - want) : 0, end = dots ? strlen(dots + 3) : 0;
    if (dots && !strncmp(got, want, n) && strlen(got) > n + end && !strcmp(got + strlen(got) - end, dots + 3))
        return;
    CHECK_STR(got, want);
}

static void refused(const char *name, const char *pairs, const char *data_dir, const char *want)
{
    struct task_options o;
    struct task t;
    struct err e = {0};
    struct arena a = {0};
    param_defaults(task_params, &o);
    CHECK_INT(param_set_pairs(task_params, &o, &a, pairs, "test", &e), 0);
    CHECK(task_open(&t, name, &o, data_dir, NULL, &e) < 0);
    check_message(e.text, want);
    task_close(&t);
    arena_release(&a);
}

static void errors(void)
{
    refused("aime", "problems=1", NULL, "unknown task \"aime\"; did you mean \"aime24\"?");
    refused("aime23", "problems=1", NULL, "unknown task \"aime23\"; did you mean \"aime24\"?");
    refused("pocket.Relay", "problems=1", NULL,
            "unknown task \"pocket.Relay\"; did you mean \"pocket.relay\"?");
    /* what the names before mean now */
    refused("relay", "problems=1", NULL, "the task \"relay\" is called \"pocket.relay\" now; write that");
    refused("choice", "problems=1", NULL,
            "the task \"choice\" is called \"pocket.choice\" now; write that, or {\"kind\": \"choice\", "
            "\"file\": ...} "
            "for rows of your own");
    refused("gpqa", "problems=1", NULL, "unknown task \"gpqa\"; did you mean \"gpqa_diamond\"?");
    refused("nothing", "problems=1", NULL,
            "unknown task \"nothing\"; known are pocket.relay, pocket.choice, pocket.algebra, pocket.lookup, "
            "gpqa_diamond, longbench, ruler, "
            "text, aime24, ...");
    refused(
        "aime24", "problems=1", NULL,
        "task aime24: its problems come from a file, which is not part of the program; get it with `kveval "
        "fetch aime24 --data DIR` and name the folder with --data DIR, where it is aime/aime24.jsonl, or "
        "name the file with file");
    refused("aime24", "problems=1", "nowhere",
            "task aime24: there is no file nowhere/aime/aime24.jsonl; get it with `kveval fetch "
            "aime24 --data nowhere`, or name it with file");
    refused("aime24", "file=nowhere.jsonl", NULL, "cannot read nowhere.jsonl: No such file or directory");
    refused("longbench", "problems=1", "nowhere",
            "task longbench: name a data set with subset, or a problems file with file");
    refused("longbench", "subset=qasper", "nowhere",
            "task longbench: there is no file nowhere/longbench/qasper.jsonl; get it with `kveval "
            "fetch longbench --data nowhere`, or name it with file");
    refused("longbench", "subset=../x", "nowhere",
            "task longbench: subset is a data set's name, without \"/\"");
    refused("aime24", "steps=5", NULL,
            "task aime24: steps is an option of pocket.relay, pocket.choice, pocket.algebra, pocket.lookup; "
            "remove it");
    refused("pocket.relay", "steps=5,file=x", NULL,
            "task pocket.relay: steps has no effect on the problems of a file; remove one of the two");
    /* seeds of a file's problems would only make the same cells several times */
    refused("aime24", "seed=1", NULL,
            "task aime24: seed is an option of pocket.relay, pocket.choice, pocket.algebra, pocket.lookup, "
            "ruler; remove it");
    refused("pocket.relay", "seed=2,file=x", NULL,
            "task pocket.relay: seed has no effect on the problems of a file; remove one of the two");
    refused("pocket.relay", "prompt=r1", NULL, "task pocket.relay: it has no prompt variants; remove prompt");
    refused("pocket.relay", "subset=x", NULL,
            "task pocket.relay: subset is an option of gpqa_diamond, longbench, ruler, ...; remove it");
    refused("longbench", "tokens=4096", NULL, "task longbench: tokens is an option of ruler; remove it");
    refused("pocket.lookup", "tokens=4096", NULL,
            "task pocket.lookup: tokens is an option of ruler; remove it");
    refused("pocket.relay", "window=64", NULL, "task pocket.relay: window is an option of text; remove it");
    refused("pocket.relay", "prompt_tokens=1", NULL,
            "task pocket.relay: prompt_tokens is an option of text; remove it");
    refused("text", "problems=1", NULL, "task text: name a file of plain text with file");
    refused("text", "file=nowhere.txt", NULL, "cannot read nowhere.txt: No such file or directory");
    refused("text", "file=nowhere.txt,prompt_tokens=1024", NULL,
            "task text: prompt_tokens is 1024, which leaves nothing to score in a window of 1024 tokens");
    refused("text", "file=nowhere.txt,subset=x", NULL,
            "task text: subset is an option of gpqa_diamond, longbench, ruler, ...; remove it");
}

static void bounds(void)
{
    struct task_options o;
    struct err e = {0};
    struct arena a = {0};
    struct task t;
    param_defaults(task_params, &o);
    CHECK_INT(o.seed, PARAM_UNSET_INT);
    task_options_default(task_find("pocket.relay"), &o);
    CHECK_INT(o.seed, 1);
    o.seed = PARAM_UNSET_INT;
    task_options_default(task_find("aime24"), &o);
    CHECK_INT(o.seed, PARAM_UNSET_INT);
    CHECK(o.window == PARAM_UNSET_INT && o.prompt_tokens == PARAM_UNSET_INT);
    task_options_default(task_find("text"), &o);
    CHECK(o.window == 1024 && o.prompt_tokens == 128);
    o.window = o.prompt_tokens = o.seed = PARAM_UNSET_INT;
    o.file = "mine.jsonl";
    task_options_default(task_find("pocket.relay"), &o);
    CHECK_INT(o.seed, PARAM_UNSET_INT);
    o.file = NULL;
    CHECK_INT(o.problems, PARAM_UNSET_INT);
    CHECK(param_set_text(task_params, &o, &a, "steps", "2", "task relay", &e) < 0);
    e = (struct err){0};
    CHECK(param_set_text(task_params, &o, &a, "problems", "0", "task relay", &e) < 0);
    /* a caller that fills the struct itself meets the same limits */
    o.steps = 601;
    e = (struct err){0};
    CHECK(task_open(&t, "pocket.relay", &o, NULL, NULL, &e) < 0);
    CHECK_STR(e.text, "task pocket.relay: steps must be between 3 and 600, not 601");
    o.steps = PARAM_UNSET_INT;
    o.problems = 0;
    e = (struct err){0};
    CHECK(task_open(&t, "pocket.relay", &o, NULL, NULL, &e) < 0);
    CHECK_STR(e.text, "task pocket.relay: problems must be between 1 and 1000000, not 0");
    arena_release(&a);
}

/* Tasks whose examples must not be published: a task that is added here or there is a decision. */
static void restricted(void)
{
    const struct task_ops *t;
    for (size_t i = 0; (t = task_at(i)); i++)
        CHECK_INT(t->is_restricted, !strcmp(t->name, "gpqa_diamond"));
}

/* Is the template one of a task's variants, or of a kind's own? */
static int is_used(const char *name)
{
    static const char *const kinds[] = {"math", "choice", "code"};
    static const char *const formats[] = {"code_format_starter", "code_format_stdin"}; /* {format} of code */
    const struct task_ops *t;
    int n = 0;
    for (size_t i = 0; (t = task_at(i)); i++)
        for (int k = 0; t->file && k < t->file->n_prompts; k++)
            n += t->file->prompt[k].text == task_prompt_text(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        n += strstr(task_kind_find(kinds[i])->prompts, name) != NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        n += !strcmp(formats[i], name);
    if (!strncmp(name, "gpqa_", 5))
        n += strstr(task_find("gpqa_diamond")->prompts, name + 5) != NULL;
    return n;
}

/* Every variant that a task lists has its text, and every file belongs to a task or a kind. */
static void prompts(void)
{
    struct file_list files;
    struct err e = {0};
    const struct task_ops *t;
    for (size_t i = 0; (t = task_at(i)); i++)
        for (int k = 0; t->file && k < t->file->n_prompts; k++)
            CHECK(t->file->prompt[k].text[0] && t->file->prompt[k].text[0] != '#');
    CHECK_INT(file_list(&files, SOURCE_DIR "/tasks/prompts", ".txt", &e), 0);
    for (size_t i = 0; i < files.n; i++) {
        char name[80];
        snprintf(name, sizeof name, "%.*s", (int)strlen(files.name[i]) - 4, files.name[i]);
        CHECK(task_prompt_text(name) != NULL);
        CHECK(is_used(name));
    }
    file_list_release(&files);
    CHECK(task_prompt_text("longbench") != NULL);
    CHECK(task_prompt_text("ruler") != NULL);
    CHECK(task_prompt_text("math_r2") == NULL);
    CHECK_STR(task_prompt_text("math_r1"),
              "{problem}\n\nPlease reason step by step, and put your final answer within \\boxed{}.");
}

int main(void)
{
    table();
    errors();
    bounds();
    restricted();
    prompts();
    return check_done();
}
