/* What is sent (contract: serve_parts.h). "created" is 0 and ids are hashes of the request, so that equal
 * requests get equal bytes; a stream has an event for each token that adds something, however tokens came
 * from the worker. */
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
    serve_add_json(out, o);
}

/* ---- parts. They are written as text, in the order in which they stand: a stream has all of them in each
 * event, and building them of JSON values takes longer than decoding a small model does. */

static const char *object_name(const struct exchange *x)
{
    return x->kind != API_CHAT ? "text_completion"
           : x->q.is_streamed  ? "chat.completion.chunk"
                               : "chat.completion";
}

/* The beginning of every answer and event, up to its choices. */
static void add_head(struct str *out, struct exchange *x)
{
    if (!x->head.len) {
        str_puts(&x->head, "{\"id\":");
        serve_add_json(&x->head, json_text_of(x->id));
        str_printf(&x->head, ",\"object\":\"%s\",\"created\":0,\"model\":", object_name(x));
        serve_add_json(&x->head, json_text_of(x->q.model));
        str_puts(&x->head, ",\"system_fingerprint\":");
        serve_add_json(&x->head, json_text_of(model_of(x)->info.numerics));
        str_puts(&x->head, ",\"choices\":[");
    }
    str_add(out, x->head.data, x->head.len);
}

static void add_ids(struct str *out, const int32_t *ids, int n)
{
    str_putc(out, '[');
    for (int i = 0; i < n; i++)
        str_printf(out, i ? ",%d" : "%d", (int)ids[i]);
    str_putc(out, ']');
}

static void add_finish(struct str *out, const struct served *c)
{
    str_printf(out, ",\"finish_reason\":\"%s\"}", finish_name(c->c.finish));
}

static void add_tokens(struct str *out, struct served *c, int from, int to, int is_whole)
{
    const struct exchange *x = c->of;
    const struct token_list *prompt = &x->prompt[c->prompt];
    str_puts(out, ",\"logprobs\":");
    serve_add_logprobs(out, c, from, to + (is_whole && c->has_end), is_whole);
    if (is_whole && x->q.want_prompt_logprobs) {
        str_puts(out, ",\"prompt_logprobs\":");
        serve_add_prompt_logprobs(out, c);
    }
    if (!x->q.want_ids)
        return;
    if (!from) {
        str_puts(out, ",\"prompt_token_ids\":");
        add_ids(out, prompt->id, (int)prompt->n);
    }
    str_puts(out, ",\"token_ids\":");
    add_ids(out, c->ids + from, to - from);
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

static void add_whole_choice(struct str *out, struct served *c)
{
    const struct exchange *x = c->of;
    str_printf(out, "{\"index\":%d,", c->index);
    if (x->kind == API_CHAT) {
        str_puts(out, "\"message\":{\"role\":\"assistant\",\"content\":");
        serve_add_json(out, json_text(str_text(&c->text), c->text.len));
        str_puts(out, ",\"refusal\":null}");
    } else {
        struct str text = {0};
        if (x->echo)
            str_add(&text, str_text(&x->echo[c->prompt]), x->echo[c->prompt].len);
        str_add(&text, str_text(&c->text), c->text.len);
        str_puts(out, "\"text\":");
        serve_add_json(out, json_text(text.data, text.len));
        str_release(&text);
    }
    add_tokens(out, c, 0, c->n_ids, 1);
    add_finish(out, c);
}

static void add_whole(struct str *out, struct exchange *x)
{
    add_head(out, x);
    for (int i = 0; i < x->n_choices && !x->q.is_streamed; i++) {
        str_puts(out, i ? "," : "");
        add_whole_choice(out, &x->choice[i]);
    }
    str_puts(out, "],\"usage\":");
    serve_add_json(out, usage_json(x));
    str_putc(out, '}');
}

/* ---- a stream */

static void add_event(struct served *c, int from, int to, const char *text, size_t n, int is_last)
{
    struct exchange *x = c->of;
    struct str *out = &c->events;
    size_t before = out->len;
    str_puts(out, "data: ");
    add_head(out, x);
    str_printf(out, "{\"index\":%d,", c->index);
    if (x->kind != API_CHAT)
        str_puts(out, "\"text\":");
    else
        str_puts(out, from || is_last ? "\"delta\":{\"content\":"
                                      : "\"delta\":{\"role\":\"assistant\",\"content\":");
    serve_add_json(out, json_text(text, n));
    str_puts(out, x->kind == API_CHAT ? "}" : "");
    add_tokens(out, c, from, to, 0);
    if (is_last)
        add_finish(out, c);
    else
        str_puts(out, ",\"finish_reason\":null}");
    str_puts(out, x->q.want_usage ? "],\"usage\":null}\n\n" : "]}\n\n");
    serve_hold(x, out->len - before);
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

static void write_end(struct exchange *x)
{
    if (x->refusal.status) {
        serve_error_json(&x->reply, &x->refusal);
        str_puts(&x->tail, "data: ");
        str_puts(&x->tail, str_text(&x->reply));
        str_puts(&x->tail, "\n\n");
        return;
    }
    if (!x->q.is_streamed) {
        add_whole(&x->reply, x);
        str_putc(&x->reply, '\n');
        return;
    }
    if (x->q.want_usage) {
        str_puts(&x->tail, "data: ");
        add_whole(&x->tail, x);
        str_puts(&x->tail, "\n\n");
    }
    str_puts(&x->tail, "data: [DONE]\n\n");
}

void serve_conclude(struct exchange *x)
{
    write_end(x);
    if (x->is_queued)
        serve_let_go(x, x->n_echoed);
    serve_hold(x, x->reply.len + x->tail.len);
}
