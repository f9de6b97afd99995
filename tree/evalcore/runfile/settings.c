/* Generation settings (contract: settings.h): one parameter table, and `stop`, the only one that is a list of
 * strings. */
#include "evalcore/runfile/settings.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct settings, member)

static const char *const thinking_words[] = {"auto", "on", "off", NULL}; /* enum chat_thinking */
static const char *const kv_dtypes[] = {"auto", "fp32", "bf16", NULL};

const struct param settings_params[] = {
    {"temperature", PARAM_DOUBLE, AT(temperature), "0", 0, 100, NULL, "0 decodes greedily"},
    {"top_k", PARAM_INT, AT(top_k), "0", 0, 1000000, NULL, "sample from the k likeliest tokens; 0: all"},
    {"top_p", PARAM_DOUBLE, AT(top_p), "1", 1e-6, 1, NULL,
     "sample from the smallest set with this mass; 1: all"},
    {"max_new_tokens", PARAM_INT, AT(max_new_tokens), NULL, 1, 10000000, NULL,
     "longest completion; default: the task's own limit, else 32768"},
    {"min_new_tokens", PARAM_INT, AT(min_new_tokens), "0", 0, 10000000, NULL,
     "end tokens and stop strings do not count before"},
    {"max_total_tokens", PARAM_INT, AT(max_total_tokens), "0", 0, 100000000, NULL,
     "longest prompt + completion; 0: the model's context"},
    {"ignore_eos", PARAM_BOOL, AT(ignore_eos), "false", 0, 0, NULL, "decode past end tokens"},
    {"samples", PARAM_INT, AT(samples), "1", 1, 100000, NULL, "completions of each problem"},
    {"seed", PARAM_INT, AT(seed), "0", 0, 2147483647, NULL, "of the random numbers"},
    {"kv_dtype", PARAM_ENUM, AT(kv_dtype), "auto", 0, 0, kv_dtypes,
     "precision of the cache; auto: fp32 on a CPU"},
    {"chat", PARAM_STRING, AT(chat), "auto", 0, 0, NULL,
     "auto: the model's own chat template; none; or a form's name"},
    {"prefix", PARAM_STRING, AT(prefix), "", 0, 0, NULL, "text before every problem, inside the chat form"},
    {"suffix", PARAM_STRING, AT(suffix), "", 0, 0, NULL, "text after every problem, inside the chat form"},
    {"system", PARAM_STRING, AT(system), NULL, 0, 0, NULL,
     "system message of the chat form; default: the form's own"},
    {"thinking", PARAM_ENUM, AT(thinking), "auto", 0, 0, thinking_words,
     "on or off, where the chat form can switch it; auto: its default"},
    {"prompt", PARAM_STRING, AT(prompt), NULL, 0, 0, NULL, "prompt variant; default: the task's own"},
    {NULL, PARAM_INT, 0, NULL, 0, 0, NULL, NULL},
};

void settings_defaults(struct settings *s)
{
    memset(s, 0, sizeof *s);
    param_defaults(settings_params, s);
}

int settings_known(const char *key)
{
    return !strcmp(key, "stop") || param_find(settings_params, key) != NULL;
}

static int set_stop(struct settings *s, struct arena *a, const json_t *v, const char *where, struct err *e)
{
    json_t *one = NULL;
    int rc = 0;
    if (json_is_string(v)) {
        one = json_pack("[O]", v);
        v = one;
    }
    size_t n = json_array_size(v);
    if (!json_is_array(v) || n > SETTINGS_STOP_MAX)
        rc = err_set(e, ERR_USAGE, "%s: stop must be a string or a list of at most %d strings", where,
                     SETTINGS_STOP_MAX);
    const char **stop = arena_alloc(a, (n + 1) * sizeof *stop);
    for (size_t i = 0; i < n && !rc; i++) {
        const char *text = json_string_value(json_array_get(v, i));
        if (!text || !*text)
            rc = err_set(e, ERR_USAGE, "%s: stop must hold non-empty strings; number %zu is not one", where,
                         i + 1);
        else
            stop[i] = arena_strdup(a, text);
    }
    if (!rc) {
        s->stop = stop;
        s->n_stop = (int)n;
    }
    json_decref(one);
    return rc;
}

int settings_set(struct settings *s, struct arena *a, const char *key, const json_t *v, const char *where,
                 struct err *e)
{
    if (!strcmp(key, "stop"))
        return set_stop(s, a, v, where, e);
    return param_set_json(settings_params, s, a, key, v, where, e);
}

int settings_check(const struct settings *s, const char *where, struct err *e)
{
    if (s->max_new_tokens == PARAM_UNSET_INT || s->min_new_tokens <= s->max_new_tokens)
        return 0;
    return err_set(e, ERR_USAGE, "%s: min_new_tokens (%d) is above max_new_tokens (%d)", where,
                   s->min_new_tokens, s->max_new_tokens);
}

static json_t *stop_json(const struct settings *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->n_stop; i++)
        json_array_append_new(list, json_string(s->stop[i]));
    return list;
}

json_t *settings_json(const struct settings *s)
{
    json_t *o = param_json(settings_params, s);
    json_object_set_new(o, "stop", stop_json(s));
    /* Left out at their defaults, so that folders of runs made before they were there keep their names. */
    if (!s->system)
        json_object_del(o, "system");
    if (!s->thinking)
        json_object_del(o, "thinking");
    return o;
}

/* chat, prefix, suffix, system, thinking and prompt are in the prompt's token ids; kv_dtype in the numerics
 * class; stop and max_new_tokens are hashed per job, because a problem may have its own. */
json_t *settings_identity(const struct settings *s)
{
    static const char *const keys[] = {"temperature",      "top_k",      "top_p", "min_new_tokens",
                                       "max_total_tokens", "ignore_eos", "seed"};
    json_t *all = param_json(settings_params, s), *o = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        json_object_set(o, keys[i], json_object_get(all, keys[i]));
    json_decref(all);
    return o;
}

int settings_max_new(const struct settings *s, int own)
{
    if (s->max_new_tokens != PARAM_UNSET_INT)
        return s->max_new_tokens;
    return own > 0 ? own : SETTINGS_MAX_NEW;
}

int settings_only_limit(const struct settings *s)
{
    return s->ignore_eos && !s->n_stop;
}
