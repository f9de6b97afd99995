#ifndef EVALCORE_STORE_JOB_KEY_H
#define EVALCORE_STORE_JOB_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/json.h"

/* A job, which is one completion, is done when a journal holds a record with its key. A key covers everything
 * that the completion's tokens and text depend on, and nothing else: weights, the model's configuration as
 * decoding computes it (engine_configuration()), policy with every effective option, generation settings,
 * task version and numerics class (together the cell's identity); prompt ids, problem, the problem's own
 * limits, the context where it ends the completion, and the sample. `samples` is not in it, so asking for
 * more samples later keeps those that are there. */
enum { JOB_KEY_HEX = 32, JOB_IDENTITY_HEX = 64 };

struct job_inputs {
    const char *identity, *prompt_sha256, *problem;
    int own_max_new;      /* the problem's own limit, 0: none */
    const char *own_stop; /* the problem's own stop string, NULL: none */
    int sample;
    int context; /* job_context() */
};
/* Returns the model's context, in tokens, where it ends a completion before the limit that is asked for and
 * max_total_tokens (0: none) do, and else 0: a context that ends nothing changes no result. context 0 is an
 * unknown one. */
static inline int job_context(int asked, int max_total, int context, int prompt_tokens)
{
    int is_least = context > 0 && (max_total <= 0 || context < max_total);
    return is_least && context - prompt_tokens < asked ? context : 0;
}
/* Writes the key as 32 hex digits and a NUL. It cannot fail. */
void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1]);

/* Writes the SHA-256 of n token ids, as little-endian 32-bit integers, as 64 hex digits and a NUL. */
void job_hash_ids(const int32_t *ids, size_t n, char out[65]);

/* Writes the first `digits` hex digits, at most 64, of the SHA-256 of the canonical text of `o`, and a NUL.
 */
void job_hash_json(const json_t *o, char *out, int digits);

/* Hash table from job keys (32 hex digits) to numbers. Keys are copied, of a longer text its first 32 bytes.
 * A zeroed one is empty. */
struct keymap {
    struct keymap_entry *entry;
    size_t n, cap;
};

/* Stores `value` for a key that is not there yet. Returns the number that the key has now: `value`, or the
 * old one, which is kept. */
long keymap_add(struct keymap *m, const char *key, long value);
/* Returns the number of the key, or -1 when it is not there. */
long keymap_find(const struct keymap *m, const char *key);
/* Frees the table; the map is empty then and can be used again. */
void keymap_release(struct keymap *m);

#endif
