// Scatters elements to their indices in planes of zeros.
//
// Rust defines T, an unsigned integer of the elements' size, and INDEX.
#include "window.cuh"

struct UnpoolArgs {
    const T* x;
    const i64* indices;
    T* out;
    Flag* flag;
    u64 count;
    // The elements of a plane of the result.
    i64 room;
    Size plane;
    u32 record, pad;
};

KERNEL(unpool, UnpoolArgs) {
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX plane = job.plane.quotient(i);
        i64 index = job.indices[i];
        if (static_cast<u64>(index) < static_cast<u64>(job.room))
            job.out[static_cast<i64>(plane) * job.room + index] = job.x[i];
        else
            raise(job.flag, index, job.record);
    }
}
