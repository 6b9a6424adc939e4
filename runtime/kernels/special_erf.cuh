// The family of the error function in f64: functions that devices lack, or have with less accuracy.
#ifndef NOMINA_SPECIAL_ERF_CUH
#define NOMINA_SPECIAL_ERF_CUH

#include "special_dd.cuh"

namespace numeric {

constexpr f64 TWO_OVER_ROOT_PI = 1.1283791670955126;
// √½, and its rounding error.
constexpr f64 ROOT_HALF = 0.7071067811865476;
constexpr f64 ROOT_HALF_LOW = -4.833646656726457e-17;

namespace wide {

// Returns the inverse of the error function; infinite at ±1, NaN beyond.
//
// Winitzki's formula gives three digits, Halley's steps the rest: with `erf` near zero and with
// `erfc` elsewhere, so that nothing cancels.
DEVICE f64 erfinv(f64 x) {
    const f64 A = 0.147;
    f64 p = size_of(x);
    if (p > 1.0 || nan_in(p)) return nan<f64>();
    if (p == 1.0) return with_sign(infinity<f64>(), x);
    // The next term is below half a unit in the last place.
    if (p < 1e-8) return x * (1.0 / TWO_OVER_ROOT_PI);
    // The distance to 1, which is exact.
    f64 q = 1.0 - p;
    f64 log = p < 0.5 ? ::log1p(-p * p) : ::log(q * (1.0 + p));
    f64 b = 2.0 / (3.141592653589793 * A) + 0.5 * log;
    // The root of b² - log/A, less b, without cancellation.
    f64 z = ::sqrt(-log / A / (::sqrt(b * b - log / A) + b));
    // The tail differs more from a parabola.
    i32 steps = q < 0.01 ? 3 : 2;
    for (i32 i = 0; i < steps; ++i) {
        f64 error = p < 0.5 ? ::erf(z) - p : q - ::erfc(z);
        f64 step = error / (TWO_OVER_ROOT_PI * ::exp(-z * z));
        z -= step / (1.0 + z * step);
    }
    return with_sign(z, x);
}

// Returns 2 Φ(x), for x from -30 to 40, where Φ is the normal distribution: `erfc(-x/√2)`.
DEVICE f64 doubled_ndtr(f64 x) {
    // The relative slope of erfc would magnify the rounding error.
    f64 z = product(-x, ROOT_HALF);
    f64 rest = ::fma(-x, ROOT_HALF, -z) - x * ROOT_HALF_LOW;
    f64 slope = TWO_OVER_ROOT_PI * ::exp(-z * z);
    return ::erfc(z) - rest * slope;
}

// Returns the sum 1 - a (1 - 3a (1 - 5a …)) of eight terms.
DEVICE f64 tail_series(f64 a) {
    f64 sum = 1.0;
    for (i32 k = 8; k > 0; --k) sum = 1.0 - (f64)(2 * k - 1) * a * sum;
    return sum;
}

// Returns |x| Φ(x) for x below -30, as a factor and a number to multiply by twice: the asymptotic
// series. Φ itself would lose digits below the normal numbers.
DEVICE f64 far_ndtr(f64 x, f64& root) {
    Dd square = dd_product(x, x);
    f64 series = tail_series(1.0 / square.hi);
    root = ::exp(-0.25 * square.hi);
    return series * (1.0 - 0.5 * square.lo) / 2.5066282746310005;
}

// Returns x Φ(x).
DEVICE f64 gelu(f64 x) {
    if (size_of(x) > 40.0 || nan_in(x)) return x < 0.0 ? -0.0 : x;
    if (x < -30.0) {
        f64 root, series = far_ndtr(x, root);
        return -(series * root) * root;
    }
    return 0.5 * x * doubled_ndtr(x);
}

DEVICE f64 ndtr(f64 x) {
    if (nan_in(x)) return x;
    if (x > 40.0) return 1.0;
    if (x < -40.0) return 0.0;
    if (x < -30.0) {
        f64 root, series = far_ndtr(x, root);
        return series / -x * root * root;
    }
    return 0.5 * doubled_ndtr(x);
}

// Returns exp(x²) erfc(x).
DEVICE f64 erfcx(f64 x) {
    if (x < 25.0) {
        // Below, the square exceeds the range of exp.
        if (x < -27.0) return infinity<f64>();
        Dd square = dd_product(x, x);
        f64 power = ::exp(0.5 * square.hi);
        return (power * ::erfc(x)) * (power + power * square.lo);
    }
    // 1 / (x √π) times a series in 1 / 2x²; also for infinity and NaN.
    return 0.5 * TWO_OVER_ROOT_PI / x * tail_series(0.5 / (x * x));
}

DEVICE f64 log_ndtr(f64 x) {
    if (x > -1.0) return ::log1p(-ndtr(-x));
    // NaN takes this path, too.
    return ::log(0.5 * erfcx(-x * ROOT_HALF)) - 0.5 * x * x;
}

// Returns the inverse of the normal distribution function.
DEVICE f64 ndtri(f64 p) {
    if (!(p >= 0.0 && p <= 1.0)) return nan<f64>();
    // 2p - 1 is exact.
    if (p >= 0.25) return 1.4142135623730951 * erfinv(2.0 * p - 1.0);
    if (p == 0.0) return -infinity<f64>();
    // The tail, by Newton's steps on the logarithm, which is nearly a parabola.
    f64 log = ::log(p), x = -::sqrt(-2.0 * log);
    for (i32 i = 0; i < 8; ++i) {
        f64 hazard = ROOT_HALF * TWO_OVER_ROOT_PI / erfcx(-x * ROOT_HALF);
        f64 step = (log_ndtr(x) - log) / hazard;
        x -= step;
        if (size_of(step) <= 1e-9 * size_of(x)) break;
    }
    return x;
}

}  // namespace wide
}  // namespace numeric

#endif
