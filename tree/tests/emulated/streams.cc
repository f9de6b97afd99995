/* Streams put everything off until the host waits for them. Graphs are lists of what was put off. */
#include <deque>

#include "tests/emulated/grid.h"
#include "tests/emulated/runtime.h"

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

/* What is to happen before host code sees that the stream is empty. */
static void finish(cudaStream_t s)
{
    struct grids g;
    bool any = false;
    while (!s->items.empty() || !g.kernels.empty()) {
        if (!s->items.empty()) {
            struct item &i = s->items.front();
            bool early = i.l.body && i.l.pdl && !g.kernels.empty() && grid_may_add_early(&g);
            if (g.kernels.empty() || early) {
                struct item now = i;
                s->items.pop_front();
                if (result(cudaSuccess))
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
        check_memory();
}

void finish_all(void)
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

/* Also waits for work that was enqueued later. */
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
            i.l.pdl = false;
        first = false;
        put(s, i);
    }
    return result(cudaSuccess);
}
}
