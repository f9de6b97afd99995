/* Writes a run folder of any size without decoding: make_run FOLDER CELLS PROBLEMS SAMPLES [hostile]. One
 * task, full attention and Quest at CELLS - 1 budgets; the smaller the budget, the more answers are wrong.
 * With "hostile" the names, problems and answers are what an attacker would choose. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"
#include "evalcore/base/rng.h"
#include "evalcore/store/job_key.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/runfolder.h"

static const char hostile[] = "</script><script>alert(1)</script>]]>\"'><img src=x onerror=alert(2)>"
                              "\xE2\x80\xAE gnp.exe \xE2\x81\xA6&amp;{{7*7}}$(id)`id`\x1b[31m";

struct size {
    int cells, problems, samples, is_hostile;
};

static void require_ok(int rc, const struct err *e)
{
    if (!rc)
        return;
    fprintf(stderr, "make_run: %s\n", e->text);
    exit(1);
}

static void cell_identity(char out[65], int cell)
{
    char name[32];
    snprintf(name, sizeof name, "cell %d", cell);
    sha256_hex(name, strlen(name), out, 64);
}

static json_t *cell_json(const struct size *s, int i)
{
    char identity[65], label[200], id[200];
    cell_identity(identity, i);
    snprintf(label, sizeof label, i ? "quest%s k_pages=%d" : "full%s", s->is_hostile ? hostile : "", 4 * i);
    snprintf(id, sizeof id, "m.%s%d%s", i ? "quest" : "full", i, s->is_hostile ? "\"><script>-<b>" : "");
    json_t *params =
        i ? json_pack("{s:s, s:i}", "name", "quest", "k_pages", 4 * i) : json_pack("{s:s}", "name", "full");
    json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:{s:i}, s:s}", "baseline",
                          i ? 0 : -1, "budget_key", i ? "k_pages" : "", "budget_rule", "a rule",
                          "budget_tokens", "", "id", id, "identity", identity, "label", label, "policy_label",
                          label, "params", params, "settings", "seed", 1, "settings_label", "");
    char budget[16] = "";
    if (i)
        snprintf(budget, sizeof budget, "%d", 4 * i);
    json_t *more = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:f}", "budget", budget,
                             "k_pages", budget, "l_pages", "", "policy", i ? "quest" : "full", "preset", "",
                             "model", s->is_hostile ? hostile : "made", "samples", s->samples,
                             "max_new_tokens", 4096, "task", 0, "temperature", 0.6);
    if (!o || !more)
        exit(1);
    json_object_update(o, more);
    json_decref(more);
    return o;
}

static void write_config(const char *folder, const struct size *s, const char *digest, struct err *e)
{
    json_t *cells = json_array();
    for (int i = 0; i < s->cells; i++)
        json_array_append_new(cells, cell_json(s, i));
    json_t *task = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:{}, s:i}", "name", "math500",
                             "label", s->is_hostile ? hostile : "math500", "version", "1", "metric",
                             "accuracy", "source", "none", "file", "problems/made.jsonl", "problems_sha256",
                             digest, "problems", s->problems, "options", "original", s->problems);
    json_t *o =
        json_pack("{s:i, s:f, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:[o], s:o}", "schema", CONFIG_VERSION,
                  "margin", 5.0, "version", "0.1.0", "model", s->is_hostile ? hostile : "made", "weights",
                  "4c364efe04bfaafef32a16ba7c58f1fcaddbd7e5c79073425a0e3e4f9144523f", "configuration", "c",
                  "numerics", "made", "device", "none", "baseline", "full", "tasks", task, "cells", cells);
    struct str text = {0}, path = {0};
    runfolder_seal(o);
    json_canonical(&text, o);
    file_join(&path, folder, "config.resolved.json");
    require_ok(file_write_atomic(path.data, text.data, text.len, e), e);
    json_decref(o);
    str_release(&text);
    str_release(&path);
}

static void problem_id(char out[300], const struct size *s, int p)
{
    snprintf(out, 300, s->is_hostile ? "../../%d%s" : "made-%d", p, hostile);
}

static void prompt_hash(char out[65], int p)
{
    char text[32];
    snprintf(text, sizeof text, "prompt %d", p);
    sha256_hex(text, strlen(text), out, 64);
}

/* digest: of the file. */
static void write_problems(const char *folder, const struct size *s, char digest[65], struct err *e)
{
    struct str text = {0}, path = {0}, dir = {0};
    char id[300], hash[65];
    file_join(&dir, folder, "problems");
    require_ok(file_mkdirs(dir.data, e), e);
    for (int p = 0; p < s->problems; p++) {
        problem_id(id, s, p);
        prompt_hash(hash, p);
        json_t *o = json_pack("{s:o, s:s, s:i, s:s, s:[o]}", "id", json_text_of(id), "prompt_sha256", hash,
                              "prompt_tokens", 90, "prompt", s->is_hostile ? hostile : "How much?", "golds",
                              json_sprintf("%d", p));
        json_canonical(&text, o);
        str_putc(&text, '\n');
        json_decref(o);
    }
    sha256_hex(str_text(&text), text.len, digest, 64);
    file_join(&path, dir.data, "made.jsonl");
    require_ok(file_write_atomic(path.data, text.data, text.len, e), e);
    str_release(&text);
    str_release(&path);
    str_release(&dir);
}

/* What was answered; of a hostile run the first completion is 1 MB long and holds NULs. */
static void completion_text(struct str *out, const struct size *s, int cell, int p, int sample, int is_right)
{
    str_clear(out);
    str_printf(out, "<think>%s</think>The answer is \\boxed{%d}.", s->is_hostile ? hostile : "So it goes.",
               is_right ? p : p + 1);
    if (!s->is_hostile || is_right)
        return;
    str_clear(out);
    str_printf(out, "\\boxed{%s %d}", hostile, p);
    if (cell == 1 && !sample)
        for (int i = 0; i < 1 << 20; i++)
            str_putc(out, i % 1000 ? "<&\">"[i % 4] : 0);
}

static void write_journal(const char *folder, const struct size *s, struct err *e)
{
    enum { TOKENS = 40 };
    struct journal j;
    struct str text = {0};
    int32_t ids[TOKENS];
    char id[300], hash[65], identity[65], key[JOB_KEY_HEX + 1], digest[65];
    struct rng rng;
    rng_init(&rng, 1, 0);
    journal_init(&j, folder);
    for (int i = 0; i < TOKENS; i++)
        ids[i] = 20000 + 37 * i;
    for (int c = 0; c < s->cells; c++)
        for (int p = 0; p < s->problems; p++)
            for (int k = 0; k < s->samples; k++) {
                double share = c ? 1 - exp(-0.1 * c) : 1;
                int is_right = rng_unit(&rng) < 0.9 * share, length = 300 + (int)(2000 * rng_unit(&rng));
                problem_id(id, s, p);
                prompt_hash(hash, p);
                cell_identity(identity, c);
                job_key(
                    &(struct job_inputs){
                        .identity = identity, .prompt_sha256 = hash, .problem = id, .sample = k},
                    key);
                snprintf(digest, sizeof digest, "%016x", (unsigned)(p * 8 + k));
                json_t *head = json_pack(
                    "{s:i, s:s, s:s, s:s, s:o, s:i, s:s, s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:i, "
                    "s:s, s:s, "
                    "s:s, s:i, s:s}",
                    "v", 1, "key", key, "cell", "made", "task", "math500", "problem", json_text_of(id),
                    "sample", k, "prompt_sha256", hash, "prompt_tokens", 90, "finish",
                    is_right ? "stop" : "length", "tokens", length, "kv_reads", 800.0 * length * share,
                    "kv_reads_full", 800.0 * length, "aux_reads", 0.0, "peak_tokens", 90.0 + length,
                    "prefill_peak_tokens", 90.0, "seconds", 0.5, "preempted", 0, "device", "cpu", "host",
                    "made", "version", "0.1.0", "time", 1, "ids_sha256", digest);
                completion_text(&text, s, c, p, k, is_right);
                require_ok(journal_add(&j, head, ids, TOKENS, text.data, text.len, NULL, e), e);
                json_decref(head);
            }
    journal_close(&j);
    str_release(&text);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    char digest[65];
    if (argc < 5) {
        fprintf(stderr, "usage: make_run FOLDER CELLS PROBLEMS SAMPLES [hostile]\n");
        return 2;
    }
    struct size s = {(int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10),
                     (int)strtol(argv[4], NULL, 10), argc > 5};
    require_ok(file_mkdirs(argv[1], &e), &e);
    write_problems(argv[1], &s, digest, &e);
    write_config(argv[1], &s, digest, &e);
    write_journal(argv[1], &s, &e);
    return 0;
}
