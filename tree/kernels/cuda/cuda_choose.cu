/* What a GPU is given: the one place that asks for its compute capability.
 *
 * The kernels are written for Hopper. What is older, or has less shared memory, runs the plain ones:
 * attention on CUDA cores (attend_plain.cu, op_prefill_plain.cu, op_redundancy.cu), one block where Hopper
 * has a cluster (op_topk.cu, op_sample.cu), cuBLASLt for all products, and every kernel after the one before
 * it. Operations ask for `hopper` and `wgmma` of struct device and for nothing else. What is chosen follows
 * from the GPU and from what the program was compiled for, never from the work, so that the laws about bits
 * hold; the numerics class names the GPU, and the choice where two builds can differ (name_arithmetic). */
#include <stdio.h>

#include "kernels/cuda/device/cuda.cuh"

/* Bytes of shared memory that a block of 9.0 can have; a Hopper kernel may ask for all of them. */
enum { HOPPER_SHARED = 227 << 10 };

static __global__ void any_kernel(void)
{
}

/* The capability that what runs here was compiled for. A program built for 8.0 alone runs on a Hopper as
 * well, by translation of what was compiled for 8.0, and that has none of Hopper's instructions. */
static int find_built(struct device *d, const struct cudaDeviceProp *prop)
{
    struct cudaFuncAttributes a;
    cudaError_t e = cudaFuncGetAttributes(&a, (const void *)any_kernel);
    if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction) {
        cudaGetLastError();
        if (prop->major < 8)
            return cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                              "%s has compute capability %d.%d; kveval needs a GPU of 8.0 or above",
                              prop->name, prop->major, prop->minor);
        return cuda_error(
            d, BACKEND_ERR_UNSUPPORTED,
            "%s has compute capability %d.%d, which this program was not built for; build it with "
            "-DKVEVAL_CUDA_ARCHS=%d.%d",
            prop->name, prop->major, prop->minor, prop->major, prop->minor);
    }
    int rc = cuda_check(d, e, "asking what the program was built for");
    if (!rc)
        d->built = a.ptxVersion;
    return rc;
}

/* As if it were an older GPU (kernels/fault.h). */
static void apply_card_fault(const struct fault *f, int *capability, size_t *shared)
{
    static const struct {
        int capability;
        size_t shared;
    } older[] = {{80, (size_t)163 << 10}, {89, (size_t)99 << 10}};
    for (int i = 0; i < 2 && f->kind == FAULT_CARD; i++)
        if (f->n == older[i].capability) {
            *capability = *capability < older[i].capability ? *capability : older[i].capability;
            *shared = *shared < older[i].shared ? *shared : older[i].shared;
        }
}

int cuda_choose(struct device *d, const struct cudaDeviceProp *prop)
{
    int rc = find_built(d, prop);
    if (rc)
        return rc;
    d->capability = 10 * prop->major + prop->minor;
    d->max_smem = prop->sharedMemPerBlockOptin;
    apply_card_fault(&d->fault, &d->capability, &d->max_smem);
    d->hopper = d->capability >= 90 && d->built >= 90 && d->max_smem >= HOPPER_SHARED;
    d->wgmma = d->hopper && d->capability / 10 == 9 && d->fault.kind != FAULT_NOWGMMA;
    return 0;
}

void cuda_choice(const struct device *d, char *out, size_t size)
{
    int n = snprintf(out, size, "compute capability %d.%d: ", d->capability / 10, d->capability % 10);
    out += n;
    size -= (size_t)n;
    if (d->wgmma)
        snprintf(out, size, "all kernels, as in the speed figures of docs/results.md");
    else if (!d->hopper && d->capability >= 90 && d->built < 90)
        snprintf(out, size, "plain kernels, since this program was built for %d.%d (KVEVAL_CUDA_ARCHS)",
                 d->built / 10, d->built % 10);
    else
        snprintf(out, size, "%s, not tuned; speed figures in docs/results.md are of 9.0",
                 d->hopper ? "Hopper's kernels without wgmma" : "plain kernels");
}
