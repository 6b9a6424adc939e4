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

KERNEL_BOUNDS(transpose, Args, THREADS) {
    SHARED_ARRAY(OUT, tile, TILE * PITCH);
    const u32 lane = threadIdx.x % LANES * PACK, line = threadIdx.x / LANES;
    for (u32 at = blockIdx.x; at < job.tiles; at += gridDim.x) {
        const u32 band = job.across.quotient(at), plane = job.down.quotient(band);
        const u64 column = static_cast<u64>(at - band * job.across.size) * TILE;
        const u64 row = static_cast<u64>(band - plane * job.down.size) * TILE;
        i64 start[2];
        offsets(job.outer, plane, start);
        const u8* source = job.source + start[1];
        u8* dest = job.dest + start[0];
#pragma unroll
        for (int i = 0; i < TILE; i += LINES) {
            const u64 x = column + line + i, y = row + lane;
            if (x < job.columns && y < job.rows) {
                const u8* from = source + (i64)x * job.source_column + y * sizeof(T0);
                const auto pack = *reinterpret_cast<const Pack<T0, PACK>*>(from);
#pragma unroll
                for (int j = 0; j < PACK; j++)
                    tile[(lane + j) * PITCH + line + i] = convert<OUT>(pack[j]);
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i += LINES) {
            const u64 x = column + lane, y = row + line + i;
            if (x < job.columns && y < job.rows) {
                u8* to = dest + (i64)y * job.dest_row + x * sizeof(OUT);
                Pack<OUT, PACK> pack;
#pragma unroll
                for (int j = 0; j < PACK; j++) pack[j] = tile[(line + i) * PITCH + lane + j];
                *reinterpret_cast<Pack<OUT, PACK>*>(to) = pack;
            }
        }
        __syncthreads();
    }
}
