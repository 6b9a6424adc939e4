// Conversion of element indices to byte offsets for operands of any strides, and the flag that an out-of-range index
// raises.
#ifndef NOMINA_INDEX_CUH
#define NOMINA_INDEX_CUH

#include "types.cuh"

// Division of a number below 2^31 by a size the host has prepared:
// shift = ceil(log2(size)), magic = floor(2^32 * (2^shift - size) / size) + 1.
struct Divider {
    u32 size, magic, shift;

    DEVICE u32 quotient(u32 n) const { return (__umulhi(n, magic) + n) >> shift; }
};

// N operands over the same sizes, innermost dim first, strides in bytes.
template <int N> struct Strided {
    u32 rank, pad;
    u64 sizes[8];
    u32 magic[8];
    u32 shift[8];
    i64 steps[N][8];
};

template <int N> DEVICE u32 split(const Strided<N>& s, u32& index, int dim) {
    u32 quotient = (__umulhi(index, s.magic[dim]) + index) >> s.shift[dim];
    u32 remainder = index - quotient * static_cast<u32>(s.sizes[dim]);
    index = quotient;
    return remainder;
}

template <int N> DEVICE u64 split(const Strided<N>& s, u64& index, int dim) {
    u64 quotient = index / s.sizes[dim];
    u64 remainder = index - quotient * s.sizes[dim];
    index = quotient;
    return remainder;
}

// Computes the byte offset of element `index` in each operand. A u32 index must be below 2^31.
template <class I, int N> DEVICE void offsets(const Strided<N>& s, I index, i64 (&out)[N]) {
#pragma unroll
    for (int k = 0; k < N; k++) out[k] = 0;
    // Unrolled, so that no array is indexed by a variable; the outermost dim needs no division.
#pragma unroll
    for (int dim = 0; dim < 8; dim++) {
        if (dim >= static_cast<int>(s.rank)) break;
        bool last = dim + 1 == static_cast<int>(s.rank);
        I at = last ? index : split(s, index, dim);
#pragma unroll
        for (int k = 0; k < N; k++) out[k] += static_cast<i64>(at) * s.steps[k][dim];
    }
}

// Like `offsets`, but the number of dims is known to the compiler.
template <int DIMS, class I, int N> DEVICE void offsets_of(const Strided<N>& s, I index, i64 (&out)[N]) {
#pragma unroll
    for (int k = 0; k < N; k++) out[k] = 0;
#pragma unroll
    for (int dim = 0; dim < DIMS; dim++) {
        const I at = dim + 1 == DIMS ? index : split(s, index, dim);
#pragma unroll
        for (int k = 0; k < N; k++) out[k] += static_cast<i64>(at) * s.steps[k][dim];
    }
}

template <class T> struct ByteOf {
    using Type = char;
};
template <class T> struct ByteOf<const T> {
    using Type = const char;
};

// Goes through pointers: the compiler does not know that an integer is a global address, and would emit slower generic
// accesses.
template <class T> DEVICE T* at_byte(T* start, i64 bytes) {
    return reinterpret_cast<T*>(reinterpret_cast<typename ByteOf<T>::Type*>(start) + bytes);
}

// The first failure a kernel found, in host memory; the next synchronization turns it into an error.
struct Flag {
    u64 raised;
    i64 value;
};

// Raises the flag of one kernel, `record`.
DEVICE void raise(Flag* flags, i64 value, u32 record) {
    Flag* const flag = flags + record;
    if (atomicCAS(&flag->raised, static_cast<u64>(0), static_cast<u64>(1)) == 0) flag->value = value;
}

// Returns the position that an index names; negative ones count from the end. An index out of range raises the flag,
// and the kernel continues with position 0.
DEVICE i64 index_or_flag(i64 value, i64 size, Flag* flag, u32 record) {
    i64 wrapped = value < 0 ? value + size : value;
    if (static_cast<u64>(wrapped) < static_cast<u64>(size)) return wrapped;
    raise(flag, value, record);
    return 0;
}

// Like `index_or_flag`, but a negative index is out of range too.
DEVICE i64 exact_or_flag(i64 value, i64 size, Flag* flag, u32 record) {
    if (static_cast<u64>(value) < static_cast<u64>(size)) return value;
    raise(flag, value, record);
    return 0;
}

#endif
