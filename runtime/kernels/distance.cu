// Norms of the differences of rows: every row of `a` with every row of `b`, both row-major.
//
// Defines: T0 a float dtype; INDEX the type of counts of tiles; NORM the norm.
#define COUNT 0
#define ABSOLUTE 1
#define EUCLIDEAN 2
#define GREATEST 3
#define POWER 4
#include "tile.cuh"

using T = T0;
using S = Compute<T>;

struct Distance {
    const T* a;
    const T* b;
    T* out;
    u64 batch, m, n, depth;
    f64 p;
};

DEVICE f32 apart(f32 x, f32 y) { return fabsf(x - y); }
DEVICE f64 apart(f64 x, f64 y) { return fabs(x - y); }
DEVICE f32 root(f32 x) { return sqrtf(x); }
DEVICE f64 root(f64 x) { return sqrt(x); }
DEVICE f32 power(f32 x, f32 p) { return powf(x, p); }
DEVICE f64 power(f64 x, f64 p) { return pow(x, p); }
// Magnitudes are ordered like their bits, and NaN is the largest, so it stays.
DEVICE f32 greater(f32 x, f32 y) { return __float_as_uint(x) > __float_as_uint(y) ? x : y; }
DEVICE f64 greater(f64 x, f64 y) {
    return __double_as_longlong(x) > __double_as_longlong(y) ? x : y;
}

// Accumulates one more difference.
DEVICE S joined(S sum, S x, S y, S p) {
    const S d = apart(x, y);
    if constexpr (NORM == COUNT) return sum + (d == 0 ? S(0) : S(1));
    else if constexpr (NORM == ABSOLUTE) return sum + d;
    else if constexpr (NORM == EUCLIDEAN) return sum + d * d;
    else if constexpr (NORM == GREATEST) return greater(d, sum);
    else return sum + power(d, p);
}

// Powers take long enough that few accumulators per thread suffice.
constexpr int SIDE = NORM != POWER ? 4 : sizeof(S) == 8 ? 1 : 2;
constexpr int AT_ONCE = NORM == POWER ? 1 : DEEP;
constexpr int EDGE = 16 * SIDE;
using Stage = Tile<T, S, EDGE>;
using Run = Pack<S, SIDE>;

KERNEL_BOUNDS(distances, Distance, THREADS) {
    SHARED_ARRAY(Run, left, DEEP* Stage::PITCH / SIDE);
    SHARED_ARRAY(Run, right, DEEP* Stage::PITCH / SIDE);
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const INDEX down = static_cast<INDEX>((job.m + EDGE - 1) / EDGE);
    const INDEX across = static_cast<INDEX>((job.n + EDGE - 1) / EDGE);
    const INDEX total = down * across * static_cast<INDEX>(job.batch);
    const i64 pitch = static_cast<i64>(job.depth);
    const S p = static_cast<S>(job.p);
    for (INDEX work = blockIdx.x; work < total; work += gridDim.x) {
        const INDEX line = work / across;
        const u64 first_col = static_cast<u64>(work - line * across) * EDGE;
        const u64 nth = line / down, first_row = static_cast<u64>(line % down) * EDGE;
        const T* a = job.a + nth * job.m * job.depth;
        const T* b = job.b + nth * job.n * job.depth;
        S sums[SIDE][SIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++) sums[i][j] = 0;
        Stage of_a, of_b;
        of_a.begin(a, pitch, 1, first_row, job.m, 0);
        of_b.begin(b, pitch, 1, first_col, job.n, 0);
        for (u64 step = 0; step < job.depth; step += DEEP) {
            of_a.fetch(job.depth - step);
            of_b.fetch(job.depth - step);
            of_a.keep(left[0].at);
            of_b.keep(right[0].at);
            __syncthreads();
#pragma unroll AT_ONCE
            for (int deep = 0; deep < DEEP; deep++) {
                const Run x = left[deep * (Stage::PITCH / SIDE) + ty];
                const Run y = right[deep * (Stage::PITCH / SIDE) + tx];
#pragma unroll
                for (int i = 0; i < SIDE; i++)
#pragma unroll
                    for (int j = 0; j < SIDE; j++) sums[i][j] = joined(sums[i][j], x[i], y[j], p);
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++) {
                const u64 row = first_row + ty * SIDE + i, col = first_col + tx * SIDE + j;
                if (row >= job.m || col >= job.n) continue;
                S sum = sums[i][j];
                if constexpr (NORM == EUCLIDEAN) sum = root(sum);
                if constexpr (NORM == POWER) sum = power(sum, static_cast<S>(1 / job.p));
                job.out[(nth * job.m + row) * job.n + col] = narrow<T>(sum);
            }
    }
}
