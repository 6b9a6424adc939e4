// Random words: Philox 4x32 with 10 rounds, of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", 2011. runtime/src/random/mod.rs documents which words make up which
// element.
#ifndef NOMINA_PHILOX_CUH
#define NOMINA_PHILOX_CUH
#include "exact.cuh"

// The seed and first position of a fill's words.
struct Words {
    u64 seed, position;
};

struct Block {
    u32 at[4];

    DEVICE u32 operator[](int i) const { return at[i]; }
};

// Computes both halves of a product of words.
DEVICE void multiply(u32 a, u32 b, u32& high, u32& low) {
#ifdef __CUDACC_RTC__
    // One instruction; for a product of u64 the compiler also adds the halves that are zero.
    asm("{ .reg .u64 x; mul.wide.u32 x, %2, %3; mov.b64 {%0, %1}, x; }" : "=r"(low), "=r"(high) : "r"(a), "r"(b));
#else
    const u64 x = static_cast<u64>(a) * b;
    high = static_cast<u32>(x >> 32), low = static_cast<u32>(x);
#endif
}

// Returns four words: a function of a position, a number that separates draws at one position, and
// a key.
DEVICE Block philox(u64 position, u32 draw, u64 key) {
    u32 a = static_cast<u32>(position), b = static_cast<u32>(position >> 32), c = draw, d = 0;
    u32 low = static_cast<u32>(key), high = static_cast<u32>(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 x, y, x_low, y_low;
        multiply(0xD2511F53u, a, x, x_low);
        multiply(0xCD9E8D57u, c, y, y_low);
        a = y ^ b ^ low;
        b = y_low;
        c = x ^ d ^ high;
        d = x_low;
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return {{a, b, c, d}};
}

// Returns the first `bits` bits of a word as an integer.
DEVICE Exact<f32> whole32(u32 word, u32 bits) { return static_cast<f32>(word >> (32 - bits)); }

// Returns all 32 bits, rounded to an f32.
DEVICE Exact<f32> word32(u32 word) { return static_cast<f32>(word); }

DEVICE Exact<f64> word64(u32 word) { return static_cast<f64>(word); }

// Returns the first 53 bits of two words as an integer.
DEVICE Exact<f64> whole53(u32 high, u32 low) {
    return static_cast<f64>(static_cast<i64>((static_cast<u64>(high) << 32 | low) >> 11));
}

// Returns the first 52 bits.
DEVICE Exact<f64> whole52(u32 high, u32 low) {
    return static_cast<f64>(static_cast<i64>((static_cast<u64>(high) << 32 | low) >> 12));
}

// Returns the 64 bits of an element that takes two words.
DEVICE u64 bits_of(const Words& words, u64 element) {
    Block block = philox(words.position + element / 2, 0, words.seed);
    bool second = element & 1;
    u32 high = second ? block[2] : block[0], low = second ? block[3] : block[1];
    return static_cast<u64>(high) << 32 | low;
}

// Returns a number above 0 and up to 1.
DEVICE Exact<f64> unit53(u64 bits) {
    return static_cast<f64>(static_cast<i64>((bits >> 11) + 1)) * 0x1p-53;
}

// Returns the uniform number, above 0 and up to 1, of an element that takes two words.
DEVICE Exact<f64> unit_of(const Words& words, u64 element) { return unit53(bits_of(words, element)); }

#endif
