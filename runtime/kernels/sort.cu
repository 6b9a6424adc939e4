// Stable sort of lines: short ones in shared memory, by bitonic networks or radix sort, long ones by radix sort from
// the lowest digit.
//
// A short line is sorted by key and position, and each pass over a long one keeps the order of the passes before it.
#include "digits.cuh"
#include "running.cuh"

// The use of a sorted line, numbered as on the host.
constexpr u32 FIRST = 0, NTH = 1, MEDIAN = 2, MODE = 3;

struct Short {
    Lines lines;
    // Keys and positions that replace the operand's elements, line after line.
    const Bits* keys;
    const INDEX* places;
    // The number of results of a line, or the position asked for.
    u64 results;
    // The power of two that a line is padded to, and the number of lines that a block sorts at once, also a power of
    // two.
    u32 width, group;
    u32 task;
    // Whether a median ignores NaN.
    u32 ignore_nan;
    // Whether adjacent lines are closer together in memory than adjacent elements of a line.
    u32 across;
    // The number of low bits in which keys differ.
    u32 bits;
};

// Returns the position of the lower median of a sorted line whose first `numbers` elements are not NaN.
DEVICE INDEX median_of(INDEX len, INDEX numbers, bool ignore_nan) {
    if (!ignore_nan && numbers < len) return numbers;
    return numbers == 0 ? 0 : (numbers - 1) / 2;
}

DEVICE INDEX place_of(const Short& job, INDEX line, u32 at) {
    return job.places == nullptr ? static_cast<INDEX>(at)
                                 : job.places[line * static_cast<INDEX>(job.lines.len) + at];
}

// Returns the first position from `low` on whose key is larger.
template <class I> DEVICE I end_of_run(const Bits* keys, I low, I high, Bits key) {
    while (low < high) {
        I middle = low + (high - low) / 2;
        if (keys[middle] > key)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

constexpr u32 SHORT_LINES = 64;
// The number of keys that a thread loads at once.
constexpr u32 AHEAD = 4;

// Sorts all lines of the block at once, by bitonic networks.
DEVICE void bitonic(Bits* keys, u16* at, u32 total, u32 width) {
    for (u32 size = 2; size <= width; size <<= 1) {
        for (u32 stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (u32 t = threadIdx.x; t < total / 2; t += blockDim.x) {
                u32 low = 2 * t - (t & (stride - 1)), high = low + stride;
                Bits a = keys[low], b = keys[high];
                u16 p = at[low], q = at[high];
                bool wrong = a > b || (a == b && p > q);
                if (wrong == (((low & (width - 1)) & size) == 0)) {
                    keys[low] = b, keys[high] = a;
                    at[low] = q, at[high] = p;
                }
            }
        }
    }
    __syncthreads();
}

// Reads lines into shared memory.
DEVICE void gather(const Short& job, INDEX first, Bits* keys, u16* at) {
    const Source source(job.lines, job.keys);
    const u32 total = job.group * job.width, mask = job.width - 1;
    const INDEX count = job.lines.count, len = job.lines.len;
    for (u32 group = threadIdx.x; group < total; group += AHEAD * blockDim.x) {
        // Padding has the largest key and the last positions, so it sorts last.
        Bits key[AHEAD];
        i64 from[AHEAD];
        u32 to[AHEAD], place[AHEAD];
        bool there[AHEAD];
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) {
            const u32 t = group + n * blockDim.x;
            const u32 own = job.across ? t & (job.group - 1) : t / job.width;
            const INDEX line = first + own;
            place[n] = job.across ? t / job.group : t & mask;
            to[n] = t < total ? own * job.width + place[n] : total;
            there[n] = t < total && line < count && place[n] < len;
            from[n] = source.place(job.lines, line, place[n]);
        }
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) {
            key[n] = 0;
            if (there[n]) key[n] = *at_byte(source.from, from[n]);
        }
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) {
            if (to[n] == total) break;
            keys[to[n]] = there[n] ? source.of(key[n]) : ALL;
            at[to[n]] = static_cast<u16>(place[n]);
        }
    }
}

template <bool RADIX> DEVICE void short_lines(const Short& job) {
    DYN_SHARED(Bits, keys);
    SHARED_ARRAY(u32, best, SHORT_LINES);
    // The radix sort has no padding, and a block has one line.
    u32 total = RADIX ? static_cast<u32>(job.lines.len) : job.group * job.width;
    u32 mask = job.width - 1;
    u16* at = reinterpret_cast<u16*>(keys + job.group * job.width);
    INDEX count = job.lines.count, len = job.lines.len;
    Bits turned = job.lines.turned();
    for (INDEX first = blockIdx.x * job.group; first < count; first += gridDim.x * job.group) {
        __syncthreads(); // the previous lines are written
        if constexpr (RADIX) {
            Keys(job.lines, first, job.keys).each<BLOCK, EACH>(0, [&](Bits key, INDEX i) {
                keys[i] = key;
                at[i] = static_cast<u16>(i);
            });
            __syncthreads();
            for (u32 shift = 0; shift < job.bits; shift += 8)
                sort_by_digit(keys, at, at + job.width, total, shift);
        } else {
            gather(job, first, keys, at);
            bitonic(keys, at, total, job.width);
        }
        if (job.task == FIRST) {
            u32 results = job.results;
            if constexpr (RADIX) {
                i64 start[3];
                offsets(job.lines.starts, first, start);
                for (u32 i = threadIdx.x; i < results; i += BLOCK)
                    put(job.lines, start, i, keys[i], place_of(job, first, at[i]));
            } else {
                for (u32 t = threadIdx.x; t < total; t += blockDim.x) {
                    u32 own = job.across ? t & (job.group - 1) : t / job.width;
                    u32 i = job.across ? t / job.group : t & mask;
                    INDEX line = first + own;
                    if (line >= count || i >= results) continue;
                    u32 from = own * job.width + i;
                    put(job.lines, line, i, keys[from], place_of(job, line, at[from]));
                }
            }
            continue;
        }
        if (job.task == MODE) {
            // The longest run, the first of several: each NaN is its own run, and NaN come last.
            for (u32 t = threadIdx.x; t < job.group; t += blockDim.x) best[t] = 0;
            __syncthreads();
            for (u32 t = threadIdx.x; t < total; t += blockDim.x) {
                u32 i = t & mask;
                const Bits* line = keys + (t - i);
                bool nan = key_is_nan(line[i] ^ turned);
                if (i >= len || (i > 0 && line[i - 1] == line[i] && !nan)) continue;
                u32 end = nan ? i + 1 : end_of_run<u32>(line, i, len, line[i]);
                atomicMax(&best[t / job.width], (end - i) << 16 | (0xffff - i));
            }
            __syncthreads();
        }
        for (u32 own = threadIdx.x; own < job.group; own += blockDim.x) {
            INDEX line = first + own;
            if (line >= count) break;
            const Bits* sorted = keys + own * job.width;
            u32 i = job.results;
            if (job.task == MODE) {
                i = (0xffff - (best[own] & 0xffff)) + (best[own] >> 16) - 1;
            } else if (job.task == MEDIAN) {
                u32 numbers = KIND == 2 ? end_of_run<u32>(sorted, 0, len, ALL - 1) : len;
                i = median_of(len, numbers, job.ignore_nan != 0);
            }
            put(job.lines, line, 0, sorted[i], place_of(job, line, at[own * job.width + i]));
        }
    }
}

KERNEL_BOUNDS(sort_short, Short, 256) { short_lines<false>(job); }

KERNEL_BLOCKS(sort_block, Short, 512, 2) { short_lines<true>(job); }

// The element at one position of sorted lines, which a block holds in registers: a radix select, from the highest digit.
KERNEL_BLOCKS(sort_select, Short, 512, sizeof(INDEX) > 4 ? 3 : 4) {
    SHARED_ARRAY(u32, counts, DIGITS);
    SHARED_ARRAY(u32, parts, DIGITS / 32);
    // The digit of the element, and its rank among those that share its digits so far.
    SHARED_ARRAY(u32, found, 2);
    const u32 len = static_cast<u32>(job.lines.len);
    for (INDEX line = blockIdx.x; line < job.lines.count; line += gridDim.x) {
        // Keys past the end are the largest and the last ones, so no rank reaches them.
        Bits keys[EACH];
        Keys(job.lines, line, job.keys).read(threadIdx.x, BLOCK, keys);
        u32 rank = static_cast<u32>(job.results);
        if (job.task == MEDIAN) {
            u32 numbers = len;
            if (KIND == 2) {
                numbers = 0;
#pragma unroll
                for (u32 n = 0; n < EACH; n++) numbers += !key_is_nan(keys[n]);
                numbers = block_reduce(numbers, Plus(), 0u);
            }
            rank = median_of(len, numbers, job.ignore_nan != 0);
        }
        Bits known = 0;
#pragma unroll 1
        for (u32 shift = WIDTH; shift > 0;) {
            shift -= 8;
            if (threadIdx.x < DIGITS) counts[threadIdx.x] = 0;
            __syncthreads();
#pragma unroll
            for (u32 n = 0; n < EACH; n++)
                if (static_cast<u64>(keys[n] ^ known) >> shift >> 8 == 0)
                    atomicAdd(&counts[digit_of(keys[n], shift)], 1u);
            __syncthreads();
            const u32 count = threadIdx.x < DIGITS ? counts[threadIdx.x] : 0;
            const u32 before = digits_before(count, parts);
            if (before <= rank && rank < before + count) {
                found[0] = threadIdx.x;
                found[1] = rank - before;
            }
            __syncthreads();
            known = static_cast<Bits>(known | static_cast<Bits>(found[0]) << shift);
            rank = found[1];
        }
        // The first elements with this key come first.
#pragma unroll
        for (u32 n = 0; n < EACH; n++) {
            const u32 own = keys[n] == known, all = __syncthreads_count(own);
            if (rank < all) {
                u32 total;
                const u32 before = sum_before(own, total), at = n * BLOCK + threadIdx.x;
                if (own != 0 && before == rank)
                    put(job.lines, line, 0, known, place_of(job, line, at));
                break;
            }
            rank -= all;
        }
    }
}

// Long lines are cut into tiles whose keys and positions just fit into shared memory, so that elements with the same
// digit are written next to each other.

constexpr u32 THREADS = 256, ITEMS = sizeof(Bits) + sizeof(INDEX) <= 8 ? 8 : 4, TILE = BLOCK * ITEMS;

struct Pass {
    Lines lines;
    // Null if the operand's elements are read.
    const Bits* keys;
    const INDEX* places;
    Bits* keys_out;
    INDEX* places_out;
    // The count of each digit in each line and tile, then the destination of the first of them; and the total count of
    // each digit in each line.
    INDEX* starts;
    INDEX* totals;
    u64 tiles;
    // The strides from one tile, and from one digit, to the next.
    u64 tile_step, digit_step;
    // In the last pass, the number of results of each line; otherwise 0, and all elements are stored.
    u64 results;
    u32 shift, pad;
};

KERNEL_BOUNDS(sort_counts, Pass, 512) {
    SHARED_ARRAY(u32, counts, DIGITS);
    INDEX tiles = job.tiles;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        if (threadIdx.x < DIGITS) counts[threadIdx.x] = 0;
        __syncthreads();
        Keys(job.lines, line, job.keys).each<BLOCK, ITEMS>(tile * TILE, [&](Bits key, INDEX) {
            atomicAdd(&counts[digit_of(key, job.shift)], 1u);
        });
        __syncthreads();
        u64 to = static_cast<u64>(line) * tiles * DIGITS + tile * job.tile_step;
        if (threadIdx.x < DIGITS) job.starts[to + threadIdx.x * job.digit_step] = counts[threadIdx.x];
        __syncthreads();
    }
}

// For few tiles: one thread per line and digit.
KERNEL_BOUNDS(sort_starts, Pass, 256) {
    u64 all = job.lines.count * DIGITS;
    for (u64 i = blockIdx.x * static_cast<u64>(THREADS) + threadIdx.x; i < all;
         i += static_cast<u64>(gridDim.x) * THREADS) {
        INDEX* at = job.starts + i / DIGITS * job.tiles * DIGITS + i % DIGITS * job.digit_step;
        INDEX sum = 0;
        for (u64 tile = 0; tile < job.tiles; tile++) {
            INDEX count = at[tile * job.tile_step];
            at[tile * job.tile_step] = sum;
            sum += count;
        }
        job.totals[i] = sum;
    }
}

// For many tiles: one block per line and digit.
KERNEL_BOUNDS(sort_starts_long, Pass, 256) {
    u64 all = job.lines.count * DIGITS;
    for (u64 i = blockIdx.x; i < all; i += gridDim.x) {
        INDEX* at = job.starts + i / DIGITS * job.tiles * DIGITS + i % DIGITS * job.digit_step;
        INDEX sum = scan_in_place(at, job.tiles, job.tile_step);
        if (threadIdx.x == 0) job.totals[i] = sum;
    }
}

KERNEL_BLOCKS(sort_move, Pass, 512, 2) {
    SHARED_ARRAY(Bits, keys, TILE);
    SHARED_ARRAY(INDEX, places, TILE);
    SHARED_ARRAY(u16, ranks, BLOCK_WARPS * DIGITS);
    SHARED_ARRAY(u16, inside, DIGITS);
    SHARED_ARRAY(INDEX, goals, DIGITS);
    SHARED_ARRAY(u32, parts, DIGITS / 32);
    SHARED_ARRAY(INDEX, wholes, DIGITS / 32);
    INDEX tiles = job.tiles, len = job.lines.len;
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u16* own = ranks + warp * DIGITS;
    for (INDEX cell = blockIdx.x; cell < job.lines.count * tiles; cell += gridDim.x) {
        INDEX line = cell / tiles, tile = cell % tiles;
        for (u32 i = threadIdx.x; i < BLOCK_WARPS * DIGITS; i += BLOCK) ranks[i] = 0;
        __syncthreads();
        const INDEX part = tile * TILE + warp * (32 * ITEMS) + lane;
        Bits key[ITEMS];
        u32 rank[ITEMS];
        Keys(job.lines, line, job.keys).read(part, 32, key);
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++)
            rank[item] = rank_of(digit_of(key[item], job.shift), own);
        __syncthreads();
        // Loaded early only if there are enough registers.
        constexpr bool EARLY = sizeof(INDEX) == 4;
        const INDEX* const from_places = job.places + (static_cast<u64>(line) * len + part);
        const auto place_of = [&](u32 item) {
            const INDEX at = part + item * 32;
            return job.places != nullptr && at < len ? from_places[item * 32] : at;
        };
        INDEX place[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) place[item] = EARLY ? place_of(item) : 0;
        // One thread per digit: its start in the tile, in each warp's part, and in the output.
        const u32 digit = threadIdx.x;
        const bool counts = digit < DIGITS;
        u32 sum = 0;
        INDEX total = 0, earlier = 0;
        if (counts) {
            total = job.totals[static_cast<u64>(line) * DIGITS + digit];
            // Loaded here, so that no thread waits for it between the barriers below.
            earlier = job.starts[static_cast<u64>(line) * tiles * DIGITS + tile * job.tile_step +
                                 digit * job.digit_step];
#pragma unroll
            for (u32 w = 0; w < BLOCK_WARPS; w++) {
                u32 count = ranks[w * DIGITS + digit];
                ranks[w * DIGITS + digit] = sum;
                sum += count;
            }
        }
        const u32 first = digits_before(sum, parts);
        const INDEX start = digits_before(total, wholes);
        if (counts) {
            inside[digit] = first;
            // Unsigned: a goal may be before the line's first element until the position is added.
            goals[digit] = start + earlier - first;
        }
        __syncthreads();
        u32 slots[ITEMS];
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            u32 digit = digit_of(key[item], job.shift);
            slots[item] = inside[digit] + own[digit] + rank[item];
        }
#pragma unroll
        for (u32 item = 0; item < ITEMS; item++) {
            keys[slots[item]] = key[item];
            places[slots[item]] = EARLY ? place[item] : place_of(item);
        }
        __syncthreads();
        const u32 all = len - tile * TILE < TILE ? static_cast<u32>(len - tile * TILE) : TILE;
        if (job.results == 0) {
            // Compute all destinations before the first write; elements past the end are not written.
            Bits moved[ITEMS];
            INDEX from[ITEMS], to[ITEMS];
#pragma unroll
            for (u32 item = 0; item < ITEMS; item++) {
                const u32 i = item * BLOCK + threadIdx.x;
                moved[item] = i < all ? keys[i] : ALL;
                from[item] = places[i];
                to[item] = line * len + goals[digit_of(moved[item], job.shift)] + i;
            }
#pragma unroll
            for (u32 item = 0; item < ITEMS; item++) {
                if (item * BLOCK + threadIdx.x >= all) continue;
                job.keys_out[to[item]] = moved[item];
                job.places_out[to[item]] = from[item];
            }
        } else {
            i64 begin[3];
            offsets(job.lines.starts, line, begin);
            for (u32 i = threadIdx.x; i < all; i += BLOCK) {
                INDEX to = goals[digit_of(keys[i], job.shift)] + i;
                if (to < job.results) put(job.lines, begin, to, keys[i], places[i]);
            }
        }
        __syncthreads();
    }
}

// The most frequent element of sorted lines, in three rounds: the length of the longest run, the first run of that
// length, and its element.
struct Runs {
    Lines lines;
    const Bits* keys;
    const INDEX* places;
    // Initially zero; then the results.
    u64* longest;
    u64* first;
    u32 round, pad;
};

KERNEL_BOUNDS(sort_runs, Runs, 256) {
    INDEX len = job.lines.len, all = job.lines.count * len;
    for (INDEX i = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x; i < all;
         i += static_cast<INDEX>(gridDim.x) * THREADS) {
        INDEX line = i / len, at = i % len;
        const Bits* keys = job.keys + line * len;
        bool nan = key_is_nan(keys[at]);
        if (at > 0 && keys[at - 1] == keys[at] && !nan) continue;
        u64 run = (nan ? at + 1 : end_of_run(keys, at, len, keys[at])) - at;
        if (job.round == 0)
            atomicMax(&job.longest[line], run);
        else if (job.longest[line] == run)
            // The largest distance from the end is the first run.
            atomicMax(&job.first[line], static_cast<u64>(len - at));
    }
}

KERNEL_BOUNDS(sort_mode, Runs, 256) {
    INDEX len = job.lines.len;
    for (INDEX line = blockIdx.x * static_cast<INDEX>(THREADS) + threadIdx.x;
         line < job.lines.count; line += static_cast<INDEX>(gridDim.x) * THREADS) {
        INDEX from = line * len + (len - static_cast<INDEX>(job.first[line])) +
                     static_cast<INDEX>(job.longest[line]) - 1;
        put(job.lines, line, 0, job.keys[from], job.places[from]);
    }
}
