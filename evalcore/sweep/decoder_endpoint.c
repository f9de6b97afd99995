/* Decoding by the server of an endpoint (contract: decoder.h). What a server does not tell is not made up:
 * counts of KV reads are absent from the records, and where it gives text without token ids, the ids are
 * those of the text and the record says so. A job whose request can never come through, or whose tries run
 * out while others come through, becomes an error; when nothing comes through any more, or nothing but errors
 * does from the start, the decoding ends with an error itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"
#include "evalcore/base/log.h"
#include "evalcore/endpoint/endpoint.h"
#include "evalcore/store/completion_json.h"
#include "evalcore/sweep/decoder.h"
#include "evalcore/sweep/replay.h"

/* This many failures before the first success, or this many jobs in a row that ran out of retries, end the
 * decoding: the server is set up otherwise than the run file says, or has stopped working. */
enum { FAILED_IN_A_ROW = 20 };
/* Servers that cannot score a prompt answer 500, which other requests are worth many tries for. */
enum { SCORE_TRIES = 3 };

struct endpoint_decoder {
    struct decoder *decoder;
    struct endpoint *ep;
    const char **model; /* (plan.n_cells): kveval's own server calls the cells' policies so; NULL: another */
    struct tokenizer_scratch scratch;
    struct token_list ids, forced; /* forced: a prompt with the tokens of a replay behind it */
    struct str text, scored;       /* scored: the texts of these, each with its NUL */
    const char **scored_at;
    size_t cap_scored;
    struct decoder_sums sums;
    struct endpoint_running *asked;
    double clock, finished;            /* when `sums` was brought up to date; tokens of finished requests */
    long n_good, n_failed, n_given_up; /* given up: in a row */
    struct err end;                    /* why the decoding ends, once what is done by then is handed out */
};

/* Only kveval's own server has other policies than full attention. */
static int find_policies(struct endpoint_decoder *s, int is_own, struct err *e)
{
    struct runplan *p = s->decoder->plan;
    const char **model = arena_alloc(&p->arena, ((size_t)p->n_cells + 1) * sizeof *model);
    for (int i = 0; i < p->n_cells; i++) {
        const struct runfile_policy *policy = p->cells[i].policy;
        json_t *spec = policy_spec_to_json(&policy->spec);
        model[i] = is_own ? endpoint_policy_model(s->ep, spec) : NULL;
        json_decref(spec);
        if (!is_own && strcmp(policy->name, "full") != 0)
            return err_set(e, ERR_USAGE,
                           "%s: an endpoint decodes policy full alone, unless kveval serves it; give the "
                           "others a run file with a model folder, and compare the two folders",
                           policy->where);
        if (is_own && !model[i])
            return err_set(e, ERR_USAGE,
                           "%s: %s does not serve this policy with these options; start it with them "
                           "(kveval serve --policy)",
                           policy->where, p->file->endpoint->url);
    }
    s->model = is_own ? model : NULL;
    return 0;
}

static int endpoint_bind(struct decoder *d, struct err *e)
{
    struct endpoint_decoder *s = d->data;
    struct runplan *p = d->plan;
    struct endpoint_facts facts;
    const struct runfile_endpoint *f = p->file->endpoint;
    int rc = endpoint_ask(s->ep, &facts, e);
    if (!rc)
        rc = find_policies(s, *facts.numerics != 0, e);
    if (rc)
        return rc;
    if (facts.max_context && facts.max_context < p->loaded[0].info.max_context)
        return err_set(e, ERR_USAGE,
                       "%s takes %d tokens of prompt and completion, and the run counts on %d; write "
                       "\"max_context\": %d into \"model\"",
                       f->url, facts.max_context, p->loaded[0].info.max_context, facts.max_context);
    const char *numerics =
        arena_printf(&p->arena, "endpoint:%s%s%s", f->name, *facts.numerics ? ":" : "", facts.numerics);
    const char *device =
        *facts.root ? arena_printf(&p->arena, "%s, weights from %s", f->url, facts.root) : f->url;
    struct model_facts *models = xcalloc((size_t)p->n_loaded, sizeof *models);
    for (int i = 0; i < p->n_loaded; i++)
        models[i] = (struct model_facts){facts.weights, "", numerics, device};
    rc = runplan_bind(p, models, e);
    free(models);
    return rc;
}

/* A number that is the job's alone: servers draw with one seed of a request, 31 bits of which all take. */
static uint32_t seed_of(const struct settings *t, const struct problem *problem, int sample)
{
    struct str text = {0};
    str_printf(&text, "%d %d %s", t->seed, sample, problem->id);
    uint32_t seed = (uint32_t)hash_bytes64(text.data, text.len) & 0x7FFFFFFF;
    str_release(&text);
    return seed;
}

/* The prompt as text, which must give the same ids again. */
static int prompt_text(struct endpoint_decoder *s, const int32_t *ids, int n, struct err *e)
{
    const struct tokenizer *t = s->decoder->plan->loaded[0].tokenizer;
    str_clear(&s->text);
    s->ids.n = 0;
    tokenizer_decode(t, ids, (size_t)n, 0, &s->text);
    int rc = tokenizer_encode(t, &s->scratch, str_text(&s->text), s->text.len, 1, &s->ids, e);
    if (rc)
        return rc;
    if (s->ids.n != (size_t)n || memcmp(s->ids.id, ids, (size_t)n * sizeof *ids) != 0)
        return err_set(
            e, ERR_UNSUPPORTED,
            "the prompt's tokens are not those of its text; a server that takes token ids is needed "
            "(\"prompt\": \"ids\" in \"model\")");
    return 0;
}

/* Ends the sweep when one more failure is one too many. */
static void count_failure(struct endpoint_decoder *s, const struct job *j, const struct endpoint_answer *a)
{
    const struct runplan *p = s->decoder->plan;
    if (!s->n_failed++)
        log_warn("problem %s failed: %s; it counts as error, and so do others that fail after it",
                 p->sets[p->cells[j->cell].set].task.problems[j->problem].id, a->error);
    s->n_given_up += a->is_given_up;
    int is_first = !s->n_good && s->n_failed == FAILED_IN_A_ROW;
    if (is_first || s->n_given_up >= FAILED_IN_A_ROW)
        err_set(&s->end, ERR_IO,
                "%s %d jobs all failed, this one because %s; see to it and add --retry-errors to the command",
                is_first ? "the first" : "the last", FAILED_IN_A_ROW, a->error);
}

static int check_end(const struct endpoint_decoder *s, struct err *e)
{
    return s->end.code ? err_set(e, s->end.code, "%s", s->end.text) : 0;
}

static int hand_over_answer(struct endpoint_decoder *s, long j, const struct endpoint_answer *a,
                            struct err *e)
{
    const struct runplan *p = s->decoder->plan;
    struct err why = {0};
    struct endpoint_answer bad = {.error = why.text, .seconds = a->seconds};
    s->ids.n = 0;
    if (!a->error && !a->ids && !a->logprobs &&
        tokenizer_encode(p->loaded[0].tokenizer, &s->scratch, a->text, a->n_text, 0, &s->ids, &why))
        a = &bad;
    struct completion c = {.ids = a->ids, .n_ids = a->n_ids, .text = a->text, .n_text = a->n_text};
    const double absent = NAN;
    c.kv = (struct kv_counts){absent, absent, absent, absent, absent, absent, absent, absent, absent};
    if (s->model && !a->error && !completion_json_read_counts(a->usage, &c.kv)) {
        err_set(&why, ERR_FORMAT, "the answer's \"usage\" lacks counts of reads");
        a = &bad;
    }
    c.seconds = a->seconds;
    c.error = a->error;
    c.finish = a->error ? FINISHED_ERROR : a->is_cut ? FINISHED_LENGTH : FINISHED_STOP;
    json_t *more = NULL;
    if (a->error) {
        c.n_ids = 0;
    } else if (a->logprobs) { /* a replay */
        c.logprobs = a->logprobs;
        c.tops = a->tops;
        c.n_logprobs = p->jobs[j].replay->n - 1;
    } else if (a->ids) {
        more = json_pack("{s:s}", "ids_from", "server");
    } else {
        c.ids = s->ids.id;
        c.n_ids = (int)s->ids.n;
        more = json_pack("{s:s, s:i}", "ids_from", "text", "tokens", a->tokens);
    }
    s->finished += a->tokens;
    struct decoder *d = s->decoder;
    const struct decoded_job done = {.c = c, .more = more, .device = p->loaded[0].info.device};
    d->worker[0].n_held--;
    d->worker[0].n_finished++;
    int rc = d->user.done(d->user.context, 0, j, &done, e);
    json_decref(more);
    if (!rc && a->error && p->jobs[j].replay)
        return rc; /* whoever asked for it says what that means */
    if (!rc && a->error)
        count_failure(s, &p->jobs[j], a);
    else if (!rc) {
        s->n_good++;
        s->n_given_up = 0;
    }
    return rc;
}

/* All that end a sequence of the engine's: the model's own and the chat form's. */
static void end_tokens(struct endpoint_request *r, const struct engine_info *info, int32_t of_chat)
{
    int is_new = of_chat >= 0;
    for (int i = 0; i < info->n_ends; i++) {
        r->end_tokens[r->n_end_tokens++] = info->ends[i];
        is_new &= info->ends[i] != of_chat;
    }
    if (is_new)
        r->end_tokens[r->n_end_tokens++] = of_chat;
}
_Static_assert((int)ENGINE_MAX_ENDS < (int)ENDPOINT_END_TOKENS, "the chat form's own has room");

/* Makes a request of a replay: its tokens but the last stand behind the prompt, to be scored; or alone. */
static void force_tokens(struct endpoint_decoder *s, struct endpoint_request *r,
                         const struct replay_tokens *t)
{
    if (t->is_bare)
        r->n_prompt = 0;
    size_t n = (size_t)t->n - 1, all = (size_t)r->n_prompt + n, at = 0;
    xgrow(&s->forced.id, &s->forced.cap, all, sizeof *s->forced.id);
    memcpy(s->forced.id, r->prompt, (size_t)r->n_prompt * sizeof *r->prompt);
    memcpy(s->forced.id + r->n_prompt, t->ids, n * sizeof *t->ids);
    str_clear(&s->scored);
    for (size_t i = 0; i < n; i++) {
        tokenizer_decode(s->decoder->plan->loaded[0].tokenizer, &t->ids[i], 1, 0, &s->scored);
        str_putc(&s->scored, 0);
    }
    xgrow(&s->scored_at, &s->cap_scored, n, sizeof *s->scored_at);
    for (size_t i = 0; i < n; i++, at += strlen(s->scored.data + at) + 1)
        s->scored_at[i] = s->scored.data + at;
    r->prompt = s->forced.id;
    r->n_prompt = (int)all;
    r->n_scored = t->is_bare ? 0 : (int)n;
    r->scored = s->scored_at;
    int left = s->decoder->plan->loaded[0].info.max_context - r->n_prompt;
    r->max_new_tokens = t->more < left ? t->more : left > 1 ? left : 1;
    r->temperature = 0;
    r->top_p = 1;
    r->n_stop = 0;
    r->most_tries = SCORE_TRIES;
}

static int endpoint_submit_job(struct decoder *d, int w, long job, struct err *e)
{
    struct endpoint_decoder *s = d->data;
    const struct runplan *p = s->decoder->plan;
    const struct job *j = &p->jobs[job];
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *set = &p->sets[c->set];
    const struct prompt_row *row = &set->rows[j->problem];
    const struct settings *t = &c->settings->s;
    const struct engine_info *info = &p->loaded[c->loaded_model].info;
    struct endpoint_request r = {.prompt = set->ids.id + row->first,
                                 .n_prompt = row->n,
                                 .temperature = t->temperature,
                                 .top_p = t->temperature > 0 ? t->top_p : 1,
                                 /* no filter: "off" is 0, -1 or an error, depending on the server */
                                 .top_k = t->temperature > 0 && t->top_k ? t->top_k : info->vocab,
                                 .seed = seed_of(t, &set->task.problems[j->problem], j->sample),
                                 .max_new_tokens = runplan_limit(p, c, (size_t)j->problem),
                                 .stop = t->stop,
                                 .n_stop = t->n_stop,
                                 .user = &p->jobs[job]};
    if (s->model)
        r.model = s->model[j->cell];
    if (s->model && !j->replay) {
        r.problem = set->task.problems[j->problem].id;
        r.key_seed = t->seed;
        r.key_sample = j->sample;
    }
    if (j->replay)
        force_tokens(s, &r, j->replay);
    end_tokens(&r, info, set->end_token);
    struct err why = {0};
    d->worker[w].n_held++;
    if (p->file->endpoint->is_text) {
        if (prompt_text(s, r.prompt, r.n_prompt, &why)) {
            struct endpoint_answer a = {.error = why.text};
            int rc = hand_over_answer(s, job, &a, e);
            return rc ? rc : check_end(s, e);
        }
        r.text = str_text(&s->text);
        r.n_text = s->text.len;
    }
    endpoint_submit(s->ep, &r);
    return 0;
}

/* The status line counts in steps of a batch; here a step is a token of each request that is under way. */
static void endpoint_look(struct decoder *d, struct decoder_figures *out)
{
    struct endpoint_decoder *s = d->data;
    double clock = clock_seconds(), tokens = s->finished;
    int places = d->plan->loaded[0].info.max_batch;
    xgrow(&out->running, &out->cap, (size_t)places, sizeof *out->running);
    out->n = endpoint_running(s->ep, s->asked);
    for (int i = 0; i < out->n; i++) {
        const struct job *j = s->asked[i].user;
        out->running[i] = (struct running_job){j - d->plan->jobs, s->asked[i].tokens};
        tokens += s->asked[i].tokens;
    }
    if (tokens > s->sums.tokens) { /* it falls when a try breaks, which would look like a restart */
        if (out->n) {
            s->sums.steps += (tokens - s->sums.tokens) / out->n;
            s->sums.decode_seconds += clock - s->clock;
        }
        s->sums.tokens = tokens;
        s->clock = clock;
    }
    s->sums.devices = 1;
    s->sums.places = places;
    out->model[0] = s->sums;
    out->n_workers = 1;
    out->worker[0] = (struct status_worker){.name = "endpoint",
                                            .life = STATUS_LIVE,
                                            .pid = (long)getpid(),
                                            .running = out->n,
                                            .tokens = s->sums.tokens};
}

static int endpoint_capacity(struct decoder *d, int w)
{
    const struct endpoint_decoder *s = d->data;
    (void)w;
    return d->is_limited ? d->plan->loaded[0].info.max_batch - endpoint_pending(s->ep) : endpoint_free(s->ep);
}

static int endpoint_poll(struct decoder *d, struct err *e)
{
    struct endpoint_decoder *s = d->data;
    const struct endpoint_answer *done = NULL;
    int n = 0, rc = 0;
    if (!endpoint_pending(s->ep))
        return 0;
    endpoint_step(s->ep, &done, &n, &s->end);
    for (int i = 0; i < n && !rc; i++) /* those that are done, whatever became of the others */
        rc = hand_over_answer(s, (const struct job *)done[i].user - d->plan->jobs, &done[i], e);
    return rc ? rc : check_end(s, e);
}

static void endpoint_begin(struct decoder *d)
{
    struct endpoint_decoder *s = d->data;
    s->clock = clock_seconds();
}

static void endpoint_drain(struct decoder *d, struct err *e)
{
    (void)d;
    (void)e;
}

static void endpoint_stop(struct decoder *d, int is_done, struct err *e)
{
    (void)d;
    (void)is_done;
    (void)e;
}

static void endpoint_close_decoder(struct decoder *d)
{
    struct endpoint_decoder *s = d->data;
    endpoint_close(s->ep);
    free(s->asked);
    token_list_release(&s->ids);
    token_list_release(&s->forced);
    tokenizer_scratch_release(&s->scratch);
    str_release(&s->text);
    str_release(&s->scored);
    free(s->scored_at);
    free(s);
    free(d->worker);
    memset(d, 0, sizeof *d);
}

int decoder_open_endpoint(struct decoder *d, struct runplan *p, const struct decoder_user *user,
                          const char *key, struct err *e)
{
    const struct runfile_endpoint *f = p->file->endpoint;
    int places = p->loaded[0].info.max_batch;
    struct endpoint_options o = {.url = f->url,
                                 .name = f->name,
                                 .key = key,
                                 .concurrency = places,
                                 .timeout = f->timeout,
                                 .stall = f->stall,
                                 .retries = f->retries,
                                 .retry_wait = f->retry_wait,
                                 .stream = f->stream};
    struct endpoint_decoder *s = xcalloc(1, sizeof *s);
    *d = (struct decoder){.data = s,
                          .plan = p,
                          .user = *user,
                          .worker = xcalloc(1, sizeof *d->worker),
                          .n_workers = 1,
                          .bind = endpoint_bind,
                          .begin = endpoint_begin,
                          .capacity = endpoint_capacity,
                          .submit = endpoint_submit_job,
                          .poll = endpoint_poll,
                          .look = endpoint_look,
                          .drain = endpoint_drain,
                          .stop = endpoint_stop,
                          .close = endpoint_close_decoder};
    s->decoder = d;
    s->asked = xcalloc((size_t)places, sizeof *s->asked);
    d->worker[0] = (struct decoder_worker){.is_live = 1, .is_ready = 1, .places = places};
    return endpoint_open(&s->ep, &o, e);
}
