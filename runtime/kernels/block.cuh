// Reductions within a warp and a block, in an order that depends only on the block's size.
#ifndef NOMINA_BLOCK_CUH
#define NOMINA_BLOCK_CUH

#include "types.cuh"

constexpr u32 FULL_WARP = 0xffffffffu;

// Returns the linear index of the thread in its block.
DEVICE u32 thread_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

DEVICE u32 threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

// A value viewed as the 4-byte words that a shuffle moves.
template <class T> union LaneWords {
    static constexpr int COUNT = (sizeof(T) + 3) / 4;
    static_assert(sizeof(T) <= 32, "larger values belong into shared memory");
    T value;
    u32 words[COUNT];

    DEVICE LaneWords() {}
};

// Returns the value of the lane whose index differs in the bits of `mask`; all lanes of the warp take part.
template <class T> DEVICE T shuffle_xor(T value, u32 mask) {
    LaneWords<T> from, to;
    if (sizeof(T) < 4) from.words[0] = 0;
    from.value = value;
#pragma unroll
    for (int i = 0; i < LaneWords<T>::COUNT; i++)
        to.words[i] = __shfl_xor_sync(FULL_WARP, from.words[i], mask);
    return to.value;
}

// Returns the value of the lane `delta` below; lanes without one get their own value.
template <class T> DEVICE T shuffle_up(T value, u32 delta) {
    LaneWords<T> from, to;
    if (sizeof(T) < 4) from.words[0] = 0;
    from.value = value;
#pragma unroll
    for (int i = 0; i < LaneWords<T>::COUNT; i++)
        to.words[i] = __shfl_up_sync(FULL_WARP, from.words[i], delta);
    return to.value;
}

// Broadcasts the value of one lane to all lanes.
template <class T> DEVICE T shuffle_from(T value, u32 lane) {
    LaneWords<T> from, to;
    if (sizeof(T) < 4) from.words[0] = 0;
    from.value = value;
#pragma unroll
    for (int i = 0; i < LaneWords<T>::COUNT; i++)
        to.words[i] = __shfl_sync(FULL_WARP, from.words[i], lane);
    return to.value;
}

// Combines all 32 values, in every lane; `combine` is associative and commutative.
template <class T, class F> DEVICE T warp_reduce(T value, F combine) {
#pragma unroll
    for (u32 mask = 16; mask > 0; mask >>= 1) value = combine(value, shuffle_xor(value, mask));
    return value;
}

// Combines the values of all threads, in every thread. The block consists of whole warps, and all of its threads take
// part. It may be called again immediately.
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
