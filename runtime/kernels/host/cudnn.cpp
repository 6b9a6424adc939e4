// A fake libcudnn: the backend (graph) functions that nomina calls, with the checks that the real library makes and
// some that it does not. Results are computed one number at a time.
//
// An error that the real library would report returns its status; an error that it would not notice, and that would
// make it read or write out of bounds, ends the process. NOMINA_FAKE_CUDNN lists failures: `handle` fails to be
// created, `all` supports no graph, `fused` no graph of two operations, `second` proposes only fallback engines,
// `serial` writes and reads no plans, `hungry` needs 128 MiB of workspace, `late` is refused at execution, `broken`
// fails during execution, `version` is too old, `newer` is another version. NOMINA_FAKE_REPORT prints counts at the
// end.
#include <atomic>
#include <map>
#include <string>
#include <vector>

#define LIBRARY "cudnn"
#include "cudnn_convolve.h"
#include "cudnn_names.h"

#define API extern "C" __attribute__((visibility("default"))) Status

static bool told(const char* what) {
    const char* list = getenv("NOMINA_FAKE_CUDNN");
    return list && strstr(list, what);
}

constexpr u64 HANDLE = 0xd99'01, DESCRIPTOR = 0xd99'02;
struct Handle {
    u64 magic;
    void* stream;
};
struct Descriptor {
    u64 magic;
    int kind;
    bool final, used;
    std::map<int, std::string> values;
    Program program;

    template <class T> std::vector<T> list(int name) const {
        auto found = values.find(name);
        std::vector<T> all;
        if (found == values.end()) return all;
        all.resize(found->second.size() / sizeof(T));
        memcpy(all.data(), found->second.data(), all.size() * sizeof(T));
        return all;
    }
    template <class T> T first(int name) const {
        auto all = list<T>(name);
        return all.empty() ? T{} : all[0];
    }
    i64 word(int name) const { return first<u32>(name); }
    Descriptor* refers(int name, size_t at = 0) const {
        auto all = list<Descriptor*>(name);
        if (at >= all.size()) give_up("attribute %d refers to nothing", name);
        is(all[at], DESCRIPTOR, "descriptor");
        return all[at];
    }
    void store(int name, const void* value, size_t bytes) { values[name].assign(static_cast<const char*>(value), bytes); }
};

static std::atomic<u64> computed, biased, planned, restored;
static std::atomic<i64> alive;
static struct Report {
    ~Report() {
        if (getenv("NOMINA_FAKE_REPORT"))
            fprintf(stderr,
                    "fake cudnn: %llu convolutions, %llu with a bias, by %llu plans and %llu from disk; "
                    "%lld descriptors\n",
                    u64(computed), u64(biased), u64(planned), u64(restored), i64(alive));
    }
} report;

extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() {
    return told("version") ? 8907 : told("newer") ? 92000 : 91900;
}
extern "C" __attribute__((visibility("default"))) size_t cudnnGetCudartVersion() { return 13000; }
extern "C" __attribute__((visibility("default"))) const char* cudnnGetErrorString(Status status) {
    switch (status) {
    case SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_STATUS_NOT_SUPPORTED";
    }
}

API cudnnCreate(Handle** out) {
    if (!has_context() || told("handle")) return NOT_INITIALIZED;
    *out = new Handle{HANDLE, nullptr};
    return SUCCESS;
}
API cudnnSetStream(Handle* handle, void* stream) {
    if (!is(handle, HANDLE, "handle")) return BAD_PARAM;
    handle->stream = stream;
    return SUCCESS;
}

// ---- Attributes

static size_t width(int type) {
    switch (type) {
    case AS_BOOLEAN:
    case AS_CHAR: return 1;
    case AS_HANDLE:
    case AS_INT64:
    case AS_DOUBLE:
    case AS_ADDRESS:
    case AS_DESCRIPTOR: return 8;
    default: return 4;
    }
}

static std::vector<Attribute> attributes(int kind) {
    std::vector<Attribute> all;
    for (const Attribute& each : ATTRIBUTES)
        if (each.kind == kind) all.push_back(each);
    if (is_convolution(kind)) {
        const Sides at = sides(kind);
        for (int factor : {0, 1}) all.push_back({kind, at.first + factor, AS_FLOAT, 1, true});
        all.push_back({kind, at.first + 2, AS_DESCRIPTOR, 1, true, CONVOLUTION});
        for (int side : {at.x, at.w, at.y}) all.push_back({kind, side, AS_DESCRIPTOR, 1, true, TENSOR});
    }
    return all;
}

API cudnnBackendCreateDescriptor(int kind, Descriptor** out) {
    if (!out || (attributes(kind).empty() && kind != ENGINE && kind != CONFIG)) return NOT_SUPPORTED;
    *out = new Descriptor{DESCRIPTOR, kind, false, false, {}, {}};
    alive++;
    return SUCCESS;
}
API cudnnBackendDestroyDescriptor(Descriptor* x) {
    if (!is(x, DESCRIPTOR, "descriptor")) return BAD_PARAM;
    x->magic = DEAD;
    alive--;
    return SUCCESS;
}
API cudnnBackendSetAttribute(Descriptor* x, int name, int type, i64 count, const void* values) {
    if (!is(x, DESCRIPTOR, "descriptor") || !values) return BAD_PARAM;
    if (x->final) return NOT_INITIALIZED;
    for (const Attribute& each : attributes(x->kind)) {
        if (each.name != name) continue;
        const bool factor = each.type == AS_FLOAT && type == AS_DOUBLE;
        if (type != each.type && !factor) return BAD_PARAM_ATTRIBUTE_TYPE;
        if (count < 1 || count > each.most) return BAD_PARAM_OUT_OF_BOUND;
        if (type == AS_HANDLE && !is(*static_cast<Handle* const*>(values), HANDLE, "handle")) return BAD_PARAM;
        for (i64 i = 0; type == AS_DESCRIPTOR && i < count; i++) {
            const Descriptor* other = static_cast<Descriptor* const*>(values)[i];
            if (!is(other, DESCRIPTOR, "descriptor")) return BAD_PARAM;
            if (!other->final) return BAD_PARAM_NOT_FINALIZED;
            if (each.refers >= 0 && other->kind != each.refers) return BAD_PARAM_ATTRIBUTE_TYPE;
        }
        x->store(name, values, static_cast<size_t>(count) * width(type));
        return SUCCESS;
    }
    return NOT_SUPPORTED;
}

// ---- Checks of finalized descriptors

static Status check_tensor(const Descriptor& x) {
    const i64 type = x.word(ELEMENT), alignment = x.first<i64>(ALIGNMENT);
    const auto dims = x.list<i64>(DIMS), strides = x.list<i64>(STRIDES);
    if (type != FLOAT && type != DOUBLE && type != HALF && type != BFLOAT16) return NOT_SUPPORTED_DATA_TYPE;
    if (dims.size() < 4 || dims.size() > 5 || strides.size() != dims.size()) return BAD_PARAM;
    for (size_t i = 0; i < dims.size(); i++)
        if (dims[i] <= 0 || strides[i] <= 0) return BAD_PARAM;
    return alignment > 0 && (alignment & (alignment - 1)) == 0 ? SUCCESS : BAD_PARAM;
}

static Status check_windows(const Descriptor& x) {
    const i64 rank = x.first<i64>(SPATIAL_DIMS), sum = x.word(SUM_TYPE);
    if (rank < 2 || rank > 3 || x.word(CONVOLUTION_MODE) != 1 || (sum != FLOAT && sum != DOUBLE)) return BAD_PARAM;
    for (int name : {BEFORE, AFTER, STEPS, DILATIONS}) {
        const auto all = x.list<i64>(name);
        if (all.size() != static_cast<size_t>(rank)) return BAD_PARAM;
        for (i64 each : all)
            if (each < (name == STEPS || name == DILATIONS)) return BAD_PARAM;
    }
    return SUCCESS;
}

static Status check_convolution(const Descriptor& op) {
    const Sides at = sides(op.kind);
    const Descriptor &s = *op.refers(at.first + 2), &x = *op.refers(at.x), &w = *op.refers(at.w), &y = *op.refers(at.y);
    const auto xs = x.list<i64>(DIMS), ws = w.list<i64>(DIMS), ys = y.list<i64>(DIMS);
    const auto before = s.list<i64>(BEFORE), after = s.list<i64>(AFTER), steps = s.list<i64>(STEPS);
    const auto apart = s.list<i64>(DILATIONS);
    const bool doubles = s.word(SUM_TYPE) == DOUBLE;
    // The factors have the type of the sums.
    const size_t factor = doubles ? 8 : 4;
    if (op.values.at(at.first).size() != factor || op.values.at(at.first + 1).size() != factor)
        return BAD_PARAM_ATTRIBUTE_TYPE;
    const bool plain = doubles ? op.first<f64>(at.first) == 1 && op.first<f64>(at.first + 1) == 0
                               : op.first<f32>(at.first) == 1 && op.first<f32>(at.first + 1) == 0;
    if (!plain) return NOT_SUPPORTED;
    if (xs.size() != ys.size() || xs.size() != ws.size() || xs.size() != before.size() + 2) return BAD_PARAM;
    if (x.word(ELEMENT) != w.word(ELEMENT) || (x.word(ELEMENT) == DOUBLE) != doubles) return NOT_SUPPORTED_DATA_TYPE;
    // The channels tell the number of groups.
    if (xs[0] != ys[0] || xs[1] % ws[1] || ys[1] != ws[0] || ws[0] % (xs[1] / ws[1])) return BAD_PARAM_SHAPE_MISMATCH;
    for (size_t i = 0; i < before.size(); i++) {
        const i64 free = xs[2 + i] + before[i] + after[i] - ((ws[2 + i] - 1) * apart[i] + 1);
        if (free < 0 || free / steps[i] + 1 != ys[2 + i]) return BAD_PARAM_SHAPE_MISMATCH;
    }
    return SUCCESS;
}

static Status check_addition(const Descriptor& op) {
    const Descriptor &x = *op.refers(ADD_X), &bias = *op.refers(ADD_BIAS), &y = *op.refers(ADD_Y);
    if (op.refers(ADD)->word(MODE) != 0) return NOT_SUPPORTED;
    auto sizes = x.list<i64>(DIMS);
    if (sizes != y.list<i64>(DIMS) || x.first<char>(VIRTUAL) == y.first<char>(VIRTUAL)) return BAD_PARAM_SHAPE_MISMATCH;
    for (size_t i = 0; i < sizes.size(); i++)
        if (i != 1) sizes[i] = 1;
    return bias.list<i64>(DIMS) == sizes ? SUCCESS : BAD_PARAM_SHAPE_MISMATCH;
}

static bool is_last(const i64* strides) { return strides[1] == 1; }

// Returns whether a tensor has no gaps, with channels innermost or outermost.
static bool is_packed(const i64* dims, const i64* strides, i64 rank, bool last) {
    i64 step = 1;
    std::vector<i64> order;
    if (last) order.push_back(1);
    for (i64 i = rank - 1; i >= (last ? 2 : 1); i--) order.push_back(i);
    order.push_back(0);
    for (i64 dim : order) {
        if (dims[dim] > 1 && strides[dim] != step) return false;
        step *= dims[dim];
    }
    return true;
}

// Reads a graph: a convolution, after which a bias may be added.
static Status read_graph(const Descriptor& graph, Program& p) {
    const auto all = graph.list<Descriptor*>(OPERATIONS);
    const Descriptor& op = *graph.refers(OPERATIONS);
    if (told("all")) return NOT_SUPPORTED;
    if (!is_convolution(op.kind) || all.size() > 2) return NOT_SUPPORTED_GRAPH_PATTERN;
    const Sides at = sides(op.kind);
    const Descriptor &x = *op.refers(at.x), &w = *op.refers(at.w), *y = op.refers(at.y), &s = *op.refers(at.first + 2);
    p = {};
    if (all.size() == 2) {
        const Descriptor& add = *graph.refers(OPERATIONS, 1);
        if (add.kind != ADDITION || add.refers(ADD_X) != y || op.kind != FORWARD || told("fused"))
            return NOT_SUPPORTED_GRAPH_PATTERN;
        p.bias = 1, p.bias_id = add.refers(ADD_BIAS)->first<i64>(ID);
        y = add.refers(ADD_Y);
    }
    if (x.first<char>(VIRTUAL) || w.first<char>(VIRTUAL) || y->first<char>(VIRTUAL)) return NOT_SUPPORTED_GRAPH_PATTERN;
    p.way = op.kind, p.type = x.word(ELEMENT);
    if (y->word(ELEMENT) != p.type) return NOT_SUPPORTED_DATA_TYPE;
    auto copy = [](const Descriptor& from, int name, i64* to) {
        const auto list = from.list<i64>(name);
        std::copy(list.begin(), list.end(), to);
        return static_cast<i64>(list.size());
    };
    p.rank = copy(x, DIMS, p.x);
    copy(x, STRIDES, p.x_strides), copy(w, DIMS, p.w), copy(w, STRIDES, p.w_strides);
    copy(*y, DIMS, p.y), copy(*y, STRIDES, p.y_strides);
    copy(s, BEFORE, p.before), copy(s, STEPS, p.steps), copy(s, DILATIONS, p.apart);
    p.x_id = x.first<i64>(ID), p.w_id = w.first<i64>(ID), p.y_id = y->first<i64>(ID);
    p.alignment = x.first<i64>(ALIGNMENT);
    // All operands have the same layout.
    for (bool last : {false, true})
        if (is_packed(p.x, p.x_strides, p.rank, last) && is_packed(p.w, p.w_strides, p.rank, last) &&
            is_packed(p.y, p.y_strides, p.rank, last))
            return SUCCESS;
    return NOT_SUPPORTED_LAYOUT;
}

// ---- Engines

// 100 cannot be built, 101 does not repeat its bits, 102 needs too much memory, 103 has tensor cores and adds a bias to
// innermost channels, 104 has none. They pad alike at both ends; 106, the fallback, pads in any way.
enum : i64 { UNBUILT = 100, UNREPEATABLE, GREEDY, TENSOR_CORES, PLAIN, FALLBACK = 106 };

static std::vector<i64> proposals(const Descriptor& heuristics) {
    const bool fallback = heuristics.word(HEURISTIC_MODE) == 2;
    if (fallback) return {FALLBACK};
    if (told("second")) return {};
    return {UNBUILT, UNREPEATABLE, GREEDY, TENSOR_CORES, PLAIN};
}

static std::vector<u32> notes(const Descriptor& engine) {
    switch (engine.first<i64>(ENGINE_NUMBER)) {
    case UNREPEATABLE: return {NONDETERMINISTIC};
    case TENSOR_CORES: return {TENSOR_CORE, DOWN_CONVERT_INPUTS};
    default: return {};
    }
}

static Status choose_engine(const Descriptor& config, Program& p) {
    const Descriptor& graph = *config.refers(CONFIG_GRAPH);
    const Status status = read_graph(graph, p);
    if (status != SUCCESS) return status;
    const Descriptor& op = *graph.refers(OPERATIONS);
    const Descriptor& s = *op.refers(sides(op.kind).first + 2);
    p.engine = config.first<i64>(ENGINE_NUMBER);
    if (p.engine == UNBUILT) return NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING;
    if (p.engine == TENSOR_CORES && p.type == DOUBLE) return NOT_SUPPORTED_DATA_TYPE;
    if (p.bias && (p.engine != TENSOR_CORES || !is_last(p.y_strides))) return NOT_SUPPORTED_GRAPH_PATTERN;
    if (p.engine != FALLBACK && s.list<i64>(BEFORE) != s.list<i64>(AFTER)) return NOT_SUPPORTED_PADDING;
    p.tf32 = p.type == FLOAT && p.engine == TENSOR_CORES;
    p.workspace = p.engine == GREEDY ? i64(1) << 40 : told("hungry") ? 128 << 20 : 512 + 16 * (p.w[0] % 7);
    if (p.engine == FALLBACK) p.workspace = 0;
    return SUCCESS;
}

static std::string text(const Program& p) {
    i64 numbers[NUMBERS];
    memcpy(numbers, &p, sizeof(p));
    std::string all = "{\"fake\": [";
    for (i64 each : numbers) all += std::to_string(each) + ", ";
    return all + "0]}";
}

static bool parse(const std::string& all, Program& p) {
    i64 numbers[NUMBERS];
    const char* at = all.c_str() + strlen("{\"fake\": [");
    if (all.compare(0, strlen("{\"fake\": ["), "{\"fake\": [") != 0) return false;
    for (i64& each : numbers) {
        char* end;
        each = strtoll(at, &end, 10);
        if (*end != ',') return false;
        at = end + 1;
    }
    memcpy(&p, numbers, sizeof(p));
    return true;
}

static Status check_plan(Descriptor& plan) {
    if (plan.values.count(PLAN_TEXT)) {
        if (told("serial") || !parse(plan.values[PLAN_TEXT], plan.program)) return SERIALIZATION_VERSION_MISMATCH;
        return SUCCESS;
    }
    if (!plan.values.count(PLAN_CONFIG)) return BAD_PARAM;
    return choose_engine(*plan.refers(PLAN_CONFIG), plan.program);
}

API cudnnBackendFinalize(Descriptor* x) {
    if (!is(x, DESCRIPTOR, "descriptor")) return BAD_PARAM;
    for (const Attribute& each : attributes(x->kind))
        if (each.needed && !x->values.count(each.name)) return BAD_PARAM;
    Status status = SUCCESS;
    Program unused;
    switch (x->kind) {
    case TENSOR: status = check_tensor(*x); break;
    case CONVOLUTION: status = check_windows(*x); break;
    case FORWARD:
    case DATA:
    case GRADIENT: status = check_convolution(*x); break;
    case ADDITION: status = check_addition(*x); break;
    case GRAPH: status = read_graph(*x, unused); break;
    case PLAN: status = check_plan(*x); break;
    case PACK:
        if (x->list<i64>(PACK_IDS).size() != x->list<void*>(PACK_ADDRESSES).size()) status = BAD_PARAM;
        break;
    case ENGINE:
    case CONFIG: return NOT_SUPPORTED; // the library fills them
    }
    x->final = status == SUCCESS;
    return status;
}

template <class T> static Status give(const std::vector<T>& all, i64 most, i64* count, void* out) {
    if (count) *count = static_cast<i64>(all.size());
    const i64 given = std::min(most, static_cast<i64>(all.size()));
    if (out && given > 0) memcpy(out, all.data(), sizeof(T) * static_cast<size_t>(given));
    return SUCCESS;
}

// Fills a descriptor that the program has created.
static Status fill(Descriptor* out, int kind, i64 engine, Descriptor* graph) {
    if (!is(out, DESCRIPTOR, "descriptor") || out->kind != kind || out->final) return BAD_PARAM;
    out->store(ENGINE_NUMBER, &engine, sizeof(engine));
    out->store(CONFIG_GRAPH, &graph, sizeof(graph));
    out->final = true;
    return SUCCESS;
}

API cudnnBackendGetAttribute(Descriptor* x, int name, int type, i64 most, i64* count, void* out) {
    if (!is(x, DESCRIPTOR, "descriptor") || most < 0 || (most > 0 && !out)) return BAD_PARAM;
    if (!x->final) return BAD_PARAM_NOT_FINALIZED;
    std::vector<i64> engines;
    Descriptor* graph = nullptr;
    if (x->kind == HEURISTICS && name == RESULTS)
        engines = proposals(*x), graph = x->refers(HEURISTIC_GRAPH);
    if (x->kind == CONFIG && name == CONFIG_ENGINE)
        engines = x->list<i64>(ENGINE_NUMBER), graph = x->refers(CONFIG_GRAPH);
    if (graph) {
        if (type != AS_DESCRIPTOR) return BAD_PARAM_ATTRIBUTE_TYPE;
        if (count) *count = static_cast<i64>(engines.size());
        const int kind = x->kind == HEURISTICS ? CONFIG : ENGINE;
        for (size_t i = 0; i < engines.size() && static_cast<i64>(i) < most; i++) {
            const Status status = fill(static_cast<Descriptor**>(out)[i], kind, engines[i], graph);
            if (status != SUCCESS) return status;
        }
        return SUCCESS;
    }
    if (x->kind == ENGINE && name == NOTES && type == AS_NOTE) return give(notes(*x), most, count, out);
    if (x->kind == PLAN && name == PLAN_WORKSPACE && type == AS_INT64)
        return give(std::vector<i64>{x->program.workspace}, most, count, out);
    if (x->kind == PLAN && name == PLAN_TEXT && type == AS_CHAR) {
        if (told("serial")) return NOT_SUPPORTED;
        const std::string all = text(x->program);
        return give(std::vector<char>(all.begin(), all.end()), most, count, out);
    }
    return NOT_SUPPORTED;
}

// ---- Execution

// Visits everything that a descriptor refers to; destroyed descriptors end the process.
static void visit(const Descriptor& x) {
    for (const Attribute& each : attributes(x.kind))
        if (each.type == AS_DESCRIPTOR)
            for (size_t i = 0; i < x.list<void*>(each.name).size(); i++) visit(*x.refers(each.name, i));
    if (x.values.count(CONFIG_GRAPH)) visit(*x.refers(CONFIG_GRAPH));
}

static void run(void* data) {
    const Job& job = *static_cast<Job*>(data);
    compute(job);
    computed++, biased += job.p.bias != 0;
}

API cudnnBackendExecute(Handle* handle, Descriptor* plan, Descriptor* pack) {
    if (!is(handle, HANDLE, "handle") || !is(plan, DESCRIPTOR, "plan") || !is(pack, DESCRIPTOR, "pack"))
        return BAD_PARAM;
    if (plan->kind != PLAN || pack->kind != PACK || plan->first<Handle*>(PLAN_HANDLE) != handle) return BAD_PARAM;
    if (!plan->final || !pack->final) return BAD_PARAM_NOT_FINALIZED;
    visit(*plan);
    if (told("late")) return NOT_SUPPORTED;
    if (told("broken")) return EXECUTION_FAILED;
    const Program& p = plan->program;
    const auto ids = pack->list<i64>(PACK_IDS);
    const auto addresses = pack->list<char*>(PACK_ADDRESSES);
    std::map<i64, char*> at;
    for (size_t i = 0; i < ids.size(); i++) {
        if (!addresses[i]) return BAD_PARAM;
        if (reinterpret_cast<u64>(addresses[i]) % static_cast<u64>(p.alignment)) return BAD_PARAM_MISALIGNED_POINTER;
        at[ids[i]] = addresses[i];
    }
    for (i64 id : {p.x_id, p.w_id, p.y_id, p.bias ? p.bias_id : p.x_id})
        if (!at.count(id)) return BAD_PARAM;
    char* workspace = pack->first<char*>(PACK_WORKSPACE);
    if (p.workspace && !workspace) return BAD_PARAM;
    if (!plan->used) (plan->values.count(PLAN_TEXT) ? restored : planned)++;
    plan->used = true;
    Job* job = new Job{p, at[p.x_id], at[p.w_id], at[p.y_id], p.bias ? at[p.bias_id] : nullptr, workspace};
    return enqueue(handle->stream, run, job) ? SUCCESS : EXECUTION_FAILED;
}
