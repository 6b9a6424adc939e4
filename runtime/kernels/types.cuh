// The types of the twelve dtypes, and the macros that kernels use.
//
// NVRTC compiles this text for a GPU, and the system's compiler compiles it for the CPU emulation of the GPU in tests
// (host/shim.h, which is then included before anything else).
#ifndef NOMINA_TYPES_CUH
#define NOMINA_TYPES_CUH

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

// The 16-bit floats hold only bits, so that nothing computes in them by accident.
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};
struct alignas(8) c64 {
    f32 re, im;
};
struct alignas(16) c128 {
    f64 re, im;
};

#ifdef __CUDACC_RTC__
// Declares a kernel that takes one struct by value; the grid constant keeps dynamic indexing of its arrays out of local
// memory.
#define KERNEL(name, Args) extern "C" __global__ void name(const __grid_constant__ Args job)
#define KERNEL_BOUNDS(name, Args, threads)                                                         \
    extern "C" __global__ void __launch_bounds__(threads)                                          \
        name(const __grid_constant__ Args job)
// Like `KERNEL_BOUNDS`, but a thread may use all the registers of a single resident block: without a minimal number of
// blocks the compiler prefers spills to fewer resident blocks.
#define KERNEL_ROOMY(name, Args, threads)                                                          \
    extern "C" __global__ void __launch_bounds__(threads, 1)                                       \
        name(const __grid_constant__ Args job)
// Like `KERNEL_BOUNDS`, with a minimal number of resident blocks per multiprocessor.
#define KERNEL_BLOCKS(name, Args, threads, blocks)                                                 \
    extern "C" __global__ void __launch_bounds__(threads, blocks)                                  \
        name(const __grid_constant__ Args job)
#define SHARED_ARRAY(T, name, N) __shared__ T name[N]
// All dynamic arrays of a block begin at the same byte; a kernel that needs several divides it.
#define DYN_SHARED(T, name)                                                                        \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];                          \
    T* const name = reinterpret_cast<T*>(dynamic_shared_bytes)
#else
#define KERNEL_ROOMY KERNEL_BOUNDS
#define KERNEL_BLOCKS(name, Args, threads, blocks) KERNEL_BOUNDS(name, Args, threads)
#endif

#define DEVICE __device__ __forceinline__

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

template <class T> constexpr bool is_half = same<T, f16> || same<T, bf16>;
template <class T> constexpr bool is_float = is_half<T> || same<T, f32> || same<T, f64>;
template <class T> constexpr bool is_complex = same<T, c64> || same<T, c128>;

// The type in which values of T are computed.
template <class T> struct ComputeOf {
    using Type = T;
};
template <> struct ComputeOf<f16> {
    using Type = f32;
};
template <> struct ComputeOf<bf16> {
    using Type = f32;
};
template <class T> using Compute = typename ComputeOf<T>::Type;

DEVICE f32 widen(f16 x) {
#ifdef __CUDACC_RTC__
    f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
#else
    u32 sign = static_cast<u32>(x.bits & 0x8000) << 16, size = x.bits & 0x7fff;
    u32 bits;
    if (size >= 0x7c00)
        bits = 0x7f800000 | (size << 13);
    else if (size >= 0x0400)
        bits = (size << 13) + (112u << 23);
    else
        bits = __float_as_uint(static_cast<f32>(size) * 0x1p-24f);
    return __uint_as_float(sign | bits);
#endif
}

DEVICE f32 widen(bf16 x) { return __uint_as_float(static_cast<u32>(x.bits) << 16); }

template <class T> DEVICE T widen(T x) { return x; }

// Converts back, to nearest, ties to even.
template <class T> struct Narrow {
    static DEVICE T from(T x) { return x; }
};
template <> struct Narrow<f16> {
    static DEVICE f16 from(f32 x) {
#ifdef __CUDACC_RTC__
        f16 y;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
#else
        u32 bits = __float_as_uint(x), sign = (bits >> 16) & 0x8000, size = bits & 0x7fffffff;
        u32 half;
        if (size > 0x7f800000)
            half = 0x7e00 | ((size >> 13) & 0x03ff);
        else if (size >= 0x477ff000) // 65520, halfway to the next number if there were one
            half = 0x7c00;
        else if (size < 0x38800000) // the sum rounds at the last bit of a subnormal
            half = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000;
        else
            half = (size - (112u << 23) + 0x0fff + ((size >> 13) & 1)) >> 13;
        return f16{static_cast<u16>(sign | half)};
#endif
    }
};
template <> struct Narrow<bf16> {
    static DEVICE bf16 from(f32 x) {
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
        bf16 y;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
#else
        u32 bits = __float_as_uint(x);
        if ((bits & 0x7fffffff) > 0x7f800000) return bf16{static_cast<u16>((bits >> 16) | 0x40)};
        return bf16{static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
#endif
    }
};
template <class T> DEVICE T narrow(Compute<T> x) { return Narrow<T>::from(x); }

// For all four float types; NVRTC has neither INFINITY nor NAN.
template <class T> DEVICE T infinity();
template <> DEVICE f32 infinity<f32>() { return __uint_as_float(0x7f800000); }
template <> DEVICE f64 infinity<f64>() { return __longlong_as_double(0x7ff0000000000000ll); }
template <> DEVICE f16 infinity<f16>() { return f16{0x7c00}; }
template <> DEVICE bf16 infinity<bf16>() { return bf16{0x7f80}; }

template <class T> DEVICE T nan();
template <> DEVICE f32 nan<f32>() { return __uint_as_float(0x7fc00000); }
template <> DEVICE f64 nan<f64>() { return __longlong_as_double(0x7ff8000000000000ll); }
template <> DEVICE f16 nan<f16>() { return f16{0x7e00}; }
template <> DEVICE bf16 nan<bf16>() { return bf16{0x7fc0}; }

// N values that are loaded and stored in one access of at most 16 bytes.
template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
    static_assert((N & (N - 1)) == 0, "packs hold a power of two");
    T at[N];

    DEVICE T& operator[](int i) { return at[i]; }
    DEVICE const T& operator[](int i) const { return at[i]; }
};
// The number of values of T in 16 bytes.
template <class T> constexpr int PACKED = sizeof(T) < 16 ? 16 / sizeof(T) : 1;

#endif
