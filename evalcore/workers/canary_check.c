/* Whether a worker that was started again is right, and what follows when it is not (contract:
 * workers_parts.h). */
#include "evalcore/base/log.h"
#include "evalcore/sweep/deadline.h"
#include "evalcore/workers/workers_parts.h"

void workers_keep_canary(struct workers *ws, int i, long j, const struct completion *c)
{
    ws->fate[j].writer = i + 1; /* its errors may be as wrong */
    ws->fate[j].has_failed = c->finish == FINISHED_ERROR;
    for (int k = 0; k < ws->n; k++)
        if (ws->link[k].check != CHECK_NONE && ws->link[k].canary_by == i)
            return; /* that one is judged by what it was given */
    canary_keep(&workers_part(ws, j)->canary, i, j, c);
}

void worker_begin_check(struct workers *ws, int i)
{
    struct worker_link *l = &ws->link[i];
    l->canary = l->needs_check ? canary_for(&ws->part[l->model].canary, i, &l->canary_by) : NULL;
    l->check = l->canary ? CHECK_DUE : CHECK_NONE;
}

int worker_is_checked(const struct worker_link *l, long j)
{
    return l->check >= CHECK_RUNS && j == l->canary->job;
}

int worker_compare_canary(struct workers *ws, int i, const struct completion *c, struct err *why)
{
    struct worker_link *l = &ws->link[i];
    const char *key = ws->plan->jobs[l->canary->job].key;
    if (l->check == CHECK_VOID) {
        worker_begin_check(ws, i);
        return 0;
    }
    l->check = CHECK_NONE;
    l->needs_check = !canary_is_equal(l->canary, c);
    if (!l->needs_check)
        return 0;
    if (l->canary_by == i)
        return err_set(
            why, ERR_DEVICE,
            "after its restart it decodes job %.16s to other tokens than before: do not trust this device",
            key);
    return err_set(why, ERR_DEVICE,
                   "after its restart it decodes job %.16s to other tokens than %s did: do not trust this "
                   "device",
                   key, ws->link[l->canary_by].name);
}

/* Job j decodes again. */
static int withdraw(struct workers *ws, int i, long j, struct err *e)
{
    const char *name = ws->link[i].name;
    struct str why = {0};
    str_printf(&why, "withdrawn: after a restart %s decoded a finished job to other tokens", name);
    int rc = sweep_progress_withdraw(workers_part(ws, j)->progress, &ws->plan->jobs[j],
                                     ws->fate[j].has_failed, str_text(&why), ws->link[i].in_records, e);
    str_release(&why);
    if (rc) {
        ws->progress = NULL; /* nothing may follow a torn record */
        return rc;
    }
    ws->fate[j].writer = 0;
    ws->holder[j] = HELD_BY_NOBODY;
    ws->left++;
    workers_part(ws, j)->left++;
    ws->is_unsynced = 1;
    job_queue_give_back(&workers_part(ws, j)->queue, j);
    return 0;
}

/* What worker i found tests nobody any more, itself neither. */
static void drop_canaries(struct workers *ws, int i)
{
    for (int m = 0; m < ws->n_parts; m++)
        canary_drop(&ws->part[m].canary, i);
    for (int k = 0; k < ws->n; k++) {
        struct worker_link *l = &ws->link[k];
        if (k == i || l->check == CHECK_NONE || l->canary_by != i)
            continue;
        if (l->check == CHECK_DUE)
            worker_begin_check(ws, k);
        else
            l->check = CHECK_VOID;
    }
}

void worker_withdraw_jobs(struct workers *ws, int i, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    long n = 0;
    drop_canaries(ws, i);
    for (long j = 0; j < ws->plan->n_jobs && ws->progress; j++)
        if (ws->holder[j] == HELD_DONE && ws->fate[j].writer == i + 1 && !withdraw(ws, i, j, e))
            n++;
    if (!n)
        return;
    for (int m = 0; m < ws->n_parts && ws->progress; m++)
        deadline_turn(ws->part[m].progress);
    log_warn(
        "%s: %ld completion%s that it wrote in this sweep before its restart may be wrong: withdrawn, and "
        "decoded again",
        l->name, n, n == 1 ? "" : "s");
}

int workers_checking(const struct workers *ws)
{
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].is_live && ws->link[i].check != CHECK_NONE;
    return n;
}

void workers_warn_unchecked(const struct workers *ws)
{
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        long n = 0;
        if (!l->needs_check || (l->is_live && l->device && l->check == CHECK_NONE))
            continue;
        for (long j = 0; j < ws->plan->n_jobs; j++)
            n += ws->holder[j] == HELD_DONE && ws->fate[j].writer == i + 1;
        if (n)
            log_warn(
                "%s: it died and the sweep ended before it could be tested: %ld completion%s that it wrote "
                "in this sweep count%s untested",
                l->name, n, n == 1 ? "" : "s", n == 1 ? "s" : "");
    }
}
