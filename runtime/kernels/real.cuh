// Real functions overloaded by argument type, and the extremes of each type.
#ifndef NOMINA_REAL_CUH
#define NOMINA_REAL_CUH

#include "types.cuh"

DEVICE f32 exponential(f32 x) { return expf(x); }
DEVICE f64 exponential(f64 x) { return exp(x); }
DEVICE f32 logarithm(f32 x) { return logf(x); }
DEVICE f64 logarithm(f64 x) { return log(x); }
DEVICE f32 magnitude(f32 x) { return fabsf(x); }
DEVICE f64 magnitude(f64 x) { return fabs(x); }

template <class T> DEVICE bool is_nan(T x) {
    if constexpr (is_float<T>) return x != x;
    else return false;
}
template <class T> DEVICE bool is_finite(T x) { return magnitude(x) < infinity<T>(); }

// Returns the number that differences are taken from: zero if `x` is infinite, since ∞ - ∞ is NaN.
template <class T> DEVICE T origin(T x) { return is_finite(x) ? x : (T)0; }

// Returns the smallest number of a type, and the largest.
template <class T> DEVICE T lowest() {
    if constexpr (is_float<T>) return -infinity<T>();
    else if constexpr (same<T, bool>) return false;
    else if constexpr ((T)-1 > (T)0) return (T)0;
    else return (T)((u64)1 << (8 * sizeof(T) - 1));
}
template <class T> DEVICE T highest() {
    if constexpr (is_float<T>) return infinity<T>();
    else if constexpr (same<T, bool>) return true;
    else return (T)~lowest<T>();
}

#endif
