/* The CUDA backend's table: devices and CUDA graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/op_check.h"

extern "C" const struct backend cuda_backend;

struct op_graph {
    cudaGraphExec_t graph;
};

/* Counts the devices, or fails on request. *driver: the CUDA version that it supports, 0: there is none. */
static cudaError_t count_devices(int *n, int *driver)
{
    struct fault fault;
    fault_read(&fault, "KVEVAL_CUDA_FAULT");
    int fails = fault_due(&fault, FAULT_OPEN);
    *n = *driver = 0;
    cudaDriverGetVersion(driver);
    if (fails)
        *driver = 12000;
    cudaError_t e = fails ? (cudaError_t)fault.n : cudaGetDeviceCount(n);
    cudaGetLastError(); /* said once, here; later checks should not find it again */
    return e;
}

static int device_count(void)
{
    int n = 0, driver = 0;
    cudaError_t e = count_devices(&n, &driver);
    if (e == cudaSuccess || e == cudaErrorNoDevice || (e == cudaErrorInsufficientDriver && !driver))
        return n;
    return -1;
}

/* A failure on request: what is launched next on the stream runs into it. */
static __global__ void trap_kernel(void)
{
    asm volatile("trap;");
}

static void fail_on_request(struct device *d, enum fault_kind kind)
{
    if (!d->capturing && fault_due(&d->fault, kind))
        trap_kernel<<<1, 1, 0, d->stream>>>();
}

static void device_close(struct device *d)
{
    if (!d)
        return;
    cudaSetDevice(d->ordinal);
    if (d->stream)
        cudaStreamSynchronize(d->stream); /* a step may be in flight whose copies land in pinned memory */
    gemm_close(d);
    cuda_pinned_close(d);
    for (int i = 0; i < d->workspace.n_old; i++)
        cudaFree(d->workspace.old[i]);
    cudaFree(d->workspace.now);
    cuda_branches_close(d);
    free(d);
}

/* Writes the device's part of the numerics class. Our own kernels' sums are the same on every GPU that runs
 * the same kernels. cuBLASLt chooses its algorithm from its own version and the GPU model, by rules it does
 * not document; so both are part of the class, with the number of SMs. A build for another capability can
 * take Hopper's kernels from a GPU, so their lack is named where the model leaves it open. */
static void name_arithmetic(struct device *d, const struct cudaDeviceProp *prop)
{
    enum { OWN_BITS = 16 }; /* goes up when an operation's bits change */
    snprintf(d->arithmetic, sizeof d->arithmetic, "%d-%.60s-x%d%s-", OWN_BITS, prop->name,
             prop->multiProcessorCount,
             d->wgmma || prop->major < 9 ? ""
             : !d->hopper                ? "-plain"
             : prop->major == 9          ? "-nowgmma"
                                         : "");
    for (char *c = d->arithmetic; *c; c++)
        if (*c == ' ')
            *c = '-';
    size_t at = strlen(d->arithmetic);
    gemm_version(d, d->arithmetic + at, sizeof d->arithmetic - at);
}

static int open_parts(struct device *d)
{
    struct cudaDeviceProp prop;
    int rc = cuda_check(d, cudaSetDevice(d->ordinal), "opening the GPU");
    if (!rc)
        rc = cuda_check(d, cudaGetDeviceProperties(&prop, d->ordinal), "asking the GPU what it is");
    if (rc)
        return rc;
    rc = cuda_choose(d, &prop);
    if (rc)
        return rc;
    d->n_sm = prop.multiProcessorCount;
    if (d->fault.kind == FAULT_FEW && d->fault.n < d->n_sm)
        d->n_sm = (int)d->fault.n;
    snprintf(d->name, sizeof d->name, "%s, %.0f GiB%s", prop.name, (double)prop.totalGlobalMem / (1 << 30),
             d->fault.kind == FAULT_FEW       ? ", as if it had few multiprocessors"
             : d->fault.kind == FAULT_NOWGMMA ? ", as if it had no wgmma"
             : d->fault.kind == FAULT_CARD    ? ", as if it were an older GPU"
                                              : "");
    rc = cuda_branches_open(d);
    if (!rc)
        rc = cuda_pinned_open(d);
    if (!rc)
        rc = gemm_open(d);
    if (!rc)
        name_arithmetic(d, &prop);
    return rc;
}

/* Says what is wrong with the machine rather than with our call. */
static int no_such_device(int ordinal, char *why, size_t size)
{
    int n = 0, driver = 0, runtime = 0;
    cudaError_t e = count_devices(&n, &driver);
    if (e == cudaSuccess && ordinal < n)
        return 0;
    cudaRuntimeGetVersion(&runtime);
    if (e == cudaSuccess && n > 0)
        snprintf(why, size, "this machine has %d GPU%s, cuda:0%s", n, n == 1 ? "" : "s",
                 n == 1 ? "" : " and up");
    else if (e == cudaErrorInsufficientDriver && driver)
        snprintf(why, size,
                 "the NVIDIA driver is too old: it supports CUDA %d.%d, this program needs %d.%d; update the "
                 "driver",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (e == cudaSuccess || e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver)
        snprintf(why, size, "no NVIDIA GPU is visible here; check nvidia-smi and CUDA_VISIBLE_DEVICES");
    else
        snprintf(why, size, "the GPUs cannot be counted: %s (%s); see nvidia-smi", cudaGetErrorString(e),
                 cudaGetErrorName(e));
    return 1;
}

static int device_open(struct device **out, int ordinal, const struct device_options *o, char *why,
                       size_t size)
{
    (void)o;
    *out = NULL;
    if (no_such_device(ordinal, why, size))
        return BACKEND_ERR_DEVICE;
    struct device *d = (struct device *)calloc(1, sizeof *d);
    if (!d) {
        snprintf(why, size, "no memory to open the GPU");
        return BACKEND_ERR_MEMORY;
    }
    d->ordinal = ordinal;
    fault_read(&d->fault, "KVEVAL_CUDA_FAULT");
    int rc = open_parts(d);
    if (rc) {
        snprintf(why, size, "%s", d->error);
        device_close(d);
        return rc;
    }
    *out = d;
    return 0;
}

static const char *device_describe(struct device *d)
{
    return d->name;
}

static const char *device_arithmetic(struct device *d)
{
    return d->arithmetic;
}

static const char *device_last_error(struct device *d)
{
    return d->error;
}

static int device_launch(struct device *d, enum op op, const void *args)
{
    int rc = op_check(op, args, cuda_backend.activations, d->error, sizeof d->error);
    if (rc)
        return rc;
    if (d->branches.is_new && (rc = cuda_enter_branch(d)))
        return rc;
    fail_on_request(d, FAULT_LAUNCH);
    switch (op) {
#define X(name, ...)                                                                                         \
    case OP_##name:                                                                                          \
        return cuda_op_##name(d, (const struct name##_args *)args);
        BACKEND_OPS(X)
#undef X
    default:
        return BACKEND_ERR_UNSUPPORTED;
    }
}

static size_t device_free_bytes(struct device *d)
{
    size_t left = 0, all = 0;
    return cuda_check(d, cudaMemGetInfo(&left, &all), "asking for free memory") ? 0 : left;
}

static int capture_begin(struct device *d)
{
    if (d->capturing)
        return cuda_error(d, BACKEND_ERR_LAUNCH, "a graph is being captured already");
    /* Relaxed: scratch may grow meanwhile. */
    int rc = cuda_check(d, cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeRelaxed),
                        "capturing a CUDA graph");
    d->capturing = rc == 0;
    d->pdl = OP_COUNT;
    return rc;
}

static int capture_end(struct device *d, struct op_graph **out)
{
    cudaGraph_t graph = NULL;
    *out = NULL;
    if (!d->capturing)
        return cuda_error(d, BACKEND_ERR_LAUNCH, "no graph is being captured");
    d->capturing = 0;
    d->pdl = OP_COUNT;
    int rc = cuda_check(d, cudaStreamEndCapture(d->stream, &graph), "capturing a CUDA graph");
    if (rc)
        return rc;
    struct op_graph *p = (struct op_graph *)calloc(1, sizeof *p);
    rc = p ? cuda_check(d, cudaGraphInstantiate(&p->graph, graph, 0), "capturing a CUDA graph")
           : cuda_error(d, BACKEND_ERR_MEMORY, "no memory to capture a graph");
    cudaGraphDestroy(graph);
    if (rc)
        free(p);
    else
        *out = p;
    return rc;
}

static int graph_replay(struct device *d, struct op_graph *p)
{
    fail_on_request(d, FAULT_REPLAY);
    fault_wait(&d->fault);
    d->pdl = OP_COUNT;
    return cuda_check(d, cudaGraphLaunch(p->graph, d->stream), "starting a step");
}

static void graph_release(struct device *d, struct op_graph *p)
{
    if (!p)
        return;
    cudaStreamSynchronize(d->stream);
    cudaGraphExecDestroy(p->graph);
    free(p);
}

/* Positions of a prompt that are run at once: with 128 a prompt of 4,096 tokens took a 1.5B model 86 ms on an
 * H200, with 512, 1,024, 2,048 and 4,096 of them 40, 34, 32 and 29 to 32; the buffers grow with it. */
enum { PREFILL_CHUNK = 2048 };

const struct backend cuda_backend = {"cuda",
                                     &cuda_limits,
                                     DTYPE_BF16,
                                     DTYPE_BF16,
                                     PREFILL_CHUNK,
                                     device_count,
                                     device_open,
                                     device_close,
                                     device_describe,
                                     device_arithmetic,
                                     device_last_error,
                                     cuda_alloc,
                                     cuda_release,
                                     device_free_bytes,
                                     cuda_upload,
                                     cuda_download,
                                     cuda_download_begin,
                                     cuda_download_wait,
                                     kv_block_bytes,
                                     cuda_weight_alloc,
                                     cuda_weight_put,
                                     cuda_weight_release,
                                     device_launch,
                                     capture_begin,
                                     capture_end,
                                     graph_replay,
                                     graph_release,
                                     cuda_branch,
                                     cuda_join,
                                     cuda_facts,
                                     cuda_peer};
