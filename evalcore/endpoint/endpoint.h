#ifndef EVALCORE_ENDPOINT_ENDPOINT_H
#define EVALCORE_ENDPOINT_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The room of endpoints: completions from a server with OpenAI's HTTP interface (vLLM, SGLang, llama.cpp).
 * The room sweep comes in by this door, and commands. Nothing here knows of plans, tasks or run folders.
 *
 * Requests are under way together, each over a connection of its own, in one thread. One that breaks off, is
 * answered with 429 or 5xx, or is silent for too long is sent again after a wait that doubles from one try to
 * the next and is at least what the server asks for in Retry-After; no chance is in it. An answer counts only
 * when it is whole: it says how it ended and how many tokens it has, and the server has counted as many
 * tokens in the prompt as were sent. */
struct endpoint;

struct endpoint_options {
    const char *url, *name; /* as in the run file */
    const char *key;        /* NULL: none. Sent in a header, never printed or stored */
    int concurrency, timeout, stall, retries;
    double retry_wait;
    int stream;
};
/* Sends nothing yet; the options' texts are copied. Returns 0, or ERR_IO when libcurl cannot be started; *out
 * is set and to be closed also then. */
int endpoint_open(struct endpoint **out, const struct endpoint_options *o, struct err *e);
/* Breaks off what is under way and frees all; NULL is fine. */
void endpoint_close(struct endpoint *p);

/* What the server says of the model at /models. */
struct endpoint_facts {
    char weights[65]; /* hash of the name and of what tells the model's weights, as far as that is said */
    char root[256];   /* where the weights are from, for people; "": not said */
    int max_context;  /* 0: not said */
    /* Of kveval's own server (docs/serve.md), which has policies of its own, draws as a sweep does and counts
     * reads: its numerics class; "": another server. */
    char numerics[128];
};
/* Asks once, before any request is submitted; lasts at most half a minute. Returns 0, also for a server
 * without /models (404, 405): it is then taken on trust, with a warning. ERR_USAGE: the server does not have
 * this model, refuses the key, answers with a redirect, or with no list of models; ERR_IO: it is not there,
 * or answers with another status; ERR_FORMAT: its answer is not JSON. e is not NULL. */
int endpoint_ask(struct endpoint *p, struct endpoint_facts *out, struct err *e);

/* What kveval's own server calls its model under this policy, as policy_spec_to_json() writes it; lives as
 * long as p. NULL: it does not have it, or endpoint_ask() has found another server. */
const char *endpoint_policy_model(const struct endpoint *p, const json_t *policy);

enum { ENDPOINT_END_TOKENS = 8 };
struct endpoint_request {
    const int32_t *prompt; /* ids; given with a text too, since their number is compared */
    int n_prompt;
    const char *text; /* sent instead of them, n_text bytes; NULL: the ids are sent */
    size_t n_text;
    double temperature, top_p;
    int top_k;
    uint32_t seed;
    int max_new_tokens;
    const char *const *stop;
    int n_stop;
    int32_t end_tokens[ENDPOINT_END_TOKENS]; /* ids that end the completion */
    int n_end_tokens;
    /* The log-probabilities of the last n_scored ids of the prompt are asked for; 0: those of none. The
     * answer then comes in one piece. */
    int n_scored;
    const char *const *scored; /* (n_scored) the text of each, by which an echo is recognised */
    int most_tries;            /* 0: as the options say */
    /* Of kveval's own server alone: the model's name with its policy, and the key of the random numbers.
     * NULL: the name of the options, and the seed. */
    const char *model, *problem;
    int key_seed, key_sample;
    void *user;
};

struct endpoint_answer { /* valid until the next endpoint_step */
    void *user;
    const char *error; /* NULL: a whole completion; else why there is none */
    int is_given_up;   /* its tries ran out: what failed may be the server rather than the request */
    int is_cut;        /* it ended at max_new_tokens */
    const char *text;
    size_t n_text;
    const int32_t *ids; /* without the end token; NULL: the server gave none */
    int n_ids;
    int tokens; /* the server's count, which may hold the end token */
    /* (n_scored of the request) tops: the likeliest token at each place, or, where a server tells its text
     * alone, a negative number that is that text's. NULL: none were asked for */
    const float *logprobs;
    const int32_t *tops;
    const json_t *usage; /* the server's counts; NULL: none */
    double seconds;
};

/* Returns how many requests endpoint_submit() takes now: `concurrency` less those pending. */
int endpoint_free(const struct endpoint *p);
/* Only while endpoint_free() is above 0. The request is written down here and sent by endpoint_step();
 * nothing of it need live on. */
void endpoint_submit(struct endpoint *p, const struct endpoint_request *r);
/* Goes on with all of them, waiting at most a tenth of a second. *out: the *n_out (0 or more) that ended,
 * borrowed until the next step; one that failed for good is among them, with its error. Returns 0, or an
 * error, which means that no request will come through any more: ERR_IO (nothing answers in all tries of a
 * request, or the address is not found) or ERR_USAGE (the server refuses the key, redirects, or cannot be
 * talked to under this address); what is done by then is handed out with it, without the request that failed
 * so. e is not NULL. */
int endpoint_step(struct endpoint *p, const struct endpoint_answer **out, int *n_out, struct err *e);
/* Returns how many requests are submitted and not yet handed out: those that wait for a try, too. */
int endpoint_pending(const struct endpoint *p);

struct endpoint_running {
    void *user;
    int tokens; /* pieces of text so far, which are about as many tokens */
};
/* Writes those that the server is at, without those that wait for a try, to `out`, which holds `concurrency`,
 * and returns how many. */
int endpoint_running(const struct endpoint *p, struct endpoint_running *out);

#endif
