// Reductions of dims.
//
// T0 is the dtype of elements, T1 the one they are converted to, T2 the dtype of the result; OP is the reduction
// (reduce.cuh), SHAPE the layout of lines, and PACK the number of elements read at once. After a chain (chain.cuh), the
// elements are its results, which are never stored.
#define FINISHES
#include "lines.cuh"
#include "reduce.cuh"

#define ROWS 0
#define COLUMNS 1
#define CHUNKS 2

struct Reduce {
    Lines<2> lines;
    T2* values;
    i64* positions;
    f64 number;
    u32 chunks;
    u32 flag;
#ifdef MADE
    Chain chain;
#endif
};

struct Op : OP<T1> {
    // Offsets of results are in elements.
    static DEVICE void finish(const State& state, const i64 (&at)[2], const Reduce& job) {
        if (job.values) job.values[at[1]] = convert<T2>(value(state, job));
        place(state, job.positions + at[1]);
    }
};

#if SHAPE == ROWS
#ifdef MADE
// Enough registers to load several packs of all operands before the first is computed.
KERNEL_ROOMY(reduce_rows, Reduce, 256) {
#else
KERNEL_BOUNDS(reduce_rows, Reduce, 256) {
#endif
    rows<Op, PACK, FINISH, 2>(job);
    finish_chunks<Op, 2>(job);
}
#elif SHAPE == COLUMNS
KERNEL_BOUNDS(reduce_columns, Reduce, 256) { columns<Op, PACK, FINISH, 2>(job); }
#else
KERNEL_BOUNDS(reduce_chunks, Reduce, 256) { chunks<Op, 2>(job, job.chunks); }
#endif
