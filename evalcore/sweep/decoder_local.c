/* Decoding on the engines of this process (contract: decoder.h): what a worker does, and what tests use. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/option_jobs.h"
#include "evalcore/sweep/replay.h"

struct replay_run { /* a replay that an engine has */
    long job;
    struct decoder_replay out;
};

struct local_decoder {
    struct decoder *decoder;
    struct replay_run **replay; /* (n_replays) */
    int n_replays;
    size_t cap;
    struct option_job **options; /* (n_options): of jobs whose options an engine has */
    int n_options;
    size_t options_cap;
    int32_t *buffer; /* tokens of a request of an option */
    size_t buffer_cap;
    int *told; /* by job: tokens that user->tokens was told of */
    size_t told_cap;
};

/* A request's `user` is the job's index, since the plan's list of jobs may grow meanwhile, and the option. */
enum { USER_OPTIONS = 32 };
static void *user_of(long j, int option)
{
    return (void *)(intptr_t)((j + 1) * USER_OPTIONS + option);
}

static long job_of(const void *user)
{
    return (long)((intptr_t)user / USER_OPTIONS) - 1;
}

static int option_of(const void *user)
{
    return (int)((intptr_t)user % USER_OPTIONS);
}

/* Tokens between two points of a completion's curve of reads: about 32 points over the longest completion,
 * 1,024 tokens apart at a limit of 32,768, but no closer than 32 tokens. */
static int curve_step(int limit)
{
    int every = 32;
    while (every < limit / 32)
        every *= 2;
    return every;
}

static struct request request_of(const struct runplan *p, const struct job *j)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    const struct settings *t = &c->settings->s;
    /* the problem's own end token cannot be the first one (pred.py's min_length for samsum) */
    int32_t own_end = s->rows[j->problem].end_token;
    struct request r = {.prompt = s->ids.id + s->rows[j->problem].first,
                        .n_prompt = s->rows[j->problem].n,
                        .policy = c->instance,
                        .sampling = {.temperature = t->temperature,
                                     .top_k = t->top_k,
                                     .top_p = t->top_p,
                                     .seed = (uint64_t)t->seed,
                                     .problem = hash_bytes64(problem->id, strlen(problem->id)),
                                     .sample = (uint32_t)j->sample},
                        .max_new_tokens = settings_max_new(t, problem->max_new_tokens),
                        .min_new_tokens = own_end >= 0 && !t->min_new_tokens ? 1 : t->min_new_tokens,
                        .max_total_tokens = t->max_total_tokens,
                        .ignore_eos = t->ignore_eos,
                        .stop = t->stop,
                        .n_stop = t->n_stop,
                        .end_token = own_end >= 0 ? own_end : s->end_token,
                        .reference = c->reference};
    r.curve_every = c->reference ? 0 : curve_step(r.max_new_tokens);
    if (c->reference) {
        r.forced = r.prompt + r.n_prompt;
        r.n_forced = problem->max_new_tokens;
    }
    return r;
}

static struct request replay_request(const struct runplan *p, const struct job *j)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    return (struct request){.prompt = s->ids.id + s->rows[j->problem].first,
                            .n_prompt = s->rows[j->problem].n,
                            .policy = c->instance,
                            .max_new_tokens = j->replay->n,
                            .forced = j->replay->ids,
                            .n_forced = j->replay->n,
                            .want_logprobs = 1,
                            .ignore_eos = 1,
                            .end_token = -1};
}

static struct replay_run *find_replay(const struct local_decoder *l, long job, int *at)
{
    for (*at = 0; *at < l->n_replays; ++*at)
        if (l->replay[*at]->job == job)
            return l->replay[*at];
    return NULL;
}

static struct option_job *find_options(const struct local_decoder *l, long job)
{
    for (int i = 0; i < l->n_options; i++)
        if (l->options[i]->job == job)
            return l->options[i];
    return NULL;
}

static void watch_layer(void *context, const struct seen *s)
{
    const struct local_decoder *l = context;
    int at;
    long j = job_of(s->user);
    struct replay_run *r = find_replay(l, j, &at);
    const struct option_job *o = find_options(l, j);
    const struct option_part *part = o ? &o->part[option_of(s->user)] : NULL;
    if (r)
        replay_see(&r->out, part ? part->n_forced : l->decoder->plan->jobs[j].replay->n,
                   part ? part->step : 0, s);
}

static void drop_options(struct local_decoder *l, struct option_job *o)
{
    int i = 0;
    while (l->options[i] != o)
        i++;
    l->options[i] = l->options[--l->n_options];
    option_job_free(o);
}

static int submit_options(struct local_decoder *l, struct engine *en, long j, struct err *e)
{
    const struct runplan *p = l->decoder->plan;
    struct option_job *o = option_job_new(p, j);
    int rc = 0;
    xgrow(&l->options, &l->options_cap, (size_t)l->n_options + 1, sizeof *l->options);
    l->options[l->n_options++] = o;
    for (int i = 0; i < o->n && !rc; i++) {
        struct request r;
        option_request(&r, p, &p->jobs[j], i, &l->buffer, &l->buffer_cap);
        r.user = user_of(j, i);
        rc = engine_submit(en, &r, e);
        if (rc)
            err_add(e, "option %c", 'A' + i);
    }
    if (rc) { /* the sweep ends with this: nothing that waits is decoded, the options before it neither */
        engine_withdraw(en);
        drop_options(l, o);
    }
    return rc;
}

/* A request comes from outside: that it can never run is its own error and nobody else's. */
static int submit_request(struct local_decoder *l, struct engine *en, long j, struct err *e)
{
    struct decoder *d = l->decoder;
    const struct job *job = &d->plan->jobs[j];
    struct request r = job->request->r;
    struct err why = {0};
    size_t had = l->told_cap;
    xgrow(&l->told, &l->told_cap, (size_t)j + 1, sizeof *l->told);
    memset(l->told + had, 0, (l->told_cap - had) * sizeof *l->told);
    l->told[j] = 0;
    r.policy = d->plan->cells[job->cell].instance;
    r.user = user_of(j, 0);
    r.reference = NULL;
    if (!engine_submit(en, &r, &why)) {
        d->worker[0].n_held++;
        return 0;
    }
    if (why.code != ERR_USAGE)
        return *e = why, why.code;
    const struct decoded_job refused = {.c = {.text = "", .finish = FINISHED_ERROR, .error = why.text},
                                        .device = ""};
    return d->user.done(d->user.context, 0, j, &refused, e);
}

static int local_cancel(struct decoder *d, long j, struct err *e)
{
    const struct plan_cell *c = &d->plan->cells[d->plan->jobs[j].cell];
    if (!engine_cancel(d->plan->loaded[c->loaded_model].engine, user_of(j, 0)))
        return 0;
    const struct decoded_job gone = {
        .c = {.text = "", .finish = FINISHED_ERROR, .error = "the request was cancelled"}, .device = ""};
    d->worker[0].n_held--;
    return d->user.done(d->user.context, 0, j, &gone, e);
}

static int local_submit(struct decoder *d, int w, long j, struct err *e)
{
    struct local_decoder *l = d->data;
    const struct runplan *p = d->plan;
    const struct job *job = &p->jobs[j];
    const struct plan_cell *c = &p->cells[job->cell];
    const struct prompt_set *s = &p->sets[c->set];
    struct engine *en = p->loaded[c->loaded_model].engine;
    int rc;
    if (job->request)
        return submit_request(l, en, j, e);
    if (s->options) {
        rc = submit_options(l, en, j, e);
    } else {
        struct request r = job->replay ? replay_request(p, job) : request_of(p, job);
        r.user = user_of(j, 0);
        rc = engine_submit(en, &r, e);
    }
    if (rc)
        return err_add(e, "%s, problem %s", c->label, s->task.problems[job->problem].id), rc;
    if (job->replay) {
        xgrow(&l->replay, &l->cap, (size_t)l->n_replays + 1, sizeof *l->replay);
        l->replay[l->n_replays] = xcalloc(1, sizeof **l->replay);
        l->replay[l->n_replays++]->job = j;
        engine_watch(en, job->replay->every, watch_layer, l);
    }
    d->worker[w].n_held++;
    return 0;
}

static int local_capacity(struct decoder *d, int w)
{
    const struct runplan *p = d->plan;
    int free = d->is_limited ? p->loaded[0].info.max_batch : DECODER_WAITING;
    (void)w;
    for (int i = 0; i < p->n_loaded; i++)
        free -= d->is_limited ? engine_pending(p->loaded[i].engine) : engine_waiting(p->loaded[i].engine);
    return free;
}

static int hand_over(struct local_decoder *l, const struct loaded_model *m, const struct completion *c,
                     struct err *e)
{
    struct decoder *d = l->decoder;
    long j = job_of(c->user);
    int at;
    struct replay_run *r = find_replay(l, j, &at);
    struct option_job *options = find_options(l, j);
    struct completion joined;
    if (options && !option_job_take(options, option_of(c->user), c, &joined))
        return 0;
    if (r && options)
        replay_sort(&r->out);
    struct decoded_job out = {
        .c = options ? joined : *c, .device = m->info.device, .replay = r ? &r->out : NULL};
    const struct job_request *q = d->plan->jobs[j].request;
    if (q && !q->want_tops) {
        out.c.tops = NULL;
        out.c.top_logprobs = NULL;
    }
    d->worker[0].n_held--;
    d->worker[0].n_finished++;
    int rc = d->user.done(d->user.context, 0, j, &out, e);
    if (options)
        drop_options(l, options);
    if (r) {
        replay_release(&r->out);
        free(r);
        l->replay[at] = l->replay[--l->n_replays];
    }
    for (int i = 0; r && !l->n_replays && i < d->plan->n_loaded; i++)
        engine_watch(d->plan->loaded[i].engine, 0, NULL, NULL);
    return rc;
}

/* Tells of the new tokens of jobs that stream. One that was preempted tells none until it has more than
 * before. */
static void tell_tokens(struct local_decoder *l, const struct loaded_model *m)
{
    struct decoder *d = l->decoder;
    if (!d->user.tokens || !l->told)
        return;
    struct running *running = xcalloc((size_t)m->info.max_batch, sizeof *running);
    int n = engine_running(m->engine, running);
    for (int k = 0; k < n; k++) {
        const struct running *r = &running[k];
        long j = job_of(r->user);
        const struct job_request *q = d->plan->jobs[j].request;
        if (!q || !q->is_streamed || r->n_ids <= l->told[j])
            continue;
        int from = l->told[j];
        int has_tops = r->tops && q->want_tops;
        const struct decoder_tokens t = {.from = from,
                                         .n = r->n_ids - from,
                                         .ids = r->ids + from,
                                         .logprobs = r->logprobs ? r->logprobs + from : NULL,
                                         .tops = has_tops ? r->tops + from : NULL,
                                         .top_logprobs = has_tops ? r->top_logprobs + from : NULL};
        d->user.tokens(d->user.context, j, &t);
        l->told[j] = r->n_ids;
    }
    free(running);
}

static int local_poll(struct decoder *d, struct err *e)
{
    struct local_decoder *l = d->data;
    int rc = 0;
    for (int i = 0; i < d->plan->n_loaded && !rc; i++) {
        const struct loaded_model *m = &d->plan->loaded[i];
        const struct completion *done = NULL;
        int n = 0;
        if (!engine_pending(m->engine))
            continue;
        rc = engine_step(m->engine, &done, &n, e);
        for (int k = 0; k < n && !rc; k++)
            rc = hand_over(l, m, &done[k], e);
        if (!rc)
            tell_tokens(l, m);
    }
    return rc;
}

/* The options of a job are one entry. */
static void add_running(struct decoder_figures *out, long job, int tokens)
{
    for (int i = 0; i < out->n; i++)
        if (out->running[i].job == job) {
            out->running[i].tokens += tokens;
            return;
        }
    out->running[out->n++] = (struct running_job){job, tokens};
}

static void local_look(struct decoder *d, struct decoder_figures *out)
{
    struct running *running = NULL;
    struct decoder_sums sums = {.devices = 1};
    size_t cap = 0;
    int is_waiting = 0, n_running = 0;
    out->n = 0;
    for (int i = 0; i < d->plan->n_loaded; i++) {
        const struct engine *en = d->plan->loaded[i].engine;
        int max_batch = d->plan->loaded[i].info.max_batch;
        struct engine_stats s;
        engine_stats(en, &s);
        sums.tokens += (double)s.decode_tokens;
        sums.steps += (double)s.decode_steps;
        sums.decode_seconds += s.decode_seconds;
        sums.prompt_seconds += s.prefill_seconds;
        xgrow(&running, &cap, (size_t)max_batch, sizeof *running);
        int n = engine_running(en, running);
        xgrow(&out->running, &out->cap, (size_t)(out->n + n) + 1, sizeof *out->running);
        n_running += n;
        for (int k = 0; k < n; k++)
            add_running(out, job_of(running[k].user), running[k].n_ids);
        is_waiting |= engine_waiting(en) && n < max_batch;
    }
    free(running);
    sums.places = decoder_places(is_waiting, n_running, d->plan->loaded[0].info.max_batch);
    d->worker[0].places = sums.places;
    out->model[0] = sums;
    out->n_workers = 1;
    out->worker[0] = (struct status_worker){
        .name = "", .life = STATUS_LIVE, .pid = (long)getpid(), .running = out->n, .tokens = sums.tokens};
}

static int local_bind(struct decoder *d, struct err *e)
{
    (void)d;
    (void)e;
    return 0;
}

static void local_begin(struct decoder *d)
{
    d->worker[0].n_held = d->worker[0].n_finished = 0;
}

static void local_drain(struct decoder *d, struct err *e)
{
    (void)e;
    for (int i = 0; i < d->plan->n_loaded; i++)
        engine_withdraw(d->plan->loaded[i].engine);
}

static void local_stop(struct decoder *d, int is_done, struct err *e)
{
    (void)d;
    (void)is_done;
    (void)e;
}

static void local_close(struct decoder *d)
{
    struct local_decoder *l = d->data;
    for (int i = 0; i < l->n_replays; i++) {
        replay_release(&l->replay[i]->out);
        free(l->replay[i]);
    }
    free(l->replay);
    for (int i = 0; i < l->n_options; i++)
        option_job_free(l->options[i]);
    free(l->options);
    free(l->buffer);
    free(l->told);
    free(l);
    free(d->worker);
    memset(d, 0, sizeof *d);
}

void decoder_open_local(struct decoder *d, struct runplan *p, const struct decoder_user *user)
{
    struct local_decoder *l = xcalloc(1, sizeof *l);
    *d = (struct decoder){.data = l,
                          .plan = p,
                          .user = *user,
                          .worker = xcalloc(1, sizeof *d->worker),
                          .n_workers = 1,
                          .bind = local_bind,
                          .begin = local_begin,
                          .capacity = local_capacity,
                          .submit = local_submit,
                          .cancel = local_cancel,
                          .poll = local_poll,
                          .look = local_look,
                          .drain = local_drain,
                          .stop = local_stop,
                          .close = local_close};
    l->decoder = d;
    d->worker[0] = (struct decoder_worker){
        .is_live = 1, .is_ready = 1, .places = p->loaded ? p->loaded[0].info.max_batch : 1};
}
