/* What a sweep leaves in its folder beside journals: the resolved configuration, the problems, the manifest.
 * run_load() reads these and needs neither model nor data. Only manifest.json holds a date. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/store/run_fields.h"
#include "evalcore/store/runfolder.h"
#include "evalcore/plan/runplan.h"
#include "evalcore/base/json.h"
#include "evalcore/cli/version.h"

/* What stood around the task's own text in the prompt, and that text where the model got another: a part of
 * it, or all that cannot be told apart. */
static void put_prompt(json_t *o, const struct runplan *p, const struct prompt_set *s, size_t i)
{
    const struct problem *own = &s->task.problems[i];
    const struct plan_cell *c = p->cells;
    while (c < p->cells + p->n_cells && &p->sets[c->set] != s)
        c++;
    const struct tokenizer *t = c < p->cells + p->n_cells ? p->loaded[c->loaded_model].tokenizer : NULL;
    json_object_set_new(o, "prompt", json_text(own->prompt, own->prompt_len));
    if (!t || task_is_text(s->task.ops->metric) || own->options)
        return;
    struct prompt_text x = {0};
    prompts_text(&x, s, i, t, &c->settings->s);
    const char *text = str_text(&x.text);
    size_t n = x.own[1] - x.own[0];
    json_object_set_new(o, "before", json_text(text, x.own[0]));
    if (n != own->prompt_len || memcmp(text + x.own[0], own->prompt, n))
        json_object_set_new(o, "asked", json_text(text + x.own[0], n));
    json_object_set_new(o, "after", json_text(text + x.own[1], x.text.len - x.own[1]));
    str_release(&x.text);
}

/* Options that are scored. */
static void put_options(json_t *o, const struct problem *p, int is_secret)
{
    json_t *texts = json_array(), *lengths = json_array();
    for (int i = 0; i < p->n_options; i++) {
        json_array_append_new(texts, json_text_of(p->options[i].shown));
        json_array_append_new(lengths, json_integer(p->options[i].length));
    }
    json_object_set_new(o, "option_lengths", lengths);
    if (!is_secret)
        json_object_set(o, "options", texts);
    json_decref(texts);
}

static json_t *problem_json(const struct runplan *plan, const struct prompt_set *s, size_t i)
{
    const struct problem *p = &s->task.problems[i];
    int is_secret = s->task.ops->is_restricted;
    const struct run_problem kept = {
        .id = p->id,
        .prompt_sha256 = s->rows[i].sha256,
        .prompt_tokens = s->rows[i].n,
        .is_rendered = p->is_rendered,
        .thinking_open = p->is_rendered ? p->thinking_open
                         : p->no_chat   ? s->opens_bare
                                        : s->opens_thinking,
        .answer_prefix = is_secret ? NULL : p->answer_prefix,
        .n_options = p->n_options,
        .option_order = p->option_order,
        .subset = p->subset,
        .tests = p->tests,
        .metric = p->metric,
        .first_line = p->first_line,
        .own_max_new = p->max_new_tokens,
        .own_stop = p->stop,
    };
    json_t *o = run_fields_json(run_problem_fields, &kept), *golds = json_array();
    if (!is_secret)
        put_prompt(o, plan, s, i);
    for (int g = 0; g < p->n_golds; g++)
        json_array_append_new(golds, json_text(p->golds[g], strlen(p->golds[g])));
    if (!p->n_golds && p->gold)
        json_array_append_new(golds, json_text(p->gold, p->gold_len));
    json_object_set_new(o, "golds", golds);
    if (p->options)
        put_options(o, p, is_secret);
    if (p->n_classes) {
        json_t *classes = json_array();
        for (int k = 0; k < p->n_classes; k++)
            json_array_append_new(classes, json_text_of(p->all_classes[k]));
        json_object_set_new(o, "all_classes", classes);
    }
    return o;
}

struct digest {
    char hex[65];
};

/* *digest: of the file, for the configuration. */
static int write_problems(const struct runplan *p, const struct prompt_set *s, const char *dir,
                          struct digest *digest, struct err *e)
{
    struct str text = {0}, path = {0};
    for (size_t i = 0; i < s->task.n_problems; i++) {
        json_t *o = problem_json(p, s, i);
        json_canonical(&text, o);
        str_putc(&text, '\n');
        json_decref(o);
    }
    sha256_hex(str_text(&text), text.len, digest->hex, 64);
    file_join(&path, dir, s->file);
    int rc = file_write_atomic(path.data, str_text(&text), text.len, e);
    str_release(&path);
    str_release(&text);
    return rc;
}

static json_t *task_json(const struct prompt_set *s, const struct digest *problems)
{
    const struct run_task kept = {
        .name = task_short_name(s->task.ops),
        .label = s->label,
        .version = s->task.ops->version,
        .metric = s->task.ops->metric,
        .kind = s->task.ops->kind,
        .option_metrics = s->task.ops->option_metrics,
        .source = s->task.source,
        .file = s->file,
        .problems_sha256 = problems->hex,
        .tests_file = s->task.tests_file,
        .n_problems = (int)s->task.n_problems,
        .n_original = (int)s->n_original,
        .set = s->known && *s->known ? s->known : NULL,
        .set_size = s->facts.size,
        .set_first = s->facts.first,
        .is_misnamed = s->facts.size && !s->facts.is_it && !s->facts.is_renamed,
    };
    json_t *o = run_fields_json(run_task_fields, &kept);
    json_object_set_new(o, "options", param_json(task_params, &s->task.options));
    json_object_set_new(o, "chat", json_string(s->chat ? s->chat->name : "none"));
    const char *definition = task_definition(s->task.ops); /* as text: the order of its keys counts */
    if (definition)
        json_object_set_new(o, "definition", json_text_of(definition));
    return o;
}

/* An option's value as text; "" where the policy lacks it. */
static const char *option_text(const struct policy_spec *s, const char *key, struct arena *a)
{
    struct str text = {0};
    const struct param *p = key ? param_find(policy_params(s->ops), key) : NULL;
    if (p)
        param_text(p, s->params, &text);
    const char *kept = arena_strdup(a, str_text(&text));
    str_release(&text);
    return kept;
}

/* The name of the policy's budget: the first of its budget options that is set; NULL: none is. */
static const char *budget_key(const struct policy_spec *s)
{
    char name[64];
    for (const char *keys = policy_budget_keys(s->ops); keys && *keys;) {
        size_t n = strcspn(keys, ",");
        memcpy(name, keys, n < sizeof name ? n : sizeof name - 1);
        name[n < sizeof name ? n : sizeof name - 1] = 0;
        const struct param *p = param_find(policy_params(s->ops), name);
        if (p && param_is_set(p, s->params))
            return p->name;
        keys += n + (keys[n] == ',');
    }
    return NULL;
}

static const char *budget_rule(const struct policy_spec *s, struct arena *a)
{
    struct str budget = {0};
    policy_describe_budget(s, &budget);
    const char *kept = arena_strdup(a, str_text(&budget));
    str_release(&budget);
    return kept;
}

static json_t *cell_json(const struct runplan *p, const struct plan_cell *c, struct arena *a)
{
    const struct settings *s = &c->settings->s;
    const char *key = budget_key(&c->spec);
    const struct cell kept = {
        .id = c->id,
        .label = c->label,
        .policy_label = c->policy->label,
        .model = c->model->shown,
        .model_path = c->model->shown != c->model->path ? c->model->path : NULL,
        .weights = p->file->n_models > 1 ? p->loaded[c->loaded_model].info.weights : NULL,
        .configuration = p->file->n_models > 1 ? p->loaded[c->loaded_model].info.configuration : NULL,
        .policy = c->policy->name,
        .preset = c->spec.preset ? c->spec.preset : "",
        .k_pages = option_text(&c->spec, "k_pages", a),
        .l_pages = option_text(&c->spec, "l_pages", a),
        .budget_tokens = option_text(&c->spec, "budget_tokens", a),
        .budget_key = key ? key : "",
        .budget = option_text(&c->spec, key, a),
        .budget_rule = budget_rule(&c->spec, a),
        .settings_label = c->settings->swept,
        .identity = c->identity,
        .samples = s->samples,
        .max_new_tokens = s->max_new_tokens == PARAM_UNSET_INT ? SETTINGS_MAX_NEW : s->max_new_tokens,
        .task_index = c->set,
        .baseline = c->baseline,
        .temperature = s->temperature,
    };
    json_t *o = run_fields_json(run_cell_fields, &kept);
    json_object_set_new(o, "params", policy_spec_to_json(&c->spec));
    json_object_set_new(o, "settings", settings_json(s));
    if (c->spec.taken)
        json_object_set_new(o, "taken", json_text_of(c->spec.taken));
    return o;
}

/* The run file with every text valid UTF-8. */
static json_t *source_json(const struct runfile *f)
{
    struct str text = {0};
    json_canonical(&text, f->source);
    json_t *o = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);
    str_release(&text);
    return o ? o : json_null();
}

/* The first loaded model of each model, whose facts stand for it. */
static const struct loaded_model *loaded_of(const struct runplan *p, int model)
{
    const struct loaded_model *l = p->loaded;
    while (l->model != model)
        l++;
    return l;
}

/* Of a model with windows. */
static json_t *windows_json(const struct engine_info *info)
{
    json_t *list = info->n_windows ? json_array() : NULL;
    for (int l = 0; l < info->n_layers && list; l++)
        json_array_append_new(list, json_integer(info->window[l]));
    return list;
}

static json_t *models_json(const struct runplan *p)
{
    json_t *list = json_array();
    for (int m = 0; m < p->file->n_models; m++) {
        const struct runfile_model *k = &p->file->models[m];
        const struct loaded_model *loaded = loaded_of(p, m);
        const struct engine_info *info = &loaded->info;
        char prompts[65] = "";
        if (!p->file->endpoint)
            engine_hash_prompts(loaded->tokenizer, loaded->chat, prompts);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:i, s:o*}", "label",
                                              json_text_of(k->label), "model", json_text_of(k->shown), "path",
                                              json_text_of(k->path), "family", info->family, "weights",
                                              info->weights, "configuration", info->configuration, "prompts",
                                              prompts, "max_context", info->max_context, "windows",
                                              windows_json(info)));
    }
    return list;
}

/* What is said of each model, once where it is the same, and else one after the other. */
enum said_of { SAID_MODEL, SAID_FAMILY, SAID_WEIGHTS, SAID_CONFIGURATION };
static const char *join_names(const struct runplan *p, enum said_of what, struct arena *a)
{
    struct str all = {0};
    const char *first = NULL;
    int same = 1;
    for (int m = 0; m < p->file->n_models; m++) {
        const struct engine_info *info = &loaded_of(p, m)->info;
        const char *text = what == SAID_MODEL     ? p->file->models[m].shown
                           : what == SAID_FAMILY  ? info->family
                           : what == SAID_WEIGHTS ? info->weights
                                                  : info->configuration;
        first = first ? first : text;
        same &= !strcmp(first, text);
        str_printf(&all, "%s%s", m ? ", " : "", text);
    }
    const char *kept = arena_strdup(a, same ? first : str_text(&all));
    str_release(&all);
    return kept;
}

/* The configuration, sealed. problems: the digests of the sets' files. */
static json_t *config_json(const struct runplan *p, const struct digest *problems, struct arena *a)
{
    const struct engine_info *info = &p->loaded[0].info;
    const struct run kept = {
        .version = KVEVAL_VERSION,
        .model = join_names(p, SAID_MODEL, a),
        .weights = join_names(p, SAID_WEIGHTS, a),
        .configuration = join_names(p, SAID_CONFIGURATION, a),
        .numerics = info->numerics,
        .device = info->device,
        .baseline = p->file->baseline,
        .margin = p->file->margin,
    };
    json_t *tasks = json_array(), *cells = json_array();
    for (int i = 0; i < p->n_sets; i++)
        json_array_append_new(tasks, task_json(&p->sets[i], &problems[i]));
    for (int i = 0; i < p->n_cells; i++)
        json_array_append_new(cells, cell_json(p, &p->cells[i], a));
    json_t *o = run_fields_json(run_config_fields, &kept);
    json_object_set_new(o, "schema", json_integer(CONFIG_VERSION));
    json_object_set_new(o, "run_file", json_text_of(p->file->path));
    json_object_set_new(o, "family", json_text_of(join_names(p, SAID_FAMILY, a)));
    json_object_set_new(o, "max_context", json_integer(info->max_context));
    json_object_set_new(o, "limit", p->limit ? json_integer(p->limit) : json_null());
    json_object_set_new(o, "run", source_json(p->file));
    json_object_set_new(o, "tasks", tasks);
    json_object_set_new(o, "cells", cells);
    json_object_set_new(o, "models", models_json(p));
    if (p->file->published)
        json_object_set(o, "published", p->file->published);
    runfolder_seal(o);
    return o;
}

static int write_json(const json_t *o, const char *dir, const char *name, struct err *e)
{
    struct str path = {0}, text = {0};
    char *dump = o ? json_dumps(o, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    if (!dump)
        return err_set(e, ERR_FORMAT, "%s cannot be written: a text in it is not valid UTF-8", name);
    str_puts(&text, dump);
    str_putc(&text, '\n');
    file_join(&path, dir, name);
    int rc = file_write_atomic(path.data, text.data, text.len, e);
    free(dump);
    str_release(&text);
    str_release(&path);
    return rc;
}

static int write_manifest(const struct runplan *p, const char *dir, struct arena *a, struct err *e)
{
    struct str path = {0};
    json_t *old = NULL, *o;
    char now[32];
    time_t t = time(NULL);
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    file_join(&path, dir, "manifest.json");
    if (file_exists(path.data) && !file_plain(path.data, NULL))
        json_read_file(&old, path.data, NULL);
    const char *created = json_string_value(json_object_get(old, "created"));
    o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:i, s:I, s:o, s:s}", "schema", 1, "program", "kveval",
                  "version", KVEVAL_VERSION, "created", created ? created : now, "updated", now, "run_file",
                  json_text_of(p->file->path), "cells", p->n_cells, "jobs", (json_int_t)p->n_jobs, "weights",
                  json_text_of(join_names(p, SAID_WEIGHTS, a)), "grader", answer_check_version());
    int rc = write_json(o, dir, "manifest.json", e);
    json_decref(o);
    json_decref(old);
    str_release(&path);
    return rc;
}

/* Problem files that are no longer used go after the configuration is replaced, because the old one needs
 * them. */
int runplan_write(const struct runplan *p, const char *dir, int *n_dropped, struct err *e)
{
    struct str problems = {0};
    struct digest *digest = xcalloc((size_t)p->n_sets + 1, sizeof *digest);
    struct arena a = {0};
    json_t *config = NULL, *old = runfolder_config(dir);
    *n_dropped = 0;
    file_join(&problems, dir, "problems");
    int rc = file_mkdir_own(problems.data, e);
    if (!rc)
        runfolder_warn_changed(dir, old);
    for (int i = 0; i < p->n_sets && !rc; i++)
        rc = write_problems(p, &p->sets[i], dir, &digest[i], e);
    if (!rc) {
        config = config_json(p, digest, &a);
        rc = write_json(config, dir, "config.resolved.json", e);
    }
    if (!rc) {
        runfolder_warn_models(dir, old, config);
        *n_dropped = runfolder_dropped_cells(old, config);
        rc = runfolder_drop_problems(dir, old, config, e);
    }
    if (!rc)
        rc = write_manifest(p, dir, &a, e);
    json_decref(config);
    json_decref(old);
    free(digest);
    arena_release(&a);
    str_release(&problems);
    return rc;
}
