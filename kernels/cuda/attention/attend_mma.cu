/* Decode attention on tensor cores: bf16 K and V, head_dim 64 or 128, groups of up to 8 query heads.
 *
 * Tokens and dimensions are the 16-row side of m16n8k16 and the query heads of a group its 8 columns, so that
 * little is wasted on small groups. q and the weights are each split into two bf16 (a high and a low part),
 * which makes products exact to about 2^-16. The tensor cores have time for it, because memory is the limit.
 *
 * Each warp takes every fourth entry of a split and has a pipeline of stages in shared memory, one KV block
 * each (attend_copy.cuh), filled by TMA bulk copies that run ahead over the ends of splits and lists. The
 * warps meet once a split, to add up their sums. Occupancy is two blocks an SM, with up to 192 KiB of loads
 * in flight; where few sequences are decoded a block has the SM to itself. Tried: four blocks of two warps
 * with as many bytes in flight, so that all splits of 64 sequences of 4,096 tokens run at once, and three
 * such blocks (0 to 22 % slower); one block of eight warps, each with
 * every eighth entry (a step of 64 sequences took from 3 % less to 8 % more, by how evenly splits fill the
 * GPU). */
#include "kernels/cuda/attention/attend_merge.cuh"

/* Up to this many entries of a list a warp takes one tile at a time, beyond it two. With two in use, only one
 * stage of a three-stage pipeline would be under way, and short lists only wait for memory. On long lists two
 * tiles hide each other's latencies. */
enum { SHORT_LIST_LIMIT = 64 };
static const float CUT = -69.0f * 1.44269504f; /* below it a exponential is 0, base 2 */

/* The group's queries as the second factor (16 dimensions x 8 heads a fragment), high and low parts. */
template <int D> struct queries {
    uint32_t high[D / 16][2], low[D / 16][2];
};

/* The same as loaded from memory, one item ahead. */
template <int D> struct raw_queries {
    float x[D / 16][2][2];
};

template <int D, class Work>
static __device__ void ask_queries(const Work &w, const struct list &l, struct raw_queries<D> *q)
{
    int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    const float *from = w.q + (size_t)l.row * w.q_stride + ((size_t)l.h * w.group + g) * D + 2 * t;
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            for (int e = 0; e < 2; e++)
                q->x[k][half][e] = g < w.group ? from[k * 16 + half * 8 + e] : 0.0f;
}

template <int D> static __device__ void split_queries(const struct raw_queries<D> &raw, struct queries<D> *q)
{
#pragma unroll
    for (int k = 0; k < D / 16; k++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float x = raw.x[k][half][0], y = raw.x[k][half][1];
            q->high[k][half] = round_pair(x, y);
            q->low[k][half] = round_pair(x, y);
        }
}

/* Logits go out by slot. c: tokens g, g + 8 of heads 2t, 2t + 1.
 *
 * On an H200 they cost 10 to 13 % of attention's time, for writes of 3 to 5 % of its bytes; a kernel that
 * only streams as many bytes pays 6 to 12 %, the least where each warp gathers 64 pages (16 KiB, which the
 * pipeline has no space for), whatever their order in memory. Without the stores 0.5 to 2 % are left. Tried:
 * rounds of 16 pages that each warp gathers and writes 1 KiB a head at a time (1 to 2.5 % less, but few
 * sequences get 8 % slower, since a warp's pages have to follow each other); fp16 beside a page's largest
 * logit, gathered by splits (2.5 to 3 % less, for rounded logits and a second form of statistics); bulk
 * stores and every cache policy (within 1 %). */
template <class Work>
static __device__ void dump_tile(const Work &w, const struct list &l, const struct stage *s, int entry,
                                 const float (&c)[4])
{
    int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    float *to = w.stats.logits + ((size_t)l.row * w.n_q + (size_t)l.h * w.group) * w.stats.stride;
    if (s->slot == INT32_MAX)
        return;
#pragma unroll
    for (int x = 0; x < 4; x++) {
        int head = 2 * t + (x & 1), token = g + (x >> 1) * 8;
        int listed_at = entry * KV_PAGE_TOKENS + token, slot = s->slot + token;
        if (s->slot < 0)
            slot = listed_at < l.len ? l.idx[listed_at] : -1;
        bool listed =
            w.kind_of() == LIST_LIVE || !l.idx || (s->read >> token & 1 && s->read >> (16 + head) & 1);
        if (head < w.group && slot >= 0 && listed)
            __stcs(&to[(size_t)head * w.stats.stride + slot], c[x] == -CUDART_INF_F ? c[x] : c[x] * w.scale);
    }
}

/* Sums over a tile's tokens of two heads' exponentials: lanes with even g get the first head's, the others
 * the second's. After the first exchange a lane has one head, so that three shuffles do for two. */
static __device__ inline float over_tokens(float first, float second)
{
    int odd = threadIdx.x / 4 & 1;
    float sum = (odd ? second : first) + __shfl_xor_sync(~0u, odd ? first : second, 4);
    sum += __shfl_xor_sync(~0u, sum, 8);
    return sum + __shfl_xor_sync(~0u, sum, 16);
}

/* Below it a page's sum has lost exponentials that count. */
static const float MIN_SUM = 0x1p-60f;

/* Log-sum-exp of a page under each head, from its exponentials e, relative to `running max` (both of tokens g
 * and g + 8, heads 2t and 2t + 1). A page far below the running max is summed again, relative to its own
 * largest logit. */
template <class Work>
static __device__ void dump_page(const Work &w, const struct list &l, int page, const float (&c)[4],
                                 const float (&e)[4], const float (&running_max)[2], float scale_log2)
{
    int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4, odd = g & 1, head = 2 * t + odd;
    float base = odd ? running_max[1] : running_max[0], sum = over_tokens(e[0] + e[2], e[1] + e[3]);
    if (__any_sync(~0u, sum < MIN_SUM)) {
        float new_max[2], x[4];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            new_max[h] = fmaxf(c[h], c[h + 2]);
            for (int d = 4; d < WARP; d *= 2)
                new_max[h] = fmaxf(new_max[h], __shfl_xor_sync(~0u, new_max[h], d));
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float up = (c[i] - new_max[i & 1]) * scale_log2;
            x[i] = up >= CUT ? power_of_2(up) : 0.0f;
        }
        base = odd ? new_max[1] : new_max[0];
        sum = over_tokens(x[0] + x[2], x[1] + x[3]);
    }
    size_t at = ((size_t)l.row * w.kv.n_kv + l.h) * (size_t)w.stats.stride + page;
    if (g < 2 && head < w.group)
        w.stats.logits[at * w.group + head] = fmaf(log_2_of(sum), 0.693147181f, base * w.scale);
}

/* The running max rises only when a logit exceeds it by more than this (base 2): sums are rescaled less
 * often, and exponentials up to 2^8 lose nothing in fp32. */
static const float SLACK = 8.0f;

/* Logits of a tile in shared memory at `at`: c, of tokens g and g + 8, heads 2t and 2t + 1. */
template <int D> static __device__ void score_tile(uint32_t at, const struct queries<D> &q, float (&c)[4])
{
    int lane = threadIdx.x % WARP, row = lane & 15;
    float part[4][4] = {}; /* high and low parts of q, even and odd steps: short chains of dependent sums */
    uint32_t from = at + row * D * 2 + ((lane >> 4) ^ (row & 7)) * 16;
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        uint32_t a[4];
        load_matrices(a, from ^ k * 32); /* chunks 2k and 2k + 1 */
        mma(part[k & 1], a, q.high[k][0], q.high[k][1]);
        mma(part[2 + (k & 1)], a, q.low[k][0], q.low[k][1]);
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
        c[x] = (part[0][x] + part[1][x]) + (part[2][x] + part[3][x]);
}

/* Sets the logits of tokens that a head does not read to -inf. */
static __device__ void mask_tile(uint32_t read, float (&c)[4])
{
    int g = threadIdx.x % WARP / 4, t = threadIdx.x % 4;
    if (read == 0xffffffff)
        return;
#pragma unroll
    for (int x = 0; x < 4; x++)
        if (!(read >> (g + (x >> 1) * 8) & 1) || !(read >> (16 + 2 * t + (x & 1)) & 1))
            c[x] = -CUDART_INF_F;
}

/* Online softmax: raises the running max of this lane's head h to at least new_max, the same in all lanes
 * that hold the head, and rescales the sum of exponentials and the sums over V. */
template <int D>
static __device__ void raise_running_max(struct sums<D> *r, int h, float new_max, float scale_log2)
{
    for (int d = 4; d < WARP; d *= 2)
        new_max = fmaxf(new_max, __shfl_xor_sync(~0u, new_max, d));
    new_max = fmaxf(r->running_max[h], new_max);
    float down = (r->running_max[h] - new_max) * scale_log2, keep = down >= CUT ? power_of_2(down) : 0.0f;
    if (r->running_max[h] == new_max)
        keep = 1;
    r->running_max[h] = new_max;
    r->sum[h] *= keep;
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        r->o[i][h] *= keep;
        r->o[i][h + 2] *= keep;
    }
}

/* N tiles of 16 tokens in shared memory at at[..], none of them empty. */
template <int D, enum dump DUMP, bool VALUES, int N, class Work>
static __device__ void add_tiles(const Work &w, const struct list &l, const struct stage *s, int entry,
                                 const uint32_t *at, const struct queries<D> &q, struct sums<D> *r)
{
    enum { ROW = D * 2, HALF = KV_PAGE_TOKENS * ROW }; /* as in form */
    int lane = threadIdx.x % WARP;
    const float scale_log2 = w.scale * 1.44269504f, slack = SLACK / scale_log2;
    float c[N][4], new_max[2] = {-CUDART_INF_F, -CUDART_INF_F};
#pragma unroll
    for (int p = 0; p < N; p++)
        score_tile<D>(at[p], q, c[p]);
#pragma unroll
    for (int p = 0; p < N; p++)
        mask_tile(s[p].read, c[p]);
#pragma unroll
    for (int p = 0; p < N; p++) {
        if (DUMP == LOGITS)
            dump_tile(w, l, &s[p], entry + p * ATTEND_WARPS, c[p]);
#pragma unroll
        for (int h = 0; h < 2; h++)
            new_max[h] = fmaxf(new_max[h], fmaxf(c[p][h], c[p][h + 2]));
    }
    if (__any_sync(~0u, new_max[0] > r->running_max[0] + slack || new_max[1] > r->running_max[1] + slack)) {
        raise_running_max(r, 0, new_max[0], scale_log2);
        raise_running_max(r, 1, new_max[1], scale_log2);
    }
    uint32_t high[N][2], low[N][2];
#pragma unroll
    for (int p = 0; p < N; p++) {
        float e[4];
#pragma unroll
        for (int x = 0; x < 4; x++) {
            float up = (c[p][x] - r->running_max[x & 1]) * scale_log2;
            e[x] = up >= CUT ? power_of_2(up) : 0.0f; /* also where both are -inf, and up is not a number */
        }
        r->sum[0] += e[0] + e[2]; /* of this lane's tokens */
        r->sum[1] += e[1] + e[3];
        if (DUMP == PAGE_SUMS)
            dump_page(w, l, entry + p * ATTEND_WARPS, c[p], e, r->running_max, scale_log2);
#pragma unroll
        for (int h = 0; h < (VALUES ? 2 : 0); h++) {
            high[p][h] = transpose_matrix(round_pair(e[2 * h], e[2 * h + 1]));
            low[p][h] = transpose_matrix(round_pair(e[2 * h], e[2 * h + 1]));
        }
    }
    if (!VALUES)
        return;
    int row = (lane & 7) + ((lane >> 4) << 3);
    uint32_t from[N];
#pragma unroll
    for (int p = 0; p < N; p++)
        from[p] = at[p] + HALF + row * ROW + (((lane >> 3) & 1) ^ (row & 7)) * 16;
#pragma unroll
    for (int i = 0; i < D / 16; i++)
#pragma unroll
        for (int p = 0; p < N; p++) {
            uint32_t a[4];
            load_transposed(a, from[p] ^ i * 32);
            mma(r->o[i], a, high[p][0], high[p][1]);
            mma(r->o[i], a, low[p][0], low[p][1]);
        }
}

/* Nothing is read of this tile: only its logits or their sums, all -inf, may be wanted. */
template <enum dump DUMP, class Work>
static __device__ void skip_tile(const Work &w, const struct list &l, const struct stage *s, int entry)
{
    const float c[4] = {-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F};
    if (DUMP == LOGITS)
        dump_tile(w, l, s, entry, c);
    if (DUMP == PAGE_SUMS && (int)threadIdx.x % WARP < w.group)
        w.stats.logits[(((size_t)l.row * w.kv.n_kv + l.h) * (size_t)w.stats.stride + entry) * w.group +
                       threadIdx.x % WARP] = -CUDART_INF_F;
}

/* Entries e and, if there are two, e + 4: those that are read together. */
template <int D, enum dump DUMP, bool VALUES, class Work>
static __device__ void add_entries(const Work &w, const struct list &l, const struct stage *s, int n, int e,
                                   const uint32_t *at, const struct queries<D> &q, struct sums<D> *r)
{
    if (n == 2 && s[0].read && s[1].read) {
        add_tiles<D, DUMP, VALUES, 2>(w, l, s, e, at, q, r);
        return;
    }
#pragma unroll 1
    for (int p = 0; p < n; p++) {
        const struct stage one = p ? s[1] : s[0];
        uint32_t from = p ? at[1] : at[0];
        if (one.read)
            add_tiles<D, DUMP, VALUES, 1>(w, l, &one, e + p * ATTEND_WARPS, &from, q, r);
        else
            skip_tile<DUMP>(w, l, &one, e + p * ATTEND_WARPS);
    }
}

template <class F, enum dump DUMP, list_kind KIND, share SHARING>
static __global__ void __launch_bounds__(ATTEND_THREADS, F::BLOCKS)
    mma_kernel(const __grid_constant__ struct attend_kind<KIND, SHARING, DUMP> w)
{
    enum { TOTALS = SHARING == SOLO ? 3 : 2, D = F::D, VALUES = F::VALUES };
    extern __shared__ __align__(1024) char shared[];
    __shared__ struct block<F::STAGES> b;
    float *total = (float *)(shared + F::PIPELINE_BYTES);
    needs_hopper();
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, stage = 0;
    uint32_t pipeline = shared_address(shared), phase = 0;
    struct lists all;
    if (lane < F::STAGES)
        barrier_init(shared_address(&b.bar[warp][lane]), w.kind_of() == LIST_TOKENS ? WARP : 1);
    barrier_init_done();
    float *smem = total + (VALUES ? TOTALS * w.group * pitch_of(D) : 0);
    struct cursor in = {};
    begin_copies<F>(w, smem, &all, &in, &b, pipeline);
    if (w.next == AT_ONCE)
        pdl_trigger();
    struct part out, ahead = in.now;
    struct raw_queries<D> raw;
    if (ahead.item < all.items)
        ask_queries(w, ahead.l, &raw);
#pragma unroll 1
    for (int filled = in.at; filled < F::STAGES; filled++)
        copy_next<F>(w, all, &in, &b, pipeline);
    for (int item = first_item(w); item < all.items; item = next_item(w, item)) {
        struct queries<D> q;
        struct sums<D> r = {
            {-CUDART_INF_F, -CUDART_INF_F}, {0, 0},
            {
            }
        };
        int reads = 0;
        out = ahead;
        split_queries(raw, &q);
        enter_item(w, all, next_item(w, item), &ahead);
        if (ahead.item < all.items)
            ask_queries(w, ahead.l, &raw);
        int step = out.l.n <= SHORT_LIST_LIMIT ? 1 : 2;
        for (int i = 0; i < out.n; i += step) {
            struct stage s[2];
            uint32_t at[2];
            int n = out.n - i < step ? 1 : step, use[2] = {stage, stage_after<F>(stage)};
#pragma unroll
            for (int p = 0; p < 2; p++) {
                s[p] = b.stage[warp][use[p]]; /* as its copy was asked for */
                at[p] = pipeline + (warp * F::STAGES + use[p]) * F::STAGE;
            }
#pragma unroll
            for (int p = 0; p < 2; p++) {
                if (p == n)
                    break;
                barrier_wait(shared_address(&b.bar[warp][use[p]]), phase >> use[p] & 1);
                phase ^= 1u << use[p];
                reads += __popc(s[p].read & 0xffff);
                stage = stage_after<F>(use[p]);
            }
            add_entries<D, DUMP, VALUES>(w, out.l, s, n, out.first + i * ATTEND_WARPS, at, q, &r);
            __syncwarp();
            copy_after<F>(w, all, n, &in, &b, pipeline);
        }
        if (VALUES && lane == 0 && reads)
            atomicAdd((unsigned long long *)&w.kv.reads[out.l.head], (unsigned long long)reads);
        if (!VALUES && out.split == 0 && out.l.n >= 0 && threadIdx.x == 0)
            w.kv.aux_half[out.l.head] += w.kv.n_live[out.l.head];
        if (w.next == AFTER_READING && next_item(w, item) >= all.items)
            pdl_trigger();
        merge_warps<F>(w, &out, &r, &b, total);
    }
    if (w.sharing() == PAIR)
        cluster_wait(); /* the other block has read this one's sums */
}

int attend_mma_fits(const struct attend_work *w)
{
    return w->kv.dtype == DTYPE_BF16 && w->group <= 8 && w->softcap <= 0 &&
           (w->kv.head_dim == 64 || w->kv.head_dim == 128);
}

template <class F, enum dump DUMP, list_kind KIND, share SHARING>
static int launch_kind(struct device *d, const struct attend_work *w)
{
    enum { TOTALS = SHARING == SOLO ? 3 : 2, D = F::D, VALUES = F::VALUES };
    size_t bytes = F::PIPELINE_BYTES +
                   (VALUES ? (size_t)TOTALS * pitch_of(D) * w->group * sizeof(float) : 0) +
                   (SHARING == APART ? lists_bytes(*w) : 0);
    struct attend_kind<KIND, SHARING, DUMP> kind;
    static_cast<struct attend_work &>(kind) = *w;
    /* Set each time: the limit belongs to the context of the device in use. */
    cudaError_t e = cudaFuncSetAttribute((const void *)mma_kernel<F, DUMP, KIND, SHARING>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (e != cudaSuccess)
        return cuda_check(d, e, "attend");
    int lists = w->rows.cap * w->kv.n_kv, blocks = F::BLOCKS * d->n_sm;
    blocks = SHARING == PAIR ? 2 * lists : SHARING == SOLO && lists < blocks ? lists : blocks;
    return cuda_launch_pdl(d, VALUES ? OP_attend : OP_qk_stats, mma_kernel<F, DUMP, KIND, SHARING>,
                           dim3(blocks), ATTEND_THREADS, bytes, SHARING == PAIR ? 2 : 1, kind);
}

template <int D, enum dump DUMP, bool VALUES, list_kind KIND, share SHARING>
static int run_kind(struct device *d, const struct attend_work *w)
{
    const bool CAN_BE_DEEP = VALUES && (KIND == LIST_LIVE || KIND == LIST_WINDOW) && DUMP == NO_DUMP;
    if (CAN_BE_DEEP && w->deep)
        return launch_kind<tile_config<D, VALUES, CAN_BE_DEEP>, DUMP, KIND, SHARING>(d, w);
    return launch_kind<tile_config<D, VALUES, false>, DUMP, KIND, SHARING>(d, w);
}

template <int D, enum dump DUMP> static int run_list_kind(struct device *d, const struct attend_work *w)
{
    switch (w->kind) {
    case LIST_LIVE:
        return run_kind<D, DUMP, true, LIST_LIVE, APART>(d, w);
    case LIST_PAGES:
        return run_kind<D, DUMP, true, LIST_PAGES, APART>(d, w);
    case LIST_TOKENS:
        return run_kind<D, DUMP, true, LIST_TOKENS, APART>(d, w);
    default:
        return run_kind<D, DUMP, true, LIST_MERGED, APART>(d, w);
    }
}

template <int D> static int run_wide(struct device *d, const struct attend_work *w)
{
    if (!w->out) /* qk_stats */
        return w->stats.by_page ? run_kind<D, PAGE_SUMS, false, LIST_LIVE, APART>(d, w)
                                : run_kind<D, LOGITS, false, LIST_LIVE, APART>(d, w);
    if (w->shared == PAIR)
        return run_kind<D, NO_DUMP, true, LIST_PAGES, PAIR>(d, w);
    if (w->shared == SOLO)
        return run_kind<D, NO_DUMP, true, LIST_PAGES, SOLO>(d, w);
    if (w->kind == LIST_WINDOW)
        return run_kind<D, NO_DUMP, true, LIST_WINDOW, APART>(d, w);
    if (w->stats.by_page)
        return run_kind<D, PAGE_SUMS, true, LIST_LIVE, APART>(d, w);
    return w->stats.logits ? run_list_kind<D, LOGITS>(d, w) : run_list_kind<D, NO_DUMP>(d, w);
}

int attend_mma(struct device *d, const struct attend_work *w)
{
    return w->kv.head_dim == 128 ? run_wide<128>(d, w) : run_wide<64>(d, w);
}
