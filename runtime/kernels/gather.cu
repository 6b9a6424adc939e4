// Elements gathered by an index, and elements picked dim by dim. ELEMENT is a type with the size of an element, or of a
// few adjacent elements that are copied together.
#include "index.cuh"

constexpr u32 THREADS = 256;
// The number of a thread's elements loaded at once: first all indices are loaded, then all elements they name.
constexpr u32 AHEAD = 4;

struct Pick {
    // The operand, the result, and the index.
    const ELEMENT* target;
    ELEMENT* other;
    const i64* index;
    u64 count;
    // The operand's stride along the indexed dim, in bytes.
    i64 step;
    // The size of the indexed dim, if the index must be checked.
    i64 size;
    Flag* flag;
    u32 record;
    // 0 if the index is known to be in range, 1 if negative ones count from the end, 2 if they are out of range.
    u32 check;
    Strided<3> places;
};

DEVICE bool in_range(i64& index, i64 size, u32 check, Flag* flag, u32 record) {
    if (check == 0) return true;
    i64 found = check == 1 && index < 0 ? index + size : index;
    if (static_cast<u64>(found) >= static_cast<u64>(size)) {
        raise(flag, index, record);
        return false;
    }
    index = found;
    return true;
}

KERNEL_BOUNDS(pick, Pick, 256) {
    const INDEX count = static_cast<INDEX>(job.count), step = static_cast<INDEX>(gridDim.x) * (THREADS * AHEAD);
    for (INDEX first = blockIdx.x * static_cast<INDEX>(THREADS * AHEAD) + threadIdx.x; first < count; first += step) {
        i64 from[AHEAD], to[AHEAD], places[AHEAD], index[AHEAD];
        bool good[AHEAD];
        ELEMENT value[AHEAD];
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            i64 at[3];
            offsets(job.places, first + u * THREADS, at);
            from[u] = at[0], to[u] = at[1], places[u] = at[2];
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            index[u] = 0;
            if (first + u * THREADS < count) index[u] = *at_byte(job.index, places[u]);
        }
        // A dim without elements has no position to fall back to.
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++)
            good[u] = first + u * THREADS < count &&
                      in_range(index[u], job.size, job.check, job.flag, job.record);
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            value[u] = {};
            if (good[u]) value[u] = *at_byte(job.target, from[u] + index[u] * job.step);
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++)
            if (first + u * THREADS < count) *at_byte(job.other, to[u]) = value[u];
    }
}

// An index normalized for use: checked, and less its lower bound.
struct Bound {
    const i64* index;
    // One of the two is set: the requested index, with 0 for values out of range; or keys to sort, in which they become
    // `beyond`.
    i64* out;
    u32* keys;
    u64 count;
    i64 size, low, beyond;
    Flag* flag;
    u32 record, check;
    Strided<1> places;
};

KERNEL_BOUNDS(bound, Bound, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        i64 at[1];
        offsets(job.places, i, at);
        i64 index = *at_byte(job.index, at[0]);
        bool good = in_range(index, job.size, job.check, job.flag, job.record);
        i64 found = good ? index - job.low : job.beyond;
        if (job.keys != nullptr)
            job.keys[i] = static_cast<u32>(found);
        else
            job.out[i] = found;
    }
}

// Elements picked dim by dim, innermost first; the result is contiguous.
struct Spread {
    const ELEMENT* x;
    ELEMENT* out;
    u64 count;
    // For each dim, the input index of each output index, negative for `value`; or null for the identity.
    const i64* maps[8];
    // The steps are those of the input.
    Strided<1> places;
    alignas(16) ELEMENT value;
};

KERNEL_BOUNDS(spread, Spread, 256) {
    const INDEX count = static_cast<INDEX>(job.count), step = static_cast<INDEX>(gridDim.x) * (THREADS * AHEAD);
    for (INDEX first = blockIdx.x * static_cast<INDEX>(THREADS * AHEAD) + threadIdx.x; first < count; first += step) {
        INDEX left[AHEAD];
        i64 offset[AHEAD];
        bool there[AHEAD];
        ELEMENT value[AHEAD];
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            left[u] = first + u * THREADS;
            there[u] = left[u] < count;
            // Threads past the end read the maps' first entries.
            if (!there[u]) left[u] = 0;
            offset[u] = 0;
        }
#pragma unroll
        for (int dim = 0; dim < 8; dim++) {
            if (dim >= static_cast<int>(job.places.rank)) break;
            i64 at[AHEAD];
#pragma unroll
            for (u32 u = 0; u < AHEAD; u++) at[u] = split(job.places, left[u], dim);
            if (job.maps[dim] != nullptr)
#pragma unroll
                for (u32 u = 0; u < AHEAD; u++) at[u] = job.maps[dim][at[u]];
#pragma unroll
            for (u32 u = 0; u < AHEAD; u++) {
                there[u] = there[u] && at[u] >= 0;
                offset[u] += at[u] * job.places.steps[0][dim];
            }
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++) {
            value[u] = job.value;
            if (there[u]) value[u] = *at_byte(job.x, offset[u]);
        }
#pragma unroll
        for (u32 u = 0; u < AHEAD; u++)
            if (first + u * THREADS < count) job.out[first + u * THREADS] = value[u];
    }
}
