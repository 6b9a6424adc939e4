// Elementwise operators of one to four inputs.
//
// Defines: EXPR1 to EXPR4, the expression of x, y, z and w, by the number of inputs; COMPUTE, the dtype it computes in;
// T0 to T3, the dtypes of the input tensors, undefined for inputs that are numbers; OUT, the dtype of the stored
// result. Optional: CONDITION, the input that is converted to bool from any dtype; PACK, the elements of one access, if
// not 16 bytes' worth; SPREAD, a bit mask of the inputs with one element for a whole pack; HEAVY, if the computation
// takes so long that accesses do not matter; INDEX.
#include "index.cuh"
#include "numeric.cuh"

#ifndef INDEX
#define INDEX u32
#endif
#ifndef SPREAD
#define SPREAD 0
#endif
#ifndef CONDITION
#define CONDITION -1
#endif

// EACH(F): F of every input. LIST(F): the same, separated by commas.
#if defined(EXPR1)
#define EXPR EXPR1
#define EACH(F) F(0)
#define LIST(F) F(0)
#define NAMED(F) F(0) x
#elif defined(EXPR2)
#define EXPR EXPR2
#define EACH(F) F(0) F(1)
#define LIST(F) F(0), F(1)
#define NAMED(F) F(0) x, F(1) y
#elif defined(EXPR3)
#define EXPR EXPR3
#define EACH(F) F(0) F(1) F(2)
#define LIST(F) F(0), F(1), F(2)
#define NAMED(F) F(0) x, F(1) y, F(2) z
#else
#define EXPR EXPR4
#define EACH(F) F(0) F(1) F(2) F(3)
#define LIST(F) F(0), F(1), F(2), F(3)
#define NAMED(F) F(0) x, F(1) y, F(2) z, F(3) w
#endif

// An input without a dtype is a number, or absent.
struct None {};
#ifndef T0
#define T0 None
#endif
#ifndef T1
#define T1 None
#endif
#ifndef T2
#define T2 None
#endif
#ifndef T3
#define T3 None
#endif

template <bool which, class A, class B> struct Choose { using Type = A; };
template <class A, class B> struct Choose<false, A, B> { using Type = B; };

// Input K: its types in computation and in memory, and the bytes of one access.
template <int K, class T> struct Operand {
    static constexpr bool number = same<T, None>;
    static constexpr bool single = number || (SPREAD >> K & 1);
    using Value = typename Choose<K == CONDITION, bool, COMPUTE>::Type;
    using Stored = typename Choose<number, Value, T>::Type;
    static constexpr int size = number ? 1 : sizeof(Stored);
};
#define OPERAND(k) Operand<k, T##k>

DEVICE constexpr int greater(int a, int b) { return a < b ? b : a; }
#ifdef PACK
constexpr int WIDTH = PACK;
#else
constexpr int WIDTH = 16 / greater(greater(greater(OPERAND(0)::size, OPERAND(1)::size),
                                           greater(OPERAND(2)::size, OPERAND(3)::size)),
                                   (int)sizeof(OUT));
#endif
// The number of accesses issued at once, per thread and input.
#ifdef HEAVY
constexpr int AHEAD = 1;
#else
constexpr int AHEAD = is_complex<COMPUTE> ? 1 : WIDTH == 1 ? 4 : 2;
#endif
constexpr int THREADS = 256;

namespace numeric {
#define VALUE(k) OPERAND(k)::Value
DEVICE auto evaluate(NAMED(VALUE)) { return EXPR; }
}  // namespace numeric

struct alignas(16) Bytes {
    u8 at[16];
};

struct Args {
    u64 count;
    u8* dest;
    const u8* sources[4];
    Bytes numbers[4];
};

// One access of each input.
struct Loaded {
#define MEMBER(k) Pack<OPERAND(k)::Stored, OPERAND(k)::single ? 1 : WIDTH> of##k;
    EACH(MEMBER)
};

template <class T> DEVICE T read(const u8* from) { return *reinterpret_cast<const T*>(from); }

// Loads the inputs that are numbers.
DEVICE Loaded numbers(const Args& job) {
    Loaded loaded;
#define NUMBER(k)                                                                                  \
    if constexpr (OPERAND(k)::number) loaded.of##k[0] = read<OPERAND(k)::Stored>(job.numbers[k].at);
    EACH(NUMBER)
    return loaded;
}

// Computes and stores the elements of a pack.
DEVICE void store(const Loaded& loaded, u8* dest) {
    Pack<OUT, WIDTH> out;
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
#define ELEMENT(k) convert<OPERAND(k)::Value>(loaded.of##k[OPERAND(k)::single ? 0 : i])
        out[i] = convert<OUT>(numeric::evaluate(LIST(ELEMENT)));
    }
    *reinterpret_cast<Pack<OUT, WIDTH>*>(dest) = out;
}

#define CONTIGUOUS(k)                                                                              \
    if constexpr (!OPERAND(k)::number)                                                             \
        loaded[u].of##k = read<decltype(loaded[u].of##k)>(                                         \
            job.sources[k] + (u64)at * (WIDTH * sizeof(OPERAND(k)::Stored)));

// All operands are contiguous, at addresses aligned for packs.
KERNEL_BOUNDS(contiguous, Args, THREADS) {
    const Loaded fixed = numbers(job);
    const INDEX packs = (INDEX)(job.count / WIDTH), step = (INDEX)gridDim.x * (THREADS * AHEAD);
    for (INDEX first = (INDEX)blockIdx.x * (THREADS * AHEAD) + threadIdx.x; first < packs; first += step) {
        Loaded loaded[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            loaded[u] = fixed;
            INDEX at = first + (INDEX)(u * THREADS);
            if (at < packs) {
                EACH(CONTIGUOUS)
            }
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            INDEX at = first + (INDEX)(u * THREADS);
            if (at < packs) store(loaded[u], job.dest + (u64)at * (WIDTH * sizeof(OUT)));
        }
    }
    if constexpr (WIDTH > 1) {
        // The remaining elements, less than a pack.
        u64 last = (u64)packs * WIDTH + threadIdx.x;
        if (blockIdx.x == 0 && last < job.count) {
#define STORED(k) reinterpret_cast<const OPERAND(k)::Stored*>(job.sources[k])[last]
#define SINGLE(k) convert<OPERAND(k)::Value>(OPERAND(k)::number ? fixed.of##k[0] : STORED(k))
            reinterpret_cast<OUT*>(job.dest)[last] = convert<OUT>(numeric::evaluate(LIST(SINGLE)));
        }
    }
}

// The result's strides, then the inputs'; the innermost dim counts packs.
struct StridedArgs {
    Args job;
    Strided<5> at;
};

#define ANYWHERE(k)                                                                                \
    if constexpr (!OPERAND(k)::number)                                                             \
        loaded[u].of##k = read<decltype(loaded[u].of##k)>(at_byte(args.job.sources[k], places[k + 1]));

KERNEL_BOUNDS(strided, StridedArgs, THREADS) {
    const StridedArgs& args = job;
    const Loaded fixed = numbers(args.job);
    const INDEX packs = (INDEX)args.job.count, step = (INDEX)gridDim.x * (THREADS * AHEAD);
    for (INDEX first = (INDEX)blockIdx.x * (THREADS * AHEAD) + threadIdx.x; first < packs; first += step) {
        Loaded loaded[AHEAD];
        i64 dest[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            loaded[u] = fixed;
            INDEX at = first + (INDEX)(u * THREADS);
            if (at < packs) {
                i64 places[5];
                offsets(args.at, at, places);
                dest[u] = places[0];
                EACH(ANYWHERE)
            }
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            INDEX at = first + (INDEX)(u * THREADS);
            if (at < packs) store(loaded[u], at_byte(args.job.dest, dest[u]));
        }
    }
}
