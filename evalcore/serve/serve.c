/* The server's loop (contract: serve.h, serve_parts.h). */
#include "evalcore/serve/serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/cli/stop.h"
#include "evalcore/serve/serve_parts.h"
#include "evalcore/sweep/sweep_options.h"

/* The options of a sweep that makes the same plan, for the workers. */
static int open_workers(struct server *s, const char *path, struct err *e)
{
    const struct serve_options *o = s->o;
    const char *v[12];
    int n = 0;
    v[n++] = "sweep";
    v[n++] = path;
    v[n++] = arena_printf(&s->arena, "--model=%s", o->model);
    v[n++] = arena_printf(&s->arena, "--devices=%s", o->devices ? o->devices : "cpu");
    v[n++] = "--limit=1";
    if (o->threads)
        v[n++] = arena_printf(&s->arena, "--threads=%d", o->threads);
    if (o->max_batch)
        v[n++] = arena_printf(&s->arena, "--max-batch=%d", o->max_batch);
    struct timeouts timeouts = {.silence = o->worker_timeout ? o->worker_timeout : WORKER_TIMEOUT,
                                .step =
                                    o->step_timeout || !s->devices.is_gpu ? o->step_timeout : STEP_TIMEOUT};
    const struct decoder_user user = serve_user(s);
    int rc = decoder_open_process(&s->decoder, &s->plan, &user, &s->devices, timeouts, n, (char **)v,
                                  s->env->cache_dir, e);
    return rc ? rc : s->decoder.bind(&s->decoder, e);
}

/* The plan's own jobs are not decoded: in their place come those of requests, as many as there is room for.
 */
static void make_places(struct server *s)
{
    struct runplan *p = &s->plan;
    s->n_places = s->n_free = s->o->max_queue;
    size_t n_jobs = (size_t)s->n_places + (size_t)s->devices.n;
    p->jobs = xrealloc(p->jobs, n_jobs * sizeof *p->jobs);
    memset(p->jobs, 0, n_jobs * sizeof *p->jobs);
    p->n_jobs = (long)n_jobs;
    s->place = xcalloc((size_t)s->n_places, sizeof(struct served *));
    s->free_place = xcalloc((size_t)s->n_places, sizeof *s->free_place);
    for (int i = 0; i < (int)n_jobs; i++)
        snprintf(p->jobs[i].key, sizeof p->jobs[i].key, "%0*d", JOB_KEY_HEX, i);
    for (int i = 0; i < s->n_places; i++)
        s->free_place[i] = s->n_places - 1 - i;
    serve_make_pins(s);
    s->decoder.begin(&s->decoder);
}

static int load_model(struct server *s, struct err *e)
{
    const struct serve_options *o = s->o;
    const char *path;
    if (o->api_key_env) {
        s->key = s->env->variable(o->api_key_env);
        if (!s->key || !*s->key)
            return err_set(e, ERR_USAGE, "the variable that --api-key-env names is not set");
    }
    if (device_list_parse(&s->devices, o->devices, DEVICES_MAX, e) || serve_run_file(s, &path, e))
        return e->code;
    struct runfile_options fo = {.model = o->model};
    struct runplan_options po = {.limit = 1,
                                 .backend = s->devices.backend,
                                 .ordinal = s->devices.is_gpu ? s->devices.ordinal[0] : 0,
                                 .threads = o->threads,
                                 .max_batch = o->max_batch,
                                 .cache_dir = s->env->cache_dir,
                                 .dry = 1}; /* workers decode, this process opens no engine */
    int rc = runfile_load(&s->file, path, &fo, e);
    if (!rc)
        rc = runfile_find_models(&s->file, s->env, e);
    if (!rc)
        rc = runplan_build(&s->plan, &s->file, &po, e);
    if (!rc)
        rc = open_workers(s, path, e);
    if (rc)
        return rc;
    serve_name_models(s);
    make_places(s);
    return 0;
}

/* Returns a signal that waits, or 0. They stay blocked, unlike with stop_poll(): who ends a program often
 * sends one to the process and one to its group. */
static int take_signal(void)
{
    const struct timespec now = {0};
    sigset_t set;
    stop_signals(&set);
    int signal = sigtimedwait(&set, NULL, &now);
    return signal > 0 ? signal : 0;
}

/* After the first signal nothing new is taken, and what is there ends, up to the limit of time or Ctrl-C.
 * Returns the exit code. */
static int run_turns(struct server *s, struct err *e)
{
    double until = 0;
    s->decoder.wake_fd = serve_descriptor(s);
    while (!e->code) {
        serve_submit(s, e);
        if (!e->code)
            s->decoder.poll(&s->decoder, e);
        s->decoder.no_wait = serve_turn(s);
        int signal = take_signal();
        if (s->is_draining && signal == SIGINT)
            return EXIT_INTERRUPTED;
        if (signal && !s->is_draining) {
            s->is_draining = 1;
            until = clock_seconds() + s->o->drain;
            log_info("no request is taken any more; those that are there have %d s to end, or until Ctrl-C",
                     s->o->drain);
        }
        int is_idle = !s->n_waiting && s->n_free == s->n_places;
        for (const struct link *l = s->links; l && is_idle; l = l->next)
            is_idle = !l->exchange || !l->is_busy; /* answers are sent to their end */
        if (s->is_draining && (is_idle || clock_seconds() >= until))
            break;
    }
    return EXIT_DONE;
}

int serve_run(const struct process_env *env, const struct serve_options *o)
{
    struct server s = {.o = o, .env = env};
    struct stopper stopper = {.is_quiet = 0}; /* a signal while the model is loaded ends the process */
    struct err e = {0};
    stop_block();
    int rc = stopper_start(&stopper, &e), code = EXIT_DONE;
    if (!rc)
        rc = load_model(&s, &e);
    stopper_end(&stopper);
    if (!rc)
        rc = serve_listen(&s, &e);
    if (!rc) {
        s.started = clock_seconds();
        code = run_turns(&s, &e);
    }
    serve_close(&s);
    if (s.decoder.close)
        s.decoder.close(&s.decoder);
    serve_forget_places(&s);
    if (e.code)
        code = command_fail(&e, s.started > 0 || e.code == ERR_DEVICE ? EXIT_INCOMPLETE : EXIT_USAGE);
    free(s.figures.running);
    free(s.place);
    free(s.free_place);
    free(s.waiting);
    serve_release_pins(&s);
    tokenizer_scratch_release(&s.scratch);
    runplan_release(&s.plan);
    runfile_release(&s.file);
    arena_release(&s.arena);
    return code;
}
