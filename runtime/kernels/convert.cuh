// Conversion between any two dtypes, as PyTorch casts.
//
// Floats lose their fraction on the way to integers, and what then is out of range of i32 or i64 is
// the nearest number of that, NaN zero; narrower integers keep its low bits. Everything is true that
// differs from zero; complex numbers lose their imaginary part.
#ifndef NOMINA_CONVERT_CUH
#define NOMINA_CONVERT_CUH

#include "types.cuh"

namespace conversion {

// The language leaves open what lies out of range, and devices differ.
template <class To, class From> DEVICE To whole(From x, From end) {
    if (x != x) return (To)0;
    const To greatest = (To)(~(u64)0 >> (65 - 8 * sizeof(To)));
    if (x >= end) return greatest;
    if (x < -end) return (To)(-greatest - 1);
    return (To)x;
}

template <class From> DEVICE i32 to_i32(From x) { return whole<i32>(x, (From)2147483648.0); }
template <class From> DEVICE i64 to_i64(From x) { return whole<i64>(x, (From)9223372036854775808.0); }

template <class T> struct Whole { static constexpr bool value = false; };
template <> struct Whole<u8> { static constexpr bool value = true; };
template <> struct Whole<i8> { static constexpr bool value = true; };
template <> struct Whole<i16> { static constexpr bool value = true; };
template <> struct Whole<i32> { static constexpr bool value = true; };
template <> struct Whole<i64> { static constexpr bool value = true; };

template <class T> struct Part { using Type = f32; };
template <> struct Part<c128> { using Type = f64; };

}  // namespace conversion

template <class To, class From> DEVICE To convert(From x) {
    using namespace conversion;
    if constexpr (same<To, From>) {
        return x;
    } else if constexpr (is_half<From>) {
        return convert<To>(widen(x));
    } else if constexpr (is_half<To>) {
        return narrow<To>(convert<f32>(x));
    } else if constexpr (is_complex<To>) {
        using P = typename Part<To>::Type;
        if constexpr (is_complex<From>) return To{(P)x.re, (P)x.im};
        else return To{convert<P>(x), (P)0};
    } else if constexpr (is_complex<From>) {
        if constexpr (same<To, bool>) return x.re != 0 || x.im != 0;
        else return convert<To>(x.re);
    } else if constexpr (same<To, bool>) {
        return x != (From)0;
    } else if constexpr (is_float<From> && Whole<To>::value) {
        if constexpr (same<To, i64>) return to_i64(x);
        else return (To)to_i32(x);
    } else {
        return (To)x;
    }
}

#endif
