// Arguments of the attention kernels, and the masking of scores.
#pragma once
#include "tile.cuh"

enum : u32 { UNMASKED, TRUTH, ADDED };

struct Attention {
    Matrix query, key, value, mask, out;
    // The strides of the five operands above.
    Repeats<5> repeats;
    u64 count, length, source, features, width;
    f64 scale;
    u32 causal, masked;
};

DEVICE f32 exponential(f32 x) { return expf(x); }
DEVICE f64 exponential(f64 x) { return exp(x); }

// Returns 2^x within two units in the last place, and 0 below the normal range: a single device instruction.
DEVICE f32 power_of_two(f32 x) {
#ifdef __CUDACC_RTC__
    f32 y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return exp2f(x);
#endif
}

// Returns the score of a query and a key plus the mask's value, or minus infinity if the pair is masked out. `first` is
// the offset of this matrix within the mask; `unit` scales the mask's values to the scale of the scores.
template <class T>
DEVICE Compute<T> seen_score(const Attention& job, i64 first, u64 row, u64 col, Compute<T> score,
                             Compute<T> unit = 1) {
    const Compute<T> nothing = -infinity<Compute<T>>();
    if (row >= job.length || col >= job.source || (job.causal && col > row)) return nothing;
    if (job.masked == UNMASKED) return score;
    const i64 place =
        static_cast<i64>(row) * job.mask.rows + static_cast<i64>(col) * job.mask.cols + first;
    if (job.masked == ADDED)
        return score + widen(reinterpret_cast<const T*>(job.mask.at)[place]) * unit;
    return reinterpret_cast<const bool*>(job.mask.at)[place] ? score : nothing;
}
