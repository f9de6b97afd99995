/* Scores by which policies that forget tokens choose what `keep` keeps. A block does one KV head of one row.
 */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/keep_params.h"
#include "kernels/philox.h"

enum { THREADS = 256, FLIGHT = 4 };

static __global__ void __launch_bounds__(THREADS) random_scores_kernel(struct random_scores_args a)
{
    pdl_wait();
    pdl_trigger();
    int r = blockIdx.x, seq = a.rows.seq[r];
    int layer = a.layer + (int)blockIdx.y / a.kv.n_kv, h = (int)blockIdx.y % a.kv.n_kv;
    if (seq < 0)
        return;
    size_t list = (size_t)r * gridDim.y + blockIdx.y;
    int pos = a.rows.pos[r], n = a.kv.n_slots[kv_head(a.kv, seq, layer, h)], pinned = 0;
    int budget = keep_budget(&a.params, a.len_of_seq, seq);
    if (!keep_acts(&a.params, budget, n, pos))
        n = 0;
    if (threadIdx.x == 0)
        a.out.n[list] = a.out.m[list] = n;
    if (n == 0)
        return;
    if (a.pin_prompt)
        pinned = keep_pinned(&a.params, budget, a.prompt_len[seq]);
    const struct sample_settings *s = a.settings + seq;
    uint32_t key[4] = {0, s->sample, (uint32_t)s->problem, (uint32_t)(s->problem >> 32)};
    philox4x32_10(s->seed, key);
    float *out = a.out.v + list * (size_t)a.out.stride;
    for (int t = threadIdx.x; t < n; t += THREADS) {
        uint32_t x[4] = {(uint32_t)pos, a.shared ? 0 : (uint32_t)layer, a.shared ? 0 : (uint32_t)h,
                         (uint32_t)t};
        if (t >= pinned && !a.newest)
            philox4x32_10((uint64_t)key[1] << 32 | key[0], x);
        out[t] = t < pinned ? CUDART_INF_F : a.newest ? (float)t : (float)(x[0] >> 8) * 0x1p-24f;
    }
}

int cuda_op_random_scores(struct device *d, const struct random_scores_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_random_scores, random_scores_kernel, dim3(a->rows.cap, a->out.n_rows),
                           THREADS, 0, 1, *a);
}

/* What accumulate knows of a slot. */
struct entry {
    float io, sum;
    int born;
    unsigned live; /* of its page */
};

static __global__ void __launch_bounds__(THREADS) accumulate_kernel(struct accumulate_args a)
{
    __shared__ int smem[WARP];
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int r = blockIdx.x, h = blockIdx.y, m = 0;
    size_t list = (size_t)r * kv.n_kv + h;
    int n = a.io.n[list], seq = a.rows.seq[r], pos = a.rows.pos[r];
    __syncthreads();     /* so that all three are asked for at once: see topk_kernel */
    if ((seq | pos) < 0) /* pos never is; without it the compiler waits for seq before it asks for pos */
        return;
    size_t head = kv_head(kv, seq, a.layer, h);
    size_t slots = (size_t)kv.max_pages * KV_PAGE_TOKENS, heads = (size_t)kv.n_layers * kv.n_kv;
    const uint16_t *live = kv.live + head * (size_t)kv.max_pages;
    float *io = a.io.v + list * (size_t)a.io.stride;
    float *sum = (float *)(a.state + (size_t)seq * a.state_bytes) + ((size_t)a.layer * kv.n_kv + h) * slots;
    int32_t *born = (int32_t *)sum + heads * slots;
    int fresh = a.prefill ? -1 : kv.tail[head];
    int recent = (int)(a.recent * keep_budget(&a.params, a.len_of_seq, seq));
    for (int from = threadIdx.x; from < n; from += FLIGHT * THREADS) {
        struct entry e[FLIGHT] = {};
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) { /* all at once: one wait for memory */
            int i = from + u * THREADS;
            if (i < n)
                e[u] = {io[i], sum[i], born[i], live[i / KV_PAGE_TOKENS]};
        }
#pragma unroll
        for (int u = 0; u < FLIGHT; u++) {
            int i = from + u * THREADS, birth = a.prefill ? i : i == fresh ? pos : e[u].born;
            if (i >= n)
                break;
            float x = (i == fresh ? 0.0f : e[u].sum) + (e[u].io > -CUDART_INF_F ? expf(e[u].io) : 0.0f);
            sum[i] = x;
            born[i] = birth;
            int lives = e[u].live >> i % KV_PAGE_TOKENS & 1;
            io[i] = !lives ? -CUDART_INF_F : birth > pos - recent ? CUDART_INF_F : x;
            m += lives;
        }
    }
    m = block_sum(m, smem);
    if (threadIdx.x == 0)
        a.io.m[list] = m;
}

int cuda_op_accumulate(struct device *d, const struct accumulate_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_accumulate, accumulate_kernel, dim3(a->rows.cap, a->kv.n_kv), THREADS, 0, 1,
                           *a);
}
