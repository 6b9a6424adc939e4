// New elements from numbers, and zeros on one side of a diagonal.
//
// Defines: OUT, the elements' dtype; INDEX.
#include "index.cuh"
#include "numeric.cuh"

#ifndef INDEX
#define INDEX u32
#endif

constexpr int THREADS = 256;
constexpr int WIDTH = PACKED<OUT>;

struct alignas(16) Bytes {
    u8 at[16];
};

struct Args {
    u8* dest;
    u64 count;
    Bytes number;
};

// Fills adjacent elements, from an address aligned for packs.
KERNEL_BOUNDS(contiguous, Args, THREADS) {
    const OUT value = *reinterpret_cast<const OUT*>(job.number.at);
    Pack<OUT, WIDTH> pack;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) pack[i] = value;
    const u64 packs = job.count / WIDTH, step = (u64)gridDim.x * THREADS;
    for (u64 at = (u64)blockIdx.x * THREADS + threadIdx.x; at < packs; at += step)
        reinterpret_cast<Pack<OUT, WIDTH>*>(job.dest)[at] = pack;
    u64 last = packs * WIDTH + threadIdx.x;
    if (blockIdx.x == 0 && last < job.count) reinterpret_cast<OUT*>(job.dest)[last] = value;
}

struct StridedArgs {
    Args job;
    Strided<1> at;
};

KERNEL_BOUNDS(strided, StridedArgs, THREADS) {
    const OUT value = *reinterpret_cast<const OUT*>(job.job.number.at);
    const INDEX count = (INDEX)job.job.count, step = (INDEX)gridDim.x * THREADS;
    for (INDEX i = (INDEX)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        i64 place[1];
        offsets(job.at, i, place);
        *reinterpret_cast<OUT*>(at_byte(job.job.dest, place[0])) = value;
    }
}

// `start`, `start + step`, and so on: integers in i64, other dtypes in f64, each computed from its index, so that
// rounding errors do not accumulate.
struct Range {
    u8* dest;
    u64 count;
    i64 whole_start, whole_step;
    f64 start, step;
};

KERNEL_BOUNDS(arange, Range, THREADS) {
    const u64 step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < job.count; i += step) {
        OUT value;
        if constexpr (is_float<OUT> || is_complex<OUT>) {
            value = convert<OUT>(job.start + numeric::product(job.step, (f64)i));
        } else {
            value = convert<OUT>((i64)((u64)job.whole_start + (u64)job.whole_step * i));
        }
        reinterpret_cast<OUT*>(job.dest)[i] = value;
    }
}

// Matrices, innermost dim first; strides in bytes. Elements on one side of the diagonal are cleared: below it, or above
// it.
struct Triangle {
    u8* dest;
    u64 count;
    i64 diagonal;
    u64 upper;
    Strided<1> at;
};

KERNEL_BOUNDS(triangle, Triangle, THREADS) {
    const INDEX count = (INDEX)job.count, step = (INDEX)gridDim.x * THREADS;
    for (INDEX i = (INDEX)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        INDEX rest = i;
        i64 column = (i64)split(job.at, rest, 0), row = (i64)split(job.at, rest, 1);
        if (job.upper ? column - row < job.diagonal : column - row > job.diagonal) {
            i64 place[1];
            offsets(job.at, i, place);
            *reinterpret_cast<OUT*>(at_byte(job.dest, place[0])) = OUT{};
        }
    }
}
