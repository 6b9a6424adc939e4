// Random permutations and weighted sampling, by sorting random keys or by searching with random numbers. Keys of 64
// bits are sorted by sort.cu and topk.cu, which are stable.
#include "convert.cuh"
#include "index.cuh"
#include "philox.cuh"

// Keys are sorted as signed numbers.
constexpr u64 SIGN = static_cast<u64>(1) << 63;
// The largest key: that of a position that cannot be drawn.
constexpr u64 NONE = ~SIGN;

struct Args {
    // The key of each position, row by row, and the positions in the order of their keys.
    u64* keys;
    const i64* order;
    void* dest;
    const void* weights;
    // Running sums, row by row, and for each row the last position that can be drawn.
    f64* sums;
    i64* last;
    Flag* flag;
    Words words;
    // The number of rows, and of positions per row.
    u64 rows, places;
    // The number of draws per row, or of elements to write.
    u64 samples;
    // The number of the weights' float dtype, or of the result's dtype.
    u32 kind, record;
};

DEVICE u64 first_index() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE u64 all_threads() { return static_cast<u64>(gridDim.x) * blockDim.x; }

// Computes the keys of a permutation: 64 random bits each.
KERNEL_BOUNDS(keys, Args, 256) {
    for (u64 i = first_index(); i < job.places; i += all_threads())
        job.keys[i] = bits_of(job.words, i) ^ SIGN;
}

// Writes the positions in the order of their keys, converted to a dtype.
KERNEL_BOUNDS(numbers, Args, 256) {
    for (u64 i = first_index(); i < job.samples; i += all_threads()) {
        i64 at = job.order[i];
        switch (job.kind) {
        case 0: static_cast<u8*>(job.dest)[i] = convert<u8>(at); break;
        case 1: static_cast<i8*>(job.dest)[i] = convert<i8>(at); break;
        case 2: static_cast<i16*>(job.dest)[i] = convert<i16>(at); break;
        case 3: static_cast<i32*>(job.dest)[i] = convert<i32>(at); break;
        case 4: static_cast<i64*>(job.dest)[i] = at; break;
        case 5: static_cast<f16*>(job.dest)[i] = convert<f16>(at); break;
        case 6: static_cast<bf16*>(job.dest)[i] = convert<bf16>(at); break;
        case 7: static_cast<f32*>(job.dest)[i] = convert<f32>(at); break;
        default: static_cast<f64*>(job.dest)[i] = convert<f64>(at);
        }
    }
}

DEVICE f64 weight_of(const Args& job, u64 i) {
    switch (job.kind) {
    case 0: return widen(static_cast<const f16*>(job.weights)[i]);
    case 1: return widen(static_cast<const bf16*>(job.weights)[i]);
    case 2: return static_cast<const f32*>(job.weights)[i];
    default: return static_cast<const f64*>(job.weights)[i];
    }
}

DEVICE bool valid(f64 weight) { return weight >= 0.0 && weight < infinity<f64>(); }

// Draws exponential waiting times at the weights' rates, as keys of the same order.
KERNEL_BOUNDS(times, Args, 256) {
    u64 total = job.rows * job.places;
    for (u64 i = first_index(); i < total; i += all_threads()) {
        f64 weight = weight_of(job, i);
        if (!valid(weight)) raise(job.flag, static_cast<i64>(i / job.places), job.record);
        u64 key = NONE;
        if (weight > 0.0 && valid(weight)) {
            Exact<f64> time = -natural_log(unit_of(job.words, i)) / Exact<f64>(weight);
            u64 bits = static_cast<u64>(__double_as_longlong(time.value));
            key = bits & SIGN ? bits ^ NONE : bits;
        }
        job.keys[i] = key;
    }
}

// Writes the first positions, in order.
KERNEL_BOUNDS(firsts, Args, 256) {
    u64 total = job.rows * job.samples;
    for (u64 i = first_index(); i < total; i += all_threads()) {
        u64 row = i / job.samples;
        i64 place = job.order[i];
        bool there = job.keys[row * job.places + static_cast<u64>(place)] != NONE;
        if (!there) raise(job.flag, static_cast<i64>(row), job.record);
        static_cast<i64*>(job.dest)[i] = there ? place : 0;
    }
}

// Computes the running sums of a row, added sequentially like on the host: other orders round differently. The block
// loads and stores while one thread adds, several at a time, so that it waits only for sums.
KERNEL_BOUNDS(running_sums, Args, 256) {
    SHARED_ARRAY(f64, part, 256);
    SHARED_ARRAY(i64, lasts, 256);
    u32 t = threadIdx.x;
    for (u64 row = blockIdx.x; row < job.rows; row += gridDim.x) {
        f64 total = 0.0;
        lasts[t] = -1;
        for (u64 start = 0; start < job.places; start += 256) {
            u64 place = start + t;
            f64 weight = place < job.places ? weight_of(job, row * job.places + place) : 0.0;
            if (!valid(weight)) raise(job.flag, static_cast<i64>(row), job.record);
            if (weight > 0.0) lasts[t] = static_cast<i64>(place);
            part[t] = weight;
            __syncthreads();
            if (t == 0) {
                // After the last position there are zeros.
                for (u32 k = 0; k < 256; k += 8) {
                    f64 ones[8];
#pragma unroll
                    for (u32 i = 0; i < 8; i++) ones[i] = part[k + i];
#pragma unroll
                    for (u32 i = 0; i < 8; i++) {
                        total += ones[i];
                        ones[i] = total;
                    }
#pragma unroll
                    for (u32 i = 0; i < 8; i++) part[k + i] = ones[i];
                }
            }
            __syncthreads();
            if (place < job.places) job.sums[row * job.places + place] = part[t];
            __syncthreads();
        }
        if (t == 0) {
            i64 last = -1;
            for (u32 i = 0; i < 256; i++) last = lasts[i] > last ? lasts[i] : last;
            job.last[row] = last;
            if (last < 0) raise(job.flag, static_cast<i64>(row), job.record);
        }
        __syncthreads();
    }
}

// Draws with replacement, by binary search in the running sums.
KERNEL_BOUNDS(search, Args, 256) {
    u64 total = job.rows * job.samples;
    for (u64 i = first_index(); i < total; i += all_threads()) {
        u64 row = i / job.samples;
        const f64* sums = job.sums + row * job.places;
        i64 last = job.last[row];
        // Below the total, except for rounding.
        Exact<f64> share = Exact<f64>(1.0) - unit_of(job.words, i);
        f64 place = (share * Exact<f64>(sums[job.places - 1])).value;
        u64 low = 0, high = job.places;
        while (low < high) {
            u64 middle = low + (high - low) / 2;
            if (sums[middle] <= place) low = middle + 1;
            else high = middle;
        }
        i64 found = static_cast<i64>(low) < last ? static_cast<i64>(low) : last;
        static_cast<i64*>(job.dest)[i] = found < 0 ? 0 : found;
    }
}
