/* How long a sweep may take (contract: deadline.h). */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/progress.h"
#include "evalcore/sweep/deadline.h"

/* What is kept for grades and report: a second, a share of the time, and what reading the folder took, twice.
 * Slurm's --signal may come a minute early; the sweep should have ended by itself then. */
#define RESERVE_SECONDS 1.0
#define RESERVE_SHARE   0.02
#define RESERVE_MOST    60.0
#define SLURM_SHARE     0.1
#define SLURM_MOST      90.0
/* A job without a limit ends in the year 2106 or so. */
#define NO_LIMIT (30 * 86400.0)

void deadline_init(struct deadline *s, struct stopper *stopper)
{
    *s = (struct deadline){.stopper = stopper, .started = clock_seconds(), .end = INFINITY};
}

int deadline_duration(const char *option, const char *text, double *seconds, struct err *e)
{
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
    const char *at = text;
    double sum = 0;
    size_t from = 0;
    do {
        char *end = NULL;
        double n = isdigit((unsigned char)*at) ? strtod(at, &end) : -1;
        size_t u = from;
        while (n >= 0 && u < 4 && *end != units[u].unit)
            u++;
        if (n >= 0 && u == 4 && at == text && !*end) { /* a plain number */
            u = 3;
            end--;
        }
        if (n < 0 || u == 4) {
            sum = -1;
            break;
        }
        sum += n * units[u].seconds;
        from = u + 1;
        at = end + 1;
    } while (*at);
    if (!(sum >= 1 && sum <= 366 * 86400.0))
        return err_set(e, ERR_USAGE,
                       "%s takes a duration such as 3h, 90m, 1h30m or 3600 (seconds), not \"%s\"", option,
                       text);
    *seconds = sum;
    return 0;
}

double deadline_reserve(const struct deadline *s, double seconds)
{
    double r = RESERVE_SECONDS + fmin(RESERVE_SHARE * seconds, RESERVE_MOST);
    return r + (s->is_slurm ? fmin(SLURM_SHARE * seconds, SLURM_MOST) : 0) + s->report;
}

static void set_end(struct deadline *s, double seconds)
{
    s->seconds = seconds;
    s->end = s->started + seconds - deadline_reserve(s, seconds);
}

int deadline_limit(struct deadline *s, const char *time_limit, long slurm_end, struct err *e)
{
    double seconds;
    time_t now = time(NULL);
    if (time_limit) {
        if (deadline_duration("--time-limit", time_limit, &seconds, e))
            return e->code;
        set_end(s, seconds);
        return 0;
    }
    double left = (double)(slurm_end - now);
    if (!slurm_end || left > NO_LIMIT)
        return 0;
    if (left < 1) {
        log_warn(
            "SLURM_JOB_END_TIME lies in the past and is not used; --time-limit says how much time there is");
        return 0;
    }
    s->is_slurm = 1;
    set_end(s, left);
    struct str text = {0};
    progress_duration(&text, left);
    log_info("Slurm ends this job in %s (SLURM_JOB_END_TIME); no job starts that cannot be expected to end "
             "before that",
             str_text(&text));
    str_release(&text);
    return 0;
}

int deadline_is_limited(const struct deadline *s)
{
    return isfinite(s->end);
}

int deadline_is_draining(const struct deadline *s)
{
    return s->stopper && stopper_drain(s->stopper) > 0;
}

int deadline_poll(const struct deadline *s, int busy)
{
    int signal = s->stopper ? stopper_poll(s->stopper) : 0;
    double drain = s->stopper ? stopper_drain(s->stopper) : 0, now = clock_seconds();
    if (signal)
        return signal;
    if (drain > 0 && (!busy || now >= drain))
        return SIGINT;
    return now >= s->end ? DEADLINE_TIME_UP : 0;
}

void deadline_begin(struct deadline *s, double seconds)
{
    s->decoding = clock_seconds();
    s->report = 2 * seconds;
    if (!deadline_is_limited(s))
        return;
    set_end(s, s->seconds);
    if (s->stopper)
        stopper_limit(s->stopper, s->started + s->seconds);
}
