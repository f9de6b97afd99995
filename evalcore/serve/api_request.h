#ifndef EVALCORE_SERVE_API_REQUEST_H
#define EVALCORE_SERVE_API_REQUEST_H

#include <stdint.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The body of a request to /v1/completions or /v1/chat/completions, read strictly: a field that would change
 * the answer and cannot be honoured is refused by name. */
enum api_kind { API_COMPLETION, API_CHAT };
enum {
    API_STOPS = 16,
    API_STOP_IDS = 16,
    API_CHOICES = 128,
    API_LISTS = 200000,  /* arrays and objects of a body, up to 250 bytes each */
    API_VALUES = 2000000 /* all values, up to 100 bytes each */
};

struct api_request {
    enum api_kind kind;
    json_t *body;
    struct arena joined; /* the texts of messages in parts */
    const char *model;
    const json_t *prompt;      /* a text, or a list of ids; of several a list of such */
    int n_prompts;             /* of a completion; 1 of a chat */
    const char **turns;        /* of a chat: role, text, role, text, ... up to the last user's */
    size_t n_turns, n_user;    /* n_turns: without the system message and the last one */
    const char *system, *user; /* system NULL: none */
    int thinking;              /* -1: as the template has it; else 0 or 1 */
    int n, top_k, max_tokens,
        min_tokens; /* max_tokens -1: not said; 0: only the prompt is scored or echoed */
    int ignore_eos, is_streamed, want_usage, want_ids, add_special;
    int want_logprobs, want_tops; /* of tokens that are taken; tops: the likeliest one's as well */
    int is_echo;                  /* the prompt stands before the completion, in the lists, too */
    int want_prompt_logprobs, want_prompt_tops; /* in a list of their own, as vLLM has it */
    int want_id_names;                          /* in lists a token is "token_id:5" in place of its text */
    double temperature, top_p;
    int64_t seed;
    const char *stop[API_STOPS];
    int n_stop;
    int32_t stop_ids[API_STOP_IDS];
    int n_stop_ids;
    const char *problem; /* of "kveval": the sampling key of a job is seed, problem and sample; NULL: none */
    int64_t sample;
};

/* Why a request gets no answer, in the form of OpenAI's errors. */
struct api_refusal {
    int status;     /* of HTTP; 0: there is none */
    char param[64]; /* the field; "": none */
    struct err why;
};

/* Sets status, field (NULL: none) and sentence, unless they are set. Returns -1. */
int api_refuse(struct api_refusal *r, int status, const char *param, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Returns 0, or -1 with *r set, which is zeroed before. api_request_release() also after a refusal. What *out
 * points to lives as long as its body. */
int api_request_read(struct api_request *out, enum api_kind kind, const char *body, size_t n,
                     struct api_refusal *r);
/* Frees what only a prompt is made of. `model` and `stop` stay; prompt, turns, system, user and problem go.
 */
void api_request_shrink(struct api_request *q);
void api_request_release(struct api_request *q); /* zeroes it, too */
/* Prompt i of a completion: a text, or a list of ids. */
const json_t *api_request_prompt(const struct api_request *q, int i);

#endif
