#ifndef EVALCORE_PROCESS_WIRE_H
#define EVALCORE_PROCESS_WIRE_H

#include "evalcore/base/json.h"

/* The room of child processes: starting and ending one (worker_process.h), and talking to it.
 *
 * Messages between two processes: JSON objects over a stream socket, each preceded by its length and its
 * CRC-32C (4 bytes each, little-endian). A socket loses nothing; the checksum finds a process whose memory is
 * no longer sound. */
enum { WIRE_MAX = 64 << 20 }; /* bytes of a message */
enum { WIRE_NOTHING = 0, WIRE_MESSAGE = 1, WIRE_END = 2 };

struct wire {
    int fd;
    int never_blocks; /* 1: wire_send() keeps what the socket does not take; 0: it waits until it does */
    struct str in;    /* received and not yet handed out */
    struct str out;   /* to be sent, from byte `sent` on */
    size_t sent;
};

/* Takes over the reference, also on an error. Returns 0, WIRE_END when nobody reads any more, ERR_FORMAT when
 * the message is NULL, not UTF-8 or longer than WIRE_MAX, or ERR_IO when the socket fails. */
int wire_send(struct wire *w, json_t *message, struct err *e);
/* Sends what wire_send() kept, as far as the socket takes it. Returns what wire_send() does. */
int wire_flush(struct wire *w, struct err *e);
/* Returns the events of poll() that concern this wire: a message, and, when something is kept, room for it.
 * wire_flush() and wire_receive() are called after any of them. */
short wire_events(const struct wire *w);

/* Returns WIRE_MESSAGE: *out is a new reference to an object; WIRE_NOTHING: none is complete yet, and `wait`
 * is 0; WIRE_END: the other side is gone and every complete message was handed out; an error: what came is no
 * message (ERR_FORMAT) or the socket failed (ERR_IO), and nothing behind it can be read. `wait` 1: it blocks
 * until one of the others. *out is set for WIRE_MESSAGE alone. */
int wire_receive(struct wire *w, int wait, json_t **out, struct err *e);
/* Closes the socket and frees what was received; harmless when repeated. */
void wire_close(struct wire *w);

#endif
