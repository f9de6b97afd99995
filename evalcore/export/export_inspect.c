/* A log of Inspect (inspect_ai.log.read_eval_log, `inspect view`) for each cell, in its JSON form, version 2:
 * OUT/TIME_CELL_ID.json. The compressed form is its authors' own affair and changes with the program.
 *
 * Epochs are samples and count from 1. Scores are "C" and "I", "N" where no answer was read, and numbers for
 * metrics that are no verdicts. A sample's metadata holds what only this program knows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/cli/version.h"
#include "evalcore/export/export_parts.h"

enum { ID_DIGITS = 22 };

static const char *id_of(struct export *x, const struct cell *c, const char *what)
{
    struct str text = {0};
    char hex[ID_DIGITS + 1];
    str_printf(&text, "%s %s %s %s", what, c->id, c->identity, x->time);
    sha256_hex(text.data, text.len, hex, ID_DIGITS);
    str_release(&text);
    return arena_strdup(&x->arena, hex);
}

static json_t *generate_config(const struct cell *c)
{
    json_t *settings = export_settings(c), *o = json_object();
    static const char *const same[] = {"top_p", "seed"};
    json_object_set_new(o, "temperature", json_real(c->temperature));
    json_object_set_new(o, "max_tokens", json_integer(c->max_new_tokens));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        json_t *v = json_object_get(settings, same[i]);
        if (json_is_number(v))
            json_object_set(o, same[i], v);
    }
    json_t *top_k = json_object_get(settings, "top_k");
    if (json_integer_value(top_k) > 0)
        json_object_set(o, "top_k", top_k);
    json_t *stops = export_stops(c, NULL);
    if (json_array_size(stops))
        json_object_set(o, "stop_seqs", stops);
    json_decref(stops);
    json_decref(settings);
    return o;
}

static const char *model_name(struct export *x, const struct cell *c)
{
    return arena_printf(&x->arena, "kveval/%s", c->model);
}

static json_t *spec_json(struct export *x, const struct cell *c, const struct export_totals *t,
                         const char *created)
{
    json_t *metadata =
        json_pack("{s:o, s:o, s:o, s:s, s:o}", "policy", json_text_of(c->policy), "policy_label",
                  json_text_of(c->policy_label), "settings", export_settings(c), "kveval_version",
                  KVEVAL_VERSION, "x_kv", export_kv(c, t));
    json_t *args = json_pack("{s:o, s:o}", "weights", json_text_of(c->weights ? c->weights : x->run->weights),
                             "numerics", json_text_of(x->run->numerics));
    json_t *scorers = json_pack("[{s:s, s:{s:o}, s:[{s:s}, {s:s}]}]", "name", "kveval", "options", "grader",
                                json_text_of(x->run->grader), "metrics", "name", "inspect_ai/accuracy",
                                "name", "inspect_ai/stderr");
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:{s:o, s:i, s:b}, s:s, s:o, s:o, s:{s:i}, s:{}, "
                     "s:o, s:o}",
                     "eval_id", id_of(x, c, "eval"), "run_id", id_of(x, &x->run->cells[0], "run"), "created",
                     created, "task", json_text_of(export_label(x, c->task)), "task_id", id_of(x, c, "task"),
                     "task_version", json_text_of(c->task->version), "task_args",
                     json_pack("{s:o}", "policy", json_text_of(c->policy_label)), "dataset", "name",
                     json_text_of(export_label(x, c->task)), "samples", c->task->n_problems, "shuffled", 0,
                     "model", model_name(x, c), "model_generate_config", generate_config(c), "model_args",
                     args, "config", "epochs", c->samples, "packages", "metadata", metadata, "scorers",
                     scorers);
}

static json_t *metric_json(const char *name, double v)
{
    return json_pack("{s:s, s:o}", "name", name, "value", isfinite(v) ? json_real(v) : json_integer(0));
}

static json_t *results_json(const struct cell *c, const struct export_totals *t)
{
    double mean = c->task->is_text ? report_likelihood_figures(&t->likelihood).bits_per_byte : t->mean;
    json_t *metrics = json_pack("{s:o}", "accuracy", metric_json("accuracy", mean));
    if (isfinite(t->stderr_) && !c->task->is_text)
        json_object_set_new(metrics, "stderr", metric_json("stderr", t->stderr_));
    json_t *score = json_pack("{s:s, s:s, s:o, s:i, s:o}", "name", "kveval", "scorer", "kveval", "reducer",
                              c->samples > 1 ? json_string("mean") : json_null(), "scored_samples",
                              c->n_records, "metrics", metrics);
    return json_pack("{s:i, s:i, s:[o]}", "total_samples", c->n_expected, "completed_samples", c->n_records,
                     "scores", score);
}

static json_t *usage_json(double in, double out)
{
    return json_pack("{s:I, s:I, s:I}", "input_tokens", (json_int_t)in, "output_tokens", (json_int_t)out,
                     "total_tokens", (json_int_t)(in + out));
}

/* Everything but the samples. */
static json_t *head_json(struct export *x, const struct cell *c)
{
    struct export_totals t;
    const char *created = arena_printf(&x->arena, "%s+00:00", x->time);
    export_count(&t, c);
    return json_pack("{s:i, s:s, s:o, s:{s:s, s:[], s:o}, s:o, s:{s:s, s:s, s:{s:o}}}", "version", 2,
                     "status", c->n_records == c->n_expected ? "success" : "cancelled", "eval",
                     spec_json(x, c, &t, created), "plan", "name", "plan", "steps", "config",
                     generate_config(c), "results", results_json(c, &t), "stats", "started_at", created,
                     "completed_at", created, "model_usage", model_name(x, c),
                     usage_json(t.prompt_tokens, t.tokens));
}

static json_t *value_json(const struct cell *c, const struct record *rec)
{
    if (strcmp(c->task->metric, "accuracy"))
        return json_real(rec->score);
    switch (rec->verdict) {
    case VERDICT_CORRECT:
        return json_string("C");
    case VERDICT_UNPARSED:
    case VERDICT_UNFINISHED:
    case VERDICT_TRUNCATED:
        return json_string("N");
    default:
        return json_string("I");
    }
}

static json_t *score_json(const struct cell *c, const struct record *rec)
{
    return json_pack("{s:o, s:o, s:o, s:{s:s}}", "value", value_json(c, rec), "answer",
                     json_text_of(rec->pred_form), "explanation", json_text_of(rec->reason), "metadata",
                     "verdict", rec->likelihood ? "likelihood" : verdict_name(rec->verdict));
}

static const char *stop_reason(const struct record *rec)
{
    return rec->finish == FINISHED_LENGTH ? "max_tokens" : rec->finish == FINISHED_ERROR ? "unknown" : "stop";
}

static json_t *sample_json(struct export *x, const struct cell *c, const struct record *rec,
                           const struct str *text)
{
    const struct run_problem *p = &c->task->problems[rec->problem];
    const char *model = model_name(x, c);
    json_t *message = json_pack("{s:s, s:o, s:s, s:s}", "role", "assistant", "content",
                                json_text(str_text(text), text->len), "source", "generate", "model", model);
    json_t *output =
        json_pack("{s:s, s:[{s:O, s:s}], s:O, s:o}", "model", model, "choices", "message", message,
                  "stop_reason", stop_reason(rec), "completion", json_object_get(message, "content"), "usage",
                  usage_json(rec->prompt_tokens, rec->tokens));
    json_t *user =
        json_pack("{s:s, s:o, s:s}", "role", "user", "content", export_prompt(p), "source", "input");
    json_t *metadata =
        json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "key", json_text_of(rec->key), "finish",
                  finish_name(rec->finish), "kv_reads", export_number(rec->kv.reads), "aux_reads",
                  export_number(rec->kv.aux_reads), "kv_reads_full", export_number(rec->kv.reads_full),
                  "peak_tokens", export_number(rec->kv.peak_tokens));
    if (rec->options)
        json_object_set_new(metadata, "option_logprobs", export_options(rec->options));
    json_t *o =
        json_pack("{s:o, s:i, s:o, s:o, s:[o, o], s:o, s:{s:o}, s:o, s:{s:o}, s:s}", "id",
                  json_text_of(p->id), "epoch", rec->sample + 1, "input", export_question(p), "target",
                  p->n_golds > 1 ? export_golds(p) : json_text_of(p->gold), "messages", user, message,
                  "output", output, "scores", "kveval", score_json(c, rec), "metadata", metadata,
                  "model_usage", model, usage_json(rec->prompt_tokens, rec->tokens), "uuid", rec->key);
    if (rec->finish == FINISHED_ERROR)
        json_object_set_new(o, "error",
                            json_pack("{s:o, s:s, s:s}", "message", json_text_of(rec->error), "traceback", "",
                                      "traceback_ansi", ""));
    return o;
}

static int write_samples(struct export *x, const struct cell *c, struct err *e)
{
    struct str text = {0}, *out = export_text(&x->files);
    int rc = 0;
    for (int i = 0; i < c->n_records && !rc; i++) {
        rc = export_completion(x, c, &c->records[i], &text, e);
        json_t *o = sample_json(x, c, &c->records[i], &text);
        str_puts(out, i ? ",\n" : "");
        json_canonical(out, o);
        json_decref(o);
        if (!rc)
            rc = export_flush(&x->files, e);
    }
    str_release(&text);
    return rc;
}

static int write_log(struct export *x, const struct cell *c, struct err *e)
{
    /* As there: "2026-01-31T12-00-00+00-00_task_id.json", by which the viewer's list finds and sorts it. */
    char *time = arena_printf(&x->arena, "%s+00:00", x->time);
    for (char *p = time; *p; p++)
        *p = *p == ':' ? '-' : *p;
    const char *path = arena_printf(&x->arena, "%s/%s_%s_%s.json", x->o->out, time,
                                    export_file_name(x, report_slug(&x->arena, c->id)), id_of(x, c, "file"));
    json_t *head = head_json(x, c);
    struct str *out = export_text(&x->files);
    char *dump = json_dumps(head, JSON_INDENT(2));
    int rc = dump ? export_open(&x->files, path, e)
                  : err_set(e, ERR_FORMAT, "%s would hold something that is not JSON", path);
    if (!rc) {
        str_add(out, dump, strlen(dump) - 2); /* without "\n}" */
        str_puts(out, ",\n  \"samples\": [\n");
        rc = write_samples(x, c, e);
        str_puts(out, "\n]}\n");
    }
    free(dump);
    json_decref(head);
    return rc ? rc : export_close(&x->files, e);
}

static int write_inspect(struct export *x, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < x->run->n_cells && !rc; i++)
        if (x->run->cells[i].n_records)
            rc = write_log(x, &x->run->cells[i], e);
    return rc;
}

const struct export_format export_inspect = {
    .name = "inspect",
    .write = write_inspect,
};
