// Convolution element by element, if there are too few channels for a matrix product.
//
// Rust defines T, INDEX and OUTS: the number of output channels that a thread computes from the
// elements it reads.
#include "window.cuh"

using A = Sum<T>;
using W = Compute<T>;

struct ConvDirect {
    const T* x;
    const W* weight;
    const W* bias;
    T* out;
    // Strides in elements: of the input over batch, channels and spatial dims; of the output over
    // batch, channels and positions.
    i64 x_strides[5], out_strides[3];
    // Strides of channels and taps.
    u64 weight_strides[2];
    Sliding windows[3];
    // The number of threads with work.
    u64 count;
    u64 channels, outs, depth;
    // The number of threads that share a group's output channels.
    Size blocks;
    Size positions, groups;
    // Whether channels are innermost in the result.
    u64 last;
};

KERNEL(conv_direct, ConvDirect) {
    const Sliding &d = job.windows[0], &h = job.windows[1], &w = job.windows[2];
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX batch = i, at, block, group;
        if (job.last) {
            block = job.blocks.split(batch);
            group = job.groups.split(batch);
            at = job.positions.split(batch);
        } else {
            at = job.positions.split(batch);
            block = job.blocks.split(batch);
            group = job.groups.split(batch);
        }
        INDEX outs = static_cast<INDEX>(job.outs), channels = static_cast<INDEX>(job.channels);
        INDEX first = block * OUTS, out = group * outs + first;
        INDEX to = batch * static_cast<INDEX>(job.out_strides[0]) +
                   out * static_cast<INDEX>(job.out_strides[1]) + at * static_cast<INDEX>(job.out_strides[2]);
        OFFSET ox = w.first(w.out.split(at)), oy = h.first(h.out.split(at)), oz = d.first(at);
        INDEX plane = batch * static_cast<INDEX>(job.x_strides[0]) +
                      group * channels * static_cast<INDEX>(job.x_strides[1]);
        const W* weight = job.weight + static_cast<u64>(out) * job.depth;
        A sum[OUTS];
#pragma unroll
        for (int o = 0; o < OUTS; o++) {
            bool has = job.bias && first + o < outs;
            sum[o] = has ? static_cast<A>(job.bias[out + o]) : nothing<A>();
        }
        for (INDEX c = 0; c < channels; c++) {
            const W* tap = weight + c * job.weight_strides[0];
            OFFSET z = oz;
            for (INDEX kz = 0; kz < d.kernel.count(); kz++, z += d.step()) {
                OFFSET y = oy;
                for (INDEX ky = 0; ky < h.kernel.count(); ky++, y += h.step()) {
                    if (!d.holds(z) || !h.holds(y)) {
                        tap += w.kernel.size * job.weight_strides[1];
                        continue;
                    }
                    INDEX line = plane + static_cast<INDEX>(z) * static_cast<INDEX>(job.x_strides[2]) +
                                 static_cast<INDEX>(y) * static_cast<INDEX>(job.x_strides[3]);
                    OFFSET x = ox;
                    for (INDEX kx = 0; kx < w.kernel.count(); kx++, x += w.step()) {
                        if (w.holds(x)) {
                            INDEX from = line + static_cast<INDEX>(x) * static_cast<INDEX>(job.x_strides[4]);
                            A value = raised(job.x[static_cast<OFFSET>(from)]);
#pragma unroll
                            for (int o = 0; o < OUTS; o++)
                                if (first + o < outs)
                                    add_product(sum[o], static_cast<A>(tap[o * job.depth]), value);
                        }
                        tap += job.weight_strides[1];
                    }
                }
            }
            plane += static_cast<INDEX>(job.x_strides[1]);
        }
#pragma unroll
        for (int o = 0; o < OUTS; o++)
            if (first + o < outs)
                job.out[static_cast<OFFSET>(to + o * static_cast<INDEX>(job.out_strides[1]))] = lowered<T>(sum[o]);
    }
}
