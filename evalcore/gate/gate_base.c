/* The base file (contract: gate.h): what a baseline keeps for later nights, to be read in a review. JSONL,
 * keys sorted; the first line names what was run, then a line for each task, setting on a task, completion
 * and replay; the last line is a digest of those before it, so that a cut or hand-edited file is noticed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/cli/version.h"
#include "evalcore/gate/gate.h"

static void add_line(struct str *out, json_t *o)
{
    json_canonical(out, o);
    str_putc(out, '\n');
    json_decref(o);
}

static json_t *write_object(const char *text)
{
    json_t *o = json_loads(text, 0, NULL);
    return o ? o : json_object();
}

/* Numbers of digits after the point are kept small: the file is for people, too. */
static json_t *round_digits(double v, double unit)
{
    double r = v / unit;
    return json_real((double)(long long)(r < 0 ? r - 0.5 : r + 0.5) * unit);
}

static json_t *cell_json(const struct gate_cell *c)
{
    json_t *n = json_array(), *right = json_array(), *cut = json_array(), *unparsed = json_array(),
           *length = json_array(), *log_length = json_array(), *score = json_array();
    struct gate_sums all = {0};
    for (int i = 0; i < c->n_problems; i++) {
        const struct gate_sums *s = &c->problems[i].all;
        double count = s->n > 0 ? (double)s->n : 1;
        double lengths = s->n > s->failed ? (double)(s->n - s->failed) : 1;
        json_array_append_new(n, json_integer(s->n));
        json_array_append_new(right, json_integer(s->right));
        json_array_append_new(cut, json_integer(s->cut));
        json_array_append_new(unparsed, json_integer(s->unparsed));
        json_array_append_new(length, round_digits(s->tokens / lengths, 0.125));
        json_array_append_new(log_length, round_digits(s->log_tokens / lengths, 1.0 / 8192));
        json_array_append_new(score, json_real(s->score / count));
        all.reads += s->reads;
        all.aux += s->aux;
        all.full += s->full;
        all.errors += s->errors;
    }
    json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "kind", "cell",
                          "setting", c->setting, "task", c->task, "policy", write_object(c->policy),
                          "settings", write_object(c->settings), "is_binary", c->is_binary, "samples", n,
                          "right", right, "cut_off", cut, "unparsed", unparsed, "tokens", length,
                          "log_tokens", log_length, "errors", (json_int_t)all.errors);
    if (isfinite(all.full)) { /* a server does not count them */
        json_object_set_new(o, "kv_reads", json_real(all.reads));
        json_object_set_new(o, "aux_reads", json_real(all.aux));
        json_object_set_new(o, "kv_reads_full", json_real(all.full));
    }
    if (c->is_binary)
        json_decref(score);
    else
        json_object_set_new(o, "score", score);
    return o;
}

static json_t *task_json(const struct gate_cell *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->n_problems; i++)
        json_array_append_new(list, json_pack("[s, s, s]", c->problems[i].id, c->problems[i].prompt_sha256,
                                              c->problems[i].gold));
    return json_pack("{s:s, s:s, s:o, s:o}", "kind", "task", "task", c->task, "facts", write_object(c->facts),
                     "problems", list);
}

static json_t *trace_json(const struct gate_trace *t)
{
    json_t *ids = json_array();
    for (int i = 0; i < t->n; i++)
        json_array_append_new(ids, json_integer(t->ids[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "kind", "trace", "task", t->task, "problem", t->problem,
                     "prompt_sha256", t->prompt_sha256, "ids", ids);
}

static void token_lists(const struct gate_replay *r, const struct gate_trace *t, json_t *nats, json_t *tops)
{
    for (int i = 0; i < r->n; i++) {
        json_array_append_new(nats, json_integer(r->millinats[i]));
        if (r->tops[i] != t->ids[i])
            json_array_append_new(tops, json_pack("[i, i]", i, r->tops[i]));
    }
}

/* What a server's scores are compared with. */
static json_t *scores_json(const struct gate_replay *r, const struct gate_trace *t)
{
    json_t *nats = json_array(), *tops = json_array(), *kl = json_array(), *worst = json_array(),
           *others = json_array();
    token_lists(r, t, nats, tops);
    for (int i = 0; i < r->band->n; i++) {
        json_array_append_new(kl, json_integer(llrint(1e6 * r->band->kl[i])));
        json_array_append_new(worst, json_integer(llrint(1e3 * r->band->worst[i])));
        json_array_append_new(others, json_integer(llrint(r->band->others[i])));
    }
    return json_pack("{s:s, s:s, s:i, s:o, s:o, s:{s:o, s:o, s:o}}", "kind", "scores", "setting", r->setting,
                     "trace", r->trace, "logprobs_1e-3", nats, "other_tops", tops, "band", "kl_1e-6", kl,
                     "worst_1e-3", worst, "other_tops", others);
}

static json_t *replay_json(const struct gate_replay *r, const struct gate_trace *t)
{
    json_t *nats = json_array(), *tops = json_array(), *seen = json_array();
    token_lists(r, t, nats, tops);
    for (int i = 0; i < r->n_seen; i++) {
        const struct gate_seen *s = &r->seen[i];
        json_t *v = json_pack("[i, i, s]", s->step, s->layer, s->digest);
        if (s->sets)
            json_array_append_new(v, json_string(s->sets));
        json_array_append_new(seen, v);
    }
    return json_pack("{s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:{s:f, s:f, s:f, s:f, s:f}}", "kind", "replay",
                     "setting", r->setting, "trace", r->trace, "bits", r->bits, "logprobs_1e-3", nats,
                     "other_tops", tops, "lists", seen, "kv", "reads", r->kv.reads, "aux_reads",
                     r->kv.aux_reads, "reads_full", r->kv.reads_full, "peak_tokens", r->kv.peak_tokens,
                     "prefill_peak_tokens", r->kv.prefill_peak_tokens);
}

int gate_base_write(const struct gate_side *s, const char *path, struct err *e)
{
    struct str out = {0};
    char digest[65];
    if (gate_fit(s, 0, e))
        return e->code;
    add_line(&out, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:f}", "kind", "kveval gate base", "v",
                             GATE_BASE_VERSION, "version", KVEVAL_VERSION, "model", s->model, "weights",
                             s->weights, "configuration", s->configuration, "numerics", s->numerics, "grader",
                             s->grader, "margin", s->margin));
    for (int i = 0; i < s->n_cells; i++) {
        int is_first = 1;
        for (int k = 0; k < i; k++)
            is_first &= strcmp(s->cells[k].task, s->cells[i].task) != 0;
        if (is_first)
            add_line(&out, task_json(&s->cells[i]));
    }
    for (int i = 0; i < s->n_cells; i++)
        add_line(&out, cell_json(&s->cells[i]));
    for (int i = 0; i < s->n_traces; i++)
        add_line(&out, trace_json(&s->traces[i]));
    for (int i = 0; i < s->n_replays; i++) {
        const struct gate_replay *r = &s->replays[i];
        add_line(&out,
                 r->by_server ? scores_json(r, &s->traces[r->trace]) : replay_json(r, &s->traces[r->trace]));
    }
    if (s->unscored)
        add_line(&out, json_pack("{s:s, s:o}", "kind", "unscored", "why", json_text_of(s->unscored)));
    sha256_hex(out.data, out.len, digest, 64);
    str_printf(&out, "{\"kind\":\"end\",\"sha256\":\"%s\"}\n", digest);
    int rc = file_write_atomic(path, out.data, out.len, e);
    str_release(&out);
    return rc;
}
