// From the bits of an element to a number that has its order.
//
// A module says how the bits of its dtype make up a number: ELEMENT is their type, KIND is 0 for
// truth values and unsigned integers, 1 for two's complement, 2 for floats, whose infinity has the
// bits INFINITE.
#ifndef NOMINA_KEYS_CUH
#define NOMINA_KEYS_CUH

#include "index.cuh"

typedef ELEMENT Bits;

constexpr u32 WIDTH = sizeof(Bits) * 8;
constexpr Bits ALL = static_cast<Bits>(~static_cast<Bits>(0));
constexpr Bits SIGN = static_cast<Bits>(static_cast<Bits>(1) << (WIDTH - 1));

// Zeros of both signs are equal, and every NaN is the greatest number of the width, which no other
// float is.
DEVICE Bits key_of(Bits x) {
#if KIND == 0
    return x;
#elif KIND == 1
    return static_cast<Bits>(x ^ SIGN);
#else
    Bits magnitude = static_cast<Bits>(x & static_cast<Bits>(~SIGN));
    if (magnitude > static_cast<Bits>(INFINITE)) return ALL;
    if (magnitude == 0) return SIGN;
    return static_cast<Bits>((x & SIGN) == 0 ? x | SIGN : ~x);
#endif
}

DEVICE bool key_is_nan(Bits key) { return KIND == 2 && key == ALL; }

// Whether several elements have this key, so that it does not tell which.
DEVICE bool key_is_shared(Bits key) { return KIND == 2 && (key == ALL || key == SIGN); }

// The element of a key that is not shared.
DEVICE Bits element_of(Bits key) {
#if KIND == 0
    return key;
#elif KIND == 1
    return static_cast<Bits>(key ^ SIGN);
#else
    return static_cast<Bits>((key & SIGN) != 0 ? key ^ SIGN : ~key);
#endif
}

// Lines of an operand, and where their results go: the operand, elements, positions.
struct Lines {
    const Bits* x;
    Bits* values;
    i64* positions;
    u64 count, len;
    // From one element of a line to the next, in bytes.
    i64 steps[3];
    // Set where keys are sorted in reverse order.
    u64 turn;
    Strided<3> starts;

    DEVICE Bits turned() const { return turn != 0 ? ALL : static_cast<Bits>(0); }
};

DEVICE const Bits* line_of(const Lines& lines, INDEX line) {
    i64 start[3];
    offsets(lines.starts, line, start);
    return at_byte(lines.x, start[0]);
}

DEVICE Bits read_key(const Lines& lines, INDEX line, INDEX at) {
    const Bits* x = at_byte(line_of(lines, line), static_cast<i64>(at) * lines.steps[0]);
    return static_cast<Bits>(key_of(*x) ^ lines.turned());
}

// Result number `index` of a line is the element with this key and position.
DEVICE void put(const Lines& lines, INDEX line, INDEX index, Bits key, INDEX at) {
    i64 start[3];
    offsets(lines.starts, line, start);
    if (lines.values != nullptr) {
        Bits value = static_cast<Bits>(key ^ lines.turned());
        value = key_is_shared(value)
                    ? *at_byte(lines.x, start[0] + static_cast<i64>(at) * lines.steps[0])
                    : element_of(value);
        *at_byte(lines.values, start[1] + static_cast<i64>(index) * lines.steps[1]) = value;
    }
    if (lines.positions != nullptr)
        *at_byte(lines.positions, start[2] + static_cast<i64>(index) * lines.steps[2]) =
            static_cast<i64>(at);
}

#endif
