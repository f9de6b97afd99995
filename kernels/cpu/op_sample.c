/* The next token. The weights exp((logit - largest) / temperature) are computed in fp32 with our own
 * exponential, and added in double, in the order of ids (mass) or of rank (top-p), so that the draw is the
 * same everywhere. One uniform number from Philox4x32-10 (Salmon et al., SC 2011) then picks among the kept
 * ids, in ascending order. */
#include <stdlib.h>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/select.h"
#include "kernels/philox.h"

static double uniform_draw(const struct sample_settings *s, int pos)
{
    uint32_t x[4] = {(uint32_t)pos + 1, s->sample, (uint32_t)s->problem, (uint32_t)(s->problem >> 32)};
    philox4x32_10(s->seed, x);
    return (double)((uint64_t)x[0] << 21 | x[1] >> 11) * 0x1p-53;
}

static int is_among(const int32_t ids[8], int id)
{
    for (int i = 0; i < 8; i++)
        if (ids[i] == id)
            return 1;
    return 0;
}

static int largest_logit(const float *v, int n, const struct sample_settings *s)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (v[i] > -INFINITY && (best < 0 || v[i] > v[best]) && !(s && is_among(s->banned, i)))
            best = i;
    return best < 0 ? 0 : best;
}

/* An id and its weight, for ranking. */
struct rank {
    float w;
    int32_t id;
};

static int by_rank(const void *x, const void *y)
{
    const struct rank *a = x, *b = y;
    if (a->w != b->w)
        return a->w > b->w ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Clears the weights outside the k largest. */
static void keep_top_k(float *w, int n, int k, uint32_t *key)
{
    uint32_t threshold;
    int equal, candidates = 0;
    for (int i = 0; i < n; i++) {
        key[i] = w[i] > 0 ? select_key(w[i]) : 0;
        candidates += key[i] != 0;
    }
    if (candidates <= k)
        return;
    select_threshold(key, n, k, &threshold, &equal);
    for (int i = 0; i < n; i++)
        if (!(key[i] > threshold || (key[i] == threshold && equal-- > 0)))
            w[i] = 0;
}

/* Clears the weights outside the smallest set whose mass reaches p of the whole. Ranks as many as needed: a
 * first few hundred by selection, then more. */
static void keep_top_p(float *w, int n, double p, uint32_t *key, struct rank *rank)
{
    double total = 0, mass = 0;
    int candidates = 0, kept = 0;
    for (int i = 0; i < n; i++) {
        total += (double)w[i];
        key[i] = w[i] > 0 ? select_key(w[i]) : 0;
        candidates += key[i] != 0;
    }
    for (int want = 256;; want = want > candidates / 16 ? candidates : want * 16) {
        int k = want < candidates ? want : candidates, equal, m = 0;
        uint32_t threshold;
        if (!k)
            return;
        select_threshold(key, n, k, &threshold, &equal);
        for (int i = 0; i < n; i++)
            if (key[i] > threshold || (key[i] == threshold && equal-- > 0))
                rank[m++] = (struct rank){w[i], i};
        qsort(rank, (size_t)m, sizeof *rank, by_rank);
        for (mass = 0, kept = 0; kept < m && mass < p * total; kept++)
            mass += (double)rank[kept].w;
        if (mass >= p * total || k == candidates)
            break;
    }
    kept = kept ? kept : 1;
    memset(w, 0, (size_t)n * sizeof *w);
    for (int i = 0; i < kept; i++)
        w[rank[i].id] = rank[i].w;
}

static int draw_token(const struct sample_args *a, int row, const struct sample_settings *s, uint32_t *key,
                      struct rank *rank)
{
    const float *v = a->logits + (size_t)row * (size_t)a->stride;
    float *w = a->workspace + (size_t)row * (size_t)a->vocab, t = s->temperature;
    int n = a->vocab, best = largest_logit(v, n, s), last = best;
    double total = 0, sum = 0;
    if (t <= 0)
        return best;
    for (int i = 0; i < n; i += LANES) {
        int m = n - i < LANES ? n - i : LANES;
        struct v16 x = v_div(v_sub(v_loadn(v + i, m), v_set(v[best])), v_set(t));
        v_storen(w + i, v_softmax_exp(x), m);
    }
    for (size_t i = 0; i < sizeof s->banned / sizeof *s->banned; i++)
        if (s->banned[i] >= 0 && s->banned[i] < n)
            w[s->banned[i]] = 0;
    for (int i = 0; i < n; i++)
        w[i] = w[i] > 0 ? w[i] : 0; /* not a number: never drawn */
    if (s->top_k > 0 && s->top_k < n)
        keep_top_k(w, n, s->top_k, key);
    if (s->top_p > 0 && s->top_p < 1)
        keep_top_p(w, n, (double)s->top_p, key, rank);
    for (int i = 0; i < n; i++)
        total += (double)w[i];
    double target = uniform_draw(s, a->rows.pos[row]) * total;
    for (int i = 0; i < n; i++)
        if (w[i] > 0) {
            sum += (double)w[i];
            last = i;
            if (sum > target)
                break;
        }
    return last;
}

/* Nothing can be drawn from these: one is not a number or +inf, or all are -inf. */
static int not_finite(const float *v, int n)
{
    int odd = 0, some = 0;
    for (int i = 0; i < n; i++) {
        odd |= !(v[i] < INFINITY);
        some |= v[i] > -INFINITY;
    }
    return odd || !some;
}

/* Log-probabilities of the token and of the likeliest one, by the sum of exponentials of all logits, and the
 * gap between the largest two. */
static void describe_token(const float *v, int n, struct sample_result *out)
{
    int best = largest_logit(v, n, NULL);
    float second = -INFINITY, top = v[best];
    double total = 0;
    for (int i = 0; i < n; i++)
        second = i != best && v[i] > second ? v[i] : second;
    for (int i = 0; i < n; i += LANES) {
        float e[LANES];
        int m = n - i < LANES ? n - i : LANES;
        v_store(e, v_softmax_exp(v_sub(v_loadn(v + i, m), v_set(top))));
        for (int j = 0; j < m; j++)
            total += (double)e[j];
    }
    out->gap = n > 1 ? top - second : 0;
    float log_total = v_first(v_log(v_set((float)total)));
    out->logprob = (v[out->token] - top) - log_total;
    out->top_logprob = (v[out->top] - top) - log_total;
}

void CPU_SYM(op_sample)(const void *args, struct cpu_ctx *c)
{
    const struct sample_args *a = args;
    char *own =
        (char *)c->workspace + (size_t)c->tid * (size_t)a->vocab * (sizeof(uint32_t) + sizeof(struct rank));
    struct rank *rank = (struct rank *)(void *)own;
    uint32_t *key = (uint32_t *)(void *)(own + (size_t)a->vocab * sizeof *rank);
    FOR_TASKS(c, r, a->rows.cap)
    {
        int seq = a->rows.seq[r], pos = a->rows.pos[r];
        if (seq < 0)
            continue;
        const struct sample_settings *s = a->settings + seq;
        const float *v = a->logits + (size_t)r * (size_t)a->stride;
        struct sample_result out = {.token = s->force >= 0 ? s->force : draw_token(a, r, s, key, rank),
                                    .bad = not_finite(v, a->vocab)};
        if (s->want_logprob) {
            out.top = largest_logit(v, a->vocab, s);
            describe_token(v, a->vocab, &out);
        }
        a->out[r] = out;
        a->row_token[r] = out.token;
        a->row_pos[r] = pos + 1;
        if (out.bad || is_among(s->ends, out.token))
            a->row_seq[r] = -1;
    }
}
