/* Jobs that check a restarted worker (contract: canary.h), and what follows when it decodes other tokens
 * (contract: worker_pool.h). */
#include "evalcore/sweep/canary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/log.h"
#include "evalcore/sweep/worker_pool.h"

/* A canary of fewer tokens would tell little, one of many takes long. */
enum { CANARY_TOKENS = 16 };

static int is_better(int n, const struct canary_job *than)
{
    return than->n < CANARY_TOKENS ? n > than->n : n >= CANARY_TOKENS && n < than->n;
}

void canary_keep(struct canary *k, int i, long j, const struct completion *c)
{
    struct canary_job *own = &k->of[i];
    if (c->finish == FINISHED_ERROR || !is_better(c->n_ids, own))
        return;
    own->ids = xrealloc(own->ids, (size_t)c->n_ids * sizeof *own->ids);
    memcpy(own->ids, c->ids, (size_t)c->n_ids * sizeof *own->ids);
    own->n = c->n_ids;
    own->options = c->options;
    own->job = j;
}

const struct canary_job *canary_for(const struct canary *k, int i, int *by)
{
    const struct canary_job *found = NULL;
    for (int n = 0; n < DEVICES_MAX; n++) {
        const struct canary_job *c = &k->of[n];
        if (n == i || !c->n || c->is_doubted || (found && !is_better(c->n, found)))
            continue;
        found = c;
        *by = n;
    }
    if (found || !k->of[i].n)
        return found;
    *by = i;
    return &k->of[i];
}

void canary_drop(struct canary *k, int i)
{
    k->of[i].n = 0;
    k->of[i].is_doubted = 1;
}

int canary_is_equal(const struct canary_job *k, const struct completion *c)
{
    int is_same = c->finish != FINISHED_ERROR && c->n_ids == k->n && c->options.n == k->options.n &&
                  !memcmp(c->ids, k->ids, (size_t)k->n * sizeof *k->ids);
    for (int i = 0; i < c->options.n && is_same; i++)
        is_same = c->options.option[i].logprob >= k->options.option[i].logprob &&
                  c->options.option[i].logprob <= k->options.option[i].logprob;
    return is_same;
}

void canary_release(struct canary *k)
{
    for (int n = 0; n < DEVICES_MAX; n++)
        free(k->of[n].ids);
    memset(k, 0, sizeof *k);
}

/* ---- the check ---- */

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

/* Is worker i, which was found to be wrong once, to be checked against one that must be checked itself first?
 * That one may be wrong as well, and would condemn worker i again and again. */
static int waits_for_witness(const struct workers *ws, int i)
{
    const struct worker_link *l = &ws->link[i], *witness = &ws->link[l->canary_by];
    int is_open = witness->needs_check && witness->state->is_live;
    return ws->part[l->state->model].canary.of[i].is_doubted && l->canary_by != i && is_open &&
           (!witness->device || witness->check != CHECK_NONE);
}

int worker_may_begin_check(const struct workers *ws, int i)
{
    const struct worker_link *l = &ws->link[i];
    return l->state->is_live && l->wanted > 0 && l->check == CHECK_DUE && !waits_for_witness(ws, i);
}

int worker_is_checked(const struct worker_link *l, long j)
{
    return l->check >= CHECK_RUNS && j == l->canary->job;
}

int worker_compare_canary(struct workers *ws, int i, const struct completion *c, struct err *why)
{
    struct worker_link *l = &ws->link[i];
    const struct job *job = &ws->decoder->plan->jobs[l->canary->job];
    char what[32] = "a request";
    if (!job->request)
        snprintf(what, sizeof what, "job %.16s", job->key);
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
            "after its restart it decodes %s to other tokens than before: do not trust this device", what);
    return err_set(why, ERR_DEVICE,
                   "after its restart it decodes %s to other tokens than %s did: do not trust this device",
                   what, ws->link[l->canary_by].name);
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
    const struct job *jobs = ws->decoder->plan->jobs;
    long n = 0, n_sent = 0;
    if (!ws->decoder->pinned)
        drop_canaries(ws, i);
    for (long j = 0; j < ws->n_jobs && !ws->is_broken; j++)
        if (ws->holder[j] == HELD_DONE && ws->writer[j] == i + 1) {
            if (jobs[j].request) {
                n_sent += !ws->decoder->pinned || j < ws->decoder->pinned;
                ws->writer[j] = 0; /* said once */
            } else {
                n += !withdraw_job(ws, i, j, e);
            }
        }
    if (n_sent)
        log_warn("%s: what it answered before its restart may be wrong, and was sent", l->name);
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
