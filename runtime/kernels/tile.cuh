// What kernels that multiply tiles share: how operands lie, and how a tile comes into shared memory.
//
// A block has 256 threads, 16 by 16, and makes EDGE by EDGE results, of which each thread has SIDE by
// SIDE. Both operands of a step stand in shared memory with the summed dim outermost, so that what a
// thread reads of a step is one run.
#pragma once
#include "types.cuh"

// Strides are in elements.
struct Matrix {
    unsigned char* at;
    i64 rows, cols;

    DEVICE Matrix turned() const { return Matrix{at, cols, rows}; }
};

// The dims over which matrices repeat, innermost first, and the strides of N operands in them.
constexpr int REPEATS = 6;
template <int N> struct Repeats {
    i64 sizes[REPEATS];
    i64 steps[N][REPEATS];
    u32 rank, pad;

    // How far index `nth` is from the first one, for each operand. Once per tile, so it divides.
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

// The type that sums are kept in. Integers wrap, so that small ones may do it at the end.
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
// How many steps of the summed dim are in shared memory at a time.
constexpr int DEEP = 16;

// The tile of an operand on its way from memory to shared memory: `fetch` reads into registers, so
// that the next tile is under way while this one is used.
template <class T, class S, int EDGE> struct Tile {
    static constexpr int EACH = EDGE * DEEP / THREADS;
    // Rows of shared memory begin where 16 bytes do, and not all in one bank.
    static constexpr int PITCH = EDGE + 4;
    T held[EACH];

    // Which of the elements the thread reads: neighbours in the dim of the smaller stride.
    static DEVICE void place(bool deep_first, int nth, int& along, int& deep) {
        const int at = static_cast<int>(threadIdx.x) + nth * THREADS;
        if (deep_first) {
            deep = at % DEEP;
            along = at / DEEP;
        } else {
            along = at % EDGE;
            deep = at / EDGE;
        }
    }

    // Elements `first ..` of the dim that tiles share out, of `count`; steps `from .. until` of the
    // summed one. What lies outside is zero.
    DEVICE void fetch(const T* base, i64 along_step, i64 deep_step, bool deep_first, u64 first,
                      u64 count, u64 from, u64 until) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int along, deep;
            place(deep_first, i, along, deep);
            const u64 row = first + along, step = from + deep;
            held[i] = T{};
            if (row < count && step < until)
                held[i] = base[static_cast<i64>(row) * along_step + static_cast<i64>(step) * deep_step];
        }
    }

    DEVICE void keep(S* shared, bool deep_first) const {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            int along, deep;
            place(deep_first, i, along, deep);
            shared[deep * PITCH + along] = load(held[i]);
        }
    }
};

DEVICE bool smaller(i64 x, i64 y) { return (x < 0 ? -x : x) < (y < 0 ? -y : y); }
