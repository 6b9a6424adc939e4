// Convolution of 16-bit floats on tensor cores: like conv.cu, with products of 16 by 16 by 8 elements that a warp
// computes at once.
//
// Rust defines the macros of conv.cuh, and FRAGMENTS: a warp has 16 * FRAGMENTS rows; 2 or 4.
#include "block.cuh"
#include "conv.cuh"

// Eight warps: two along the rows, four along the columns with 32 columns each.
constexpr int THREADS = 256, BM = 32 * FRAGMENTS, BN = 128, BK = 32;
// Both sides of a slice are stored depth by depth, eight elements in a pack; rows are one pack longer, so that adjacent
// rows begin in different banks.
constexpr int PITCH = BK + 8, SLICE = (BM + BN) * PITCH;
constexpr int PACKS = BK / 8, FETCH_A = BM * PACKS / THREADS, FETCH_B = BN * PACKS / THREADS;

using Eight = Pack<T, 8>;

// Adds the product of 16 rows of `a` and 8 columns of `b`, 16 deep, to the sums. A lane holds, of `a`, rows lane / 4
// and that plus 8; of `b`, column lane / 4; of both, depths 2 (lane % 4) and that plus 8, each with the next one; of
// the sums, columns 2 (lane % 4) and the next in its rows.
DEVICE void add_fragment(f32 (&sum)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#ifdef __CUDACC_RTC__
    if constexpr (same<T, bf16>)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    u32 lane = threadIdx.x % 32;
    auto part = [](u32 word, int which) { return widen(T{static_cast<u16>(word >> (16 * which))}); };
    for (u32 depth = 0; depth < 4; depth++) {
        u32 x[4];
        for (int i = 0; i < 4; i++) x[i] = shuffle_from(a[i], lane / 4 * 4 + depth);
        for (u32 col = 0; col < 2; col++)
            for (int half = 0; half < 2; half++) {
                u32 y = shuffle_from(b[half], (lane % 4 * 2 + col) * 4 + depth);
                for (int which = 0; which < 2; which++) {
                    sum[col] += part(x[2 * half], which) * part(y, which);
                    sum[2 + col] += part(x[2 * half + 1], which) * part(y, which);
                }
            }
    }
#endif
}

DEVICE u32 word_at(const T* from) { return *reinterpret_cast<const u32*>(from); }

KERNEL_BOUNDS(conv_tensor, ConvTiles, THREADS) {
    SHARED_ARRAY(Eight, shared, 2 * SLICE / 8);
    SHARED_ARRAY(Site, sites, BN);
    // The taps of a slice and of the next one.
    SHARED_ARRAY(Tap, taps, 2 * BK);
    T* elements = reinterpret_cast<T*>(shared);
    int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    // The start of the warp's rows and columns, and the lane's row and column within a fragment.
    int warp_row = warp / 4 * (16 * FRAGMENTS), warp_col = warp % 4 * 32, across = lane / 4, along = lane % 4 * 2;
    INDEX outs = static_cast<INDEX>(job.outs);
    for (INDEX tile = blockIdx.x; tile < static_cast<INDEX>(job.tiles); tile += gridDim.x) {
        INDEX part = tile;
        INDEX first_row = job.row_tiles.split(part) * BM;
        INDEX first_col = job.col_tiles.split(part) * BN;
        INDEX group = job.groups.split(part);
        INDEX start = part * static_cast<INDEX>(job.share);
        INDEX left = static_cast<INDEX>(job.depth) - start;
        INDEX end = start + (left < static_cast<INDEX>(job.share) ? left : static_cast<INDEX>(job.share));
        INDEX slices = (end - start + BK - 1) / BK;
        INDEX from = group * static_cast<INDEX>(job.channels) * static_cast<INDEX>(job.x_strides[1]);
        const W* weight = job.weight + static_cast<u64>(group * outs + first_row) * job.depth;
        auto list_taps = [&](INDEX slice) {
            if (thread < BK) taps[(slice & 1) * BK + thread] = listed(job, start + slice * BK + thread, end);
        };
        // The previous tile may still be in use.
        __syncthreads();
        for (int i = thread; i < BN; i += THREADS) sites[i] = site_of(job, first_col + i);
        list_taps(0);
        list_taps(1);
        __syncthreads();
        Eight a[FETCH_A], b[FETCH_B];
        auto row_of = [&](int i) { return (thread + i * THREADS) % BM; };
        auto pack_of = [&](int i) { return (thread + i * THREADS) / BM; };
        auto col_of = [&](int i) { return LAST ? (thread + i * THREADS) / PACKS : (thread + i * THREADS) % BN; };
        auto depth_of = [&](int i) { return LAST ? (thread + i * THREADS) % PACKS : (thread + i * THREADS) / BN; };
        auto fetch = [&](INDEX slice) {
#pragma unroll
            for (int i = 0; i < FETCH_A; i++) {
                INDEX k = start + slice * BK + pack_of(i) * 8, m = row_of(i);
                const W* at = weight + static_cast<u64>(m) * job.depth + k;
                bool row = first_row + m < outs;
                if (job.packed & 2) {
                    // The depth is a multiple of four.
#pragma unroll
                    for (int half = 0; half < 8; half += 4) {
                        Pack<W, 4> four = {};
                        if (row && k + half < end) four = *reinterpret_cast<const Pack<W, 4>*>(at + half);
#pragma unroll
                        for (int e = 0; e < 4; e++) a[i][half + e] = narrow<T>(four[e]);
                    }
                } else {
#pragma unroll
                    for (int e = 0; e < 8; e++) a[i][e] = narrow<T>(row && k + e < end ? at[e] : 0.0f);
                }
            }
#pragma unroll
            for (int i = 0; i < FETCH_B; i++) {
                const Site& site = sites[col_of(i)];
                const Tap* tap = taps + (slice & 1) * BK + depth_of(i) * 8;
                if (LAST && (job.packed & 1)) {
                    // Eight channels of one tap.
                    Eight eight = {};
                    if (within(job, site, *tap)) {
                        INDEX at = from + site.x + tap->x;
                        eight = *reinterpret_cast<const Eight*>(job.x + static_cast<OFFSET>(at));
                    }
                    b[i] = eight;
                } else {
#pragma unroll
                    for (int e = 0; e < 8; e++) {
                        T value = {};
                        if (within(job, site, tap[e])) value = job.x[static_cast<OFFSET>(from + site.x + tap[e].x)];
                        b[i][e] = value;
                    }
                }
            }
        };
        auto store = [&](INDEX slice) {
            T* to = elements + (slice & 1) * SLICE;
#pragma unroll
            for (int i = 0; i < FETCH_A; i++)
                *reinterpret_cast<Eight*>(to + row_of(i) * PITCH + pack_of(i) * 8) = a[i];
#pragma unroll
            for (int i = 0; i < FETCH_B; i++)
                *reinterpret_cast<Eight*>(to + (BM + col_of(i)) * PITCH + depth_of(i) * 8) = b[i];
        };
        f32 sum[FRAGMENTS][4][4];
#pragma unroll
        for (int i = 0; i < FRAGMENTS; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) sum[i][j][e] = 0;
        fetch(0);
        store(0);
        __syncthreads();
        for (INDEX slice = 0; slice < slices; slice++) {
            bool more = slice + 1 < slices;
            if (more) fetch(slice + 1);
            // This slice's taps were read before the last barrier.
            list_taps(slice + 2);
            const T* rows = elements + (slice & 1) * SLICE + (warp_row + across) * PITCH + along;
            const T* cols = elements + (slice & 1) * SLICE + (BM + warp_col + across) * PITCH + along;
#pragma unroll
            for (int k = 0; k < BK; k += 16) {
                u32 y[4][2];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    y[j][0] = word_at(cols + j * 8 * PITCH + k);
                    y[j][1] = word_at(cols + j * 8 * PITCH + k + 8);
                }
#pragma unroll
                for (int i = 0; i < FRAGMENTS; i++) {
                    const T* at = rows + i * 16 * PITCH + k;
                    u32 x[4] = {word_at(at), word_at(at + 8 * PITCH), word_at(at + 8), word_at(at + 8 * PITCH + 8)};
#pragma unroll
                    for (int j = 0; j < 4; j++) add_fragment(sum[i][j], x, y[j]);
                }
            }
            if (more) store(slice + 1);
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < FRAGMENTS; i++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    int n = warp_col + j * 8 + along + e % 2;
                    INDEX m = first_row + warp_row + i * 16 + across + e / 2 * 8;
                    if (first_col + n < static_cast<INDEX>(job.columns) && m < outs)
                        put(job, sum[i][j][e], group * outs + m, first_col + n, sites[n], part);
                }
    }
}
