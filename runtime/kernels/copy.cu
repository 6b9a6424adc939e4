// Copies between tensors whose innermost dims differ, by tiles that are transposed in shared memory.
//
// Defines: T0, the source's dtype; OUT, the result's; PACK, the number of elements of one access, if it is more than
// one: then all offsets and both sizes are multiples of it.
#include "convert.cuh"
#include "index.cuh"

#ifndef PACK
#define PACK 1
#endif

constexpr int SIZE = sizeof(T0) < sizeof(OUT) ? sizeof(OUT) : sizeof(T0);
// The side of a tile: a row is at least 64 bytes on either side, or, with packs, a warp's accesses.
constexpr int TILE = PACK > 1 ? 32 * PACK : SIZE <= 2 ? 64 : 32;
// One extra column, so that the elements of a column are in different banks.
constexpr int PITCH = TILE + 1;
constexpr int THREADS = 256;
constexpr int LANES = TILE / PACK, LINES = THREADS / LANES;
constexpr u32 COUNT = TILE / LINES;

// `columns` are adjacent in the result, `rows` in the source; steps are in bytes. The other dims are `outer`. `across`
// and `down` are the numbers of tiles along columns and rows; the total is below 2^31.
struct Args {
    u8* dest;
    const u8* source;
    u64 columns, rows;
    i64 dest_row, source_column;
    Divider across, down;
    u32 tiles, pad;
    Strided<2> outer;
};

// The type of one load: a pack is loaded as an integer, so that it is split only after it has arrived.
template <bool packed> struct WordOf {
    using Type = T0;
};
template <> struct WordOf<true> {
    using Type = u32;
};
using Word = WordOf<(PACK > 1)>::Type;
static_assert(sizeof(Word) == sizeof(T0) * PACK, "packs are read as words");

// Returns the number of this thread's lines from `at` on that are before `end`.
DEVICE u32 lines(u64 at, u64 end, bool any) {
    const u64 left = any && at < end ? (end - at + LINES - 1) / LINES : 0;
    return left < COUNT ? (u32)left : COUNT;
}

KERNEL_BOUNDS(transpose, Args, THREADS) {
    SHARED_ARRAY(OUT, tile, TILE * PITCH);
    const u32 lane = threadIdx.x % LANES * PACK, line = threadIdx.x / LANES;
    OUT* const put = tile + lane * PITCH + line;
    const OUT* const take = tile + line * PITCH + lane;
    for (u32 at = blockIdx.x; at < job.tiles; at += gridDim.x) {
        const u32 band = job.across.quotient(at), plane = job.down.quotient(band);
        const u64 column = static_cast<u64>(at - band * job.across.size) * TILE;
        const u64 row = static_cast<u64>(band - plane * job.down.size) * TILE;
        i64 start[2];
        offsets(job.outer, plane, start);
        const u8* source = job.source + start[1];
        u8* dest = job.dest + start[0];
        // This thread's valid lines on either side.
        const u32 read = lines(column + line, job.columns, row + lane < job.rows);
        const u32 written = lines(row + line, job.rows, column + lane < job.columns);
        const u8* from = source + (i64)(column + line) * job.source_column + (row + lane) * sizeof(T0);
        // Issue all loads before the first store.
        Word words[COUNT];
#pragma unroll
        for (u32 i = 0; i < COUNT; i++, from += LINES * job.source_column) {
            words[i] = {};
            if (i < read) words[i] = *reinterpret_cast<const Word*>(from);
        }
#pragma unroll
        for (u32 i = 0; i < COUNT; i++) {
            const auto pack = *reinterpret_cast<const Pack<T0, PACK>*>(&words[i]);
#pragma unroll
            for (int j = 0; j < PACK; j++) put[j * PITCH + (int)i * LINES] = convert<OUT>(pack[j]);
        }
        __syncthreads();
        u8* to = dest + (i64)(row + line) * job.dest_row + (column + lane) * sizeof(OUT);
#pragma unroll
        for (u32 i = 0; i < COUNT; i++, to += LINES * job.dest_row) {
            Pack<OUT, PACK> pack;
#pragma unroll
            for (int j = 0; j < PACK; j++) pack[j] = take[(int)i * LINES * PITCH + j];
            if (i < written) *reinterpret_cast<Pack<OUT, PACK>*>(to) = pack;
        }
        __syncthreads();
    }
}
