/* A run folder as one side of the gate (contract: gate.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/gate/gate.h"
#include "evalcore/store/grades.h"
#include "tasks/task.h"

const char *gate_setting_label(const char *policy, const char *settings, struct arena *a)
{
    return settings && *settings ? arena_printf(a, "%s %s", policy, settings) : policy;
}

int gate_is_served(const struct gate_side *s)
{
    return s->numerics && !strncmp(s->numerics, "endpoint:", 9);
}

int gate_same_class(const struct gate_side *base, const struct gate_side *now)
{
    return !strcmp(base->numerics, now->numerics) &&
           (!gate_is_served(base) || !strcmp(base->weights, now->weights));
}

static void add_sums(struct gate_sums *to, const struct gate_sums *s)
{
    to->n += s->n;
    to->right += s->right;
    to->cut += s->cut;
    to->unparsed += s->unparsed;
    to->errors += s->errors;
    to->failed += s->failed;
    to->score += s->score;
    to->tokens += s->tokens;
    to->log_tokens += s->log_tokens;
    to->reads += s->reads;
    to->aux += s->aux;
    to->full += s->full;
}

struct gate_sums gate_sums(const struct gate_problem *p, int n)
{
    struct gate_sums sum = {0};
    if (!p->sample || !n)
        return p->all;
    for (int i = 0; i < n && i < p->n; i++)
        add_sums(&sum, &p->sample[i]);
    return sum;
}

static struct gate_sums sums_of(const struct record *r)
{
    int has_failed = r->finish == FINISHED_ERROR;
    return (struct gate_sums){.n = 1,
                              .right = r->score > 0.5,
                              .cut = r->verdict == VERDICT_TRUNCATED || r->verdict == VERDICT_UNFINISHED,
                              .unparsed = r->verdict == VERDICT_UNPARSED,
                              .errors = r->verdict == VERDICT_ERROR,
                              .failed = has_failed,
                              .score = r->score,
                              .tokens = has_failed ? 0 : r->tokens,
                              .log_tokens = has_failed ? 0 : log1p(r->tokens),
                              .reads = r->kv.reads,
                              .aux = r->kv.aux_reads,
                              .full = r->kv.reads_full};
}

/* Without what may differ between two nights: the seed, and how many samples are drawn. */
static const char *settings_text(const char *json, struct arena *a)
{
    struct str text = {0};
    json_t *o = json_loads(json, 0, NULL);
    json_object_del(o, "samples");
    json_object_del(o, "seed");
    if (o)
        json_canonical(&text, o);
    const char *kept = arena_strdup(a, str_text(&text));
    json_decref(o);
    str_release(&text);
    return kept;
}

/* Names of files are left out: what a file holds is compared problem by problem, wherever it lies. */
static const char *facts_text(const struct run_task *t, struct arena *a)
{
    struct str text = {0};
    json_t *options = json_loads(t->options, 0, NULL);
    for (const struct param *p = task_params; options && p->name; p++)
        if (p->type == PARAM_FILE)
            json_object_del(options, p->name);
    json_t *o = json_pack("{s:s, s:s, s:s, s:o}", "name", t->name, "version", t->version, "metric", t->metric,
                          "options", options ? options : json_null());
    json_canonical(&text, o);
    const char *kept = arena_strdup(a, str_text(&text));
    json_decref(o);
    str_release(&text);
    return kept;
}

static const char *gold_digest(const struct run_problem *p, struct arena *a)
{
    char hex[17];
    const char *text =
        arena_printf(a, "%s %d %s", grade_gold_digest(p, a), p->own_max_new, p->own_stop ? p->own_stop : "");
    sha256_hex(text, strlen(text), hex, 16);
    return arena_strdup(a, hex);
}

/* Greedy answers to one problem are all the same, so the first counts. Samples must follow each other from 0
 * on: a look is at the first so many. */
static void fill_cell(struct gate_cell *out, const struct cell *c, struct arena *a)
{
    int n = c->task->n_problems, most = c->temperature > 0 ? c->samples : 1;
    out->problems = arena_alloc(a, ((size_t)n + 1) * sizeof *out->problems);
    out->n_problems = n;
    out->is_binary = 1;
    struct gate_sums *sample = arena_alloc(a, ((size_t)n * (size_t)most + 1) * sizeof *sample);
    for (int i = 0; i < n; i++) {
        const struct run_problem *p = &c->task->problems[i];
        out->problems[i] = (struct gate_problem){.id = arena_strdup(a, p->id),
                                                 .prompt_sha256 = arena_strndup(a, p->prompt_sha256, 16),
                                                 .gold = gold_digest(p, a),
                                                 .chance = run_chance(p),
                                                 .sample = sample + (size_t)i * (size_t)most};
    }
    for (int i = 0; i < c->n_records; i++) {
        const struct record *r = &c->records[i];
        struct gate_problem *p = &out->problems[r->problem];
        if (r->sample != p->n || p->n >= most)
            continue;
        struct gate_sums s = sums_of(r);
        sample[(size_t)r->problem * (size_t)most + (size_t)p->n++] = s;
        add_sums(&p->all, &s);
        out->is_binary &= r->score == 0 || r->score == 1;
    }
}

static int check_run(const struct run *r, int may_be_partial, struct err *e)
{
    if (r->n_bad_lines)
        return err_set(e, ERR_FORMAT,
                       "%s: %ld journal lines are damaged; repeat the sweep, which decodes their jobs again",
                       r->dir, r->n_bad_lines);
    if (r->n_conflicts)
        return err_set(
            e, ERR_FORMAT,
            "%s: %ld jobs were decoded twice with different tokens, so results are not reproducible "
            "here; use a new folder",
            r->dir, r->n_conflicts);
    for (int i = 1; i < r->n_cells; i++)
        if (strcmp(r->cells[i].model, r->cells[0].model) != 0)
            return err_set(
                e, ERR_USAGE,
                "%s has several models (%s), and a gate judges one; decode each with --model into a "
                "folder of its own",
                r->dir, r->model);
    if (!may_be_partial && !r->n_done)
        return err_set(e, ERR_IO,
                       "%s holds no completions, so there is nothing to compare; run kveval sweep -o %s",
                       r->dir, r->dir);
    if (!may_be_partial && r->n_done < r->n_expected)
        return err_set(e, ERR_IO, "%s is unfinished: %ld of %ld jobs are done; repeat the sweep to go on",
                       r->dir, r->n_done, r->n_expected);
    return 0;
}

int gate_side_run(struct gate_side *out, const struct run *r, int may_be_partial, struct arena *a,
                  struct err *e)
{
    *out = (struct gate_side){.path = arena_strdup(a, r->dir),
                              .model = arena_strdup(a, r->model),
                              .weights = arena_strdup(a, r->weights),
                              .configuration = arena_strdup(a, r->configuration),
                              .numerics = arena_strdup(a, r->numerics),
                              .grader = arena_strdup(a, r->grader ? r->grader : ""),
                              .version = arena_strdup(a, r->version),
                              .margin = r->margin};
    if (check_run(r, may_be_partial, e))
        return e->code;
    out->cells = arena_alloc(a, ((size_t)r->n_cells + 1) * sizeof *out->cells);
    for (int i = 0; i < r->n_cells; i++) {
        const struct cell *c = &r->cells[i];
        if (c->task->is_text) {
            out->n_texts++;
            continue;
        }
        struct gate_cell *g = &out->cells[out->n_cells++];
        g->setting = arena_strdup(a, gate_setting_label(c->policy_label, c->settings_label, a));
        g->task = arena_strdup(a, c->task->label);
        g->policy = arena_strdup(a, c->params);
        g->settings = settings_text(c->settings, a);
        g->facts = facts_text(c->task, a);
        g->identity = c->identity ? arena_strdup(a, c->identity) : NULL;
        g->context = c->max_context;
        fill_cell(g, c, a);
    }
    if (!out->n_cells)
        return err_set(e, ERR_IO, "%s has no answers to compare%s", r->dir,
                       out->n_texts ? ": its tasks are texts, which have likelihoods instead" : "");
    return 0;
}
