// Copies between tensors whose innermost dims differ, by tiles that are turned in shared memory.
//
// Defines: T0, the source's dtype; OUT, the result's; PACK, how many elements are one access, where it is more
// than one: then all begin at multiples of it, and there are as many of them along either side.
#include "convert.cuh"
#include "index.cuh"

#ifndef PACK
#define PACK 1
#endif

constexpr int SIZE = sizeof(T0) < sizeof(OUT) ? sizeof(OUT) : sizeof(T0);
// The side of a tile: a row of it is at least 64 bytes on either side, and of packs a warp's.
constexpr int TILE = PACK > 1 ? 32 * PACK : SIZE <= 2 ? 64 : 32;
// A column more than needed, so that a column's elements lie in different banks.
constexpr int PITCH = TILE + 1;
constexpr int THREADS = 256;
constexpr int LANES = TILE / PACK, LINES = THREADS / LANES;
constexpr u32 COUNT = TILE / LINES;

// `columns` are adjacent in the result, `rows` in the source; steps in bytes. The other dims are outer. There
// are so many tiles `across` the columns and `down` the rows, and fewer than 2^31 of them all.
struct Args {
    u8* dest;
    const u8* source;
    u64 columns, rows;
    i64 dest_row, source_column;
    Divider across, down;
    u32 tiles, pad;
    Strided<2> outer;
};

// What one access reads: a pack as a number, which is not taken apart before it is there.
template <bool packed> struct WordOf {
    using Type = T0;
};
template <> struct WordOf<true> {
    using Type = u32;
};
using Word = WordOf<(PACK > 1)>::Type;
static_assert(sizeof(Word) == sizeof(T0) * PACK, "packs are read as words");

// How many of a thread's lines are there, of which the first is `at`.
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
        // Lines of this thread's that are there on either side.
        const u32 read = lines(column + line, job.columns, row + lane < job.rows);
        const u32 written = lines(row + line, job.rows, column + lane < job.columns);
        const u8* from = source + (i64)(column + line) * job.source_column + (row + lane) * sizeof(T0);
        // All are asked for before the first is put.
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
