/* The models of a run file (contract: runfile.h): "model", or "models" with their labels, which policies are
 * for which of them, and what each is compared with. */
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/runfile/runfile_parts.h"

/* The last part of a path or id, slashes at its end aside. */
static const char *last_part(struct runfile *r, const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    const char *whole = arena_strndup(&r->arena, path, n), *slash = strrchr(whole, '/');
    return slash && slash[1] ? slash + 1 : whole;
}

/* The model in o["model"]: a relative path counts from the run file's folder, unless it is an id of the Hub.
 */
static const char *find_path(struct runfile *r, json_t *o)
{
    const char *as_written = arena_strdup(&r->arena, json_string_value(json_object_get(o, "model")));
    if (strcmp(as_written, "pocket") != 0)
        runfile_rebase(r, o, "model");
    const char *path = arena_strdup(&r->arena, json_string_value(json_object_get(o, "model")));
    return !file_exists(path) && hub_is_id(as_written) ? as_written : path;
}

static int read_model_name(struct runfile *r, const char **out, const json_t *v, const char *where,
                           struct err *e)
{
    if (!v)
        return 0;
    if (!json_is_string(v) || !*json_string_value(v) || strchr(json_string_value(v), '/'))
        return err_set(e, ERR_USAGE,
                       "%s: \"model_name\" is the name of a model whose layers are published, without its "
                       "owner, such as \"DeepSeek-R1-Distill-Qwen-7B\"",
                       where);
    *out = arena_strdup(&r->arena, json_string_value(v));
    return 0;
}

/* "model", or what --model says in its place. It is not labelled, so it is shown as it is written. */
static int read_one(struct runfile *r, json_t *root, const struct runfile_options *o, struct err *e)
{
    struct runfile_model *m = &r->models[0];
    json_t *v = json_object_get(root, "model");
    r->n_models = 1;
    if (!o->model && json_is_object(v)) {
        int rc = runfile_read_endpoint(r, v, o->takes_endpoint, e);
        if (rc)
            return rc;
        m->path = r->endpoint->name;
    } else if (!o->model && v && !json_is_string(v)) {
        return err_set(e, ERR_USAGE,
                       "%s: \"model\" must be \"pocket\", the path of a model folder, or an object with an "
                       "\"endpoint\"",
                       r->path);
    } else if (!v && !o->model) {
        return err_set(e, ERR_USAGE, "%s: \"model\" is missing: \"pocket\" or the path of a model folder",
                       r->path);
    } else if (!o->model && !*json_string_value(v)) {
        return err_set(e, ERR_USAGE, "%s: \"model\" is empty", r->path);
    } else {
        m->path = o->model ? arena_strdup(&r->arena, o->model) : find_path(r, root);
    }
    m->label = last_part(r, m->path);
    m->shown = m->path;
    return read_model_name(r, &m->name, json_object_get(root, "model_name"), r->path, e);
}

/* A label goes into lines, of a terminal too, and a worker gets it as an argument. */
static int has_control(const char *label)
{
    for (; *label; label++)
        if ((unsigned char)*label < ' ' || *label == 127)
            return 1;
    return 0;
}

/* An entry of "models": a text, or an object with "model", "as" and "model_name". */
static int read_entry(struct runfile *r, json_t *v, size_t i, struct err *e)
{
    static const char *const ours[] = {"model", "as", "model_name", NULL};
    struct runfile_model *m = &r->models[r->n_models++];
    const char *where = arena_printf(&r->arena, "%s: models.%zu", r->path, i), *key;
    json_t *o = json_is_string(v)   ? json_pack("{s:O}", "model", v)
                : json_is_object(v) ? json_copy(v)
                                    : NULL,
           *child;
    const json_t *model = json_object_get(o, "model"), *as = json_object_get(o, "as");
    int rc = 0;
    if (json_is_object(model) || json_object_get(o, "endpoint")) {
        rc = err_set(
            e, ERR_USAGE,
            "%s: an endpoint is not one of several models; decode it into a folder of its own, and put "
            "the two beside each other with `kveval compare`",
            where);
    } else {
        json_object_foreach(o, key, child)
        {
            if (!rc && strcmp(key, "model") && strcmp(key, "as") && strcmp(key, "model_name"))
                rc = runfile_unknown(where, key, NULL, ours, e);
        }
    }
    if (!rc && (!json_is_string(model) || !*json_string_value(model)))
        rc = err_set(
            e, ERR_USAGE,
            "%s: a model is \"pocket\", the path of a model folder, or an object with such a \"model\"",
            where);
    if (!rc && as && (!json_is_string(as) || !*json_string_value(as)))
        rc = err_set(e, ERR_USAGE, "%s: \"as\" must be a non-empty string", where);
    if (!rc) {
        m->path = find_path(r, o);
        m->label = as ? arena_strdup(&r->arena, json_string_value(as)) : last_part(r, m->path);
        m->shown = m->label;
        rc = has_control(m->label)
                 ? err_set(e, ERR_USAGE,
                           "%s: its label has control characters; give it another one with \"as\"", where)
                 : read_model_name(r, &m->name, json_object_get(o, "model_name"), where, e);
    }
    json_decref(o);
    return rc;
}

/* The path without what says nothing: "a//./b/" is "a/b". */
static const char *plain_path(struct runfile *r, const char *path)
{
    const char *out = *path == '/' ? "/" : "";
    int n = 0;
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len && !(len == 1 && *path == '.'))
            out = arena_printf(&r->arena, "%s%s%.*s", out, n++ ? "/" : "", (int)len, path);
        path += len + (path[len] == '/');
    }
    return out;
}

static int is_same_model(struct runfile *r, const struct runfile_model *m, const struct runfile_model *n)
{
    return !strcmp(plain_path(r, m->path), plain_path(r, n->path)) &&
           !strcmp(m->name ? m->name : "", n->name ? n->name : "");
}

static int check_labels(struct runfile *r, struct err *e)
{
    for (int b = 1; b < r->n_models; b++)
        for (int a = 0; a < b; a++) {
            const struct runfile_model *m = &r->models[a], *n = &r->models[b];
            if (is_same_model(r, m, n))
                return err_set(e, ERR_USAGE,
                               "%s: models.%d is the same model as models.%d; remove one of them", r->path, b,
                               a);
            if (!strcmp(m->label, n->label))
                return err_set(
                    e, ERR_USAGE,
                    "%s: models.%d and models.%d are both called \"%s\"; give one of them another name "
                    "with \"as\"",
                    r->path, a, b, m->label);
        }
    return 0;
}

/* `"a", "b"` */
static void list_labels(const struct runfile *r, struct str *out)
{
    for (int m = 0; m < r->n_models; m++)
        str_printf(out, "%s\"%s\"", m ? ", " : "", r->models[m].label);
}

static int find_label(const struct runfile *r, const char *label)
{
    for (int m = 0; m < r->n_models; m++)
        if (!strcmp(r->models[m].label, label))
            return m;
    return -1;
}

static int unknown_label(const struct runfile *r, const char *where, const char *label, struct err *e)
{
    struct str labels = {0};
    list_labels(r, &labels);
    int rc = err_set(e, ERR_USAGE, "%s: \"%s\" is none of the models; their labels are %s", where, label,
                     str_text(&labels));
    str_release(&labels);
    return rc;
}

int runfile_read_models(struct runfile *r, json_t *root, const struct runfile_options *o, struct err *e)
{
    json_t *list = json_object_get(root, "models"), *v;
    size_t i;
    r->picked = -1;
    if (!list)
        return read_one(r, root, o, e);
    r->has_models = 1;
    if (json_object_get(root, "model"))
        return err_set(e, ERR_USAGE, "%s: \"model\" and \"models\" are both there; leave one out", r->path);
    if (json_object_get(root, "model_name"))
        return err_set(e, ERR_USAGE,
                       "%s: with \"models\" each of them has its own \"model_name\": {\"model\": ..., "
                       "\"model_name\": ...}",
                       r->path);
    if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > RUNFILE_MODELS_MAX)
        return err_set(e, ERR_USAGE, "%s: \"models\" must be a list of 1 to %d models", r->path,
                       RUNFILE_MODELS_MAX);
    json_array_foreach(list, i, v)
    {
        int rc = read_entry(r, v, i, e);
        if (rc)
            return rc;
    }
    if (check_labels(r, e))
        return e->code;
    if (o->model && (r->picked = find_label(r, o->model)) < 0)
        return unknown_label(r, arena_printf(&r->arena, "--model picks one of the \"models\" of %s", r->path),
                             o->model, e);
    if (r->n_models > 1 && !o->model && !o->takes_models) {
        struct str labels = {0};
        list_labels(r, &labels);
        err_set(e, ERR_USAGE, "%s has several models, and this command takes one; pick it with --model: %s",
                r->path, str_text(&labels));
        str_release(&labels);
    }
    return e->code;
}

int runfile_read_policy_models(const struct runfile *r, uint64_t *out, const json_t *o, const char *where,
                               struct err *e)
{
    const json_t *list = json_object_get(o, "models"), *v;
    size_t i;
    *out = r->n_models < 64 ? (UINT64_C(1) << r->n_models) - 1 : UINT64_MAX;
    if (!list)
        return 0;
    if (!r->has_models)
        return err_set(
            e, ERR_USAGE,
            "%s: \"models\" says with which models of several a policy goes, and this run file has one "
            "\"model\"; leave it out",
            where);
    if (!json_is_array(list) || !json_array_size(list))
        return err_set(e, ERR_USAGE, "%s: \"models\" must be a list of labels", where);
    *out = 0;
    json_array_foreach((json_t *)list, i, v)
    {
        if (!json_is_string(v))
            return err_set(e, ERR_USAGE, "%s: \"models\" must be a list of labels", where);
        int m = find_label(r, json_string_value(v));
        if (m < 0)
            return unknown_label(r, where, json_string_value(v), e);
        *out |= UINT64_C(1) << m;
    }
    return 0;
}

/* A label goes before a name, so that "full" means the policy of that name even when it is labelled
 * otherwise. */
static int find_baseline(const struct runfile *r, int model, int *matches)
{
    int found = -1;
    *matches = 0;
    for (int pass = 0; pass < 2 && !*matches; pass++)
        for (int i = 0; i < r->n_policies; i++)
            if (runfile_has(r, i, model) &&
                !strcmp(pass ? r->policies[i].name : r->policies[i].label, r->baseline)) {
                found = i;
                ++*matches;
            }
    return found;
}

/* "full", or {"policy": "full", "model": "base"}; *model: of whom, -1: each of its own model's. */
static int read_baseline_words(struct runfile *r, const json_t *v, int *model, struct err *e)
{
    static const char *const ours[] = {"policy", "model", NULL};
    const char *key, *where = arena_printf(&r->arena, "%s: baseline", r->path);
    json_t *child;
    const json_t *policy = json_is_object(v) ? json_object_get(v, "policy") : v;
    *model = -1;
    if (v && !json_is_string(policy))
        return err_set(
            e, ERR_USAGE,
            "%s: \"baseline\" must be the name or label of one policy, or an object with such a \"policy\" "
            "and a \"model\"",
            r->path);
    r->baseline = v ? arena_strdup(&r->arena, json_string_value(policy)) : "full";
    if (!json_is_object(v))
        return 0;
    json_object_foreach((json_t *)v, key, child)
    {
        if (strcmp(key, "policy") && strcmp(key, "model"))
            return runfile_unknown(where, key, NULL, ours, e);
    }
    const char *label = json_string_value(json_object_get(v, "model"));
    if (!json_object_get(v, "model"))
        return err_set(
            e, ERR_USAGE,
            "%s: \"model\" is missing, the label of one of the \"models\"; to compare each model with "
            "its own cells write \"baseline\": \"%s\"",
            where, r->baseline);
    if (!label || !r->has_models)
        return err_set(e, ERR_USAGE, "%s: its \"model\" is the label of one of several \"models\"", where);
    *model = find_label(r, label);
    return *model < 0 ? unknown_label(r, where, label, e) : 0;
}

static int refuse_baseline(const struct runfile *r, int is_several, struct err *e)
{
    struct str labels = {0};
    for (int i = 0; i < r->n_policies && i < 20; i++)
        str_printf(&labels, "%s\"%s\"", i ? ", " : "", r->policies[i].label);
    int rc = err_set(e, ERR_USAGE, "%s: baseline \"%s\" names %s; the labels are %s", r->path, r->baseline,
                     is_several ? "several policies" : "no policy", str_text(&labels));
    str_release(&labels);
    return rc;
}

/* Without one, a policy full is compared with; a model without full has no baseline. */
int runfile_read_baseline(struct runfile *r, const json_t *v, struct err *e)
{
    int of, n_found = 0, matches = 0, is_several = 0;
    if (read_baseline_words(r, v, &of, e))
        return e->code;
    for (int m = 0; m < r->n_models; m++) {
        struct runfile_model *k = &r->models[m];
        k->baseline_model = of < 0 ? m : of;
        k->baseline_policy = find_baseline(r, k->baseline_model, &matches);
        is_several |= matches > 1;
        if (matches != 1)
            k->baseline_model = k->baseline_policy = -1;
        n_found += matches == 1;
    }
    if (v && (is_several || !n_found))
        return refuse_baseline(r, is_several, e);
    if (!n_found)
        r->baseline = "";
    return 0;
}

/* Leaves the model that was picked, and the policies that go with it. */
int runfile_keep_model(struct runfile *r, struct err *e)
{
    int *now = arena_alloc(&r->arena, (size_t)r->n_policies * sizeof *now), kept = 0;
    if (r->picked < 0)
        return 0;
    struct runfile_model m = r->models[r->picked];
    for (int i = 0; i < r->n_policies; i++) {
        now[i] = kept;
        if (!runfile_has(r, i, r->picked))
            continue;
        r->policies[kept] = r->policies[i];
        r->policies[kept++].models = 1;
    }
    if (!kept)
        return err_set(e, ERR_USAGE, "--model %s: no policy of %s goes with this model", m.label, r->path);
    int is_own = m.baseline_model == r->picked;
    if (!is_own && m.baseline_model >= 0)
        r->lost_baseline = r->models[m.baseline_model].label;
    m.baseline_policy = is_own ? now[m.baseline_policy] : -1;
    m.baseline_model = is_own ? 0 : -1;
    if (!is_own)
        r->baseline = "";
    r->n_policies = kept;
    r->models[0] = m;
    r->n_models = 1;
    return 0;
}

/* A policy that goes with no model would be a mistake, and so is a model without a policy. */
int runfile_check_models(const struct runfile *r, struct err *e)
{
    for (int m = 0; m < r->n_models; m++) {
        int n = 0;
        for (int i = 0; i < r->n_policies; i++)
            n += runfile_has(r, i, m);
        if (!n)
            return err_set(e, ERR_USAGE, "%s: no policy goes with model \"%s\"", r->path, r->models[m].label);
    }
    return 0;
}

int runfile_has(const struct runfile *r, int policy, int model)
{
    return (int)(r->policies[policy].models >> model & 1);
}

const char *runfile_models_text(struct runfile *r)
{
    const char *all = "";
    for (int m = 0; m < r->n_models; m++)
        all = arena_printf(&r->arena, "%s%s%s", all, m ? ", " : "", r->models[m].shown);
    return all;
}

int runfile_find_models(struct runfile *r, const struct process_env *p, struct err *e)
{
    if (r->endpoint)
        return hub_model(&r->endpoint->tokenizer, p, r->endpoint->tokenizer, &r->arena, e);
    for (struct runfile_model *m = r->models; m < r->models + r->n_models; m++) {
        int is_path = m->shown == m->path;
        if (hub_model(&m->path, p, m->path, &r->arena, e))
            return e->code;
        m->shown = is_path ? m->path : m->shown;
    }
    return 0;
}
