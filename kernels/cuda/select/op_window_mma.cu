/* window_mass for bf16 keys of 64 or 128 dimensions on tensor cores. A query is split into three bf16, which
 * makes products exact to about 2^-24.
 *
 * A tile is 16 rows of products. Where each query has its own softmax (SnapKV, arXiv 2404.14469), it is 16
 * queries of a head; where the group's largest logit counts (R-KV, arXiv 2505.24133), one query of the
 * group's heads. Two warps have a tile, each of them with half of the block's pages, which lie in shared
 * memory, and a block has eight tiles. First the sums of exponentials, by parts of the slots whose number
 * hangs on the list alone, then the masses, each block's with the pages before and after it, which pooling
 * reaches into. */
#include "kernels/cuda/select/key_pages.cuh"
#include "kernels/cuda/select/window.cuh"

enum { ROWS = 16, TILES = 8, WARPS = TILES * 2, THREADS = WARPS * WARP };
enum { MOST_QUERIES = 128 };
enum { STAGE = 8 }; /* pages in shared memory */
/* Pages that a block has masses of; with those beside them; their slots. */
enum { OUT = 4, AROUND = OUT + 2, NEAR = AROUND * KV_PAGE_TOKENS };
static_assert(WINDOW_MOST_KERNEL / 2 <= KV_PAGE_TOKENS, "pooling reaches into the next page");

static const float LOG2_E = 1.44269504f;

/* How a block's tiles lie. LARGEST: the group's largest logit counts. */
template <bool LARGEST> struct form {
    static const int HEADS = LARGEST ? 1 : 2;      /* of the group, at a time */
    static const int SETS = TILES / HEADS;         /* tiles of a head */
    static const int QUERIES = LARGEST ? 1 : ROWS; /* of a tile */
    static const int AT_A_TIME = SETS * QUERIES;   /* of a head */
};

/* What a warp has. */
struct place {
    int half, set, head;
};

template <bool LARGEST> static __device__ struct place own_place(void)
{
    int warp = threadIdx.x / WARP, sets = form<LARGEST>::SETS;
    return {warp % 2, warp / 2 % sets, warp / 2 / sets};
}

/* Softmaxes of a query. */
template <bool LARGEST> static __host__ __device__ int passes_of(const struct window_mass_args &a)
{
    return LARGEST ? 1 : a.n_q / a.kv.n_kv;
}

struct window_work {
    struct window_mass_args a;
    /* (lists, passes, n, 2 MOST_PARTS): the largest logit times log2 e, and the sum of powers of 2 relative
     * to it. A power of 2 takes no branch, which an exponential that must not become a denormal takes. */
    float2 *sums;
};

/* Pages whose slots some query sees. */
static __device__ int seen_pages(const struct window_mass_args &a, int n_slots)
{
    return pages_of(a.causal ? n_slots : n_slots - a.rule.recent);
}

static __device__ int pages_a_part(int pages)
{
    return (pages + STAGE * MOST_PARTS - 1) / (STAGE * MOST_PARTS) * STAGE;
}

static __device__ int parts_of(int pages)
{
    int each = pages_a_part(pages);
    return (pages + each - 1) / each;
}

/* c[p]: products of a tile, from query i0 and head g on, with the keys of N pages in shared memory.
 * c[p][half]: rows lane / 4, + 8 (the second pair) with keys 8 half + 2 (lane % 4), + 1. */
template <int D, int N, bool LARGEST>
static __device__ void products(const struct window_mass_args &a, const struct window &w, int i0, int g,
                                uint32_t page, float (&c)[N][2][4])
{
    int row = threadIdx.x % WARP / 4, at = threadIdx.x % 4 * 2;
    float2 q[D / 16][4]; /* rows `row` and + 8, then 8 dimensions further */
#pragma unroll
    for (int x = 0; x < 4; x++) {
        int of = row + x % 2 * 8;
        bool there = LARGEST ? of < w.group : i0 + of < a.n;
        const float *from = query(a, w,
                                  LARGEST ? i0
                                  : there ? i0 + of
                                          : 0,
                                  LARGEST ? (there ? of : 0) : g) +
                            x / 2 * 8 + at;
#pragma unroll
        for (int k = 0; k < D / 16; k++)
            q[k][x] = there ? *(const float2 *)(from + k * 16) : make_float2(0, 0);
    }
#pragma unroll
    for (int x = 0; x < N * 8; x++)
        c[x / 8][x / 4 % 2][x % 4] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        uint32_t keys[N][4];
#pragma unroll
        for (int p = 0; p < N; p++)
            load_keys<D>(keys[p], page + p * key_page<D>::BYTES, k);
#pragma unroll
        for (int part = 0; part < 3; part++) {
            uint32_t own[4];
#pragma unroll
            for (int x = 0; x < 4; x++)
                own[x] = round_pair(q[k][x].x, q[k][x].y);
#pragma unroll
            for (int p = 0; p < N; p++) {
                mma(c[p][0], own, keys[p][0], keys[p][2]);
                mma(c[p][1], own, keys[p][1], keys[p][3]);
            }
        }
    }
}

/* The largest products of the group's heads, in all lanes of a key: in the first pair. */
template <int N> static __device__ void largest_of_heads(const struct window &w, float (&c)[N][2][4])
{
    int row = threadIdx.x % WARP / 4;
#pragma unroll
    for (int x = 0; x < N * 4; x++) {
        float *one = &c[x / 4][x / 2 % 2][x % 2], most = row < w.group ? *one : -CUDART_INF_F;
        most = fmaxf(most, row + 8 < w.group ? one[2] : -CUDART_INF_F);
        for (int other = 4; other < WARP; other *= 2)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, other));
        *one = most;
    }
}

/* The slot of value x of a lane's products with a page, when the page's first slot is `first`. */
static __device__ int slot_of(int first, int x)
{
    return first + x / 4 * 8 + threadIdx.x % 4 * 2 + x % 2;
}

/* Two sums of exponentials as one: see window_work. */
static __device__ float2 joined(float2 x, float2 y)
{
    float top = fmaxf(x.x, y.x), from = top == -CUDART_INF_F ? 0 : top;
    return make_float2(top, x.y * power_of_2(x.x - from) + y.y * power_of_2(y.x - from));
}

/* Adds pages to the sums of a lane: of queries i and i + 8, or LARGEST of i alone. */
template <int N, bool LARGEST>
static __device__ void add_pages(const struct window_mass_args &a, const struct window &w, int i, int first,
                                 const float (&c)[N][2][4], float2 (&sum)[2])
{
    float scale = a.scale * LOG2_E;
#pragma unroll
    for (int mine = 0; mine < (LARGEST ? 1 : 2); mine++) {
        int seen = sees(a, w, min(i + mine * 8, a.n - 1));
        float x[N * 4], top = sum[mine].x, more = 0;
#pragma unroll
        for (int y = 0; y < N * 4; y++) {
            int slot = slot_of(first + y / 4 * KV_PAGE_TOKENS, y / 2 % 2 * 4 + y % 2);
            x[y] = slot < seen ? c[y / 4][y / 2 % 2][mine * 2 + y % 2] * scale : -CUDART_INF_F;
            top = fmaxf(top, x[y]);
        }
        float from = top == -CUDART_INF_F ? 0 : top;
#pragma unroll
        for (int y = 0; y < N * 4; y++)
            more += power_of_2(x[y] - from);
        sum[mine] = make_float2(top, sum[mine].y * power_of_2(sum[mine].x - from) + more);
    }
}

/* The sum of the four lanes that share a query. */
static __device__ float2 of_four(float2 x)
{
    for (int lane = 1; lane < 4; lane *= 2)
        x = joined(x, make_float2(__shfl_xor_sync(~0u, x.x, lane), __shfl_xor_sync(~0u, x.y, lane)));
    return x;
}

/* The block's copies of pages: when the next arrives. */
struct arrival {
    uint32_t bar;
    int phase;
};

/* Begins to copy pages to shared memory; by the whole block, which is done with those before. */
template <int D>
static __device__ void ask_pages(const struct kv_view &kv, const struct window &w, int first, int n,
                                 int pages, uint32_t room, const struct arrival &next)
{
    __syncthreads();
    if (threadIdx.x < WARP)
        copy_key_pages<D>(kv, w.unit, first, n, pages, room, next.bar);
}

static __device__ void await_pages(struct arrival &next)
{
    barrier_wait(next.bar, next.phase);
    next.phase ^= 1;
}

static __device__ struct arrival first_arrival(uint64_t *bar)
{
    struct arrival next = {shared_address(bar), 0};
    if (threadIdx.x == 0)
        barrier_init(next.bar, 1);
    barrier_init_done();
    __syncthreads();
    return next;
}

/* An item is a part of the slots, for eight tiles. */
template <int D, bool LARGEST>
static __global__ void __launch_bounds__(THREADS, 1)
    window_sums_kernel(const __grid_constant__ struct window_work x)
{
    extern __shared__ __align__(1024) char window_pages[]; /* STAGE pages */
    __shared__ uint64_t bar;
    needs_hopper();
    wait_for_inputs();
    let_next_begin();
    typedef struct form<LARGEST> F;
    const struct window_mass_args &a = x.a;
    struct arrival next = first_arrival(&bar);
    uint32_t room = shared_address(window_pages);
    struct place own = own_place<LARGEST>();
    int passes = passes_of<LARGEST>(a), lane = threadIdx.x % WARP;
    int times = (a.n + F::AT_A_TIME - 1) / F::AT_A_TIME, heads = (passes + F::HEADS - 1) / F::HEADS;
    share_windows<THREADS>(
        a, false, [&](int n_slots) { return heads * times * parts_of(seen_pages(a, n_slots)); },
        [&](const struct window &w, int item) {
            int pages = seen_pages(a, w.n_slots), each = pages_a_part(pages), parts = parts_of(pages);
            int part = item % parts, g = item / parts / times * F::HEADS + own.head;
            int i0 = item / parts % times * F::AT_A_TIME + own.set * F::QUERIES;
            int i = LARGEST ? i0 : i0 + lane / 4;
            float2 sum[2] = {{-CUDART_INF_F, 0}, {-CUDART_INF_F, 0}};
            for (int first = part * each; first < min(pages, (part + 1) * each); first += STAGE) {
                float c[STAGE / 2][2][4];
                int mine = first + own.half * (STAGE / 2);
                ask_pages<D>(a.kv, w, first, STAGE, pages, room, next);
                await_pages(next);
                if (g >= passes || i0 >= a.n || mine >= pages)
                    continue;
                products<D, STAGE / 2, LARGEST>(a, w, i0, g,
                                                room + own.half * (STAGE / 2) * key_page<D>::BYTES, c);
                if (LARGEST)
                    largest_of_heads(w, c);
                add_pages<STAGE / 2, LARGEST>(a, w, i, mine * KV_PAGE_TOKENS, c, sum);
            }
            for (int mine = 0; mine < (LARGEST ? 1 : 2); mine++) {
                float2 all = of_four(sum[mine]);
                int of = i + mine * 8;
                if (lane % 4 == 0 && (!LARGEST || lane == 0) && g < passes && of < a.n)
                    x.sums[((w.list * passes + g) * a.n + of) * 2 * MOST_PARTS + part * 2 + own.half] = all;
            }
        });
}

/* lse: (passes, n), of all queries of a head; by the whole block. */
static __device__ void gather(const struct window_work &x, const struct window &w, int passes, float *lse)
{
    enum { AT_ONCE = 8 };
    int n = 2 * parts_of(seen_pages(x.a, w.n_slots)), all = passes * x.a.n;
    for (int i = threadIdx.x; i < all; i += THREADS) {
        const float2 *sums = x.sums + (w.list * all + i) * 2 * MOST_PARTS;
        float2 sum = {-CUDART_INF_F, 0};
        for (int p = 0; p < n; p += AT_ONCE) {
            float2 more[AT_ONCE];
#pragma unroll
            for (int y = 0; y < AT_ONCE; y++)
                more[y] = sums[min(p + y, n - 1)];
#pragma unroll
            for (int y = 0; y < AT_ONCE; y++)
                if (p + y < n)
                    sum = joined(sum, more[y]);
        }
        lse[i] = sum.x + log2f(sum.y);
    }
}

/* Masses of this warp's pages in head g, summed over its queries, to part[its place among NEAR slots]. */
template <int D, bool LARGEST>
static __device__ void put_masses(const struct window_mass_args &a, const struct window &w, int g, int first,
                                  uint32_t page, const float *lse, float *part)
{
    typedef struct form<LARGEST> F;
    enum { N = AROUND / 2 };
    int lane = threadIdx.x % WARP;
    float scale = a.scale * LOG2_E, sum[N][4] = {}; /* by the lane's keys of a page */
    for (int i0 = own_place<LARGEST>().set * F::QUERIES; i0 < a.n; i0 += F::AT_A_TIME) {
        float c[N][2][4];
        products<D, N, LARGEST>(a, w, i0, g, page, c);
        if (LARGEST)
            largest_of_heads(w, c);
#pragma unroll
        for (int mine = 0; mine < (LARGEST ? 1 : 2); mine++) {
            int i = LARGEST ? i0 : i0 + lane / 4 + mine * 8;
            float all = i < a.n ? lse[i] : CUDART_INF_F;
#pragma unroll
            for (int y = 0; y < N * 4; y++) {
                int slot = slot_of(first + y / 4 * KV_PAGE_TOKENS, y / 2 % 2 * 4 + y % 2);
                float x = c[y / 4][y / 2 % 2][mine * 2 + y % 2] * scale - all;
                sum[y / 4][y % 4] += power_of_2(slot >= 0 && slot < w.before ? x : -CUDART_INF_F);
            }
        }
    }
#pragma unroll
    for (int y = 0; y < N * 4; y++) {
        for (int other = 4; other < WARP && !LARGEST; other *= 2)
            sum[y / 4][y % 4] += __shfl_xor_sync(~0u, sum[y / 4][y % 4], other);
        if (lane < 4)
            part[slot_of(y / 4 * KV_PAGE_TOKENS, y / 2 % 2 * 4 + y % 2)] = sum[y / 4][y % 4];
    }
}

/* What slot `at` of NEAR gets from head g, pooled. part: (sets, NEAR). */
static __device__ float pooled(const struct window_mass_args &a, const float *part, int sets, int at,
                               float queries)
{
    int half = a.kernel / 2;
    float x = 0;
    for (int u = at - half; u <= at + half; u++) {
        float mass = part[u];
        for (int i = 1; i < sets; i++)
            mass += part[i * NEAR + u];
        mass /= queries;
        x = a.pool == WINDOW_MEAN ? x + mass : fmaxf(x, mass); /* masses are not negative */
    }
    return a.pool == WINDOW_MEAN ? x / (float)a.kernel : x;
}

/* An item is OUT pages, for all queries and heads. */
template <int D, bool LARGEST>
static __global__ void __launch_bounds__(THREADS, 1)
    window_masses_kernel(const __grid_constant__ struct window_work x)
{
    /* AROUND pages, then part (passes, SETS, NEAR) and lse (passes, n) */
    extern __shared__ __align__(1024) char window_around[];
    __shared__ uint64_t bar;
    needs_hopper();
    wait_for_inputs();
    let_next_begin();
    typedef struct form<LARGEST> F;
    const struct window_mass_args &a = x.a;
    struct arrival next = first_arrival(&bar);
    uint32_t room = shared_address(window_around);
    int passes = passes_of<LARGEST>(a);
    float *part = (float *)(window_around + AROUND * key_page<D>::BYTES);
    float *lse = part + passes * F::SETS * NEAR;
    struct place own = own_place<LARGEST>();
    share_windows<THREADS>(
        a, true, [&](int n_slots) { return (pages_of(n_slots - a.rule.recent) + OUT - 1) / OUT; },
        [&](const struct window &w, int item) {
            int pages = pages_of(w.before), out = item * OUT, first = max(out - 1, 0);
            int mine = out - 1 + own.half * (AROUND / 2), at = (int)threadIdx.x + KV_PAGE_TOKENS;
            int slot = out * KV_PAGE_TOKENS + (int)threadIdx.x;
            ask_pages<D>(a.kv, w, first, out + OUT + 1 - first, pages,
                         room + (first - out + 1) * key_page<D>::BYTES, next);
            gather(x, w, passes, lse);
            __syncthreads();
            await_pages(next);
            for (int g = own.head; g < passes; g += F::HEADS)
                put_masses<D, LARGEST>(a, w, g, mine * KV_PAGE_TOKENS,
                                       room + own.half * (AROUND / 2) * key_page<D>::BYTES, lse + g * a.n,
                                       part + (g * F::SETS + own.set) * NEAR + own.half * (NEAR / 2));
            __syncthreads();
            float *to = a.out.v + w.list * (size_t)a.out.stride, sum = 0;
            if (threadIdx.x < OUT * KV_PAGE_TOKENS && slot < w.before) {
                for (int g = 0; g < passes; g++)
                    sum += pooled(a, part + g * F::SETS * NEAR, F::SETS, at, (float)a.n * (float)passes);
                to[slot] = sum;
            }
            for (int t = w.before + (int)threadIdx.x; item == 0 && t < w.n_slots; t += THREADS)
                to[t] = 0;
        });
}

template <int D, bool LARGEST> static int run(struct device *d, const struct window_work *w)
{
    const struct window_mass_args *a = &w->a;
    int floats = passes_of<LARGEST>(*a) * (form<LARGEST>::SETS * NEAR + a->n);
    int bytes = AROUND * key_page<D>::BYTES + floats * (int)sizeof(float);
    int rc = cuda_launch_early(d, OP_window_mass, window_sums_kernel<D, LARGEST>, d->n_sm, THREADS,
                               STAGE * key_page<D>::BYTES, 1, *w);
    return rc ? rc
              : cuda_launch_early(d, OP_window_mass, window_masses_kernel<D, LARGEST>, d->n_sm, THREADS,
                                  bytes, 1, *w);
}

template <int D> static int run(struct device *d, const struct window_work *w)
{
    return w->a.largest_first ? run<D, true>(d, w) : run<D, false>(d, w);
}

int window_mma_fits(const struct window_mass_args *a)
{
    return a->kv.dtype == DTYPE_BF16 && (a->kv.head_dim == 64 || a->kv.head_dim == 128) &&
           a->n <= MOST_QUERIES && (!a->largest_first || a->n_q / a->kv.n_kv <= ROWS);
}

/* The same of `n` rows from row0 on. */
static struct window_mass_args rows_from(const struct window_mass_args *a, int row0, int n)
{
    struct window_mass_args part = *a;
    size_t lists = (size_t)row0 * a->out.n_rows;
    part.rows.cap = min(n, a->rows.cap - row0);
    part.rows.seq += row0;
    part.rows.pos += row0;
    part.out.v += lists * (size_t)a->out.stride;
    part.out.n += lists;
    part.out.m += lists;
    return part;
}

/* As many rows at a time as have room for their sums in 2 MiB a multiprocessor: on an H200 352 of the 1.5B
 * shape with 64 queries, whose heads of four layers have 786 kB. */
int window_mma(struct device *d, const struct window_mass_args *a)
{
    int passes = a->largest_first ? 1 : a->n_q / a->kv.n_kv;
    size_t row = (size_t)a->out.n_rows * passes * a->n * 2 * MOST_PARTS * sizeof(float2);
    int rows = (int)min((size_t)a->rows.cap, max((size_t)1, ((size_t)d->n_sm << 21) / row)), rc = 0;
    float2 *sums = (float2 *)cuda_scratch(d, (size_t)rows * row);
    if (!sums)
        return BACKEND_ERR_MEMORY;
    for (int row0 = 0; row0 < a->rows.cap && !rc; row0 += rows) {
        struct window_work w = {rows_from(a, row0, rows), sums};
        rc = a->kv.head_dim == 128 ? run<128>(d, &w) : run<64>(d, &w);
    }
    return rc;
}
