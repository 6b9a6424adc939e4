// Copies the elements under each window position into columns (im2col).
//
// Rust defines T and INDEX. Elements are copied as unsigned integers of their size.
#include "window.cuh"

struct ColumnsArgs {
    const T* x;
    T* out;
    Sliding windows[3];
    // The number of threads with work.
    u64 count;
    Size positions;
    // The elements of a plane.
    u64 elements;
};

// Each thread copies the elements of one kernel row at one position.
KERNEL(columns, ColumnsArgs) {
    const Sliding &d = job.windows[0], &h = job.windows[1], &w = job.windows[2];
    INDEX positions = job.positions.count(), taps = w.kernel.count();
    for (INDEX i = thread_of_grid(); i < static_cast<INDEX>(job.count); i += threads_of_grid()) {
        INDEX row = i, position = job.positions.split(row), at = position;
        INDEX plane = row, ky = h.kernel.split(plane), kz = d.kernel.split(plane);
        OFFSET x = w.first(w.out.split(at)), y = h.first(h.out.split(at)), z = d.first(at);
        z += static_cast<OFFSET>(kz) * d.step();
        y += static_cast<OFFSET>(ky) * h.step();
        bool within = d.holds(z) && h.holds(y);
        INDEX line = (static_cast<INDEX>(z) * static_cast<INDEX>(h.size) + static_cast<INDEX>(y)) *
                     static_cast<INDEX>(w.size);
        const T* from = job.x + static_cast<u64>(plane) * job.elements;
        T* to = job.out + static_cast<u64>(row) * taps * positions + position;
        for (INDEX kx = 0; kx < taps; kx++, x += w.step(), to += positions) {
            T value = {};
            if (within && w.holds(x)) value = from[line + static_cast<INDEX>(x)];
            *to = value;
        }
    }
}
