/* What a sequence has read and holds, noted on the way (struct kv_curve in engine.h).
 *
 * The device counts; the host reads the counters back after every so many tokens. No step may then be in
 * flight, or its reads would be in the numbers, and they would depend on how the host was ahead: so loop.c
 * asks curve_is_due() before it sends one. */
#include <stdlib.h>

#include "engine/engine_impl.h"

int curve_is_due(const struct sequence *s, int n_ids)
{
    int every = s->req.curve_every;
    return every > 0 && n_ids == (s->curve.n + 1) * every;
}

int curve_note(const struct engine *en, struct sequence *s, struct err *e)
{
    struct kvcache_sums sums;
    struct kv_curve *c = &s->curve;
    if (kvcache_sums(&en->cache, s->seq, &sums, NULL, e))
        return e->code;
    xgrow(&c->point, &s->curve_cap, (size_t)c->n + 1, sizeof *c->point);
    c->point[c->n++] = (struct kv_point){sums.reads, sums.live, sums.peak, sums.aux};
    return 0;
}

int curve_end(const struct engine *en, struct sequence *s, struct kvcache_sums *sums, struct err *e)
{
    struct kv_curve *c = &s->curve;
    int heads = en->cache.heads_per_seq;
    c->every = s->req.curve_every;
    c->layers = en->model.config.n_layers;
    c->heads = heads;
    if (c->every > 0 && sequence_drops(s))
        c->by_head = xmalloc((size_t)heads * sizeof *c->by_head);
    return kvcache_sums(&en->cache, s->seq, sums, c->by_head, e);
}

void curve_clear(struct sequence *s)
{
    free(s->curve.by_head);
    s->curve.by_head = NULL;
    s->curve.n = 0;
}

void curve_release(struct sequence *s)
{
    curve_clear(s);
    free(s->curve.point);
}
