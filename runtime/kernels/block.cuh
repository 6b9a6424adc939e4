// Reductions within a warp and a block, in an order that depends on nothing but the block's size.
#ifndef NOMINA_BLOCK_CUH
#define NOMINA_BLOCK_CUH

#include "types.cuh"

constexpr u32 FULL_WARP = 0xffffffffu;

// The thread's number in its block.
DEVICE u32 thread_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

DEVICE u32 threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

// A value as the 4-byte words that a shuffle moves.
template <class T> union LaneWords {
    static constexpr int COUNT = (sizeof(T) + 3) / 4;
    static_assert(sizeof(T) <= 32, "larger values belong into shared memory");
    T value;
    u32 words[COUNT];

    DEVICE LaneWords() {}
};

// The value of the lane whose number differs in the bits of `mask`; all lanes of the warp take part.
template <class T> DEVICE T shuffle_xor(T value, u32 mask) {
    LaneWords<T> from, to;
    if (sizeof(T) < 4) from.words[0] = 0;
    from.value = value;
#pragma unroll
    for (int i = 0; i < LaneWords<T>::COUNT; i++)
        to.words[i] = __shfl_xor_sync(FULL_WARP, from.words[i], mask);
    return to.value;
}

// The value of the lane `delta` further down; lanes without one get their own.
template <class T> DEVICE T shuffle_up(T value, u32 delta) {
    LaneWords<T> from, to;
    if (sizeof(T) < 4) from.words[0] = 0;
    from.value = value;
#pragma unroll
    for (int i = 0; i < LaneWords<T>::COUNT; i++)
        to.words[i] = __shfl_up_sync(FULL_WARP, from.words[i], delta);
    return to.value;
}

// The value of one lane, in all of them.
template <class T> DEVICE T shuffle_from(T value, u32 lane) {
    LaneWords<T> from, to;
    if (sizeof(T) < 4) from.words[0] = 0;
    from.value = value;
#pragma unroll
    for (int i = 0; i < LaneWords<T>::COUNT; i++)
        to.words[i] = __shfl_sync(FULL_WARP, from.words[i], lane);
    return to.value;
}

// All 32 values combined, in every lane; `combine` is associative and commutes.
template <class T, class F> DEVICE T warp_reduce(T value, F combine) {
#pragma unroll
    for (u32 mask = 16; mask > 0; mask >>= 1) value = combine(value, shuffle_xor(value, mask));
    return value;
}

// The values of all threads combined, in every thread. The block is of whole warps, and all of its
// threads take part. May be called again at once.
template <class T, class F> DEVICE T block_reduce(T value, F combine, T identity) {
    SHARED_ARRAY(LaneWords<T>, parts, 32);
    u32 thread = thread_in_block(), lane = thread % 32, warps = threads_of_block() / 32;
    value = warp_reduce(value, combine);
    if (warps == 1) return value;
    __syncthreads(); // an earlier call may still be reading
    if (lane == 0) parts[thread / 32].value = value;
    __syncthreads();
    return warp_reduce(lane < warps ? parts[lane].value : identity, combine);
}

#endif
