/* Tier 1: completions that the baseline keeps are decoded again token by token, each under the policies that
 * the baseline has (contract: gate.h). Nothing is sampled, so in one numerics class every bit is the same
 * whatever the batch, the threads or the order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/gate/gate.h"

struct replaying {
    struct gate_replay *r;
    const struct gate_trace *trace;
    const struct plan_cell *cell;
    const struct prompt_set *set;
    int prompt; /* row of the set */
    int last;   /* step whose lists are kept */
    size_t cap;
    struct arena *arena;
};

static void add_digits(struct str *out, const struct seen *s, int list)
{
    const int32_t *v = s->idx + (size_t)list * (size_t)s->stride;
    int n = s->len[list], bits = 0, at = 0;
    if (n < 0) {
        str_puts(out, "all");
        return;
    }
    for (int digit = 0; at < n; digit++, bits = 0) {
        for (; at < n && v[at] < 4 * (digit + 1); at++)
            bits |= 1 << (v[at] - 4 * digit);
        str_printf(out, "%x", bits);
    }
    if (!n)
        str_putc(out, '0');
}

/* The digest covers the entries in their order; the sets are for people and for the overlap. */
static void see(void *context, const struct seen *s)
{
    struct replaying *q = s->user;
    struct gate_seen *out;
    struct str sets = {0}, all = {0};
    (void)context;
    if (s->step % GATE_SEE_EVERY)
        return;
    xgrow(&q->r->seen, &q->cap, (size_t)q->r->n_seen + 1, sizeof *q->r->seen);
    out = &q->r->seen[q->r->n_seen++];
    *out = (struct gate_seen){.step = s->step, .layer = s->layer};
    str_printf(&all, "%d %d %d", (int)s->granularity, s->block_pages, s->n_lists);
    for (int i = 0; i < s->n_lists; i++) {
        int n = s->len[i] > 0 ? s->len[i] : 0;
        str_printf(&all, " %d:", s->len[i]);
        str_add(&all, (const char *)(s->idx + (size_t)i * (size_t)s->stride), (size_t)n * sizeof *s->idx);
        if (s->step == q->last) {
            str_puts(&sets, i ? " " : "");
            add_digits(&sets, s, i);
        }
    }
    sha256_hex(all.data, all.len, out->digest, 8);
    out->sets = s->step == q->last ? arena_strdup(q->arena, str_text(&sets)) : NULL;
    str_release(&sets);
    str_release(&all);
}

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

static int find_prompt(struct replaying *q, const struct runplan *p, struct err *e)
{
    const struct gate_trace *t = q->trace;
    q->set = &p->sets[q->cell->set];
    for (size_t i = 0; i < q->set->task.n_problems; i++)
        if (!strcmp(q->set->task.problems[i].id, t->problem)) {
            if (strncmp(q->set->rows[i].sha256, t->prompt_sha256, strlen(t->prompt_sha256)))
                return err_set(
                    e, ERR_USAGE,
                    "the prompt of problem %s of %s is not the one that the base file's completion "
                    "answers; make a new base file with --rebaseline",
                    t->problem, t->task);
            q->prompt = (int)i;
            return 0;
        }
    return err_set(e, ERR_USAGE, "task %s has no problem %s, whose completion the base file keeps", t->task,
                   t->problem);
}

static int submit(struct replaying *q, const struct runplan *p, struct err *e)
{
    const struct prompt_row *row = &q->set->rows[q->prompt];
    struct request r = {.prompt = q->set->ids.id + row->first,
                        .n_prompt = row->n,
                        .policy = q->cell->instance,
                        .max_new_tokens = q->trace->n,
                        .forced = q->trace->ids,
                        .n_forced = q->trace->n,
                        .want_logprobs = 1,
                        .ignore_eos = 1,
                        .end_token = -1,
                        .user = q};
    q->last = (q->trace->n - 1) / GATE_SEE_EVERY * GATE_SEE_EVERY;
    int rc = engine_submit(p->loaded[q->cell->loaded_model].engine, &r, e);
    return rc ? err_add(e, "replay of %s under %s", q->trace->problem, q->r->setting), rc : 0;
}

static int keep(const struct completion *c, struct err *e)
{
    struct replaying *q = c->user;
    struct gate_replay *r = q->r;
    struct str bits = {0};
    if (c->finish == FINISHED_ERROR || c->n_logprobs < q->trace->n)
        return err_set(e, ERR_DEVICE, "replay of %s under %s: %s", q->trace->problem, r->setting,
                       c->error ? c->error : "the context has no room for it");
    r->n = q->trace->n;
    r->kv = c->kv;
    size_t n = (size_t)r->n;
    r->millinats = arena_alloc(q->arena, n * sizeof *r->millinats);
    r->tops = arena_alloc(q->arena, n * sizeof *r->tops);
    memcpy(r->tops, c->tops, n * sizeof *r->tops);
    for (int i = 0; i < r->n; i++)
        r->millinats[i] = c->logprobs[i] < -1e6f ? -1000000000 : (int)lrint(1000 * (double)c->logprobs[i]);
    str_add(&bits, (const char *)c->logprobs, n * sizeof *c->logprobs);
    str_add(&bits, (const char *)c->gaps, n * sizeof *c->gaps);
    sha256_hex(bits.data, bits.len, r->bits, 16);
    str_release(&bits);
    return 0;
}

static int run_loaded_model(struct engine *en, int every, struct err *e)
{
    int rc = 0;
    engine_watch(en, every, see, NULL);
    while (!rc && engine_pending(en)) {
        const struct completion *done;
        int n = 0;
        rc = engine_step(en, &done, &n, e);
        for (int i = 0; i < n && !rc; i++)
            rc = keep(&done[i], e);
    }
    engine_watch(en, 0, NULL, NULL);
    return rc;
}

/* The array that see() grew goes to the arena. */
static void settle(struct gate_replay *r, struct arena *a)
{
    struct gate_seen *kept = arena_alloc(a, ((size_t)r->n_seen + 1) * sizeof *kept);
    if (r->n_seen)
        memcpy(kept, r->seen, (size_t)r->n_seen * sizeof *kept);
    free(r->seen);
    r->seen = kept;
}

int gate_replay(struct gate_replay *r, int n, const struct gate_trace *traces, const struct runplan *p,
                int every, struct arena *a, struct err *e)
{
    struct replaying *q = xcalloc((size_t)n + 1, sizeof *q);
    int rc = 0;
    for (int i = 0; i < n && !rc; i++) {
        const struct gate_trace *t = &traces[r[i].trace];
        q[i] = (struct replaying){.r = &r[i], .trace = t, .arena = a};
        r[i] = (struct gate_replay){.setting = r[i].setting, .trace = r[i].trace};
        q[i].cell = find_cell(p, r[i].setting, t->task, a);
        rc = q[i].cell ? find_prompt(&q[i], p, e)
                       : err_set(e, ERR_USAGE,
                                 "the run file has no setting \"%s\" for task %s, which the base file has",
                                 r[i].setting, t->task);
        if (!rc)
            rc = submit(&q[i], p, e);
    }
    for (int l = 0; l < p->n_loaded && !rc; l++)
        rc = run_loaded_model(p->loaded[l].engine, every, e);
    for (int i = 0; i < n && !rc; i++)
        if (!r[i].n)
            rc = err_set(e, ERR_DEVICE, "replay of %s under %s was not decoded", traces[r[i].trace].problem,
                         r[i].setting);
    for (int i = 0; i < n; i++)
        settle(&r[i], a);
    free(q);
    return rc;
}
