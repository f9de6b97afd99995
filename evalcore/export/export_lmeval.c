/* The layout of lm-evaluation-harness 0.4 (its loggers/evaluation_tracker.py writes it, and the functions
 * get_results_filenames and get_latest_filename of its utils.py find it):
 *
 *   OUT/SYSTEM/results_TIME.json          all tasks of a system (export_parts.h)
 *   OUT/SYSTEM/samples_TASK_TIME.jsonl    export_lmeval_samples.c
 *
 * SYSTEM is `model_name_sanitized` of the results. Keys that this program has nothing for are null, so that
 * readers find them; `x_kv` holds what only this program knows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/cli/version.h"
#include "evalcore/export/export_lmeval.h"

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

static json_t *task_result(const struct cell *c, const char *name, const struct export_totals *t)
{
    json_t *o = json_pack("{s:s, s:o, s:i}", "name", name, "alias", json_text_of(c->task->label),
                          "sample_len", t->problems);
    if (c->task->is_text) { /* over all windows together, as there */
        struct likelihood_figures f = report_likelihood_figures(&t->likelihood);
        set_metric(o, "bits_per_byte", f.bits_per_byte, NAN);
        json_object_set_new(o, "kl,none", export_number(f.kl));
        json_object_set_new(o, "top1,none", export_number(f.top1));
    } else
        set_metric(o, lmeval_metric(c), t->mean, t->stderr_);
    return o;
}

static json_t *task_config(const struct cell *c, const char *name)
{
    int is_text = c->task->is_text;
    return json_pack("{s:s, s:o, s:s, s:i, s:o, s:[{s:s, s:s, s:b}], s:{s:o, s:o}}", "task", name,
                     "dataset_path", json_text_of(c->task->source), "output_type",
                     is_text ? "loglikelihood_rolling" : "generate_until", "repeats", c->samples,
                     "generation_kwargs", lmeval_gen_args(c, NULL), "metric_list", "metric", lmeval_metric(c),
                     "aggregation", "mean", "higher_is_better", !is_text, "metadata", "version",
                     version_json(c->task->version), "task", json_text_of(c->task->name));
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
                  lmeval_gen_args(c, NULL), "random_seed", seed ? seed : json_null());
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
static void add_task(json_t *o, const struct cell *c, const char *name, const char *hash)
{
    struct export_totals t;
    export_count(&t, c);
    int original = c->task->n_original ? c->task->n_original : c->task->n_problems;
    const struct {
        const char *key;
        json_t *value;
    } part[] = {
        {"results", task_result(c, name, &t)},
        {"group_subtasks", json_array()},
        {"configs", task_config(c, name)},
        {"versions", version_json(c->task->version)},
        {"n-shot", json_integer(0)},
        {"higher_is_better", json_pack("{s:b}", lmeval_metric(c), !c->task->is_text)},
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
            rc = lmeval_samples(x, &cells[i], hash, e);
        if (!rc)
            rc = export_close(&x->files, e);
        if (!rc)
            add_task(o, &cells[i], name, hash);
    }
    json_object_set_new(o, "config", config_json(x->run, &cells[first]));
    add_system(o, x, &cells[first], folder);
    if (!rc && json_object_size(json_object_get(o, "results")))
        rc = write_results(x, arena_printf(&x->arena, "%s/results_%s.json", base, time), o, e);
    json_decref(o);
    return rc;
}

static int write_lmeval(struct export *x, struct err *e)
{
    int rc = 0;
    for (int i = export_next_system(x->run, -1); i >= 0 && !rc; i = export_next_system(x->run, i))
        rc = write_system(x, i, e);
    return rc;
}

const struct export_format export_lmeval = {
    .name = "lm-eval",
    .write = write_lmeval,
};
