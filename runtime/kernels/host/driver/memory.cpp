// Device memory: host memory between guards, poisoned at allocation and when it is freed.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <sys/mman.h>

#include "driver.h"

typedef std::map<uintptr_t, Allocation> Table;
// Never destroyed: other destructors may still free memory.
static Table& live = *new Table;
static Table& quarantine = *new Table;
static std::deque<uintptr_t>& eldest = *new std::deque<uintptr_t>;
static std::map<uintptr_t, size_t>& pinned = *new std::map<uintptr_t, size_t>;
static size_t quarantined_bytes;
static uint64_t made;

// A pattern that is NaN in every float type, and an invalid bool; it depends on the parity of the
// address.
static constexpr uint64_t POISON = 0xfffdfffdfffdfffdull;

void poison(void* start, size_t bytes) {
    char* at = static_cast<char*>(start);
    if (bytes > 0 && (reinterpret_cast<uintptr_t>(at) & 1)) *at++ = char(0xff), bytes--;
    for (; bytes >= sizeof(POISON); bytes -= sizeof(POISON), at += sizeof(POISON))
        memcpy(at, &POISON, sizeof(POISON));
    memcpy(at, &POISON, bytes);
}

size_t unpoisoned(const void* start, size_t bytes) {
    const char* at = static_cast<const char*>(start);
    size_t i = 0;
    if (reinterpret_cast<uintptr_t>(at) & 1 && bytes > 0 && at[i++] != char(0xff)) return 0;
    for (; i + sizeof(POISON) <= bytes; i += sizeof(POISON))
        if (memcmp(at + i, &POISON, sizeof(POISON)) != 0) break;
    for (; i < bytes; i++)
        if (at[i] != (reinterpret_cast<uintptr_t>(at + i) & 1 ? char(0xff) : char(0xfd))) break;
    return i;
}

static Allocation* within(Table& table, uintptr_t address) {
    auto next = table.upper_bound(address);
    if (next == table.begin()) return nullptr;
    Allocation& found = std::prev(next)->second;
    return address <= found.start + found.bytes ? &found : nullptr;
}

Allocation* allocation_of(uintptr_t address) { return within(live, address); }
const Allocation* freed_of(uintptr_t address) { return within(quarantine, address); }

void check_guards(const Allocation& a, const char* after) {
    char* block = static_cast<char*>(a.block);
    size_t before = a.start - reinterpret_cast<uintptr_t>(block);
    size_t behind = a.block_bytes - before - a.bytes;
    size_t clean = unpoisoned(block, before);
    if (clean < before)
        give_up("write outside of device memory: %zu bytes before the %zu bytes of allocation %llu, "
                "found after %s",
                before - clean, a.bytes, static_cast<unsigned long long>(a.number), after);
    clean = unpoisoned(reinterpret_cast<char*>(a.start) + a.bytes, behind);
    if (clean < behind)
        give_up("write outside of device memory: %zu bytes behind the end of the %zu bytes of "
                "allocation %llu, found after %s",
                clean, a.bytes, static_cast<unsigned long long>(a.number), after);
}

static bool reserve(Allocation& a) {
    if (!settings().fence) {
        a.block_bytes = (a.bytes + 2 * GUARD + GUARD - 1) / GUARD * GUARD;
        a.block = aligned_alloc(GUARD, a.block_bytes);
        a.start = reinterpret_cast<uintptr_t>(a.block) + GUARD;
        return a.block != nullptr;
    }
    // The end is as close as alignment allows to a guard page.
    constexpr size_t PAGE = 4096;
    size_t inner = (a.bytes + GUARD + PAGE - 1) / PAGE * PAGE;
    void* pages = mmap(nullptr, inner + 2 * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return false;
    mprotect(pages, PAGE, PROT_NONE);
    mprotect(static_cast<char*>(pages) + PAGE + inner, PAGE, PROT_NONE);
    a.block = static_cast<char*>(pages) + PAGE;
    a.block_bytes = inner;
    a.start = (reinterpret_cast<uintptr_t>(a.block) + inner - a.bytes) / 16 * 16;
    return true;
}

static void give_back(const Allocation& a) {
    if (!settings().fence)
        free(a.block);
    else
        munmap(static_cast<char*>(a.block) - 4096, a.block_bytes + 2 * 4096);
}

static void reserved(Pool& pool) {
    pool.most_used = std::max(pool.most_used, pool.used);
    pool.most_reserved = std::max(pool.most_reserved, pool.used + pool.kept);
}

static CUresult allocate(CUdeviceptr* out, size_t bytes, int ordinal) {
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    Pool& pool = device(ordinal).pool;
    // Pending frees make room once their stream has reached them, as in the real driver.
    if (bytes > settings().memory - pool.used) drain_device(ordinal);
    if (bytes > settings().memory - pool.used) return CUDA_ERROR_OUT_OF_MEMORY;
    Allocation a{0, bytes, ordinal, &pool, false, ++made, nullptr, 0};
    if (!reserve(a)) return CUDA_ERROR_OUT_OF_MEMORY;
    poison(a.block, a.block_bytes);
    pool.used += bytes;
    pool.kept -= std::min(pool.kept, bytes);
    reserved(pool);
    live[a.start] = a;
    *out = a.start;
    return CUDA_SUCCESS;
}

static void release(uintptr_t start, const char* what) {
    auto found = live.find(start);
    if (found == live.end())
        give_up("%s: %p is not the start of live device memory%s", what,
                reinterpret_cast<void*>(start), freed_of(start) ? ", it was freed before" : "");
    Allocation a = found->second;
    check_guards(a, what);
    live.erase(found);
    poison(reinterpret_cast<void*>(a.start), a.bytes);
    a.pool->used -= a.bytes;
    a.pool->kept = std::min(a.pool->threshold, a.pool->kept + a.bytes);
    quarantine[a.start] = a;
    eldest.push_back(a.start);
    quarantined_bytes += a.block_bytes;
    while (quarantined_bytes > (size_t(32) << 20) || eldest.size() > 4096) {
        const Allocation& old = quarantine[eldest.front()];
        if (unpoisoned(old.block, old.block_bytes) < old.block_bytes)
            give_up("allocation %llu of %zu bytes was written after it had been freed",
                    static_cast<unsigned long long>(old.number), old.bytes);
        quarantined_bytes -= old.block_bytes;
        give_back(old);
        quarantine.erase(eldest.front());
        eldest.pop_front();
    }
}

int check_range(CUdeviceptr start, size_t bytes, const char* what) {
    Allocation* a = allocation_of(start);
    if (!a)
        give_up("%s: %p is no device memory%s", what, reinterpret_cast<void*>(start),
                freed_of(start) ? ", it was freed" : "");
    if (bytes > a->start + a->bytes - start)
        give_up("%s: %zu bytes from byte %zu of allocation %llu, which has %zu bytes", what, bytes,
                static_cast<size_t>(start - a->start), static_cast<unsigned long long>(a->number),
                a->bytes);
    return a->device;
}

void check_host(const void* start, size_t bytes, const char* what) {
    uintptr_t address = reinterpret_cast<uintptr_t>(start);
    if (bytes > 0 && (!start || allocation_of(address) || freed_of(address)))
        give_up("%s: %p is no memory of the host", what, start);
}

bool is_pinned(const void* start) {
    uintptr_t address = reinterpret_cast<uintptr_t>(start);
    auto next = pinned.upper_bound(address);
    if (next == pinned.begin()) return false;
    auto found = std::prev(next);
    return address < found->first + found->second;
}

void report_memory() {
    size_t bytes = 0;
    for (auto& entry : live) bytes += entry.second.bytes;
    fprintf(stderr, "fake driver: allocations made %llu, live %zu, of %zu bytes, pinned %zu\n",
            static_cast<unsigned long long>(made), live.size(), bytes, pinned.size());
}

// Called by fake libraries whose functions access device memory.
extern "C" __attribute__((visibility("default"))) void
fake_check_range(CUdeviceptr start, size_t bytes, const char* what) {
    LOCK;
    check_range(start, bytes, what);
}

CUDA cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
    LOCK;
    NEED_CONTEXT;
    return allocate(out, bytes, current()->device);
}

CUDA cuMemFree_v2(CUdeviceptr start) {
    LOCK;
    NEED_CONTEXT;
    drain_device(current()->device);
    if (start) release(start, "cuMemFree");
    return CUDA_SUCCESS;
}

CUDA cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    // A graph would give it a block that is invalid outside of the graph.
    if (stream->capture) give_up("cuMemAllocAsync on a stream that captures");
    return allocate(out, bytes, stream->device);
}

CUDA cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (pool != &device(stream->device).pool) return CUDA_ERROR_INVALID_VALUE;
    return allocate(out, bytes, stream->device);
}

CUDA cuMemFreeAsync(CUdeviceptr start, CUstream handle) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) give_up("cuMemFreeAsync on a stream that captures");
    auto found = live.find(start);
    if (found != live.end()) {
        if (found->second.free_queued) give_up("cuMemFreeAsync: the memory is freed twice");
        if (found->second.device != stream->device)
            give_up("cuMemFreeAsync: memory of device %d on a stream of device %d",
                    found->second.device, stream->device);
        found->second.free_queued = true;
    }
    enqueue(stream, [start] { release(start, "cuMemFreeAsync"); });
    return CUDA_SUCCESS;
}

CUDA cuMemGetInfo_v2(size_t* unused, size_t* total) {
    LOCK;
    NEED_CONTEXT;
    Pool& pool = device(current()->device).pool;
    *total = settings().memory;
    *unused = *total - std::min(*total, pool.used + pool.kept);
    return CUDA_SUCCESS;
}

CUDA cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
    if (ordinal < 0 || ordinal >= settings().devices) return CUDA_ERROR_INVALID_DEVICE;
    *pool = &device(ordinal).pool;
    return CUDA_SUCCESS;
}
CUDA cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
    return cuDeviceGetDefaultMemPool(pool, ordinal);
}

enum { REUSE = 3, THRESHOLD = 4, RESERVED, MOST_RESERVED, USED, MOST_USED };

CUDA cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
    LOCK;
    if (attribute > 0 && attribute <= REUSE) return CUDA_SUCCESS;
    uint64_t wanted;
    memcpy(&wanted, value, sizeof(wanted));
    if (attribute == THRESHOLD)
        pool->threshold = wanted;
    else if (attribute == MOST_RESERVED && wanted == 0)
        pool->most_reserved = pool->used + pool->kept;
    else if (attribute == MOST_USED && wanted == 0)
        pool->most_used = pool->used;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUDA cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
    LOCK;
    uint64_t values[] = {pool->threshold, pool->used + pool->kept, pool->most_reserved, pool->used,
                         pool->most_used};
    if (attribute < THRESHOLD || attribute > MOST_USED) return CUDA_ERROR_INVALID_VALUE;
    memcpy(value, &values[attribute - THRESHOLD], sizeof(uint64_t));
    return CUDA_SUCCESS;
}

CUDA cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    LOCK;
    pool->kept = std::min(pool->kept, keep > pool->used ? keep - pool->used : 0);
    return CUDA_SUCCESS;
}

CUDA cuMemHostAlloc(void** out, size_t bytes, unsigned) {
    LOCK;
    NEED_CONTEXT;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*out) return CUDA_ERROR_OUT_OF_MEMORY;
    poison(*out, bytes);
    pinned[reinterpret_cast<uintptr_t>(*out)] = bytes;
    return CUDA_SUCCESS;
}
CUDA cuMemAllocHost_v2(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUDA cuMemFreeHost(void* start) {
    LOCK;
    NEED_CONTEXT;
    if (pinned.erase(reinterpret_cast<uintptr_t>(start)) == 0) return CUDA_ERROR_INVALID_VALUE;
    // The real driver waits for pending work that may use the memory.
    for (int i = 0; i < settings().devices; i++) drain_device(i);
    free(start);
    return CUDA_SUCCESS;
}

CUDA cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* start, unsigned flags) {
    LOCK;
    NEED_CONTEXT;
    if (flags != 0 || !is_pinned(start)) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<uintptr_t>(start);
    return CUDA_SUCCESS;
}
