// Convolution as a matrix product: the weight times what the kernel sees at each position. That
// second matrix is nowhere in memory; each block makes the slices it needs.
//
// Rust defines T, INDEX, LAST (1 where channels lie innermost, in the input, the weight and the
// result) and what slices.cuh needs.
#include "slices.cuh"

using A = Sum<T>;
using W = Compute<T>;

struct ConvTiles {
    const T* x;
    const W* weight;
    const W* bias;
    T* out;
    // Sums of a part of the depth, where it is split.
    A* partial;
    // Of batch, channels, spatial dims; of batch, channels, positions. In elements.
    i64 x_strides[5], out_strides[3];
    Sliding windows[3];
    // Batch times positions, and all tiles.
    u64 columns, tiles;
    // Channels of a group times taps, and how much of it a split takes.
    u64 depth, share;
    // Channels and output channels of a group.
    u64 channels, outs;
    // What is innermost in the depth: taps, or channels.
    Size inner;
    Size positions, row_tiles, col_tiles, groups;
};

// Where a column's position lies: its elements in the input and in the result, and its first tap.
struct Site {
    INDEX x, out;
    OFFSET z, y, w;
};

DEVICE Site site_of(const ConvTiles& job, INDEX column) {
    Site site;
    if (column >= static_cast<INDEX>(job.columns)) {
        // No tap of it is within.
        site.x = site.out = 0;
        site.z = site.y = site.w = static_cast<OFFSET>(static_cast<INDEX>(1) << (sizeof(INDEX) * 8 - 1));
        return site;
    }
    INDEX batch = column, at = job.positions.split(batch);
    site.out = batch * static_cast<INDEX>(job.out_strides[0]) + at * static_cast<INDEX>(job.out_strides[2]);
    site.w = job.windows[2].first(job.windows[2].out.split(at));
    site.y = job.windows[1].first(job.windows[1].out.split(at));
    site.z = job.windows[0].first(at);
    site.x = batch * static_cast<INDEX>(job.x_strides[0]) +
             static_cast<INDEX>(site.z) * static_cast<INDEX>(job.x_strides[2]) +
             static_cast<INDEX>(site.y) * static_cast<INDEX>(job.x_strides[3]) +
             static_cast<INDEX>(site.w) * static_cast<INDEX>(job.x_strides[4]);
    return site;
}

// A place in the depth: a channel's tap.
struct Tap {
    INDEX x;
    OFFSET z, y, w;
};

DEVICE Tap tap_of(const ConvTiles& job, INDEX depth) {
    INDEX channel = depth, tap = job.inner.split(channel);
    if (LAST) {
        INDEX swap = channel;
        channel = tap;
        tap = swap;
    }
    Tap to;
    to.w = static_cast<OFFSET>(job.windows[2].kernel.split(tap)) * job.windows[2].step();
    to.y = static_cast<OFFSET>(job.windows[1].kernel.split(tap)) * job.windows[1].step();
    to.z = static_cast<OFFSET>(tap) * job.windows[0].step();
    to.x = channel * static_cast<INDEX>(job.x_strides[1]) +
           static_cast<INDEX>(to.z) * static_cast<INDEX>(job.x_strides[2]) +
           static_cast<INDEX>(to.y) * static_cast<INDEX>(job.x_strides[3]) +
           static_cast<INDEX>(to.w) * static_cast<INDEX>(job.x_strides[4]);
    return to;
}

DEVICE A element(const ConvTiles& job, INDEX from, const Site& site, const Tap& tap) {
    bool within = job.windows[2].holds(site.w + tap.w) && job.windows[1].holds(site.y + tap.y) &&
                  job.windows[0].holds(site.z + tap.z);
    return within ? raised(job.x[static_cast<OFFSET>(from + site.x + tap.x)]) : nothing<A>();
}

KERNEL_BOUNDS(conv_tiles, ConvTiles, THREADS) {
    using Chunk = Pack<A, PACKED<A>>;
    SHARED_ARRAY(Chunk, shared, 2 * SLICE<A> / PACKED<A>);
    SHARED_ARRAY(Site, sites, BN);
    int thread = static_cast<int>(threadIdx.x);
    int row = LAST ? thread % ROWS : thread / COLS, col = LAST ? thread / ROWS : thread % COLS;
    INDEX outs = static_cast<INDEX>(job.outs);
    for (INDEX tile = blockIdx.x; tile < static_cast<INDEX>(job.tiles); tile += gridDim.x) {
        INDEX part = tile;
        INDEX first_row = job.row_tiles.split(part) * BM;
        INDEX first_col = job.col_tiles.split(part) * BN;
        INDEX group = job.groups.split(part);
        // The tile before may still be read.
        __syncthreads();
        for (int i = thread; i < BN; i += THREADS) sites[i] = site_of(job, first_col + i);
        __syncthreads();
        INDEX start = part * static_cast<INDEX>(job.share);
        INDEX left = static_cast<INDEX>(job.depth) - start;
        INDEX end = start + (left < static_cast<INDEX>(job.share) ? left : static_cast<INDEX>(job.share));
        INDEX from = group * static_cast<INDEX>(job.channels) * static_cast<INDEX>(job.x_strides[1]);
        const W* weight = job.weight + static_cast<u64>(group * outs + first_row) * job.depth;
        Site mine = sites[lane_of<false, BN>(thread, 0)];
        INDEX at = start;
        A sum[TM][TN];
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) sum[i][j] = nothing<A>();
        auto fetch = [&](A (&a)[FETCH_A], A (&b)[FETCH_B]) {
#pragma unroll
            for (int i = 0; i < FETCH_A; i++) {
                INDEX k = at + depth_of<true, BM>(thread, i), m = lane_of<true, BM>(thread, i);
                bool within = k < end && first_row + m < outs;
                a[i] = within ? static_cast<A>(weight[static_cast<u64>(m) * job.depth + k]) : nothing<A>();
            }
            if (LAST) {
                INDEX k = at + depth_of<true, BN>(thread, 0);
                Tap tap = tap_of(job, k < end ? k : start);
#pragma unroll
                for (int i = 0; i < FETCH_B; i++) {
                    const Site& site = sites[lane_of<true, BN>(thread, i)];
                    b[i] = k < end ? element(job, from, site, tap) : nothing<A>();
                }
            } else {
                static_assert(LAST || THREADS % BN == 0, "a thread stays in its column");
#pragma unroll
                for (int i = 0; i < FETCH_B; i++) {
                    INDEX k = at + depth_of<false, BN>(thread, i);
                    b[i] = k < end ? element(job, from, mine, tap_of(job, k)) : nothing<A>();
                }
            }
            at += BK;
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
                INDEX out = group * outs + m, all = job.groups.count() * outs;
                if (job.partial) {
                    u64 whole = LAST ? (part * job.columns + column) * all + out
                                     : (part * static_cast<u64>(all) + out) * job.columns + column;
                    job.partial[whole] = sum[i][j];
                } else {
                    if (job.bias) add_to(sum[i][j], static_cast<A>(job.bias[out]));
                    INDEX to = sites[n].out + out * static_cast<INDEX>(job.out_strides[1]);
                    job.out[static_cast<OFFSET>(to)] = lowered<T>(sum[i][j]);
                }
            }
        }
    }
}

struct ConvJoin {
    const A* partial;
    const W* bias;
    T* out;
    i64 out_strides[3];
    u64 splits, count;
    Size columns, positions, outs;
};

// The parts of each sum, first to last.
KERNEL(conv_join, ConvJoin) {
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX rest = i, out, column;
        if (LAST) {
            out = job.outs.split(rest);
            column = rest;
        } else {
            column = job.columns.split(rest);
            out = rest;
        }
        A sum = job.partial[i];
        for (u64 part = 1; part < job.splits; part++) add_to(sum, job.partial[part * job.count + i]);
        if (job.bias) add_to(sum, static_cast<A>(job.bias[out]));
        INDEX batch = column, at = job.positions.split(batch);
        INDEX to = batch * static_cast<INDEX>(job.out_strides[0]) +
                   out * static_cast<INDEX>(job.out_strides[1]) + at * static_cast<INDEX>(job.out_strides[2]);
        job.out[static_cast<OFFSET>(to)] = lowered<T>(sum);
    }
}
