// Bit operations, integer functions and conversions of the device.
#ifndef NOMINA_HOST_SHIM_BITS_H
#define NOMINA_HOST_SHIM_BITS_H

template <class To, class From> inline To shim_same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "the same number of bits");
    To to;
    __builtin_memcpy(&to, &value, sizeof(To));
    return to;
}
inline int __float_as_int(float x) { return shim_same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return shim_same_bits<unsigned>(x); }
inline float __int_as_float(int x) { return shim_same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return shim_same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return shim_same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return shim_same_bits<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
    unsigned long long top = static_cast<unsigned>(high);
    return __longlong_as_double(static_cast<long long>(top << 32 | static_cast<unsigned>(low)));
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++) reversed |= (x >> i & 1) << (31 - i);
    return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long low = __brev(static_cast<unsigned>(x));
    return low << 32 | __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
    unsigned permuted = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = selector >> (4 * i) & 0xf;
        unsigned byte = static_cast<unsigned>(both >> (8 * (pick & 7))) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        permuted |= byte << (8 * i);
    }
    return permuted;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}

inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
__extension__ typedef __int128 ShimWide;
__extension__ typedef unsigned __int128 ShimUnsignedWide;
inline long long __mul64hi(long long x, long long y) {
    return static_cast<long long>(static_cast<ShimWide>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<ShimUnsignedWide>(x) * y >> 64);
}
inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }

#define SHIM_MIN_MAX(T)                                                                            \
    inline T min(T x, T y) { return y < x ? y : x; }                                               \
    inline T max(T x, T y) { return x < y ? y : x; }
SHIM_MIN_MAX(int)
SHIM_MIN_MAX(unsigned)
SHIM_MIN_MAX(long)
SHIM_MIN_MAX(unsigned long)
SHIM_MIN_MAX(long long)
SHIM_MIN_MAX(unsigned long long)
#undef SHIM_MIN_MAX

// Converts to an integer: out-of-range values saturate. NaN becomes 0 from float to 32 bits, otherwise a number with
// only the top bit set.
template <class To, class From> inline To shim_convert(From x, To least, To greatest, To no_number) {
    if (x != x) return no_number;
    if (x <= static_cast<From>(least)) return least;
    if (x >= static_cast<From>(greatest)) return greatest;
    return static_cast<To>(x);
}
#define SHIM_CONVERT(name, From, To, least, greatest, no_number, round)                            \
    inline To name##_rn(From x) {                                                                  \
        return shim_convert<To, From>(__builtin_rint##round(x), least, greatest, no_number);       \
    }                                                                                              \
    inline To name##_rz(From x) {                                                                  \
        return shim_convert<To, From>(__builtin_trunc##round(x), least, greatest, no_number);      \
    }                                                                                              \
    inline To name##_rd(From x) {                                                                  \
        return shim_convert<To, From>(__builtin_floor##round(x), least, greatest, no_number);      \
    }                                                                                              \
    inline To name##_ru(From x) {                                                                  \
        return shim_convert<To, From>(__builtin_ceil##round(x), least, greatest, no_number);       \
    }
constexpr int SHIM_I32_MAX = __INT_MAX__, SHIM_I32_MIN = -SHIM_I32_MAX - 1;
constexpr long long SHIM_I64_MAX = __LONG_LONG_MAX__, SHIM_I64_MIN = -SHIM_I64_MAX - 1;
constexpr unsigned long long SHIM_TOP_BIT = 1ull << 63;
SHIM_CONVERT(__float2int, float, int, SHIM_I32_MIN, SHIM_I32_MAX, 0, f)
SHIM_CONVERT(__float2uint, float, unsigned, 0, ~0u, 0, f)
SHIM_CONVERT(__float2ll, float, long long, SHIM_I64_MIN, SHIM_I64_MAX, SHIM_I64_MIN, f)
SHIM_CONVERT(__float2ull, float, unsigned long long, 0, ~0ull, SHIM_TOP_BIT, f)
SHIM_CONVERT(__double2int, double, int, SHIM_I32_MIN, SHIM_I32_MAX, SHIM_I32_MIN, )
SHIM_CONVERT(__double2uint, double, unsigned, 0, ~0u, 1u << 31, )
SHIM_CONVERT(__double2ll, double, long long, SHIM_I64_MIN, SHIM_I64_MAX, SHIM_I64_MIN, )
SHIM_CONVERT(__double2ull, double, unsigned long long, 0, ~0ull, SHIM_TOP_BIT, )
#undef SHIM_CONVERT

inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

#endif
