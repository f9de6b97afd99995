#ifndef EVALCORE_NET_HTTP_H
#define EVALCORE_NET_HTTP_H

#include <curl/curl.h>

/* The room of HTTP: what requests of `kveval fetch` and to endpoints have in common. */

/* Resets the handle and sets it up for a request to url: its protocol (https is never left for http), limits
 * on connecting, keep-alive, the program's name. token: sent as a bearer token, NULL: none. stall_s: a
 * transfer without a byte for that long fails; 0: no limit. Strings are copied. Cannot fail. */
void http_setup(CURL *c, const char *url, const char *token, int stall_s);

/* Why a transfer failed with this code: libcurl's words, or, where no socket can be opened any more, the
 * limit that it does not tell of. *kind: ERR_DISK for that, else as it was. Borrowed. */
const char *http_reason(CURLcode code, int *kind);

enum { HTTP_WAIT_MAX_SECONDS = 300 };
/* Back-off: returns the seconds before the next try after n_tries failed ones. first_s, doubled from try to
 * try, and at least asked_s, which the server's Retry-After says (0: nothing); either at most
 * HTTP_WAIT_MAX_SECONDS. */
double http_backoff(double first_s, int n_tries, double asked_s);

#endif
