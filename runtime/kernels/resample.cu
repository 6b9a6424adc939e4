// Resizes planes: each element is a weighted sum of a few elements along each dim.
//
// Rust defines T, INDEX, RANK (the number of dims) and EACH, the taps of a dim: 2 for linear, 4 for
// cubic interpolation.
#include "window.cuh"

using C = Compute<T>;

// One dim to be resized.
struct Resized {
    u64 size;
    // The distance of adjacent result elements, in input elements.
    f64 scale;
    // Whether the corner elements are aligned instead of the edges.
    u64 corners;
    Size out;
};

struct ResampleArgs {
    const T* x;
    T* out;
    // The index and weight of each tap, for each dim and each of its elements.
    INDEX* index;
    C* weight;
    Resized dims[3];
    u64 count;
};

// Keys' cubic kernel with a = -0.75, for distances up to one and from one to two.
DEVICE f64 near_spline(f64 x) { return ((-0.75 + 2.0) * x - (-0.75 + 3.0)) * x * x + 1.0; }
DEVICE f64 far_spline(f64 x) { return ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0; }

KERNEL(resample_taps, ResampleArgs) {
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX at = i;
        int dim = 0;
        while (at >= job.dims[dim].out.count()) at -= job.dims[dim++].out.count();
        const Resized& to = job.dims[dim];
        OFFSET last = static_cast<OFFSET>(to.size) - 1;
        f64 place = to.corners ? to.scale * static_cast<f64>(at) : to.scale * (static_cast<f64>(at) + 0.5) - 0.5;
        OFFSET first;
        f64 weight[EACH];
#if EACH == 2
        if (place < 0.0) place = 0.0;
        first = place < static_cast<f64>(last) ? static_cast<OFFSET>(place) : last;
        f64 part = place - static_cast<f64>(first);
        part = part < 1.0 ? part : 1.0;
        weight[0] = 1.0 - part, weight[1] = part;
#else
        f64 whole = ::floor(place), part = place - whole;
        // Far outside, all taps are an edge element.
        whole = whole < -2.0 ? -2.0 : whole > static_cast<f64>(last) + 2.0 ? static_cast<f64>(last) + 2.0 : whole;
        first = static_cast<OFFSET>(whole) - 1;
        weight[0] = far_spline(part + 1.0), weight[1] = near_spline(part);
        weight[2] = near_spline(1.0 - part), weight[3] = far_spline(2.0 - part);
#endif
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            // At equal sizes, linear interpolation uses no neighbour.
            OFFSET tap = EACH == 2 && to.size == to.out.count() ? first : first + k;
            tap = tap < 0 ? 0 : tap > last ? last : tap;
            job.index[i * EACH + k] = static_cast<INDEX>(tap);
            job.weight[i * EACH + k] = static_cast<C>(weight[k]);
        }
    }
}

// Returns the weighted sum along the dims from `DIM` on.
template <int DIM>
DEVICE C along(const T* from, const Pack<INDEX, EACH> (&index)[RANK], const Pack<C, EACH> (&weight)[RANK],
               const ResampleArgs& job, INDEX line) {
    C sum = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        INDEX at = line * static_cast<INDEX>(job.dims[DIM].size) + index[DIM][k];
        C value;
        if constexpr (DIM + 1 < RANK) value = along<DIM + 1>(from, index, weight, job, at);
        else value = widen(from[at]);
        // A tap of weight zero may be infinite.
        if (weight[DIM][k] != 0) sum += weight[DIM][k] * value;
    }
    return sum;
}

KERNEL(resample, ResampleArgs) {
    u64 plane_size = 1;
#pragma unroll
    for (int dim = 0; dim < RANK; dim++) plane_size *= job.dims[dim].size;
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX plane = i, start[RANK], before = 0;
#pragma unroll
        for (int dim = RANK - 1; dim >= 0; dim--) start[dim] = job.dims[dim].out.split(plane);
        Pack<INDEX, EACH> index[RANK];
        Pack<C, EACH> weight[RANK];
#pragma unroll
        for (int dim = 0; dim < RANK; dim++) {
            INDEX row = before + start[dim];
            index[dim] = reinterpret_cast<const Pack<INDEX, EACH>*>(job.index)[row];
            weight[dim] = reinterpret_cast<const Pack<C, EACH>*>(job.weight)[row];
            before += job.dims[dim].out.count();
        }
        C value = along<0>(job.x + plane * plane_size, index, weight, job, INDEX(0));
        job.out[i] = narrow<T>(value);
    }
}
