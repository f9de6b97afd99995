#ifndef EVALCORE_ENDPOINT_SSE_H
#define EVALCORE_ENDPOINT_SSE_H

#include "evalcore/base/str.h"

/* The framing of server-sent events, as bytes come in: lines end with LF, CR or both; "data:" lines of one
 * event are joined with LF; an empty line ends the event; comments and other fields say nothing to us. What
 * stands behind the last empty line is no event: the stream broke off in it. A zeroed struct is one that has
 * seen nothing yet. */
struct sse {
    struct str line, data;
    int has_data, after_cr, is_begun;
    size_t max; /* bytes that a line or an event may have; 0: no limit */
};

/* Called for the data of each event; a value other than 0 stops the reading and is handed on. */
typedef int sse_fn(void *context, const char *data, size_t n);

enum { SSE_TOO_LONG = -1000 }; /* a line or an event is longer than max */
int sse_take(struct sse *s, const char *bytes, size_t n, sse_fn *event, void *context);
void sse_release(struct sse *s);

#endif
