/* Shared prompts. Dense prefill does not depend on the policy, so its K and V serve all samples of a problem,
 * in all cells whose policies prefill densely. Full pages are shared and a last, partial one is copied; a
 * sequence that drops tokens gets copies of all. An entry has a place of its own until its units are needed
 * for something else; the least recently used is evicted first. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"

static struct prompt_entry *find(struct engine *en, const int32_t *ids, int n)
{
    for (int i = 0; i < N_PROMPTS; i++)
        if (en->prompts[i].n == n && !memcmp(en->prompts[i].ids, ids, (size_t)n * sizeof *ids))
            return &en->prompts[i];
    return NULL;
}

static int drop_entry(struct engine *en, struct prompt_entry *p, struct err *e)
{
    free(p->ids);
    p->ids = NULL;
    p->n = 0;
    return kvcache_clear(&en->cache, p->place, e);
}

static struct prompt_entry *oldest(struct engine *en)
{
    struct prompt_entry *best = NULL;
    for (int i = 0; i < N_PROMPTS; i++)
        if (en->prompts[i].n && (!best || en->prompts[i].used < best->used))
            best = &en->prompts[i];
    return best;
}

int prompt_evict_one(struct engine *en, struct err *e)
{
    struct prompt_entry *p = oldest(en);
    if (!p)
        return 0;
    return drop_entry(en, p, e) ? e->code : 1;
}

void prompt_cache_clear(struct engine *en, struct err *e)
{
    while (prompt_evict_one(en, e) > 0)
        ;
}

/* Maps n_pages of a place and evicts shared prompts while units are short. KVCACHE_FULL: that was not enough.
 */
static int map_evicting(struct engine *en, int place, int n_pages, struct err *e)
{
    while (kvcache_needs(&en->cache, place, n_pages) > en->cache.n_free) {
        int rc = prompt_evict_one(en, e);
        if (rc <= 0)
            return rc < 0 ? rc : KVCACHE_FULL;
    }
    return kvcache_map(&en->cache, place, n_pages, e);
}

static int prefill_into(struct engine *en, int place, const struct request *r, const struct policy *policy,
                        float *logits, struct err *e)
{
    double start = engine_clock();
    int rc = map_evicting(en, place, kv_pages(r->n_prompt), e);
    if (rc)
        return rc;
    transformer_prefill(&en->tf, place, r->prompt, r->n_prompt, policy, logits, e);
    en->stats.prefill_tokens += (uint64_t)r->n_prompt;
    en->stats.prefill_seconds += engine_clock() - start;
    return e->code;
}

/* A new entry for this prompt. KVCACHE_FULL when there is no room for one, which only means that nothing is
 * shared. */
static int make_entry(struct engine *en, const struct request *r, struct prompt_entry **out, struct err *e)
{
    struct prompt_entry *p = NULL;
    for (int i = 0; i < N_PROMPTS && !p; i++)
        if (!en->prompts[i].n)
            p = &en->prompts[i];
    if (!p) {
        p = oldest(en);
        if (drop_entry(en, p, e))
            return e->code;
    }
    int rc = prefill_into(en, p->place, r, NULL, p->logits, e);
    if (rc)
        return kvcache_clear(&en->cache, p->place, e) ? e->code : rc;
    p->ids = xmalloc((size_t)r->n_prompt * sizeof *p->ids);
    memcpy(p->ids, r->prompt, (size_t)r->n_prompt * sizeof *p->ids);
    p->n = r->n_prompt;
    p->used = ++en->clock;
    *out = p;
    return 0;
}

static int fork_entry(struct engine *en, struct prompt_entry *p, struct sequence *s, struct err *e)
{
    int copy = sequence_drops(s) || en->options.share_prompts > 0;
    p->used = ++en->clock; /* so that it is not the next to be evicted */
    while (kvcache_fork_needs(&en->cache, p->n, copy) > en->cache.n_free) {
        struct prompt_entry *other = oldest(en);
        if (other == p || !other)
            return KVCACHE_FULL;
        if (drop_entry(en, other, e))
            return e->code;
    }
    int rc = kvcache_fork(&en->cache, s->place, p->place, p->n, copy, e);
    if (rc)
        return rc;
    transformer_prefill_end(&en->tf, s->place, p->n, s->req.policy, e);
    return e->code;
}

/* Prefills a sequence without sharing. Its heads first hold the whole prompt; what a policy dropped then goes
 * back to the pool. */
static int admit_alone(struct engine *en, struct sequence *s, const float **logits, struct err *e)
{
    int rc = prefill_into(en, s->place, &s->req, s->req.policy, en->tf.logits, e);
    if (!rc && sequence_drops(s))
        rc = kvcache_fit_ragged(&en->cache, s->place, 0, e);
    if (rc)
        return rc;
    *logits = en->tf.logits;
    transformer_first_token(&en->tf, s->place, s->req.n_prompt, *logits, e);
    return e->code;
}

int prompt_admit(struct engine *en, struct sequence *s, const float **logits, struct err *e)
{
    s->prefill_peak = s->req.n_prompt;
    if ((s->req.policy->needs & POLICY_PREFILL) || en->options.share_prompts < 0)
        return admit_alone(en, s, logits, e);
    struct prompt_entry *p = find(en, s->req.prompt, s->req.n_prompt);
    int rc = 0;
    if (p)
        en->stats.prefill_shared_tokens += (uint64_t)s->req.n_prompt;
    else
        rc = make_entry(en, &s->req, &p, e);
    if (!rc)
        rc = fork_entry(en, p, s, e);
    if (!rc) {
        *logits = p->logits;
        transformer_first_token(&en->tf, s->place, p->n, *logits, e);
        return e->code;
    }
    if (rc < 0)
        return rc;
    /* no room for a copy beside the sequence itself: prefill without sharing */
    prompt_cache_clear(en, e);
    return e->code ? e->code : admit_alone(en, s, logits, e);
}
