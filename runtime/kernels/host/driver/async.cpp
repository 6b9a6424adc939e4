// Asynchronous warpgroup products, copies of boxes and transaction barriers, as the PTX 8.x manual specifies them
// (sections on `wgmma`, `cp.async.bulk.tensor` and `mbarrier`). Depending on the order, copies and awaited products
// complete at once, when no thread can run, or in between. Until then their results are NaN.
#include "async.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "driver.h"

namespace {

constexpr unsigned GROUP = 128, GROUPS = 8;
constexpr uint32_t NO_NUMBER = 0xffffffff;

// ---- barriers

struct Barrier {
    int expected, pending;
    long bytes;
    uint64_t phase;
    // Waiting threads, and the parity that each waits for.
    std::map<unsigned, unsigned> waiting;
};
std::map<unsigned, Barrier> barriers;

Barrier& barrier_at(unsigned address) {
    auto found = barriers.find(address);
    if (found == barriers.end()) give_up("there is no barrier at shared address %u", address);
    return found->second;
}

void may_end(Barrier& barrier) {
    if (barrier.pending < 0) give_up("more threads arrive at a barrier than it expects");
    if (std::labs(barrier.bytes) >= 1 << 20) give_up("a barrier counts less than 2^20 bytes");
    if (barrier.pending > 0 || barrier.bytes != 0) return;
    barrier.phase++;
    barrier.pending = barrier.expected;
    auto waiting = std::move(barrier.waiting);
    barrier.waiting.clear();
    for (auto [thread, parity] : waiting) {
        if (barrier.phase % 2 != parity)
            wake_thread(thread);
        else
            barrier.waiting[thread] = parity;
    }
}

void call_barrier(ShimBarrier what, unsigned address, unsigned value, ShimSite site) {
    if (what == SHIM_BEGIN) {
        if (address % 8 != 0) give_up("a barrier lies at a multiple of 8");
        shared_bytes(address, 8, "a barrier");
        if (value == 0 || value >= 1 << 20) give_up("a barrier expects 1 to 2^20 - 1 threads");
        barriers[address] = Barrier{int(value), int(value), 0, 0, {}};
        return;
    }
    Barrier& barrier = barrier_at(address);
    if (what == SHIM_AWAIT) {
        if (barrier.phase % 2 != value) return;
        barrier.waiting[running_thread()] = value;
        sleep_thread("a barrier of shared memory", site);
        return;
    }
    if (what == SHIM_EXPECT) barrier.bytes += value;
    barrier.pending--;
    may_end(barrier);
}

// ---- named barriers

struct Turn {
    unsigned come, threads;
    std::vector<unsigned> waiting;
};
Turn turns[16];

void call_turn(unsigned name, unsigned threads, bool waits, ShimSite site) {
    if (name == 0 || name > 15) give_up("there are named barriers 1 to 15, and no %u", name);
    if (threads % 32 != 0) give_up("a named barrier counts whole warps");
    Turn& turn = turns[name];
    if (turn.come > 0 && turn.threads != threads) give_up("threads come to one barrier in different numbers");
    turn.threads = threads;
    turn.come++;
    if (waits) turn.waiting.push_back(running_thread());
    if (turn.come == threads) {
        auto waiting = std::move(turn.waiting);
        turn = Turn{};
        for (unsigned thread : waiting)
            if (thread != running_thread() || !waits) wake_thread(thread);
        return;
    }
    if (waits) sleep_thread("a named barrier", site);
}

// ---- copies of boxes

enum { FLOAT16 = 6, BFLOAT16 = 9 };
enum { SWIZZLE_NONE, SWIZZLE_128 = 3 };

// The contents of a tensor map; only the driver interprets it.
struct Map {
    uint64_t address, strides[4];
    uint32_t dims[5], box[5];
    uint8_t rank, swizzle;
    uint16_t mark;
};
constexpr uint16_t MARK = 0x7e45;

struct Copy {
    Map map;
    unsigned to, barrier;
    ShimCorner corner;
};
std::vector<Copy> copies;

// Returns the swizzled address of 16 bytes in shared memory: their position in a row of 128 bytes depends on the row.
unsigned swizzled(unsigned address) { return address ^ (address >> 7 & 7) << 4; }

size_t elements(const Map& map) {
    size_t count = 1;
    for (int i = 0; i < map.rank; i++) count *= map.box[i];
    return count;
}

void copy(const Copy& job) {
    const Map& map = job.map;
    size_t count = elements(map);
    for (size_t i = 0; i < count; i++) {
        uint64_t from = map.address;
        bool inside = true;
        size_t rest = i;
        for (int dim = 0; dim < map.rank; dim++) {
            int64_t at = int64_t(job.corner.at[dim]) + int64_t(rest % map.box[dim]);
            rest /= map.box[dim];
            inside &= at >= 0 && at < int64_t(map.dims[dim]);
            from += uint64_t(at) * (dim == 0 ? 2 : map.strides[dim - 1]);
        }
        unsigned to = job.to + unsigned(i) * 2;
        if (map.swizzle == SWIZZLE_128) to = swizzled(to);
        uint16_t number = 0;
        if (inside) {
            check_range(from, 2, "a copy of a box");
            memcpy(&number, reinterpret_cast<const void*>(from), 2);
        }
        memcpy(shared_bytes(to, 2, "a copy of a box"), &number, 2);
    }
    Barrier& barrier = barrier_at(job.barrier);
    barrier.bytes -= long(count * 2);
    may_end(barrier);
}

void bring(unsigned to, const void* words, unsigned barrier, const ShimCorner& corner, ShimSite) {
    Copy job{{}, to, barrier, corner};
    memcpy(&job.map, words, sizeof(Map));
    if (reinterpret_cast<uintptr_t>(words) % 64 != 0) give_up("a tensor map lies at a multiple of 64");
    if (job.map.mark != MARK || job.map.rank != 5) give_up("there is no tensor map of 5 dims");
    if (to % 128 != 0) give_up("a box comes to a multiple of 128 bytes");
    size_t bytes = elements(job.map) * 2;
    poison(shared_bytes(to, bytes, "a box"), bytes);
    barrier_at(barrier);
    if (at_once())
        copy(job);
    else
        copies.push_back(job);
}

// ---- products

struct Product {
    ShimProduct of;
    unsigned left[4]; // a copy of the registers
    uint64_t group;
};
struct Lane {
    std::vector<Product> begun;
    // Pending sums, keyed by their destination.
    std::map<float*, std::vector<float>> sums;
    uint64_t committed;
    bool fenced;
};
Lane lanes[GROUP * GROUPS];
// For each warpgroup, the number of waiting threads, and the number of groups they leave pending; the warpgroups that
// wait.
unsigned arrived[GROUPS];
int waited_for[GROUPS];
std::vector<unsigned> awaited;

float number(uint16_t bits, bool bf16) {
    if (bf16) {
        uint32_t wide = uint32_t(bits) << 16;
        float x;
        memcpy(&x, &wide, 4);
        return x;
    }
    int exponent = bits >> 10 & 31, digits = bits & 1023;
    float size = exponent == 31  ? (digits ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(float(digits), -24)
                                 : std::ldexp(float(digits + 1024), exponent - 25);
    return bits & 0x8000 ? -size : size;
}

// A matrix descriptor: a matrix in shared memory, in 8 by 8 numbers ("core matrices") with 128-byte swizzle.
struct Descriptor {
    unsigned start, leading, stride;

    explicit Descriptor(uint64_t bits) {
        auto field = [&](int first) { return unsigned(bits >> first & 0x3fff) << 4; };
        start = field(0), leading = field(16), stride = field(32);
        if (bits >> 62 != 1) give_up("a matrix in another swizzle than that of 128 bytes");
        if (bits >> 49 & 7) give_up("a matrix whose swizzle begins at no multiple of 1024");
    }
    // With the summed dim along a row: groups of 8 rows are `stride` apart.
    unsigned along(unsigned row, unsigned k) const {
        return swizzled(start + row % 8 * 128 + row / 8 * stride + k * 2);
    }
    // With the summed dim across rows: 64 columns are `leading` apart, groups of 8 rows `stride`.
    unsigned across(unsigned col, unsigned k) const {
        return swizzled(start + col % 64 * 2 + col / 64 * leading + k % 8 * 128 + k / 8 * stride);
    }
};

float shared_number(unsigned address, bool bf16) {
    uint16_t bits;
    memcpy(&bits, shared_bytes(address, 2, "a matrix"), 2);
    return number(bits, bf16);
}

// Returns the thread of a warpgroup that holds a row and column of the sums.
unsigned owner(unsigned row, unsigned col) { return row / 16 * 32 + row % 8 * 4 + col % 8 / 2; }

void multiply(unsigned first, size_t nth) {
    const ShimProduct& of = lanes[first].begun[nth].of;
    for (unsigned i = first; i < first + GROUP; i++) {
        if (lanes[i].begun.size() <= nth) give_up("not all of a warpgroup multiply");
        const ShimProduct& own = lanes[i].begun[nth].of;
        if (own.left_at != of.left_at || own.right_at != of.right_at || own.cols != of.cols
            || own.add != of.add || !own.left != !of.left)
            give_up("threads of a warpgroup multiply different matrices");
        if (own.left && memcmp(own.left, lanes[i].begun[nth].left, 16) != 0)
            give_up("a left matrix changes in registers while it is multiplied");
    }
    float left[64][16];
    for (unsigned row = 0; row < 64; row++)
        for (unsigned k = 0; k < 16; k++) {
            if (!of.left) {
                left[row][k] = shared_number(Descriptor(of.left_at).along(row, k), of.bf16);
                continue;
            }
            unsigned word = lanes[first + owner(row, k)].begun[nth].left[k / 8 * 2 + row % 16 / 8];
            left[row][k] = number(uint16_t(word >> k % 2 * 16), of.bf16);
        }
    Descriptor right(of.right_at);
    for (unsigned col = 0; col < unsigned(of.cols); col++) {
        float column[16];
        for (unsigned k = 0; k < 16; k++)
            column[k] = shared_number(of.turned ? right.across(col, k) : right.along(col, k), of.bf16);
        for (unsigned row = 0; row < 64; row++) {
            Lane& lane = lanes[first + owner(row, col)];
            float& sum = lane.sums.at(lane.begun[nth].of.sums)[col / 8 * 4 + row % 16 / 8 * 2 + col % 2];
            if (!of.add) sum = 0;
            for (unsigned k = 0; k < 16; k++) sum += left[row][k] * column[k];
        }
    }
}

// Completes the products of a warpgroup, except those of its last `but` groups.
void finish(unsigned first, int but) {
    size_t count = 0;
    for (const Product& product : lanes[first].begun)
        count += product.group + uint64_t(but) < lanes[first].committed;
    for (size_t nth = 0; nth < count; nth++) multiply(first, nth);
    for (unsigned i = first; i < first + GROUP; i++) {
        Lane& lane = lanes[i];
        lane.begun.erase(lane.begun.begin(), lane.begun.begin() + long(count));
        for (auto sums = lane.sums.begin(); sums != lane.sums.end();) {
            auto uses = [&](const Product& product) { return product.of.sums == sums->first; };
            if (std::any_of(lane.begun.begin(), lane.begun.end(), uses)) {
                ++sums;
                continue;
            }
            for (size_t k = 0; k < sums->second.size(); k++)
                if (memcmp(sums->first + k, &NO_NUMBER, 4) != 0)
                    give_up("sums change in registers while they are computed");
            memcpy(sums->first, sums->second.data(), sums->second.size() * 4);
            sums = lane.sums.erase(sums);
        }
        if (count > 0) lane.fenced = false;
    }
}

// Completes the products that a warpgroup waits for, and wakes its threads except `but`.
void settle(unsigned group, unsigned but) {
    arrived[group] = 0;
    finish(group * GROUP, waited_for[group]);
    for (unsigned i = group * GROUP; i < (group + 1) * GROUP; i++)
        if (i != but) wake_thread(i);
}

void begin_product(const ShimProduct& product, ShimSite) {
    Lane& lane = lanes[running_thread()];
    if (!lane.fenced) give_up("a product begins without wgmma.fence");
    Product begun{product, {}, lane.committed};
    if (product.left) memcpy(begun.left, product.left, 16);
    size_t count = size_t(product.cols) / 2;
    if (!lane.sums.count(product.sums)) {
        lane.sums[product.sums].assign(product.sums, product.sums + count);
        for (size_t i = 0; i < count; i++) memcpy(product.sums + i, &NO_NUMBER, 4);
    }
    lane.begun.push_back(begun);
}

void call_warpgroup(ShimWarpgroup what, int groups, ShimSite site) {
    unsigned self = running_thread(), group = self / GROUP;
    Lane& lane = lanes[self];
    if (what == SHIM_FENCE) lane.fenced = true;
    if (what == SHIM_COMMIT) lane.committed++;
    if (what != SHIM_WAIT) return;
    if (arrived[group] > 0 && waited_for[group] != groups)
        give_up("threads of a warpgroup wait for different products");
    waited_for[group] = groups;
    if (++arrived[group] == GROUP) {
        if (at_once()) {
            settle(group, self);
            return;
        }
        awaited.push_back(group);
    }
    sleep_thread("wgmma.wait_group", site);
}

} // namespace

void connect_async(ShimState* state) {
    state->multiply = begin_product;
    state->warpgroup = call_warpgroup;
    state->barrier = call_barrier;
    state->turn = call_turn;
    state->bring = bring;
}

void begin_async() {
    barriers.clear();
    copies.clear();
    awaited.clear();
    for (Turn& turn : turns) turn = Turn{};
    for (Lane& lane : lanes) lane = Lane{};
    for (unsigned& count : arrived) count = 0;
}

void leave_async(unsigned thread) {
    if (!lanes[thread].begun.empty()) give_up("a thread ends before its products");
}

void end_async() {
    if (!copies.empty()) give_up("a block ends before its copies");
    for (const Turn& turn : turns)
        if (!turn.waiting.empty()) give_up("a block ends while threads wait for others");
}

bool go_on_async(size_t which) {
    size_t count = awaited.size() + copies.size();
    if (count == 0) return false;
    which %= count;
    if (which < awaited.size()) {
        unsigned group = awaited[which];
        awaited.erase(awaited.begin() + long(which));
        settle(group, GROUP * GROUPS);
        return true;
    }
    auto chosen = copies.begin() + long(which - awaited.size());
    Copy job = *chosen;
    copies.erase(chosen);
    copy(job);
    return true;
}

// Checks each argument as the driver's manual specifies, for the types and modes that we use.
CUDA cuTensorMapEncodeTiled(void* out, int type, uint32_t rank, void* address, const uint64_t* dims,
                            const uint64_t* strides, const uint32_t* box, const uint32_t* steps,
                            int interleave, int swizzle, int promotion, int fill) {
    LOCK;
    Map map{};
    auto aligned = [](const void* place, uintptr_t to) { return reinterpret_cast<uintptr_t>(place) % to == 0; };
    bool well = out && aligned(out, 64) && (type == FLOAT16 || type == BFLOAT16) && rank >= 3 && rank <= 5
                && address && aligned(address, 16) && interleave == 0 && promotion >= 0 && promotion <= 3
                && fill == 0 && (swizzle == SWIZZLE_NONE || swizzle == SWIZZLE_128);
    if (!well) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < rank; i++) {
        well &= dims[i] >= 1 && dims[i] <= 0xffffffff && box[i] >= 1 && box[i] <= 256 && steps[i] == 1;
        if (i > 0) well &= strides[i - 1] % 16 == 0 && strides[i - 1] < 1ull << 40;
        map.dims[i] = uint32_t(dims[i]), map.box[i] = box[i];
        if (i > 0) map.strides[i - 1] = strides[i - 1];
    }
    well &= box[0] * 2 % 16 == 0 && (swizzle == SWIZZLE_NONE || box[0] * 2 <= 128);
    if (!well) return CUDA_ERROR_INVALID_VALUE;
    map.address = reinterpret_cast<uint64_t>(address);
    map.rank = uint8_t(rank), map.swizzle = uint8_t(swizzle), map.mark = MARK;
    static_assert(sizeof(Map) <= 128, "as large as the real one");
    memset(out, 0, 128);
    memcpy(out, &map, sizeof(map));
    return CUDA_SUCCESS;
}
