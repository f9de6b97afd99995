/* The samples of lm-evaluation-harness 0.4: a row for each problem, all its samples in it, one filter
 * ("none"). Hashes are made as there: of the text of the document, of the prompt and of the target. What that
 * program has no name for stands beside them: keys, verdicts, tokens, finish, reads. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/export/export_lmeval.h"
#include "evalcore/store/grades.h"

const char *lmeval_metric(const struct cell *c)
{
    return strcmp(c->task->metric, "accuracy") ? c->task->metric : "exact_match";
}

json_t *lmeval_gen_args(const struct cell *c, const struct run_problem *p)
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
        json_object_set_new(doc, "problem", export_prompt(p));
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
    if (p->prompt)
        set_hash(row, "prompt_hash", p->prompt, p->prompt_len);
    else
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
        json_pack("{s:{s:o, s:o}}", "gen_args_0", "arg_0", export_prompt(p), "arg_1", lmeval_gen_args(c, p)));
    json_object_set_new(row, "filter", json_string("none"));
    json_object_set_new(row, "metrics", json_pack("[s]", lmeval_metric(c)));
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
        json_array_append_new(resps, json_text(str_text(&text), text.len));
        append_record(row, c, &c->records[i]);
        sum += c->records[i].score;
    }
    json_object_set_new(row, "resps", json_pack("[o]", resps));
    int is_failed = c->task->is_text && !c->records[first].likelihood; /* such a window has no bits */
    json_object_set_new(row, lmeval_metric(c), is_failed ? json_null() : json_real(sum / n));
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

int lmeval_samples(struct export *x, const struct cell *c, char *hash, struct err *e)
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
