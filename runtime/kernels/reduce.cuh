// Reductions of elements that were converted to A.
#ifndef NOMINA_REDUCE_CUH
#define NOMINA_REDUCE_CUH

#include "exp_sum.cuh"
#include "moments.cuh"

template <class A> DEVICE A plus(A x, A y) {
    if constexpr (is_complex<A>) return A{x.re + y.re, x.im + y.im};
    else if constexpr (same<A, i64>) return (i64)((u64)x + (u64)y);
    else return x + y;
}
template <class A> DEVICE A times(A x, A y) {
    if constexpr (is_complex<A>)
        return A{x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
    else if constexpr (same<A, i64>) return (i64)((u64)x * (u64)y);
    else return x * y;
}
template <class A> DEVICE A number_of(int x) {
    if constexpr (same<A, c64>) return A{(f32)x, 0.0f};
    else if constexpr (same<A, c128>) return A{(f64)x, 0.0};
    else return (A)x;
}

// Combines in pairs, so that the chain of dependent operations is short.
template <int FROM, int COUNT, int M, class A, class F>
DEVICE A fold_part(const A (&xs)[M], F combine) {
    if constexpr (COUNT == 1) {
        return xs[FROM];
    } else {
        constexpr int half = COUNT / 2;
        return combine(fold_part<FROM, half>(xs, combine),
                       fold_part<FROM + half, COUNT - half>(xs, combine));
    }
}
template <int M, class A, class F> DEVICE A fold(const A (&xs)[M], F combine) {
    return fold_part<0, M>(xs, combine);
}

// Reductions whose states have the type of elements, combined in any grouping.
#define FOLD(name, Element, Started, identity, combined)                                           \
    template <class A> struct name {                                                               \
        using X = Element;                                                                         \
        using State = Started;                                                                     \
        static DEVICE State start() { return identity; }                                           \
        static DEVICE State combine(State x, State y) { return combined; }                         \
        template <int M, class P, class Job>                                                       \
        static DEVICE void take(State& state, const X (&xs)[M], P, const Job&) {                   \
            State wide[M];                                                                         \
            _Pragma("unroll") for (int j = 0; j < M; j++) wide[j] = (State)xs[j];                  \
            state = combine(state, fold(wide, combine));                                           \
        }                                                                                          \
        static DEVICE void merge(State& state, const State& other) {                               \
            state = combine(state, other);                                                         \
        }                                                                                          \
        template <class Job> static DEVICE State value(const State& state, const Job&) {           \
            return state;                                                                          \
        }                                                                                          \
    };

FOLD(Prod, A, A, number_of<A>(1), times(x, y))
FOLD(Max, A, A, lowest<A>(), x > y || is_nan(x) ? x : y)
FOLD(Min, A, A, highest<A>(), x < y || is_nan(x) ? x : y)
FOLD(Any, bool, u32, 0, x | y)
FOLD(All, bool, u32, 1, x & y)
FOLD(Count, bool, i64, 0, x + y)
FOLD(Plain, A, A, number_of<A>(0), plus(x, y))

// The sum; that of floats is divided by the job's number.
template <class A> struct Sum : Plain<A> {
    template <class Job> static DEVICE A value(const A& sum, const Job& job) {
        if constexpr (same<A, i64>) return sum;
        else if constexpr (same<A, c64>)
            return c64{(f32)((f64)sum.re / job.number), (f32)((f64)sum.im / job.number)};
        else if constexpr (same<A, c128>) return c128{sum.re / job.number, sum.im / job.number};
        else return (A)((f64)sum / job.number);
    }
};

// A state of two parts is stored and loaded as a whole. Both parts have the same width, so there is no padding, which
// would be read uninitialized. They hold the element and the position, or count, exactly.
template <int bytes> struct Parts {
    using Whole = i32;
    using Real = f32;
    using At = u32;
};
template <> struct Parts<8> {
    using Whole = i64;
    using Real = f64;
    using At = u64;
};
template <class A, bool real = is_float<A>>
struct PartsOf : Parts<sizeof(A) == 8 || sizeof(INDEX) == 8 ? 8 : 4> {
    using Element = typename PartsOf::Whole;
};
template <class A> struct PartsOf<A, true> : PartsOf<A, false> {
    using Element = typename PartsOf::Real;
};
#define WHOLE(State, first, second)                                                                \
    static_assert(sizeof(State) == sizeof(State::first) + sizeof(State::second), "it has gaps")

template <class A> struct NanState {
    typename PartsOf<A>::Element sum;
    typename PartsOf<A>::At count;
};

// The sum of the elements that are not NaN, divided by their count if the job's flag is set.
template <class A> struct NanSum {
    using X = A;
    using State = NanState<A>;
    WHOLE(State, sum, count);
    static DEVICE State start() { return {(A)0, 0}; }
    template <int M, class P, class Job>
    static DEVICE void take(State& state, const A (&xs)[M], P, const Job&) {
        A there[M];
#pragma unroll
        for (int j = 0; j < M; j++) {
            there[j] = is_nan(xs[j]) ? (A)0 : xs[j];
            state.count += !is_nan(xs[j]);
        }
        state.sum += fold(there, plus<A>);
    }
    static DEVICE void merge(State& state, const State& other) {
        state.sum += other.sum;
        state.count += other.count;
    }
    template <class Job> static DEVICE A value(const State& state, const Job& job) {
        return job.flag ? (A)((f64)state.sum / (f64)state.count) : state.sum;
    }
};

// The sum of squared deviations divided by the job's number; its square root if the flag is set.
template <class A> struct Variance : MomentsOf<A> {
    template <class Job> static DEVICE A value(const Moments& state, const Job& job) {
        const f64 squares = state.squares < 0.0 ? 0.0 : state.squares;
        const f64 variance = squares / job.number;
        return (A)(job.flag ? sqrt(variance) : variance);
    }
};

// Like `Variance`, but skips NaN; the divisor is the count of other elements less the job's number.
template <class A> struct NanVariance : MomentsOf<A> {
    template <int M, class P, class Job>
    static DEVICE void take(Moments& state, const A (&xs)[M], P, const Job&) {
#pragma unroll
        for (int j = 0; j < M; j++) {
            const f64 x = (f64)xs[j];
            if (!is_nan(xs[j])) MomentsOf<A>::merge(state, {1.0, x, x - x});
        }
    }
    template <class Job> static DEVICE A value(const Moments& state, const Job& job) {
        const f64 count = state.count - job.number;
        const f64 variance = (state.squares < 0.0 ? 0.0 : state.squares) / (count < 0.0 ? 0.0 : count);
        return (A)(job.flag ? sqrt(variance) : variance);
    }
};

template <class A> struct LogSumExp : ExpSum<A> {
    template <class Job> static DEVICE A value(const ExpState<A>& state, const Job&) {
        return (A)ExpSum<A>::logarithm_of(state);
    }
};
template <> struct LogSumExp<c128> : ComplexExpSum {
    template <class Job> static DEVICE c128 value(const State& state, const Job&) {
        return logarithm_of(state);
    }
};

// Norms, of magnitudes as f64: no square of an f32 overflows. The job's number is the degree.
#define NORM(name, identity, termed, combined, finished)                                           \
    template <class A> struct name {                                                               \
        using X = A;                                                                               \
        using State = f64;                                                                         \
        static DEVICE f64 start() { return identity; }                                             \
        static DEVICE f64 combine(f64 x, f64 y) { return combined; }                               \
        template <int M, class P, class Job>                                                       \
        static DEVICE void take(f64& state, const A (&xs)[M], P, const Job& job) {                 \
            f64 terms[M];                                                                          \
            _Pragma("unroll") for (int j = 0; j < M; j++) {                                        \
                const f64 x = xs[j];                                                               \
                terms[j] = termed;                                                                 \
            }                                                                                      \
            state = combine(state, fold(terms, combine));                                          \
        }                                                                                          \
        static DEVICE void merge(f64& state, const f64& other) { state = combine(state, other); }  \
        template <class Job> static DEVICE f64 value(const f64& total, const Job& job) {           \
            return finished;                                                                       \
        }                                                                                          \
    };

NORM(NormZero, 0.0, x == 0.0 ? 0.0 : 1.0, x + y, total)
NORM(NormOne, 0.0, fabs(x), x + y, total)
NORM(NormTwo, 0.0, x* x, x + y, sqrt(total))
NORM(NormMost, 0.0, fabs(x), x > y || is_nan(x) ? x : y, total)
NORM(NormLeast, infinity<f64>(), fabs(x), x < y || is_nan(x) ? x : y, total)
NORM(NormPower, 0.0, pow(fabs(x), job.number), x + y, pow(total, 1.0 / job.number))

// The best element and the position of its first occurrence.
template <class A> struct Best {
    typename PartsOf<A>::Element value;
    typename PartsOf<A>::At at;
};
constexpr INDEX NOWHERE = ~(INDEX)0;

// Stores the position, for reductions that find one.
template <class State> DEVICE void place(const State&, i64*) {}
template <class A> DEVICE void place(const Best<A>& state, i64* to) { *to = (i64)state.at; }

// Branch-free, because branches would diverge within a warp: the loser is deselected. The initial state has the worst
// value and comes after all positions.
#define POSITION(name, worst, behind)                                                              \
    template <class A> struct name {                                                               \
        using X = A;                                                                               \
        using State = Best<A>;                                                                     \
        WHOLE(State, value, at);                                                                   \
        static DEVICE State start() { return {worst<A>(), NOWHERE}; }                              \
        static DEVICE bool better(A x, A y) { return !(x behind y) & !is_nan(y); }                 \
        /* Combines two states; the first one precedes the second. */                              \
        static DEVICE State combine(State x, State y) {                                            \
            const bool second = better(y.value, x.value);                                          \
            return {second ? y.value : x.value, second ? y.at : x.at};                             \
        }                                                                                          \
        template <int M, class P, class Job>                                                       \
        static DEVICE void take(State& state, const A (&xs)[M], P at, const Job&) {                \
            State all[M];                                                                          \
            _Pragma("unroll") for (int j = 0; j < M; j++) all[j] = {xs[j], at[j]};                 \
            merge(state, fold(all, combine));                                                      \
        }                                                                                          \
        static DEVICE void merge(State& state, const State& other) {                               \
            const bool first = (other.at < state.at) & !better(state.value, other.value);          \
            const bool won = first | better(other.value, state.value);                             \
            state = {won ? other.value : state.value, won ? other.at : state.at};                  \
        }                                                                                          \
        template <class Job> static DEVICE A value(const State& state, const Job&) {               \
            return state.value;                                                                    \
        }                                                                                          \
    };

POSITION(Argmax, lowest, <=)
POSITION(Argmin, highest, >=)

#endif
