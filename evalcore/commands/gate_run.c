/* kveval gate --run: replays, then looks at more and more samples until every setting is decided. Repeating
 * the command goes on where it was stopped. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/stop.h"
#include "evalcore/commands/commands.h"
#include "evalcore/commands/gate_job.h"
#include "evalcore/store/runfolder.h"

/* After this many deaths of a worker in a row, or in an hour, the device is given up: a gate has to say soon
 * that it cannot tell. */
enum { DEATHS_IN_A_ROW = 1, DEATHS_IN_AN_HOUR = 3 };

/* What would otherwise be found hours later, or as a file that cannot be read. */
static int check_files(const struct gate_options *o, struct err *e)
{
    if (!file_exists(o->run))
        return err_set(e, ERR_USAGE, "%s is not there; --run takes a run file", o->run);
    if (!o->rebaseline)
        return 0;
    int rc = file_check_target("--base", o->base, e);
    return rc ? rc : file_plain(o->base, e);
}

static int check_endpoint_options(const struct gate_options *o, struct err *e)
{
    const char *option = o->device         ? "--device"
                         : o->threads      ? "--threads"
                         : o->step_timeout ? "--step-timeout"
                                           : NULL;
    return option ? err_set(e, ERR_USAGE, "%s says nothing to an endpoint; leave it out", option) : 0;
}

static int read_base(struct gate_job *j, struct err *e)
{
    if (file_exists(j->o->base))
        return gate_base_read(&j->base, j->o->base, &j->arena, e);
    return err_set(e, ERR_USAGE, "%s is not there; make one with kveval gate --rebaseline", j->o->base);
}

static int load_inputs(struct gate_job *j, struct err *e)
{
    const struct gate_options *o = j->o;
    struct cli_list set = o->set;
    if (o->rebaseline && set.n < (int)(sizeof set.v / sizeof *set.v))
        set.v[set.n++] = arena_printf(&j->arena, "samples=%d", o->samples ? o->samples : 64);
    struct runfile_options fo = {.model = o->model, .set = &set, .takes_endpoint = 1};
    int rc = check_files(o, e);
    if (!rc)
        rc = device_list_parse(&j->devices, o->device, DEVICES_MAX, e);
    struct runplan_options po = {.data_dir = o->data,
                                 .backend = j->devices.backend,
                                 .ordinal = j->devices.is_gpu ? j->devices.ordinal[0] : 0,
                                 .threads = o->threads,
                                 .max_batch = o->max_batch,
                                 .cache_dir = j->env->cache_dir,
                                 .dry = 1}; /* workers decode, this process opens no engine */
    if (!rc)
        rc = runfile_load(&j->file, o->run, &fo, e);
    if (!rc && j->file.endpoint)
        rc = check_endpoint_options(o, e);
    if (!rc)
        rc = runfile_find_models(&j->file, j->env, e);
    if (!rc)
        rc = runfolder_check(o->out, e);
    if (!rc && !o->rebaseline)
        rc = read_base(j, e);
    if (!rc)
        rc = file_mkdirs(o->out, e);
    if (!rc)
        rc = runlock_take(&j->lock, o->out, 0, 0, e);
    return rc ? rc : runplan_build(&j->plan, &j->file, &po, e);
}

static int holds_completions(const char *dir)
{
    struct file_list list = {0};
    struct str journal = {0}, path = {0};
    int any = 0;
    file_join(&journal, dir, "journal");
    if (file_is_dir(journal.data) && !file_list(&list, journal.data, "", NULL))
        for (size_t i = 0; i < list.n; i++) {
            struct stat st;
            str_clear(&path);
            file_join(&path, journal.data, list.name[i]);
            any |= stat(path.data, &st) || st.st_size > 0;
        }
    file_list_release(&list);
    str_release(&journal);
    str_release(&path);
    return any;
}

/* The folder's completions must be this program's: their keys do not tell one build from another, and answers
 * that an older build gave would pass for this one's. So would those in a folder that no build has marked. */
static const char *mark_path(const struct gate_job *j)
{
    return arena_printf((struct arena *)&j->arena, "%s/gate/judged", j->o->out);
}

/* Nor does a server say which build it is: once a night has been judged, its answers must not be judged again
 * as those of another. */
static int is_new_night(struct gate_job *j, struct err *e)
{
    if (j->o->rebaseline || !file_exists(mark_path(j)))
        return 0;
    return err_set(
        e, ERR_USAGE,
        "%s holds the answers of a night that was judged, and a server does not tell its build; give "
        "this night a folder of its own with -o, or compare what is there with kveval gate %s %s",
        j->o->out, j->o->base, j->o->out);
}

/* Returns 0, or the error of the mark that could not be written. */
static int mark_judged(struct gate_job *j, const struct gate_result *r, struct err *e)
{
    int is_judged =
        r->verdict == GATE_PASS || r->verdict == GATE_REGRESSION || r->verdict == GATE_INCONCLUSIVE;
    return is_judged && j->file.endpoint ? file_write_atomic(mark_path(j), "", 0, e) : 0;
}

static int same_program(struct gate_job *j, struct err *e)
{
    struct file_map map;
    struct str path = {0}, old = {0}, now = {0};
    char digest[65];
    int rc = file_map_open(&map, "/proc/self/exe", e);
    if (rc)
        return rc;
    sha256_hex(map.data, map.size, digest, 64);
    file_map_close(&map);
    str_printf(&now, "%s\n", digest);
    file_join(&path, j->o->out, "gate/program.sha256");
    if (file_exists(path.data))
        rc = file_plain(path.data, e) ? ERR_IO : file_read(path.data, &old, e);
    if (!rc && !old.len && holds_completions(j->o->out))
        rc = err_set(e, ERR_USAGE,
                     "%s holds completions, and no %s says which build of kveval they are from; give this "
                     "build a folder of its own with -o",
                     j->o->out, path.data);
    if (!rc && old.len && (old.len != now.len || memcmp(old.data, now.data, now.len)))
        rc = err_set(e, ERR_USAGE,
                     "the completions in %s are those of another build of kveval, says %s; give this build a "
                     "folder of "
                     "its own with -o",
                     j->o->out, path.data);
    if (!rc && !old.len) {
        struct str dir = {0};
        file_join(&dir, j->o->out, "gate");
        rc = file_mkdir_own(dir.data, e);
        str_release(&dir);
        if (!rc)
            rc = file_write_atomic(path.data, now.data, now.len, e);
    }
    str_release(&path);
    str_release(&old);
    str_release(&now);
    return rc;
}

/* Starts a worker for each device, with the options of a sweep that makes the same plan. */
static int open_workers(struct gate_job *j, struct err *e)
{
    const struct gate_options *o = j->o;
    struct arena *a = &j->arena;
    if (j->file.endpoint)
        return sweep_open_endpoint(&j->sweep, &j->plan, &j->deadline, j->env, e);
    const char *v[16 + sizeof o->set.v / sizeof *o->set.v];
    int n = 0;
    v[n++] = "sweep";
    v[n++] = o->run;
    v[n++] = arena_printf(a, "--devices=%s", o->device ? o->device : "cpu");
    if (o->threads)
        v[n++] = arena_printf(a, "--threads=%d", o->threads);
    if (o->max_batch)
        v[n++] = arena_printf(a, "--max-batch=%d", o->max_batch);
    if (o->model)
        v[n++] = arena_printf(a, "--model=%s", o->model);
    if (o->data)
        v[n++] = arena_printf(a, "--data=%s", o->data);
    if (o->quiet)
        v[n++] = "--quiet";
    for (int i = 0; i < o->set.n; i++)
        v[n++] = arena_printf(a, "--set=%s", o->set.v[i]);
    if (o->rebaseline)
        v[n++] = arena_printf(a, "--set=samples=%d", o->samples ? o->samples : 64);
    struct timeouts timeouts = {.silence = WORKER_TIMEOUT,
                                .step =
                                    o->step_timeout || !j->devices.is_gpu ? o->step_timeout : STEP_TIMEOUT,
                                .in_a_row = DEATHS_IN_A_ROW,
                                .in_an_hour = DEATHS_IN_AN_HOUR};
    j->sweep.queue.never_blames = 1; /* a device that fails is no answer */
    return sweep_open_workers(&j->sweep, &j->plan, &j->deadline, &j->devices, timeouts, NULL, n, (char **)v,
                              j->env->cache_dir, e);
}

/* Cells of settings that are not decided yet. */
static void mark_open(const struct gate_job *j, const struct gate_result *r, char *wanted, struct arena *a)
{
    for (int c = 0; c < j->plan.n_cells; c++) {
        const struct plan_cell *x = &j->plan.cells[c];
        const char *label = gate_setting_label(x->policy->label, x->settings->swept, a);
        wanted[c] = 0;
        for (int i = 0; i < r->n_settings; i++)
            if (!strcmp(r->settings[i].label, label))
                wanted[c] = r->settings[i].verdict == GATE_OPEN;
    }
}

static int publish_result(struct gate_job *j, struct gate_result *r, struct err *e)
{
    if (mark_judged(j, r, e))
        return gate_error_code(e);
    const char *dir = arena_printf(&j->arena, "%s/gate", j->o->out);
    return gate_publish_result(j->o, j->env, r, dir, &j->arena);
}

/* Returns the exit code. */
static int run_night(struct gate_job *j, struct err *e)
{
    double margin = j->o->margin > 0 ? j->o->margin : j->base.margin;
    struct gate_drift *drifts = NULL;
    const char *unscored = NULL;
    int n_drifts = 0, failed = 0, most = 0, signal = 0, is_over = 0;
    struct gate_side now;
    struct run run;
    char *wanted = arena_alloc(&j->arena, (size_t)j->plan.n_cells + 1);
    struct gate_result r = {.base = &j->base, .margin = margin};
    if (gate_job_load(j, &now, &run, 1, e))
        return gate_error_code(e);
    int rc = gate_match(&j->base, &now, e);
    run_release(&run);
    if (!rc)
        rc = gate_terms(&j->base, &now, j->o->margin > 0, j->o->other_numerics, e);
    if (!rc)
        rc = gate_fit(&j->base, 1, e);
    if (rc)
        return gate_error_code(e);
    r.now = &now;
    r.same_class = gate_same_class(&j->base, &now);
    gate_list_settings(&r, &j->arena);
    if (gate_job_compare(j, &r, &drifts, &n_drifts, &failed, &unscored, &signal, e))
        return gate_error_code(e);
    if (signal)
        return gate_job_stopped(signal);
    if (unscored)
        log_info("replays: none, since %s", unscored);
    else
        log_info("replays: %d of %d pass", n_drifts - failed, n_drifts);
    r.drifts = drifts;
    r.n_drifts = n_drifts;
    r.tier1_failed = failed;
    if (failed && !j->file.endpoint) {
        r.verdict = GATE_REGRESSION;
        r.n_settings = 0; /* none was looked at */
        r.words = arena_printf(&j->arena, "%s%s%d of %d replays have changed; nothing further was decoded",
                               r.changed ? r.changed : "", r.changed ? "; " : "", failed, n_drifts);
        return publish_result(j, &r, e);
    }
    for (int c = 0; c < j->file.n_settings; c++)
        most = j->file.settings[c].s.samples > most ? j->file.settings[c].s.samples : most;
    memset(wanted, 1, (size_t)j->plan.n_cells);
    for (int i = 0; i < 3 && !is_over; i++) {
        int samples = stat_looks[i].samples < most ? stat_looks[i].samples : most;
        if (gate_job_decode(j, samples, wanted, &signal, e))
            return EXIT_INCOMPLETE;
        if (signal)
            return gate_job_stopped(signal);
        int is_last = i == 2 || samples >= most || failed; /* one look tells what a server's change costs */
        if (gate_job_load(j, &now, &run, 1, e))
            return EXIT_INCOMPLETE;
        rc = gate_decide(&r, &j->base, &now, &j->o->limit, margin, samples, is_last, &j->arena, e);
        run_release(&run);
        if (rc)
            return gate_error_code(e);
        r.drifts = drifts;
        r.n_drifts = n_drifts;
        r.unscored = unscored;
        r.tier1_failed = failed;
        if (failed) {
            r.verdict = GATE_REGRESSION;
            r.words = arena_printf(&j->arena, "%d of %d replays have changed beyond the server's noise; %s",
                                   failed, n_drifts, r.words);
        }
        mark_open(j, &r, wanted, &j->arena);
        is_over = is_last || r.verdict != GATE_OPEN;
        log_info("%d samples of each problem: %s", samples, gate_verdict_name(r.verdict));
    }
    return publish_result(j, &r, e);
}

int gate_run(const struct gate_options *o, const struct process_env *p, struct err *e)
{
    struct gate_job j = {.o = o, .env = p, .stopper = {.is_quiet = o->quiet, .is_live = p->live}};
    int dropped = 0, rc = stopper_start(&j.stopper, e), code;
    deadline_init(&j.deadline, &j.stopper);
    if (!rc)
        rc = load_inputs(&j, e);
    if (!rc)
        rc = same_program(&j, e);
    if (!rc && j.file.endpoint)
        rc = is_new_night(&j, e);
    if (!rc)
        rc = open_workers(&j, e);
    if (!rc)
        rc = runplan_write(&j.plan, o->out, &dropped, e);
    code = rc ? gate_error_code(e) : o->rebaseline ? gate_make_baseline(&j, e) : run_night(&j, e);
    sweep_close(&j.sweep);
    runplan_release(&j.plan);
    runfile_release(&j.file);
    runlock_drop(&j.lock);
    stopper_end(&j.stopper);
    arena_release(&j.arena);
    return code;
}
