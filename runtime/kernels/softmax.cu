// Exponentials along a dim divided by their sum, and the logarithm of that.
//
// T0 is the dtype of elements, T1 the one they are converted to, T2 the dtype of the result; OP is Softmax or
// LogSoftmax, SHAPE and PHASE select the kernel (lines.cuh), PACK is the number of elements read at once and ITEMS the
// number a thread holds.
#include "exp_sum.cuh"
#include "lines.cuh"

#define HELD 0
#define ROWS 1
#define COLUMNS 2

struct Job {
    Lines<2> lines;
    char* out;
};

struct Greatest {
    static DEVICE void merge(T1& x, const T1& y) { x = y > x ? y : x; }
};
struct Added {
    static DEVICE void merge(T1& x, const T1& y) { x += y; }
};

// The maximum, and a number derived from the sum.
struct TwoNumbers {
    T1 max, other;
};

// The common part of both; if the maximum is infinite, the results are NaN.
struct Line : ExpSum<T1> {
    using Numbers = TwoNumbers;
    static DEVICE T1 missing() { return -infinity<T1>(); }
    static DEVICE void note(const Numbers&, const i64 (&)[2], const Job&) {}
    template <int M>
    static DEVICE void put(const T1 (&xs)[M], const i64 (&at)[2], const Strided<2>&, const Job& job) {
        Pack<T2, M> pack;
#pragma unroll
        for (int j = 0; j < M; j++) pack[j] = convert<T2>(xs[j]);
        *reinterpret_cast<Pack<T2, M>*>(job.out + at[1]) = pack;
    }
    template <int M> static DEVICE T1 greatest(const T1 (&xs)[M]) {
        SHARED_ARRAY(T1, shared, 32);
        T1 max = xs[0];
#pragma unroll
        for (int j = 1; j < M; j++) max = xs[j] > max || is_nan(max) ? xs[j] : max;
        return merge_group<Greatest>(is_nan(max) ? missing() : max, shared);
    }
    static DEVICE T1 sum(T1 mine) {
        SHARED_ARRAY(T1, shared, 32);
        return merge_group<Added>(mine, shared);
    }
};

struct Softmax : Line {
    static DEVICE Numbers numbers(const State& state, const Job&) {
        return {state.max, is_finite(state.max) ? (T1)1 / state.sum : nan<T1>()};
    }
    static DEVICE T1 written(T1 x, const Numbers& numbers) {
        return exponential(x - numbers.max) * numbers.other;
    }
    template <int V, int M> static DEVICE Numbers hold(T1 (&xs)[M], const Job& job) {
        const T1 max = greatest(xs), from = origin(max);
        T1 mine = (T1)0;
#pragma unroll
        for (int j = 0; j < M; j++) {
            xs[j] = exponential(xs[j] - from);
            mine += xs[j];
        }
        const Numbers found = numbers({max, sum(mine)}, job);
#pragma unroll
        for (int j = 0; j < M; j++) xs[j] *= found.other;
        return found;
    }
};

struct LogSoftmax : Line {
    static DEVICE Numbers numbers(const State& state, const Job&) {
        return {state.max, is_finite(state.max) ? logarithm(state.sum) : nan<T1>()};
    }
    static DEVICE T1 written(T1 x, const Numbers& numbers) {
        return (x - numbers.max) - numbers.other;
    }
    template <int V, int M> static DEVICE Numbers hold(T1 (&xs)[M], const Job& job) {
        const T1 max = greatest(xs), from = origin(max);
        T1 mine = (T1)0;
#pragma unroll
        for (int j = 0; j < M; j++) mine += exponential(xs[j] - from);
        const Numbers found = numbers({max, sum(mine)}, job);
#pragma unroll
        for (int j = 0; j < M; j++) xs[j] = written(xs[j], found);
        return found;
    }
};

#if SHAPE == HELD
// The largest block with enough registers.
constexpr int THREADS = ITEMS > 16 ? 256 : sizeof(T1) > 4 ? 512 : 1024;
KERNEL_BOUNDS(softmax_held, Job, THREADS) { held<OP, PACK, ITEMS, 2>(job); }
#elif SHAPE == ROWS
KERNEL_BOUNDS(softmax_rows, Job, 256) { rows<OP, PACK, PHASE, 2>(job); }
#else
KERNEL_BOUNDS(softmax_columns, Job, 256) { columns<OP, PACK, PHASE, 2>(job); }
#endif
