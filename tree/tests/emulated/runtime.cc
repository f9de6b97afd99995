/* The part of CUDA's runtime that the backend calls, except streams. Device memory is memory of the host. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <unordered_map>

#include "kernels/fault.h"
#include "tests/emulated/grid.h"
#include "tests/emulated/runtime.h"

enum { GPUS = 2, MULTIPROCESSORS = 3 };
static const size_t MEMORY = (size_t)8 << 30;

static std::unordered_map<void *, size_t> allocations;
static std::unordered_map<const void *, size_t> limits;
static size_t used;
static cudaError_t error, sticky; /* of the last call; of a kernel, for ever */

cudaError_t result(cudaError_t e)
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

int emulated_capability(void)
{
    static int capability;
    struct fault f;
    if (!capability) {
        fault_read(&f, "KVEVAL_CUDA_FAULT");
        capability = f.kind == FAULT_CARD ? (int)f.n : 90;
    }
    return capability;
}

size_t emulated_most_shared(void)
{
    int card = emulated_capability();
    return card == 80 ? 163 << 10 : card < 90 ? 99 << 10 : MOST_SHARED;
}

void emulated_trap(void)
{
    sticky = cudaErrorLaunchFailure;
}

static void check_fence(const void *p, size_t bytes)
{
    for (size_t i = 0; i < FENCE; i++)
        if (((const unsigned char *)p)[bytes + i] != FILL)
            emulated_fail("something wrote %zu bytes behind an allocation of %zu", i, bytes);
}

void check_memory(void)
{
    for (const auto &a : allocations)
        check_fence(a.first, a.second);
}

extern "C" {

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
    out->major = emulated_capability() / 10;
    out->minor = emulated_capability() % 10;
    out->sharedMemPerBlockOptin = emulated_most_shared();
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
    return result(value >= 0 && (size_t)value <= emulated_most_shared() ? cudaSuccess
                                                                        : cudaErrorInvalidValue);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *)
{
    int card = emulated_capability();
    memset(out, 0, sizeof *out);
    if (card != 80 && card != 89 && card < 90)
        return result(cudaErrorNoKernelImageForDevice);
    out->ptxVersion = out->binaryVersion = card > 90 ? 80 : card;
    return result(cudaSuccess);
}

/* How many clusters have room. A choice asks about up to FORMS kernels: each time all clusters of another one
 * have room at once, and those of the others one at a time, so that every form of a kernel gets its turn. */
cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *kernel, const cudaLaunchConfig_t *)
{
    enum { FORMS = 9 };
    struct asked {
        size_t index, times;
    };
    static std::unordered_map<const void *, struct asked> all;
    struct asked *a = &all.insert({kernel, {all.size(), 0}}).first->second;
    *n = a->times++ % FORMS == a->index % FORMS ? 1 << 20 : 0;
    return cudaSuccess;
}

/* ---- the one function of the driver */

static CUresult encode(CUtensorMap *out, CUtensorMapDataType, cuuint32_t, void *p, const cuuint64_t *size,
                       const cuuint64_t *pitch, const cuuint32_t *box, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill)
{
    static_assert(sizeof(struct tensor) <= sizeof *out, "room");
    if ((swizzle != CU_TENSOR_MAP_SWIZZLE_128B && swizzle != CU_TENSOR_MAP_SWIZZLE_NONE) ||
        box[0] * 2 != 128 || (uintptr_t)p % 16 || pitch[0] % 16)
        return CUDA_ERROR_INVALID_VALUE;
    struct tensor t = {
        (const char *)p, size[0], size[1], pitch[0], box[0], box[1], swizzle == CU_TENSOR_MAP_SWIZZLE_128B};
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
