// What a module compiled for the host and the driver that runs it know of each other.
#ifndef NOMINA_HOST_STATE_H
#define NOMINA_HOST_STATE_H

struct ShimIndex {
    unsigned x, y, z;
};

// What the lanes of a warp, or the threads of a block, do together.
enum ShimOp {
    SHIM_SYNC,
    SHIM_COUNT, // of the threads whose value is not zero
    SHIM_ALL,
    SHIM_ANY,
    SHIM_BALLOT,
    SHIM_MATCH, // the lanes that have the same value
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

// A shared array of a kernel: where it lies for the block whose number is `epoch`.
struct ShimSlot {
    unsigned long epoch;
    void* place;
};

// A line of a kernel's source.
struct ShimSite {
    const char* file;
    int line;
};

// What warpgroups do together, and with barriers of shared memory (shim_warpgroup.h).
enum ShimWarpgroup { SHIM_FENCE, SHIM_COMMIT, SHIM_WAIT };
enum ShimBarrier { SHIM_BEGIN, SHIM_ARRIVE, SHIM_EXPECT, SHIM_AWAIT };

// A product of matrices, as one thread has it: where its sums and its part of the left matrix are, or a descriptor of that.
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
    // Counts blocks, from 1.
    unsigned long epoch;
    void* dynamic;
    // Returns what the thread gets of it; `source` is the lane that a shuffle reads from.
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
