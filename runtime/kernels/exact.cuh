// Arithmetic whose every operation is rounded separately, and elementary functions built from it.
//
// If the compiler fused a product and a sum, the last bit of a random number would change. The host's counterpart is
// runtime/src/random/function.rs, and both give the same bits. The functions support only the arguments that the
// distributions pass.
#ifndef NOMINA_EXACT_CUH
#define NOMINA_EXACT_CUH
#include "types.cuh"

// A number whose operations are never fused or reordered.
template <class T> struct Exact {
    T value;

    DEVICE Exact() {}
    DEVICE Exact(T x) : value(x) {}
};

#ifdef __CUDACC_RTC__
DEVICE Exact<f32> operator+(Exact<f32> a, Exact<f32> b) { return __fadd_rn(a.value, b.value); }
DEVICE Exact<f32> operator-(Exact<f32> a, Exact<f32> b) { return __fsub_rn(a.value, b.value); }
DEVICE Exact<f32> operator*(Exact<f32> a, Exact<f32> b) { return __fmul_rn(a.value, b.value); }
DEVICE Exact<f32> operator/(Exact<f32> a, Exact<f32> b) { return __fdiv_rn(a.value, b.value); }
DEVICE Exact<f64> operator+(Exact<f64> a, Exact<f64> b) { return __dadd_rn(a.value, b.value); }
DEVICE Exact<f64> operator-(Exact<f64> a, Exact<f64> b) { return __dsub_rn(a.value, b.value); }
DEVICE Exact<f64> operator*(Exact<f64> a, Exact<f64> b) { return __dmul_rn(a.value, b.value); }
DEVICE Exact<f64> operator/(Exact<f64> a, Exact<f64> b) { return __ddiv_rn(a.value, b.value); }
DEVICE Exact<f32> root(Exact<f32> x) { return __fsqrt_rn(x.value); }
DEVICE Exact<f64> root(Exact<f64> x) { return __dsqrt_rn(x.value); }

// Divides without scaling, for magnitudes within a factor of 2^40 of 1 and for a zero dividend: the fast path of the
// regular division, without its range check.
DEVICE Exact<f32> plain_quotient(Exact<f32> a, Exact<f32> b) {
    f32 r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b.value));
    r = __fmaf_rn(r, __fmaf_rn(-b.value, r, 1.0f), r);
    const f32 q = __fmul_rn(a.value, r);
    return __fmaf_rn(r, __fmaf_rn(-b.value, q, a.value), q);
}
// Like `plain_quotient`, but the square root; the root of zero is zero.
DEVICE Exact<f32> plain_root(Exact<f32> x) {
    f32 r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(fmaxf(x.value, 0x1p-100f)));
    const f32 g = __fmul_rn(x.value, r);
    return __fmaf_rn(__fmaf_rn(-g, g, x.value), __fmul_rn(r, 0.5f), g);
}
#else
// The host's compiler gets a flag that disables fusing.
template <class T> DEVICE Exact<T> operator+(Exact<T> a, Exact<T> b) { return a.value + b.value; }
template <class T> DEVICE Exact<T> operator-(Exact<T> a, Exact<T> b) { return a.value - b.value; }
template <class T> DEVICE Exact<T> operator*(Exact<T> a, Exact<T> b) { return a.value * b.value; }
template <class T> DEVICE Exact<T> operator/(Exact<T> a, Exact<T> b) { return a.value / b.value; }
DEVICE Exact<f32> root(Exact<f32> x) { return __builtin_sqrtf(x.value); }
DEVICE Exact<f64> root(Exact<f64> x) { return __builtin_sqrt(x.value); }
DEVICE Exact<f32> plain_quotient(Exact<f32> a, Exact<f32> b) { return a / b; }
DEVICE Exact<f32> plain_root(Exact<f32> x) { return root(x); }
#endif
DEVICE Exact<f64> plain_quotient(Exact<f64> a, Exact<f64> b) { return a / b; }

template <class T> DEVICE Exact<T> operator-(Exact<T> x) { return -x.value; }
template <class T> DEVICE bool operator<(Exact<T> a, Exact<T> b) { return a.value < b.value; }
template <class T> DEVICE bool operator>(Exact<T> a, Exact<T> b) { return a.value > b.value; }

// Evaluates a polynomial, lowest coefficient first.
template <class T> DEVICE Exact<T> polynomial(Exact<T>, Exact<T> last) { return last; }
template <class T, class... Rest>
DEVICE Exact<T> polynomial(Exact<T> z, Exact<T> first, Rest... rest) {
    return first + z * polynomial(z, Exact<T>(rest)...);
}

// The bit layout of a float type, and constants for it.
template <class T> struct Form;
template <> struct Form<f32> {
    using Bits = u32;
    using Int = i32;
    static constexpr int MANTISSA = 23, BIAS = 127;
    static constexpr u32 ROOT_HALF = 0x3f3504f3u;
    static DEVICE u32 bits(f32 x) { return __float_as_uint(x); }
    static DEVICE f32 of(u32 bits) { return __uint_as_float(bits); }
    // Returns a number that, added to another one, leaves the nearest integer in the low bits of the sum.
    static DEVICE f32 round() { return 12582912.0f; }
    static DEVICE f32 ln2_high() { return 355.0f / 512.0f; }
    static DEVICE f32 ln2_low() { return -2.1219444e-4f; }
    static DEVICE f32 log2_e() { return 1.44269504088896340735992468100189214f; }
    static DEVICE f32 quarter_turn() { return 1.57079632679489661923132169163975144f; }
    static DEVICE f32 exp_min() { return -106.0f; }
    static DEVICE f32 exp_max() { return 90.0f; }
};
template <> struct Form<f64> {
    using Bits = u64;
    using Int = i64;
    static constexpr int MANTISSA = 52, BIAS = 1023;
    static constexpr u64 ROOT_HALF = 0x3fe6a09e667f3bcdull;
    static DEVICE u64 bits(f64 x) { return static_cast<u64>(__double_as_longlong(x)); }
    static DEVICE f64 of(u64 bits) { return __longlong_as_double(static_cast<i64>(bits)); }
    static DEVICE f64 round() { return 6755399441055744.0; }
    static DEVICE f64 ln2_high() { return 0.6931471803691238; }
    static DEVICE f64 ln2_low() { return 1.9082149292705877e-10; }
    static DEVICE f64 log2_e() { return 1.44269504088896340735992468100189214; }
    static DEVICE f64 quarter_turn() { return 1.57079632679489661923132169163975144; }
    static DEVICE f64 exp_min() { return -750.0; }
    static DEVICE f64 exp_max() { return 712.0; }
};

DEVICE Exact<f32> log_terms(Exact<f32> z) {
    return polynomial<f32>(z, 2.0f / 3.0f, 2.0f / 5.0f, 2.0f / 7.0f, 2.0f / 9.0f, 2.0f / 11.0f);
}
DEVICE Exact<f64> log_terms(Exact<f64> z) {
    return polynomial<f64>(z, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0,
                           2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0);
}
DEVICE Exact<f32> sin_terms(Exact<f32> z) {
    return polynomial<f32>(z, 1.0f, -1.0f / 6.0f, 1.0f / 120.0f, -1.0f / 5040.0f, 1.0f / 362880.0f);
}
DEVICE Exact<f64> sin_terms(Exact<f64> z) {
    return polynomial<f64>(z, 1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0,
                           -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0,
                           1.0 / 355687428096000.0);
}
DEVICE Exact<f32> cos_terms(Exact<f32> z) {
    return polynomial<f32>(z, 1.0f, -1.0f / 2.0f, 1.0f / 24.0f, -1.0f / 720.0f, 1.0f / 40320.0f,
                           -1.0f / 3628800.0f);
}
DEVICE Exact<f64> cos_terms(Exact<f64> z) {
    return polynomial<f64>(z, 1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0,
                           -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0,
                           1.0 / 20922789888000.0, -1.0 / 6402373705728000.0);
}
DEVICE Exact<f32> exp_terms(Exact<f32> r) {
    return polynomial<f32>(r, 1.0f, 1.0f, 1.0f / 2.0f, 1.0f / 6.0f, 1.0f / 24.0f, 1.0f / 120.0f,
                           1.0f / 720.0f, 1.0f / 5040.0f);
}
DEVICE Exact<f64> exp_terms(Exact<f64> r) {
    return polynomial<f64>(r, 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0,
                           1.0 / 5040.0, 1.0 / 40320.0, 1.0 / 362880.0, 1.0 / 3628800.0,
                           1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0);
}

// Returns the natural logarithm of a positive, normal, finite number.
template <class T> DEVICE Exact<T> natural_log(Exact<T> x) {
    using F = Form<T>;
    using Bits = typename F::Bits;
    using Int = typename F::Int;
    // x = 2^e m with m within a factor of √2 of 1.
    Bits bits = F::bits(x.value);
    Int shifted = static_cast<Int>(bits - F::ROOT_HALF) >> F::MANTISSA;
    Exact<T> m = F::of(bits - (static_cast<Bits>(shifted) << F::MANTISSA));
    Exact<T> e = static_cast<T>(static_cast<i32>(shifted));
    // ln m = 2 artanh((m - 1) / (m + 1))
    Exact<T> one = static_cast<T>(1);
    Exact<T> s = plain_quotient(m - one, m + one);
    Exact<T> z = s * s;
    Exact<T> tail = z * log_terms(z);
    return e * Exact<T>(F::ln2_high()) + ((s + s) + (s * tail + e * Exact<T>(F::ln2_low())));
}

template <class T> struct SinCos {
    Exact<T> sin, cos;
};

// Returns sine and cosine of an angle of 0 to 4 quarter turns.
template <class T> DEVICE SinCos<T> sin_cos_quarters(Exact<T> quarters) {
    using F = Form<T>;
    using Bits = typename F::Bits;
    // The nearest quarter, in the low bits of a sum.
    Exact<T> round = F::round();
    Exact<T> sum = quarters + round;
    Bits quarter = F::bits(sum.value);
    Exact<T> angle = (quarters - (sum - round)) * Exact<T>(F::quarter_turn());
    Exact<T> z = angle * angle;
    Exact<T> sin = angle * sin_terms(z), cos = cos_terms(z);
    bool odd = quarter & 1;
    Exact<T> a = odd ? cos : sin, b = odd ? sin : cos;
    constexpr int top = 8 * sizeof(T) - 2;
    return {F::of(F::bits(a.value) ^ (quarter & 2) << top),
            F::of(F::bits(b.value) ^ (quarter + 1 & 2) << top)};
}

// Returns sine and cosine of an angle from 0 to 1, in turns.
template <class T> DEVICE SinCos<T> sin_cos_turn(Exact<T> turn) {
    return sin_cos_quarters(Exact<T>(static_cast<T>(4)) * turn);
}

// Returns the exponential: infinite above the largest number, zero below the smallest.
template <class T> DEVICE Exact<T> exponential(Exact<T> x) {
    using F = Form<T>;
    using Bits = typename F::Bits;
    using Int = typename F::Int;
    if (x.value < F::exp_min()) x = F::exp_min();
    if (x.value > F::exp_max()) x = F::exp_max();
    Exact<T> round = F::round();
    Exact<T> sum = x * Exact<T>(F::log2_e()) + round;
    Exact<T> whole = sum - round;
    Exact<T> r = (x - whole * Exact<T>(F::ln2_high())) - whole * Exact<T>(F::ln2_low());
    Exact<T> value = exp_terms(r);
    // Multiply by two factors, because 2^k alone may be out of range.
    Int k = static_cast<Int>(F::bits(sum.value) - F::bits(F::round())), half = k >> 1;
    T first = F::of(static_cast<Bits>(half + F::BIAS) << F::MANTISSA);
    T second = F::of(static_cast<Bits>(k - half + F::BIAS) << F::MANTISSA);
    return value * Exact<T>(first) * Exact<T>(second);
}

// Returns ln n! for an integer n >= 0.
DEVICE Exact<f64> ln_factorial(Exact<f64> n) {
    using E = Exact<f64>;
    if (n.value < 16.0) {
        E product = 1.0;
        for (u32 i = 2; i <= static_cast<u32>(n.value); i++) product = product * E(f64(i));
        return natural_log(product);
    }
    // Stirling's series.
    E r = E(1.0) / n, z = r * r;
    E tail = r * (E(1.0 / 12.0) - z * (E(1.0 / 360.0) - z * E(1.0 / 1260.0)));
    E half_ln_turn = 0.9189385332046728;
    return (n + E(0.5)) * natural_log(n) - n + half_ln_turn + tail;
}

#endif
