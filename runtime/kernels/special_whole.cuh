// Rounding, division with a remainder, and classification of numbers.
#ifndef NOMINA_SPECIAL_WHOLE_CUH
#define NOMINA_SPECIAL_WHOLE_CUH

#include "complex.cuh"

namespace numeric {

DEVICE f32 floor_of(f32 x) { return ::floorf(x); }
DEVICE f64 floor_of(f64 x) { return ::floor(x); }
DEVICE f32 trunc_of(f32 x) { return ::truncf(x); }
DEVICE f64 trunc_of(f64 x) { return ::trunc(x); }
DEVICE f32 nearest_of(f32 x) { return ::rintf(x); }
DEVICE f64 nearest_of(f64 x) { return ::rint(x); }
DEVICE f32 rest_of(f32 x, f32 y) { return ::fmodf(x, y); }
DEVICE f64 rest_of(f64 x, f64 y) { return ::fmod(x, y); }

template <class T> DEVICE T ceil(T x) {
    if constexpr (is_float<T>) return -floor_of(-x);
    else return x;
}
template <class T> DEVICE T floor(T x) {
    if constexpr (is_float<T>) return floor_of(x);
    else return x;
}
template <class T> DEVICE T trunc(T x) {
    if constexpr (is_float<T>) return trunc_of(x);
    else return x;
}
// Rounds ties to even.
template <class T> DEVICE T round(T x) {
    if constexpr (is_float<T>) return nearest_of(x);
    else return x;
}
template <class T> DEVICE T frac(T x) { return x - trunc_of(x); }

// Returns ten to an integer power, by squaring.
template <class T> DEVICE T power_of_ten(i32 n) {
    T power = 1, base = 10;
    for (;;) {
        if (n & 1) power = product(power, base);
        n >>= 1;
        if (n == 0) return power;
        base = product(base, base);
    }
}

// Returns the nearest multiple of 10^-`decimals`, ties to even.
template <class T> DEVICE T round_decimals(T x, T decimals) {
    T ten = power_of_ten<T>((i32)size_of(decimals));
    if (decimals < (T)0) return product(nearest_of(x / ten), ten);
    return nearest_of(product(x, ten)) / ten;
}

// Returns the quotient, rounded down. For floats it is Python's: the remainder is subtracted first, so the quotient is
// an integer up to rounding. For integers: zero divisors are refused before a kernel runs; here they only must do no
// harm.
template <class T> DEVICE T floor_divide(T x, T y) {
    if constexpr (is_float<T>) {
        if (y == (T)0) return x / y;
        T rest = rest_of(x, y), quotient = (x - rest) / y;
        if (rest != (T)0 && below_zero(y) != below_zero(rest)) quotient -= (T)1;
        if (quotient == (T)0) return with_sign((T)0, x / y);
        T whole = floor_of(quotient);
        return quotient - whole > (T)0.5 ? whole + (T)1 : whole;
    } else {
        T quotient = whole_quotient(x, y), rest = whole_rest(x, y);
        return rest != (T)0 && below_zero(rest) != below_zero(y) ? (T)(quotient - (T)1) : quotient;
    }
}

template <class T> DEVICE T trunc_divide(T x, T y) {
    if constexpr (is_float<T>) return trunc_of(x / y);
    else return whole_quotient(x, y);
}

// Returns the remainder of `trunc_divide`; it has the dividend's sign.
template <class T> DEVICE T fmod(T x, T y) {
    if constexpr (is_float<T>) return rest_of(x, y);
    else return whole_rest(x, y);
}

// Returns the remainder of `floor_divide`; it has the divisor's sign.
template <class T> DEVICE T remainder(T x, T y) {
    T rest = fmod(x, y);
    return rest != (T)0 && below_zero(rest) != below_zero(y) ? (T)(rest + y) : rest;
}

template <class T> DEVICE T relu6(T x) { return clamp(x, (T)0, (T)6); }

// Returns whether the sign bit is set; a float zero has a sign, too.
template <class T> DEVICE bool signbit(T x) {
    if constexpr (is_float<T>) return minus(x);
    else return below_zero(x);
}

template <class T> DEVICE bool isnan(T x) {
    if constexpr (is_complex<T>) return nan_in(x.re) || nan_in(x.im);
    else if constexpr (is_float<T>) return nan_in(x);
    else return false;
}
template <class T> DEVICE bool isinf(T x) {
    if constexpr (is_complex<T>) return endless(x.re) || endless(x.im);
    else if constexpr (is_float<T>) return endless(x);
    else return false;
}
template <class T> DEVICE bool isfinite(T x) { return !isnan(x) && !isinf(x); }
template <class T> DEVICE bool isposinf(T x) { return isinf(x) && x > (T)0; }
template <class T> DEVICE bool isneginf(T x) { return isinf(x) && x < (T)0; }

template <class T> DEVICE bool isreal(T x) {
    if constexpr (is_complex<T>) return x.im == 0;
    else return true;
}

// Returns the sign: -1, 0 or 1, zero for NaN; for a complex number, the number divided by its magnitude.
template <class T> DEVICE T sgn(T x) {
    if constexpr (is_complex<T>) {
        Real<T> size = length(x.re, x.im);
        if (size == 0) return T{0, 0};
        if (endless(size) && isinf(x)) return T{nan<Real<T>>(), nan<Real<T>>()};
        return T{x.re / size, x.im / size};
    } else if constexpr (same<T, bool>) {
        return x;
    } else {
        return (T)((i32)(x > (T)0) - (i32)below_zero(x));
    }
}

// Returns zero if `x` is negative, one if positive, `y` at zero.
template <class T> DEVICE T heaviside(T x, T y) {
    if (x == (T)0) return y;
    return x > (T)0 ? (T)1 : (T)0;
}

// Replaces NaN by `nan`, and the infinities by `posinf` and `neginf`, in each part.
template <class T> DEVICE T nan_to_num(T x, T nan, T posinf, T neginf) {
    if constexpr (is_complex<T>) {
        return T{nan_to_num(x.re, nan.re, posinf.re, neginf.re),
                 nan_to_num(x.im, nan.re, posinf.re, neginf.re)};
    } else if constexpr (is_float<T>) {
        if (nan_in(x)) return nan;
        return endless(x) ? (x > (T)0 ? posinf : neginf) : x;
    } else {
        return x;
    }
}

template <class T> DEVICE T copysign(T x, T sign) { return with_sign(x, sign); }

// Returns the next number towards `y`: bits grow with the magnitude.
template <class T> DEVICE T nextafter(T x, T y) {
    if (nan_in(x) || nan_in(y)) return x + y;
    if (x == y) return y;
    auto word = bits(x);
    if (x == (T)0) return with_sign(of_bits((decltype(word))1), y);
    return of_bits((x < y) == (x > (T)0) ? word + 1 : word - 1);
}

// Returns whether two numbers are close; NaN never is.
template <class T> DEVICE bool isclose(T x, T y, T rtol, T atol) {
    if constexpr (is_complex<T>) {
        T off = sub(x, y);
        Real<T> apart = length(off.re, off.im);
        Real<T> far = product(length(y.re, y.im), size_of(rtol.re));
        return eq(x, y) || (apart <= atol.re + far && apart < infinity<Real<T>>());
    } else {
        T apart = size_of(x - y), allowed = atol + size_of(product(rtol, y));
        // Neither an infinite distance nor NaN is close.
        return x == y || (apart <= allowed && apart < infinity<T>());
    }
}

// Like `isclose`, but NaN is close to NaN.
template <class T> DEVICE bool isclose_nan(T x, T y, T rtol, T atol) {
    return isclose(x, y, rtol, atol) || (isnan(x) && isnan(y));
}

}  // namespace numeric

#endif
