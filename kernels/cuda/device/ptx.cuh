#ifndef KERNELS_CUDA_DEVICE_PTX_CUH
#define KERNELS_CUDA_DEVICE_PTX_CUH

#include <cuda_bf16.h>
#include <stdint.h>

/* PTX instructions for which C++ has no expression: matrix products of a warp, copies by the copy engine and
 * the barriers in shared memory that count them. Shared memory is addressed by its 32-bit address. */

/* GPUs below compute capability 9.0 lack many of them. Compiled for these, ASM_90 is a trap, and kernels that
 * begin with needs_hopper are nothing but one; compiled for 9.0 and above, all are there. cuda_choose.cu
 * decides which kernels a GPU is given. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define BELOW_90    1
#define ASM_90(...) asm volatile("trap;")
#else
#define BELOW_90    0
#define ASM_90(...) asm volatile(__VA_ARGS__)
#endif

/* First line of a kernel that runs only on GPUs with `hopper` (cuda.cuh). */
__device__ static inline void needs_hopper(void)
{
#if BELOW_90
    asm volatile("trap;");
    __builtin_unreachable();
#endif
}

/* Returns the 32-bit address of an object in shared memory. */
__device__ static inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Four 8 x 8 matrices of 16-bit values. Lanes 8i .. 8i+7 pass the addresses of matrix i's rows; lane l gets
 * elements 2(l % 4) and 2(l % 4) + 1 of row l / 4 of each, in r[0] to r[3]. */
__device__ static inline void load_matrices(uint32_t (&r)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
}

/* The same, transposed: lane l gets elements l / 4 of rows 2(l % 4) and 2(l % 4) + 1. */
__device__ static inline void load_transposed(uint32_t (&r)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
}

/* c (16 x 8) += a (16 x 16) b (16 x 8), bf16 in, fp32 out. With g = lane / 4 and t = lane % 4:
 *   a[0] row g, columns 2t, 2t+1 | a[1] row g+8, the same | a[2], a[3] the same 8 columns further
 *   b0 rows 2t, 2t+1 of column g | b1 8 rows further
 *   c[0], c[1] row g, columns 2t, 2t+1 | c[2], c[3] row g+8, the same */
__device__ static inline void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Returns this lane's two values of an 8 x 8 matrix of 16-bit values, transposed; x has two a lane as
 * load_matrices gives them. */
__device__ static inline uint32_t transpose_matrix(uint32_t x)
{
    uint32_t y;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

/* Returns the pair rounded to bf16, x in the low half; x and y keep what rounding took away. */
__device__ static inline uint32_t round_pair(float &x, float &y)
{
    __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
    uint32_t bits = *(const uint32_t *)&pair;
    x -= __uint_as_float(bits << 16);
    y -= __uint_as_float(bits & 0xffff0000u);
    return bits;
}

/* Returns 2^x, 0 below -126: the hardware's approximation, good to 2 ulp. */
__device__ static inline float power_of_2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* The compiler computes the address up to here once, and does not take its sum apart. */
__device__ static inline void keep_address(const char *&at)
{
    asm volatile("" : "+l"(at));
}

/* Returns log2 x of a normal number, the hardware's approximation: good to 2^-22, or 2^-22 of itself outside
 * of 0.5 to 2. */
__device__ static inline float log_2_of(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Returns 1 / x: the hardware's approximation, good to 1 ulp. */
__device__ static inline float inverse_of(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* ---- programmatic dependent launch (PDL): a kernel begins before the one before it has ended
 * (cuda_launch_pdl) */

/* Waits until all kernels before this one have ended and their writes are visible (griddepcontrol.wait). A
 * kernel launched by PDL calls it in every block, before it first reads memory that a kernel writes and
 * before it writes. Two kernels read before it: attend reads positions, lists, the cache's tables and K and V
 * (op_attend.cu, keeps_lists), and the kernel that appends reads its rows and the cache's tables and bounds
 * (op_append.cu, lets_begin_first), each where the host knows what the kernels before it write. */
__device__ static inline void pdl_wait(void)
{
#if !BELOW_90 /* where kernels run one after the other */
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Between these two a thread may read old values, and reads them again after pdl_wait where they matter. They
 * tell the race check (tests/emulated/races.h) and the reader; they generate no code. */
__device__ static inline void may_be_old_begin(void)
{
}

__device__ static inline void may_be_old_end(void)
{
}

/* Lets the next kernel begin as soon as all blocks have called it or ended
 * (griddepcontrol.launch_dependents). */
__device__ static inline void pdl_trigger(void)
{
#if !BELOW_90
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* ---- order among blocks ---- */

/* Adds 1 to a counter and returns the number before, with acquire and release order: a thread that counts
 * later sees everything that earlier counters did, and what their blocks did before a __syncthreads. */
__device__ static inline int count_in_order(int *counter)
{
    int before;
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
    return before;
}

/* ---- blocks of a cluster ---- */

/* All threads of all its blocks call cluster_arrive(), and cluster_wait() before they arrive again: what was
 * written before an arrival is seen after the wait. */
__device__ static inline void cluster_arrive(void)
{
    ASM_90("barrier.cluster.arrive.release;" ::: "memory");
}

/* An arrival that nothing was written before: that the block is there. */
__device__ static inline void cluster_begin(void)
{
    ASM_90("barrier.cluster.arrive.relaxed;" ::: "memory");
}

__device__ static inline void cluster_wait(void)
{
    ASM_90("barrier.cluster.wait.acquire;" ::: "memory");
}

/* Returns the address of the same place in the shared memory of thread block `block` of the cluster
 * (distributed smem). */
__device__ static inline uint32_t address_in(uint32_t address, int block)
{
    uint32_t there = 0;
#if !BELOW_90
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
#endif
    return there;
}

/* Stores two floats at an address that address_in() gave, a multiple of 8. */
__device__ static inline void store_far(uint32_t to, float x, float y)
{
    ASM_90("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(x), "f"(y) : "memory");
}

/* ---- mbarriers: barriers in shared memory. A phase ends when all arrivals and all announced bytes have come
 */

/* Makes the barrier at this address, with so many arrivals a phase. One thread calls it. */
__device__ static inline void barrier_init(uint32_t barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* Makes new barriers visible to copies and to the cluster. Call it after barrier_init and before the block's
 * __syncthreads. */
__device__ static inline void barrier_init_done(void)
{
    ASM_90("fence.mbarrier_init.release.cluster;" ::: "memory");
    ASM_90("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Makes a thread's own writes to shared memory visible to wgmma. Call it after them and before the block's
 * barrier. */
__device__ static inline void written_for_products(void)
{
    ASM_90("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Arrives at the barrier and does not wait. */
__device__ static inline void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives, and announces bytes that copies will bring. */
__device__ static inline void barrier_expect(uint32_t barrier, int bytes)
{
    ASM_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* Waits until the phase of this parity is over: 0 for the first, 1 for the second, and so on. */
__device__ static inline void barrier_wait(uint32_t barrier, int parity)
{
    ASM_90("{\n"
           ".reg .pred done;\n"
           "again:\n"
           "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
           "@!done bra again;\n"
           "}" ::"r"(barrier),
           "r"(parity)
           : "memory");
}

/* cp.async: copies 16 bytes to shared memory, for this thread. arrive_after_copies() arrives at the barrier
 * when the thread's copies so far have landed. */
__device__ static inline void async_copy_16(uint32_t to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ static inline void arrive_after_copies(uint32_t barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/* TMA: copies a tile of a described matrix (CUtensorMap) to shared memory, from column x and row y on. One
 * thread calls it. */
__device__ static inline void tma_tensor_copy(uint32_t to, const void *map, int x, int y, uint32_t barrier)
{
    ASM_90("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
           "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
           "l"(map), "r"(x), "r"(y), "r"(barrier)
           : "memory");
}

/* Prefetches the description, before the first copy that uses it. */
__device__ static inline void prefetch_tensor_map(const void *map)
{
    ASM_90("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* TMA bulk copy (cp.async.bulk) to shared memory; both addresses and the size are multiples of 16. One thread
 * calls it. */
__device__ static inline void tma_bulk_copy(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    ASM_90(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

/* The same for data that is read once: it is evicted from the L2 cache first, so that what kernels leave
 * there for the next one stays. */
__device__ static inline void tma_bulk_copy_once(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    ASM_90("{\n"
           ".reg .b64 policy;\n"
           "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
           "[%0], [%1], %2, [%3], policy;\n"
           "}" ::"r"(to),
           "l"(from), "r"(bytes), "r"(barrier)
           : "memory");
}

/* Stores what the next kernel reads and the one after it overwrites: it stays in the L2 cache while K and V
 * pass through, and need not go to memory at all. */
__device__ static inline void store_to_stay(float *to, float4 v)
{
    asm volatile("{\n"
                 ".reg .b64 policy;\n"
                 "createpolicy.fractional.L2::evict_last.b64 policy, 1.0;\n"
                 "st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, policy;\n"
                 "}" ::"l"(to),
                 "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

#endif
