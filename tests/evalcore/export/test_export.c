/* Exports of a run folder made by hand, with hostile names and texts: each row of export.test looks at one
 * value of one file. */
#include "evalcore/base/file.h"
#include "evalcore/export/export.h"
#include "evalcore/store/job_key.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/run.h"
#include "tests/cases.h"

static const char *const identity = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

static void write_text(const char *path, const char *text)
{
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, text, strlen(text), &e), 0);
}

static json_t *cell(const char *id, int task, int samples)
{
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:i, s:[i, i]}, s:{s:i, s:[], s:i}, s:s, s:s, s:i, "
        "s:i, s:i, s:i, s:f, s:s, s:s, s:s, s:s, s:s, s:s}",
        "id", id, "label", "up/../\"as\"", "policy_label", "up/../\"as\"", "model", "../m", "policy", "quest",
        "preset", "", "params", "name", "quest", "k_pages", 8, "layers", 2, 5, "settings", "seed", 7, "stop",
        "top_k", 0, "settings_label", "", "identity", identity, "samples", samples, "task", task, "baseline",
        0, "max_new_tokens", 100, "temperature", 0.5, "k_pages", "8", "l_pages", "", "budget_tokens", "",
        "budget_rule", "rule", "budget_key", "k_pages", "budget", "8");
}

static json_t *task(const char *name, const char *label, const char *file)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:{}}", "name", name, "label", label,
                     "version", "1", "metric", "accuracy", "source", "x", "file", file, "original", 30,
                     "chat", "pocket", "options");
}

static void write_folder(void)
{
    struct err e = {0};
    file_remove_tree("folder", &e);
    CHECK_INT(file_mkdirs("folder/problems", &e), 0);
    write_text("folder/problems/p.jsonl",
               "{\"id\":\"o,\\\"ne\",\"prompt_sha256\":\"s1\",\"prompt_tokens\":5,\"golds\":[\"42\",\"=1\"],"
               "\"prompt\":\"what\\u0000?\"}\n"
               "{\"id\":\"two\",\"prompt_sha256\":\"s2\",\"prompt_tokens\":6,\"golds\":[\"7\"],"
               "\"thinking_open\":true,\"max_new_tokens\":9,\"stop\":\"\\n\",\"prompt\":\"<b>\"}\n");
    write_text("folder/problems/g.jsonl",
               "{\"id\":\"rec\",\"prompt_sha256\":\"s3\",\"prompt_tokens\":5,\"golds\":[\"B\"],"
               "\"n_options\":4,\"option_order\":\"BADC\"}\n");
    write_text("folder/manifest.json", "{\"program\":\"kveval\",\"created\":\"2026-01-30T00:00:00Z\","
                                       "\"updated\":\"2026-01-31T12:00:00Z\"}");
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:[o, o, o], s:[o, o, o]}", "version", "0",
                  "model", "../m", "weights", "w", "numerics", "n", "device", "d", "baseline", "", "limit", 2,
                  "max_context", 4096, "tasks", task("relay", "a/b", "problems/p.jsonl"),
                  task("relay", "a:b", "problems/p.jsonl"), task("gpqa_diamond", "gpqa", "problems/g.jsonl"),
                  "cells", cell("cell-1", 0, 2), cell("cell-2", 1, 1), cell("cell-3", 2, 1));
    char *text = json_dumps(o, 0);
    write_text("folder/config.resolved.json", text);
    free(text);
    json_decref(o);
}

static void add(struct journal *j, const char *problem, const char *sha, int sample, const char *finish,
                const char *text, size_t n)
{
    struct job_inputs in = {.identity = identity, .prompt_sha256 = sha, .problem = problem, .sample = sample};
    int32_t ids[2] = {1, 2};
    char key[JOB_KEY_HEX + 1];
    struct err e = {0};
    if (!strcmp(problem, "two")) {
        in.own_max_new = 9;
        in.own_stop = "\n";
    }
    job_key(&in, key);
    json_t *head = json_pack("{s:s, s:s, s:i, s:i, s:s, s:f, s:f, s:f, s:s}", "key", key, "finish", finish,
                             "tokens", 2, "prompt_tokens", 5, "ids_sha256", "aa", "kv_reads", 12.5,
                             "aux_reads", 0.5, "kv_reads_full", 26.0, "error", "it broke");
    CHECK_INT(journal_add(j, head, ids, 2, text, n, NULL, &e), 0);
    json_decref(head);
}

static void write_journal(int is_whole)
{
    struct journal j;
    static const char right[] = "a \"quote\", a \x1b[31m, a NUL \0 and \xff </think> \\boxed{42}";
    journal_init(&j, "folder");
    add(&j, "o,\"ne", "s1", 0, "stop", right, sizeof right - 1);
    add(&j, "o,\"ne", "s1", 1, "error", "", 0);
    add(&j, "two", "s2", 0, "length", "still thinking", 14);
    add(&j, "rec", "s3", 0, "stop", "ZEBRA stripes</think> Answer: B", 31);
    if (is_whole)
        add(&j, "two", "s2", 1, "stop", "</think> \\boxed{8}", 18);
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
static void row(const char *path, int line, char *text)
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

static void refusals(void)
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
static void partial(void)
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
    refusals();
    partial();
    cases_each_line(argc > 1 ? argv[1] : NULL, row);
    return check_done();
}
