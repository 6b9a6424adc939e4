// A fake libnccl: ranks are threads of this process, each with its own device.
//
// A call waits for the stream, meets the calls of the other ranks, and runs immediately. If ranks make different calls,
// so that the real library would hang or write garbage, the process ends. NOMINA_FAKE_NCCL is the name of a call that
// fails, for example `ncclAllReduce`.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#define LIBRARY "nccl"
#include "library.h"

enum Status : int { SUCCESS = 0, INTERNAL = 3, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum : int { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16 };
enum : int { SUM, PROD, MAX, MIN };
enum : u64 { COMM = 0x6e63'01 };

#define API extern "C" __attribute__((visibility("default"))) Status

static bool fails(const char* call) {
    const char* named = getenv("NOMINA_FAKE_NCCL");
    return named && !strcmp(named, call);
}

// One lock for all ranks; every change wakes the waiting ranks.
static std::mutex ranks_lock;
static std::condition_variable changed;
template <class Condition> static void wait(std::unique_lock<std::mutex>& held, Condition condition) {
    if (!changed.wait_for(held, std::chrono::seconds(60), condition))
        give_up("the other ranks do not come");
}

// A rank's contribution to a collective call.
struct Given {
    const char* call;
    u64 count;
    int type, how;
    std::vector<char> bytes;
};
struct Round {
    std::map<int, Given> given;
    int taken;
};
struct Group {
    int size, joined, left;
    std::multiset<int> devices;
    std::map<u64, Round> rounds;
    // Messages from one rank to another, in order.
    std::map<std::pair<int, int>, std::deque<std::vector<char>>> mail;
};
struct Comm {
    u64 magic;
    Group* group;
    int rank;
    u64 round;
};
struct Id {
    char bytes[128];
};
static std::map<u64, Group*>& groups = *new std::map<u64, Group*>;

static u64 bytes_of(int type) {
    switch (type) {
    case INT8:
    case UINT8: return 1;
    case FLOAT16:
    case BFLOAT16: return 2;
    case INT32:
    case UINT32:
    case FLOAT32: return 4;
    case INT64:
    case UINT64:
    case FLOAT64: return 8;
    default: return 0;
    }
}

static bool settled(void* stream) {
    return driver<int (*)(void*)>("cuStreamSynchronize")(stream) == 0;
}

static std::vector<char> copy(const void* from, u64 bytes) {
    check_range(from, bytes, "what is sent");
    auto* start = static_cast<const char*>(from);
    return std::vector<char>(start, start + bytes);
}

static void put(void* to, const std::vector<char>& bytes) {
    check_range(to, bytes.size(), "what is received");
    memcpy(to, bytes.data(), bytes.size());
}

template <class T> static T combined(T a, T b, int how) {
    switch (how) {
    case SUM: return static_cast<T>(a + b);
    case PROD: return static_cast<T>(a * b);
    case MAX: return std::max(a, b);
    default: return std::min(a, b);
    }
}

template <class T> static void combine(std::vector<char>& into, const std::vector<char>& other, int how) {
    for (size_t at = 0; at < into.size(); at += sizeof(T)) {
        T a, b;
        memcpy(&a, &into[at], sizeof(T));
        memcpy(&b, &other[at], sizeof(T));
        if constexpr (is_half<T>)
            a = Narrow<T>::from(combined(widen(a), widen(b), how));
        else
            a = combined(a, b, how);
        memcpy(&into[at], &a, sizeof(T));
    }
}

static void combine(std::vector<char>& into, const std::vector<char>& other, int type, int how) {
    switch (type) {
    case INT8: return combine<i8>(into, other, how);
    case UINT8: return combine<u8>(into, other, how);
    // Sums and products wrap.
    case INT32: return how < MAX ? combine<u32>(into, other, how) : combine<i32>(into, other, how);
    case INT64: return how < MAX ? combine<u64>(into, other, how) : combine<i64>(into, other, how);
    case FLOAT16: return combine<f16>(into, other, how);
    case FLOAT32: return combine<f32>(into, other, how);
    case FLOAT64: return combine<f64>(into, other, how);
    case BFLOAT16: return combine<bf16>(into, other, how);
    default: give_up("type %d is not combined", type);
    }
}

// Waits for the other ranks, and returns the contributions of all.
static std::vector<Given> meet(Comm* comm, Given own) {
    std::unique_lock<std::mutex> held(ranks_lock);
    Group& group = *comm->group;
    u64 number = comm->round++;
    Round& round = group.rounds[number];
    round.given[comm->rank] = std::move(own);
    changed.notify_all();
    wait(held, [&] { return static_cast<int>(round.given.size()) == group.size; });
    std::vector<Given> all;
    for (auto& entry : round.given) {
        const Given &first = round.given.begin()->second, &other = entry.second;
        if (strcmp(first.call, other.call) || first.count != other.count || first.type != other.type
            || first.how != other.how)
            give_up("rank 0 calls %s of %llu, rank %d %s of %llu", first.call,
                    static_cast<unsigned long long>(first.count), entry.first, other.call,
                    static_cast<unsigned long long>(other.count));
        all.push_back(other);
    }
    if (++round.taken == group.size) group.rounds.erase(number);
    return all;
}

API ncclGetVersion(int* version) {
    *version = 22809;
    return SUCCESS;
}

extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(Status status) {
    switch (status) {
    case SUCCESS: return "no error";
    case INVALID_ARGUMENT: return "invalid argument";
    case INVALID_USAGE: return "invalid usage";
    default: return "internal error";
    }
}

API ncclGetUniqueId(Id* id) {
    if (fails("ncclGetUniqueId")) return INTERNAL;
    static u64 count = 0;
    std::lock_guard<std::mutex> held(ranks_lock);
    memset(id, 0, sizeof *id);
    u64 number = ++count;
    memcpy(id->bytes, &number, sizeof number);
    return SUCCESS;
}

API ncclCommInitRank(Comm** out, int size, Id id, int rank) {
    if (fails("ncclCommInitRank")) return INTERNAL;
    if (size < 1 || rank < 0 || rank >= size) return INVALID_ARGUMENT;
    if (!has_context()) return INVALID_USAGE;
    int device = -1;
    driver<int (*)(int*)>("cuCtxGetDevice")(&device);
    u64 number;
    memcpy(&number, id.bytes, sizeof number);
    std::unique_lock<std::mutex> held(ranks_lock);
    Group*& named = groups[number];
    if (!named) named = new Group{size, 0, 0, {}, {}, {}};
    Group* group = named;
    if (group->size != size) give_up("groups of %d and of %d ranks have one number", group->size, size);
    group->joined++;
    group->devices.insert(device);
    changed.notify_all();
    wait(held, [&] { return group->joined == size; });
    std::set<int> devices(group->devices.begin(), group->devices.end());
    if (static_cast<int>(devices.size()) != size) return INVALID_USAGE;
    *out = new Comm{COMM, group, rank, 0};
    return SUCCESS;
}

API ncclCommDestroy(Comm* comm) {
    if (!is(comm, COMM, "communicator")) return INVALID_ARGUMENT;
    comm->magic = DEAD;
    return SUCCESS;
}

#define BEGIN(call)                                                                                \
    if (fails(#call)) return INTERNAL;                                                             \
    if (!is(comm, COMM, "communicator")) return INVALID_ARGUMENT;                                  \
    if (!has_context() || !settled(stream)) return INVALID_USAGE

API ncclAllReduce(const void* from, void* to, size_t count, int type, int how, Comm* comm, void* stream) {
    BEGIN(ncclAllReduce);
    auto all = meet(comm, {"ncclAllReduce", count, type, how, copy(from, count * bytes_of(type))});
    auto sum = all[0].bytes;
    for (size_t rank = 1; rank < all.size(); rank++) combine(sum, all[rank].bytes, type, how);
    put(to, sum);
    return SUCCESS;
}

API ncclReduceScatter(const void* from, void* to, size_t count, int type, int how, Comm* comm, void* stream) {
    BEGIN(ncclReduceScatter);
    u64 own = count * bytes_of(type), ranks = static_cast<u64>(comm->group->size);
    auto all = meet(comm, {"ncclReduceScatter", count, type, how, copy(from, own * ranks)});
    auto sum = all[0].bytes;
    for (size_t rank = 1; rank < all.size(); rank++) combine(sum, all[rank].bytes, type, how);
    auto start = sum.begin() + static_cast<long>(own * static_cast<u64>(comm->rank));
    put(to, std::vector<char>(start, start + static_cast<long>(own)));
    return SUCCESS;
}

API ncclAllGather(const void* from, void* to, size_t count, int type, Comm* comm, void* stream) {
    BEGIN(ncclAllGather);
    auto all = meet(comm, {"ncclAllGather", count, type, 0, copy(from, count * bytes_of(type))});
    std::vector<char> bytes;
    for (auto& given : all) bytes.insert(bytes.end(), given.bytes.begin(), given.bytes.end());
    put(to, bytes);
    return SUCCESS;
}

API ncclBroadcast(const void* from, void* to, size_t count, int type, int root, Comm* comm, void* stream) {
    BEGIN(ncclBroadcast);
    if (root < 0 || root >= comm->group->size) return INVALID_ARGUMENT;
    auto all = meet(comm, {"ncclBroadcast", count, type, root, copy(from, count * bytes_of(type))});
    put(to, all[static_cast<size_t>(root)].bytes);
    return SUCCESS;
}

// ---- Groups: when a group ends, its sends are posted, and then its receives are waited for.

struct Letter {
    Comm* comm;
    int peer;
    void* at;
    u64 bytes;
    bool sends;
};
static thread_local std::vector<Letter> letters;
static thread_local bool grouped;

API ncclGroupStart() {
    if (fails("ncclGroupStart")) return INTERNAL;
    if (grouped) give_up("a group within a group");
    grouped = true;
    return SUCCESS;
}

API ncclGroupEnd() {
    if (!grouped) return INVALID_USAGE;
    grouped = false;
    auto mine = std::move(letters);
    letters.clear();
    if (fails("ncclGroupEnd")) return INTERNAL;
    for (auto& letter : mine) {
        if (!letter.sends) continue;
        auto bytes = copy(letter.at, letter.bytes);
        std::lock_guard<std::mutex> held(ranks_lock);
        letter.comm->group->mail[{letter.comm->rank, letter.peer}].push_back(std::move(bytes));
        changed.notify_all();
    }
    for (auto& letter : mine) {
        if (letter.sends) continue;
        std::unique_lock<std::mutex> held(ranks_lock);
        auto& mail = letter.comm->group->mail[{letter.peer, letter.comm->rank}];
        wait(held, [&] { return !mail.empty(); });
        auto bytes = std::move(mail.front());
        mail.pop_front();
        held.unlock();
        if (bytes.size() != letter.bytes)
            give_up("rank %d sends %zu bytes, rank %d takes %llu", letter.peer, bytes.size(),
                    letter.comm->rank, static_cast<unsigned long long>(letter.bytes));
        put(letter.at, bytes);
    }
    return SUCCESS;
}

static Status noted(Comm* comm, int peer, void* at, u64 bytes, bool sends) {
    if (!grouped) give_up("a send or a receive outside of a group");
    if (peer < 0 || peer >= comm->group->size) return INVALID_ARGUMENT;
    letters.push_back({comm, peer, at, bytes, sends});
    return SUCCESS;
}

API ncclSend(const void* from, size_t count, int type, int peer, Comm* comm, void* stream) {
    BEGIN(ncclSend);
    return noted(comm, peer, const_cast<void*>(from), count * bytes_of(type), true);
}

API ncclRecv(void* to, size_t count, int type, int peer, Comm* comm, void* stream) {
    BEGIN(ncclRecv);
    return noted(comm, peer, to, count * bytes_of(type), false);
}
