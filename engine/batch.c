/* Continuous batching: admission by pages, one recorded program per batch shape, preemption when pages run
 * out.
 *
 * Rows are ordered by policy instance; a group's rows are rounded up to a bucket, so that a program serves
 * many memberships. None of this can change a completion: a row's arithmetic does not know its neighbours. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/device.h"
#include "engine/engine_impl.h"

double engine_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int drops(const struct sequence *s)
{
    return (s->req.policy->ops->needs & POLICY_DROP) != 0;
}

int release_place(struct engine *en, struct sequence *s, struct err *e)
{
    int place = s->place;
    s->place = -1;
    return kvcache_clear(&en->cache, place, e);
}

static int free_place(const struct engine *en)
{
    for (int place = 0; place < en->options.max_batch; place++) {
        int taken = 0;
        for (int i = 0; i < en->n_active; i++)
            taken |= en->active[i]->place == place;
        if (!taken)
            return place;
    }
    return -1;
}

static int upload_settings(struct engine *en, const struct sequence *s, struct err *e)
{
    struct sample_settings v;
    sequence_settings(en, s, &v);
    return device_upload(en->be, en->dev, en->tf.settings + s->place, &v, sizeof v, e);
}

/* Zeroes the policy's state of a place and tells the device the sequence's lengths. */
static int prepare_place(struct engine *en, struct sequence *s, struct err *e)
{
    const struct policy *p = s->req.policy;
    int32_t n = s->req.n_prompt, total = s->req.n_prompt + s->limit;
    if (kvcache_clear(&en->cache, s->place, e) ||
        device_upload(en->be, en->dev, en->tf.prompt_len + s->place, &n, sizeof n, e) ||
        device_upload(en->be, en->dev, en->tf.total_len + s->place, &total, sizeof total, e) ||
        upload_settings(en, s, e))
        return e->code;
    if (!p->state_bytes)
        return 0;
    void *zero = xcalloc(1, p->state_bytes);
    int rc =
        device_upload(en->be, en->dev, p->state + (size_t)s->place * p->state_bytes, zero, p->state_bytes, e);
    free(zero);
    return rc;
}

static int take_first_token(struct engine *en, struct sequence *s, struct err *e)
{
    struct sample_result r;
    if (device_download(en->be, en->dev, &r, en->tf.sampled, sizeof r, e))
        return e->code;
    sequence_take(en, s, &r);
    return 0;
}

static void push_front(struct engine *en, struct sequence *s)
{
    xgrow(&en->waiting, &en->cap_waiting, (size_t)en->n_waiting + 1, sizeof *en->waiting);
    memmove(en->waiting + 1, en->waiting, (size_t)en->n_waiting++ * sizeof *en->waiting);
    en->waiting[0] = s;
}

/* 1: admitted, 0: no room now, negative: the device failed. */
static int admit_one(struct engine *en, struct err *e)
{
    struct sequence *s = en->waiting[0];
    s->place = free_place(en);
    if (s->start == 0)
        s->start = engine_clock();
    if (prepare_place(en, s, e))
        return e->code;
    if (prompt_admit(en, s, e)) {
        if (e->code != ERR_FULL)
            return e->code;
        memset(e, 0, sizeof *e);
        if (release_place(en, s, e))
            return e->code;
        return en->n_active
                   ? 0
                   : err_set(e, ERR_DEVICE,
                             "the KV cache cannot hold a prompt of %d tokens; this should have been refused",
                             s->req.n_prompt);
    }
    memmove(en->waiting, en->waiting + 1, (size_t)--en->n_waiting * sizeof *en->waiting);
    en->active[en->n_active++] = s;
    if (take_first_token(en, s, e))
        return e->code;
    if (!s->done && sequence_settings_change(s) && upload_settings(en, s, e))
        return e->code;
    return 1;
}

/* The youngest sequence goes back to the queue; its pages serve the older ones, so somebody always finishes.
 * Until then nobody is admitted: whoever came would be the next to go, prefilled for nothing. */
static int preempt_youngest(struct engine *en, struct err *e)
{
    struct sequence *s = en->active[--en->n_active];
    sequence_restart(s);
    push_front(en, s);
    en->hold = 1;
    en->stats.preemptions++;
    return release_place(en, s, e);
}

static int fit(struct engine *en, struct sequence *s, struct err *e)
{
    if (drops(s))
        return kvcache_fit_ragged(&en->cache, s->place, SPARE_PAGES, e);
    return kvcache_map(&en->cache, s->place, kv_pages(s->req.n_prompt + s->n_ids), e);
}

/* Every active sequence gets room for its next token: shared prompts give way first, then the youngest
 * sequences. */
static int make_room(struct engine *en, struct err *e)
{
    for (int i = 0; i < en->n_active;) {
        if (fit(en, en->active[i], e) == 0) {
            i++;
            continue;
        }
        if (e->code != ERR_FULL)
            return e->code;
        memset(e, 0, sizeof *e);
        int rc = prompt_evict_one(en, e);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            if (en->n_active == 1)
                return err_set(
                    e, ERR_DEVICE,
                    "the KV cache cannot hold a sequence of %d tokens; this should have been refused",
                    en->active[0]->req.n_prompt + en->active[0]->n_ids);
            if (preempt_youngest(en, e))
                return e->code;
        }
    }
    return 0;
}

/* Bucket sizes: exact up to 8, then steps of 2 and 4. */
static int bucket(int n)
{
    return n <= 8 ? n : n <= 16 ? (n + 1) / 2 * 2 : (n + 3) / 4 * 4;
}

static void program_release(struct engine *en, struct cached_program *p)
{
    en->be->program_release(en->dev, p->program);
    free(p->group);
    memset(p, 0, sizeof *p);
}

void programs_clear(struct engine *en)
{
    for (int i = 0; i < en->n_programs; i++)
        program_release(en, &en->programs[i]);
    en->n_programs = 0;
}

static int same_shape(const struct cached_program *p, const struct step_group *g, int n)
{
    if (p->n_groups != n)
        return 0;
    for (int i = 0; i < n; i++)
        if (p->group[i].policy != g[i].policy || p->group[i].cap != g[i].cap)
            return 0;
    return 1;
}

static struct cached_program *program_for(struct engine *en, const struct step_group *g, int n_groups,
                                          int n_rows, struct err *e)
{
    struct cached_program *p = NULL, *oldest = NULL;
    for (int i = 0; i < en->n_programs; i++) {
        if (same_shape(&en->programs[i], g, n_groups))
            p = &en->programs[i];
        if (!oldest || en->programs[i].used < oldest->used)
            oldest = &en->programs[i];
    }
    if (!p) {
        if (en->n_programs < MAX_PROGRAMS) {
            p = &en->programs[en->n_programs++];
        } else {
            p = oldest;
            program_release(en, p);
        }
        p->group = xmalloc((size_t)n_groups * sizeof *g);
        memcpy(p->group, g, (size_t)n_groups * sizeof *g);
        p->n_groups = n_groups;
        p->n_rows = n_rows;
        if (en->be->record_begin(en->dev) < 0)
            err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
        transformer_step(&en->tf, g, n_groups, n_rows, e);
        if (en->be->record_end(en->dev, &p->program) < 0)
            err_set(e, ERR_DEVICE, "recording a step: %s", en->be->last_error(en->dev));
    }
    p->used = ++en->clock;
    return p;
}

struct layout {
    struct step_group group[MAX_POLICIES]; /* one per instance at most */
    int n_groups, n_rows;
    struct sequence **row; /* (max_rows), NULL: padding */
};

static void lay_out(struct engine *en, struct layout *l)
{
    l->n_groups = l->n_rows = 0;
    for (int p = 0; p < en->n_policies; p++) {
        int n = 0;
        for (int i = 0; i < en->n_active; i++)
            if (en->active[i]->req.policy == en->policies[p])
                l->row[l->n_rows + n++] = en->active[i];
        if (!n)
            continue;
        struct step_group g = {en->policies[p], l->n_rows, bucket(n)};
        for (; n < g.cap; n++)
            l->row[l->n_rows + n] = NULL;
        l->group[l->n_groups++] = g;
        l->n_rows += g.cap;
    }
}

static int upload_rows(struct engine *en, const struct layout *l, struct err *e)
{
    size_t bytes = (size_t)l->n_rows * sizeof(int32_t);
    int32_t *v = xmalloc(3 * bytes), *seq = v, *pos = v + l->n_rows, *token = v + 2 * l->n_rows;
    for (int i = 0; i < l->n_rows; i++) {
        const struct sequence *s = l->row[i];
        seq[i] = s ? s->place : -1;
        pos[i] = s ? s->req.n_prompt + s->n_ids - 1 : 0;
        token[i] = s ? s->ids[s->n_ids - 1] : 0;
    }
    int rc = device_upload(en->be, en->dev, en->tf.row_seq, seq, bytes, e) ||
             device_upload(en->be, en->dev, en->tf.row_pos, pos, bytes, e) ||
             device_upload(en->be, en->dev, en->tf.row_token, token, bytes, e);
    free(v);
    return rc ? e->code : 0;
}

static int take_results(struct engine *en, const struct layout *l, struct err *e)
{
    size_t bytes = (size_t)l->n_rows * sizeof(struct sample_result);
    struct sample_result *r = xmalloc(bytes);
    int rc = device_download(en->be, en->dev, r, en->tf.sampled, bytes, e);
    for (int i = 0; i < l->n_rows && !rc; i++) {
        struct sequence *s = l->row[i];
        if (!s)
            continue;
        s->reads_full += s->req.n_prompt + s->n_ids;
        sequence_take(en, s, &r[i]);
        en->stats.decode_tokens++;
        if (!s->done && sequence_settings_change(s))
            rc = upload_settings(en, s, e);
    }
    free(r);
    return rc;
}

static int collect_finished(struct engine *en, struct err *e)
{
    int kept = 0;
    for (int i = 0; i < en->n_active; i++) {
        struct sequence *s = en->active[i];
        if (!s->done || sequence_finish(en, s, e)) { /* after a failure all stay where they are */
            en->active[kept++] = s;
            continue;
        }
        en->finished[en->n_finished++] = s;
        en->hold = 0;
    }
    en->n_active = kept;
    return e->code;
}

static int decode_step(struct engine *en, struct err *e)
{
    double start = engine_clock();
    if (make_room(en, e))
        return e->code;
    struct layout l;
    l.row = xcalloc((size_t)en->tf.max_rows, sizeof *l.row);
    lay_out(en, &l);
    struct cached_program *p = NULL;
    if (upload_rows(en, &l, e) == 0)
        p = program_for(en, l.group, l.n_groups, l.n_rows, e);
    if (!e->code && en->be->replay(en->dev, p->program) < 0)
        err_set(e, ERR_DEVICE, "decode step: %s", en->be->last_error(en->dev));
    if (!e->code)
        take_results(en, &l, e);
    free(l.row);
    en->stats.decode_steps++;
    en->stats.decode_seconds += engine_clock() - start;
    return e->code;
}

int engine_step(struct engine *en, const struct completion **out, int *n_out, struct err *e)
{
    *out = en->out;
    *n_out = 0;
    for (int i = 0; i < en->n_finished; i++)
        sequence_release(en->finished[i]);
    en->n_finished = 0;
    while (en->n_waiting && !en->hold && en->n_active < en->options.max_batch) {
        int rc = admit_one(en, e);
        if (rc < 0)
            return rc;
        if (rc == 0)
            break;
        if (en->active[en->n_active - 1]->done && collect_finished(en, e))
            return e->code;
        if (en->n_finished == en->options.max_batch)
            break;
    }
    if (en->n_active && en->n_finished == 0 && decode_step(en, e))
        return e->code;
    if (collect_finished(en, e))
        return e->code;
    for (int i = 0; i < en->n_finished; i++)
        sequence_completion(en->finished[i], &en->out[i]);
    *n_out = en->n_finished;
    return 0;
}
