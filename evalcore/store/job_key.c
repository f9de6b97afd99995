/* Job keys (contract: job_key.h): SHA-256 over canonical JSON, so that equal inputs give equal keys on every
 * machine and whatever the order of options in a run file. */
#include "evalcore/store/job_key.h"

#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

void job_hash_json(const json_t *o, char *out, int digits)
{
    struct str text = {0};
    json_canonical(&text, o);
    sha256_hex(str_text(&text), text.len, out, digits);
    str_release(&text);
}

void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1])
{
    json_t *o = json_pack("{s:s, s:s, s:o, s:i, s:o, s:i}", "cell", in->identity, "prompt", in->prompt_sha256,
                          "problem", json_text_of(in->problem), "own_max_new", in->own_max_new, "own_stop",
                          json_text_of(in->own_stop), "sample", in->sample);
    job_hash_json(o, out, JOB_KEY_HEX);
    json_decref(o);
}

void job_hash_ids(const int32_t *ids, size_t n, char out[65])
{
    unsigned char *bytes = xmalloc(4 * n + 1);
    for (size_t i = 0; i < n; i++)
        for (int b = 0; b < 4; b++)
            bytes[4 * i + (size_t)b] = (unsigned char)((uint32_t)ids[i] >> (8 * b));
    sha256_hex(bytes, 4 * n, out, 64);
    free(bytes);
}
