// Groups of threads that work on one line together: the x dimension of a block, a power of two. Up
// to 32 threads are a part of a warp, and y counts the groups; a larger group is the whole block.
#ifndef NOMINA_GROUP_CUH
#define NOMINA_GROUP_CUH

#include "block.cuh"

// Merges the states of `lanes` adjacent lanes in order; every lane gets the result. All threads of
// the warp take part.
template <class Op, class S> DEVICE S merge_lanes(S mine, u32 lanes) {
    for (u32 by = 1; by < lanes; by <<= 1) {
        S other = shuffle_xor(mine, by);
        if (threadIdx.x & by) {
            Op::merge(other, mine);
            mine = other;
        } else {
            Op::merge(mine, other);
        }
    }
    return mine;
}

// Like `merge_lanes`, but for all threads along x. `shared` has room for 32 states. If x is wider
// than a warp, every thread of the block takes part.
template <class Op, class S> DEVICE S merge_group(S mine, S* shared) {
    const u32 lanes = blockDim.x;
    if (lanes <= 32) return merge_lanes<Op>(mine, lanes);
    mine = merge_lanes<Op>(mine, 32);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = mine;
    __syncthreads();
    const u32 warps = lanes >> 5;
    return merge_lanes<Op>(shared[threadIdx.x & (warps - 1)], warps);
}

// Returns the exclusive prefix of each of `lanes` adjacent lanes; `all` is the total.
template <class Op, class S> DEVICE S scan_lanes(S mine, u32 lanes, S& all) {
    const u32 lane = threadIdx.x & (lanes - 1);
    for (u32 by = 1; by < lanes; by <<= 1) {
        S other = shuffle_up(mine, by);
        if (lane >= by) mine = Op::join(other, mine);
    }
    all = shuffle_from(mine, (thread_in_block() & 31) | (lanes - 1));
    S found = shuffle_up(mine, 1);
    return lane == 0 ? Op::start() : found;
}

// Like `scan_lanes`, but for all threads along x; `shared` has room for 32 states.
template <class Op, class S> DEVICE S scan_group(S mine, S* shared, S& all) {
    const u32 lanes = blockDim.x;
    if (lanes <= 32) return scan_lanes<Op>(mine, lanes, all);
    S warp;
    S found = scan_lanes<Op>(mine, 32, warp);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = warp;
    __syncthreads();
    const u32 warps = lanes >> 5;
    S earlier = scan_lanes<Op>(shared[threadIdx.x & (warps - 1)], warps, all);
    return Op::join(shuffle_from(earlier, threadIdx.x >> 5), found);
}

#endif
