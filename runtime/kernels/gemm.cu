// Products of matrices with any strides: c = alpha a b + beta d.
//
// Defines: T0 the dtype; INDEX the type of counts of tiles and of results.
#include "tile.cuh"
#include "index.cuh"
#include "block.cuh"

using T = T0;
using S = Sum<T>;

struct Product {
    Matrix a, b, c, d;
    Repeats<4> repeats;
    // Partial sums, if the summed dim is split: [part][repeat][row][column].
    S* partial;
    u64 alpha[2], beta[2];
    u64 m, n, k, count;
    // The summed dim is split into `parts` parts of `steps` steps.
    u64 parts, steps;
    Divider down, across;
    u32 scaled, added;
    // Whether the matrix and the vector can be read 16 bytes at a time.
    u32 packed, pad;
};

// Returns `sum + x y`; templates, so that branches that do not fit the dtype are not compiled.
template <class E> DEVICE Sum<E> plus_times(Sum<E> sum, Sum<E> x, Sum<E> y) {
    if constexpr (same<E, bool>) return sum | (x & y);
    else if constexpr (is_complex<E>)
        return E{sum.re + x.re * y.re - x.im * y.im, sum.im + x.re * y.im + x.im * y.re};
    else return sum + x * y;
}
template <class E> DEVICE Sum<E> plus(Sum<E> x, Sum<E> y) {
    if constexpr (same<E, bool>) return x | y;
    else if constexpr (is_complex<E>) return E{x.re + y.re, x.im + y.im};
    else return x + y;
}
DEVICE S times(S x, S y) { return plus_times<T>(S{}, x, y); }

// Reads a factor, which is stored in two words.
DEVICE S factor(const u64* words) { return *reinterpret_cast<const S*>(words); }

// Writes one result.
DEVICE void finish(const Product& job, const i64 (&at)[4], u64 row, u64 col, S sum) {
    const i64 i = static_cast<i64>(row), j = static_cast<i64>(col);
    if (job.scaled) sum = times(factor(job.alpha), sum);
    if (job.added) {
        const T* d = reinterpret_cast<const T*>(job.d.at) + at[3];
        sum = plus<T>(sum, times(factor(job.beta), load(d[i * job.d.rows + j * job.d.cols])));
    }
    T* c = reinterpret_cast<T*>(job.c.at) + at[2];
    c[i * job.c.rows + j * job.c.cols] = store<T>(sum);
}

// Stores a sum: in the result, or among the partial sums if there are several parts.
DEVICE void put(const Product& job, const i64 (&at)[4], u64 nth, u64 part, u64 row, u64 col, S sum) {
    if (job.parts > 1)
        job.partial[((part * job.count + nth) * job.m + row) * job.n + col] = sum;
    else
        finish(job, at, row, col, sum);
}

constexpr int SIDE = sizeof(S) == 16 ? 2 : 4;
constexpr int EDGE = 16 * SIDE;
using Stage = Tile<T, S, EDGE>;
using Run = Pack<S, SIDE>;

KERNEL_BOUNDS(tiles, Product, THREADS) {
    SHARED_ARRAY(Run, left_runs, DEEP* Stage::PITCH / SIDE);
    SHARED_ARRAY(Run, right_runs, DEEP* Stage::PITCH / SIDE);
    S* const left = left_runs[0].at;
    S* const right = right_runs[0].at;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const INDEX down = static_cast<INDEX>((job.m + EDGE - 1) / EDGE);
    const INDEX across = static_cast<INDEX>((job.n + EDGE - 1) / EDGE);
    const INDEX total = down * across * static_cast<INDEX>(job.parts * job.count);
    for (INDEX work = blockIdx.x; work < total; work += gridDim.x) {
        INDEX left_over = work;
        const u64 first_col = static_cast<u64>(left_over % across) * EDGE;
        left_over /= across;
        const u64 first_row = static_cast<u64>(left_over % down) * EDGE;
        left_over /= down;
        const u64 part = static_cast<u64>(left_over) % job.parts;
        const u64 nth = static_cast<u64>(left_over) / job.parts;
        i64 at[4];
        job.repeats.offsets(nth, at);
        const T* a = reinterpret_cast<const T*>(job.a.at) + at[0];
        const T* b = reinterpret_cast<const T*>(job.b.at) + at[1];
        const u64 from = part * job.steps;
        const u64 until = from + job.steps < job.k ? from + job.steps : job.k;
        S sums[SIDE][SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++) sums[i][j] = S{};
        Stage of_a, of_b;
        of_a.begin(a, job.a.rows, job.a.cols, first_row, job.m, from);
        of_b.begin(b, job.b.cols, job.b.rows, first_col, job.n, from);
        if (from < until) of_a.fetch(until - from), of_b.fetch(until - from);
        for (u64 step = from; step < until; step += DEEP) {
            of_a.keep(left);
            of_b.keep(right);
            __syncthreads();
            if (step + DEEP < until)
                of_a.fetch(until - step - DEEP), of_b.fetch(until - step - DEEP);
#pragma unroll
            for (int deep = 0; deep < DEEP; deep++) {
                const Run x = left_runs[deep * (Stage::PITCH / SIDE) + ty];
                const Run y = right_runs[deep * (Stage::PITCH / SIDE) + tx];
#pragma unroll
                for (int i = 0; i < SIDE; i++)
#pragma unroll
                    for (int j = 0; j < SIDE; j++) sums[i][j] = plus_times<T>(sums[i][j], x[i], y[j]);
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++) {
                const u64 row = first_row + ty * SIDE + i, col = first_col + tx * SIDE + j;
                if (row < job.m && col < job.n) put(job, at, nth, part, row, col, sums[i][j]);
            }
    }
}

// Multiplies a matrix by a vector (n = 1); the matrix rows are contiguous along the summed dim, and
// each gets a warp.
KERNEL_BOUNDS(rows, Product, THREADS) {
    constexpr int WIDE = PACKED<T>, WAYS = 4;
    const u32 lane = threadIdx.x % 32;
    const INDEX total = static_cast<INDEX>(job.m * job.parts * job.count);
    const INDEX stride = static_cast<INDEX>(gridDim.x) * (THREADS / 32);
    for (INDEX work = static_cast<INDEX>(blockIdx.x) * (THREADS / 32) + threadIdx.x / 32; work < total;
         work += stride) {
        const u64 row = static_cast<u64>(work) % job.m, rest = static_cast<u64>(work) / job.m;
        const u64 part = rest % job.parts, nth = rest / job.parts;
        i64 at[4];
        job.repeats.offsets(nth, at);
        const T* a = reinterpret_cast<const T*>(job.a.at) + at[0] + static_cast<i64>(row) * job.a.rows;
        const T* b = reinterpret_cast<const T*>(job.b.at) + at[1];
        const u64 from = part * job.steps;
        const u64 until = from + job.steps < job.k ? from + job.steps : job.k;
        S sums[WAYS];
#pragma unroll
        for (int i = 0; i < WAYS; i++) sums[i] = S{};
        u64 step = from + lane;
        if (job.packed) {
            // Parts are aligned to 16 bytes.
            u64 run = from + lane * WIDE;
#pragma unroll 2
            for (; run + WIDE <= until; run += 32 * WIDE) {
                const Pack<T, WIDE> x = *reinterpret_cast<const Pack<T, WIDE>*>(a + run);
                const Pack<T, WIDE> y = *reinterpret_cast<const Pack<T, WIDE>*>(b + run);
#pragma unroll
                for (int i = 0; i < WIDE; i++)
                    sums[i % WAYS] = plus_times<T>(sums[i % WAYS], load(x[i]), load(y[i]));
            }
            step = until - (until - from) % WIDE + lane;
        }
        for (int way = 0; step < until; step += 32, way = (way + 1) % WAYS) {
            const i64 deep = static_cast<i64>(step);
            const S x = load(a[deep * job.a.cols]), y = load(b[deep * job.b.rows]);
#pragma unroll
            for (int i = 0; i < WAYS; i++)
                if (i == way) sums[i] = plus_times<T>(sums[i], x, y);
        }
        const S sum = warp_reduce(plus<T>(plus<T>(sums[0], sums[1]), plus<T>(sums[2], sums[3])),
                                  [](S x, S y) { return plus<T>(x, y); });
        if (lane == 0) put(job, at, nth, part, row, 0, sum);
    }
}

// Like `rows`, but the matrix columns are contiguous: 32 rows per block, each summed by 8 threads.
KERNEL_BOUNDS(columns, Product, THREADS) {
    constexpr int WAYS = THREADS / 32;
    SHARED_ARRAY(S, sums, THREADS);
    const u32 lane = threadIdx.x % 32, way = threadIdx.x / 32;
    const INDEX down = static_cast<INDEX>((job.m + 31) / 32);
    const INDEX total = down * static_cast<INDEX>(job.parts * job.count);
    for (INDEX work = blockIdx.x; work < total; work += gridDim.x) {
        const u64 row = static_cast<u64>(work % down) * 32 + lane, rest = work / down;
        const u64 part = rest % job.parts, nth = rest / job.parts;
        i64 at[4];
        job.repeats.offsets(nth, at);
        const T* b = reinterpret_cast<const T*>(job.b.at) + at[1];
        const u64 from = part * job.steps;
        const u64 until = from + job.steps < job.k ? from + job.steps : job.k;
        S sum{};
        if (row < job.m) {
            const T* a =
                reinterpret_cast<const T*>(job.a.at) + at[0] + static_cast<i64>(row) * job.a.rows;
#pragma unroll 4
            for (u64 step = from + way; step < until; step += WAYS) {
                const i64 deep = static_cast<i64>(step);
                sum = plus_times<T>(sum, load(a[deep * job.a.cols]), load(b[deep * job.b.rows]));
            }
        }
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (way == 0 && row < job.m) {
            for (int i = 1; i < WAYS; i++) sum = plus<T>(sum, sums[i * 32 + lane]);
            put(job, at, nth, part, row, 0, sum);
        }
        __syncthreads();
    }
}

// Adds the partial sums, always in the same order.
KERNEL(combine, Product) {
    const INDEX total = static_cast<INDEX>(job.count * job.m * job.n);
    const INDEX stride = static_cast<INDEX>(gridDim.x) * THREADS;
    for (INDEX work = static_cast<INDEX>(blockIdx.x) * THREADS + threadIdx.x; work < total;
         work += stride) {
        u64 line, nth;
        if constexpr (sizeof(INDEX) == 4) {
            line = job.across.quotient(static_cast<u32>(work));
            nth = job.down.quotient(static_cast<u32>(line));
        } else {
            line = work / job.n;
            nth = line / job.m;
        }
        const S* from = job.partial + work;
        S sum = *from;
        for (u64 part = 1; part < job.parts; part++) sum = plus<T>(sum, *(from += total));
        i64 at[4];
        job.repeats.offsets(nth, at);
        finish(job, at, line - nth * job.m, work - line * job.n, sum);
    }
}
