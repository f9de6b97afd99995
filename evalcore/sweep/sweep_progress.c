/* Journal records of completions, and the figures of a board (contract: sweep_progress.h). */
#include "evalcore/sweep/sweep_progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/store/completion_json.h"
#include "evalcore/store/curve_json.h"
#include "evalcore/base/json.h"
#include "evalcore/cli/version.h"

/* Seconds between two samples of the speed, and at least that many steps. */
#define SAMPLE_SECONDS 0.25
enum { SAMPLE_STEPS = 2 };

/* Jobs of one problem share its weight. */
static void weigh_jobs(struct sweep_progress *t)
{
    const struct runplan *p = t->plan;
    long **n = xcalloc((size_t)p->n_sets + 1, sizeof *n);
    for (int i = 0; i < p->n_sets; i++)
        n[i] = xcalloc(p->sets[i].task.n_problems + 1, sizeof **n);
    for (long i = 0; i < p->n_jobs; i++)
        n[t->job[i].task][p->jobs[i].problem]++;
    for (long i = 0; i < p->n_jobs; i++)
        t->job[i].weight = 1.0 / (double)n[t->job[i].task][p->jobs[i].problem];
    for (int i = 0; i < p->n_sets; i++)
        free(n[i]);
    free(n);
}

void sweep_progress_init(struct sweep_progress *t, const struct runplan *p, struct journal *journal,
                         struct board *board)
{
    double clock = clock_seconds();
    *t = (struct sweep_progress){
        .plan = p, .journal = journal, .board = board, .last_clock = clock, .looked = clock};
    t->job = xcalloc((size_t)p->n_jobs + 1, sizeof *t->job);
    for (long i = 0; i < p->n_jobs; i++) {
        const struct job *j = &p->jobs[i];
        const struct plan_cell *c = &p->cells[j->cell];
        t->job[i] = (struct eta_job){.cell = j->cell,
                                     .task = c->set,
                                     .prompt = p->sets[c->set].rows[j->problem].n,
                                     .limit = runplan_limit(p, c, (size_t)j->problem),
                                     .usual = j->usual};
    }
    weigh_jobs(t);
    t->eta =
        (struct eta_run){.job = t->job, .n_jobs = p->n_jobs, .n_cells = p->n_cells, .n_tasks = p->n_sets};
    t->eta.speed.is_gpu = !strncmp(p->loaded[0].info.numerics, "cuda", 4);
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

int sweep_progress_add(struct sweep_progress *t, const struct job *j, const struct completion *done,
                       const char *device, struct err *e)
{
    return sweep_progress_add_with(t, j, done, NULL, device, e);
}

int sweep_progress_add_with(struct sweep_progress *t, const struct job *j, const struct completion *done,
                            json_t *more, const char *device, struct err *e)
{
    struct eta_job *ended = &t->job[j - t->plan->jobs];
    int rc = write_record(t, j, done, more, device, e);
    if (rc)
        return rc;
    const json_t *counted = json_object_get(more, "tokens");
    int tokens = counted ? (int)json_integer_value(counted) : done->n_ids;
    ended->state = ETA_DONE;
    ended->tokens = tokens;
    if (done->finish !=
        FINISHED_STOP) /* a limit that was found on the way, or an error: it did not end by itself */
        ended->limit = tokens;
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

int sweep_progress_withdraw(struct sweep_progress *t, struct job *j, int has_failed, const char *why,
                            const char *device, struct err *e)
{
    struct eta_job *was = &t->job[j - t->plan->jobs];
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
    was->state = ETA_WAITING;
    was->tokens = 0;
    was->limit = runplan_limit(t->plan, &t->plan->cells[j->cell], (size_t)j->problem);
    return 0;
}

/* Who runs, and the sums that a sample is made of. */
static void mark_running(struct sweep_progress *t, const struct devices_now *now, double *context,
                         double *prompts)
{
    struct eta_job *own = t->job + (t->eta.job - t->job);
    *context = *prompts = 0;
    for (long i = 0; i < t->eta.n_jobs; i++)
        if (own[i].state == ETA_RUNNING) /* one that a lost worker had waits again */
            own[i].state = ETA_WAITING;
    for (int i = 0; i < now->n; i++) {
        struct eta_job *j = &t->job[now->running[i].job];
        if (j->state == ETA_DONE)
            continue;
        j->state = ETA_RUNNING;
        j->tokens = now->running[i].tokens < j->limit ? now->running[i].tokens : j->limit - 1;
        *context += j->prompt + j->tokens;
    }
    for (long i = 0; i < t->eta.n_jobs; i++)
        if (own[i].state != ETA_WAITING)
            *prompts += own[i].prompt;
        else
            own[i].tokens = 0;
}

/* A device that loads decodes nothing, and what it does not is no slowness of the others. */
static int devices_at_work(const struct devices_now *now)
{
    return now->devices - now->loading;
}

static void take_sample(struct sweep_progress *t, const struct devices_now *now, double clock)
{
    double context, prompts, steps = now->steps - t->last.steps;
    int at_work = devices_at_work(now) > 0 ? devices_at_work(now) : 1;
    mark_running(t, now, &context, &prompts);
    struct eta_sample x = {.steps = steps,
                           .seconds = now->decode_seconds - t->last.decode_seconds,
                           .rows = now->tokens - t->last.tokens,
                           .context = context / at_work * steps,
                           .prompt_seconds = now->prompt_seconds - t->last.prompt_seconds,
                           .prompts = prompts - t->last_prompts,
                           .wall = t->device_seconds};
    /* A worker that was started again counts from 0. */
    if (steps > 0 && x.seconds >= 0 && x.rows >= 0 && x.prompt_seconds >= 0)
        eta_speed_add(&t->eta.speed, &x);
    t->last = *now;
    t->last_clock = clock;
    t->device_seconds = 0;
    t->last_prompts = prompts;
}

/* Playing the rest of 100,000 jobs through takes longer than a redraw. It is done so seldom that it costs
 * little of a core, and in between the time just passes. */
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

static double time_left(struct sweep_progress *t, const struct devices_now *now)
{
    double clock = clock_seconds();
    if (clock >= t->left_due) {
        double begun = thread_seconds();
        t->eta.devices = now->devices > 0 ? now->devices : 1;
        t->eta.places = now->places > 0 ? now->places : 1;
        t->left = eta_seconds(&t->eta);
        t->left_at = clock;
        double wait = (thread_seconds() - begun) / LEFT_SHARE;
        wait = wait < LEFT_SECONDS ? LEFT_SECONDS : wait < MAX_LEFT_SECONDS ? wait : MAX_LEFT_SECONDS;
        t->left_due = clock + (t->left < 0 ? 0 : wait);
    }
    double left = t->left - (clock - t->left_at);
    return t->left < 0 ? -1 : left > 0 ? left : 0;
}

static void show_workers(struct status *s, const struct devices_now *now)
{
    double clock = clock_seconds();
    for (int i = 0; i < now->n_workers && i < s->n_devices; i++)
        status_device_now(&s->device[i], &now->worker[i], clock);
}

static void look_at(struct sweep_progress *t, const struct devices_now *now)
{
    double clock = clock_seconds();
    t->decoded = now->tokens;
    t->device_seconds += (clock - t->looked) * devices_at_work(now);
    t->looked = clock;
    if (clock - t->last_clock >= SAMPLE_SECONDS &&
        (now->steps - t->last.steps >= SAMPLE_STEPS || now->steps < t->last.steps))
        take_sample(t, now, clock);
}

void sweep_progress_show(struct sweep_progress *t, const struct devices_now *now)
{
    look_at(t, now);
    show_workers(&t->board->now, now);
    if (!board_is_due(t->board))
        return;
    t->board->now.left = time_left(t, now);
    board_show(t->board);
}

void sweep_progress_part(struct sweep_progress *part, const struct sweep_progress *t, long first, long end,
                         double weight)
{
    *part = *t;
    part->eta.job = t->job + first;
    part->eta.n_jobs = end - first;
    part->weight = weight;
    part->looked = clock_seconds();
}

struct eta_speed sweep_progress_part_speed(struct sweep_progress *const *part, int n, int i)
{
    struct eta_speed speed = part[i]->eta.speed;
    for (int k = 0; k < n && !(speed.samples > 0); k++)
        if (part[k]->eta.speed.samples > 0) {
            speed = part[k]->eta.speed;
            eta_speed_scale(&speed, part[i]->weight / part[k]->weight);
        }
    return speed;
}

/* The seconds of a part on all devices. */
static double part_left(struct sweep_progress *const *part, int n, int i, const struct devices_now *now)
{
    struct eta_speed own = part[i]->eta.speed;
    part[i]->eta.speed = sweep_progress_part_speed(part, n, i);
    double left = time_left(part[i], now);
    part[i]->eta.speed = own;
    return left;
}

void sweep_progress_show_parts(struct sweep_progress *t, struct sweep_progress *const *part,
                               const struct devices_now *now, int n, const struct devices_now *all)
{
    double left = 0;
    for (int i = 0; i < n; i++)
        look_at(part[i], &now[i]);
    t->decoded = all->tokens;
    show_workers(&t->board->now, all);
    if (!board_is_due(t->board))
        return;
    for (int i = 0; i < n; i++) {
        double one = part_left(part, n, i, all);
        left = one < 0 || left < 0 ? -1 : left + one;
    }
    t->board->now.left = left;
    board_show(t->board);
}

void sweep_progress_release(struct sweep_progress *t)
{
    free(t->job);
    t->job = NULL;
}
