/* Names of models and their policies (contract: serve_parts.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/cli/version.h"
#include "evalcore/serve/serve_parts.h"

/* "quest:k_pages=64,l_pages=2,full" is two policies: what has a "=" before any ":" is an option of the one
 * before it. Returns the length of the first. */
static size_t first_policy(const char *text)
{
    size_t n = strcspn(text, ",");
    while (text[n]) {
        const char *next = text + n + 1;
        size_t word = strcspn(next, ",:=");
        if (next[word] != '=')
            break;
        n += 1 + strcspn(next, ",");
    }
    return n;
}

/* Paths in a policy's options count from the working directory, and the run file lies elsewhere. */
static const char *absolute_paths(struct server *s, const char *text)
{
    const char *colon = strchr(text, ':');
    const struct policy_ops *ops =
        policy_find(arena_strndup(&s->arena, text, colon ? (size_t)(colon - text) : strlen(text)));
    struct str out = {0};
    char *folder = getcwd(NULL, 0);
    str_add(&out, text, colon ? (size_t)(colon - text) + 1 : strlen(text));
    for (const char *at = colon ? colon + 1 : ""; *at;) {
        size_t n = strcspn(at, ","), key = strcspn(at, "=");
        const struct param *p =
            ops && key < n ? param_find(policy_params(ops), arena_strndup(&s->arena, at, key)) : NULL;
        if (p && p->type == PARAM_FILE && at[key + 1] != '/' && folder)
            str_printf(&out, "%.*s=%s/%.*s", (int)key, at, folder, (int)(n - key - 1), at + key + 1);
        else
            str_add(&out, at, n);
        at += n;
        if (*at)
            str_putc(&out, *at++);
    }
    free(folder);
    const char *done = arena_strdup(&s->arena, str_text(&out));
    str_release(&out);
    return done;
}

/* A plan has a task, so that it has cells: one problem of the smallest, which is never decoded. */
int serve_run_file(struct server *s, const char **path, struct err *e)
{
    json_t *list = json_array();
    for (int i = 0; i < s->o->policies.n; i++)
        for (const char *at = s->o->policies.v[i]; *at;) {
            size_t n = first_policy(at);
            const char *text = arena_strndup(&s->arena, at, n);
            struct policy_spec spec;
            if (!e->code && policy_spec_text(&spec, text, &s->arena, e))
                err_add(e, "--policy");
            json_array_append_new(list, json_text_of(absolute_paths(s, text)));
            at += n + (at[n] == ',');
        }
    if (!json_array_size(list))
        json_array_append_new(list, json_string("full"));
    json_t *o = json_pack("{s:s, s:[{s:s, s:i, s:i}], s:o, s:s}", "model", "pocket", "tasks", "name",
                          "pocket.relay", "problems", 1, "steps", 3, "policies", list, "chat", "none");
    if (s->o->kv_dtype)
        json_object_set_new(o, "kv_dtype", json_text_of(s->o->kv_dtype));
    char *text = json_dumps(o, 0);
    size_t n = text ? strlen(text) : 0;
    int fd = memfd_create("serve", MFD_CLOEXEC);
    if (fd < 0 || !text || write(fd, text, n) != (ssize_t)n)
        err_set(e, ERR_DISK, "the list of policies cannot be kept in memory");
    *path = arena_printf(&s->arena, "/proc/%ld/fd/%d", (long)getpid(), fd);
    free(text);
    json_decref(o);
    return e->code;
}

static int is_full(const struct server *s, int i)
{
    return !strcmp(s->plan.cells[i].policy->name, "full");
}

/* The text of a policy as it was given, or as it would be. */
static const char *policy_text(struct server *s, int i)
{
    const json_t *given = json_array_get(json_object_get(s->file.source, "policies"), (size_t)i);
    const char *text = json_string_value(given);
    return text ? text : s->plan.cells[i].policy->label;
}

void serve_name_models(struct server *s)
{
    const char *path = s->o->model;
    struct hub_id id;
    if (hub_is_id(path)) {
        hub_id_read(&id, "", path, &s->arena);
        path = id.name;
        s->owner = arena_strndup(&s->arena, path, (size_t)(strchr(path, '/') + 1 - path));
    }
    const char *end = path + strlen(path);
    while (end > path && end[-1] == '/')
        end--;
    const char *from = end;
    while (from > path && from[-1] != '/')
        from--;
    s->name = arena_strndup(&s->arena, from, (size_t)(end - from));
    s->model = arena_alloc(&s->arena, (size_t)s->plan.n_cells * sizeof *s->model);
    for (int i = 0; i < s->plan.n_cells; i++)
        s->model[i] = arena_printf(&s->arena, "%s@%s", s->name, policy_text(s, i));
}

/* The policy of the bare name: full, or the only one. */
static int bare_policy(const struct server *s)
{
    for (int i = 0; i < s->plan.n_cells; i++)
        if (is_full(s, i))
            return i;
    return s->plan.n_cells == 1 ? 0 : -1;
}

static int same_policy(const struct policy_spec *a, const struct policy_spec *b)
{
    json_t *x = policy_spec_to_json(a), *y = policy_spec_to_json(b);
    int same = json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

int serve_find_model(const struct server *s, const char *name, struct api_refusal *r)
{
    size_t n = strlen(s->name);
    struct arena a = {0};
    struct policy_spec spec;
    struct err ignored = {0};
    int found = -1;
    const char *asked = name;
    if (s->owner && !strncmp(name, s->owner, strlen(s->owner)))
        name += strlen(s->owner);
    if (!strcmp(name, s->name))
        found = bare_policy(s);
    for (int i = 0; i < s->plan.n_cells && found < 0; i++)
        if (!strcmp(name, s->model[i]))
            found = i;
    if (found < 0 && !strncmp(name, s->name, n) && name[n] == '@' &&
        !policy_spec_text(&spec, name + n + 1, &a, &ignored))
        for (int i = 0; i < s->plan.n_cells && found < 0; i++)
            if (same_policy(&spec, &s->plan.cells[i].policy->spec))
                found = i;
    arena_release(&a);
    if (found >= 0)
        return found;
    struct str known = {0};
    if (bare_policy(s) >= 0)
        str_printf(&known, "%s, ", s->name);
    for (int i = 0; i < s->plan.n_cells && known.len < 600; i++)
        str_printf(&known, "%s%s", i ? ", " : "", s->model[i]);
    api_refuse(r, 404, "model", "there is no model \"%.100s\" here; there are %s", asked, str_text(&known));
    str_release(&known);
    return -1;
}

json_t *serve_model_json(const struct server *s, const char *id, int i)
{
    const struct plan_cell *c = &s->plan.cells[i];
    const struct engine_info *info = &s->plan.loaded[c->loaded_model].info;
    return json_pack("{s:o, s:s, s:i, s:s, s:i, s:{s:s, s:o, s:s, s:s, s:s}}", "id", json_text_of(id),
                     "object", "model", "created", 0, "owned_by", "kveval", "max_model_len",
                     info->max_context, "kveval", "version", KVEVAL_VERSION, "policy",
                     policy_spec_to_json(&c->policy->spec), "numerics", info->numerics, "weights",
                     info->weights, "configuration", info->configuration);
}

json_t *serve_models_json(const struct server *s)
{
    json_t *list = json_array();
    int bare = bare_policy(s);
    if (bare >= 0)
        json_array_append_new(list, serve_model_json(s, s->name, bare));
    for (int i = 0; i < s->plan.n_cells; i++)
        json_array_append_new(list, serve_model_json(s, s->model[i], i));
    return json_pack("{s:s, s:o}", "object", "list", "data", list);
}
