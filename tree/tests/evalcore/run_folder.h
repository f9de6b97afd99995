#ifndef TESTS_EVALCORE_RUN_FOLDER_H
#define TESTS_EVALCORE_RUN_FOLDER_H

/* A run folder written by hand into "folder": configuration, problems and journals, without a model. All
 * cells share one identity. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/store/job_key.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/runfolder.h"
#include "tests/check.h"

#define FOLDER_IDENTITY "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void write_text(const char *path, const char *text)
{
    struct err e = {0};
    CHECK_INT(file_write_atomic(path, text, strlen(text), &e), 0);
}

/* problems/p.jsonl: a problem with the given id, reference answers and prompt, and "two". Whatever was in the
 * folder is gone. */
static void folder_problems(const char *one)
{
    struct err e = {0};
    struct str text = {0};
    file_remove_tree("folder", &e);
    CHECK_INT(file_mkdirs("folder/problems", &e), 0);
    str_printf(&text,
               "{%s,\"prompt_sha256\":\"s1\",\"prompt_tokens\":5}\n"
               "{\"id\":\"two\",\"prompt_sha256\":\"s2\",\"prompt_tokens\":6,\"golds\":[\"7\"],"
               "\"thinking_open\":true,\"max_new_tokens\":9,\"stop\":\"\\n\",\"prompt\":\"<b>\"}\n",
               one);
    write_text("folder/problems/p.jsonl", text.data);
    str_release(&text);
}

/* A cell of the configuration, of quest with 8 pages. */
static json_t *folder_cell(const char *id, const char *label, int task, int samples)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:i, s:[i, i]}, s:{s:i, s:[], s:i}, s:s, s:s, "
                     "s:i, s:i, s:i, s:i, s:f, s:s, s:s, s:s, s:s, s:s, s:s}",
                     "id", id, "label", label, "policy_label", label, "model", "../m", "policy", "quest",
                     "preset", "", "params", "name", "quest", "k_pages", 8, "layers", 2, 5, "settings",
                     "seed", 7, "stop", "top_k", 0, "settings_label", "", "identity", FOLDER_IDENTITY,
                     "samples", samples, "task", task, "baseline", 0, "max_new_tokens", 100, "temperature",
                     0.5, "k_pages", "8", "l_pages", "", "budget_tokens", "", "budget_rule", "rule",
                     "budget_key", "k_pages", "budget", "8");
}

/* A task of the configuration, with the problems of a file that is there. */
static json_t *folder_task(const char *name, const char *label, const char *file)
{
    struct str path = {0}, text = {0};
    struct err e = {0};
    char hex[65];
    int n = 0;
    file_join(&path, "folder", file);
    if (file_exists(path.data))
        CHECK_INT(file_read(path.data, &text, &e), 0);
    sha256_hex(str_text(&text), text.len, hex, 64);
    for (size_t i = 0; i < text.len; i++)
        n += text.data[i] == '\n';
    str_release(&path);
    str_release(&text);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:{}}", "name", name, "label", label,
                     "version", "1", "metric", "accuracy", "source", "x", "file", file, "problems_sha256",
                     hex, "problems", n, "original", 30, "chat", "pocket", "options");
}

/* config.resolved.json and manifest.json; takes over both lists. */
static void folder_config(json_t *tasks, json_t *cells)
{
    json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:i, s:i, s:o, s:o}", "schema",
                          CONFIG_VERSION, "version", "0", "model", "../m", "weights", "w", "configuration",
                          "c", "numerics", "n", "device", "d", "baseline", "", "margin", 5.0, "limit", 2,
                          "max_context", 4096, "tasks", tasks, "cells", cells);
    runfolder_seal(o);
    char *text = json_dumps(o, 0);
    write_text("folder/config.resolved.json", text);
    write_text("folder/manifest.json", "{\"program\":\"kveval\",\"created\":\"2026-01-30T00:00:00Z\","
                                       "\"updated\":\"2026-01-31T12:00:00Z\"}");
    free(text);
    json_decref(o);
}

struct folder_job {
    const char *problem, *sha;
    int sample;
    const char *finish, *digest;
    int tokens;
    json_t *likelihood; /* NULL: none; else it is taken over */
    int withdrawn;
};

/* A record of the journal. */
static void folder_add(struct journal *j, const struct folder_job *job, const int32_t *ids, size_t n_ids,
                       const char *text, size_t n)
{
    struct job_inputs in = {.identity = FOLDER_IDENTITY,
                            .prompt_sha256 = job->sha,
                            .problem = job->problem,
                            .sample = job->sample};
    char key[JOB_KEY_HEX + 1];
    struct err e = {0};
    if (!strcmp(job->problem, "two")) {
        in.own_max_new = 9;
        in.own_stop = "\n";
    }
    job_key(&in, key);
    json_t *head =
        json_pack("{s:s, s:s, s:i, s:i, s:s, s:f, s:f, s:f, s:s}", "key", key, "finish", job->finish,
                  "tokens", job->tokens, "prompt_tokens", 5, "ids_sha256", job->digest, "kv_reads", 12.5,
                  "aux_reads", 0.5, "kv_reads_full", 26.0, "error", "it broke");
    if (job->withdrawn)
        json_object_set_new(head, "withdrawn", json_integer(job->withdrawn));
    if (job->likelihood)
        json_object_set_new(head, "likelihood", job->likelihood);
    CHECK_INT(journal_add(j, head, ids, n_ids, text, n, NULL, &e), 0);
    json_decref(head);
}

#endif
