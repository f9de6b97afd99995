/* What a server says of its models (contract: endpoint.h). */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"
#include "evalcore/base/log.h"
#include "evalcore/endpoint/endpoint_parts.h"

enum { ASK_SECONDS = 30, ASK_BYTES = 4 << 20 };

struct model_list {
    struct str text;
    int is_too_long;
};

static size_t on_text(char *bytes, size_t size, size_t n, void *context)
{
    struct model_list *l = context;
    n *= size;
    l->is_too_long = l->text.len + n > ASK_BYTES;
    if (l->is_too_long)
        return 0;
    str_add(&l->text, bytes, n);
    return n;
}

/* kveval's own server has the name with a policy behind it, and alone where it serves full attention. */
static int is_own_model(const struct endpoint *p, const json_t *m, const char *id)
{
    size_t n = strlen(p->name);
    return json_is_object(json_object_get(m, "kveval")) && !strncmp(id, p->name, n) && id[n] == '@';
}

const char *endpoint_policy_model(const struct endpoint *p, const json_t *policy)
{
    size_t i;
    const json_t *m;
    json_array_foreach(p->models, i, m)
    {
        const char *id = json_string_value(json_object_get(m, "id"));
        if (id && is_own_model(p, m, id) &&
            json_equal(json_object_get(json_object_get(m, "kveval"), "policy"), (json_t *)policy))
            return id;
    }
    return NULL;
}

/* The entry of the list that is called as the run file says, borrowed; NULL and a message that names those
 * that are there. */
static const json_t *find_model(const struct endpoint *p, const json_t *list, struct err *e)
{
    struct str names = {0};
    size_t i;
    const json_t *m, *found = NULL;
    json_array_foreach((json_t *)list, i, m)
    {
        const char *id = json_string_value(json_object_get(m, "id"));
        if (id && (!strcmp(id, p->name) || (!found && is_own_model(p, m, id))))
            found = m;
        if (id && names.len < 300)
            str_printf(&names, "%s%.100s", names.len ? ", " : "", id);
    }
    if (!found)
        err_set(e, ERR_USAGE,
                "%s has no model \"%s\"; it has %s: write one of these as \"name\" in \"model\"", p->url,
                p->name, names.len ? str_text(&names) : "none");
    str_release(&names);
    return found;
}

/* vLLM and SGLang say where the weights are from (`root`) and what was set as context, llama.cpp how many
 * parameters and bytes they have (`meta`), which tells quantisations apart. `root` is no part of the hash:
 * the same weights served from another folder must not be decoded anew. */
static void read_facts(const struct endpoint *p, const json_t *m, struct endpoint_facts *out)
{
    struct str text = {0};
    const json_t *meta = json_object_get(m, "meta"), *own = json_object_get(m, "kveval"), *v;
    out->root[0] = out->numerics[0] = 0;
    json_t *o = json_pack("{s:o}", "endpoint", json_text_of(p->name));
    if (json_is_string(v = json_object_get(m, "root")) && strcmp(json_string_value(v), p->name) != 0)
        snprintf(out->root, sizeof out->root, "%s", json_string_value(v));
    if (json_is_integer(v = json_object_get(meta, "n_params")))
        json_object_set(o, "n_params", (json_t *)v);
    if (json_is_integer(v = json_object_get(meta, "size")))
        json_object_set(o, "size", (json_t *)v);
    if (json_is_string(v = json_object_get(own, "weights")))
        json_object_set(o, "weights", (json_t *)v);
    if (json_is_string(v = json_object_get(own, "configuration")))
        json_object_set(o, "configuration", (json_t *)v);
    if (json_is_string(v = json_object_get(own, "numerics")))
        snprintf(out->numerics, sizeof out->numerics, "%s", json_string_value(v));
    json_canonical(&text, o);
    sha256_hex(str_text(&text), text.len, out->weights, 64);
    json_int_t most = json_integer_value(json_object_get(m, "max_model_len"));
    out->max_context = most > 0 && most < 1 << 30 ? (int)most : 0;
    str_release(&text);
    json_decref(o);
}

static int read_answer(struct endpoint *p, long status, const struct str *text, struct endpoint_facts *out,
                       struct err *e)
{
    json_t *o = NULL;
    if (status == 404 || status == 405) { /* a server need not have the list */
        log_warn("%s does not say which models it has; that it serves \"%s\" is taken on trust", p->url,
                 p->name);
        read_facts(p, NULL, out);
        return 0;
    }
    if (status != 200) {
        endpoint_refused(p, status, str_text(text), text->len, e);
        return err_add(e, "%s/models", p->url);
    }
    if (json_read_text(&o, str_text(text), text->len, "its answer", e))
        return err_add(e, "%s/models", p->url);
    const json_t *list = json_object_get(o, "data"), *m = NULL;
    if (!json_is_array(list))
        err_set(e, ERR_USAGE, "%s/models is no list of models; the address ends in /v1 with most servers",
                p->url);
    else
        m = find_model(p, list, e);
    if (m)
        read_facts(p, m, out);
    if (m && *out->numerics) {
        json_decref(p->models);
        p->models = json_incref((json_t *)list);
    }
    json_decref(o);
    return m ? 0 : e->code;
}

int endpoint_ask(struct endpoint *p, struct endpoint_facts *out, struct err *e)
{
    struct model_list list = {0};
    long status = 0;
    CURL *c = p->exchange[0].curl;
    endpoint_setup(p, c, "/models", 0);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)ASK_SECONDS);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_text);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &list);
    CURLcode code = curl_easy_perform(c);
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    int rc;
    if (list.is_too_long)
        rc =
            err_set(e, ERR_FORMAT,
                    "%s/models is longer than %d MiB, the most that is read of a list of models; is this the "
                    "address of a server of models?",
                    p->url, ASK_BYTES >> 20);
    else if (code == CURLE_OK)
        rc = read_answer(p, status, &list.text, out, e);
    else {
        int kind = ERR_IO;
        const char *reason = http_reason(code, &kind);
        rc = err_set(e, kind, "%s cannot be asked for its models: %s; %srepeat the command", p->url, reason,
                     kind == ERR_IO ? "see to the server and " : "");
    }
    str_release(&list.text);
    return rc;
}
