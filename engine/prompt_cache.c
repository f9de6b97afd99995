/* Shared prompts. Dense prefill does not depend on the policy, so its K and V serve all samples of a problem,
 * in all cells whose policies prefill densely. A policy that looks at the prompt's last queries gets what
 * comes before them and prefills the rest. Full pages are shared, by reference counts, and a last, partial
 * one is copied (copy on write, at once); a sequence that drops tokens or writes over keys gets copies of
 * all. An entry has a sequence index of its own until its blocks are needed for something else; the least
 * recently used is evicted first. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"

static struct prompt_entry *find_entry(struct engine *en, const int32_t *ids, int n)
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
    return kvcache_clear(&en->cache, p->seq, e);
}

static struct prompt_entry *oldest_entry(struct engine *en)
{
    struct prompt_entry *best = NULL;
    for (int i = 0; i < N_PROMPTS; i++)
        if (en->prompts[i].n && (!best || en->prompts[i].used < best->used))
            best = &en->prompts[i];
    return best;
}

int prompt_evict_one(struct engine *en, struct err *e)
{
    struct prompt_entry *p = oldest_entry(en);
    if (!p)
        return 0;
    return drop_entry(en, p, e) ? e->code : 1;
}

void prompt_cache_clear(struct engine *en, struct err *e)
{
    while (prompt_evict_one(en, e) > 0)
        ;
}

/* Evicts shared prompts while blocks are short for n_pages of a sequence. KVCACHE_FULL: that was not enough.
 */
static int make_room(struct engine *en, int seq, int n_pages, struct err *e)
{
    while (kvcache_needs(&en->cache, seq, n_pages) > en->cache.n_free) {
        int rc = prompt_evict_one(en, e);
        if (rc <= 0)
            return rc < 0 ? rc : KVCACHE_FULL;
    }
    return 0;
}

/* Prefills a sequence that holds the prompt's first `from` tokens; keep: of how many last tokens it keeps
 * what their queries read. Where layers have windows, each chunk gets the blocks that the one before has
 * left. */
static int prefill_into(struct engine *en, int seq, const struct request *r, int from, int keep,
                        const struct policy *policy, const struct prefill_scores *scores, float *logits,
                        struct err *e)
{
    int step = en->cache.window ? en->tf.chunk : r->n_prompt;
    int rc = make_room(en, seq, kv_pages(r->n_prompt), e);
    for (int at = from; at < r->n_prompt && !rc; at += step) {
        int to = r->n_prompt - at < step ? r->n_prompt : at + step;
        rc = kvcache_map(&en->cache, seq, kv_pages(to), e);
        if (rc)
            return rc;
        transformer_prefill(&en->tf, seq, r->prompt, at, to, r->n_prompt, policy, scores, logits, e);
        kvcache_slide(&en->cache, seq, to < r->n_prompt - keep ? to : r->n_prompt - keep);
    }
    en->stats.prefill_tokens += (uint64_t)(r->n_prompt - from);
    return rc ? rc : e->code;
}

/* Makes an entry for this prompt. KVCACHE_FULL: too few blocks for one, so nothing is shared. */
static int make_entry(struct engine *en, const struct request *r, struct prompt_entry **out, struct err *e)
{
    struct prompt_entry *p = NULL;
    for (int i = 0; i < N_PROMPTS && !p; i++)
        if (!en->prompts[i].n)
            p = &en->prompts[i];
    if (!p) {
        p = oldest_entry(en);
        if (drop_entry(en, p, e))
            return e->code;
    }
    int rc = prefill_into(en, p->seq, r, 0, SHARED_TAIL, NULL, NULL, p->logits, e);
    if (rc)
        return kvcache_clear(&en->cache, p->seq, e) ? e->code : rc;
    p->ids = xmalloc((size_t)r->n_prompt * sizeof *p->ids);
    memcpy(p->ids, r->prompt, (size_t)r->n_prompt * sizeof *p->ids);
    p->n = r->n_prompt;
    p->used = ++en->clock;
    *out = p;
    return 0;
}

/* Gives the sequence the entry's first n tokens. */
static int fork_entry(struct engine *en, struct prompt_entry *p, struct sequence *s, int n, struct err *e)
{
    int own = sequence_drops(s) || (s->req.policy->needs & POLICY_OWN_KEYS) != 0;
    int copy = own || en->options.share_prompts > 0;
    p->used = ++en->clock; /* so that it is not the next to be evicted */
    while (kvcache_fork_needs(&en->cache, p->seq, n, copy) > en->cache.n_free) {
        struct prompt_entry *other = oldest_entry(en);
        if (other == p || !other)
            return KVCACHE_FULL;
        if (drop_entry(en, other, e))
            return e->code;
    }
    return kvcache_fork(&en->cache, s->seq, p->seq, n, copy, e);
}

/* A dense prefill of n tokens: query i sees i + 1 keys, or fewer where layers have windows. */
static double dense_reads(const struct engine *en, int n)
{
    return (double)model_prompt_reads(&en->model.config, n) / en->model.config.n_layers;
}

/* Counts what the sequence's prefill read; its first `from` tokens come from a dense prefill. */
static int count_prefill(struct engine *en, struct sequence *s, int from, struct err *e)
{
    int64_t reads, scans;
    double heads = en->cache.heads_per_seq;
    if (kvcache_prefill_sums(&en->cache, s->seq, &reads, &scans, e))
        return e->code;
    s->kv.prefill_reads = dense_reads(en, from) + (double)reads / heads;
    s->kv.prefill_aux_reads = (double)scans / 2 / heads;
    return 0;
}

/* The prompt's pass of a request whose last tokens are scored in it. */
static int prefill_scored(struct engine *en, struct sequence *s, struct err *e)
{
    struct prefill_scores scores = {s->req.n_scored, xcalloc((size_t)s->req.n_scored, sizeof *scores.result)};
    int rc = prefill_into(en, s->seq, &s->req, 0, 0, s->req.policy, &scores, en->tf.logits, e);
    if (!rc)
        rc = sequence_upload_settings(en, s, 0, e); /* scoring has used their place */
    if (!rc)
        sequence_scored(s, scores.result, scores.n);
    free(scores.result);
    return rc;
}

/* Prefills a sequence, which has the first `from` tokens of its prompt, under its policy. Its heads first
 * hold the whole prompt; what a policy dropped then goes back to the pool. */
static int prefill_own(struct engine *en, struct sequence *s, int from, const float **logits, struct err *e)
{
    int rc = s->req.n_scored
                 ? prefill_scored(en, s, e)
                 : prefill_into(en, s->seq, &s->req, from, 0, s->req.policy, NULL, en->tf.logits, e);
    if (!rc && sequence_drops(s))
        rc = kvcache_fit_ragged(&en->cache, s->seq, 0, e);
    if (rc)
        return rc;
    *logits = en->tf.logits;
    transformer_first_token(&en->tf, s->seq, s->req.n_prompt, *logits, e);
    return count_prefill(en, s, from, e);
}

/* The number of first tokens that the sequence may take from a dense prefill. */
static int sharable_tokens(const struct engine *en, const struct sequence *s)
{
    const struct policy *p = s->req.policy;
    int n = s->req.n_prompt, tail = p->ops->prompt_tail ? p->ops->prompt_tail(p->params) : 0;
    if ((p->needs & POLICY_PREFILL) || en->options.share_prompts < 0 || s->req.n_scored)
        return 0;
    return tail == 0 ? n : tail < n ? (n - tail) / PREFILL_TILE * PREFILL_TILE : 0;
}

/* Admits from a shared prefill, which this makes if there is none. KVCACHE_FULL: too few blocks for it beside
 * the sequence itself. */
static int admit_shared(struct engine *en, struct sequence *s, int n_shared, const float **logits,
                        struct err *e)
{
    struct prompt_entry *p = find_entry(en, s->req.prompt, s->req.n_prompt);
    int found = p != NULL, rc = found ? 0 : make_entry(en, &s->req, &p, e);
    if (!rc && !kvcache_reaches(&en->cache, p->seq, n_shared))
        return prefill_own(en, s, 0, logits, e);
    if (!rc)
        rc = fork_entry(en, p, s, n_shared, e);
    if (rc)
        return rc;
    if (n_shared < s->req.n_prompt) {
        rc = prefill_own(en, s, n_shared, logits, e);
        if (rc)
            return rc;
    } else {
        transformer_prefill_end(&en->tf, s->seq, p->n, s->req.policy, e);
        *logits = p->logits;
        transformer_first_token(&en->tf, s->seq, p->n, *logits, e);
    }
    if (found)
        en->stats.prefill_shared_tokens += (uint64_t)n_shared;
    return e->code;
}

int prompt_admit(struct engine *en, struct sequence *s, const float **logits, struct err *e)
{
    int n_shared = sharable_tokens(en, s);
    s->kv = (struct kv_counts){.prefill_peak_tokens = s->req.n_prompt,
                               .prefill_reads = dense_reads(en, s->req.n_prompt)};
    if (n_shared == 0)
        return prefill_own(en, s, 0, logits, e);
    int rc = admit_shared(en, s, n_shared, logits, e);
    if (rc != KVCACHE_FULL)
        return rc;
    prompt_cache_clear(en, e);
    if (kvcache_clear(&en->cache, s->seq, e))
        return e->code;
    return prefill_own(en, s, 0, logits, e);
}
