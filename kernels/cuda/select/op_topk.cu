/* The indices of the largest scores of each list, ascending: radix selection by one block, or for long lists
 * by a cluster of blocks.
 *
 * A block turns its part of the list into keys in shared memory: one read of the scores. Then up to four
 * digits of 8 bits, from the high one down: every block counts its keys by digit, the first warp adds the
 * counts of all blocks and finds the digit of the k-th largest. Last, every warp counts how many of its
 * stretch of the list are taken and writes them at their place. Counts are whole numbers, so neither the
 * order of additions nor the number of blocks changes the result. GPUs without clusters have one block a
 * list, and the keys of long ones in memory. */
#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/topk_rule.h"

enum { THREADS = 512, WARPS = THREADS / WARP, DIGITS = 4, BINS = 256 };
/* Keys of a block: with 64 KiB three blocks share a multiprocessor; 192 KiB are what one can have. */
enum { PART = 16384, MOST_PART = 49152, MOST_BLOCKS = 8 };

struct digit {
    int value, above, count; /* keys with a larger one, keys with this one */
};

struct topk_shared {
    int4 bins[DIGITS][BINS / 4];
    int2 taken[WARPS];
    struct take take;
    int from, left; /* see force() */
    struct digit digit;
};

/* A block's part of a list: entries begin .. begin + n - 1. */
struct part {
    uint32_t *key; /* in shared memory, or see PLACE */
    int begin, n;
};

/* Entries that are taken: those from `join` on that are candidates, keys above the threshold, and of those
 * equal to it the first `equal`. */
struct cut {
    uint32_t threshold;
    int equal, join;
};

/* ---- keys */

/* e^x, x above -inf, as the CPU computes it, bit for bit: with a bias the order of scores hangs on it. */
__device__ static float mass(float x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    x = fminf(89.0f, fmaxf(-104.0f, x));
    float t = __fmaf_rn(x, 1.44269504f, magic), n = __fsub_rn(t, magic);
    float r = __fmaf_rn(n, 2.12194440e-4f, __fmaf_rn(n, -0.693359375f, x));
    float p = 1.0f / 5040;
    p = __fmaf_rn(p, r, 1.0f / 720);
    p = __fmaf_rn(p, r, 1.0f / 120);
    p = __fmaf_rn(p, r, 1.0f / 24);
    p = __fmaf_rn(p, r, 1.0f / 6);
    p = __fmaf_rn(p, r, 0.5f);
    p = __fmaf_rn(p, r, 1.0f);
    p = __fmaf_rn(p, r, 1.0f);
    int whole = __float_as_int(t) - 0x4b400000, half = whole >> 1, rest = whole - half;
    return __fmul_rn(__fmul_rn(p, __int_as_float((half + 127) << 23)), __int_as_float((rest + 127) << 23));
}

/* Floats as unsigned integers in the same order; 0 for -inf and not a number: no candidate. */
__device__ static uint32_t key_of(float x, int i, float bias)
{
    if (bias != 0 && x > -CUDART_INF_F)
        x = __fsub_rn(mass(x), __fmul_rn(bias, (float)i));
    if (!(x > -CUDART_INF_F))
        return 0;
    uint32_t u = __float_as_uint(__fadd_rn(x, 0.0f)); /* -0 and 0 are equal */
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

/* Keys of v[0 .. p.n-1]; several loads in flight before the first is used. */
__device__ static void make_keys(const struct part &p, const float *v, float bias)
{
    const int flight = 8;
    if (bias != 0) {
        for (int j = threadIdx.x; j < p.n; j += THREADS)
            p.key[j] = key_of(v[j], p.begin + j, bias);
        return;
    }
    for (int j = threadIdx.x; j < p.n; j += flight * THREADS) {
        float x[flight];
#pragma unroll
        for (int u = 0; u < flight; u++)
            x[u] = j + u * THREADS < p.n ? v[j + u * THREADS] : 0.0f;
#pragma unroll
        for (int u = 0; u < flight; u++)
            if (j + u * THREADS < p.n)
                p.key[j + u * THREADS] = key_of(x[u], 0, 0.0f);
    }
}

/* ---- how many */

/* Forced entries: the last t.last of n, where they are candidates, t.k at most and then the highest; all
 * candidates at `from` and after. Of k, `left` are left for the entries before. By one warp. */
struct forced {
    int from, left;
};

__device__ static struct forced force(const float *v, int n, const struct take &t, float bias)
{
    int lane = threadIdx.x % WARP, low = n - t.last, from = n, left = t.k;
    for (int top = n - 1; top >= low && left > 0; top -= WARP) {
        int i = top - lane;
        unsigned found = __ballot_sync(~0u, i >= low && key_of(v[i], i, bias) != 0); /* bit 0 is the last */
        while (__popc(found) > left)
            found ^= 1u << (31 - __clz(found));
        from = __popc(found) == left ? top - (31 - __clz(found)) : max(top - WARP + 1, low);
        left -= __popc(found);
    }
    return {from, left};
}

/* The rule, by the first warp. A union is chosen from the whole list. */
__device__ static void plan(struct topk_shared *s, const struct topk_args &a, size_t at, int row, int seq,
                            int n)
{
    int len = a.len_of_seq ? a.len_of_seq[seq] : 0;
    struct take t = rule_take(&a.rule, n, a.in.m[at], a.rows.pos[row], len, a.cap);
    struct forced f = {n, t.k};
    if (a.rule.force != FORCE_UNION && t.last > 0)
        f = force(a.in.v + at * (size_t)a.in.stride, n, t, a.rule.tie_bias);
    if (threadIdx.x == 0) {
        s->from = f.from;
        s->left = f.left;
        s->take = t;
    }
}

/* ---- which */

template <bool CLUSTER> __device__ static inline void barrier()
{
    if (CLUSTER)
        cluster_meet();
    else
        __syncthreads();
}

/* The same object of another block of the cluster. */
template <bool CLUSTER, typename T> __device__ static inline T *of_block(T *mine, int rank)
{
    return CLUSTER ? cluster_object(mine, rank) : mine;
}

/* The bin that holds the k-th largest, 0 when there are fewer; by the first warp, 8 bins a lane. */
template <bool CLUSTER> __device__ static void find_digit(struct topk_shared *s, int which, int blocks, int k)
{
    int lane = threadIdx.x, c[8] = {0}, sum = 0;
    for (int b = 0; b < blocks; b++) {
        const int4 *bins = of_block<CLUSTER>(s->bins[which], b) + 2 * lane;
        int4 x = bins[0], y = bins[1];
        const int more[8] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
#pragma unroll
        for (int i = 0; i < 8; i++)
            c[i] += more[i];
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        sum += c[i];
    int upto = sum; /* of this lane's bins and all higher ones */
    for (int o = 1; o < WARP; o *= 2) {
        int higher = __shfl_down_sync(~0u, upto, o);
        upto += lane + o < WARP ? higher : 0;
    }
    struct digit d = {7, upto - sum, c[7]};
#pragma unroll
    for (int i = 7; i > 0; i--)
        if (d.value == i && d.above + d.count < k) {
            d.value = i - 1;
            d.above += d.count;
            d.count = c[i - 1];
        }
    unsigned here = __ballot_sync(~0u, upto - sum < k && upto >= k);
    if (lane == (here ? __ffs(here) - 1 : 0)) {
        d.value += 8 * lane;
        s->digit = d;
    }
}

/* The threshold for the k largest of the part's entries below `limit` of the list. */
template <bool CLUSTER>
__device__ static struct cut select(struct topk_shared *s, const struct part &p, int limit, int blocks, int k)
{
    struct cut c = {UINT32_MAX, 0, 0};
    uint32_t prefix = 0, mask = 0;
    int n = min(p.n, limit - p.begin);
    if (k <= 0)
        return c; /* no key is above */
    for (int which = 0, shift = 24; which < DIGITS; which++, shift -= 8) {
        int *bins = (int *)s->bins[which];
        for (int j = threadIdx.x; j < n; j += THREADS) {
            uint32_t key = p.key[j];
            if (key && (key & mask) == prefix)
                atomicAdd(bins + (key >> shift & (BINS - 1)), 1);
        }
        barrier<CLUSTER>();
        if (threadIdx.x < WARP)
            find_digit<CLUSTER>(s, which, blocks, k);
        __syncthreads();
        prefix |= (uint32_t)s->digit.value << shift;
        mask |= (uint32_t)(BINS - 1) << shift;
        k -= s->digit.above;
        if (s->digit.count == k) { /* all keys with this prefix */
            c.threshold = prefix ? prefix - 1 : 0;
            return c;
        }
    }
    c.threshold = prefix;
    c.equal = prefix ? k : 0; /* a threshold of 0: fewer than k candidates */
    return c;
}

/* ---- TOPK_MASS: how many */

struct mass_shared {
    unsigned long long sum[DIGITS][BINS], room[WARP], total, forced;
    int count[DIGITS][BINS];
    unsigned long long need, one_sum; /* what find_mass() leaves: still needed from digit `value`, its mass */
    int value, above, one_count;      /* keys with a larger digit, keys with this one */
};

/* The bin in which the sum from the largest key down reaches `need`; by the first warp, 8 bins a lane. */
template <bool CLUSTER>
__device__ static void find_mass(struct mass_shared *s, int which, int blocks, unsigned long long need)
{
    int lane = threadIdx.x, n[8] = {0}, keys = 0;
    unsigned long long c[8] = {0}, sum = 0;
    for (int b = 0; b < blocks; b++) {
        const struct mass_shared *other = of_block<CLUSTER>(s, b);
        for (int i = 0; i < 8; i++) {
            c[i] += other->sum[which][8 * lane + i];
            n[i] += other->count[which][8 * lane + i];
        }
    }
    for (int i = 0; i < 8; i++) {
        sum += c[i];
        keys += n[i];
    }
    unsigned long long upto = sum; /* of this lane's bins and all higher ones */
    int upto_keys = keys;
    for (int o = 1; o < WARP; o *= 2) {
        unsigned long long higher = __shfl_down_sync(~0u, upto, o);
        int higher_keys = __shfl_down_sync(~0u, upto_keys, o);
        upto += lane + o < WARP ? higher : 0;
        upto_keys += lane + o < WARP ? higher_keys : 0;
    }
    if (upto - sum >= need || upto < need)
        return;
    unsigned long long left = need - (upto - sum);
    int i = 7, above = upto_keys - keys;
    for (; i > 0 && c[i] < left; i--) {
        left -= c[i];
        above += n[i];
    }
    s->need = left;
    s->value = 8 * lane + i;
    s->above = above;
    s->one_sum = c[i];
    s->one_count = n[i];
}

/* The masses of all candidates and of the forced ones, over the blocks. */
template <bool CLUSTER>
__device__ static void total_mass(struct mass_shared *s, const struct part &p, const float *v, int from,
                                  int blocks, unsigned long long *total, unsigned long long *forced)
{
    unsigned long long all = 0, sure = 0;
    for (int j = threadIdx.x; j < p.n; j += THREADS) {
        unsigned long long one = p.key[j] ? rule_mass(mass(v[j])) : 0;
        all += one;
        sure += p.begin + j >= from ? one : 0;
    }
    all = block_sum(all, s->room);
    sure = block_sum(sure, s->room);
    if (threadIdx.x == 0) {
        s->total = all;
        s->forced = sure;
    }
    barrier<CLUSTER>();
    *total = *forced = 0;
    for (int b = 0; b < blocks; b++) {
        *total += of_block<CLUSTER>(s, b)->total;
        *forced += of_block<CLUSTER>(s, b)->forced;
    }
}

/* How many of the entries before `from` the rule takes besides the forced ones, of v, the part's scores. */
template <bool CLUSTER>
__device__ static int count_by_mass(const struct topk_rule &rule, const struct part &p, const float *v,
                                    int from, int blocks)
{
    __shared__ struct mass_shared s;
    unsigned long long total, forced, need;
    uint32_t prefix = 0, mask = 0;
    int above = 0, n = min(p.n, from - p.begin);
    for (int i = threadIdx.x; i < DIGITS * BINS; i += THREADS) {
        ((unsigned long long *)s.sum)[i] = 0;
        ((int *)s.count)[i] = 0;
    }
    total_mass<CLUSTER>(&s, p, v, from, blocks, &total, &forced);
    need = rule_need(&rule, total);
    if (need <= forced)
        return 0;
    need -= forced;
    for (int which = 0, shift = 24; which < DIGITS; which++, shift -= 8) {
        for (int j = threadIdx.x; j < n; j += THREADS) {
            uint32_t key = p.key[j];
            if (key && (key & mask) == prefix) {
                atomicAdd(&s.sum[which][key >> shift & (BINS - 1)],
                          (unsigned long long)rule_mass(mass(v[j])));
                atomicAdd(&s.count[which][key >> shift & (BINS - 1)], 1);
            }
        }
        barrier<CLUSTER>();
        if (threadIdx.x < WARP)
            find_mass<CLUSTER>(&s, which, blocks, need);
        __syncthreads();
        prefix |= (uint32_t)s.value << shift;
        mask |= (uint32_t)(BINS - 1) << shift;
        need = s.need;
        above += s.above;
    }
    return above + rule_count(need, s.one_sum / s.one_count);
}

/* ---- the list */

enum { LEFT, EQUAL, SURE };

__device__ static inline int kind_of(const struct part &p, const struct cut &c, int j, int end)
{
    uint32_t key = j < end ? p.key[j] : 0;
    return key && (key > c.threshold || p.begin + j >= c.join) ? SURE
           : key && key == c.threshold                         ? EQUAL
                                                               : LEFT;
}

/* Writes what is taken, and in the first block the list's length. */
template <bool CLUSTER>
__device__ static void collect(struct topk_shared *s, const struct topk_args &a, size_t at,
                               const struct part &p, const struct cut &c, int rank, int blocks)
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    int stretch = (p.n + THREADS - 1) / THREADS * WARP, first = warp * stretch,
        end = min(first + stretch, p.n);
    int sure = 0, equal = 0, all_sure = 0, all_equal = 0;
    for (int j = first; j < end; j += WARP) {
        int kind = kind_of(p, c, j + lane, end);
        sure += __popc(__ballot_sync(~0u, kind == SURE));
        equal += __popc(__ballot_sync(~0u, kind == EQUAL));
    }
    if (lane == 0)
        s->taken[warp] = make_int2(sure, equal);
    barrier<CLUSTER>();
    sure = equal = 0; /* from here on: in the list before this place */
    for (int b = 0; b < blocks; b++) {
        int2 other = lane < WARPS ? of_block<CLUSTER>(s->taken, b)[lane] : make_int2(0, 0);
        bool before = b < rank || (b == rank && lane < warp);
        sure += __reduce_add_sync(~0u, before ? other.x : 0);
        equal += __reduce_add_sync(~0u, before ? other.y : 0);
        all_sure += __reduce_add_sync(~0u, other.x);
        all_equal += __reduce_add_sync(~0u, other.y);
    }
    if (rank == 0 && threadIdx.x == 0)
        a.len[at] = min(all_sure + min(all_equal, c.equal), a.cap);
    int32_t *idx = a.idx + at * (size_t)a.cap;
    for (int j = first; j < end; j += WARP) {
        int kind = kind_of(p, c, j + lane, end);
        unsigned sures = __ballot_sync(~0u, kind == SURE), equals = __ballot_sync(~0u, kind == EQUAL);
        unsigned before = (1u << lane) - 1;
        int s0 = sure + __popc(sures & before), e0 = equal + __popc(equals & before);
        int to = s0 + min(e0, c.equal);
        if ((kind == SURE || (kind == EQUAL && e0 < c.equal)) && to < a.cap)
            idx[to] = p.begin + j + lane;
        sure += __popc(sures);
        equal += __popc(equals);
    }
    if (CLUSTER)
        barrier<CLUSTER>(); /* others may be reading this block's counts */
}

/* ---- the operation */

/* Entries of each block's part of n. */
__host__ __device__ static inline int part_of(int n, int blocks)
{
    return (n + blocks * WARP - 1) / (blocks * WARP) * WARP;
}

/* Where a list's keys are: in one block, in a cluster of them, or, by list, in memory. */
enum place { BLOCK, OF_CLUSTER, MEMORY };

/* x: the blocks of a list, y: lists of a row, z: rows. */
template <enum place PLACE, bool MASS>
static __global__ void __launch_bounds__(THREADS, 3) topk_kernel(struct topk_args a, uint32_t *memory)
{
    const bool CLUSTER = PLACE == OF_CLUSTER;
    extern __shared__ uint32_t topk_keys[];
    __shared__ struct topk_shared s;
    if (CLUSTER)
        needs_hopper();
    int rank = CLUSTER ? blockIdx.x : 0, blocks = CLUSTER ? gridDim.x : 1, row = blockIdx.z;
    size_t at = (size_t)row * a.in.n_rows + blockIdx.y;
    wait_for_inputs();
    let_next_begin();
    int seq = a.rows.seq[row];
    if (seq < 0)
        return;
    int n = min(a.in.n[at], a.in.stride), size = part_of(n, blocks), begin = min(rank * size, n);
    struct part p = {PLACE == MEMORY ? memory + at * (size_t)a.in.stride : topk_keys, begin,
                     min(size, n - begin)};
    if (threadIdx.x < WARP)
        plan(&s, a, at, row, seq, n);
    for (int i = threadIdx.x; i < DIGITS * BINS; i += THREADS)
        ((int *)s.bins)[i] = 0;
    const float *v = a.in.v + at * (size_t)a.in.stride + begin;
    make_keys(p, v, a.rule.tie_bias);
    __syncthreads();
    if (s.take.dense) {
        if (rank == 0 && threadIdx.x == 0)
            a.len[at] = -1;
        return;
    }
    bool whole = a.rule.force == FORCE_UNION;
    int left = s.left;
    if (MASS) {
        int few = a.rule.min_k - (s.take.k - s.left); /* besides the forced ones */
        left = min(left, max(few, count_by_mass<CLUSTER>(a.rule, p, v, s.from, blocks)));
    }
    struct cut c = select<CLUSTER>(&s, p, whole ? n : s.from, blocks, left);
    c.join = whole ? n - s.take.last : s.from;
    collect<CLUSTER>(&s, a, at, p, c, rank, blocks);
}

/* On a GPU without clusters. */
static int topk_plain(struct device *d, const struct topk_args *a, int by_mass)
{
    dim3 grid(1, (unsigned)a->in.n_rows, (unsigned)a->rows.cap);
    size_t bytes = (size_t)part_of(a->in.stride, 1) * sizeof(uint32_t);
    if (bytes > 4 * PART) {
        size_t lists = (size_t)a->rows.cap * (size_t)a->in.n_rows;
        uint32_t *memory = (uint32_t *)cuda_scratch(d, lists * (size_t)a->in.stride * sizeof(uint32_t));
        auto kernel = by_mass ? topk_kernel<MEMORY, true> : topk_kernel<MEMORY, false>;
        return memory ? cuda_launch_early(d, OP_topk, kernel, grid, THREADS, 0, 1, *a, memory)
                      : BACKEND_ERR_MEMORY;
    }
    auto kernel = by_mass ? topk_kernel<BLOCK, true> : topk_kernel<BLOCK, false>;
    cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    return e != cudaSuccess
               ? cuda_check(d, e, "topk")
               : cuda_launch_early(d, OP_topk, kernel, grid, THREADS, bytes, 1, *a, (uint32_t *)NULL);
}

int cuda_op_topk(struct device *d, const struct topk_args *a)
{
    int blocks = 1;
    while (blocks < MOST_BLOCKS && part_of(a->in.stride, blocks) > PART)
        blocks *= 2;
    int part = part_of(a->in.stride, blocks), bytes = part * (int)sizeof(uint32_t);
    if (part > MOST_PART)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "topk: lists of %d scores; on a GPU at most %d",
                          a->in.stride, MOST_PART * MOST_BLOCKS);
    if (!d->hopper)
        return topk_plain(d, a, rule_by_mass(&a->rule));
    auto kernel = blocks > 1 ? topk_kernel<OF_CLUSTER, false> : topk_kernel<BLOCK, false>;
    if (rule_by_mass(&a->rule))
        kernel = blocks > 1 ? topk_kernel<OF_CLUSTER, true> : topk_kernel<BLOCK, true>;
    if (bytes > 24576) { /* with what is static in the kernels by mass, 48 KiB would not hold more */
        cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (e != cudaSuccess)
            return cuda_check(d, e, "topk");
    }
    dim3 grid((unsigned)blocks, (unsigned)a->in.n_rows, (unsigned)a->rows.cap);
    return cuda_launch_early(d, OP_topk, kernel, grid, THREADS, (size_t)bytes, blocks, *a, (uint32_t *)NULL);
}
