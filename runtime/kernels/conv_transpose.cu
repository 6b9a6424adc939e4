// Transposed convolution as matrix products. Elements of the result that are congruent modulo the
// strides get contributions from the same taps of the kernel: each such phase is a separate
// product, without taps that meet no element.
//
// Rust defines T, INDEX and the macros of slices.cuh.
#include "slices.cuh"

using A = Sum<T>;
using W = Compute<T>;

struct TransposedTiles {
    const T* x;
    // Dims: channels, output channels of a group, taps.
    const W* weight;
    const W* bias;
    // Row-major: batch, output channels, elements.
    T* out;
    // Strides in elements of batch, channels, spatial dims.
    i64 x_strides[5];
    Backward dims[3];
    // Batch size times the elements of a phase, and the number of tiles.
    u64 columns, tiles;
    // Channels and output channels of a group.
    u64 channels, outs;
    // Elements of an output channel; taps of a kernel.
    u64 elements, taps;
    // Slices of a tap's channels.
    u64 slices;
    Size row_tiles, col_tiles, groups;
};

// Addresses of a column: its element in the result, and the position of the phase's first tap.
struct Site {
    INDEX x, out;
    OFFSET z, y, w;
    bool there;
};

// The part of an element's windows that all elements of a phase share along a dim.
struct Phase {
    INDEX first;
    Seen seen;
};

DEVICE Phase phase_of(const Backward& dim, INDEX first) {
    return Phase{first, dim.seen(first + static_cast<INDEX>(dim.before))};
}

DEVICE Site site_of(const TransposedTiles& job, const Phase (&phase)[3], INDEX column) {
    Site site;
    INDEX batch = column, at[3];
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) at[dim] = job.dims[dim].run.split(batch);
    site.w = phase[2].seen.position + static_cast<OFFSET>(at[2]);
    site.y = phase[1].seen.position + static_cast<OFFSET>(at[1]);
    site.z = phase[0].seen.position + static_cast<OFFSET>(at[0]);
    site.there = column < static_cast<INDEX>(job.columns);
#pragma unroll
    for (int dim = 0; dim < 3; dim++) {
        at[dim] = phase[dim].first + at[dim] * job.dims[dim].stride.count();
        site.there = site.there && at[dim] < job.dims[dim].size.count();
    }
    site.out = batch * job.groups.count() * static_cast<INDEX>(job.outs) * static_cast<INDEX>(job.elements) +
               (at[0] * job.dims[1].size.count() + at[1]) * job.dims[2].size.count() + at[2];
    site.x = batch * static_cast<INDEX>(job.x_strides[0]) +
             static_cast<INDEX>(site.z) * static_cast<INDEX>(job.x_strides[2]) +
             static_cast<INDEX>(site.y) * static_cast<INDEX>(job.x_strides[3]) +
             static_cast<INDEX>(site.w) * static_cast<INDEX>(job.x_strides[4]);
    return site;
}

KERNEL_BOUNDS(transposed_tiles, TransposedTiles, THREADS) {
    using Chunk = Pack<A, PACKED<A>>;
    SHARED_ARRAY(Chunk, shared, 2 * SLICE<A> / PACKED<A>);
    SHARED_ARRAY(Site, sites, BN);
    static_assert(THREADS % BN == 0, "a thread stays in its column");
    int thread = static_cast<int>(threadIdx.x), row = thread / COLS, col = thread % COLS;
    INDEX outs = static_cast<INDEX>(job.outs), channels = static_cast<INDEX>(job.channels);
    for (INDEX tile = blockIdx.x; tile < static_cast<INDEX>(job.tiles); tile += gridDim.x) {
        INDEX rest = tile;
        INDEX first_row = job.row_tiles.split(rest) * BM;
        INDEX first_col = job.col_tiles.split(rest) * BN;
        INDEX group = job.groups.split(rest);
        Phase phase[3];
#pragma unroll
        for (int dim = 2; dim >= 0; dim--)
            phase[dim] = phase_of(job.dims[dim], job.dims[dim].phases.split(rest));
        // The previous tile may still be in use.
        __syncthreads();
        for (int i = thread; i < BN; i += THREADS) sites[i] = site_of(job, phase, first_col + i);
        __syncthreads();
        const Site mine = sites[lane_of<false, BN>(thread, 0)];
        INDEX tap[3] = {0, 0, 0}, channel = 0;
        INDEX taps = phase[0].seen.taps * phase[1].seen.taps * phase[2].seen.taps;
        A sum[TM][TN];
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) sum[i][j] = nothing<A>();
        auto fetch = [&](A (&a)[FETCH_A], A (&b)[FETCH_B]) {
            OFFSET back[3];
            INDEX whole = 0;
#pragma unroll
            for (int dim = 0; dim < 3; dim++) {
                const Backward& along = job.dims[dim];
                back[dim] = static_cast<OFFSET>(tap[dim] * static_cast<INDEX>(along.back));
                whole = whole * along.kernel.count() + phase[dim].seen.tap + tap[dim] * along.step.count();
            }
            const W* weight = job.weight + static_cast<u64>(group * channels) * outs * job.taps + whole;
#pragma unroll
            for (int i = 0; i < FETCH_A; i++) {
                INDEX c = channel + depth_of<false, BM>(thread, i);
                INDEX m = first_row + lane_of<false, BM>(thread, i);
                bool within = c < channels && m < outs;
                u64 at = (static_cast<u64>(c) * outs + m) * job.taps;
                a[i] = within ? static_cast<A>(weight[at]) : nothing<A>();
            }
            bool within = mine.there && job.dims[2].holds(mine.w - back[2]) &&
                          job.dims[1].holds(mine.y - back[1]) && job.dims[0].holds(mine.z - back[0]);
            INDEX from = mine.x - static_cast<INDEX>(back[0]) * static_cast<INDEX>(job.x_strides[2]) -
                         static_cast<INDEX>(back[1]) * static_cast<INDEX>(job.x_strides[3]) -
                         static_cast<INDEX>(back[2]) * static_cast<INDEX>(job.x_strides[4]);
#pragma unroll
            for (int i = 0; i < FETCH_B; i++) {
                INDEX c = channel + depth_of<false, BN>(thread, i);
                INDEX at = from + (group * channels + c) * static_cast<INDEX>(job.x_strides[1]);
                b[i] = within && c < channels ? raised(job.x[static_cast<OFFSET>(at)]) : nothing<A>();
            }
            // Advance to the next channels; after the last one, to the next tap.
            channel += BK;
            if (channel < channels) return;
            channel = 0;
            if (++tap[2] < phase[2].seen.taps) return;
            tap[2] = 0;
            if (++tap[1] < phase[1].seen.taps) return;
            tap[1] = 0;
            ++tap[0];
        };
        INDEX slices = taps * static_cast<INDEX>(job.slices);
        add_slices<A, false, false>(sum, slices, row, col, reinterpret_cast<A*>(shared), fetch);
#pragma unroll
        for (int j = 0; j < TN; j++) {
            Site site = sites[place_of<A, TN, COLS>(col, j)];
            if (!site.there) continue;
#pragma unroll
            for (int i = 0; i < TM; i++) {
                INDEX m = first_row + place_of<A, TM, ROWS>(row, i);
                if (m >= outs) continue;
                INDEX out = group * outs + m;
                if (job.bias) add_to(sum[i][j], static_cast<A>(job.bias[out]));
                job.out[site.out + out * static_cast<INDEX>(job.elements)] = lowered<T>(sum[i][j]);
            }
        }
    }
}
