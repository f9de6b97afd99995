/* Lists that differ within a group become one list of all pages that any of its heads reads. */
#include "kernels/cuda/attention/attend.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* A lane looks at FLIGHT pages, a warp at TOGETHER, at once. */
enum { THREADS = 256, WARPS = THREADS / WARP, FLIGHT = 4, TOGETHER = FLIGHT * WARP };
static_assert((int)BACKEND_MAX_GROUP <= (int)WARP, "each head of a group has a lane");

/* What a block merges: the lists of one row and KV head. */
struct merged {
    const uint16_t *live; /* of the head's pages, and their KV blocks */
    const int32_t *block_table;
    const uint32_t *heads; /* two pages a word, 16 bits a page: which of the group's heads read it */
    struct plan_entry *out;
};

/* Sets head g's bits, of the pages that its list names or of all. By one warp. */
static __device__ void mark_heads(uint32_t *heads, int g, const int32_t *list, int len, int block_pages,
                                  int pages)
{
    int lane = threadIdx.x % WARP, per = len < 0 ? 1 : block_pages, n = len < 0 ? pages : len;
    for (int from = lane; from < n; from += TOGETHER) {
        int block[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            int i = from + u * WARP;
            block[u] = i >= n ? pages : len < 0 ? i : list[i];
        }
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            for (int page = block[u] * per; page < min((block[u] + 1) * per, pages); page++)
                atomicOr(&heads[page / 2], 1u << (page % 2 * 16 + g));
    }
}

/* What the tables say of a lane's pages: from + lane, from + WARP + lane, ..; no tokens from `end` on. */
struct look {
    int live[FLIGHT], kv_block[FLIGHT];
};

static __device__ inline struct look look_at(const struct merged &m, int from, int end)
{
    struct look l;
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        int page = from + u * WARP + (int)threadIdx.x % WARP;
        l.live[u] = page < end ? m.live[page] : 0;
        l.kv_block[u] = page < end ? m.block_table[page] : 0;
    }
    return l;
}

/* A warp's pages, and what was seen of the first TOGETHER of them before anything was marked. */
struct stretch {
    int first, end;
    struct look start;
};

/* Calls use(page, heads, live, KV block) for each of the lanes' pages; heads is 0 where nothing is read. */
template <class Use>
static __device__ inline void each_page(const struct merged &m, const struct stretch &s, Use use)
{
#pragma unroll 1
    for (int from = s.first; from < s.end; from += TOGETHER) {
        struct look l = from == s.first ? s.start : look_at(m, from, s.end);
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            int page = from + u * WARP + (int)threadIdx.x % WARP;
            unsigned heads = l.live[u] ? m.heads[page / 2] >> page % 2 * 16 & 0xffff : 0;
            use(page, heads, l.live[u], l.kv_block[u]);
        }
    }
}

/* One block a row and KV head; pages ascend. A look at memory takes up to a microsecond, so as little as
 * possible waits for another: a warp marks the pages of one head, and then has a stretch of the pages. */
static __global__ void __launch_bounds__(THREADS) merge_kernel(const __grid_constant__ struct attend_args a)
{
    extern __shared__ uint32_t heads[];
    __shared__ int taken[WARPS];
    __shared__ int smem[WARP];
    int row = blockIdx.x, h = blockIdx.y, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int group = a.n_q / a.kv.n_kv, which = a.row_of_q[h * group + min(lane, group - 1)];
    for (int i = threadIdx.x; i < (a.kv.max_pages + 1) / 2; i += THREADS)
        heads[i] = 0;
    pdl_wait();
    pdl_trigger();
    size_t lists = (size_t)row * a.n_rows;
    int len = a.len[lists + which], seq = a.rows.seq[row], pos = a.rows.pos[row];
    __syncthreads();     /* also so that all three are asked for at once: see topk_kernel */
    if ((seq | pos) < 0) /* pos never is; without it the compiler waits for seq before it asks for pos */
        return;
    size_t head = kv_head(a.kv, seq, a.layer, h), table = head * (size_t)a.kv.max_pages;
    size_t plan = (size_t)row * a.kv.n_kv + h;
    int pages = pages_of(a.in_order ? pos + 1 : a.kv.n_slots[head]);
    struct merged m = {a.kv.live + table, a.kv.block_table + table, heads,
                       a.plan.entry + plan * (size_t)a.kv.max_pages};
    int each = (pages + THREADS - 1) / THREADS * WARP; /* of a warp: whole words of `heads` */
    struct stretch s = {warp * each, min((warp + 1) * each, pages)};
    s.start = look_at(m, s.first, s.end);
    for (int g = warp; g < group; g += WARPS) {
        size_t list = lists + __shfl_sync(~0u, which, g);
        mark_heads(heads, g, a.idx + list * (size_t)a.cap, __shfl_sync(~0u, len, g), a.block_pages, pages);
    }
    __syncthreads();
    int n = 0, not_chosen = 0;
    each_page(m, s, [&](int, unsigned by, int live, int) {
        n += __popc(__ballot_sync(~0u, by != 0));
        not_chosen += by ? __popc(live) * (group - __popc(by)) : 0;
    });
    if (lane == 0)
        taken[warp] = n;
    not_chosen = block_sum(not_chosen, smem); /* and `taken` is there */
    int at = 0, all = 0;
    for (int i = 0; i < WARPS; i++) {
        at += i < warp ? taken[i] : 0;
        all += taken[i];
    }
    each_page(m, s, [&](int page, unsigned by, int live, int kv_block) {
        unsigned there = __ballot_sync(~0u, by != 0);
        if (by)
            m.out[at + __popc(there & ((1u << lane) - 1))] =
                plan_entry{kv_block, page, (uint16_t)live, (uint16_t)by};
        at += __popc(there);
    });
    if (threadIdx.x)
        return;
    a.plan.n[plan] = all;
    atomicAdd((unsigned long long *)&a.kv.not_chosen[head], (unsigned long long)not_chosen);
}

int merge_lists(struct device *d, const struct attend_args *a, enum op op)
{
    size_t bytes = (size_t)(a->kv.max_pages + 1) / 2 * sizeof(uint32_t);
    return cuda_launch_pdl(d, op, merge_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, bytes, 1, *a);
}
