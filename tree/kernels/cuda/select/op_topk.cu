/* The indices of the largest scores of each list, ascending: radix selection by one block, or for long lists
 * by a cluster of blocks.
 *
 * A block turns its part of the list into keys in shared memory: one read of the scores. Then up to four
 * digits of 8 bits, from the high one down: every block counts its keys by digit, the first warp adds the
 * counts of all blocks and finds the digit of the k-th largest. Last, every warp counts how many of its
 * stretch of the list are taken and writes them at their place. Counts are whole numbers, so neither the
 * order of additions nor the number of blocks changes the result. GPUs without clusters have one block a
 * list, and the keys of long ones in memory. */
#include "kernels/cuda/select/topk_mass.cuh"

/* Keys of a block: with 64 KiB three blocks share an SM; 192 KiB are what one can have. */
enum { PART = 16384, MAX_PART = 49152, MAX_BLOCKS = 8, RESIDENT = 3 };
/* Threads of a block. Where there are more lists than the GPU holds blocks, blocks of fewer threads are
 * faster for lists that are not long (SHORT_PART, SHORTEST_PART scores at most): 768 lists of 256 scores
 * take 7.9 us on an H200 with HALF_THREADS and 12.2 with MAX_THREADS. */
enum { MAX_THREADS = 512, HALF_THREADS = 256, MIN_THREADS = 128, SHORT_PART = 4096, SHORTEST_PART = 512 };

template <class F> struct topk_shared {
    int4 bins[DIGITS][BINS / 4];
    int2 taken[F::WARPS];
    struct topk_count take;
    int from, left; /* see force() */
    struct digit digit;
};

/* Entries that are taken: those from `join` on that are candidates, keys above the threshold, and of those
 * equal to it the first `equal`. */
struct cut {
    uint32_t threshold;
    int equal, join;
};

/* ---- how many */

/* Forced entries: the last t.last of n, where they are candidates, t.k at most and then the highest; all
 * candidates at `from` and after. Of k, `left` are left for the entries before. By one warp. */
struct forced {
    int from, left;
};

__device__ static struct forced force_last(const float *v, int n, const struct topk_count &t, float bias)
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
template <class F>
__device__ static void plan_row(struct topk_shared<F> *s, const struct topk_args &a, const float *v, int pos,
                                int len, int n, int m)
{
    struct topk_count t = topk_take(&a.params, n, m, pos, len, a.cap);
    struct forced f = {n, t.k};
    if (a.params.force != FORCE_UNION && t.last > 0)
        f = force_last(v, n, t, a.params.tie_bias);
    if (threadIdx.x == 0) {
        s->from = f.from;
        s->left = f.left;
        s->take = t;
    }
}

/* ---- which */

/* The bin that holds the k-th largest, 0 when there are fewer; by the first warp. */
template <class F> __device__ static void find_digit(struct topk_shared<F> *s, int which, int blocks, int k)
{
    int c[OWN_BINS] = {0};
    for (int b = 0; b < blocks; b++) {
        const int4 *bins = of_block<F>(s->bins[which], b) + 2 * threadIdx.x;
        int4 x = bins[0], y = bins[1];
        const int more[OWN_BINS] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
#pragma unroll
        for (int i = 0; i < OWN_BINS; i++)
            c[i] += more[i];
    }
    find_bin(c, k, &s->digit);
}

/* The threshold for the k largest of the part's entries below `limit` of the list. */
template <class F>
__device__ static struct cut select_keys(struct topk_shared<F> *s, const struct part &p, int limit,
                                         int blocks, int k)
{
    struct cut c = {UINT32_MAX, 0, 0};
    uint32_t prefix = 0, mask = 0;
    int n = min(p.n, limit - p.begin);
    if (k <= 0)
        return c; /* no key is above */
    for (int which = 0, shift = 24; which < DIGITS; which++, shift -= 8) {
        int *bins = (int *)s->bins[which];
        for (int j = threadIdx.x; j < n; j += F::THREADS) {
            uint32_t key = p.key[j];
            if (key && (key & mask) == prefix)
                atomicAdd(bins + (key >> shift & (BINS - 1)), 1);
        }
        block_barrier<F>();
        if (threadIdx.x < WARP)
            find_digit<F>(s, which, blocks, k);
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
template <class F>
__device__ static void collect_indices(struct topk_shared<F> *s, const struct topk_args &a, size_t at,
                                       const struct part &p, const struct cut &c, int rank, int blocks)
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    int stretch = (p.n + F::THREADS - 1) / F::THREADS * WARP, first = warp * stretch,
        end = min(first + stretch, p.n);
    int sure = 0, equal = 0, all_sure = 0, all_equal = 0;
    for (int j = first; j < end; j += WARP) {
        int kind = kind_of(p, c, j + lane, end);
        sure += __popc(__ballot_sync(~0u, kind == SURE));
        equal += __popc(__ballot_sync(~0u, kind == EQUAL));
    }
    if (lane == 0)
        s->taken[warp] = make_int2(sure, equal);
    block_barrier<F>();
    sure = equal = 0; /* from here on: in the list before this place */
    for (int b = 0; b < blocks; b++) {
        int2 other = lane < F::WARPS ? of_block<F>(s->taken, b)[lane] : make_int2(0, 0);
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
    if (F::CLUSTER)
        block_barrier<F>(); /* others may be reading this block's counts */
}

/* ---- the operation */

/* x: the blocks of a list, y: lists of a row, z: rows. memory: for keys, see enum place. */
template <class F, bool MASS>
static __global__ void __launch_bounds__(F::THREADS, RESIDENT *MAX_THREADS / F::THREADS)
    topk_kernel(const __grid_constant__ struct topk_args a, uint32_t *memory)
{
    extern __shared__ uint32_t topk_keys[];
    __shared__ struct topk_shared<F> s;
    if (F::CLUSTER)
        needs_hopper();
    int rank = F::CLUSTER ? blockIdx.x : 0, blocks = F::CLUSTER ? gridDim.x : 1, row = blockIdx.z;
    size_t at = (size_t)row * a.in.n_rows + blockIdx.y;
    const float *list = a.in.v + at * (size_t)a.in.stride;
    for (int i = threadIdx.x; i < DIGITS * BINS; i += F::THREADS)
        ((int *)s.bins)[i] = 0;
    pdl_wait();
    pdl_trigger();
    float ahead[AHEAD] = {};
    if (!F::CLUSTER)
        ask_ahead<F>(list, a.in.stride, ahead);
    int seq = a.rows.seq[row], pos = a.rows.pos[row], n = a.in.n[at], m = a.in.m[at];
    /* The compiler would put a load off until it is needed, but not over a barrier; and a look at memory
     * takes up to a microsecond. */
    __syncthreads();
    if (seq < 0)
        return;
    n = min(n, a.in.stride);
    int size = part_of(n, blocks), begin = min(rank * size, n);
    struct part p = {F::IN_MEMORY ? memory + at * (size_t)a.in.stride : topk_keys, begin,
                     min(size, n - begin)};
    const float *v = list + begin;
    if (threadIdx.x < WARP)
        plan_row(&s, a, list, pos, a.len_of_seq ? a.len_of_seq[seq] : 0, n, m);
    if (!F::CLUSTER)
        make_keys_ahead<F>(p, ahead, a.params.tie_bias);
    make_keys<F>(p, v, F::CLUSTER ? 0 : AHEAD * F::THREADS, a.params.tie_bias);
    __syncthreads();
    if (s.take.dense) {
        if (rank == 0 && threadIdx.x == 0)
            a.len[at] = -1;
        return;
    }
    bool whole = a.params.force == FORCE_UNION;
    int left = s.left;
    if (MASS) {
        int few = a.params.min_k - (s.take.k - s.left); /* besides the forced ones */
        left = min(left, max(few, count_by_mass<F>(a.params, p, v, s.from, blocks)));
    }
    struct cut c = select_keys<F>(&s, p, whole ? n : s.from, blocks, left);
    c.join = whole ? n - s.take.last : s.from;
    collect_indices<F>(&s, a, at, p, c, rank, blocks);
}

template <class F, bool MASS>
static int launch_topk(struct device *d, const struct topk_args *a, int blocks, size_t bytes,
                       uint32_t *memory)
{
    auto kernel = topk_kernel<F, MASS>;
    dim3 grid((unsigned)blocks, (unsigned)a->in.n_rows, (unsigned)a->rows.cap);
    return cuda_launch_pdl(d, OP_topk, kernel, grid, F::THREADS, bytes, blocks, *a, memory);
}

template <class F>
static int launch_rule(struct device *d, const struct topk_args *a, int blocks, size_t bytes,
                       uint32_t *memory)
{
    return topk_by_mass(&a->params) ? launch_topk<F, true>(d, a, blocks, bytes, memory)
                                    : launch_topk<F, false>(d, a, blocks, bytes, memory);
}

static int in_one_block(struct device *d, const struct topk_args *a)
{
    int part = part_of(a->in.stride, 1), lists = a->in.n_rows * a->rows.cap, held = RESIDENT * d->n_sm;
    size_t bytes = (size_t)part * sizeof(uint32_t);
    if (topk_by_mass(&a->params) || lists <= held || part > SHORT_PART)
        return launch_rule<tile_config<BLOCK, MAX_THREADS>>(d, a, 1, bytes, NULL);
    if (lists <= held * (MAX_THREADS / HALF_THREADS) || part > SHORTEST_PART)
        return launch_topk<tile_config<BLOCK, HALF_THREADS>, false>(d, a, 1, bytes, NULL);
    return launch_topk<tile_config<BLOCK, MIN_THREADS>, false>(d, a, 1, bytes, NULL);
}

static int in_memory(struct device *d, const struct topk_args *a)
{
    size_t lists = (size_t)a->rows.cap * (size_t)a->in.n_rows;
    uint32_t *memory = (uint32_t *)cuda_workspace(d, lists * (size_t)a->in.stride * sizeof(uint32_t));
    return memory ? launch_rule<tile_config<MEMORY, MAX_THREADS>>(d, a, 1, 0, memory) : BACKEND_ERR_MEMORY;
}

int cuda_op_topk(struct device *d, const struct topk_args *a)
{
    int blocks = 1;
    while (blocks < MAX_BLOCKS && part_of(a->in.stride, blocks) > PART)
        blocks *= 2;
    int part = part_of(a->in.stride, blocks);
    if (part > MAX_PART)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "topk: lists of %d scores; on a GPU at most %d",
                          a->in.stride, MAX_PART * MAX_BLOCKS);
    if (blocks == 1)
        return in_one_block(d, a);
    if (!d->hopper) /* no clusters */
        return in_memory(d, a);
    return launch_rule<tile_config<OF_CLUSTER, MAX_THREADS>>(d, a, blocks, (size_t)part * sizeof(uint32_t),
                                                             NULL);
}
