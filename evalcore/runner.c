/* The loop of a sweep (contract: runner.h): keep a few requests waiting in the engine, step it, journal what
 * finished, sync once per step. The coordinator is the only writer. */
#include "evalcore/runner.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/hash.h"
#include "evalcore/record.h"
#include "evalcore/stop.h"
#include "evalcore/text_json.h"
#include "evalcore/version.h"

/* Requests beyond the running batch: enough that a slot never waits, few enough that prompts sit in one place
 * only. */
enum { WAITING = 8, STOP_MAX = SETTINGS_STOP_MAX + 1 };

struct flight { /* expected tokens by prompt set, for the ETA */
    double expected_left, finished_expected, finished_tokens;
};

static int submit(const struct runplan *p, struct job *j, struct err *e)
{
    const struct plan_cell *c = &p->cells[j->cell];
    const struct prompt_set *s = &p->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    const struct settings *t = &c->settings->s;
    const char *stop[STOP_MAX];
    int n_stop = 0;
    for (; n_stop < t->n_stop; n_stop++)
        stop[n_stop] = t->stop[n_stop];
    if (problem->stop)
        stop[n_stop++] = problem->stop;
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
                        .min_new_tokens = t->min_new_tokens,
                        .max_total_tokens = t->max_total_tokens,
                        .ignore_eos = t->ignore_eos,
                        .stop = stop,
                        .n_stop = n_stop,
                        .end_token = s->end_token,
                        .user = j};
    int rc = engine_submit(p->lanes[c->lane].engine, &r, e);
    return rc ? err_add(e, "%s, problem %s", c->label, problem->id), rc : 0;
}

static int write_record(struct runner *r, const struct completion *done, struct err *e)
{
    const struct job *j = done->user;
    const struct plan_cell *c = &r->plan->cells[j->cell];
    const struct prompt_set *s = &r->plan->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    char host[64] = "", digest[65];
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    job_hash_ids(done->ids, (size_t)done->n_ids, digest);
    digest[16] = 0;
    json_t *head = json_pack(
        "{s:i, s:s, s:s, s:s, s:o, s:i, s:s, s:i, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:o, s:o, "
        "s:s, s:I, s:s}",
        "v", 1, "key", j->key, "cell", c->id, "task", c->task->name, "problem", text_json_of(problem->id),
        "sample", j->sample, "prompt_sha256", s->rows[j->problem].sha256, "prompt_tokens",
        s->rows[j->problem].n, "finish", finish_name(done->finish), "tokens", done->n_ids, "kv_reads",
        done->kv.reads, "kv_reads_full", done->kv.reads_full, "aux_reads", done->kv.aux_reads, "peak_tokens",
        done->kv.peak_tokens, "prefill_peak_tokens", done->kv.prefill_peak_tokens, "seconds", done->seconds,
        "preempted", done->preempted, "device", text_json_of(r->plan->lanes[c->lane].info.device), "host",
        text_json_of(host), "version", KVEVAL_VERSION, "time", (json_int_t)time(NULL), "ids_sha256", digest);
    if (!head)
        return err_set(e, ERR_FORMAT, "problem %s cannot be written as JSON", problem->id);
    if (problem->option_order)
        json_object_set_new(head, "option_order", json_string(problem->option_order));
    if (done->finish == FINISHED_ERROR)
        json_object_set_new(head, "error", text_json_of(done->error ? done->error : "unknown error"));
    int rc = journal_add(r->journal, head, done->ids, (size_t)done->n_ids, done->text ? done->text : "",
                         done->n_text, e);
    json_decref(head);
    if (rc)
        return rc;
    r->finished++;
    return 0;
}

/* Expected lengths are scaled by how the finished jobs of the same set turned out. */
static double tokens_left(const struct flight *f, int n)
{
    double left = 0;
    for (int i = 0; i < n; i++) {
        double scale = f[i].finished_expected > 0 ? f[i].finished_tokens / f[i].finished_expected : 1;
        left += f[i].expected_left * scale;
    }
    return left;
}

static void show(struct runner *r, const struct flight *f)
{
    double running = 0;
    for (int i = 0; i < r->plan->n_lanes; i++) {
        struct engine_stats s;
        engine_stats(r->plan->lanes[i].engine, &s);
        running += (double)s.decode_tokens;
    }
    double ahead = running - r->tokens, left = tokens_left(f, r->plan->n_sets);
    struct progress_now now = {r->finished, r->plan->n_jobs, running, left > ahead ? left - ahead : 0};
    progress_show(r->progress, &now);
}

static int step(struct runner *r, struct engine *en, struct flight *f, struct err *e)
{
    const struct completion *done = NULL;
    int n = 0, rc = engine_step(en, &done, &n, e);
    for (int i = 0; i < n && !rc; i++) {
        const struct job *j = done[i].user;
        struct flight *set = &f[r->plan->cells[j->cell].set];
        rc = write_record(r, &done[i], e);
        set->expected_left -= j->expected;
        set->finished_expected += j->expected;
        set->finished_tokens += done[i].n_ids;
        r->tokens += done[i].n_ids;
    }
    if (n && !rc)
        rc = journal_sync(r->journal, e);
    return rc;
}

int runner_run(struct runner *r, struct err *e)
{
    struct runplan *p = r->plan;
    struct flight *f = xcalloc((size_t)p->n_sets + 1, sizeof *f);
    long next = 0;
    int rc = 0;
    for (long i = 0; i < p->n_jobs; i++)
        f[p->cells[p->jobs[i].cell].set].expected_left += p->jobs[i].expected;
    for (int lane = 0; lane < p->n_lanes && !rc && !r->signal; lane++) { /* jobs are sorted by lane */
        struct engine *en = p->lanes[lane].engine;
        for (;;) {
            while (!rc && next < p->n_jobs && p->cells[p->jobs[next].cell].lane == lane &&
                   engine_waiting(en) < WAITING)
                rc = submit(p, &p->jobs[next++], e);
            if (rc || !engine_pending(en))
                break;
            rc = step(r, en, f, e);
            r->signal = stop_poll();
            if (rc || r->signal)
                break;
            show(r, f);
        }
    }
    progress_end(r->progress);
    free(f);
    return rc;
}
