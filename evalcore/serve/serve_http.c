/* Connections (contract: serve_parts.h). libmicrohttpd reads and writes in the one thread of this program:
 * its epoll descriptor wakes the loop, which then lets it run. A connection whose answer is not there is
 * suspended, and whether its client is still there is looked at here, since libmicrohttpd does not. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/serve/serve_parts.h"

/* ---- answers */

/* Sends r, which may be NULL for want of memory, and drops it. */
static enum MHD_Result send_response(struct exchange *x, int status, const char *type, struct MHD_Response *r)
{
    char later[16];
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    snprintf(later, sizeof later, "%d", RETRY_SECONDS_LATER);
    if (status == 429 || status == 503)
        MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, later);
    if (status == 401)
        MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    enum MHD_Result rc = MHD_queue_response(x->connection, (unsigned)status, r);
    MHD_destroy_response(r);
    x->s->counted.requests[status] += rc == MHD_YES;
    x->state = x->state < EXCHANGE_DECODING ? x->state : EXCHANGE_SENT;
    return rc;
}

static enum MHD_Result send_text(struct exchange *x, int status, const char *type, const char *text, size_t n)
{
    return send_response(x, status, type,
                         MHD_create_response_from_buffer(n, (void *)text, MHD_RESPMEM_MUST_COPY));
}

/* An answer may have a hundred MiB: libmicrohttpd gets it without a copy. */
static enum MHD_Result send_reply(struct exchange *x)
{
    struct str own = x->reply;
    struct MHD_Response *r = MHD_create_response_from_buffer(own.len, own.data, MHD_RESPMEM_MUST_FREE);
    if (r)
        x->reply = (struct str){0};
    return send_response(x, 200, "application/json", r);
}

static enum MHD_Result send_json(struct exchange *x, json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT);
    enum MHD_Result rc = send_text(x, 200, "application/json", text, strlen(text));
    free(text);
    json_decref(o);
    return rc;
}

static enum MHD_Result send_refusal(struct exchange *x)
{
    struct str text = {0};
    serve_error_json(&text, &x->refusal);
    enum MHD_Result rc = send_text(x, x->refusal.status, "application/json", text.data, text.len);
    str_release(&text);
    return rc;
}

static ssize_t copy_out(struct exchange *x, struct str *from, char *to, size_t most)
{
    size_t n = from->len - x->sent < most ? from->len - x->sent : most;
    memcpy(to, from->data + x->sent, n);
    x->sent += n;
    if (x->sent == from->len) {
        serve_let_go(x, from->len);
        str_release(from);
        x->sent = 0;
    }
    return (ssize_t)n;
}

/* What comes next of a stream: the choices one after the other, whatever their tokens came in. */
static ssize_t read_stream(void *context, uint64_t at, char *to, size_t most)
{
    struct exchange *x = context;
    (void)at;
    if (x->is_gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    for (; x->at < x->n_choices; x->at++) {
        struct served *c = &x->choice[x->at];
        if (c->events.len > x->sent)
            return copy_out(x, &c->events, to, most);
        if (!c->is_over) {
            serve_suspend(x);
            return 0;
        }
    }
    if (x->tail.len > x->sent)
        return copy_out(x, &x->tail, to, most);
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static enum MHD_Result send_stream(struct exchange *x)
{
    struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_stream, x, NULL);
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    x->state = EXCHANGE_STREAMING;
    enum MHD_Result rc = MHD_queue_response(x->connection, 200, r);
    MHD_destroy_response(r);
    x->s->counted.requests[200] += rc == MHD_YES;
    return rc;
}

/* ---- requests */

/* No shorter for a key that is nearly right. */
static int is_key(const char *given, const char *key)
{
    size_t n = strlen(key), m = strlen(given);
    unsigned differ = n != m;
    for (size_t i = 0; i < m; i++)
        differ |= (unsigned)(given[i] ^ key[n ? i % n : 0]);
    return !differ;
}

static int check_access(struct exchange *x, const char *url)
{
    const struct server *s = x->s;
    const char *given =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (!s->key || strncmp(url, "/v1/", 4) != 0)
        return 0;
    if (given && !strncasecmp(given, "Bearer ", 7) && is_key(given + 7, s->key))
        return 0;
    return api_refuse(&x->refusal, 401, NULL, "the API key is missing or wrong");
}

static enum MHD_Result send_get(struct exchange *x, const char *url)
{
    struct server *s = x->s;
    static const char models[] = "/v1/models/";
    if (!strcmp(url, "/health"))
        return s->is_draining ? send_text(x, 503, "text/plain", "draining\n", 9)
                              : send_text(x, 200, "text/plain", "ok\n", 3);
    if (!strcmp(url, "/metrics")) {
        struct str text = {0};
        serve_metrics(s, &text);
        enum MHD_Result rc = send_text(x, 200, "text/plain; version=0.0.4", text.data, text.len);
        str_release(&text);
        return rc;
    }
    if (!strcmp(url, "/v1/models"))
        return send_json(x, serve_models_json(s));
    const char *name = url + sizeof models - 1;
    int i = serve_find_model(s, name, &x->refusal);
    return i < 0 ? send_refusal(x) : send_json(x, serve_model_json(s, name, i));
}

static int is_get(const char *url)
{
    return !strcmp(url, "/health") || !strcmp(url, "/metrics") || !strcmp(url, "/v1/models") ||
           !strncmp(url, "/v1/models/", 11);
}

#define TOO_LARGE "a request may have %d MiB"

/* With the headers: what needs no body is answered, or refused before it is sent. */
static enum MHD_Result begin_exchange(struct exchange *x, const char *url, const char *method)
{
    const char *length =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    int is_chat = !strcmp(url, "/v1/chat/completions"), is_post = is_chat || !strcmp(url, "/v1/completions");
    x->kind = is_chat ? API_CHAT : API_COMPLETION;
    if (check_access(x, url))
        return send_refusal(x);
    if (is_get(url) && (!strcmp(method, "GET") || !strcmp(method, "HEAD")))
        return send_get(x, url);
    if (!is_get(url) && !is_post)
        api_refuse(&x->refusal, 404, NULL, "there is no %.100s here; docs/serve.md lists what there is", url);
    else if (!is_post || strcmp(method, "POST") != 0)
        api_refuse(&x->refusal, 405, NULL, "method %.20s is not allowed for %.100s", method, url);
    else if (length && (strlen(length) > 12 || strtoll(length, NULL, 10) > BODY_MAX))
        api_refuse(&x->refusal, 413, NULL, TOO_LARGE, BODY_MAX >> 20);
    else if (x->s->is_draining)
        api_refuse(&x->refusal, 503, NULL, "the server is about to end");
    else if (x->s->reply_bytes > REPLIES_MAX)
        api_refuse(&x->refusal, 429, NULL, UNREAD, x->s->reply_bytes >> 20);
    return x->refusal.status ? send_refusal(x) : MHD_YES;
}

static void drop_body(struct exchange *x)
{
    serve_charge(x, 0);
    str_release(&x->body);
}

/* What is too much is read and thrown away, up to a point: an answer can come only behind the request. */
static enum MHD_Result take_body(struct exchange *x, const char *data, size_t n)
{
    if (x->body.len + n > BODY_MAX)
        api_refuse(&x->refusal, 413, NULL, TOO_LARGE, BODY_MAX >> 20);
    else if (x->s->body_bytes + n > BODIES_MAX)
        api_refuse(&x->refusal, 429, NULL, "too many large requests at once; try again later");
    if (x->refusal.status) {
        drop_body(x);
        x->n_ignored += n;
        return x->n_ignored > IGNORED_MAX ? MHD_NO : MHD_YES;
    }
    str_add(&x->body, data, n);
    serve_charge(x, x->body.len);
    return MHD_YES;
}

/* What the answer needs of the request, and the charge for it. */
static void keep_little(struct exchange *x)
{
    api_request_shrink(&x->q);
    size_t n = strlen(x->q.model);
    for (int i = 0; i < x->q.n_stop; i++)
        n += strlen(x->q.stop[i]);
    for (int i = 0; i < x->q.n_prompts && x->echo; i++)
        n += x->echo[i].len;
    serve_charge(x, n);
}

/* The request is there. */
static enum MHD_Result accept_request(struct exchange *x)
{
    x->link->is_busy = 1;
    if (!x->refusal.status)
        api_request_read(&x->q, x->kind, str_text(&x->body), x->body.len, &x->refusal);
    drop_body(x);
    if (!x->refusal.status)
        x->policy = serve_find_model(x->s, x->q.model, &x->refusal);
    if (!x->refusal.status)
        serve_prepare(x);
    if (!x->refusal.status)
        serve_enqueue(x);
    if (x->refusal.status) {
        serve_release_request(x);
        return send_refusal(x);
    }
    keep_little(x);
    serve_suspend(x);
    return MHD_YES;
}

static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data, size_t *n,
                                      void **own)
{
    struct exchange *x = *own;
    (void)version;
    if (!x) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        x = *own = xcalloc(1, sizeof *x);
        x->s = context;
        x->connection = connection;
        x->link = info->socket_context;
        x->link->exchange = x;
        return begin_exchange(x, url, method);
    }
    if (x->is_gone)
        return MHD_NO;
    if (*n) {
        size_t bytes = *n;
        *n = 0;
        return take_body(x, data, bytes);
    }
    if (x->state == EXCHANGE_READING)
        return accept_request(x);
    if (!serve_has_something(x)) {
        serve_suspend(x);
        return MHD_YES;
    }
    if (x->refusal.status && !x->n_open)
        return send_refusal(x);
    if (x->q.is_streamed)
        return send_stream(x);
    return send_reply(x);
}

/* ---- their ends */

static void end_exchange(void *context, struct MHD_Connection *connection, void **own,
                         enum MHD_RequestTerminationCode code)
{
    struct exchange *x = *own;
    (void)context;
    (void)connection;
    (void)code;
    if (!x)
        return;
    *own = NULL;
    x->connection = NULL;
    x->link->exchange = NULL;
    x->link->is_busy = 0;
    x->link->since = clock_seconds();
    serve_abandon(x);
    serve_drop(x);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **own,
                            enum MHD_ConnectionNotificationCode code)
{
    struct server *s = context;
    struct link *l = *own;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        l = *own = xcalloc(1, sizeof *l);
        l->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        l->since = clock_seconds();
        l->next = s->links;
        if (l->next)
            l->next->at = &l->next;
        l->at = &s->links;
        s->links = l;
        s->n_links++;
        return;
    }
    *l->at = l->next;
    if (l->next)
        l->next->at = l->at;
    s->n_links--;
    free(l);
    *own = NULL;
}

/* A client that has closed its side of the connection has gone, and so has what it asked for. */
static void notice_gone(struct server *s)
{
    struct pollfd *fds = xcalloc((size_t)s->n_links + 1, sizeof *fds);
    struct exchange **who = xcalloc((size_t)s->n_links + 1, sizeof *who);
    nfds_t n = 0;
    for (struct link *l = s->links; l; l = l->next)
        if (l->exchange && l->exchange->is_suspended) {
            fds[n] = (struct pollfd){.fd = l->fd, .events = POLLRDHUP};
            who[n++] = l->exchange;
        }
    if (n && poll(fds, n, 0) > 0)
        for (nfds_t i = 0; i < n; i++)
            if (fds[i].revents) {
                serve_abandon(who[i]);
                serve_wake(who[i]);
            }
    free(fds);
    free(who);
}

/* libmicrohttpd counts seconds without a byte, and may miss the end that comes with the last one: what comes
 * a byte at a time, or will never be whole, is ended here. Once a second is often enough. */
static void end_slow(struct server *s)
{
    double now = clock_seconds();
    if (now - s->looked < 1)
        return;
    s->looked = now;
    for (struct link *l = s->links; l; l = l->next) {
        struct pollfd fd = {.fd = l->fd, .events = POLLRDHUP};
        int is_left = !l->is_busy && poll(&fd, 1, 0) > 0 && fd.revents & POLLRDHUP;
        if (!l->is_busy && ((is_left && l->is_left) || now - l->since > REQUEST_SECONDS))
            shutdown(l->fd, SHUT_RDWR);
        l->is_left = is_left;
    }
}

/* libmicrohttpd has something to do that its descriptor does not tell of. */
static int is_pending(const struct server *s)
{
    MHD_UNSIGNED_LONG_LONG wait;
    return MHD_get_timeout(s->http, &wait) == MHD_YES && !wait;
}

/* A run reads one buffer of each connection, so a large body takes many. */
int serve_turn(struct server *s)
{
    enum { RUNS = 64 };
    notice_gone(s);
    end_slow(s);
    int n = 0;
    do
        MHD_run(s->http);
    while (++n < RUNS && is_pending(s));
    return is_pending(s);
}

/* ---- the server */

static int listen_at(const struct serve_options *o, int *port, struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *list = NULL;
    char number[16];
    int fd = -1, on = 1;
    snprintf(number, sizeof number, "%d", o->port);
    int rc = getaddrinfo(o->host, number, &hints, &list);
    if (rc)
        return err_set(e, ERR_USAGE, "--host %s: %s", o->host, gai_strerror(rc)), -1;
    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0)
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (fd >= 0 && (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 511))) {
            err_set(e, ERR_USAGE, "cannot listen on %s, port %d: %s", o->host, o->port, err_reason(errno));
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    if (fd >= 0 && !getsockname(fd, (struct sockaddr *)&own, &size))
        *port = ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                                : ((struct sockaddr_in *)&own)->sin_port);
    if (fd >= 0)
        *e = (struct err){0}; /* one of several addresses is enough */
    else if (!e->code)
        err_set(e, ERR_USAGE, "cannot listen on %s, port %d: %s", o->host, o->port, err_reason(errno));
    return fd;
}

static unsigned raise_files(void)
{
    struct rlimit files;
    enum { OTHERS = 200 }; /* descriptors of workers, files and libraries */
    if (getrlimit(RLIMIT_NOFILE, &files))
        return 512;
    if (files.rlim_cur < CONNECTIONS_MAX + OTHERS && files.rlim_cur < files.rlim_max) {
        files.rlim_cur =
            files.rlim_max < CONNECTIONS_MAX + OTHERS ? files.rlim_max : CONNECTIONS_MAX + OTHERS;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    return files.rlim_cur > CONNECTIONS_MAX + OTHERS ? CONNECTIONS_MAX
           : files.rlim_cur > 2 * OTHERS             ? (unsigned)files.rlim_cur - OTHERS
                                                     : OTHERS;
}

int serve_listen(struct server *s, struct err *e)
{
    int port = s->o->port, fd = listen_at(s->o, &port, e);
    if (fd < 0)
        return e->code;
    s->http = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_SUPPRESS_DATE_NO_CLOCK, 0,
                               NULL, NULL, handle_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
                               MHD_OPTION_NOTIFY_COMPLETED, end_exchange, s, MHD_OPTION_NOTIFY_CONNECTION,
                               note_connection, s, MHD_OPTION_CONNECTION_LIMIT, raise_files(),
                               MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
                               MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)ANSWER_SECONDS, MHD_OPTION_END);
    if (!s->http) {
        close(fd);
        return err_set(e, ERR_DISK, "libmicrohttpd cannot be started");
    }
    int is_v6 = strchr(s->o->host, ':') != NULL;
    log_info("http://%s%s%s:%d/v1 is ready", is_v6 ? "[" : "", s->o->host, is_v6 ? "]" : "", port);
    return 0;
}

int serve_descriptor(const struct server *s)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->http, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : 0;
}

static int is_answering(const struct server *s)
{
    for (const struct link *l = s->links; l; l = l->next)
        if (l->exchange && l->is_busy)
            return 1;
    return 0;
}

/* What is open is answered, if its client reads, and then nothing may be suspended. */
void serve_close(struct server *s)
{
    if (!s->http)
        return;
    double until = clock_seconds() + CLOSE_SECONDS;
    s->is_draining = 1;
    for (struct link *l = s->links; l; l = l->next)
        if (l->exchange && l->exchange->state >= EXCHANGE_DECODING)
            serve_give_up(l->exchange);
        else if (l->exchange)
            l->exchange->is_gone = 1;
    while (is_answering(s) && clock_seconds() < until) {
        struct pollfd fd = {.fd = serve_descriptor(s), .events = POLLIN};
        if (!serve_turn(s))
            poll(&fd, 1, 50);
    }
    for (struct link *l = s->links; l; l = l->next)
        if (l->exchange) {
            serve_abandon(l->exchange);
            serve_wake(l->exchange);
        }
    MHD_run(s->http);
    MHD_stop_daemon(s->http);
    s->http = NULL;
}
