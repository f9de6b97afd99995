#ifndef KERNELS_CUDA_LINEAR_QUICK_SWIGLU_CUH
#define KERNELS_CUDA_LINEAR_QUICK_SWIGLU_CUH

#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* Returns silu(gate) * up, which swiglu_kernel computes for GLU_SILU, by the hardware's approximations: good
 * to a few ulp of fp32 for all but the smallest results, which are rounded to bf16. */
static __device__ inline float quick_swiglu(float gate, float up)
{
    return gate * inverse_of(1.0f + power_of_2(gate * -(float)CUDART_L2E)) * up;
}

#endif
