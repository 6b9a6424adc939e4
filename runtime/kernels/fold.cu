// Sums columns into planes (col2im): each element of the planes gathers the columns' elements that
// cover it.
//
// Rust defines T and INDEX.
#include "window.cuh"

using A = Sum<T>;

struct FoldArgs {
    const T* x;
    T* out;
    Backward dims[3];
    u64 count, taps, positions;
};

KERNEL(fold, FoldArgs) {
    const Backward &d = job.dims[0], &h = job.dims[1], &w = job.dims[2];
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX plane = i;
        Seen seen[3];
#pragma unroll
        for (int dim = 2; dim >= 0; dim--) {
            INDEX at = job.dims[dim].size.split(plane);
            seen[dim] = job.dims[dim].seen(at + static_cast<INDEX>(job.dims[dim].before));
        }
        const T* from = job.x + static_cast<u64>(plane) * job.taps * job.positions;
        A sum = nothing<A>();
        OFFSET z = seen[0].position;
        INDEX kz = seen[0].tap;
        for (INDEX jz = 0; jz < seen[0].taps; jz++) {
            OFFSET y = seen[1].position;
            INDEX ky = seen[1].tap;
            for (INDEX jy = 0; jy < seen[1].taps; jy++) {
                OFFSET x = seen[2].position;
                INDEX kx = seen[2].tap;
                for (INDEX jx = 0; jx < seen[2].taps; jx++) {
                    if (d.holds(z) && h.holds(y) && w.holds(x)) {
                        INDEX tap = (kz * h.kernel.count() + ky) * w.kernel.count() + kx;
                        INDEX at = (static_cast<INDEX>(z) * h.out.count() + static_cast<INDEX>(y)) *
                                       w.out.count() + static_cast<INDEX>(x);
                        add_to(sum, raised(from[static_cast<u64>(tap) * job.positions + at]));
                    }
                    x -= static_cast<OFFSET>(w.back);
                    kx += w.step.count();
                }
                y -= static_cast<OFFSET>(h.back);
                ky += h.step.count();
            }
            z -= static_cast<OFFSET>(d.back);
            kz += d.step.count();
        }
        job.out[i] = lowered<T>(sum);
    }
}
