// The interface between a module compiled for the host and the driver that runs it.
#ifndef NOMINA_HOST_STATE_H
#define NOMINA_HOST_STATE_H

struct ShimIndex {
    unsigned x, y, z;
};

// Collective operations of the lanes of a warp, or of the threads of a block.
enum ShimOp {
    SHIM_SYNC,
    SHIM_COUNT, // the number of threads with a nonzero value
    SHIM_ALL,
    SHIM_ANY,
    SHIM_BALLOT,
    SHIM_MATCH, // the lanes with the same value
    SHIM_SHUFFLE,
    SHIM_SHUFFLE_UP,
    SHIM_SHUFFLE_DOWN,
    SHIM_SHUFFLE_XOR,
    SHIM_SUM,
    SHIM_LEAST,
    SHIM_GREATEST,
    SHIM_AND,
    SHIM_OR,
    SHIM_XOR,
};

// A shared array of a kernel, and its address for block number `epoch`.
struct ShimSlot {
    unsigned long epoch;
    void* place;
};

// A line of a kernel's source.
struct ShimSite {
    const char* file;
    int line;
};

// Operations of warpgroups and on barriers in shared memory (shim_warpgroup.h).
enum ShimWarpgroup { SHIM_FENCE, SHIM_COMMIT, SHIM_WAIT };
enum ShimBarrier { SHIM_BEGIN, SHIM_ARRIVE, SHIM_EXPECT, SHIM_AWAIT };

// One thread's part of a matrix product: its sums, and its registers of the left matrix or a descriptor of that matrix.
struct ShimProduct {
    float* sums;
    const unsigned* left;
    unsigned long left_at, right_at;
    int cols;
    bool bf16, add, turned;
};

// The first element of a box, innermost dim first.
struct ShimCorner {
    int at[5];
};

struct ShimState {
    ShimIndex thread, block, block_size, grid_size;
    unsigned lane;
    // The number of the block, from 1.
    unsigned long epoch;
    void* dynamic;
    // Performs a warp operation, and returns the thread's result; `source` is the lane that a shuffle reads from.
    unsigned long (*warp)(ShimOp op, unsigned mask, unsigned long value, unsigned source, ShimSite);
    int (*block_barrier)(ShimOp op, int value, ShimSite);
    unsigned (*live_lanes)();
    void* (*shared)(ShimSlot*, unsigned long bytes, unsigned long align, ShimSite);
    void (*fail)(const char* what, ShimSite);
    unsigned (*shared_address)(const void*);
    void (*multiply)(const ShimProduct&, ShimSite);
    void (*warpgroup)(ShimWarpgroup, int groups, ShimSite);
    void (*barrier)(ShimBarrier, unsigned address, unsigned value, ShimSite);
    void (*turn)(unsigned name, unsigned threads, bool waits, ShimSite);
    void (*bring)(unsigned to, const void* map, unsigned barrier, const ShimCorner&, ShimSite);
};

#endif
