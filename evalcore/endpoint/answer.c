/* What a server answers (contract: answer.h). Nothing is taken on trust: a field that is missing or odd is a
 * broken answer, and a count that differs from ours a wrong one. */
#include "evalcore/endpoint/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/json.h"

/* The longest tokens of today's vocabularies have 128 characters, and escapes in JSON six bytes for one. */
enum { TOKEN_BYTES = 1024, ESCAPED = 6, ID_BYTES = 12, ANSWER_ROOM = 65536 };
enum {
    SCORE_BYTES = 2048
}; /* of a token of the prompt with its log-probability, the likeliest and their texts */

void answer_begin(struct answer *a)
{
    a->state = ANSWER_OPEN;
    a->why = (struct err){0};
    str_clear(&a->body);
    str_clear(&a->text);
    sse_release(&a->sse);
    a->max_text = (size_t)(a->max_tokens + (a->n_scored ? a->n_prompt : 0)) * TOKEN_BYTES; /* with its echo */
    a->sse.max = ANSWER_ROOM + a->max_text * ESCAPED +
                 (size_t)a->n_prompt * (a->n_scored ? SCORE_BYTES + ID_BYTES : ID_BYTES);
    a->n_ids = -1;
    a->n_pieces = a->is_done = a->has_usage = 0;
    a->finish[0] = a->model[0] = 0;
    a->prompt_tokens = a->completion_tokens = -1;
    json_decref(a->usage);
    a->usage = NULL;
}

static int end_with(struct answer *a, enum answer_state state)
{
    a->state = state;
    return -1;
}

static int broken_answer(struct answer *a, const char *what)
{
    err_set(&a->why, ERR_FORMAT, "%s", what);
    return end_with(a, ANSWER_BROKEN);
}

static int too_long(struct answer *a)
{
    err_set(&a->why, ERR_FORMAT, "the server sent more text than %d tokens can have", a->max_tokens);
    return end_with(a, ANSWER_WRONG);
}

static int parse_ids(struct answer *a, const json_t *list)
{
    size_t i;
    const json_t *v;
    if (!list || json_is_null(list))
        return 0;
    if (!json_is_array(list))
        return broken_answer(a, "\"token_ids\" is no list");
    if (a->n_ids < 0)
        a->n_ids = 0;
    if (json_array_size(list) > (size_t)a->max_tokens + 1 - (size_t)a->n_ids)
        return too_long(a);
    xgrow(&a->ids, &a->cap_ids, (size_t)a->n_ids + json_array_size(list) + 1, sizeof *a->ids);
    json_array_foreach((json_t *)list, i, v)
    {
        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > INT32_MAX)
            return broken_answer(a, "\"token_ids\" holds what is no token");
        a->ids[a->n_ids++] = (int32_t)json_integer_value(v);
    }
    return 0;
}

/* vLLM says which prompt it got. */
static int check_prompt(struct answer *a, const json_t *list)
{
    size_t n = json_array_size(list);
    if (!a->prompt || !json_is_array(list))
        return 0;
    int same = n == (size_t)a->n_prompt;
    for (size_t i = 0; i < n && same; i++)
        same = json_integer_value(json_array_get(list, i)) == a->prompt[i];
    if (same)
        return 0;
    err_set(&a->why, ERR_FORMAT, "the server says that it got other prompt tokens than were sent");
    return end_with(a, ANSWER_WRONG);
}

static int parse_choice(struct answer *a, const json_t *choice)
{
    const json_t *text = json_object_get(choice, "text"), *finish = json_object_get(choice, "finish_reason");
    if (json_integer_value(json_object_get(choice, "index")) || !json_is_object(choice))
        return broken_answer(a, "the answer has another choice than the one asked for");
    if (text && !json_is_null(text) && !json_is_string(text))
        return broken_answer(a, "the answer's \"text\" is no text");
    if (finish && !json_is_null(finish) && !json_is_string(finish))
        return broken_answer(a, "\"finish_reason\" is no word");
    size_t n = json_string_length(text);
    if (n && *a->finish)
        return broken_answer(a, "text came after the end of the completion");
    if (n > a->max_text || a->text.len > a->max_text - n)
        return too_long(a);
    str_add(&a->text, n ? json_string_value(text) : "", n);
    a->n_pieces += n > 0;
    if (json_is_string(finish)) {
        size_t len = json_string_length(finish);
        len = len < sizeof a->finish ? len : sizeof a->finish - 1;
        memcpy(a->finish, json_string_value(finish), len);
        a->finish[len] = 0;
        if (!len)
            memcpy(a->finish, "?", 2);
    }
    if (check_prompt(a, json_object_get(choice, "prompt_token_ids")))
        return -1;
    if (a->n_scored) /* ids were not asked for, and may be those of the echo */
        return 0;
    return parse_ids(a, json_object_get(choice, "token_ids"));
}

static void parse_usage(struct answer *a, const json_t *usage)
{
    const json_t *prompt = json_object_get(usage, "prompt_tokens");
    const json_t *completion = json_object_get(usage, "completion_tokens");
    if (!json_is_integer(prompt) || !json_is_integer(completion))
        return;
    a->has_usage = 1;
    a->prompt_tokens = json_integer_value(prompt);
    a->completion_tokens = json_integer_value(completion);
    json_decref(a->usage);
    a->usage = json_incref((json_t *)usage);
}

static int parse_object(struct answer *a, const json_t *o)
{
    const json_t *choices = json_object_get(o, "choices");
    if (!json_is_object(o))
        return broken_answer(a, "an answer is a JSON object, and this is none");
    if (json_is_object(json_object_get(o, "error"))) {
        struct str says = {0};
        char *text = json_dumps(o, JSON_COMPACT);
        answer_refusal(&says, text, text ? strlen(text) : 0, a->secret);
        err_set(&a->why, ERR_IO, "the server broke off with an error: %s", str_text(&says));
        free(text);
        str_release(&says);
        return end_with(a, ANSWER_BROKEN);
    }
    if (!json_is_array(choices) || json_array_size(choices) > 1)
        return broken_answer(a, "the answer's \"choices\" are not one choice");
    if (json_array_size(choices) && parse_choice(a, json_array_get(choices, 0)))
        return -1;
    parse_usage(a, json_object_get(o, "usage"));
    if (a->n_scored && json_array_size(choices) && answer_scores(a, json_array_get(choices, 0)))
        return -1;
    const char *model = json_string_value(json_object_get(o, "model"));
    if (model)
        snprintf(a->model, sizeof a->model, "%s", model);
    return 0;
}

static int parse_json(struct answer *a, const char *data, size_t n)
{
    json_t *o;
    struct err e = {0};
    if (json_read_text(&o, data, n, "the answer", &e))
        return broken_answer(a, e.text);
    int rc = parse_object(a, o);
    json_decref(o);
    return rc;
}

static int on_event(void *context, const char *data, size_t n)
{
    struct answer *a = context;
    if (a->is_done)
        return broken_answer(a, "the stream went on after its end");
    if (n == 6 && !memcmp(data, "[DONE]", 6)) {
        a->is_done = 1;
        return 0;
    }
    return parse_json(a, data, n);
}

int answer_take(struct answer *a, const char *bytes, size_t n)
{
    if (a->state != ANSWER_OPEN)
        return -1;
    if (a->is_stream) {
        int rc = sse_take(&a->sse, bytes, n, on_event, a);
        return rc == SSE_TOO_LONG ? too_long(a) : rc;
    }
    if (a->body.len + n > a->sse.max)
        return too_long(a);
    str_add(&a->body, bytes, n);
    return 0;
}

static int is_end_token(const struct answer *a, int32_t id)
{
    for (int i = 0; i < a->n_end_tokens; i++)
        if (id == a->end_tokens[i])
            return 1;
    return 0;
}

/* The counts must fit each other and the request. Returns a sentence, or NULL. */
static const char *check_counts(struct answer *a, int is_cut, struct str *out)
{
    if (!a->has_usage)
        return "the answer has no \"usage\", so that the tokens of the prompt cannot be checked; put "
               "\"stream\": false into \"model\" when the server counts only answers in one piece";
    if (a->prompt_tokens != a->n_prompt) {
        str_printf(out,
                   "the server counted %lld tokens in a prompt of %d; it may add a token of its own, such as "
                   "another begin of sentence",
                   (long long)a->prompt_tokens, a->n_prompt);
        return str_text(out);
    }
    if (a->completion_tokens < 0 || a->completion_tokens > a->max_tokens + !is_cut) {
        str_printf(out, "the server counted %lld tokens in a completion of at most %d",
                   (long long)a->completion_tokens, a->max_tokens);
        return str_text(out);
    }
    if (is_cut && a->completion_tokens < a->max_tokens) {
        str_printf(out,
                   "the server cut the completion off after %lld of %d tokens; put its own limit into "
                   "\"model\" as \"max_context\"",
                   (long long)a->completion_tokens, a->max_tokens);
        return str_text(out);
    }
    return a->text.len && !a->completion_tokens && !a->n_scored
               ? "the server sent text and counted no token of it"
               : NULL;
}

void answer_end(struct answer *a)
{
    struct str text = {0};
    if (a->state != ANSWER_OPEN || (!a->is_stream && parse_json(a, str_text(&a->body), a->body.len)))
        return;
    if (!*a->finish || (a->is_stream && !a->is_done)) {
        broken_answer(a, "the answer ended before the completion did");
        return;
    }
    if (!strcmp(a->finish, "abort")) { /* the server gave the request up, not the model */
        broken_answer(a, "the server broke the completion off");
        return;
    }
    int is_cut = !strcmp(a->finish, "length");
    if (!is_cut && strcmp(a->finish, "stop") != 0)
        err_set(&a->why, ERR_FORMAT, "the completion ended with the finish_reason \"%s\"", a->finish);
    const char *bad = a->why.code ? NULL : check_counts(a, is_cut, &text);
    if (bad)
        err_set(&a->why, ERR_FORMAT, "%s", bad);
    str_release(&text);
    if (a->why.code) {
        end_with(a, ANSWER_WRONG);
        return;
    }
    if (a->n_ids != a->completion_tokens && a->n_ids + 1 != a->completion_tokens)
        a->n_ids = -1; /* not all of them: worth nothing */
    if (!is_cut && a->n_ids > 0 && is_end_token(a, a->ids[a->n_ids - 1]))
        a->n_ids--;
    a->state = ANSWER_WHOLE;
    for (int i = 0; i < a->n_ids; i++)
        if (is_end_token(a, a->ids[i])) {
            err_set(&a->why, ERR_FORMAT, "the server went on after the end token %d", (int)a->ids[i]);
            end_with(a, ANSWER_WRONG);
        }
}

void answer_release(struct answer *a)
{
    sse_release(&a->sse);
    str_release(&a->body);
    str_release(&a->text);
    json_decref(a->usage);
    a->usage = NULL;
    free(a->ids);
    free(a->logprobs);
    free(a->tops);
    a->ids = a->tops = NULL;
    a->logprobs = NULL;
    a->cap_ids = 0;
}

void answer_hide(struct str *text, const char *secret)
{
    size_t n = secret ? strlen(secret) : 0;
    char *at = n && text->len ? text->data : NULL, *end = at ? at + text->len : NULL;
    while (at && (at = memmem(at, (size_t)(end - at), secret, n)))
        memset(at, '*', n);
}

/* The decoded text is searched for the secret before it is cut: a part of it would not be found. */
void answer_refusal(struct str *out, const char *body, size_t n, const char *secret)
{
    static const char *const fields[] = {"message", "detail", "error", NULL};
    struct str text = {0};
    json_t *o = n ? json_loadb(body, n, JSON_ALLOW_NUL, NULL) : NULL;
    const json_t *inner = json_object_get(o, "error"), *says = NULL;
    for (int i = 0; fields[i] && !json_is_string(says); i++) {
        says = json_object_get(inner, fields[i]);
        if (!json_is_string(says))
            says = json_object_get(o, fields[i]);
    }
    if (json_is_string(says))
        str_add(&text, json_string_value(says), json_string_length(says));
    else if (o) { /* without the escapes that a key may hide behind */
        char *all = json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY);
        str_puts(&text, all ? all : "");
        free(all);
    } else if (body)
        str_add_utf8(&text, body, n);
    answer_hide(&text, secret);
    size_t most = 200;
    while (most && most < text.len && ((unsigned char)text.data[most] & 0xC0) == 0x80)
        most--; /* not in the middle of a character */
    for (size_t i = 0; i < text.len && i < most; i++) {
        char c = text.data[i];
        str_putc(out, (unsigned char)c < ' ' || c == 127 ? ' ' : c);
    }
    str_release(&text);
    json_decref(o);
}

/* ---- Server-sent events, after the HTML standard, section 9.2.6. */

/* The line is whole. */
static int end_line(struct sse *s, sse_fn *event, void *context)
{
    const char *line = str_text(&s->line);
    size_t n = s->line.len;
    int rc = 0;
    if (!s->is_begun && n >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) { /* a byte order mark */
        line += 3;
        n -= 3;
    }
    s->is_begun = 1;
    if (!n) {
        if (s->has_data)
            rc = event(context, str_text(&s->data), s->data.len);
        str_clear(&s->data);
        s->has_data = 0;
    } else if (n >= 4 && !memcmp(line, "data", 4) && (n == 4 || line[4] == ':')) {
        size_t from = n == 4 ? 4 : 5;
        from += from < n && line[from] == ' ';
        if (s->has_data)
            str_putc(&s->data, '\n');
        str_add(&s->data, line + from, n - from);
        s->has_data = 1;
        if (s->max && s->data.len > s->max)
            rc = SSE_TOO_LONG;
    }
    str_clear(&s->line);
    return rc;
}

int sse_take(struct sse *s, const char *bytes, size_t n, sse_fn *event, void *context)
{
    for (size_t at = 0; at < n;) {
        if (s->after_cr && bytes[at] == '\n') {
            s->after_cr = 0;
            at++;
            continue;
        }
        s->after_cr = 0;
        size_t end = at;
        while (end < n && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        str_add(&s->line, bytes + at, end - at);
        if (s->max && s->line.len > s->max)
            return SSE_TOO_LONG;
        if (end == n)
            return 0;
        s->after_cr = bytes[end] == '\r';
        at = end + 1;
        int rc = end_line(s, event, context);
        if (rc)
            return rc;
    }
    return 0;
}

void sse_release(struct sse *s)
{
    str_release(&s->line);
    str_release(&s->data);
    *s = (struct sse){0};
}
