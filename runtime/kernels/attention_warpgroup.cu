// Attention of 16-bit floats with up to HEAD features, for devices of compute capability 9.0: like attention_half.cu,
// with products of whole warpgroups. One thread of a block loads keys and values; two warpgroups handle 64 queries
// each. The scores of the next keys, and the last weights times their values, are multiplied while weights are
// computed. The warpgroups alternate, so that one's products overlap with the other's weights.
//
// After FlashAttention-3 (Shah and others, 2024). Defines: T0 f16 or bf16; HEAD the features, 64 or 128.
#include "attention.cuh"
#include "mma.cuh"
#include "warpgroup.cuh"

using T = T0;

constexpr u32 ROWS = 128, KEYS = 128;
// The number of adjacent tiles of a matrix, and the number of buffers for matrices of keys and of values.
constexpr u32 SIDE = HEAD / TILE_COLS, ROOM = 2;
// Bytes of a tile, and of a matrix. All three kinds of matrices have this number of rows.
constexpr u32 TILE = tile_bytes(KEYS), MATRIX = SIDE * TILE;
static_assert(ROWS == KEYS, "queries take the room of keys");

struct Tiles {
    TensorMap query, key, value;
    unsigned char* out;
    // Elements between the result's rows, and between its matrices along the batch dims, innermost first.
    i64 out_rows, out_steps[3];
    u64 length, source;
    // The limit of each wait in nanoseconds; zero for none.
    u64 patience;
    u32 sizes[3];
    // For queries, keys and values: a bit mask of the batch dims they have.
    u32 has[3];
    u32 width, causal;
    f32 scale;
    u32 pad[7];
};
static_assert(sizeof(Tiles) == 512, "as many bytes as are given");

// The layout of a block's shared memory: matrices, then barriers.
struct Room {
    u32 base;

    DEVICE u32 query() const { return base; }
    DEVICE u32 key(u32 nth) const { return base + (1 + nth % ROOM) * MATRIX; }
    DEVICE u32 value(u32 nth) const { return base + (1 + ROOM + nth % ROOM) * MATRIX; }
    DEVICE u32 barrier(u32 nth) const { return base + (1 + 2 * ROOM) * MATRIX + nth * 8; }
    // A producer waits until a matrix is free, a consumer until it is full.
    DEVICE u32 query_full() const { return barrier(0); }
    DEVICE u32 query_free() const { return barrier(1); }
    DEVICE u32 key_full(u32 nth) const { return barrier(2 + nth % ROOM); }
    DEVICE u32 key_free(u32 nth) const { return barrier(2 + ROOM + nth % ROOM); }
    DEVICE u32 value_full(u32 nth) const { return barrier(2 + 2 * ROOM + nth % ROOM); }
    DEVICE u32 value_free(u32 nth) const { return barrier(2 + 3 * ROOM + nth % ROOM); }
};
// Returns the parity of the phase in which matrix `nth` is in its place, one of `places`.
DEVICE u32 phase(u32 nth, u32 places) { return nth / places % 2; }

// A block's share: queries from `row` on of one matrix of the batch, and the number of tiles of keys they see.
struct Part {
    u64 row;
    u32 keys;
    u32 at[3];

    DEVICE Part(const Tiles& job, u64 work, u64 down) {
        u64 nth = work / down;
        // With a causal mask, late queries see most keys, so their blocks come first.
        row = (down - 1 - work % down) * ROWS;
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            at[dim] = static_cast<u32>(nth % job.sizes[dim]);
            nth /= job.sizes[dim];
        }
        u64 seen = job.source;
        if (job.causal && row + ROWS < seen) seen = row + ROWS;
        keys = static_cast<u32>((seen + KEYS - 1) / KEYS);
    }
};

DEVICE void bring(const Tiles& job, const TensorMap& map, int which, const Part& part, u64 row, u32 to,
                  u32 full) {
    i32 at[3];
#pragma unroll
    for (int dim = 0; dim < 3; dim++)
        at[dim] = job.has[which] >> dim & 1 ? static_cast<i32>(part.at[dim]) : 0;
    barrier_expect(full, MATRIX);
#pragma unroll
    for (u32 side = 0; side < SIDE; side++)
        bring_box(to + side * TILE, map, full, static_cast<i32>(side * TILE_COLS),
                  static_cast<i32>(row), at);
}

// Runs the thread that loads matrices.
DEVICE void produce(const Tiles& job, const Room& room, u64 total, u64 down) {
    u32 queries = 0, nth = 0;
    for (u64 work = blockIdx.x; work < total; work += gridDim.x, queries++) {
        const Part part(job, work, down);
        // On a new barrier, a wait for the phase before the first one returns at once.
        barrier_wait(room.query_free(), phase(queries, 1) ^ 1, job.patience);
        bring(job, job.query, 0, part, part.row, room.query(), room.query_full());
        for (u32 tile = 0; tile < part.keys; tile++, nth++) {
            const u64 row = static_cast<u64>(tile) * KEYS;
            barrier_wait(room.key_free(nth), phase(nth, ROOM) ^ 1, job.patience);
            bring(job, job.key, 1, part, row, room.key(nth), room.key_full(nth));
            barrier_wait(room.value_free(nth), phase(nth, ROOM) ^ 1, job.patience);
            bring(job, job.value, 2, part, row, room.value(nth), room.value_full(nth));
        }
    }
}

// Starts computing the scores of a warpgroup's queries.
DEVICE void begin_scores(f32 (&scores)[KEYS / 2], u32 query, u32 key) {
    multiply_fence();
#pragma unroll
    for (u32 step = 0; step < HEAD / 16; step++) {
        // 16 features are 32 bytes of a row; a tile has four times that.
        const u32 from = step / 4 * TILE + step % 4 * 32;
        const u64 left = matrix_of(query + from, 0), right = matrix_of(key + from, 0);
        if (step == 0) multiply_rows<T, KEYS, 0>(scores, left, right);
        else multiply_rows<T, KEYS, 1>(scores, left, right);
    }
    multiply_commit();
}

// Starts adding weighted values to the result.
DEVICE void begin_values(f32 (&made)[HEAD / 2], const u32 (&weights)[KEYS / 16][4], u32 value) {
    multiply_fence();
#pragma unroll
    for (u32 step = 0; step < KEYS / 16; step++)
        multiply_held<T, HEAD>(made, weights[step], matrix_of(value + step * tile_bytes(16), TILE));
    multiply_commit();
}

// The softmax state of the two rows that a thread has of its warpgroup's queries.
struct Softmax {
    f32 greatest[2], sums[2];

    // Turns scores, which are exponents of two after multiplication by `scale`, into weights; `correction` is the
    // factor for all earlier results.
    DEVICE void weigh(f32 (&scores)[KEYS / 2], f32 scale, f32 (&correction)[2]) {
        const f32 nothing = -infinity<f32>();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            f32 most = greatest[half];
#pragma unroll
            for (u32 i = 0; i < KEYS / 2; i++)
                if (i / 2 % 2 == half) most = fmaxf(most, scores[i]);
            most = fmaxf(most, shuffle_xor(most, 1));
            most = fmaxf(most, shuffle_xor(most, 2));
            // If everything is masked so far, -∞ - (-∞) would be NaN.
            const f32 from = most == nothing ? 0.0f : most * scale;
            correction[half] = power_of_two(fmaf(greatest[half], scale, -from));
            f32 sum = 0;
#pragma unroll
            for (u32 i = 0; i < KEYS / 2; i++)
                if (i / 2 % 2 == half) {
                    scores[i] = power_of_two(fmaf(scores[i], scale, -from));
                    sum += scores[i];
                }
            sums[half] = sums[half] * correction[half] + sum;
            greatest[half] = most;
        }
    }
};

// Masks keys that a query does not see, from `key` on.
DEVICE void hide(const Tiles& job, f32 (&scores)[KEYS / 2], u64 row, u64 key) {
    // The number of the tile's keys that each row sees.
    const u64 there = job.source - key;
    i32 seen[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        u64 most = there < KEYS ? there : KEYS;
        const u64 own = row + half * 8;
        if (job.causal && own < key + most) most = own < key ? 0 : own - key + 1;
        seen[half] = static_cast<i32>(most) - static_cast<i32>(threadIdx.x % 4 * 2);
    }
#pragma unroll
    for (u32 i = 0; i < KEYS / 2; i++)
        if (static_cast<i32>(i / 4 * 8 + i % 2) >= seen[i / 2 % 2]) scores[i] = -infinity<f32>();
}

DEVICE void pack(u32 (&weights)[KEYS / 16][4], const f32 (&scores)[KEYS / 2]) {
#pragma unroll
    for (u32 i = 0; i < KEYS / 4; i++)
        weights[i / 4][i % 4] = paired<T>(scores[2 * i], scores[2 * i + 1]);
}

DEVICE void store(const Tiles& job, const Part& part, u64 row, const f32 (&made)[HEAD / 2],
                  const f32 (&sums)[2]) {
    i64 first = 0;
#pragma unroll
    for (int dim = 0; dim < 3; dim++) first += part.at[dim] * job.out_steps[dim];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        f32 sum = sums[half];
        sum += shuffle_xor(sum, 1);
        sum += shuffle_xor(sum, 2);
        const f32 factor = sum == 0 ? 0.0f : 1 / sum;
        const u64 own = row + half * 8;
        u16* const out = reinterpret_cast<u16*>(job.out) + first + static_cast<i64>(own) * job.out_rows;
#pragma unroll
        for (u32 i = half * 2; i < HEAD / 2; i += 4) {
            // The width is even, so both or neither are inside.
            const u32 col = i / 4 * 8 + threadIdx.x % 4 * 2;
            if (own < job.length && col < job.width)
                *reinterpret_cast<u32*>(out + col) = paired<T>(made[i] * factor, made[i + 1] * factor);
        }
    }
}

// Runs a warpgroup that multiplies.
DEVICE void consume(const Tiles& job, const Room& room, u64 total, u64 down) {
    const u32 group = threadIdx.x / WARPGROUP - 1, lane = threadIdx.x % 32;
    const u32 query = room.query() + group * tile_bytes(ROWS / 2);
    f32 scores[KEYS / 2], made[HEAD / 2], correction[2];
    u32 weights[KEYS / 16][4];
    u32 queries = 0, nth = 0;
    // One lane arrives for a warp; what its lanes waited for is done.
    const auto leave = [&](u32 barrier) {
        if (lane == 0) barrier_arrive(barrier);
    };
    // Waits until the last values are added to `made`, rescales it, and frees the scores for the next keys.
    const auto catch_up = [&](bool some) {
        multiplied<0>();
        if (some) leave(room.value_free(nth - 1));
#pragma unroll
        for (u32 i = 0; i < HEAD / 2; i++) made[i] *= correction[i / 2 % 2];
        pack(weights, scores);
    };
    // Both groups have the same number of tiles, and so of turns. The first group goes first.
    const u32 own_turn = 1 + group, other_turn = 2 - group;
    if (group == 1) turn_give<2 * WARPGROUP>(other_turn);
    for (u64 work = blockIdx.x; work < total; work += gridDim.x, queries++) {
        const Part part(job, work, down);
        const u64 row = part.row + group * (ROWS / 2) + threadIdx.x % WARPGROUP / 32 * 16 + lane / 4;
        const u64 all = job.causal && part.row < job.source ? part.row : job.source;
        const auto whole = [&](u32 tile) { return static_cast<u64>(tile + 1) * KEYS <= all; };
        Softmax softmax{{-infinity<f32>(), -infinity<f32>()}, {0, 0}};
#pragma unroll
        for (u32 i = 0; i < HEAD / 2; i++) made[i] = 0;
        barrier_wait(room.query_full(), phase(queries, 1), job.patience);
        barrier_wait(room.key_full(nth), phase(nth, ROOM), job.patience);
        turn_wait<2 * WARPGROUP>(own_turn);
        begin_scores(scores, query, room.key(nth));
        turn_give<2 * WARPGROUP>(other_turn);
        multiplied<0>();
        leave(room.key_free(nth));
        if (!whole(0)) hide(job, scores, row, 0);
        softmax.weigh(scores, job.scale, correction);
        for (u32 tile = 1; tile < part.keys; tile++, nth++) {
            // Here rather than at the end of the loop, where the compiler would wait before it computes the weights.
            catch_up(tile > 1);
            barrier_wait(room.key_full(nth + 1), phase(nth + 1, ROOM), job.patience);
            turn_wait<2 * WARPGROUP>(own_turn);
            begin_scores(scores, query, room.key(nth + 1));
            barrier_wait(room.value_full(nth), phase(nth, ROOM), job.patience);
            begin_values(made, weights, room.value(nth));
            turn_give<2 * WARPGROUP>(other_turn);
            multiplied<1>();
            leave(room.key_free(nth + 1));
            if (!whole(tile)) hide(job, scores, row, static_cast<u64>(tile) * KEYS);
            softmax.weigh(scores, job.scale, correction);
        }
        leave(room.query_free());
        catch_up(part.keys > 1);
        barrier_wait(room.value_full(nth), phase(nth, ROOM), job.patience);
        begin_values(made, weights, room.value(nth));
        multiplied<0>();
        leave(room.value_free(nth));
        nth++;
        store(job, part, row, made, softmax.sums);
    }
}

KERNEL_ROOMY(attention, Tiles, 384) {
    DYN_SHARED(unsigned char, bytes);
    // Tiles are aligned to 1024 bytes.
    const Room room{(shared_address(bytes) + 1023) & ~1023u};
    if (threadIdx.x == 0) {
        barrier_begin(room.query_full(), 1);
        // One lane arrives for each of eight warps.
        barrier_begin(room.query_free(), 8);
        for (u32 i = 0; i < ROOM; i++) {
            barrier_begin(room.key_full(i), 1);
            barrier_begin(room.key_free(i), 8);
            barrier_begin(room.value_full(i), 1);
            barrier_begin(room.value_free(i), 8);
        }
        barriers_begun();
    }
    __syncthreads();
    const u64 down = (job.length + ROWS - 1) / ROWS;
    const u64 total = down * job.sizes[0] * job.sizes[1] * job.sizes[2];
    if (threadIdx.x < WARPGROUP) {
        fewer_registers<24>();
        if (threadIdx.x == 0) produce(job, room, total, down);
    } else {
        more_registers<240>();
        consume(job, room, total, down);
    }
}
