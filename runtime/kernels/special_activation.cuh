// Activation functions, and the terms of losses.
//
// Many functions have a separate f32 form that keeps the digits of small results; the others compute in f64.
#ifndef NOMINA_SPECIAL_ACTIVATION_CUH
#define NOMINA_SPECIAL_ACTIVATION_CUH

#include "special_erf.cuh"

namespace numeric {

DEVICE f32 log1p_of(f32 x) { return ::log1pf(x); }
DEVICE f64 log1p_of(f64 x) { return ::log1p(x); }
DEVICE f32 expm1_of(f32 x) { return ::expm1f(x); }
DEVICE f64 expm1_of(f64 x) { return ::expm1(x); }
DEVICE f32 log_of(f32 x) { return ::logf(x); }
DEVICE f64 log_of(f64 x) { return ::log(x); }

// Below this, logistic functions equal exponentials up to rounding.
constexpr i32 LOGISTIC_FAR = -40;

// Returns x exp(x), in two steps: the exponential alone would lose digits, or overflow as exp(-x).
template <class T> DEVICE T times_exp(T x) {
    if (x == -infinity<T>()) return -(T)0;
    T root = exp_of((T)0.5 * x);
    return x * root * root;
}

// Returns the sigmoid. exp(-|x|) does not overflow, and small results are as accurate as it is.
DEVICE f32 float_sigmoid(f32 x) {
    f32 e = ::expf(-size_of(x)), sum = 1.0f + e;
    // The rounding error of the sum, times approximately its inverse.
    f32 lost = (e - (sum - 1.0f)) * ::fmaf(e, -0.5f, 1.0f);
    f32 value = (x < 0.0f ? e : 1.0f) / sum;
    return ::fmaf(value, -lost, value);
}
DEVICE f64 float_sigmoid(f64 x) {
    f64 e = ::exp(-size_of(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

template <class T> DEVICE T float_silu(T x) {
    if (x < (T)LOGISTIC_FAR) return times_exp(x);
    return x / ((T)1 + exp_of(-x));
}

// Returns 2 Φ(x), for x from -15 to 15; see the f64 version in special_erf.cuh.
DEVICE f32 doubled_ndtr(f32 x) {
    const f32 HI = 0.70710677f, LO = 1.21016175e-8f;
    f32 z = product(-x, HI);
    f32 rest = ::fmaf(-x, HI, -z) - x * LO;
    f32 slope = 1.1283792f * ::expf(-z * z);
    return ::fmaf(-rest, slope, ::erfcf(z));
}
DEVICE f32 float_ndtr(f32 x) {
    if (size_of(x) > 15.0f) return x < 0.0f ? 0.0f : 1.0f;
    return 0.5f * doubled_ndtr(x);
}
DEVICE f64 float_ndtr(f64 x) { return wide::ndtr(x); }

DEVICE f32 float_gelu(f32 x) {
    if (size_of(x) > 15.0f) return x < 0.0f ? -0.0f : x;
    return 0.5f * x * doubled_ndtr(x);
}
DEVICE f64 float_gelu(f64 x) { return wide::gelu(x); }

// Returns x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), through the logistic function, so nothing cancels. An exponential
// turns the absolute error of its argument into a relative one, so the argument has two parts.
DEVICE f32 float_gelu_tanh(f32 x) {
    const f32 CUBE = 0.044715f, CUBE_LOW = (f32)(0.044715 - (f64)CUBE);
    const f32 ROOT = 1.5957692f, ROOT_LOW = (f32)(1.5957691216057308 - (f64)ROOT);
    if (size_of(x) > 1e3f) return x < 0.0f ? -0.0f : x;
    f32 square = product(x, x), square_low = ::fmaf(x, x, -square);
    f32 term = product(CUBE, square);
    f32 term_low = ::fmaf(CUBE, square, -term) + (CUBE * square_low + CUBE_LOW * square);
    f32 sum = 1.0f + term, part = sum - 1.0f;
    f32 sum_low = ((1.0f - (sum - part)) + (term - part)) + term_low;
    f32 scaled = product(ROOT, x), scaled_low = ::fmaf(ROOT, x, -scaled) + ROOT_LOW * x;
    f32 inner = product(scaled, sum);
    f32 inner_low = ::fmaf(scaled, sum, -inner) + (scaled * sum_low + scaled_low * sum);
    if (inner < (f32)LOGISTIC_FAR) {
        f32 root = ::expf(0.5f * inner);
        return x * root * ::fmaf(root, inner_low, root);
    }
    f32 e = ::expf(-inner);
    return x / (1.0f + ::fmaf(-e, inner_low, e));
}
DEVICE f64 float_gelu_tanh(f64 x) {
    if (size_of(x) > 1e3 || nan_in(x)) return x < 0.0 ? -0.0 : x;
    Dd cube = dd_product(x, x) * dd(0.044715);
    Dd root = {1.5957691216057308, -9.96930880911092e-17};
    Dd inner = (dd(1.0) + cube) * dd(x) * root;
    if (inner.hi < (f64)LOGISTIC_FAR) {
        f64 half = ::exp(0.5 * inner.hi);
        return x * half * (half + half * inner.lo);
    }
    f64 e = ::exp(-inner.hi);
    return x / (1.0 + (e - e * inner.lo));
}

// Returns ln(1 + exp(x)).
template <class T> DEVICE T log1pexp(T x) { return (x > (T)0 ? x : (T)0) + log1p_of(exp_of(-size_of(x))); }

// Returns ln(1 + exp(beta x)) / beta; `x` itself if beta x exceeds `threshold`.
template <class T> DEVICE T softplus(T x, T beta, T threshold) {
    if (beta == (T)1) return x > threshold ? x : log1pexp(x);
    f64 scaled = (f64)x * (f64)beta;
    return scaled > (f64)threshold ? x : (T)(log1pexp(scaled) / (f64)beta);
}

template <class T> DEVICE T logsigmoid(T x) {
    return (x < (T)0 ? x : (T)0) - log1p_of(exp_of(-size_of(x)));
}

// Returns x tanh ln(1 + exp(x)), through tanh ln(1 + e) = (e² + 2e) / (e² + 2e + 2).
template <class T> DEVICE T mish(T x) {
    if (x > (T)20) return x;
    if (x < (T)LOGISTIC_FAR) return times_exp(x);
    T e = exp_of(x), n = e * (e + (T)2);
    return x * (n / (n + (T)2));
}

template <class T> DEVICE T elu(T x, T alpha) { return x <= (T)0 ? alpha * expm1_of(x) : x; }
template <class T> DEVICE T celu(T x, T alpha) { return x <= (T)0 ? alpha * expm1_of(x / alpha) : x; }

template <class T> DEVICE T selu(T x) {
    const f64 ALPHA = 1.6732632423543772, SCALE = 1.0507009873554805;
    return x <= (T)0 ? (T)(SCALE * ALPHA) * expm1_of(x) : (T)SCALE * x;
}

template <class T> DEVICE T leaky_relu(T x, T slope) { return x > (T)0 ? x : product(x, slope); }
template <class T> DEVICE T softsign(T x) { return endless(x) ? with_sign((T)1, x) : x / ((T)1 + size_of(x)); }

// Clamps x + 3 to 0..6; NaN stays.
template <class T> DEVICE T hard_part(T x) {
    x += (T)3;
    x = x < (T)0 ? (T)0 : x;
    return x > (T)6 ? (T)6 : x;
}
template <class T> DEVICE T hardsigmoid(T x) { return hard_part(x) / (T)6; }
template <class T> DEVICE T hardswish(T x) {
    // Outside of -3..3 the product might be NaN or overflow.
    if (x <= (T)-3) return -(T)0;
    return x >= (T)3 ? x : product(x, hard_part(x)) / (T)6;
}

template <class T> DEVICE T softshrink(T x, T lambd) {
    // NaN times zero stays NaN.
    if (x > lambd) return x - lambd;
    return x < -lambd ? x + lambd : x * (T)0;
}

template <class T> DEVICE T hardshrink(T x, T lambd) { return x >= -lambd && x <= lambd ? (T)0 : x; }
template <class T> DEVICE T dropped(T x, T draw, T p) { return draw < p ? (T)0 : x / ((T)1 - p); }

// Returns x - tanh(x).
template <class T> DEVICE T tanhshrink(T value) {
    f64 x = value;
    if (size_of(x) > 2.0 || nan_in(x)) return (T)(x - ::tanh(x));
    // Close to zero the difference loses digits. tanh is the continued fraction x / (1 + t / (3 + t / (5 + ...))) with
    // t = x², so the difference is a product.
    f64 t = x * x, tail = 25.0;
#pragma unroll
    for (i32 k = 11; k > 0; --k) tail = (f64)(2 * k + 1) + t / tail;
    return (T)(x * (t / (tail + t)));
}

// Returns ln(x / (1 - x)).
template <class T> DEVICE T logit(T value) {
    f64 x = value;
    if (x < 0.25) return (T)(::log(x) - ::log1p(-x));
    return (T)::log1p((2.0 * x - 1.0) / (1.0 - x));
}

template <class T> DEVICE T logit_eps(T x, T eps) {
    T high = (T)1 - eps;
    x = x < eps ? eps : x;
    return logit(x > high ? high : x);
}

template <class T> DEVICE T smooth_error(T x, T target, T beta) {
    T z = size_of(x - target);
    return z < beta ? (T)0.5 * z * z / beta : z - product((T)0.5, beta);
}

template <class T> DEVICE T huber_error(T x, T target, T delta) {
    T z = size_of(x - target);
    return z <= delta ? (T)0.5 * z * z : delta * (z - product((T)0.5, delta));
}

// Returns the cross entropy of a probability, whose logarithms are clamped to -100.
template <class T> DEVICE T binary_entropy(T value, T target) {
    f64 x = value, y = target, yes = ::log(x), no = ::log1p(-x);
    // `max` would drop NaN.
    yes = yes < -100.0 ? -100.0 : yes;
    no = no < -100.0 ? -100.0 : no;
    return (T)(product(y - 1.0, no) - product(y, yes));
}

// Like `binary_entropy`, but of a logit, with `weight` on the positive term.
template <class T> DEVICE T logit_entropy(T value, T target, T weight) {
    f64 x = value, y = target, scale = product((f64)weight - 1.0, y) + 1.0;
    return (T)(product(1.0 - y, x) + product(scale, log1pexp(-x)));
}

template <class T> DEVICE T xlogy(T x, T y) {
    if (nan_in(y)) return y;
    return x == (T)0 ? (T)0 : product(x, log_of(y));
}

template <class T> DEVICE T xlog1py(T x, T y) {
    if (nan_in(y)) return y;
    return x == (T)0 ? (T)0 : product(x, log1p_of(y));
}

// Returns `target` (ln `target` - x); zero if `target` is zero.
template <class T> DEVICE T divergence(T x, T target) {
    T value = xlogy(target, target) - product(target, x);
    // Both terms may overflow although their difference does not.
    return target == (T)0 || !(endless(value) || nan_in(value)) ? value : product(target, log_of(target) - x);
}

// Returns ln(1 + exp(-x `target`)).
template <class T> DEVICE T soft_margin(T x, T target) { return (T)log1pexp(product(-(f64)x, (f64)target)); }

// Returns Stirling's approximation of ln x!; zero up to 1.
template <class T> DEVICE T stirling(T value) {
    f64 x = value;
    if (x <= 1.0) return (T)0;
    return (T)(product(x, ::log(x)) - x + product(0.5, ::log(6.283185307179586 * x)));
}

}  // namespace numeric

#endif
