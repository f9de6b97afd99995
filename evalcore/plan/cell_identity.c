/* Job keys (contract: job.h): SHA-256 over canonical JSON, so that equal inputs give equal keys on every
 * machine and whatever the order of options in a run file. */
#include "evalcore/plan/cell_identity.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"

/* The policy's options with file names replaced by what the files hold. */
static int policy_identity(json_t **out, const struct policy_spec *spec, struct err *e)
{
    json_t *o = policy_spec_to_json(spec);
    const struct param *option = param_find(policy_params(spec->ops), "gate");
    const char *gate = option ? *(const char *const *)((const char *)spec->params + option->offset) : NULL;
    *out = o;
    if (!gate || !file_exists(gate))
        return 0;
    struct file_map map;
    int rc = file_map_open(&map, gate, e);
    if (rc) {
        json_decref(o);
        *out = NULL;
        return err_add(e, "gate"), rc;
    }
    char hex[65];
    sha256_hex(map.data, map.size, hex, 64);
    file_map_close(&map);
    json_object_set_new(o, "gate", json_sprintf("sha256:%s", hex));
    return 0;
}

static void hash_json(const json_t *o, char *out, int digits)
{
    struct str text = {0};
    json_canonical(&text, o);
    sha256_hex(str_text(&text), text.len, out, digits);
    str_release(&text);
}

int job_identity(const struct cell_identity *c, char out[JOB_IDENTITY_HEX + 1], struct err *e)
{
    json_t *policy, *stop = json_array(), *o;
    int rc = policy_identity(&policy, c->policy, e);
    if (rc) {
        json_decref(stop);
        return rc;
    }
    for (int i = 0; i < c->settings->n_stop; i++)
        json_array_append_new(stop, json_string(c->settings->stop[i]));
    o = json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:i}", "identity", 1, "weights", c->weights,
                  "numerics", c->numerics, "policy", policy, "settings", settings_identity(c->settings),
                  "stop", stop, "task", c->task, "task_version", c->task_version, "end_token", c->end_token);
    if (c->settings->max_new_tokens != PARAM_UNSET_INT)
        json_object_set_new(o, "max_new_tokens", json_integer(c->settings->max_new_tokens));
    hash_json(o, out, JOB_IDENTITY_HEX);
    json_decref(o);
    return 0;
}

void job_key(const struct job_inputs *in, char out[JOB_KEY_HEX + 1])
{
    json_t *o = json_pack("{s:s, s:s, s:o, s:i, s:o, s:i}", "cell", in->identity, "prompt", in->prompt_sha256,
                          "problem", json_text_of(in->problem), "own_max_new", in->own_max_new, "own_stop",
                          json_text_of(in->own_stop), "sample", in->sample);
    hash_json(o, out, JOB_KEY_HEX);
    json_decref(o);
}

void job_hash_ids(const int32_t *ids, size_t n, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[32], bytes[4];
    struct sha256 h;
    sha256_init(&h);
    for (size_t i = 0; i < n; i++) {
        uint32_t v = (uint32_t)ids[i];
        for (int b = 0; b < 4; b++)
            bytes[b] = (unsigned char)(v >> (8 * b));
        sha256_add(&h, bytes, 4);
    }
    sha256_end(&h, sum);
    for (int i = 0; i < 32; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[64] = 0;
}
