#ifndef EVALCORE_SERVE_SERVE_PARTS_H
#define EVALCORE_SERVE_SERVE_PARTS_H

#include <microhttpd.h>

#include "evalcore/serve/api_request.h"
#include "evalcore/serve/piece_text.h"
#include "evalcore/serve/serve.h"
#include "evalcore/sweep/decoder_process.h"
#include "evalcore/sweep/restart_rules.h"

/* Shared by the files of this room: serve.c (the loop), serve_http.c (connections), serve_exchange.c (what a
 * request owns), serve_prompt.c (from a request to tokens), serve_queue.c (completions and the decoder),
 * serve_workers.c (which worker gets which), serve_answer.c (what is sent), serve_scores.c (log-probabilities
 * in it), serve_models.c (names and policies) and serve_metrics.c. */

enum {
    BODY_MAX = 16 << 20,    /* bytes of a request */
    BODIES_MAX = 256 << 20, /* of all requests that are coming in, and what is kept of them */
    REPLIES_MAX =
        128 << 20, /* bytes of answers that their clients have not read: then nothing new is taken */
    PROMPT_TOKENS_MAX = 16 << 20, /* of all that wait or are decoded */
    ANSWER_MAX = 32 << 20,        /* bytes of an answer that its prompts take: one thread writes it */
    SCORED_BYTES = 250,           /* of an answer for each token that is scored */
    ID_BYTES = 8,                 /* and for each that is named by its id */
    IGNORED_MAX = 64 << 20,       /* bytes that are read behind a refusal, so that it can be answered */
    CONNECTIONS_MAX = 2048,
    CONNECTION_BYTES = 32 << 10, /* for the headers of a request, and as a buffer */
    REQUEST_SECONDS = 60,    /* until a request has to be there, from the connection or the last answer on */
    ANSWER_SECONDS = 120,    /* that a client may leave what is sent unread */
    CLOSE_SECONDS = 2,       /* to answer what is open in the end */
    RETRY_SECONDS_LATER = 1, /* Retry-After */
    PINNED_TOKENS = 32       /* of the completion that a restarted worker must decode to the same tokens */
};

/* Why a request has to wait, with %zu MiB. */
#define UNREAD                                                                                               \
    "clients have not read %zu MiB of answers, and this one does not fit beside them; try again later"

struct exchange;

/* Log-probabilities of tokens that follow each other, and the likeliest token at each place and its own. */
struct token_scores {
    float *logprob;
    int32_t *top;       /* NULL: not asked for */
    float *top_logprob; /* as many */
    int n;
    size_t cap, cap_top, cap_top_logprob;
};

/* One completion of a request. */
struct served {
    struct exchange *of;
    int index, prompt, sample;
    long place; /* of the decoder's jobs; -1: none */
    int is_over;
    struct job_fate fate; /* company above 0: a suspect (restart_rules.h) */
    struct job_request request;
    int32_t *ids;
    int n_ids;
    int has_end; /* the lists of its echo go on with the end token, which stands behind `ids` */
    size_t cap_ids;
    struct token_scores scores;        /* of the first tokens, mostly all; n 0: not asked for */
    struct token_scores prompt_scores; /* of the prompt's tokens but the first; n 0: not asked for */
    struct str text;                   /* when it is over */
    struct completion c;               /* its counts and its end, when it is over; pointers are not valid */
    struct piece_text piece;
    int n_told;       /* tokens that are in `events` */
    size_t text_told; /* bytes of text that are */
    size_t offset;    /* whole characters of the tokens whose logprobs are told */
    struct str cut;   /* and the bytes behind them */
    struct str events;
};

enum { PIN_OPEN, PIN_SENT, PIN_DONE };
enum exchange_state {
    EXCHANGE_READING,
    EXCHANGE_DECODING,
    EXCHANGE_READY,
    EXCHANGE_STREAMING,
    EXCHANGE_SENT
};
/* One request and its answer. */
struct exchange {
    struct server *s;
    struct MHD_Connection *connection; /* NULL: it is over */
    struct link *link;
    enum exchange_state state;
    int is_suspended, is_gone;
    int is_queued; /* its prompts are counted in s->prompt_tokens */
    struct str body;
    size_t n_charged; /* bytes of s->body_bytes that are its own */
    size_t n_unread;  /* bytes of s->reply_bytes that are */
    size_t n_echoed;  /* bytes that its prompts take in its answer, counted as unread from the queue on */
    size_t n_ignored; /* bytes of the body after it was refused */
    enum api_kind kind;
    struct api_request q;
    int policy;                    /* index into plan.cells */
    struct token_list *prompt;     /* (q.n_prompts) */
    struct str *echo;              /* (q.n_prompts), of an echo: the texts of the prompts; else NULL */
    struct served *choice;         /* (n_choices) */
    int n_choices, n_open, n_held; /* open: not over; held: the decoder has them */
    char id[48];
    /* a stream: the choices one after the other, then the tail */
    int at;
    size_t sent;
    struct str head, tail; /* head: what all answers and events begin with */
    struct api_refusal refusal;
    struct str reply; /* when it is ready, and no stream */
};

/* One connection. */
struct link {
    int fd, is_busy; /* busy: a request is there, and its answer is under way */
    int is_left;     /* the client had closed its side when it was looked at last */
    double since;
    struct link *next, **at;
    struct exchange *exchange;
};

struct counters {
    double requests[600]; /* by HTTP status */
    double prompt_tokens, tokens, kv_reads, kv_reads_full, aux_reads, completions, errors, cancelled,
        restarts;
};

struct server {
    const struct serve_options *o;
    const struct process_env *env;
    const char *name, *owner, *key; /* owner: of an id on the Hub, "Qwen/", may stand before the name */
    struct runfile file;
    struct runplan plan;
    struct device_list devices;
    struct decoder decoder;
    struct decoder_figures figures;
    const char **model; /* (plan.n_cells): the names of the policies */
    struct arena arena;
    struct MHD_Daemon *http;
    struct link *links;
    int n_links;
    size_t body_bytes, reply_bytes, prompt_tokens;
    struct served **place; /* (n_places), by job of the decoder; NULL: free */
    int *free_place;       /* (n_free) */
    int n_places, n_free;
    struct served **waiting; /* (n_waiting), first in first out */
    size_t n_waiting, cap_waiting;
    size_t n_suspects;        /* of these */
    int company[DEVICES_MAX]; /* by worker: the most completions that it may hold now; 0: any number */
    struct job_request pin;   /* plan.jobs[n_places + w] of each worker w (decoder.h, pinned) */
    int32_t *pin_prompt, *pin_ids;
    int n_pin_ids; /* 0: no worker has decoded it yet */
    int pin_state[DEVICES_MAX];
    struct tokenizer_scratch scratch;
    int is_draining;
    double started, looked; /* looked: when slow connections were looked for */
    struct counters counted;
};

static inline const struct loaded_model *model_of(const struct exchange *x)
{
    const struct runplan *p = &x->s->plan;
    return &p->loaded[p->cells[x->policy].loaded_model];
}

/* serve_models.c: writes the run file of which workers make the plan, into memory, and *path. */
int serve_run_file(struct server *s, const char **path, struct err *e);
/* Names the plan's policies. */
void serve_name_models(struct server *s);
/* The policy that a model's name picks, as an index into plan.cells, or -1 with the refusal. */
int serve_find_model(const struct server *s, const char *name, struct api_refusal *r);
json_t *serve_model_json(const struct server *s, const char *name, int i);
json_t *serve_models_json(const struct server *s);

/* serve_exchange.c: 1 if there is something to send of x, or its end; else it is suspended until serve_wake()
 * finds something. serve_drop() frees x if neither its connection nor the decoder has it any more. */
void serve_charge(struct exchange *x, size_t n); /* bytes that it holds */
/* What is to be sent of x has grown by so many bytes, or was sent and has gone; serve_drop() counts the rest
 * as gone. */
void serve_hold(struct exchange *x, size_t n);
void serve_let_go(struct exchange *x, size_t n);
int serve_has_something(const struct exchange *x);
void serve_suspend(struct exchange *x);
void serve_wake(struct exchange *x);
void serve_drop(struct exchange *x);
/* Frees what x has of its request and its choices; the decoder must have none of them. */
void serve_release_request(struct exchange *x);

/* serve_prompt.c: fills in x->prompt and the choices with their requests. -1: refused. */
int serve_prepare(struct exchange *x);

/* serve_queue.c */
struct decoder_user serve_user(struct server *s);
/* Puts the choices of x into the queue. -1: there is no room, and x->refusal says so. */
int serve_enqueue(struct exchange *x);
/* Nobody wants the answer any more. */
void serve_abandon(struct exchange *x);
/* What x still waits for does not come: it is answered with 503, or its stream ends with that error. Only
 * when the decoder is not polled again. */
void serve_give_up(struct exchange *x);
/* After the decoder was closed and all connections: frees what it had not ended. */
void serve_forget_places(struct server *s);

/* serve_scores.c: makes s those of n tokens from number `from` on, which may be there already; tops and
 * top_logprobs may be NULL. */
void token_scores_put(struct token_scores *s, int from, int n, const float *logprobs, const int32_t *tops,
                      const float *top_logprobs);
void token_scores_release(struct token_scores *s);
/* Appends a JSON value: the member "logprobs" of a choice with the tokens from..to of its completion and,
 * with is_whole, in front of them those of an echo. A stream tells its tokens one after the other. */
void serve_add_logprobs(struct str *out, struct served *c, int from, int to, int is_whole);
/* The same of the member "prompt_logprobs". */
void serve_add_prompt_logprobs(struct str *out, const struct served *c);
/* Appends a value as compact JSON and drops the reference. */
void serve_add_json(struct str *out, json_t *v);

/* serve_workers.c: hands waiting choices to the workers that have room. */
void serve_submit(struct server *s, struct err *e);
/* Worker w died while it had c, which waits no more: returns 1 when it waits again, or 0 when the request is
 * to blame. */
int serve_lost(struct server *s, int w, struct served *c);
/* The pinned requests: makes them, behind the places; one was decoded by worker w, or lost. ERR_DEVICE: to
 * other tokens than another worker's. */
void serve_make_pins(struct server *s);
int serve_pin_done(struct server *s, int w, const struct completion *c, struct err *e);
void serve_pin_lost(struct server *s, int w);
void serve_release_pins(struct server *s);

/* serve_answer.c */
void serve_error_json(struct str *out, const struct api_refusal *r);
/* Adds to a choice's events what its tokens so far make certain, and, when it is over, its end. */
void serve_tell(struct served *c);
/* All choices are over: the answer in one piece, or the tail of a stream. */
void serve_conclude(struct exchange *x);

/* serve_metrics.c */
void serve_metrics(struct server *s, struct str *out);

/* serve_http.c */
int serve_listen(struct server *s, struct err *e);
int serve_descriptor(const struct server *s);
/* Goes on with all connections, closes those that are too slow, and notices clients that went away. Returns 1
 * if there is more to do at once. */
int serve_turn(struct server *s);
void serve_close(struct server *s);

#endif
