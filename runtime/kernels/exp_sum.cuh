// Sums of exponentials, stored relative to the largest number so far. If that number is infinite, they are relative to
// zero.
#ifndef NOMINA_EXP_SUM_CUH
#define NOMINA_EXP_SUM_CUH

#include "real.cuh"

template <class A> struct ExpState {
    A max, sum;
};

// The maximum ignores NaN; NaN propagates through the sum.
template <class A> struct ExpSum {
    using X = A;
    using State = ExpState<A>;
    static DEVICE State start() { return {-infinity<A>(), (A)0}; }

    // Raises the maximum to `max` and rescales the sum; returns the number that exponents are relative to.
    static DEVICE A raise(State& state, A max) {
        const A old = origin(state.max);
        if (max > state.max) state.max = max;
        const A now = origin(state.max);
        if (state.sum != (A)0 && now != old) state.sum *= exponential(old - now);
        return now;
    }
    template <int M, class P, class Job>
    static DEVICE void take(State& state, const A (&xs)[M], P, const Job&) {
        A max = xs[0];
#pragma unroll
        for (int j = 1; j < M; j++) max = xs[j] > max || is_nan(max) ? xs[j] : max;
        const A from = raise(state, max);
        A sum = (A)0;
#pragma unroll
        for (int j = 0; j < M; j++) sum += exponential(xs[j] - from);
        state.sum += sum;
    }
    static DEVICE void merge(State& state, const State& other) {
        const A from = raise(state, other.max), old = origin(other.max);
        if (other.sum != (A)0)
            state.sum += from == old ? other.sum : other.sum * exponential(old - from);
    }
    static DEVICE f64 logarithm_of(const State& state) {
        return (f64)origin(state.max) + log((f64)state.sum);
    }
};

// Returns exp(z). Not inlined: it is long and has many callers.
__device__ __noinline__ c128 complex_exponential(c128 z) {
    if (z.re == -infinity<f64>() && !is_finite(z.im)) return {0.0, 0.0};
    if (z.re == infinity<f64>() && (z.im == 0.0 || !is_finite(z.im)))
        return {z.re, z.im == 0.0 ? 0.0 : nan<f64>()};
    const f64 size = exp(z.re);
    if (z.im == 0.0) return {size, z.im};
    f64 sine, cosine;
    sincos(z.im, &sine, &cosine);
    return {size * cosine, size * sine};
}
__device__ __noinline__ c128 complex_logarithm(c128 z) {
    return {log(hypot(z.re, z.im)), atan2(z.im, z.re)};
}

struct ComplexExpState {
    f64 max, re, im;
};

// Relative to the largest real part.
struct ComplexExpSum {
    using X = c128;
    using State = ComplexExpState;
    static DEVICE State start() { return {-infinity<f64>(), 0.0, 0.0}; }
    static DEVICE f64 raise(State& state, f64 max) {
        const f64 old = origin(state.max);
        if (max > state.max || is_nan(max)) state.max = max;
        const f64 now = origin(state.max);
        if (now != old && (state.re != 0.0 || state.im != 0.0)) {
            const f64 factor = exp(old - now);
            state.re *= factor;
            state.im *= factor;
        }
        return now;
    }
    template <int M, class P, class Job>
    static DEVICE void take(State& state, const c128 (&xs)[M], P, const Job&) {
        for (int j = 0; j < M; j++) {
            const f64 from = raise(state, xs[j].re);
            const c128 power = complex_exponential({xs[j].re - from, xs[j].im});
            state.re += power.re;
            state.im += power.im;
        }
    }
    static DEVICE void merge(State& state, const State& other) {
        const f64 from = raise(state, other.max), old = origin(other.max);
        if (other.re == 0.0 && other.im == 0.0) return;
        const f64 factor = from == old ? 1.0 : exp(old - from);
        state.re += other.re * factor;
        state.im += other.im * factor;
    }
    static DEVICE c128 logarithm_of(const State& state) {
        const c128 found = complex_logarithm({state.re, state.im});
        return {found.re + origin(state.max), found.im};
    }
};

#endif
