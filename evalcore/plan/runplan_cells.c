/* The cells of a plan: their names and identities, their policies and settings (contract: runplan_parts.h).
 */
#include "evalcore/plan/runplan_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"
#include "evalcore/plan/windows.h"

enum { SLUG_MAX = 96 };

static void slug_of(const struct plan_cell *c, struct str *slug)
{
    const char *model = strrchr(c->model->path, '/');
    const char *parts[] = {model && model[1] ? model + 1 : c->model->path, c->policy->label, c->task->label};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (i)
            str_putc(slug, '.');
        for (const char *t = parts[i]; *t && slug->len < SLUG_MAX; t++)
            if (isalnum((unsigned char)*t) || strchr("._+", *t))
                str_putc(slug, *t);
            else if (slug->len && strchr(" -/:,", *t) && slug->data[slug->len - 1] != '-')
                str_putc(slug, '-');
    }
}

/* The name of a cell's folder ends in digits over its identity, label, settings and task options, but not the
 * number of problems or samples, so that the folder stays when only these change. Two cells that would share
 * a folder are told apart by their problems. */
static void name_cell(struct runplan *p, struct plan_cell *c)
{
    struct str label = {0}, slug = {0}, all = {0};
    char hex[9];
    str_puts(&label, c->policy->label);
    if (*c->settings->swept)
        str_printf(&label, " %s", c->settings->swept);
    if (strcmp(c->task->label, task_short_name(c->task->ops)))
        str_printf(&label, "/%s", c->task->label);
    c->label = arena_strdup(&p->arena, str_text(&label));
    slug_of(c, &slug);
    json_t *settings = settings_json(&c->settings->s), *options = param_json(task_params, &c->task->options);
    json_object_del(settings, "samples");
    json_object_del(options, "problems");
    str_printf(&all, "%s\n%s\n", c->identity, c->label);
    json_canonical(&all, settings);
    json_canonical(&all, options);
    sha256_hex(str_text(&all), all.len, hex, 8);
    c->id = arena_printf(&p->arena, "%s-%s", str_text(&slug), hex);
    for (int i = 0; i < p->n_cells && &p->cells[i] != c; i++)
        if (!strcmp(p->cells[i].id, c->id)) {
            str_puts(&all, p->sets[c->set].file);
            sha256_hex(str_text(&all), all.len, hex, 8);
            c->id = arena_printf(&p->arena, "%s-%s", str_text(&slug), hex);
        }
    json_decref(settings);
    json_decref(options);
    str_release(&label);
    str_release(&slug);
    str_release(&all);
}

/* Layers that were chosen on the problems which then judge them would look better than they are. */
static int check_problems(const struct runplan *p, const struct plan_cell *c, struct err *e)
{
    const struct runfile_calibration *k = &c->policy->calibration;
    const struct task *t = &p->sets[c->set].task;
    for (size_t q = 0; q < t->n_problems; q++)
        for (int i = 0; i < k->n_problems; i++)
            if (!strcmp(t->problems[q].hash, k->problems[i]))
                return err_set(e, ERR_USAGE,
                               "%s: problem %s of task %s is among those that %s was calibrated on; evaluate "
                               "on others",
                               c->policy->where, t->problems[q].id, c->task->label, k->path);
    return 0;
}

/* The chat form's end token, unless it is one of the model's: then it ends nothing that would not end. */
static int own_end(const struct runplan *p, const struct plan_cell *c)
{
    const struct engine_info *info = &p->loaded[c->loaded_model].info;
    int end = p->sets[c->set].end_token;
    for (int i = 0; i < info->n_ends && !p->file->endpoint; i++)
        if (info->ends[i] == end)
            return -1;
    return end;
}

/* What the model adds to a resolved cell: identity, and the names that are made from it. */
int runplan_identify(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct loaded_model *loaded = &p->loaded[c->loaded_model];
    const struct runfile_calibration *k = &c->policy->calibration;
    if (k->path && strcmp(k->weights, loaded->info.weights))
        return err_set(
            e, ERR_USAGE,
            "%s: %s was made with the weights %.12s and %s has %.12s; run `kveval calibrate` for it%s",
            c->policy->where, k->path, k->weights, p->file->n_models > 1 ? c->model->label : "this model",
            loaded->info.weights,
            p->file->n_models > 1 ? ", or say with \"models\" with which model this policy goes" : "");
    struct policy_spec reference;
    int own_reference = 0;
    if (task_is_text(c->task->ops->metric) &&
        policy_spec_reference(&reference, &c->spec, &own_reference, &p->arena, e))
        return e->code;
    struct cell_identity identity = {.weights = loaded->info.weights,
                                     .configuration = loaded->info.configuration,
                                     .numerics = loaded->info.numerics,
                                     .policy = &c->spec,
                                     .settings = &c->settings->s,
                                     .task = task_short_name(c->task->ops),
                                     .task_version = c->task->ops->version,
                                     .end_token = own_end(p, c),
                                     .own_reference = own_reference};
    if (job_identity(&identity, c->identity, e))
        return err_add(e, "%s", c->policy->where), e->code;
    name_cell(p, c);
    return 0;
}

/* What a text's likelihood is compared with. */
static int bind_reference(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct loaded_model *loaded = &p->loaded[c->loaded_model];
    struct policy_spec reference;
    int own;
    if (loaded->info.max_batch < 2)
        return err_set(e, ERR_USAGE,
                       "%s: a text is decoded under the policy and under full attention side by side; use a "
                       "--max-batch of 2 or more",
                       c->task->where);
    int rc = policy_spec_reference(&reference, &c->policy->spec, &own, &p->arena, e);
    return rc || !loaded->engine ? rc : engine_policy(loaded->engine, &reference, &c->reference, e);
}

static int bind_cell(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct loaded_model *loaded = &p->loaded[c->loaded_model];
    struct policy_model m = {c->model->path, c->model->name, loaded->info.n_layers,
                             engine_windows(&loaded->info)};
    int rc = loaded->engine ? engine_policy(loaded->engine, &c->policy->spec, &c->instance, e)
                            : policy_spec_resolve(&c->spec, &c->policy->spec, &m, &p->arena, e);
    if (rc)
        return err_add(e, "%s", c->policy->where), rc;
    if (check_problems(p, c, e))
        return e->code;
    if (task_is_text(c->task->ops->metric) && bind_reference(p, c, e))
        return e->code;
    if (loaded->engine) {
        c->spec = c->instance->spec;
        return runplan_identify(p, c, e);
    }
    name_cell(p, c);
    return 0;
}

/* The settings that a task's cells are decoded with. A warning comes with the first point that needs it. */
static const struct runfile_settings *settings_for(struct runplan *p, const struct runfile_task *t,
                                                   const struct runfile_settings *given)
{
    if (!task_is_text(t->ops->metric) && !t->ops->option_metrics)
        return given;
    struct runfile_settings *own = arena_alloc(&p->arena, sizeof *own);
    int is_told = 0;
    for (const struct runfile_settings *k = p->file->settings; k < given; k++)
        is_told |= windows_settings(&own->s, &k->s);
    *own = *given;
    if (windows_settings(&own->s, &given->s) && !is_told)
        log_warn("%s: the tokens of %s are given, so of the generation settings only kv_dtype has an "
                 "effect on it; the others are ignored",
                 t->label, t->ops->option_metrics ? "options" : "a text");
    return own;
}

/* While the cells of one model are made: loaded models by settings, sets and settings by task and settings.
 */
struct model_parts {
    int model;
    const struct runfile_settings **used;
    int *set_of, *loaded_of;
};

static int open_parts(struct runplan *p, struct model_parts *m, const struct runplan_options *o,
                      struct sample_ids *ids, struct err *e)
{
    const struct runfile *f = p->file;
    int rc = 0;
    for (int s = 0; s < f->n_settings && !rc; s++)
        rc =
            runplan_open_model(p, m->model, (enum kv_dtype)f->settings[s].s.kv_dtype, o, &m->loaded_of[s], e);
    for (int t = 0; t < f->n_tasks && !rc; t++)
        for (int s = 0; s < f->n_settings && !rc; s++) {
            const struct runfile_settings **row = &m->used[t * f->n_settings];
            int same = 0, *set = &m->set_of[t * f->n_settings];
            if (!row[s])
                row[s] = settings_for(p, &f->tasks[t], &f->settings[s]);
            while (same < s && !runplan_same_prompts(&row[same]->s, &row[s]->s))
                same++;
            set[s] = same < s ? set[same] : p->n_sets;
            if (same < s)
                continue;
            const struct loaded_model *loaded = &p->loaded[m->loaded_of[s]];
            rc = runplan_open_set(p, &f->tasks[t], &row[s]->s, loaded, o, ids, e);
            if (!rc)
                rc = runplan_check_vocabulary(&p->sets[set[s]], loaded, e);
        }
    return rc;
}

static int check_overlap(const struct runplan *p, const struct model_parts *m, struct err *e)
{
    const struct runfile *f = p->file;
    const struct prompt_set **sets = xcalloc((size_t)f->n_tasks + 1, sizeof *sets);
    int rc = 0;
    for (int s = 0; s < f->n_settings && !rc; s++) {
        for (int t = 0; t < f->n_tasks; t++)
            sets[t] = &p->sets[m->set_of[t * f->n_settings + s]];
        rc = runplan_check_overlap(sets, f->n_tasks, e);
    }
    free(sets);
    return rc;
}

/* index: of the cell of each model, task, policy and settings, -1: there is none. */
static int add_cells(struct runplan *p, const struct model_parts *m, int *index, struct err *e)
{
    const struct runfile *f = p->file;
    int rc = 0;
    for (int t = 0; t < f->n_tasks && !rc; t++)
        for (int i = 0; i < f->n_policies && !rc; i++)
            for (int s = 0; s < f->n_settings && !rc; s++) {
                int *at = &index[((m->model * f->n_tasks + t) * f->n_policies + i) * f->n_settings + s];
                *at = -1;
                if (!runfile_has(f, i, m->model))
                    continue;
                *at = p->n_cells;
                struct plan_cell *c = &p->cells[p->n_cells++];
                c->model = &f->models[m->model];
                c->task = &f->tasks[t];
                c->policy = &f->policies[i];
                c->settings = m->used[t * f->n_settings + s];
                c->set = m->set_of[t * f->n_settings + s];
                c->loaded_model = m->loaded_of[s];
                c->baseline = -1;
                rc = bind_cell(p, c, e);
            }
    return rc;
}

/* The baseline may be a cell of a later model. */
static void find_baselines(struct runplan *p, const int *index)
{
    const struct runfile *f = p->file;
    for (int m = 0; m < f->n_models; m++)
        for (int t = 0; t < f->n_tasks && f->models[m].baseline_policy >= 0; t++)
            for (int i = 0; i < f->n_policies * f->n_settings; i++) {
                const struct runfile_model *k = &f->models[m];
                int own = index[(m * f->n_tasks + t) * f->n_policies * f->n_settings + i];
                int row = (k->baseline_model * f->n_tasks + t) * f->n_policies + k->baseline_policy;
                if (own >= 0)
                    p->cells[own].baseline = index[row * f->n_settings + i % f->n_settings];
            }
}

/* Answers are compared problem by problem, which a different question, or a differently asked one, would
 * spoil. */
static int check_baseline(const struct runplan *p, const struct plan_cell *c, struct err *e)
{
    const struct plan_cell *base = c->baseline < 0 ? c : &p->cells[c->baseline];
    const struct prompt_set *s = &p->sets[c->set], *t = &p->sets[base->set];
    for (size_t q = 0; q < s->task.n_problems && base->model != c->model; q++)
        if (q >= t->task.n_problems || strcmp(s->task.problems[q].id, t->task.problems[q].id) ||
            strcmp(s->rows[q].sha256, t->rows[q].sha256))
            return err_set(
                e, ERR_USAGE,
                "%s: the baseline is of model %s, and problem %s of task %s has other tokens there than "
                "with model %s (another tokenizer, chat template or context), so that their answers are "
                "no pair; let each model have its own baseline: \"baseline\": \"%s\"",
                p->file->path, base->model->label, s->task.problems[q].id, c->task->label, c->model->label,
                p->file->baseline);
    return 0;
}

int runplan_make_cells(struct runplan *p, const struct runplan_options *o, struct err *e)
{
    const struct runfile *f = p->file;
    size_t n_points = (size_t)f->n_tasks * (size_t)f->n_settings;
    size_t n_cells = (size_t)f->n_models * n_points * (size_t)f->n_policies;
    struct sample_ids ids;
    struct model_parts m = {.used = arena_alloc(&p->arena, (n_points + 1) * sizeof *m.used)};
    m.set_of = xcalloc(n_points + 1, sizeof *m.set_of);
    m.loaded_of = xcalloc((size_t)f->n_settings + 1, sizeof *m.loaded_of);
    int *index = xcalloc(n_cells + 1, sizeof *index);
    p->cells = xcalloc(n_cells + 1, sizeof *p->cells);
    int rc = sample_ids_parse(&ids, o->sample_ids, &p->arena, e);
    for (m.model = 0; m.model < f->n_models && !rc; m.model++) {
        rc = open_parts(p, &m, o, &ids, e);
        if (!rc && !m.model)
            rc = sample_ids_check(&ids, e);
        if (!rc)
            rc = check_overlap(p, &m, e);
        if (!rc)
            rc = add_cells(p, &m, index, e);
        if (rc && f->n_models > 1)
            err_add(e, "model %s", f->models[m.model].label);
    }
    if (!rc)
        find_baselines(p, index);
    for (int i = 0; i < p->n_cells && !rc; i++)
        rc = check_baseline(p, &p->cells[i], e);
    sample_ids_release(&ids);
    free(index);
    free(m.set_of);
    free(m.loaded_of);
    return rc;
}
