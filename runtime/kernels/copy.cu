// Copies between tensors whose innermost dims differ, by tiles that are turned in shared memory.
//
// Defines: T0, the source's dtype; OUT, the result's.
#include "convert.cuh"
#include "index.cuh"

constexpr int SIZE = sizeof(T0) < sizeof(OUT) ? sizeof(OUT) : sizeof(T0);
// The side of a tile: a row of it is at least 64 bytes on either side.
constexpr int TILE = SIZE <= 2 ? 64 : 32;
constexpr int THREADS = 256;
constexpr int LINES = THREADS / TILE;

// `columns` are adjacent in the result, `rows` in the source; steps in bytes. The other dims are outer.
struct Args {
    u8* dest;
    const u8* source;
    u64 columns, rows, tiles;
    i64 dest_row, source_column;
    Strided<2> outer;
};

KERNEL_BOUNDS(transpose, Args, THREADS) {
    // A column more than needed, so that a column's elements lie in different banks.
    SHARED_ARRAY(OUT, tile, TILE * (TILE + 1));
    const u32 lane = threadIdx.x % TILE, line = threadIdx.x / TILE;
    const u64 across = (job.columns + TILE - 1) / TILE, down = (job.rows + TILE - 1) / TILE;
    for (u64 at = blockIdx.x; at < job.tiles; at += gridDim.x) {
        u64 plane = at / (across * down), within = at % (across * down);
        u64 column = within % across * TILE, row = within / across * TILE;
        i64 start[2];
        offsets(job.outer, plane, start);
        const u8* source = job.source + start[1];
        u8* dest = job.dest + start[0];
#pragma unroll
        for (int i = 0; i < TILE; i += LINES) {
            u64 x = column + line + i, y = row + lane;
            if (x < job.columns && y < job.rows) {
                const u8* from = source + (i64)x * job.source_column + y * sizeof(T0);
                tile[lane * (TILE + 1) + line + i] = convert<OUT>(*reinterpret_cast<const T0*>(from));
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i += LINES) {
            u64 x = column + lane, y = row + line + i;
            if (x < job.columns && y < job.rows) {
                u8* to = dest + (i64)y * job.dest_row + x * sizeof(OUT);
                *reinterpret_cast<OUT*>(to) = tile[(line + i) * (TILE + 1) + lane];
            }
        }
        __syncthreads();
    }
}
