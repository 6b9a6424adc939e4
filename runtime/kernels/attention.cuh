// What kernels of attention take, and which scores count.
#pragma once
#include "tile.cuh"

enum : u32 { UNMASKED, TRUTH, ADDED };

struct Attention {
    Matrix query, key, value, mask, out;
    // Of the same five.
    Repeats<5> repeats;
    u64 count, length, source, features, width;
    f64 scale;
    u32 causal, masked;
};

DEVICE f32 exponential(f32 x) { return expf(x); }
DEVICE f64 exponential(f64 x) { return exp(x); }

// The score of a query and a key, with what a mask adds to it; minus infinity where it does not count.
// `first` is how far the mask is from its first matrix.
template <class T>
DEVICE Compute<T> seen_score(const Attention& job, i64 first, u64 row, u64 col, Compute<T> score) {
    const Compute<T> nothing = -infinity<Compute<T>>();
    if (row >= job.length || col >= job.source || (job.causal && col > row)) return nothing;
    if (job.masked == UNMASKED) return score;
    const i64 place =
        static_cast<i64>(row) * job.mask.rows + static_cast<i64>(col) * job.mask.cols + first;
    if (job.masked == ADDED) return score + widen(reinterpret_cast<const T*>(job.mask.at)[place]);
    return reinterpret_cast<const bool*>(job.mask.at)[place] ? score : nothing;
}
