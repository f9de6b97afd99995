#ifndef KERNELS_CUDA_SAMPLE_CUH
#define KERNELS_CUDA_SAMPLE_CUH

/* What the parts of op_sample.cu share, and the search for a cut.
 *
 * Top-k and top-p look for a cut: weights above a key are kept, and the first few ids that equal it. The key
 * is found 10 bits at a time: a histogram counts, by their next 10 bits, the weights whose bits so far are
 * the key's. Most of a vocabulary is next to impossible, so the first histogram leaves out small weights and
 * is made again only when the others do not suffice. */
#include "kernels/cuda/device/cluster.cuh"
#include "kernels/cuda/device/math.cuh"

enum {
    WARPS = 16, /* of a block */
    THREADS = WARPS * WARP,
    DIGIT = 10,
    BINS = 1 << DIGIT,
    KEY_BITS = 3 * DIGIT,   /* weights are at most 1: 0x3f800000 */
    SMALL = 0x35800000,     /* 2^-20 */
    SPARE_SHARED = 7 << 10, /* of what a block can have: left to the system and to static variables */
    MAX_VOCAB = 1 << 19     /* masses are at most 2^44 and their sum must fit */
};
static_assert(BINS == 2 * THREADS, "pick_digit: two bins a thread");

/* What a warp finds in its ids; combined, what there is in the row. */
struct found {
    float v, top; /* largest logit that may be drawn; of all */
    int32_t id;   /* of v, -1: none */
    int32_t odd;  /* a logit is not a number, or +inf */
};
struct tally {
    double sum;    /* of exp(logit - top) */
    float second;  /* largest logit below top */
    int32_t equal; /* logits that equal top */
};
struct share {
    uint64_t mass; /* above the cut */
    int32_t ties;  /* ids that equal it */
};

/* Shared memory of a block of BLOCKS; the weights follow. mine: one per warp. all: of every warp of the row,
 * and of none where they are fewer than the lanes that look. */
template <int BLOCKS> struct smem {
    enum { PARTS = BLOCKS * WARPS, SEATS = PARTS > WARP ? PARTS : WARP };
    struct found my_found[WARPS], all_found[SEATS];
    struct tally my_tally[WARPS], all_tally[SEATS];
    struct share my_share[WARPS], all_share[SEATS];
    uint64_t warp_total[WARPS], need;
    int digit;
    alignas(16) uint32_t low[BINS], high[BINS]; /* a histogram of 64-bit amounts, in halves */
};

/* A warp's ids: first .. first + n - 1. */
struct part {
    const float *v; /* logits */
    float *w;       /* a copy of them, then weights */
    int index, first, n;
};

/* Kept: keys above, and the first `ties` ids of those equal to it. Keys are weights as integers. */
struct cut {
    uint32_t key;
    int ties;
};

/* Returns the mass of a weight, given as its key, as a whole number in units of 2^-44. */
__device__ static inline uint64_t mass_of(uint32_t key)
{
    return __float2ull_rn(__uint_as_float(key) * 0x1p44f);
}

/* All threads of the row meet. */
template <int BLOCKS> __device__ static inline void meet_blocks(void)
{
    if (BLOCKS > 1)
        cluster_meet();
    else
        __syncthreads();
}

/* Returns the address of the same object of block `block` of the row. */
template <int BLOCKS, typename T> __device__ static inline const T *of_block(const T *mine, int block)
{
    return BLOCKS > 1 ? cluster_object(mine, block) : mine;
}

/* Copies what the warps of the row have put down to `all`, in all of its blocks; `none` where there is no
 * warp.
 */
template <int BLOCKS, typename T> __device__ static inline void gather_parts(T *all, const T *mine, T none)
{
    enum { PARTS = smem<BLOCKS>::PARTS };
    int t = threadIdx.x;
    meet_blocks<BLOCKS>();
    if (t < smem<BLOCKS>::SEATS)
        all[t] = t < PARTS ? of_block<BLOCKS>(mine, t / WARPS)[t % WARPS] : none;
    meet_blocks<BLOCKS>();
}

/* Adds x to a bin of the block's histogram, atomically; shared memory adds 32 bits at a time without retries.
 */
template <int BLOCKS>
__device__ static inline void add_to_bin(struct smem<BLOCKS> *m, uint32_t bin, uint64_t x)
{
    uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32), was = atomicAdd(&m->low[bin], low);
    high += was + low < low; /* carry */
    if (high)
        atomicAdd(&m->high[bin], high);
}

/* Fills the block's histogram: of weights from `least` up that begin with `prefix`, by the digit at `shift`,
 * their number or their mass. */
template <int BLOCKS>
__device__ static inline void count_digits(struct smem<BLOCKS> *m, const struct part &p, uint32_t least,
                                           uint32_t prefix, int shift, bool by_mass)
{
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        m->low[i] = m->high[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x % WARP; i < p.n; i += WARP) {
        uint32_t key = __float_as_uint(p.w[i]);
        if (key >= least && key >> (shift + DIGIT) == prefix)
            add_to_bin(m, key >> shift & (BINS - 1), by_mass ? mass_of(key) : 1);
    }
}

/* Sets *digit to the largest digit for which it and those above amount to `want` over the row's histograms,
 * and *need to how much of its own amount that takes. Returns 1, or 0 if all of them together are less. */
template <int BLOCKS>
__device__ static inline int pick_digit(struct smem<BLOCKS> *m, uint64_t want, uint32_t *digit,
                                        uint64_t *need)
{
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint64_t even = 0, odd = 0, above = 0, total = 0;
    meet_blocks<BLOCKS>();
#pragma unroll 4
    for (int b = 0; b < BLOCKS; b++) {
        uint2 low = ((const uint2 *)of_block<BLOCKS>(m->low, b))[threadIdx.x],
              high = ((const uint2 *)of_block<BLOCKS>(m->high, b))[threadIdx.x];
        odd += (uint64_t)high.y << 32 | low.y;
        even += (uint64_t)high.x << 32 | low.x;
    }
    uint64_t upto = sum_before(even + odd);
    if (lane == WARP - 1)
        m->warp_total[warp] = upto;
    meet_blocks<BLOCKS>(); /* every block has read the histograms */
#pragma unroll 4
    for (int i = 0; i < WARPS; i++) {
        above += i > warp ? m->warp_total[i] : 0;
        total += m->warp_total[i];
    }
    above += m->warp_total[warp] - upto;
    if (above < want && want <= above + odd + even) {
        bool is_odd = want <= above + odd;
        m->digit = 2 * threadIdx.x + is_odd;
        m->need = want - above - (is_odd ? 0 : odd);
    }
    __syncthreads();
    *digit = (uint32_t)m->digit;
    *need = m->need;
    return total >= want;
}

/* Returns the cut that keeps the largest `want`, by number or until their mass reaches it. All are kept, with
 * the cut {0, 0}, when there are no more than that. */
template <int BLOCKS>
__device__ static inline struct cut find_cut(struct smem<BLOCKS> *m, const struct part &p, uint64_t want,
                                             bool by_mass)
{
    uint32_t least = SMALL, prefix = 0, digit;
    uint64_t need;
    for (int shift = KEY_BITS - DIGIT; shift >= 0;) {
        count_digits(m, p, least, prefix, shift, by_mass);
        if (pick_digit(m, want, &digit, &need)) {
            prefix = prefix << DIGIT | digit;
            want = need;
            shift -= DIGIT;
        } else if (least > 1) {
            least = 1;
        } else {
            return {0, 0};
        }
    }
    uint64_t each = by_mass ? mass_of(prefix) : 1;
    return {prefix, (int)((want + each - 1) / each)};
}

/* Writes every part's mass above the cut and its ties to all_share. */
template <int BLOCKS>
__device__ static inline void share_out(struct smem<BLOCKS> *m, const struct part &p, struct cut c)
{
    struct share s = {0, 0};
    for (int i = threadIdx.x % WARP; i < p.n; i += WARP) {
        uint32_t key = __float_as_uint(p.w[i]);
        if (key > c.key)
            s.mass += mass_of(key);
        s.ties += c.key && key == c.key;
    }
    s = {warp_sum(s.mass), warp_sum(s.ties)};
    if (threadIdx.x % WARP == 0)
        m->my_share[threadIdx.x / WARP] = s;
    gather_parts<BLOCKS>(m->all_share, m->my_share, share{0, 0});
}

/* Returns the mass that the cut keeps in the row; calls share_out(). */
template <int BLOCKS>
__device__ static inline uint64_t kept_mass(struct smem<BLOCKS> *m, const struct part &p, struct cut c)
{
    uint64_t sum = 0;
    share_out(m, p, c);
    for (int i = threadIdx.x % WARP; i < smem<BLOCKS>::PARTS; i += WARP)
        sum += m->all_share[i].mass;
    return warp_sum(sum) + (uint64_t)c.ties * mass_of(c.key);
}

#endif
