/* The tokens of a KV head in the order of their scores (R-KV's released code, arXiv 2505.24133). A block does
 * a head. Threads move slices of all tokens, 16 bytes of K or of V each, which have no bytes in common; each
 * goes through the permutation's cycles by itself. Before that the block finds where cycles begin. */
#include "kernels/cuda/cache/squeeze.cuh"

/* Scores of the slots as they are now. Entries only move to lower places: a round reads before it writes, and
 * later rounds read what lies behind. */
static __device__ void gather_scores(float *v, const int32_t *idx, int n)
{
    for (int first = 0; first < n; first += THREADS) {
        int j = first + (int)threadIdx.x;
        float x = j < n ? v[idx[j]] : 0;
        __syncthreads();
        if (j < n)
            v[j] = x;
    }
    __syncthreads();
}

/* -inf for NaN, so that ranks are a permutation whatever a broken model gives. */
static __device__ float score_at(const float *v, int i)
{
    return v[i] == v[i] ? v[i] : -CUDART_INF_F;
}

/* from[rank of j] = j */
static __device__ void rank_slots(const float *v, int32_t *from, int n)
{
    for (int j = threadIdx.x; j < n; j += THREADS) {
        float own = score_at(v, j);
        int rank = 0;
        for (int i = 0; i < n; i++) {
            float x = score_at(v, i);
            rank += x > own || (x == own && i < j);
        }
        from[rank] = j;
    }
    __syncthreads();
}

/* The bits of slots that are the lowest of a cycle of two or more. */
static __device__ void mark_cycles(unsigned *bits, const int32_t *from, int n)
{
    for (int w = threadIdx.x; w < words_of(n); w += THREADS)
        bits[w] = 0;
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += THREADS) {
        int at = from[j];
        while (at > j)
            at = from[at];
        if (at == j && from[j] != j)
            atomicOr(bits + j / WARP, 1u << j % WARP);
    }
    __syncthreads();
}

static __device__ uint4 *slot_chunk(const struct place &at, int slot, int c)
{
    return chunk_at(at, at.block_table[slot / KV_PAGE_TOKENS], slot, c);
}

static __global__ void __launch_bounds__(THREADS) sort_kernel(struct sort_slots_args a)
{
    extern __shared__ unsigned cycle_bits[];
    pdl_wait();
    pdl_trigger();
    int t = blockIdx.x, of_row = t % a.in.n_rows, seq = a.rows.seq[t / a.in.n_rows];
    if (seq < 0 || a.in.n[t] == 0)
        return;
    float *v = a.in.v + (size_t)t * a.in.stride;
    int32_t *idx = a.idx + (size_t)t * a.in.stride;
    int n = (a.len[t] < 0 ? a.in.n[t] : a.len[t]) - a.recent;
    struct place at = place_of(a.kv, kv_head(a.kv, seq, a.layer, of_row));
    if (a.len[t] >= 0)
        gather_scores(v, idx, n);
    rank_slots(v, idx, n);
    mark_cycles(cycle_bits, idx, n);
    for (int c = threadIdx.x; c < 2 * at.chunks; c += THREADS)
        for (int w = 0; w < words_of(n); w++)
            for (unsigned left = cycle_bits[w]; left; left &= left - 1) {
                int first = w * WARP + __ffs((int)left) - 1, j = first;
                uint4 held = *slot_chunk(at, first, c);
                for (int next; (next = idx[j]) != first; j = next)
                    *slot_chunk(at, j, c) = *slot_chunk(at, next, c);
                *slot_chunk(at, j, c) = held;
            }
}

int cuda_op_sort_slots(struct device *d, const struct sort_slots_args *a)
{
    int heads = a->rows.cap * a->in.n_rows;
    size_t bytes = words_of(a->kv.max_pages * KV_PAGE_TOKENS) * sizeof(unsigned);
    if (heads < 1)
        return 0;
    return cuda_launch_pdl(d, OP_sort_slots, sort_kernel, heads, THREADS, bytes, 1, *a);
}
