// Emulation of the sm_90a instructions in warpgroup.cuh. The fake driver implements them (driver/async.cpp).
#ifndef NOMINA_HOST_SHIM_WARPGROUP_H
#define NOMINA_HOST_SHIM_WARPGROUP_H

inline void shim_multiply(const ShimProduct& product, SHIM_SITE) {
    shim_state.multiply(product, {file, line});
}
inline void shim_warpgroup(ShimWarpgroup what, int groups, SHIM_SITE) {
    shim_state.warpgroup(what, groups, {file, line});
}
inline void shim_barrier(ShimBarrier what, unsigned address, unsigned value, SHIM_SITE) {
    shim_state.barrier(what, address, value, {file, line});
}
inline void shim_turn(unsigned name, unsigned threads, bool waits, SHIM_SITE) {
    shim_state.turn(name, threads, waits, {file, line});
}
inline void shim_bring(unsigned to, const void* map, unsigned barrier, const ShimCorner& corner,
                       SHIM_SITE) {
    shim_state.bring(to, map, barrier, corner, {file, line});
}

#endif
