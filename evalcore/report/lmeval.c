/* Export of a run's cells (contract: lmeval.h). One row per problem, all its samples in it, one filter
 * ("none"). */
#include "evalcore/report/lmeval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/report/data/report_data.h"
#include "evalcore/store/grades.h"
#include "evalcore/base/json.h"
#include "evalcore/cli/version.h"

static const char *metric_of(const struct cell *c)
{
    return strcmp(c->task->metric, "accuracy") ? c->task->metric : "exact_match";
}

static void set_hash(json_t *row, const char *key, const char *data, size_t n)
{
    char hex[65];
    sha256_hex(data, n, hex, 64);
    json_object_set_new(row, key, json_string(hex));
}

/* Of a problem, which may have its own limit and stop string; p NULL: of the cell. As settings_max_new() has
 * it, the run file's limit goes before the problem's own. */
static json_t *gen_args(const struct cell *c, const struct run_problem *p)
{
    json_t *settings = json_loads(c->settings, 0, NULL), *o = json_object();
    const json_t *stop = json_object_get(settings, "stop");
    int is_set = json_is_integer(json_object_get(settings, "max_new_tokens"));
    json_t *until = json_is_array(stop) ? json_copy((json_t *)stop) : json_array();
    if (p && p->own_stop)
        json_array_append_new(until, json_text_of(p->own_stop));
    json_object_set_new(o, "until", until);
    json_object_set_new(
        o, "max_gen_toks",
        json_integer(p && p->own_max_new > 0 && !is_set ? p->own_max_new : c->max_new_tokens));
    json_object_set_new(o, "temperature", json_real(c->temperature));
    json_object_set_new(o, "do_sample", json_boolean(c->temperature > 0));
    json_decref(settings);
    return o;
}

static json_t *doc_json(const struct run_problem *p)
{
    json_t *doc = json_pack("{s:s, s:s}", "id", p->id, "answer", p->gold);
    if (p->prompt)
        json_object_set_new(doc, "problem", json_text(p->prompt, p->prompt_len));
    if (p->answer_prefix)
        json_object_set_new(doc, "answer_prefix", json_text_of(p->answer_prefix));
    if (p->option_order)
        json_object_set_new(doc, "option_order", json_string(p->option_order));
    return doc;
}

/* Everything about one problem that does not need its completions. */
static json_t *row_head(const struct cell *c, int problem)
{
    const struct run_problem *p = &c->task->problems[problem];
    json_t *doc = doc_json(p), *row = json_object();
    struct str text = {0};
    json_canonical(&text, doc);
    json_object_set_new(row, "doc_id", json_integer(problem));
    json_object_set_new(row, "doc", doc);
    json_object_set_new(row, "target", json_string(p->gold));
    json_t *prompt = p->prompt ? json_text(p->prompt, p->prompt_len) : json_string("");
    json_object_set_new(row, "arguments",
                        json_pack("{s:{s:o, s:o}}", "gen_args_0", "arg_0", prompt, "arg_1", gen_args(c, p)));
    json_object_set_new(row, "filter", json_string("none"));
    json_object_set_new(row, "metrics", json_pack("[s]", metric_of(c)));
    set_hash(row, "doc_hash", str_text(&text), text.len);
    json_object_set_new(row, "prompt_hash", json_string(p->prompt_sha256));
    set_hash(row, "target_hash", p->gold, strlen(p->gold));
    str_release(&text);
    return row;
}

static void append(json_t *row, const char *key, json_t *v)
{
    json_t *list = json_object_get(row, key);
    if (!list) {
        list = json_array();
        json_object_set_new(row, key, list);
    }
    json_array_append_new(list, v);
}

static void append_likelihood(json_t *row, const struct likelihood *l)
{
    struct likelihood_figures f = report_likelihood_figures(l);
    append(row, "kl", json_real(f.kl));
    append(row, "top1", json_real(f.top1));
}

/* Adds the n samples of one problem; *mean becomes their mean score. */
static int row_samples(const struct run *r, const struct cell *c, json_t *row, const struct record *rec,
                       int n, double *mean, struct err *e)
{
    struct str text = {0};
    json_t *resps = json_array();
    double sum = 0;
    int rc = 0;
    for (int i = 0; i < n && !rc; i++) {
        str_clear(&text);
        rc = run_text(r, &rec[i], &text, e);
        json_array_append_new(resps, json_text(str_text(&text), text.len));
        append(row, "filtered_resps", json_string(rec[i].pred_form));
        append(row, "keys", json_string(rec[i].key));
        if (rec[i].likelihood)
            append_likelihood(row, rec[i].likelihood);
        else
            append(row, "verdicts", json_string(verdict_name(rec[i].verdict)));
        if (grade_needs_segmenter(c->task, &c->task->problems[rec[i].problem]))
            append(row, "segmenters", rec[i].segmenter ? json_string(rec[i].segmenter) : json_null());
        append(row, "tokens", json_integer(rec[i].tokens));
        append(row, "finish", json_string(finish_name(rec[i].finish)));
        append(row, "kv_reads", json_real(rec[i].kv.reads));
        append(row, "kv_reads_full", json_real(rec[i].kv.reads_full));
        append(row, "peak_tokens", json_real(rec[i].kv.peak_tokens));
        sum += rec[i].score;
    }
    json_object_set_new(row, "resps", json_pack("[o]", resps));
    *mean = sum / n;
    int is_failed = c->task->is_text && !rec->likelihood; /* a window that failed has no bits */
    json_object_set_new(row, metric_of(c), is_failed ? json_null() : json_real(*mean));
    str_release(&text);
    return rc;
}

struct totals {
    double sum, squares; /* of problem means */
    int problems;
    int verdict[VERDICT_COUNT];
    struct likelihood likelihood; /* of a text, instead of verdicts */
    double tokens, peak, reads, reads_full, aux;
    struct sha256 hash; /* over the hashes of documents, prompts and targets */
};

static void count(struct totals *t, const struct record *rec, int n, double mean)
{
    t->sum += mean;
    t->squares += mean * mean;
    t->problems++;
    for (int i = 0; i < n; i++) {
        if (rec[i].likelihood)
            likelihood_merge(&t->likelihood, rec[i].likelihood);
        else
            t->verdict[rec[i].verdict]++;
        t->tokens += rec[i].tokens;
        t->peak += rec[i].kv.peak_tokens;
        t->reads += rec[i].kv.reads;
        t->reads_full += rec[i].kv.reads_full;
        t->aux += rec[i].kv.aux_reads;
    }
}

static void add_hashes(struct totals *t, const json_t *row)
{
    static const char *const keys[] = {"doc_hash", "prompt_hash", "target_hash"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *v = json_object_get(row, keys[i]);
        sha256_add(&t->hash, json_string_value(v), json_string_length(v));
    }
}

static int write_samples(const struct run *r, const struct cell *c, const char *dir, struct totals *t,
                         struct err *e)
{
    struct str out = {0}, path = {0}, name = {0};
    int rc = 0;
    for (int i = 0, n; i < c->n_records && !rc; i += n) {
        double mean = 0;
        for (n = 1; i + n < c->n_records && c->records[i + n].problem == c->records[i].problem; n++)
            ;
        json_t *row = row_head(c, c->records[i].problem);
        rc = row_samples(r, c, row, &c->records[i], n, &mean, e);
        json_canonical(&out, row);
        str_putc(&out, '\n');
        add_hashes(t, row);
        json_decref(row);
        count(t, &c->records[i], n, mean);
    }
    str_printf(&name, "samples_%s.jsonl", c->task->name);
    file_join(&path, dir, name.data);
    if (!rc)
        rc = file_write_atomic(path.data, str_text(&out), out.len, e);
    str_release(&name);
    str_release(&path);
    str_release(&out);
    return rc;
}

static json_t *kv_json(const struct cell *c, const struct totals *t)
{
    double n = c->n_records ? c->n_records : 1;
    json_t *o = json_pack("{s:i, s:i, s:f, s:f, s:f, s:f, s:s, s:s}", "jobs", c->n_records, "jobs_expected",
                          c->n_expected, "mean_tokens", t->tokens / n, "peak_tokens", t->peak / n,
                          "kv_density", t->reads_full > 0 ? t->reads / t->reads_full : 1.0, "aux_density",
                          t->reads_full > 0 ? t->aux / t->reads_full : 0.0, "budget_rule", c->budget_rule,
                          "policy", c->policy);
    json_object_set_new(o, "params", json_loads(c->params, 0, NULL));
    for (int v = c->task->is_text ? VERDICT_ERROR : 0; v < VERDICT_COUNT; v++)
        json_object_set_new(o, verdict_name((enum verdict)v), json_integer(t->verdict[v]));
    return o;
}

/* Over all windows together, as there; its standard error is not known there either. */
static void add_text_result(json_t *o, const struct totals *t)
{
    struct likelihood_figures f = report_likelihood_figures(&t->likelihood);
    json_object_set_new(o, "bits_per_byte,none",
                        f.bits_per_byte > 0 ? json_real(f.bits_per_byte) : json_null());
    json_object_set_new(o, "bits_per_byte_stderr,none", json_string("N/A"));
    json_object_set_new(o, "kl,none", f.kl >= 0 ? json_real(f.kl) : json_null());
    json_object_set_new(o, "top1,none", f.top1 >= 0 ? json_real(f.top1) : json_null());
}

static json_t *task_result(const struct cell *c, const struct totals *t)
{
    struct str key = {0};
    double n = t->problems, mean = n ? t->sum / n : 0;
    double variance = n > 1 ? (t->squares - n * mean * mean) / (n - 1) : 0;
    json_t *o = json_pack("{s:s, s:s, s:i}", "name", c->task->name, "alias", c->task->label, "sample_len",
                          t->problems);
    if (c->task->is_text) {
        add_text_result(o, t);
        return o;
    }
    str_printf(&key, "%s,none", metric_of(c));
    json_object_set_new(o, key.data, json_real(mean));
    str_clear(&key);
    str_printf(&key, "%s_stderr,none", metric_of(c));
    json_object_set_new(o, key.data, json_real(n > 1 ? sqrt((variance > 0 ? variance : 0) / n) : 0));
    str_release(&key);
    return o;
}

static json_t *run_config(const struct run *r, const struct cell *c)
{
    static const char *const unknown[] = {"model_num_parameters", "model_dtype", "model_revision",
                                          "batch_size",           "use_cache",   "bootstrap_iters",
                                          "numpy_seed",           "torch_seed",  "fewshot_seed"};
    json_t *settings = json_loads(c->settings, 0, NULL);
    json_t *seed = json_object_get(settings, "seed"), *limit = json_object_get(r->config, "limit");
    json_t *args = json_pack("{s:s, s:s}", "model", c->model, "policy", c->policy);
    json_object_set_new(args, "params", json_loads(c->params, 0, NULL));
    json_t *o = json_pack("{s:s, s:o, s:s, s:s, s:[], s:O, s:o, s:O}", "model", "kveval", "model_args", args,
                          "model_sha", r->weights, "device", r->device, "batch_sizes", "limit",
                          limit ? limit : json_null(), "gen_kwargs", gen_args(c, NULL), "random_seed",
                          seed ? seed : json_null());
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        json_object_set_new(o, unknown[i], json_null());
    json_decref(settings);
    return o;
}

/* The task's version is a number there. */
static json_t *version_json(const char *version)
{
    char *end;
    double v = strtod(version, &end);
    return *version && !*end && isfinite(v) ? json_real(v) : json_text_of(version);
}

/* "2026-01-31T12:00:00Z" as seconds since 1970. */
static json_t *date_json(const json_t *manifest)
{
    const char *text = json_string_value(json_object_get(manifest, "created"));
    struct tm utc = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc) : NULL;
    return end && !*end ? json_real((double)timegm(&utc)) : json_null();
}

/* As lm-evaluation-harness makes a folder's name of a model's: runs of special characters become "__". */
static json_t *sanitized(const char *name)
{
    struct str out = {0};
    for (const char *p = name; *p;) {
        size_t n = strspn(p, "\"<>:/|\\?*[]");
        str_puts(&out, n ? "__" : "");
        p += n;
        n = strcspn(p, "\"<>:/|\\?*[]");
        str_add(&out, p, n);
        p += n;
    }
    json_t *v = json_text(str_text(&out), out.len);
    str_release(&out);
    return v;
}

/* What is said of the run and not of the task. Keys that this program has nothing for are null, so that
 * readers find them. */
static void add_run(json_t *o, const struct run *r, const struct cell *c)
{
    static const char *const unknown[] = {"git_hash",
                                          "pretty_env_info",
                                          "transformers_version",
                                          "lm_eval_version",
                                          "upper_git_hash",
                                          "tokenizer_pad_token",
                                          "tokenizer_eos_token",
                                          "tokenizer_bos_token",
                                          "eot_token_id",
                                          "system_instruction",
                                          "system_instruction_sha",
                                          "chat_template_sha",
                                          "start_time",
                                          "end_time",
                                          "total_evaluation_time_seconds"};
    json_t *context = json_object_get(r->config, "max_context");
    const char *chat = json_string_value(json_object_get(
        json_array_get(json_object_get(r->config, "tasks"), (size_t)(c->task - r->tasks)), "chat"));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        json_object_set_new(o, unknown[i], json_null());
    json_object_set(o, "max_length", context ? context : json_null());
    json_object_set_new(o, "chat_template", chat && strcmp(chat, "none") ? json_string(chat) : json_null());
    json_object_set_new(o, "fewshot_as_multiturn", json_false());
    json_object_set_new(o, "model_source", json_string("kveval"));
    json_object_set_new(o, "model_name", json_string(c->model));
    json_object_set_new(o, "model_name_sanitized", sanitized(c->model));
    json_object_set_new(o, "kveval_version", json_string(KVEVAL_VERSION));
    json_object_set_new(o, "date", date_json(r->manifest));
}

static int write_results(const struct run *r, const struct cell *c, const char *dir, struct totals *t,
                         struct err *e)
{
    const char *task = c->task->name;
    int is_text = c->task->is_text;
    unsigned char sum[32];
    struct str hash = {0}, path = {0}, text = {0};
    sha256_end(&t->hash, sum);
    for (int i = 0; i < 32; i++)
        str_printf(&hash, "%02x", sum[i]);
    json_t *config =
        json_pack("{s:s, s:s, s:s, s:i, s:o, s:[{s:s, s:s, s:b}], s:{s:o}}", "task", task, "dataset_path",
                  c->task->source, "output_type", is_text ? "loglikelihood_rolling" : "generate_until",
                  "repeats", c->samples, "generation_kwargs", gen_args(c, NULL), "metric_list", "metric",
                  metric_of(c), "aggregation", "mean", "higher_is_better", !is_text, "metadata", "version",
                  version_json(c->task->version));
    json_t *o =
        json_pack("{s:{s:o}, s:{}, s:{s:[]}, s:{s:o}, s:{s:o}, s:{s:i}, s:{s:{s:b}}, s:{s:{s:i, s:i}}, s:o}",
                  "results", task, task_result(c, t), "groups", "group_subtasks", task, "configs", task,
                  config, "versions", task, version_json(c->task->version), "n-shot", task, 0,
                  "higher_is_better", task, metric_of(c), !is_text, "n-samples", task, "original",
                  c->task->n_original, "effective", t->problems, "config", run_config(r, c));
    json_object_set_new(o, "x_kv", kv_json(c, t));
    json_object_set_new(o, "task_hashes", json_pack("{s:s}", task, hash.data));
    add_run(o, r, c);
    char *dump = json_dumps(o, JSON_INDENT(1));
    int rc = dump ? 0 : err_set(e, ERR_FORMAT, "the results of cell %s are not valid JSON", c->id);
    str_printf(&text, "%s\n", dump ? dump : "");
    file_join(&path, dir, "results.json");
    if (!rc)
        rc = file_write_atomic(path.data, text.data, text.len, e);
    free(dump);
    json_decref(o);
    str_release(&hash);
    str_release(&text);
    str_release(&path);
    return rc;
}

int lmeval_write(const struct run *r, struct err *e)
{
    struct str cells = {0};
    file_join(&cells, r->dir, "cells");
    int rc = file_mkdirs(cells.data, e);
    for (int i = 0; i < r->n_cells && !rc; i++) {
        const struct cell *c = &r->cells[i];
        struct totals t = {0};
        sha256_init(&t.hash);
        struct str dir = {0};
        file_join(&dir, cells.data, c->id);
        rc = file_mkdirs(dir.data, e);
        if (!rc)
            rc = write_samples(r, c, dir.data, &t, e);
        if (!rc)
            rc = write_results(r, c, dir.data, &t, e);
        str_release(&dir);
    }
    str_release(&cells);
    return rc;
}
