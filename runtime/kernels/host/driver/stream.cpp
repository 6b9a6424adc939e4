// Streams, events, copies: executed at once, or when they are waited for (NOMINA_FAKE_LAZY=1).
#include <chrono>
#include <cstring>
#include <memory>
#include <set>

#include "driver.h"

struct Event {
    Stream* stream; // null before it is recorded
    uint64_t position, stamp;
    double at;
};
typedef Event* CUevent;

static std::set<Stream*>& streams = *new std::set<Stream*>;
static std::set<Event*>& events = *new std::set<Event*>;
static uint64_t count;

static Stream* null_stream(int ordinal) {
    static std::vector<Stream>& own = *[] {
        auto* all = new std::vector<Stream>(static_cast<size_t>(settings().devices));
        for (size_t i = 0; i < all->size(); i++) (*all)[i] = {int(i), true, 0, 0, {}, 0, nullptr};
        return all;
    }();
    return &own[static_cast<size_t>(ordinal)];
}

Stream* stream_of(CUstream handle) {
    if (!handle) return null_stream(current()->device);
    return streams.count(handle) ? handle : nullptr;
}

void drain(Stream* stream, uint64_t upto) {
    while (stream->done < upto) {
        auto work = std::move(stream->queue.front());
        stream->queue.pop_front();
        stream->done++;
        work();
    }
}

bool is_capturing(int ordinal) {
    for (Stream* stream : streams)
        if (stream->device == ordinal && stream->capture) return true;
    return false;
}

void drain_device(int ordinal) {
    for (Stream* stream : streams)
        if (stream->device == ordinal) drain(stream, stream->queued);
}

CUresult uncaptured(Stream* stream) {
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void enqueue(Stream* stream, std::function<void()> work) {
    if (stream->capture) {
        stream->capture->work.push_back(std::move(work));
        return;
    }
    stream->queued++;
    if (!settings().lazy || stream == null_stream(stream->device)) {
        // The null stream waits for all other streams, except non-blocking ones.
        if (stream == null_stream(stream->device))
            for (Stream* other : streams)
                if (other->device == stream->device && other->blocking)
                    drain(other, other->queued);
        stream->done++;
        work();
        return;
    }
    stream->queue.push_back(std::move(work));
}

static double now() {
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(since).count();
}

static CUresult create(CUstream* out, unsigned flags) {
    LOCK;
    NEED_CONTEXT;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    *out = new Stream{current()->device, flags == 0, 0, 0, {}, ++count, nullptr};
    streams.insert(*out);
    return CUDA_SUCCESS;
}
CUDA cuStreamCreate(CUstream* out, unsigned flags) { return create(out, flags); }
CUDA cuStreamCreateWithPriority(CUstream* out, unsigned flags, int) { return create(out, flags); }

CUDA cuStreamDestroy_v2(CUstream stream) {
    LOCK;
    NEED_CONTEXT;
    if (!streams.count(stream)) return CUDA_ERROR_INVALID_HANDLE;
    NOT_WHILE_CAPTURING(stream);
    drain(stream, stream->queued);
    for (Event* event : events)
        if (event->stream == stream) event->stream = null_stream(stream->device), event->position = 0;
    streams.erase(stream);
    delete stream;
    return CUDA_SUCCESS;
}

CUDA cuStreamSynchronize(CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    NOT_WHILE_CAPTURING(stream);
    drain(stream, stream->queued);
    return CUDA_SUCCESS;
}

// Each query advances the stream by one piece of work.
CUDA cuStreamQuery(CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    NOT_WHILE_CAPTURING(stream);
    if (stream->done == stream->queued) return CUDA_SUCCESS;
    drain(stream, stream->done + 1);
    return CUDA_ERROR_NOT_READY;
}

CUDA cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream || !events.count(event)) return CUDA_ERROR_INVALID_HANDLE;
    NOT_WHILE_CAPTURING(stream);
    if (!event->stream || event->stream == stream) return CUDA_SUCCESS;
    Stream* other = event->stream;
    uint64_t position = event->position, made = other->made;
    enqueue(stream, [other, position, made] {
        // A stream that has been destroyed since was drained at that time.
        bool lives = other->made == 0 ? true : streams.count(other) && other->made == made;
        if (lives) drain(other, position);
    });
    return CUDA_SUCCESS;
}

CUDA cuStreamGetCtx(CUstream handle, CUcontext* context) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *context = &device(stream->device).context;
    return CUDA_SUCCESS;
}

CUDA cuLaunchHostFunc(CUstream handle, void (*work)(void*), void* data) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    enqueue(stream, [work, data] { work(data); });
    return CUDA_SUCCESS;
}

// Called by the other fakes. Captured work may run again, so `data` is kept as long as it can.
extern "C" __attribute__((visibility("default"))) CUresult
fake_enqueue(CUstream handle, void (*work)(void*), void* data, void (*end)(void*)) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    std::shared_ptr<void> kept(data, end);
    enqueue(stream, [work, kept] { work(kept.get()); });
    return CUDA_SUCCESS;
}

CUDA cuEventCreate(CUevent* out, unsigned) {
    LOCK;
    NEED_CONTEXT;
    *out = new Event{nullptr, 0, 0, 0};
    events.insert(*out);
    return CUDA_SUCCESS;
}

CUDA cuEventDestroy_v2(CUevent event) {
    LOCK;
    if (events.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete event;
    return CUDA_SUCCESS;
}

CUDA cuEventRecord(CUevent event, CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream || !events.count(event)) return CUDA_ERROR_INVALID_HANDLE;
    NOT_WHILE_CAPTURING(stream);
    uint64_t stamp = ++count;
    event->stamp = stamp;
    event->stream = stream;
    event->position = stream->queued + 1;
    enqueue(stream, [event, stamp] {
        if (events.count(event) && event->stamp == stamp) event->at = now();
    });
    return CUDA_SUCCESS;
}

CUDA cuEventSynchronize(CUevent event) {
    LOCK;
    if (!events.count(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (event->stream) drain(event->stream, event->position);
    return CUDA_SUCCESS;
}

CUDA cuEventQuery(CUevent event) {
    LOCK;
    if (!events.count(event)) return CUDA_ERROR_INVALID_HANDLE;
    Stream* stream = event->stream;
    if (!stream || stream->done >= event->position) return CUDA_SUCCESS;
    drain(stream, stream->done + 1);
    return CUDA_ERROR_NOT_READY;
}

static CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
    LOCK;
    if (!events.count(start) || !events.count(end)) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->stream || !end->stream) return CUDA_ERROR_INVALID_HANDLE;
    for (Event* event : {start, end})
        if (event->stream->done < event->position) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>(end->at - start->at);
    return CUDA_SUCCESS;
}
CUDA cuEventElapsedTime(float* out, CUevent start, CUevent end) { return elapsed(out, start, end); }
CUDA cuEventElapsedTime_v2(float* out, CUevent start, CUevent end) {
    return elapsed(out, start, end);
}

// ---- copies

static CUresult upload(CUdeviceptr to, const void* from, size_t bytes, CUstream handle,
                       const char* what) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0) return CUDA_SUCCESS;
    NOT_WHILE_CAPTURING(stream);
    check_range(to, bytes, what);
    check_host(from, bytes, what);
    if (!settings().lazy || is_pinned(from)) {
        enqueue(stream, [=] { memcpy(reinterpret_cast<void*>(to), from, bytes); });
        return CUDA_SUCCESS;
    }
    // The driver copies pageable memory before it returns.
    auto staged = std::make_shared<std::vector<char>>(bytes);
    memcpy(staged->data(), from, bytes);
    enqueue(stream, [=] { memcpy(reinterpret_cast<void*>(to), staged->data(), bytes); });
    return CUDA_SUCCESS;
}
CUDA cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return upload(to, from, bytes, stream, "cuMemcpyHtoDAsync");
}
CUDA cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
    return upload(to, from, bytes, nullptr, "cuMemcpyHtoD");
}

static CUresult download(void* to, CUdeviceptr from, size_t bytes, CUstream handle,
                         const char* what) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0) return CUDA_SUCCESS;
    NOT_WHILE_CAPTURING(stream);
    check_range(from, bytes, what);
    check_host(to, bytes, what);
    enqueue(stream, [=] { memcpy(to, reinterpret_cast<void*>(from), bytes); });
    // A copy into pageable memory is synchronous.
    if (!is_pinned(to)) drain(stream, stream->queued);
    return CUDA_SUCCESS;
}
CUDA cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return download(to, from, bytes, stream, "cuMemcpyDtoHAsync");
}
CUDA cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
    return download(to, from, bytes, nullptr, "cuMemcpyDtoH");
}

// Copies between devices only if the call names both (`peers`).
static CUresult move(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream handle,
                     const CUcontext* peers, const char* what) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (bytes == 0) return CUDA_SUCCESS;
    int there = check_range(to, bytes, what), here = check_range(from, bytes, what);
    if (peers ? there != peers[0]->device || here != peers[1]->device
              : there != stream->device || here != stream->device)
        return CUDA_ERROR_INVALID_VALUE;
    if (to < from + bytes && from < to + bytes) give_up("%s: the places overlap", what);
    enqueue(stream, [=] {
        memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    });
    return CUDA_SUCCESS;
}
CUDA cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return move(to, from, bytes, stream, nullptr, "cuMemcpyDtoDAsync");
}
CUDA cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return move(to, from, bytes, nullptr, nullptr, "cuMemcpyDtoD");
}
CUDA cuMemcpyPeerAsync(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                       size_t bytes, CUstream stream) {
    CUcontext peers[] = {there, here};
    return move(to, from, bytes, stream, peers, "cuMemcpyPeerAsync");
}
CUDA cuMemcpyPeer(CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
                  size_t bytes) {
    CUcontext peers[] = {there, here};
    return move(to, from, bytes, nullptr, peers, "cuMemcpyPeer");
}

template <class T>
static CUresult fill(CUdeviceptr to, T value, size_t n, CUstream handle, const char* what) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (to % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (n == 0) return CUDA_SUCCESS;
    check_range(to, n * sizeof(T), what);
    enqueue(stream, [=] {
        T* at = reinterpret_cast<T*>(to);
        for (size_t i = 0; i < n; i++) at[i] = value;
    });
    return CUDA_SUCCESS;
}
CUDA cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
    return fill(to, value, n, stream, "cuMemsetD8Async");
}
CUDA cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream) {
    return fill(to, value, n, stream, "cuMemsetD16Async");
}
CUDA cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) {
    return fill(to, value, n, stream, "cuMemsetD32Async");
}
CUDA cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n) {
    return fill(to, value, n, nullptr, "cuMemsetD8");
}
CUDA cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t n) {
    return fill(to, value, n, nullptr, "cuMemsetD16");
}
CUDA cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t n) {
    return fill(to, value, n, nullptr, "cuMemsetD32");
}
