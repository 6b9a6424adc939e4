// Attention of 16-bit floats with up to HEAD features, by tensor-core products (mma.cuh): like attention.cu, with 16
// queries for each warp of a block. Weights are rounded to 16 bits before they are multiplied by values. The next keys
// and values are loaded while the previous ones are multiplied.
//
// Defines: T0 f16 or bf16; INDEX the type of counts of tiles; HEAD the features, a multiple of 32. Its dynamic shared
// memory holds TILES tiles.
#include "attention.cuh"
#include "mma.cuh"

using T = T0;

constexpr int WARPS = 4, ROWS = 16 * WARPS, KEYS = 64;
using Eight = Pack<u16, 8>;
// Rows are aligned to 16 bytes and spread over the banks.
constexpr int PITCH = HEAD + 8;
// Steps of 16 features, strips of 8 keys, and strips of 8 features of the result.
constexpr int STEPS = HEAD / 16, STRIPS = KEYS / 8, OUT = HEAD / 8;

// The elements of a tile in shared memory, and the number of tiles: keys and values, each double-buffered.
constexpr int TILE = KEYS * PITCH;
constexpr int TILES = 4;

// Copies the rows from `first` on, up to `rows`, and pads with zeros.
DEVICE void bring(u16* shared, const T* base, const Matrix& lies, u64 first, u64 rows, u64 cols) {
    const u64 bytes = static_cast<u64>(lies.rows) * sizeof(T) | reinterpret_cast<u64>(base);
    const bool packed = lies.cols == 1 && bytes % 16 == 0;
    for (int at = threadIdx.x; at < KEYS * (HEAD / 8); at += 32 * WARPS) {
        const int row = at / (HEAD / 8), col = at % (HEAD / 8) * 8;
        u16* const to = shared + row * PITCH + col;
        const bool there = first + row < rows;
        const T* from = base + static_cast<i64>(first + row) * lies.rows;
        if (packed && there && col + 8 <= cols) {
            bring_16(to, from + col);
            continue;
        }
        Eight eight{};
        if (there) {
#pragma unroll
            for (int i = 0; i < 8; i++)
                if (col + i < cols) eight[i] = from[(col + i) * lies.cols].bits;
        }
        *reinterpret_cast<Eight*>(to) = eight;
    }
}

// Reduces over the four lanes that share rows.
template <class F> DEVICE f32 across_row(f32 x, F f) {
    x = f(x, shuffle_xor(x, 1));
    return f(x, shuffle_xor(x, 2));
}

KERNEL_BOUNDS(attention, Attention, 128) {
    static_assert(ROWS == KEYS, "queries come by way of the keys' memory");
    DYN_SHARED(u16, tiles);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Exponentials are powers of two of scores in this unit.
    const f32 unit = 1.44269504f;
    const f32 nothing = -infinity<f32>(), scale = static_cast<f32>(job.scale * 1.4426950408889634);
    const INDEX down = static_cast<INDEX>((job.length + ROWS - 1) / ROWS);
    const INDEX total = down * static_cast<INDEX>(job.count);
    for (INDEX work = blockIdx.x; work < total; work += gridDim.x) {
        const u64 nth = work / down;
        // With a causal mask, late queries see most keys, so their blocks come first.
        const u64 first_row = static_cast<u64>(down - 1 - work % down) * ROWS;
        i64 at[5];
        job.repeats.offsets(nth, at);
        const T* const k = reinterpret_cast<const T*>(job.key.at) + at[1];
        const T* const v = reinterpret_cast<const T*>(job.value.at) + at[2];
        bring(tiles, reinterpret_cast<const T*>(job.query.at) + at[0], job.query, first_row, job.length,
              job.features);
        brought();
        arrived<0>();
        __syncthreads();
        u32 query[STEPS][4];
#pragma unroll
        for (int step = 0; step < STEPS; step++)
            load_left(query[step], tiles + warp * 16 * PITCH + step * 16, PITCH);
        __syncthreads();
        f32 greatest[2] = {nothing, nothing}, sums[2] = {0, 0}, made[OUT][4];
#pragma unroll
        for (int j = 0; j < OUT; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) made[j][i] = 0;
        u64 seen = job.source;
        if (job.causal && first_row + ROWS < seen) seen = first_row + ROWS;
        const u64 own_row = first_row + warp * 16 + lane / 4;
        const auto both = [&](u64 first_key, int half) {
            u16* const to = tiles + half * 2 * TILE;
            bring(to, k, job.key, first_key, job.source, job.features);
            bring(to + TILE, v, job.value, first_key, job.source, job.width);
            brought();
        };
        if (seen > 0) both(0, 0);
        int half_now = 0;
        for (u64 first_key = 0; first_key < seen; first_key += KEYS, half_now ^= 1) {
            if (first_key + KEYS < seen) {
                both(first_key + KEYS, half_now ^ 1);
                arrived<1>();
            } else {
                arrived<0>();
            }
            __syncthreads();
            const u16* const keys = tiles + half_now * 2 * TILE;
            const u16* const values = keys + TILE;
            f32 scores[STRIPS][4];
#pragma unroll
            for (int strip = 0; strip < STRIPS; strip++) {
#pragma unroll
                for (int i = 0; i < 4; i++) scores[strip][i] = 0;
#pragma unroll
                for (int step = 0; step < STEPS; step += 2) {
                    u32 right[2][2];
                    load_right_two(right, keys + strip * 8 * PITCH + step * 16, PITCH);
                    multiply_add<T>(scores[strip], query[step], right[0]);
                    multiply_add<T>(scores[strip], query[step + 1], right[1]);
                }
            }
            const bool all = job.masked == UNMASKED && !job.causal && first_key + KEYS <= job.source;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const u64 row = own_row + half * 8;
                f32 most = nothing;
#pragma unroll
                for (int strip = 0; strip < STRIPS; strip++)
#pragma unroll
                    for (int i = half * 2; i < half * 2 + 2; i++) {
                        const u64 col = first_key + strip * 8 + lane % 4 * 2 + i % 2;
                        f32 score = scores[strip][i] * scale;
                        if (!all) score = seen_score<T>(job, at[3], row, col, score, unit);
                        scores[strip][i] = score;
                        most = score > most ? score : most;
                    }
                most = across_row(most, [](f32 x, f32 y) { return x > y ? x : y; });
                most = most > greatest[half] ? most : greatest[half];
                // If everything is masked so far, -∞ - (-∞) would be NaN.
                const f32 from = most == nothing ? 0.0f : most;
                const f32 correction = power_of_two(greatest[half] - from);
                f32 sum = 0;
#pragma unroll
                for (int strip = 0; strip < STRIPS; strip++)
#pragma unroll
                    for (int i = half * 2; i < half * 2 + 2; i++) {
                        scores[strip][i] = power_of_two(scores[strip][i] - from);
                        sum += scores[strip][i];
                    }
                sums[half] = sums[half] * correction + across_row(sum, [](f32 x, f32 y) { return x + y; });
                greatest[half] = most;
#pragma unroll
                for (int j = 0; j < OUT; j++) {
                    made[j][half * 2] *= correction;
                    made[j][half * 2 + 1] *= correction;
                }
            }
#pragma unroll
            for (int step = 0; step < KEYS / 16; step++) {
                // The sums of two strips have the register layout of a left matrix.
                const f32(&x)[4] = scores[step * 2], (&y)[4] = scores[step * 2 + 1];
                const u32 weights[4] = {paired<T>(x[0], x[1]), paired<T>(x[2], x[3]),
                                        paired<T>(y[0], y[1]), paired<T>(y[2], y[3])};
#pragma unroll
                for (int j = 0; j < OUT; j += 2) {
                    u32 right[2][2];
                    load_right_turned_two(right, values + step * 16 * PITCH + j * 8, PITCH);
                    multiply_add<T>(made[j], weights, right[0]);
                    multiply_add<T>(made[j + 1], weights, right[1]);
                }
            }
            // The other half is overwritten next.
            __syncthreads();
        }
        T* const out = reinterpret_cast<T*>(job.out.at) + at[4];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const u64 row = own_row + half * 8;
            // The result of a query that sees no key is zero.
            const f32 factor = sums[half] == 0 ? 0.0f : 1 / sums[half];
#pragma unroll
            for (int j = 0; j < OUT; j++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const u64 col = j * 8 + lane % 4 * 2 + i;
                    if (row < job.length && col < job.width)
                        out[static_cast<i64>(row) * job.out.rows +
                            static_cast<i64>(col) * job.out.cols] =
                            narrow<T>(made[j][half * 2 + i] * factor);
                }
        }
    }
}
