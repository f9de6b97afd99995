/* Whether a model's folder is still the one that a run's records are of (contract: run.h). */
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/store/run.h"

/* What was changed, in words; NULL: nothing. A folder that cannot be read any more is another, too. */
static const char *what_changed(const json_t *model, const char *path, const char *cache_dir, int is_quick,
                                struct arena *a)
{
    const char *weights = json_string_value(json_object_get(model, "weights"));
    const char *configuration = json_string_value(json_object_get(model, "configuration"));
    const char *prompts = json_string_value(json_object_get(model, "prompts"));
    json_int_t context = json_integer_value(json_object_get(model, "max_context"));
    struct engine_options o = {.model = path};
    struct engine_info info;
    struct tokenizer *t = NULL;
    struct chat_own chat = {0};
    struct err e = {0};
    char hex[65] = "", files[65] = "", now[65] = "";
    int rc = engine_describe(&o, &info, &e);
    if (!rc)
        rc = engine_open_tokenizer(path, &t, &e);
    if (!rc)
        rc = engine_configuration(path, t, hex, &e);
    if (!rc && !(rc = engine_open_chat(path, t, &chat, &e)))
        engine_hash_prompts(t, &chat, now);
    chat_own_release(&chat);
    tokenizer_close(t);
    if (!rc && strcmp(hex, configuration) != 0)
        return arena_printf(a,
                            "its config.json, generation_config.json or tokenizer.json says something else "
                            "(configuration %.12s, of the results %.12s)",
                            hex, configuration);
    if (!rc && (!is_quick || engine_identity_is_quick(path, cache_dir)))
        rc = engine_identity(path, cache_dir, files, &e);
    if (rc)
        return arena_printf(a, "it cannot be read any more (%s)", e.text);
    if (!rc && context && info.max_context != context)
        return arena_printf(a, "its context is %d tokens, of the results %lld", info.max_context,
                            (long long)context);
    if (!rc && prompts && strcmp(now, prompts) != 0)
        return "its chat template or tokenizer makes other prompts";
    if (*files && weights && strcmp(files, weights) != 0)
        return arena_printf(a, "its weights are others (%.12s, of the results %.12s)", files, weights);
    return NULL;
}

int run_changed_models(const json_t *config, const char *cache_dir, int is_quick, struct arena *a,
                       const char *const **out)
{
    const json_t *models = json_object_get(config, "models"), *m;
    const char **list = arena_alloc(a, (json_array_size(models) + 1) * sizeof *list);
    size_t i;
    int n = 0;
    json_array_foreach(models, i, m)
    {
        const char *path = json_string_value(json_object_get(m, "path"));
        const char *name = json_string_value(json_object_get(m, "model"));
        const char *configuration = json_string_value(json_object_get(m, "configuration"));
        /* The embedded model is in no folder, nor is that of an endpoint, whose configuration is "". */
        if (!path || !name || !configuration || !*configuration || !file_is_dir(path))
            continue;
        const char *what = what_changed(m, path, cache_dir, is_quick, a);
        if (what)
            list[n++] = arena_printf(a,
                                     "model %s is not the one that these results are of: %s; repeat the "
                                     "sweep, which decodes anew what that changes",
                                     name, what);
    }
    *out = list;
    return n;
}
