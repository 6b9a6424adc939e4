// Warpgroup operations of devices of compute capability 9.0 only (sm_90a): asynchronous products of matrices in shared
// memory, and tiles of tensors that the device's copy engine (TMA) loads there.
//
// Shared memory is addressed by 32 bits. A tile there has rows of 128 bytes, 64 16-bit numbers, and begins at a
// multiple of 1024 bytes; piece i of 16 bytes of each row is at position i ^ (row % 8) ("128-byte swizzle"). A wider
// tile consists of several of them, one after the other.
//
// The sums of 64 rows are distributed over a warpgroup's registers as follows, with g = lane / 4 and p = 2 (lane % 4):
// a warp has 16 rows, from 16 times its number on, and of each 8 columns a lane has row g at columns p and p + 1, then
// row g + 8. A left matrix of 16 columns is laid out as in mma.cuh, each warp with its 16 rows.
#pragma once
#include "block.cuh"

constexpr u32 WARPGROUP = 128;
// The numbers in a tile's row, and the bytes of `rows` rows.
constexpr int TILE_COLS = 64;
DEVICE constexpr u32 tile_bytes(u32 rows) { return rows * TILE_COLS * 2; }

// A tensor's layout, encoded by the driver for the copy engine.
struct alignas(128) TensorMap {
    u64 words[16];
};

DEVICE u32 shared_address(const void* place) {
#ifdef __CUDACC_RTC__
    return static_cast<u32>(__cvta_generic_to_shared(place));
#else
    return shim_state.shared_address(place);
#endif
}

// ---- products

// Encodes the descriptor of a matrix in shared memory, as the PTX manual defines it: its address; the distance between
// tiles of 64 columns, which is used only if the summed dim is the rows; the distance between groups of 8 rows; the
// swizzle.
DEVICE u64 matrix_of(u32 address, u32 tiles) {
    constexpr u64 SWIZZLE_128 = 1, EIGHT_ROWS = 1024;
    const u64 at = (address & 0x3ffff) >> 4, apart = (tiles & 0x3ffff) >> 4;
    return at | apart << 16 | (EIGHT_ROWS >> 4) << 32 | SWIZZLE_128 << 62;
}

// Orders writes to registers before a product that reads them. The result of a product is in the registers, and its
// operands may change, once `multiplied` has returned.
DEVICE void multiply_fence() {
#ifdef __CUDACC_RTC__
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
    shim_warpgroup(SHIM_FENCE, 0);
#endif
}

// Ends a group of products.
DEVICE void multiply_commit() {
#ifdef __CUDACC_RTC__
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
    shim_warpgroup(SHIM_COMMIT, 0);
#endif
}

// Waits for all groups except the last `BUT`.
template <int BUT> DEVICE void multiplied() {
#ifdef __CUDACC_RTC__
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(BUT) : "memory");
#else
    shim_warpgroup(SHIM_WAIT, BUT);
#endif
}

#define SUMS_4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4(i + 4), SUMS_4(i + 8), SUMS_4(i + 12)
#define SUMS_32 SUMS_16(0), SUMS_16(16)
#define SUMS_64 SUMS_32, SUMS_16(32), SUMS_16(48)
#define NAMES_32                                                                                   \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_64                                                                                   \
    NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PRODUCT(cols, type)                                                                        \
    "wgmma.mma_async.sync.aligned.m64n" #cols "k16.f32." type "." type " "

// Computes sums = left right, or sums += left right, for 64 rows of a left and COLS rows of a right matrix, both in
// shared memory with 16 numbers of the summed dim along a row.
#define MULTIPLY_ROWS(cols, registers, type, left_at, right_at, add_at)                            \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " add_at ", 0;\n" PRODUCT(cols, type)       \
                 "{" NAMES_##registers "}, " left_at ", " right_at ", add, 1, 1, 0, 0;\n}"         \
                 : SUMS_##registers                                                                \
                 : "l"(left), "l"(right), "n"(ADD))
template <class T, int COLS, int ADD>
DEVICE void multiply_rows(f32 (&sums)[COLS / 2], u64 left, u64 right) {
    static_assert(COLS == 128, "of no other number of columns are there products");
#ifdef __CUDACC_RTC__
    if constexpr (same<T, f16>) MULTIPLY_ROWS(128, 64, "f16", "%64", "%65", "%66");
    else MULTIPLY_ROWS(128, 64, "bf16", "%64", "%65", "%66");
#else
    shim_multiply({sums, nullptr, left, right, COLS, same<T, bf16>, ADD != 0, false});
#endif
}

// Computes sums += left right, for a left matrix in registers, which must not change before `multiplied`, and a right
// one in shared memory with 16 rows of COLS numbers.
#define MULTIPLY_HELD(cols, registers, type, a, b, c, d, right_at)                                 \
    asm volatile(PRODUCT(cols, type) "{" NAMES_##registers "}, {" a ", " b ", " c ", " d           \
                                     "}, " right_at ", 1, 1, 1, 1;"                                \
                 : SUMS_##registers                                                                \
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right))
template <class T, int COLS>
DEVICE void multiply_held(f32 (&sums)[COLS / 2], const u32 (&left)[4], u64 right) {
    static_assert(COLS == 64 || COLS == 128, "of no other numbers of columns are there products");
#ifdef __CUDACC_RTC__
    if constexpr (same<T, f16> && COLS == 64)
        MULTIPLY_HELD(64, 32, "f16", "%32", "%33", "%34", "%35", "%36");
    else if constexpr (same<T, f16>)
        MULTIPLY_HELD(128, 64, "f16", "%64", "%65", "%66", "%67", "%68");
    else if constexpr (COLS == 64)
        MULTIPLY_HELD(64, 32, "bf16", "%32", "%33", "%34", "%35", "%36");
    else
        MULTIPLY_HELD(128, 64, "bf16", "%64", "%65", "%66", "%67", "%68");
#else
    shim_multiply({sums, left, 0, right, COLS, same<T, bf16>, true, true});
#endif
}

// ---- barriers that count arrivals and bytes

// Initializes a barrier. A phase ends when `arrivals` threads have arrived, and all bytes that they announced.
DEVICE void barrier_begin(u32 barrier, u32 arrivals) {
#ifdef __CUDACC_RTC__
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#else
    shim_barrier(SHIM_BEGIN, barrier, arrivals);
#endif
}

// Makes barriers that one thread initialized visible to the other threads, after a block barrier, and to the copy
// engine.
DEVICE void barriers_begun() {
#ifdef __CUDACC_RTC__
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
#endif
}

DEVICE void barrier_arrive(u32 barrier) {
#ifdef __CUDACC_RTC__
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#else
    shim_barrier(SHIM_ARRIVE, barrier, 0);
#endif
}

DEVICE void barrier_expect(u32 barrier, u32 bytes) {
#ifdef __CUDACC_RTC__
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
#else
    shim_barrier(SHIM_EXPECT, barrier, bytes);
#endif
}

#ifdef __CUDACC_RTC__
DEVICE bool barrier_passed(u32 barrier, u32 parity) {
    u32 passed;
    asm volatile("{\n.reg .pred passed;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 passed, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, passed;\n}"
                 : "=r"(passed)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return passed != 0;
}

DEVICE u64 nanoseconds() {
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
#endif

// Waits until the phase with this parity has ended; the first phase has parity 0. A nonzero `patience`, in nanoseconds,
// limits the wait.
DEVICE void barrier_wait(u32 barrier, u32 parity, u64 patience) {
#ifdef __CUDACC_RTC__
    if (barrier_passed(barrier, parity)) return;
    const u64 since = patience == 0 ? 0 : nanoseconds();
    while (!barrier_passed(barrier, parity))
        if (patience != 0 && nanoseconds() - since > patience) return;
#else
    shim_barrier(SHIM_AWAIT, barrier, parity);
#endif
}

// ---- named barriers

// Waits at a named barrier until THREADS threads have arrived, including those that only signal (`turn_give`). A block
// has sixteen named barriers; the first one is that of `__syncthreads`.
template <u32 THREADS> DEVICE void turn_wait(u32 name) {
#ifdef __CUDACC_RTC__
    asm volatile("bar.sync %0, %1;" ::"r"(name), "n"(THREADS) : "memory");
#else
    shim_turn(name, THREADS, true);
#endif
}
template <u32 THREADS> DEVICE void turn_give(u32 name) {
#ifdef __CUDACC_RTC__
    asm volatile("bar.arrive %0, %1;" ::"r"(name), "n"(THREADS) : "memory");
#else
    shim_turn(name, THREADS, false);
#endif
}

// ---- copies

// Copies a box of a 5-dim tensor, innermost dim first, to shared memory; its bytes arrive at the barrier. Elements
// outside of the tensor are zero.
DEVICE void bring_box(u32 to, const TensorMap& map, u32 barrier, i32 col, i32 row, const i32 (&at)[3]) {
#ifdef __CUDACC_RTC__
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
                 "l"(&map), "r"(barrier), "r"(col), "r"(row), "r"(at[0]), "r"(at[1]), "r"(at[2])
                 : "memory");
#else
    shim_bring(to, map.words, barrier, {col, row, at[0], at[1], at[2]});
#endif
}

// ---- registers

// Sets the number of registers that a thread of this warpgroup may use from here on: fewer than it was started with, or
// more, once other warpgroups have released theirs.
template <int COUNT> DEVICE void fewer_registers() {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "as the manual says");
#ifdef __CUDACC_RTC__
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT> DEVICE void more_registers() {
    static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "as the manual says");
#ifdef __CUDACC_RTC__
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
