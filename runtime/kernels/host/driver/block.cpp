// The threads of a block: fibres that run in a varying order, and the operations they wait for.
//
// A thread runs until it waits or ends; threads that never wait share one stack.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

#include "async.h"
#include "driver.h"
#include "fibre.h"

namespace {

enum Where : unsigned char { FRESH, RUNNING, READY, IN_WARP, IN_BLOCK, ASLEEP, GONE };

struct Thread {
    Where where;
    ShimOp op;
    unsigned mask, source;
    unsigned long value;
    const char* what; // the reason of its sleep
    ShimSite site;
    Fibre fibre;
};

struct SharedArray {
    char* start;
    size_t bytes;
    ShimSite site;
};

// The random numbers of a launch: splitmix64.
struct Random {
    uint64_t state;

    uint64_t next() {
        uint64_t z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32) * n >> 32); }
};

constexpr unsigned MAX_THREADS = 1024, WARP = 32;
constexpr size_t ARENA = 256 << 10;

const Launch* launch;
ShimState* state;
bool in_thread;
unsigned threads, running, begun, in_barrier, first_in_barrier, gone;
Thread all[MAX_THREADS];
// Bit masks of lanes per warp: waiting for others, ended, existing.
unsigned waiting[WARP], ended[WARP], present[WARP];
unsigned order[MAX_THREADS];
std::deque<unsigned> ready;
bool forward, backward, deep;
Random dice;
Fibre outside;
unsigned long epoch;
std::vector<SharedArray> arrays;
// The row of a tile follows from the low bits of an address, which is an offset into the arena.
alignas(1024) char arena[ARENA];
// The arguments are aligned as on a device.
alignas(128) char arguments[4096];
size_t arena_used;

const char* const NAMES[] = {"__syncwarp", "__syncthreads_count", "__all_sync", "__any_sync",
                             "__ballot_sync", "__match_any_sync", "__shfl_sync",
                             "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
                             "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",
                             "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync"};

std::string say(const ShimSite& site) {
    const char* slash = strrchr(site.file, '/');
    return std::string(slash ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

std::string say(const ShimIndex& index) {
    return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", "
           + std::to_string(index.z) + ")";
}

std::string say_thread(unsigned thread) {
    const ShimIndex& size = launch->block;
    return "thread " + say(ShimIndex{thread % size.x, thread / size.x % size.y,
                                     thread / size.x / size.y});
}

// Describes what a thread waits for.
std::string say_wait(const Thread& t) {
    char text[64] = "__syncthreads";
    if (t.where == ASLEEP) return std::string(t.what) + " at " + say(t.site);
    if (t.where == IN_WARP) snprintf(text, sizeof(text), "%s of lanes %08x", NAMES[t.op], t.mask);
    return std::string(text) + " at " + say(t.site);
}

[[noreturn]] void stuck() {
    std::map<std::string, std::pair<unsigned, unsigned>> waits;
    for (unsigned i = 0; i < threads; i++)
        if (all[i].where == IN_WARP || all[i].where == IN_BLOCK || all[i].where == ASLEEP) {
            auto& wait = waits.try_emplace(say_wait(all[i]), 0, i).first->second;
            wait.first++;
        }
    std::string text = "divergent threads: nobody can go on;";
    for (auto& wait : waits)
        text += " " + std::to_string(wait.second.first) + " in " + wait.first + " (the first is "
                + say_thread(wait.second.second) + ");";
    text += " " + std::to_string(gone) + " have returned";
    give_up("%s", text.c_str());
}

void enter(unsigned thread) {
    running = thread;
    all[thread].where = RUNNING;
    const ShimIndex& size = state->block_size;
    state->thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
    state->lane = thread % WARP;
}

void wake(unsigned thread) {
    all[thread].where = READY;
    ready.push_back(thread);
}

// Returns the thread to run next: one that has started, or the next new one.
int choose() {
    bool fresh = begun < threads;
    if (fresh && (ready.empty() || !deep)) return static_cast<int>(order[begun++]);
    // Copies and products complete while threads run, or when none can.
    if (!forward && !backward && dice.below(256) == 0) go_on_async(dice.next() >> 32);
    while (ready.empty())
        if (!go_on_async(forward || backward ? 0 : dice.next() >> 32)) return -1;
    if (!forward && !backward) std::swap(ready.back(), ready[dice.below(unsigned(ready.size()))]);
    unsigned thread = forward ? ready.front() : ready.back();
    if (forward)
        ready.pop_front();
    else
        ready.pop_back();
    return static_cast<int>(thread);
}

void work();

// Switches from the running fibre, which is saved in `from`, to a thread's fibre.
void go_on(Fibre& from, unsigned thread) {
    bool fresh = all[thread].where == FRESH;
    enter(thread);
    if (fresh) begin(all[thread].fibre, work);
    change(from, all[thread].fibre);
}

void wait() {
    unsigned self = running;
    int next = choose();
    if (next < 0) stuck();
    if (static_cast<unsigned>(next) == self)
        enter(self);
    else
        go_on(all[self].fibre, static_cast<unsigned>(next));
}

// Computes each lane's result of a complete rendezvous.
void settle(unsigned warp, unsigned lanes) {
    Thread* lane = all + warp * WARP;
    unsigned first = static_cast<unsigned>(__builtin_ctz(lanes));
    ShimOp op = lane[first].op;
    unsigned long result = op == SHIM_ALL || op == SHIM_AND ? ~0ul
                           : op == SHIM_LEAST              ? ~0ul
                                                           : 0;
    unsigned long given[WARP], got[WARP];
    for (unsigned i = 0; i < WARP; i++) given[i] = lanes >> i & 1 ? lane[i].value : 0;
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        unsigned i = static_cast<unsigned>(__builtin_ctz(rest));
        switch (op) {
        case SHIM_ALL: result = result && given[i]; break;
        case SHIM_ANY: result = result || given[i]; break;
        case SHIM_BALLOT: result |= (given[i] ? 1ul : 0ul) << i; break;
        case SHIM_SUM: result = static_cast<unsigned>(result + given[i]); break;
        case SHIM_LEAST: result = std::min(result, given[i]); break;
        case SHIM_GREATEST: result = std::max(result, given[i]); break;
        case SHIM_AND: result &= given[i]; break;
        case SHIM_OR: result |= given[i]; break;
        case SHIM_XOR: result ^= given[i]; break;
        default: break;
        }
    }
    for (unsigned i = 0; i < WARP; i++) {
        got[i] = result;
        if (op >= SHIM_SHUFFLE && op <= SHIM_SHUFFLE_XOR) {
            // The value of a lane that does not take part, or has ended, is undefined.
            unsigned source = lane[i].source;
            bool known = lanes >> i & 1 && source < WARP && lanes >> source & 1;
            got[i] = known ? given[source] : 0xfffdfffdfffdfffdul;
        } else if (op == SHIM_MATCH) {
            got[i] = 0;
            for (unsigned k = 0; k < WARP; k++)
                if (lanes >> k & 1 && given[k] == given[i]) got[i] |= 1ul << k;
        }
    }
    waiting[warp] &= ~lanes;
    for (unsigned i = 0; i < WARP; i++)
        if (lanes >> i & 1) {
            lane[i].value = got[i];
            wake(warp * WARP + i);
        }
}

void must_agree(unsigned one, unsigned other) {
    const Thread &a = all[one], &b = all[other];
    if (a.op == b.op && a.mask == b.mask) return;
    give_up("lanes of one warp meet in different calls: %s in %s, %s in %s",
            say_thread(one).c_str(), say_wait(a).c_str(), say_thread(other).c_str(),
            say_wait(b).c_str());
}

// Completes the rendezvous that a lane waits in, if all lanes that still can have arrived.
void try_warp(unsigned warp, unsigned thread) {
    unsigned lanes = all[thread].mask & present[warp] & ~ended[warp], here = lanes & waiting[warp];
    must_agree(thread, warp * WARP + static_cast<unsigned>(__builtin_ctz(here)));
    if (here != lanes) return;
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        must_agree(thread, warp * WARP + static_cast<unsigned>(__builtin_ctz(rest)));
    settle(warp, lanes);
}

unsigned long warp_call(ShimOp op, unsigned mask, unsigned long value, unsigned source,
                        ShimSite site) {
    Thread& t = all[running];
    unsigned warp = running / WARP, lane = running % WARP;
    t.op = op, t.mask = mask, t.value = value, t.source = source, t.site = site;
    t.where = IN_WARP;
    if (!(mask >> lane & 1)) give_up("%s: lane %u is not among them", say_wait(t).c_str(), lane);
    waiting[warp] |= 1u << lane;
    try_warp(warp, running);
    wait();
    return t.value;
}

void try_barrier() {
    if (in_barrier == 0 || in_barrier + gone < threads) return;
    int count = 0;
    for (unsigned i = 0; i < threads; i++)
        if (all[i].where == IN_BLOCK) count += all[i].value != 0;
    int live = static_cast<int>(in_barrier);
    in_barrier = 0;
    for (unsigned i = 0; i < threads; i++) {
        Thread& t = all[order[i]];
        if (t.where != IN_BLOCK) continue;
        int result = t.op == SHIM_ALL ? count == live : t.op == SHIM_ANY ? count > 0 : count;
        t.value = static_cast<unsigned long>(result);
        wake(order[i]);
    }
}

int block_call(ShimOp op, int value, ShimSite site) {
    Thread& t = all[running];
    t.op = op, t.value = static_cast<unsigned long>(value != 0), t.site = site;
    t.where = IN_BLOCK;
    if (in_barrier == 0) first_in_barrier = running;
    const Thread& first = all[first_in_barrier];
    bool same_file = first.site.file == site.file || strcmp(first.site.file, site.file) == 0;
    if (first.op != op || first.site.line != site.line || !same_file)
        give_up("divergent barrier: %s in __syncthreads at %s, %s in that at %s",
                say_thread(running).c_str(), say(site).c_str(),
                say_thread(first_in_barrier).c_str(), say(first.site).c_str());
    in_barrier++;
    try_barrier();
    wait();
    return static_cast<int>(t.value);
}

unsigned live_lanes() { return present[running / WARP] & ~ended[running / WARP]; }

void finish(unsigned thread) {
    leave_async(thread);
    all[thread].where = GONE;
    gone++;
    unsigned warp = thread / WARP;
    ended[warp] |= 1u << thread % WARP;
    if (waiting[warp])
        for (unsigned i = 0; i < WARP; i++)
            if (waiting[warp] >> i & 1 && all[warp * WARP + i].mask >> thread % WARP & 1)
                try_warp(warp, warp * WARP + i);
    try_barrier();
}

// The body of a fibre: runs threads one after another, until the next thread has its own fibre.
void work() {
    for (;;) {
        launch->function->entry(arguments);
        unsigned self = running;
        finish(self);
        int next = choose();
        if (next >= 0 && all[next].where == FRESH) {
            std::swap(all[next].fibre, all[self].fibre);
            enter(static_cast<unsigned>(next));
            continue;
        }
        if (next < 0 && gone < threads) stuck();
        Fibre left = all[self].fibre;
        end(all[self].fibre);
        if (next < 0) {
            in_thread = false;
            change(left, outside);
        } else {
            go_on(left, static_cast<unsigned>(next));
        }
    }
}

char* place_array(size_t bytes, size_t align, ShimSite site) {
    size_t start = (arena_used + GUARD + align - 1) / align * align;
    if (start + bytes + GUARD > ARENA) give_up("too much shared memory at %s", say(site).c_str());
    arena_used = start + bytes;
    arrays.push_back({arena + start, bytes, site});
    return arena + start;
}

void* shared_array(ShimSlot* slot, unsigned long bytes, unsigned long align, ShimSite site) {
    slot->epoch = epoch;
    slot->place = place_array(bytes, std::max<size_t>(align, 16), site);
    launch->function->static_bytes += static_cast<unsigned>(bytes);
    if (launch->function->static_bytes > SHARED_LIMIT)
        give_up("more than 48 KiB of static shared memory, at %s", say(site).c_str());
    return slot->place;
}

void check_arrays() {
    char* from = arena;
    for (const SharedArray& array : arrays) {
        size_t gap = static_cast<size_t>(array.start - from);
        if (unpoisoned(from, gap) < gap)
            give_up("write outside of the shared array of %zu bytes at %s, or the one before it",
                    array.bytes, say(array.site).c_str());
        from = array.start + array.bytes;
    }
    if (unpoisoned(from, GUARD) < GUARD)
        give_up("write behind the end of the shared array of %zu bytes at %s", arrays.back().bytes,
                say(arrays.back().site).c_str());
}

void fail(const char* what, ShimSite site) { give_up("%s, at %s", what, say(site).c_str()); }

unsigned shared_address(const void* place) {
    return static_cast<unsigned>(static_cast<const char*>(place) - arena);
}

void run_block(ShimIndex index) {
    threads = launch->block.x * launch->block.y * launch->block.z;
    begun = in_barrier = gone = 0;
    ready.clear();
    for (unsigned warp = 0; warp * WARP < threads; warp++) {
        unsigned lanes = std::min(WARP, threads - warp * WARP);
        waiting[warp] = ended[warp] = 0;
        present[warp] = lanes == WARP ? ~0u : (1u << lanes) - 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        all[i].where = FRESH;
        order[i] = backward ? threads - 1 - i : i;
    }
    if (!forward && !backward)
        for (unsigned i = threads - 1; i > 0; i--) std::swap(order[i], order[dice.below(i + 1)]);
    deep = forward || (!backward && dice.below(2));

    *state = ShimState{};
    connect(state);
    state->block = index;
    state->block_size = launch->block;
    state->grid_size = launch->grid;
    state->epoch = ++epoch;
    // Poison the last block's memory again, including its guards.
    poison(arena, arena_used + GUARD);
    arena_used = 0;
    arrays.clear();
    launch->function->static_bytes = 0;
    begin_async();
    if (launch->dynamic > 0) state->dynamic = place_array(launch->dynamic, 1024, {"launch", 0});

    int first = choose();
    in_thread = true;
    go_on(outside, static_cast<unsigned>(first));
    end_async();
    if (!arrays.empty()) check_arrays();
}

struct sigaction before[NSIG];

void on_fault(int signal, siginfo_t* info, void*) {
    if (in_thread) {
        char text[512];
        int length = snprintf(text, sizeof(text), "fake driver: %s at address %p%s\n",
                              signal == SIGFPE ? "division by zero" : "bad access", info->si_addr,
                              place_in_kernel().c_str());
        if (write(2, text, static_cast<size_t>(length)) < 0) _exit(1);
        abort();
    }
    // The previous handler runs when the access is repeated.
    sigaction(signal, &before[signal], nullptr);
}

void watch_faults() {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    // On the alternate stack, if the thread has one: the fibre's stack may have overflowed.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, &before[signal]);
}

} // namespace

std::string place_in_kernel() {
    if (!launch) return "";
    return ", in kernel " + launch->function->name + ", block " + say(state->block)
           + (in_thread ? ", " + say_thread(running) : "");
}

unsigned running_thread() { return running; }

void sleep_thread(const char* what, ShimSite site) {
    Thread& t = all[running];
    t.where = ASLEEP, t.what = what, t.site = site;
    wait();
}

void wake_thread(unsigned thread) { wake(thread); }

char* shared_bytes(unsigned address, size_t bytes, const char* what) {
    char* start = arena + address;
    for (const SharedArray& array : arrays)
        if (start >= array.start && start + bytes <= array.start + array.bytes) return start;
    give_up("%s outside of shared memory, at shared address %u", what, address);
}

bool at_once() { return forward; }

void connect(ShimState* s) {
    s->warp = warp_call;
    s->block_barrier = block_call;
    s->live_lanes = live_lanes;
    s->shared = shared_array;
    s->fail = fail;
    s->shared_address = shared_address;
    connect_async(s);
}

void run(const Launch& what) {
    static bool watched = (watch_faults(), true);
    static bool poisoned = (poison(arena, ARENA), true);
    (void)watched, (void)poisoned;
    launch = &what;
    state = what.function->module->state;
    memcpy(arguments, what.arguments.data(), what.arguments.size() * sizeof(uint64_t));
    forward = settings().order == "forward", backward = settings().order == "backward";
    dice.state = settings().seed * 0x9e3779b97f4a7c15ull + what.number;
    uint64_t blocks = uint64_t(what.grid.x) * what.grid.y * what.grid.z;
    // A step that is coprime to the number of blocks visits all of them.
    uint64_t step = 1, at = 0;
    if (!forward && !backward && blocks > 1) {
        at = dice.next() % blocks;
        do step = 1 + dice.next() % (blocks - 1);
        while (std::__gcd(step, blocks) != 1);
    }
    for (uint64_t i = 0; i < blocks; i++, at = (at + step) % blocks) {
        uint64_t block = backward ? blocks - 1 - i : at;
        run_block({unsigned(block % what.grid.x), unsigned(block / what.grid.x % what.grid.y),
                   unsigned(block / what.grid.x / what.grid.y)});
    }
    launch = nullptr;
}
