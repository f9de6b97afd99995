#ifndef KERNELS_CUDA_ATTENTION_PREFILL_MASS_CUH
#define KERNELS_CUDA_ATTENTION_PREFILL_MASS_CUH

#include "kernels/cuda/device/cuda.cuh"

/* Enqueues a.out.v alone, on Hopper's tensor cores: for a bf16 cache and heads of 64 or 128 dimensions, with
 * the queries rounded to bf16. Returns 0 or a negative BACKEND_ERR_ code with d->error set. */
int prefill_mass_wgmma(struct device *d, const struct prefill_mass_args *a);

#endif
