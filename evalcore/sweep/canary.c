/* Jobs that test a restarted worker (contract: canary.h). */
#include "evalcore/sweep/canary.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

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
    return c->finish != FINISHED_ERROR && c->n_ids == k->n &&
           !memcmp(c->ids, k->ids, (size_t)k->n * sizeof *k->ids);
}

void canary_release(struct canary *k)
{
    for (int n = 0; n < DEVICES_MAX; n++)
        free(k->of[n].ids);
    memset(k, 0, sizeof *k);
}
