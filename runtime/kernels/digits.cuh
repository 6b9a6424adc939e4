// Radix sort by digits of eight bits: ranks within a warp, offsets of the digits, and a sort of lines that fit into one
// block's shared memory.
#ifndef NOMINA_DIGITS_CUH
#define NOMINA_DIGITS_CUH

#include "block.cuh"
#include "keys.cuh"

constexpr u32 DIGITS = 256;

DEVICE u32 digit_of(Bits key, u32 shift) { return static_cast<u32>(key >> shift) & (DIGITS - 1); }

// Returns the lanes of the warp that have this digit.
DEVICE u32 lanes_with(u32 digit) {
    u32 peers = FULL_WARP;
#pragma unroll
    for (u32 bit = 1; bit < DIGITS; bit <<= 1) {
#ifdef __CUDACC_RTC__
        // A test, a vote and two masks for each bit; from C++ the compiler makes seven instructions of it.
        asm volatile("{\n.reg .pred set;\n.reg .b32 votes;\n"
                     "and.b32 votes, %1, %2;\n"
                     "setp.ne.u32 set, votes, 0;\n"
                     "vote.sync.ballot.b32 votes, set, 0xffffffff;\n"
                     "@!set not.b32 votes, votes;\n"
                     "and.b32 %0, %0, votes;\n}"
                     : "+r"(peers)
                     : "r"(digit), "r"(bit));
#else
        const bool set = (digit & bit) != 0;
        const u32 votes = __ballot_sync(FULL_WARP, set);
        peers &= set ? votes : ~votes;
#endif
    }
    return peers;
}

// Returns the rank of an element within its digit. A warp goes through its elements in order, so the rank is the number
// of elements with this digit in earlier rounds, which `own` counts for each digit, plus those in lower lanes. All lanes
// take part; those without an element have the key `ALL`, which comes last.
DEVICE u32 rank_of(u32 digit, u16* own) {
    const u32 peers = lanes_with(digit);
    const u32 lower = __popc(peers & ((1u << threadIdx.x % 32) - 1));
    const u32 before = own[digit];
    __syncwarp();
    if (lower == 0) own[digit] = before + __popc(peers);
    __syncwarp();
    return before + lower;
}

// The sort of lines by one block: its threads, and the maximal number of elements per thread.
constexpr u32 BLOCK = 512, EACH = sizeof(Bits) > 4 ? 4 : 8, BLOCK_WARPS = BLOCK / 32;

// Returns the exclusive prefix sum over the threads that own a digit. All threads of the block call it. `parts` has
// room for each of those threads' warps, and a barrier is required before it may be written again.
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

// Sorts `len` keys and their positions by one digit, in place. `ranks` has an entry for each warp and digit, followed
// by room for two entries per digit.
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
    // The rank within the warp's part in the high half, the position in the low half.
    u32 both[EACH];
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        key[item] = there(item) ? keys[part + item * 32] : ALL;
        both[item] = there(item) ? at[part + item * 32] : 0;
    }
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        if (item >= rounds) break;
        both[item] |= rank_of(digit_of(key[item], shift), own) << 16;
    }
    __syncthreads();
    // One thread per digit: the digit's start in the line, and its start in each warp's part.
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
    // Compute all slots before the first write.
    u32 slots[EACH];
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        const u32 digit = digit_of(key[item], shift);
        slots[item] = inside[digit] + own[digit] + (both[item] >> 16);
    }
#pragma unroll
    for (u32 item = 0; item < EACH; item++) {
        if (item >= rounds) break;
        keys[slots[item]] = key[item];
        at[slots[item]] = static_cast<u16>(both[item]);
    }
    __syncthreads();
}

#endif
