/* Framing (contract: wire.h). What arrives is checked before it is believed: lengths first, then the JSON. */
#include "evalcore/process/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "evalcore/base/hash.h"

enum { LENGTH_BYTES = 4, HEAD_BYTES = 8, CHUNK = 64 << 10 };

static void put_4(struct str *s, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        str_putc(s, (char)(x >> 8 * i));
}

static uint32_t get_4(const char *p)
{
    uint32_t x = 0;
    for (int i = 0; i < 4; i++)
        x |= (uint32_t)(unsigned char)p[i] << 8 * i;
    return x;
}

int wire_flush(struct wire *w, struct err *e)
{
    while (w->sent < w->out.len) {
        ssize_t n = send(w->fd, w->out.data + w->sent, w->out.len - w->sent,
                         MSG_NOSIGNAL | (w->never_blocks ? MSG_DONTWAIT : 0));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return WIRE_END;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n < 0)
            return err_set(e, ERR_IO, "a message cannot be sent: %s", err_reason(errno));
        w->sent += (size_t)n;
    }
    w->out.len = w->sent = 0;
    if (w->out.cap > CHUNK) /* one large message does not take its room for good */
        str_release(&w->out);
    return 0;
}

short wire_events(const struct wire *w)
{
    return (short)(POLLIN | (w->sent < w->out.len ? POLLOUT : 0));
}

/* Removes what was sent from what waits, before that grows. */
static void close_gap(struct wire *w)
{
    if (w->sent <= w->out.len / 2)
        return;
    w->out.len -= w->sent;
    memmove(w->out.data, w->out.data + w->sent, w->out.len);
    w->sent = 0;
}

int wire_send(struct wire *w, json_t *message, struct err *e)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    json_decref(message);
    if (!text)
        return err_set(e, ERR_FORMAT, "a message cannot be written as JSON");
    size_t n = strlen(text);
    int rc = n > WIRE_MAX ? err_set(e, ERR_FORMAT, "a message of %zu bytes is too long to send", n) : 0;
    if (!rc) {
        close_gap(w);
        put_4(&w->out, (uint32_t)n);
        put_4(&w->out, crc32c(0, text, n));
        str_add(&w->out, text, n);
    }
    free(text);
    return rc ? rc : wire_flush(w, e);
}

/* The first message of what was received. */
static int cut(struct wire *w, json_t **out, struct err *e)
{
    json_error_t why;
    if (w->in.len < LENGTH_BYTES)
        return WIRE_NOTHING;
    size_t n = get_4(w->in.data);
    if (n > WIRE_MAX)
        return err_set(e, ERR_FORMAT, "a message claims to have %zu bytes", n);
    if (w->in.len < HEAD_BYTES + n)
        return WIRE_NOTHING;
    const char *text = w->in.data + HEAD_BYTES;
    if (crc32c(0, text, n) != get_4(w->in.data + LENGTH_BYTES))
        return err_set(e, ERR_FORMAT, "a message of %zu bytes arrived damaged", n);
    json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    w->in.len -= HEAD_BYTES + n;
    memmove(w->in.data, text + n, w->in.len);
    if (!o)
        return err_set(e, ERR_FORMAT, "a message is not JSON: %s", why.text);
    if (!json_is_object(o)) {
        json_decref(o);
        return err_set(e, ERR_FORMAT, "a message is not a JSON object");
    }
    *out = o;
    return WIRE_MESSAGE;
}

int wire_receive(struct wire *w, int wait, json_t **out, struct err *e)
{
    char chunk[CHUNK];
    for (;;) {
        int rc = cut(w, out, e);
        if (rc != WIRE_NOTHING)
            return rc;
        ssize_t n = recv(w->fd, chunk, sizeof chunk, wait ? 0 : MSG_DONTWAIT);
        if (n > 0)
            str_add(&w->in, chunk, (size_t)n);
        else if (n == 0 || errno == ECONNRESET)
            return WIRE_END;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return WIRE_NOTHING;
        else if (errno != EINTR)
            return err_set(e, ERR_IO, "messages cannot be received: %s", err_reason(errno));
    }
}

void wire_close(struct wire *w)
{
    if (w->fd > 0)
        close(w->fd);
    str_release(&w->in);
    str_release(&w->out);
    *w = (struct wire){0};
}
