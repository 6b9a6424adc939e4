// Shared code of the fake libraries other than the driver: access to driver functions, checks, and objects that detect
// use after destruction.
#ifndef NOMINA_HOST_LIBRARY_H
#define NOMINA_HOST_LIBRARY_H

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include "shim.h"

#include "../types.cuh"

[[noreturn]] __attribute__((format(printf, 1, 2))) static void give_up(const char* format, ...) {
    va_list rest;
    va_start(rest, format);
    fputs("fake " LIBRARY ": ", stderr);
    vfprintf(stderr, format, rest);
    fputc('\n', stderr);
    abort();
}

template <class F> static F driver(const char* name) {
    static void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) give_up("the driver is not loaded");
    void* symbol = dlsym(library, name);
    if (!symbol) give_up("the driver has no %s", name);
    return reinterpret_cast<F>(symbol);
}

static bool has_context() {
    void* context = nullptr;
    driver<int (*)(void**)>("cuCtxGetCurrent")(&context);
    return context;
}

// Enqueues `work` on the stream; if it is captured, each launch of the graph runs it again.
template <class Job> static bool enqueue(void* stream, void (*work)(void*), Job* job) {
    using Enqueue = int (*)(void*, void (*)(void*), void*, void (*)(void*));
    auto end = [](void* data) { delete static_cast<Job*>(data); };
    return driver<Enqueue>("fake_enqueue")(stream, work, job, end) == 0;
}

static void check_range(const void* start, u64 bytes, const char* what) {
    static auto check = driver<void (*)(u64, size_t, const char*)>("fake_check_range");
    check(reinterpret_cast<u64>(start), bytes, what);
}

// Destroyed objects are never freed, so that later use is detected.
constexpr u64 DEAD = 0xdead'0bec;
template <class T> static bool is(const T* object, u64 magic, const char* what) {
    if (!object) return false;
    if (object->magic == DEAD) give_up("a %s is used after it was destroyed", what);
    if (object->magic != magic) give_up("something else is passed as a %s", what);
    return true;
}

// Rounds an operand like TF32 tensor cores.
static inline f32 to_tf32(f32 x) {
    u32 bits;
    memcpy(&bits, &x, 4);
    if ((bits & 0x7f800000) != 0x7f800000) bits = (bits + 0x0fff + ((bits >> 13) & 1)) & ~0x1fffu;
    memcpy(&x, &bits, 4);
    return x;
}

#endif
