#ifndef EVALCORE_STORE_JOB_KEY_H
#define EVALCORE_STORE_JOB_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/json.h"

/* A job, which is one completion, is done when a journal holds a record with its key. A key covers everything
 * that the completion's tokens depend on, and nothing else: weights, policy with every effective option,
 * generation settings, task version and numerics class (together the cell's identity); prompt ids, problem,
 * the problem's own limits, and the sample. `samples` is not in it, so asking for more samples later keeps
 * those that are there. */
enum { JOB_KEY_HEX = 32, JOB_IDENTITY_HEX = 64 };

struct job_inputs {
    const char *identity, *prompt_sha256, *problem;
    int own_max_new;      /* the problem's own limit, 0: none */
    const char *own_stop; /* the problem's own stop string, NULL: none */
    int sample;
};
void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1]);

/* SHA-256 over token ids as little-endian 32-bit integers, 64 hex digits. */
void job_hash_ids(const int32_t *ids, size_t n, char out[65]);

/* SHA-256 of the canonical text of `o`, its first `digits` hex digits and a NUL. */
void job_hash_json(const json_t *o, char *out, int digits);

/* Hash table from job keys (32 hex digits) to numbers. Keys are copied. Zeroed is empty. */
struct keymap {
    struct keymap_entry *entry;
    size_t n, cap;
};

/* The number stored for key: `value` when it is new, the old one when it was there. */
long keymap_add(struct keymap *m, const char *key, long value);
long keymap_find(const struct keymap *m, const char *key); /* -1: not there */
void keymap_release(struct keymap *m);

#endif
