#ifndef EVALCORE_SWEEP_WORKER_MESSAGES_H
#define EVALCORE_SWEEP_WORKER_MESSAGES_H

#include "evalcore/plan/runplan.h"
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/replay.h"
#include "evalcore/process/wire.h"

/* The messages between the coordinator of a sweep and its workers; "type" names the message. A worker is
 * started with the sweep's own options and makes the same plan from them. Jobs are named by their keys, so
 * that a plan that differs is noticed at once.
 *
 *   coordinator   job {key}, stop {}
 *                 replay {key, cell, problem, ids, every}         a job that is in no plan: decode these ids
 *                 request {key, cell, prompt, ...}               the same of a request from outside
 *                 cancel {key}                                   end such a request
 *                 drain {}                                       finish what is decoded, drop the rest
 *   worker        alive {turn}                                   every second, from a thread of its own
 *                 hello {device, models: [{weights, configuration, numerics}]}   once, when everything is
 * loaded want {jobs}                                     it has room for so many more done {key, finish, ids,
 * text, ...}              a completion; of a replay with {replay} progress {tokens, steps, ..., running}
 * decoded so far, now and then error {code, text}                              the last one: it gives up
 *
 * The functions that make a message return a new reference, or NULL for what JSON cannot hold, such as a text
 * that is not UTF-8. Those that read one return 0, or ERR_FORMAT when a field is missing, has a wrong value
 * or is one too many; what they fill in has no meaning then. The texts that they fill in live as long as the
 * message. The caller has looked at message_type(): they do not compare it. */
enum { WORKER_WANT_MAX = 1024 };

const char *message_type(const json_t *m); /* lives as long as m; "" when it has none */

json_t *message_job(const char *key);
int message_read_job(const json_t *m, const char **key, struct err *e);
/* j: a job whose `replay` is set. cell: the id of its cell. */
json_t *message_replay(const struct job *j, const char *cell);
/* Fills in j's key and problem, and *replay, zeroed before, whose ids are the caller's to free, also after an
 * error; j->replay is the caller's to set. */
int message_read_replay(const json_t *m, struct job *j, struct replay_tokens *replay, const char **cell,
                        struct err *e);
/* The key stands for this request until it is done, and may then be used for another one. The tokens that it
 * forces must stand in memory right behind those of its prompt. */
json_t *message_request(const struct job *j, const char *cell);
/* What a request is made of; request_release() frees it. */
struct owned_request {
    struct job_request q;
    int32_t *prompt;
    char **stop;
};
/* Fills in *out, whose texts and tokens are its own, also after an error. */
int message_read_request(const json_t *m, const char **key, const char **cell, struct owned_request *out,
                         struct err *e);
void request_release(struct owned_request *q); /* zeroes it, too */
json_t *message_cancel(const char *key);
/* New tokens of a request that streams. */
json_t *message_tokens(const char *key, const struct decoder_tokens *t);
/* What *t points to is the caller's, who calls decoder_tokens_release(), also after an error. */
int message_read_tokens(const json_t *m, const char **key, struct decoder_tokens *t, struct err *e);
void decoder_tokens_release(struct decoder_tokens *t);
json_t *message_stop(void);
json_t *message_drain(void);
/* turn: how often the worker's loop has gone round. */
json_t *message_alive(int64_t turn);
int message_read_alive(const json_t *m, json_int_t *turn, struct err *e);

/* A hello has the facts of each loaded model of the worker's plan; n_loaded of them must be there. */
json_t *message_hello(const struct runplan *p);
int message_read_hello(const json_t *m, struct model_facts *facts, int n_loaded, struct err *e);
/* jobs: from 1 to WORKER_WANT_MAX. */
json_t *message_want(int jobs);
int message_read_want(const json_t *m, int *jobs, struct err *e);
/* The sums, and who is running: pairs of a key and tokens so far, one after the other in one list. */
json_t *message_progress(const struct decoder_figures *d, const struct runplan *p);
struct worker_progress {
    double tokens, steps, decode_seconds, prompt_seconds;
    int places;            /* sequences that it decodes together */
    const json_t *running; /* part of the message */
};
int message_read_progress(const json_t *m, struct worker_progress *out, struct err *e);
/* Reads pair i of `running`. Returns 0, or ERR_FORMAT, also when there is no such pair. */
int message_read_running(const struct worker_progress *p, size_t i, const char **key, int *tokens,
                         struct err *e);
/* message_read_error() sets *error, unless it holds an error already, and e only when the message is
 * malformed. */
json_t *message_error(const struct err *error);
int message_read_error(const json_t *m, struct err *error, struct err *e);

/* A completion with its curve of reads, its log-probabilities and likeliest tokens where it has them, and
 * what a replay saw. */
json_t *message_done(const char *key, const struct decoded_job *d);
/* Fills *c anew. c->ids, c->logprobs, c->tops, c->top_logprobs and c->curve (curve_json_release()) are the
 * caller's to free, also after an error. */
int message_read_done(const json_t *m, const char **key, struct completion *c, struct err *e);
/* What a done message of a replay has beside that: c's logprobs, gaps and tops, bit for bit, and what layers
 * read; the caller's to free, also after an error. */
int message_read_replayed(const json_t *m, struct completion *c, struct decoder_replay *r, struct err *e);

#endif
