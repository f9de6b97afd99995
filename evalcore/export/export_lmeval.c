/* The layout of lm-evaluation-harness 0.4 (its loggers/evaluation_tracker.py writes it, and the functions
 * get_results_filenames and get_latest_filename of its utils.py find it):
 *
 *   OUT/SYSTEM/results_TIME.json          all tasks of a system (export_parts.h)
 *   OUT/SYSTEM/samples_TASK_TIME.jsonl    a row for each problem
 *
 * SYSTEM is `model_name_sanitized` of the results. Keys that this program has nothing for are null, so that
 * readers find them; `x_kv` holds what only this program knows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/cli/version.h"
#include "evalcore/export/export_parts.h"
#include "evalcore/store/grades.h"

/* ---- The samples of lm-evaluation-harness 0.4: a row for each problem, all its samples in it, one filter
 * ("none"). Hashes are made as there: of the text of the document, of the prompt and of the target. What that
 * program has no name for stands beside them: keys, verdicts, tokens, finish, reads. */

static const char *metric_name(const struct cell *c)
{
    if (c->task->option_metrics)
        return export_first_name(c);
    return strcmp(c->task->metric, "accuracy") ? c->task->metric : "exact_match";
}

/* p NULL: of the cell */
static json_t *generation_args(const struct cell *c, const struct run_problem *p)
{
    json_t *o = json_object(), *settings = export_settings(c);
    json_object_set_new(o, "until", export_stops(c, p));
    json_object_set_new(o, "max_gen_toks", json_integer(export_max_new(c, p)));
    json_object_set_new(o, "temperature", json_real(c->temperature));
    json_object_set(o, "top_p", json_object_get(settings, "top_p"));
    json_object_set(o, "top_k", json_object_get(settings, "top_k"));
    json_object_set_new(o, "do_sample", json_boolean(c->temperature > 0));
    json_decref(settings);
    return o;
}

static json_t *doc_json(const struct run_problem *p)
{
    json_t *doc = json_pack("{s:o, s:o}", "id", json_text_of(p->id), "answer", json_text_of(p->gold));
    if (p->prompt)
        json_object_set_new(doc, "problem", export_question(p));
    if (p->answer_prefix)
        json_object_set_new(doc, "answer_prefix", json_text_of(p->answer_prefix));
    if (p->option_order)
        json_object_set_new(doc, "option_order", json_text_of(p->option_order));
    return doc;
}

static void set_hash(json_t *row, const char *key, const char *data, size_t n)
{
    char hex[65];
    sha256_hex(data, n, hex, 64);
    json_object_set_new(row, key, json_string(hex));
}

/* The prompt's text is kept for all tasks but restricted ones, whose prompts are known by their tokens. */
static void set_hashes(json_t *row, const json_t *doc, const struct run_problem *p)
{
    char *text = json_dumps(doc, JSON_INDENT(2) | JSON_SORT_KEYS);
    set_hash(row, "doc_hash", text ? text : "", text ? strlen(text) : 0);
    free(text);
    if (p->prompt) {
        struct str prompt = {0};
        size_t own[2];
        run_prompt(p, &prompt, own);
        set_hash(row, "prompt_hash", str_text(&prompt), prompt.len);
        str_release(&prompt);
    } else
        json_object_set_new(row, "prompt_hash", json_text_of(p->prompt_sha256));
    set_hash(row, "target_hash", p->gold, strlen(p->gold));
}

static json_t *row_head(const struct cell *c, int problem)
{
    const struct run_problem *p = &c->task->problems[problem];
    json_t *row = json_object(), *doc = doc_json(p);
    json_object_set_new(row, "doc_id", json_integer(problem));
    json_object_set_new(row, "target", json_text_of(p->gold));
    json_object_set_new(
        row, "arguments",
        json_pack("{s:{s:o, s:o}}", "gen_args_0", "arg_0", export_prompt(p), "arg_1", generation_args(c, p)));
    json_object_set_new(row, "filter", json_string("none"));
    json_object_set_new(row, "metrics", json_pack("[s]", metric_name(c)));
    set_hashes(row, doc, p);
    json_object_set_new(row, "doc", doc);
    return row;
}

static void append_field(json_t *row, const char *key, json_t *v)
{
    json_t *list = json_object_get(row, key);
    if (!list) {
        list = json_array();
        json_object_set_new(row, key, list);
    }
    json_array_append_new(list, v);
}

static void append_record(json_t *row, const struct cell *c, const struct record *rec)
{
    append_field(row, "filtered_resps", json_text_of(rec->pred_form));
    append_field(row, "keys", json_text_of(rec->key));
    if (rec->likelihood) {
        struct likelihood_figures f = report_likelihood_figures(rec->likelihood);
        append_field(row, "kl", export_number(f.kl));
        append_field(row, "top1", export_number(f.top1));
    } else
        append_field(row, "verdicts", json_string(verdict_name(rec->verdict)));
    if (grade_needs_segmenter(c->task, &c->task->problems[rec->problem]))
        append_field(row, "segmenters", rec->segmenter ? json_text_of(rec->segmenter) : json_null());
    append_field(row, "tokens", json_integer(rec->tokens));
    append_field(row, "finish", json_string(finish_name(rec->finish)));
    append_field(row, "kv_reads", export_number(rec->kv.reads));
    append_field(row, "aux_reads", export_number(rec->kv.aux_reads));
    append_field(row, "kv_reads_full", export_number(rec->kv.reads_full));
    append_field(row, "peak_tokens", export_number(rec->kv.peak_tokens));
}

static int row_samples(struct export *x, const struct cell *c, json_t *row, int first, int n, struct err *e)
{
    struct str text = {0};
    json_t *resps = json_array();
    double sum = 0;
    int rc = 0;
    for (int i = first; i < first + n && !rc; i++) {
        rc = export_completion(x, c, &c->records[i], &text, e);
        json_array_append_new(resps, c->records[i].options ? export_options(c->records[i].options)
                                                           : json_text(str_text(&text), text.len));
        if (export_second_name(c))
            json_object_set_new(row, export_second_name(c), export_number(export_second(&c->records[i])));
        append_record(row, c, &c->records[i]);
        sum += c->records[i].score;
    }
    json_object_set_new(row, "resps", json_pack("[o]", resps));
    int is_failed = c->task->is_text && !c->records[first].likelihood; /* such a window has no bits */
    json_object_set_new(row, metric_name(c), is_failed ? json_null() : json_real(sum / n));
    str_release(&text);
    return rc;
}

static void add_hashes(struct sha256 *h, const json_t *row)
{
    static const char *const keys[] = {"doc_hash", "prompt_hash", "target_hash"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *v = json_object_get(row, keys[i]);
        sha256_add(h, json_string_value(v), json_string_length(v));
    }
}

/* Writes the cell's rows to the open file; `hash` (65 bytes) receives the digest over the hashes of all
 * documents, prompts and targets. */
static int write_samples(struct export *x, const struct cell *c, char *hash, struct err *e)
{
    unsigned char sum[32];
    struct sha256 h;
    int rc = 0;
    sha256_init(&h);
    for (int i = 0, n; i < c->n_records && !rc; i += n) {
        n = export_samples(c, i);
        json_t *row = row_head(c, c->records[i].problem);
        rc = row_samples(x, c, row, i, n, e);
        json_canonical(export_text(&x->files), row);
        str_putc(export_text(&x->files), '\n');
        add_hashes(&h, row);
        json_decref(row);
        if (!rc)
            rc = export_flush(&x->files, e);
    }
    sha256_end(&h, sum);
    for (int i = 0; i < 32; i++)
        snprintf(hash + 2 * i, 3, "%02x", sum[i]);
    return rc;
}

/* ---- The results of a system, and its files. */

static json_t *version_json(const char *version)
{
    char *end;
    double v = strtod(version, &end);
    return *version && !*end && isfinite(v) ? json_real(v) : json_text_of(version);
}

/* "N/A" is what stands there where no error is known. */
static void set_metric(json_t *o, const char *metric, double v, double error)
{
    struct str key = {0};
    str_printf(&key, "%s,none", metric);
    json_object_set_new(o, key.data, export_number(v));
    str_clear(&key);
    str_printf(&key, "%s_stderr,none", metric);
    json_object_set_new(o, key.data, isfinite(error) ? json_real(error) : json_string("N/A"));
    str_release(&key);
}

static json_t *task_result(struct export *x, const struct cell *c, const char *name,
                           const struct export_totals *t)
{
    json_t *o = json_pack("{s:s, s:o, s:i}", "name", name, "alias", json_text_of(export_label(x, c->task)),
                          "sample_len", t->problems);
    if (c->task->is_text) { /* over all windows together, as there */
        struct likelihood_figures f = report_likelihood_figures(&t->likelihood);
        set_metric(o, "bits_per_byte", f.bits_per_byte, NAN);
        json_object_set_new(o, "kl,none", export_number(f.kl));
        json_object_set_new(o, "top1,none", export_number(f.top1));
    } else
        set_metric(o, metric_name(c), t->mean, t->stderr_);
    if (export_second_name(c))
        set_metric(o, export_second_name(c), export_mean_second(c), NAN);
    return o;
}

static json_t *task_config(const struct cell *c, const char *name)
{
    int is_text = c->task->is_text;
    return json_pack("{s:s, s:o, s:s, s:i, s:o, s:[{s:s, s:s, s:b}], s:{s:o, s:o}}", "task", name,
                     "dataset_path", json_text_of(c->task->source), "output_type",
                     is_text                   ? "loglikelihood_rolling"
                     : c->task->option_metrics ? "multiple_choice"
                                               : "generate_until",
                     "repeats", c->samples, "generation_kwargs", generation_args(c, NULL), "metric_list",
                     "metric", metric_name(c), "aggregation", "mean", "higher_is_better", !is_text,
                     "metadata", "version", version_json(c->task->version), "task",
                     json_text_of(c->task->name));
}

/* As on that program's command line: "pretrained=pocket,policy=quest,k_pages=8"; lists are joined by "+". */
static void add_value(struct str *out, const json_t *v)
{
    size_t i;
    const json_t *one;
    if (json_is_string(v))
        str_puts(out, json_string_value(v));
    else if (json_is_array(v))
        json_array_foreach(v, i, one)
        {
            str_puts(out, i ? "+" : "");
            add_value(out, one);
        }
    else
        json_canonical(out, v);
}

static json_t *model_args(const struct cell *c)
{
    struct str out = {0};
    json_t *params = export_params(c), *v;
    const char *key;
    str_printf(&out, "pretrained=%s,policy=%s", c->model, c->policy);
    json_object_foreach(params, key, v)
    {
        if (!strcmp(key, "name") || json_is_object(v))
            continue;
        str_printf(&out, ",%s=", key);
        add_value(&out, v);
    }
    json_t *text = json_text(out.data, out.len);
    json_decref(params);
    str_release(&out);
    return text;
}

static void set_nulls(json_t *o, const char *const *keys)
{
    for (; *keys; keys++)
        json_object_set_new(o, *keys, json_null());
}

static json_t *config_json(const struct run *r, const struct cell *c)
{
    static const char *const unknown[] = {
        "model_num_parameters", "model_dtype", "model_revision", "batch_size",   "use_cache",
        "bootstrap_iters",      "numpy_seed",  "torch_seed",     "fewshot_seed", NULL};
    json_t *settings = export_settings(c);
    json_t *seed = json_object_get(settings, "seed"), *limit = json_object_get(r->config, "limit");
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:o, s:[], s:O, s:o, s:O}", "model", "kveval", "model_args", model_args(c),
                  "model_sha", json_text_of(c->weights ? c->weights : r->weights), "device",
                  json_text_of(r->device), "batch_sizes", "limit", limit ? limit : json_null(), "gen_kwargs",
                  generation_args(c, NULL), "random_seed", seed ? seed : json_null());
    set_nulls(o, unknown);
    json_decref(settings);
    return o;
}

/* What is said of the system and not of a task. */
static void add_system(json_t *o, struct export *x, const struct cell *c, const char *folder)
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
                                          "total_evaluation_time_seconds",
                                          NULL};
    const struct run *r = x->run;
    json_t *context = json_object_get(r->config, "max_context");
    const json_t *chat = json_object_get(
        json_array_get(json_object_get(r->config, "tasks"), (size_t)(c->task - r->tasks)), "chat");
    const char *form = json_string_value(chat);
    set_nulls(o, unknown);
    json_object_set_new(o, "date", json_real(x->seconds));
    json_object_set(o, "max_length", context ? context : json_null());
    json_object_set_new(o, "chat_template", form && strcmp(form, "none") ? json_string(form) : json_null());
    json_object_set_new(o, "fewshot_as_multiturn", json_false());
    json_object_set_new(o, "model_source", json_string("kveval"));
    json_object_set_new(o, "model_name", json_text_of(export_system_name(x, c)));
    json_object_set_new(o, "model_name_sanitized", json_text_of(folder));
    json_object_set_new(o, "kveval_version", json_string(KVEVAL_VERSION));
}

/* The keys of a result that hold something for each task. */
static void add_task(struct export *x, json_t *o, const struct cell *c, const char *name, const char *hash)
{
    struct export_totals t;
    export_count(&t, c);
    int original = c->task->n_original ? c->task->n_original : c->task->n_problems;
    const struct {
        const char *key;
        json_t *value;
    } part[] = {
        {"results", task_result(x, c, name, &t)},
        {"group_subtasks", json_array()},
        {"configs", task_config(c, name)},
        {"versions", version_json(c->task->version)},
        {"n-shot", json_integer(0)},
        {"higher_is_better", json_pack("{s:b}", metric_name(c), !c->task->is_text)},
        {"n-samples", json_pack("{s:i, s:i}", "original", original, "effective", t.problems)},
        {"task_hashes", json_string(hash)},
        {"x_kv", export_kv(c, &t)},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        json_t *all = json_object_get(o, part[i].key);
        if (!all) {
            all = json_object();
            json_object_set_new(o, part[i].key, all);
        }
        json_object_set_new(all, name, part[i].value);
    }
}

static int write_results(struct export *x, const char *path, const json_t *o, struct err *e)
{
    int rc = export_open(&x->files, path, e);
    if (rc)
        return rc;
    char *dump = json_dumps(o, JSON_INDENT(2));
    if (!dump)
        return err_set(e, ERR_FORMAT, "%s would hold something that is not JSON", path);
    str_printf(export_text(&x->files), "%s\n", dump);
    free(dump);
    return export_close(&x->files, e);
}

static int write_system(struct export *x, int first, struct err *e)
{
    const struct cell *cells = x->run->cells;
    const char *folder = export_file_name(x, export_system_name(x, &cells[first]));
    char *time = arena_strdup(&x->arena, x->time);
    json_t *o = json_pack("{s:{}, s:{}}", "results", "groups");
    int rc = 0;
    for (char *p = time; *p; p++) /* ":" is not for file names */
        *p = *p == ':' ? '-' : *p;
    const char *base = arena_printf(&x->arena, "%s/%s", x->o->out, folder);
    for (int i = first; i >= 0 && !rc; i = export_next_cell(x->run, first, i)) {
        const char *name = export_task_name(x, first, i);
        char hash[65];
        if (!cells[i].n_records)
            continue;
        rc = export_open(&x->files, arena_printf(&x->arena, "%s/samples_%s_%s.jsonl", base, name, time), e);
        if (!rc)
            rc = write_samples(x, &cells[i], hash, e);
        if (!rc)
            rc = export_close(&x->files, e);
        if (!rc)
            add_task(x, o, &cells[i], name, hash);
    }
    json_object_set_new(o, "config", config_json(x->run, &cells[first]));
    add_system(o, x, &cells[first], folder);
    if (!rc && json_object_size(json_object_get(o, "results")))
        rc = write_results(x, arena_printf(&x->arena, "%s/results_%s.json", base, time), o, e);
    json_decref(o);
    return rc;
}

const struct export_format export_lmeval = {
    .name = "lm-eval",
    .write_system = write_system,
};
