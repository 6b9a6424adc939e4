// A chain of elementwise operators, whose result is contiguous.
//
// The chain comes before this file (chain.cuh). T0 is the dtype of its result, WIDTH the number of
// elements a thread computes at once.
#include "chain.cuh"

struct Fused {
    Chain chain;
    u64 count;
    T0* out;
};

template <int N> DEVICE void store(const Fused& job, INDEX base) {
    *reinterpret_cast<Pack<T0, N>*>(job.out + base) = run<N>(job.chain, base);
}

KERNEL(fused, Fused) {
    const INDEX count = (INDEX)job.count, step = (INDEX)gridDim.x * blockDim.x * WIDTH;
    INDEX base = ((INDEX)blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    for (; base < count; base += step) {
        if (count - base >= WIDTH) store<WIDTH>(job, base);
        else
            for (INDEX i = base; i < count; i++) store<1>(job, i);
    }
}
