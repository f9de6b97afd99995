/* Tier 1: completions that the baseline keeps are decoded again token by token, each under the policies that
 * the baseline has (contract: gate.h). Nothing is sampled, so in one numerics class every bit is the same
 * whatever the batch, the threads or the order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/gate/gate.h"

enum { BATCH_TOKENS = 16 };

struct replaying {
    struct gate_replay *r;
    const struct gate_trace *trace;
    const struct plan_cell *cell;
    struct replay_tokens tokens;
};
struct replays { /* all of them, in the order of the jobs */
    struct replaying *list;
    int by_server;
    struct arena *arena;
};

static const struct plan_cell *find_cell(const struct runplan *p, const char *setting, const char *task,
                                         struct arena *a)
{
    for (int c = 0; c < p->n_cells; c++) {
        const struct plan_cell *x = &p->cells[c];
        if (!strcmp(p->sets[x->set].label, task) &&
            !strcmp(gate_setting_label(x->policy->label, x->settings->swept, a), setting))
            return x;
    }
    return NULL;
}

/* Options of a problem are replayed with the tokens that they have here; a prompt's hash covers them. */
static int has_tokens(const struct prompt_set *set, size_t i, int n)
{
    for (int k = 0; set->options && k < set->task.problems[i].n_options; k++)
        n -= set->options[i * ENGINE_OPTIONS_MAX + (size_t)k].n_given;
    return !set->options || !n;
}

/* The row of the trace's prompt in its set; below 0 and e. */
static int find_prompt(const struct replaying *q, const struct runplan *p, struct err *e)
{
    const struct gate_trace *t = q->trace;
    const struct prompt_set *set = &p->sets[q->cell->set];
    for (size_t i = 0; i < set->task.n_problems; i++)
        if (!strcmp(set->task.problems[i].id, t->problem)) {
            if (strncmp(set->rows[i].sha256, t->prompt_sha256, strlen(t->prompt_sha256)) ||
                !has_tokens(set, i, t->n))
                return err_set(
                    e, ERR_USAGE,
                    "the prompt of problem %s of %s is not the one that the base file's completion "
                    "answers; make a new base file with --rebaseline",
                    t->problem, t->task);
            return (int)i;
        }
    return err_set(e, ERR_USAGE, "task %s has no problem %s, whose completion the base file keeps", t->task,
                   t->problem);
}

/* What layers read, in the arena. */
static void keep_seen(struct gate_replay *r, const struct decoder_replay *from, struct arena *a)
{
    r->n_seen = from->n_seen;
    r->seen = arena_alloc(a, ((size_t)from->n_seen + 1) * sizeof *r->seen);
    for (int i = 0; i < from->n_seen; i++) {
        const struct replay_seen *x = &from->seen[i];
        r->seen[i] = (struct gate_seen){.step = x->step, .layer = x->layer};
        memcpy(r->seen[i].digest, x->digest, sizeof x->digest);
        r->seen[i].sets = x->sets ? arena_strdup(a, x->sets) : NULL;
    }
}

static void keep_scores(struct gate_replay *r, const struct completion *c, const struct gate_trace *t, int n,
                        struct arena *a)
{
    r->n = n;
    r->ids = t->ids;
    r->millinats = arena_alloc(a, (size_t)n * sizeof *r->millinats);
    r->tops = arena_alloc(a, (size_t)n * sizeof *r->tops);
    memcpy(r->tops, c->tops, (size_t)n * sizeof *r->tops);
    for (int i = 0; i < n; i++)
        r->millinats[i] = c->logprobs[i] < -1e6f ? -1000000000 : (int)lrint(1000 * (double)c->logprobs[i]);
}

static int keep_replay(void *context, const struct job *j, const struct decoded_job *d, struct err *e)
{
    const struct replays *all = context;
    struct replaying *q = &all->list[j->sample];
    struct gate_replay *r = q->r;
    const struct completion *c = &d->c;
    struct str bits = {0};
    r->by_server = all->by_server;
    if (all->by_server) {
        if (c->finish == FINISHED_ERROR)
            r->why = arena_strdup(all->arena, c->error);
        else if (!c->n_logprobs)
            r->why = "none were asked for";
        else
            keep_scores(r, c, q->trace, c->n_logprobs, all->arena);
        return 0;
    }
    if (c->finish == FINISHED_ERROR || c->n_logprobs < q->trace->n)
        return err_set(e, ERR_DEVICE, "replay of %s under %s: %s", q->trace->problem, r->setting,
                       c->error ? c->error : "the context has no room for it");
    keep_scores(r, c, q->trace, q->trace->n, all->arena);
    r->kv = c->kv;
    size_t n = (size_t)r->n;
    str_add(&bits, (const char *)c->logprobs, n * sizeof *c->logprobs);
    str_add(&bits, (const char *)c->gaps, n * sizeof *c->gaps);
    sha256_hex(bits.data, bits.len, r->bits, 16);
    str_release(&bits);
    keep_seen(r, d->replay, all->arena);
    return 0;
}

/* The job of replay i, which its `sample` names. */
static int make_job(struct job *out, struct replaying *q, int i, const struct runplan *p, int every, int more,
                    struct arena *a, struct err *e)
{
    struct gate_replay *r = q->r;
    char text[64], key[65];
    *r = (struct gate_replay){.setting = r->setting, .trace = r->trace};
    q->cell = find_cell(p, r->setting, q->trace->task, a);
    if (!q->cell)
        return err_set(e, ERR_USAGE,
                       "the run file has no setting \"%s\" for task %s, which the base file has", r->setting,
                       q->trace->task);
    int row = find_prompt(q, p, e);
    if (row < 0)
        return row;
    q->tokens = (struct replay_tokens){
        .ids = q->trace->ids, .n = q->trace->n, .every = every, .more = more, .is_bare = !every};
    *out = (struct job){.cell = (int)(q->cell - p->cells),
                        .problem = row,
                        .sample = i,
                        .expected = q->trace->n,
                        .replay = &q->tokens};
    int n = snprintf(text, sizeof text, "replay %d", i);
    sha256_hex(text, (size_t)n, key, JOB_KEY_HEX);
    memcpy(out->key, key, JOB_KEY_HEX + 1);
    return 0;
}

int gate_replay(struct gate_replay *r, int n, const struct gate_trace *traces, struct sweep *s, int every,
                const struct process_env *show, int *signal, struct arena *a, struct err *e)
{
    struct replays all = {.list = xcalloc((size_t)n + 1, sizeof *all.list),
                          .by_server = s->plan->file->endpoint != NULL,
                          .arena = a};
    int more = n > 1 ? BATCH_TOKENS : 1; /* of a server's: it decodes them while it reads others' prompts */
    struct job *jobs = xcalloc((size_t)n + 1, sizeof *jobs);
    int rc = 0;
    *signal = 0;
    for (int i = 0; i < n && !rc; i++) {
        all.list[i] = (struct replaying){.r = &r[i], .trace = &traces[r[i].trace]};
        rc = make_job(&jobs[i], &all.list[i], i, s->plan, every, more, a, e);
    }
    s->replayed = keep_replay;
    s->context = &all;
    if (!rc)
        rc = gate_decode_list(s, NULL, jobs, n, show, signal, e);
    for (int i = 0; i < n && !rc && !*signal; i++)
        if (!r[i].n && !r[i].why)
            rc = err_set(e, ERR_DEVICE, "replay of %s under %s was not decoded", traces[r[i].trace].problem,
                         r[i].setting);
    free(jobs);
    free(all.list);
    return rc;
}
