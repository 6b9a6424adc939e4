// Helpers for generated chains of elementwise operators. This file comes before the chain; after it comes the kernel
// that consumes its elements, by storing them (fused.cu) or reducing them as they are computed (reduce.cu).
//
// The chain itself is `struct Chain` and `run<N>(chain, base)`, which computes N elements from index `base` of a dense
// result. N divides WIDTH, `base` is a multiple of N, and PLACE is the type of `base`.
#ifndef NOMINA_CHAIN_CUH
#define NOMINA_CHAIN_CUH

#include "convert.cuh"
#include "index.cuh"
#include "special.cuh"

// Tells the files that otherwise load elements from memory to compute them with the chain.
#define MADE

struct alignas(16) Number {
    u64 words[2];
};

namespace operand {

// Loads N adjacent elements.
template <class T, int N> DEVICE Pack<T, N> dense(const u8* from) {
    return *reinterpret_cast<const Pack<T, N>*>(from);
}

// Loads N elements `step` bytes apart.
template <class T, int N> DEVICE Pack<T, N> strided(const u8* from, i64 step) {
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; k++) out[k] = *reinterpret_cast<const T*>(from + k * step);
    return out;
}

// Repeats one element N times.
template <class T, int N> DEVICE Pack<T, N> constant(const u8* from) {
    return strided<T, N>(from, 0);
}

}  // namespace operand

#endif
