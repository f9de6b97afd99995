/* Requests under way and their tries (contract: endpoint.h), with libcurl's multi interface. */
#include "evalcore/endpoint/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/endpoint/endpoint_parts.h"
#include "evalcore/base/json.h"

enum { STEP_MS = 100, REFUSED_BYTES = 65536 };
#define AT_WORK_SECONDS 0.1 /* more than the order in which refusals are read can make */

int endpoint_open(struct endpoint **out, const struct endpoint_options *o, struct err *e)
{
    struct endpoint *p = xcalloc(1, sizeof *p);
    p->o = *o;
    p->url = xstrdup(o->url);
    p->name = xstrdup(o->name);
    p->key = o->key ? xstrdup(o->key) : NULL;
    p->exchange = xcalloc((size_t)o->concurrency, sizeof *p->exchange);
    p->out = xcalloc((size_t)o->concurrency, sizeof *p->out);
    p->multi = curl_multi_init();
    p->headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_slist_append(p->headers, "Expect:"); /* long prompts would wait a second for leave to come */
    for (int i = 0; i < o->concurrency; i++)
        p->exchange[i].curl = curl_easy_init();
    *out = p;
    if (!p->multi || !p->exchange[o->concurrency - 1].curl)
        return err_set(e, ERR_IO, "libcurl cannot be started");
    return 0;
}

void endpoint_close(struct endpoint *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->o.concurrency; i++) {
        struct exchange *x = &p->exchange[i];
        if (x->state == EXCHANGE_RUNNING)
            curl_multi_remove_handle(p->multi, x->curl);
        curl_easy_cleanup(x->curl);
        str_release(&x->body);
        str_release(&x->refused);
        answer_release(&x->answer);
        free(x->prompt);
        free(x->scored);
    }
    curl_multi_cleanup(p->multi);
    curl_slist_free_all(p->headers);
    json_decref(p->models);
    free(p->exchange);
    free(p->out);
    free(p->url);
    free(p->name);
    free(p->key);
    free(p);
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context)
{
    struct exchange *x = context;
    long status = 0;
    n *= size;
    curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        size_t left = REFUSED_BYTES - x->refused.len;
        str_add(&x->refused, bytes, n < left ? n : left);
        return n;
    }
    return answer_take(&x->answer, bytes, n) ? 0 : n;
}

void endpoint_setup(const struct endpoint *p, CURL *c, const char *path, int stall_s)
{
    struct str url = {0};
    str_printf(&url, "%s%s", p->url, path);
    http_setup(c, url.data, p->key, stall_s);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, p->headers);
    str_release(&url);
}

/* Written at once: a prompt may have 100,000 ids. */
static void add_prompt(struct str *out, const struct endpoint_request *r)
{
    if (r->text) {
        json_quote(out, r->text, r->n_text);
        return;
    }
    for (int i = 0; i < r->n_prompt; i++)
        str_printf(out, "%c%d", i ? ',' : '[', (int)r->prompt[i]);
    str_puts(out, r->n_prompt ? "]" : "[]");
}

/* Under each server's name for it: vLLM has prompt_logprobs, others an echo with log-probabilities, as vLLM
 * does, which then names tokens by their ids if it is asked to. */
static void ask_scores(json_t *o)
{
    json_object_set_new(o, "stream", json_false());
    json_object_set_new(o, "prompt_logprobs", json_integer(1));
    json_object_set_new(o, "echo", json_true());
    json_object_set_new(o, "logprobs", json_integer(1));
    json_object_set_new(o, "return_tokens_as_token_ids", json_true());
}

/* The body of a request to /completions. Servers take defaults for what is not said, vLLM from the model's
 * generation_config.json (often a repetition penalty), llama.cpp its own (min_p 0.05), so all that would bend
 * the distribution is said to be off, under each server's name for it. */
static void write_body(struct str *out, const struct endpoint *p, const struct endpoint_request *r)
{
    json_t *o = json_pack("{s:o, s:i, s:f, s:f, s:i, s:I, s:i, s:b}", "model",
                          json_text_of(r->model ? r->model : p->name), "max_tokens", r->max_new_tokens,
                          "temperature", r->temperature, "top_p", r->top_p, "top_k", r->top_k, "seed",
                          (json_int_t)r->seed, "n", 1, "stream", p->o.stream);
    static const struct {
        const char *name;
        double off;
    } penalties[] = {{"min_p", 0},
                     {"repetition_penalty", 1},
                     {"repeat_penalty", 1},
                     {"frequency_penalty", 0},
                     {"presence_penalty", 0}};
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++)
        json_object_set_new(o, penalties[i].name, json_real(penalties[i].off));
    json_object_set_new(o, "return_token_ids", json_boolean(!r->n_scored));
    json_object_set_new(o, "add_special_tokens", json_false()); /* they are in the prompt, also as text */
    if (r->problem)
        json_object_set_new(o, "kveval",
                            json_pack("{s:i, s:o, s:i}", "seed", r->key_seed, "problem",
                                      json_text_of(r->problem), "sample", r->key_sample));
    if (r->n_scored)
        ask_scores(o);
    else if (p->o.stream)
        json_object_set_new(o, "stream_options", json_pack("{s:b}", "include_usage", 1));
    if (r->n_stop) {
        json_t *stop = json_array();
        for (int i = 0; i < r->n_stop; i++)
            json_array_append_new(stop, json_text_of(r->stop[i]));
        json_object_set_new(o, "stop", stop);
    }
    if (r->n_end_tokens) {
        json_t *ends = json_array();
        for (int i = 0; i < r->n_end_tokens; i++)
            json_array_append_new(ends, json_integer(r->end_tokens[i]));
        json_object_set_new(o, "stop_token_ids", ends);
    }
    char *text = json_dumps(o, JSON_COMPACT);
    str_add(out, text, strlen(text) - 1); /* without its brace */
    str_puts(out, ",\"prompt\":");
    add_prompt(out, r);
    str_putc(out, '}');
    free(text);
    json_decref(o);
}

static void begin_try(struct endpoint *p, struct exchange *x)
{
    CURL *c = x->curl;
    endpoint_setup(p, c, "/completions",
                   x->answer.is_stream ? p->o.stall : 0); /* in one piece it is silent until it comes */
    curl_easy_setopt(c, CURLOPT_POST, 1L);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body.len);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, x->body.data);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)p->o.timeout);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(c, CURLOPT_PRIVATE, x);
    answer_begin(&x->answer);
    str_clear(&x->refused);
    x->tries++;
    x->started = clock_seconds();
    x->state = EXCHANGE_RUNNING;
    curl_multi_add_handle(p->multi, c);
}

static void keep_scored(struct exchange *x, const struct endpoint_request *r)
{
    size_t n = (size_t)r->n_scored, bytes = n * sizeof *x->scored;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(r->scored[i]) + 1;
    free(x->scored);
    x->scored = xmalloc(bytes + 1);
    char *at = (char *)(x->scored + n);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(r->scored[i]) + 1;
        x->scored[i] = memcpy(at, r->scored[i], len);
        at += len;
    }
    x->answer.n_scored = r->n_scored;
    x->answer.scored = (const char *const *)x->scored;
}

void endpoint_submit(struct endpoint *p, const struct endpoint_request *r)
{
    struct exchange *x = p->exchange;
    while (x->state != EXCHANGE_FREE)
        x++;
    str_clear(&x->body);
    write_body(&x->body, p, r);
    free(x->prompt);
    x->prompt = xmalloc((size_t)r->n_prompt * sizeof *x->prompt + 1);
    memcpy(x->prompt, r->prompt, (size_t)r->n_prompt * sizeof *x->prompt);
    keep_scored(x, r);
    x->retries = r->most_tries ? r->most_tries - 1 : p->o.retries;
    x->answer.is_stream = p->o.stream && !r->n_scored;
    x->answer.max_tokens = r->max_new_tokens;
    x->answer.prompt = x->prompt;
    x->answer.n_prompt = r->n_prompt;
    x->answer.secret = p->key;
    x->answer.n_end_tokens = r->n_end_tokens;
    memcpy(x->answer.end_tokens, r->end_tokens, sizeof r->end_tokens);
    x->user = r->user;
    x->tries = x->spared = x->is_given_up = 0;
    x->due = 0;
    x->good_then = p->good;
    x->why = (struct err){0};
    x->state = EXCHANGE_WAITING;
}

/* Neither this request nor any other will come through. */
static int stop_all(struct exchange *x, const char *more, struct err *e)
{
    x->state = EXCHANGE_FREE;
    return err_set(e, x->why.code, "%s%s", x->why.text, more);
}

/* The server is there for another request than x, which it has refused: text of it comes in, or it is under
 * way for so much longer that it would have been refused, too. */
static int is_at_work(const struct endpoint *p, const struct exchange *x, double now)
{
    for (int i = 0; i < p->o.concurrency; i++) {
        const struct exchange *y = &p->exchange[i];
        curl_off_t sent = 0;
        if (y == x || y->state != EXCHANGE_RUNNING)
            continue;
        curl_easy_getinfo(y->curl, CURLINFO_PRETRANSFER_TIME_T, &sent);
        if (y->answer.n_pieces || (sent && now - y->started > 2 * (now - x->started) + AT_WORK_SECONDS))
            return 1;
    }
    return 0;
}

/* Once: some servers call every model by a name of their own. */
static void check_model_name(struct endpoint *p, const struct answer *a)
{
    if (p->has_other_name || p->models || !*a->model || !strncmp(a->model, p->name, sizeof a->model - 1))
        return;
    p->has_other_name = 1;
    log_warn("%s answers as \"%s\", and \"%s\" was asked for: see that it serves the right model", p->url,
             a->model, p->name);
}

/* A try is over. Returns nonzero when no request will come through. */
static int end_try(struct endpoint *p, struct exchange *x, CURLcode code, struct err *e)
{
    double after = 0, now = clock_seconds();
    x->why = (struct err){0};
    enum try_verdict v = endpoint_verdict(p, x, code, &after, &x->why);
    int is_alone = p->good == x->good_then; /* nothing has come through since its try before */
    x->good_then = p->good;
    x->seconds = now - x->started;
    x->state = EXCHANGE_DONE;
    p->good += v == TRY_GOOD;
    if (v == TRY_GOOD)
        check_model_name(p, &x->answer);
    if (v == TRY_ALL_FAIL)
        return stop_all(x, "", e);
    if (v == TRY_GOOD || v == TRY_FAILED)
        return 0;
    int is_busy = v != TRY_AGAIN && is_at_work(p, x, now);
    x->spared += v == TRY_AGAIN_BUSY && (is_busy || !is_alone);
    if (x->tries - x->spared <= x->retries) {
        x->due = now + http_backoff(p->o.retry_wait, x->tries - x->spared, after);
        x->state = EXCHANGE_WAITING;
        return 0;
    }
    if (v != TRY_AGAIN && is_alone && !is_busy)
        return stop_all(x, "; nothing comes through any more: see to the server", e);
    struct err why = {0};
    err_set(&why, x->why.code, "%s (after %d tries)", x->why.text, x->tries - x->spared);
    x->why = why;
    x->is_given_up = 1;
    return 0;
}

/* Tries that are due begin. Returns milliseconds until the next one is, at most STEP_MS. */
static int begin_tries(struct endpoint *p)
{
    double now = clock_seconds(), next = now + STEP_MS / 1000.0;
    for (int i = 0; i < p->o.concurrency; i++) {
        struct exchange *x = &p->exchange[i];
        if (x->state != EXCHANGE_WAITING)
            continue;
        if (x->due <= now)
            begin_try(p, x);
        else if (x->due < next)
            next = x->due;
    }
    return (int)((next - now) * 1000) + 1;
}

/* Whatever became of one, the others that are over are read: completions may be among them. */
static int end_tries(struct endpoint *p, struct err *e)
{
    CURLMsg *m;
    int left, rc = 0;
    while ((m = curl_multi_info_read(p->multi, &left))) {
        struct exchange *x = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result; /* m is gone with its handle */
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &x);
        curl_multi_remove_handle(p->multi, x->curl);
        if (end_try(p, x, code, e))
            rc = e->code;
    }
    return rc;
}

static int hand_out(struct endpoint *p)
{
    int n = 0;
    for (int i = 0; i < p->o.concurrency; i++) {
        struct exchange *x = &p->exchange[i];
        const struct answer *a = &x->answer;
        if (x->state != EXCHANGE_DONE)
            continue;
        x->state = EXCHANGE_FREE; /* its memory stays until the next step */
        p->out[n++] = x->why.code ? (struct endpoint_answer){.user = x->user,
                                                             .error = x->why.text,
                                                             .is_given_up = x->is_given_up}
                                  : (struct endpoint_answer){.user = x->user,
                                                             .is_cut = !strcmp(a->finish, "length"),
                                                             .text = str_text(&a->text),
                                                             .n_text = a->text.len,
                                                             .ids = a->n_ids < 0 ? NULL : a->ids,
                                                             .n_ids = a->n_ids,
                                                             .tokens = (int)a->completion_tokens,
                                                             .logprobs = a->n_scored ? a->logprobs : NULL,
                                                             .tops = a->n_scored ? a->tops : NULL,
                                                             .usage = a->usage,
                                                             .seconds = x->seconds};
    }
    return n;
}

int endpoint_step(struct endpoint *p, const struct endpoint_answer **out, int *n_out, struct err *e)
{
    int running, ms = begin_tries(p);
    *out = p->out;
    *n_out = 0;
    CURLMcode code = curl_multi_perform(p->multi, &running);
    int rc = end_tries(p, e);
    *n_out = hand_out(p);
    if (!rc && !*n_out && code == CURLM_OK)
        code = curl_multi_poll(p->multi, NULL, 0, ms, NULL);
    if (!rc && code != CURLM_OK)
        rc = err_set(e, ERR_IO, "libcurl: %s", curl_multi_strerror(code));
    return rc;
}

int endpoint_free(const struct endpoint *p)
{
    return p->o.concurrency - endpoint_pending(p);
}

int endpoint_pending(const struct endpoint *p)
{
    int n = 0;
    for (int i = 0; i < p->o.concurrency; i++)
        n += p->exchange[i].state != EXCHANGE_FREE;
    return n;
}

int endpoint_running(const struct endpoint *p, struct endpoint_running *out)
{
    int n = 0;
    for (int i = 0; i < p->o.concurrency; i++)
        if (p->exchange[i].state == EXCHANGE_RUNNING)
            out[n++] = (struct endpoint_running){p->exchange[i].user, p->exchange[i].answer.n_pieces};
    return n;
}
