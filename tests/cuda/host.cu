// Kernels that test the emulated GPU: correct ones, and ones with errors that a GPU would not forgive; one per module.
#include "block.cuh"
#include "index.cuh"
#include "lookback.cuh"

struct Arguments {
    const f32* x;
    f32* y;
    u64 n;
};

DEVICE f32 own_sum(const Arguments& job) {
    f32 sum = 0;
    const f32* x = job.x + blockIdx.x * job.n;
    for (u32 i = threadIdx.x; i < job.n; i += blockDim.x) sum += x[i];
    return sum;
}

#if defined(KERNEL_block_sum) || defined(KERNEL_not_awaited)
#ifdef KERNEL_not_awaited
#define NAME not_awaited
#else
#define NAME block_sum
#endif
KERNEL_BOUNDS(NAME, Arguments, 256) {
    f32 sum = block_reduce(own_sum(job), [](f32 a, f32 b) { return a + b; }, 0.0f);
    if (threadIdx.x == 0) job.y[blockIdx.x] = sum;
}
#endif

#ifdef KERNEL_two_sums
// Two sums in a row, each in every thread: no thread may begin the second while another reads the first.
KERNEL_BOUNDS(two_sums, Arguments, 256) {
    const auto plus = [](f32 a, f32 b) { return a + b; };
    const f32 own = own_sum(job), sum = block_reduce(own, plus, 0.0f);
    const f32 twice = block_reduce(2 * own, plus, 0.0f);
    const u32 wrong = __syncthreads_count(twice != 2 * sum);
    if (threadIdx.x == 0) job.y[blockIdx.x] = wrong == 0 ? sum : -1;
}
#endif

#if defined(KERNEL_tree_sum) || defined(KERNEL_tree_sum_without_barrier)
#ifdef KERNEL_tree_sum
#define NAME tree_sum
#define BARRIER __syncthreads()
#else
#define NAME tree_sum_without_barrier
#define BARRIER
#endif
KERNEL(NAME, Arguments) {
    DYN_SHARED(f32, parts);
    parts[threadIdx.x] = own_sum(job);
    __syncthreads();
    for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        BARRIER;
    }
    if (threadIdx.x == 0) job.y[blockIdx.x] = parts[0];
}
#endif

#ifdef KERNEL_barrier_free
KERNEL(barrier_free, Arguments) {
    if (threadIdx.x == 0) job.y[blockIdx.x] = job.x[blockIdx.x];
}
#endif

#ifdef KERNEL_unset_shared
KERNEL(unset_shared, Arguments) {
    SHARED_ARRAY(f32, parts, 256);
    DYN_SHARED(f32, more);
    if (threadIdx.x == 0) job.y[blockIdx.x] = blockIdx.x % 2 ? parts[7] : more[7];
    __syncthreads();
    parts[threadIdx.x] = more[threadIdx.x] = 1;
}
#endif

#ifdef KERNEL_reads_beyond
KERNEL(reads_beyond, Arguments) {
    f32 sum = 0;
    for (u64 i = 0; i < 6; i++) sum += job.x[6 * job.n + i];
    if (threadIdx.x == 0) job.y[blockIdx.x] = sum;
}
#endif

#ifdef KERNEL_writes_beyond
KERNEL(writes_beyond, Arguments) {
    if (threadIdx.x == 0) job.y[blockIdx.x + 1] = 1;
}
#endif

#ifdef KERNEL_writes_beyond_shared
KERNEL(writes_beyond_shared, Arguments) {
    DYN_SHARED(f32, parts);
    parts[threadIdx.x + 8] = 1;
}
#endif

#ifdef KERNEL_index_beyond
KERNEL(index_beyond, Arguments) {
    SHARED_ARRAY(f32, parts, 128);
    parts[threadIdx.x] = 1;
}
#endif

#ifdef KERNEL_misaligned
KERNEL(misaligned, Arguments) {
    using Four = Pack<f32, 4>;
    Four four = *reinterpret_cast<const Four*>(job.x + 1);
    if (threadIdx.x == 0) job.y[blockIdx.x] = four[0];
}
#endif

#ifdef KERNEL_divergent_barrier
KERNEL(divergent_barrier, Arguments) {
    if (threadIdx.x < 100) {
        __syncthreads();
        job.y[blockIdx.x] = 1;
    } else {
        job.y[blockIdx.x] = 2;
        __syncthreads();
    }
}
#endif

#ifdef KERNEL_divergent_warp
KERNEL(divergent_warp, Arguments) {
    u32 sum = threadIdx.x;
    if (threadIdx.x % 32 < 16) sum = __shfl_xor_sync(FULL_WARP, sum, 1);
    __syncthreads();
    job.y[blockIdx.x] = sum;
}
#endif

#ifdef KERNEL_different_calls
KERNEL(different_calls, Arguments) {
    u32 lane = threadIdx.x % 32;
    if (lane < 8)
        lane = __shfl_up_sync(FULL_WARP, lane, 1);
    else
        lane = __ballot_sync(FULL_WARP, lane > 20);
    job.y[blockIdx.x] = lane;
}
#endif

#ifdef KERNEL_too_many_threads
KERNEL_BOUNDS(too_many_threads, Arguments, 128) { job.y[blockIdx.x] = 0; }
#endif

#ifdef KERNEL_far_away
KERNEL(far_away, Arguments) {
    if (threadIdx.x == 3 && blockIdx.x == 2) job.y[1ull << 40] = 1;
}
#endif

#ifdef KERNEL_warp_calls
// Every lane checks the values it receives; y counts the wrong ones.
KERNEL(warp_calls, Arguments) {
    u32 lane = threadIdx.x % 32, wrong = 0;
    wrong += __shfl_sync(FULL_WARP, lane, 5) != 5;
    wrong += __shfl_sync(FULL_WARP, lane, 3, 8) != lane / 8 * 8 + 3;
    wrong += __shfl_up_sync(FULL_WARP, lane, 4) != (lane < 4 ? lane : lane - 4);
    wrong += __shfl_down_sync(FULL_WARP, lane, 4, 16) != (lane % 16 < 12 ? lane + 4 : lane);
    wrong += __shfl_xor_sync(FULL_WARP, 1.5 * lane, 3) != 1.5 * (lane ^ 3);
    wrong += __ballot_sync(FULL_WARP, lane % 3 == 0) != 0x49249249;
    wrong += !__any_sync(FULL_WARP, lane == 31) + __all_sync(FULL_WARP, lane == 31);
    wrong += __popc(__match_any_sync(FULL_WARP, lane / 8)) != 8;
    wrong += __reduce_add_sync(FULL_WARP, lane) != 496;
    wrong += __reduce_max_sync(FULL_WARP, -static_cast<i32>(lane)) != 0;
    wrong += __syncthreads_count(lane == 1) != 8;
    wrong += !__syncthreads_or(threadIdx.x == 255) + __syncthreads_and(threadIdx.x != 255);
    if (lane < 16) {
        wrong += __shfl_xor_sync(0xffffu, lane, 8) != (lane ^ 8);
        __syncwarp(0xffffu);
    }
    if (threadIdx.x >= 128) return; // the other threads continue without them
    __syncthreads();
    struct Wide {
        u64 a, b, c;
    };
    Wide wide = shuffle_xor(Wide{lane, lane + 1ull, lane + 2ull}, 16);
    wrong += wide.a != (lane ^ 16) || wide.c != (lane ^ 16) + 2;
    u32 total = __reduce_add_sync(FULL_WARP, wrong);
    if (threadIdx.x == 0) job.y[blockIdx.x] = total;
}
#endif

#ifdef KERNEL_look_back_in_order
// Every order of joining gives a different result.
struct Fading {
    static DEVICE f32 start() { return 0; }
    static DEVICE f32 join(f32 x, f32 y) { return 0.75f * x + y; }
};

// In each block's line one tile has its prefix and all tiles after it their sums: at either end, and some warps before.
KERNEL_BOUNDS(look_back_in_order, Arguments, 256) {
    constexpr u32 FIRST = 3, TILE = 140;
    const u32 places[6] = {FIRST, 4, 75, 76, TILE - 32, TILE - 1}, done = places[blockIdx.x];
    u32* const states = reinterpret_cast<u32*>(const_cast<f32*>(job.x) + blockIdx.x * job.n);
    const LookBack<f32> look_back = {nullptr, states, reinterpret_cast<f32*>(states + TILE)};
    const auto sum = [](u32 tile) { return static_cast<f32>(tile * 37 % 11) - 4; };
    f32 want = sum(FIRST), line = want;
    for (u32 tile = FIRST + 1; tile < TILE; tile++) {
        want = Fading::join(want, sum(tile));
        if (tile == done) line = want;
    }
    for (u32 tile = threadIdx.x; tile < TILE; tile += blockDim.x) {
        look_back.publish(tile, AGGREGATE, sum(tile));
        if (tile == done) look_back.publish(tile, PREFIX, line);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const f32 found = look_back.before<Fading>(FIRST, TILE);
        if (threadIdx.x == 31) job.y[blockIdx.x] = found == want;
    }
}
#endif

#if defined(KERNEL_wrong_size) || defined(KERNEL_freed_before) || defined(KERNEL_host_pointer)     \
    || defined(KERNEL_other_device)
#if defined(KERNEL_other_device)
#define NAME other_device
#elif defined(KERNEL_freed_before)
#define NAME freed_before
#elif defined(KERNEL_host_pointer)
#define NAME host_pointer
#else
#define NAME wrong_size
#endif
KERNEL(NAME, Arguments) { job.y[blockIdx.x] = job.x[0]; }
#endif

#ifdef KERNEL_does_not_compile
KERNEL(does_not_compile, Arguments) { job.y[0] = nothing_of_this_name; }
#endif
