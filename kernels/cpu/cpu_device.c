/* The CPU backend's table: devices, memory, and the three instruction sets to choose from. */
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/op_check.h"

extern const struct cpu_isa cpu_isa_scalar;
#if defined(__x86_64__)
extern const struct cpu_isa cpu_isa_avx2, cpu_isa_avx512;
static const struct cpu_isa *const sets[] = {&cpu_isa_avx512, &cpu_isa_avx2, &cpu_isa_scalar};
#else
static const struct cpu_isa *const sets[] = {&cpu_isa_scalar};
#endif

const struct cpu_isa *cpu_isa_at(int i)
{
    return i >= 0 && (size_t)i < sizeof sets / sizeof *sets ? sets[i] : NULL;
}

int cpu_isa_supported(const struct cpu_isa *isa)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == &cpu_isa_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == &cpu_isa_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == &cpu_isa_scalar;
}

static int device_count(void)
{
    return 1;
}

static int device_open(struct device **out, int ordinal, const struct device_options *o, char *why,
                       size_t size)
{
    const struct cpu_isa *isa = NULL;
    *out = NULL;
    if (ordinal != 0) {
        snprintf(why, size, "there is one CPU device, cpu:0");
        return BACKEND_ERR_DEVICE;
    }
    for (int i = 0; cpu_isa_at(i) && !isa; i++)
        if ((!o || !o->isa || strcmp(o->isa, cpu_isa_at(i)->name) == 0) && cpu_isa_supported(cpu_isa_at(i)))
            isa = cpu_isa_at(i);
    if (!isa) {
        snprintf(why, size, "this processor has no %s", o && o->isa ? o->isa : "supported instruction set");
        return BACKEND_ERR_UNSUPPORTED;
    }
    snprintf(why, size, "no memory to open the CPU");
    struct device *d = aligned_alloc(64, (sizeof *d + 63) / 64 * 64);
    if (!d)
        return BACKEND_ERR_MEMORY;
    memset(d, 0, sizeof *d);
    fault_read(&d->fault, "KVEVAL_CPU_FAULT");
    if (fault_due(&d->fault, FAULT_OPEN)) {
        free(d);
        snprintf(why, size, "the CPU fails on request");
        return BACKEND_ERR_DEVICE;
    }
    d->isa = isa;
    d->threads = o && o->threads > 0 ? o->threads : omp_get_max_threads();
    d->team.share = cpu_alloc((size_t)d->threads * sizeof *d->team.share);
    if (!d->team.share) {
        free(d);
        return BACKEND_ERR_MEMORY;
    }
    snprintf(d->name, sizeof d->name, "%s, %d thread%s", isa->name, d->threads, d->threads == 1 ? "" : "s");
    *out = d;
    return 0;
}

static void device_close(struct device *d)
{
    if (!d)
        return;
    cpu_graph_release(d, d->capturing);
    cpu_release(d->workspace);
    cpu_release(d->team.share);
    free(d);
}

/* Goes up when an operation's bits change. */
static const char *device_arithmetic(struct device *d)
{
    (void)d;
    return "2";
}

static const char *device_describe(struct device *d)
{
    return d->name;
}

static const char *device_last_error(struct device *d)
{
    return d->error;
}

static void *device_alloc(struct device *d, size_t bytes)
{
    void *p = fault_due(&d->fault, FAULT_ALLOC) ? NULL : cpu_alloc(bytes);
    if (!p)
        cpu_error(d, BACKEND_ERR_MEMORY, "no memory for %.1f MiB; use a smaller --max-batch or context",
                  (double)bytes / 1048576);
    return p;
}

static void device_release(struct device *d, void *p)
{
    (void)d;
    cpu_release(p);
}

static size_t device_free_bytes(struct device *d)
{
    (void)d;
    return 0;
}

static int device_copy(struct device *d, void *dst, const void *src, size_t bytes)
{
    (void)d;
    if (bytes)
        memcpy(dst, src, bytes);
    return 0;
}

/* Everything launched has run by the time launch returns, so the first half is all there is to do. */
static int device_download_begin(struct device *d, int buffer, const void *src, size_t bytes)
{
    int rc = download_check(buffer, bytes, d->error, sizeof d->error);
    return rc ? rc : device_copy(d, d->landed[buffer], src, bytes);
}

static int device_download_wait(struct device *d, int buffer, void *dst, size_t bytes)
{
    return device_copy(d, dst, d->landed[buffer], bytes);
}

static size_t device_kv_block_bytes(enum dtype kv, int head_dim)
{
    return 2 * KV_PAGE_TOKENS * (size_t)head_dim * dtype_bytes(kv);
}

const struct backend cpu_backend = {
    .name = "cpu",
    .limits = &cpu_limits,
    .kv_default = DTYPE_F32,
    .activations = DTYPE_F32,
    .prefill_chunk = 128, /* products are the limit, not reading weights */
    .count = device_count,
    .open = device_open,
    .close = device_close,
    .describe = device_describe,
    .arithmetic = device_arithmetic,
    .last_error = device_last_error,
    .alloc = device_alloc,
    .release = device_release,
    .free_bytes = device_free_bytes,
    .upload = device_copy,
    .download = device_copy,
    .download_begin = device_download_begin,
    .download_wait = device_download_wait,
    .kv_block_bytes = device_kv_block_bytes,
    .weight_alloc = cpu_weight_alloc,
    .weight_put = cpu_weight_put,
    .weight_release = cpu_weight_release,
    .launch = cpu_launch,
    .capture_begin = cpu_capture_begin,
    .capture_end = cpu_capture_end,
    .replay = cpu_replay,
    .graph_release = cpu_graph_release,
    .branch = cpu_branch,
    .join = cpu_join,
};
