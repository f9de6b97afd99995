/* Exports of a run folder made by hand, with hostile names and texts: each row of export.test looks at one
 * value of one file. */
#include "evalcore/export/export.h"
#include "evalcore/store/run.h"
#include "tests/cases.h"
#include "tests/evalcore/run_folder.h"

static void write_folder(void)
{
    folder_problems("\"id\":\"o,\\\"ne\",\"golds\":[\"42\",\"=1\"],\"prompt\":\"what\\u0000?\"");
    write_text("folder/problems/g.jsonl",
               "{\"id\":\"rec\",\"prompt_sha256\":\"s3\",\"prompt_tokens\":5,\"golds\":[\"B\"],"
               "\"n_options\":4,\"option_order\":\"BADC\"}\n");
    const char *hostile = "up/../\"as\"";
    folder_config(json_pack("[o, o, o]", folder_task("relay", "a/b", "problems/p.jsonl"),
                            folder_task("relay", "a:b", "problems/p.jsonl"),
                            folder_task("gpqa_diamond", "gpqa", "problems/g.jsonl")),
                  json_pack("[o, o, o]", folder_cell("cell-1", hostile, 0, 2),
                            folder_cell("cell-2", hostile, 1, 1), folder_cell("cell-3", hostile, 2, 1)));
}

static void add_run(struct journal *j, const char *problem, const char *sha, int sample, const char *finish,
                    const char *text, size_t n)
{
    const struct folder_job job = {problem, sha, sample, finish, "aa", 2, NULL, 0};
    static const int32_t ids[2] = {1, 2};
    folder_add(j, &job, ids, 2, text, n);
}

static void write_journal(int is_whole)
{
    struct journal j;
    static const char right[] = "a \"quote\", a \x1b[31m, a NUL \0 and \xff </think> \\boxed{42}";
    journal_init(&j, "folder");
    add_run(&j, "o,\"ne", "s1", 0, "stop", right, sizeof right - 1);
    add_run(&j, "o,\"ne", "s1", 1, "error", "", 0);
    add_run(&j, "two", "s2", 0, "length", "still thinking", 14);
    add_run(&j, "rec", "s3", 0, "stop", "ZEBRA stripes</think> Answer: B", 31);
    if (is_whole)
        add_run(&j, "two", "s2", 1, "stop", "</think> \\boxed{8}", 18);
    journal_close(&j);
}

static int export_to(const char *format, const char *out, int flags, struct export_done *done, struct err *e)
{
    struct run r;
    CHECK_INT(run_load(&r, "folder", e), 0);
    struct export_options o = {format, out, flags & 1, flags & 2, flags & 4};
    int rc = export_run(&r, &o, done, e);
    run_release(&r);
    return rc;
}

/* The one file below `dir` whose path ends in `suffix`, into out. */
static int find_file(const char *dir, const char *suffix, struct str *out)
{
    struct file_list list = {0};
    int n = 0;
    if (file_list(&list, dir, "", NULL))
        return 0;
    for (size_t i = 0; i < list.n; i++) {
        struct str path = {0};
        file_join(&path, dir, list.name[i]);
        size_t k = strlen(suffix);
        if (file_is_dir(path.data))
            n += find_file(path.data, suffix, out);
        else if (path.len >= k && !strcmp(path.data + path.len - k, suffix)) {
            n++;
            str_clear(out);
            str_puts(out, path.data);
        }
        str_release(&path);
    }
    file_list_release(&list);
    return n;
}

/* The value at "key/key/0/key", as text: strings as they are, others as JSON. */
static void value_at(json_t *v, char *path, struct str *out)
{
    char *save;
    for (char *p = strtok_r(path, "/", &save); p && v; p = strtok_r(NULL, "/", &save))
        v = json_is_array(v) ? json_array_get(v, strtoul(p, NULL, 10)) : json_object_get(v, p);
    if (json_is_string(v))
        str_add(out, json_string_value(v), json_string_length(v));
    else if (v)
        json_canonical(out, v);
    else
        str_puts(out, "(missing)");
}

/* "FOLDER  FILE-SUFFIX  LINE or all  PATH  =>  VALUE"; NUL and ESC in it are shown as %. */
static void check_row(const char *path, int line, char *text)
{
    struct str file = {0}, data = {0}, got = {0};
    char *want = case_cut(text, "=>"), *save;
    char *dir = strtok_r(text, " ", &save), *suffix = strtok_r(NULL, " ", &save);
    char *which = strtok_r(NULL, " ", &save), *at = strtok_r(NULL, " ", &save);
    int n = find_file(dir, suffix, &file);
    check_count++;
    json_t *v = NULL;
    if (n == 1 && !file_read(file.data, &data, NULL)) {
        const char *start = data.data;
        for (long skip = strtol(which, NULL, 10); skip > 0 && *start; skip--)
            start += strcspn(start, "\n") + 1;
        size_t size = strcmp(which, "all") ? strcspn(start, "\n") : data.len;
        v = json_loadb(start, size, JSON_ALLOW_NUL, NULL);
        value_at(v, at, &got);
    }
    for (size_t i = 0; i < got.len; i++)
        got.data[i] = got.data[i] && got.data[i] != 27 ? got.data[i] : '%';
    if (n != 1 || strcmp(str_text(&got), want)) {
        check_failures++;
        fprintf(stderr, "%s:%d: %d files, got \"%s\", want \"%s\"\n", path, line, n, str_text(&got), want);
    }
    json_decref(v);
    str_release(&file);
    str_release(&data);
    str_release(&got);
}

static void test_refusals(void)
{
    struct export_done done;
    struct str found = {0};
    struct err a = {0}, b = {0}, c = {0}, d = {0};
    CHECK_INT(export_to("parquet", "out/none", 0, &done, &a), ERR_USAGE);
    CHECK_STR(a.text, "there is no format \"parquet\"; the formats are lm-eval, lighteval, inspect, csv");
    CHECK_INT(export_to("lm-eval", "out/lm", 0, &done, &b), ERR_USAGE);
    CHECK(
        strstr(b.text, ".jsonl is there already; choose another place with -o, or replace it with --force"));
    CHECK_INT(export_to("lm-eval", "out/lm", 1, &done, &c), 0);
    CHECK_INT(find_file("out", ".tmp", &found), 0);
    write_text("out/file", "text");
    CHECK_INT(export_to("inspect", "out/file", 0, &done, &d), ERR_IO);
    CHECK_STR(d.text, "cannot create the folder out/file: out/file exists and is not a folder");
    str_release(&found);
}

/* A job is missing: nothing is written unless that is asked for. */
static void test_partial(void)
{
    struct export_done done;
    struct err a = {0}, b = {0};
    struct str found = {0};
    write_folder();
    write_journal(0);
    CHECK_INT(export_to("inspect", "part", 0, &done, &a), ERR_BUSY);
    CHECK_STR(a.text, "1 of 7 jobs of folder are missing; repeat the sweep to finish them, or export what is "
                      "there with --partial");
    CHECK(!file_exists("part"));
    CHECK_INT(export_to("inspect", "part", 2, &done, &b), 0);
    CHECK_INT(done.completions, 6);
    str_release(&found);
}

int main(int argc, char **argv)
{
    struct export_done done;
    struct err e = {0};
    file_remove_tree("out", &e);
    file_remove_tree("part", &e);
    write_folder();
    write_journal(1);
    static const char *const formats[][2] = {{"lm-eval", "out/lm"},
                                             {"lighteval", "out/light"},
                                             {"inspect", "out/inspect"},
                                             {"csv", "out/all.csv"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        CHECK_INT(export_to(formats[i][0], formats[i][1], 0, &done, &e), 0);
        CHECK_STR(e.text, "");
        CHECK_INT(done.completions, 7);
        CHECK_INT(done.withheld, 1);
    }
    CHECK_INT(export_to("lm-eval", "out/open", 4, &done, &e), 0);
    CHECK_INT(done.withheld, 0);
    test_refusals();
    test_partial();
    cases_each_line(argc > 1 ? argv[1] : NULL, check_row);
    return check_done();
}
