#ifndef KERNELS_CUDA_DEVICE_CUDA_CUH
#define KERNELS_CUDA_DEVICE_CUDA_CUH

/* The main door of kernels/cuda/device, the room with what all files of the CUDA backend share; every other
 * room of kernels/cuda comes in. This door holds the host side: the device, its errors, launches and memory.
 * Device code shares kv.cuh (the cache), math.cuh, slots.cuh, share.cuh (work of several blocks),
 * ptx.cuh and wgmma.cuh (instructions). */
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/backend.h"
#include "kernels/fault.h"

extern "C" const struct limits cuda_limits; /* cuda_limits.cu */

struct gemm; /* gemm.cu: cuBLASLt and the algorithms chosen so far */

/* Workspace: device memory that the kernels of one operation use and then leave. When it becomes too small,
 * the old allocation is kept until the device closes, because captured CUDA graphs point into it. */
struct workspace {
    void *now;
    size_t bytes;
    size_t at; /* what lies before this is of branches that are not joined yet */
    void *old[64];
    int n_old;
};

/* A staging buffer of a download: pinned memory that download_begin copies to, and the event that ends the
 * copy. */
struct landing {
    char *pinned;
    cudaEvent_t done;
};

/* Uploads pass through several pinned buffers: while earlier ones are being copied, the next one is filled (a
 * double buffer with more than two halves). */
enum { UPLOAD_BUFFERS = 4 };
struct upload_staging {
    char *buffer;                     /* (UPLOAD_BUFFERS, bytes of one) */
    cudaEvent_t sent[UPLOAD_BUFFERS]; /* its contents have been copied */
    int now;                          /* the buffer being filled */
    size_t at;                        /* bytes in it */
};

/* Where the operations of branches go (branch of struct backend): the first branch stays on the first stream,
 * and those from CUDA_BRANCHES on take the same streams again. A branch that launches nothing is none. */
enum { CUDA_BRANCHES = 8 };
struct branches {
    cudaStream_t stream[CUDA_BRANCHES]; /* [0]: also of what is in no branch */
    cudaEvent_t begun, ended[CUDA_BRANCHES];
    int *counters; /* (CUDA_BRANCHES, CUDA_COUNTERS) */
    int n;         /* branches that have launched something and are not joined yet */
    int is_new;    /* the next operation is the first of a branch */
};

struct device {
    int ordinal, n_sm;
    int capability;  /* 90: of compute capability 9.0 */
    int built;       /* what the program that runs on it was compiled for */
    int hopper;      /* it runs the kernels for 9.0: TMA bulk copies, clusters, kernels that begin early; else
                      * the plain ones (cuda_choose.cu) */
    int wgmma;       /* Hopper's matrix instructions, which 9.x alone has; never without `hopper` */
    size_t max_smem; /* bytes of shared memory that a block can have */
    cudaStream_t stream; /* what is launched goes here and runs in order; in a branch, that branch's */
    struct branches branches;
    enum op pdl;    /* the last operation enqueued, if the next kernel may overlap it by PDL; else OP_COUNT */
    enum op before; /* where `pdl` is set: what it was before that operation */
    int norm_waits; /* the last norm lets the next kernel begin only when all before itself is done */
    int no_pdl;     /* the next kernel may not begin early: it waits for more than the last one */
    int capturing;
    struct workspace workspace;
    int *counters; /* count arrivals of blocks, see op_reduce.cu and share.cuh; zero between launches */
    struct upload_staging upload;
    struct landing landing[BACKEND_STAGING_BUFFERS];
    struct gemm *gemm;
    struct fault fault;
    char name[320], error[512];
    char arithmetic[128]; /* "5-NVIDIA-H200-x132-cublaslt13.1.0" */
};

/* Functions below that return int return 0 or a negative BACKEND_ERR_ code with d->error set, unless said
 * otherwise. */

/* Sets d->error to the sentence and returns code. */
int cuda_error(struct device *d, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Returns 0 for cudaSuccess; else sets d->error to the CUDA error as a sentence about `what` and returns a
 * negative code. */
int cuda_check(struct device *d, cudaError_t e, const char *what);
/* Returns 0, or a negative code if the kernel launch just made was refused, and notes `op` as the last
 * operation. */
int cuda_launched(struct device *d, enum op op);
/* Returns at least this many bytes of device memory, which the device owns, valid until the next launch, in a
 * branch until its operation has ended. NULL when there is no memory; d->error is set then. */
void *cuda_workspace(struct device *d, size_t bytes);
/* Returns how many of `rows`, at least one, can run at once if each needs `bytes` of workspace and there are
 * 2 MiB an SM, for all branches together. */
int cuda_rows_at_once(const struct device *d, int rows, size_t bytes);

/* Launches a kernel in clusters of `cluster` thread blocks along x, with `bytes` of dynamic shared memory.
 * pdl: programmatic dependent launch, that is, the kernel may begin before the one before it has ended.
 * Returns 0 or a negative code with the error set. */
template <typename... P, typename... A>
static inline int cuda_launch(struct device *d, enum op op, void (*kernel)(P...), dim3 grid, int threads,
                              size_t bytes, int cluster, int pdl, const A &...args)
{
    enum { UNASKED = 24576 }; /* with what is static, 48 KB would not hold more */
    cudaLaunchAttribute attrs[3];
    unsigned n = 0;
    if (bytes > UNASKED) {
        cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (e != cudaSuccess)
            return cuda_check(d, e, backend_op_name(op));
    }
    if (pdl) {
        attrs[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attrs[n++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (cluster > 1) {
        attrs[n].id = cudaLaunchAttributeClusterDimension;
        attrs[n].val.clusterDim.x = (unsigned)cluster;
        attrs[n].val.clusterDim.y = attrs[n].val.clusterDim.z = 1;
        n++;
    }
    /* An SM that has set little shared memory aside for a small kernel could not run blocks of the
     * next kernel beside it. */
    attrs[n].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attrs[n++].val.sharedMemCarveout = cudaSharedmemCarveoutMaxShared;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = bytes;
    config.stream = d->stream;
    config.attrs = attrs;
    config.numAttrs = n;
    cudaLaunchKernelEx(&config, kernel, args...);
    enum op before = d->pdl;
    int rc = cuda_launched(d, op);
    if (pdl) {
        d->pdl = op;
        d->before = before;
    }
    return rc;
}

/* cuda_launch() by programmatic dependent launch where the GPU has it, for kernels that call pdl_wait
 * (ptx.cuh). Only such kernels call pdl_trigger: every other one has ended before the next begins. */
template <typename... P, typename... A>
static inline int cuda_launch_pdl(struct device *d, enum op op, void (*kernel)(P...), dim3 grid, int threads,
                                  size_t bytes, int cluster, const A &...args)
{
    int waits = d->no_pdl; /* the next kernel may still overlap this one, but nothing before it */
    int rc = cuda_launch(d, op, kernel, grid, threads, bytes, cluster, d->hopper && !waits, args...);
    if (d->hopper && waits) {
        d->pdl = op;
        d->before = OP_COUNT;
    }
    return rc;
}

enum { CUDA_COUNTERS = 1 << 16 };

/* cuda_memory.cu: alloc, release, upload and download of struct backend; and the pinned buffers, which
 * cuda_pinned_open() allocates and cuda_pinned_close() frees, also after a failure. */
void *cuda_alloc(struct device *d, size_t bytes);
void cuda_release(struct device *d, void *p);
int cuda_upload(struct device *d, void *dst, const void *src, size_t bytes);
int cuda_download(struct device *d, void *dst, const void *src, size_t bytes);
int cuda_download_begin(struct device *d, int buffer, const void *src, size_t bytes);
int cuda_download_wait(struct device *d, int buffer, void *dst, size_t bytes);
int cuda_pinned_open(struct device *d);
void cuda_pinned_close(struct device *d);

/* cuda_branch.cu: branch and join of struct backend. cuda_branches_open() makes the streams, the first one
 * included, and the counters; cuda_branches_close() waits for the first stream and frees them, also after a
 * failure. */
int cuda_branches_open(struct device *d);
void cuda_branches_close(struct device *d);
int cuda_branch(struct device *d);
int cuda_join(struct device *d);
/* Turns to the branch that was begun last, before its first operation. */
int cuda_enter_branch(struct device *d);

/* cuda_choose.cu: cuda_choose() fills in what kernels the GPU is given; BACKEND_ERR_UNSUPPORTED if there are
 * none for it. cuda_choice() writes it to `out` (`size` bytes) as a sentence without its period. */
int cuda_choose(struct device *d, const struct cudaDeviceProp *prop);
void cuda_choice(const struct device *d, char *out, size_t size);

/* cuda_facts.cu: facts and peer of struct backend */
int cuda_facts(struct device *d, struct device_facts *out);
int cuda_peer(struct device *from, struct device *to);

/* cuda_weight.cu: weight_alloc, weight_put and weight_release of struct backend. Weights are [n][k] in
 * row-major order, as cuBLAS takes them. */
int cuda_weight_alloc(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias);
int cuda_weight_put(struct device *d, struct weight *w, int row0, int n_rows, enum dtype src_dtype,
                    const void *src);
void cuda_weight_release(struct device *d, struct weight *w);

/* gemm.cu: gemm_open() loads cuBLASLt; gemm_close() frees its state, also after a failure. gemm_version()
 * writes the library's version to `text` (`size` bytes). */
int gemm_open(struct device *d);
void gemm_version(struct device *d, char *text, size_t size); /* of the library: "cublaslt13.1.0" */
void gemm_close(struct device *d);

/* One function per operation, which enqueues it on the device's stream. The arguments have been checked
 * (op_check()), so what fails is memory for the workspace or the launch. */
#define X(name, ...) int cuda_op_##name(struct device *d, const struct name##_args *a);
BACKEND_OPS(X)
#undef X

#endif
