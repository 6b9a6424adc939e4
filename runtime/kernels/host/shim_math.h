// Math functions of the device: the C library's functions, those it lacks, and the overloads of
// C++. Results may differ from the device's in the last bits.
#ifndef NOMINA_HOST_SHIM_MATH_H
#define NOMINA_HOST_SHIM_MATH_H

#define SHIM_ONE(name)                                                                             \
    extern "C" double name(double) noexcept;                                                       \
    extern "C" float name##f(float) noexcept;                                                      \
    inline float name(float x) { return name##f(x); }
#define SHIM_TWO(name)                                                                             \
    extern "C" double name(double, double) noexcept;                                               \
    extern "C" float name##f(float, float) noexcept;                                               \
    inline float name(float x, float y) { return name##f(x, y); }

SHIM_ONE(exp) SHIM_ONE(exp2) SHIM_ONE(exp10) SHIM_ONE(expm1) SHIM_ONE(log) SHIM_ONE(log2)
SHIM_ONE(log10) SHIM_ONE(log1p) SHIM_ONE(sqrt) SHIM_ONE(cbrt) SHIM_ONE(sin) SHIM_ONE(cos)
SHIM_ONE(tan) SHIM_ONE(asin) SHIM_ONE(acos) SHIM_ONE(atan) SHIM_ONE(sinh) SHIM_ONE(cosh)
SHIM_ONE(tanh) SHIM_ONE(asinh) SHIM_ONE(acosh) SHIM_ONE(atanh) SHIM_ONE(erf) SHIM_ONE(erfc)
SHIM_ONE(lgamma) SHIM_ONE(tgamma) SHIM_ONE(floor) SHIM_ONE(ceil) SHIM_ONE(trunc) SHIM_ONE(round)
SHIM_ONE(rint) SHIM_ONE(nearbyint) SHIM_ONE(fabs) SHIM_ONE(logb)
SHIM_TWO(pow) SHIM_TWO(fmod) SHIM_TWO(remainder) SHIM_TWO(atan2) SHIM_TWO(hypot) SHIM_TWO(fmin)
SHIM_TWO(fmax) SHIM_TWO(copysign) SHIM_TWO(fdim) SHIM_TWO(nextafter)
#undef SHIM_ONE
#undef SHIM_TWO

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double scalbn(double, int) noexcept;
extern "C" float scalbnf(float, int) noexcept;
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" int ilogb(double) noexcept;
extern "C" int ilogbf(float) noexcept;
extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" long long llrintf(float) noexcept;
extern "C" long long llround(double) noexcept;
extern "C" long long llroundf(float) noexcept;
extern "C" double j0(double) noexcept;
extern "C" double j1(double) noexcept;
extern "C" double y0(double) noexcept;
extern "C" double y1(double) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long long llabs(long long) noexcept;

inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int power) { return ldexpf(x, power); }
inline float frexp(float x, int* power) { return frexpf(x, power); }
inline float modf(float x, float* whole) { return modff(x, whole); }
inline double pow(double x, int y) { return pow(x, static_cast<double>(y)); }
inline float pow(float x, int y) { return powf(x, static_cast<float>(y)); }
inline long long abs(long long x) { return llabs(x); }
inline long abs(long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline float min(float x, float y) { return fminf(x, y); }
inline double min(double x, double y) { return fmin(x, y); }
inline float max(float x, float y) { return fmaxf(x, y); }
inline double max(double x, double y) { return fmax(x, y); }
inline float j0f(float x) { return static_cast<float>(j0(x)); }
inline float j1f(float x) { return static_cast<float>(j1(x)); }
inline float y0f(float x) { return static_cast<float>(y0(x)); }
inline float y1f(float x) { return static_cast<float>(y1(x)); }

#define SHIM_KIND(T)                                                                               \
    constexpr bool isnan(T x) { return __builtin_isnan(x); }                                       \
    constexpr bool isinf(T x) { return __builtin_isinf(x); }                                       \
    constexpr bool isfinite(T x) { return __builtin_isfinite(x); }                                 \
    constexpr bool signbit(T x) { return __builtin_signbit(x); }
SHIM_KIND(float)
SHIM_KIND(double)
#undef SHIM_KIND

// Functions that the C library lacks; computed in double for both types.
constexpr double SHIM_PI = 3.141592653589793238462643383279502884;
constexpr double SHIM_SQRT_2 = 1.414213562373095048801688724209698079;
constexpr double SHIM_SQRT_PI = 1.772453850905516027298167483341145183;

inline double rsqrt(double x) { return 1 / sqrt(x); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
// Reduces the argument first, so that the product with pi is small.
inline double sinpi(double x) {
    double turns = x - 2 * nearbyint(x / 2);
    double folded = fabs(turns) > 0.5 ? copysign(1.0, turns) - turns : turns;
    return sin(SHIM_PI * folded);
}
inline double cospi(double x) {
    double turns = fabs(x - 2 * nearbyint(x / 2));
    return turns <= 0.25 ? cos(SHIM_PI * turns) : sin(SHIM_PI * (0.5 - turns));
}
inline double erfcx(double x) {
    if (x < 25) return static_cast<double>(__builtin_expl(static_cast<long double>(x) * x)
                                           * __builtin_erfcl(x));
    double square = 1 / (2 * x * x);
    return (1 - square * (1 - 3 * square * (1 - 5 * square))) / (x * SHIM_SQRT_PI);
}
// Starts from the leading terms of the logarithm, then takes Newton's steps on the smaller tail.
inline double erfcinv(double y) {
    if (!(y >= 0 && y <= 2)) return __builtin_nan("");
    if (y == 0 || y == 2) return y == 0 ? __builtin_inf() : -__builtin_inf();
    if (y > 1) return -erfcinv(2 - y);
    double size = log(y * (2 - y)), half = 4.330746750799873 + size / 2;
    double x = sqrt(fmax(0.0, sqrt(half * half - size / 0.147) - half));
    for (int i = 0; i < 4; i++) {
        double slope = -2 / SHIM_SQRT_PI * exp(-x * x);
        if (slope == 0) break;
        double off = (erfc(x) - y) / slope;
        x -= off / (1 + x * off);
    }
    return x;
}
inline double erfinv(double y) {
    if (fabs(y) > 0.5) return copysign(erfcinv(1 - fabs(y)), y);
    double x = y * SHIM_SQRT_PI / 2;
    for (int i = 0; i < 6; i++) x -= (erf(x) - y) * SHIM_SQRT_PI / 2 * exp(x * x);
    return x == x ? x : y;
}
inline double normcdf(double x) { return erfc(-x / SHIM_SQRT_2) / 2; }
inline double normcdfinv(double p) { return -SHIM_SQRT_2 * erfcinv(2 * p); }
// Sums the series, whose terms are all positive.
inline double cyl_bessel_i0(double x) {
    double square = x * x / 4, term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-18; k++) sum += term *= square / (static_cast<double>(k) * k);
    return sum;
}
inline double cyl_bessel_i1(double x) {
    double square = x * x / 4, term = x / 2, sum = term;
    for (int k = 1; fabs(term) > fabs(sum) * 1e-18; k++)
        sum += term *= square / (static_cast<double>(k) * (k + 1));
    return sum;
}

#define SHIM_BOTH(name)                                                                            \
    inline float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }     \
    inline float name(float x) { return name##f(x); }
SHIM_BOTH(rsqrt) SHIM_BOTH(rcbrt) SHIM_BOTH(sinpi) SHIM_BOTH(cospi) SHIM_BOTH(erfinv)
SHIM_BOTH(erfcinv) SHIM_BOTH(erfcx) SHIM_BOTH(normcdf) SHIM_BOTH(normcdfinv)
SHIM_BOTH(cyl_bessel_i0) SHIM_BOTH(cyl_bessel_i1)
#undef SHIM_BOTH
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}

// Intrinsics; the approximate ones are exact here.
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __drcp_rn(double x) { return 1 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

#endif
