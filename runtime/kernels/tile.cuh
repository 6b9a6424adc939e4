// Shared parts of the kernels that multiply tiles: operand layouts, and loading a tile into shared memory.
//
// A block has 256 threads, 16 by 16, and computes EDGE by EDGE results, SIDE by SIDE per thread. Both operands of a
// step are in shared memory with the summed dim outermost, so that a thread's part of a step is contiguous.
#pragma once
#include "types.cuh"

// A matrix; strides are in elements.
struct Matrix {
    unsigned char* at;
    i64 rows, cols;

    DEVICE Matrix turned() const { return Matrix{at, cols, rows}; }
};

// The batch dims of the matrices, innermost first, and the strides of N operands along them.
constexpr int REPEATS = 6;
template <int N> struct Repeats {
    i64 sizes[REPEATS];
    i64 steps[N][REPEATS];
    u32 rank, pad;

    // Computes the offset of batch `nth` for each operand. Called once per tile, so it may divide.
    DEVICE void offsets(u64 nth, i64 (&out)[N]) const {
        for (int i = 0; i < N; i++) out[i] = 0;
        for (u32 dim = 0; dim < rank; dim++) {
            const u64 size = static_cast<u64>(sizes[dim]), rest = nth / size;
            const i64 at = static_cast<i64>(nth - rest * size);
            for (int i = 0; i < N; i++) out[i] += at * steps[i][dim];
            nth = rest;
        }
    }
};

// The accumulator type. Integers wrap, so small ones may be truncated at the end.
template <class T> struct SumOf {
    using Type = Compute<T>;
};
template <> struct SumOf<bool> {
    using Type = u32;
};
template <> struct SumOf<u8> {
    using Type = u32;
};
template <> struct SumOf<i8> {
    using Type = u32;
};
template <> struct SumOf<i16> {
    using Type = u32;
};
template <> struct SumOf<i32> {
    using Type = u32;
};
template <> struct SumOf<i64> {
    using Type = u64;
};
template <class T> using Sum = typename SumOf<T>::Type;

template <class T> DEVICE Sum<T> load(T x) {
    if constexpr (is_float<T> || is_complex<T>) return widen(x);
    else return static_cast<Sum<T>>(x);
}
template <class T> DEVICE T store(Sum<T> x) {
    if constexpr (is_float<T> || is_complex<T>) return narrow<T>(x);
    else if constexpr (same<T, bool>) return x != 0;
    else return static_cast<T>(x);
}

constexpr int THREADS = 256;
// The number of steps of the summed dim in shared memory at a time.
constexpr int DEEP = 16;

DEVICE bool smaller(i64 x, i64 y) { return (x < 0 ? -x : x) < (y < 0 ? -y : y); }

// The tiles of an operand on their way from global to shared memory, along the summed dim. `fetch` reads into
// registers, so that the next tile is loaded while this one is used.
template <class T, class S, int EDGE> struct Tile {
    static constexpr int EACH = EDGE * DEEP / THREADS;
    // Rows in shared memory are aligned to 16 bytes and spread over the banks.
    static constexpr int PITCH = EDGE + 4;

    const T* at;
    // The step between a thread's elements, and from one tile to the next.
    i64 between, onward;
    // The coordinates of the thread's first element, and the tile's number of elements along the dim that is not
    // summed.
    int along, deep, count;
    // Adjacent threads go along the dim with the smaller stride.
    bool deep_first;
    T held[EACH];

    // Starts at element `first` of `all`, and at step `from` of the summed dim.
    DEVICE void begin(const T* base, i64 along_step, i64 deep_step, u64 first, u64 all, u64 from) {
        const int thread = threadIdx.x;
        deep_first = smaller(deep_step, along_step);
        along = deep_first ? thread / DEEP : thread % EDGE;
        deep = deep_first ? thread % DEEP : thread / EDGE;
        count = all - first < EDGE ? static_cast<int>(all - first) : EDGE;
        at = base + static_cast<i64>(first + along) * along_step +
             static_cast<i64>(from + deep) * deep_step;
        between = deep_first ? along_step * (THREADS / DEEP) : deep_step * (THREADS / EDGE);
        onward = deep_step * DEEP;
    }

    DEVICE int along_of(int i) const { return deep_first ? along + i * (THREADS / DEEP) : along; }
    DEVICE int deep_of(int i) const { return deep_first ? deep : deep + i * (THREADS / EDGE); }

    // Fetches the next tile, with `left` steps left. Elements outside are zero.
    DEVICE void fetch(u64 left) {
        const int steps = left < DEEP ? static_cast<int>(left) : DEEP;
        const T* from = at;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            held[i] = T{};
            if (along_of(i) < count && deep_of(i) < steps) held[i] = *from;
            from += between;
        }
        at += onward;
    }

    DEVICE void keep(S* shared) const {
#pragma unroll
        for (int i = 0; i < EACH; i++) shared[deep_of(i) * PITCH + along_of(i)] = load(held[i]);
    }
};
