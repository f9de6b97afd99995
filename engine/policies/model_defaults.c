/* The published constants per model. Refresh layers are those of a table in the second version of the DELTA
 * paper. Anchors and head maps are from microsoft/kascade at 76aea84 (results/head_mappings); digit i of a
 * map is the anchor head that KV head i reads. OmniKV's filter layers are those of its authors and of
 * Kascade's port for Llama-8B; LessIsMore's selection layers are those of its authors' scripts for Qwen3 and
 * of Kascade's port for Llama. Those of the embedded model: engine/pocket/README.md; its filter and selection
 * layers are DELTA's refresh layers without the last, which would choose for nobody. */
#include "engine/policies/model_defaults.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/policies/layer_list.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

#define LLAMA_8B_MAP                                                                                         \
    "1:00000000+3:11111141+4:11111112+5:11511121+6:11112116+7:11121111+9:71563333+10:23503333+11:57135335+"  \
    "12:51115111+15:32266164+16:52026452+17:62222673+18:66625725+19:42262262+20:42642372+21:42662213+22:"    \
    "52672624+"                                                                                              \
    "23:27272562+24:22627552+25:25252222+26:42252265+27:24222566+28:22222222+29:22222222+30:62222242+31:"    \
    "22226622"
#define QWEN3_8B_MAP                                                                                         \
    "1:11111111+3:65371455+4:01555113+5:44134554+6:44444644+8:30335600+9:33501001+10:33030000+11:03103330+"  \
    "12:60000060+13:03150005+15:41364054+16:64044142+17:41746330+18:04434444+19:45235534+20:22223332+21:"    \
    "03304344+"                                                                                              \
    "22:42000300+24:51136107+25:00304661+26:06015773+27:06007116+28:10551100+29:11111016+30:00106010+31:"    \
    "61010401+"                                                                                              \
    "32:11106600+33:61111101+34:10406001+35:00000000"

static const struct model_defaults known[] = {
    {"pocket", 8, "2+5+7", "0+1+2+5+6+7", NULL, 4, "2+5", "2+5"},
    {"DeepSeek-R1-Distill-Qwen-1.5B", 28, "2+14+23", NULL, NULL, 0, NULL, NULL},
    {"DeepSeek-R1-Distill-Qwen-7B", 28, "2+14+22", NULL, NULL, 0, NULL, NULL},
    {"DeepSeek-R1-Distill-Qwen-14B", 48, "2+6+42", NULL, NULL, 0, NULL, NULL},
    {"DeepSeek-R1-Distill-Llama-8B", 32, "2+8+31", "0+2+8+13+14", LLAMA_8B_MAP, 0, "2+8+18", "2+13"},
    {"Llama-3.1-8B", 32, NULL, "0+2+8+13+14", LLAMA_8B_MAP, 0, "2+8+18", "2+13"},
    {"Llama-3.1-8B-Instruct", 32, NULL, "0+2+8+13+14", LLAMA_8B_MAP, 0, "2+8+18", "2+13"},
    {"Meta-Llama-3.1-8B-Instruct", 32, NULL, "0+2+8+13+14", LLAMA_8B_MAP, 0, "2+8+18", "2+13"},
    {"Qwen3-8B", 36, NULL, "0+2+7+14+23", QWEN3_8B_MAP, 0, NULL, "2+12"},
    {"Qwen3-4B", 36, NULL, NULL, NULL, 0, NULL, "2+20"},
    {"SmolLM2-135M-Instruct", 30, NULL, NULL, NULL, 0, NULL, NULL},
};
enum { N_KNOWN = sizeof known / sizeof *known };

/* Where a name of the model was found, and the name. */
struct name {
    const char *text; /* NULL: none there */
    const char *where;
};
enum { NAMES = 4 };

static const char *last_part(const char *path, struct arena *a)
{
    size_t end = strlen(path), start;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/'; start--)
        ;
    return arena_strndup(a, path + start, end - start);
}

/* The model of a folder in the Hub's cache, models--OWNER--NAME/snapshots/COMMIT. */
static const char *hub_name(const char *path, struct arena *a)
{
    const char *repo = NULL;
    for (const char *p = path; (p = strstr(p, "models--")); p++)
        if (p == path || p[-1] == '/')
            repo = p + strlen("models--");
    const char *name = repo ? strstr(repo, "--") : NULL;
    const char *end = repo ? repo + strcspn(repo, "/") : NULL;
    return name && name < end ? arena_strndup(a, name + 2, (size_t)(end - name) - 2) : NULL;
}

/* The model that Transformers loaded before it saved this folder; newer versions do not write it. */
static const char *saved_name(const char *path, struct arena *a)
{
    struct str file = {0};
    json_t *config = NULL;
    file_join(&file, path, "config.json");
    const char *name = NULL;
    if (file_is_dir(path) && !json_read_file(&config, str_text(&file), NULL))
        name = json_string_value(json_object_get(config, "_name_or_path"));
    if (name)
        name = hub_name(name, a) ? hub_name(name, a) : last_part(name, a);
    json_decref(config);
    str_release(&file);
    return name && *name ? name : NULL;
}

/* In the order in which they count. */
static void find_names(const struct policy_model *m, struct arena *a, struct name names[NAMES])
{
    memset(names, 0, NAMES * sizeof *names);
    if (m->name) {
        names[0] = (struct name){m->name, "the run file's \"model_name\""};
        return;
    }
    if (!strcmp(m->path, "pocket")) {
        names[0] = (struct name){m->path, "the embedded model"};
        return;
    }
    names[1] = (struct name){last_part(m->path, a), "the folder's name"};
    names[2] = (struct name){hub_name(m->path, a), "the folder's place in the Hub's cache"};
    names[3] = (struct name){saved_name(m->path, a), "\"_name_or_path\" in config.json"};
}

const struct model_defaults *model_defaults_find(const struct policy_model *m, struct arena *a,
                                                 const char **taken)
{
    struct name names[NAMES];
    find_names(m, a, names);
    for (int k = 0; k < NAMES; k++)
        for (size_t i = 0; names[k].text && i < N_KNOWN; i++)
            if (!strcasecmp(known[i].model, names[k].text) && known[i].n_layers == m->n_layers) {
                *taken = arena_printf(a, "published for %s, which is %s", known[i].model, names[k].where);
                return &known[i];
            }
    return NULL;
}

static const char *published_layers(const struct model_defaults *d, enum model_default which)
{
    return which == MODEL_DEFAULT_DELTA     ? d->delta_layers
           : which == MODEL_DEFAULT_KASCADE ? d->kascade_anchors
           : which == MODEL_DEFAULT_OMNIKV  ? d->omnikv_layers
                                            : d->lessismore_layers;
}

/* Layers with full attention at the depths at which the published ones lie, as an example of the form; where
 * there is room, behind the layers that DELTA and OmniKV read whole by default. */
static void write_placeholders(struct str *out, enum model_default which, const struct policy_model *m)
{
    enum { DENSE = 2 };
    static const struct {
        int n;
        double at[5];
    } depths[] = {[MODEL_DEFAULT_DELTA] = {3, {2.0 / 28, 0.5, 0.8}},
                  [MODEL_DEFAULT_KASCADE] = {5, {0, 2.0 / 32, 0.25, 0.4, 0.5}},
                  [MODEL_DEFAULT_OMNIKV] = {3, {2.0 / 32, 0.25, 18.0 / 32}},
                  [MODEL_DEFAULT_LESSISMORE] = {2, {2.0 / 36, 1.0 / 3}}};
    int is_behind_dense = which == MODEL_DEFAULT_DELTA || which == MODEL_DEFAULT_OMNIKV;
    int *full = xmalloc((size_t)m->n_layers * sizeof *full), n = layer_list_full(m, full), last = -1,
        dense = 0;
    while (dense < n && full[dense] < DENSE)
        dense++;
    for (int i = 0; i < depths[which].n; i++) {
        int at = (int)(depths[which].at[i] * n + 0.5);
        if (is_behind_dense && at < dense && n > dense)
            at = dense;
        if (at <= last || at >= n)
            continue;
        str_printf(out, "%s%d", last < 0 ? "" : ", ", full[at]);
        last = at;
    }
    free(full);
}

static void list_known(struct str *out, enum model_default which)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (published_layers(&known[i], which))
            str_printf(out, "%s%s", out->len ? ", " : "", known[i].model);
}

int model_defaults_missing(const char *key, enum model_default which, const struct policy_model *m,
                           struct err *e)
{
    struct str models = {0}, layers = {0}, tried = {0};
    struct name names[NAMES];
    struct arena a = {0};
    find_names(m, &a, names);
    for (int k = 0; k < NAMES; k++)
        if (names[k].text)
            str_printf(&tried, "%s%.80s (%s)", tried.len ? ", " : "", names[k].text, names[k].where);
    list_known(&models, which);
    write_placeholders(&layers, which, m);
    int rc = err_set(
        e, ERR_USAGE,
        "\"%s\" is missing, and nobody has published them for this model of %d layers. Looked for: "
        "%s. Write into the run file's entry of this policy \"%s\": [%s], where the numbers are "
        "placeholders: find them with `kveval calibrate`. If it is one of %s, write \"model_name\" with "
        "that name beside \"model\"",
        key, m->n_layers, str_text(&tried), key, str_text(&layers), str_text(&models));
    arena_release(&a);
    str_release(&models);
    str_release(&layers);
    str_release(&tried);
    return rc;
}

int model_defaults_layers(struct policy_spec *s, const struct param_ints *layers, const char *key,
                          enum model_default which, const struct policy_model *m, struct arena *a,
                          struct err *e)
{
    if (layers->n < 0) {
        const char *taken = NULL, *where = arena_printf(a, "policy %s", policy_name(s->ops));
        const struct model_defaults *d = model_defaults_find(m, a, &taken);
        const char *text = d ? published_layers(d, which) : NULL;
        if (!text)
            return model_defaults_missing(key, which, m, e);
        if (param_set_text(policy_params(s->ops), s->params, a, key, text, where, e))
            return ERR_USAGE;
        s->taken = arena_printf(a, "%s %s, %s", key, text, taken);
    }
    return layer_list_check(layers, key, m, e);
}
