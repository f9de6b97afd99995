/* The check of races (races.h): kernels that lack one barrier, and the same with it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/emulated/emulated_ptx.h"
#include "tests/emulated/races.h"

enum { THREADS = 64, BYTES = 256, SEEDS = 8 };

static float *memory; /* of the GPU, zeros */
static cudaStream_t stream;

static float *shared(size_t bytes)
{
    static char key;
    return (float *)emulated_static(&key, bytes);
}

static void launch(void (*kernel)(int, float *), int sound, int blocks, int cluster, bool early)
{
    auto l = emulated_launch("a kernel", kernel, (unsigned)blocks, THREADS, 8192, stream);
    l.l.cluster = cluster;
    l.l.pdl = early;
    l(sound, memory);
}

/* ---- kernels: `sound`: nothing is forgotten */

static void block_kernel(int sound, float *out)
{
    float *s = shared(THREADS * sizeof *s);
    s[threadIdx.x] = 1;
    if (sound)
        __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 32];
}

static void warp_kernel(int sound, float *out)
{
    float *s = shared(THREADS * sizeof *s);
    s[threadIdx.x] = 1;
    if (sound)
        __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

static void reuse_kernel(int sound, float *out)
{
    float *s = shared(THREADS * sizeof *s);
    for (int i = 0; i < 2; i++) {
        s[threadIdx.x] = (float)i;
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x ^ 32];
        if (sound)
            __syncthreads();
    }
}

static void atomic_kernel(int sound, float *out)
{
    if (sound)
        atomicAdd(out, 1.0f);
    else
        *out += 1;
}

/* A counter is zeroed and counted on. */
static void counter_kernel(int sound, float *)
{
    float *s = shared(sizeof *s);
    if (threadIdx.x == 0) {
        *s = 0;
        atomicAdd(s, 1.0f);
    }
    if (sound)
        __syncthreads();
    if (threadIdx.x == 32)
        atomicAdd(s, 1.0f);
}

/* One lane arrives for all. */
static void arrival_kernel(int sound, float *out)
{
    float *s = shared((THREADS + 2) * sizeof *s);
    uint32_t barrier = shared_address(s + THREADS);
    if (threadIdx.x == 0)
        barrier_init(barrier, 1);
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 1;
        if (sound)
            __syncwarp();
        if (threadIdx.x == 0)
            barrier_arrive(barrier);
    } else {
        barrier_wait(barrier, 0);
        out[threadIdx.x] = s[threadIdx.x - 32];
    }
}

/* A copy to memory that the first warp has read. */
static void refill_kernel(int sound, float *out)
{
    float *s = (float *)emulated_dynamic(1024), *bars = shared(16);
    uint32_t full = shared_address(bars), empty = full + 8;
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        barrier_init(empty, 32);
    }
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 32) {
            if (sound && i)
                barrier_wait(empty, 0);
            barrier_expect(full, BYTES);
            tma_bulk_copy(shared_address(s), out + THREADS, BYTES, full);
        } else if (threadIdx.x < 32) {
            barrier_wait(full, i);
            out[threadIdx.x] = s[threadIdx.x];
            barrier_arrive(empty);
        }
        if (!sound)
            break;
    }
    if (!sound && threadIdx.x == 32) {
        barrier_wait(full, 0);
        s[0] = 1;
    }
}

/* Overwrites the tile that a product reads. */
static void product_kernel(int sound, float *out)
{
    float c[4] = {}, *s = (float *)emulated_dynamic(1024);
    uint32_t w[4] = {}, at = shared_address(s);
    for (int i = 0; i < 16; i++)
        s[threadIdx.x * 16 + i] = 0;
    __syncthreads();
    wgmma_values(c, w, turned_tile_at(at, 1024), 0);
    wgmma_commit();
    if (sound)
        wgmma_wait();
    __syncthreads();
    s[threadIdx.x] = 1;
    if (!sound)
        wgmma_wait();
    out[threadIdx.x] = c[0];
}

static void cluster_kernel(int sound, float *out)
{
    float *s = shared(16);
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0)
        store_far(address_in(shared_address(s), 1 - (int)blockIdx.x), 1, 1);
    if (sound)
        cluster_arrive();
    else
        cluster_begin();
    cluster_wait();
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
    cluster_arrive();
    cluster_wait();
}

/* The block that is the last to count reads what the others wrote. */
static void last_to_count(bool meet, bool in_order, float *out)
{
    float *last = shared(sizeof *last);
    int *counter = (int *)(out + 2048);
    out[blockIdx.x * THREADS + threadIdx.x] = 1;
    if (meet)
        __syncthreads();
    if (threadIdx.x == 0)
        *last = (float)(in_order ? count_in_order(counter) : atomicAdd(counter, 1));
    __syncthreads();
    for (unsigned i = 0; *last == (float)(gridDim.x - 1) && i < gridDim.x; i++)
        out[1024 + threadIdx.x] += out[i * THREADS + threadIdx.x];
}

static void last_block_kernel(int sound, float *out)
{
    last_to_count(true, sound, out);
}

static void met_block_kernel(int sound, float *out)
{
    last_to_count(sound, true, out);
}

static void first_kernel(int, float *out)
{
    pdl_wait();
    pdl_trigger();
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = 1;
    __syncthreads();
}

/* Reads what the kernel before writes. */
static void early_kernel(int sound, float *out)
{
    float x = sound ? 0 : out[threadIdx.x];
    pdl_wait();
    x += sound ? out[threadIdx.x] : 0;
    pdl_trigger();
    out[256 + blockIdx.x * THREADS + threadIdx.x] = x;
}

/* Reads what the kernel before the last has written, which has ended when the last lets others begin. */
static void second_next_kernel(int sound, float *out)
{
    float x = out[sound ? threadIdx.x : 256 + threadIdx.x];
    pdl_wait();
    pdl_trigger();
    out[512 + blockIdx.x * THREADS + threadIdx.x] = x;
}

/* ---- */

static void one(void (*kernel)(int, float *), int sound, int blocks, int cluster)
{
    launch(kernel, sound, blocks, cluster, false);
}

static void two(void (*kernel)(int, float *), int sound, int blocks, int)
{
    launch(first_kernel, 1, blocks, 1, false);
    launch(kernel, sound, blocks, 1, true);
}

static void three(void (*kernel)(int, float *), int sound, int blocks, int)
{
    two(early_kernel, 1, blocks, 1);
    launch(kernel, sound, blocks, 1, true);
}

/* The second on another stream, which waits for the first, or only for what was before it. */
static void forked(void (*kernel)(int, float *), int sound, int blocks, int)
{
    cudaStream_t first = stream, other;
    cudaEvent_t begun, ended;
    if (cudaStreamCreateWithFlags(&other, 0) || cudaEventCreate(&begun) || cudaEventCreate(&ended))
        _exit(2);
    cudaEventRecord(begun, first);
    launch(first_kernel, 1, blocks, 1, false);
    if (sound)
        cudaEventRecord(begun, first);
    cudaStreamWaitEvent(other, begun, 0);
    stream = other;
    launch(kernel, 1, blocks, 1, false);
    cudaEventRecord(ended, other);
    stream = first;
    cudaStreamWaitEvent(first, ended, 0);
    launch(kernel, 1, blocks, 1, false);
}

/* The first on another stream, for which the second waits, or does not. */
static void joined(void (*kernel)(int, float *), int sound, int blocks, int)
{
    cudaStream_t first = stream, other;
    cudaEvent_t ended;
    if (cudaStreamCreateWithFlags(&other, 0) || cudaEventCreate(&ended))
        _exit(2);
    stream = other;
    launch(first_kernel, 1, blocks, 1, false);
    cudaEventRecord(ended, other);
    stream = first;
    if (sound)
        cudaStreamWaitEvent(first, ended, 0);
    launch(kernel, 1, blocks, 1, false);
    if (cudaStreamSynchronize(other))
        _exit(2);
}

static void two_branches_of_a_graph(void (*kernel)(int, float *), int sound, int blocks, int cluster)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    forked(kernel, sound, blocks, cluster);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    launch(first_kernel, 1, blocks, 1, false);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
}

static const struct {
    const char *name;
    void (*launches)(void (*)(int, float *), int, int, int);
    void (*kernel)(int, float *);
    int blocks, cluster;
} rows[] = {
    {"__syncthreads", one, block_kernel, 1, 1},
    {"__syncwarp", one, warp_kernel, 1, 1},
    {"__syncthreads before the next round", one, reuse_kernel, 1, 1},
    {"atomic", one, atomic_kernel, 2, 1},
    {"__syncthreads after zeroing a counter", one, counter_kernel, 1, 1},
    {"__syncwarp before one lane's arrival", one, arrival_kernel, 1, 1},
    {"barrier before a copy", one, refill_kernel, 1, 1},
    {"wgmma_wait", one, product_kernel, 1, 1},
    {"release in a cluster", one, cluster_kernel, 2, 2},
    {"count_in_order", one, last_block_kernel, 8, 1},
    {"__syncthreads before count_in_order", one, met_block_kernel, 8, 1},
    {"wait_for_inputs", two, early_kernel, 4, 1},
    {"wait_for_inputs, third kernel", three, second_next_kernel, 4, 1},
    {"cudaStreamWaitEvent at a fork", forked, early_kernel, 4, 1},
    {"cudaStreamWaitEvent at a fork, in a graph", two_branches_of_a_graph, early_kernel, 4, 1},
    {"cudaStreamWaitEvent at a join", joined, early_kernel, 4, 1},
};

/* The exit status of a process that launches them. */
static int run(size_t row, int sound, int seed)
{
    fflush(stdout); /* or the child writes it once more */
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        setenv("KVEVAL_EMULATED_SEED", text, 1);
        if (!freopen("/dev/null", "w", stderr) || cudaStreamCreateWithFlags(&stream, 0) ||
            cudaMalloc((void **)&memory, 4096 * sizeof *memory) ||
            cudaMemset(memory, 0, 4096 * sizeof *memory))
            _exit(2);
        rows[row].launches(rows[row].kernel, sound, rows[row].blocks, rows[row].cluster);
        exit(cudaStreamSynchronize(stream) ? 2 : 0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 1
           : WIFEXITED(status)                                ? WEXITSTATUS(status)
                                                              : -1;
}

int main(void)
{
    int bad = 0;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        int found = 0, wrong = 0;
        for (int seed = 1; seed <= SEEDS; seed++) {
            found += run(row, 0, seed) == RACES_FOUND;
            wrong += run(row, 1, seed) != 0;
        }
        /* The kernel that begins early must have begun before the last had ended. */
        bool may_miss = rows[row].launches == two || rows[row].launches == three;
        bool missed = may_miss ? !found : found < SEEDS;
        if (missed || wrong)
            printf("%s: forgotten, found in %d of %d orders; not forgotten, failed in %d\n", rows[row].name,
                   found, SEEDS, wrong);
        bad |= missed || wrong;
    }
    return bad;
}
