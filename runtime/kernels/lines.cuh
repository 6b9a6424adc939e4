// How lines of elements become one state each, in every layout.
//
// A line holds the elements of one output; `along` walks it and `kept` goes from line to line. What
// happens to elements is an `Op`:
//
//     X, State                     what elements are converted to, and what they go into
//     start(job)                   a state that has seen nothing
//     take(state, xs, at, job)     takes elements in, the j-th of which stands at at[j]
//     merge(state, other)          takes in what another state saw
//     finish(state, at, job)       writes the result of a line: FINISH
//     numbers(state, job)          what the elements of the result need: FUSED, WRITE
//     note(numbers, at, job)       for each line once
//     written(x, numbers), put     an element of the result, and where it goes
//     missing(), hold(xs, job)     all elements of a line, as they are written: `held`
//
// A file that includes this one defines T0, the dtype of the operand, INDEX, and PLAIN: whether a line
// is one run of equal steps.
#ifndef NOMINA_LINES_CUH
#define NOMINA_LINES_CUH

#include "convert.cuh"
#include "group.cuh"
#include "index.cuh"

template <int N> struct Lines {
    const char* x;
    // Of lines that are cut into chunks: the states of the first chunk of all lines, and so on.
    char* states;
    u64 outputs, count, chunk;
    Strided<N> kept, along;
};

// What a kernel does with the state of a line.
enum Phase {
    FINISH, // gives it to `finish`; of one chunk of several, stores it
    STATES, // stores it
    FUSED,  // writes the line
    WRITE,  // writes one chunk of the line, from the stored states of all its chunks
};

// The positions of elements that were read in packs of V.
template <int V> struct At {
    INDEX first, jump;
    DEVICE INDEX operator[](int j) const { return first + (INDEX)(j / V) * jump + (INDEX)(j % V); }
};

// How many packs are read before the first is taken in: as many as keep memory busy, fewer where each
// has to be looked for.
template <int V> constexpr int AHEAD = V >= 16 ? 1 : V == 8 || !PLAIN || sizeof(T0) >= 8 ? 2 : 4;

#ifndef MADE
template <int V, class Job> DEVICE Pack<T0, V> load(const Job&, const char* from) {
    return *reinterpret_cast<const Pack<T0, V>*>(from);
}
#else
// A chain makes the elements where they are taken in (chain.cuh). The operand lies nowhere: addresses
// count from 0 on.
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

// The offsets of an element of a line from the line's first.
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

// The same where packs of V are read: of one run, whose elements are neighbours where V is more than one.
template <int V, int N> DEVICE const char* pack_at(const Lines<N>& lines, const char* line, INDEX i) {
    if constexpr (V > 1 && PLAIN) return line + (u64)i * sizeof(T0);
    else return element(lines, line, i);
}

// Where a chunk ends.
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

// Takes in `U` packs, each `jump` elements after the one before.
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

// Takes in this thread's share of the elements `from..to` of a line. Packs of more than one element
// lie side by side: in lines of one run from wherever that is aligned on, in others everywhere.
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

// Reads `U` packs, `step` elements of a line apart, and writes what `written` makes of each of their V elements.
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

// The same for all packs from one on.
template <class Op, int V, int N, class F, class Job>
DEVICE void write_line(INDEX i, INDEX to, INDEX step, const i64 (&at)[N], const Strided<N>& inner, F written,
                       const Job& job) {
    constexpr int U = PLAIN && sizeof(T0) <= 4 ? 2 : 1;
    for (; i + (U - 1) * step < to; i += U * step)
        write_packs<Op, V, U>(i, step, at, inner, written, job);
    for (; i < to; i += step) write_packs<Op, V, 1>(i, step, at, inner, written, job);
}

// Lines side by side in y, whose elements are walked by the threads along x. The grid's y counts
// chunks.
template <class Op, int V, Phase PHASE, int N, class Job> DEVICE void rows(const Job& job) {
    using State = typename Op::State;
    SHARED_ARRAY(State, shared, 32);
    const INDEX outputs = (INDEX)job.lines.outputs;
    const INDEX from = (INDEX)blockIdx.y * (INDEX)job.lines.chunk, to = chunk_end(job, from);
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
#ifdef MADE
        // From the last line back: what was read or written before ended there, and may still be in the cache.
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

// Lines that the threads along x hold in registers as a whole, M elements each, so that they are read
// once; they are one run each.
template <class Op, int V, int M, int N, class Job> DEVICE void held(const Job& job) {
    using X = typename Op::X;
    const INDEX outputs = (INDEX)job.lines.outputs, count = (INDEX)job.lines.count;
    for (INDEX first = (INDEX)blockIdx.x * blockDim.y; first < outputs;
         first += (INDEX)gridDim.x * blockDim.y) {
        const INDEX output = first + threadIdx.y;
        const bool live = output < outputs;
        i64 at[N] = {};
        if (live) offsets(job.lines.kept, output, at);
        // Some are asked for before the first is looked at: a pack that nothing was read into would be the one before it.
        constexpr int MOST = V > 1 ? 4 : 8, U = M / V < MOST ? M / V : MOST;
        X xs[M];
#pragma unroll
        for (int first = 0; first < M / V; first += U) {
            Pack<T0, V> packs[U];
#pragma unroll
            for (int u = 0; u < U; u++) {
                const INDEX i = ((INDEX)(first + u) * blockDim.x + threadIdx.x) * V;
                packs[u] = {};
                if (live && i < count) packs[u] = load<V>(job, element(job.lines, job.lines.x + at[0], i));
            }
#pragma unroll
            for (int u = 0; u < U; u++) {
                const INDEX i = ((INDEX)(first + u) * blockDim.x + threadIdx.x) * V;
#pragma unroll
                for (int v = 0; v < V; v++)
                    xs[(first + u) * V + v] = live && i < count ? convert<X>(packs[u][v]) : Op::missing();
            }
        }
        const auto numbers = Op::template hold<V>(xs, job);
        if (!live) continue;
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

// Takes in `U` rows of V lines side by side, `jump` elements of each apart.
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

// Lines side by side in memory: the threads along x have V of them each, and those along y walk
// them. The grid's y counts chunks. At most 256 threads.
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

// The stored states of all chunks of a line to its result; threads along x merge them.
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
// How many blocks of the kernel that runs have stored the states of their chunks. A device runs one kernel
// after the other, and each leaves it at zero.
__device__ u32 stored_chunks;

// Behind `rows`, of one line in chunks: the block that comes last merges them all, in the line's order, so that no
// other kernel has to. Of elements of 8 bytes another kernel does: here registers would be put away for it.
template <class Op, int N, class Job> DEVICE void finish_chunks(const Job& job) {
    if constexpr (sizeof(typename Op::X) <= 4) {
        SHARED_ARRAY(u32, last, 1);
        if (gridDim.y == 1 || job.lines.outputs != 1) return;
        if (threadIdx.x == 0) {
            // The thread that stored the state.
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
