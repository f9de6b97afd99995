/* Log-probabilities in answers (contract: serve_parts.h). Lists may have a hundred thousand entries and a
 * stream has one in each event, so they are written as text; jansson makes a hundred times their size in
 * memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/serve/serve_parts.h"

void token_scores_put(struct token_scores *s, int from, int n, const float *logprobs, const int32_t *tops,
                      const float *top_logprobs)
{
    size_t to = (size_t)(from + n), bytes = (size_t)n * sizeof *logprobs;
    if (!n)
        return;
    xgrow(&s->logprob, &s->cap, to, sizeof *s->logprob);
    memcpy(s->logprob + from, logprobs, bytes);
    s->n = (int)to;
    if (!tops)
        return;
    xgrow(&s->top, &s->cap_top, to, sizeof *s->top);
    xgrow(&s->top_logprob, &s->cap_top_logprob, to, sizeof *s->top_logprob);
    memcpy(s->top + from, tops, (size_t)n * sizeof *tops);
    memcpy(s->top_logprob + from, top_logprobs, bytes);
}

void token_scores_release(struct token_scores *s)
{
    free(s->logprob);
    free(s->top);
    free(s->top_logprob);
    memset(s, 0, sizeof *s);
}

/* ---- values */

static int add_bytes(const char *bytes, size_t n, void *out)
{
    str_add(out, bytes, n);
    return 0;
}

void serve_add_json(struct str *out, json_t *v)
{
    json_dump_callback(v, add_bytes, out, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(v);
}

static void add_logprob(struct str *out, float v)
{
    serve_add_json(out, json_real(isfinite(v) ? (double)v : -9999.0));
}

/* A token's name in lists; its own text in *text. */
static void add_token(struct str *out, const struct exchange *x, int32_t id, struct str *text)
{
    str_clear(text);
    tokenizer_decode(model_of(x)->tokenizer, &id, 1, 0, text);
    if (x->q.want_id_names)
        str_printf(out, "\"token_id:%d\"", (int)id);
    else
        serve_add_json(out, json_text(str_text(text), text->len));
}

/* ---- one token */

struct scored_token {
    int32_t id, top;
    float logprob, top_logprob;
    int has_logprob, has_top;
};

static struct scored_token scored_token_at(const struct token_scores *s, int at, int32_t id)
{
    struct scored_token p = {.id = id};
    if (at < 0 || at >= s->n)
        return p;
    p.has_logprob = 1;
    p.logprob = s->logprob[at];
    p.has_top = s->top != NULL;
    p.top = p.has_top ? s->top[at] : 0;
    p.top_logprob = p.has_top ? s->top_logprob[at] : 0;
    return p;
}

/* A prompt is scored with the first of its answers. */
static const struct token_scores *scores_of_prompt(const struct served *c)
{
    return &c->of->choice[c->prompt * c->of->q.n].prompt_scores;
}

/* {"name": log-probability} of the likeliest token and of the one that is there. Where their names are the
 * same, as those of two parts of a character are, the likeliest has it. */
static void add_top_object(struct str *out, const struct exchange *x, const struct scored_token *p)
{
    struct str text = {0}, top = {0}, own = {0};
    add_token(&top, x, p->top, &text);
    add_token(&own, x, p->id, &text);
    str_putc(out, '{');
    str_add(out, top.data, top.len);
    str_putc(out, ':');
    add_logprob(out, p->top_logprob);
    if (top.len != own.len || memcmp(top.data, own.data, own.len) != 0) {
        str_putc(out, ',');
        str_add(out, own.data, own.len);
        str_putc(out, ':');
        add_logprob(out, p->logprob);
    }
    str_putc(out, '}');
    str_release(&text);
    str_release(&top);
    str_release(&own);
}

/* {"token": ..., "logprob": ..., "bytes": [...]} without the last brace. */
static void add_chat_token(struct str *out, const struct exchange *x, int32_t id, float logprob)
{
    struct str text = {0};
    str_puts(out, "{\"token\":");
    add_token(out, x, id, &text);
    str_puts(out, ",\"logprob\":");
    add_logprob(out, logprob);
    str_puts(out, ",\"bytes\":[");
    for (size_t k = 0; k < text.len; k++)
        str_printf(out, k ? ",%d" : "%d", (unsigned char)text.data[k]);
    str_putc(out, ']');
    str_release(&text);
}

static void add_chat_scored(struct str *out, const struct exchange *x, const struct scored_token *p)
{
    add_chat_token(out, x, p->id, p->logprob);
    str_puts(out, ",\"top_logprobs\":[");
    if (p->has_top && x->q.want_tops) {
        add_chat_token(out, x, p->top, p->top_logprob);
        str_putc(out, '}');
    }
    str_puts(out, "]}");
}

/* ---- where texts begin, in characters */

/* Of a token of a completion; it may begin inside a character. */
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

static size_t count_characters(const char *p, size_t n)
{
    size_t k = 0;
    for (size_t at = 0; at < n; k++) {
        int step = str_utf8_step((const unsigned char *)p + at, n - at);
        at += (size_t)(step < 0 ? -step : step);
    }
    return k;
}

/* How far the tokens of an echo have come: `at` bytes of the text belong to them, `done` of these bytes are
 * whole characters, n of them, and `missed` bytes of the last tokens are not in the text. */
struct echo_place {
    size_t at, done, n, missed;
};

/* Does the echo go on with these bytes at `at`? */
static int is_at(const struct str *echo, size_t at, const char *own, size_t n)
{
    return n && n <= echo->len - at && !memcmp(echo->data + at, own, n);
}

/* White space beside a special token that swallows it belongs to no token. */
static size_t skip_spaces(const struct str *echo, size_t at)
{
    return at + strspn(str_text(echo) + at, " \t\r\n");
}

/* Behind tokens that are not in the text as they are spelled, since the tokenizer changes texts (NFC), the
 * next one is looked for nearby; where it is not, at `at`. */
static size_t find_nearby(const struct str *echo, const struct echo_place *e, const char *own, size_t n)
{
    size_t reach = 4 * e->missed + n, left = echo->len - e->at;
    const char *from = str_text(echo) + e->at;
    int is_telling = e->missed && strspn(own, " \t\r\n") < n; /* white space stands everywhere */
    const char *found = is_telling ? memmem(from, reach < left ? reach : left, own, n) : NULL;
    return found ? e->at + (size_t)(found - from) : e->at;
}

/* A token is looked for where the last one ended, then behind the white space there. One that is not there,
 * such as a begin of sentence that was put in front, has no text of the echo, and where a text begins with a
 * space that the tokenizer added, the space is left out. */
static size_t next_in_echo(struct echo_place *e, const struct str *echo, const struct str *text)
{
    const char *own = str_text(text);
    size_t n = text->len, from = e->at;
    if (n && *own == ' ' && !from && !is_at(echo, 0, own, n) && is_at(echo, 0, own + 1, n - 1)) {
        own++;
        n--;
    }
    if (from && !is_at(echo, from, own, n))
        from = skip_spaces(echo, from);
    if (!is_at(echo, from, own, n))
        from = find_nearby(echo, e, own, n);
    int is_there = is_at(echo, from, own, n);
    e->at = is_there ? from : e->at;
    e->missed = is_there ? 0 : e->missed + n;
    while (e->done < e->at) {
        int step = str_utf8_step((const unsigned char *)echo->data + e->done, echo->len - e->done);
        size_t bytes = (size_t)(step < 0 ? -step : step);
        if (e->done + bytes > e->at)
            break;
        e->done += bytes;
        e->n++;
    }
    e->at += is_there ? n : 0;
    return e->n;
}

/* ---- lists */

struct lists { /* of completions */
    struct str tokens, values, tops, offsets;
    int n;
};

static void add_scored(struct lists *l, const struct exchange *x, const struct scored_token *p, size_t offset)
{
    const char *comma = l->n++ ? "," : "";
    struct str text = {0};
    str_puts(&l->tokens, comma);
    str_puts(&l->values, comma);
    str_puts(&l->tops, comma);
    add_token(&l->tokens, x, p->id, &text);
    if (p->has_logprob)
        add_logprob(&l->values, p->logprob);
    else
        str_puts(&l->values, "null");
    if (p->has_top)
        add_top_object(&l->tops, x, p);
    else
        str_puts(&l->tops, "null");
    str_printf(&l->offsets, "%s%zu", comma, offset);
    str_release(&text);
}

static void add_echo(struct lists *l, struct served *c)
{
    const struct exchange *x = c->of;
    const struct token_list *prompt = &x->prompt[c->prompt];
    const struct str *echo = &x->echo[c->prompt];
    const struct token_scores *scores = scores_of_prompt(c);
    struct echo_place e = {0};
    struct str text = {0};
    for (size_t i = 0; i < prompt->n; i++) {
        const struct scored_token p = scored_token_at(scores, (int)i - 1, prompt->id[i]);
        str_clear(&text);
        tokenizer_decode(model_of(x)->tokenizer, &p.id, 1, 0, &text);
        add_scored(l, x, &p, next_in_echo(&e, echo, &text));
    }
    c->offset = count_characters(str_text(echo), echo->len);
    str_release(&text);
}

static void add_lists(struct str *out, struct served *c, int from, int to, int is_whole)
{
    const struct exchange *x = c->of;
    struct lists l = {0};
    struct str text = {0};
    if (is_whole && x->echo)
        add_echo(&l, c);
    for (int i = from; i < to; i++) {
        const struct scored_token p = scored_token_at(&c->scores, i, c->ids[i]);
        str_clear(&text);
        tokenizer_decode(model_of(x)->tokenizer, &c->ids[i], 1, 1, &text);
        add_scored(&l, x, &p, add_offset(c, &text));
    }
    str_printf(out, "{\"tokens\":[%s],\"token_logprobs\":[", str_text(&l.tokens));
    str_add(out, str_text(&l.values), l.values.len);
    str_puts(out, "],\"top_logprobs\":");
    str_puts(out, x->q.want_tops ? "[" : "null");
    if (x->q.want_tops)
        str_add(out, str_text(&l.tops), l.tops.len);
    str_puts(out, x->q.want_tops ? "],\"text_offset\":[" : ",\"text_offset\":[");
    str_add(out, str_text(&l.offsets), l.offsets.len);
    str_puts(out, "]}");
    str_release(&text);
    str_release(&l.tokens);
    str_release(&l.values);
    str_release(&l.tops);
    str_release(&l.offsets);
}

void serve_add_logprobs(struct str *out, struct served *c, int from, int to, int is_whole)
{
    if (!c->of->q.want_logprobs || c->scores.n < to) {
        str_puts(out, "null");
    } else if (c->of->kind == API_COMPLETION) {
        add_lists(out, c, from, to, is_whole);
    } else {
        str_puts(out, "{\"content\":[");
        for (int i = from; i < to; i++) {
            const struct scored_token p = scored_token_at(&c->scores, i, c->ids[i]);
            str_puts(out, i > from ? "," : "");
            add_chat_scored(out, c->of, &p);
        }
        str_puts(out, "]}");
    }
}

static void add_by_id(struct str *out, const struct exchange *x, int32_t id, float logprob, int is_top)
{
    struct str text = {0};
    str_printf(out, "\"%d\":{\"logprob\":", (int)id);
    add_logprob(out, logprob);
    str_printf(out, ",\"rank\":%s,\"decoded_token\":", is_top ? "1" : "null");
    add_token(out, x, id, &text);
    str_putc(out, '}');
    str_release(&text);
}

/* Which rank a token has is known of the likeliest alone. */
void serve_add_prompt_logprobs(struct str *out, const struct served *c)
{
    const struct exchange *x = c->of;
    const struct token_list *prompt = &x->prompt[c->prompt];
    const struct token_scores *scores = scores_of_prompt(c);
    str_puts(out, "[null");
    for (size_t i = 1; i < prompt->n; i++) {
        const struct scored_token p = scored_token_at(scores, (int)i - 1, prompt->id[i]);
        int is_top = p.has_top && p.top == p.id;
        str_puts(out, ",{");
        add_by_id(out, x, p.id, p.logprob, is_top);
        if (x->q.want_prompt_tops && !is_top) {
            str_putc(out, ',');
            add_by_id(out, x, p.top, p.top_logprob, 1);
        }
        str_putc(out, '}');
    }
    str_putc(out, ']');
}
