// Conversion between any two dtypes.
//
// Floats converted to integers are truncated and then saturate; NaN becomes zero. Integers keep their low bits. Every
// nonzero value becomes true. Complex numbers lose their imaginary part.
#ifndef NOMINA_CONVERT_CUH
#define NOMINA_CONVERT_CUH

#include "types.cuh"

namespace conversion {

// Saturates explicitly, because out-of-range conversions are undefined in C++ and differ between devices.
template <class To, class From> DEVICE To whole(From x) {
    constexpr bool below_zero = (To)-1 < (To)0;
    constexpr u64 end = (u64)1 << (8 * sizeof(To) - below_zero);
    if (x != x) return (To)0;
    if (x >= (From)end) return (To)(end - 1);
    const From least = below_zero ? -(From)end : (From)0;
    if (x < least) return below_zero ? (To)(-(i64)(end - 1) - 1) : (To)0;
    return (To)x;
}

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
        return whole<To>(x);
    } else {
        return (To)x;
    }
}

#endif
