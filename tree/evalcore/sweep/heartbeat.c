/* Signs of life (contract: heartbeat.h). */
#include "evalcore/sweep/heartbeat.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "evalcore/sweep/worker_messages.h"

enum { BEAT_SECONDS = 1 };

static void *send_beats(void *context)
{
    struct heartbeat *h = context;
    int rc = 0;
    pthread_mutex_lock(&h->talk);
    while (!h->is_over && rc != WIRE_END) {
        struct timespec next;
        rc = wire_send(h->wire, message_alive(atomic_load(&h->turn)),
                       NULL); /* a failure is the worker's own to find */
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec += BEAT_SECONDS;
        while (!h->is_over && rc != WIRE_END && !pthread_cond_timedwait(&h->ended, &h->talk, &next))
            ;
    }
    pthread_mutex_unlock(&h->talk);
    return NULL;
}

int heartbeat_start(struct heartbeat *h, struct wire *wire, struct err *e)
{
    pthread_condattr_t attributes;
    memset(h, 0, sizeof *h);
    h->wire = wire;
    pthread_mutex_init(&h->talk, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&h->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    int cause = pthread_create(&h->thread, NULL, send_beats, h);
    h->is_running = !cause;
    return cause ? err_set(e, ERR_DEVICE, "cannot start a thread: %s", err_reason(cause)) : 0;
}

int heartbeat_send(struct heartbeat *h, json_t *message, struct err *e)
{
    pthread_mutex_lock(&h->talk);
    int rc = wire_send(h->wire, message, e);
    pthread_mutex_unlock(&h->talk);
    return rc;
}

void heartbeat_stop(struct heartbeat *h)
{
    pthread_mutex_lock(&h->talk);
    h->is_over = 1;
    pthread_cond_signal(&h->ended);
    pthread_mutex_unlock(&h->talk);
    if (h->is_running)
        pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->ended);
    pthread_mutex_destroy(&h->talk);
}
