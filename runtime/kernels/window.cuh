// Windows that slide along dims: the elements of a position, and the windows that contain an
// element.
//
// Rust defines INDEX: u32 if every count and every distance is below 2^31, else u64.
#ifndef NOMINA_WINDOW_CUH
#define NOMINA_WINDOW_CUH

#include "index.cuh"

template <class I> struct SignedOf { using Type = i32; };
template <> struct SignedOf<u64> { using Type = i64; };
// Distances and coordinates, which may be before the first element.
using OFFSET = SignedOf<INDEX>::Type;

// A divisor prepared like `Divider`, but with a magic number as wide as INDEX: a 64-bit division
// would be a function call.
struct Size {
    u64 size, magic, shift;

    DEVICE u32 quotient(u32 n) const { return (__umulhi(n, static_cast<u32>(magic)) + n) >> static_cast<u32>(shift); }
    DEVICE u64 quotient(u64 n) const { return (__umul64hi(n, magic) + n) >> static_cast<u32>(shift); }
    DEVICE INDEX count() const { return static_cast<INDEX>(size); }
    // Takes the last digit off a number in this base, and returns it.
    DEVICE INDEX split(INDEX& n) const {
        INDEX whole = quotient(n), rest = n - whole * count();
        n = whole;
        return rest;
    }
};

// One dim of a sliding window, as the host checked it.
struct Sliding {
    u64 size, stride, before, dilation;
    Size kernel, out;

    DEVICE OFFSET first(INDEX at) const {
        return static_cast<OFFSET>(at * static_cast<INDEX>(stride)) - static_cast<OFFSET>(before);
    }
    DEVICE OFFSET step() const { return static_cast<OFFSET>(dilation); }
    // Returns whether the coordinate is an element rather than padding.
    DEVICE bool holds(OFFSET at) const {
        return static_cast<INDEX>(at) < static_cast<INDEX>(size);
    }
};

// The taps and positions that contain an element: a tap qualifies if its distance from the element
// is a multiple of the stride. With g the greatest common divisor of stride and dilation, the pairs
// are tap k0 + j * (stride / g) at position q0 - j * (dilation / g).
struct Seen {
    INDEX tap, taps;
    OFFSET position;
};

// One dim of a window, seen from the elements.
struct Backward {
    u64 before, dilation;
    // The inverse of dilation / g modulo stride / g.
    u64 inverse;
    // dilation / g.
    u64 back;
    Size stride, common, step;
    // Elements, positions, taps; the number of elements congruent modulo the stride, and the number
    // of residues.
    Size size, out, kernel, run, phases;

    // Returns the taps and positions that contain an element; `from` counts from the first padding
    // element.
    DEVICE Seen seen(INDEX from) const {
        INDEX whole = stride.quotient(from), rest = from - whole * stride.count();
        INDEX share = common.quotient(rest);
        if (share * common.count() != rest) return Seen{0, 0, 0};
        INDEX tap = share * static_cast<INDEX>(inverse);
        tap -= step.quotient(tap) * step.count();
        if (tap >= kernel.count()) return Seen{0, 0, 0};
        // The tap's distance is `rest` plus a multiple of the stride.
        INDEX strides = stride.quotient(tap * static_cast<INDEX>(dilation) - rest);
        INDEX taps = step.quotient(kernel.count() - 1 - tap) + 1;
        return Seen{tap, taps, static_cast<OFFSET>(whole) - static_cast<OFFSET>(strides)};
    }
    DEVICE bool holds(OFFSET at) const { return static_cast<INDEX>(at) < out.count(); }
};

// Returns the thread's index in the grid, and the number of threads in the grid.
DEVICE INDEX thread_of_grid() { return static_cast<INDEX>(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE INDEX threads_of_grid() { return static_cast<INDEX>(gridDim.x) * blockDim.x; }

// The accumulator type: f32 for 16-bit floats; for integers the unsigned type, in which overflow is
// defined and the low bits are the same.
template <class T> struct SumOf { using Type = u32; };
template <> struct SumOf<i64> { using Type = u64; };
template <> struct SumOf<f16> { using Type = f32; };
template <> struct SumOf<bf16> { using Type = f32; };
template <> struct SumOf<f32> { using Type = f32; };
template <> struct SumOf<f64> { using Type = f64; };
template <> struct SumOf<c64> { using Type = c64; };
template <> struct SumOf<c128> { using Type = c128; };
template <class T> using Sum = typename SumOf<T>::Type;

template <class T> DEVICE Sum<T> raised(T x) { return static_cast<Sum<T>>(widen(x)); }
template <class T> DEVICE T lowered(Sum<T> x) { return narrow<T>(static_cast<Compute<T>>(x)); }

template <class A> DEVICE A nothing() {
    if constexpr (is_complex<A>) return A{0, 0};
    else return A(0);
}

template <class A> DEVICE void add_to(A& sum, A x) {
    if constexpr (is_complex<A>) sum.re += x.re, sum.im += x.im;
    else sum += x;
}

template <class A> DEVICE void add_product(A& sum, A x, A y) {
    if constexpr (is_complex<A>) {
        sum.re += x.re * y.re, sum.im += x.re * y.im;
        sum.re -= x.im * y.im, sum.im += x.im * y.re;
    } else {
        sum += x * y;
    }
}

#endif
