// Cross entropy of rows with the index of the true class.
//
// T0 is the dtype of elements, T1 the one they are converted to. LOGITS selects logits instead of log-probabilities,
// and SMOOTH whether a part of the target is spread over all classes.
#include "exp_sum.cuh"
#include "lines.cuh"

#define ROWS 0
#define COLUMNS 1
#define CHUNKS 2

// Operands: elements, and the row index.
struct Job {
    Lines<2> lines;
    const i64* targets;
    // One weight per class; null for 1.
    const f64* weight;
    // Two numbers per row: the loss, and its weight.
    f64* out;
    // The total weight of all classes; null for their number.
    const f64* weights;
    Flag* flag;
    f64 smoothing;
    f64 classes;
    i64 ignored;
    u32 chunks;
    u32 record;
};

struct Seen {
    ExpState<T1> power;
    // The sum of weighted elements.
    f64 spread;
};

struct Op {
    using X = T1;
    using State = Seen;
    static DEVICE State start() { return {ExpSum<T1>::start(), 0.0}; }
    static DEVICE f64 weight(const Job& job, i64 label) {
        return job.weight ? job.weight[label] : 1.0;
    }
    template <int M, class P>
    static DEVICE void take(State& state, const T1 (&xs)[M], P at, const Job& job) {
        if constexpr (LOGITS) ExpSum<T1>::take(state.power, xs, at, job);
        if constexpr (SMOOTH) {
#pragma unroll
            for (int j = 0; j < M; j++) state.spread += weight(job, (i64)at[j]) * (f64)xs[j];
        }
    }
    static DEVICE void merge(State& state, const State& other) {
        if constexpr (LOGITS) ExpSum<T1>::merge(state.power, other.power);
        if constexpr (SMOOTH) state.spread += other.spread;
    }
    static DEVICE void finish(const State& state, const i64 (&at)[2], const Job& job) {
        const i64 target = job.targets[at[1]];
        f64 loss = 0.0, counted = 0.0;
        const bool is_class = static_cast<u64>(target) < static_cast<u64>(job.classes);
        if (target != job.ignored && !is_class) raise(job.flag, target, job.record);
        if (target != job.ignored && is_class) {
            f64 log_sum = 0.0;
            if constexpr (LOGITS) log_sum = ExpSum<T1>::logarithm_of(state.power);
            const char* const there = job.lines.x + at[0] + target * job.lines.along.steps[0][0];
            counted = weight(job, target);
            loss = counted * (log_sum - (f64)convert<T1>(*reinterpret_cast<const T0*>(there)));
            if constexpr (SMOOTH) {
                const f64 weights = job.weights ? *job.weights : job.classes;
                const f64 all = log_sum * weights - state.spread;
                loss = (1.0 - job.smoothing) * loss + job.smoothing / job.classes * all;
            }
        }
        job.out[2 * at[1]] = loss;
        job.out[2 * at[1] + 1] = counted;
    }
};

#if SHAPE == ROWS
KERNEL_ROOMY(entropy_rows, Job, 256) { rows<Op, PACK, FINISH, 2>(job); }
#elif SHAPE == COLUMNS
KERNEL_ROOMY(entropy_columns, Job, 256) { columns<Op, PACK, FINISH, 2>(job); }
#else
KERNEL_ROOMY(entropy_chunks, Job, 256) { chunks<Op, 2>(job, job.chunks); }
#endif
