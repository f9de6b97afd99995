/* What a cell's identity is made of (contract: cell_identity.h). Files are known by what they hold, not by
 * where they lie. */
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
    job_hash_json(o, out, JOB_IDENTITY_HEX);
    json_decref(o);
    return 0;
}
