// The built-ins that NVRTC provides without any header, for the system's C++ compiler: a kernel
// then runs on the CPU, with each thread of a block as a fibre of the fake driver.
//
// No standard header is included, because the tests compile thousands of modules.
#ifndef NOMINA_HOST_SHIM_H
#define NOMINA_HOST_SHIM_H

#include "state.h"

#define __device__
#define __host__
#define __global__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
// Arrays must be declared by macros, because poison and guards need to know them.
#define __shared__ use_SHARED_ARRAY_or_DYN_SHARED

#define SHIM_EXPORT extern "C" __attribute__((visibility("default")))

static ShimState shim_state;
SHIM_EXPORT ShimState* shim_attach();
ShimState* shim_attach() { return &shim_state; }

#define threadIdx (shim_state.thread)
#define blockIdx (shim_state.block)
#define blockDim (shim_state.block_size)
#define gridDim (shim_state.grid_size)
constexpr int warpSize = 32;

// The name may be a macro, as on a device.
#define KERNEL(name, Args) SHIM_KERNEL(name, Args)
#define KERNEL_BOUNDS(name, Args, threads)                                                         \
    SHIM_THREADS(name, threads)                                                                    \
    SHIM_KERNEL(name, Args)
#define SHIM_THREADS(name, threads)                                                                \
    SHIM_EXPORT const unsigned long name##__threads;                                               \
    const unsigned long name##__threads = threads;
#define SHIM_KERNEL(name, Args)                                                                    \
    static void name##__body(const Args& job);                                                     \
    SHIM_EXPORT const unsigned long name##__size;                                                  \
    const unsigned long name##__size = sizeof(Args);                                               \
    SHIM_EXPORT const unsigned long name##__align;                                                 \
    const unsigned long name##__align = alignof(Args);                                             \
    SHIM_EXPORT void name(const void* job);                                                        \
    void name(const void* job) { name##__body(*static_cast<const Args*>(job)); }                   \
    static void name##__body(const Args& job)

inline void* shim_shared(ShimSlot* slot, unsigned long bytes, unsigned long align, ShimSite site) {
    if (slot->epoch == shim_state.epoch) return slot->place;
    return shim_state.shared(slot, bytes, align, site);
}
#define SHARED_ARRAY(T, name, N)                                                                   \
    static ShimSlot name##__slot;                                                                  \
    T(&name)[N] = *static_cast<T(*)[N]>(                                                           \
        shim_shared(&name##__slot, sizeof(T[N]), alignof(T), ShimSite{__FILE__, __LINE__}))
#define DYN_SHARED(T, name) T* const name = static_cast<T*>(shim_state.dynamic)

#define SHIM_SITE                                                                                  \
    const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __trap(SHIM_SITE) { shim_state.fail("__trap", {file, line}); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned) {}

inline void __syncthreads(SHIM_SITE) { shim_state.block_barrier(SHIM_SYNC, 0, {file, line}); }
inline int __syncthreads_count(int value, SHIM_SITE) {
    return shim_state.block_barrier(SHIM_COUNT, value, {file, line});
}
inline int __syncthreads_and(int value, SHIM_SITE) {
    return shim_state.block_barrier(SHIM_ALL, value, {file, line});
}
inline int __syncthreads_or(int value, SHIM_SITE) {
    return shim_state.block_barrier(SHIM_ANY, value, {file, line});
}

inline void __syncwarp(unsigned mask = 0xffffffffu, SHIM_SITE) {
    shim_state.warp(SHIM_SYNC, mask, 0, 0, {file, line});
}
inline int __all_sync(unsigned mask, int value, SHIM_SITE) {
    return static_cast<int>(shim_state.warp(SHIM_ALL, mask, value != 0, 0, {file, line}));
}
inline int __any_sync(unsigned mask, int value, SHIM_SITE) {
    return static_cast<int>(shim_state.warp(SHIM_ANY, mask, value != 0, 0, {file, line}));
}
inline unsigned __ballot_sync(unsigned mask, int value, SHIM_SITE) {
    return static_cast<unsigned>(shim_state.warp(SHIM_BALLOT, mask, value != 0, 0, {file, line}));
}
inline unsigned __activemask() { return shim_state.live_lanes(); }

// The types that shuffles support under NVRTC.
template <class T> constexpr bool shim_shuffled = false;
template <> constexpr bool shim_shuffled<int> = true;
template <> constexpr bool shim_shuffled<unsigned> = true;
template <> constexpr bool shim_shuffled<long> = true;
template <> constexpr bool shim_shuffled<unsigned long> = true;
template <> constexpr bool shim_shuffled<long long> = true;
template <> constexpr bool shim_shuffled<unsigned long long> = true;
template <> constexpr bool shim_shuffled<float> = true;
template <> constexpr bool shim_shuffled<double> = true;

template <class T>
T shim_shuffle(ShimOp op, unsigned mask, T value, unsigned source, ShimSite site) {
    static_assert(shim_shuffled<T>, "a shuffle moves 4 or 8 bytes of a number");
    unsigned long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = shim_state.warp(op, mask, bits, source, site);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, SHIM_SITE) {
    unsigned first = shim_state.lane & ~static_cast<unsigned>(width - 1);
    unsigned source = first | (static_cast<unsigned>(lane) & static_cast<unsigned>(width - 1));
    return shim_shuffle(SHIM_SHUFFLE, mask, value, source, {file, line});
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SHIM_SITE) {
    unsigned own = shim_state.lane, within = own & static_cast<unsigned>(width - 1);
    return shim_shuffle(SHIM_SHUFFLE_UP, mask, value, delta > within ? own : own - delta,
                        {file, line});
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SHIM_SITE) {
    unsigned own = shim_state.lane, within = own & static_cast<unsigned>(width - 1);
    bool beyond = within + delta >= static_cast<unsigned>(width);
    return shim_shuffle(SHIM_SHUFFLE_DOWN, mask, value, beyond ? own : own + delta, {file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32, SHIM_SITE) {
    unsigned own = shim_state.lane, last = own | static_cast<unsigned>(width - 1);
    unsigned source = own ^ static_cast<unsigned>(flip);
    return shim_shuffle(SHIM_SHUFFLE_XOR, mask, value, source > last ? own : source, {file, line});
}

template <class T> unsigned __match_any_sync(unsigned mask, T value, SHIM_SITE) {
    static_assert(shim_shuffled<T>, "a match compares 4 or 8 bytes of a number");
    unsigned long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return static_cast<unsigned>(shim_state.warp(SHIM_MATCH, mask, bits, 0, {file, line}));
}

inline unsigned shim_combine(ShimOp op, unsigned mask, unsigned value, ShimSite site) {
    return static_cast<unsigned>(shim_state.warp(op, mask, value, 0, site));
}
// Flipping the sign bit makes the unsigned order the signed one.
inline int shim_combine_signed(ShimOp op, unsigned mask, int value, ShimSite site) {
    return static_cast<int>(shim_combine(op, mask, static_cast<unsigned>(value) ^ 0x80000000u, site)
                            ^ 0x80000000u);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value, SHIM_SITE) {
    return shim_combine(SHIM_SUM, mask, value, {file, line});
}
inline int __reduce_add_sync(unsigned mask, int value, SHIM_SITE) {
    return static_cast<int>(
        shim_combine(SHIM_SUM, mask, static_cast<unsigned>(value), {file, line}));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value, SHIM_SITE) {
    return shim_combine(SHIM_LEAST, mask, value, {file, line});
}
inline int __reduce_min_sync(unsigned mask, int value, SHIM_SITE) {
    return shim_combine_signed(SHIM_LEAST, mask, value, {file, line});
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value, SHIM_SITE) {
    return shim_combine(SHIM_GREATEST, mask, value, {file, line});
}
inline int __reduce_max_sync(unsigned mask, int value, SHIM_SITE) {
    return shim_combine_signed(SHIM_GREATEST, mask, value, {file, line});
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, SHIM_SITE) {
    return shim_combine(SHIM_AND, mask, value, {file, line});
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, SHIM_SITE) {
    return shim_combine(SHIM_OR, mask, value, {file, line});
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, SHIM_SITE) {
    return shim_combine(SHIM_XOR, mask, value, {file, line});
}

#include "shim_atomics.h"
#include "shim_bits.h"
#include "shim_math.h"
#include "shim_warpgroup.h"
#include "shim_checks.h"

#endif
