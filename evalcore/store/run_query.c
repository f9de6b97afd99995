/* What a loaded run is asked (contract: run.h): its cells, how long completions may become, and what a record
 * holds beside its figures, which is read from its journal on each call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/store/curve_json.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/run.h"
#include "evalcore/store/run_parts.h"
#include "tasks/task.h"

int run_same_model(const struct cell *a, const struct cell *b)
{
    return !strcmp(a->model_path ? a->model_path : a->model, b->model_path ? b->model_path : b->model);
}

double run_chance(const struct run_problem *p)
{
    int right = p->option_lengths ? p->n_golds : 1; /* where options are scored, any of the accepted ones */
    if (p->n_options < 1)
        return 0;
    return right > p->n_options ? 1 : (double)(right > 1 ? right : 1) / p->n_options;
}

int run_prompt(const struct run_problem *p, struct str *out, size_t own[2])
{
    int is_whole = p->before && p->after;
    if (is_whole)
        str_add(out, p->before, p->before_len);
    own[0] = out->len;
    if (is_whole && p->asked)
        str_add(out, p->asked, p->asked_len);
    else if (p->prompt)
        str_add(out, p->prompt, p->prompt_len);
    own[1] = out->len;
    if (is_whole)
        str_add(out, p->after, p->after_len);
    return is_whole;
}

int run_task_is_restricted(const struct run_task *t)
{
    const struct task_ops *ops = task_of_run(t->name, t->kind);
    int is_restricted = ops && ops->is_restricted;
    for (int i = 0; i < t->n_problems && !is_restricted; i++)
        is_restricted = !t->problems[i].prompt;
    return is_restricted;
}

int run_find_cell(const struct run *r, const char *name, struct err *e)
{
    int found = -1, n = 0;
    for (int i = 0; i < r->n_cells; i++)
        if (!strcmp(r->cells[i].id, name))
            return i;
    for (int pass = 0; pass < 2 && !n; pass++) /* a whole label before a part of an id */
        for (int i = 0; i < r->n_cells; i++)
            if (pass ? strstr(r->cells[i].id, name) != NULL : !strcmp(r->cells[i].label, name)) {
                n++;
                found = i;
            }
    if (n == 1)
        return found;
    struct str some = {0};
    int shown = 0;
    for (int i = 0; i < r->n_cells && shown < 6; i++)
        if (!n || strstr(r->cells[i].id, name) || !strcmp(r->cells[i].label, name))
            str_printf(&some, "%s%s", shown++ ? ", " : "", r->cells[i].id);
    err_set(e, ERR_USAGE, "%s: %s \"%s\"; %s %s%s", r->dir, n ? "several cells match" : "no cell is named",
            name, n ? "these do:" : "there are", str_text(&some), r->n_cells > shown ? ", ..." : "");
    str_release(&some);
    return -1;
}

/* The object that holds a cell's context: each of several models has one of its own. */
static const json_t *config_of(const struct run *r, const struct cell *c)
{
    const json_t *models = json_object_get(r->config, "models");
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *m = json_array_get(models, i);
        const char *name = json_string_value(json_object_get(m, "model"));
        if (name && !strcmp(name, c->model))
            return m;
    }
    return r->config;
}

static int load_windows(const struct run *r, struct cell *c, const char *where, struct arena *a,
                        struct err *e)
{
    const json_t *list = json_object_get(config_of(r, c), "windows");
    size_t n = json_array_size(list);
    int *windows = arena_alloc(a, (n + 1) * sizeof *windows);
    for (size_t i = 0; i < n; i++) {
        json_int_t w = json_integer_value(json_array_get(list, i));
        if (w < 0 || w > INT32_MAX)
            return err_set(e, ERR_FORMAT, "%s: cell \"%s\" has a window out of range", where, c->id);
        windows[i] = (int)w;
    }
    c->windows = n ? windows : NULL;
    c->n_layers = (int)n;
    return 0;
}

double run_own_tokens(const struct cell *c, double context)
{
    double sum = 0;
    for (int l = 0; l < c->n_layers; l++)
        sum += c->windows[l] && c->windows[l] < context ? c->windows[l] : context;
    return c->n_layers ? sum / c->n_layers : context;
}

double run_own_reads(const struct cell *c, double prompt, double n)
{
    double sum = 0;
    for (int l = 0; l < (c->n_layers ? c->n_layers : 1); l++) {
        int w = c->n_layers ? c->windows[l] : 0;
        double below = w ? fmin(n, fmax(0, w - prompt)) : n; /* steps whose context the window holds */
        sum += below * prompt + below * (below + 1) / 2 + (n - below) * w;
    }
    return c->n_layers ? sum / c->n_layers : sum;
}

int run_load_limits(struct run *r, struct cell *c, const json_t *settings, const char *where, struct err *e)
{
    int64_t total = 0, context = 0;
    int rc = json_opt_int(settings, "max_total_tokens", &total, where, e);
    if (!rc)
        rc = json_opt_int(config_of(r, c), "max_context", &context, where, e);
    if (!rc && (total < 0 || total > INT32_MAX || context < 0 || context > INT32_MAX))
        rc = err_set(e, ERR_FORMAT, "%s: cell \"%s\" has a limit out of range", where, c->id);
    c->max_total_tokens = (int)total;
    c->max_context = (int)context;
    c->is_limit_set = json_is_integer(json_object_get(settings, "max_new_tokens"));
    return rc ? rc : load_windows(r, c, where, &r->arena, e);
}

/* The tokens of a text are all given. */
int run_limit_asked(const struct cell *c, int problem)
{
    int own = c->task->problems[problem].own_max_new;
    return own > 0 && (!c->is_limit_set || c->task->is_text || c->task->option_metrics) ? own
                                                                                        : c->max_new_tokens;
}

int run_limit(const struct cell *c, int problem)
{
    int limit = run_limit_asked(c, problem), total = c->max_context;
    if (c->max_total_tokens > 0 && (!total || c->max_total_tokens < total))
        total = c->max_total_tokens;
    int left = total ? total - c->task->problems[problem].prompt_tokens : limit;
    return limit < left ? limit : left > 0 ? left : 0;
}

int run_text(const struct run *r, const struct record *rec, struct str *out, struct err *e)
{
    return journal_fetch(r->journals[rec->journal], rec->offset, rec->length, NULL, out, NULL, e);
}

int run_ids(const struct run *r, const struct record *rec, struct str *out, struct err *e)
{
    return journal_fetch(r->journals[rec->journal], rec->offset, rec->length, out, NULL, NULL, e);
}

int run_curve(const struct run *r, const struct record *rec, struct kv_curve *out, struct err *e)
{
    json_t *tail;
    memset(out, 0, sizeof *out);
    if (!rec->length) /* no journal has it */
        return 0;
    int rc = journal_fetch(r->journals[rec->journal], rec->offset, rec->length, NULL, NULL, &tail, e);
    if (rc)
        return rc;
    const json_t *curve = json_object_get(tail, "curve");
    if (curve && !curve_json_read(curve, out))
        rc = err_set(e, ERR_FORMAT, "a record of %s has a curve of reads that cannot be read",
                     r->journals[rec->journal]);
    json_decref(tail);
    return rc;
}

static int by_value(double a, double b)
{
    return (a > b) - (a < b);
}

/* The tokens of a text are given, so its results differ in what is summed over them. */
static int compare_likelihoods(const struct likelihood *a, const struct likelihood *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    struct likelihood_bucket x = likelihood_total(a), y = likelihood_total(b);
    int bits = by_value(x.bits, y.bits), kl = by_value(x.kl, y.kl);
    return bits ? bits : kl ? kl : by_value((double)x.agree, (double)y.agree);
}

/* The tokens of options are given, too. */
static int compare_options(const struct option_scores *a, const struct option_scores *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    for (int i = 0; i < a->n && i < b->n; i++) {
        int order = by_value(a->option[i].logprob, b->option[i].logprob);
        if (order)
            return order;
    }
    return a->n - b->n;
}

int record_compare(const struct record *a, const char *digest_a, const struct record *b, const char *digest_b)
{
    int ids = strcmp(digest_a, digest_b), texts = compare_likelihoods(a->likelihood, b->likelihood);
    return ids ? ids : texts ? texts : compare_options(a->options, b->options);
}

/* ---- Which of two records of one job counts. */

int record_is_withdrawal(const struct record *r)
{
    return r->withdrawn & 1;
}

int record_is_better(const struct record *a, const char *digest_a, const struct record *b,
                     const char *digest_b)
{
    if (a->withdrawn != b->withdrawn)
        return a->withdrawn > b->withdrawn;
    if ((a->finish == FINISHED_ERROR) != (b->finish == FINISHED_ERROR))
        return b->finish == FINISHED_ERROR;
    return record_compare(a, digest_a, b, digest_b) < 0;
}
