#ifndef EVALCORE_PLAN_CELL_IDENTITY_H
#define EVALCORE_PLAN_CELL_IDENTITY_H

#include "engine/policies/policy.h"
#include "evalcore/runfile/settings.h"
#include "evalcore/store/job_key.h"

/* The identity of a cell is the part of a job's key (evalcore/store/job_key.h) that is the same for every
 * problem and sample of the cell. */
struct cell_identity {
    const char *weights, *configuration, *numerics; /* of the engine */
    const struct policy_spec *policy;               /* resolved */
    const struct settings *settings;
    const char *task, *task_version;
    int end_token;     /* of the chat form; -1: none, or one of the model's, which are in the configuration */
    int own_reference; /* 1: of a text, whose reference is not full attention (policy_spec_reference) */
};
/* Writes the identity as 64 hex digits and a NUL. Returns 0, or an error, mostly ERR_IO, when a file that is
 * an option of the policy is there and cannot be read: its contents are hashed, not its path. Of a file that
 * is missing the path is hashed. */
int job_identity(const struct cell_identity *c, char out[JOB_IDENTITY_HEX + 1], struct err *e);

#endif
