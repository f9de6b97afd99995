/* The part of CUDA's runtime that the backend calls: memory is the host's, streams put everything off until
 * somebody waits for them, graphs are lists of what was put off. */
#include <cuda.h>
#include <deque>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <unordered_map>

#include "tests/emulated/grid.h"

enum { GPUS = 2, MULTIPROCESSORS = 3 };
static const size_t MEMORY = (size_t)8 << 30;

/* A launch, or something the stream does itself when all before it has ended. */
struct item {
    struct launch l;
    std::function<void()> act; /* if there is no launch */
};

struct CUstream_st {
    std::deque<struct item> items;
    struct CUgraph_st *recording;
};

struct CUgraph_st {
    std::vector<struct item> items;
};

struct CUgraphExec_st {
    std::vector<struct item> items;
};

struct CUevent_st {
    cudaStream_t stream;
};

static std::vector<cudaStream_t> streams;
static std::unordered_map<void *, size_t> allocations;
static std::unordered_map<const void *, size_t> limits;
static size_t used;
static cudaError_t error, sticky; /* of the last call; of a kernel, for ever */

static cudaError_t result(cudaError_t e)
{
    if (sticky)
        e = sticky;
    if (e)
        error = e;
    return e;
}

size_t emulated_limit(const void *kernel)
{
    static const size_t unasked = 48 << 10;
    auto found = limits.find(kernel);
    return found == limits.end() || found->second < unasked ? unasked : found->second;
}

void emulated_trap(void)
{
    sticky = cudaErrorLaunchFailure;
}

/* ---- streams */

static void put(cudaStream_t s, const struct item &i)
{
    if (s->recording)
        s->recording->items.push_back(i);
    else
        s->items.push_back(i);
}

void emulated_enqueue(cudaStream_t s, const struct launch &l)
{
    struct item i;
    i.l = l;
    put(s, i);
}

void emulated_act(cudaStream_t s, const std::function<void()> &act)
{
    struct item i;
    i.act = act;
    put(s, i);
}

static void check_fence(const void *p, size_t bytes)
{
    for (size_t i = 0; i < FENCE; i++)
        if (((const unsigned char *)p)[bytes + i] != FILL)
            emulated_fail("something wrote %zu bytes behind an allocation of %zu", i, bytes);
}

/* What is to happen before host code sees that the stream is empty. */
static void finish(cudaStream_t s)
{
    struct grids g;
    bool any = false;
    while (!s->items.empty() || !g.kernels.empty()) {
        if (!s->items.empty()) {
            struct item &i = s->items.front();
            bool early = i.l.body && i.l.early && !g.kernels.empty() && grid_may_add_early(&g);
            if (g.kernels.empty() || early) {
                struct item now = i;
                s->items.pop_front();
                if (sticky)
                    continue; /* nothing runs after a failure */
                if (now.l.body)
                    grid_add(&g, now.l);
                else
                    now.act();
            }
        }
        grid_step(&g);
        any = true;
    }
    if (any)
        for (const auto &a : allocations)
            check_fence(a.first, a.second);
}

static void finish_all(void)
{
    for (cudaStream_t s : streams)
        finish(s);
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    *out = new struct CUstream_st();
    streams.push_back(*out);
    return result(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    finish(s);
    for (size_t i = 0; i < streams.size(); i++)
        if (streams[i] == s)
            streams.erase(streams.begin() + (ptrdiff_t)i);
    delete s;
    return result(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    if (s->recording)
        return result(cudaErrorStreamCaptureUnsupported);
    finish(s);
    return result(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void)
{
    finish_all();
    return result(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned)
{
    *out = new struct CUevent_st();
    return result(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    delete e;
    return result(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    e->stream = s;
    return result(cudaSuccess);
}

/* Waits for what came later, too. */
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    if (e->stream)
        finish(e->stream);
    return result(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 1;
    return result(cudaSuccess);
}

/* ---- graphs */

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode)
{
    s->recording = new struct CUgraph_st();
    return result(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
    *out = s->recording;
    s->recording = NULL;
    return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long)
{
    *out = new struct CUgraphExec_st();
    (*out)->items = graph->items;
    return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return result(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return result(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t s)
{
    bool first = true;
    for (struct item i : graph->items) {
        if (first)
            i.l.early = false;
        first = false;
        put(s, i);
    }
    return result(cudaSuccess);
}

/* ---- memory */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    if (used + bytes > MEMORY || !(*out = aligned_alloc(256, (bytes + FENCE + 255) / 256 * 256)))
        return result(cudaErrorMemoryAllocation);
    memset((char *)*out + bytes, FILL, FENCE);
    memset(*out, 0xf5, bytes < 1 << 24 ? bytes : 1 << 24); /* noise; not all of what is large */
    allocations[*out] = bytes;
    used += bytes;
    return result(cudaSuccess);
}

cudaError_t cudaFree(void *p)
{
    finish_all();
    if (!p)
        return result(cudaSuccess);
    auto found = allocations.find(p);
    if (found == allocations.end())
        return result(cudaErrorInvalidValue);
    used -= found->second;
    check_fence(p, found->second);
    allocations.erase(found);
    free(p);
    return result(cudaSuccess);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    *out = malloc(bytes);
    return result(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFreeHost(void *p)
{
    finish_all();
    free(p);
    return result(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    *left = MEMORY - used;
    *all = MEMORY;
    return result(cudaSuccess);
}

/* Both ends pinned or on the device: read when it is the copy's turn. A download to other memory is waited
 * for by the caller before he looks. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t s)
{
    emulated_act(s, [=] { memcpy(to, from, bytes); });
    return result(cudaSuccess);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t s)
{
    emulated_act(s, [=] { memset(p, value, bytes); });
    return result(cudaSuccess);
}

/* These wait for no stream: the backend's do not block the legacy one. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return result(cudaSuccess);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    memset(p, value, bytes);
    return result(cudaSuccess);
}

cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes)
{
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

/* ---- devices and errors */

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = GPUS;
    return result(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= GPUS)
        return result(cudaErrorInvalidDevice);
    return result(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "emulated GPU");
    out->major = 9;
    out->multiProcessorCount = MULTIPROCESSORS;
    out->totalGlobalMem = MEMORY;
    return result(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return result(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b)
{
    *can = a != b;
    return result(cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
    return result(cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int)
{
    return result(cudaSuccess);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = result(cudaSuccess);
    e = e ? e : error;
    error = cudaSuccess;
    return e;
}

const char *cudaGetErrorName(cudaError_t e)
{
    static std::string text;
    text = "cudaError " + std::to_string((int)e);
    return text.c_str();
}

const char *cudaGetErrorString(cudaError_t)
{
    return "an error of the emulated GPU";
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        limits[kernel] = (size_t)value;
    return result(value >= 0 && value <= MOST_SHARED ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- the one function of the driver */

static CUresult encode(CUtensorMap *out, CUtensorMapDataType, cuuint32_t, void *p, const cuuint64_t *size,
                       const cuuint64_t *pitch, const cuuint32_t *box, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill)
{
    static_assert(sizeof(struct tensor) <= sizeof *out, "room");
    if (swizzle != CU_TENSOR_MAP_SWIZZLE_128B || box[0] * 2 != 128 || (uintptr_t)p % 16 || pitch[0] % 16)
        return CUDA_ERROR_INVALID_VALUE;
    struct tensor t = {(const char *)p, size[0], size[1], pitch[0], box[0], box[1]};
    memcpy(out, &t, sizeof t);
    return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **out, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
    *out = (void *)encode;
    *found = cudaDriverEntryPointSuccess;
    return result(cudaSuccess);
}
}
