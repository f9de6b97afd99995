/* From a request to prompts and limits (contract: serve_parts.h). */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/plan/prompts.h"
#include "evalcore/serve/serve_parts.h"

static int refuse_err(struct exchange *x, const char *param, const struct err *e)
{
    return api_refuse(&x->refusal, 400, param, "%s", e->text);
}

static int chat_prompt(struct exchange *x, int32_t *end)
{
    const struct loaded_model *m = model_of(x);
    const struct api_request *q = &x->q;
    static const char *const modes[] = {"auto", "off", "on"};
    const struct chat *chat = NULL;
    struct chat_words words;
    struct err e = {0};
    int rc = prompts_chat(&chat, m->chat, "auto", &e);
    if (!rc && !chat)
        return api_refuse(&x->refusal, 400, "messages",
                          "the model has no chat template; send a prompt to /v1/completions");
    if (!rc)
        rc = prompts_words_said(&words, chat, q->system, modes[q->thinking + 1], &e);
    if (!rc)
        rc = chat_encode_turns(chat, m->tokenizer, &x->s->scratch, &words, q->turns, q->n_turns, q->user,
                               q->n_user, &x->prompt[0], &e);
    if (rc)
        return refuse_err(x, "messages", &e);
    *end = chat->end ? tokenizer_find(m->tokenizer, chat->end) : -1;
    return 0;
}

static int completion_prompt(struct exchange *x, int i)
{
    const struct tokenizer *t = model_of(x)->tokenizer;
    const json_t *v = api_request_prompt(&x->q, i), *id;
    struct err e = {0};
    size_t k;
    if (!json_is_string(v)) {
        json_array_foreach((json_t *)v, k, id) token_list_add(&x->prompt[i], (int32_t)json_integer_value(id));
        return 0;
    }
    if ((x->q.add_special ? chat_encode_rendered(t, &x->s->scratch, json_string_value(v),
                                                 json_string_length(v), &x->prompt[i], &e)
                          : tokenizer_encode(t, &x->s->scratch, json_string_value(v), json_string_length(v),
                                             1, &x->prompt[i], &e)))
        return refuse_err(x, "prompt", &e);
    return 0;
}

enum { COMPLETION_TOKENS = 16 }; /* OpenAI's default, where a request does not say max_tokens */

static int limit_of(const struct exchange *x, const struct token_list *ids)
{
    int left = model_of(x)->info.max_context - (int)ids->n;
    int usual = x->kind == API_CHAT || left < COMPLETION_TOKENS ? left : COMPLETION_TOKENS;
    return x->q.max_tokens >= 0 ? x->q.max_tokens : usual;
}

static int check_prompt(struct exchange *x, const struct token_list *ids)
{
    const struct engine_info *info = &model_of(x)->info;
    const char *field = x->kind == API_CHAT ? "messages" : "prompt";
    int is_said = x->q.max_tokens >= 0, most = is_said ? x->q.max_tokens : 1;
    most = most || ids->n > 1 ? most : 1; /* a prompt of one token has none to score and is decoded once */
    if (!ids->n)
        return api_refuse(&x->refusal, 400, field, "the prompt has no token");
    for (size_t k = 0; k < ids->n; k++)
        if (ids->id[k] >= info->vocab)
            return api_refuse(&x->refusal, 400, field, "%d is no token of the model, which has %d",
                              (int)ids->id[k], info->vocab);
    if (ids->n + (size_t)most > (size_t)info->max_context)
        return api_refuse(&x->refusal, 400, is_said ? "max_tokens" : field,
                          "%s: a prompt of %zu tokens and %d more do not fit the model's context of %d",
                          is_said ? "max_tokens" : field, ids->n, most, info->max_context);
    if (x->q.min_tokens > limit_of(x, ids))
        return api_refuse(&x->refusal, 400, "min_tokens", "min_tokens is above the limit of %d tokens",
                          limit_of(x, ids));
    return 0;
}

/* The engine knows one end token beside the model's own. */
static int take_end(struct exchange *x, int32_t *end)
{
    const struct engine_info *info = &model_of(x)->info;
    for (int i = 0; i < x->q.n_stop_ids; i++) {
        int32_t id = x->q.stop_ids[i];
        int is_known = id == *end;
        for (int k = 0; k < info->n_ends; k++)
            is_known |= info->ends[k] == id;
        if (is_known)
            continue;
        if (*end >= 0 || id >= info->vocab)
            return api_refuse(&x->refusal, 400, "stop_token_ids",
                              "stop_token_ids: one token can end a completion beside the model's own end "
                              "tokens%s; %d is one "
                              "too many, or no token",
                              x->kind == API_CHAT ? " and the chat template's" : "", (int)id);
        *end = id;
    }
    return 0;
}

/* Random numbers are a function of the seed, the prompt and the number of the answer, or of what a sweep's
 * job has in their place. */
static struct sampling sampling_of(const struct exchange *x, const struct token_list *ids, int sample)
{
    const struct api_request *q = &x->q;
    int vocab = model_of(x)->info.vocab;
    return (struct sampling){.temperature = q->temperature,
                             .top_k = q->top_k < 0 || q->top_k >= vocab ? 0 : q->top_k,
                             .top_p = q->top_p,
                             .seed = (uint64_t)q->seed,
                             .problem = q->problem ? hash_bytes64(q->problem, strlen(q->problem))
                                                   : hash_bytes64(ids->id, ids->n * sizeof *ids->id),
                             .sample = q->problem ? (uint32_t)q->sample : (uint32_t)sample};
}

static int wants_scores(const struct api_request *q)
{
    return q->want_prompt_logprobs || (q->is_echo && q->want_logprobs);
}

/* Of a prompt that is scored all tokens but the first are, in its own pass: as a block, like options
 * (option_jobs.h). With max_tokens 0 the last one follows what is prefilled, and nothing is decoded. Further
 * answers to the prompt have the scores of the first. */
static void score_prompt(const struct api_request *q, int sample, struct request *r)
{
    if (!q->max_tokens) {
        r->n_forced = r->n_prompt > 1;
        r->n_prompt -= r->n_forced;
        r->forced = r->prompt + r->n_prompt;
        r->max_new_tokens = r->ignore_eos = 1;
        r->n_stop = 0;
    }
    if (!wants_scores(q) || sample)
        return;
    r->n_scored = r->n_prompt - 1;
    r->want_logprobs = 1;
}

static void prepare_choice(struct exchange *x, int i, int32_t end)
{
    const struct api_request *q = &x->q;
    struct served *c = &x->choice[i];
    const struct token_list *ids = &x->prompt[i / q->n];
    *c = (struct served){.of = x, .index = i, .prompt = i / q->n, .sample = i % q->n, .place = -1};
    c->request.is_streamed = q->is_streamed;
    c->request.r = (struct request){.prompt = ids->id,
                                    .n_prompt = (int)ids->n,
                                    .sampling = sampling_of(x, ids, c->sample),
                                    .max_new_tokens = limit_of(x, ids),
                                    .min_new_tokens = q->min_tokens,
                                    .ignore_eos = q->ignore_eos,
                                    .stop = q->stop,
                                    .n_stop = q->n_stop,
                                    .end_token = end,
                                    .want_logprobs = q->want_logprobs};
    score_prompt(q, c->sample, &c->request.r);
    c->request.want_tops = c->request.r.want_logprobs && (q->want_tops || q->want_prompt_logprobs);
}

/* The texts of an echo: as the client sent them, and of ids what they spell, special tokens too. */
static void keep_echo(struct exchange *x)
{
    x->echo = xcalloc((size_t)x->q.n_prompts, sizeof *x->echo);
    for (int i = 0; i < x->q.n_prompts; i++) {
        const json_t *v = api_request_prompt(&x->q, i);
        if (json_is_string(v))
            str_add(&x->echo[i], json_string_value(v), json_string_length(v));
        else
            tokenizer_decode_text(model_of(x)->tokenizer, x->prompt[i].id, x->prompt[i].n, 0, &x->echo[i]);
    }
}

static size_t json_bytes(const struct str *text)
{
    size_t n = text->len;
    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->data[i];
        n += c < 0x20 ? 5 : c == '"' || c == '\\'; /* \u0000, \" */
    }
    return n;
}

/* What an answer has of its prompts is known before anything is decoded, and a short request may ask for a
 * lot of it: each answer of `n` has all. */
static int check_echoed(struct exchange *x)
{
    const struct api_request *q = &x->q;
    size_t of_token = (wants_scores(q) ? SCORED_BYTES : 0) + (q->want_ids ? ID_BYTES : 0);
    for (int i = 0; i < q->n_prompts; i++)
        x->n_echoed += (size_t)q->n * (x->prompt[i].n * of_token + (x->echo ? json_bytes(&x->echo[i]) : 0));
    if (x->n_echoed > ANSWER_MAX)
        return api_refuse(&x->refusal, 400, "prompt",
                          "what is asked of the prompts would take about %zu MiB of the answer, and %d are "
                          "possible; divide the request",
                          x->n_echoed >> 20, ANSWER_MAX >> 20);
    return 0;
}

/* Equal requests have equal names. */
static void name_answer(struct exchange *x)
{
    struct str text = {0};
    char hex[33];
    str_printf(&text, "%s %s ", model_of(x)->info.numerics, model_of(x)->info.weights);
    json_canonical(&text, x->q.body);
    sha256_hex(text.data, text.len, hex, 32);
    snprintf(x->id, sizeof x->id, "%s-%s", x->kind == API_CHAT ? "chatcmpl" : "cmpl", hex);
    str_release(&text);
}

int serve_prepare(struct exchange *x)
{
    int32_t end = -1;
    x->prompt = xcalloc((size_t)x->q.n_prompts, sizeof *x->prompt);
    if (!model_of(x)->tokenizer)
        return api_refuse(&x->refusal, 400, NULL, "the model has no tokenizer.json");
    if (x->kind == API_CHAT && chat_prompt(x, &end))
        return -1;
    for (int i = 0; i < x->q.n_prompts; i++)
        if ((x->kind == API_COMPLETION && completion_prompt(x, i)) || check_prompt(x, &x->prompt[i]))
            return -1;
    if (take_end(x, &end))
        return -1;
    if (x->q.is_echo)
        keep_echo(x);
    if (check_echoed(x))
        return -1;
    x->n_choices = x->n_open = x->q.n_prompts * x->q.n;
    x->choice = xcalloc((size_t)x->n_choices, sizeof *x->choice);
    for (int i = 0; i < x->n_choices; i++)
        prepare_choice(x, i, end);
    name_answer(x);
    return 0;
}
