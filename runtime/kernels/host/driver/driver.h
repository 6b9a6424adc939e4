// The fake driver: a libcuda whose devices are this process. What its files share.
#ifndef NOMINA_HOST_DRIVER_H
#define NOMINA_HOST_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "../state.h"

#define CUDA extern "C" __attribute__((visibility("default"))) CUresult

enum CUresult : int {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_ILLEGAL_STATE = 401,
};

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;

// One lock for all: a kernel runs under it.
extern std::recursive_mutex driver_lock;
#define LOCK std::lock_guard<std::recursive_mutex> locked(driver_lock)

// The environment, read once.
struct Settings {
    int devices, processors, cuda;
    size_t memory;
    std::string order;
    uint64_t seed;
    bool lazy, fence, report, trace, uncaptured;
};
const Settings& settings();

// Says what is wrong, where in a kernel if one runs, and ends the process.
[[noreturn]] __attribute__((format(printf, 1, 2))) void give_up(const char* format, ...);
std::string place_in_kernel();

// ---- devices and contexts
struct Context {
    int device, retained;
};
typedef Context* CUcontext;
struct Pool {
    size_t threshold, used, most_used, kept, most_reserved;
};
typedef Pool* CUmemoryPool;
struct Device {
    Context context;
    Pool pool;
};
Device& device(int ordinal);
bool is_initialized();
// The calling thread's context, null if it has none.
Context* current();
// What a call that needs a context begins with.
#define NEED_CONTEXT                                                                               \
    if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;                                      \
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT

// ---- streams
// What a stream was asked for while it captured, and what to look at before it is done again.
struct Graph {
    std::vector<std::function<void()>> work, checks;
    bool invalid;
};
struct Stream {
    int device;
    bool blocking;
    uint64_t queued, done;
    std::deque<std::function<void()>> queue;
    uint64_t made;
    Graph* capture; // null where it does what it is asked for
};
typedef Stream* CUstream;
// The stream that a handle means (null: the device's own), or null if it is not one.
Stream* stream_of(CUstream handle);
// Does it now, or with NOMINA_FAKE_LAZY=1 when the stream is waited for.
void enqueue(Stream* stream, std::function<void()> work);
void drain(Stream* stream, uint64_t upto);
// What cannot be captured: the capture is then of no use.
CUresult uncaptured(Stream* stream);
#define NOT_WHILE_CAPTURING(stream)                                                                \
    if (stream->capture) return uncaptured(stream)
void drain_device(int ordinal);
bool is_capturing(int ordinal);

// ---- memory
struct Allocation {
    uintptr_t start;
    size_t bytes;
    int device;
    Pool* pool;
    bool free_queued;
    uint64_t number;
    void* block;
    size_t block_bytes;
};
constexpr size_t GUARD = 256;
void poison(void* start, size_t bytes);
// Where bytes first differ from the poison, or `bytes`.
size_t unpoisoned(const void* start, size_t bytes);
// The live allocation that an address lies in (or just behind), or null.
Allocation* allocation_of(uintptr_t address);
// The freed one that an address lies in and that still is quarantined.
const Allocation* freed_of(uintptr_t address);
void check_guards(const Allocation& allocation, const char* after);
// Gives up unless all bytes lie in one live allocation; on which device they are.
int check_range(CUdeviceptr start, size_t bytes, const char* what);
void check_host(const void* start, size_t bytes, const char* what);
bool is_pinned(const void* start);
void report_memory();

// ---- modules and launches
struct Module {
    int device;
    void* library;
    ShimState* state;
    std::vector<struct Function*> functions;
};
struct Function {
    Module* module;
    std::string name;
    void (*entry)(const void*);
    // Of the struct that it takes, in bytes.
    size_t arguments, alignment;
    unsigned max_threads;
    unsigned dynamic_limit;
    // Of the last block that ran.
    unsigned static_bytes;
};
struct Launch {
    Function* function;
    ShimIndex grid, block;
    unsigned dynamic;
    std::vector<uint64_t> arguments;
    uint64_t number;
};
// Runs all blocks.
void run(const Launch& launch);
void count_launch(const std::string& name);
void report_launches();
// What a module's kernels call while they run.
void connect(ShimState* state);

// Static shared memory that a kernel may use, and what it may use after asking.
constexpr unsigned SHARED_LIMIT = 48 << 10, SHARED_OPT_IN = 227 << 10;

#endif
