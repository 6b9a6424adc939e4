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

// Where keys are: as elements have them, or as they were written, line after line.
struct Source {
    const Bits* from;
    Bits turned;
    bool written;

    DEVICE Source(const Lines& lines, const Bits* keys)
        : from(keys == nullptr ? lines.x : keys), turned(lines.turned()), written(keys != nullptr) {}

    DEVICE Bits of(Bits bits) const {
        return written ? bits : static_cast<Bits>(key_of(bits) ^ turned);
    }
    // How many bytes an element of a line is away.
    DEVICE i64 place(const Lines& lines, INDEX line, INDEX at) const {
        if (written) return static_cast<i64>(line * static_cast<INDEX>(lines.len) + at) * sizeof(Bits);
        i64 start[3];
        offsets(lines.starts, line, start);
        return start[0] + static_cast<i64>(at) * lines.steps[0];
    }
};

// The keys of a line.
struct Keys : Source {
    i64 start, step;
    INDEX len;

    DEVICE Keys(const Lines& lines, INDEX line, const Bits* keys = nullptr)
        : Source(lines, keys), start(place(lines, line, 0)),
          step(written ? static_cast<i64>(sizeof(Bits)) : lines.steps[0]),
          len(static_cast<INDEX>(lines.len)) {}

    DEVICE Bits bits(INDEX at) const { return *at_byte(from, start + static_cast<i64>(at) * step); }
    DEVICE Bits operator[](INDEX at) const { return of(bits(at)); }
    // N keys, `apart` from each other: all are asked for before the first is looked at. Beyond the end they are the
    // greatest.
    template <u32 N> DEVICE void read(INDEX first, u32 apart, Bits (&keys)[N]) const {
#pragma unroll
        for (u32 n = 0; n < N; n++) {
            keys[n] = 0;
            if (first + n * apart < len) keys[n] = bits(first + n * apart);
        }
#pragma unroll
        for (u32 n = 0; n < N; n++) keys[n] = first + n * apart < len ? of(keys[n]) : ALL;
    }
    // Calls `f` with each key of a tile that is this thread's, and its place.
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

// Result number `index` of a line, which has its first at `start`, is the element with this key and position.
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
