#ifndef KERNELS_CUDA_LINEAR_GEMM_LAUNCH_CUH
#define KERNELS_CUDA_LINEAR_GEMM_LAUNCH_CUH

/* What our kernels for products share: the layout of tiles in shared memory, and the launch. */
#include <cuda.h>

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/linear/gemm.cuh"

/* TILE_K: elements of a tile's row. ROW, ALIGN, bytes: rows of a tile are 128, their 16-byte chunks rotated
 * by the copy engine (its 128-byte swizzle, which wgmma reads as it is); tiles begin at multiples of 1024. */
enum { TILE_K = TENSOR_TILE, ROW = TILE_K * 2, ALIGN = 1024 };

/* Returns the number of rows that TMA copies of the tile that begins at row0: all rows that the matrix has
 * there, in whole swizzled groups of eight. Rows beyond the matrix, which TMA fills with zeros, take longer
 * than rows that it reads: a product of 80 rows in a tile of 128 took up to 1.5 times as long with them. The
 * results of rows that were not copied are not used. */
__host__ __device__ static inline int rows_copied(int rows, int row0, int tile)
{
    return min(tile, (rows - row0 + 7) / 8 * 8);
}

/* Launches a product kernel by PDL. F is the kernel's tile_config: THREADS, BYTES of shared memory, and
 * CLUSTER, thread blocks along x. Fills in the TMA descriptions in its arguments first: w and x, with tiles
 * of w_rows and x_rows rows, and end, which is x with the rows of its last tile. Returns 0 or a negative code
 * with the error set. */
template <typename F, typename Args>
static int launch_product(struct device *d, enum op op, void (*kernel)(Args), dim3 grid,
                          const struct product *p, Args *a, int w_rows, int x_rows)
{
    int rc = tensor_map(d, &a->w, p->w, p->n, p->k, p->k, w_rows, 1);
    if (!rc)
        rc = tensor_map(d, &a->x, p->x, p->rows, p->k, p->x_stride, x_rows, 1);
    if (!rc)
        rc = tensor_map(d, &a->end, p->x, p->rows, p->k, p->x_stride,
                        rows_copied(p->rows, (p->rows - 1) / x_rows * x_rows, x_rows), 1);
    if (!rc)
        rc =
            cuda_check(d, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, F::BYTES),
                       backend_op_name(op));
    return rc ? rc : cuda_launch_pdl(d, op, kernel, grid, F::THREADS, F::BYTES, F::CLUSTER, *a);
}

#endif
