/* What is sent (contract: serve_parts.h). "created" is 0 and ids are hashes of the request, so that equal
 * requests get equal bytes; a stream has an event for each token that adds something, however tokens came
 * from the worker. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/serve/serve_parts.h"
#include "evalcore/store/completion_json.h"

void serve_error_json(struct str *out, const struct api_refusal *r)
{
    static const struct {
        int status;
        const char *type;
    } types[] = {{401, "authentication_error"}, {404, "not_found_error"},   {429, "rate_limit_error"},
                 {500, "server_error"},         {503, "unavailable_error"}, {0, "invalid_request_error"}};
    int i = 0;
    while (types[i].status && types[i].status != r->status)
        i++;
    json_t *o = json_pack("{s:{s:o, s:s, s:o, s:i}}", "error", "message", json_text_of(r->why.text), "type",
                          types[i].type, "param", *r->param ? json_text_of(r->param) : json_null(), "code",
                          r->status);
    char *text = json_dumps(o, JSON_COMPACT);
    str_puts(out, text);
    free(text);
    json_decref(o);
}

/* ---- parts */

static json_t *new_answer(const struct exchange *x)
{
    int is_chat = x->kind == API_CHAT;
    const char *object = !is_chat           ? "text_completion"
                         : x->q.is_streamed ? "chat.completion.chunk"
                                            : "chat.completion";
    return json_pack("{s:s, s:s, s:i, s:o, s:s}", "id", x->id, "object", object, "created", 0, "model",
                     json_text_of(x->q.model), "system_fingerprint", model_of(x)->info.numerics);
}

static json_t *id_list(const int32_t *ids, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(ids[i]));
    return list;
}

static json_t *logprob_json(float v)
{
    return json_real(isfinite(v) ? (double)v : -9999.0);
}

/* Where a token's text begins, in characters; it may begin inside one. */
static size_t add_offset(struct served *c, const struct str *text)
{
    size_t begin = c->offset, at = 0, n_cut = c->cut.len;
    str_add(&c->cut, str_text(text), text->len);
    while (at < c->cut.len) {
        int step = str_utf8_step((const unsigned char *)c->cut.data + at, c->cut.len - at);
        size_t n = (size_t)(step < 0 ? -step : step);
        if (step < 0 && n == c->cut.len - at)
            break; /* the next token may complete it */
        at += n;
        c->offset++;
        begin = at <= n_cut ? c->offset : begin;
    }
    memmove(c->cut.data, c->cut.data + at, c->cut.len - at);
    c->cut.len -= at;
    return begin;
}

/* Tokens from..to of a completion; a stream tells them one after the other. */
static json_t *logprobs_json(struct served *c, int from, int to)
{
    int is_chat = c->of->kind == API_CHAT;
    const struct tokenizer *t = model_of(c->of)->tokenizer;
    json_t *tokens = json_array(), *values = json_array(), *offsets = json_array(), *content = json_array();
    struct str text = {0};
    for (int i = from; i < to; i++) {
        str_clear(&text);
        tokenizer_decode(t, &c->ids[i], 1, 0, &text);
        json_t *bytes = json_array();
        for (size_t k = 0; k < text.len && is_chat; k++)
            json_array_append_new(bytes, json_integer((unsigned char)text.data[k]));
        if (is_chat)
            json_array_append_new(
                content, json_pack("{s:o, s:o, s:o, s:[]}", "token", json_text(str_text(&text), text.len),
                                   "logprob", logprob_json(c->logprobs[i]), "bytes", bytes, "top_logprobs"));
        else
            json_decref(bytes);
        json_array_append_new(tokens, json_text(str_text(&text), text.len));
        json_array_append_new(values, logprob_json(c->logprobs[i]));
        str_clear(&text);
        tokenizer_decode(t, &c->ids[i], 1, 1, &text);
        json_array_append_new(offsets, json_integer((json_int_t)add_offset(c, &text)));
    }
    str_release(&text);
    json_t *o = is_chat ? json_pack("{s:O}", "content", content)
                        : json_pack("{s:O, s:O, s:n, s:O}", "tokens", tokens, "token_logprobs", values,
                                    "top_logprobs", "text_offset", offsets);
    json_decref(tokens);
    json_decref(values);
    json_decref(offsets);
    json_decref(content);
    return o;
}

static json_t *finish_json(const struct served *c)
{
    return json_string(finish_name(c->c.finish));
}

static void add_tokens(json_t *choice, struct served *c, int from, int to)
{
    const struct exchange *x = c->of;
    json_object_set_new(choice, "logprobs",
                        x->q.want_logprobs && c->n_logprobs >= to ? logprobs_json(c, from, to) : json_null());
    if (!x->q.want_ids)
        return;
    const struct token_list *prompt = &x->prompt[c->prompt];
    if (!from)
        json_object_set_new(choice, "prompt_token_ids", id_list(prompt->id, (int)prompt->n));
    json_object_set_new(choice, "token_ids", id_list(c->ids + from, to - from));
}

/* The names are those of a journal's records. */
static json_t *usage_json(const struct exchange *x)
{
    struct kv_counts k = {0};
    json_int_t prompt = 0, tokens = 0;
    for (int i = 0; i < x->q.n_prompts; i++)
        prompt += (json_int_t)x->prompt[i].n;
    for (int i = 0; i < x->n_choices; i++) {
        tokens += x->choice[i].n_ids;
        completion_add_counts(&k, &x->choice[i].c.kv);
    }
    json_t *o = json_pack("{s:I, s:I, s:I, s:f}", "prompt_tokens", prompt, "completion_tokens", tokens,
                          "total_tokens", prompt + tokens, "kv_share",
                          k.reads_full > 0 ? (k.reads + k.aux_reads) / k.reads_full : 1.0);
    completion_json_add_counts(o, &k);
    return o;
}

/* ---- in one piece */

static json_t *whole_choice(struct served *c)
{
    json_t *text = json_text(str_text(&c->text), c->text.len);
    json_t *o = json_pack("{s:i}", "index", c->index);
    if (c->of->kind == API_CHAT)
        json_object_set_new(o, "message",
                            json_pack("{s:s, s:o, s:n}", "role", "assistant", "content", text, "refusal"));
    else
        json_object_set_new(o, "text", text);
    add_tokens(o, c, 0, c->n_ids);
    json_object_set_new(o, "finish_reason", finish_json(c));
    return o;
}

static void add_json(struct str *out, json_t *o, int is_event)
{
    char *text = json_dumps(o, JSON_COMPACT);
    str_puts(out, is_event ? "data: " : "");
    str_puts(out, text);
    str_puts(out, is_event ? "\n\n" : "\n");
    free(text);
    json_decref(o);
}

/* ---- a stream */

static void add_event(struct served *c, int from, int to, const char *text, size_t n, int is_last)
{
    struct exchange *x = c->of;
    json_t *o = new_answer(x), *choice = json_pack("{s:i}", "index", c->index), *piece = json_text(text, n);
    if (x->kind == API_CHAT)
        json_object_set_new(choice, "delta",
                            from || is_last ? json_pack("{s:o}", "content", piece)
                                            : json_pack("{s:s, s:o}", "role", "assistant", "content", piece));
    else
        json_object_set_new(choice, "text", piece);
    add_tokens(choice, c, from, to);
    json_object_set_new(choice, "finish_reason", is_last ? finish_json(c) : json_null());
    json_object_set_new(o, "choices", json_pack("[o]", choice));
    if (x->q.want_usage)
        json_object_set_new(o, "usage", json_null());
    add_json(&c->events, o, 1);
}

/* The first token's event stands for the role in chats, so it comes even when it has no text. The last token
 * comes with the end alone, and what it holds back with it. */
void serve_tell(struct served *c)
{
    const struct exchange *x = c->of;
    if (!x->q.is_streamed || c->c.finish == FINISHED_ERROR)
        return;
    for (; c->n_told < c->n_ids; c->n_told++) {
        piece_text_add(&c->piece, model_of(x)->tokenizer, c->ids[c->n_told], x->q.stop, x->q.n_stop);
        size_t end = c->piece.out.len;
        end = c->is_over && end > c->text.len ? c->text.len : end;
        size_t n = end > c->text_told ? end - c->text_told : 0;
        if (n || x->q.want_logprobs || x->q.want_ids || !c->n_told)
            add_event(c, c->n_told, c->n_told + 1, n ? c->piece.out.data + c->text_told : "", n, 0);
        c->text_told += n;
    }
    if (!c->is_over)
        return;
    size_t rest = c->text.len - c->text_told;
    add_event(c, c->n_ids, c->n_ids, str_text(&c->text) + c->text_told, rest, 1);
    c->text_told = c->text.len;
}

void serve_conclude(struct exchange *x)
{
    if (x->refusal.status) {
        serve_error_json(&x->reply, &x->refusal);
        str_puts(&x->tail, "data: ");
        str_puts(&x->tail, str_text(&x->reply));
        str_puts(&x->tail, "\n\n");
        return;
    }
    json_t *o = new_answer(x), *choices = json_array();
    for (int i = 0; i < x->n_choices && !x->q.is_streamed; i++)
        json_array_append_new(choices, whole_choice(&x->choice[i]));
    json_object_set_new(o, "choices", choices);
    json_object_set_new(o, "usage", usage_json(x));
    if (!x->q.is_streamed) {
        add_json(&x->reply, o, 0);
        return;
    }
    if (x->q.want_usage)
        add_json(&x->tail, json_incref(o), 1);
    json_decref(o);
    str_puts(&x->tail, "data: [DONE]\n\n");
}
