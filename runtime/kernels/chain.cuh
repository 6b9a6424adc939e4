// What a chain of elementwise operators is written with: before it this file, behind it the kernel that
// takes its elements, which stores them (fused.cu) or takes them in as they are made (reduce.cu).
//
// The chain itself is `struct Chain`, and `run<N>(chain, base)`: N elements from the one at `base` on, as
// they lie in a dense result. N divides WIDTH, and `base` is a multiple of N; PLACE is its type.
#ifndef NOMINA_CHAIN_CUH
#define NOMINA_CHAIN_CUH

#include "convert.cuh"
#include "index.cuh"
#include "special.cuh"

// For files whose elements are otherwise read.
#define MADE

struct alignas(16) Number {
    u64 words[2];
};

namespace operand {

// N elements side by side.
template <class T, int N> DEVICE Pack<T, N> dense(const u8* from) {
    return *reinterpret_cast<const Pack<T, N>*>(from);
}

// N elements `step` bytes apart.
template <class T, int N> DEVICE Pack<T, N> strided(const u8* from, i64 step) {
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; k++) out[k] = *reinterpret_cast<const T*>(from + k * step);
    return out;
}

// One element N times.
template <class T, int N> DEVICE Pack<T, N> constant(const u8* from) {
    return strided<T, N>(from, 0);
}

}  // namespace operand

#endif
