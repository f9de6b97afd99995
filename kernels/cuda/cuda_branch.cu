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
        for (int k = 0; k < b->workspace[i].n_old; k++)
            cudaFree(b->workspace[i].old[k]);
        cudaFree(b->workspace[i].now);
        if (b->ended[i])
            cudaEventDestroy(b->ended[i]);
        if (b->stream[i])
            cudaStreamDestroy(b->stream[i]);
    }
    if (b->begun)
        cudaEventDestroy(b->begun);
    cudaFree(b->counters);
}

/* What is launched from here on goes to stream i. */
static void turn_to(struct device *d, int i)
{
    struct branches *b = &d->branches;
    b->now = i;
    d->stream = b->stream[i];
    d->counters = b->counters + (size_t)i * CUDA_COUNTERS;
}

static int end_branches(struct device *d)
{
    struct branches *b = &d->branches;
    cudaError_t e = cudaSuccess;
    for (int i = 1; i < CUDA_BRANCHES; i++) {
        if (b->begun_on >> i & 1 && e == cudaSuccess)
            e = cudaEventRecord(b->ended[i], b->stream[i]);
        if (b->begun_on >> i & 1 && e == cudaSuccess)
            e = cudaStreamWaitEvent(b->stream[0], b->ended[i], 0);
    }
    turn_to(d, 0);
    d->no_pdl = b->begun_on > 1;
    d->pdl = OP_COUNT;
    b->begun_on = 0;
    return cuda_check(d, e, "ending branches");
}

int cuda_branch(struct device *d, int i)
{
    struct branches *b = &d->branches;
    cudaError_t e = cudaSuccess;
    if (i < 0)
        return end_branches(d);
    if (!b->begun_on)
        e = cudaEventRecord(b->begun, b->stream[0]);
    if (i) { /* the first branch goes on behind the last operation */
        d->no_pdl = 1;
        d->pdl = OP_COUNT;
    }
    i %= CUDA_BRANCHES;
    turn_to(d, i);
    if (i && !(b->begun_on >> i & 1) && e == cudaSuccess)
        e = cudaStreamWaitEvent(b->stream[i], b->begun, 0);
    b->begun_on |= 1u << i;
    return cuda_check(d, e, "beginning a branch");
}
