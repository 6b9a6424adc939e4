// Convolution as a matrix product: the weight times the elements under the kernel at each
// position. That second matrix is never stored; each block computes the slices it needs.
//
// Rust defines the macros of conv.cuh and slices.cuh.
#include "conv.cuh"
#include "slices.cuh"

KERNEL_BOUNDS(conv_tiles, ConvTiles, THREADS) {
    using Chunk = Pack<A, PACKED<A>>;
    SHARED_ARRAY(Chunk, shared, 2 * SLICE<A> / PACKED<A>);
    SHARED_ARRAY(Site, sites, BN);
    // The taps of a slice and of the next one.
    SHARED_ARRAY(Tap, taps, 2 * BK);
    static_assert(LAST || THREADS % BN == 0, "a thread stays in its column");
    int thread = static_cast<int>(threadIdx.x);
    int row = LAST ? thread % ROWS : thread / COLS, col = LAST ? thread / ROWS : thread % COLS;
    INDEX outs = static_cast<INDEX>(job.outs);
    for (INDEX tile = blockIdx.x; tile < static_cast<INDEX>(job.tiles); tile += gridDim.x) {
        INDEX part = tile;
        INDEX first_row = job.row_tiles.split(part) * BM;
        INDEX first_col = job.col_tiles.split(part) * BN;
        INDEX group = job.groups.split(part);
        INDEX start = part * static_cast<INDEX>(job.share);
        INDEX left = static_cast<INDEX>(job.depth) - start;
        INDEX end = start + (left < static_cast<INDEX>(job.share) ? left : static_cast<INDEX>(job.share));
        auto list_taps = [&](INDEX slice) {
            if (thread < BK) taps[(slice & 1) * BK + thread] = listed(job, start + slice * BK + thread, end);
        };
        // The previous tile may still be in use.
        __syncthreads();
        for (int i = thread; i < BN; i += THREADS) {
            sites[i] = site_of(job, first_col + i);
            sites[i].x += group * static_cast<INDEX>(job.channels) * static_cast<INDEX>(job.x_strides[1]);
        }
        list_taps(0);
        list_taps(1);
        __syncthreads();
        const W* weight = job.weight + static_cast<u64>(group * outs + first_row) * job.depth;
        // With 64-bit indices, a site would take too many registers.
        constexpr bool stays = !LAST && sizeof(INDEX) == 4;
        Site mine = sites[lane_of<false, BN>(thread, 0)];
        INDEX slice = 0;
        A sum[TM][TN];
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) sum[i][j] = nothing<A>();
        auto fetch = [&](A (&a)[FETCH_A], A (&b)[FETCH_B]) {
#pragma unroll
            for (int i = 0; i < FETCH_A; i++) {
                INDEX k = start + slice * BK + depth_of<true, BM>(thread, i), m = lane_of<true, BM>(thread, i);
                bool within = k < end && first_row + m < outs;
                a[i] = within ? static_cast<A>(weight[static_cast<u64>(m) * job.depth + k]) : nothing<A>();
            }
            const Tap* now = taps + (slice & 1) * BK;
#pragma unroll
            for (int i = 0; i < FETCH_B; i++) {
                const Tap& tap = now[depth_of<LAST, BN>(thread, i)];
                b[i] = element(job, stays ? mine : sites[lane_of<LAST, BN>(thread, i)], tap);
            }
            // The previous slice's taps were read before the last barrier.
            if (slice > 0) list_taps(slice + 1);
            slice++;
        };
        A* slices = reinterpret_cast<A*>(shared);
        add_slices<A, true, LAST>(sum, (end - start + BK - 1) / BK, row, col, slices, fetch);
#pragma unroll
        for (int j = 0; j < TN; j++) {
            int n = place_of<A, TN, COLS>(col, j);
            INDEX column = first_col + n;
            if (column >= static_cast<INDEX>(job.columns)) continue;
#pragma unroll
            for (int i = 0; i < TM; i++) {
                INDEX m = first_row + place_of<A, TM, ROWS>(row, i);
                if (m >= outs) continue;
                put(job, sum[i][j], group * outs + m, column, sites[n], part);
            }
        }
    }
}
