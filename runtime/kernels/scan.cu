// Prefix scans along a dim.
//
// T0 is the dtype of elements, T1 the one they are converted to, T2 the dtype of the result; OP is the operation
// (Cumsum, Cumprod, Logcumsumexp), SHAPE the layout of lines, PACK the number of elements read at once, ITEMS the
// number of adjacent elements that one thread scans before threads are combined. Few long rows are cut into TILES,
// scanned with decoupled look-back (lookback.cuh). Few long columns are cut into chunks and scanned in three passes:
// the TOTALS of each chunk, the prefix BEFORE each chunk, then the RESULTS.
#include "convert.cuh"
#include "exp_sum.cuh"
#include "group.cuh"
#include "index.cuh"
#include "lookback.cuh"

#define ROWS 0
#define COLUMNS 1
#define BEFORE 2
#define TILES 3

#define TOTALS 0
#define RESULTS 1

// Operands: elements and results. `totals` holds the chunks of a line in order, and two results per tile;
// `look_back` holds the number of the next tile, and the state of each.
struct Scan {
    const char* x;
    char* out;
    char* totals;
    u64* look_back;
    u64 outputs, count, chunk, chunks;
    i64 step, out_step;
    Strided<2> kept;
};

// Sums and products of f32 are kept in f64, because later steps cannot recover lost digits.
template <class A> struct Kept {
    using Type = f64;
};
template <> struct Kept<i64> {
    using Type = i64;
};
template <> struct Kept<c64> {
    using Type = c128;
};
template <> struct Kept<c128> {
    using Type = c128;
};

template <class A> struct Cumsum {
    using Acc = typename Kept<A>::Type;
    static DEVICE Acc start() { return convert<Acc>(false); }
    static DEVICE Acc one(A x) { return convert<Acc>(x); }
    static DEVICE Acc join(Acc x, Acc y) {
        if constexpr (is_complex<Acc>) return {x.re + y.re, x.im + y.im};
        else if constexpr (same<Acc, i64>) return (i64)((u64)x + (u64)y);
        else return x + y;
    }
    static DEVICE A result(Acc x) { return convert<A>(x); }
};

template <class A> struct Cumprod {
    using Acc = typename Kept<A>::Type;
    static DEVICE Acc start() { return convert<Acc>(true); }
    static DEVICE Acc one(A x) { return convert<Acc>(x); }
    static DEVICE Acc join(Acc x, Acc y) {
        if constexpr (is_complex<Acc>) return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
        else if constexpr (same<Acc, i64>) return (i64)((u64)x * (u64)y);
        else return x * y;
    }
    static DEVICE A result(Acc x) { return convert<A>(x); }
};

// The logarithm of a running sum of exponentials: the maximum so far, and the sum of exponentials relative to it.
template <class A> struct Logcumsumexp {
    using Acc = ExpState<A>;
    static DEVICE Acc start() { return {-infinity<A>(), (A)0}; }
    // Minus infinity adds nothing.
    static DEVICE Acc one(A x) { return {x, x == -infinity<A>() ? (A)0 : (A)1}; }
    static DEVICE Acc join(Acc x, Acc y) {
        const Acc low = y.max > x.max ? x : y, high = y.max > x.max ? y : x;
        // ∞ - ∞ would be NaN.
        const A factor = low.max == high.max ? (A)1 : exponential(low.max - high.max);
        return {high.max, high.sum + low.sum * factor};
    }
    static DEVICE A result(Acc x) { return x.max + logarithm(x.sum); }
};

// Imaginary parts are not reduced modulo 2π, so that the running result does not jump.
struct ComplexLogcumsumexp {
    using Acc = c128;
    static DEVICE Acc start() { return {-infinity<f64>(), 0.0}; }
    static DEVICE Acc join(Acc x, Acc y) {
        const bool up = y.re > x.re || is_nan(y.re);
        const Acc low = up ? x : y, high = up ? y : x;
        if (low.re == -infinity<f64>()) return high;
        if (low.re == infinity<f64>()) {
            const c128 a = complex_exponential(low), b = complex_exponential(high);
            return complex_logarithm({a.re + b.re, a.im + b.im});
        }
        const c128 power = complex_exponential({low.re - high.re, low.im - high.im});
        const c128 more = complex_logarithm({power.re + 1.0, power.im});
        return {more.re + high.re, more.im + high.im};
    }
};
template <> struct Logcumsumexp<c64> : ComplexLogcumsumexp {
    static DEVICE Acc one(c64 x) { return {(f64)x.re, (f64)x.im}; }
    static DEVICE c64 result(Acc x) { return {(f32)x.re, (f32)x.im}; }
};
template <> struct Logcumsumexp<c128> : ComplexLogcumsumexp {
    static DEVICE Acc one(c128 x) { return x; }
    static DEVICE c128 result(Acc x) { return x; }
};

using Op = OP<T1>;
using Acc = Op::Acc;

DEVICE INDEX chunk_end(const Scan& job, INDEX from) {
    const INDEX count = (INDEX)job.count, chunk = (INDEX)job.chunk;
    return count - from < chunk ? count : from + chunk;
}

DEVICE Acc& total(const Scan& job, INDEX output, INDEX chunk) {
    return reinterpret_cast<Acc*>(job.totals)[output * (INDEX)job.chunks + chunk];
}

// Reads the elements of a line from `first` on, of which `there` are left.
DEVICE void read(Acc (&found)[ITEMS], const char* line, INDEX first, INDEX there, i64 step) {
    if (there >= ITEMS) {
#pragma unroll
        for (int q = 0; q < ITEMS / PACK; q++) {
            const char* const at = line + (i64)(first + q * PACK) * step;
            const Pack<T0, PACK> pack = *reinterpret_cast<const Pack<T0, PACK>*>(at);
#pragma unroll
            for (int v = 0; v < PACK; v++) found[q * PACK + v] = Op::one(convert<T1>(pack[v]));
        }
    } else {
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            found[j] = Op::start();
            if ((INDEX)j < there) {
                const char* const at = line + (i64)(first + j) * step;
                found[j] = Op::one(convert<T1>(*reinterpret_cast<const T0*>(at)));
            }
        }
    }
}

DEVICE void write(const Acc (&found)[ITEMS], char* line, INDEX first, INDEX there, i64 step) {
    if (there >= ITEMS) {
#pragma unroll
        for (int q = 0; q < ITEMS / PACK; q++) {
            Pack<T2, PACK> pack;
#pragma unroll
            for (int v = 0; v < PACK; v++) pack[v] = convert<T2>(Op::result(found[q * PACK + v]));
            *reinterpret_cast<Pack<T2, PACK>*>(line + (i64)(first + q * PACK) * step) = pack;
        }
    } else {
#pragma unroll
        for (int j = 0; j < ITEMS; j++)
            if ((INDEX)j < there)
                *reinterpret_cast<T2*>(line + (i64)(first + j) * step) =
                    convert<T2>(Op::result(found[j]));
    }
}

#if SHAPE == ROWS
// Scans one line per y, walked by the threads along x.
KERNEL_BOUNDS(scan_rows, Scan, 256) {
    SHARED_ARRAY(Acc, shared, 32);
    const INDEX outputs = (INDEX)job.outputs, tile = (INDEX)blockDim.x * ITEMS;
    const INDEX to = (INDEX)job.count;
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
        const INDEX output = first + threadIdx.y;
        const bool live = output < outputs;
        i64 at[2] = {};
        if (live) offsets(job.kept, output, at);
        Acc carry = Op::start();
        for (INDEX base = 0; base < to; base += tile) {
            const INDEX mine = base + threadIdx.x * ITEMS, there = live && mine < to ? to - mine : 0;
            Acc accs[ITEMS];
            read(accs, job.x + at[0], mine, there, job.step);
#pragma unroll
            for (int j = 1; j < ITEMS; j++) accs[j] = Op::join(accs[j - 1], accs[j]);
            Acc all;
            const Acc earlier = scan_group<Op>(accs[ITEMS - 1], shared, all);
            const Acc before = Op::join(carry, earlier);
#pragma unroll
            for (int j = 0; j < ITEMS; j++) accs[j] = Op::join(before, accs[j]);
            write(accs, job.out + at[1], mine, there, job.out_step);
            carry = Op::join(carry, all);
        }
    }
}
#elif SHAPE == TILES
// Each block scans one tile at a time, with look-back over the preceding tiles. Each element is read once.
KERNEL_BOUNDS(scan_tiles, Scan, 256) {
    SHARED_ARRAY(Acc, shared, 32);
    SHARED_ARRAY(Acc, carried, 1);
    SHARED_ARRAY(u64, taken, 1);
    const u64 chunks = job.chunks, tiles = job.outputs * chunks;
    u32* const states = reinterpret_cast<u32*>(job.look_back + 1);
    const LookBack<Acc> look_back = {job.look_back, states, reinterpret_cast<Acc*>(job.totals)};
    const INDEX count = (INDEX)job.count;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) taken[0] = atomicAdd(look_back.next, static_cast<u64>(1));
        __syncthreads();
        const u64 tile = taken[0];
        if (tile >= tiles) return;
        const INDEX output = (INDEX)(tile / chunks);
        const u64 chunk = tile - output * chunks;
        i64 at[2];
        offsets(job.kept, output, at);
        const INDEX mine = (INDEX)(chunk * job.chunk) + threadIdx.x * ITEMS;
        const INDEX there = mine < count ? count - mine : 0;
        Acc accs[ITEMS];
        read(accs, job.x + at[0], mine, there, job.step);
#pragma unroll
        for (int j = 1; j < ITEMS; j++) accs[j] = Op::join(accs[j - 1], accs[j]);
        Acc all;
        const Acc earlier = scan_group<Op>(accs[ITEMS - 1], shared, all);
        if (threadIdx.x < 32) {
            Acc carry = Op::start();
            if (chunk > 0) {
                if (threadIdx.x == 0) look_back.publish(tile, AGGREGATE, all);
                carry = look_back.before<Op>(tile - chunk, tile);
            }
            if (threadIdx.x == 0) {
                look_back.publish(tile, PREFIX, Op::join(carry, all));
                carried[0] = carry;
            }
        }
        __syncthreads();
        const Acc before = Op::join(carried[0], earlier);
#pragma unroll
        for (int j = 0; j < ITEMS; j++) accs[j] = Op::join(before, accs[j]);
        write(accs, job.out + at[1], mine, there, job.out_step);
    }
}
#elif SHAPE == COLUMNS
// Scans one line per thread, or one chunk of a line: the grid's y and the block's y count chunks.
KERNEL_BOUNDS(scan_columns, Scan, 256) {
    constexpr int U = 4;
    const INDEX outputs = (INDEX)job.outputs, chunk = (INDEX)blockIdx.y * blockDim.y + threadIdx.y;
    if (chunk >= (INDEX)job.chunks) return;
    const INDEX from = chunk * (INDEX)job.chunk, to = chunk_end(job, from);
    for (INDEX output = (INDEX)blockIdx.x * blockDim.x + threadIdx.x; output < outputs;
         output += (INDEX)gridDim.x * blockDim.x) {
        i64 at[2];
        offsets(job.kept, output, at);
        Acc carry = Op::start();
        if (PHASE == RESULTS && job.chunks > 1) carry = total(job, output, chunk);
        const auto next = [&](T0 x, INDEX i) {
            carry = Op::join(carry, Op::one(convert<T1>(x)));
            if constexpr (PHASE == RESULTS)
                *reinterpret_cast<T2*>(job.out + at[1] + (i64)i * job.out_step) =
                    convert<T2>(Op::result(carry));
        };
        const auto element = [&](INDEX i) {
            return *reinterpret_cast<const T0*>(job.x + at[0] + (i64)i * job.step);
        };
        INDEX i = from;
        for (; i + U <= to; i += U) {
            T0 xs[U];
#pragma unroll
            for (int u = 0; u < U; u++) xs[u] = element(i + u);
#pragma unroll
            for (int u = 0; u < U; u++) next(xs[u], i + u);
        }
        for (; i < to; i++) next(element(i), i);
        if constexpr (PHASE == TOTALS) total(job, output, chunk) = carry;
    }
}
#else
// Replaces the total of each chunk by its exclusive prefix: lines in y, chunks along x.
KERNEL_BOUNDS(scan_before, Scan, 256) {
    SHARED_ARRAY(Acc, shared, 32);
    const INDEX outputs = (INDEX)job.outputs, chunks = (INDEX)job.chunks;
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
        const INDEX output = first + threadIdx.y;
        const bool live = output < outputs;
        Acc carry = Op::start();
        for (INDEX base = 0; base < chunks; base += blockDim.x) {
            const INDEX chunk = base + threadIdx.x;
            const bool there = live && chunk < chunks;
            Acc all;
            const Acc mine = there ? total(job, output, chunk) : Op::start();
            const Acc earlier = scan_group<Op>(mine, shared, all);
            if (there) total(job, output, chunk) = Op::join(carry, earlier);
            carry = Op::join(carry, all);
        }
    }
}
#endif
