/* Binding a run file to a model (contract: runplan.h). Everything that can be wrong with the input is found
 * here, before anything is decoded. */
#include "evalcore/plan/runplan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"
#include "evalcore/plan/data_files.h"
#include "evalcore/plan/sample_ids.h"
#include "evalcore/plan/windows.h"
#include "evalcore/store/keymap.h"

enum { SLUG_MAX = 96 };

/* Fills what can be known of a model without its weights. */
static int describe_model(struct lane *lane, const struct engine_options *o, struct err *e)
{
    int rc = engine_describe(o, &lane->info, e);
    if (!rc)
        rc = engine_open_tokenizer(o->model, &lane->own, e);
    lane->tokenizer = lane->own;
    lane->chat = lane->own_chat = xcalloc(1, sizeof *lane->own_chat);
    if (!rc)
        rc = engine_open_chat(o->model, lane->own, lane->own_chat, e);
    return rc;
}

static int open_lane(struct runplan *p, enum kv_dtype kv_dtype, const struct runplan_options *o, int *index,
                     struct err *e)
{
    for (int i = 0; i < p->n_lanes; i++)
        if (p->lanes[i].kv_dtype == kv_dtype) {
            *index = i;
            return 0;
        }
    p->lanes = xrealloc(p->lanes, (size_t)(p->n_lanes + 1) * sizeof *p->lanes);
    struct lane *lane = &p->lanes[p->n_lanes];
    memset(lane, 0, sizeof *lane);
    lane->kv_dtype = kv_dtype;
    lane->options = (struct engine_options){.model = p->file->model,
                                            .model_name = p->file->model_name,
                                            .backend = o->backend,
                                            .ordinal = o->ordinal,
                                            .threads = o->threads,
                                            .max_batch = o->max_batch,
                                            .kv_dtype = kv_dtype,
                                            .cache_dir = o->cache_dir};
    *index = p->n_lanes++;
    int rc = o->dry ? describe_model(lane, &lane->options, e) : engine_open(&lane->engine, &lane->options, e);
    if (rc || o->dry)
        return rc;
    lane->info = *engine_info(lane->engine);
    lane->tokenizer = engine_tokenizer(lane->engine);
    lane->chat = engine_chat(lane->engine);
    return 0;
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Do two settings give the same token ids for a task's problems? Limits matter only where prompts are cut. */
static int same_prompts(const struct settings *a, const struct settings *b)
{
    return same_text(a->chat, b->chat) && same_text(a->prefix, b->prefix) &&
           same_text(a->suffix, b->suffix) && same_text(a->prompt, b->prompt) &&
           same_text(a->system, b->system) && a->thinking == b->thinking &&
           a->max_new_tokens == b->max_new_tokens && a->max_total_tokens == b->max_total_tokens;
}

static void name_set(struct runplan *p, struct prompt_set *s, const struct settings *settings)
{
    struct str text = {0};
    char hex[9];
    json_t *options = param_json(task_params, &s->task.options);
    json_object_set_new(options, "settings", settings_json(settings));
    json_canonical(&text, options);
    str_printf(&text, "%s %s %s", s->task.ops->version, s->task.source, s->chat ? s->chat->name : "none");
    for (size_t i = 0; i < s->task.n_problems; i++)
        str_printf(&text, "\n%s", s->task.problems[i].id);
    sha256_hex(str_text(&text), text.len, hex, 8);
    s->file = arena_printf(&p->arena, "problems/%s-%s.jsonl", s->task.ops->name, hex);
    json_decref(options);
    str_release(&text);
}

/* Opens the task and renders its prompts. */
static int open_set(struct runplan *p, const struct runfile_task *t, const struct settings *settings,
                    const struct lane *lane, const struct runplan_options *o, struct sample_ids *ids,
                    struct err *e)
{
    p->sets = xrealloc(p->sets, (size_t)(p->n_sets + 1) * sizeof *p->sets);
    struct prompt_set *s = &p->sets[p->n_sets];
    struct task_options options = t->options;
    struct chat_words words;
    memset(s, 0, sizeof *s);
    s->label = t->label;
    s->end_token = -1;
    if (!options.prompt && t->ops->prompts) /* a run's variant is meant for the tasks that have variants */
        options.prompt = settings->prompt;
    struct prompt_renderer renderer = {
        .set = s, .tokenizer = lane->tokenizer, .info = &lane->info, .settings = settings};
    struct task_counter counter = prompts_counter(&renderer);
    int rc = prompts_chat(&s->chat, lane->chat, settings->chat, e);
    if (rc)
        return rc;
    rc = task_open(&s->task, t->name, &options, o->data_dir, &counter, e);
    if (rc) {
        prompts_renderer_release(&renderer);
        return err_add(e, "%s", t->where), rc;
    }
    p->n_sets++;
    if (task_is_text(t->ops->metric) && (rc = windows_cut(s, lane->tokenizer, &lane->info, e))) {
        prompts_renderer_release(&renderer);
        return err_add(e, "%s", t->where), rc;
    }
    s->n_original = s->task.n_problems;
    sample_ids_filter(ids, &s->task, t->label, o->limit);
    if (s->chat && !prompts_words(&words, s->chat, settings, e))
        s->opens_thinking = chat_opens_thinking(s->chat, &words);
    if (s->chat && s->chat->end && lane->tokenizer)
        s->end_token = tokenizer_find(lane->tokenizer, s->chat->end);
    if (task_is_text(t->ops->metric))
        windows_rows(s);
    else
        rc = prompts_render(s, &renderer, e);
    prompts_renderer_release(&renderer);
    name_set(p, s, settings);
    return rc;
}

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

/* What the model adds to a resolved cell: identity, and the names that are made from it. */
static int identify_cell(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct lane *lane = &p->lanes[c->lane];
    struct cell_identity identity = {.weights = lane->info.weights,
                                     .numerics = lane->info.numerics,
                                     .policy = &c->spec,
                                     .settings = &c->settings->s,
                                     .task = c->task->name,
                                     .task_version = c->task->ops->version,
                                     .end_token = p->sets[c->set].end_token};
    if (job_identity(&identity, c->identity, e))
        return err_add(e, "%s", c->policy->where), e->code;
    name_cell(p, c);
    return 0;
}

/* What a text's likelihood is compared with. */
static int bind_reference(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct lane *lane = &p->lanes[c->lane];
    struct policy_spec full;
    if (lane->info.max_batch < 2)
        return err_set(e, ERR_USAGE,
                       "%s: a text is decoded under the policy and under full attention side by side; use a "
                       "--max-batch of 2 or more",
                       c->task->where);
    int rc = policy_spec_text(&full, "full", &p->arena, e);
    return rc || !lane->engine ? rc : engine_policy(lane->engine, &full, &c->reference, e);
}

static int bind_cell(struct runplan *p, struct plan_cell *c, struct err *e)
{
    const struct lane *lane = &p->lanes[c->lane];
    struct policy_model m = {p->file->model, p->file->model_name, lane->info.n_layers};
    int rc = lane->engine ? engine_policy(lane->engine, &c->policy->spec, &c->instance, e)
                          : policy_spec_resolve(&c->spec, &c->policy->spec, &m, &p->arena, e);
    if (rc)
        return err_add(e, "%s", c->policy->where), rc;
    if (task_is_text(c->task->ops->metric) && bind_reference(p, c, e))
        return e->code;
    if (lane->engine) {
        c->spec = c->instance->spec;
        return identify_cell(p, c, e);
    }
    name_cell(p, c);
    return 0;
}

/* Says once what a reader of the run file would not expect of "auto". */
static void tell_chat(const struct runplan *p)
{
    struct str text = {0};
    const struct runfile *f = p->file;
    int s = 0;
    while (s < f->n_settings && strcmp(f->settings[s].s.chat, "auto"))
        s++;
    if (s < f->n_settings && p->n_lanes && chat_own_notice(p->lanes[0].chat, &text))
        log_warn("%s", str_text(&text));
    str_release(&text);
}

int runplan_limit(const struct runplan *p, const struct plan_cell *c, size_t q)
{
    const struct prompt_set *s = &p->sets[c->set];
    const struct settings *t = &c->settings->s;
    int limit = settings_max_new(t, s->task.problems[q].max_new_tokens);
    int total = p->lanes[c->lane].info.max_context;
    if (t->max_total_tokens > 0 && t->max_total_tokens < total)
        total = t->max_total_tokens;
    int room = total - s->rows[q].n;
    return limit < room ? limit : room > 0 ? room : 0;
}

void runplan_tell_taken(const struct runplan *p)
{
    for (int i = 0; i < p->n_cells; i++) {
        const struct policy_spec *s = &p->cells[i].spec;
        int told = !s->taken;
        for (int k = 0; k < i && !told; k++)
            told = p->cells[k].spec.ops == s->ops && same_text(p->cells[k].spec.taken, s->taken);
        if (!told)
            log_info("policy %s: %s", policy_name(s->ops), s->taken);
    }
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

static int make_cells(struct runplan *p, const struct runplan_options *o, struct err *e)
{
    const struct runfile *f = p->file;
    size_t n_points = (size_t)f->n_tasks * (size_t)f->n_settings;
    const struct runfile_settings **used = arena_alloc(&p->arena, (n_points + 1) * sizeof *used);
    struct sample_ids ids;
    int *set_of = xcalloc(n_points + 1, sizeof *set_of);
    int *lane_of = xcalloc((size_t)f->n_settings + 1, sizeof *lane_of);
    int rc = sample_ids_parse(&ids, o->sample_ids, &p->arena, e);
    for (int s = 0; s < f->n_settings && !rc; s++)
        rc = open_lane(p, (enum kv_dtype)f->settings[s].s.kv_dtype, o, &lane_of[s], e);
    for (int t = 0; t < f->n_tasks && !rc; t++)
        for (int s = 0; s < f->n_settings && !rc; s++) {
            const struct runfile_settings **row = &used[t * f->n_settings];
            int same = 0;
            row[s] = settings_for(p, &f->tasks[t], &f->settings[s]);
            while (same < s && !same_prompts(&row[same]->s, &row[s]->s))
                same++;
            set_of[t * f->n_settings + s] = same < s ? set_of[t * f->n_settings + same] : p->n_sets;
            if (same == s)
                rc = open_set(p, &f->tasks[t], &row[s]->s, &p->lanes[lane_of[s]], o, &ids, e);
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

/* Checks the weights of each lane by their headers, binds its policies, and counts its memory. */
static int measure(struct runplan *p, struct err *e)
{
    const struct policy_spec **specs = xcalloc((size_t)p->n_cells + 1, sizeof *specs);
    for (int i = 0; i < p->n_lanes && !e->code; i++) {
        int n = 0;
        for (int c = 0; c < p->n_cells; c++)
            if (p->cells[c].lane == i)
                specs[n++] = &p->cells[c].policy->spec;
        engine_measure(&p->lanes[i].options, specs, n, &p->lanes[i].info, &p->lanes[i].memory, e);
    }
    free(specs);
    return e->code;
}

/* Reserves K and V for the engines of all lanes, which share a device. It comes last because the weights and
 * states of all of them must be loaded by then. */
static int reserve(struct runplan *p, struct err *e)
{
    for (int i = 0; i < p->n_lanes && !e->code; i++)
        if (p->lanes[i].engine)
            engine_reserve(p->lanes[i].engine, 1.0 / (p->n_lanes - i), e);
    return e->code;
}

static void make_jobs(struct runplan *p)
{
    struct keymap seen = {0};
    size_t cap = 0;
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *s = &p->sets[c->set];
        for (size_t q = 0; q < s->task.n_problems; q++)
            for (int k = 0; k < c->settings->s.samples; k++) {
                struct job_inputs in = {.identity = c->identity,
                                        .prompt_sha256 = s->rows[q].sha256,
                                        .problem = s->task.problems[q].id,
                                        .own_max_new = s->task.problems[q].max_new_tokens,
                                        .own_stop = s->task.problems[q].stop,
                                        .sample = k};
                struct job j = {.cell = i, .problem = (int)q, .sample = k};
                job_key(&in, j.key);
                if (keymap_add(&seen, j.key, p->n_jobs) != p->n_jobs)
                    continue; /* another cell has the same job */
                xgrow(&p->jobs, &cap, (size_t)p->n_jobs + 1, sizeof *p->jobs);
                p->jobs[p->n_jobs++] = j;
            }
    }
    keymap_release(&seen);
}

int runplan_build(struct runplan *p, const struct runfile *f, const struct runplan_options *o, struct err *e)
{
    memset(p, 0, sizeof *p);
    p->file = f;
    p->limit = o->limit;
    int rc = data_files_check(f, o->data_dir, e);
    if (!rc)
        rc = make_cells(p, o, e);
    if (!rc && o->dry)
        rc = measure(p, e);
    if (!rc)
        tell_chat(p);
    if (!rc)
        rc = reserve(p, e);
    if (!rc && !o->dry)
        make_jobs(p);
    if (rc)
        runplan_release(p);
    return rc;
}

int runplan_bind(struct runplan *p, const struct lane_facts *facts, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < p->n_lanes; i++) {
        struct engine_info *info = &p->lanes[i].info;
        info->weights = arena_strdup(&p->arena, facts[i].weights);
        info->numerics = arena_strdup(&p->arena, facts[i].numerics);
        info->device = arena_strdup(&p->arena, facts[i].device);
    }
    for (int i = 0; i < p->n_cells && !rc; i++)
        rc = identify_cell(p, &p->cells[i], e);
    if (!rc)
        make_jobs(p);
    return rc;
}

void runplan_release(struct runplan *p)
{
    for (int i = 0; i < p->n_sets; i++)
        prompts_release(&p->sets[i]);
    for (int i = 0; i < p->n_lanes; i++)
        engine_close(p->lanes[i].engine);
    for (int i = 0; i < p->n_lanes; i++)
        tokenizer_close(p->lanes[i].own);
    for (int i = 0; i < p->n_lanes; i++) {
        if (p->lanes[i].own_chat)
            chat_own_release(p->lanes[i].own_chat);
        free(p->lanes[i].own_chat);
    }
    free(p->sets);
    free(p->lanes);
    free(p->cells);
    free(p->jobs);
    arena_release(&p->arena);
    memset(p, 0, sizeof *p);
}
