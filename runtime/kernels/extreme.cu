// The running maximum or minimum along lines, the last of equal ones; NaN wins.
//
// Long lines are cut into tiles: first the extreme of each tile, then the one before each tile, and then the tile
// itself. Lines that are adjacent in memory get one thread each.
#include "keys.cuh"
#include "running.cuh"

constexpr u32 THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS;

// A key and its position. In this order later elements replace earlier ones unless they are less.
struct Best {
    Bits key;
    INDEX at;
};

struct Later {
    DEVICE Best operator()(Best a, Best b) const { return b.key >= a.key ? b : a; }
};

// Like `Later`, for elements in any order.
struct Latest {
    DEVICE Best operator()(Best a, Best b) const {
        return b.key > a.key || (b.key == a.key && b.at >= a.at) ? b : a;
    }
};

// Keys are reversed for the minimum (`lines.turn`), but NaN stays the largest.
struct Extreme {
    Lines lines;
    // The extreme of each line and tile; then the one before it.
    Bits* keys;
    INDEX* places;
    u64 tiles;
};

// Returns the identity of the combination.
DEVICE Best nothing() { return Best{0, 0}; }

DEVICE Best as_best(const Lines& lines, Bits key, INDEX at) {
    return Best{key_is_nan(static_cast<Bits>(key ^ lines.turned())) ? ALL : key, at};
}
DEVICE Best read(const Lines& lines, INDEX line, INDEX at) {
    return as_best(lines, Keys(lines, line)[at], at);
}

DEVICE void write(const Lines& lines, INDEX line, INDEX at, Best best) {
    // The key of a NaN was reversed back: it makes `put` read the element from the operand.
    bool nan = KIND == 2 && best.key == ALL;
    Bits key = nan ? static_cast<Bits>(ALL ^ lines.turned()) : best.key;
    put(lines, line, at, key, best.at);
}

KERNEL_BOUNDS(extreme_tiles, Extreme, 256) {
    INDEX tiles = job.tiles, len = job.lines.len;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        Best best = nothing();
        Keys(job.lines, line).each<THREADS, ITEMS>(tile * TILE, [&](Bits key, INDEX at) {
            best = Later()(best, as_best(job.lines, key, at));
        });
        best = block_reduce(best, Latest(), nothing());
        if (threadIdx.x == 0) {
            job.keys[cell] = best.key;
            job.places[cell] = best.at;
        }
    }
}

// One block per line.
KERNEL_BOUNDS(extreme_before, Extreme, 256) {
    SHARED_ARRAY(Bits, keys, THREADS);
    SHARED_ARRAY(INDEX, places, THREADS);
    for (INDEX line = blockIdx.x; line < job.lines.count; line += gridDim.x) {
        Best carry = nothing();
        for (INDEX first = 0; first < job.tiles; first += THREADS) {
            INDEX tile = first + threadIdx.x, cell = line * static_cast<INDEX>(job.tiles) + tile;
            bool there = tile < job.tiles;
            Best own = there ? Best{job.keys[cell], job.places[cell]} : nothing(), total;
            Best with = block_scan(own, Later(), total);
            keys[threadIdx.x] = with.key;
            places[threadIdx.x] = with.at;
            __syncthreads();
            Best before = carry;
            if (threadIdx.x > 0)
                before = Later()(carry, Best{keys[threadIdx.x - 1], places[threadIdx.x - 1]});
            if (there) {
                job.keys[cell] = before.key;
                job.places[cell] = before.at;
            }
            carry = Later()(carry, total);
            __syncthreads();
        }
    }
}

KERNEL_BOUNDS(extreme_apply, Extreme, 256) {
    INDEX tiles = job.tiles, len = job.lines.len;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        Best carry = tile == 0 ? nothing() : Best{job.keys[cell], job.places[cell]};
        for (u32 first = 0; first < TILE; first += THREADS) {
            INDEX at = tile * TILE + first + threadIdx.x;
            Best total;
            Best own = at < len ? read(job.lines, line, at) : nothing();
            Best best = Later()(carry, block_scan(own, Later(), total));
            if (at < len) write(job.lines, line, at, best);
            carry = Later()(carry, total);
        }
    }
}

KERNEL_BOUNDS(extreme_columns, Extreme, 256) {
    for (INDEX line = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x;
         line < job.lines.count; line += static_cast<INDEX>(gridDim.x) * THREADS) {
        Best best = nothing();
        for (INDEX at = 0; at < job.lines.len; at++) {
            best = Later()(best, read(job.lines, line, at));
            write(job.lines, line, at, best);
        }
    }
}
