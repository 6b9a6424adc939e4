// Binary search in sorted sequences, and groups of equal rows.
#include "keys.cuh"

constexpr u32 THREADS = 256;

struct Search {
    const Bits* sequence;
    const Bits* values;
    // The sorting permutation of the sequences; null if they are sorted.
    const i64* sorter;
    i64* out;
    u64 count, len;
    // The number of values per sequence; 0 if all values share one.
    u64 each;
    Flag* flag;
    u32 record;
    // Whether the position is after equal numbers, rather than before them.
    u32 right;
};

KERNEL_BOUNDS(search, Search, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        u64 start = job.each == 0 ? 0 : i / static_cast<INDEX>(job.each) * job.len;
        Bits value = key_of(job.values[i]);
        u64 low = 0, high = job.len;
        while (low < high) {
            u64 middle = low + (high - low) / 2, at = middle;
            if (job.sorter != nullptr)
                at = exact_or_flag(job.sorter[start + middle], job.len, job.flag, job.record);
            Bits found = key_of(job.sequence[start + at]);
            if (found < value || (job.right != 0 && found == value))
                low = middle + 1;
            else
                high = middle;
        }
        job.out[i] = low;
    }
}

// Rows of a contiguous operand, in the given order or in memory order.
struct Rows {
    const Bits* x;
    const i64* order;
    // Whether a row differs from the previous one.
    bool* differs;
    // One element of each row in the order, the permutation that sorts them, or the composition of
    // both permutations.
    Bits* column;
    const i64* sorted;
    i64* next;
    u64 count, len, at;
};

KERNEL_BOUNDS(rows_differ, Rows, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        bool differs = i == 0;
        if (i > 0) {
            const Bits* a = job.x + (job.order == nullptr ? i - 1 : job.order[i - 1]) * job.len;
            const Bits* b = job.x + (job.order == nullptr ? i : job.order[i]) * job.len;
            // A row with a NaN differs from all rows.
            for (u64 at = 0; at < job.len && !differs; at++) {
                Bits key = key_of(a[at]);
                differs = key != key_of(b[at]) || key_is_nan(key);
            }
        }
        job.differs[i] = differs;
    }
}

KERNEL_BOUNDS(rows_column, Rows, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS)
        job.column[i] = job.x[(job.order == nullptr ? i : job.order[i]) * job.len + job.at];
}

KERNEL_BOUNDS(rows_follow, Rows, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS)
        job.next[i] = job.order == nullptr ? job.sorted[i] : job.order[job.sorted[i]];
}

// Groups that begin at `starts`, ascending: the group of each row, and the size of each group.
struct Groups {
    const i64* starts;
    const i64* order;
    i64* inverse;
    i64* counts;
    u64 count, groups;
};

KERNEL_BOUNDS(groups, Groups, 256) {
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < job.count;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        u64 low = 0, high = job.groups;
        while (low < high) {
            u64 middle = low + (high - low) / 2;
            if (job.starts[middle] <= static_cast<i64>(i))
                low = middle + 1;
            else
                high = middle;
        }
        job.inverse[job.order == nullptr ? static_cast<i64>(i) : job.order[i]] = low - 1;
        if (i < job.groups) {
            i64 end = i + 1 < job.groups ? job.starts[i + 1] : static_cast<i64>(job.count);
            job.counts[i] = end - job.starts[i];
        }
    }
}
