// Tiles of lines that follow each other, each by a block of its own: what stands before a tile is found from what the
// tiles before it have published.
//
// Tiles are taken by number: whoever has taken one, all before it were taken by blocks that run or have ended, so that
// waiting for them ends. What stands before a tile is joined in order from the first tile of its line on, whichever
// of them had got how far: results have the same bits each time.
#ifndef NOMINA_TURNS_CUH
#define NOMINA_TURNS_CUH

#include "block.cuh"

// How far a tile is: its sum is there, or that of its line up to its end as well.
#define SUMMED 1u
#define DONE 2u

// What a thread sees in `at` was written together with all that its writer had written before.
DEVICE u32 acquire(const u32* at) {
#ifdef __CUDACC_RTC__
    u32 found;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(at) : "memory");
    return found;
#else
    return *at;
#endif
}

// Whoever sees `value` in `at` sees all that this thread has written before.
DEVICE void release(u32* at, u32 value) {
#ifdef __CUDACC_RTC__
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
    *at = value;
#endif
}

// A number for tiles to be taken, how far each is, and two results of each: its sum, and that of its line up to its end.
template <class S> struct Turns {
    u64* next;
    u32* states;
    S* results;

    DEVICE void publish(u64 tile, u32 state, S result) const {
        results[2 * tile + (state - SUMMED)] = result;
        release(&states[tile], state);
    }

    // Waits until a tile is at least summed.
    DEVICE u32 state(u64 tile) const {
        u32 found = acquire(&states[tile]);
        while (found == 0) found = acquire(&states[tile]);
        return found;
    }

    // What the tiles from `first` on and before `tile` have together, one at least; all lanes of a warp ask.
    template <class Op> DEVICE S before(u64 first, u64 tile) const {
        const u32 lane = threadIdx.x & 31;
        // The last tile that is done: the first one of a line ends so at once.
        u64 done = tile;
        for (u32 ended = 0; ended == 0;) {
            const u64 from = done - first < 32 ? first : done - 32;
            const u64 mine = from + lane;
            ended = __ballot_sync(FULL_WARP, mine < done && state(mine) == DONE);
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
