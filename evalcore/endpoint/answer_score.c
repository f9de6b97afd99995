/* Log-probabilities of given tokens in an answer (contract: answer.h): vLLM's prompt_logprobs, by id, or
 * OpenAI's echo. An echo lists tokens by their text, and servers leave some out, so the scored ones are
 * looked for at its end, in front of what was generated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"
#include "evalcore/endpoint/answer.h"

static int wrong_scores(struct answer *a, const char *why)
{
    err_set(&a->why, ERR_FORMAT, "%s", why);
    a->state = ANSWER_WRONG;
    return -1;
}

/* Infinite ones come as null, as a word or as a large number. */
static float logprob_of(const json_t *v)
{
    double x = json_is_number(v) ? json_number_value(v) : -INFINITY;
    return (float)(x < 0 ? x : 0);
}

/* A list of the prompt's tokens: {"id": {"logprob": ..., "rank": ...}, ...} of the token and of the
 * likeliest. */
static int by_id(struct answer *a, const json_t *list)
{
    if (json_array_size(list) != (size_t)a->n_prompt)
        return wrong_scores(a, "\"prompt_logprobs\" has not one entry for each token of the prompt");
    for (int i = 0; i < a->n_scored; i++) {
        int at = a->n_prompt - a->n_scored + i;
        const json_t *o = json_array_get(list, (size_t)at), *v;
        const char *key;
        char id[16];
        double best = -INFINITY;
        snprintf(id, sizeof id, "%d", (int)a->prompt[at]);
        if (!json_is_number(json_object_get(json_object_get(o, id), "logprob")))
            return wrong_scores(a, "\"prompt_logprobs\" lacks a token of the prompt");
        a->logprobs[i] = logprob_of(json_object_get(json_object_get(o, id), "logprob"));
        a->tops[i] = a->prompt[at];
        json_object_foreach((json_t *)o, key, v)
        {
            double x = json_number_value(json_object_get(v, "logprob"));
            if (x > best) {
                best = x;
                a->tops[i] = x > (double)a->logprobs[i] ? (int32_t)strtol(key, NULL, 10) : a->prompt[at];
            }
        }
    }
    return 0;
}

/* A token of the echo is scored token i. vLLM writes "token_id:5" when asked for ids; of a part of a
 * character servers have no text. */
static int is_token(const struct answer *a, int i, const char *text, int *is_known)
{
    char id[32];
    snprintf(id, sizeof id, "token_id:%d", (int)a->prompt[a->n_prompt - a->n_scored + i]);
    struct str valid = {0};
    str_add_utf8(&valid, a->scored[i], strlen(a->scored[i]));
    *is_known = !strncmp(text, "token_id:", 9) || !strcmp(str_text(&valid), a->scored[i]);
    str_release(&valid);
    return !strcmp(text, id) || !strcmp(text, a->scored[i]);
}

/* How many of the scored tokens stand in the echo from `first` on, of those that can be recognised; -1 where
 * the echo has no such place. */
static long matches_at(const struct answer *a, const json_t *tokens, long first, long *n_known)
{
    long n = 0;
    *n_known = 0;
    if (first < 0 || first + a->n_scored > (long)json_array_size(tokens))
        return -1;
    for (int i = 0; i < a->n_scored; i++) {
        const char *text = json_string_value(json_array_get(tokens, (size_t)(first + i)));
        int is_known = 0, is_same = text && is_token(a, i, text, &is_known);
        *n_known += is_known;
        n += is_known && is_same;
    }
    return n;
}

/* Special tokens may come without a text, so not all need be there. */
static int is_place(const struct answer *a, const json_t *tokens, long first)
{
    long n_known, n = matches_at(a, tokens, first, &n_known);
    return n > 0 && 10 * n >= 9 * n_known;
}

static int32_t number_of(const struct answer *a, int i, const char *text)
{
    int is_known;
    if (is_token(a, i, text, &is_known))
        return a->prompt[a->n_prompt - a->n_scored + i];
    if (!strncmp(text, "token_id:", 9))
        return (int32_t)strtol(text + 9, NULL, 10);
    return -2 - (int32_t)(hash_bytes64(text, strlen(text)) & 0x3FFFFFFF);
}

static int by_echo(struct answer *a, const json_t *logprobs)
{
    const json_t *tokens = json_object_get(logprobs, "tokens"),
                 *own = json_object_get(logprobs, "token_logprobs"),
                 *tops = json_object_get(logprobs, "top_logprobs");
    long first = (long)json_array_size(tokens) - a->completion_tokens - a->n_scored;
    if (a->completion_tokens < 1)
        return wrong_scores(a, "the server generated no token behind the echo, so that the places of its "
                               "log-probabilities cannot be told");
    if (!is_place(a, tokens, first))
        return wrong_scores(a, is_place(a, tokens, first + 1)
                                   ? "the echo's log-probabilities are those of the next place (as with "
                                     "llama-cpp-python, where a prompt has no begin of sentence)"
                                   : "the echo does not hold the tokens that were sent");
    for (int i = 0; i < a->n_scored; i++) {
        const json_t *top = json_array_get(tops, (size_t)(first + i)), *v;
        const char *key, *best = json_string_value(json_array_get(tokens, (size_t)(first + i)));
        double most = a->logprobs[i] = logprob_of(json_array_get(own, (size_t)(first + i)));
        if (!json_is_number(json_array_get(own, (size_t)(first + i))) || !json_is_object(top))
            return wrong_scores(a, "the echo lacks log-probabilities");
        json_object_foreach((json_t *)top, key, v)
        {
            if (json_number_value(v) > most + 1e-6) {
                most = json_number_value(v);
                best = key;
            }
        }
        a->tops[i] = number_of(a, i, best ? best : "");
    }
    return 0;
}

int answer_scores(struct answer *a, const json_t *choice)
{
    const json_t *ids = json_object_get(choice, "prompt_logprobs"),
                 *echo = json_object_get(choice, "logprobs");
    free(a->logprobs);
    free(a->tops);
    a->logprobs = xcalloc((size_t)a->n_scored, sizeof *a->logprobs);
    a->tops = xcalloc((size_t)a->n_scored, sizeof *a->tops);
    if (json_is_array(ids))
        return by_id(a, ids);
    if (json_array_size(json_object_get(echo, "tokens")))
        return by_echo(a, echo);
    return wrong_scores(a, "the server gives no log-probabilities of a prompt: its answer has neither "
                           "\"prompt_logprobs\" nor an echo with \"logprobs\"");
}
