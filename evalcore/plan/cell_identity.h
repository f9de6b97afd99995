#ifndef EVALCORE_PLAN_CELL_IDENTITY_H
#define EVALCORE_PLAN_CELL_IDENTITY_H

#include "engine/policies/policy.h"
#include "evalcore/runfile/settings.h"

/* Keys. A job (one completion) is done when a record with its key is in a journal. A key covers everything
 * that the completion's tokens depend on, and nothing that they do not: weights, policy with every effective
 * option, generation settings, task version, numerics class (together the cell's identity); prompt ids,
 * problem, its own limits, sample. `samples` is not in it, so asking for more samples later keeps those that
 * are there. */
enum { JOB_KEY_HEX = 32, JOB_IDENTITY_HEX = 64 };

struct cell_identity {
    const char *weights, *numerics;   /* of the engine */
    const struct policy_spec *policy; /* resolved */
    const struct settings *settings;
    const char *task, *task_version;
    int end_token; /* of the chat form; -1: none */
};
/* Fails when a gate file cannot be read: its contents are hashed, not its path. */
int job_identity(const struct cell_identity *c, char out[JOB_IDENTITY_HEX + 1], struct err *e);

struct job_inputs {
    const char *identity, *prompt_sha256, *problem;
    int own_max_new;      /* the problem's own limit, 0: none */
    const char *own_stop; /* the problem's own stop string, NULL: none */
    int sample;
};
void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1]);

/* SHA-256 over token ids as little-endian 32-bit integers, 64 hex digits. */
void job_hash_ids(const int32_t *ids, size_t n, char out[65]);

#endif
