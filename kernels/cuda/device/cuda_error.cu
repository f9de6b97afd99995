/* Sentences about what went wrong on a device (cuda.cuh). Everything in kernels/cuda calls these; they call
 * nothing. */
#include <stdarg.h>
#include <stdio.h>

#include "kernels/cuda/device/cuda.cuh"

int cuda_error(struct device *d, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(d->error, sizeof d->error, format, ap);
    va_end(ap);
    return code;
}

int cuda_check(struct device *d, cudaError_t e, const char *what)
{
    if (e == cudaSuccess)
        return 0;
    if (e == cudaErrorMemoryAllocation)
        return cuda_error(d, BACKEND_ERR_MEMORY,
                          "%s: the GPU's memory is full (%s); use a GPU that nobody else uses: nvidia-smi "
                          "shows who does",
                          what, cudaGetErrorName(e));
    return cuda_error(d, BACKEND_ERR_DEVICE,
                      "%s: the GPU failed: %s (%s); if that happens again, see nvidia-smi and dmesg", what,
                      cudaGetErrorString(e), cudaGetErrorName(e));
}

int cuda_launched(struct device *d, enum op op)
{
    cudaError_t e = cudaGetLastError();
    d->pdl = OP_COUNT;
    d->no_pdl = 0;
    if (e == cudaSuccess)
        return 0;
    char what[64];
    snprintf(what, sizeof what, "launching %s", backend_op_name(op));
    cuda_check(d, e, what);
    return BACKEND_ERR_LAUNCH;
}
