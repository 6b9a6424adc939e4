// Shared parts of the convolution kernels: addressing of positions and taps, and the sum of partial results.
//
// Rust defines T, INDEX and LAST (1 if channels are innermost in the input, the weight and the result).
#ifndef NOMINA_CONV_CUH
#define NOMINA_CONV_CUH

#include "window.cuh"

using A = Sum<T>;
using W = Compute<T>;

struct ConvTiles {
    const T* x;
    const W* weight;
    const W* bias;
    T* out;
    // Partial sums, if the depth is split; otherwise null.
    A* partial;
    // Strides in elements: of the input over batch, channels and spatial dims; of the output over batch, channels and
    // positions.
    i64 x_strides[5], out_strides[3];
    Sliding windows[3];
    // Batch size times positions, and the number of tiles.
    u64 columns, tiles;
    // The channels of a group times the taps, and the part of that depth one split covers.
    u64 depth, share;
    // Input and output channels of a group.
    u64 channels, outs;
    // Bit flags: 1 if the input, 2 if the weight is read 16 bytes at a time.
    u64 packed;
    // The innermost dim of the depth: taps, or channels.
    Size inner;
    Size positions, row_tiles, col_tiles, groups;
};

// Addresses of a column's position: element offsets in the input and in the result, and the coordinates of its first
// tap.
struct Site {
    INDEX x, out;
    OFFSET z, y, w;
};

// A coordinate that stays outside of the window whatever nonnegative distance is added to it.
constexpr OFFSET NOWHERE = static_cast<OFFSET>(static_cast<INDEX>(1) << (sizeof(INDEX) * 8 - 1));

DEVICE Site site_of(const ConvTiles& job, INDEX column) {
    Site site;
    if (column >= static_cast<INDEX>(job.columns)) {
        // All of its taps are outside.
        site.x = site.out = 0;
        site.z = site.y = site.w = NOWHERE;
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

// A position along the depth: a tap of one channel.
struct alignas(16) Tap {
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

// Like `tap_of` before `end`; from there on a tap that is outside at every position.
DEVICE Tap listed(const ConvTiles& job, INDEX depth, INDEX end) {
    return depth < end ? tap_of(job, depth) : Tap{0, 0, 0, NOWHERE};
}

DEVICE bool holds(const Sliding& window, OFFSET first, OFFSET tap) {
    return window.holds(static_cast<OFFSET>(static_cast<INDEX>(first) + static_cast<INDEX>(tap)));
}

// Returns whether a position's tap is an element of the input rather than padding.
DEVICE bool within(const ConvTiles& job, const Site& site, const Tap& tap) {
    return holds(job.windows[2], site.w, tap.w) && holds(job.windows[1], site.y, tap.y) &&
           holds(job.windows[0], site.z, tap.z);
}

DEVICE A element(const ConvTiles& job, const Site& site, const Tap& tap) {
    return within(job, site, tap) ? raised(job.x[static_cast<OFFSET>(site.x + tap.x)]) : nothing<A>();
}

// Stores a finished sum in the result, or among the partial sums if the depth is split.
DEVICE void put(const ConvTiles& job, A sum, INDEX out, INDEX column, const Site& site, INDEX part) {
    u64 all = job.groups.size * job.outs;
    if (job.partial) {
        u64 whole = LAST ? (part * job.columns + column) * all + out : (part * all + out) * job.columns + column;
        job.partial[whole] = sum;
        return;
    }
    if (job.bias) add_to(sum, static_cast<A>(job.bias[out]));
    INDEX to = site.out + out * static_cast<INDEX>(job.out_strides[1]);
    job.out[static_cast<OFFSET>(to)] = lowered<T>(sum);
}

struct ConvJoin {
    const A* partial;
    const W* bias;
    T* out;
    i64 out_strides[3];
    u64 splits, count;
    Size columns, positions, outs;
};

// Adds the partial sums of each result, in order.
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

#endif
