/* Whether a worker that was started again is right, and what follows when it is not (contract:
 * worker_pool.h). */
#include "evalcore/base/log.h"
#include "evalcore/sweep/worker_pool.h"

void workers_keep_canary(struct workers *ws, int i, long j, const struct completion *c)
{
    for (int k = 0; k < ws->n; k++)
        if (ws->link[k].check != CHECK_NONE && ws->link[k].canary_by == i)
            return; /* that one is judged by what it was given */
    canary_keep(&ws->part[ws->link[i].state->model].canary, i, j, c);
}

void worker_begin_check(struct workers *ws, int i)
{
    struct worker_link *l = &ws->link[i];
    l->canary = l->needs_check ? canary_for(&ws->part[l->state->model].canary, i, &l->canary_by) : NULL;
    l->check = l->canary ? CHECK_DUE : CHECK_NONE;
    l->state->is_checked = l->check != CHECK_NONE;
}

int worker_is_checked(const struct worker_link *l, long j)
{
    return l->check >= CHECK_RUNS && j == l->canary->job;
}

int worker_compare_canary(struct workers *ws, int i, const struct completion *c, struct err *why)
{
    struct worker_link *l = &ws->link[i];
    const char *key = ws->decoder->plan->jobs[l->canary->job].key;
    if (l->check == CHECK_VOID) {
        worker_begin_check(ws, i);
        return 0;
    }
    l->check = CHECK_NONE;
    l->state->is_checked = 0;
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
static int withdraw_job(struct workers *ws, int i, long j, struct err *e)
{
    struct decoder_user *user = &ws->decoder->user;
    struct str why = {0};
    str_printf(&why, "withdrawn: after a restart %s decoded a finished job to other tokens",
               ws->link[i].name);
    int rc =
        user->withdrawn(user->context, i, j, ws->has_failed[j], str_text(&why), ws->link[i].in_records, e);
    str_release(&why);
    ws->is_broken = rc != 0;
    if (rc)
        return rc;
    ws->writer[j] = 0;
    ws->holder[j] = HELD_BY_NOBODY;
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
    for (long j = 0; j < ws->n_jobs && !ws->is_broken; j++)
        if (ws->holder[j] == HELD_DONE && ws->writer[j] == i + 1 && !withdraw_job(ws, i, j, e))
            n++;
    if (!n)
        return;
    log_warn(
        "%s: %ld completion%s that it wrote in this sweep before its restart may be wrong: withdrawn, and "
        "decoded again",
        l->name, n, n == 1 ? "" : "s");
}

void workers_warn_unchecked(const struct workers *ws)
{
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        long n = 0;
        if (!l->needs_check || (l->state->is_live && l->device && l->check == CHECK_NONE))
            continue;
        for (long j = 0; j < ws->n_jobs; j++)
            n += ws->holder[j] == HELD_DONE && ws->writer[j] == i + 1;
        if (n)
            log_warn(
                "%s: it died and the sweep ended before it could be tested: %ld completion%s that it wrote "
                "in this sweep count%s untested",
                l->name, n, n == 1 ? "" : "s", n == 1 ? "s" : "");
    }
}
