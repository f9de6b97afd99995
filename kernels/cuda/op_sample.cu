/* The next token. A row is a cluster of 8 blocks (one block on GPUs without clusters), a warp a run of ids:
 * its logits are read once and stay, as weights exp((logit - largest) / temperature), in shared memory (in
 * a->workspace where a vocabulary is too large for it). Masses of weights are integers in units of 2^-44,
 * whose sums are the same in any order. So top-p, the draw and the histograms made with atomic additions do
 * not depend on the schedule. Kept ids are walked in ascending order with one number from Philox4x32-10
 * (Salmon et al., SC 2011). */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/sample.cuh"
#include "kernels/philox.h"

/* ---- what there is */

static __device__ bool is_among(const int32_t ids[8], int id)
{
    bool is = false;
    for (int i = 0; i < 8; i++)
        is |= ids[i] == id;
    return is;
}

static __device__ struct found join_tallies(struct found a, struct found b)
{
    bool other = b.v > a.v || (b.v == a.v && b.id < a.id);
    return {other ? b.v : a.v, fmaxf(a.top, b.top), other ? b.id : a.id, a.odd | b.odd};
}

static __device__ struct found over_lanes(struct found a)
{
    for (int lane = WARP / 2; lane; lane /= 2) {
        struct found b = {__shfl_xor_sync(~0u, a.v, lane), __shfl_xor_sync(~0u, a.top, lane),
                          __shfl_xor_sync(~0u, a.id, lane), __shfl_xor_sync(~0u, a.odd, lane)};
        a = join_tallies(a, b);
    }
    return a;
}

/* The one pass over the logits; `keep`: copies them. */
static __device__ struct found look_at_logits(const struct part &p, const struct sample_settings *s,
                                              bool keep)
{
    enum { AHEAD = 16 };
    const float inf = CUDART_INF_F;
    struct found best = {-inf, -inf, -1, 0};
    bool bans = false;
    for (size_t i = 0; i < sizeof s->banned / sizeof *s->banned; i++)
        bans |= s->banned[i] >= 0;
    for (int i0 = threadIdx.x % WARP; i0 < p.n; i0 += AHEAD * WARP) {
        float x[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            x[u] = i0 + u * WARP < p.n ? p.v[i0 + u * WARP] : -inf;
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            int i = i0 + u * WARP;
            best.odd |= !(x[u] < inf);
            best.top = fmaxf(best.top, x[u]);
            if (x[u] > best.v && !(bans && is_among(s->banned, p.first + i))) {
                best.v = x[u];
                best.id = p.first + i;
            }
            if (keep && i < p.n)
                p.w[i] = x[u];
        }
    }
    return best;
}

template <int BLOCKS>
static __device__ struct found look_at_row(struct smem<BLOCKS> *m, const struct part &p,
                                           const struct sample_settings *s, bool keep)
{
    int lane = threadIdx.x % WARP;
    struct found a = over_lanes(look_at_logits(p, s, keep));
    if (lane == 0)
        m->my_found[threadIdx.x / WARP] = a;
    gather_parts<BLOCKS>(m->all_found, m->my_found, found{-CUDART_INF_F, -CUDART_INF_F, -1, 0});
    a = m->all_found[lane];
    for (int i = lane + WARP; i < smem<BLOCKS>::PARTS; i += WARP)
        a = join_tallies(a, m->all_found[i]);
    return over_lanes(a);
}

/* The sum of exponentials and the second largest, of the logits as copied. */
template <int BLOCKS>
static __device__ struct tally describe_row(struct smem<BLOCKS> *m, const struct part &p, float top)
{
    int lane = threadIdx.x % WARP;
    struct tally t = {0, -CUDART_INF_F, 0};
    for (int i = lane; i < p.n; i += WARP) {
        float x = p.w[i];
        t.sum += (double)softmax_exp(x - top);
        t.equal += x == top;
        t.second = x < top ? fmaxf(t.second, x) : t.second;
    }
    t = {warp_sum(t.sum), warp_max(t.second), warp_sum(t.equal)};
    if (lane == 0)
        m->my_tally[threadIdx.x / WARP] = t;
    gather_parts<BLOCKS>(m->all_tally, m->my_tally, tally{0, -CUDART_INF_F, 0});
    t = m->all_tally[lane];
    for (int i = lane + WARP; i < smem<BLOCKS>::PARTS; i += WARP) {
        t.sum += m->all_tally[i].sum;
        t.second = fmaxf(t.second, m->all_tally[i].second);
        t.equal += m->all_tally[i].equal;
    }
    return {warp_sum(t.sum), warp_max(t.second), warp_sum(t.equal)};
}

/* ---- what may be drawn */

/* Logits become weights; what is banned or not a number has none. */
static __device__ void weigh_logits(const struct part &p, const struct sample_settings *s, float best)
{
    int lane = threadIdx.x % WARP;
    float t = s->temperature;
    for (int i = lane; i < p.n; i += WARP) {
        float w = softmax_exp((p.w[i] - best) / t);
        p.w[i] = w > 0 ? w : 0.0f;
    }
    __syncwarp();
    for (size_t i = 0; i < sizeof s->banned / sizeof *s->banned; i++) {
        int id = s->banned[i] - p.first;
        if (lane == 0 && id >= 0 && id < p.n)
            p.w[id] = 0;
    }
    __syncwarp();
}

template <int BLOCKS>
static __device__ struct cut what_is_kept(struct smem<BLOCKS> *m, const struct part &p,
                                          const struct sample_settings *s, int vocab)
{
    struct cut c = {0, 0};
    if (s->top_k > 0 && s->top_k < vocab)
        c = find_cut(m, p, (uint64_t)s->top_k, false);
    if (s->top_p > 0 && s->top_p < 1) {
        uint64_t total = kept_mass(m, p, c), want = (uint64_t)ceil((double)s->top_p * (double)total);
        if (total > 0)
            c = find_cut(m, p, want < 1 ? 1 : want > total ? total : want, true);
    }
    return c;
}

/* ---- the draw */

/* 53 bits. */
static __device__ uint64_t philox_draw(const struct sample_settings *s, int pos)
{
    uint32_t x[4] = {(uint32_t)pos + 1, s->sample, (uint32_t)s->problem, (uint32_t)(s->problem >> 32)};
    philox4x32_10(s->seed, x);
    return (uint64_t)x[0] << 21 | x[1] >> 11;
}

/* The id where the sum of kept masses, `before` ahead of this part, first exceeds the target; -1: not here.
 */
static __device__ int walk_parts(const struct part &p, struct cut c, int ties, uint64_t before,
                                 uint64_t target)
{
    int lane = threadIdx.x % WARP;
    for (int i0 = 0; i0 < p.n; i0 += WARP) {
        uint32_t key = i0 + lane < p.n ? __float_as_uint(p.w[i0 + lane]) : 0;
        unsigned equal = __ballot_sync(~0u, c.key && key == c.key);
        bool kept = key > c.key || ((equal >> lane & 1) && __popc(equal & ((1u << lane) - 1)) < ties);
        uint64_t upto = before + sum_before(kept ? mass_of(key) : (uint64_t)0);
        unsigned past = __ballot_sync(~0u, upto > target);
        if (past)
            return p.first + i0 + __ffs((int)past) - 1;
        before = __shfl_sync(~0u, upto, WARP - 1);
        ties -= __popc(equal);
    }
    return -1;
}

/* One warp of the row gets the id, the others -1. Without any mass the first warp gets `otherwise`. */
template <int BLOCKS>
static __device__ int draw_token(struct smem<BLOCKS> *m, const struct part &p,
                                 const struct sample_settings *s, int pos, struct cut c, int otherwise)
{
    enum { PARTS = smem<BLOCKS>::PARTS, EACH = smem<BLOCKS>::SEATS / WARP };
    int lane = threadIdx.x % WARP, ties = 0;
    uint64_t one = mass_of(c.key), sum = 0;
    share_out(m, p, c);
    const struct share *mine = m->all_share + lane * EACH;
    for (int i = 0; i < EACH; i++)
        ties += mine[i].ties;
    ties = c.ties - (sum_before(ties) - ties); /* ties left for this lane's parts and those after */
    int left = ties;
    for (int i = 0; i < EACH; i++) {
        sum += mine[i].mass + (uint64_t)max(min(left, mine[i].ties), 0) * one;
        left -= mine[i].ties;
    }
    uint64_t upto = sum_before(sum), total = __shfl_sync(~0u, upto, WARP - 1), before = upto - sum;
    if (total == 0)
        return p.index == 0 ? otherwise : -1;
    uint64_t target = __umul64hi((unsigned long long)philox_draw(s, pos) << 11, total); /* below total */
    int owner = __ffs((int)__ballot_sync(~0u, upto > target)) - 1;
    if (owner != p.index / EACH)
        return -1;
    before = __shfl_sync(~0u, before, owner);
    ties = __shfl_sync(~0u, ties, owner);
    for (int i = owner * EACH; i < PARTS; i++) {
        const struct share *x = &m->all_share[i];
        uint64_t here = x->mass + (uint64_t)max(min(ties, x->ties), 0) * one;
        if (before + here > target)
            return i == p.index ? walk_parts(p, c, ties, before, target) : -1;
        before += here;
        ties -= x->ties;
    }
    return -1;
}

/* ---- */

template <int BLOCKS>
static __global__ void __launch_bounds__(THREADS, 2) sample_kernel(struct sample_args a, int part, int shared)
{
    extern __shared__ __align__(16) char memory[];
    if (BLOCKS > 1)
        needs_hopper();
    struct smem<BLOCKS> *m = (struct smem<BLOCKS> *)memory;
    int r = blockIdx.y, warp = threadIdx.x / WARP, seq = a.rows.seq[r];
    if (seq < 0)
        return; /* all blocks of the row do */
    const struct sample_settings *s = a.settings + seq;
    int pos = a.rows.pos[r], index = blockIdx.x * WARPS + warp, first = min(index * part, a.vocab);
    struct part p = {a.logits + (size_t)r * a.stride + first,
                     shared ? (float *)(m + 1) + warp * part : a.workspace + (size_t)r * a.vocab + first,
                     index, first, min(part, a.vocab - first)};
    bool draws = s->force < 0 && s->temperature > 0;
    struct found row = look_at_row(m, p, s, draws || s->want_logprob);
    struct tally t = {1, 0, 0};
    if (s->want_logprob)
        t = describe_row(m, p, row.top);
    int best = row.id < 0 ? 0 : row.id, token = index == 0 ? (s->force >= 0 ? s->force : best) : -1;
    if (draws) {
        weigh_logits(p, s, row.v);
        token = draw_token(m, p, s, pos, what_is_kept(m, p, s, a.vocab), best);
    }
    if (token < 0 || threadIdx.x % WARP)
        return;
    struct sample_result out = {token, 0, 0, row.odd || !(row.top > -CUDART_INF_F), 0, 0};
    if (s->want_logprob) {
        const float *logits = a.logits + (size_t)r * a.stride;
        out.logprob = logits[token] - row.top - logf((float)t.sum);
        out.top = best;
        out.top_logprob = logits[best] - row.top - logf((float)t.sum);
        out.gap = a.vocab > 1 ? row.top - (t.equal > 1 ? row.top : t.second) : 0;
    }
    a.out[r] = out;
    a.row_token[r] = token;
    a.row_pos[r] = pos + 1;
    if (out.bad || is_among(s->ends, token))
        a.row_seq[r] = -1; /* every block has read it: they have met since */
}

template <int BLOCKS> static int launch_sample(struct device *d, const struct sample_args *a)
{
    const int PARTS = smem<BLOCKS>::PARTS;
    int part = ((a->vocab + PARTS - 1) / PARTS + WARP - 1) / WARP * WARP;
    size_t bytes = sizeof(struct smem<BLOCKS>) + WARPS * (size_t)part * sizeof(float);
    int shared = bytes + SPARE_SHARED <= d->max_smem;
    bytes = shared ? bytes : sizeof(struct smem<BLOCKS>);
    auto kernel = sample_kernel<BLOCKS>;
    int rc = cuda_check(
        d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes), "sample");
    return rc ? rc
              : cuda_launch(d, OP_sample, kernel, dim3(BLOCKS, a->rows.cap), THREADS, bytes, BLOCKS, 0, *a,
                            part, shared);
}

int cuda_op_sample(struct device *d, const struct sample_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    if (a->vocab > MAX_VOCAB)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "sample: %d ids; at most %d", a->vocab, MAX_VOCAB);
    return d->hopper ? launch_sample<8>(d, a) : launch_sample<1>(d, a);
}
