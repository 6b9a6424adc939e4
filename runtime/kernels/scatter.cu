// Elements written by an index. T0 is their dtype, RULE how an element is combined with a value that is written to it:
// 0 replaces, 1 adds, 2 multiplies, 3 keeps the larger, 4 the smaller.
//
// If the order of the writes matters, it is the index's order: of several replacements, the last one is found first;
// products, and sums of whole rows, use a sorted index. Atomics are used if the order does not matter, and for sums of
// floats with one index per element.
#include "index.cuh"

constexpr u32 THREADS = 256;

constexpr int SET = 0, ADD = 1, MUL = 2, MAX = 3, MIN = 4;

typedef T0 T;

struct Update {
    T* target;
    const T* other;
    const i64* index;
    u64 count;
    // The target's stride along the indexed dim, in bytes.
    i64 step;
    i64 size, low;
    // For each line of the index and each position it may name: one more than the number of the last index that names
    // it.
    INDEX* last;
    // The sorted index, in one of two types, less `low`, and the original position of each entry along the index.
    const i32* keys;
    const i64* wide_keys;
    const i64* from;
    // The stride of `other` along the index in bytes, the length of a line of the index, and the number of possible
    // indices.
    i64 other_step, along, extent;
    Flag* flag;
    u32 record, check;
    // Byte offsets of target, other and index; the offset of the index's line in `last` or in the keys; the position
    // along the index.
    Strided<5> places;
};

DEVICE bool in_range(const Update& job, i64& index) {
    if (job.check == 0) return true;
    i64 found = job.check == 1 && index < 0 ? index + job.size : index;
    if (static_cast<u64>(found) >= static_cast<u64>(job.size)) {
        raise(job.flag, index, job.record);
        return false;
    }
    index = found;
    return true;
}

template <class A> DEVICE A sum(A a, A b) { return static_cast<A>(a + b); }
template <> DEVICE i64 sum(i64 a, i64 b) {
    return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b));
}
template <> DEVICE i32 sum(i32 a, i32 b) {
    return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b));
}
template <> DEVICE bool sum(bool a, bool b) { return a || b; }
template <> DEVICE c64 sum(c64 a, c64 b) { return c64{a.re + b.re, a.im + b.im}; }
template <> DEVICE c128 sum(c128 a, c128 b) { return c128{a.re + b.re, a.im + b.im}; }

template <class A> DEVICE A product(A a, A b) { return static_cast<A>(a * b); }
template <> DEVICE i64 product(i64 a, i64 b) {
    return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b));
}
template <> DEVICE i32 product(i32 a, i32 b) {
    return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b));
}
template <> DEVICE bool product(bool a, bool b) { return a && b; }
// Rounds each operation separately, like the host.
template <> DEVICE c64 product(c64 a, c64 b) {
    return c64{__fsub_rn(__fmul_rn(a.re, b.re), __fmul_rn(a.im, b.im)),
               __fadd_rn(__fmul_rn(a.re, b.im), __fmul_rn(a.im, b.re))};
}
template <> DEVICE c128 product(c128 a, c128 b) {
    return c128{__dsub_rn(__dmul_rn(a.re, b.re), __dmul_rn(a.im, b.im)),
                __dadd_rn(__dmul_rn(a.re, b.im), __dmul_rn(a.im, b.re))};
}

template <class A> DEVICE A combine(A own, A value) {
    if constexpr (RULE == ADD) {
        return sum(own, value);
    } else if constexpr (RULE == MUL) {
        return product(own, value);
    } else if constexpr (RULE == MAX) {
        A greater = own < value ? value : own;
        return value != value ? value : greater;
    } else {
        A smaller = own > value ? value : own;
        return value != value ? value : smaller;
    }
}

template <class A> DEVICE A applied(A own, A value) {
    if constexpr (RULE == SET)
        return value;
    else
        return narrow<A>(combine<Compute<A>>(widen(own), widen(value)));
}

// The accumulator type of the values of one position, which are then rounded once.
template <class A> struct Sum {
    using Type = A;
};
#if RULE == 1 || RULE == 2
template <> struct Sum<f32> {
    using Type = f64;
};
template <> struct Sum<f16> {
    using Type = f64;
};
template <> struct Sum<bf16> {
    using Type = f64;
};
template <> struct Sum<c64> {
    using Type = c128;
};
#endif

template <class A> DEVICE typename Sum<A>::Type accumulated(A x) {
    if constexpr (same<typename Sum<A>::Type, A>)
        return x;
    else if constexpr (is_complex<A>)
        return typename Sum<A>::Type{(f64)x.re, (f64)x.im};
    else
        return (f64)widen(x);
}

template <class A> DEVICE A rounded(typename Sum<A>::Type x) {
    if constexpr (same<typename Sum<A>::Type, A>)
        return x;
    else if constexpr (is_complex<A>)
        return A{(f32)x.re, (f32)x.im};
    else
        return narrow<A>((f32)x);
}

template <int bytes> struct BitsOf;
template <> struct BitsOf<1> {
    using Type = u8;
};
template <> struct BitsOf<2> {
    using Type = u16;
};
template <> struct BitsOf<4> {
    using Type = u32;
};
template <> struct BitsOf<8> {
    using Type = u64;
};

// An element and its bits.
template <class A> union Element {
    A value;
    typename BitsOf<sizeof(A)>::Type bits;

    DEVICE Element() {}
};

// Combines by compare-and-swap. Smaller elements are written together with their neighbours in a word, which lies
// within the tensor's memory because blocks are whole words.
template <class W, class A> DEVICE void exchange(A* to, A value) {
    const u32 within = static_cast<u32>(reinterpret_cast<u64>(to) % sizeof(W)), shift = within * 8;
    W* word = reinterpret_cast<W*>(at_byte(to, -static_cast<i64>(within)));
    constexpr W all = static_cast<W>(~static_cast<W>(0)) >> (8 * (sizeof(W) - sizeof(A)));
    W old = *word;
    for (;;) {
        Element<A> own;
        own.bits = static_cast<decltype(own.bits)>(old >> shift);
        own.value = applied(own.value, value);
        W next = (old & ~(all << shift)) | static_cast<W>(own.bits) << shift;
        W found = atomicCAS(word, old, next);
        if (found == old) return;
        old = found;
    }
}

// Whether the device has atomic addition of 16-bit floats. It has it only for pairs; a single one would be a loop.
#if defined(__CUDACC_RTC__)
template <class A> constexpr bool adds = same<A, f16> || (same<A, bf16> && __CUDA_ARCH__ >= 900);

// Adds -0 to the neighbour in the word, which leaves every number unchanged, including zeros of both signs.
template <class A> DEVICE void add_half(A* to, A value) {
    const u32 within = static_cast<u32>(reinterpret_cast<u64>(to) % 4);
    const u64 word = __cvta_generic_to_global(at_byte(to, -static_cast<i64>(within)));
    const u32 own = value.bits;
    const u32 pair = within == 0 ? own | 0x80000000u : own << 16 | 0x8000u;
    if constexpr (same<A, f16>)
        asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(word), "r"(pair) : "memory");
#if __CUDA_ARCH__ >= 900
    else
        asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(word), "r"(pair) : "memory");
#endif
}
#else
template <class A> constexpr bool adds = false;
template <class A> DEVICE void add_half(A*, A) {}
#endif

template <class A> DEVICE void update_at(A* to, A value) {
    if constexpr (RULE == ADD && (same<A, f32> || same<A, f64> || same<A, i32>)) {
        atomicAdd(to, value);
    } else if constexpr (RULE == ADD && same<A, i64>) {
        atomicAdd(reinterpret_cast<u64*>(to), static_cast<u64>(value));
    } else if constexpr (RULE == ADD && is_complex<A>) {
        atomicAdd(&to->re, value.re);
        atomicAdd(&to->im, value.im);
    } else if constexpr (RULE == ADD && adds<A>) {
        add_half(to, value);
    } else if constexpr (sizeof(A) <= 4) {
        exchange<u32>(to, value);
    } else if constexpr (sizeof(A) == 8) {
        exchange<u64>(to, value);
    }
}

#if RULE == 0
// Writes without ordering: no position is written twice, or all writes are equal.
KERNEL_BOUNDS(update_any, Update, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        i64 at[5];
        offsets(job.places, i, at);
        i64 index = *at_byte(job.index, at[2]);
        if (in_range(job, index))
            *at_byte(job.target, at[0] + index * job.step) = *at_byte(job.other, at[1]);
    }
}

// Finds the last index that names each position.
KERNEL_BOUNDS(update_claim, Update, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        i64 at[5];
        offsets(job.places, i, at);
        i64 index = *at_byte(job.index, at[2]);
        if (in_range(job, index))
            atomicMax(&job.last[at[3] + index - job.low], static_cast<INDEX>(at[4] + 1));
    }
}

// Writes only the last value; indices were checked when positions were claimed.
KERNEL_BOUNDS(update_last, Update, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        i64 at[5];
        offsets(job.places, i, at);
        i64 index = *at_byte(job.index, at[2]);
        if (!in_range(job, index)) continue;
        if (job.last[at[3] + index - job.low] == static_cast<INDEX>(at[4] + 1))
            *at_byte(job.target, at[0] + index * job.step) = *at_byte(job.other, at[1]);
    }
}
#else
KERNEL_BOUNDS(update_any, Update, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        i64 at[5];
        offsets(job.places, i, at);
        i64 index = *at_byte(job.index, at[2]);
        if (in_range(job, index))
            update_at(at_byte(job.target, at[0] + index * job.step), *at_byte(job.other, at[1]));
    }
}
#endif

DEVICE i64 sorted_key(const Update& job, i64 at) {
    return job.keys != nullptr ? static_cast<i64>(job.keys[at]) : job.wide_keys[at];
}

// With a sorted index: the thread at the first of equal indices makes all of their writes, in order.
KERNEL_BOUNDS(update_sorted, Update, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        i64 at[5];
        offsets(job.places, i, at);
        i64 line = at[3], place = at[4];
        i64 index = sorted_key(job, line + place);
        // Indices out of range are last, as the index beyond all others.
        if (index >= job.extent) continue;
        if (place > 0 && sorted_key(job, line + place - 1) == index) continue;
        T* to = at_byte(job.target, at[0] + (index + job.low) * job.step);
        typename Sum<T>::Type own = accumulated(*to);
        while (place < job.along && sorted_key(job, line + place) == index) {
            const T value =
                *at_byte(job.other, at[1] + job.from[line + place] * job.other_step);
            own = applied(own, accumulated(value));
            place++;
        }
        *to = rounded<T>(own);
    }
}
