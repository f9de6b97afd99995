/* What a GPU is, and whether two of them can copy to each other directly: for people who choose devices.
 * Several devices may be open here, so each function first makes its own the current one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/device/cuda.cuh"

/* "580.82.07" from the kernel module's line "NVRM version: ... Kernel Module  580.82.07  ..."; "" when the
 * file is not there, as in some containers. */
static void driver_version(char *out, size_t size)
{
    char line[256] = "", word[64];
    FILE *f = fopen("/proc/driver/nvidia/version", "r");
    out[0] = 0;
    if (!f)
        return;
    const char *at = fgets(line, sizeof line, f) ? line : "";
    int n = 0, major = 0, minor = 0;
    for (; !out[0] && sscanf(at, "%63s%n", word, &n) == 1; at += n)
        if (sscanf(word, "%d.%d", &major, &minor) == 2)
            snprintf(out, size, "%.40s", word);
    fclose(f);
}

int cuda_facts(struct device *d, struct device_facts *out)
{
    struct cudaDeviceProp prop;
    int driver = 0;
    char version[48];
    memset(out, 0, sizeof *out);
    int rc = cuda_check(d, cudaSetDevice(d->ordinal), "asking the GPU what it is");
    if (!rc)
        rc = cuda_check(d, cudaGetDeviceProperties(&prop, d->ordinal), "asking the GPU what it is");
    if (!rc)
        rc = cuda_check(d, cudaMemGetInfo(&out->free_bytes, &out->total_bytes), "asking for free memory");
    if (!rc)
        rc = cuda_check(d, cudaDriverGetVersion(&driver), "asking for the driver's version");
    if (rc)
        return rc;
    driver_version(version, sizeof version);
    snprintf(out->name, sizeof out->name, "%.120s", prop.name);
    snprintf(out->capability, sizeof out->capability, "%d.%d", d->capability / 10, d->capability % 10);
    cuda_choice(d, out->kernels, sizeof out->kernels);
    snprintf(out->driver, sizeof out->driver, *version ? "%s (CUDA %d.%d)" : "%sCUDA %d.%d", version,
             driver / 1000, driver % 1000 / 10);
    return 0;
}

enum { PEER_BYTES = 1 << 20 };

/* Host memory to `from`, from there to `to`, and back; rc of the first step that failed. */
static int round_trip(struct device *from, struct device *to, const char *out, char *back)
{
    void *a = NULL, *b = NULL;
    static const char *const what = "copying from GPU to GPU";
    int rc = cuda_check(to, cudaSetDevice(from->ordinal), what);
    if (!rc)
        rc = cuda_check(to, cudaMalloc(&a, PEER_BYTES), what);
    if (!rc)
        rc = cuda_check(to, cudaMemcpy(a, out, PEER_BYTES, cudaMemcpyHostToDevice), what);
    if (!rc)
        rc = cuda_check(to, cudaSetDevice(to->ordinal), what);
    if (!rc)
        rc = cuda_check(to, cudaMalloc(&b, PEER_BYTES), what);
    if (!rc)
        rc = cuda_check(to, cudaMemset(b, 0, PEER_BYTES), what);
    if (!rc)
        rc = cuda_check(to, cudaMemcpyPeer(b, to->ordinal, a, from->ordinal, PEER_BYTES), what);
    if (!rc)
        rc = cuda_check(to, cudaDeviceSynchronize(), what);
    if (!rc)
        rc = cuda_check(to, cudaMemcpy(back, b, PEER_BYTES, cudaMemcpyDeviceToHost), what);
    cudaFree(b);
    cudaFree(a);
    return rc;
}

int cuda_peer(struct device *from, struct device *to)
{
    int direct = 0;
    int rc =
        cuda_check(to, cudaDeviceCanAccessPeer(&direct, to->ordinal, from->ordinal), "asking about peers");
    if (rc)
        return rc;
    char *out = (char *)malloc(2 * PEER_BYTES), *back = out ? out + PEER_BYTES : NULL;
    if (!out)
        return cuda_error(to, BACKEND_ERR_MEMORY, "no host memory to compare a copy");
    for (size_t i = 0; i < PEER_BYTES; i++)
        out[i] = (char)((i * 2654435761u + (unsigned)from->ordinal * 97u) >> 7);
    memset(back, 0, PEER_BYTES);
    if (direct)
        rc = cuda_check(to, cudaSetDevice(to->ordinal), "opening a way between GPUs");
    if (direct && !rc)
        rc = cuda_check(to, cudaDeviceEnablePeerAccess(from->ordinal, 0), "opening a way between GPUs");
    if (!rc)
        rc = round_trip(from, to, out, back);
    if (!rc && memcmp(out, back, PEER_BYTES))
        rc = cuda_error(to, BACKEND_ERR_DEVICE,
                        "what cuda:%d sent arrived changed at cuda:%d; do not use both", from->ordinal,
                        to->ordinal);
    if (direct && cudaSetDevice(to->ordinal) == cudaSuccess)
        cudaDeviceDisablePeerAccess(from->ordinal);
    cudaGetLastError();
    free(out);
    return rc ? rc : direct;
}
