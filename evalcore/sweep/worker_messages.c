/* Making and reading messages (contract: worker_messages.h). Reading is strict: a field too many, too few or
 * of another type is an error. */
#include "evalcore/sweep/worker_messages.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/store/completion_json.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/base/json.h"

const char *message_type(const json_t *m)
{
    const char *type = json_string_value(json_object_get(m, "type"));
    return type ? type : "";
}

static int set_malformed(const json_t *m, const char *why, struct err *e)
{
    return err_set(e, ERR_FORMAT, "a malformed message \"%.20s\": %s", message_type(m), why);
}

/* Reads m by a format of json_unpack(); a field that the format lacks is an error too. */
static int unpack_message(const json_t *m, struct err *e, const char *format, ...)
{
    json_error_t why;
    va_list fields;
    va_start(fields, format);
    int rc = json_vunpack_ex((json_t *)m, &why, JSON_STRICT, format, fields);
    va_end(fields);
    return rc ? set_malformed(m, why.text, e) : 0;
}

json_t *message_job(const char *key)
{
    return json_pack("{s:s, s:s}", "type", "job", "key", key);
}

int message_read_job(const json_t *m, const char **key, struct err *e)
{
    const char *type;
    return unpack_message(m, e, "{s:s, s:s}", "type", &type, "key", key);
}

json_t *message_stop(void)
{
    return json_pack("{s:s}", "type", "stop");
}

json_t *message_drain(void)
{
    return json_pack("{s:s}", "type", "drain");
}

json_t *message_alive(int64_t turn)
{
    return json_pack("{s:s, s:I}", "type", "alive", "turn", (json_int_t)turn);
}

int message_read_alive(const json_t *m, json_int_t *turn, struct err *e)
{
    const char *type;
    return unpack_message(m, e, "{s:s, s:I}", "type", &type, "turn", turn);
}

json_t *message_hello(const struct runplan *p)
{
    json_t *loaded = json_array();
    for (int i = 0; i < p->n_loaded; i++)
        json_array_append_new(loaded, json_pack("{s:s, s:s, s:s}", "weights", p->loaded[i].info.weights,
                                                "configuration", p->loaded[i].info.configuration, "numerics",
                                                p->loaded[i].info.numerics));
    return json_pack("{s:s, s:o, s:o}", "type", "hello", "device", json_text_of(p->loaded[0].info.device),
                     "models", loaded);
}

int message_read_hello(const json_t *m, struct model_facts *facts, int n_loaded, struct err *e)
{
    json_error_t why;
    const char *type, *device;
    json_t *loaded;
    int rc = unpack_message(m, e, "{s:s, s:s, s:o}", "type", &type, "device", &device, "models", &loaded);
    if (rc)
        return rc;
    if (json_array_size(loaded) != (size_t)n_loaded)
        return set_malformed(m, "another number of models", e);
    for (int i = 0; i < n_loaded; i++) {
        facts[i].device = device;
        if (json_unpack_ex(json_array_get(loaded, (size_t)i), &why, JSON_STRICT, "{s:s, s:s, s:s}", "weights",
                           &facts[i].weights, "configuration", &facts[i].configuration, "numerics",
                           &facts[i].numerics))
            return set_malformed(m, why.text, e);
    }
    return 0;
}

json_t *message_want(int jobs)
{
    return json_pack("{s:s, s:i}", "type", "want", "jobs", jobs);
}

int message_read_want(const json_t *m, int *jobs, struct err *e)
{
    const char *type;
    json_int_t n;
    int rc = unpack_message(m, e, "{s:s, s:I}", "type", &type, "jobs", &n);
    if (rc)
        return rc;
    if (n < 1 || n > WORKER_WANT_MAX)
        return set_malformed(m, "jobs is out of range", e);
    *jobs = (int)n;
    return 0;
}

json_t *message_progress(const struct decoder_figures *d, const struct runplan *p)
{
    const struct decoder_sums *sums = &d->model[0];
    json_t *running = json_array();
    for (int i = 0; i < d->n; i++) {
        json_array_append_new(running, json_string(p->jobs[d->running[i].job].key));
        json_array_append_new(running, json_integer(d->running[i].tokens));
    }
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:i, s:o}", "type", "progress", "tokens", sums->tokens,
                     "steps", sums->steps, "decode_seconds", sums->decode_seconds, "prompt_seconds",
                     sums->prompt_seconds, "places", sums->places, "running", running);
}

int message_read_progress(const json_t *m, struct worker_progress *out, struct err *e)
{
    const char *type;
    json_t *running;
    int rc =
        unpack_message(m, e, "{s:s, s:F, s:F, s:F, s:F, s:i, s:o}", "type", &type, "tokens", &out->tokens,
                       "steps", &out->steps, "decode_seconds", &out->decode_seconds, "prompt_seconds",
                       &out->prompt_seconds, "places", &out->places, "running", &running);
    if (!rc && (!json_is_array(running) || json_array_size(running) % 2))
        rc = set_malformed(m, "running is no list of pairs", e);
    if (!rc && out->places < 1)
        rc = set_malformed(m, "places is out of range", e);
    out->running = rc ? NULL : running;
    return rc;
}

int message_read_running(const struct worker_progress *p, size_t i, const char **key, int *tokens,
                         struct err *e)
{
    const json_t *k = json_array_get(p->running, 2 * i), *n = json_array_get(p->running, 2 * i + 1);
    *key = json_string_value(k);
    *tokens = (int)json_integer_value(n);
    if (!*key || !json_is_integer(n) || json_integer_value(n) < 0 || json_integer_value(n) > INT32_MAX)
        return err_set(e, ERR_FORMAT,
                       "a malformed message \"progress\": running is no list of keys and tokens");
    return 0;
}

json_t *message_error(const struct err *error)
{
    return json_pack("{s:s, s:i, s:o}", "type", "error", "code", error->code, "text",
                     json_text_of(error->text));
}

int message_read_error(const json_t *m, struct err *error, struct err *e)
{
    const char *type, *text;
    json_int_t code;
    int rc = unpack_message(m, e, "{s:s, s:I, s:s}", "type", &type, "code", &code, "text", &text);
    if (rc)
        return rc;
    if (code > ERR_USAGE || code < ERR_DISK)
        return set_malformed(m, "no such code", e);
    err_set(error, (int)code, "%s", text);
    return 0;
}

static json_t *integer_list(const int32_t *v, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(v[i]));
    return list;
}

/* A list of n integers from low on into new memory, or NULL. */
static int32_t *read_integers(const json_t *list, size_t n, json_int_t low)
{
    if (!json_is_array(list) || json_array_size(list) != n)
        return NULL;
    int32_t *out = xmalloc((n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t value = json_integer_value(v);
        if (!json_is_integer(v) || value < low || value > INT32_MAX) {
            free(out);
            return NULL;
        }
        out[i] = (int32_t)value;
    }
    return out;
}

/* Floats travel as the integers that their bits are: no digit is lost, and infinity is possible. */
static json_t *float_bits(const float *v, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        int32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        json_array_append_new(list, json_integer(bits));
    }
    return list;
}

static float *read_float_bits(const json_t *list, size_t n)
{
    int32_t *bits = read_integers(list, n, INT32_MIN);
    float *out = bits ? xmalloc((n + 1) * sizeof *out) : NULL;
    if (bits)
        memcpy(out, bits, n * sizeof *out);
    free(bits);
    return out;
}

json_t *message_replay(const struct job *j, const char *cell)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:i}", "type", "replay", "key", j->key, "cell", cell,
                     "problem", j->problem, "ids", integer_list(j->replay->ids, j->replay->n), "every",
                     j->replay->every);
}

int message_read_replay(const json_t *m, struct job *j, struct replay_tokens *replay, const char **cell,
                        struct err *e)
{
    const char *type, *key;
    json_t *ids;
    int rc = unpack_message(m, e, "{s:s, s:s, s:s, s:i, s:o, s:i}", "type", &type, "key", &key, "cell", cell,
                            "problem", &j->problem, "ids", &ids, "every", &replay->every);
    if (rc)
        return rc;
    replay->n = (int)json_array_size(ids);
    replay->ids = read_integers(ids, json_array_size(ids), 0);
    if (!replay->ids || replay->n < 1 || replay->every < 1 || strlen(key) != JOB_KEY_HEX)
        return set_malformed(m, "not a replay", e);
    memcpy(j->key, key, JOB_KEY_HEX + 1);
    return 0;
}

json_t *message_request(const struct job *j, const char *cell)
{
    const struct request *r = &j->request->r;
    const struct sampling *s = &r->sampling;
    json_t *stop = json_array();
    for (int i = 0; i < r->n_stop; i++)
        json_array_append_new(stop, json_string(r->stop[i]));
    assert(!r->n_forced || r->forced == r->prompt + r->n_prompt);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:[f, i, f, I, I, I], s:[i, i, i, i, i, i], s:[b, b, b, b]}",
                     "type", "request", "key", j->key, "cell", cell, "prompt",
                     integer_list(r->prompt, r->n_prompt + r->n_forced), "stop", stop, "sampling",
                     s->temperature, s->top_k, s->top_p, (json_int_t)s->seed, (json_int_t)s->problem,
                     (json_int_t)s->sample, "limits", r->max_new_tokens, r->min_new_tokens,
                     r->max_total_tokens, (int)r->end_token, r->n_scored, r->n_forced, "flags", r->ignore_eos,
                     r->want_logprobs, j->request->is_streamed, j->request->want_tops);
}

int message_read_request(const json_t *m, const char **key, const char **cell, struct owned_request *out,
                         struct err *e)
{
    const char *type;
    json_t *prompt, *stop;
    json_int_t seed, problem, sample;
    struct request *r = &out->q.r;
    memset(out, 0, sizeof *out);
    int rc = unpack_message(
        m, e, "{s:s, s:s, s:s, s:o, s:o, s:[F, i, F, I, I, I!], s:[i, i, i, i, i, i!], s:[b, b, b, b!]}",
        "type", &type, "key", key, "cell", cell, "prompt", &prompt, "stop", &stop, "sampling",
        &r->sampling.temperature, &r->sampling.top_k, &r->sampling.top_p, &seed, &problem, &sample, "limits",
        &r->max_new_tokens, &r->min_new_tokens, &r->max_total_tokens, &r->end_token, &r->n_scored,
        &r->n_forced, "flags", &r->ignore_eos, &r->want_logprobs, &out->q.is_streamed, &out->q.want_tops);
    if (rc)
        return rc;
    if (r->n_forced < 0 || (size_t)r->n_forced > json_array_size(prompt))
        return set_malformed(m, "more tokens are forced than there are", e);
    r->sampling.seed = (uint64_t)seed;
    r->sampling.problem = (uint64_t)problem;
    r->sampling.sample = (uint32_t)sample;
    r->n_prompt = (int)json_array_size(prompt) - r->n_forced;
    r->prompt = out->prompt = read_integers(prompt, json_array_size(prompt), 0);
    r->forced = out->prompt && r->n_forced ? out->prompt + r->n_prompt : NULL;
    out->stop = xcalloc(json_array_size(stop) + 1, sizeof *out->stop);
    for (size_t i = 0; i < json_array_size(stop); i++) {
        const char *text = json_string_value(json_array_get(stop, i));
        out->stop[i] = xstrdup(text ? text : "");
        rc |= !text;
    }
    r->stop = (const char *const *)out->stop;
    r->n_stop = (int)json_array_size(stop);
    if (rc || !json_is_array(stop) || !out->prompt || strlen(*key) != JOB_KEY_HEX)
        return set_malformed(m, "not a request", e);
    return 0;
}

void request_release(struct owned_request *q)
{
    for (int i = 0; i < q->q.r.n_stop; i++)
        free(q->stop[i]);
    free(q->stop);
    free(q->prompt);
    memset(q, 0, sizeof *q);
}

json_t *message_cancel(const char *key)
{
    return json_pack("{s:s, s:s}", "type", "cancel", "key", key);
}

/* The n log-probabilities and, where they are there, the likeliest tokens of as many places. */
static void add_scores(json_t *m, int n, const float *logprobs, const int32_t *tops,
                       const float *top_logprobs)
{
    if (!logprobs)
        return;
    json_object_set_new(m, "logprobs", float_bits(logprobs, n));
    if (!tops)
        return;
    json_object_set_new(m, "tops", integer_list(tops, n));
    json_object_set_new(m, "top_logprobs", float_bits(top_logprobs, n));
}

/* Reads what add_scores() added into new memory, NULL where it is not there. Returns how many fields that
 * are, or -1 when one is no list of n. */
static int read_scores(const json_t *m, size_t n, const float **logprobs, const int32_t **tops,
                       const float **top_logprobs)
{
    const json_t *own = json_object_get(m, "logprobs"), *ids = json_object_get(m, "tops"),
                 *best = json_object_get(m, "top_logprobs");
    *logprobs = own ? read_float_bits(own, n) : NULL;
    *tops = ids ? read_integers(ids, n, 0) : NULL;
    *top_logprobs = best ? read_float_bits(best, n) : NULL;
    int is_whole = !own == !*logprobs && !ids == !*tops && !best == !*top_logprobs && !ids == !best;
    return is_whole && (own || !ids) ? (own ? 1 : 0) + (ids ? 2 : 0) : -1;
}

json_t *message_tokens(const char *key, const struct decoder_tokens *t)
{
    json_t *m = json_pack("{s:s, s:s, s:i, s:o}", "type", "tokens", "key", key, "from", t->from, "ids",
                          integer_list(t->ids, t->n));
    add_scores(m, t->n, t->logprobs, t->tops, t->top_logprobs);
    return m;
}

int message_read_tokens(const json_t *m, const char **key, struct decoder_tokens *t, struct err *e)
{
    const char *type;
    json_t *list, *ignored;
    memset(t, 0, sizeof *t);
    int rc = unpack_message(m, e, "{s:s, s:s, s:i, s:o, s?o, s?o, s?o}", "type", &type, "key", key, "from",
                            &t->from, "ids", &list, "logprobs", &ignored, "tops", &ignored, "top_logprobs",
                            &ignored);
    if (rc)
        return rc;
    t->n = (int)json_array_size(list);
    t->ids = read_integers(list, json_array_size(list), 0);
    int n_fields = read_scores(m, json_array_size(list), &t->logprobs, &t->tops, &t->top_logprobs);
    return t->ids && t->from >= 0 && n_fields >= 0 ? 0 : set_malformed(m, "no list of tokens", e);
}

void decoder_tokens_release(struct decoder_tokens *t)
{
    free((int32_t *)t->ids);
    free((float *)t->logprobs);
    free((int32_t *)t->tops);
    free((float *)t->top_logprobs);
    memset(t, 0, sizeof *t);
}

static json_t *replay_json(const struct completion *c, const struct decoder_replay *r)
{
    json_t *seen = json_array();
    for (int i = 0; i < r->n_seen; i++)
        json_array_append_new(seen, json_pack("[i, i, s, s?]", r->seen[i].step, r->seen[i].layer,
                                              r->seen[i].digest, r->seen[i].sets));
    return json_pack("{s:o, s:o, s:o, s:o}", "logprobs", float_bits(c->logprobs, c->n_logprobs), "gaps",
                     float_bits(c->gaps, c->n_logprobs), "tops", integer_list(c->tops, c->n_logprobs), "seen",
                     seen);
}

json_t *message_done(const char *key, const struct decoded_job *d)
{
    const struct completion *c = &d->c;
    json_t *m = json_pack("{s:s, s:s, s:o, s:o}", "type", "done", "key", key, "ids",
                          integer_list(c->ids, c->n_ids), "text", json_text(c->text, c->n_text));
    if (!m)
        return NULL;
    completion_json_add(m, c);
    if (c->curve.every)
        json_object_set_new(m, "curve", curve_json(&c->curve));
    if (!d->replay && c->finish != FINISHED_ERROR)
        add_scores(m, c->n_logprobs, c->logprobs, c->tops, c->top_logprobs);
    if (json_object_get(m, "logprobs"))
        json_object_set_new(m, "end", json_integer(c->end_token));
    if (d->replay && c->finish != FINISHED_ERROR)
        json_object_set_new(m, "replay", replay_json(c, d->replay));
    return m;
}

int message_read_done(const json_t *m, const char **key, struct completion *c, struct err *e)
{
    json_error_t why;
    const char *type, *bad;
    json_t *ids;
    memset(c, 0, sizeof *c);
    if (json_unpack_ex((json_t *)m, &why, 0, "{s:s, s:s, s:o, s:s%}", "type", &type, "key", key, "ids", &ids,
                       "text", &c->text, &c->n_text))
        return set_malformed(m, why.text, e);
    if ((bad = completion_json_read(m, c)))
        return set_malformed(m, bad, e);
    const json_t *curve = json_object_get(m, "curve");
    if (curve && !curve_json_read(curve, &c->curve))
        return set_malformed(m, "curve is no curve of reads", e);
    size_t n = json_array_size(json_object_get(m, "logprobs"));
    int n_scores = read_scores(m, n, &c->logprobs, &c->tops, &c->top_logprobs);
    const json_t *end = json_object_get(m, "end");
    c->n_logprobs = (int)n;
    c->end_token = (int32_t)json_integer_value(end);
    if (n_scores < 0)
        return set_malformed(m, "logprobs are no list of numbers", e);
    if (!c->logprobs == json_is_integer(end))
        return set_malformed(m, "end is no token", e);
    int more = (c->error ? 1 : 0) + n_scores + (end ? 1 : 0) + (c->likelihood.n ? 1 : 0) +
               (c->options.n ? 1 : 0) + (curve ? 1 : 0) + (json_object_get(m, "replay") ? 1 : 0);
    if (json_object_size(m) != (size_t)(4 + COMPLETION_JSON_FIELDS + more))
        return set_malformed(m, "a field too many", e);
    c->ids = c->n_ids < 0 ? NULL : read_integers(ids, (size_t)c->n_ids, 0);
    return c->ids ? 0 : set_malformed(m, "ids are no list of token ids", e);
}

static int read_seen(const json_t *o, struct replay_seen *out)
{
    const char *digest, *sets = NULL;
    *out = (struct replay_seen){0};
    if (json_unpack((json_t *)o, "[i, i, s]", &out->step, &out->layer, &digest) || json_array_size(o) != 4 ||
        strlen(digest) != sizeof out->digest - 1)
        return -1;
    memcpy(out->digest, digest, sizeof out->digest);
    sets = json_string_value(json_array_get(o, 3));
    if (sets) {
        out->sets = xmalloc(strlen(sets) + 1);
        memcpy(out->sets, sets, strlen(sets) + 1);
    }
    return 0;
}

int message_read_replayed(const json_t *m, struct completion *c, struct decoder_replay *r, struct err *e)
{
    const json_t *o = json_object_get(m, "replay"), *seen = json_object_get(o, "seen");
    size_t n = json_array_size(json_object_get(o, "tops"));
    if (c->logprobs || c->gaps || c->tops)
        return set_malformed(m, "logprobs beside those of a replay", e);
    c->n_logprobs = (int)n;
    c->logprobs = read_float_bits(json_object_get(o, "logprobs"), n);
    c->gaps = read_float_bits(json_object_get(o, "gaps"), n);
    c->tops = read_integers(json_object_get(o, "tops"), n, INT32_MIN);
    if (!c->logprobs || !c->gaps || !c->tops || !json_is_array(seen))
        return set_malformed(m, "replay lacks what was decoded", e);
    r->seen = xcalloc(json_array_size(seen) + 1, sizeof *r->seen);
    for (size_t i = 0; i < json_array_size(seen); i++)
        if (read_seen(json_array_get(seen, i), &r->seen[r->n_seen++]))
            return set_malformed(m, "replay has no list of what was read", e);
    return 0;
}
