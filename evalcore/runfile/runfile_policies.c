/* The policies of a run file (contract: runfile.h): axes, "where", labels. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/runfile/runfile_parts.h"

/* axes_expand() asks by name only, so one function serves all policies: the options that are lists are lists
 * in every policy that has them. */
static int takes_list(const char *key)
{
    const struct policy_ops *ops;
    for (size_t i = 0; (ops = policy_at(i)); i++) {
        const struct param *p = param_find(policy_params(ops), key);
        if (p && p->type == PARAM_INTS)
            return 1;
    }
    return 0;
}

struct lookup {
    const json_t *object;
    const struct policy_ops *ops;
    const char *where;
};

/* A key's value: as written, else from the preset, else its default. */
static int lookup_key(void *context, const char *name, double *out, struct err *e)
{
    const struct lookup *l = context;
    const struct param *p = param_find(policy_params(l->ops), name);
    const json_t *v = json_object_get(l->object, name);
    const char *preset = json_string_value(json_object_get(l->object, "preset"));
    if (!p)
        return runfile_unknown("\"where\"", name, policy_params(l->ops), NULL, e);
    if (json_is_number(v)) {
        *out = json_number_value(v);
        return 0;
    }
    for (const struct preset *s = policy_presets(l->ops); !v && preset && s && s->name; s++) {
        const char *at = strcmp(s->name, preset) ? NULL : s->pairs;
        for (; at && *at; at += strcspn(at, ","), at += *at == ',') {
            size_t n = strlen(name);
            if (!strncmp(at, name, n) && at[n] == '=') {
                *out = strtod(at + n + 1, NULL);
                return 0;
            }
        }
    }
    if (!v && p->def && (p->type == PARAM_INT || p->type == PARAM_DOUBLE) && !cli_double(p->def, out))
        return 0;
    return err_set(e, ERR_USAGE, "\"where\": %s has no number here", name);
}

static int is_wanted(const json_t *o, const struct policy_ops *ops, const char *where, int *keep,
                     struct err *e)
{
    const json_t *condition = json_object_get(o, "where");
    struct lookup l = {o, ops, where};
    *keep = 1;
    if (!condition)
        return 0;
    if (!json_is_string(condition))
        return err_set(e, ERR_USAGE, "%s: \"where\" must be a string such as \"l_pages < k_pages\"", where);
    int rc = expr_true(json_string_value(condition), lookup_key, &l, keep, e);
    return rc ? err_add(e, "%s", where), rc : 0;
}

static int check_keys(const json_t *o, const struct policy_ops *ops, const char *where, struct err *e)
{
    static const char *const ours[] = {"name", "preset", "as", "where", "models", NULL};
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)o, key, v)
    {
        int known = param_find(policy_params(ops), key) != NULL;
        for (int i = 0; ours[i]; i++)
            known |= !strcmp(key, ours[i]);
        if (!known)
            return runfile_unknown(where, key, policy_params(ops), ours, e);
    }
    return 0;
}

static int add_point(struct runfile *r, const struct axis_point *p, const struct runfile_calibration *c,
                     uint64_t models, const char *where, struct err *e)
{
    const char *as = json_string_value(json_object_get(p->object, "as"));
    r->policies = xrealloc(r->policies, (size_t)(r->n_policies + 1) * sizeof *r->policies);
    struct runfile_policy *out = &r->policies[r->n_policies];
    *out = (struct runfile_policy){.models = models, .calibration = *c, .swept = p->swept, .where = where};
    int rc = policy_spec_json(&out->spec, p->object, &r->arena, e);
    if (rc)
        return err_add(e, "%s%s%s", where, *p->swept ? ": " : "", p->swept), rc;
    out->name = policy_name(out->spec.ops);
    out->label = arena_printf(&r->arena, "%s%s%s", as ? as : out->name, *p->swept ? " " : "", p->swept);
    r->n_policies++;
    return 0;
}

/* "quest:k_pages=8", as on a command line, is {"name": "quest", "k_pages": 8}: the entry with the options
 * that the text names. A new reference to v itself where it is anything else; NULL after an error. */
static json_t *spell_out(struct runfile *r, const json_t *v, size_t i, struct err *e)
{
    const char *text = json_string_value(v), *colon = text ? strchr(text, ':') : NULL;
    struct policy_spec spec;
    if (!colon)
        return json_incref((json_t *)v);
    if (policy_spec_text(&spec, text, &r->arena, e)) {
        err_add(e, "%s: policies.%zu", r->path, i);
        return NULL;
    }
    json_t *all = policy_spec_to_json(&spec), *o = json_pack("{s:s}", "name", policy_name(spec.ops));
    for (const char *at = colon + 1; *at;) {
        size_t n = strcspn(at, ",");
        const char *key = arena_strndup(&r->arena, at, strcspn(at, "="));
        json_t *value = json_object_get(all, key);
        if (!strcmp(key, "preset"))
            json_object_set_new(o, key, json_text_of(spec.preset));
        else if (value)
            json_object_set(o, key, value);
        at += n + (at[n] == ',');
    }
    json_decref(all);
    return o;
}

static int read_policy(struct runfile *r, const json_t *v, size_t i, struct err *e)
{
    struct axis_points points = {0};
    struct runfile_calibration calibration = {0};
    const char *where;
    json_t *entry = spell_out(r, v, i, e);
    json_t *o = entry ? runfile_entry(entry, "policies", i, "policy", &where, r, e) : NULL;
    json_decref(entry);
    if (!o)
        return ERR_USAGE;
    const char *name = json_string_value(json_object_get(o, "name"));
    const struct policy_ops *ops = policy_find(name);
    int rc = 0, before = r->n_policies;
    uint64_t models = 0;
    if (!ops) {
        const char *near = policy_nearest(name);
        rc = err_set(e, ERR_USAGE, "%s: unknown policy \"%s\"; %s%s%s", where, name,
                     near ? "did you mean \"" : "", near ? near : "`kveval list policies` shows them",
                     near ? "\"?" : "");
    }
    if (!rc)
        rc = runfile_take_calibration(r, &calibration, o, ops, where, e);
    if (!rc)
        rc = check_keys(o, ops, where, e);
    if (!rc)
        rc = runfile_read_policy_models(r, &models, o, where, e);
    if (!rc) {
        json_object_del(o, "models"); /* no axis */
        runfile_rebase_files(r, o, policy_params(ops));
    }
    if (!rc)
        rc = axes_expand(&points, o, takes_list, where, &r->arena, e);
    for (size_t p = 0; p < points.n && !rc; p++) {
        int keep = 1;
        rc = is_wanted(points.point[p].object, ops, where, &keep, e);
        if (!rc && keep)
            rc = add_point(r, &points.point[p], &calibration, models, where, e);
    }
    if (!rc && r->n_policies == before)
        rc = err_set(e, ERR_USAGE, "%s: \"where\" leaves no combination", where);
    axes_release(&points);
    json_decref(o);
    return rc;
}

static const char *canonical_policy(struct runfile *r, int i)
{
    struct str text = {0};
    json_t *o = policy_spec_to_json(&r->policies[i].spec);
    json_canonical(&text, o);
    const char *kept = arena_strdup(&r->arena, str_text(&text));
    json_decref(o);
    str_release(&text);
    return kept;
}

/* Entries of one name that differ in a scalar would carry the same label: then the options tell them apart.
 */
static void make_label_unique(struct runfile *r, int i)
{
    struct str text = {0};
    const struct runfile_policy *p = &r->policies[i];
    const struct param *t = policy_params(p->spec.ops);
    void *plain = xcalloc(1, p->spec.ops->params_size + 1);
    param_defaults(t, plain);
    str_printf(&text, "%s%s%s", p->label, p->spec.preset ? " preset=" : "",
               p->spec.preset ? p->spec.preset : "");
    for (; t->name; t++) {
        struct str here = {0}, usual = {0};
        param_text(t, p->spec.params, &here);
        param_text(t, plain, &usual);
        if (strcmp(str_text(&here), str_text(&usual)))
            str_printf(&text, " %s=%s", t->name, str_text(&here));
        str_release(&here);
        str_release(&usual);
    }
    r->policies[i].label = arena_strdup(&r->arena, str_text(&text));
    str_release(&text);
    free(plain);
}

static int check_twins(struct runfile *r, struct err *e)
{
    char *twin = arena_alloc(&r->arena, (size_t)r->n_policies + 1);
    const char **text = arena_alloc(&r->arena, (size_t)r->n_policies * sizeof *text);
    for (int i = 0; i < r->n_policies; i++)
        text[i] = canonical_policy(r, i);
    for (int b = 1; b < r->n_policies; b++)
        for (int a = 0; a < b; a++) {
            if (!(r->policies[a].models & r->policies[b].models))
                continue; /* never side by side */
            if (!strcmp(text[a], text[b]))
                return err_set(e, ERR_USAGE, "%s: \"%s\" and \"%s\" are the same policy; remove one of them",
                               r->policies[b].where, r->policies[a].label, r->policies[b].label);
            if (!strcmp(r->policies[a].label, r->policies[b].label))
                twin[a] = twin[b] = 1;
        }
    for (int i = 0; i < r->n_policies; i++)
        if (twin[i])
            make_label_unique(r, i);
    return 0;
}

int runfile_read_policies(struct runfile *r, const json_t *list, struct err *e)
{
    size_t i;
    const json_t *v;
    if (!json_is_array(list) || !json_array_size(list))
        return err_set(e, ERR_USAGE, "%s: \"policies\" must be a list with at least one policy", r->path);
    json_array_foreach((json_t *)list, i, v)
    {
        int rc = read_policy(r, v, i, e);
        if (rc)
            return rc;
    }
    return check_twins(r, e);
}
