// Pooling: the maximum or the mean of the elements under a window.
//
// Rust defines T, INDEX and MEAN (0 for the maximum).
#include "block.cuh"
#include "window.cuh"

// One dim of a pool.
struct Pooled {
    u64 size, kernel, stride, before;
    // Whether the dim is cut into equal parts, of size `whole` plus a share of `rest`.
    u64 parts, whole, rest;
    // Whether a mean counts padding.
    u64 padded;
    Size out, step;
};

// The elements of one position: the first one, their number, and the number that a mean counts.
struct Span {
    INDEX start, taps, count;
};

DEVICE Span span_of(const Pooled& dim, INDEX at) {
    if (dim.parts) {
        INDEX whole = static_cast<INDEX>(dim.whole), rest = static_cast<INDEX>(dim.rest);
        INDEX start = at * whole + dim.out.quotient(at * rest);
        INDEX end = (at + 1) * whole + dim.out.quotient((at + 1) * rest + dim.out.count() - 1);
        return Span{start, end - start, end - start};
    }
    OFFSET size = static_cast<OFFSET>(dim.size), before = static_cast<OFFSET>(dim.before);
    OFFSET kernel = static_cast<OFFSET>(dim.kernel), step = static_cast<OFFSET>(dim.step.size);
    OFFSET first = static_cast<OFFSET>(at * static_cast<INDEX>(dim.stride)) - before;
    OFFSET skipped = first < 0 ? static_cast<OFFSET>(dim.step.quotient(static_cast<INDEX>(step - 1 - first))) : 0;
    OFFSET start = first + skipped * step, left = size - start;
    OFFSET taps = left > 0 ? static_cast<OFFSET>(dim.step.quotient(static_cast<INDEX>(left + step - 1))) : 0;
    if (taps > kernel - skipped) taps = kernel - skipped;
    if (taps < 0) taps = 0;
    OFFSET end = first + kernel < size + before ? first + kernel : size + before;
    OFFSET count = dim.padded ? (end > first ? end - first : 0) : taps;
    if (start > size) start = size;
    return Span{static_cast<INDEX>(start), static_cast<INDEX>(taps), static_cast<INDEX>(count)};
}

struct PoolArgs {
    const T* x;
    T* out;
    // Positions of the maxima within their plane; null if they are not wanted.
    i64* places;
    Pooled dims[3];
    u64 count;
    // The divisor of the sums; 0 for the count.
    i64 divisor;
};

// Integers are summed in 64 bits, also for a mean.
template <class S> struct TotalOf { using Type = i64; };
template <> struct TotalOf<f16> { using Type = f32; };
template <> struct TotalOf<bf16> { using Type = f32; };
template <> struct TotalOf<f32> { using Type = f32; };
template <> struct TotalOf<f64> { using Type = f64; };
using Total = TotalOf<T>::Type;
using C = Compute<T>;

template <class X> DEVICE X least_of() {
    if constexpr (is_float<X>) return -infinity<X>();
    else if constexpr (static_cast<X>(-1) > static_cast<X>(0)) return 0;
    else return static_cast<X>(static_cast<u64>(1) << (8 * sizeof(X) - 1));
}
DEVICE C least() { return least_of<C>(); }

// Returns whether an element replaces the maximum so far: it is larger, or NaN.
DEVICE bool beats(C x, C other) { return x > other || x != x; }

DEVICE f32 plus(f32 a, f32 b) { return a + b; }
DEVICE f64 plus(f64 a, f64 b) { return a + b; }
DEVICE i64 plus(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b)); }

// Floats are divided by a float, because the product of counts that include padding may exceed 64 bits.
template <class S> struct DivisorOf { using Type = f64; };
template <> struct DivisorOf<i64> { using Type = i64; };
using Divisor = DivisorOf<Total>::Type;

DEVICE f32 over(f32 sum, f64 by) { return sum / static_cast<f32>(by); }
DEVICE f64 over(f64 sum, f64 by) { return sum / by; }
DEVICE i64 over(i64 sum, i64 by) {
    return by == -1 ? static_cast<i64>(static_cast<u64>(0) - static_cast<u64>(sum)) : sum / by;
}

// Returns the mean; zero for a window that is entirely outside.
DEVICE T mean(Total sum, Divisor by) {
    return narrow<T>(static_cast<C>(by == 0 ? Total(0) : over(sum, by)));
}

// Returns the product of the counts; as an integer, it saturates.
template <class D> DEVICE D product_of_counts(const Span (&span)[3]) {
    f64 count = static_cast<f64>(span[0].count) * static_cast<f64>(span[1].count) * static_cast<f64>(span[2].count);
    if constexpr (is_float<D>) return count;
    else if (count >= 9223372036854775808.0) return 9223372036854775807;
    else return static_cast<i64>(span[0].count) * static_cast<i64>(span[1].count) * static_cast<i64>(span[2].count);
}

DEVICE Divisor divisor_of(const PoolArgs& job, const Span (&span)[3]) {
    bool empty = span[0].taps == 0 || span[1].taps == 0 || span[2].taps == 0;
    if (job.divisor != 0) return static_cast<Divisor>(job.divisor);
    return empty ? 0 : product_of_counts<Divisor>(span);
}

// Computes the spans of an element of the result; returns its plane.
DEVICE INDEX locate(const PoolArgs& job, INDEX i, Span (&span)[3]) {
#pragma unroll
    for (int dim = 2; dim >= 0; dim--) span[dim] = span_of(job.dims[dim], job.dims[dim].out.split(i));
    return i;
}

// The first element of a window, and the distances of adjacent elements under it along each dim.
struct Steps {
    INDEX start, z, y, x;
};

DEVICE Steps steps_of(const PoolArgs& job, const Span (&span)[3]) {
    INDEX height = static_cast<INDEX>(job.dims[1].size), width = static_cast<INDEX>(job.dims[2].size);
    return Steps{(span[0].start * height + span[1].start) * width + span[2].start,
                 job.dims[0].step.count() * height * width, job.dims[1].step.count() * width,
                 job.dims[2].step.count()};
}

DEVICE u64 plane_size(const PoolArgs& job) { return job.dims[0].size * job.dims[1].size * job.dims[2].size; }

// One thread per element of the result. Columns of the window are combined first, as on the host.
KERNEL(pool, PoolArgs) {
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        Span span[3];
        INDEX plane = locate(job, i, span);
        Steps step = steps_of(job, span);
        const T* from = job.x + plane * plane_size(job) + step.start;
        Total sum = 0;
        C best = least();
        for (INDEX kx = 0; kx < span[2].taps; kx++) {
            Total part = 0;
            C greatest = least();
            for (INDEX kz = 0; kz < span[0].taps; kz++)
                for (INDEX ky = 0; ky < span[1].taps; ky++) {
                    C x = widen(from[kz * step.z + ky * step.y + kx * step.x]);
                    if (MEAN) part = plus(part, static_cast<Total>(x));
                    else if (beats(x, greatest)) greatest = x;
                }
            sum = plus(sum, part);
            if (beats(greatest, best)) best = greatest;
        }
        job.out[i] = MEAN ? mean(sum, divisor_of(job, span)) : narrow<T>(best);
    }
}

#if !MEAN
// Like `pool`, and also stores the position of the maximum: the first of equal ones, the last NaN.
KERNEL(pool_places, PoolArgs) {
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        Span span[3];
        INDEX plane = locate(job, i, span);
        Steps step = steps_of(job, span);
        const T* from = job.x + plane * plane_size(job);
        C best = least();
        INDEX place = step.start;
        for (INDEX kz = 0; kz < span[0].taps; kz++)
            for (INDEX ky = 0; ky < span[1].taps; ky++)
                for (INDEX kx = 0; kx < span[2].taps; kx++) {
                    INDEX at = step.start + kz * step.z + ky * step.y + kx * step.x;
                    C x = widen(from[at]);
                    if (!beats(x, best)) continue;
                    best = x;
                    place = at;
                }
        job.out[i] = narrow<T>(best);
        job.places[i] = static_cast<i64>(place);
    }
}

struct Best {
    C value;
    u64 place;
};

DEVICE Best better(Best a, Best b) {
    bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan || b_nan) return a_nan && (!b_nan || a.place > b.place) ? a : b;
    if (a.value == b.value) return a.place < b.place ? a : b;
    return a.value > b.value ? a : b;
}
#endif

// One block per element of the result, for windows of many elements.
KERNEL(pool_wide, PoolArgs) {
    for (INDEX i = blockIdx.x; i < static_cast<INDEX>(job.count); i += gridDim.x) {
        Span span[3];
        INDEX plane = locate(job, i, span);
        Steps step = steps_of(job, span);
        const T* from = job.x + plane * plane_size(job);
#if MEAN
        Total sum = 0;
#else
        Best best = {least(), step.start};
#endif
        for (INDEX kz = 0; kz < span[0].taps; kz++)
            for (INDEX ky = 0; ky < span[1].taps; ky++)
                for (INDEX kx = threadIdx.x; kx < span[2].taps; kx += blockDim.x) {
                    INDEX at = step.start + kz * step.z + ky * step.y + kx * step.x;
                    C x = widen(from[at]);
#if MEAN
                    sum = plus(sum, static_cast<Total>(x));
#else
                    if (beats(x, best.value)) best = Best{x, at};
#endif
                }
#if MEAN
        sum = block_reduce(sum, [](Total a, Total b) { return plus(a, b); }, Total(0));
        if (threadIdx.x == 0) job.out[i] = mean(sum, divisor_of(job, span));
#else
        best = block_reduce(best, [](Best a, Best b) { return better(a, b); }, Best{least(), step.start});
        if (threadIdx.x != 0) continue;
        job.out[i] = narrow<T>(best.value);
        if (job.places) job.places[i] = static_cast<i64>(best.place);
#endif
    }
}
