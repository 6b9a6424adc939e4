// Derivatives of other functions, without intermediate results that overflow, vanish or cancel.
#ifndef NOMINA_SPECIAL_SLOPE_CUH
#define NOMINA_SPECIAL_SLOPE_CUH

#include "special_activation.cuh"
#include "special_erf.cuh"

namespace numeric {

// Returns the product, but zero if `y` is zero and `x` infinite.
template <class T> DEVICE T vanishing(T x, T y) { return y == (T)0 && endless(x) ? (T)0 : product(x, y); }

// Returns exp(-`weight` x²), for a weight of at least one half. Corrects the rounding error of the square, which the
// exponential would magnify.
DEVICE f32 bell(f32 x, f32 weight) {
    f32 a = size_of(x) > 18.0f ? 18.0f : size_of(x);
    f32 square = product(a, a), low = ::fmaf(a, a, -square);
    f32 value = ::expf(product(-weight, square));
    return ::fmaf(value, product(-weight, low), value);
}
DEVICE f64 bell(f64 x, f64 weight) {
    f64 a = size_of(x) > 40.0 ? 40.0 : size_of(x);
    f64 square = product(a, a), low = ::fma(a, a, -square);
    f64 value = ::exp(product(-weight, square));
    return ::fma(value, product(-weight, low), value);
}

DEVICE f32 root_of(f32 x) { return ::sqrtf(x); }
DEVICE f64 root_of(f64 x) { return ::sqrt(x); }

// Returns 1 / √(1 - x²).
template <class T> DEVICE T asin_slope(T x) { return (T)1 / root_of(product((T)1 - x, (T)1 + x)); }

// Returns 1 / √(1 + x²).
template <class T> DEVICE T asinh_slope(T x) {
    T a = size_of(x), t = a > (T)1 ? (T)1 / a : a;
    return (a > (T)1 ? t : (T)1) / root_of((T)1 + t * t);
}

// Returns 1 / (1 + x²).
template <class T> DEVICE T atan_slope(T x) {
    T a = size_of(x), t = a > (T)1 ? (T)1 / a : a;
    return (a > (T)1 ? t * t : (T)1) / ((T)1 + t * t);
}

// Returns 1 / (1 - x²).
template <class T> DEVICE T atanh_slope(T x) { return (T)1 / product((T)1 - x, (T)1 + x); }

namespace wide {

DEVICE f64 sign_of(i32 n) { return n % 2 == 0 ? 1.0 : -1.0; }

DEVICE f64 power_of(f64 x, i32 n) {
    f64 value = 1.0;
    for (i32 i = 0; i < n; ++i) value *= x;
    return value;
}

DEVICE f64 factorial(i32 n) {
    f64 value = 1.0;
    for (i32 i = 2; i <= n; ++i) value *= (f64)i;
    return value;
}

// Returns the order of a derivative, clamped to 100; beyond, powers would overflow.
DEVICE i32 order_of(f64 n) { return (i32)(n < 0.0 ? 0.0 : n > 100.0 ? 100.0 : n); }

// Returns the derivative of order `n` of sin πx / πx.
DEVICE f64 sinc_nth(f64 x, i32 n) {
    const f64 PI = 3.141592653589793;
    if (nan_in(x) || endless(x)) return nan<f64>();
    f64 a = size_of(x), u = PI * a, value = 0.0;
    if (u < (f64)n + 2.0) {
        // The sum of (-1)^k u^(2k - n) / ((2k + 1) (2k - n)!).
        i32 k = (n + 1) / 2;
        f64 term = sign_of(k) * (n % 2 == 0 ? 1.0 : u);
        for (;;) {
            f64 more = term / (f64)(2 * k + 1);
            value += more;
            if (size_of(more) <= 1e-18 * size_of(value) || more == 0.0) break;
            ++k;
            f64 power = (f64)(2 * k - n);
            term *= -u * u / (power * (power - 1.0));
        }
    } else {
        // u f is the sine, so its derivative of order k is u f⁽ᵏ⁾ + k f⁽ᵏ⁻¹⁾. sin π(m + r) = ± sin πr.
        f64 whole = ::round(a), flip = ::fmod(whole, 2.0) == 0.0 ? 1.0 : -1.0;
        f64 sine = flip * ::sin(PI * (a - whole)), cosine = flip * ::cos(PI * (a - whole));
        for (i32 k = 0; k <= n; ++k) {
            f64 wave = k % 2 == 0 ? sine : cosine;
            value = ((k / 2) % 2 == 0 ? wave : -wave) / u - (f64)k * value / u;
        }
    }
    value *= power_of(PI, n);
    return x < 0.0 ? sign_of(n) * value : value;
}

// Returns the derivative of order `n` of exp(x²) erfc(x).
DEVICE f64 erfcx_nth(f64 x, i32 n) {
    if (x >= 6.0) {
        // The asymptotic series: the sum of (-1)^k (2k - 1)!! / 2^k / x^(2k + 1), over √π, each power differentiated
        // separately.
        f64 inverse = 1.0 / x, sum = 0.0;
        f64 term = sign_of(n) * factorial(n) * power_of(inverse, n) * inverse;
        for (i32 k = 0; k < 60; ++k) {
            sum += term;
            f64 at = (f64)(2 * k), powers = (at + 1.0 + (f64)n) * (at + 2.0 + (f64)n);
            f64 next = -term * powers / (2.0 * (at + 2.0)) * inverse * inverse;
            if (size_of(next) >= size_of(term) || size_of(next) <= 1e-18 * size_of(sum)) break;
            term = next;
        }
        return sum * (0.5 * TWO_OVER_ROOT_PI);
    }
    f64 before = 0.0, value = erfcx(x);
    for (i32 k = 0; k < n; ++k) {
        f64 from = k == 0 ? -TWO_OVER_ROOT_PI : 2.0 * (f64)k * before;
        before = value;
        value = ::fma(2.0 * x, value, from);
    }
    return value;
}

// From here on the asymptotic series of the Bessel functions is exact.
constexpr f64 BESSEL_FAR = 30.0;

// Returns the derivative of order `n` of exp(-x) I₀(x), for x above `BESSEL_FAR`.
DEVICE f64 far_i0e(f64 x, i32 n) {
    // The sum of ((2k - 1)!!)² / (k! 8^k) / x^(k + 1/2), each power differentiated separately.
    f64 inverse = 1.0 / x, sum = 0.0;
    f64 term = ::sqrt(inverse) * power_of(inverse, n);
    for (i32 k = 0; k < 40; ++k) {
        f64 more = term;
        for (i32 i = 0; i < n; ++i) more *= (f64)(k + i) + 0.5;
        sum += more;
        if (more <= 1e-18 * size_of(sum)) break;
        f64 odd = (f64)(2 * k + 1);
        term *= odd * odd / (8.0 * (f64)(k + 1)) * inverse;
    }
    return sign_of(n) * sum * 0.3989422804014327;
}

// Returns the mean over θ of cosᵐ θ (cos θ - 1)ⁿ exp(-x (1 - cos θ)), by the midpoint rule, which is exact for periodic
// functions.
DEVICE f64 bessel_mean(f64 x, i32 m, i32 n) {
    const i32 POINTS = 40;
    f64 sum = 0.0;
    for (i32 at = 0; at < POINTS; ++at) {
        f64 half = ::sinpi(((f64)at + 0.5) * (0.5 / (f64)POINTS));
        f64 less = 2.0 * half * half;
        sum += power_of(1.0 - less, m) * power_of(-less, n) * ::exp(-x * less);
    }
    return sum / (f64)POINTS;
}

// Returns the derivative of order `n` of I₀.
DEVICE f64 i0_nth(f64 x, i32 n) {
    f64 a = size_of(x), value = 0.0;
    if (a < 1.0) {
        // The sum of (2k)! / (k!² 4^k (2k - n)!) x^(2k - n).
        i32 k = (n + 1) / 2;
        f64 term = factorial(2 * k) / (factorial(k) * factorial(k) * power_of(4.0, k)) * (n % 2 == 0 ? 1.0 : a);
        for (;;) {
            value += term;
            if (term <= 1e-18 * value) break;
            ++k;
            f64 two = (f64)(2 * k), power = (f64)(2 * k - n);
            term *= two * (two - 1.0) * a * a / (two * two * power * (power - 1.0));
        }
    } else {
        if (a <= BESSEL_FAR) {
            value = bessel_mean(a, n, 0);
        } else {
            // cosⁿ = (1 - (1 - cos))ⁿ.
            for (i32 k = 0; k <= n; ++k)
                value += factorial(n) / (factorial(k) * factorial(n - k)) * far_i0e(a, k);
        }
        // In two steps, because the exponential overflows before the function does.
        f64 root = ::exp(0.5 * a);
        value = endless(a) ? a : value * root * root;
    }
    return x < 0.0 ? sign_of(n) * value : value;
}

// Extends a derivative from the right of zero to the left, with its parity; at zero, the mean of both sides.
DEVICE f64 two_sided(f64 x, f64 value, i32 n) {
    // At zero all values are multiples of a power of two.
    if (x == 0.0) value = ::round(value * power_of(2.0, n + 1)) / power_of(2.0, n + 1);
    if (n % 2 == 0 || x > 0.0 || nan_in(x)) return value;
    return x == 0.0 ? 0.0 : -value;
}

// Returns the derivative of order `n` of exp(-|x|) I₀(x).
DEVICE f64 i0e_nth(f64 x, i32 n) {
    f64 a = size_of(x);
    return two_sided(x, a <= BESSEL_FAR ? bessel_mean(a, 0, n) : far_i0e(a, n), n);
}

// Returns the derivative of order `n` of exp(-|x|) I₁(x).
DEVICE f64 i1e_nth(f64 x, i32 n) {
    f64 a = size_of(x);
    f64 value = a <= BESSEL_FAR ? bessel_mean(a, 1, n) : far_i0e(a, n) + far_i0e(a, n + 1);
    return two_sided(x, value, n + 1);
}

}  // namespace wide

#define NTH(name)                                                                                  \
    template <class T> DEVICE T name(T x, T n) { return (T)wide::name((f64)x, wide::order_of((f64)n)); }

NTH(sinc_nth)
NTH(erfcx_nth)
NTH(i0_nth)
NTH(i0e_nth)
NTH(i1e_nth)

#undef NTH

}  // namespace numeric

#endif
