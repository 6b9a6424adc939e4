// Declarations shared by the files of the fake driver, a libcuda whose devices are this process.
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

// One global lock; kernels run while it is held.
extern std::recursive_mutex driver_lock;
#define LOCK std::lock_guard<std::recursive_mutex> locked(driver_lock)

// Settings from the environment, read once.
struct Settings {
    int devices, processors, cuda;
    size_t memory;
    std::string order;
    uint64_t seed;
    bool lazy, fence, report, trace, uncaptured;
};
const Settings& settings();

// Prints the message, and the place in a running kernel, and ends the process.
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
// The calling thread's context; null if it has none.
Context* current();
// The first check of a call that needs a context.
#define NEED_CONTEXT                                                                               \
    if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;                                      \
    if (!current()) return CUDA_ERROR_INVALID_CONTEXT

// ---- streams
// The work enqueued while a stream captured, and the checks before it is launched again.
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
    Graph* capture; // null unless it captures
};
typedef Stream* CUstream;
// Returns the stream of a handle (null: the device's default stream), or null if the handle is
// invalid.
Stream* stream_of(CUstream handle);
// Runs the work now, or with NOMINA_FAKE_LAZY=1 when the stream is waited for.
void enqueue(Stream* stream, std::function<void()> work);
void drain(Stream* stream, uint64_t upto);
// Reports a call that cannot be captured, which invalidates the capture.
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
// Returns the offset of the first byte that differs from the poison, or `bytes`.
size_t unpoisoned(const void* start, size_t bytes);
// Returns the live allocation that contains an address (or ends there), or null.
Allocation* allocation_of(uintptr_t address);
// Returns the freed allocation in quarantine that contains an address, or null.
const Allocation* freed_of(uintptr_t address);
void check_guards(const Allocation& allocation, const char* after);
// Gives up unless all bytes are in one live allocation; returns its device.
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
    // Size and alignment of the argument struct, in bytes.
    size_t arguments, alignment;
    unsigned max_threads;
    unsigned dynamic_limit;
    // The static shared memory of the last block that ran.
    unsigned static_bytes;
};
struct Launch {
    Function* function;
    ShimIndex grid, block;
    unsigned dynamic;
    std::vector<uint64_t> arguments;
    uint64_t number;
};
// Runs all blocks of a launch.
void run(const Launch& launch);
void count_launch(const std::string& name);
void report_launches();
// Sets the functions that a module's kernels call.
void connect(ShimState* state);

// The limits of a kernel's shared memory, by default and after opting in.
constexpr unsigned SHARED_LIMIT = 48 << 10, SHARED_OPT_IN = 227 << 10;

#endif
