/* Journal records of completions, and the figures of a board (contract: sweep_progress.h). */
#include "evalcore/base/clock.h"
#include "evalcore/sweep/sweep_progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/store/completion_json.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/base/json.h"
#include "evalcore/cli/progress.h"
#include "evalcore/cli/version.h"
#include "evalcore/sweep/replay.h"

/* Seconds between two samples of the speed, and at least that many steps. */
#define SAMPLE_SECONDS 0.25
enum { SAMPLE_STEPS = 2 };

void sweep_progress_init(struct sweep_progress *t, const struct runplan *p, struct journal *journal,
                         struct board *board)
{
    *t = (struct sweep_progress){.plan = p, .journal = journal, .board = board};
    struct forecast *f = &t->forecast;
    *f = (struct forecast){.n_jobs = p->n_jobs, .n_cells = p->n_cells, .n_tasks = p->n_sets, .n_models = 1};
    f->is_gpu = !strncmp(p->loaded[0].info.numerics, "cuda", 4);
    f->job = xcalloc((size_t)p->n_jobs + 1, sizeof *f->job);
    for (int i = 0; i < p->n_loaded; i++) {
        int model = p->loaded[i].model;
        f->n_models = model >= f->n_models ? model + 1 : f->n_models;
        f->speed[model].weight = (double)p->loaded[i].info.weight_bytes + 1;
    }
    for (long i = 0; i < p->n_jobs; i++) {
        const struct job *j = &p->jobs[i];
        const struct plan_cell *c = &p->cells[j->cell];
        f->job[i] =
            (struct forecast_job){.cell = j->cell,
                                  .task = c->set,
                                  .model = p->loaded[c->loaded_model].model,
                                  .prompt = p->sets[c->set].rows[j->problem].n,
                                  .limit = j->replay ? j->replay->n : runplan_limit(p, c, (size_t)j->problem),
                                  .usual = j->replay ? INFINITY : j->usual};
    }
    for (int m = 0; m < RUNFILE_MODELS_MAX; m++)
        t->sampled[m] = t->looked[m] = clock_seconds();
}

static int write_record(struct sweep_progress *t, const struct job *j, const struct completion *done,
                        json_t *more, const char *device, struct err *e)
{
    const struct plan_cell *c = &t->plan->cells[j->cell];
    const struct prompt_set *s = &t->plan->sets[c->set];
    const struct problem *problem = &s->task.problems[j->problem];
    char host[64] = "", digest[65];
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    job_hash_ids(done->ids, (size_t)done->n_ids, digest);
    digest[16] = 0;
    json_t *head =
        json_pack("{s:i, s:s, s:s, s:s, s:o, s:i, s:s, s:i}", "v", JOURNAL_VERSION, "key", j->key, "cell",
                  c->id, "task", c->task->name, "problem", json_text_of(problem->id), "sample", j->sample,
                  "prompt_sha256", s->rows[j->problem].sha256, "prompt_tokens", s->rows[j->problem].n);
    json_t *place =
        json_pack("{s:o, s:o, s:s, s:I, s:s}", "device", json_text_of(device), "host", json_text_of(host),
                  "version", KVEVAL_VERSION, "time", (json_int_t)time(NULL), "ids_sha256", digest);
    if (!head || !place) {
        json_decref(head);
        json_decref(place);
        return err_set(e, ERR_FORMAT, "problem %s cannot be written as JSON", problem->id);
    }
    if (j->withdrawn)
        json_object_set_new(head, "withdrawn", json_integer(j->withdrawn));
    completion_json_add(head, done);
    json_object_update(head, more);
    json_object_update(head, place);
    json_decref(place);
    if (problem->option_order)
        json_object_set_new(head, "option_order", json_string(problem->option_order));
    json_t *curve = curve_json(&done->curve), *tail = curve ? json_pack("{s:o}", "curve", curve) : NULL;
    int rc = journal_add(t->journal, head, done->ids, (size_t)done->n_ids, done->text ? done->text : "",
                         done->n_text, tail, e);
    json_decref(tail);
    json_decref(head);
    return rc;
}

int sweep_progress_add(struct sweep_progress *t, long j, const struct decoded_job *d, struct err *e)
{
    struct forecast_job *ended = &t->forecast.job[j];
    const struct completion *done = &d->c;
    int rc = write_record(t, &t->plan->jobs[j], done, d->more, d->device, e);
    if (rc)
        return rc;
    const json_t *counted = json_object_get(d->more, "tokens");
    int tokens = counted ? (int)json_integer_value(counted) : done->n_ids;
    ended->state = JOB_DONE;
    ended->tokens = tokens;
    if (done->finish != FINISHED_STOP) /* a limit, or an error: it did not end by itself */
        ended->limit = tokens;
    t->forecast.version++;
    t->finished++;
    t->tokens += tokens;
    t->board->now.done++;
    t->board->now.failed += done->finish == FINISHED_ERROR;
    if (isfinite(done->kv.reads)) { /* an endpoint tells nothing of them */
        t->board->now.kv_reads += done->kv.reads;
        t->board->now.kv_reads_full += done->kv.reads_full;
    }
    return 0;
}

int sweep_progress_withdraw(struct sweep_progress *t, long job, int has_failed, const char *why,
                            const char *device, struct err *e)
{
    struct forecast_job *was = &t->forecast.job[job];
    struct job *j = &t->plan->jobs[job];
    const struct completion none = {.finish = FINISHED_ERROR, .error = why};
    j->withdrawn++;
    int rc = write_record(t, j, &none, NULL, device, e);
    if (rc)
        return rc;
    j->withdrawn++;
    t->finished--;
    t->tokens -= was->tokens;
    t->board->now.done--;
    t->board->now.failed -= has_failed != 0;
    was->state = JOB_WAITING;
    was->tokens = 0;
    was->limit = runplan_limit(t->plan, &t->plan->cells[j->cell], (size_t)j->problem);
    return 0;
}

/* Who runs. Returns the prompts' tokens of the jobs of a model that were started. */
static double mark_running(struct sweep_progress *t, int model)
{
    struct forecast *f = &t->forecast;
    const struct decoder_figures *now = &t->figures;
    double prompts = 0;
    for (long i = 0; i < f->n_jobs; i++)
        if (f->job[i].model == model && f->job[i].state == JOB_RUNNING) /* a lost worker's waits again */
            f->job[i].state = JOB_WAITING;
    for (int i = 0; i < now->n; i++) {
        struct forecast_job *j = &f->job[now->running[i].job];
        if (j->model != model || j->state == JOB_DONE)
            continue;
        j->state = JOB_RUNNING;
        j->tokens = now->running[i].tokens < j->limit ? now->running[i].tokens : j->limit - 1;
    }
    for (long i = 0; i < f->n_jobs; i++)
        if (f->job[i].model == model && f->job[i].state != JOB_WAITING)
            prompts += f->job[i].prompt;
        else if (f->job[i].model == model)
            f->job[i].tokens = 0;
    return prompts;
}

static void take_sample(struct sweep_progress *t, int model, double clock)
{
    const struct decoder_sums *now = &t->figures.model[model], *last = &t->last[model];
    double prompts = mark_running(t, model);
    struct forecast_sample x = {.steps = now->steps - last->steps,
                                .seconds = now->decode_seconds - last->decode_seconds,
                                .rows = now->tokens - last->tokens,
                                .prompt_seconds = now->prompt_seconds - last->prompt_seconds,
                                .prompts = prompts - t->last_prompts[model],
                                .wall = t->device_seconds[model]};
    /* A worker that was started again counts from 0. */
    if (x.steps > 0 && x.seconds >= 0 && x.rows >= 0 && x.prompt_seconds >= 0)
        forecast_add(&t->forecast, model, &x);
    t->last[model] = *now;
    t->sampled[model] = clock;
    t->device_seconds[model] = 0;
    t->last_prompts[model] = prompts;
}

/* The forecast of 100,000 jobs takes longer than a redraw. It is made so seldom that it costs little of a
 * core, and in between the time just passes. */
#define LEFT_SECONDS     1.0
#define MAX_LEFT_SECONDS 10.0
#define LEFT_SHARE       0.002

/* Seconds that this thread has computed: on a busy machine a clock shows more than something costs. */
static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double time_left(struct sweep_progress *t)
{
    double clock = clock_seconds();
    if (clock >= t->left_due) {
        double begun = thread_seconds();
        forecast_update(&t->forecast);
        t->left = forecast_seconds(&t->forecast);
        t->left_at = clock;
        double wait = (thread_seconds() - begun) / LEFT_SHARE;
        wait = wait < LEFT_SECONDS ? LEFT_SECONDS : wait < MAX_LEFT_SECONDS ? wait : MAX_LEFT_SECONDS;
        t->left_due = clock + (t->left < 0 ? 0 : wait);
    }
    double left = t->left - (clock - t->left_at);
    return t->left < 0 ? -1 : left > 0 ? left : 0;
}

/* A device that is loading does not count: otherwise the others would seem slow. */
static void look_at_model(struct sweep_progress *t, int model)
{
    const struct decoder_sums *now = &t->figures.model[model];
    double clock = clock_seconds();
    int decoding = now->devices - now->loading;
    t->forecast.speed[model].devices = decoding;
    t->device_seconds[model] += (clock - t->looked[model]) * decoding;
    t->looked[model] = clock;
    if (clock - t->sampled[model] >= SAMPLE_SECONDS &&
        (now->steps - t->last[model].steps >= SAMPLE_STEPS || now->steps < t->last[model].steps))
        take_sample(t, model, clock);
}

void sweep_progress_show(struct sweep_progress *t, struct decoder *d)
{
    struct decoder_figures *now = &t->figures;
    struct status *s = &t->board->now;
    double clock = clock_seconds();
    d->look(d, now);
    t->decoded = 0;
    t->forecast.devices = t->forecast.places = 0;
    for (int m = 0; m < t->forecast.n_models; m++) {
        look_at_model(t, m);
        t->decoded += now->model[m].tokens;
        t->forecast.devices += now->model[m].devices;
        t->forecast.places += now->model[m].places;
    }
    for (int i = 0; i < now->n_workers && i < s->n_devices; i++)
        status_device_now(&s->device[i], &now->worker[i], clock);
    if (!board_is_due(t->board))
        return;
    s->left = time_left(t);
    board_show(t->board);
}

void sweep_progress_release(struct sweep_progress *t)
{
    forecast_release(&t->forecast);
    free(t->forecast.job);
    free(t->figures.running);
    t->forecast.job = NULL;
    t->figures.running = NULL;
}
