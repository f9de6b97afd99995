/* Which worker gets which completion (contract: serve_parts.h). A request may be what kills workers, and then
 * the sweep's rules hold (restart_rules.h), with one difference: a sweep decodes suspects when nothing else
 * is left, which here may never be. So while some wait one worker is kept for them: it gets nothing else, and
 * a suspect as soon as it holds few enough. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/serve/serve_parts.h"

static int has_others(const struct server *s, int w)
{
    for (int i = 0; i < s->decoder.n_workers; i++)
        if (i != w && (s->decoder.worker[i].is_live || s->decoder.worker[i].is_coming))
            return 1;
    return 0;
}

int serve_lost(struct server *s, int w, struct served *c)
{
    const struct decoder_worker *l = &s->decoder.worker[w];
    return !fate_of_death(&c->fate, w, l->n_held, l->n_finished, has_others(s, w));
}

/* ---- suspects */

/* The suspect that waits for worker w when it holds so many; -1: none. */
static long find_suspect(const struct server *s, int w, int n_held)
{
    long found = -1;
    for (size_t i = 0; i < s->n_waiting && s->n_suspects; i++) {
        const struct job_fate *f = &s->waiting[i]->fate, *than = found < 0 ? NULL : &s->waiting[found]->fate;
        if (f->company && fate_is_next(f, than, w, n_held, s->decoder.worker[w].n_finished, has_others(s, w)))
            found = (long)i;
    }
    return found;
}

/* The worker that is kept for suspects: of those that may have one, the one that holds the fewest. -1: none.
 */
static int find_kept(const struct server *s)
{
    const struct decoder_worker *l = s->decoder.worker;
    int best = -1;
    for (int w = 0; w < s->decoder.n_workers && s->n_suspects; w++)
        if (l[w].is_ready && s->pin_state[w] == PIN_DONE && find_suspect(s, w, 0) >= 0 &&
            (best < 0 || l[w].n_held < l[best].n_held))
            best = w;
    return best;
}

static long find_plain(const struct server *s)
{
    for (size_t i = 0; i < s->n_waiting; i++)
        if (!s->waiting[i]->fate.company)
            return (long)i;
    return -1;
}

/* ---- handing out */

/* What worker w, which has room, gets next, as an index of what waits; -1: nothing now. */
static long next_for(struct server *s, int w, int kept)
{
    int n_held = s->decoder.worker[w].n_held;
    if (!n_held)
        s->company[w] = 0;
    if (s->company[w] && n_held >= s->company[w])
        return -1;
    return w == kept ? find_suspect(s, w, n_held) : find_plain(s);
}

/* The worker with room that has the fewest gets *next. -1: no worker gets anything now. */
static int pick_worker(struct server *s, long *next)
{
    struct decoder *d = &s->decoder;
    int best = -1, kept = find_kept(s);
    for (int w = 0; w < d->n_workers; w++) {
        if (!d->worker[w].is_ready || s->pin_state[w] != PIN_DONE || d->capacity(d, w) < 1 ||
            (best >= 0 && d->worker[w].n_held >= d->worker[best].n_held))
            continue;
        long i = next_for(s, w, kept);
        if (i < 0)
            continue;
        *next = i;
        best = w;
    }
    return best;
}

/* The choice that waits as number i gets a place among the decoder's jobs. */
static void take_place(struct server *s, size_t i)
{
    struct served *c = s->waiting[i];
    memmove(s->waiting + i, s->waiting + i + 1, (--s->n_waiting - i) * sizeof *s->waiting);
    s->n_suspects -= c->fate.company > 0;
    c->place = s->free_place[--s->n_free];
    s->place[c->place] = c;
    struct job *j = &s->plan.jobs[c->place];
    j->cell = c->of->policy;
    j->request = &c->request;
    c->of->n_held++;
}

static void submit_pins(struct server *s, struct err *e)
{
    struct decoder *d = &s->decoder;
    for (int w = 0; w < d->n_workers && !e->code; w++)
        if (s->pin_state[w] == PIN_OPEN && d->worker[w].is_ready && d->capacity(d, w) > 0) {
            s->pin_state[w] = PIN_SENT;
            d->submit(d, w, s->n_places + w, e);
        }
}

void serve_submit(struct server *s, struct err *e)
{
    int w;
    long i;
    submit_pins(s, e);
    while (s->n_waiting && s->n_free && !e->code && (w = pick_worker(s, &i)) >= 0) {
        struct served *c = s->waiting[i];
        if (c->fate.company)
            s->company[w] = fate_company(&c->fate, s->decoder.worker[w].n_held, s->company[w]);
        take_place(s, (size_t)i);
        s->decoder.submit(&s->decoder, w, c->place, e);
    }
    s->decoder.left[0] = (long)s->n_waiting + s->n_places - s->n_free + 1; /* workers are always wanted */
}

/* ---- pinned requests: under the list's last policy, which is mostly one that chooses */

void serve_make_pins(struct server *s)
{
    enum { PROMPT = 64 };
    struct runplan *p = &s->plan;
    int cell = p->n_cells - 1, n = PROMPT;
    const struct engine_info *info = &p->loaded[p->cells[cell].loaded_model].info;
    while (n > 1 && n + PINNED_TOKENS > info->max_context)
        n--;
    s->pin_prompt = xcalloc((size_t)n, sizeof *s->pin_prompt);
    for (int i = 0; i < n; i++)
        s->pin_prompt[i] = (int32_t)((i * 37 + 11) % info->vocab);
    s->pin.r = (struct request){.prompt = s->pin_prompt,
                                .n_prompt = n,
                                .sampling = {.top_p = 1},
                                .max_new_tokens = PINNED_TOKENS,
                                .ignore_eos = 1,
                                .end_token = -1};
    for (int w = 0; w < s->devices.n; w++) {
        p->jobs[s->n_places + w].cell = cell;
        p->jobs[s->n_places + w].request = &s->pin;
    }
    s->decoder.pinned = s->n_places;
}

int serve_pin_done(struct server *s, int w, const struct completion *c, struct err *e)
{
    char name[DEVICE_NAME_MAX];
    device_list_name(&s->devices, w, name);
    s->pin_state[w] = PIN_DONE;
    if (c->finish == FINISHED_ERROR)
        return err_set(e, ERR_DEVICE, "%s cannot decode a request of the server's own: %s", name,
                       c->error ? c->error : "it failed");
    if (!s->n_pin_ids) {
        s->n_pin_ids = c->n_ids;
        s->pin_ids = xmalloc(((size_t)c->n_ids + 1) * sizeof *s->pin_ids);
        memcpy(s->pin_ids, c->ids, (size_t)c->n_ids * sizeof *s->pin_ids);
    }
    if (c->n_ids != s->n_pin_ids || memcmp(c->ids, s->pin_ids, (size_t)c->n_ids * sizeof *c->ids) != 0)
        return err_set(
            e, ERR_DEVICE,
            "%s decodes a request to other tokens than another device: one of the two is not to be "
            "trusted; find out which with kveval doctor and leave it out of --devices",
            name);
    return 0;
}

void serve_pin_lost(struct server *s, int w)
{
    s->pin_state[w] = PIN_OPEN;
}

void serve_release_pins(struct server *s)
{
    free(s->pin_prompt);
    free(s->pin_ids);
}
