// Double-double arithmetic: unevaluated sums of two f64, about 105 bits, for differences of nearly equal numbers.
#ifndef NOMINA_SPECIAL_DD_CUH
#define NOMINA_SPECIAL_DD_CUH

#include "numeric.cuh"

namespace numeric {

// `hi + lo`, where `lo` is at most half a unit in the last place of `hi`.
struct Dd { f64 hi, lo; };

DEVICE Dd dd(f64 x) { return Dd{x, 0.0}; }

// Returns the exact sum of two numbers.
DEVICE Dd dd_sum(f64 a, f64 b) {
    f64 hi = a + b;
    f64 part = hi - a;
    return Dd{hi, (a - (hi - part)) + (b - part)};
}

// Returns the exact product of two numbers, unless it underflows.
DEVICE Dd dd_product(f64 a, f64 b) {
    f64 hi = product(a, b);
    return Dd{hi, ::fma(a, b, -hi)};
}

// Returns the exact sum; the first must be larger in magnitude.
DEVICE Dd dd_quick(f64 hi, f64 lo) {
    f64 sum = hi + lo;
    return Dd{sum, lo - (sum - hi)};
}

DEVICE Dd operator+(Dd a, Dd b) {
    Dd high = dd_sum(a.hi, b.hi), low = dd_sum(a.lo, b.lo);
    Dd first = dd_quick(high.hi, high.lo + low.hi);
    return dd_quick(first.hi, first.lo + low.lo);
}

DEVICE Dd operator-(Dd a, Dd b) { return a + Dd{-b.hi, -b.lo}; }

DEVICE Dd operator*(Dd a, Dd b) {
    Dd high = dd_product(a.hi, b.hi);
    return dd_quick(high.hi, high.lo + (product(a.hi, b.lo) + product(a.lo, b.hi)));
}

DEVICE Dd operator/(Dd a, Dd b) {
    f64 first = a.hi / b.hi;
    Dd rest = a - b * dd(first);
    f64 second = rest.hi / b.hi;
    rest = rest - b * dd(second);
    return dd_quick(first, second) + dd(rest.hi / b.hi);
}

// Rounds to the nearest f64.
DEVICE f64 nearest(Dd x) { return x.hi + x.lo; }

// Returns π.
DEVICE Dd dd_pi() { return Dd{3.141592653589793, 1.2246467991473532e-16}; }

// Returns the natural logarithm of a positive, normal number, to about 60 bits, from
// ln m = 2 artanh((m - 1) / (m + 1)), with m between √½ and √2.
DEVICE Dd log(Dd x) {
    // The mantissa from ½ to 1, and its power of two.
    u64 word = bits(x.hi);
    i32 exponent = (i32)(word >> 52) - 1022;
    f64 mantissa = of_bits((word & 0x000fffffffffffffull) | ((u64)1022 << 52));
    if (mantissa < 0.7071067811865476) {
        exponent -= 1;
        mantissa *= 2.0;
    }
    Dd m = {mantissa, ::ldexp(x.lo, -exponent)};
    Dd s = (m - dd(1.0)) / (m + dd(1.0));
    f64 square = s.hi * s.hi;
    f64 series = 0.0;
    for (i32 k = 14; k > 0; --k) series = (series + 1.0 / (f64)(2 * k + 1)) * square;
    Dd twice = {2.0 * s.hi, 2.0 * s.lo};
    Dd whole = Dd{0.6931471805599453, 2.3190468138462996e-17} * dd((f64)exponent);
    return whole + twice + dd(twice.hi * series);
}

// sin πr and cos πr for |r| up to ¼, to about 60 bits.
struct SinCos { Dd sin, cos; };

// Returns 1 + square · (a series); the first three coefficients have low parts.
DEVICE Dd wave_series(const f64 (&high)[10], const f64 (&low)[3], Dd square) {
    f64 rest = 0.0;
    for (i32 i = 9; i >= 3; --i) rest = rest * square.hi + high[i];
    Dd sum = dd(rest);
    for (i32 i = 2; i >= 0; --i) sum = sum * square + Dd{high[i], low[i]};
    return sum * square + dd(1.0);
}

DEVICE SinCos sin_cos_pi(f64 r) {
    // (-1)^k / (2k+1)! from k = 1, and (-1)^k / (2k)! likewise; only the first three coefficients need low parts.
    const f64 sin[10] = {
        -0.16666666666666666, 0.008333333333333333, -1.984126984126984e-4, 1.0 / 362880.0,
        -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0,
        -1.0 / 121645100408832000.0, 1.0 / 51090942171709440000.0,
    };
    const f64 cos[10] = {
        -0.5, 0.041666666666666664, -0.001388888888888889, 1.0 / 40320.0, -1.0 / 3628800.0,
        1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0,
        -1.0 / 6402373705728000.0, 1.0 / 2432902008176640000.0,
    };
    const f64 sin_low[3] = {-9.25185853854297e-18, 1.1564823173178714e-19, -1.7209558293420705e-22};
    const f64 cos_low[3] = {0.0, 2.3129646346357428e-18, 5.300543954373577e-20};
    Dd y = dd_pi() * dd(r);
    Dd square = y * y;
    return SinCos{wave_series(sin, sin_low, square) * y, wave_series(cos, cos_low, square)};
}

// Like `sin_cos_pi`, for |r| up to ½, the distance to the nearest integer; below -¼ both have the opposite sign.
DEVICE SinCos sin_cos_rest(f64 r) {
    if (size_of(r) <= 0.25) return sin_cos_pi(r);
    SinCos turned = sin_cos_pi(with_sign(0.5, r) - r);
    return SinCos{turned.cos, turned.sin};
}

}  // namespace numeric

#endif
