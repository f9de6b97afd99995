/* What a night and a baseline of kveval gate --run share (contract: gate_job.h). */
#include "evalcore/commands/gate_job.h"

#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/store/grades.h"

int gate_job_load(struct gate_job *j, struct gate_side *now, struct run *run, int may_be_partial,
                  struct err *e)
{
    int rc = run_load(run, j->o->out, e);
    if (rc)
        return rc;
    rc = grades_save(run, e);
    if (!rc)
        rc = gate_side_run(now, run, may_be_partial, &j->arena, e);
    if (rc)
        run_release(run);
    return rc;
}

/* The terminal, where something is shown. */
const struct process_env *gate_job_shown(const struct gate_job *j)
{
    return j->o->quiet ? NULL : j->env;
}

int gate_job_decode(struct gate_job *j, int samples, const char *wanted, int *signal, struct err *e)
{
    stopper_phase(&j->stopper, STOP_DECODING);
    int rc = gate_decode(&j->sweep, j->o->out, samples, wanted, gate_job_shown(j), signal, e);
    if (!*signal)
        stopper_phase(&j->stopper, STOP_WRITING);
    return rc ? err_add(e, "decoding ended early, and nothing is decided; repeat the command to go on"),
           rc : 0;
}

int gate_job_replay(struct gate_job *j, struct gate_replay *r, int n, const struct gate_trace *traces,
                    int *signal, struct err *e)
{
    stopper_phase(&j->stopper, STOP_DECODING);
    int rc = gate_replay(r, n, traces, &j->sweep, GATE_SEE_EVERY, gate_job_shown(j), signal, &j->arena, e);
    if (!*signal)
        stopper_phase(&j->stopper, STOP_WRITING);
    return rc;
}

/* A signal ended the decoding. Returns the exit code. */
int gate_job_stopped(int signal)
{
    log_info("stopped; what was decoded is saved, repeat the command to go on");
    return stop_exit_code(signal);
}

/* What a server of another class scores is compared once, by the limits between classes. */
static int score_once(struct gate_job *j, struct gate_drift *out, const char **unscored, int *signal,
                      struct err *e)
{
    const struct gate_side *b = &j->base;
    int rc = 0;
    for (int i = 0; i < b->n_replays && !rc && !*signal && !*unscored; i++) {
        struct gate_replay now = {.setting = b->replays[i].setting, .trace = b->replays[i].trace};
        rc = gate_job_replay(j, &now, 1, b->traces, signal, e);
        *unscored = now.why;
        if (!rc && !*signal && !now.why)
            gate_drift(&out[i], &b->replays[i], &now, 0, &j->arena);
    }
    return rc;
}

static int replay_here(struct gate_job *j, struct gate_drift *out, int same_class, int *signal, struct err *e)
{
    const struct gate_side *b = &j->base;
    struct gate_replay *now = arena_alloc(&j->arena, ((size_t)b->n_replays + 1) * sizeof *now);
    for (int i = 0; i < b->n_replays; i++)
        now[i] = (struct gate_replay){.setting = b->replays[i].setting, .trace = b->replays[i].trace};
    int rc = gate_job_replay(j, now, b->n_replays, b->traces, signal, e);
    for (int i = 0; i < b->n_replays && !rc && !*signal; i++)
        gate_drift(&out[i], &b->replays[i], &now[i], same_class, &j->arena);
    return rc;
}

int gate_job_compare(struct gate_job *j, const struct gate_result *now_is, struct gate_drift **out, int *n,
                     int *failed, const char **unscored, int *signal, struct err *e)
{
    const struct gate_side *b = &j->base;
    const struct engine_info *info = &j->plan.loaded[0].info;
    const struct gate_side here = {.numerics = info->numerics, .weights = info->weights};
    int same_class = gate_same_class(b, &here), rc;
    *out = arena_alloc(&j->arena, ((size_t)b->n_replays + 1) * sizeof **out);
    *unscored = b->unscored;
    *n = 0;
    if (!b->n_replays)
        return 0;
    if (!j->file.endpoint)
        rc = replay_here(j, *out, same_class, signal, e);
    else if (same_class)
        rc = gate_noise_night(*out, b, &j->sweep, gate_job_shown(j), signal, &j->arena, e);
    else
        rc = score_once(j, *out, unscored, signal, e);
    if (rc || *signal || *unscored)
        return rc;
    *n = b->n_replays;
    for (int i = 0; i < *n; i++) {
        *failed += (*out)[i].failed;
        for (int k = 0; now_is && k < now_is->n_settings; k++)
            if (now_is->settings[k].differs && (*out)[i].failed &&
                !strcmp(now_is->settings[k].label, b->replays[i].setting))
                (*out)[i].why = arena_printf(&j->arena, "%s; %s", now_is->settings[k].differs, (*out)[i].why);
    }
    return 0;
}
