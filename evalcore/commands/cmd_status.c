/* kveval status: how far the sweeps of a run folder are, whoever runs them and wherever. */
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/log.h"
#include "evalcore/commands/commands.h"
#include "evalcore/cli/progress.h"
#include "evalcore/status/folder_status.h"
#include "evalcore/store/run.h"
#include "evalcore/store/runfolder.h"

struct status_options {
    int json;
};

static void time_text(struct str *out, double seconds)
{
    char text[40];
    time_t t = (time_t)seconds;
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    str_puts(out, text);
}

/* What a sweep is at, in a sentence. */
static void sign_text(struct str *out, const struct sweep_view *v)
{
    const struct status *s = &v->s;
    if (v->sign == SIGN_ABSENT) {
        str_printf(out, "not begun: run it with --shard %d/%d", s->shard, s->n_shards);
        return;
    }
    if (v->sign == SIGN_STARTING) {
        str_puts(out, "starting: a process holds the folder and has not decoded anything yet");
        return;
    }
    if (v->sign == SIGN_RUNNING || v->sign == SIGN_GRADING) {
        str_puts(out, v->sign == SIGN_RUNNING
                          ? "running for "
                          : "everything is decoded, grades and report are being written, ");
        progress_duration(out, s->time - s->started);
        str_printf(out, ", process %ld on %s", s->pid, s->host);
        if (v->sign == SIGN_RUNNING && v->watch == WATCH_SAME) {
            str_printf(out,
                       "; it was not seen to write in %.0f s, so whether it still runs is not known here: "
                       "look again in a minute, or on that machine",
                       WATCH_SECONDS);
        } else if (v->sign == SIGN_RUNNING && v->age > 30) {
            str_puts(out, "; it has written nothing for ");
            progress_duration(out, v->age);
        }
        return;
    }
    str_puts(out, v->sign == SIGN_SILENT ? "no sign of life since " : sweep_sign_name(v->sign));
    str_puts(out, v->sign == SIGN_SILENT ? "" : " at ");
    time_text(out, s->time);
    if (v->sign == SIGN_SILENT)
        str_printf(out, " from process %ld on %s", s->pid, s->host);
    if (v->sign == SIGN_FAILED)
        str_printf(out, ": %s", s->why);
    else if (v->sign != SIGN_FINISHED)
        str_puts(out, ": repeat the command to go on");
    else if (s->failed)
        str_puts(out, ": repeat the command with --retry-errors for the jobs that failed");
}

static void print_view(const struct sweep_view *v, int is_alone)
{
    struct str text = {0};
    if (!is_alone) {
        if (v->s.n_shards)
            str_printf(&text, "shard %d/%d: ", v->s.shard, v->s.n_shards);
        else
            str_puts(&text, "whole: ");
        if (v->age >= 0)
            status_total_text(&text, &v->s, 1000);
        str_puts(&text, v->age >= 0 ? "\n  " : "");
    }
    sign_text(&text, v);
    printf("%s\n", text.data);
    for (int i = 0; i < v->s.n_devices && v->sign == SIGN_RUNNING; i++) {
        str_clear(&text);
        status_device_text(&text, &v->s.device[i]);
        printf("  %s\n", text.data);
    }
    str_release(&text);
}

static int count(const struct folder_status *f, enum sweep_sign sign)
{
    int n = 0;
    for (int i = 0; i < f->n; i++)
        n += f->view[i].sign == sign;
    return n;
}

static int count_at_work(const struct folder_status *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++)
        n += sweep_sign_goes_on(f->view[i].sign);
    return n;
}

static void print_text(const char *dir, const struct folder_status *f)
{
    struct str text = {0};
    struct status sum = f->sum;
    sum.state = count_at_work(f) ? STATUS_RUNNING : STATUS_FINISHED; /* with or without speed */
    status_total_text(&text, &sum, 1000);
    printf("%s: %s%s\n", dir, text.data,
           count(f, SIGN_ABSENT) ? ", without the shards that have not begun" : "");
    for (int i = 0; i < f->n; i++)
        print_view(&f->view[i], f->n == 1);
    str_release(&text);
}

static const char *state_of(const struct folder_status *f, int disproved)
{
    if (count_at_work(f))
        return "running";
    return count(f, SIGN_FINISHED) == f->n && !disproved ? "finished" : "incomplete";
}

static void print_json(json_t *o)
{
    char *text = json_dumps(o, JSON_INDENT(2));
    printf("%s\n", text ? text : "{}");
    free(text);
    json_decref(o);
}

static json_t *sum_json(const char *dir, const char *state, long done, long total, long failed,
                        json_t *shards)
{
    return json_pack("{s:o, s:s, s:I, s:I, s:I, s:o}", "dir", json_text_of(dir), "state", state, "done",
                     (json_int_t)done, "total", (json_int_t)total, "failed", (json_int_t)failed, "sweeps",
                     shards);
}

/* jobs: of the journals, below 0: they were not read. */
static void print_views_json(const char *dir, const struct folder_status *f, int disproved, long jobs)
{
    json_t *shards = json_array();
    for (int i = 0; i < f->n; i++) {
        json_t *o = status_json(&f->view[i].s);
        json_object_set_new(o, "state", json_string(sweep_sign_name(f->view[i].sign)));
        json_object_set_new(o, "seen_writing",
                            f->view[i].watch == WATCH_NONE ? json_null()
                                                           : json_boolean(f->view[i].watch == WATCH_RENEWED));
        json_object_set_new(o, "age_seconds", f->view[i].age >= 0 ? json_real(f->view[i].age) : json_null());
        json_array_append_new(shards, o);
    }
    json_t *o = sum_json(dir, state_of(f, disproved), f->sum.done, f->sum.total, f->sum.failed, shards);
    json_object_set_new(o, "tokens_per_second", json_real(f->sum.rate));
    json_object_set_new(o, "running", json_integer(f->sum.running));
    json_object_set_new(o, "eta_seconds", f->sum.left >= 0 ? json_real(f->sum.left) : json_null());
    json_object_set_new(o, "journal_done", jobs >= 0 ? json_integer(jobs) : json_null());
    print_json(o);
}

static long count_failed(const struct run *r)
{
    long failed = 0;
    for (int c = 0; c < r->n_cells; c++)
        for (int i = 0; i < r->cells[c].n_records; i++)
            failed += r->cells[c].records[i].finish == FINISHED_ERROR;
    return failed;
}

/* With no process at work the folder itself has the last word, and its figures take the place of the sweeps':
 * journals may have been removed or damaged, and other files changed, since a sweep wrote them, or it was
 * killed before it wrote what it had finished. Only fewer jobs disprove what it said. *jobs: what the
 * journals have. */
static int is_disproved(struct folder_status *f, const char *dir, long *jobs, struct str *why, struct err *e)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run r;
    int rc = run_load_with(&r, dir, &o, e);
    if (rc)
        return 1;
    int is_less = r.n_done < f->sum.done || (count(f, SIGN_FINISHED) == f->n && r.n_done < r.n_expected);
    *jobs = r.n_done;
    if (is_less)
        str_printf(why, "the journals have %ld of %ld jobs, fewer than the status says", r.n_done,
                   r.n_expected);
    if (is_less && r.n_bad_lines)
        str_printf(why, ", and %ld damaged line%s", r.n_bad_lines, r.n_bad_lines == 1 ? "" : "s");
    if (is_less)
        str_puts(why, ": repeat the command to decode what is missing");
    f->sum.done = r.n_done;
    f->sum.failed = count_failed(&r);
    if (f->sum.total < r.n_done) /* shards that have not begun have jobs of an earlier sweep */
        f->sum.total = r.n_expected;
    run_release(&r);
    return is_less;
}

/* Without a status file the journals tell what is finished, and no more. */
static int look_at_journals(const char *dir, int as_json, struct err *e)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run r;
    if (run_load_with(&r, dir, &o, e))
        return command_fail(e, EXIT_USAGE);
    long failed = count_failed(&r);
    int is_complete = r.n_done >= r.n_expected;
    if (as_json)
        print_json(sum_json(dir, is_complete ? "finished" : "incomplete", r.n_done, r.n_expected, failed,
                            json_array()));
    else
        printf("%s: %ld of %ld jobs, %ld failed, by the journals: no sweep has left a status file and none "
               "that can be seen from here runs%s\n",
               dir, r.n_done, r.n_expected, failed, is_complete ? "" : "; repeat the command to go on");
    run_release(&r);
    return !is_complete ? EXIT_INCOMPLETE : failed ? EXIT_FAILED_JOBS : EXIT_DONE;
}

/* Whatever the sweeps do: results of an edited model look like those of the one that is there now. */
static void warn_changed_models(const char *dir, const char *cache_dir)
{
    struct arena a = {0};
    const char *const *sentence;
    json_t *config = runfolder_config(dir);
    int n = run_changed_models(config, cache_dir, 1, &a, &sentence);
    for (int i = 0; i < n; i++)
        log_warn("%s: %s", dir, sentence[i]);
    json_decref(config);
    arena_release(&a);
}

static int run_status(const struct process_env *p, int argc, char **argv)
{
    struct status_options o = {0};
    struct folder_status f;
    struct err e = {0};
    const char *dir;
    char host[65] = "";
    int n, code = command_parse(&cmd_status, &o, argc, argv, &dir, 1, 1, &n);
    if (code >= 0)
        return code;
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    if (folder_status(&f, dir, (double)time(NULL), host, WATCH_SECONDS, &e)) {
        folder_status_release(&f);
        return command_fail(&e, e.code == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE);
    }
    warn_changed_models(dir, p->cache_dir);
    if (!f.n) {
        folder_status_release(&f); /* it keeps what it read of files that are no statuses */
        return look_at_journals(dir, o.json, &e);
    }
    int at_work = count_at_work(&f), finished = count(&f, SIGN_FINISHED);
    long jobs = -1;
    struct str why = {0};
    int disproved = !at_work && is_disproved(&f, dir, &jobs, &why, &e);
    if (o.json)
        print_views_json(dir, &f, disproved, jobs);
    else
        print_text(dir, &f);
    fflush(stdout);
    code = at_work + finished < f.n || disproved ? EXIT_INCOMPLETE
           : !at_work && f.sum.failed            ? EXIT_FAILED_JOBS
                                                 : EXIT_DONE;
    if (e.code)
        code = command_fail(&e, command_read_code(&e));
    else if (disproved)
        log_error("%s: %s", dir, why.data);
    str_release(&why);
    folder_status_release(&f);
    return code;
}

#define AT(member) offsetof(struct status_options, member)
static const struct cli_option status_table[] = {
    {"json", 0, CLI_FLAG, AT(json), NULL, .help = "one JSON object"},
    {0},
};

const struct command cmd_status = {
    .name = "status",
    .usage = "DIR",
    .help = "how far the sweep of a run folder is, from any machine that shares it",
    .details =
        "Reads the status files that sweeps keep in DIR, one for each shard, and asks the folder's lock "
        "whether\n"
        "they still run; on another machine, where locks may not be seen, a file is watched for up to 8 "
        "seconds.\n"
        "Where none runs, the journals are read and have the last word. A model whose folder is no longer "
        "the\n"
        "one that the results are of is warned of. Writes nothing.\n"
        "Exit code 0: finished, or at work. 3: stopped, failed, killed, a shard not begun, or journals that "
        "have\n"
        "fewer jobs than the status says. 5: finished, with jobs that failed. 2: no run folder, or one that "
        "cannot\n"
        "be read.",
    .options = status_table,
    .run = run_status,
};
