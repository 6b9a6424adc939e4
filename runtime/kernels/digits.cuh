// Keys in the order of one digit of eight bits: ranks within a warp, what stands before each digit, and lines that one
// block has in shared memory.
#ifndef NOMINA_DIGITS_CUH
#define NOMINA_DIGITS_CUH

#include "block.cuh"
#include "keys.cuh"

constexpr u32 DIGITS = 256;

DEVICE u32 digit_of(Bits key, u32 shift) { return static_cast<u32>(key >> shift) & (DIGITS - 1); }

// A warp goes through elements in order: before one stand those of its digit that earlier rounds met, which `own`
// counts for each digit, and those in lower lanes.
DEVICE u32 rank_of(u32 digit, bool there, u16* own) {
    const u32 lane = threadIdx.x % 32;
    u32 peers = __ballot_sync(FULL_WARP, there);
#pragma unroll
    for (u32 bit = 1; bit < DIGITS; bit <<= 1) {
        u32 set = __ballot_sync(FULL_WARP, (digit & bit) != 0);
        peers &= (digit & bit) != 0 ? set : ~set;
    }
    u32 lower = __popc(peers & ((1u << lane) - 1));
    u32 before = own[digit];
    __syncwarp();
    if (there && lower == 0) own[digit] = before + __popc(peers);
    __syncwarp();
    return before + lower;
}

// Lines of a block by digits: threads, and elements that each has at most.
constexpr u32 BLOCK = 512, EACH = sizeof(Bits) > 4 ? 4 : 8, BLOCK_WARPS = BLOCK / 32;

// The sum before each of the threads that have a digit; all threads of the block call it, and a barrier stands before
// `parts`, which has room for each of their warps, may be written again.
template <class T> DEVICE T digits_before(T value, T* parts) {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    T upto = value;
    if (warp < DIGITS / 32) {
#pragma unroll
        for (u32 delta = 1; delta < 32; delta <<= 1) {
            const T before = shuffle_up(upto, delta);
            if (lane >= delta) upto += before;
        }
        if (lane == 31) parts[warp] = upto;
    }
    __syncthreads();
    T sum = upto - value;
    if (warp < DIGITS / 32) {
#pragma unroll
        for (u32 w = 0; w < DIGITS / 32 - 1; w++) sum += w < warp ? parts[w] : static_cast<T>(0);
    }
    return sum;
}

// Puts `len` keys and what goes with them in the order of one digit, where they lie. Behind `ranks` is room for each
// warp and digit, and twice for each digit.
DEVICE void sort_by_digit(Bits* keys, u16* at, u16* ranks, u32 len, u32 shift) {
    u32* inside = reinterpret_cast<u32*>(ranks + BLOCK_WARPS * DIGITS);
    SHARED_ARRAY(u32, parts, DIGITS / 32);
    const u32 rounds = (len + BLOCK - 1) / BLOCK;
    const u32 part = threadIdx.x / 32 * (32 * rounds) + threadIdx.x % 32;
    u16* own = ranks + threadIdx.x / 32 * DIGITS;
#pragma unroll
    for (u32 i = 0; i < DIGITS; i += 32) own[i + threadIdx.x % 32] = 0;
    __syncwarp();
    const auto there = [&](u32 item) { return item < rounds && part + item * 32 < len; };
    Bits key[EACH];
    // A rank in the warp's part above a place.
    u32 both[EACH];
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        key[item] = there(item) ? keys[part + item * 32] : ALL;
        both[item] = there(item) ? at[part + item * 32] : 0;
    }
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        if (item >= rounds) break;
        both[item] |= rank_of(digit_of(key[item], shift), there(item), own) << 16;
    }
    __syncthreads();
    // One thread for each digit: where it begins, and in each warp's part.
    u32 sum = 0;
    if (threadIdx.x < DIGITS) {
#pragma unroll
        for (u32 w = 0; w < BLOCK_WARPS; w++) {
            u32 count = ranks[w * DIGITS + threadIdx.x];
            ranks[w * DIGITS + threadIdx.x] = sum;
            sum += count;
        }
    }
    const u32 first = digits_before(sum, parts);
    if (threadIdx.x < DIGITS) inside[threadIdx.x] = first;
    __syncthreads();
    // All are looked for before the first is written.
    u32 slots[EACH];
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        const u32 digit = digit_of(key[item], shift);
        slots[item] = there(item) ? inside[digit] + own[digit] + (both[item] >> 16) : 0;
    }
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        if (!there(item)) continue;
        keys[slots[item]] = key[item];
        at[slots[item]] = static_cast<u16>(both[item]);
    }
    __syncthreads();
}

#endif
