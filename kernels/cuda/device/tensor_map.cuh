#ifndef KERNELS_CUDA_DEVICE_TENSOR_MAP_CUH
#define KERNELS_CUDA_DEVICE_TENSOR_MAP_CUH

#include <cuda.h>

#include "kernels/cuda/device/cuda.cuh"

/* Matrices in memory as tensor_copy() takes them: (rows, columns) bf16, rows `stride` elements apart, copied
 * in tiles of tile_rows rows and TENSOR_TILE columns, 128 bytes a row, which begin at multiples of 1024 bytes
 * of shared memory. What lies outside is zero. swizzle: the copy puts the 16-byte chunks of a row where
 * wgmma's 128-byte swizzle has them; 0: they lie there already. */
enum { TENSOR_TILE = 64 };

int tensor_map(struct device *d, CUtensorMap *map, const void *p, int rows, int columns, int stride,
               int tile_rows, int swizzle);

#endif
