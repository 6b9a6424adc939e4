// Mapping from the bits of an element to an unsigned key of the same order.
//
// A module defines how the bits of its dtype encode a number: ELEMENT is their type, KIND is 0 for bool and unsigned
// integers, 1 for two's complement, 2 for floats, whose infinity has the bits INFINITE.
#ifndef NOMINA_KEYS_CUH
#define NOMINA_KEYS_CUH

#include "index.cuh"

typedef ELEMENT Bits;

constexpr u32 WIDTH = sizeof(Bits) * 8;
constexpr Bits ALL = static_cast<Bits>(~static_cast<Bits>(0));
constexpr Bits SIGN = static_cast<Bits>(static_cast<Bits>(1) << (WIDTH - 1));

// Zeros of both signs have equal keys. Every NaN gets the largest key, which no other float has.
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

// Returns whether several elements have this key, so that it does not identify the element.
DEVICE bool key_is_shared(Bits key) { return KIND == 2 && (key == ALL || key == SIGN); }

// Returns the element of a key that is not shared.
DEVICE Bits element_of(Bits key) {
#if KIND == 0
    return key;
#elif KIND == 1
    return static_cast<Bits>(key ^ SIGN);
#else
    return static_cast<Bits>((key & SIGN) != 0 ? key ^ SIGN : ~key);
#endif
}

// The lines of an operand and the destinations of their results: the operand, values, positions.
struct Lines {
    const Bits* x;
    Bits* values;
    i64* positions;
    u64 count, len;
    // Strides along a line, in bytes.
    i64 steps[3];
    // Nonzero if keys are sorted in reverse order.
    u64 turn;
    Strided<3> starts;

    DEVICE Bits turned() const { return turn != 0 ? ALL : static_cast<Bits>(0); }
};

// The source of keys: the elements of the operand, or keys that were written before, line after line.
struct Source {
    const Bits* from;
    Bits turned;
    bool written;

    DEVICE Source(const Lines& lines, const Bits* keys)
        : from(keys == nullptr ? lines.x : keys), turned(lines.turned()), written(keys != nullptr) {}

    DEVICE Bits of(Bits bits) const {
        return written ? bits : static_cast<Bits>(key_of(bits) ^ turned);
    }
    // Returns the byte offset of an element of a line.
    DEVICE i64 place(const Lines& lines, INDEX line, INDEX at) const {
        if (written) return static_cast<i64>(line * static_cast<INDEX>(lines.len) + at) * sizeof(Bits);
        i64 start[3];
        offsets(lines.starts, line, start);
        return start[0] + static_cast<i64>(at) * lines.steps[0];
    }
};

// The keys of one line.
struct Keys : Source {
    i64 start, step;
    INDEX len;

    DEVICE Keys(const Lines& lines, INDEX line, const Bits* keys = nullptr)
        : Source(lines, keys), start(place(lines, line, 0)),
          step(written ? static_cast<i64>(sizeof(Bits)) : lines.steps[0]),
          len(static_cast<INDEX>(lines.len)) {}

    DEVICE Bits bits(INDEX at) const { return *at_byte(from, start + static_cast<i64>(at) * step); }
    DEVICE Bits operator[](INDEX at) const { return of(bits(at)); }
    // Reads N keys, `apart` from each other, and issues all loads before using the first. Keys past the end are the
    // largest.
    template <u32 N> DEVICE void read(INDEX first, u32 apart, Bits (&keys)[N]) const {
        if (written) {
            const Bits* const own = at_byte(from, start) + first;
#pragma unroll
            for (u32 n = 0; n < N; n++) {
                keys[n] = ALL;
                if (first + n * apart < len) keys[n] = own[n * apart];
            }
            return;
        }
#pragma unroll
        for (u32 n = 0; n < N; n++) {
            keys[n] = 0;
            if (first + n * apart < len) keys[n] = bits(first + n * apart);
        }
#pragma unroll
        for (u32 n = 0; n < N; n++)
            keys[n] = first + n * apart < len ? static_cast<Bits>(key_of(keys[n]) ^ turned) : ALL;
    }
    // Calls `f` with each of this thread's keys in a tile, and its position.
    template <u32 THREADS, u32 ITEMS, class F> DEVICE void each(INDEX first, F f) const {
        constexpr u32 MOST = sizeof(Bits) > 4 ? 4 : 8, N = ITEMS < MOST ? ITEMS : MOST;
        for (u32 item = 0; item < ITEMS; item += N) {
            const INDEX at = first + item * THREADS + threadIdx.x;
            Bits keys[N];
            read(at, THREADS, keys);
#pragma unroll
            for (u32 n = 0; n < N; n++)
                if (at + n * THREADS < len) f(keys[n], at + n * THREADS);
        }
    }
};

// Stores the element with this key and position as result `index` of a line whose offsets are `start`.
DEVICE void put(const Lines& lines, const i64 (&start)[3], INDEX index, Bits key, INDEX at) {
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
DEVICE void put(const Lines& lines, INDEX line, INDEX index, Bits key, INDEX at) {
    i64 start[3];
    offsets(lines.starts, line, start);
    put(lines, start, index, key, at);
}

#endif
