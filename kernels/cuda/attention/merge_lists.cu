/* Lists that differ within a group become one list of all pages that any of its heads reads. */
#include "kernels/cuda/attention/attend.cuh"
#include "kernels/cuda/device/ptx.cuh"

enum { THREADS = 256, WARPS = THREADS / WARP, FLIGHT = 4 };
static_assert((int)BACKEND_MAX_GROUP <= (int)WARP, "each head of a group has a lane");

/* What a block merges: the lists of one (row, KV head), over `pages` pages. */
struct merged {
    int group, pages;
    const uint16_t *live; /* of the head's pages, and their units */
    const int32_t *unit;
    struct plan_entry *out;
};

/* Two pages a word, a bit a head: those of head g that `list` names, or all. By one warp. */
static __device__ void mark(uint32_t *heads, const struct attend_args &a, const struct merged &m, int g,
                            const int32_t *list, int len)
{
    int lane = threadIdx.x % WARP, per = len < 0 ? 1 : a.block_pages, n = len < 0 ? m.pages : len;
    for (int from = lane; from < n; from += FLIGHT * WARP) {
        int block[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            int i = from + u * WARP;
            block[u] = i >= n ? m.pages : len < 0 ? i : list[i];
        }
#pragma unroll
        for (int u = 0; u < FLIGHT; u++)
            for (int page = block[u] * per; page < min((block[u] + 1) * per, m.pages); page++)
                atomicOr(&heads[page / 2], 1u << (page % 2 * 16 + g));
    }
}

/* A lane's pages of FLIGHT * WARP: which heads want them, which of their tokens are there. */
struct pages {
    uint32_t want[FLIGHT];
    uint16_t live[FLIGHT];
};

static __device__ inline struct pages pages_from(const uint32_t *heads, const struct merged &m, int from,
                                                 int end)
{
    struct pages p;
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
        int page = from + u * WARP + (int)threadIdx.x % WARP;
        p.live[u] = page < end ? m.live[page] : 0;
        p.want[u] = page < end ? heads[page / 2] >> page % 2 * 16 & 0xffff : 0;
    }
    return p;
}

/* Writes the warp's stretch of pages from the list's place `at` on. */
static __device__ void write_stretch(const uint32_t *heads, const struct merged &m, int first, int end,
                                     int at)
{
    int lane = threadIdx.x % WARP;
    for (int from = first; from < end; from += FLIGHT * WARP) {
        struct pages p = pages_from(heads, m, from, end);
        int unit[FLIGHT];
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            int page = from + u * WARP + lane;
            unit[u] = page < end ? m.unit[page] : 0;
        }
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            bool here = p.want[u] && p.live[u];
            uint32_t all = __ballot_sync(~0u, here);
            if (here)
                m.out[at + __popc(all & ((1u << lane) - 1))] =
                    plan_entry{unit[u], from + u * WARP + lane, p.live[u], (uint16_t)p.want[u]};
            at += __popc(all);
        }
    }
}

/* One block a (row, KV head); pages ascend. A look at memory takes up to a microsecond, so as little as
 * possible waits for another: a warp has a head, and then a stretch of the pages. */
static __global__ void __launch_bounds__(THREADS) merge_kernel(const __grid_constant__ struct attend_args a)
{
    extern __shared__ uint32_t heads[];
    __shared__ int taken[WARPS];
    __shared__ int room[WARP];
    int row = blockIdx.x, h = blockIdx.y, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int i = threadIdx.x; i < (a.kv.max_pages + 1) / 2; i += THREADS)
        heads[i] = 0;
    wait_for_inputs();
    let_next_begin();
    struct merged m = {a.n_q / a.kv.n_kv};
    int seq = a.rows.seq[row], pos = a.rows.pos[row];
    const int32_t *list = a.idx, *lens = a.len + (size_t)row * a.n_rows;
    int of_lane = lane < m.group ? a.row_of_q[h * m.group + lane] : 0, len = lens[of_lane];
    if (seq < 0)
        return;
    size_t head = kv_head(a.kv, seq, a.layer, h), table = head * (size_t)a.kv.max_pages;
    size_t own = (size_t)row * a.kv.n_kv + h;
    m.pages = pages_of(a.in_order ? pos + 1 : a.kv.n_slots[head]);
    m.live = a.kv.live + table;
    m.unit = a.kv.unit + table;
    m.out = a.plan.entry + own * (size_t)a.kv.max_pages;
    __syncthreads();
    for (int g = warp; g < m.group; g += WARPS) {
        int at = __shfl_sync(~0u, of_lane, g);
        mark(heads, a, m, g, list + ((size_t)row * a.n_rows + at) * (size_t)a.cap, __shfl_sync(~0u, len, g));
    }
    __syncthreads();
    int stretch = (m.pages + THREADS - 1) / THREADS * WARP, first = warp * stretch;
    int end = min(first + stretch, m.pages), n = 0, not_chosen = 0;
    for (int from = first; from < end; from += FLIGHT * WARP) {
        struct pages p = pages_from(heads, m, from, end);
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            bool here = p.want[u] && p.live[u];
            n += __popc(__ballot_sync(~0u, here));
            not_chosen += here ? __popc(p.live[u]) * (m.group - __popc(p.want[u])) : 0;
        }
    }
    if (lane == 0)
        taken[warp] = n;
    not_chosen = block_sum(not_chosen, room); /* and `taken` is there */
    int before = 0, all = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? taken[i] : 0;
        all += taken[i];
    }
    write_stretch(heads, m, first, end, before);
    if (threadIdx.x)
        return;
    a.plan.n[own] = all;
    atomicAdd((unsigned long long *)&a.kv.not_chosen[head], (unsigned long long)not_chosen);
}

int merge_lists(struct device *d, const struct attend_args *a, enum op op)
{
    size_t bytes = (size_t)(a->kv.max_pages + 1) / 2 * sizeof(uint32_t);
    int rc = cuda_check(d,
                        cudaFuncSetAttribute((const void *)merge_kernel,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                        backend_op_name(op));
    return rc ? rc
              : cuda_launch_early(d, op, merge_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, bytes, 1, *a);
}
