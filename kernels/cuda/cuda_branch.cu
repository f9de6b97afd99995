/* Branches: operations that may run at once, on streams of their own, which events fork from the first stream
 * and join with it again (CUDA's guide, "Cross-stream Dependencies and Events"); so they become branches of a
 * graph that is being captured. */
#include "kernels/cuda/device/cuda.cuh"

int cuda_branches_open(struct device *d)
{
    struct branches *b = &d->branches;
    int rc = cuda_check(d, cudaEventCreateWithFlags(&b->begun, cudaEventDisableTiming), "creating an event");
    for (int i = 0; i < CUDA_BRANCHES && !rc; i++) {
        rc = cuda_check(d, cudaStreamCreateWithFlags(&b->stream[i], cudaStreamNonBlocking),
                        "creating a stream");
        if (!rc)
            rc = cuda_check(d, cudaEventCreateWithFlags(&b->ended[i], cudaEventDisableTiming),
                            "creating an event");
    }
    d->stream = b->stream[0];
    if (!rc && !(b->counters = (int *)cuda_alloc(d, CUDA_BRANCHES * CUDA_COUNTERS * sizeof *b->counters)))
        rc = BACKEND_ERR_MEMORY;
    d->counters = b->counters;
    return rc;
}

void cuda_branches_close(struct device *d)
{
    struct branches *b = &d->branches;
    if (b->stream[0])
        cudaStreamSynchronize(b->stream[0]);
    for (int i = 0; i < CUDA_BRANCHES; i++) {
        if (b->ended[i])
            cudaEventDestroy(b->ended[i]);
        if (b->stream[i])
            cudaStreamDestroy(b->stream[i]);
    }
    if (b->begun)
        cudaEventDestroy(b->begun);
    cudaFree(b->counters);
}

/* What is launched from here on goes to stream i, behind more than the last operation. */
static void turn_to(struct device *d, int i)
{
    d->stream = d->branches.stream[i];
    d->counters = d->branches.counters + (size_t)i * CUDA_COUNTERS;
    d->no_pdl = 1;
    d->pdl = OP_COUNT;
}

int cuda_branch(struct device *d)
{
    d->branches.is_new = 1;
    return 0;
}

int cuda_enter_branch(struct device *d)
{
    struct branches *b = &d->branches;
    cudaError_t e = cudaSuccess;
    int i = b->n++;
    b->is_new = 0;
    if (i == 0) /* it goes on behind the last operation */
        return cuda_check(d, cudaEventRecord(b->begun, b->stream[0]), "beginning a branch");
    turn_to(d, i % CUDA_BRANCHES);
    if (i < CUDA_BRANCHES)
        e = cudaStreamWaitEvent(d->stream, b->begun, 0);
    return cuda_check(d, e, "beginning a branch");
}

int cuda_join(struct device *d)
{
    struct branches *b = &d->branches;
    cudaError_t e = cudaSuccess;
    for (int i = 1; i < b->n && i < CUDA_BRANCHES && e == cudaSuccess; i++) {
        e = cudaEventRecord(b->ended[i], b->stream[i]);
        if (e == cudaSuccess)
            e = cudaStreamWaitEvent(b->stream[0], b->ended[i], 0);
    }
    if (b->n > 1)
        turn_to(d, 0);
    d->workspace.at = 0;
    b->n = b->is_new = 0;
    return cuda_check(d, e, "joining branches");
}
