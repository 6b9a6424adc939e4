// The logarithm of the gamma function, its derivatives, and the zeta function, in f64.
#ifndef NOMINA_SPECIAL_GAMMA_CUH
#define NOMINA_SPECIAL_GAMMA_CUH

#include "special_dd.cuh"

namespace numeric {
namespace wide {

// From here on, eight terms of the asymptotic series suffice.
constexpr f64 GAMMA_FAR = 16.0;

// Returns ψ between 1 and 2, from ψ(x) / (x - root) in powers of x - 1.5, interpolated at 24 Chebyshev nodes
// (`scripts/special_tables.py --digamma`).
DEVICE f64 digamma_near_root(f64 x) {
    const f64 series[24] = {
        0.9510558760318328,     -0.42362742128146047,  0.24054248424078736,    -0.14840492305391761,
        0.09498872445283,       -0.06192213327165706,  0.04076083394462657,    -0.02697579684427536,
        0.017907248195969127,   -0.011908215172584002, 0.007927024067961237,   -0.00528001782089874,
        0.0035180800751066694,  -0.002344650082351321, 0.0015635679757533885,  -0.001042261556504223,
        0.0006899717801166841,  -0.0004599625144612576, 0.0003268068044141764, -0.0002178682145501451,
        9.173383289174792e-05,  -6.11554261750751e-05, 0.00012230983055406747, -8.153978973309418e-05,
    };
    f64 t = x - 1.5, slope = 0.0;
#pragma unroll
    for (i32 i = 23; i >= 0; --i) slope = slope * t + series[i];
    return ((x - 1.4616321449683622) - 9.549995429965697e-17) * slope;
}

// Returns ln x - 1/2x - ψ(x), the sum of B₂ₖ / 2k over powers of the square.
DEVICE f64 digamma_far(f64 x) {
    const f64 series[8] = {
        1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0,
        1.0 / 12.0, -3617.0 / 8160.0,
    };
    f64 square = 1.0 / (x * x), sum = 0.0;
#pragma unroll
    for (i32 i = 7; i >= 0; --i) sum = (sum + series[i]) * square;
    return sum;
}

DEVICE f64 positive_digamma(f64 x) {
    if (x < 1.0) return digamma_near_root(x + 1.0) - 1.0 / x;
    if (x >= GAMMA_FAR) return endless(x) ? x : ::log(x) - (0.5 / x + digamma_far(x));
    f64 steps = 0.0;
    while (x > 2.0) {
        x -= 1.0;
        steps += 1.0 / x;
    }
    return digamma_near_root(x) + steps;
}

// Returns ψ(x) = ψ(1 - x) - π cot πx, whose terms nearly cancel around each root.
DEVICE f64 reflected_digamma(f64 x) {
    Dd one = dd(1.0), z = dd_sum(1.0, -x), steps = dd(0.0);
    while (z.hi < GAMMA_FAR) {
        steps = steps + one / z;
        z = z + one;
    }
    Dd psi = log(z) - dd(0.5) / z - dd(digamma_far(z.hi)) - steps;
    SinCos part = sin_cos_rest(x - ::round(x));
    return nearest(psi - dd_pi() * (part.cos / part.sin));
}

// Returns the logarithmic derivative of the gamma function; NaN at the negative integers, infinite at zero with the
// opposite sign.
DEVICE f64 digamma(f64 x) {
    if (x > 0.0) return positive_digamma(x);
    if (x == 0.0) return with_sign(infinity<f64>(), -x);
    if (x > -0.01) return positive_digamma(1.0 + x) - 1.0 / x;
    if (x == ::floor(x) || nan_in(x)) return nan<f64>();
    return reflected_digamma(x);
}

// Like `digamma`, but for f32. Plain f64 suffices except next to a root. The work common to both sides of zero is done
// unconditionally, so that a warp with elements of both does it once.
DEVICE f32 digamma_of_f32(f32 x) {
    const f64 at = x;
    const bool reflects = x < -0.01f && x != ::floorf(x);
    const f64 psi = positive_digamma(reflects ? 1.0 - at : x > 0.0f ? at : 1.0);
    if (x > 0.0f) return (f32)psi;
    if (reflects) {
        f64 sine, cosine;
        ::sincospi(at - ::round(at), &sine, &cosine);
        const f64 made = psi - 3.141592653589793 * (cosine / sine);
        if (size_of(made) > 1e-6 * size_of(psi)) return (f32)made;
    }
    return (f32)digamma(at);
}

// Returns ln Γ(z) from Stirling's series after upward recurrence: B₂ₖ / 2k(2k - 1).
DEVICE Dd stirling(f64 start) {
    const f64 series[8] = {
        1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360360.0,
        1.0 / 156.0, -3617.0 / 122400.0,
    };
    Dd one = dd(1.0), z = dd(start), steps = one;
    while (z.hi < GAMMA_FAR) {
        steps = steps * z;
        z = z + one;
    }
    f64 inverse = 1.0 / z.hi, square = inverse * inverse, sum = 0.0;
#pragma unroll
    for (i32 i = 7; i >= 0; --i) sum = sum * square + series[i];
    Dd half_ln_tau = {0.9189385332046728, -3.8782941580672414e-17};
    return (z - dd(0.5)) * log(z) - z + half_ln_tau + dd(sum * inverse) - log(steps);
}

// Returns ln |π / (x sin πx)|, for x below zero.
DEVICE Dd reflection(f64 x) {
    f64 r = size_of(x - ::round(x));
    Dd sine = r <= 0.25 ? sin_cos_pi(r).sin : sin_cos_pi(0.5 - r).cos;
    return log(dd_pi() / (sine * dd(-x)));
}

// Returns the logarithm of |Γ|; infinite at zero and the negative integers. Below zero it is ln |π / (x sin πx)| -
// lgamma(-x).
DEVICE f64 lgamma(f64 x) {
    if (!(x < 0.0)) return ::lgamma(x);
    if (x == ::floor(x)) return infinity<f64>();
    f64 z = -x;
    // The first terms of the series at zero.
    if (z < 1e-5) return ::fma(::log(z), -1.0, z * (0.5772156649015329 + 0.8224670334241132 * z));
    Dd part = reflection(x);
    // Roots are only above -20: below, a number next to an integer is too far from it.
    if (z > 20.0) return part.hi - ::lgamma(z);
    return nearest(part - stirling(z));
}

// Like `lgamma`, but for f32; see `digamma_of_f32`.
DEVICE f32 lgamma_of_f32(f32 x) {
    const f64 at = x, z = size_of(at), there = ::lgamma(z);
    if (!(x < 0.0f)) return (f32)there;
    if (x == ::floorf(x)) return infinity<f32>();
    const f64 sine = size_of(::sinpi(at - ::round(at)));
    const f64 made = ::log(3.141592653589793 / (sine * z)) - there;
    return (f32)(size_of(made) > 1e-6 ? made : nearest(reflection(at) - stirling(z)));
}

// Returns Σ (x + k)^-s over k >= 0, for s above 1 and x not too far below zero, by upward recurrence and the
// Euler-Maclaurin formula.
DEVICE f64 zeta_sum(f64 s, f64 x) {
    f64 sum = 0.0;
    // Higher orders need a larger start.
    while (x < GAMMA_FAR + s) {
        f64 term = ::pow(x, -s);
        sum += term;
        x += 1.0;
        // Above one, terms only shrink: once a term does not change the sum, no later one does. Infinities of both
        // signs have no sum.
        if (x > 1.0 && (size_of(term) <= size_of(sum) * 1e-18 || nan_in(sum))) return sum;
    }
    // B₂ₖ / (2k)! · s (s + 1) … (s + 2k - 2) / x^(s + 2k - 1)
    const f64 bernoulli[8] = {
        1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0,
        -3617.0 / 510.0,
    };
    f64 power = ::pow(x, -s);
    // The first term may be in range although the power itself is not.
    f64 first = power < 2.2250738585072014e-308 ? ::pow(x, 1.0 - s) : x * power;
    f64 rest = first / (s - 1.0) + 0.5 * power, factor = s * power / (2.0 * x);
#pragma unroll
    for (i32 k = 0; k < 8; ++k) {
        rest += bernoulli[k] * factor;
        f64 m = (f64)(2 * k + 2);
        factor *= (s + m - 1.0) * (s + m) / ((m + 1.0) * (m + 2.0) * x * x);
    }
    return sum + rest;
}

DEVICE bool even(f64 x) { return ::fmod(x, 2.0) == 0.0; }

// Returns the sum from `x`, or the combination of three sums if `x` is far below zero.
DEVICE f64 zeta_parts(f64 s, f64 x, i32 parts) {
    f64 from = x - ::floor(x), sum = 0.0;
    // Not unrolled: one copy of the sum's code for all parts.
#pragma unroll 1
    for (i32 i = 0; i < parts; ++i) {
        f64 at = parts == 1 ? x : i == 0 ? from : i == 1 ? 1.0 - from : 1.0 - x;
        f64 part = zeta_sum(s, at);
        bool less = i > 0 && (i == 2) == even(s);
        sum += less ? -part : part;
    }
    return sum;
}

// Returns the Hurwitz zeta function of order `s`.
DEVICE f64 zeta(f64 s, f64 x) {
    if (s == 1.0) return infinity<f64>();
    if (s < 1.0 || nan_in(s) || nan_in(x)) return nan<f64>();
    if (x <= 0.0) {
        if (x == ::floor(x)) return infinity<f64>();
        // Only integer powers of negative numbers are real.
        if (s != ::floor(s)) return nan<f64>();
    }
    if (endless(x)) return 0.0;
    if (x >= -1000.0) return zeta_parts(s, x, 1);
    // The terms below zero are the difference of two series above it.
    return zeta_parts(s, x, 3);
}

// Returns the derivative of order `n` of the logarithmic derivative of the gamma function.
DEVICE f64 polygamma(f64 n, f64 x) {
    if (n == 0.0) return digamma(x);
    // ψ'(x) = π² / sin² πx - ψ'(1 - x)
    bool reflects = x <= 0.0 && x != ::floor(x) && n == 1.0;
    f64 series = zeta(n + 1.0, reflects ? 1.0 - x : x);
    if (reflects) {
        f64 ratio = 3.141592653589793 / nearest(sin_cos_rest(x - ::round(x)).sin);
        return ratio * ratio - series;
    }
    // The factorial of more than 170 overflows.
    f64 factorial = 1.0, last = n < 171.0 ? n : 171.0;
    for (f64 k = 2.0; k <= last; k += 1.0) factorial *= k;
    return (even(n) ? -factorial : factorial) * series;
}

}  // namespace wide
}  // namespace numeric

#endif
