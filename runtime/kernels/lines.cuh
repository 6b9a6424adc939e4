// Reduction of lines of elements to one state each, for every memory layout.
//
// A line holds the elements of one output; `along` walks it and `kept` steps from line to line. The operation on the
// elements is an `Op`:
//
//     X, State                     the type elements are converted to, and the accumulator
//     start(job)                   the state of an empty line
//     take(state, xs, at, job)     accumulates elements; element j has position at[j]
//     merge(state, other)          merges another state into this one
//     finish(state, at, job)       writes the result of a line: FINISH
//     numbers(state, job)          numbers computed once per line for its elements: FUSED, WRITE
//     note(numbers, at, job)       called once for each line
//     written(x, numbers), put     computes an element of the result, and stores it
//     missing(), hold(xs, job)     reduces all elements of a line, held in registers: `held`
//
// A file that includes this one defines T0, the dtype of the operand, INDEX, and PLAIN: whether the elements of a line
// have one stride.
#ifndef NOMINA_LINES_CUH
#define NOMINA_LINES_CUH

#include "convert.cuh"
#include "group.cuh"
#include "index.cuh"

template <int N> struct Lines {
    const char* x;
    // The states of lines that are cut into chunks: first those of every line's first chunk, then the next.
    char* states;
    u64 outputs, count, chunk;
    Strided<N> kept, along;
};

// Use of a line's state in a kernel.
enum Phase {
    FINISH, // pass it to `finish`, or store it if the line has several chunks
    STATES, // store it
    FUSED,  // write the line
    WRITE,  // write one chunk of the line, from the stored states of all its chunks
};

// The positions of elements that are read in packs of V.
template <int V> struct At {
    INDEX first, jump;
    DEVICE INDEX operator[](int j) const { return first + (INDEX)(j / V) * jump + (INDEX)(j % V); }
};

// The number of packs loaded before the first is accumulated: enough to keep memory busy, fewer if each address has to
// be computed.
template <int V> constexpr int AHEAD = V >= 16 ? 1 : V == 8 || !PLAIN || sizeof(T0) >= 8 ? 2 : 4;

#ifndef MADE
template <int V, class Job> DEVICE Pack<T0, V> load(const Job&, const char* from) {
    return *reinterpret_cast<const Pack<T0, V>*>(from);
}
#else
// Computes the elements with a chain instead of loading them (chain.cuh). The operand has no memory: its addresses are
// offsets from 0.
template <int V, class Job> DEVICE Pack<T0, V> load(const Job& job, const char* from) {
    const PLACE base = (PLACE)(reinterpret_cast<u64>(from) / sizeof(T0));
    constexpr int N = V < WIDTH ? V : WIDTH;
    Pack<T0, V> out;
#pragma unroll
    for (int k = 0; k < V; k += N) {
        const Pack<T0, N> part = run<N>(job.chain, base + k);
#pragma unroll
        for (int j = 0; j < N; j++) out[k + j] = part[j];
    }
    return out;
}
#endif

// Computes the offsets of element `i` of a line from the line's start.
template <int N> DEVICE void along(const Strided<N>& along, INDEX i, i64 (&at)[N]) {
    if constexpr (PLAIN) {
#pragma unroll
        for (int n = 0; n < N; n++) at[n] = (i64)i * along.steps[n][0];
    } else {
        offsets(along, i, at);
    }
}

template <int N> DEVICE const char* element(const Lines<N>& lines, const char* line, INDEX i) {
    i64 at[N];
    along(lines.along, i, at);
    return line + at[0];
}

// Like `element`, but for a pack of V. If V > 1 and PLAIN, the elements are adjacent.
template <int V, int N> DEVICE const char* pack_at(const Lines<N>& lines, const char* line, INDEX i) {
    if constexpr (V > 1 && PLAIN) return line + (u64)i * sizeof(T0);
    else return element(lines, line, i);
}

// Returns the end of a chunk.
template <class Job> DEVICE INDEX chunk_end(const Job& job, INDEX from) {
    const INDEX count = (INDEX)job.lines.count, chunk = (INDEX)job.lines.chunk;
    return count - from < chunk ? count : from + chunk;
}

template <class Op, class Job> DEVICE typename Op::State* stored(const Job& job) {
    return reinterpret_cast<typename Op::State*>(job.lines.states);
}

template <class Op, Phase PHASE, class State, int N, class Job>
DEVICE void deliver(const State& state, const i64 (&at)[N], INDEX output, const Job& job) {
    if constexpr (PHASE == FINISH) {
        if (gridDim.y == 1) {
            Op::finish(state, at, job);
            return;
        }
    }
    stored<Op>(job)[(INDEX)blockIdx.y * (INDEX)job.lines.outputs + output] = state;
}

// Accumulates `U` packs, `jump` elements apart.
template <class Op, int V, int U, class State, class Job>
DEVICE void take_packs(State& state, const char* line, INDEX first, INDEX jump, const Job& job) {
    T0 read[U * V];
#pragma unroll
    for (int u = 0; u < U; u++) {
        const Pack<T0, V> pack = load<V>(job, pack_at<V>(job.lines, line, first + (INDEX)u * jump));
#pragma unroll
        for (int v = 0; v < V; v++) read[u * V + v] = pack[v];
    }
    typename Op::X xs[U * V];
#pragma unroll
    for (int j = 0; j < U * V; j++) xs[j] = convert<typename Op::X>(read[j]);
    Op::take(state, xs, At<V>{first, jump}, job);
}

// Accumulates this thread's share of the elements `from..to` of a line. Packs of more than one element are contiguous.
// If PLAIN, they begin at the first aligned element; otherwise every pack is aligned.
template <class Op, int V, class State, class Job>
DEVICE void take_line(State& state, const char* line, INDEX from, INDEX to, const Job& job) {
    constexpr int U = AHEAD<V>;
    const INDEX lanes = blockDim.x;
    INDEX first = from;
    if constexpr (V > 1 && PLAIN) {
        constexpr u32 size = sizeof(Pack<T0, V>);
        const u32 off = (u32)(reinterpret_cast<u64>(element(job.lines, line, from)) % size);
        const INDEX head = off == 0 ? 0 : (size - off) / (u32)sizeof(T0);
        first = to - from < head ? to : from + head;
        for (INDEX i = from + threadIdx.x; i < first; i += lanes)
            take_packs<Op, 1, 1>(state, line, i, 1, job);
    }
    const INDEX packs = (to - first) / V;
    INDEX i = threadIdx.x;
    for (; i + (U - 1) * lanes < packs; i += U * lanes)
        take_packs<Op, V, U>(state, line, first + i * V, lanes * V, job);
    if constexpr (U > 2) {
        if (i + lanes < packs) {
            take_packs<Op, V, 2>(state, line, first + i * V, lanes * V, job);
            i += 2 * lanes;
        }
    }
    for (; i < packs; i += lanes) take_packs<Op, V, 1>(state, line, first + i * V, 1, job);
    if constexpr (V > 1 && PLAIN) {
        for (i = first + packs * V + threadIdx.x; i < to; i += lanes)
            take_packs<Op, 1, 1>(state, line, i, 1, job);
    }
}

// Reads `U` packs, `step` elements of a line apart, and writes `written` of each of their V elements.
template <class Op, int V, int U, int N, class F, class Job>
DEVICE void write_packs(INDEX first, INDEX step, const i64 (&at)[N], const Strided<N>& inner, F written,
                        const Job& job) {
    Pack<T0, V> packs[U];
    i64 there[U][N];
#pragma unroll
    for (int u = 0; u < U; u++) {
        along(job.lines.along, first + (INDEX)u * step, there[u]);
        for (int n = 0; n < N; n++) there[u][n] += at[n];
        packs[u] = load<V>(job, job.lines.x + there[u][0]);
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
        typename Op::X xs[V];
#pragma unroll
        for (int v = 0; v < V; v++) xs[v] = written(packs[u][v], v);
        Op::put(xs, there[u], inner, job);
    }
}

// Like `write_packs`, but for all packs from `i` on.
template <class Op, int V, int N, class F, class Job>
DEVICE void write_line(INDEX i, INDEX to, INDEX step, const i64 (&at)[N], const Strided<N>& inner, F written,
                       const Job& job) {
    constexpr int U = PLAIN && sizeof(T0) <= 4 ? 2 : 1;
    for (; i + (U - 1) * step < to; i += U * step)
        write_packs<Op, V, U>(i, step, at, inner, written, job);
    for (; i < to; i += step) write_packs<Op, V, 1>(i, step, at, inner, written, job);
}

// Reduces one line per y, whose elements are walked by the threads along x. The grid's y counts chunks.
template <class Op, int V, Phase PHASE, int N, class Job> DEVICE void rows(const Job& job) {
    using State = typename Op::State;
    SHARED_ARRAY(State, shared, 32);
    const INDEX outputs = (INDEX)job.lines.outputs;
    const INDEX from = (INDEX)blockIdx.y * (INDEX)job.lines.chunk, to = chunk_end(job, from);
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
#ifdef MADE
        // Go from the last line back: the previous kernel ended there, so its data may still be in the cache.
        const INDEX output = outputs - 1 - (first + threadIdx.y);
        const bool live = first + threadIdx.y < outputs;
#else
        const INDEX output = first + threadIdx.y;
        const bool live = output < outputs;
#endif
        i64 at[N] = {};
        State state = Op::start();
        if (live) {
            offsets(job.lines.kept, output, at);
            if constexpr (PHASE == WRITE) {
                for (INDEX chunk = threadIdx.x; chunk < gridDim.y; chunk += blockDim.x)
                    Op::merge(state, stored<Op>(job)[chunk * outputs + output]);
            } else {
                take_line<Op, V>(state, job.lines.x + at[0], from, to, job);
            }
        }
        state = merge_group<Op>(state, shared);
        if (!live) continue;
        if constexpr (PHASE == FINISH || PHASE == STATES) {
            if (threadIdx.x == 0) deliver<Op, PHASE>(state, at, output, job);
        } else {
            const auto numbers = Op::numbers(state, job);
            if (threadIdx.x == 0 && blockIdx.y == 0) Op::note(numbers, at, job);
            const auto put = [&](T0 x, int) { return Op::written(convert<typename Op::X>(x), numbers); };
            write_line<Op, V>(from + threadIdx.x * V, to, blockDim.x * V, at, job.lines.along, put, job);
        }
    }
}

// Lines that the threads along x hold entirely in registers, M elements each, so that they are read once. Each line is
// contiguous.
template <class Op, int V, int M, int N, class Job> DEVICE void held(const Job& job) {
    using X = typename Op::X;
    const INDEX outputs = (INDEX)job.lines.outputs, count = (INDEX)job.lines.count;
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
        const INDEX output = first + threadIdx.y;
        const bool live = output < outputs;
        i64 start[N] = {};
        if (live) offsets(job.lines.kept, output, start);
        // Issue several loads before using the first. A pack that is not loaded must not keep the previous contents. Floats
        // hold what is missing, so they need no choice after the load, for which registers are too few.
        constexpr int MOST = V > 1 ? 4 : 8, U = M / V < MOST ? M / V : MOST;
        X xs[M];
#pragma unroll
        for (int first = 0; first < M / V; first += U) {
            Pack<T0, V> packs[U];
#pragma unroll
            for (int u = 0; u < U; u++) {
                const INDEX i = ((INDEX)(first + u) * blockDim.x + threadIdx.x) * V;
#pragma unroll
                for (int v = 0; v < V; v++) packs[u][v] = is_float<T0> ? convert<T0>(Op::missing()) : T0{};
                if (live && i < count) packs[u] = load<V>(job, element(job.lines, job.lines.x + start[0], i));
            }
#pragma unroll
            for (int u = 0; u < U; u++) {
                const INDEX i = ((INDEX)(first + u) * blockDim.x + threadIdx.x) * V;
                const bool there = is_float<T0> || (live && i < count);
#pragma unroll
                for (int v = 0; v < V; v++)
                    xs[(first + u) * V + v] = there ? convert<X>(packs[u][v]) : Op::missing();
            }
        }
        const auto numbers = Op::template hold<V>(xs, job);
        if (!live) continue;
        i64 at[N];
        // The offsets of many operands are computed again, for lack of registers to keep them.
        if constexpr (N > 2) {
            offsets(job.lines.kept, output, at);
        } else {
#pragma unroll
            for (int n = 0; n < N; n++) at[n] = start[n];
        }
        if (threadIdx.x == 0) Op::note(numbers, at, job);
#pragma unroll
        for (int q = 0; q < M / V; q++) {
            const INDEX i = ((INDEX)q * blockDim.x + threadIdx.x) * V;
            if (i >= count) break;
            i64 there[N];
            along(job.lines.along, i, there);
            for (int n = 0; n < N; n++) there[n] += at[n];
            X out[V];
#pragma unroll
            for (int v = 0; v < V; v++) out[v] = xs[q * V + v];
            Op::put(out, there, job.lines.along, job);
        }
    }
}

// Accumulates `U` rows of V adjacent lines, `jump` elements apart.
template <class Op, int V, int U, class State, class Job>
DEVICE void take_side_by_side(State (&state)[V], const char* line, INDEX first, INDEX jump,
                              const Job& job) {
    Pack<T0, V> packs[U];
#pragma unroll
    for (int u = 0; u < U; u++)
        packs[u] = load<V>(job, element(job.lines, line, first + (INDEX)u * jump));
#pragma unroll
    for (int v = 0; v < V; v++) {
        typename Op::X xs[U];
#pragma unroll
        for (int u = 0; u < U; u++) xs[u] = convert<typename Op::X>(packs[u][v]);
        Op::take(state[v], xs, At<1>{first, jump}, job);
    }
}

// Lines that are adjacent in memory: each thread along x has V of them, and the threads along y walk them. The grid's y
// counts chunks. At most 256 threads.
template <class Op, int V, Phase PHASE, int N, class Job> DEVICE void columns(const Job& job) {
    using State = typename Op::State;
    constexpr int U = PLAIN ? 4 : 2;
    SHARED_ARRAY(State, shared, 128 * V);
    State* const slot = shared + ((INDEX)threadIdx.y * blockDim.x + threadIdx.x) * V;
    const INDEX outputs = (INDEX)job.lines.outputs, groups = outputs / V;
    const INDEX from = (INDEX)blockIdx.y * (INDEX)job.lines.chunk, to = chunk_end(job, from);
    const INDEX tall = blockDim.y;
    for (INDEX first = (INDEX)blockIdx.x * blockDim.x; first < groups;
         first += (INDEX)gridDim.x * blockDim.x) {
        const INDEX output = (first + threadIdx.x) * V;
        const bool live = first + threadIdx.x < groups;
        i64 at[N] = {};
        State state[V];
#pragma unroll
        for (int v = 0; v < V; v++) state[v] = Op::start();
        if (live) {
            offsets(job.lines.kept, output, at);
            if constexpr (PHASE == WRITE) {
                for (INDEX chunk = threadIdx.y; chunk < gridDim.y; chunk += tall)
#pragma unroll
                    for (int v = 0; v < V; v++)
                        Op::merge(state[v], stored<Op>(job)[chunk * outputs + output + v]);
            } else {
                const char* const line = job.lines.x + at[0];
                INDEX i = from + threadIdx.y;
                for (; i + (U - 1) * tall < to; i += U * tall)
                    take_side_by_side<Op, V, U>(state, line, i, tall, job);
                for (; i < to; i += tall) take_side_by_side<Op, V, 1>(state, line, i, tall, job);
            }
        }
        for (u32 half = blockDim.y / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.y >= half && threadIdx.y < 2 * half)
#pragma unroll
                for (int v = 0; v < V; v++) (slot - half * blockDim.x * V)[v] = state[v];
            __syncthreads();
            if (threadIdx.y < half)
#pragma unroll
                for (int v = 0; v < V; v++) Op::merge(state[v], slot[v]);
        }
        if constexpr (PHASE == FINISH || PHASE == STATES) {
            if (!live || threadIdx.y != 0) continue;
#pragma unroll
            for (int v = 0; v < V; v++) {
                deliver<Op, PHASE>(state[v], at, output + v, job);
                for (int n = 0; n < N; n++) at[n] += job.lines.kept.steps[n][0];
            }
        } else {
            if (tall > 1) {
                __syncthreads();
                if (threadIdx.y == 0)
#pragma unroll
                    for (int v = 0; v < V; v++) slot[v] = state[v];
                __syncthreads();
#pragma unroll
                for (int v = 0; v < V; v++) state[v] = shared[threadIdx.x * V + v];
            }
            typename Op::Numbers numbers[V];
#pragma unroll
            for (int v = 0; v < V; v++) numbers[v] = Op::numbers(state[v], job);
            if (!live) continue;
            if (threadIdx.y == 0 && blockIdx.y == 0) {
                i64 one[N];
                for (int n = 0; n < N; n++) one[n] = at[n];
                for (int v = 0; v < V; v++) {
                    Op::note(numbers[v], one, job);
                    for (int n = 0; n < N; n++) one[n] += job.lines.kept.steps[n][0];
                }
            }
            const auto put = [&](T0 x, int v) { return Op::written(convert<typename Op::X>(x), numbers[v]); };
            write_line<Op, V>(from + threadIdx.y, to, tall, at, job.lines.kept, put, job);
        }
    }
}

// Merges the stored states of all `count` chunks of a line, with the threads along x, into its result.
template <class Op, int N, class Job> DEVICE void chunks(const Job& job, INDEX count) {
    using State = typename Op::State;
    SHARED_ARRAY(State, shared, 32);
    const INDEX outputs = (INDEX)job.lines.outputs;
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
        const INDEX output = first + threadIdx.y;
        const bool live = output < outputs;
        State state = Op::start();
        if (live)
            for (INDEX chunk = threadIdx.x; chunk < count; chunk += blockDim.x)
                Op::merge(state, stored<Op>(job)[chunk * outputs + output]);
        state = merge_group<Op>(state, shared);
        if (!live || threadIdx.x != 0) continue;
        i64 at[N];
        offsets(job.lines.kept, output, at);
        Op::finish(state, at, job);
    }
}

#ifdef FINISHES
// The number of blocks of the running kernel that have stored the states of their chunks. A device runs one kernel at a
// time, and each leaves it at zero.
__device__ u32 stored_chunks;

// Runs after `rows`, on one line in chunks: the last block to arrive merges all of them, in the line's order, which
// saves a second kernel. Elements of 8 bytes still use a second kernel, because merging here would cost registers.
template <class Op, int N, class Job> DEVICE void finish_chunks(const Job& job) {
    if constexpr (sizeof(typename Op::X) <= 4) {
        SHARED_ARRAY(u32, last, 1);
        if (gridDim.y == 1 || job.lines.outputs != 1) return;
        if (threadIdx.x == 0) {
            // Only the thread that stored the state needs the fence.
            __threadfence();
            last[0] = atomicAdd(&stored_chunks, 1u) == gridDim.y - 1;
        }
        __syncthreads();
        if (last[0] == 0) return;
        __threadfence();
        if (threadIdx.x == 0) stored_chunks = 0;
        chunks<Op, N>(job, gridDim.y);
    }
}
#endif

#endif
