#ifndef EVALCORE_ENDPOINT_ANSWER_H
#define EVALCORE_ENDPOINT_ANSWER_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"
#include "evalcore/endpoint/endpoint.h"

#include <stdint.h>

/* The framing of server-sent events, as bytes come in: lines end with LF, CR or both; "data:" lines of one
 * event are joined with LF; an empty line ends the event; comments and other fields say nothing to us. What
 * stands behind the last empty line is no event: the stream broke off in it. A zeroed struct is one that has
 * seen nothing yet. */
struct sse {
    struct str line, data;
    int has_data, after_cr, is_begun;
    size_t max; /* bytes that a line or an event may have; 0: no limit */
};

/* Called for the data of each event, which is valid during the call; a value other than 0 stops the reading
 * and is handed on. */
typedef int sse_fn(void *context, const char *data, size_t n);

enum { SSE_TOO_LONG = -1000 }; /* a line or an event is longer than max */
/* Returns 0 when all n bytes were read, what `event` returned, or SSE_TOO_LONG; after the last two s is only
 * good for sse_release(). */
int sse_take(struct sse *s, const char *bytes, size_t n, sse_fn *event, void *context);
void sse_release(struct sse *s); /* frees all and zeroes s, `max` too */

/* The body of an answer to /completions, read as it comes in: events of a stream, or one JSON object. */
enum answer_state {
    ANSWER_OPEN,
    ANSWER_WHOLE,
    ANSWER_BROKEN, /* not whole: another try may bring it */
    ANSWER_WRONG   /* whole and not what was asked for: another try would bring the same */
};

struct answer {
    /* what was asked for */
    int is_stream, max_tokens;
    const int32_t *prompt; /* n_prompt ids; NULL: the server's count of them is not compared */
    int n_prompt;
    int32_t end_tokens[ENDPOINT_END_TOKENS];
    int n_end_tokens;
    const char *secret; /* not to be repeated in `why`; NULL: none */
    size_t max_text;    /* more bytes cannot be max_tokens tokens */
    int n_scored;       /* of the prompt's last tokens, as in the request; `prompt` is set then */
    const char *const *scored;
    /* what came */
    enum answer_state state;
    struct err why; /* BROKEN, WRONG */
    struct sse sse;
    struct str body, text;
    int32_t *ids;
    int n_ids; /* -1: the server gives none */
    size_t cap_ids;
    int n_pieces; /* pieces of text so far */
    int is_done, has_usage;
    char finish[32]; /* "" before it is said */
    char model[128]; /* what the server calls it; "": not said */
    int64_t prompt_tokens, completion_tokens;
    json_t *usage;   /* where these are from; NULL: not said */
    float *logprobs; /* (n_scored) */
    int32_t *tops;
};

/* What was asked for is set; clears the rest for another try, which is OPEN, and computes max_text. */
void answer_begin(struct answer *a);
/* Returns 0, or -1 when the rest need not be read: the state is BROKEN or WRONG, and `why` is set. */
int answer_take(struct answer *a, const char *bytes, size_t n);
/* The transfer ended well: an OPEN answer becomes WHOLE, BROKEN or WRONG, the last two with `why`. Those that
 * end before the completion does, or say "abort", are BROKEN; those with another finish_reason than
 * "stop" or "length", without counts, with counts that do not fit the request, or with tokens behind an end
 * token are WRONG. ids are then without the end token; n_ids is -1 also when the server gave
 * not all. */
void answer_end(struct answer *a);
void answer_release(struct answer *a); /* frees what came; what was asked for is borrowed */

/* answer_score.c. Takes the log-probabilities of the scored tokens from the answer's choice, once its usage
 * is known. Returns 0, or -1 with the state WRONG and `why` when it has none or not those. */
int answer_scores(struct answer *a, const json_t *choice);

/* Appends what an answer with an error's status says, in one line of at most 200 bytes, control characters as
 * spaces; nothing when it says nothing. A
 * server that repeats what it was sent must not bring the key, `secret`, into a journal. */
void answer_refusal(struct str *out, const char *body, size_t n, const char *secret);
/* Puts as many stars as it has bytes where the text has the secret. NULL or "": there is none. */
void answer_hide(struct str *text, const char *secret);

#endif
