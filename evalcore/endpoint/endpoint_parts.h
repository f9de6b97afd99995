#ifndef EVALCORE_ENDPOINT_ENDPOINT_PARTS_H
#define EVALCORE_ENDPOINT_ENDPOINT_PARTS_H

#include "evalcore/endpoint/answer.h"
#include "evalcore/endpoint/endpoint.h"
#include "evalcore/net/http.h"

/* Shared by endpoint*.c only. */

enum exchange_state { EXCHANGE_FREE, EXCHANGE_WAITING, EXCHANGE_RUNNING, EXCHANGE_DONE };

struct exchange { /* one request, over all its tries */
    enum exchange_state state;
    CURL *curl;
    void *user;
    struct str body;
    int32_t *prompt; /* a copy, which the answer is compared with */
    char **scored;   /* (n_scored of the answer) copies in one piece of memory */
    int retries;
    struct answer answer;
    struct str refused; /* the beginning of the body of an answer that is an error */
    int tries, spared;  /* spared: of the tries, those that do not count */
    double due;         /* WAITING: when the next try begins */
    double started;     /* the try that runs */
    long good_then;     /* completions that had come through when its last try ended */
    struct err why;     /* DONE: why there is no completion; or why the last try failed */
    int is_given_up;
    double seconds;
};

struct endpoint {
    struct endpoint_options o;
    char *url, *name, *key;
    CURLM *multi;
    struct curl_slist *headers;
    struct exchange *exchange; /* (o.concurrency) */
    json_t *models;            /* the list of kveval's own server; NULL: another one */
    struct endpoint_answer *out;
    long good;          /* completions that came through */
    int has_other_name; /* answers name another model, and it was said */
};

/* Sets a handle up with what every request has in common. `path` follows the address; stall_s as for
 * http_setup(). */
void endpoint_setup(const struct endpoint *p, CURL *c, const char *path, int stall_s);

/* endpoint_verdict.c: what became of a try. */
enum try_verdict {
    TRY_GOOD,
    TRY_AGAIN,
    TRY_AGAIN_ABSENT, /* the same, and the server was not there to answer */
    TRY_AGAIN_BUSY,   /* the same, and it may be at work for others */
    TRY_FAILED,       /* this request will never come through */
    TRY_ALL_FAIL      /* none will */
};
/* Ends the answer of a try whose transfer ended with `code`, and says what became of it. *after: seconds that
 * the server asks to wait, 0 where it does not. why is set unless it is good: ERR_USAGE for a key, address or
 * redirect that has to be corrected, ERR_FORMAT for an answer that is broken or wrong, else ERR_IO. */
enum try_verdict endpoint_verdict(const struct endpoint *p, struct exchange *x, CURLcode code, double *after,
                                  struct err *why);
/* Sets why for a status that is an error, with what the body says, the key hidden: ERR_USAGE for 401, 403 and
 * redirects, else ERR_IO. */
void endpoint_refused(const struct endpoint *p, long status, const char *body, size_t n, struct err *why);

#endif
