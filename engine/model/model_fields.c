/* Reading fields of config.json. */
#include "engine/model/model_parts.h"

int model_is_given(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return v && !json_is_null(v);
}

int model_get_int(const json_t *o, const char *key, int64_t min, int64_t max, int *out, const char *what,
                  struct err *e)
{
    int64_t v;
    if (json_get_int(o, key, &v, what, e))
        return e->code;
    if (v < min || v > max)
        return err_set(e, ERR_UNSUPPORTED, "%s: \"%s\" is %lld; %lld to %lld is supported", what, key,
                       (long long)v, (long long)min, (long long)max);
    *out = (int)v;
    return 0;
}

int model_opt_int(const json_t *o, const char *key, int64_t min, int64_t max, int *out, const char *what,
                  struct err *e)
{
    return model_is_given(o, key) ? model_get_int(o, key, min, max, out, what, e) : 0;
}
