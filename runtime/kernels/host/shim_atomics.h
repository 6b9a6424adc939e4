// Atomic operations, for the types that the device supports.
//
// One fibre runs at a time, until it waits for others, so plain operations are atomic.
#ifndef NOMINA_HOST_SHIM_ATOMICS_H
#define NOMINA_HOST_SHIM_ATOMICS_H

#define SHIM_ATOMIC(name, T, expression)                                                           \
    inline T name(T* at, T value) {                                                                \
        T old = *at;                                                                               \
        *at = static_cast<T>(expression);                                                          \
        return old;                                                                                \
    }                                                                                              \
    inline T name##_block(T* at, T value) { return name(at, value); }

// Signed sums wrap on the device.
SHIM_ATOMIC(atomicAdd, int, static_cast<unsigned>(old) + static_cast<unsigned>(value))
SHIM_ATOMIC(atomicAdd, unsigned, old + value)
SHIM_ATOMIC(atomicAdd, unsigned long long, old + value)
SHIM_ATOMIC(atomicAdd, float, old + value)
SHIM_ATOMIC(atomicAdd, double, old + value)
SHIM_ATOMIC(atomicSub, int, static_cast<unsigned>(old) - static_cast<unsigned>(value))
SHIM_ATOMIC(atomicSub, unsigned, old - value)
SHIM_ATOMIC(atomicExch, int, value)
SHIM_ATOMIC(atomicExch, unsigned, value)
SHIM_ATOMIC(atomicExch, unsigned long long, value)
SHIM_ATOMIC(atomicExch, float, value)
SHIM_ATOMIC(atomicMin, int, value < old ? value : old)
SHIM_ATOMIC(atomicMin, unsigned, value < old ? value : old)
SHIM_ATOMIC(atomicMin, long long, value < old ? value : old)
SHIM_ATOMIC(atomicMin, unsigned long long, value < old ? value : old)
SHIM_ATOMIC(atomicMax, int, value > old ? value : old)
SHIM_ATOMIC(atomicMax, unsigned, value > old ? value : old)
SHIM_ATOMIC(atomicMax, long long, value > old ? value : old)
SHIM_ATOMIC(atomicMax, unsigned long long, value > old ? value : old)
SHIM_ATOMIC(atomicAnd, int, old & value)
SHIM_ATOMIC(atomicAnd, unsigned, old & value)
SHIM_ATOMIC(atomicAnd, unsigned long long, old & value)
SHIM_ATOMIC(atomicOr, int, old | value)
SHIM_ATOMIC(atomicOr, unsigned, old | value)
SHIM_ATOMIC(atomicOr, unsigned long long, old | value)
SHIM_ATOMIC(atomicXor, int, old ^ value)
SHIM_ATOMIC(atomicXor, unsigned, old ^ value)
SHIM_ATOMIC(atomicXor, unsigned long long, old ^ value)
SHIM_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
SHIM_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#undef SHIM_ATOMIC

#define SHIM_CAS(T)                                                                                \
    inline T atomicCAS(T* at, T expected, T value) {                                               \
        T old = *at;                                                                               \
        if (old == expected) *at = value;                                                          \
        return old;                                                                                \
    }
SHIM_CAS(int)
SHIM_CAS(unsigned)
SHIM_CAS(unsigned short)
SHIM_CAS(unsigned long long)
#undef SHIM_CAS

template <class T> inline T __ldg(const T* at) { return *at; }
template <class T> inline T __ldcs(const T* at) { return *at; }
template <class T> inline T __ldcg(const T* at) { return *at; }
template <class T> inline void __stcs(T* at, T value) { *at = value; }
template <class T> inline void __stcg(T* at, T value) { *at = value; }

#endif
