// What sorts by random keys, or searches with random numbers: permutations, and places drawn by
// weight. Keys of 64 bits with their places are sorted by both, so that equal keys have an order;
// a network of compared pairs does it, in rows of a power of two.
#include "convert.cuh"
#include "index.cuh"
#include "philox.cuh"

struct Pair {
    u64 key, at;
};

// What no real pair is greater than; in places that hold none.
constexpr u64 NONE = ~static_cast<u64>(0);

struct Args {
    Pair* pairs;
    void* dest;
    const void* weights;
    // Running sums, row by row, and for each row the last place that can be drawn.
    f64* sums;
    i64* last;
    Flag* flag;
    Words words;
    // Rows, how many places each has, and the power of two that they are filled up to.
    u64 rows, places, width;
    // How many are drawn from a row, or how many elements are written.
    u64 samples;
    // The stage of the network: the length of what becomes sorted, and the distance of a pair.
    u64 length, distance;
    // The weights' float dtype, or the result's dtype, by number.
    u32 kind, record;
};

DEVICE u64 first_index() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE u64 all_threads() { return static_cast<u64>(gridDim.x) * blockDim.x; }

DEVICE bool after(const Pair& a, const Pair& b) {
    return a.key > b.key || (a.key == b.key && a.at > b.at);
}

DEVICE void exchange(Pair& a, Pair& b, bool up) {
    if (after(a, b) == up) {
        Pair kept = a;
        a = b;
        b = kept;
    }
}

// A thread sorts two pairs of a tile.
constexpr u32 TILE = 1024;

// One stage in shared memory: the pair that a thread has at a distance, both of the tile.
DEVICE void stage(Pair* tile, u64 base, u64 width, u64 length, u32 distance) {
    u32 t = threadIdx.x, low = 2 * t - (t & (distance - 1));
    u64 local = (base + low) & (width - 1);
    exchange(tile[low], tile[low + distance], (local & length) == 0);
    __syncthreads();
}

DEVICE void load_tile(const Args& job, Pair* tile, u64 base, u64 total) {
    for (u32 i = threadIdx.x; i < TILE; i += TILE / 2)
        tile[i] = base + i < total ? job.pairs[base + i] : Pair{NONE, NONE};
    __syncthreads();
}

DEVICE void store_tile(const Args& job, const Pair* tile, u64 base, u64 total) {
    for (u32 i = threadIdx.x; i < TILE; i += TILE / 2)
        if (base + i < total) job.pairs[base + i] = tile[i];
    __syncthreads();
}

// Sorts within tiles, as far as one reaches.
KERNEL_BOUNDS(sort_tiles, Args, 512) {
    SHARED_ARRAY(Pair, tile, TILE);
    u64 total = job.rows * job.width;
    for (u64 base = static_cast<u64>(blockIdx.x) * TILE; base < total;
         base += static_cast<u64>(gridDim.x) * TILE) {
        load_tile(job, tile, base, total);
        for (u32 length = 2; length <= TILE && length <= job.width; length *= 2)
            for (u32 distance = length / 2; distance > 0; distance /= 2)
                stage(tile, base, job.width, length == job.width ? 0 : length, distance);
        store_tile(job, tile, base, total);
    }
}

// The stages of one length whose distances lie within a tile.
KERNEL_BOUNDS(merge_tiles, Args, 512) {
    SHARED_ARRAY(Pair, tile, TILE);
    u64 total = job.rows * job.width;
    for (u64 base = static_cast<u64>(blockIdx.x) * TILE; base < total;
         base += static_cast<u64>(gridDim.x) * TILE) {
        load_tile(job, tile, base, total);
        for (u32 distance = TILE / 2; distance > 0; distance /= 2)
            stage(tile, base, job.width, job.length == job.width ? 0 : job.length, distance);
        store_tile(job, tile, base, total);
    }
}

// One stage of a distance beyond a tile.
KERNEL_BOUNDS(merge_far, Args, 256) {
    u64 half = job.rows * job.width / 2, distance = job.distance;
    u64 length = job.length == job.width ? 0 : job.length;
    for (u64 t = first_index(); t < half; t += all_threads()) {
        u64 low = 2 * t - (t & (distance - 1));
        Pair a = job.pairs[low], b = job.pairs[low + distance];
        bool up = ((low & (job.width - 1)) & length) == 0;
        if (after(a, b) == up) {
            job.pairs[low] = b;
            job.pairs[low + distance] = a;
        }
    }
}

// The keys of a permutation: 64 random bits each.
KERNEL_BOUNDS(keys, Args, 256) {
    for (u64 i = first_index(); i < job.width; i += all_threads())
        job.pairs[i] = i < job.places ? Pair{bits_of(job.words, i), i} : Pair{NONE, NONE};
}

// The places in the order of their keys, as numbers of a dtype.
KERNEL_BOUNDS(numbers, Args, 256) {
    for (u64 i = first_index(); i < job.samples; i += all_threads()) {
        i64 at = static_cast<i64>(job.pairs[i].at);
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

// Waiting times at the weights' rates, as keys in the order of the times.
KERNEL_BOUNDS(times, Args, 256) {
    u64 total = job.rows * job.width;
    for (u64 i = first_index(); i < total; i += all_threads()) {
        u64 row = i / job.width, place = i & (job.width - 1);
        Pair pair = {NONE, NONE};
        if (place < job.places) {
            u64 element = row * job.places + place;
            f64 weight = weight_of(job, element);
            if (!valid(weight)) raise(job.flag, static_cast<i64>(row), job.record);
            if (weight > 0.0 && valid(weight)) {
                Exact<f64> time = -natural_log(unit_of(job.words, element)) / Exact<f64>(weight);
                u64 bits = static_cast<u64>(__double_as_longlong(time.value));
                u64 top = static_cast<u64>(1) << 63;
                pair = {bits & top ? ~bits : bits | top, place};
            }
        }
        job.pairs[i] = pair;
    }
}

// The first ones come out, in their order.
KERNEL_BOUNDS(firsts, Args, 256) {
    u64 total = job.rows * job.samples;
    for (u64 i = first_index(); i < total; i += all_threads()) {
        u64 row = i / job.samples, sample = i - row * job.samples;
        Pair pair = job.pairs[row * job.width + sample];
        bool there = pair.at != NONE;
        if (!there) raise(job.flag, static_cast<i64>(row), job.record);
        static_cast<i64*>(job.dest)[i] = there ? static_cast<i64>(pair.at) : 0;
    }
}

// Running sums of a row, added one after the other, as the host does: other orders round otherwise. A
// block loads and stores what one thread of it adds, several at a time, so that it waits for sums alone.
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
                // Behind the last place stand zeros.
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

// Draws with replacement, by searching in the running sums.
KERNEL_BOUNDS(search, Args, 256) {
    u64 total = job.rows * job.samples;
    for (u64 i = first_index(); i < total; i += all_threads()) {
        u64 row = i / job.samples;
        const f64* sums = job.sums + row * job.places;
        i64 last = job.last[row];
        // Below the total, save for rounding.
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
