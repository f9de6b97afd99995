/* Device memory, and copies through pinned memory. A host buffer may be reused when its upload returns, and
 * one can wait for a download without waiting for what was enqueued after it. */
#include <string.h>

#include "kernels/copy_wide.h"
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/op_check.h"

static const size_t UPLOAD_BUFFER_BYTES = 8 << 20;

/* is_zeroed: unless a graph is being captured. */
static void *alloc_memory(struct device *d, size_t bytes, int is_zeroed)
{
    void *p = NULL;
    size_t n = bytes ? bytes : 1, left = 0, all = 0;
    cudaError_t e = fault_due(&d->fault, FAULT_ALLOC) ? cudaErrorMemoryAllocation : cudaMalloc(&p, n);
    if (e == cudaSuccess && is_zeroed && !d->capturing) {
        e = cudaMemsetAsync(p, 0, n, d->stream);
        d->pdl = OP_COUNT;
    }
    if (e == cudaSuccess)
        return p;
    cudaGetLastError();
    cudaFree(p);
    if (e != cudaErrorMemoryAllocation) {
        cuda_check(d, e, "allocating GPU memory");
        return NULL;
    }
    cudaMemGetInfo(&left, &all);
    cuda_error(
        d, BACKEND_ERR_MEMORY,
        "no GPU memory for %.1f MiB: %.1f of %.1f MiB are free (%s); use a smaller --max-batch, context or "
        "model, or a GPU that nobody else uses",
        (double)bytes / 1048576, (double)left / 1048576, (double)all / 1048576, cudaGetErrorString(e));
    return NULL;
}

void *cuda_alloc(struct device *d, size_t bytes)
{
    return alloc_memory(d, bytes, 1);
}

void cuda_release(struct device *d, void *p)
{
    if (!p)
        return;
    cudaStreamSynchronize(d->stream);
    cudaFree(p);
}

int cuda_pinned_open(struct device *d)
{
    struct upload_staging *r = &d->upload;
    int rc = cuda_check(d, cudaMallocHost((void **)&r->buffer, UPLOAD_BUFFERS * UPLOAD_BUFFER_BYTES),
                        "allocating pinned memory");
    for (int i = 0; i < UPLOAD_BUFFERS && !rc; i++)
        rc =
            cuda_check(d, cudaEventCreateWithFlags(&r->sent[i], cudaEventDisableTiming), "creating an event");
    for (int i = 0; i < BACKEND_STAGING_BUFFERS && !rc; i++) {
        struct landing *l = &d->landing[i];
        rc = cuda_check(d, cudaMallocHost((void **)&l->pinned, BACKEND_STAGING_BYTES),
                        "allocating pinned memory");
        if (!rc)
            rc = cuda_check(d, cudaEventCreateWithFlags(&l->done, cudaEventDisableTiming),
                            "creating an event");
    }
    return rc;
}

void cuda_pinned_close(struct device *d)
{
    for (int i = 0; i < BACKEND_STAGING_BUFFERS; i++) {
        if (d->landing[i].done)
            cudaEventDestroy(d->landing[i].done);
        cudaFreeHost(d->landing[i].pinned);
    }
    for (int i = 0; i < UPLOAD_BUFFERS; i++)
        if (d->upload.sent[i])
            cudaEventDestroy(d->upload.sent[i]);
    cudaFreeHost(d->upload.buffer);
}

/* Goes on to the next slot: what lies there, from once round before, must have been copied. */
static int next_slot(struct device *d)
{
    struct upload_staging *r = &d->upload;
    int rc = cuda_check(d, cudaEventRecord(r->sent[r->now], d->stream), "copying to the GPU");
    r->now = (r->now + 1) % UPLOAD_BUFFERS;
    r->at = 0;
    return rc ? rc : cuda_check(d, cudaEventSynchronize(r->sent[r->now]), "copying to the GPU");
}

int cuda_upload(struct device *d, void *dst, const void *src, size_t bytes)
{
    struct upload_staging *r = &d->upload;
    d->pdl = OP_COUNT;
    for (size_t done = 0; done < bytes;) {
        size_t n = bytes - done < UPLOAD_BUFFER_BYTES ? bytes - done : UPLOAD_BUFFER_BYTES;
        if (r->at + n > UPLOAD_BUFFER_BYTES) {
            int rc = next_slot(d);
            if (rc)
                return rc;
        }
        char *pinned = r->buffer + (size_t)r->now * UPLOAD_BUFFER_BYTES + r->at;
        copy_wide(pinned, (const char *)src + done, n);
        int rc =
            cuda_check(d, cudaMemcpyAsync((char *)dst + done, pinned, n, cudaMemcpyHostToDevice, d->stream),
                       "copying to the GPU");
        if (rc)
            return rc;
        r->at += (n + 63) / 64 * 64;
        done += n;
    }
    return 0;
}

int cuda_download(struct device *d, void *dst, const void *src, size_t bytes)
{
    d->pdl = OP_COUNT;
    int rc = bytes ? cuda_check(d, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, d->stream),
                                "copying from the GPU")
                   : 0;
    return rc ? rc : cuda_check(d, cudaStreamSynchronize(d->stream), "copying from the GPU");
}

int cuda_download_begin(struct device *d, int buffer, const void *src, size_t bytes)
{
    int rc = download_check(buffer, bytes, d->error, sizeof d->error);
    if (rc)
        return rc;
    struct landing *l = &d->landing[buffer];
    d->pdl = OP_COUNT;
    rc = bytes ? cuda_check(d, cudaMemcpyAsync(l->pinned, src, bytes, cudaMemcpyDeviceToHost, d->stream),
                            "download")
               : 0;
    return rc ? rc : cuda_check(d, cudaEventRecord(l->done, d->stream), "download");
}

int cuda_download_wait(struct device *d, int buffer, void *dst, size_t bytes)
{
    int rc = cuda_check(d, cudaEventSynchronize(d->landing[buffer].done), "download");
    if (!rc && bytes)
        memcpy(dst, d->landing[buffer].pinned, bytes);
    return rc;
}

/* Branches have their workspace one after the other in the same memory, each operation its own, and from the
 * join on it begins anew. Together that is about what one group of all their rows would need. Memory is not
 * zeroed, for one stream would do that while others use theirs. */
void *cuda_workspace(struct device *d, size_t bytes)
{
    struct workspace *s = &d->workspace;
    size_t own = d->branches.n ? (bytes + 255) / 256 * 256 : 0;
    if (s->at + bytes <= s->bytes) {
        void *p = (char *)s->now + s->at;
        s->at += own;
        return p;
    }
    if (s->n_old == (int)(sizeof s->old / sizeof *s->old)) {
        cuda_error(d, BACKEND_ERR_MEMORY, "the workspace has grown too often");
        return NULL;
    }
    bytes = s->at + bytes > 2 * s->bytes ? s->at + bytes : 2 * s->bytes; /* so it grows a few times at most */
    void *p = alloc_memory(d, bytes, 0);
    if (!p)
        return NULL;
    if (s->now)
        s->old[s->n_old++] = s->now;
    s->now = p;
    s->bytes = bytes;
    s->at = own;
    return p;
}

int cuda_rows_at_once(const struct device *d, int rows, size_t bytes)
{
    size_t most = (size_t)d->n_sm << 21, left = most > d->workspace.at ? most - d->workspace.at : 0;
    size_t fit = left / bytes;
    return fit < 1 ? 1 : fit < (size_t)rows ? (int)fit : rows;
}
