#ifndef KERNELS_CUDA_ATTENTION_ATTEND_MERGE_CUH
#define KERNELS_CUDA_ATTENTION_ATTEND_MERGE_CUH

/* Adds up the sums of attend_mma.cu's warps, and those of a list's two splits where its blocks do that
 * themselves. */
#include "kernels/cuda/attention/attend_copy.cuh"
#include "kernels/cuda/device/cluster.cuh"

/* Running sums of a warp: two heads a lane (2t, 2t+1), dimensions 16i + lane/4 (+ 8). */
template <int D> struct sums {
    float running_max[2], sum[2], o[D / 16][4];
};

/* Returns the floats from one row of sums in shared memory to the next: without bank conflicts between the
 * lanes of a warp. */
__host__ __device__ static constexpr int pitch_of(int d)
{
    return d + 4;
}

/* Returns v times `by`, rounded as combine_kernel rounds it when it adds it to nothing. */
static __device__ float4 scaled_sum(float4 v, float by)
{
    return make_float4(fmaf(v.x, by, 0.0f), fmaf(v.y, by, 0.0f), fmaf(v.z, by, 0.0f), fmaf(v.w, by, 0.0f));
}

/* Returns four sums over V of a split, of head h from dimension x on, which merge_warps leaves in two parts.
 */
template <int D, class Work>
static __device__ float4 two_sums(const Work &w, const float *total, int h, int x)
{
    return add_four(*(const float4 *)&total[h * pitch_of(D) + x],
                    *(const float4 *)&total[(w.group + h) * pitch_of(D) + x]);
}

/* Both splits of a list, where it has two: the same sums as combine_kernel's. Of a pair of blocks the first
 * adds them up, and until its arrival at the end is waited for, the second leaves its own as they are. A
 * block that has the whole list keeps the first split's until it has the second's. */
template <int D, class Work, int STAGES>
static __device__ void finish_both(const Work &w, const struct part *c, struct block<STAGES> *b, float *total)
{
    const bool pair = w.sharing() == PAIR;
    const int PITCH = pitch_of(D);
    int t = threadIdx.x, last = pair ? 0 : 1;
    bool two = splits_of(w, c->l.n) == 2;
    float *kept = total + 2 * w.group * PITCH, *second = total;
    const struct block<STAGES> *other = b;
    if (pair) {
        cluster_meet();
        other = cluster_object(b, 1);
        second = cluster_object(total, 1);
    }
    if (!pair && two && c->split == 0) {
        for (int x = 4 * t; x < w.group * D; x += 4 * ATTEND_THREADS)
            *(float4 *)&kept[x / D * PITCH + x % D] = two_sums<D>(w, total, x / D, x % D);
        if (t < 8) {
            b->first_max[t] = b->all_max[t];
            b->first_sum[t] = b->all_sum[t];
        }
    } else if (c->l.n >= 0 && c->split == (two ? last : 0)) { /* not for a padding row */
        if (two && t < 8) {
            float running_max[2] = {pair ? b->all_max[t] : b->first_max[t], other->all_max[t]},
                  sum[2] = {pair ? b->all_sum[t] : b->first_sum[t], other->all_sum[t]},
                  new_max = fmaxf(running_max[0], running_max[1]);
            for (int x = 0; x < 2; x++)
                b->keep[x][t] = running_max[x] == -CUDART_INF_F
                                    ? 0.0f
                                    : softmax_exp((running_max[x] - new_max) * w.scale);
            b->all_sum[t] = __fadd_rn(__fmul_rn(sum[0], b->keep[0][t]), __fmul_rn(sum[1], b->keep[1][t]));
            b->all_max[t] = new_max;
        }
        __syncthreads();
        finish_item(w, c->l, c->i, 0, 1, D, b->all_max, b->all_sum, [&](int h, int x) {
            float4 u = two_sums<D>(w, second, h, x);
            const float4 zero = make_float4(0, 0, 0, 0); /* a sum of -0 is 0 there, too */
            if (!two)
                return pair ? two_sums<D>(w, total, h, x) : u;
            float4 v = pair ? two_sums<D>(w, total, h, x) : *(const float4 *)&kept[h * PITCH + x];
            return add_four(add_four(scaled_sum(v, b->keep[0][h]), scaled_sum(u, b->keep[1][h])), zero);
        });
    }
    if (pair)
        cluster_arrive();
}

/* The four warps' sums of a split come together: 2 and 3 are added to 0 and 1, those at the end. total
 * [2][head][PITCH] is shared memory. */
template <class F, class Work>
static __device__ void merge_warps(const Work &w, const struct part *c, struct sums<F::D> *r,
                                   struct block<F::STAGES> *b, float *total)
{
    const int D = F::D, PITCH = pitch_of(D);
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, g = lane / 4, t = lane % 4;
    const float scale_log2 = w.scale * 1.44269504f;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        for (int d = 4; d < WARP; d *= 2)
            r->sum[h] += __shfl_xor_sync(~0u, r->sum[h], d);
        if (g == 0) {
            b->running_max[warp][2 * t + h] = r->running_max[h];
            b->sum[warp][2 * t + h] = r->sum[h];
        }
    }
    __syncthreads();
    float keep[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        int head = 2 * t + h;
        float new_max = fmaxf(fmaxf(b->running_max[0][head], b->running_max[1][head]),
                              fmaxf(b->running_max[2][head], b->running_max[3][head]));
        keep[h] =
            r->running_max[h] == -CUDART_INF_F ? 0.0f : exp2f((r->running_max[h] - new_max) * scale_log2);
    }
    if (threadIdx.x < 8) {
        int h = threadIdx.x;
        float new_max = fmaxf(fmaxf(b->running_max[0][h], b->running_max[1][h]),
                              fmaxf(b->running_max[2][h], b->running_max[3][h])),
              sum = 0;
        for (int x = 0; x < ATTEND_WARPS; x++)
            if (b->running_max[x][h] != -CUDART_INF_F)
                sum = fmaf(b->sum[x][h], exp2f((b->running_max[x][h] - new_max) * scale_log2), sum);
        b->all_max[h] = new_max;
        b->all_sum[h] = sum;
    }
    float *own = total + ((warp & 1) * w.group + 2 * t) * PITCH + g;
    for (int from = 2; F::VALUES && from >= 0; from -= 2) {
#pragma unroll
        for (int i = 0; i < D / 16; i++)
#pragma unroll
            for (int x = 0; x < 4; x++) {
                float *p = own + (x & 1) * PITCH + i * 16 + (x >> 1) * 8,
                      v = __fmul_rn(r->o[i][x], keep[x & 1]);
                if (warp >> 1 == from >> 1 && 2 * t + (x & 1) < w.group)
                    *p = from ? v : __fadd_rn(v, *p); /* rounded alike in every form */
            }
        __syncthreads();
    }
    if (!F::VALUES)
        __syncthreads();
    if (w.sharing() != APART)
        finish_both<D>(w, c, b, total);
    else if (c->l.n >= 0)
        finish_item(w, c->l, c->i, c->split, splits_of(w, c->l.n), D, b->all_max, b->all_sum,
                    [&](int h, int x) { return two_sums<D>(w, total, h, x); });
    /* The next split overwrites what was read here only after its first barrier. */
}

#endif
