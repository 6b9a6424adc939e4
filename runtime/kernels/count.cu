// Counting into bins, and quantiles of sorted lines. T0 is the dtype of the operand.
#include "index.cuh"

constexpr u32 THREADS = 256;

typedef T0 T;

struct Bins {
    const T* x;
    const f64* weights;
    u64* counts;
    f64* sums;
    u64 count, bins;
    f64 low, high;
    // Whether a block counts in shared memory first.
    u32 shared, pad;
};

constexpr u32 SHARED_BINS = 4096;

// Computes the bin of an element; returns false if it has none.
DEVICE bool bin_of(const Bins& job, T x, u64& bin) {
    if constexpr (same<T, i64>) {
        bin = static_cast<u64>(x);
        return bin < job.bins;
    } else {
        T low = static_cast<T>(job.low), high = static_cast<T>(job.high);
        if (!(low <= x && x <= high)) return false;
        u64 at = static_cast<u64>((x - low) * static_cast<T>(job.bins) / (high - low));
        bin = at < job.bins ? at : job.bins - 1;
        return true;
    }
}

// The number of a thread's elements loaded at once.
constexpr u32 AHEAD = 4;

// Calls `f` with elements that are a block apart, the index of the first one, and their count.
template <class F> DEVICE void each(const Bins& job, F f) {
    const INDEX count = static_cast<INDEX>(job.count), step = static_cast<INDEX>(gridDim.x) * (THREADS * AHEAD);
    for (INDEX first = blockIdx.x * static_cast<INDEX>(THREADS * AHEAD) + threadIdx.x; first < count; first += step) {
        T xs[AHEAD];
        u32 there = 0;
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            xs[u] = 0;
            if (first + u * THREADS < count) xs[u] = job.x[first + u * THREADS];
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) there += first + u * THREADS < count;
        f(xs, first, there);
    }
}

KERNEL_BOUNDS(bin_counts, Bins, 256) {
    SHARED_ARRAY(u32, own, SHARED_BINS);
    if (job.shared != 0) {
        for (u32 i = threadIdx.x; i < job.bins; i += THREADS) own[i] = 0;
        __syncthreads();
    }
    each(job, [&](const T (&xs)[AHEAD], INDEX, u32 there) {
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            u64 bin;
            if (u >= there || !bin_of(job, xs[u], bin)) continue;
            if (job.shared != 0)
                atomicAdd(&own[bin], 1u);
            else
                atomicAdd(&job.counts[bin], static_cast<u64>(1));
        }
    });
    if (job.shared == 0) return;
    __syncthreads();
    for (u32 i = threadIdx.x; i < job.bins; i += THREADS)
        if (own[i] != 0) atomicAdd(&job.counts[i], static_cast<u64>(own[i]));
}

KERNEL_BOUNDS(bin_sums, Bins, 256) {
    each(job, [&](const T (&xs)[AHEAD], INDEX first, u32 there) {
        f64 weights[AHEAD];
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            weights[u] = 0.0;
            if (u < there) weights[u] = job.weights[first + u * THREADS];
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            u64 bin;
            if (u < there && bin_of(job, xs[u], bin)) atomicAdd(&job.sums[bin], weights[u]);
        }
    });
}

struct Quantile {
    // Sorted lines, one after the other.
    const T* sorted;
    const T* q;
    T* out;
    u64 len, lines, count;
    u32 ignore_nan;
    // The interpolation between two elements.
    u32 by;
};

constexpr u32 LINEAR = 0, LOWER = 1, HIGHER = 2, MIDPOINT = 3, NEAREST = 4;

DEVICE f32 times(f32 a, f32 b) { return __fmul_rn(a, b); }
DEVICE f64 times(f64 a, f64 b) { return __dmul_rn(a, b); }
DEVICE f32 round_even(f32 x) { return rintf(x); }
DEVICE f64 round_even(f64 x) { return rint(x); }
DEVICE f32 round_down(f32 x) { return floorf(x); }
DEVICE f64 round_down(f64 x) { return floor(x); }
DEVICE f32 round_up(f32 x) { return ceilf(x); }
DEVICE f64 round_up(f64 x) { return ceil(x); }

#ifdef QUANTILE
constexpr u64 EXACT = static_cast<u64>(1) << (sizeof(T) == 4 ? 24 : 53);

DEVICE T quantile_of(const Quantile& job, const T* line, T q) {
    // NaN come last.
    u64 numbers = 0, high = job.len;
    while (numbers < high) {
        u64 middle = numbers + (high - numbers) / 2;
        if (line[middle] != line[middle])
            high = middle;
        else
            numbers = middle + 1;
    }
    if (numbers == 0 || (numbers < job.len && job.ignore_nan == 0)) return nan<T>();
    u64 last = numbers - 1;
    // Compute in the dtype's own precision as long as it represents every index.
    f64 place = last <= EXACT ? static_cast<f64>(times(q, static_cast<T>(last)))
                              : times(static_cast<f64>(q), static_cast<f64>(last));
    if (job.by == LOWER) place = round_down(place);
    if (job.by == HIGHER) place = round_up(place);
    if (job.by == NEAREST) place = round_even(place);
    u64 below = static_cast<u64>(round_down(place)), above = static_cast<u64>(round_up(place));
    T a = line[below < last ? below : last], b = line[above < last ? above : last];
    T weight = job.by == MIDPOINT ? static_cast<T>(0.5) : static_cast<T>(place - round_down(place));
    // The difference of equal infinities would be NaN.
    if (a == b) return a;
    if (!(b - a < infinity<T>())) {
        // An end is infinite or the difference overflows: an end of weight zero does not contribute.
        T low = weight == 1 ? static_cast<T>(0) : times(a, 1 - weight);
        T high = weight == 0 ? static_cast<T>(0) : times(b, weight);
        return low + high;
    }
    if (weight < static_cast<T>(0.5)) return a + times(weight, b - a);
    return b - times(b - a, 1 - weight);
}

KERNEL_BOUNDS(quantile, Quantile, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        INDEX which = i / static_cast<INDEX>(job.lines), line = i % static_cast<INDEX>(job.lines);
        T q = job.q[which];
        // The host cannot check `q` without waiting; an invalid `q` gives NaN there as well.
        bool good = q >= 0 && q <= 1;
        job.out[i] = good ? quantile_of(job, job.sorted + line * job.len, q) : nan<T>();
    }
}
#endif
