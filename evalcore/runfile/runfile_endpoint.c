/* A model behind an address (contract: runfile.h): its object in the run file, and what cannot be asked of a
 * server. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/runfile/runfile_parts.h"

#define AT(member) offsetof(struct runfile_endpoint, member)
static const char *const prompt_forms[] = {"ids", "text", NULL};

static const struct param endpoint_params[] = {
    {"endpoint", PARAM_STRING, AT(url), NULL, 0, 0, NULL, "address of the server: http://host:port/v1"},
    {"name", PARAM_STRING, AT(name), NULL, 0, 0, NULL, "what the server calls the model"},
    {"tokenizer", PARAM_STRING, AT(tokenizer), NULL, 0, 0, NULL,
     "the model's folder, or its id on the Hub: config.json, tokenizer and chat template, no weights"},
    {"api_key_env", PARAM_STRING, AT(api_key_env), NULL, 0, 0, NULL,
     "environment variable that holds the key; default: none is sent"},
    {"max_context", PARAM_INT, AT(max_context), "0", 0, 100000000, NULL,
     "longest prompt + completion that the server takes; 0: the model's"},
    {"concurrency", PARAM_INT, AT(concurrency), "16", 1, 512, NULL, "requests under way at once"},
    {"timeout", PARAM_INT, AT(timeout), "3600", 1, 604800, NULL, "seconds that a request may take"},
    {"stall", PARAM_INT, AT(stall), "300", 1, 604800, NULL, "seconds that a stream may be silent"},
    {"retries", PARAM_INT, AT(retries), "8", 0, 100, NULL, "further tries of a request that failed"},
    {"retry_wait", PARAM_DOUBLE, AT(retry_wait), "1", 0.001, 300, NULL,
     "seconds before the second try, doubled for each further one up to a minute"},
    {"stream", PARAM_BOOL, AT(stream), "true", 0, 0, NULL, "completions come token by token"},
    {"prompt", PARAM_ENUM, AT(is_text), "ids", 0, 0, prompt_forms,
     "ids, or text for a server that takes no token ids"},
    {NULL, PARAM_INT, 0, NULL, 0, 0, NULL, NULL},
};

/* http or https, a host, no password, and nothing behind the path. */
static int is_address(const char *url)
{
    const char *host = !strncmp(url, "http://", 7) ? url + 7 : !strncmp(url, "https://", 8) ? url + 8 : NULL;
    if (!host || !*host || *host == '/' || *host == ':' || strpbrk(url, "@?#"))
        return 0;
    for (const char *c = url; *c; c++)
        if (!isgraph((unsigned char)*c))
            return 0;
    return 1;
}

static int is_variable(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return 0;
    return *name != 0;
}

static int check_values(struct runfile *r, struct runfile_endpoint *p, struct err *e)
{
    if (!p->url || !is_address(p->url))
        return err_set(e, ERR_USAGE,
                       "%s: model.endpoint is the address of a server, such as \"http://127.0.0.1:8000/v1\", "
                       "without a password in it",
                       r->path);
    if (!p->name || !*p->name)
        return err_set(e, ERR_USAGE, "%s: model.name is missing: what the server calls the model", r->path);
    if (!p->tokenizer || !*p->tokenizer)
        return err_set(e, ERR_USAGE,
                       "%s: model.tokenizer is missing: the model's folder or its id on the Hub, from which "
                       "tokenizer and chat template are taken",
                       r->path);
    if (p->api_key_env && !is_variable(p->api_key_env))
        return err_set(e, ERR_USAGE,
                       "%s: model.api_key_env is the name of an environment variable, not the key itself",
                       r->path);
    size_t n = strlen(p->url);
    while (p->url[n - 1] == '/')
        n--;
    p->url = arena_strndup(&r->arena, p->url, n);
    return 0;
}

int runfile_read_endpoint(struct runfile *r, json_t *model, int is_taken, struct err *e)
{
    struct runfile_endpoint *p = arena_alloc(&r->arena, sizeof *p);
    const char *where = arena_printf(&r->arena, "%s: model", r->path), *key;
    json_t *v;
    int rc = 0;
    param_defaults(endpoint_params, p);
    json_object_foreach(model, key, v)
    {
        rc = param_find(endpoint_params, key)
                 ? param_set_json(endpoint_params, p, &r->arena, key, v, where, e)
                 : runfile_unknown(where, key, endpoint_params, NULL, e);
        if (rc)
            return rc;
    }
    rc = check_values(r, p, e);
    if (rc)
        return rc;
    if (!is_taken)
        return err_set(
            e, ERR_USAGE,
            "%s: the model is behind an endpoint, and only `kveval sweep` and `kveval gate` decode "
            "through one; name a model folder with --model",
            r->path);
    const char *as_written = p->tokenizer;
    if (strcmp(as_written, "pocket")) {
        runfile_rebase(r, model, "tokenizer");
        p->tokenizer = arena_strdup(&r->arena, json_string_value(json_object_get(model, "tokenizer")));
        if (!file_exists(p->tokenizer) && hub_is_id(as_written))
            p->tokenizer = as_written;
    }
    r->endpoint = p;
    return 0;
}

/* A server does not say how likely given tokens are. Whether it has other policies than full attention is
 * seen when it is asked. */
int runfile_check_endpoint(const struct runfile *r, struct err *e)
{
    if (!r->endpoint)
        return 0;
    int has_others = 0;
    for (int i = 0; i < r->n_policies; i++)
        has_others |= strcmp(r->policies[i].name, "full") != 0;
    if (r->models[0].name && !has_others)
        return err_set(
            e, ERR_USAGE,
            "%s: \"model_name\" gives policies their layers, and there is none but full; leave it out",
            r->path);
    for (int i = 0; i < r->n_tasks; i++)
        if (task_is_text(r->tasks[i].ops->metric) || r->tasks[i].ops->option_metrics)
            return err_set(e, ERR_USAGE,
                           "%s: %s by the likelihood of given tokens, which an endpoint does not give; use a "
                           "model folder for it",
                           r->tasks[i].where,
                           r->tasks[i].ops->option_metrics ? "options are scored" : "a text is scored");
    for (int i = 0; i < r->n_settings; i++) {
        const struct settings *s = &r->settings[i].s;
        const char *key = s->kv_dtype         ? "kv_dtype"
                          : s->min_new_tokens ? "min_new_tokens"
                          : s->ignore_eos     ? "ignore_eos"
                                              : NULL;
        if (key)
            return err_set(e, ERR_USAGE,
                           "%s: \"%s\" cannot be asked of an endpoint; leave it out, or set the server up so",
                           r->path, key);
    }
    return 0;
}
