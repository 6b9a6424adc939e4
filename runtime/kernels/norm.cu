// Rows normalized to mean zero and variance one, or to mean square one, then scaled and shifted.
//
// T0 is the dtype of elements and results, T1 the one that is computed in, T3 and T4 the dtypes of weight and bias; OP
// is Standard or RootMeanSquare, SHAPE and PHASE select the kernel (lines.cuh), PACK is the number of elements read at
// once and ITEMS the number a thread holds.
#include "lines.cuh"
#include "moments.cuh"

#define HELD 0
#define ROWS 1
#define COLUMNS 2

// Operands: elements, results, weight, bias, statistics.
struct Job {
    Lines<5> lines;
    char* out;
    const char* weight;
    const char* bias;
    char* stats;
    f64 eps;
};

struct RowNumbers {
    // The mean, the factor of the results, and the rounding error of the mean.
    T1 mean, factor, off;
    f64 center, deviation;
};

struct Added {
    static DEVICE void merge(f64& x, const f64& y) { x += y; }
};

// Loads the factors or summands of M adjacent elements, which are `step` bytes apart.
template <class T, int M> DEVICE void scales(T1 (&found)[M], const char* at, i64 step) {
    if (step == (i64)sizeof(T)) {
        const Pack<T, M> pack = *reinterpret_cast<const Pack<T, M>*>(at);
#pragma unroll
        for (int j = 0; j < M; j++) found[j] = convert<T1>(pack[j]);
    } else {
#pragma unroll
        for (int j = 0; j < M; j++)
            found[j] = convert<T1>(*reinterpret_cast<const T*>(at + j * step));
    }
}

template <class Own> struct Row {
    using X = T1;
    using Numbers = RowNumbers;
    static DEVICE T1 missing() { return (T1)0; }
    static DEVICE Numbers of(f64 mean, f64 variance, const Job& job) {
        // With an infinite mean, the deviation is NaN.
        if (!(mean - mean == 0.0)) variance = mean - mean;
        const T1 rounded = (T1)mean;
        return {rounded, (T1)(1.0 / sqrt(variance + job.eps)), (T1)(mean - (f64)rounded), mean,
                sqrt(variance)};
    }
    static DEVICE void note(const Numbers& numbers, const i64 (&at)[5], const Job& job) {
        if (!job.stats) return;
        f64* const to = reinterpret_cast<f64*>(job.stats + at[4]);
        to[0] = numbers.center;
        to[1] = numbers.deviation;
    }
    static DEVICE T1 written(T1 x, const Numbers& numbers) {
        return (x - numbers.mean - numbers.off) * numbers.factor;
    }
    template <int M>
    static DEVICE void put(const T1 (&xs)[M], const i64 (&at)[5], const Strided<5>& strided,
                           const Job& job) {
        T1 ys[M], scale[M];
#pragma unroll
        for (int j = 0; j < M; j++) ys[j] = xs[j];
        if (job.weight) {
            scales<T3>(scale, job.weight + at[2], strided.steps[2][0]);
#pragma unroll
            for (int j = 0; j < M; j++) ys[j] *= scale[j];
        }
        if (job.bias) {
            scales<T4>(scale, job.bias + at[3], strided.steps[3][0]);
#pragma unroll
            for (int j = 0; j < M; j++) ys[j] += scale[j];
        }
        Pack<T0, M> pack;
#pragma unroll
        for (int j = 0; j < M; j++) pack[j] = convert<T0>(ys[j]);
        *reinterpret_cast<Pack<T0, M>*>(job.out + at[1]) = pack;
    }
    static DEVICE f64 sum(f64 mine) {
        SHARED_ARRAY(f64, shared, 32);
        return merge_group<Added>(mine, shared);
    }
    // Returns the sum of squared distances of the valid elements from a number.
    template <int V, int M> static DEVICE f64 squares(const T1 (&xs)[M], T1 from, const Job& job) {
        T1 mine = (T1)0;
#pragma unroll
        for (int j = 0; j < M; j++) {
            const INDEX i = ((INDEX)(j / V) * blockDim.x + threadIdx.x) * V;
            const T1 distance = i < (INDEX)job.lines.count ? xs[j] - from : (T1)0;
            mine += distance * distance;
        }
        if (fits_squares(mine)) return sum((f64)mine);
        f64 wide = 0.0;
#pragma unroll
        for (int j = 0; j < M; j++) {
            const INDEX i = ((INDEX)(j / V) * blockDim.x + threadIdx.x) * V;
            const f64 distance = i < (INDEX)job.lines.count ? (f64)xs[j] - (f64)from : 0.0;
            wide += distance * distance;
        }
        return sum(wide);
    }
    template <int V, int M> static DEVICE Numbers hold(T1 (&xs)[M], const Job& job) {
        const Numbers found = Own::template around<V>(xs, job);
#pragma unroll
        for (int j = 0; j < M; j++) xs[j] = written(xs[j], found);
        return found;
    }
};

struct Standard : Row<Standard>, MomentsOf<T1> {
    using X = T1;
    static DEVICE Numbers numbers(const Moments& state, const Job& job) {
        // Rounding may make it negative; NaN stays.
        const f64 squares = state.squares < 0.0 ? 0.0 : state.squares;
        return of(state.mean, squares / (f64)job.lines.count, job);
    }
    template <int V, int M> static DEVICE Numbers around(const T1 (&xs)[M], const Job& job) {
        f64 mine = 0.0;
#pragma unroll
        for (int j = 0; j < M; j++) mine += (f64)xs[j];
        const f64 count = (f64)job.lines.count, mean = sum(mine) / count;
        // The squares are relative to the rounded mean.
        const f64 off = mean - (f64)(T1)mean;
        const f64 variance = squares<V>(xs, (T1)mean, job) / count - off * off;
        return of(mean, variance < 0.0 ? 0.0 : variance, job);
    }
};

struct RootMeanSquare : Row<RootMeanSquare> {
    using X = T1;
    using State = f64;
    static DEVICE f64 start() { return 0.0; }
    template <int M, class P> static DEVICE void take(f64& state, const T1 (&xs)[M], P, const Job&) {
        T1 squares = (T1)0;
#pragma unroll
        for (int j = 0; j < M; j++) squares += xs[j] * xs[j];
        f64 wide = (f64)squares;
        if (!fits_squares(squares)) {
            wide = 0.0;
#pragma unroll
            for (int j = 0; j < M; j++) wide += (f64)xs[j] * (f64)xs[j];
        }
        state += wide;
    }
    static DEVICE void merge(f64& state, const f64& other) { state += other; }
    static DEVICE Numbers numbers(const f64& squares, const Job& job) {
        return of(0.0, squares / (f64)job.lines.count, job);
    }
    template <int V, int M> static DEVICE Numbers around(const T1 (&xs)[M], const Job& job) {
        return numbers(squares<V>(xs, (T1)0, job), job);
    }
};

#if SHAPE == HELD
// The largest block with enough registers.
constexpr int THREADS = ITEMS > 16 ? 256 : sizeof(T1) > 4 ? 512 : 1024;
KERNEL_BOUNDS(norm_held, Job, THREADS) { held<OP, PACK, ITEMS, 5>(job); }
#elif SHAPE == ROWS
KERNEL_BOUNDS(norm_rows, Job, 256) { rows<OP, PACK, PHASE, 5>(job); }
#else
KERNEL_BOUNDS(norm_columns, Job, 256) { columns<OP, PACK, PHASE, 5>(job); }
#endif
