/* kveval gate --run --rebaseline: decodes a baseline and writes the base file (contract: gate_job.h). */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/stop.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/gate_job.h"

/* The completions that are replayed: the baseline policy's first answers to the first problems of the tasks.
 * The tokens of a problem's options are replayed whole or not at all. */
static int pick_traces(struct gate_job *j, struct gate_side *s, const struct run *run, struct err *e)
{
    struct gate_trace *t = arena_alloc(&j->arena, GATE_TRACES * sizeof *t);
    struct str text = {0};
    s->traces = t;
    for (int round = 0; round < GATE_TRACES && s->n_traces < GATE_TRACES; round++)
        for (int c = 0; c < run->n_cells && s->n_traces < GATE_TRACES; c++) {
            const struct cell *x = &run->cells[c];
            int i = 0;
            if (x->task->is_text || (!x->is_baseline && run->baseline[0]))
                continue;
            while (i < x->n_records && (x->records[i].problem != round || x->records[i].tokens < 2))
                i++;
            if (i == x->n_records)
                continue;
            str_clear(&text);
            json_t *ids = NULL;
            if (run_ids(run, &x->records[i], &text, e) || json_read_text(&ids, text.data, text.len, "ids", e))
                break;
            size_t n = json_array_size(ids) < GATE_TRACE_TOKENS || x->task->option_metrics
                           ? json_array_size(ids)
                           : GATE_TRACE_TOKENS;
            int32_t *kept = arena_alloc(&j->arena, (n + 1) * sizeof *kept);
            for (size_t k = 0; k < n; k++)
                kept[k] = (int32_t)json_integer_value(json_array_get(ids, k));
            json_decref(ids);
            if (n < 2) /* a server's count may hold the end token */
                continue;
            const struct run_problem *p = &x->task->problems[x->records[i].problem];
            t[s->n_traces++] =
                (struct gate_trace){arena_strdup(&j->arena, x->task->label), arena_strdup(&j->arena, p->id),
                                    arena_strndup(&j->arena, p->prompt_sha256, 16), kept, (int)n};
        }
    str_release(&text);
    if (!e->code && !s->n_traces)
        err_set(e, ERR_USAGE, "the baseline policy has no completion to replay");
    return e->code;
}

/* Scores by the server's log-probabilities, as far as it gives them. */
static int measure_noise(struct gate_job *j, struct gate_side *s, int *signal, struct err *e)
{
    int n = 0, rc = gate_noise_measure(s->replays, s->n_replays, s->traces, &j->sweep, gate_job_shown(j),
                                       signal, &j->arena, e);
    if (rc || *signal)
        return rc;
    const char *why = s->replays[0].why;
    for (int i = 0; i < s->n_replays; i++)
        if (s->replays[i].n)
            s->replays[n++] = s->replays[i];
    if (!n)
        s->unscored = why;
    else if (n < s->n_replays)
        log_warn("%d of %d completions cannot be scored, the first because %s", s->n_replays - n,
                 s->n_replays, why ? why : "the server did so the first time alone");
    s->n_replays = n;
    return gate_fit(s, 1, e);
}

static int make_replays(struct gate_job *j, struct gate_side *s, int *signal, struct err *e)
{
    s->replays = arena_alloc(&j->arena, ((size_t)s->n_cells * (size_t)s->n_traces + 1) * sizeof *s->replays);
    for (int t = 0; t < s->n_traces; t++)
        for (int c = 0; c < s->n_cells; c++)
            if (!strcmp(s->cells[c].task, s->traces[t].task))
                s->replays[s->n_replays++] = (struct gate_replay){.setting = s->cells[c].setting, .trace = t};
    if (j->file.endpoint)
        return measure_noise(j, s, signal, e);
    int rc = gate_job_replay(j, s->replays, s->n_replays, s->traces, signal, e);
    if (rc || *signal)
        return rc;
    rc = gate_fit(s, 1, e);
    return rc ? rc : gate_fit_reads(s, e);
}

/* A new baseline on top of replays that have changed would hide the change. */
static int old_base_holds(struct gate_job *j, int *signal, struct err *e)
{
    struct gate_drift *drifts;
    const char *unscored;
    int n = 0, failed = 0;
    if (!file_exists(j->o->base))
        return 0;
    int rc = gate_base_read(&j->base, j->o->base, &j->arena, e);
    if (!rc)
        rc = gate_fit(&j->base, 1, e);
    if (!rc)
        rc = gate_job_compare(j, NULL, &drifts, &n, &failed, &unscored, signal, e);
    for (int i = 0; i < n && failed && !rc; i++)
        if (drifts[i].failed)
            rc = err_set(e, ERR_USAGE, "replay of completion %d under \"%s\": %s", drifts[i].trace,
                         drifts[i].setting, drifts[i].why);
    if (rc)
        err_add(e, "%s does not hold here; if that is meant, remove it first and repeat", j->o->base);
    return rc;
}

/* The disk may have filled up since the start. */
static int write_base(const struct gate_job *j, const struct gate_side *now, struct err *e)
{
    struct err own = {0};
    int rc = gate_base_write(now, j->o->base, &own);
    if (rc == ERR_IO || rc == ERR_DISK)
        return err_set(
            e, rc, "%s; the completions are kept in %s: repeat the command, with another --base if need be",
            own.text, j->o->out);
    return rc ? err_set(e, rc, "%s", own.text) : 0;
}

int gate_make_baseline(struct gate_job *j, struct err *e)
{
    int signal = 0;
    struct gate_side now;
    struct run run;
    if (old_base_holds(j, &signal, e))
        return gate_error_code(e);
    if (signal)
        return gate_job_stopped(signal);
    if (gate_job_decode(j, 2000000000, NULL, &signal, e))
        return EXIT_INCOMPLETE;
    if (signal)
        return gate_job_stopped(signal);
    if (gate_job_load(j, &now, &run, 0, e))
        return EXIT_INCOMPLETE;
    int rc = pick_traces(j, &now, &run, e);
    run_release(&run);
    if (!rc)
        rc = make_replays(j, &now, &signal, e);
    if (!rc && signal)
        return gate_job_stopped(signal);
    if (!rc)
        rc = write_base(j, &now, e);
    if (!rc && !j->o->quiet)
        printf("%s: %d settings on tasks, %d replays%s%s; review it and commit it\n", j->o->base, now.n_cells,
               now.n_replays, now.unscored ? ", since " : "", now.unscored ? now.unscored : "");
    return rc ? gate_error_code(e) : EXIT_DONE;
}
