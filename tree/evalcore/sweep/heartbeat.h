#ifndef EVALCORE_SWEEP_HEARTBEAT_H
#define EVALCORE_SWEEP_HEARTBEAT_H

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

/* The wire stays the caller's and lives until heartbeat_stop(). Returns 0, or ERR_DEVICE when there is no
 * thread: nothing beats then, and the worker would be taken for a stopped one. heartbeat_stop() may follow
 * either. */
int heartbeat_start(struct heartbeat *h, struct wire *wire, struct err *e);
/* wire_send() between two beats; returns what that does, and takes the reference as it does. */
int heartbeat_send(struct heartbeat *h, json_t *message, struct err *e);
/* Ends the thread and waits for it. Once after heartbeat_start(). */
void heartbeat_stop(struct heartbeat *h);

#endif
