// The first few elements of long lines in order, without sorting the rest: a radix select, from the highest digit, of
// the key at the wanted position; then the elements that are not beyond it.
#include "keys.cuh"
#include "running.cuh"

constexpr u32 THREADS = 256, ITEMS = 16, TILE = THREADS * ITEMS, DIGITS = 256;

// The number of keys that a thread loads at once and keeps; wide positions leave no registers for more.
constexpr u32 AHEAD = sizeof(INDEX) > 4 ? 1 : 4;

constexpr u32 FIRST = 0, NTH = 1, MEDIAN = 2;

// The state of a line's selection: the key's highest digits, and the rank among the elements that share them; in the
// end, the rank among the elements with this key.
struct State {
    u64 key, rank;
};

struct Select {
    Lines lines;
    State* states;
    // For each line, the number of NaN, and the count of each digit among the candidates.
    u64* nans;
    u64* counts;
    // For each line and tile, the number of elements that precede the key, and that equal it.
    INDEX* before;
    INDEX* equal;
    // The selected elements, line after line, in their original order.
    Bits* keys;
    INDEX* places;
    u64 tiles, results;
    u32 task, shift, ignore_nan, pad;
};

KERNEL_BOUNDS(select_nans, Select, 256) {
    INDEX tiles = job.tiles;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        u32 found = 0;
        Keys(job.lines, line).each<THREADS, ITEMS>(tile * TILE, [&](Bits key, INDEX) { found += key_is_nan(key); });
        found = block_reduce(found, Plus(), 0u);
        if (threadIdx.x == 0 && found > 0) atomicAdd(&job.nans[line], static_cast<u64>(found));
    }
}

KERNEL_BOUNDS(select_start, Select, 256) {
    for (INDEX line = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x;
         line < job.lines.count; line += static_cast<INDEX>(gridDim.x) * THREADS) {
        u64 rank = job.task == FIRST ? job.results - 1 : job.results;
        if (job.task == MEDIAN) {
            u64 nans = job.nans[line], numbers = job.lines.len - nans;
            if (job.ignore_nan == 0 && nans > 0)
                rank = numbers;
            else
                rank = numbers == 0 ? 0 : (numbers - 1) / 2;
        }
        job.states[line] = State{0, rank};
    }
}

KERNEL_BOUNDS(select_counts, Select, 256) {
    SHARED_ARRAY(u32, counts, DIGITS);
    INDEX tiles = job.tiles;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        counts[threadIdx.x] = 0;
        __syncthreads();
        u64 known = job.states[line].key >> job.shift >> 8;
        Keys(job.lines, line).each<THREADS, ITEMS>(tile * TILE, [&](u64 key, INDEX) {
            if (key >> job.shift >> 8 == known)
                atomicAdd(&counts[(key >> job.shift) & (DIGITS - 1)], 1u);
        });
        __syncthreads();
        u32 count = counts[threadIdx.x];
        if (count > 0)
            atomicAdd(&job.counts[static_cast<u64>(line) * DIGITS + threadIdx.x],
                      static_cast<u64>(count));
        __syncthreads();
    }
}

// One block per line.
KERNEL_BOUNDS(select_digit, Select, 256) {
    for (INDEX line = blockIdx.x; line < job.lines.count; line += gridDim.x) {
        u64* counts = job.counts + static_cast<u64>(line) * DIGITS;
        u64 count = counts[threadIdx.x], rank = job.states[line].rank, all;
        u64 before = sum_before(count, all);
        counts[threadIdx.x] = 0;
        // All threads have read the state before the one whose digit contains the rank changes it.
        if (before <= rank && rank < before + count) {
            job.states[line].key |= static_cast<u64>(threadIdx.x) << job.shift;
            job.states[line].rank = rank - before;
        }
        __syncthreads();
    }
}

KERNEL_BOUNDS(select_tiles, Select, 256) {
    INDEX tiles = job.tiles;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        Bits chosen = job.states[line].key;
        // Both counts in one number: a tile's count fits into half of it.
        u32 found = 0;
        Keys(job.lines, line).each<THREADS, ITEMS>(tile * TILE, [&](Bits key, INDEX) {
            found += key < chosen ? 0x10000 : key == chosen ? 1 : 0;
        });
        found = block_reduce(found, Plus(), 0u);
        if (threadIdx.x == 0) {
            job.before[line * tiles + tile] = found >> 16;
            job.equal[line * tiles + tile] = found & 0xffff;
        }
    }
}

// One block per line.
KERNEL_BOUNDS(select_starts, Select, 256) {
    for (INDEX line = blockIdx.x; line < job.lines.count; line += gridDim.x) {
        scan_in_place(job.before + line * static_cast<INDEX>(job.tiles), job.tiles, 1);
        scan_in_place(job.equal + line * static_cast<INDEX>(job.tiles), job.tiles, 1);
    }
}

// Keeps the elements that precede the key, and the required number of those that equal it; or, if a single element is
// wanted, writes that one.
KERNEL_BOUNDS(select_keep, Select, 256) {
    INDEX tiles = job.tiles, results = job.results;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        Bits chosen = job.states[line].key;
        INDEX rank = job.states[line].rank;
        INDEX before = job.before[cell], equal = job.equal[cell];
        // A tile without selected elements is not read again.
        if (tile + 1 < tiles && job.before[cell + 1] == before &&
            (equal > rank || job.equal[cell + 1] == equal))
            continue;
        const Keys source(job.lines, line);
        for (u32 group = 0; group < TILE; group += AHEAD * THREADS) {
            const INDEX first = tile * TILE + group + threadIdx.x;
            Bits keys[AHEAD];
            source.read(first, THREADS, keys);
#pragma unroll
            for (u32 n = 0; n < AHEAD; n++) {
                const INDEX at = first + n * THREADS;
                const Bits key = keys[n];
                u32 own = at >= source.len ? 0 : key < chosen ? 0x10000 : key == chosen ? 1 : 0;
                u32 all, lower = sum_before(own, all);
                INDEX own_before = before + (lower >> 16), own_equal = equal + (lower & 0xffff);
                if (own != 0 && job.task == FIRST) {
                    // The first `rank + 1` elements with this key are kept.
                    INDEX kept = own_equal < rank + 1 ? own_equal : rank + 1;
                    if (own != 1 || own_equal <= rank) {
                        job.keys[line * results + own_before + kept] = key;
                        job.places[line * results + own_before + kept] = at;
                    }
                } else if (own == 1 && own_equal == rank) {
                    put(job.lines, line, 0, key, at);
                }
                before += all >> 16;
                equal += all & 0xffff;
            }
        }
    }
}
