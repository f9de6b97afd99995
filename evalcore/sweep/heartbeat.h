#ifndef EVALCORE_WORKERS_HEARTBEAT_H
#define EVALCORE_WORKERS_HEARTBEAT_H

#include <pthread.h>
#include <stdint.h>

#include "evalcore/process/wire.h"

/* A worker's side of a wire that two threads write: its work, and a thread that says every second that the
 * process is there. A step of decoding or the loading of a model may take minutes in which the worker says
 * nothing else. */
struct heartbeat {
    struct wire *wire;
    pthread_t thread;
    pthread_mutex_t talk; /* whoever sends holds it */
    pthread_cond_t ended;
    int is_running, is_over;
    _Atomic int64_t turn; /* the worker counts its loop's turns here, so that one that hangs is told */
};

/* The wire stays the caller's and lives until heartbeat_stop(). Without a thread (ERR_DEVICE) nothing beats,
 * and the worker would be taken for a stopped one. */
int heartbeat_start(struct heartbeat *h, struct wire *wire, struct err *e);
/* wire_send() between two beats. */
int heartbeat_send(struct heartbeat *h, json_t *message, struct err *e);
void heartbeat_stop(struct heartbeat *h);

#endif
