// Masked selection in order: the count of each tile, the output position of each tile, and then the selected elements.
// ELEMENT is a type of the size of an element.
#include "index.cuh"
#include "running.cuh"

constexpr u32 THREADS = 256, ITEMS = 16, TILE = THREADS * ITEMS;

struct Select {
    const u8* mask;
    u64 count, tiles;
    // The count of each tile, then its start in the output; followed by the total.
    u64* starts;
    // The source and the output: elements addressed by `places`, or the selected positions, as a row with one number
    // for each of `rank` dims.
    const ELEMENT* x;
    ELEMENT* out;
    i64* rows;
    // Innermost dim first.
    Strided<1> places;
};

// Returns a thread's bytes of the mask, as bits.
DEVICE u32 taken(const Select& job, u64 tile) {
    u64 first = tile * TILE + threadIdx.x * ITEMS;
    u32 bits = 0;
    if (first + ITEMS <= job.count && reinterpret_cast<u64>(job.mask) % ITEMS == 0) {
        Pack<u8, 16> bytes = *reinterpret_cast<const Pack<u8, 16>*>(job.mask + first);
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) bits |= static_cast<u32>(bytes[i] != 0) << i;
    } else {
        for (u32 i = 0; i < ITEMS; i++)
            if (first + i < job.count) bits |= static_cast<u32>(job.mask[first + i] != 0) << i;
    }
    return bits;
}

KERNEL_BOUNDS(mask_counts, Select, 256) {
    for (u64 tile = blockIdx.x; tile < job.tiles; tile += gridDim.x) {
        u32 found = block_reduce<u32>(__popc(taken(job, tile)), Plus(), 0u);
        if (threadIdx.x == 0) job.starts[tile] = found;
    }
}

// Runs as a single block.
KERNEL_BOUNDS(mask_starts, Select, 1024) {
    u64 all = scan_in_place(job.starts, job.tiles, 1);
    if (threadIdx.x == 0) job.starts[job.tiles] = all;
}

// Lists the positions of a tile's selected elements, in order, and returns their count. Adjacent threads then copy
// adjacent entries, which are contiguous in the output and nearly so in the source.
DEVICE u32 listed(const Select& job, u64 tile, u16* list) {
    u32 bits = taken(job, tile), all;
    // Its barriers also ensure that all threads have read the list of the previous tile.
    u32 to = sum_before<u32>(__popc(bits), all);
    for (; bits != 0; bits &= bits - 1)
        list[to++] = static_cast<u16>(threadIdx.x * ITEMS + __ffs(static_cast<i32>(bits)) - 1);
    __syncthreads();
    return all;
}

// The number of a thread's elements loaded at once.
constexpr u32 AHEAD = 4;

KERNEL_BOUNDS(mask_take, Select, 256) {
    SHARED_ARRAY(u16, list, TILE);
    for (u64 tile = blockIdx.x; tile < job.tiles; tile += gridDim.x) {
        const u32 all = listed(job, tile, list);
        const INDEX from = static_cast<INDEX>(tile * TILE);
        ELEMENT* const out = job.out + job.starts[tile];
        for (u32 i = threadIdx.x; i < all; i += AHEAD * THREADS) {
            i64 offset[AHEAD][1];
            ELEMENT value[AHEAD];
#pragma unroll
            for (u32 u = 0; u < AHEAD; u++)
                offsets(job.places, from + list[i + u * THREADS < all ? i + u * THREADS : i], offset[u]);
#pragma unroll
            for (u32 u = 0; u < AHEAD; u++)
                if (i + u * THREADS < all) value[u] = *at_byte(job.x, offset[u][0]);
#pragma unroll
            for (u32 u = 0; u < AHEAD; u++)
                if (i + u * THREADS < all) out[i + u * THREADS] = value[u];
        }
    }
}

KERNEL_BOUNDS(mask_rows, Select, 256) {
    SHARED_ARRAY(u16, list, TILE);
    for (u64 tile = blockIdx.x; tile < job.tiles; tile += gridDim.x) {
        const u32 all = listed(job, tile, list), rank = job.places.rank;
        i64* const rows = job.rows + job.starts[tile] * rank;
        for (u32 i = threadIdx.x; i < all; i += THREADS) {
            INDEX left = static_cast<INDEX>(tile * TILE) + list[i];
            i64* row = rows + i * rank;
#pragma unroll
            for (u32 dim = 0; dim < 8; dim++) {
                if (dim >= rank) break;
                row[rank - 1 - dim] = split(job.places, left, dim);
            }
        }
    }
}
