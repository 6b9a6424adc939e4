// Graphs: the captured work of a stream, launched as a whole.
#include <set>

#include "driver.h"

typedef Graph* CUgraph;
struct Exec {
    Graph graph;
    int device;
};
typedef Exec* CUgraphExec;

static std::set<Graph*>& graphs = *new std::set<Graph*>;
static std::set<Exec*>& execs = *new std::set<Exec*>;

CUDA cuStreamBeginCapture_v2(CUstream handle, int mode) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream || !handle) return CUDA_ERROR_INVALID_HANDLE;
    if (mode < 0 || mode > 2) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    stream->capture = new Graph{{}, {}, false};
    return CUDA_SUCCESS;
}

CUDA cuStreamEndCapture(CUstream handle, CUgraph* out) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    Graph* graph = stream->capture;
    stream->capture = nullptr;
    if (graph->invalid || settings().uncaptured) {
        delete graph;
        *out = nullptr;
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    graphs.insert(graph);
    *out = graph;
    return CUDA_SUCCESS;
}

CUDA cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
    LOCK;
    NEED_CONTEXT;
    if (!graphs.count(graph)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *out = new Exec{*graph, current()->device};
    execs.insert(*out);
    return CUDA_SUCCESS;
}

CUDA cuGraphLaunch(CUgraphExec exec, CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream || !execs.count(exec) || exec->device != stream->device)
        return CUDA_ERROR_INVALID_HANDLE;
    NOT_WHILE_CAPTURING(stream);
    for (auto& check : exec->graph.checks) check();
    for (auto& work : exec->graph.work) enqueue(stream, work);
    return CUDA_SUCCESS;
}

CUDA cuGraphDestroy(CUgraph graph) {
    LOCK;
    if (graphs.erase(graph) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete graph;
    return CUDA_SUCCESS;
}

CUDA cuGraphExecDestroy(CUgraphExec exec) {
    LOCK;
    if (execs.erase(exec) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete exec;
    return CUDA_SUCCESS;
}
