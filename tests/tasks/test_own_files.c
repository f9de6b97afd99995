/* Task files as people and strangers write them: what each says is told by name, and what a good one makes of
 * its rows. */
#include <unistd.h>

#include "evalcore/base/file.h"
#include "tasks/task.h"
#include "tests/cases.h"

static void write_text(const char *path, const char *text)
{
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, text, strlen(text), &e), 0);
}

static void compare(const struct test_case *c, const struct task *t)
{
    struct str ids = {0}, golds = {0}, set = {0};
    struct task_set_facts facts;
    for (size_t i = 0; i < t->n_problems; i++) {
        str_printf(&ids, "%s%s", i ? " " : "", t->problems[i].id);
        str_printf(&golds, "%s%s", i ? " " : "", t->problems[i].gold);
    }
    task_set_facts(&facts, &set, t);
    if (case_text(c, "ids"))
        CASE_STR(c, "ids", str_text(&ids));
    if (case_text(c, "golds"))
        CASE_STR(c, "golds", str_text(&golds));
    if (case_text(c, "prompt"))
        CASE_STR(c, "prompt", t->problems[0].prompt);
    if (case_text(c, "set"))
        CASE_STR(c, "set", str_text(&set));
    str_release(&ids);
    str_release(&golds);
    str_release(&set);
}

/* Every line of --- says stands in the message. */
static void check_words(const struct test_case *c, const char *said)
{
    for (const char *p = case_text(c, "says"); p && *p;) {
        char word[200];
        size_t n = strcspn(p, "\n");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (!strstr(said, word)) {
            fprintf(stderr, "%s:%d: \"%s\" does not say \"%s\"\n", c->path, c->line, said, word);
            CHECK(!"the message");
        }
        p += n + (p[n] == '\n');
    }
}

static void run(const struct test_case *c)
{
    const char *rows = case_text(c, "rows"), *name = case_text(c, "name");
    const struct task_ops *ops;
    struct task_options o;
    struct task t = {0};
    struct arena a = {0};
    struct err e = {0};
    param_defaults(task_params, &o);
    o.prompt = case_text(c, "variant");
    o.subset = case_text(c, "subset");
    write_text("own/task.json", case_need(c, "file"));
    if (rows)
        write_text(arena_printf(&a, "own/%s", name ? name : "rows.jsonl"), rows);
    int rc = task_read_file(&ops, "own/task.json", &a, &e);
    if (!rc && rows)
        rc = task_open_as(&t, ops, NULL, &o, NULL, NULL, &e);
    if (case_text(c, "says")) {
        if (rc >= 0) {
            fprintf(stderr, "%s:%d: nothing was refused\n", c->path, c->line);
            CHECK(rc < 0);
        }
        check_words(c, e.text);
    } else if (rc) {
        fprintf(stderr, "%s:%d: %s\n", c->path, c->line, e.text);
        CHECK_INT(rc, 0);
    } else if (rows) {
        compare(c, &t);
    }
    task_close(&t);
    arena_release(&a);
}

/* What no test file can hold: bytes that are no UTF-8, a NUL, very deep and very long files. */
static void odd_bytes(void)
{
    static const char nul[] = "{\"name\": \"a\\u0000b\", \"kind\": \"math\"}";
    static const char latin[] = "{\"name\": \"a\", \"kind\": \"math\", \"about\": \"caf\xe9\"}";
    const struct task_ops *ops;
    struct arena a = {0};
    struct str deep = {0};
    str_puts(&deep, "{\"name\": \"a\", \"kind\": \"math\", \"note\": ");
    for (int i = 0; i < 100000; i++)
        str_putc(&deep, '[');
    const char *const texts[] = {nul, latin, deep.data, "", "[]", "7", "{"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err e = {0};
        write_text("own/odd.json", texts[i]);
        CHECK(task_read_file(&ops, "own/odd.json", &a, &e) < 0);
        CHECK(strstr(e.text, "own/odd.json") && !ops);
    }
    struct err e = {0};
    CHECK(task_read_file(&ops, "own/absent.json", &a, &e) < 0);
    CHECK(strstr(e.text, "own/absent.json"));
    str_release(&deep);
    arena_release(&a);
}

/* What editors of other systems write: a byte order mark, and UTF-16. */
static void encodings(void)
{
    static const char utf16[] = "\xff\xfe{\0\"\0n\0\"\0:\0001\0}\0";
    const struct task_ops *ops = NULL;
    struct task_options o;
    struct task t = {0};
    struct arena a = {0};
    struct err e = {0};
    param_defaults(task_params, &o);
    write_text("own/mark.json",
               "\xef\xbb\xbf{\"name\": \"a\", \"kind\": \"math\", \"rows\": {\"file\": \"wide.jsonl\"}}");
    CHECK_INT(task_read_file(&ops, "own/mark.json", &a, &e), 0);
    for (int has_mark = 0; has_mark < 2 && ops; has_mark++) {
        const char *text = has_mark ? utf16 : utf16 + 2;
        size_t n = sizeof utf16 - 1 - (has_mark ? 0 : 2);
        struct err said = {0};
        CHECK_INT(file_write_atomic("own/wide.jsonl", text, n, &e), 0);
        CHECK_INT(task_open_as(&t, ops, NULL, &o, NULL, NULL, &said), ERR_FORMAT);
        CHECK(strstr(said.text, "own/wide.jsonl") && strstr(said.text, "UTF-16") &&
              strstr(said.text, "iconv"));
        CHECK_INT(file_write_atomic("own/wide.json", text, n, &e), 0);
        said = (struct err){0};
        CHECK(task_read_file(&ops, "own/wide.json", &a, &said) < 0);
        CHECK(strstr(said.text, "UTF-16"));
        CHECK_INT(task_read_file(&ops, "own/mark.json", &a, &e), 0);
    }
    arena_release(&a);
}

/* The version of an own task follows what decides prompts and grades, and nothing else. */
static void versions(void)
{
    static const char *const same[] = {"{\"name\": \"a\", \"kind\": \"math\"}",
                                       "{\"kind\": \"math\", \"name\": \"a\", \"about\": \"x\", "
                                       "\"expected_tokens\": 9, \"facts\": {\"rows\": 3}}"};
    static const char *const other[] = {"{\"name\": \"a\", \"kind\": \"math\", \"limit\": 9}",
                                        "{\"name\": \"a\", \"kind\": \"choice\"}",
                                        "{\"name\": \"a\", \"kind\": \"math\", \"version\": \"2\"}"};
    const struct task_ops *first, *ops;
    struct arena a = {0};
    struct err e = {0};
    write_text("own/v.json", same[0]);
    CHECK_INT(task_read_file(&first, "own/v.json", &a, &e), 0);
    write_text("own/v.json", same[1]);
    CHECK_INT(task_read_file(&ops, "own/v.json", &a, &e), 0);
    CHECK_STR(ops->version, first->version);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        write_text("own/v.json", other[i]);
        CHECK_INT(task_read_file(&ops, "own/v.json", &a, &e), 0);
        CHECK(strcmp(ops->version, first->version) != 0);
    }
    arena_release(&a);
}

static void version_of(char out[40], const char *text)
{
    const struct task_ops *ops;
    struct arena a = {0};
    struct err e = {0};
    write_text("own/v.json", text);
    CHECK_INT(task_read_file(&ops, "own/v.json", &a, &e), 0);
    CHECK_STR(e.text, "");
    snprintf(out, 40, "%s", ops ? ops->version : "");
    arena_release(&a);
}

/* The default prompt decides prompts, and so does a file of examples; the order of other variants does not.
 */
static void versions_of_prompts(void)
{
    static const char shots[] = "{\"name\": \"a\", \"kind\": \"math\", \"rows\": {\"file\": \"rows.jsonl\"}, "
                                "\"prompts\": {\"p\": \"{examples}{problem}\"}, \"few_shot\": {\"file\": "
                                "\"shots.jsonl\", \"count\": 1, \"text\": \"{problem}\"}}";
#define PROMPTS(list) "{\"name\": \"a\", \"kind\": \"math\", \"prompts\": {" list "}}"
    char one[40], other[40];
    version_of(one, PROMPTS("\"x\": \"{problem}\", \"y\": \"{problem}!\""));
    version_of(other, PROMPTS("\"y\": \"{problem}!\", \"x\": \"{problem}\""));
    CHECK(strcmp(one, other) != 0);
    version_of(one, PROMPTS("\"x\": \"{problem}\", \"y\": \"{problem}!\", \"z\": \"{problem}?\""));
    version_of(other, PROMPTS("\"x\": \"{problem}\", \"z\": \"{problem}?\", \"y\": \"{problem}!\""));
    CHECK_STR(one, other);
    write_text("own/shots.jsonl", "{\"problem\": \"1+1?\", \"answer\": 2}\n");
    version_of(one, shots);
    write_text("own/shots.jsonl", "{\"problem\": \"1+2?\", \"answer\": 3}\n");
    version_of(other, shots);
    CHECK(strcmp(one, other) != 0);
}

/* A link in the folder is not followed out of it, and a link to a file inside is. */
static void links(void)
{
    static const char *const files[] = {"out.jsonl", "in.jsonl"};
    struct arena a = {0};
    write_text("own/rows.jsonl", "{\"problem\": \"1+1?\", \"answer\": 2}\n");
    CHECK_INT(symlink("/etc/passwd", "own/out.jsonl"), 0);
    CHECK_INT(symlink("rows.jsonl", "own/in.jsonl"), 0);
    for (int shots = 0; shots < 2; shots++)
        for (int i = 0; i < 2; i++) {
            const struct task_ops *ops;
            struct task_options o;
            struct task t = {0};
            struct err e = {0};
            param_defaults(task_params, &o);
            write_text("own/l.json",
                       arena_printf(&a,
                                    "{\"name\": \"a\", \"kind\": \"math\", \"rows\": {\"file\": \"%s\"}, "
                                    "\"prompts\": {\"p\": \"{examples}{problem}\"}, \"few_shot\": {\"file\": "
                                    "\"%s\", \"count\": %d, \"text\": \"{problem}\"}}",
                                    shots ? "own.jsonl" : files[i], shots ? files[i] : "rows.jsonl", shots));
            write_text("own/own.jsonl", "{\"problem\": \"1+2?\", \"answer\": 3}\n");
            int rc = task_read_file(&ops, "own/l.json", &a, &e);
            if (!rc)
                rc = task_open_as(&t, ops, NULL, &o, NULL, NULL, &e);
            CHECK_INT(rc, i ? 0 : ERR_USAGE);
            CHECK(i || (strstr(e.text, shots ? "few_shot.file" : "rows.file") && !strstr(e.text, "root")));
            task_close(&t);
        }
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct cases all;
    struct test_case c;
    struct err e = {0};
    CHECK_INT(file_mkdirs("own", &e), 0);
    cases_open(&all, argv[1]);
    while (cases_next(&all, &c))
        run(&c);
    cases_close(&all);
    odd_bytes();
    encodings();
    versions();
    versions_of_prompts();
    links();
    CHECK_INT(file_remove_tree("own", &e), 0);
    return check_done();
}
