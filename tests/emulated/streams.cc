/* Streams put everything off until the host waits for them. Graphs are lists of what was put off. */
#include <algorithm>
#include <deque>
#include <map>

#include "tests/emulated/grid.h"
#include "tests/emulated/runtime.h"

/* How many launches of each stream: a vector clock of streams, by their numbers. */
typedef std::vector<uint32_t> launches;

/* A launch, or something the stream does itself when all before it has ended. */
struct item {
    struct launch l;
    struct place at;
    std::function<void()> act; /* if there is no launch */
};

struct CUstream_st {
    std::deque<struct item> items;
    struct CUgraph_st *recording;
    uint32_t number;
    launches before; /* what is put now comes after these */
    bool waits;      /* and more than the last of its own */
};

struct CUgraph_st {
    std::vector<struct item> items;
    uint32_t origin;       /* the number of the stream that began the recording */
    launches begun, ended; /* of all streams, when the recording began and when it ended */
};

struct CUgraphExec_st {
    struct CUgraph_st graph;
    std::map<uint32_t, uint32_t> numbers; /* of its branches, by the streams they were recorded on */
};

struct CUevent_st {
    cudaStream_t stream;
    struct CUgraph_st *recording;
    launches before;
};

static std::vector<cudaStream_t> streams;
static launches made; /* so far */
static launches seen; /* by the host, who waited for them: all that it asks for now comes after these */

static uint32_t count_of(const launches &v, uint32_t stream)
{
    return stream < v.size() ? v[stream] : 0;
}

static void come_after(launches *v, const launches &more)
{
    v->resize(std::max(v->size(), more.size()));
    for (uint32_t i = 0; i < more.size(); i++)
        (*v)[i] = std::max((*v)[i], more[i]);
}

static void put(cudaStream_t s, struct item i)
{
    come_after(&s->before, seen);
    if (s->waits && i.l.body && i.l.pdl)
        emulated_fail("%s may begin early on a stream that has just waited for another", i.l.name);
    s->waits = false;
    if (i.l.body && !i.at.after) {
        launches one(s->number + 1);
        one[s->number] = ++made[s->number];
        come_after(&s->before, one);
        i.at = {s->number, made[s->number], std::make_shared<const launches>(s->before)};
    }
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
                    grid_add(&g, now.l, now.at);
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

/* The host waits for the stream. */
static void wait_for(cudaStream_t s)
{
    finish(s);
    come_after(&seen, s->before);
}

void finish_all(void)
{
    for (cudaStream_t s : streams)
        if (!s->recording)
            wait_for(s);
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    *out = new struct CUstream_st();
    (*out)->number = (uint32_t)made.size();
    made.push_back(0);
    streams.push_back(*out);
    return result(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    wait_for(s);
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
    wait_for(s);
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
    *e = {s, s->recording, s->before};
    return result(cudaSuccess);
}

/* Other streams' work is done at once, so it may come before what was put off earlier. Where it is recorded,
 * s goes on with the same recording. */
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
    come_after(&s->before, e->before);
    s->waits = true;
    if (e->recording)
        s->recording = e->recording;
    else if (e->stream && e->stream != s)
        finish(e->stream);
    return result(cudaSuccess);
}

/* Also waits for work that was enqueued later. */
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    if (e->stream)
        finish(e->stream);
    come_after(&seen, e->before);
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
    s->recording->origin = s->number;
    s->recording->begun = made;
    return result(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
    *out = s->recording;
    (*out)->ended = made;
    for (cudaStream_t other : streams)
        if (other->recording == *out) {
            other->recording = NULL;
            if (count_of(s->before, other->number) < made[other->number])
                return result(cudaErrorStreamCaptureUnjoined);
        }
    return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long)
{
    *out = new struct CUgraphExec_st();
    (*out)->graph = *graph;
    for (const struct item &i : graph->items)
        if (i.l.body && i.at.stream != graph->origin && !(*out)->numbers.count(i.at.stream)) {
            (*out)->numbers[i.at.stream] = (uint32_t)made.size();
            made.push_back(0);
        }
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

/* Its launches count as launches of s, and those of its branches as of streams of their own. */
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s)
{
    const struct CUgraph_st &g = exec->graph;
    std::map<uint32_t, uint32_t> numbers = exec->numbers; /* by the streams they were recorded on */
    const launches from = made;
    bool first = true;
    numbers[g.origin] = s->number;
    come_after(&s->before, seen);
    const launches before = s->before;
    for (struct item i : g.items) {
        if (first)
            i.l.pdl = false;
        first = false;
        if (i.l.body) {
            launches after = before;
            for (const auto &n : numbers)
                if (count_of(*i.at.after, n.first) > count_of(g.begun, n.first)) {
                    after.resize(std::max<size_t>(after.size(), n.second + 1));
                    after[n.second] =
                        from[n.second] + count_of(*i.at.after, n.first) - count_of(g.begun, n.first);
                }
            uint32_t index = from[numbers[i.at.stream]] + i.at.index - count_of(g.begun, i.at.stream);
            i.at = {numbers[i.at.stream], index, std::make_shared<const launches>(after)};
        }
        put(s, i);
    }
    for (const auto &n : numbers) {
        made[n.second] += count_of(g.ended, n.first) - count_of(g.begun, n.first);
        launches all(n.second + 1);
        all[n.second] = made[n.second];
        come_after(&s->before, all);
    }
    return result(cudaSuccess);
}
}
