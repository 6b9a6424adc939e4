// Running sums over a block, and over arrays.
#ifndef NOMINA_RUNNING_CUH
#define NOMINA_RUNNING_CUH

#include "block.cuh"

// Returns the inclusive prefix of each thread; all threads of whole warps take part. `combine` is associative, and its
// first argument is the earlier one. `total` is the combination of all threads.
template <class T, class F> DEVICE T block_scan(T value, F combine, T& total) {
    SHARED_ARRAY(LaneWords<T>, warps, 32);
    u32 thread = thread_in_block(), lane = thread % 32, count = threads_of_block() / 32;
#pragma unroll
    for (u32 delta = 1; delta < 32; delta <<= 1) {
        T before = shuffle_up(value, delta);
        if (lane >= delta) value = combine(before, value);
    }
    __syncthreads(); // an earlier call may still be reading
    if (lane == 31) warps[thread / 32].value = value;
    __syncthreads();
    T before = warps[0].value, sum = before;
    for (u32 warp = 1; warp < count; warp++) {
        if (warp == thread / 32) before = sum;
        sum = combine(sum, warps[warp].value);
    }
    total = sum;
    return thread < 32 ? value : combine(before, value);
}

struct Plus {
    template <class T> DEVICE T operator()(T a, T b) const { return a + b; }
};

// Returns the exclusive prefix sum of each thread.
template <class T> DEVICE T sum_before(T value, T& total) {
    return block_scan(value, Plus(), total) - value;
}

// Replaces `count` numbers, `step` apart, by their exclusive prefix sums, and returns the total. Each thread has
// several adjacent numbers, so that there are few rounds with barriers.
template <class T> DEVICE T scan_in_place(T* numbers, u64 count, u64 step) {
    constexpr u32 OWN = 8;
    u32 thread = thread_in_block(), threads = threads_of_block();
    T carry = 0;
    for (u64 first = 0; first < count; first += threads * OWN) {
        const u64 at = first + thread * OWN;
        T own[OWN], sum = 0;
#pragma unroll
        for (u32 n = 0; n < OWN; n++)
            own[n] = at + n < count ? numbers[(at + n) * step] : static_cast<T>(0);
#pragma unroll
        for (u32 n = 0; n < OWN; n++) {
            T value = own[n];
            own[n] = sum;
            sum += value;
        }
        T total, before = carry + sum_before(sum, total);
#pragma unroll
        for (u32 n = 0; n < OWN; n++)
            if (at + n < count) numbers[(at + n) * step] = before + own[n];
        carry += total;
    }
    return carry;
}

#endif
