/* The layout of lighteval 0.13 (its logging/evaluation_tracker.py):
 *
 *   OUT/results/SYSTEM/results_TIME.json
 *   OUT/details/SYSTEM/TIME/details_TASK|0_TIME.jsonl
 *
 * Details are Parquet there; here they are JSON Lines with the same three columns (doc, metric,
 * model_response), since no kept C library writes Parquet; pandas converts them in a line (docs/exports.md).
 * Its hashes are xxhash and left empty. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/cli/version.h"
#include "evalcore/export/export_parts.h"

/* "avg@n:n=8" is what that program calls the mean over samples. */
static const char *metric_name(struct export *x, const struct cell *c)
{
    if (c->task->option_metrics)
        return export_first_name(c);
    if (strcmp(c->task->metric, "accuracy"))
        return c->task->metric;
    return c->samples > 1 ? arena_printf(&x->arena, "avg@n:n=%d", c->samples) : "extractive_match";
}

static json_t *choice_letters(int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        char letter[2] = {(char)('A' + i), 0};
        json_array_append_new(list, json_string(letter));
    }
    return list;
}

static json_t *doc_json(const struct cell *c, const struct run_problem *p, const char *task)
{
    int is_choice = p->n_options > 0 && p->n_options <= 26 && strlen(p->gold) == 1;
    json_t *gold = json_array();
    for (int i = 0; i < (is_choice || !p->n_golds ? 1 : p->n_golds); i++)
        json_array_append_new(gold, json_integer(is_choice ? p->gold[0] - 'A' : i));
    json_t *o =
        json_pack("{s:o, s:o, s:o, s:o, s:s, s:[], s:[s], s:i, s:o, s:b, s:i}", "query", export_question(p),
                  "choices", is_choice ? choice_letters(p->n_options) : export_golds(p), "gold_index", gold,
                  "id", json_text_of(p->id), "task_name", task, "fewshot_samples", "sampling_methods",
                  c->task->is_text          ? "PERPLEXITY"
                  : c->task->option_metrics ? "LOGPROBS"
                                            : "GENERATIVE",
                  "generation_size", export_max_new(c, p), "stop_sequences", export_stops(c, p), "use_logits",
                  0, "num_samples", c->samples);
    static const char *const unknown[] = {"instruction",         "images",         "specific",
                                          "unconditioned_query", "original_query", "fewshot_sorting_class",
                                          "generation_grammar"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        json_object_set_new(o, unknown[i], json_null());
    return o;
}

/* The token ids of a completion say what its text says. */
static json_t *ids_json(struct export *x, const struct cell *c, const struct record *rec)
{
    struct str text = {0};
    json_t *ids = NULL;
    if (!export_is_withheld(x, c) && !run_ids(x->run, rec, &text, NULL))
        ids = json_loadb(str_text(&text), text.len, 0, NULL);
    str_release(&text);
    return ids ? ids : json_array();
}

static int add_detail(struct export *x, const struct cell *c, int first, int n, const char *task,
                      struct err *e)
{
    const struct run_problem *p = &c->task->problems[c->records[first].problem];
    json_t *texts = json_array(), *tokens = json_array(), *logprobs = json_array();
    struct str text = {0};
    double sum = 0, second = 0;
    int rc = 0;
    for (int i = first; i < first + n && !rc; i++) {
        rc = export_completion(x, c, &c->records[i], &text, e);
        if (c->task->option_metrics) {
            json_t *all = c->records[i].options ? export_options(c->records[i].options) : NULL;
            json_array_extend(logprobs, all);
            json_decref(all);
        } else {
            json_array_append_new(texts, json_text(str_text(&text), text.len));
            json_array_append_new(tokens, ids_json(x, c, &c->records[i]));
        }
        sum += c->records[i].score;
        second += export_second(&c->records[i]);
    }
    json_t *response =
        json_pack("{s:o, s:[], s:o, s:o, s:n, s:[], s:o, s:[], s:n, s:n, s:i, s:i}", "input",
                  export_prompt(p), "input_tokens", "text", texts, "output_tokens", tokens,
                  "text_post_processed", "reasonings", "logprobs", logprobs, "argmax_logits_eq_gold",
                  "logits", "unconditioned_logprobs", "truncated_tokens_count", 0, "padded_tokens_count", 0);
    json_t *row = json_pack("{s:o, s:{s:f}, s:o}", "doc", doc_json(c, p, task), "metric", metric_name(x, c),
                            sum / n, "model_response", response);
    if (export_second_name(c))
        json_object_set_new(json_object_get(row, "metric"), export_second_name(c), json_real(second / n));
    json_canonical(export_text(&x->files), row);
    str_putc(export_text(&x->files), '\n');
    json_decref(row);
    str_release(&text);
    return rc ? rc : export_flush(&x->files, e);
}

static void set_metric(json_t *o, const char *metric, double v, double error)
{
    struct str key = {0};
    str_printf(&key, "%s_stderr", metric);
    json_object_set_new(o, metric, export_number(v));
    if (isfinite(error))
        json_object_set_new(o, key.data, json_real(error));
    str_release(&key);
}

static json_t *task_summary(int problems)
{
    return json_pack("{s:{s:s, s:s, s:s, s:s}, s:i, s:i, s:i, s:i, s:i, s:i}", "hashes", "hash_examples", "",
                     "hash_full_prompts", "", "hash_input_tokens", "", "hash_cont_tokens", "", "truncated", 0,
                     "non_truncated", problems, "padded", 0, "non_padded", problems, "effective_few_shots", 0,
                     "num_truncated_few_shots", 0);
}

struct parts { /* parts of a results file */
    json_t *results, *versions, *config_tasks, *summary_tasks, *x_kv;
    int problems;
};

static void add_task(struct export *x, struct parts *o, const struct cell *c, const char *task)
{
    struct export_totals t;
    export_count(&t, c);
    double mean = t.mean;
    if (c->task->is_text) {
        mean = report_likelihood_figures(&t.likelihood).bits_per_byte;
        t.stderr_ = NAN;
    }
    json_t *result = json_object();
    set_metric(result, metric_name(x, c), mean, t.stderr_);
    if (export_second_name(c))
        set_metric(result, export_second_name(c), export_mean_second(c), NAN);
    json_object_set_new(o->results, task, result);
    json_object_set_new(o->versions, task, json_text_of(c->task->version));
    json_object_set_new(
        o->config_tasks, task,
        json_pack("{s:o, s:o, s:i, s:o, s:i, s:i}", "name", json_text_of(export_label(x, c->task)), "hf_repo",
                  json_text_of(c->task->source), "generation_size", c->max_new_tokens, "stop_sequence",
                  export_stops(c, NULL), "num_fewshots", 0, "num_samples", c->samples));
    json_object_set_new(o->summary_tasks, task, task_summary(t.problems));
    json_object_set_new(o->x_kv, task, export_kv(c, &t));
    o->problems += t.problems;
}

/* Readers skip "all": the mean of each metric over the tasks that have it. */
static json_t *metric_means(const json_t *results)
{
    json_t *out = json_object(), *n = json_object(), *task, *v;
    const char *name, *metric;
    json_object_foreach((json_t *)results, name, task)
    {
        json_object_foreach(task, metric, v)
        {
            double sum = json_number_value(json_object_get(out, metric)) + json_number_value(v);
            json_int_t k = json_integer_value(json_object_get(n, metric)) + 1;
            json_object_set_new(out, metric, json_real(sum));
            json_object_set_new(n, metric, json_integer(k));
        }
    }
    json_object_foreach(out, metric, v)
        json_real_set(v, json_real_value(v) / (double)json_integer_value(json_object_get(n, metric)));
    json_decref(n);
    return out;
}

static json_t *general_config(struct export *x, const struct cell *c)
{
    json_t *s = export_settings(c), *seed = json_object_get(s, "seed");
    json_t *model = json_pack("{s:o, s:O, s:o}", "model_name", json_text_of(export_system_name(x, c)),
                              "generation_parameters", s, "policy", export_params(c));
    json_object_set(model, "seed", seed ? seed : json_null());
    json_decref(s);
    return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:n, s:o, s:o, s:s}", "lighteval_sha", "?",
                     "num_fewshot_seeds", "max_samples", "job_id", "start_time", "end_time",
                     "total_evaluation_time_secondes", "model_config", model, "model_name",
                     json_text_of(export_system_name(x, c)), "kveval_version", KVEVAL_VERSION);
}

static int write_results(struct export *x, const struct cell *c, const char *path, struct parts *o,
                         struct err *e)
{
    int rc = export_open(&x->files, path, e);
    json_object_set_new(o->results, "all", metric_means(o->results));
    json_t *all =
        json_pack("{s:o, s:O, s:O, s:O, s:O, s:o, s:O}", "config_general", general_config(x, c), "results",
                  o->results, "versions", o->versions, "config_tasks", o->config_tasks, "summary_tasks",
                  o->summary_tasks, "summary_general", task_summary(o->problems), "x_kv", o->x_kv);
    char *dump = rc ? NULL : json_dumps(all, JSON_INDENT(2));
    if (!rc && !dump)
        rc = err_set(e, ERR_FORMAT, "%s would hold something that is not JSON", path);
    if (!rc) {
        str_printf(export_text(&x->files), "%s\n", dump);
        rc = export_close(&x->files, e);
    }
    free(dump);
    json_decref(all);
    return rc;
}

static int write_details(struct export *x, const struct cell *c, const char *path, const char *task,
                         struct err *e)
{
    int rc = export_open(&x->files, path, e);
    for (int i = 0, n; i < c->n_records && !rc; i += n) {
        n = export_samples(c, i);
        rc = add_detail(x, c, i, n, task, e);
    }
    return rc ? rc : export_close(&x->files, e);
}

static int write_system(struct export *x, int first, struct err *e)
{
    const struct cell *cells = x->run->cells;
    const char *folder = export_file_name(x, export_system_name(x, &cells[first]));
    char *time = arena_strdup(&x->arena, x->time);
    struct parts o = {json_object(), json_object(), json_object(), json_object(), json_object(), 0};
    int rc = 0;
    for (char *p = time; *p; p++)
        *p = *p == ':' ? '-' : *p;
    for (int i = first; i >= 0 && !rc; i = export_next_cell(x->run, first, i)) {
        if (!cells[i].n_records)
            continue;
        const char *task = arena_printf(&x->arena, "%s|0", export_task_name(x, first, i));
        rc = write_details(x, &cells[i],
                           arena_printf(&x->arena, "%s/details/%s/%s/details_%s_%s.jsonl", x->o->out, folder,
                                        time, task, time),
                           task, e);
        add_task(x, &o, &cells[i], task);
    }
    if (!rc && o.problems)
        rc = write_results(x, &cells[first],
                           arena_printf(&x->arena, "%s/results/%s/results_%s.json", x->o->out, folder, time),
                           &o, e);
    json_decref(o.results);
    json_decref(o.versions);
    json_decref(o.config_tasks);
    json_decref(o.summary_tasks);
    json_decref(o.x_kv);
    return rc;
}

const struct export_format export_lighteval = {
    .name = "lighteval",
    .write_system = write_system,
};
