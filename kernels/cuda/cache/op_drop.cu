/* Forgetting: RaaS's stamps and evictions (arXiv 2502.11147) and DMS's delayed eviction (arXiv 2506.05345,
 * 3.1). Dropping a token clears its live bit; its slot is then free for a later token of the same head. A
 * block does one KV head of one row unless its comment says otherwise. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/device/slots.cuh"

enum { THREADS = 256 };

/* Where a head's, or a list's, int32 table (n_layers, n_kv, width) lies in its sequence's state. */
static __device__ int32_t *state_table(const char *state, size_t state_bytes, int seq, size_t list, int width)
{
    return (int32_t *)(state + (size_t)seq * state_bytes) + list * (size_t)width;
}

static __global__ void __launch_bounds__(THREADS) stamp_kernel(struct stamp_args a)
{
    __shared__ float smem[WARP];
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, of_row = blockIdx.y, lists = a.s.n_rows, seq = a.rows.seq[r];
    if (seq < 0)
        return;
    size_t list = (size_t)r * lists + of_row, head = kv_head(kv, seq, a.layer, of_row / (lists / kv.n_kv));
    int now = a.rows.pos[r] + 1;
    int32_t *stamp = state_table(a.state, a.state_bytes, seq, (size_t)a.layer * lists + of_row, kv.max_pages);
    if (a.alpha > 0) {
        const float *v = a.s.v + list * (size_t)a.s.stride;
        float largest = -INFINITY, sum = 0;
        int n = a.s.n[list];
        for (int i = threadIdx.x; i < n; i += THREADS)
            largest = fmaxf(largest, v[i]);
        largest = block_max(largest, smem);
        for (int i = threadIdx.x; i < n && largest > -INFINITY; i += THREADS)
            sum += softmax_exp(v[i] - largest);
        sum = block_sum(sum, smem);
        for (int i = threadIdx.x; i < n; i += THREADS)
            if (v[i] > -INFINITY && expf(v[i] - largest) / sum > a.alpha)
                stamp[i] = now;
        return;
    }
    int len = a.len[list], pages = len < 0 ? pages_of(kv.n_slots[head]) : 0;
    for (int i = threadIdx.x; i < len; i += THREADS)
        stamp[a.idx[list * (size_t)a.cap + (size_t)i]] = now;
    for (int p = threadIdx.x; p < pages; p += THREADS)
        if (kv.live[head * (size_t)kv.max_pages + (size_t)p])
            stamp[p] = now;
}

int cuda_op_stamp(struct device *d, const struct stamp_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_stamp, stamp_kernel, dim3(a->rows.cap, a->s.n_rows), THREADS, 0, 1, *a);
}

/* A page and its age: stamp, then birth, as one number in the same order. Of equal ones the lower page is the
 * older. page -1: none. */
struct aged {
    uint64_t age;
    int page;
};

static __device__ uint64_t age_of(int stamp, int born)
{
    return (uint64_t)((uint32_t)stamp ^ 0x80000000u) << 32 | ((uint32_t)born ^ 0x80000000u);
}

static __device__ struct aged older_page(struct aged a, struct aged b)
{
    if (a.page < 0 || b.page < 0)
        return a.page < 0 ? b : a;
    return b.age < a.age || (b.age == a.age && b.page < a.page) ? b : a;
}

static __device__ struct aged warp_oldest(struct aged a)
{
    for (int lane = WARP / 2; lane; lane /= 2) {
        struct aged b = {__shfl_xor_sync(~0u, a.age, lane), __shfl_xor_sync(~0u, a.page, lane)};
        a = older_page(a, b);
    }
    return a;
}

/* Over the block; every thread gets it. `smem` is free again after the next barrier. */
static __device__ struct aged block_oldest(struct aged a, struct aged *smem)
{
    a = warp_oldest(a);
    if (threadIdx.x % WARP == 0)
        smem[threadIdx.x / WARP] = a;
    __syncthreads();
    a = smem[0];
    for (int i = 1; i < THREADS / WARP; i++)
        a = older_page(a, smem[i]);
    return a;
}

static __device__ int block_next_slot(const struct kv_view &kv, size_t head, int *smem)
{
    if (threadIdx.x < WARP) {
        int slot = next_slot(kv, head);
        if (threadIdx.x == 0)
            *smem = slot;
    }
    __syncthreads();
    return *smem;
}

static __global__ void __launch_bounds__(THREADS) drop_lowest_kernel(struct drop_lowest_args a)
{
    __shared__ struct aged oldest[THREADS / WARP];
    __shared__ int sums[WARP];
    __shared__ int slot[2];
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, h = blockIdx.y, seq = a.rows.seq[r];
    if (seq < 0)
        return;
    size_t head = kv_head(kv, seq, a.layer, h), tables = (size_t)kv.n_layers * kv.n_kv;
    uint16_t *live = kv.live + head * (size_t)kv.max_pages;
    int32_t *stamp = state_table(a.state, a.state_bytes, seq, (size_t)a.layer * kv.n_kv + h, kv.max_pages);
    int32_t *born = stamp + tables * (size_t)kv.max_pages;
    int pinned = a.pin ? pages_of(a.prompt_len[seq]) : 0, counted = a.pin_counts ? 0 : pinned;
    int n = pages_of(kv.n_slots[head]), current = block_next_slot(kv, head, &slot[0]) / KV_PAGE_TOKENS;
    int opens = !live[current], count = 0;
    if (n + 1 > a.budget_pages) {
        for (int p = counted + threadIdx.x; p < n; p += THREADS)
            count += live[p] != 0;
        count = block_sum(count, sums) + opens;
    }
    for (; count > a.budget_pages; count--) {
        struct aged worst = {0, -1};
        for (int p = pinned + threadIdx.x; p < n; p += THREADS)
            if (live[p] && (p != current || opens))
                worst = older_page(worst, {age_of(stamp[p], born[p]), p});
        worst = block_oldest(worst, oldest);
        if (worst.page < 0)
            break;
        if (threadIdx.x == 0) {
            kv.n_live[head] -= __popc(live[worst.page]);
            live[worst.page] = 0;
        }
        __syncthreads();
    }
    if (opens) {
        int page = block_next_slot(kv, head, &slot[1]) / KV_PAGE_TOKENS;
        if (threadIdx.x == 0) {
            stamp[page] = a.new_stamp ? a.rows.pos[r] + 1 : 0;
            born[page] = a.rows.pos[r] + 1;
        }
    }
}

int cuda_op_drop_lowest(struct device *d, const struct drop_lowest_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_drop_lowest, drop_lowest_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, 0,
                           1, *a);
}

/* Clears the bit; returns 1 if it was set. Other threads may clear bits of the same page meanwhile. The first
 * guess is a page of which every token is live. */
static __device__ int clear_bit(uint16_t *word, unsigned bit)
{
    for (unsigned short have = 0xffff; have & bit;) {
        unsigned short seen = atomicCAS((unsigned short *)word, have, (unsigned short)(have & ~bit));
        if (seen == have)
            return 1;
        have = seen;
    }
    return 0;
}

static __global__ void __launch_bounds__(THREADS) drop_list_kernel(struct drop_list_args a)
{
    __shared__ int smem[WARP];
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, h = blockIdx.y, seq = a.rows.seq[r], dropped = 0;
    if (seq < 0)
        return;
    size_t list = (size_t)r * kv.n_kv + h, head = kv_head(kv, seq, a.layer, h);
    uint16_t *live = kv.live + head * (size_t)kv.max_pages;
    for (int i = threadIdx.x; i < a.len[list]; i += THREADS) {
        int slot = a.idx[list * (size_t)a.cap + (size_t)i];
        dropped += clear_bit(live + slot / KV_PAGE_TOKENS, 1u << slot % KV_PAGE_TOKENS);
    }
    dropped = block_sum(dropped, smem);
    if (threadIdx.x == 0)
        kv.n_live[head] -= dropped;
}

int cuda_op_drop_list(struct device *d, const struct drop_list_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_drop_list, drop_list_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, 0, 1,
                           *a);
}

static __global__ void __launch_bounds__(THREADS) load_stamps_kernel(struct load_stamps_args a)
{
    __shared__ int smem[WARP];
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, of_row = blockIdx.y, lists = a.out.n_rows, seq = a.rows.seq[r], m = 0;
    if (seq < 0)
        return;
    size_t list = (size_t)r * lists + of_row, head = kv_head(kv, seq, a.layer, of_row / (lists / kv.n_kv));
    const int32_t *stamp =
        state_table(a.state, a.state_bytes, seq, (size_t)a.layer * lists + of_row, kv.max_pages);
    float *out = a.out.v + list * (size_t)a.out.stride;
    int n = pages_of(kv.n_slots[head]);
    for (int p = threadIdx.x; p < n; p += THREADS) {
        int live = kv.live[head * (size_t)kv.max_pages + (size_t)p] != 0;
        out[p] = live ? (float)stamp[p] : -INFINITY;
        m += live;
    }
    m = block_sum(m, smem);
    if (threadIdx.x == 0) {
        a.out.n[list] = n;
        a.out.m[list] = m;
    }
}

int cuda_op_load_stamps(struct device *d, const struct load_stamps_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_load_stamps, load_stamps_kernel, dim3(a->rows.cap, a->out.n_rows), THREADS,
                           0, 1, *a);
}

/* A thread does one KV head of one row. */
static __global__ void expire_kernel(struct expire_args a)
{
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int task = blockIdx.x * blockDim.x + threadIdx.x, r = task / kv.n_kv, h = task % kv.n_kv;
    if (r >= a.rows.cap || a.rows.seq[r] < 0)
        return;
    int seq = a.rows.seq[r], n = a.rows.pos[r], at = n % a.reach;
    int now = (!a.flag || a.flag[task]) && n - a.shift >= a.sinks;
    size_t head = kv_head(kv, seq, a.layer, h), rings = (size_t)kv.n_layers * kv.n_kv;
    int32_t *slot =
        state_table(a.state + a.offset, a.state_bytes, seq, (size_t)a.layer * kv.n_kv + h, a.reach);
    int32_t *flag = slot + rings * (size_t)a.reach;
    if (n > 0)
        slot[(n - 1) % a.reach] = kv.tail[head];
    if (a.shift > 0 && n >= a.shift)
        flag[(n - a.shift) % a.reach] = now;
    if (n >= a.reach && flag[at] && slot[at] >= 0) {
        uint16_t *live = kv.live + head * (size_t)kv.max_pages + (size_t)(slot[at] / KV_PAGE_TOKENS);
        unsigned bit = 1u << slot[at] % KV_PAGE_TOKENS;
        if (*live & bit) {
            *live = (uint16_t)(*live & ~bit);
            kv.n_live[head]--;
        }
    }
    flag[at] = a.shift == 0 ? now : 0;
}

int cuda_op_expire(struct device *d, const struct expire_args *a)
{
    int tasks = a->rows.cap * a->kv.n_kv;
    if (tasks < 1)
        return 0;
    return cuda_launch_pdl(d, OP_expire, expire_kernel, (tasks + 63) / 64, 64, 0, 1, *a);
}

/* A block does one KV head of all rows. A later row decides about the key of an earlier row, so all keys get
 * their first value before any is decided. */
static __global__ void until_kernel(struct until_args a)
{
    int h = blockIdx.x;
    int32_t *until = a.until + (size_t)h * (size_t)a.stride;
    for (int r = threadIdx.x; r < a.rows.cap; r += blockDim.x)
        if (a.rows.seq[r] >= 0)
            until[a.rows.pos[r]] = INT32_MAX;
    __syncthreads();
    for (int r = threadIdx.x; r < a.rows.cap; r += blockDim.x) {
        int key = a.rows.pos[r] - a.shift;
        if (a.rows.seq[r] >= 0 && key >= 0)
            until[key] =
                key >= a.sinks && (!a.flag || a.flag[(size_t)r * a.n_kv + h]) ? key + a.reach - 1 : INT32_MAX;
    }
}

int cuda_op_until(struct device *d, const struct until_args *a)
{
    until_kernel<<<a->n_kv, 1024, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_until);
}
