// A fake libcudnn: the functions that the backend calls, with the checks that the real library makes and some that it
// does not. Results are computed one number at a time.
//
// An error that the real library would report returns its status; an error that it would not notice, and that would
// make it read or write out of bounds, ends the process. NOMINA_FAKE_CUDNN lists failures: `handle` fails to be
// created, `all` has no algorithm, `late` is refused at execution, `broken` fails during execution, `version` is too
// old.
#include <mutex>
#include <vector>

#define LIBRARY "cudnn"
#include "library.h"

enum Status : u32 {
    SUCCESS = 0,
    NOT_INITIALIZED = 1001,
    BAD_PARAM = 2000,
    SIZE_INSUFFICIENT = 2006,
    SHAPE_MISMATCH = 2008,
    NOT_SUPPORTED = 3000,
    NOT_SUPPORTED_LAYOUT = 3004,
    EXECUTION_FAILED = 5000,
};
enum : int { FLOAT = 0, DOUBLE = 1, HALF = 2, BFLOAT16 = 9 };
enum : int { DEFAULT_MATH = 0, TENSOR_OP_MATH = 1, FMA_MATH = 3 };
enum : u64 { HANDLE = 0xd99'01, TENSOR, WEIGHT, SLIDES };
enum Way { FORWARD, DATA, GRADIENT };

#define API extern "C" __attribute__((visibility("default"))) Status

static bool told(const char* what) {
    const char* list = getenv("NOMINA_FAKE_CUDNN");
    return list && strstr(list, what);
}

struct Handle {
    u64 magic;
    void* stream;
};
struct Tensor {
    u64 magic;
    int type, rank;
    i64 dims[5], strides[5];
};
struct Weight {
    u64 magic;
    int type, order, rank;
    i64 dims[5];
};
struct Slides {
    u64 magic;
    int rank, sum, groups, math;
    i64 pads[3], steps[3], apart[3];
};
struct Proposal {
    int algorithm;
    Status status;
    float time;
    size_t workspace;
    int repeatable, math, reserved[3];
};
static_assert(sizeof(Proposal) == 48, "as the real one's");

static std::mutex counting;
static u64 asked, made;
static struct Report {
    ~Report() {
        if (asked && getenv("NOMINA_FAKE_REPORT"))
            fprintf(stderr, "fake cudnn: %llu convolutions by %llu plans\n", made, asked);
    }
} report;

extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() {
    return told("version") ? 8907 : 91900;
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

template <class T> static Status destroy(T* object, u64 magic, const char* what) {
    if (!is(object, magic, what)) return BAD_PARAM;
    object->magic = DEAD;
    return SUCCESS;
}
API cudnnCreateTensorDescriptor(Tensor** out) { return *out = new Tensor{TENSOR, 0, 0, {}, {}}, SUCCESS; }
API cudnnDestroyTensorDescriptor(Tensor* x) { return destroy(x, TENSOR, "tensor"); }
API cudnnCreateFilterDescriptor(Weight** out) { return *out = new Weight{WEIGHT, 0, 0, 0, {}}, SUCCESS; }
API cudnnDestroyFilterDescriptor(Weight* x) { return destroy(x, WEIGHT, "weight"); }
API cudnnCreateConvolutionDescriptor(Slides** out) {
    return *out = new Slides{SLIDES, 0, 0, 1, DEFAULT_MATH, {}, {}, {}}, SUCCESS;
}
API cudnnDestroyConvolutionDescriptor(Slides* x) { return destroy(x, SLIDES, "convolution"); }

static bool known(int type) {
    return type == FLOAT || type == DOUBLE || type == HALF || type == BFLOAT16;
}

API cudnnSetTensorNdDescriptor(Tensor* x, int type, int rank, const int* dims, const int* strides) {
    if (!is(x, TENSOR, "tensor") || !known(type) || rank < 4 || rank > 5) return BAD_PARAM;
    x->type = type, x->rank = rank;
    for (int i = 0; i < rank; i++) {
        if (dims[i] <= 0 || strides[i] <= 0) return BAD_PARAM;
        x->dims[i] = dims[i], x->strides[i] = strides[i];
    }
    return SUCCESS;
}
API cudnnSetFilterNdDescriptor(Weight* x, int type, int order, int rank, const int* dims) {
    if (!is(x, WEIGHT, "weight") || !known(type) || rank < 4 || rank > 5 || order < 0 || order > 1)
        return BAD_PARAM;
    x->type = type, x->order = order, x->rank = rank;
    for (int i = 0; i < rank; i++) {
        if (dims[i] <= 0) return BAD_PARAM;
        x->dims[i] = dims[i];
    }
    return SUCCESS;
}
API cudnnSetConvolutionNdDescriptor(Slides* x, int rank, const int* pads, const int* steps, const int* apart,
                                    int mode, int sum) {
    if (!is(x, SLIDES, "convolution") || rank < 2 || rank > 3 || mode != 1) return BAD_PARAM;
    if (sum != FLOAT && sum != DOUBLE) return BAD_PARAM;
    x->rank = rank, x->sum = sum;
    for (int i = 0; i < rank; i++) {
        if (pads[i] < 0 || steps[i] <= 0 || apart[i] <= 0) return BAD_PARAM;
        x->pads[i] = pads[i], x->steps[i] = steps[i], x->apart[i] = apart[i];
    }
    return SUCCESS;
}
API cudnnSetConvolutionGroupCount(Slides* x, int groups) {
    if (!is(x, SLIDES, "convolution") || groups < 1) return BAD_PARAM;
    x->groups = groups;
    return SUCCESS;
}
API cudnnSetConvolutionMathType(Slides* x, int math) {
    if (!is(x, SLIDES, "convolution") || math < 0 || math > 3) return BAD_PARAM;
    x->math = math;
    return SUCCESS;
}

// ---- Compatibility checks

static Status check(const Tensor* x, const Weight* w, const Slides* s, const Tensor* y) {
    if (!is(x, TENSOR, "tensor") || !is(y, TENSOR, "tensor") || !is(w, WEIGHT, "weight") ||
        !is(s, SLIDES, "convolution"))
        return BAD_PARAM;
    if (x->rank != y->rank || x->rank != w->rank || x->rank != s->rank + 2) return BAD_PARAM;
    if (x->type != w->type || x->type != y->type || (x->type == DOUBLE) != (s->sum == DOUBLE))
        return NOT_SUPPORTED;
    if (x->dims[0] != y->dims[0] || x->dims[1] != w->dims[1] * s->groups || y->dims[1] != w->dims[0] ||
        w->dims[0] % s->groups)
        return SHAPE_MISMATCH;
    for (int i = 0; i < s->rank; i++) {
        const i64 free = x->dims[2 + i] + 2 * s->pads[i] - ((w->dims[2 + i] - 1) * s->apart[i] + 1);
        if (free < 0 || free / s->steps[i] + 1 != y->dims[2 + i]) return SHAPE_MISMATCH;
    }
    // All operands must have the same layout.
    for (const Tensor* side : {x, y}) {
        i64 step = 1;
        std::vector<int> order;
        if (w->order == 1) order.push_back(1);
        for (int i = side->rank - 1; i >= (w->order == 1 ? 2 : 1); i--) order.push_back(i);
        order.push_back(0);
        for (int dim : order) {
            if (side->dims[dim] > 1 && side->strides[dim] != step) return NOT_SUPPORTED_LAYOUT;
            step *= side->dims[dim];
        }
    }
    return told("all") ? NOT_SUPPORTED : SUCCESS;
}

static size_t workspace(const Weight& w) { return 512 + 16 * static_cast<size_t>(w.dims[0] % 7); }

// Proposes algorithms. The first is not available, the second is not deterministic, the third needs too much memory.
static Status propose(const Handle* handle, const Tensor* x, const Weight* w, const Slides* s, const Tensor* y,
                      int most, int* count, Proposal* out) {
    if (!is(handle, HANDLE, "handle") || !count || !out || most < 1) return BAD_PARAM;
    const Status status = check(x, w, s, y);
    if (status != SUCCESS) return status;
    const int math = s->math == FMA_MATH ? FMA_MATH : x->type == DOUBLE ? DEFAULT_MATH : TENSOR_OP_MATH;
    const Proposal all[] = {
        {6, NOT_SUPPORTED, -1, 0, 1, math, {}},
        {0, SUCCESS, 1, 0, 0, math, {}},
        {2, SUCCESS, 2, size_t(1) << 40, 1, math, {}},
        {1, SUCCESS, 3, workspace(*w), 1, math, {}},
    };
    *count = most < 4 ? most : 4;
    memcpy(out, all, sizeof(Proposal) * static_cast<size_t>(*count));
    std::lock_guard<std::mutex> locked(counting);
    asked++;
    return SUCCESS;
}
API cudnnGetConvolutionForwardAlgorithm_v7(Handle* handle, Tensor* x, Weight* w, Slides* s, Tensor* y, int most,
                                           int* count, Proposal* out) {
    return propose(handle, x, w, s, y, most, count, out);
}
API cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle* handle, Weight* w, Tensor* y, Slides* s, Tensor* x, int most,
                                                int* count, Proposal* out) {
    return propose(handle, x, w, s, y, most, count, out);
}
API cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle* handle, Tensor* x, Tensor* y, Slides* s, Weight* w, int most,
                                                  int* count, Proposal* out) {
    return propose(handle, x, w, s, y, most, count, out);
}

// ---- Convolutions

struct Job {
    Way way;
    Tensor x, y;
    Weight w;
    Slides s;
    char *at_x, *at_w, *at_y, *workspace;
    size_t bytes;
};

static size_t element(int type) { return type == DOUBLE ? 8 : type == FLOAT ? 4 : 2; }

static u64 count(const i64* dims, int rank) {
    i64 all = 1;
    for (int i = 0; i < rank; i++) all *= dims[i];
    return static_cast<u64>(all);
}

template <class E> static f64 wide(E x, bool tf32) {
    const Compute<E> value = widen(x);
    if constexpr (same<E, f32>) return tf32 ? to_tf32(value) : value;
    return value;
}

// Adds each product of the operands to the wanted result.
template <class E> static void convolve(const Job& job) {
    const Tensor &x = job.x, &y = job.y;
    const Weight& w = job.w;
    const Slides& s = job.s;
    const bool tf32 = s.math != FMA_MATH;
    E *const at_x = reinterpret_cast<E*>(job.at_x), *const at_w = reinterpret_cast<E*>(job.at_w),
             *const at_y = reinterpret_cast<E*>(job.at_y);
    const Tensor& result = job.way == DATA ? x : y;
    const u64 sums = job.way == GRADIENT ? count(w.dims, w.rank) : count(result.dims, result.rank);
    std::vector<f64> sum(sums, 0.0);
    const int n = s.rank;
    const i64 outs = w.dims[0] / s.groups;
    i64 place[3] = {1, 1, 1}, taps[3] = {1, 1, 1};
    for (int i = 0; i < n; i++) place[i] = y.dims[2 + i], taps[i] = w.dims[2 + i];
    i64 w_steps[5], step = 1;
    if (w.order == 1) w_steps[1] = 1, step = w.dims[1];
    for (int i = w.rank - 1; i >= 2; i--) w_steps[i] = step, step *= w.dims[i];
    if (w.order == 0) w_steps[1] = step, step *= w.dims[1];
    w_steps[0] = step;
    for (i64 b = 0; b < x.dims[0]; b++)
        for (i64 k = 0; k < w.dims[0]; k++)
            for (i64 c = 0; c < w.dims[1]; c++)
                for (i64 p = 0; p < place[0] * place[1] * place[2]; p++)
                    for (i64 t = 0; t < taps[0] * taps[1] * taps[2]; t++) {
                        const i64 ps[3] = {p / (place[1] * place[2]), p / place[2] % place[1], p % place[2]};
                        const i64 ts[3] = {t / (taps[1] * taps[2]), t / taps[2] % taps[1], t % taps[2]};
                        i64 of_x = b * x.strides[0] + (k / outs * w.dims[1] + c) * x.strides[1];
                        i64 of_y = b * y.strides[0] + k * y.strides[1], of_w = k * w_steps[0] + c * w_steps[1];
                        bool inside = true;
                        for (int i = 0; i < n; i++) {
                            const i64 at = ps[i] * s.steps[i] + ts[i] * s.apart[i] - s.pads[i];
                            inside = inside && at >= 0 && at < x.dims[2 + i];
                            of_x += at * x.strides[2 + i];
                            of_y += ps[i] * y.strides[2 + i];
                            of_w += ts[i] * w_steps[2 + i];
                        }
                        if (!inside) continue;
                        switch (job.way) {
                        case FORWARD:
                            sum[static_cast<u64>(of_y)] += wide(at_x[of_x], tf32) * wide(at_w[of_w], tf32);
                            break;
                        case DATA:
                            sum[static_cast<u64>(of_x)] += wide(at_y[of_y], tf32) * wide(at_w[of_w], tf32);
                            break;
                        case GRADIENT:
                            sum[static_cast<u64>(of_w)] += wide(at_x[of_x], tf32) * wide(at_y[of_y], tf32);
                            break;
                        }
                    }
    E* const to = job.way == FORWARD ? at_y : job.way == DATA ? at_x : at_w;
    for (u64 i = 0; i < sums; i++) to[i] = narrow<E>(static_cast<Compute<E>>(sum[i]));
}

static void run(void* data) {
    Job* job = static_cast<Job*>(data);
    const u64 size = element(job->x.type);
    check_range(job->at_x, size * count(job->x.dims, job->x.rank), "the input of a convolution");
    check_range(job->at_w, size * count(job->w.dims, job->w.rank), "the weight of a convolution");
    check_range(job->at_y, size * count(job->y.dims, job->y.rank), "the result of a convolution");
    if (job->bytes) {
        check_range(job->workspace, job->bytes, "the workspace of a convolution");
        memset(job->workspace, 0xa5, job->bytes);
    }
    switch (job->x.type) {
    case HALF: convolve<f16>(*job); break;
    case BFLOAT16: convolve<bf16>(*job); break;
    case FLOAT: convolve<f32>(*job); break;
    case DOUBLE: convolve<f64>(*job); break;
    }
    std::lock_guard<std::mutex> locked(counting);
    made++;
}

static Status start(Handle* handle, Way way, const void* alpha, const Tensor* x, const void* at_x, const Weight* w,
                    const void* at_w, const Slides* s, int algorithm, void* workspace_at, size_t bytes,
                    const void* beta, const Tensor* y, const void* at_y) {
    if (!is(handle, HANDLE, "handle") || !alpha || !beta || !at_x || !at_w || !at_y) return BAD_PARAM;
    const Status status = check(x, w, s, y);
    if (status != SUCCESS) return status;
    if (told("late")) return NOT_SUPPORTED;
    if (told("broken")) return EXECUTION_FAILED;
    const bool one = x->type == DOUBLE ? *static_cast<const f64*>(alpha) == 1 && *static_cast<const f64*>(beta) == 0
                                       : *static_cast<const f32*>(alpha) == 1 && *static_cast<const f32*>(beta) == 0;
    if (!one || algorithm != 1) return NOT_SUPPORTED;
    for (const void* at : {at_x, at_w, at_y})
        if (reinterpret_cast<u64>(at) % 16) return BAD_PARAM;
    if (bytes < workspace(*w) || !workspace_at) return SIZE_INSUFFICIENT;
    auto at = [](const void* address) { return static_cast<char*>(const_cast<void*>(address)); };
    Job* job = new Job{way, *x, *y, *w, *s, at(at_x), at(at_w), at(at_y), at(workspace_at), bytes};
    return enqueue(handle->stream, run, job) ? SUCCESS : EXECUTION_FAILED;
}
API cudnnConvolutionForward(Handle* handle, const void* alpha, Tensor* x, const void* at_x, Weight* w,
                            const void* at_w, Slides* s, int algorithm, void* workspace, size_t bytes,
                            const void* beta, Tensor* y, void* at_y) {
    return start(handle, FORWARD, alpha, x, at_x, w, at_w, s, algorithm, workspace, bytes, beta, y, at_y);
}
API cudnnConvolutionBackwardData(Handle* handle, const void* alpha, Weight* w, const void* at_w, Tensor* y,
                                 const void* at_y, Slides* s, int algorithm, void* workspace, size_t bytes,
                                 const void* beta, Tensor* x, void* at_x) {
    return start(handle, DATA, alpha, x, at_x, w, at_w, s, algorithm, workspace, bytes, beta, y, at_y);
}
API cudnnConvolutionBackwardFilter(Handle* handle, const void* alpha, Tensor* x, const void* at_x, Tensor* y,
                                   const void* at_y, Slides* s, int algorithm, void* workspace, size_t bytes,
                                   const void* beta, Weight* w, void* at_w) {
    return start(handle, GRADIENT, alpha, x, at_x, w, at_w, s, algorithm, workspace, bytes, beta, y, at_y);
}
