// Single-pass prefix scan with decoupled look-back: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", NVIDIA NVR-2016-002, 2016.
//
// Each line is cut into tiles, and a block scans one tile at a time. It publishes the tile's aggregate, computes the
// exclusive prefix from its predecessors' aggregates and inclusive prefixes (look-back), and publishes its inclusive
// prefix.
//
// Blocks take tiles from a counter: the predecessors of a tile belong to blocks that run or have ended, so waiting for
// them ends. The results are the same in each run: prefixes are always combined in order from the first tile of the
// line on, whichever predecessor already has its inclusive prefix.
#ifndef NOMINA_LOOKBACK_CUH
#define NOMINA_LOOKBACK_CUH

#include "block.cuh"

// The state of a tile: its aggregate is available, or also its inclusive prefix.
#define AGGREGATE 1u
#define PREFIX 2u

// Loads with acquire semantics: everything the writer of the value wrote before is visible to this thread.
DEVICE u32 acquire(const u32* at) {
#ifdef __CUDACC_RTC__
    u32 found;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(at) : "memory");
    return found;
#else
    return *at;
#endif
}

// Stores with release semantics: a thread that acquires `value` sees everything this thread wrote before.
DEVICE void release(u32* at, u32 value) {
#ifdef __CUDACC_RTC__
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
    *at = value;
#endif
}

// The shared state of a scan: the number of the next tile, the state of each tile, and two results for each: its
// aggregate and its inclusive prefix.
template <class S> struct LookBack {
    u64* next;
    u32* states;
    S* results;

    DEVICE void publish(u64 tile, u32 state, S result) const {
        results[2 * tile + (state - AGGREGATE)] = result;
        release(&states[tile], state);
    }

    // Waits until the tile's aggregate is available.
    DEVICE u32 state(u64 tile) const {
        u32 found = acquire(&states[tile]);
        while (found == 0) found = acquire(&states[tile]);
        return found;
    }

    // Looks back: returns the exclusive prefix of `tile`, the combination of the tiles from `first` on, of which there
    // is at least one. All lanes of a warp call it.
    template <class Op> DEVICE S before(u64 first, u64 tile) const {
        const u32 lane = threadIdx.x & 31;
        // The last tile with an inclusive prefix. The first tile of a line publishes it immediately.
        u64 done = tile;
        for (u32 ended = 0; ended == 0;) {
            const u64 from = done - first < 32 ? first : done - 32;
            const u64 mine = from + lane;
            ended = __ballot_sync(FULL_WARP, mine < done && state(mine) == PREFIX);
            done = ended == 0 ? from : from + (31 - __clz(static_cast<int>(ended)));
        }
        state(done);
        S all = results[2 * done + 1];
        for (u64 from = done + 1; from < tile; from += 32) {
            const u32 there = tile - from < 32 ? static_cast<u32>(tile - from) : 32;
            S mine = Op::start();
            if (lane < there) {
                state(from + lane);
                mine = results[2 * (from + lane)];
            }
            for (u32 i = 0; i < there; i++) all = Op::join(all, shuffle_from(mine, i));
        }
        return all;
    }
};

#endif
