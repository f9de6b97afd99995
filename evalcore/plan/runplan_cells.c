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

static void slug_of(const struct runplan *p, const struct plan_cell *c, struct str *slug)
{
    const char *model = strrchr(p->file->model, '/');
    const char *parts[] = {model && model[1] ? model + 1 : p->file->model, c->policy->label, c->task->label};
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
    if (strcmp(c->task->label, c->task->name))
        str_printf(&label, "/%s", c->task->label);
    c->label = arena_strdup(&p->arena, str_text(&label));
    slug_of(p, c, &slug);
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

/* What the model adds to a resolved cell: identity, and the names that are made from it. */
int runplan_identify(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct lane *lane = &p->lanes[c->lane];
    const struct runfile_calibration *k = &c->policy->calibration;
    if (k->path && strcmp(k->weights, lane->info.weights))
        return err_set(e, ERR_USAGE,
                       "%s: %s was made with the weights %.12s and this model has %.12s; run `kveval "
                       "calibrate` for it",
                       c->policy->where, k->path, k->weights, lane->info.weights);
    struct policy_spec reference;
    int own_reference = 0;
    if (task_is_text(c->task->ops->metric) &&
        policy_spec_reference(&reference, &c->spec, &own_reference, &p->arena, e))
        return e->code;
    struct cell_identity identity = {.weights = lane->info.weights,
                                     .numerics = lane->info.numerics,
                                     .policy = &c->spec,
                                     .settings = &c->settings->s,
                                     .task = c->task->name,
                                     .task_version = c->task->ops->version,
                                     .end_token = p->sets[c->set].end_token,
                                     .own_reference = own_reference};
    if (job_identity(&identity, c->identity, e))
        return err_add(e, "%s", c->policy->where), e->code;
    name_cell(p, c);
    return 0;
}

/* What a text's likelihood is compared with. */
static int bind_reference(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct lane *lane = &p->lanes[c->lane];
    struct policy_spec reference;
    int own;
    if (lane->info.max_batch < 2)
        return err_set(e, ERR_USAGE,
                       "%s: a text is decoded under the policy and under full attention side by side; use a "
                       "--max-batch of 2 or more",
                       c->task->where);
    int rc = policy_spec_reference(&reference, &c->policy->spec, &own, &p->arena, e);
    return rc || !lane->engine ? rc : engine_policy(lane->engine, &reference, &c->reference, e);
}

static int bind_cell(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct lane *lane = &p->lanes[c->lane];
    struct policy_model m = {p->file->model, p->file->model_name, lane->info.n_layers};
    int rc = lane->engine ? engine_policy(lane->engine, &c->policy->spec, &c->instance, e)
                          : policy_spec_resolve(&c->spec, &c->policy->spec, &m, &p->arena, e);
    if (rc)
        return err_add(e, "%s", c->policy->where), rc;
    if (check_problems(p, c, e))
        return e->code;
    if (task_is_text(c->task->ops->metric) && bind_reference(p, c, e))
        return e->code;
    if (lane->engine) {
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
    if (!task_is_text(t->ops->metric))
        return given;
    struct runfile_settings *own = arena_alloc(&p->arena, sizeof *own);
    int is_told = 0;
    for (const struct runfile_settings *k = p->file->settings; k < given; k++)
        is_told |= windows_settings(&own->s, &k->s);
    *own = *given;
    if (windows_settings(&own->s, &given->s) && !is_told)
        log_warn("%s: the tokens of a text are given, so of the generation settings only kv_dtype has an "
                 "effect on it; the others are ignored",
                 t->label);
    return own;
}

int runplan_make_cells(struct runplan *p, const struct runplan_options *o, struct err *e)
{
    const struct runfile *f = p->file;
    size_t n_points = (size_t)f->n_tasks * (size_t)f->n_settings;
    const struct runfile_settings **used = arena_alloc(&p->arena, (n_points + 1) * sizeof *used);
    struct sample_ids ids;
    int *set_of = xcalloc(n_points + 1, sizeof *set_of);
    int *lane_of = xcalloc((size_t)f->n_settings + 1, sizeof *lane_of);
    int rc = sample_ids_parse(&ids, o->sample_ids, &p->arena, e);
    for (int s = 0; s < f->n_settings && !rc; s++)
        rc = runplan_open_lane(p, (enum kv_dtype)f->settings[s].s.kv_dtype, o, &lane_of[s], e);
    for (int t = 0; t < f->n_tasks && !rc; t++)
        for (int s = 0; s < f->n_settings && !rc; s++) {
            const struct runfile_settings **row = &used[t * f->n_settings];
            int same = 0;
            row[s] = settings_for(p, &f->tasks[t], &f->settings[s]);
            while (same < s && !runplan_same_prompts(&row[same]->s, &row[s]->s))
                same++;
            set_of[t * f->n_settings + s] = same < s ? set_of[t * f->n_settings + same] : p->n_sets;
            if (same == s)
                rc = runplan_open_set(p, &f->tasks[t], &row[s]->s, &p->lanes[lane_of[s]], o, &ids, e);
        }
    if (!rc)
        rc = sample_ids_check(&ids, e);
    p->cells =
        xcalloc((size_t)f->n_tasks * (size_t)f->n_policies * (size_t)f->n_settings + 1, sizeof *p->cells);
    for (int t = 0; t < f->n_tasks && !rc; t++)
        for (int i = 0; i < f->n_policies && !rc; i++)
            for (int s = 0; s < f->n_settings && !rc; s++) {
                struct plan_cell *c = &p->cells[p->n_cells++];
                c->task = &f->tasks[t];
                c->policy = &f->policies[i];
                c->settings = used[t * f->n_settings + s];
                c->set = set_of[t * f->n_settings + s];
                c->lane = lane_of[s];
                c->baseline = f->baseline_policy < 0
                                  ? -1
                                  : (t * f->n_policies + f->baseline_policy) * f->n_settings + s;
                rc = bind_cell(p, c, e);
            }
    sample_ids_release(&ids);
    free(set_of);
    free(lane_of);
    return rc;
}
