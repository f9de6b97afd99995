/* Reading requests (contract: api_request.h). One table of fields; those that are no plain value have a
 * function of their own. */
#include "evalcore/serve/api_request.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int api_refuse(struct api_refusal *r, int status, const char *param, const char *fmt, ...)
{
    char text[sizeof r->why.text];
    va_list args;
    if (r->status)
        return -1;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    r->status = status;
    snprintf(r->param, sizeof r->param, "%s", param ? param : "");
    err_set(&r->why, ERR_USAGE, "%s", text);
    return -1;
}

/* ---- the table */

enum take {
    TAKE_INT,
    TAKE_NUMBER,
    TAKE_FLAG,
    TAKE_OWN,       /* read by a function of its own */
    TAKE_NOTHING,   /* changes no answer */
    NEUTRAL_NUMBER, /* only the value `low`, which changes nothing, or null */
    NEUTRAL_FALSE,
    NEUTRAL_TRUE,
    NEUTRAL_EMPTY /* "", [], {} or null */
};
enum { FOR_COMPLETION = 1 << API_COMPLETION, FOR_CHAT = 1 << API_CHAT, FOR_BOTH = 3 };

static const struct field {
    const char *name;
    int kinds;
    enum take take;
    size_t at;
    double low, high;
} fields[] = {
#define AT(member) offsetof(struct api_request, member)
    {"model", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"prompt", FOR_COMPLETION, TAKE_OWN, 0, 0, 0},
    {"messages", FOR_CHAT, TAKE_OWN, 0, 0, 0},
    {"n", FOR_BOTH, TAKE_INT, AT(n), 1, API_CHOICES},
    {"max_tokens", FOR_COMPLETION, TAKE_INT, AT(max_tokens), 0, 10000000},
    {"max_tokens", FOR_CHAT, TAKE_INT, AT(max_tokens), 1, 10000000},
    {"max_completion_tokens", FOR_CHAT, TAKE_OWN, 0, 1, 10000000},
    {"min_tokens", FOR_BOTH, TAKE_INT, AT(min_tokens), 0, 10000000},
    {"temperature", FOR_BOTH, TAKE_NUMBER, AT(temperature), 0, 100},
    {"top_p", FOR_BOTH, TAKE_NUMBER, AT(top_p), 1e-6, 1},
    {"top_k", FOR_BOTH, TAKE_INT, AT(top_k), -1, 2147483647},
    {"seed", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"stop", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"stop_token_ids", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"ignore_eos", FOR_BOTH, TAKE_FLAG, AT(ignore_eos), 0, 0},
    {"stream", FOR_BOTH, TAKE_FLAG, AT(is_streamed), 0, 0},
    {"stream_options", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"logprobs", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"top_logprobs", FOR_CHAT, TAKE_INT, AT(want_tops), 0, 1},
    {"echo", FOR_COMPLETION, TAKE_FLAG, AT(is_echo), 0, 0},
    {"prompt_logprobs", FOR_COMPLETION, TAKE_OWN, 0, 0, 0},
    {"return_tokens_as_token_ids", FOR_BOTH, TAKE_FLAG, AT(want_id_names), 0, 0},
    {"return_token_ids", FOR_BOTH, TAKE_FLAG, AT(want_ids), 0, 0},
    {"add_special_tokens", FOR_COMPLETION, TAKE_FLAG, AT(add_special), 0, 0},
    {"chat_template_kwargs", FOR_CHAT, TAKE_OWN, 0, 0, 0},
    {"kveval", FOR_BOTH, TAKE_OWN, 0, 0, 0},
    {"user", FOR_BOTH, TAKE_NOTHING, 0, 0, 0},
    {"metadata", FOR_BOTH, TAKE_NOTHING, 0, 0, 0},
    {"service_tier", FOR_BOTH, TAKE_NOTHING, 0, 0, 0},
    {"safety_identifier", FOR_BOTH, TAKE_NOTHING, 0, 0, 0},
    {"prompt_cache_key", FOR_BOTH, TAKE_NOTHING, 0, 0, 0},
    {"parallel_tool_calls", FOR_CHAT, TAKE_NOTHING, 0, 0, 0},
    {"store", FOR_BOTH, NEUTRAL_FALSE, 0, 0, 0},
    {"best_of", FOR_COMPLETION, TAKE_OWN, 0, 0, 0},
    {"suffix", FOR_COMPLETION, NEUTRAL_EMPTY, 0, 0, 0},
    {"presence_penalty", FOR_BOTH, NEUTRAL_NUMBER, 0, 0, 0},
    {"frequency_penalty", FOR_BOTH, NEUTRAL_NUMBER, 0, 0, 0},
    {"repetition_penalty", FOR_BOTH, NEUTRAL_NUMBER, 0, 1, 0},
    {"repeat_penalty", FOR_BOTH, NEUTRAL_NUMBER, 0, 1, 0},
    {"min_p", FOR_BOTH, NEUTRAL_NUMBER, 0, 0, 0},
    {"logit_bias", FOR_BOTH, NEUTRAL_EMPTY, 0, 0, 0},
    {"tools", FOR_CHAT, NEUTRAL_EMPTY, 0, 0, 0},
    {"functions", FOR_CHAT, NEUTRAL_EMPTY, 0, 0, 0},
    {"tool_choice", FOR_CHAT, TAKE_OWN, 0, 0, 0},
    {"response_format", FOR_CHAT, TAKE_OWN, 0, 0, 0},
    {"skip_special_tokens", FOR_BOTH, NEUTRAL_TRUE, 0, 0, 0},
    {"spaces_between_special_tokens", FOR_BOTH, NEUTRAL_TRUE, 0, 0, 0},
    {"include_stop_str_in_output", FOR_BOTH, NEUTRAL_FALSE, 0, 0, 0},
    {"add_generation_prompt", FOR_CHAT, NEUTRAL_TRUE, 0, 0, 0},
    {"continue_final_message", FOR_CHAT, NEUTRAL_FALSE, 0, 0, 0},
#undef AT
};

static int take_number(struct api_request *q, const struct field *f, const json_t *v, struct api_refusal *r)
{
    char *to = (char *)q + f->at;
    double x = json_number_value(v);
    if (f->take == TAKE_INT ? !json_is_integer(v) : !json_is_number(v))
        return api_refuse(r, 400, f->name, "%s takes %s", f->name,
                          f->take == TAKE_INT ? "an integer" : "a number");
    if (!(x >= f->low && x <= f->high))
        return api_refuse(r, 400, f->name, "%s is %.10g; it may be from %.10g to %.10g", f->name, x, f->low,
                          f->high);
    if (f->take == TAKE_INT)
        *(int *)(void *)to = (int)json_integer_value(v);
    else
        *(double *)(void *)to = x;
    return 0;
}

static int is_empty(const json_t *v)
{
    return (json_is_array(v) && !json_array_size(v)) || (json_is_object(v) && !json_object_size(v)) ||
           (json_is_string(v) && !json_string_length(v));
}

static int is_neutral(const struct field *f, const json_t *v)
{
    switch (f->take) {
    case NEUTRAL_NUMBER:
        return json_is_number(v) && json_number_value(v) == f->low;
    case NEUTRAL_FALSE:
        return json_is_false(v);
    case NEUTRAL_TRUE:
        return json_is_true(v);
    default:
        return is_empty(v);
    }
}

static int take_field(struct api_request *q, const char *name, const json_t *v, struct api_refusal *r)
{
    const struct field *f = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && !f; i++)
        if (!strcmp(fields[i].name, name) && fields[i].kinds & 1 << q->kind)
            f = &fields[i];
    if (!f)
        return api_refuse(r, 400, name, "\"%.60s\" is not supported here; leave it out", name);
    if (json_is_null(v) || f->take == TAKE_OWN || f->take == TAKE_NOTHING)
        return 0;
    if (f->take == TAKE_INT || f->take == TAKE_NUMBER)
        return take_number(q, f, v, r);
    if (f->take == TAKE_FLAG) {
        if (!json_is_boolean(v))
            return api_refuse(r, 400, name, "%s takes true or false", name);
        *(int *)(void *)((char *)q + f->at) = json_is_true(v);
        return 0;
    }
    return is_neutral(f, v)
               ? 0
               : api_refuse(r, 400, name, "%s would change the answer and is not supported; leave it out",
                            name);
}

/* ---- fields that are no plain value. `v` is NULL where the request does not say it or says null. */

static const json_t *said(const struct api_request *q, const char *name)
{
    const json_t *v = json_object_get(q->body, name);
    return json_is_null(v) ? NULL : v;
}

/* A text without a NUL, or NULL. */
static const char *plain_text(const json_t *v)
{
    const char *text = json_string_value(v);
    return text && strlen(text) == json_string_length(v) ? text : NULL;
}

static int is_id(const json_t *v)
{
    return json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= INT32_MAX;
}

/* 1: a text, or a list of ids. */
static int is_prompt(const json_t *v)
{
    size_t i;
    const json_t *id;
    if (json_is_string(v))
        return 1;
    if (!json_array_size(v))
        return 0;
    json_array_foreach((json_t *)v, i, id) if (!is_id(id)) return 0;
    return 1;
}

static int take_prompt(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "prompt");
    size_t i, n = json_array_size(v);
    const json_t *one;
    q->prompt = v;
    q->n_prompts = 1;
    if (is_prompt(v))
        return 0;
    if (!n || n > 65536)
        return api_refuse(r, 400, "prompt", "prompt is a text, a list of token ids, or a list of such");
    json_array_foreach((json_t *)v, i, one) if (!is_prompt(one)) return api_refuse(
        r, 400, "prompt",
        "prompt %zu is neither a text nor a list of token ids, which are integers from 0 on", i);
    q->n_prompts = (int)n;
    return 0;
}

const json_t *api_request_prompt(const struct api_request *q, int i)
{
    return is_prompt(q->prompt) ? q->prompt : json_array_get(q->prompt, (size_t)i);
}

/* A message's text: a string, or the texts of its parts one after the other, which then live in q. */
static const char *content_of(struct api_request *q, const json_t *v)
{
    struct str joined = {0};
    const json_t *part;
    size_t i, n = json_array_size(v);
    if (json_is_string(v))
        return plain_text(v);
    json_array_foreach((json_t *)v, i, part)
    {
        const char *type = json_string_value(json_object_get(part, "type"));
        const char *text = plain_text(json_object_get(part, "text"));
        if (!type || strcmp(type, "text") != 0 || json_object_size(part) != 2 || !text)
            break;
        str_puts(&joined, text);
    }
    const char *whole = n && i == n ? arena_strndup(&q->joined, str_text(&joined), joined.len) : NULL;
    str_release(&joined);
    return whole;
}

static int check_message(const json_t *m, size_t i, struct api_refusal *r)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)m, key, v)
    {
        int is_ours = !strcmp(key, "role") || !strcmp(key, "content") ||
                      (!strcmp(key, "type") && json_is_string(v) && !strcmp(json_string_value(v), "text"));
        if (!is_ours && !json_is_null(v) && !is_empty(v))
            return api_refuse(r, 400, "messages", "message %zu has \"%.60s\", which is not supported", i,
                              key);
    }
    return 0;
}

static int take_messages(struct api_request *q, struct api_refusal *r)
{
    const json_t *list = said(q, "messages"), *m;
    size_t i, n = json_array_size(list);
    if (!n)
        return api_refuse(r, 400, "messages", "messages is a list of at least one message");
    q->turns = xcalloc(2 * n, sizeof *q->turns);
    json_array_foreach((json_t *)list, i, m)
    {
        const char *role = plain_text(json_object_get(m, "role"));
        const char *text = content_of(q, json_object_get(m, "content"));
        if (!role || !text)
            return api_refuse(r, 400, "messages",
                              "message %zu needs a role, and as its content a text without NUL or a list of "
                              "parts of type text",
                              i);
        if (check_message(m, i, r))
            return -1;
        if (!i && (!strcmp(role, "system") || !strcmp(role, "developer"))) {
            q->system = text;
            continue;
        }
        if (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0)
            return api_refuse(r, 400, "messages",
                              "message %zu has the role \"%.40s\"; user and assistant are possible, and for "
                              "the first one system or developer",
                              i, role);
        if (i + 1 < n) {
            q->turns[2 * q->n_turns] = role;
            q->turns[2 * q->n_turns++ + 1] = text;
        } else if (!strcmp(role, "user")) {
            q->user = text;
            q->n_user = strlen(text);
        }
    }
    return q->user ? 0 : api_refuse(r, 400, "messages", "the last message must be the user's");
}

static int take_stop(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "stop");
    size_t n = json_is_string(v) ? 1 : json_array_size(v);
    if (v && !json_is_string(v) && !json_is_array(v))
        return api_refuse(r, 400, "stop", "stop is a text or a list of texts");
    if (n > API_STOPS)
        return api_refuse(r, 400, "stop", "stop has %zu texts; at most %d are possible", n, API_STOPS);
    for (size_t i = 0; i < n; i++) {
        const char *text = plain_text(json_is_string(v) ? v : json_array_get(v, i));
        if (!text || !*text)
            return api_refuse(r, 400, "stop", "stop %zu must be a text, not empty and without NUL", i);
        q->stop[q->n_stop++] = text;
    }
    return 0;
}

static int take_stop_ids(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "stop_token_ids"), *id;
    size_t i;
    if (v && (!json_is_array(v) || json_array_size(v) > API_STOP_IDS))
        return api_refuse(r, 400, "stop_token_ids", "stop_token_ids is a list of at most %d ids",
                          API_STOP_IDS);
    json_array_foreach((json_t *)v, i, id)
    {
        if (!is_id(id))
            return api_refuse(r, 400, "stop_token_ids", "stop_token_ids holds what is no token id");
        q->stop_ids[q->n_stop_ids++] = (int32_t)json_integer_value(id);
    }
    return 0;
}

/* The engine gives the log-probabilities of the token that was taken and of the likeliest one, not of others.
 */
static int take_count(const struct api_request *q, const char *name, int *wants, int *wants_tops,
                      struct api_refusal *r)
{
    const json_t *v = said(q, name);
    if (!v)
        return 0;
    *wants = 1;
    *wants_tops = json_integer_value(v) == 1;
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > 1)
        return api_refuse(r, 400, name,
                          "%s can be 0, for the tokens that are there, or 1, for the likeliest one as well; "
                          "the log-probabilities of others are not known",
                          name);
    return 0;
}

static int take_logprobs(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "logprobs");
    if (q->kind == API_CHAT) {
        q->want_logprobs = json_is_true(v);
        if (v && !json_is_boolean(v))
            return api_refuse(r, 400, "logprobs", "logprobs takes true or false");
        if (q->want_tops && !q->want_logprobs)
            return api_refuse(r, 400, "top_logprobs", "top_logprobs needs logprobs: true");
        return 0;
    }
    if (take_count(q, "logprobs", &q->want_logprobs, &q->want_tops, r) ||
        take_count(q, "prompt_logprobs", &q->want_prompt_logprobs, &q->want_prompt_tops, r))
        return -1;
    if (q->is_streamed && (q->is_echo || q->want_prompt_logprobs))
        return api_refuse(r, 400, q->is_echo ? "echo" : "prompt_logprobs",
                          "%s cannot be streamed; leave out one of it and stream",
                          q->is_echo ? "echo" : "prompt_logprobs");
    if (!q->max_tokens && !q->is_echo && !q->want_prompt_logprobs)
        return api_refuse(
            r, 400, "max_tokens",
            "max_tokens 0 is possible with echo or prompt_logprobs alone; else nothing is asked "
            "for");
    return 0;
}

/* The likeliest token is looked for among those that may be taken, and the end token may not yet. */
static int check_tops(const struct api_request *q, struct api_refusal *r)
{
    const char *name = q->kind == API_CHAT ? "top_logprobs" : "logprobs";
    if (q->want_tops && q->min_tokens)
        return api_refuse(
            r, 400, name,
            "%s 1 is not possible with min_tokens, which keeps the end token out: the likeliest "
            "token of all is not known then; ask for 0",
            name);
    return 0;
}

static int take_stream_options(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "stream_options"), *usage = json_object_get(v, "include_usage"), *one;
    const char *key;
    if (!v)
        return 0;
    if (!json_is_object(v) || (usage && !json_is_boolean(usage)))
        return api_refuse(r, 400, "stream_options",
                          "stream_options is an object with \"include_usage\": true or false");
    json_object_foreach((json_t *)v, key, one)
    {
        int is_ours = !strcmp(key, "include_usage") || json_is_false(one) || json_is_null(one);
        if (!is_ours)
            return api_refuse(r, 400, "stream_options", "stream_options.%.40s is not supported; leave it out",
                              key);
    }
    q->want_usage = json_is_true(usage);
    return 0;
}

static int take_template_words(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "chat_template_kwargs"), *on = json_object_get(v, "enable_thinking");
    q->thinking = -1;
    if (!v || (json_is_object(v) && !json_object_size(v)))
        return 0;
    if (!json_is_boolean(on) || json_object_size(v) != 1)
        return api_refuse(
            r, 400, "chat_template_kwargs",
            "chat_template_kwargs can hold \"enable_thinking\": true or false, and nothing else");
    q->thinking = json_is_true(on);
    return 0;
}

/* {"seed", "problem", "sample"}: what the random numbers of a sweep's job are made of. */
static int take_key(struct api_request *q, struct api_refusal *r)
{
    const json_t *v = said(q, "kveval"), *seed = json_object_get(v, "seed"),
                 *sample = json_object_get(v, "sample");
    if (!v)
        return 0;
    q->problem = plain_text(json_object_get(v, "problem"));
    if (!q->problem || !json_is_integer(seed) || !json_is_integer(sample) || json_integer_value(seed) < 0 ||
        json_integer_value(sample) < 0 || json_integer_value(sample) > INT32_MAX || json_object_size(v) != 3)
        return api_refuse(r, 400, "kveval", "kveval takes \"seed\", \"problem\" and \"sample\"");
    q->seed = json_integer_value(seed);
    q->sample = json_integer_value(sample);
    return 0;
}

static int take_others(struct api_request *q, struct api_refusal *r)
{
    const json_t *seed = said(q, "seed"), *most = said(q, "max_completion_tokens"),
                 *best = said(q, "best_of"), *choice = said(q, "tool_choice"),
                 *format = said(q, "response_format");
    if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
        return api_refuse(r, 400, "seed", "seed takes an integer from 0 on");
    q->seed = json_integer_value(seed);
    if (most && q->kind == API_CHAT) {
        json_int_t n = json_integer_value(most);
        if (!json_is_integer(most) || n < 1 || n > 10000000)
            return api_refuse(r, 400, "max_completion_tokens",
                              "max_completion_tokens takes an integer from 1 "
                              "on");
        if (q->max_tokens >= 0 && q->max_tokens != n)
            return api_refuse(r, 400, "max_completion_tokens",
                              "max_tokens and max_completion_tokens differ; leave one of them out");
        q->max_tokens = (int)n;
    }
    if (best && (!json_is_integer(best) || json_integer_value(best) != q->n))
        return api_refuse(r, 400, "best_of", "best_of is not supported; leave it out");
    const char *word = json_string_value(choice);
    if (choice && (!word || (strcmp(word, "none") != 0 && strcmp(word, "auto") != 0)))
        return api_refuse(r, 400, "tool_choice", "there are no tools here; leave tool_choice out");
    word = json_string_value(json_object_get(format, "type"));
    if (format && (!word || strcmp(word, "text") != 0 || json_object_size(format) != 1))
        return api_refuse(r, 400, "response_format", "response_format can be {\"type\": \"text\"} alone");
    return 0;
}

/* Values in memory are a hundred times what they are in a text: "{}," is 250 bytes. Counted before it is
 * read, each begins the text or a list, or follows a comma or a colon. */
static int check_size(const char *body, size_t n, struct api_refusal *r)
{
    size_t lists = 0, values = 1;
    int is_text = 0;
    for (size_t i = 0; i < n; i++) {
        char c = body[i];
        if (c == '"')
            is_text = !is_text;
        else if (is_text)
            i += c == '\\';
        else {
            lists += c == '[' || c == '{';
            values += c == '[' || c == '{' || c == ',' || c == ':';
        }
    }
    if (lists > API_LISTS || values > API_VALUES)
        return api_refuse(r, 400, NULL, "the body has more than %d %s; divide the request",
                          lists > API_LISTS ? API_LISTS : API_VALUES,
                          lists > API_LISTS ? "arrays and objects" : "values");
    return 0;
}

int api_request_read(struct api_request *q, enum api_kind kind, const char *body, size_t n,
                     struct api_refusal *r)
{
    struct err e = {0};
    const char *name;
    json_t *v;
    *q = (struct api_request){.kind = kind,
                              .n = 1,
                              .n_prompts = 1,
                              .max_tokens = -1,
                              .temperature = 1,
                              .top_p = 1,
                              .add_special = 1,
                              .thinking = -1};
    *r = (struct api_refusal){0};
    if (check_size(body, n, r))
        return -1;
    if (json_read_text(&q->body, body, n, "the body", &e))
        return api_refuse(r, 400, NULL, "%s", e.text);
    if (!json_is_object(q->body))
        return api_refuse(r, 400, NULL, "the body is a JSON object");
    q->model = plain_text(json_object_get(q->body, "model"));
    if (!q->model)
        return api_refuse(r, 400, "model", "model is the name of one of the models that /v1/models lists");
    json_object_foreach(q->body, name, v) if (take_field(q, name, v, r)) return -1;
    if ((kind == API_CHAT ? take_messages : take_prompt)(q, r) || take_stop(q, r) || take_stop_ids(q, r) ||
        take_logprobs(q, r) || check_tops(q, r) || take_stream_options(q, r) || take_template_words(q, r) ||
        take_others(q, r) || take_key(q, r))
        return -1;
    if (q->problem && (q->n > 1 || q->n_prompts > 1))
        return api_refuse(r, 400, "kveval", "the sampling key is that of one completion");
    if (q->max_tokens >= 0 && q->min_tokens > q->max_tokens)
        return api_refuse(r, 400, "min_tokens", "min_tokens is above max_tokens");
    if (q->n_prompts > API_CHOICES * 512 / q->n)
        return api_refuse(r, 400, "prompt", "%d prompts with %d answers each are too many", q->n_prompts,
                          q->n);
    return 0;
}

void api_request_shrink(struct api_request *q)
{
    json_t *kept = json_object();
    json_object_set(kept, "model", json_object_get(q->body, "model"));
    if (q->n_stop)
        json_object_set(kept, "stop", json_object_get(q->body, "stop"));
    json_decref(q->body);
    q->body = kept;
    free(q->turns);
    arena_release(&q->joined);
    q->turns = NULL;
    q->n_turns = q->n_user = 0;
    q->prompt = NULL;
    q->system = q->user = q->problem = NULL;
}

void api_request_release(struct api_request *q)
{
    json_decref(q->body);
    free(q->turns);
    arena_release(&q->joined);
    memset(q, 0, sizeof *q);
}
