/* What a cell's identity is made of (contract: cell_identity.h). Files are known by what they hold, not by
 * where they lie. */
#include "evalcore/plan/cell_identity.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"

/* Replaces a file's name in o[key] by a digest of what the file holds. A file that is not there leaves its
 * name: whoever needs it says so later. */
static int hash_file(json_t *o, const char *key, const char *path, struct err *e)
{
    struct file_map map;
    char hex[65];
    if (!file_exists(path))
        return 0;
    int rc = file_map_open(&map, path, e);
    if (rc)
        return err_add(e, "%s", key), rc;
    sha256_hex(map.data, map.size, hex, 64);
    file_map_close(&map);
    json_object_set_new(o, key, json_sprintf("sha256:%s", hex));
    return 0;
}

/* The policy's options with file names replaced by what the files hold. */
static int policy_identity(json_t **out, const struct policy_spec *spec, struct err *e)
{
    json_t *o = policy_spec_to_json(spec);
    int rc = 0;
    for (const struct param *p = policy_params(spec->ops); p && p->name && !rc; p++)
        if (p->type == PARAM_FILE && param_is_set(p, spec->params))
            rc = hash_file(o, p->name, *(const char *const *)((const char *)spec->params + p->offset), e);
    size_t n;
    const void *data = policy_data(spec, &n);
    if (data) {
        char hex[65];
        sha256_hex(data, n, hex, 64);
        json_object_set_new(o, "data", json_sprintf("sha256:%s", hex));
    }
    if (rc) {
        json_decref(o);
        o = NULL;
    }
    *out = o;
    return rc;
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
    o = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:i}", "identity", 2, "weights", c->weights,
                  "configuration", c->configuration, "numerics", c->numerics, "policy", policy, "settings",
                  settings_identity(c->settings), "stop", stop, "task", c->task, "task_version",
                  c->task_version, "end_token", c->end_token);
    if (c->settings->max_new_tokens != PARAM_UNSET_INT)
        json_object_set_new(o, "max_new_tokens", json_integer(c->settings->max_new_tokens));
    if (c->own_reference) /* absent otherwise, so that identities from before stay */
        json_object_set_new(o, "reference", json_string("own"));
    job_hash_json(o, out, JOB_IDENTITY_HEX);
    json_decref(o);
    return 0;
}
