/* How long completions may become (contract: run.h): what runplan_limit() and the engine say, from what the
 * folder keeps. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/store/run.h"
#include "evalcore/store/run_records.h"

/* Of several models each has a context of its own. */
static const json_t *config_of(const struct run *r, const struct cell *c)
{
    const json_t *models = json_object_get(r->config, "models");
    for (size_t i = 0; c->weights && i < json_array_size(models); i++) {
        const json_t *m = json_array_get(models, i);
        const char *weights = json_string_value(json_object_get(m, "weights"));
        if (weights && !strcmp(weights, c->weights))
            return m;
    }
    return r->config;
}

int run_load_limits(const struct run *r, struct cell *c, const json_t *settings, const char *where,
                    struct err *e)
{
    int64_t total = 0, context = 0;
    int rc = json_opt_int(settings, "max_total_tokens", &total, where, e);
    if (!rc)
        rc = json_opt_int(config_of(r, c), "max_context", &context, where, e);
    if (!rc && (total < 0 || total > INT32_MAX || context < 0 || context > INT32_MAX))
        rc = err_set(e, ERR_FORMAT, "%s: cell \"%s\" has a limit out of range", where, c->id);
    c->max_total_tokens = (int)total;
    c->max_context = (int)context;
    c->is_limit_set = json_is_integer(json_object_get(settings, "max_new_tokens"));
    return rc;
}

/* The tokens of a text are all given. */
int run_limit_asked(const struct cell *c, int problem)
{
    int own = c->task->problems[problem].own_max_new;
    return own > 0 && (!c->is_limit_set || c->task->is_text) ? own : c->max_new_tokens;
}

int run_limit(const struct cell *c, int problem)
{
    int limit = run_limit_asked(c, problem), total = c->max_context;
    if (c->max_total_tokens > 0 && (!total || c->max_total_tokens < total))
        total = c->max_total_tokens;
    int room = total ? total - c->task->problems[problem].prompt_tokens : limit;
    return limit < room ? limit : room > 0 ? room : 0;
}
