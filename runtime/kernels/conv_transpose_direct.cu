// Transposed convolution element by element, if there are too few channels for a matrix product.
//
// Rust defines T and INDEX.
#include "window.cuh"

using A = Sum<T>;
using W = Compute<T>;

struct TransposedDirect {
    const T* x;
    // Dims: channels, output channels of a group, taps.
    const W* weight;
    const W* bias;
    // Row-major: batch, output channels, elements.
    T* out;
    // Strides in elements of batch, channels, spatial dims.
    i64 x_strides[5];
    Backward dims[3];
    u64 count, channels, taps;
    Size outs, groups;
};

KERNEL(transposed_direct, TransposedDirect) {
    INDEX channels = static_cast<INDEX>(job.channels), outs = job.outs.count();
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX batch = i;
        Seen seen[3];
#pragma unroll
        for (int dim = 2; dim >= 0; dim--) {
            INDEX at = job.dims[dim].size.split(batch);
            seen[dim] = job.dims[dim].seen(at + static_cast<INDEX>(job.dims[dim].before));
        }
        INDEX out = job.outs.split(batch), group = job.groups.split(batch);
        A sum = job.bias ? static_cast<A>(job.bias[group * outs + out]) : nothing<A>();
        for (INDEX c = 0; c < channels; c++) {
            INDEX channel = group * channels + c;
            INDEX plane = batch * static_cast<INDEX>(job.x_strides[0]) +
                          channel * static_cast<INDEX>(job.x_strides[1]);
            const W* weight = job.weight + (static_cast<u64>(channel) * outs + out) * job.taps;
            OFFSET z = seen[0].position;
            INDEX kz = seen[0].tap;
            for (INDEX jz = 0; jz < seen[0].taps; jz++) {
                OFFSET y = seen[1].position;
                INDEX ky = seen[1].tap;
                for (INDEX jy = 0; jy < seen[1].taps; jy++) {
                    OFFSET x = seen[2].position;
                    INDEX kx = seen[2].tap;
                    for (INDEX jx = 0; jx < seen[2].taps; jx++) {
                        if (job.dims[0].holds(z) && job.dims[1].holds(y) && job.dims[2].holds(x)) {
                            INDEX tap = (kz * job.dims[1].kernel.count() + ky) * job.dims[2].kernel.count() + kx;
                            INDEX from = plane + static_cast<INDEX>(z) * static_cast<INDEX>(job.x_strides[2]) +
                                         static_cast<INDEX>(y) * static_cast<INDEX>(job.x_strides[3]) +
                                         static_cast<INDEX>(x) * static_cast<INDEX>(job.x_strides[4]);
                            add_product(sum, static_cast<A>(weight[tap]), raised(job.x[static_cast<OFFSET>(from)]));
                        }
                        x -= static_cast<OFFSET>(job.dims[2].back);
                        kx += job.dims[2].step.count();
                    }
                    y -= static_cast<OFFSET>(job.dims[1].back);
                    ky += job.dims[1].step.count();
                }
                z -= static_cast<OFFSET>(job.dims[0].back);
                kz += job.dims[0].step.count();
            }
        }
        job.out[i] = lowered<T>(sum);
    }
}
