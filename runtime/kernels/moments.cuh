// Count, mean and sum of squared deviations: blocks of elements are read twice from registers, then merged.
#ifndef NOMINA_MOMENTS_CUH
#define NOMINA_MOMENTS_CUH

#include "real.cuh"

struct Moments {
    f64 count, mean, squares;
};

// Returns whether a sum of squares stayed in the range of its type; otherwise it is recomputed in f64.
DEVICE bool fits_squares(f32 squares) { return squares >= 1e-30f && squares < 1e38f; }
DEVICE bool fits_squares(f64) { return true; }

template <class A> struct MomentsOf {
    using X = A;
    using State = Moments;
    static DEVICE State start() { return {0.0, 0.0, 0.0}; }

    template <int M, class P, class Job>
    static DEVICE void take(State& state, const A (&xs)[M], P, const Job&) {
        A sum = (A)0, off = (A)0, squares = (A)0;
#pragma unroll
        for (int j = 0; j < M; j++) sum += xs[j];
        const A about = sum * (A)(1.0 / M);
#pragma unroll
        for (int j = 0; j < M; j++) {
            const A distance = xs[j] - about;
            off += distance;
            squares += distance * distance;
        }
        if (!fits_squares(squares)) {
#pragma unroll
            for (int j = 0; j < M; j++) {
                const f64 x = (f64)xs[j];
                merge(state, {1.0, x, x - x});
            }
            return;
        }
        // The rounding error between the mean and `about`.
        const f64 rest = (f64)off * (1.0 / M);
        merge(state, {(f64)M, (f64)about + rest, (f64)squares - (f64)off * rest});
    }
    static DEVICE void merge(State& state, const State& other) {
        if (other.count == 0.0) return;
        const f64 count = state.count + other.count, delta = other.mean - state.mean;
        // A small error in the share moves the mean only by a small part of the distance between the two means.
        const f64 share = (f64)((A)other.count / (A)count);
        state.mean += delta * share;
        state.squares += other.squares + delta * delta * state.count * share;
        state.count = count;
    }
};

#endif
