// Attention: the softmax of the scaled products of queries and keys, times the values.
//
// A block handles a tile of queries and walks over tiles of keys. It keeps the running maximum of the scores, the sum
// of exponentials and the weighted sum of values, and rescales them when the maximum grows.
//
// Defines: T0 a float dtype; INDEX the type of counts of tiles; WIDTH the features of values that a block computes at a
// time.
#include "attention.cuh"
#include "block.cuh"

using T = T0;
using S = Compute<T>;

constexpr int SIDE = sizeof(S) == 8 ? 2 : 4;
constexpr int EDGE = 16 * SIDE;
// Features of values per thread.
constexpr int WIDE = WIDTH / 16;
using Stage = Tile<T, S, EDGE>;
using Values = Tile<T, S, WIDTH>;
using Run = Pack<S, SIDE>;
static_assert(EDGE % DEEP == 0 && WIDTH % DEEP == 0, "tiles are made of whole steps");

// Whether a thread has enough registers to load keys while values are used, and vice versa.
constexpr bool EARLY = WIDTH <= 64;

// A number of blocks that may be resident at once.
constexpr INDEX FEW = 1024;

// Reduces over the 16 threads that share rows, which are half a warp.
template <class F> DEVICE S across_row(S x, F f) {
#pragma unroll
    for (u32 mask = 8; mask > 0; mask >>= 1) x = f(x, shuffle_xor(x, mask));
    return x;
}

KERNEL_BOUNDS(attention, Attention, THREADS) {
    constexpr int LINE = Stage::PITCH / SIDE;
    SHARED_ARRAY(Run, query, DEEP* LINE);
    SHARED_ARRAY(Run, key, DEEP* LINE);
    // Weights, indexed by key, then query; and values.
    SHARED_ARRAY(Run, weights, EDGE* LINE);
    SHARED_ARRAY(S, values, DEEP* Values::PITCH);
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const S nothing = -infinity<S>(), scale = static_cast<S>(job.scale);
    const INDEX down = static_cast<INDEX>((job.length + EDGE - 1) / EDGE);
    const INDEX across = static_cast<INDEX>((job.width + WIDTH - 1) / WIDTH);
    const INDEX total = down * across * static_cast<INDEX>(job.count);
    for (INDEX work = blockIdx.x; work < total; work += gridDim.x) {
        const INDEX line = work / across;
        const u64 first_col = static_cast<u64>(work - line * across) * WIDTH;
        // With a causal mask, late queries see most keys, so their blocks come first: those of all matrices if most
        // blocks are resident at once; otherwise those of one matrix, whose keys then stay in the cache.
        const INDEX count = static_cast<INDEX>(job.count);
        const bool few = total <= FEW;
        const u64 nth = few ? line % count : line / down;
        const u64 first_row = static_cast<u64>(down - 1 - (few ? line / count : line % down)) * EDGE;
        i64 at[5];
        job.repeats.offsets(nth, at);
        const T* const q = reinterpret_cast<const T*>(job.query.at) + at[0];
        const T* const k = reinterpret_cast<const T*>(job.key.at) + at[1];
        const T* const v = reinterpret_cast<const T*>(job.value.at) + at[2];
        u64 seen = job.source;
        if (job.causal && first_row + EDGE < seen) seen = first_row + EDGE;
        S greatest[SIDE], sums[SIDE], made[SIDE][WIDE];
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            greatest[i] = nothing;
            sums[i] = 0;
#pragma unroll
            for (int j = 0; j < WIDE; j++) made[i][j] = 0;
        }
        // The next keys or values are loaded during computation; the queries are close, in L1.
        Stage of_k;
        Values of_v;
        const auto ask_keys = [&](u64 first_key) {
            of_k.begin(k, job.key.rows, job.key.cols, first_key, job.source, 0);
            of_k.fetch(job.features);
        };
        const auto ask_values = [&](u64 first_key) {
            of_v.begin(v, job.value.cols, job.value.rows, first_col, job.width, first_key);
            of_v.fetch(job.source - first_key);
        };
        if (EARLY) ask_keys(0);
        for (u64 first_key = 0; first_key < seen; first_key += EDGE) {
            S scores[SIDE][SIDE];
#pragma unroll
            for (int i = 0; i < SIDE; i++)
#pragma unroll
                for (int j = 0; j < SIDE; j++) scores[i][j] = 0;
            Stage of_q;
            of_q.begin(q, job.query.rows, job.query.cols, first_row, job.length, 0);
            if (!EARLY) ask_keys(first_key);
            else if (job.features == 0) ask_values(first_key);
            for (u64 step = 0; step < job.features; step += DEEP) {
                of_q.fetch(job.features - step);
                __syncthreads();
                of_q.keep(query[0].at);
                of_k.keep(key[0].at);
                __syncthreads();
                if (step + DEEP < job.features) {
                    of_k.fetch(job.features - step - DEEP);
                } else if (EARLY) {
                    ask_values(first_key);
                }
#pragma unroll
                for (int deep = 0; deep < DEEP; deep++) {
                    const Run x = query[deep * LINE + ty], y = key[deep * LINE + tx];
#pragma unroll
                    for (int i = 0; i < SIDE; i++)
#pragma unroll
                        for (int j = 0; j < SIDE; j++) scores[i][j] += x[i] * y[j];
                }
            }
            if (job.masked == UNMASKED) {
                const int cols = job.source - first_key < EDGE ? static_cast<int>(job.source - first_key) : EDGE;
                // Relative to the tile, query `row` sees keys up to `row + diagonal`.
                const u64 ahead = first_row + EDGE - first_key;
                const int diagonal = job.causal && ahead < 2 * EDGE ? static_cast<int>(ahead) - EDGE : EDGE;
#pragma unroll
                for (int i = 0; i < SIDE; i++) {
                    const int last = ty * SIDE + i + diagonal, end = last < cols ? last + 1 : cols;
#pragma unroll
                    for (int j = 0; j < SIDE; j++)
                        scores[i][j] = tx * SIDE + j < end ? scores[i][j] * scale : nothing;
                }
            } else {
#pragma unroll
                for (int i = 0; i < SIDE; i++)
#pragma unroll
                    for (int j = 0; j < SIDE; j++)
                        scores[i][j] = seen_score<T>(job, at[3], first_row + ty * SIDE + i,
                                                     first_key + tx * SIDE + j, scores[i][j] * scale);
            }
#pragma unroll
            for (int i = 0; i < SIDE; i++) {
                S most = nothing;
#pragma unroll
                for (int j = 0; j < SIDE; j++) most = scores[i][j] > most ? scores[i][j] : most;
                most = across_row(most, [](S x, S y) { return x > y ? x : y; });
                most = most > greatest[i] ? most : greatest[i];
                // If everything is masked so far, -∞ - (-∞) would be NaN.
                const S from = most == nothing ? S(0) : most;
                const S correction = exponential(greatest[i] - from);
                S sum = 0;
#pragma unroll
                for (int j = 0; j < SIDE; j++) {
                    scores[i][j] = exponential(scores[i][j] - from);
                    sum += scores[i][j];
                }
                sum = across_row(sum, [](S x, S y) { return x + y; });
                sums[i] = sums[i] * correction + sum;
                greatest[i] = most;
#pragma unroll
                for (int j = 0; j < WIDE; j++) made[i][j] *= correction;
            }
            __syncthreads(); // without features, nothing above has waited for the last weights
#pragma unroll
            for (int j = 0; j < SIDE; j++) {
                Run run;
#pragma unroll
                for (int i = 0; i < SIDE; i++) run[i] = scores[i][j];
                weights[(tx * SIDE + j) * LINE + ty] = run;
            }
            const u64 here = seen - first_key < EDGE ? seen - first_key : EDGE;
            if (!EARLY) ask_values(first_key);
            for (u64 step = 0; step < here; step += DEEP) {
                __syncthreads();
                of_v.keep(values);
                __syncthreads();
                if (step + DEEP < here) of_v.fetch(job.source - first_key - step - DEEP);
                else if (EARLY && first_key + EDGE < seen) ask_keys(first_key + EDGE);
#pragma unroll
                for (int deep = 0; deep < DEEP; deep++) {
                    const Run x = weights[(step + deep) * LINE + ty];
                    S y[WIDE];
#pragma unroll
                    for (int j = 0; j < WIDE; j++) y[j] = values[deep * Values::PITCH + j * 16 + tx];
#pragma unroll
                    for (int i = 0; i < SIDE; i++)
#pragma unroll
                        for (int j = 0; j < WIDE; j++) made[i][j] += x[i] * y[j];
                }
            }
        }
        T* const out = reinterpret_cast<T*>(job.out.at) + at[4];
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            const u64 row = first_row + ty * SIDE + i;
            // The result of a query that sees no key is zero.
            const S factor = sums[i] == 0 ? S(0) : 1 / sums[i];
#pragma unroll
            for (int j = 0; j < WIDE; j++) {
                const u64 col = first_col + j * 16 + tx;
                if (row < job.length && col < job.width)
                    out[static_cast<i64>(row) * job.out.rows + static_cast<i64>(col) * job.out.cols] =
                        narrow<T>(made[i][j] * factor);
            }
        }
        __syncthreads();
    }
}
