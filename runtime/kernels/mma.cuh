// Products of small matrices that the lanes of a warp hold together, for devices of compute capability 8.0 and later:
// 16 by 16 16-bit numbers, times 16 by 8, added to 16 by 8 of f32.
//
// With g = lane / 4 and p = 2 (lane % 4), the registers of two numbers hold, of the left matrix: rows g and g + 8 at
// columns p and p + 1, then the same rows at columns p + 8 and p + 9; of the right matrix: column g at rows p and p +
// 1, then p + 8 and p + 9; of the sums: row g at columns p and p + 1, then row g + 8.
#pragma once
#include "block.cuh"

DEVICE u32 lane_of_warp() { return threadIdx.x % 32; }

// Packs two numbers into a register.
template <class T> DEVICE u32 paired(f32 x, f32 y) {
    return static_cast<u32>(narrow<T>(x).bits) | static_cast<u32>(narrow<T>(y).bits) << 16;
}

#ifndef __CUDACC_RTC__
template <class T> f32 part_of(u32 pair, int which) {
    return widen(T{static_cast<u16>(which == 0 ? pair : pair >> 16)});
}
#endif

// sums += left right
template <class T>
DEVICE void multiply_add(f32 (&sums)[4], const u32 (&left)[4], const u32 (&right)[2]) {
#ifdef __CUDACC_RTC__
    if constexpr (same<T, f16>)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                     : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]),
                       "r"(right[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                     : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]),
                       "r"(right[1]));
#else
    const u32 lane = lane_of_warp(), group = lane / 4, pair = lane % 4 * 2;
    for (u32 half = 0; half < 2; half++)
        for (u32 owner = 0; owner < 4; owner++) {
            const u32 upper = __shfl_sync(FULL_WARP, left[half * 2], group * 4 + owner);
            const u32 lower = __shfl_sync(FULL_WARP, left[half * 2 + 1], group * 4 + owner);
            const u32 first = __shfl_sync(FULL_WARP, right[half], pair * 4 + owner);
            const u32 second = __shfl_sync(FULL_WARP, right[half], (pair + 1) * 4 + owner);
            for (int i = 0; i < 2; i++) {
                sums[0] += part_of<T>(upper, i) * part_of<T>(first, i);
                sums[1] += part_of<T>(upper, i) * part_of<T>(second, i);
                sums[2] += part_of<T>(lower, i) * part_of<T>(first, i);
                sums[3] += part_of<T>(lower, i) * part_of<T>(second, i);
            }
        }
#endif
}

#ifdef __CUDACC_RTC__
// Loads four matrices of 8 by 8 numbers from shared memory. Each lane passes the address of one row: the first eight
// lanes pass the rows of the first matrix, and so on.
template <bool turned> DEVICE void load_four(u32 (&out)[4], const u16* row) {
    const u32 place = static_cast<u32>(__cvta_generic_to_shared(row));
    if constexpr (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                     : "r"(place)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                     : "r"(place)
                     : "memory");
}
#endif

// Loads a left matrix from shared memory; its rows are `pitch` apart.
DEVICE void load_left(u32 (&left)[4], const u16* from, int pitch) {
    const u32 lane = lane_of_warp();
    const u16* const own = from + lane / 4 * pitch + lane % 4 * 2;
    left[0] = *reinterpret_cast<const u32*>(own);
    left[1] = *reinterpret_cast<const u32*>(own + 8 * pitch);
    left[2] = *reinterpret_cast<const u32*>(own + 8);
    left[3] = *reinterpret_cast<const u32*>(own + 8 * pitch + 8);
}

// Loads a right matrix that is stored column by column in shared memory, `pitch` apart.
DEVICE void load_right(u32 (&right)[2], const u16* from, int pitch) {
    const u32 lane = lane_of_warp();
    const u16* const own = from + lane / 4 * pitch + lane % 4 * 2;
    right[0] = *reinterpret_cast<const u32*>(own);
    right[1] = *reinterpret_cast<const u32*>(own + 8);
}

// Loads a right matrix that is stored row by row, `pitch` apart, each row aligned to 16 bytes.
DEVICE void load_right_turned(u32 (&right)[2], const u16* from, int pitch) {
    const u32 lane = lane_of_warp();
#ifdef __CUDACC_RTC__
    // Each of the first 16 lanes passes the address of a row.
    const u16* const row = from + lane % 16 * pitch;
    const u32 place = static_cast<u32>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(right[0]), "=r"(right[1])
                 : "r"(place)
                 : "memory");
#else
    const u16* const own = from + lane % 4 * 2 * pitch + lane / 4;
    for (int i = 0; i < 2; i++)
        right[i] = static_cast<u32>(own[i * 8 * pitch]) |
                   static_cast<u32>(own[(i * 8 + 1) * pitch]) << 16;
#endif
}

// Loads two right matrices like `load_right`; the second one is 16 numbers further along each column.
DEVICE void load_right_two(u32 (&right)[2][2], const u16* from, int pitch) {
#ifdef __CUDACC_RTC__
    const u32 lane = lane_of_warp();
    u32 four[4];
    load_four<false>(four, from + lane % 8 * pitch + lane / 8 * 8);
#pragma unroll
    for (int i = 0; i < 4; i++) right[i / 2][i % 2] = four[i];
#else
    load_right(right[0], from, pitch);
    load_right(right[1], from + 16, pitch);
#endif
}

// Loads two right matrices like `load_right_turned`; the second one is 8 columns further.
DEVICE void load_right_turned_two(u32 (&right)[2][2], const u16* from, int pitch) {
#ifdef __CUDACC_RTC__
    const u32 lane = lane_of_warp();
    u32 four[4];
    load_four<true>(four, from + lane % 16 * pitch + lane / 16 * 8);
#pragma unroll
    for (int i = 0; i < 4; i++) right[i / 2][i % 2] = four[i];
#else
    load_right_turned(right[0], from, pitch);
    load_right_turned(right[1], from + 8, pitch);
#endif
}

// Copies 16 bytes to shared memory asynchronously. They are visible after `arrived` has returned and all threads have
// passed a barrier. Both addresses are multiples of 16.
DEVICE void bring_16(void* shared, const void* from) {
#ifdef __CUDACC_RTC__
    const u32 place = static_cast<u32>(__cvta_generic_to_shared(shared));
    const u64 source = __cvta_generic_to_global(from);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(source) : "memory");
#else
    *static_cast<Pack<u16, 8>*>(shared) = *static_cast<const Pack<u16, 8>*>(from);
#endif
}

// Ends a group of `bring_16` copies.
DEVICE void brought() {
#ifdef __CUDACC_RTC__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups of this thread except the last `BUT`.
template <int BUT> DEVICE void arrived() {
#ifdef __CUDACC_RTC__
    asm volatile("cp.async.wait_group %0;" ::"n"(BUT) : "memory");
#endif
}
