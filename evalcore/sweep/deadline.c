/* Which jobs start in the time that is left (contract: deadline.h). */
#include "evalcore/sweep/deadline.h"

#include <math.h>
#include <string.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/progress.h"
#include "evalcore/sweep/eta_parts.h"

/* The share of completions that are no longer than what is reckoned with. */
#define SURE 0.75
/* A running job that needs more than so many times what is left is not waited for. One that needs a little
 * more is: speeds vary, and what starts beside it would make it late for good. */
#define HOPELESS 2
/* Lengths change slowly, and fitting them takes some milliseconds. */
#define LOOK_SECONDS 1.0

/* That decode: what is still loading may come too late. */
static int devices(const struct sweep_progress *t)
{
    int n = t->last.devices - t->last.loading;
    return n > 0 ? n : 1;
}

static int knows_speed(const struct sweep_progress *t)
{
    const struct eta_sample *sum = &t->eta.speed.sum;
    return sum->steps >= 1 && sum->seconds > 0 && sum->rows > 0 && sum->context > 0;
}

/* Seconds of a step with so many sequences on all devices, with what comes on top of steps and prompts. */
static double step_seconds(const struct sweep_progress *t, double rows, double context)
{
    const struct eta_sample *sum = &t->eta.speed.sum;
    double n = devices(t), busy = sum->seconds + sum->prompt_seconds;
    double overhead = busy > 0 && sum->wall > busy ? sum->wall / busy : 1;
    double share = rows < n ? rows : n;
    return eta_speed_step(&t->eta.speed, rows / share, context / share) * (overhead < 2 ? overhead : 2);
}

static double prompt_seconds(const struct sweep_progress *t, const struct eta_job *j)
{
    const struct eta_sample *sum = &t->eta.speed.sum;
    return sum->prompts > 0 ? j->prompt * sum->prompt_seconds / sum->prompts : 0;
}

static double length_of(const struct deadline *s, const struct eta_job *j)
{
    return eta_lengths_at(s->lengths, j, SURE);
}

/* Brings up to date what is known of running jobs and of lengths. Returns 0 while the speed is not known. */
static int look(struct deadline *s, const struct sweep_progress *t)
{
    double now = clock_seconds();
    if (!knows_speed(t))
        return 0;
    if (!s->lengths || now - s->looked >= LOOK_SECONDS) {
        if (s->lengths)
            eta_lengths_release(s->lengths);
        s->lengths = eta_lengths_of(&t->eta);
        s->looked = now;
        s->sampled = 0;
    }
    if (s->sampled == t->last_clock && s->finished == t->finished)
        return 1;
    s->sampled = t->last_clock;
    s->finished = t->finished;
    s->rows = s->context = s->last = s->debt = 0;
    for (long i = 0; i < t->eta.n_jobs; i++)
        if (t->eta.job[i].state == ETA_RUNNING) {
            s->rows++;
            s->context += t->eta.job[i].prompt + t->eta.job[i].tokens;
        }
    double step = s->rows > 0 ? step_seconds(t, s->rows, s->context) : 0;
    for (long i = 0; i < t->eta.n_jobs; i++) {
        const struct eta_job *j = &t->eta.job[i];
        double left = j->state == ETA_RUNNING ? length_of(s, j) - j->tokens : 0;
        if (left * step <= HOPELESS * (s->end - now) && left > s->last)
            s->last = left;
    }
    return 1;
}

static int fits(const struct deadline *s, const struct sweep_progress *t, const struct eta_job *j)
{
    double length = length_of(s, j), last = length > s->last ? length : s->last;
    double context = s->context + j->prompt + length / 2;
    double prompts = s->debt + prompt_seconds(t, j) / devices(t);
    return clock_seconds() + prompts + last * step_seconds(t, s->rows + 1, context) <= s->end;
}

/* Starts job j if it fits. */
static int admit(struct deadline *s, struct sweep_progress *t, struct eta_job *j)
{
    if (!fits(s, t, j))
        return 0;
    double length = length_of(s, j);
    s->rows++;
    s->context += j->prompt;
    s->last = length > s->last ? length : s->last;
    s->debt += prompt_seconds(t, j) / devices(t);
    j->state = ETA_RUNNING;
    return 1;
}

/* Has something changed since nothing fitted? */
static int may_try(const struct deadline *s, const struct sweep_progress *t)
{
    return !s->is_refused || s->refused_at != t->finished || s->refused_sample != t->last_clock;
}

static void refuse(struct deadline *s, const struct sweep_progress *t)
{
    s->is_refused = 1;
    s->refused_at = t->finished;
    s->refused_sample = t->last_clock;
}

int deadline_is_limited(const struct deadline *s)
{
    return s && isfinite(s->end);
}

int deadline_is_draining(const struct sweep_progress *t)
{
    return stopper_drain(t->deadline->stopper) > 0;
}

void deadline_turn(struct sweep_progress *t)
{
    t->deadline->is_late = t->deadline->is_refused = 0;
}

long deadline_pick(struct sweep_progress *t, long next, long end, int has_room, int busy, int max_batch)
{
    struct deadline *s = t->deadline;
    if (next >= end || deadline_is_draining(t))
        return -1;
    if (!deadline_is_limited(s))
        return has_room ? next : -1;
    if (busy >= max_batch || !may_try(s, t))
        return -1;
    if (!look(s, t))
        return busy ? -1 : end - 1;
    if (!s->is_late && admit(s, t, &t->job[next]))
        return next;
    s->is_late = 1;
    if (admit(s, t, &t->job[end - 1]))
        return end - 1;
    refuse(s, t);
    return -1;
}

long deadline_take(struct sweep_progress *t, struct job_queue *q, int worker, int busy)
{
    struct deadline *s = t->deadline;
    if (deadline_is_draining(t))
        return -1;
    if (!deadline_is_limited(s))
        return job_queue_take(q, worker);
    if (!may_try(s, t))
        return -1;
    if (!look(s, t))
        return busy < q->n_workers ? job_queue_take_last(q, t->plan) : -1;
    /* The longest that is left, where that fits, else the shortest. */
    for (int shortest = 0; shortest < 2; shortest++) {
        long j = shortest ? job_queue_take_last(q, t->plan) : job_queue_take(q, worker);
        if (j < 0 || admit(s, t, &t->job[j]))
            return j;
        job_queue_give_back(q, j);
    }
    refuse(s, t);
    return -1;
}

int deadline_fits(struct sweep_progress *t, long j)
{
    struct deadline *s = t->deadline;
    if (deadline_is_draining(t))
        return 0;
    if (!deadline_is_limited(s))
        return 1;
    if (!may_try(s, t))
        return 0;
    if (!look(s, t))
        return 1;
    if (admit(s, t, &t->job[j]))
        return 1;
    refuse(s, t);
    return 0;
}

int deadline_has_time(struct sweep_progress *t, long j, double seconds)
{
    struct deadline *s = t->deadline;
    if (!deadline_is_limited(s))
        return 1;
    if (!look(s, t))
        return clock_seconds() + seconds < s->end;
    s->end -= seconds;
    int is_in_time = fits(s, t, &t->job[j]);
    s->end += seconds;
    return is_in_time;
}

int deadline_is_stuck(const struct sweep_progress *t)
{
    return deadline_is_limited(t->deadline) && t->deadline->is_refused && !may_try(t->deadline, t);
}

int deadline_poll(struct sweep_progress *t, int busy)
{
    const struct deadline *s = t->deadline;
    int signal = stopper_poll(s->stopper);
    double drain = stopper_drain(s->stopper), now = clock_seconds();
    if (signal)
        return signal;
    if (drain > 0 && (!busy || now >= drain))
        return SIGINT;
    if (now >= s->end)
        return DEADLINE_TIME_UP;
    return !busy && deadline_is_stuck(t) ? DEADLINE_TIME_UP : 0;
}

double deadline_shortest(const struct sweep_progress *t, double *tokens)
{
    if (!knows_speed(t))
        return INFINITY;
    struct eta_lengths *lengths = eta_lengths_of(&t->eta);
    double least = INFINITY;
    for (long i = 0; i < t->eta.n_jobs; i++) {
        struct eta_job j = t->eta.job[i];
        if (j.state == ETA_DONE)
            continue;
        j.tokens = 0;
        double n = eta_lengths_at(lengths, &j, SURE);
        double seconds = prompt_seconds(t, &j) + n * step_seconds(t, 1, j.prompt + n / 2);
        if (seconds < least) {
            least = seconds;
            *tokens = n;
        }
    }
    eta_lengths_release(lengths);
    return least;
}

static void advise(const struct sweep_progress *t, struct str *out)
{
    const struct deadline *s = t->deadline;
    double tokens = 0, least = s && s->decoding ? deadline_shortest(t, &tokens) : INFINITY;
    if (!isfinite(least))
        return;
    double before = s->decoding - s->started, needed = before + deadline_reserve(s, before + least) + least;
    if (deadline_is_limited(s) && needed <= s->seconds) {
        str_puts(out, "; completions are longer than was expected: try a slot of ");
        progress_duration(out, 2 * s->seconds);
        return;
    }
    str_printf(
        out, "; the shortest job that is left is expected to need about %.0f tokens, which takes a slot of ",
        tokens);
    progress_duration(out, ceil(needed));
    str_puts(out, ", with --time-limit, and ");
    progress_duration(out, before);
    str_puts(out, " of it are for loading");
}

void deadline_release(struct deadline *s)
{
    if (s->lengths)
        eta_lengths_release(s->lengths);
    memset(s, 0, sizeof *s);
}

void deadline_log_lost(const struct sweep_progress *t)
{
    double lost = t->decoded - t->tokens;
    struct str advice = {0};
    if (!t->finished)
        advise(t, &advice);
    if (lost >= 1)
        log_info("about %.0f tokens of completions under way are lost%s%s", lost,
                 t->finished ? ""
                 : advice.len
                     ? "; none was finished"
                     : "; none was finished: give the sweep more time, or let it decode fewer at once "
                       "(--max-batch)",
                 str_text(&advice));
    str_release(&advice);
}
