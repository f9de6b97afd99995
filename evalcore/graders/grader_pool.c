/* The pool of graders (contract: grader_pool.h). Each child has one batch at a time, so neither side ever
 * waits for the other to read. A grade depends on its record alone: how many children there are changes
 * nothing. */
#include "evalcore/graders/grader_pool.h"

#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "evalcore/base/clock.h"
#include "evalcore/graders/grader_messages.h"
#include "evalcore/process/worker_process.h"

/* A batch is long enough that nobody waits between two, and short enough that all end together. */
enum { BATCH_MAX = 64, BATCHES_EACH = 4, ITEMS_EACH = 32, GRADERS_MAX = 64, END_SECONDS = 2 };

struct grader {
    struct worker_process process;
    size_t at, end; /* items of the list that it has been given and that have no grade yet */
    int is_ready;   /* whatever ends it from now on has to do with the item that it is at */
    double silent;  /* seconds since its last grade */
};

struct pool {
    struct run *run;
    const struct ungraded *list;
    size_t n, next, batch; /* next: the first item that nobody has been given */
    const char *argv[7];
    struct grader *grader;
    int n_graders;
    double looked;
    struct pollfd *fds;
};

/* The completion that a child was at, when it was ended. */
static void mark_ungraded(struct pool *p, struct record *rec, const char *why)
{
    rec->verdict = VERDICT_ERROR;
    rec->score = 0;
    rec->is_ungraded = 1;
    rec->segmenter = NULL;
    rec->reason = arena_printf(&p->run->arena, "The grader failed: it %s.", why);
    rec->gold_form = rec->pred_form = "";
    p->run->n_ungraded++;
}

/* Why a child ended by itself, to follow "it". */
static void describe_end(struct str *why, int status, const struct str *how)
{
    if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        str_printf(why, "needed more than %d seconds of processor time", GRADER_SECONDS);
    else if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == GRADER_NO_MEMORY)
        str_printf(why, "needed more than %d MiB of memory", GRADER_MEMORY_MIB);
    else
        str_puts(why, str_text(how));
}

static int start_grader(struct pool *p, struct grader *g, struct err *e)
{
    struct err why = {0};
    g->is_ready = 0;
    if (!worker_process_start(&g->process, p->argv, &why))
        return 0;
    return err_set(
        e, ERR_DISK,
        "completions are graded in processes of their own: %s; repeat the command when the machine has room "
        "for one",
        why.text);
}

/* To a child that waits for it. */
static int send_batch(struct pool *p, struct grader *g, struct err *e)
{
    int rc = wire_send(&g->process.wire, grader_batch(p->run, p->list + g->at, g->end - g->at), e);
    return rc == WIRE_END ? 0 : rc; /* it has just ended, which the next look finds */
}

/* Gives a child what is left of its batch, or a new one. One that has yet to start gets it when it is ready.
 */
static int send_item(struct pool *p, struct grader *g, struct err *e)
{
    if (g->at == g->end) {
        g->at = p->next;
        g->end = p->n - p->next < p->batch ? p->n : p->next + p->batch;
        p->next = g->end;
    }
    g->silent = 0;
    if (g->at == g->end)
        return 0;
    return g->process.pid ? send_batch(p, g, e) : start_grader(p, g, e);
}

/* A child has ended, or is to be ended because of `fault` (else NULL). The item that it was at has its grade
 * by that; a child that did not even begin says that none would. */
static int mark_dead(struct pool *p, struct grader *g, const char *fault, struct err *e)
{
    struct str how = {0}, why = {0};
    int rc = 0, status = worker_process_end(&g->process, fault ? 0 : clock_seconds() + END_SECONDS, &how);
    if (fault)
        str_puts(&why, fault);
    else
        describe_end(&why, status, &how);
    if (!g->is_ready)
        rc = err_set(e, ERR_DISK, "a process that grades completions did not begin: it %s", str_text(&why));
    else if (g->at < g->end)
        mark_ungraded(p, p->list[g->at++].rec, str_text(&why));
    str_release(&how);
    str_release(&why);
    return rc ? rc : send_item(p, g, e);
}

/* What a child has sent. */
static int receive_grade(struct pool *p, struct grader *g, const json_t *m, struct err *e)
{
    g->silent = 0;
    if (!g->is_ready && json_object_get(m, "ready")) {
        g->is_ready = 1;
        return send_batch(p, g, e);
    }
    if (g->at == g->end)
        return err_set(e, ERR_FORMAT, "a grader sends a grade that nobody asked for");
    int rc = grader_read_grade(m, p->list[g->at].rec, &p->run->arena, e);
    p->run->n_ungraded += !rc && p->list[g->at].rec->is_ungraded;
    if (!rc && ++g->at == g->end)
        rc = send_item(p, g, e);
    return rc;
}

/* Sends what still waits and takes all that has come. What cannot be read comes from a child whose memory is
 * no longer sound. */
static int listen_to(struct pool *p, struct grader *g, struct err *e)
{
    int rc = wire_flush(&g->process.wire, e);
    if (rc == WIRE_END) /* its last grades are still to be read */
        rc = 0;
    while (!rc) {
        struct err damage = {0};
        json_t *m = NULL;
        int got = wire_receive(&g->process.wire, 0, &m, &damage);
        if (got == WIRE_NOTHING)
            return 0;
        if (got != WIRE_MESSAGE)
            return mark_dead(p, g, got < 0 ? "sent what cannot be read" : NULL, e);
        rc = receive_grade(p, g, m, e);
        json_decref(m);
    }
    return rc;
}

/* Seconds in which a grade must come. */
static int silence_of(const struct ungraded *item)
{
    return GRADER_SILENT_SECONDS + grade_seconds(item->task);
}

/* Waits for up to a second and looks at every child. Time counts in turns of at most a second each, so that a
 * program that was stopped and goes on does not find its children silent. */
static int poll_once(struct pool *p, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < p->n_graders; i++)
        p->fds[i] = (struct pollfd){.fd = p->grader[i].process.pid ? p->grader[i].process.wire.fd : -1,
                                    .events = wire_events(&p->grader[i].process.wire)};
    if (poll(p->fds, (nfds_t)p->n_graders, 1000) < 0 && errno != EINTR)
        return err_set(e, ERR_IO, "graders cannot be waited for: %s", err_reason(errno));
    double now = clock_seconds(), passed = now - p->looked < 1 ? now - p->looked : 1;
    p->looked = now;
    for (int i = 0; i < p->n_graders && !rc; i++) {
        struct grader *g = &p->grader[i];
        char silent[64];
        if (!g->process.pid)
            continue;
        g->silent += passed;
        rc = listen_to(p, g, e);
        if (rc || g->at == g->end || g->silent <= silence_of(&p->list[g->at]))
            continue;
        snprintf(silent, sizeof silent, "said nothing for %d seconds", silence_of(&p->list[g->at]));
        rc = mark_dead(p, g, silent, e);
    }
    return rc;
}

static int is_done(const struct pool *p)
{
    for (int i = 0; i < p->n_graders; i++)
        if (p->grader[i].at < p->grader[i].end)
            return 0;
    return p->next == p->n;
}

static int grade_in_children(struct pool *p, struct err *e)
{
    int rc = 0;
    size_t wanted = (p->n + ITEMS_EACH - 1) / ITEMS_EACH;
    p->n_graders = omp_get_max_threads() < GRADERS_MAX ? omp_get_max_threads() : GRADERS_MAX;
    if (wanted < (size_t)p->n_graders)
        p->n_graders = (int)wanted;
    p->batch = 1 + p->n / (size_t)(p->n_graders * BATCHES_EACH);
    if (p->batch > BATCH_MAX)
        p->batch = BATCH_MAX;
    p->grader = xcalloc((size_t)p->n_graders, sizeof *p->grader);
    p->fds = xcalloc((size_t)p->n_graders, sizeof *p->fds);
    p->looked = clock_seconds();
    for (int i = 0; i < p->n_graders && !rc; i++)
        rc = send_item(p, &p->grader[i], e);
    while (!rc && !is_done(p))
        rc = poll_once(p, e);
    for (int i = 0; i < p->n_graders; i++) /* all of them end at the same time */
        if (p->grader[i].process.pid)
            shutdown(p->grader[i].process.wire.fd, SHUT_RDWR);
    for (int i = 0; i < p->n_graders; i++)
        if (p->grader[i].process.pid)
            worker_process_end(&p->grader[i].process, rc ? 0 : clock_seconds() + END_SECONDS, NULL);
    free(p->grader);
    free(p->fds);
    return rc;
}

static int grade_list(struct run *r, const struct ungraded *list, size_t n, const char *zh_dict,
                      struct err *e)
{
    struct pool p = {
        .run = r, .list = list, .n = n, .argv = {"kveval", "grader", "--zh-dict", zh_dict, "--", r->dir}};
    if (!zh_dict) {
        p.argv[2] = "--";
        p.argv[3] = r->dir;
        p.argv[4] = NULL;
    }
    return grade_in_children(&p, e);
}

void grader_pool_use(void)
{
    grades_made_by(grade_list);
}
