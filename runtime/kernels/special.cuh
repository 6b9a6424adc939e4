// Functions of floats and complex numbers, named as in the table's expressions.
//
// If devices have an accurate f32 function, it is used; the other functions of f32 compute in f64.
#ifndef NOMINA_SPECIAL_CUH
#define NOMINA_SPECIAL_CUH

#include "complex.cuh"
#include "special_activation.cuh"
#include "special_bessel.cuh"
#include "special_erf.cuh"
#include "special_gamma.cuh"
#include "special_slope.cuh"
#include "special_whole.cuh"

namespace numeric {

// A function that devices have in both float dtypes, and our own for complex numbers.
#define OF_ANY(name, single, wider, of_complex)                                                    \
    template <class T> DEVICE T name(T x) {                                                        \
        if constexpr (is_complex<T>) return of_complex;                                            \
        else if constexpr (same<T, f32>) return single;                                            \
        else return wider;                                                                         \
    }
#define BY_PLANE(name) in_plane(x, [](c128 z) { return plane::name(z); })
#define BUILTIN(name) OF_ANY(name, ::name##f(x), ::name(x), BY_PLANE(name))

BUILTIN(sin)
BUILTIN(cos)
BUILTIN(tan)
BUILTIN(asin)
BUILTIN(acos)
BUILTIN(atan)
BUILTIN(sinh)
BUILTIN(cosh)
BUILTIN(asinh)
BUILTIN(acosh)
BUILTIN(atanh)
BUILTIN(expm1)
BUILTIN(exp2)
BUILTIN(log1p)
BUILTIN(log2)
BUILTIN(log10)
OF_ANY(exp, ::expf(x), ::exp(x), complex_exp(x))
OF_ANY(log, ::logf(x), ::log(x), complex_log(x))
OF_ANY(sqrt, ::sqrtf(x), ::sqrt(x), BY_PLANE(sqrt))
OF_ANY(tanh, ::tanhf(x), ::tanh(x), complex_tanh(x))
OF_ANY(sigmoid, float_sigmoid(x), float_sigmoid(x), complex_sigmoid(x))
OF_ANY(silu, float_silu(x), float_silu(x), BY_PLANE(silu))
OF_ANY(reciprocal, 1.0f / x, 1.0 / x, BY_PLANE(reciprocal))
OF_ANY(rsqrt, 1.0f / ::sqrtf(x), 1.0 / ::sqrt(x), BY_PLANE(rsqrt))

template <class T> DEVICE T div(T x, T y) {
    if constexpr (is_complex<T>) return complex_div(x, y);
    else return x / y;
}

template <class T> DEVICE T pow(T x, T y) {
    if constexpr (is_complex<T>) return complex_pow(x, y);
    else if constexpr (same<T, f32>) return ::powf(x, y);
    else if constexpr (same<T, f64>) return ::pow(x, y);
    else return whole_power(x, y);
}

// Returns the absolute value, or the magnitude.
template <class T> DEVICE Real<T> abs(T x) {
    if constexpr (is_complex<T>) return length(x.re, x.im);
    else if constexpr (is_float<T>) return size_of(x);
    else return (T)magnitude(x);
}

DEVICE f32 atan2(f32 y, f32 x) { return ::atan2f(y, x); }
DEVICE f64 atan2(f64 y, f64 x) { return ::atan2(y, x); }

// Returns the angle from the positive real axis.
template <class T> DEVICE Real<T> angle(T x) {
    if constexpr (is_complex<T>) return atan2(x.im, x.re);
    else if (nan_in(x)) return x;
    else return x < (T)0 ? (T)3.141592653589793 : (T)0;
}

// Returns sin πx / πx, and one at zero.
template <class T> DEVICE T sinc(T value) {
    if constexpr (is_complex<T>) {
        return in_plane(value, [](c128 z) { return plane::sinc(z); });
    } else {
        f64 x = size_of((f64)value);
        if (x < 1e-9) return (T)1;
        if (endless(x)) return nan<T>();
        // Both steps are exact; sin π(n + r) = ± sin πr.
        f64 whole = ::round(x), sine = ::sin(3.141592653589793 * (x - whole));
        if (::fmod(whole, 2.0) != 0.0) sine = -sine;
        return (T)(sine / (3.141592653589793 * x));
    }
}

// Returns the logarithm of the sum of two exponentials.
template <class T> DEVICE T logaddexp(T x, T y) {
    if constexpr (is_complex<T>) {
        return complex_logaddexp(x, y);
    } else {
        if (x == y && endless(x)) return x;
        f64 a = x, b = y;
        return (T)((a < b ? b : a) + ::log1p(::exp(-size_of(a - b))));
    }
}

template <class T> DEVICE T logaddexp2(T x, T y) {
    if (x == y && endless(x)) return x;
    f64 a = x, b = y;
    return (T)((a < b ? b : a) + product(::log1p(::exp2(-size_of(a - b))), 1.4426950408889634));
}

// Interpolates from `x` to `end` by `weight`, starting at the nearer end, so that both ends are
// reached exactly.
template <class T> DEVICE T lerp(T x, T end, T weight) {
    T span = sub(end, x);
    if constexpr (!is_complex<T>) {
        // An end is infinite or the difference overflows: an end of weight zero does not
        // contribute.
        if (!(size_of(span) < infinity<T>())) return vanishing(x, (T)1 - weight) + vanishing(end, weight);
    }
    if (abs(weight) < (Real<T>)0.5) return add(x, mul(weight, span));
    if constexpr (is_complex<T>) return sub(end, mul(span, sub(T{1, 0}, weight)));
    else return end - product(span, (T)1 - weight);
}

DEVICE f32 hypot(f32 x, f32 y) { return ::hypotf(x, y); }
DEVICE f64 hypot(f64 x, f64 y) { return ::hypot(x, y); }
DEVICE f32 erf(f32 x) { return ::erff(x); }
DEVICE f64 erf(f64 x) { return ::erf(x); }
DEVICE f32 erfc(f32 x) { return ::erfcf(x); }
DEVICE f64 erfc(f64 x) { return ::erfc(x); }
template <class T> DEVICE T ndtr(T x) { return float_ndtr(x); }
template <class T> DEVICE T gelu(T x) { return float_gelu(x); }
template <class T> DEVICE T gelu_tanh(T x) { return float_gelu_tanh(x); }
template <class T> DEVICE T deg2rad(T x) { return (T)((f64)x * (3.141592653589793 / 180.0)); }
template <class T> DEVICE T rad2deg(T x) { return (T)((f64)x * (180.0 / 3.141592653589793)); }

// Returns -x ln x.
template <class T> DEVICE T entr(T x) {
    if (x > (T)0 || nan_in(x)) return -x * log_of(x);
    return x == (T)0 ? (T)0 : -infinity<T>();
}

// Functions that always compute in f64.
#define WIDE(name)                                                                                 \
    template <class T> DEVICE T name(T x) { return (T)wide::name((f64)x); }

WIDE(erfinv)
WIDE(erfcx)
WIDE(ndtri)
WIDE(log_ndtr)
WIDE(i0)
WIDE(i0e)
WIDE(i1)
WIDE(i1e)

template <class T> DEVICE T lgamma(T x) {
    if constexpr (same<T, f32>) return wide::lgamma_of_f32(x);
    else return (T)wide::lgamma((f64)x);
}
template <class T> DEVICE T digamma(T x) {
    if constexpr (same<T, f32>) return wide::digamma_of_f32(x);
    else return (T)wide::digamma((f64)x);
}
template <class T> DEVICE T zeta(T s, T x) { return (T)wide::zeta((f64)s, (f64)x); }
template <class T> DEVICE T polygamma(T x, T n) { return (T)wide::polygamma((f64)n, (f64)x); }

#undef OF_ANY
#undef BY_PLANE
#undef BUILTIN
#undef WIDE

}  // namespace numeric

#endif
