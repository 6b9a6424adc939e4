// The scalar functions that the operator table's expressions call: `add(x, y)`, `exp(x)`.
//
// One overload set covers all compute dtypes; 16-bit floats are not among them, because they compute in f32. The names
// and the special values are those of the host's Rust functions. The functions are in a namespace because CUDA's own
// functions have some of the names: inside it, ours win, and `::exp` is the device's.
#ifndef NOMINA_NUMERIC_CUH
#define NOMINA_NUMERIC_CUH

#include "types.cuh"

namespace numeric {

// ---- Traits of dtypes

// The dtypes whose arithmetic wraps.
template <class T> constexpr bool is_integer = !is_float<T> && !is_complex<T> && !same<T, bool>;

// The unsigned type that integers compute in, whose overflow is defined.
template <class T> struct Wrapping { using Type = u32; };
template <> struct Wrapping<i64> { using Type = u64; };
template <class T> using Wraps = typename Wrapping<T>::Type;

// The dtype of a complex number's parts, and of magnitudes.
template <class T> struct Parts { using Type = T; };
template <> struct Parts<c64> { using Type = f32; };
template <> struct Parts<c128> { using Type = f64; };
template <class T> using Real = typename Parts<T>::Type;

// Returns whether `x` is negative; unsigned integers need no comparison.
template <class T> DEVICE bool below_zero(T x) {
    if constexpr ((T)-1 < (T)0) return x < (T)0;
    else return false;
}

// ---- Floats by their bits

DEVICE u32 bits(f32 x) { return __float_as_uint(x); }
DEVICE u64 bits(f64 x) { return (u64)__double_as_longlong(x); }
DEVICE f32 of_bits(u32 x) { return __uint_as_float(x); }
DEVICE f64 of_bits(u64 x) { return __longlong_as_double((i64)x); }

DEVICE bool nan_in(f32 x) { return x != x; }
DEVICE bool nan_in(f64 x) { return x != x; }
DEVICE f32 size_of(f32 x) { return ::fabsf(x); }
DEVICE f64 size_of(f64 x) { return ::fabs(x); }
DEVICE bool endless(f32 x) { return size_of(x) == infinity<f32>(); }
DEVICE bool endless(f64 x) { return size_of(x) == infinity<f64>(); }
DEVICE f32 with_sign(f32 x, f32 sign) { return ::copysignf(x, sign); }
DEVICE f64 with_sign(f64 x, f64 sign) { return ::copysign(x, sign); }
DEVICE bool minus(f32 x) { return bits(x) >> 31; }
DEVICE bool minus(f64 x) { return bits(x) >> 63; }

// A product that is rounded separately: compilers may otherwise fuse it with a sum that follows, and the result would
// differ from that of the separate operators.
#ifdef __CUDACC_RTC__
DEVICE f32 product(f32 x, f32 y) { return __fmul_rn(x, y); }
DEVICE f64 product(f64 x, f64 y) { return __dmul_rn(x, y); }
#else
DEVICE f32 product(f32 x, f32 y) { return x * y; }
DEVICE f64 product(f64 x, f64 y) { return x * y; }
#endif

// ---- All dtypes

template <class T> DEVICE T add(T x, T y) {
    if constexpr (same<T, bool>) return x || y;
    else if constexpr (is_complex<T>) return T{x.re + y.re, x.im + y.im};
    else if constexpr (is_float<T>) return x + y;
    else return (T)((Wraps<T>)x + (Wraps<T>)y);
}

template <class T> DEVICE T mul(T x, T y) {
    if constexpr (same<T, bool>) return x && y;
    else if constexpr (is_complex<T>)
        return T{product(x.re, y.re) - product(x.im, y.im), product(x.re, y.im) + product(x.im, y.re)};
    else if constexpr (is_float<T>) return product(x, y);
    else return (T)((Wraps<T>)x * (Wraps<T>)y);
}

template <class T> DEVICE bool truth(T x) {
    if constexpr (is_complex<T>) return x.re != 0 || x.im != 0;
    else return x != (T)0;
}

template <class T> DEVICE bool eq(T x, T y) {
    if constexpr (is_complex<T>) return x.re == y.re && x.im == y.im;
    else return x == y;
}

template <class T> DEVICE bool ne(T x, T y) { return !eq(x, y); }
template <class T> DEVICE bool logical_and(T x, T y) { return truth(x) && truth(y); }
template <class T> DEVICE bool logical_or(T x, T y) { return truth(x) || truth(y); }
template <class T> DEVICE bool logical_xor(T x, T y) { return truth(x) != truth(y); }
template <class T> DEVICE bool logical_not(T x) { return !truth(x); }
template <class T> DEVICE T square(T x) { return mul(x, x); }

// Returns `x` if `condition` holds, else `y`.
template <class T> DEVICE T select(bool condition, T x, T y) { return condition ? x : y; }

// ---- All dtypes except bool

template <class T> DEVICE T sub(T x, T y) {
    if constexpr (is_complex<T>) return T{x.re - y.re, x.im - y.im};
    else if constexpr (is_float<T>) return x - y;
    else return (T)((Wraps<T>)x - (Wraps<T>)y);
}

template <class T> DEVICE T neg(T x) {
    if constexpr (is_complex<T>) return T{-x.re, -x.im};
    else if constexpr (is_float<T>) return -x;
    else return (T)((Wraps<T>)0 - (Wraps<T>)x);
}

// ---- All dtypes except complex ones

template <class T> DEVICE bool lt(T x, T y) { return x < y; }
template <class T> DEVICE bool le(T x, T y) { return x <= y; }
template <class T> DEVICE bool gt(T x, T y) { return x > y; }
template <class T> DEVICE bool ge(T x, T y) { return x >= y; }

// Returns the larger of two; NaN if either is NaN.
template <class T> DEVICE T maximum(T x, T y) {
    T greater = x < y ? y : x;
    if constexpr (is_float<T>) return nan_in(y) ? y : greater;
    else return greater;
}

// Returns the smaller of two; NaN if either is NaN.
template <class T> DEVICE T minimum(T x, T y) {
    T smaller = x > y ? y : x;
    if constexpr (is_float<T>) return nan_in(y) ? y : smaller;
    else return smaller;
}

template <class T> DEVICE T relu(T x) { return maximum(x, (T)0); }
template <class T> DEVICE T clamp(T x, T low, T high) { return minimum(maximum(x, low), high); }

// Returns the larger of two; if one is NaN, the other.
template <class T> DEVICE T fmax(T x, T y) { return x >= y || y != y ? x : y; }

// Returns the smaller of two; if one is NaN, the other.
template <class T> DEVICE T fmin(T x, T y) { return x <= y || y != y ? x : y; }

template <class T> DEVICE T above(T x, T threshold, T value) { return x <= threshold ? value : x; }

// ---- Integers and bool

template <class T> DEVICE T bitwise_not(T x) {
    if constexpr (same<T, bool>) return !x;
    else return (T)~x;
}
template <class T> DEVICE T bitwise_and(T x, T y) { return (T)(x & y); }
template <class T> DEVICE T bitwise_or(T x, T y) { return (T)(x | y); }
template <class T> DEVICE T bitwise_xor(T x, T y) { return (T)(x ^ y); }

// ---- Integers

// The number of bits; shifts by this many or more have a defined result.
template <class T> constexpr u64 width = 8 * sizeof(T);

// Shifts bits up; zero if `by` is negative or at least the width.
template <class T> DEVICE T bitwise_left_shift(T x, T by) {
    bool fits = !below_zero(by) && (u64)by < width<T>;
    return fits ? (T)((Wraps<T>)x << (u32)by) : (T)0;
}

// Shifts bits down and keeps the sign; only the sign is left if `by` is negative or at least the width.
template <class T> DEVICE T bitwise_right_shift(T x, T by) {
    bool fits = !below_zero(by) && (u64)by < width<T>;
    return fits ? (T)(x >> (u32)by) : (T)(below_zero(x) ? -1 : 0);
}

// Returns the magnitude, in a type that also holds that of the minimum.
template <class T> DEVICE Wraps<T> magnitude(T x) {
    return below_zero(x) ? (Wraps<T>)0 - (Wraps<T>)x : (Wraps<T>)x;
}

// Returns the greatest common divisor, by Euclid's algorithm on magnitudes. The magnitude of the minimum wraps and
// stays negative.
template <class T> DEVICE T gcd(T x, T y) {
    Wraps<T> a = magnitude(x), b = magnitude(y);
    while (a != 0) {
        Wraps<T> rest = b % a;
        b = a;
        a = rest;
    }
    return (T)b;
}

// Returns the quotient, rounded towards zero; zero if `y` is zero. The minimum divided by -1 wraps.
template <class T> DEVICE T whole_quotient(T x, T y) {
    if (y == (T)0) return (T)0;
    if (below_zero(y) && y == (T)-1) return (T)((Wraps<T>)0 - (Wraps<T>)x);
    return (T)(x / y);
}

// Returns the remainder of `whole_quotient`.
template <class T> DEVICE T whole_rest(T x, T y) {
    if (y == (T)0 || (below_zero(y) && y == (T)-1)) return (T)0;
    return (T)(x % y);
}

template <class T> DEVICE T lcm(T x, T y) {
    T divisor = gcd(x, y);
    if (divisor == (T)0) return (T)0;
    T multiple = (T)((Wraps<T>)whole_quotient(x, divisor) * (Wraps<T>)y);
    return (T)magnitude(multiple);
}

// Raises to a power by squaring. A negative exponent keeps only integer results: 1 and -1 have integer inverses, any
// other number gives 0.
template <class T> DEVICE T whole_power(T x, T exponent) {
    if (below_zero(exponent)) {
        if (x == (T)1) return x;
        if (x == (T)-1) return (exponent & (T)1) == (T)0 ? (T)1 : x;
        return (T)0;
    }
    Wraps<T> power = 1, base = (Wraps<T>)x, left = (Wraps<T>)exponent;
    for (; left != 0; left >>= 1) {
        if (left & 1) power *= base;
        base *= base;
    }
    return (T)power;
}

}  // namespace numeric

#include "convert.cuh"
#include "complex.cuh"
#include "special.cuh"

#endif
