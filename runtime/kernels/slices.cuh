// A block's part of a matrix product whose operands are computed on the fly.
//
// Rust defines TILE, the shape: the threads along each side, and the sums of a thread along each
// side. A thread's sums are in packs of 16 bytes, so that adjacent threads read adjacent packs of
// shared memory.
#ifndef NOMINA_SLICES_CUH
#define NOMINA_SLICES_CUH

#include "window.cuh"

#if TILE == 0 // 32 by 128
constexpr int ROWS = 8, COLS = 32, TM = 4, TN = 4;
#elif TILE == 1 // 64 by 64
constexpr int ROWS = 16, COLS = 16, TM = 4, TN = 4;
#elif TILE == 2 // 64 by 128
constexpr int ROWS = 16, COLS = 16, TM = 4, TN = 8;
#else // 128 by 128
constexpr int ROWS = 16, COLS = 16, TM = 8, TN = 8;
#endif
// The depth of a slice.
constexpr int BK = 8;

constexpr int THREADS = ROWS * COLS;
constexpr int BM = ROWS * TM, BN = COLS * TN;

// The number of elements of a slice that each thread fetches.
constexpr int FETCH_A = BM * BK / THREADS, FETCH_B = BN * BK / THREADS;
static_assert(FETCH_A * THREADS == BM * BK && FETCH_B * THREADS == BN * BK, "slices divide evenly");
static_assert(THREADS % BK == 0, "a thread that goes along the depth stays at one depth");

template <class A, int N> constexpr int GROUP = N < PACKED<A> ? N : PACKED<A>;

// A slice is stored in shared memory depth by depth; rows are one pack longer, so that threads that
// write different depths access different banks.
template <class A> constexpr int PITCH_A = BM + PACKED<A>;
template <class A> constexpr int PITCH_B = BN + PACKED<A>;
template <class A> constexpr int SLICE = BK * (PITCH_A<A> + PITCH_B<A>);

// Returns the depth, and the row or column, of element `i` of a thread's fetch. `DEEP` is set if
// adjacent threads go along the depth.
template <bool DEEP, int WIDTH> DEVICE int depth_of(int thread, int i) {
    int at = thread + i * THREADS;
    return DEEP ? at % BK : at / WIDTH;
}
template <bool DEEP, int WIDTH> DEVICE int lane_of(int thread, int i) {
    int at = thread + i * THREADS;
    return DEEP ? at / BK : at % WIDTH;
}

// Returns the row or column within the tile of a thread's sum number `i`.
template <class A, int N, int SIDE> DEVICE int place_of(int thread, int i) {
    constexpr int group = GROUP<A, N>;
    return i / group * (SIDE * group) + thread * group + i % group;
}

template <class A, int N, int SIDE>
DEVICE void read_side(A (&to)[N], const A* from, int thread) {
    constexpr int group = GROUP<A, N>;
#pragma unroll
    for (int i = 0; i < N; i += group) {
        auto pack = *reinterpret_cast<const Pack<A, group>*>(
            from + i / group * (SIDE * group) + thread * group);
#pragma unroll
        for (int j = 0; j < group; j++) to[i + j] = pack[j];
    }
}

// Adds the products of `slices` slices to the sums of a thread, which is at `row` and `col` of the
// block. `fetch` loads the thread's elements of the next slice, in order from the first one on.
template <class A, bool DEEP_A, bool DEEP_B, class F>
DEVICE void add_slices(A (&sum)[TM][TN], INDEX slices, int row, int col, A* shared, F fetch) {
    int thread = static_cast<int>(threadIdx.x);
    A a[FETCH_A], b[FETCH_B];
    auto store = [&](int half) {
        A* to_a = shared + half * SLICE<A>;
        A* to_b = to_a + BK * PITCH_A<A>;
#pragma unroll
        for (int i = 0; i < FETCH_A; i++)
            to_a[depth_of<DEEP_A, BM>(thread, i) * PITCH_A<A> + lane_of<DEEP_A, BM>(thread, i)] = a[i];
#pragma unroll
        for (int i = 0; i < FETCH_B; i++)
            to_b[depth_of<DEEP_B, BN>(thread, i) * PITCH_B<A> + lane_of<DEEP_B, BN>(thread, i)] = b[i];
    };
    if (slices == 0) return;
    fetch(a, b);
    // An earlier tile may still be in use.
    __syncthreads();
    store(0);
    __syncthreads();
    for (INDEX slice = 0; slice < slices; slice++) {
        bool more = slice + 1 < slices;
        if (more) fetch(a, b);
        const A* from_a = shared + (slice & 1) * SLICE<A>;
        const A* from_b = from_a + BK * PITCH_A<A>;
#pragma unroll
        for (int k = 0; k < BK; k++) {
            A x[TM], y[TN];
            read_side<A, TM, ROWS>(x, from_a + k * PITCH_A<A>, row);
            read_side<A, TN, COLS>(y, from_b + k * PITCH_B<A>, col);
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) add_product(sum[i][j], x[i], y[j]);
        }
        // The other half was read before the last barrier.
        if (more) store((slice + 1) & 1);
        __syncthreads();
    }
}

#endif
