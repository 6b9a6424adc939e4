// Random numbers from words, for contiguous elements.
//
//     T0      the dtype of the elements; complex numbers are pairs of real ones
//     DRAW    the distribution: uniform normal log_normal exponential_times cauchy geometric
//             bernoulli integers, or bernoulli_of poisson_of, with a parameter for each element
#include "convert.cuh"
#include "index.cuh"
#include "philox.cuh"

struct Args {
    T0* dest;
    // Parameters of the elements, if the distribution has them; `kind` numbers their float dtype.
    const void* of;
    Flag* flag;
    u64 count;
    Words words;
    // The distribution's parameters, in the type used in computation.
    f64 first, second;
    // The range that results are clamped to.
    f64 low, high;
    // Integers: the smallest, and their number, with 0 for 2^64. Bernoulli: words below the bound are true.
    i64 least;
    u64 many;
    u32 bits, kind, record, pad;
};

DEVICE f32 within(Exact<f32> x, const Args& job) {
    f32 low = static_cast<f32>(job.low), high = static_cast<f32>(job.high);
    f32 y = x.value < low ? low : x.value;
    return y > high ? high : y;
}
DEVICE f64 within(Exact<f64> x, const Args& job) {
    f64 y = x.value < job.low ? job.low : x.value;
    return y > job.high ? job.high : y;
}

template <class V> struct Two {
    Exact<V> first, second;
};

DEVICE Two<f32> parameters(const Args& job, f32) {
    return {static_cast<f32>(job.first), static_cast<f32>(job.second)};
}
DEVICE Two<f64> parameters(const Args& job, f64) { return {job.first, job.second}; }

// Calls `make` with an element's words: f32 takes one word, f64 two.
template <class Make> DEVICE void each(const Block& w, f32* out, Make make) {
#pragma unroll
    for (int i = 0; i < 4; i++) out[i] = make(w[i]);
}
template <class Make> DEVICE void each(const Block& w, f64* out, Make make) {
    out[0] = make(w[0], w[1]);
    out[1] = make(w[2], w[3]);
}

// Computes normal numbers in pairs, with the Box-Muller transform.
template <class Value> DEVICE void normals(const Block& w, f32* out, Value value) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        // Above 0, because the logarithm of zero is infinite.
        Exact<f32> unit = (word32(w[i]) + Exact<f32>(1.0f)) * Exact<f32>(0x1p-32f);
        Exact<f32> radius = plain_root(Exact<f32>(-2.0f) * natural_log(unit));
        // The product of the factors 2^-24 and 4, neither of which rounds.
        SinCos<f32> angle = sin_cos_quarters(whole32(w[i + 1], 24) * Exact<f32>(0x1p-22f));
        out[i] = value(radius * angle.cos).value;
        out[i + 1] = value(radius * angle.sin).value;
    }
}
template <class Value> DEVICE void normals(const Block& w, f64* out, Value value) {
    Exact<f64> unit = (whole53(w[0], w[1]) + Exact<f64>(1.0)) * Exact<f64>(0x1p-53);
    Exact<f64> radius = root(Exact<f64>(-2.0) * natural_log(unit));
    SinCos<f64> angle = sin_cos_turn(whole53(w[2], w[3]) * Exact<f64>(0x1p-53));
    out[0] = value(radius * angle.cos).value;
    out[1] = value(radius * angle.sin).value;
}

template <class T> using Float = typename ComputeOf<T>::Type;

// A distribution names the type that it computes in for elements of T, and computes the elements of a block of words,
// whose first is element `at`.
struct uniform {
    template <class T> using Value = Float<T>;
    static DEVICE void make(const Block& w, u64, const Args& job, f32* out) {
        Two<f32> p = parameters(job, f32());
        u32 bits = job.bits;
        each(w, out, [&](u32 word) { return within(whole32(word, bits) * p.second + p.first, job); });
    }
    static DEVICE void make(const Block& w, u64, const Args& job, f64* out) {
        Two<f64> p = parameters(job, f64());
        each(w, out, [&](u32 a, u32 b) { return within(whole53(a, b) * p.second + p.first, job); });
    }
};

struct normal {
    template <class T> using Value = Float<T>;
    template <class V> static DEVICE void make(const Block& w, u64, const Args& job, V* out) {
        Two<V> p = parameters(job, V());
        normals(w, out, [&](Exact<V> z) { return z * p.second + p.first; });
    }
};

struct log_normal {
    template <class T> using Value = Float<T>;
    template <class V> static DEVICE void make(const Block& w, u64, const Args& job, V* out) {
        Two<V> p = parameters(job, V());
        normals(w, out, [&](Exact<V> z) { return exponential(z * p.second + p.first); });
    }
};

struct exponential_of_unit {
    template <class V> static DEVICE V time(Exact<V> unit, V below_one, const Args& job) {
        if (!(unit.value < static_cast<V>(1))) unit = below_one;
        return within(-natural_log(unit) / parameters(job, V()).first, job);
    }
};

struct exponential_times : exponential_of_unit {
    template <class T> using Value = Float<T>;
    static DEVICE void make(const Block& w, u64, const Args& job, f32* out) {
        each(w, out, [&](u32 word) {
            Exact<f32> unit = (word32(word) + Exact<f32>(0.5f)) * Exact<f32>(0x1p-32f);
            return time<f32>(unit, 1.0f - 0x1p-24f, job);
        });
    }
    static DEVICE void make(const Block& w, u64, const Args& job, f64* out) {
        each(w, out, [&](u32 a, u32 b) {
            Exact<f64> unit = (whole53(a, b) + Exact<f64>(1.0)) * Exact<f64>(0x1p-53);
            return time<f64>(unit, 1.0 - 0x1p-53, job);
        });
    }
};

struct cauchy {
    template <class T> using Value = Float<T>;
    // Computes from a number between 0 and 1, symmetrically and exactly.
    template <class V> static DEVICE V far(Exact<V> unit, const Args& job) {
        Two<V> p = parameters(job, V());
        Exact<V> half = static_cast<V>(0.5);
        bool left = unit < half;
        Exact<V> near = left ? unit : Exact<V>(static_cast<V>(1)) - unit;
        SinCos<V> angle = sin_cos_turn(near * half);
        Exact<V> far = angle.cos / angle.sin;
        return ((left ? -far : far) * p.second + p.first).value;
    }
    static DEVICE void make(const Block& w, u64, const Args& job, f32* out) {
        each(w, out, [&](u32 word) {
            return far((whole32(word, 23) + Exact<f32>(0.5f)) * Exact<f32>(0x1p-23f), job);
        });
    }
    static DEVICE void make(const Block& w, u64, const Args& job, f64* out) {
        each(w, out, [&](u32 a, u32 b) {
            return far((whole52(a, b) + Exact<f64>(0.5)) * Exact<f64>(0x1p-52), job);
        });
    }
};

struct geometric {
    template <class T> using Value = f64;
    static DEVICE void make(const Block& w, u64, const Args& job, f64* out) {
        each(w, out, [&](u32 a, u32 b) {
            Exact<f64> unit = (whole53(a, b) + Exact<f64>(1.0)) * Exact<f64>(0x1p-53);
            // The first parameter is the logarithm of the probability of failure.
            return within(Exact<f64>(ceil((natural_log(unit) / Exact<f64>(job.first)).value)), job);
        });
    }
};

struct bernoulli {
    template <class T> using Value = bool;
    static DEVICE void make(const Block& w, u64, const Args& job, bool* out) {
#pragma unroll
        for (int i = 0; i < 4; i++) out[i] = w[i] < job.many;
    }
};

struct integers {
    template <class T> using Value = i64;
    static DEVICE void make(const Block& w, u64, const Args& job, i64* out) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u64 bits = static_cast<u64>(w[2 * i]) << 32 | w[2 * i + 1];
            u64 offset = job.many == 0 ? bits : __umul64hi(bits, job.many);
            out[i] = static_cast<i64>(static_cast<u64>(job.least) + offset);
        }
    }
};

DEVICE f64 parameter(const Args& job, u64 at) {
    switch (job.kind) {
    case 0: return widen(static_cast<const f16*>(job.of)[at]);
    case 1: return widen(static_cast<const bf16*>(job.of)[at]);
    case 2: return static_cast<const f32*>(job.of)[at];
    default: return static_cast<const f64*>(job.of)[at];
    }
}

struct bernoulli_of {
    template <class T> using Value = bool;
    static DEVICE void make(const Block& w, u64 at, const Args& job, bool* out) {
        // An element whose parameter is not a probability, if any.
        u64 wrong = job.count;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            // Do not read past the last element.
            u64 here = at + i < job.count ? at + i : at;
            f64 p = parameter(job, here);
            if (!(p >= 0.0 && p <= 1.0)) wrong = here;
            out[i] = word64(w[i]) < Exact<f64>(p) * Exact<f64>(0x1p32);
        }
        if (wrong < job.count) raise(job.flag, static_cast<i64>(wrong), job.record);
    }
};

// A stream of uniform numbers for one element, above 0 and up to 1: two from each draw.
struct Units {
    u64 position, seed, kept;
    u32 draw;

    DEVICE Exact<f64> next() {
        u64 bits = kept;
        if (draw % 2 == 0) {
            Block block = philox(position, draw / 2, seed);
            bits = static_cast<u64>(block[0]) << 32 | block[1];
            kept = static_cast<u64>(block[2]) << 32 | block[3];
        }
        draw++;
        return unit53(bits);
    }
};

// Draws a Poisson number by rejection: W. Hoermann, "The transformed rejection method for generating Poisson random
// variables", 1993, algorithm PTRS, with the constants given there.
DEVICE f64 by_rejection(Exact<f64> rate, Units& units) {
    using E = Exact<f64>;
    E b = E(0.931) + E(2.53) * root(rate);
    E a = E(-0.059) + E(0.02483) * b;
    E inverse_alpha = E(1.1239) + E(1.1328) / (b - E(3.4));
    E quick = E(0.9277) - E(3.6224) / (b - E(2.0));
    E ln_rate = natural_log(rate);
    for (;;) {
        E u = units.next() - E(0.5), v = units.next();
        E near = E(0.5) - E(fabs(u.value));
        // The transform has no value for this number.
        if (near.value <= 0.0) continue;
        E k = floor(((E(2.0) * a / near + b) * u + rate + E(0.43)).value);
        if (near.value >= 0.07 && v.value <= quick.value) return k.value;
        if (k.value < 0.0 || (near.value < 0.013 && v > near)) continue;
        E left = natural_log(v) + natural_log(inverse_alpha) - natural_log(a / (near * near) + b);
        if (left.value <= (k * ln_rate - rate - ln_factorial(k)).value) return k.value;
    }
}

struct poisson_of {
    template <class T> using Value = f64;
    static DEVICE void make(const Block&, u64 at, const Args& job, f64* out) {
        *out = one(job, at);
    }
    static DEVICE f64 one(const Args& job, u64 at) {
        Exact<f64> rate = parameter(job, at);
        if (!(rate.value >= 0.0)) {
            raise(job.flag, static_cast<i64>(at), job.record);
            return 0.0;
        }
        Units units = {job.words.position + at, job.words.seed, 0, 0};
        if (rate.value < 10.0) {
            // Counts the uniform numbers that can be multiplied before the product falls to exp(-rate).
            Exact<f64> limit = exponential(-rate), product = units.next();
            f64 count = 0.0;
            while (product > limit) {
                count += 1.0;
                product = product * units.next();
            }
            return count;
        }
        if (rate.value < 1e9) return by_rejection(rate, units);
        // The normal distribution agrees in all visible digits.
        Exact<f64> radius = root(Exact<f64>(-2.0) * natural_log(units.next()));
        SinCos<f64> angle = sin_cos_turn(units.next());
        return floor((rate + root(rate) * radius * angle.cos).value);
    }
};

// Each thread computes the elements of one block of words.
KERNEL_BOUNDS(fill, Args, 256) {
    using V = DRAW::Value<T0>;
    // An element that draws until a number is accepted gets its own thread and words.
    constexpr bool own_words = same<DRAW, poisson_of>;
    constexpr int N = own_words ? 1 : sizeof(V) == 8 ? 2 : 4;
    u64 blocks = (job.count + N - 1) / N, step = static_cast<u64>(gridDim.x) * blockDim.x;
    bool aligned = reinterpret_cast<u64>(job.dest) % (N * sizeof(T0)) == 0;
    for (u64 i = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; i < blocks; i += step) {
        Block words = {};
        if constexpr (!own_words) words = philox(job.words.position + i, 0, job.words.seed);
        V made[N];
        u64 at = N * i;
        DRAW::make(words, at, job, made);
        if (aligned && at + N <= job.count) {
            Pack<T0, N> pack;
#pragma unroll
            for (int k = 0; k < N; k++) pack[k] = convert<T0>(made[k]);
            *reinterpret_cast<Pack<T0, N>*>(job.dest + at) = pack;
        } else {
#pragma unroll
            for (int k = 0; k < N; k++)
                if (at + k < job.count) job.dest[at + k] = convert<T0>(made[k]);
        }
    }
}
