// Functions of complex numbers. Those with f32 parts compute with f64 parts, except for arithmetic.
//
// The inverse functions are Kahan's, from products of the square roots of 1 ± z, in which nothing
// cancels ("Branch cuts for complex elementary functions", 1987).
#ifndef NOMINA_COMPLEX_CUH
#define NOMINA_COMPLEX_CUH

#include "special_dd.cuh"

namespace numeric {

DEVICE f32 exp_of(f32 x) { return ::expf(x); }
DEVICE f64 exp_of(f64 x) { return ::exp(x); }
DEVICE f32 length(f32 x, f32 y) { return ::hypotf(x, y); }
DEVICE f64 length(f64 x, f64 y) { return ::hypot(x, y); }
DEVICE void sin_and_cos(f32 x, f32& sin, f32& cos) { sin = ::sinf(x), cos = ::cosf(x); }
DEVICE void sin_and_cos(f64 x, f64& sin, f64& cos) { sin = ::sin(x), cos = ::cos(x); }

// Divides, scaled by the divisor's larger part, so that its square cannot overflow.
template <class C> DEVICE C complex_div(C x, C y) {
    using P = Real<C>;
    if (size_of(y.re) >= size_of(y.im)) {
        if (!truth(y)) return C{x.re / y.re, x.im / y.re};
        P ratio = y.im / y.re, scale = (P)1 / (y.re + product(y.im, ratio));
        return C{product(x.re + product(x.im, ratio), scale), product(x.im - product(x.re, ratio), scale)};
    }
    P ratio = y.re / y.im, scale = (P)1 / (product(y.re, ratio) + y.im);
    return C{product(product(x.re, ratio) + x.im, scale), product(product(x.im, ratio) - x.re, scale)};
}

// Returns exp(z). A real argument gives a real result, even if the magnitude is infinite.
template <class C> DEVICE C complex_exp(C z) {
    using P = Real<C>;
    P size = exp_of(z.re);
    if (z.im == 0) return C{size, z.im};
    P sin, cos;
    sin_and_cos(z.im, sin, cos);
    return C{size * cos, size * sin};
}

template <class C> DEVICE C complex_sigmoid(C z) {
    C power = complex_exp(C{-z.re, -z.im});
    return complex_div(C{1, 0}, C{(Real<C>)1 + power.re, power.im});
}

namespace plane {

using C = c128;

constexpr f64 LN_2 = 0.6931471805599453;
constexpr f64 HALF_PI = 1.5707963267948966;
// Above this, adding one to a number's square has no effect.
constexpr f64 HUGE_PART = 1e150;

// Returns exp(x) · factor, even if the exponential alone would overflow.
DEVICE f64 exp_times(f64 x, f64 factor) {
    if (factor == 0.0) return factor;
    if (size_of(x) < 700.0 || endless(x)) return ::exp(x) * factor;
    f64 half = ::exp(0.5 * x);
    return half * factor * half;
}

// Returns whether cosh and |sinh| equal half the exponential.
DEVICE bool far(f64 x) { return size_of(x) > 700.0; }

// Multiplies; zero wins, even against infinity.
DEVICE f64 times(f64 a, f64 b) {
    if (a == 0.0 || b == 0.0) return with_sign(0.0, a) * with_sign(1.0, b);
    return product(a, b);
}

// Returns ±1 with the sign of `x`, including the sign of a zero; NaN for NaN.
DEVICE f64 signum(f64 x) { return nan_in(x) ? x : with_sign(1.0, x); }

// Computes sine and cosine, and keeps a real argument real.
DEVICE void turns(f64 x, f64& sin, f64& cos) {
    if (x == 0.0) sin = x, cos = 1.0;
    else sin_and_cos(x, sin, cos);
}

DEVICE C sinh(C z) {
    f64 sin, cos;
    turns(z.im, sin, cos);
    if (far(z.re)) {
        f64 x = size_of(z.re);
        return C{with_sign(exp_times(x, 0.5 * cos), cos * signum(z.re)), exp_times(x, 0.5 * sin)};
    }
    return C{times(::sinh(z.re), cos), times(::cosh(z.re), sin)};
}

DEVICE C cosh(C z) {
    f64 sin, cos;
    turns(z.im, sin, cos);
    if (far(z.re)) {
        f64 x = size_of(z.re);
        return C{exp_times(x, 0.5 * cos), exp_times(x, 0.5 * sin * signum(z.re))};
    }
    return C{times(::cosh(z.re), cos), times(::sinh(z.re), sin)};
}

// Computes tanh by Kahan's formula, from tan of the imaginary and sinh of the real part.
DEVICE C tanh(C z) {
    if (size_of(z.re) > 20.0) {
        // Here tanh of the real part is 1 up to rounding, and the imaginary part is 4 exp(-2 |re|)
        // sin cos.
        f64 sin = 0.0, cos = 1.0;
        if (!endless(z.im)) sin_and_cos(z.im, sin, cos);
        f64 tail = exp_times(-size_of(z.re), 2.0);
        return C{with_sign(1.0, z.re), tail * tail * sin * cos};
    }
    f64 tan = ::tan(z.im), slope = 1.0 + tan * tan;
    f64 sinh = ::sinh(z.re), cosh = ::cosh(z.re);
    f64 scale = 1.0 + slope * sinh * sinh;
    return C{slope * cosh * sinh / scale, tan / scale};
}

// Returns i z.
DEVICE C turn(C z) { return C{-z.im, z.re}; }

// Returns -i z.
DEVICE C turn_back(C z) { return C{z.im, -z.re}; }

// Returns the principal square root, scaled so that the squares do not overflow.
DEVICE C sqrt(C z) {
    if (z.re == 0.0 && z.im == 0.0) return C{0.0, z.im};
    if (endless(z.im)) return C{infinity<f64>(), z.im};
    f64 x = size_of(z.re), y = size_of(z.im), size = x < y ? y : x;
    f64 scale = 1.0, back = 1.0;
    if (size > 1e300) scale = 0.0625, back = 4.0;
    // 2^108 and 2^-54.
    else if (size < 1e-290) scale = 3.2451855365842673e32, back = 5.551115123125783e-17;
    f64 re = z.re * scale, im = z.im * scale;
    f64 root = ::sqrt(0.5 * (::hypot(re, im) + size_of(re)));
    f64 other = size_of(im) / (2.0 * root);
    if (nan_in(re)) return C{re, re};
    f64 a = re >= 0.0 ? root : other, b = re >= 0.0 ? other : root;
    return C{a * back, with_sign(b * back, z.im)};
}

// Returns the imaginary part of conj(a) b, if both of its products have the same sign.
DEVICE f64 cross(C a, C b) { return times(a.re, b.im) - times(a.im, b.re); }

// Returns ln 2|z| with the angle of z: the limit of the inverse functions for large arguments.
DEVICE C far_log(C z) {
    return C{::log(::hypot(0.5 * z.re, 0.5 * z.im)) + 2.0 * LN_2, ::atan2(z.im, z.re)};
}

DEVICE bool is_far(C z) { return size_of(z.re) > HUGE_PART || size_of(z.im) > HUGE_PART; }

DEVICE C asin(C z) {
    if (is_far(z)) {
        C log = far_log(C{size_of(z.re), size_of(z.im)});
        return C{with_sign(HALF_PI - log.im, z.re), with_sign(log.re, z.im)};
    }
    C less = sqrt(C{1.0 - z.re, -z.im}), more = sqrt(C{1.0 + z.re, z.im});
    f64 re = ::atan2(z.re, product(less.re, more.re) - product(less.im, more.im));
    return C{re, with_sign(::asinh(cross(less, more)), z.im)};
}

DEVICE C acos(C z) {
    if (is_far(z)) {
        C log = far_log(z);
        return C{size_of(log.im), -with_sign(log.re, z.im)};
    }
    C less = sqrt(C{1.0 - z.re, -z.im}), more = sqrt(C{1.0 + z.re, z.im});
    return C{2.0 * ::atan2(less.re, more.re), ::asinh(cross(more, less))};
}

DEVICE C acosh(C z) {
    if (is_far(z)) return far_log(z);
    C less = sqrt(C{z.re - 1.0, z.im}), more = sqrt(C{z.re + 1.0, z.im});
    f64 re = ::asinh(product(less.re, more.re) + product(less.im, more.im));
    return C{re, 2.0 * ::atan2(less.im, more.re)};
}

DEVICE C atanh(C z) {
    f64 x = size_of(z.re), y = size_of(z.im);
    if (nan_in(x) || nan_in(y)) return C{nan<f64>(), nan<f64>()};
    if (x > HUGE_PART || y > HUGE_PART) {
        // 1/z, because z² would overflow.
        f64 re = 0.0;
        if (!endless(x) && !endless(y)) {
            f64 size = ::hypot(x, y);
            re = x / size / size;
        }
        return C{with_sign(re, z.re), with_sign(HALF_PI, z.im)};
    }
    f64 less = 1.0 - x, more = 1.0 + x;
    f64 distance = less * less + y * y;
    f64 re;
    if (distance == 0.0 && y == 0.0) re = infinity<f64>();
    else if (distance < 2.2250738585072014e-308) re = 0.5 * (LN_2 - ::log(y));
    else re = 0.25 * ::log1p(4.0 * x / distance);
    f64 cos = nearest(dd_product(less, more) - dd_product(y, y));
    // On the branch cut, the sign of zero selects the side.
    f64 im = y == 0.0 ? (x > 1.0 ? HALF_PI : 0.0) : 0.5 * ::atan2(2.0 * y, cos);
    return C{with_sign(re, z.re), with_sign(im, z.im)};
}

// Returns ln |1 + z|, accurate even if 1 + z is close to the unit circle.
DEVICE f64 log1p_magnitude(C z) {
    if (is_far(z) || z.re < -3.0 || z.re > 3.0 || size_of(z.im) > 3.0)
        return ::log(::hypot(1.0 + z.re, z.im));
    // |1 + z|² - 1
    Dd square = dd_product(z.re, z.re) + dd_product(z.im, z.im);
    f64 excess = nearest(dd(2.0 * z.re) + square);
    if (excess < -0.5) return ::log(::hypot(nearest(dd_sum(1.0, z.re)), z.im));
    return 0.5 * ::log1p(excess);
}

DEVICE C log1p(C z) { return C{log1p_magnitude(z), ::atan2(z.im, 1.0 + z.re)}; }

// Returns the natural logarithm, accurate even close to the unit circle.
DEVICE C log(C z) {
    f64 x = size_of(z.re), y = size_of(z.im);
    f64 greater = x < y ? y : x, less = x < y ? x : y;
    f64 re;
    if (greater > 0.5 && greater < 1.5) {
        // |z|² - 1 = (greater - 1)(greater + 1) + less², where the difference is exact.
        Dd excess = dd(greater - 1.0) * dd_sum(greater, 1.0) + dd_product(less, less);
        f64 value = nearest(excess);
        re = value < -0.5 ? ::log(::hypot(greater, less)) : 0.5 * ::log1p(value);
    } else if (greater > 1e300) {
        re = ::log(::hypot(0.5 * x, 0.5 * y)) + LN_2;
    } else if (greater < 1e-300) {
        // A subnormal magnitude has lost digits.
        const f64 up = 3.2451855365842673e32;
        re = ::log(::hypot(x * up, y * up)) - 108.0 * LN_2;
    } else {
        re = ::log(::hypot(x, y));
    }
    return C{re, ::atan2(z.im, z.re)};
}

DEVICE C expm1(C z) {
    if (z.im == 0.0) return C{::expm1(z.re), z.im};
    f64 sin, cos;
    sin_and_cos(z.im, sin, cos);
    if (far(z.re)) return C{exp_times(z.re, cos) - 1.0, exp_times(z.re, sin)};
    // cos - 1, without cancellation.
    f64 half = ::sin(0.5 * z.im), grown = ::expm1(z.re);
    Dd a = dd_product(grown, cos), b = dd_product(2.0 * half, half);
    return C{nearest(a - b), ::exp(z.re) * sin};
}

DEVICE C exp2(C z) {
    f64 sin = z.im, cos = 1.0;
    if (z.im != 0.0) sin_and_cos(z.im * LN_2, sin, cos);
    f64 size = ::exp2(z.re);
    return C{size * cos, size * sin};
}

// Returns the conjugate divided by the squared magnitude, with the host's scaling.
DEVICE C reciprocal(C z) {
    f64 a = size_of(z.re), b = size_of(z.im), size = a < b ? b : a;
    if (size == 0.0) return C{1.0 / z.re, nan<f64>()};
    // If only one part is infinite, the other one is ignored.
    if (endless(size) && (a < size || b < size)) return C{with_sign(0.0, z.re), -with_sign(0.0, z.im)};
    // 2^-600 and 2^600.
    f64 scale = size > 1e150 ? 2.409919865102884e-181 : size < 1e-150 ? 4.149515568880993e180 : 1.0;
    f64 re = z.re * scale, im = z.im * scale;
    f64 inverse = scale / (re * re + im * im);
    return C{re * inverse, -im * inverse};
}
DEVICE C rsqrt(C z) { return reciprocal(sqrt(z)); }
DEVICE C silu(C z) { return mul(z, complex_sigmoid(z)); }

DEVICE C log2(C z) {
    C value = log(z);
    return C{value.re * 1.4426950408889634, value.im * 1.4426950408889634};
}

DEVICE C log10(C z) {
    C value = log(z);
    return C{value.re * 0.4342944819032518, value.im * 0.4342944819032518};
}

DEVICE C sinc(C z) {
    if (!truth(z)) return C{1.0, 0.0};
    C w = {z.re * 3.141592653589793, z.im * 3.141592653589793};
    return complex_div(turn_back(sinh(turn(w))), w);
}

DEVICE C sin(C z) { return turn_back(sinh(turn(z))); }
DEVICE C cos(C z) { return cosh(turn(z)); }
DEVICE C tan(C z) { return turn_back(tanh(turn(z))); }
DEVICE C atan(C z) { return turn_back(atanh(turn(z))); }
DEVICE C asinh(C z) { return turn_back(asin(turn(z))); }

}  // namespace plane

// Computes tanh from tanh and tan of the parts, which stay finite where cosh would overflow.
template <class C> DEVICE C complex_tanh(C z) {
    using P = Real<C>;
    P t, u;
    if constexpr (sizeof(P) == 4) t = ::tanhf(z.re), u = ::tanf(z.im);
    else t = ::tanh(z.re), u = ::tan(z.im);
    if (size_of(z.re) > (P)20) {
        // Here tanh of the real part is 1 up to rounding.
        P sech = (P)2 * exp_of(-size_of(z.re)), sin, cos;
        sin_and_cos(z.im, sin, cos);
        return C{t, sech * sech * sin * cos};
    }
    P tu = t * u, scale = (P)1 + t * t * u * u;
    return C{t * ((P)1 + u * u) / scale, (u - t * tu) / scale};
}

// Applies a function of c128 to either complex dtype.
template <class C, class F> DEVICE C in_plane(C z, F f) {
    c128 value = f(c128{(f64)z.re, (f64)z.im});
    return C{(Real<C>)value.re, (Real<C>)value.im};
}

template <class C> DEVICE C complex_log(C z) { return in_plane(z, [](c128 w) { return plane::log(w); }); }

// Replaces an infinite part by ±1 and, in an infinite number, a finite or NaN part by a signed
// zero; otherwise replaces NaN by a signed zero.
template <class P> DEVICE P direction(P x, bool of_infinite) {
    if (of_infinite && endless(x)) return x > 0 ? (P)1 : (P)-1;
    return of_infinite || x != x ? with_sign((P)0, x) : x;
}

// Multiplies; infinity times NaN stays infinite, as annex G of the C standard specifies.
template <class C> DEVICE C times_endless(C x, C y) {
    using P = Real<C>;
    C z = mul(x, y);
    bool ends[2] = {!endless(x.re) && !endless(x.im), !endless(y.re) && !endless(y.im)};
    if (z.re == z.re || z.im == z.im || (ends[0] && ends[1])) return z;
    z = mul(C{direction(x.re, !ends[0]), direction(x.im, !ends[0])},
            C{direction(y.re, !ends[1]), direction(y.im, !ends[1])});
    return C{infinity<P>() * z.re, infinity<P>() * z.im};
}

// Computes the power through the logarithm like C's `cpow`, except that anything to the power of
// zero is one.
template <class C> DEVICE C complex_pow(C x, C y) {
    using P = Real<C>;
    if (!truth(y)) return C{1, 0};
    C z = times_endless(y, complex_log(x));
    if (!endless(z.re) || z.im == 0) return complex_exp(z);
    // The imaginary part of the exponent only rotates the result.
    P size = exp_of(z.re);
    if (endless(z.im) || z.im != z.im) return C{size, size == 0 ? (P)0 : nan<P>()};
    P sin, cos;
    sin_and_cos(z.im, sin, cos);
    return C{cos < 0 ? -size : size, sin < 0 ? -size : size};
}

template <class C> DEVICE C complex_logaddexp(C x, C y) {
    if (eq(x, y) && endless(x.re)) return x;
    c128 a = {(f64)x.re, (f64)x.im}, b = {(f64)y.re, (f64)y.im};
    c128 greater = x.re < y.re ? b : a, less = x.re < y.re ? a : b;
    c128 value = add(greater, plane::log1p(complex_exp(sub(less, greater))));
    return C{(Real<C>)value.re, (Real<C>)value.im};
}

}  // namespace numeric

#endif
