#ifndef KERNELS_CUDA_DEVICE_TENSOR_MAP_CUH
#define KERNELS_CUDA_DEVICE_TENSOR_MAP_CUH

#include <cuda.h>

#include "kernels/cuda/device/cuda.cuh"

/* Describes a matrix in memory to tma_tensor_copy(): (rows, columns) of bf16, with rows `stride` elements
 * apart. It is copied in tiles of tile_rows rows and TENSOR_TILE columns, 128 bytes per row, to addresses in
 * shared memory that are multiples of 1024 bytes. Elements outside the matrix are zero. With `swizzle` the
 * copy puts the 16-byte chunks of a row into the order of wgmma's 128-byte swizzle; without, they are in that
 * order already. Returns 0 or a negative code with the error set. */
enum { TENSOR_TILE = 64 };

int tensor_map(struct device *d, CUtensorMap *map, const void *p, int rows, int columns, int stride,
               int tile_rows, int swizzle);

#endif
