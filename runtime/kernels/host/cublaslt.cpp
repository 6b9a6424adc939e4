// A fake libcublasLt: the functions that the backend calls, with the checks that the real library makes and some that
// it does not. Results are computed one number at a time.
//
// An error that the real library would report returns its status; an error that it would not notice, and that would
// make it read or write out of bounds, ends the process. NOMINA_FAKE_CUBLASLT lists the cases without an algorithm:
// `bias`, `batch`, `unaligned`, `all`.
#include <complex>
#include <mutex>
#include <new>

#define LIBRARY "cublasLt"
#include "library.h"

enum Status : int { SUCCESS = 0, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum : int { R_32F = 0, R_64F = 1, R_16F = 2, C_32F = 4, C_64F = 5, R_16BF = 14 };
enum : int { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_TF32 = 77 };
enum : int { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4 };
enum : u64 { HANDLE = 0x6c74'01, DESC, LAYOUT, WISHES, ALGORITHM };

#define API extern "C" __attribute__((visibility("default"))) Status

static bool refuses(const char* what) {
    const char* list = getenv("NOMINA_FAKE_CUBLASLT");
    return list && (strstr(list, what) || strstr(list, "all"));
}

// ---- Objects

struct Handle {
    u64 magic;
};
struct Desc {
    u64 magic;
    int compute, scale, turned[2], epilogue;
    const void* bias;
};
struct Layout {
    u64 magic;
    int type, order, batch;
    u64 rows, cols;
    i64 leading, step;
};
struct Wishes {
    u64 magic, workspace;
    u32 schemes, aligned[4];
};
struct Algorithm {
    u64 magic, fingerprint, workspace;
    u32 aligned[4];
    u64 bias_aligned, unused[2];
};
static_assert(sizeof(Algorithm) == 64, "as the real one's");
struct Answer {
    Algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

template <class T> static Status destroy(T* object, u64 magic, const char* what) {
    if (!is(object, magic, what)) return INVALID_VALUE;
    object->magic = DEAD;
    return SUCCESS;
}
// Sets an attribute after checking its size.
template <class T> static Status set(T& attribute, const void* value, size_t bytes) {
    if (!value || bytes != sizeof(T)) return INVALID_VALUE;
    memcpy(&attribute, value, sizeof(T));
    return SUCCESS;
}

static std::mutex counting;
static u64 asked, multiplied;
static struct Report {
    ~Report() {
        if (asked && getenv("NOMINA_FAKE_REPORT"))
            fprintf(stderr, "fake cublasLt: %llu products by %llu plans\n", multiplied, asked);
    }
} report;

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetCudartVersion() { return 13000; }

API cublasLtCreate(Handle** out) {
    if (!out) return INVALID_VALUE;
    if (!has_context()) return static_cast<Status>(1); // not initialized
    *out = new Handle{HANDLE};
    return SUCCESS;
}
API cublasLtDestroy(Handle* handle) { return destroy(handle, HANDLE, "handle"); }

API cublasLtMatmulDescCreate(Desc** out, int compute, int scale) {
    const bool doubles = scale == R_64F || scale == C_64F;
    const bool singles = scale == R_32F || scale == C_32F;
    if (compute == COMPUTE_64F ? !doubles
                               : !singles || (compute != COMPUTE_32F && compute != COMPUTE_TF32))
        return INVALID_VALUE;
    *out = new Desc{DESC, compute, scale, {0, 0}, EPILOGUE_DEFAULT, nullptr};
    return SUCCESS;
}
API cublasLtMatmulDescDestroy(Desc* desc) { return destroy(desc, DESC, "product"); }
API cublasLtMatmulDescSetAttribute(Desc* desc, int which, const void* value, size_t bytes) {
    if (!is(desc, DESC, "product")) return INVALID_VALUE;
    switch (which) {
    case 3:
    case 4: return set(desc->turned[which - 3], value, bytes);
    case 7: return set(desc->epilogue, value, bytes);
    case 8: return set(desc->bias, value, bytes);
    default: return INVALID_VALUE;
    }
}

API cublasLtMatrixLayoutCreate(Layout** out, int type, u64 rows, u64 cols, i64 leading) {
    *out = new Layout{LAYOUT, type, 0, 1, rows, cols, leading, 0};
    return SUCCESS;
}
API cublasLtMatrixLayoutDestroy(Layout* layout) { return destroy(layout, LAYOUT, "matrix"); }
API cublasLtMatrixLayoutSetAttribute(Layout* layout, int which, const void* value, size_t bytes) {
    if (!is(layout, LAYOUT, "matrix")) return INVALID_VALUE;
    switch (which) {
    case 1: return set(layout->order, value, bytes);
    case 5: return set(layout->batch, value, bytes);
    case 6: return set(layout->step, value, bytes);
    default: return INVALID_VALUE;
    }
}

API cublasLtMatmulPreferenceCreate(Wishes** out) {
    *out = new Wishes{WISHES, 0, 7, {256, 256, 256, 256}};
    return SUCCESS;
}
API cublasLtMatmulPreferenceDestroy(Wishes* wishes) { return destroy(wishes, WISHES, "preference"); }
API cublasLtMatmulPreferenceSetAttribute(Wishes* wishes, int which, const void* value, size_t bytes) {
    if (!is(wishes, WISHES, "preference")) return INVALID_VALUE;
    switch (which) {
    case 1: return set(wishes->workspace, value, bytes);
    case 3: return set(wishes->schemes, value, bytes);
    case 5:
    case 6:
    case 7:
    case 8: return set(wishes->aligned[which - 5], value, bytes);
    default: return INVALID_VALUE;
    }
}

// ---- Compatibility checks

static u64 element(int type) {
    switch (type) {
    case R_16F:
    case R_16BF: return 2;
    case R_32F: return 4;
    case R_64F:
    case C_32F: return 8;
    case C_64F: return 16;
    default: return 0;
    }
}

// Returns whether the library supports a product of these matrices.
static Status check(const Desc& desc, const Layout* const (&layouts)[4]) {
    const int type = layouts[0]->type;
    for (const Layout* x : layouts) {
        if (x->type != type || x->order != 0) return NOT_SUPPORTED;
        if (x->rows == 0 || x->cols == 0 || x->batch < 1) return INVALID_VALUE;
        if (x->leading < static_cast<i64>(x->rows)) return INVALID_VALUE;
        if (x->batch != layouts[0]->batch) return INVALID_VALUE;
    }
    bool fits = false;
    switch (type) {
    case R_16F:
    case R_16BF: fits = desc.compute == COMPUTE_32F && desc.scale == R_32F; break;
    case R_32F: fits = desc.compute != COMPUTE_64F && desc.scale == R_32F; break;
    case C_32F: fits = desc.compute != COMPUTE_64F && desc.scale == C_32F; break;
    case R_64F: fits = desc.compute == COMPUTE_64F && desc.scale == R_64F; break;
    case C_64F: fits = desc.compute == COMPUTE_64F && desc.scale == C_64F; break;
    }
    if (!fits) return NOT_SUPPORTED;
    if ((desc.turned[0] | desc.turned[1]) & ~1) return NOT_SUPPORTED;
    const Layout &a = *layouts[0], &b = *layouts[1], &c = *layouts[2], &d = *layouts[3];
    const u64 m = desc.turned[0] ? a.cols : a.rows, k = desc.turned[0] ? a.rows : a.cols;
    const u64 l = desc.turned[1] ? b.cols : b.rows, n = desc.turned[1] ? b.rows : b.cols;
    if (k != l || m != d.rows || n != d.cols || c.rows != d.rows || c.cols != d.cols)
        return INVALID_VALUE;
    if (d.batch > 1 && d.step == 0) return INVALID_VALUE;
    const bool bias = desc.epilogue & EPILOGUE_BIAS;
    if (desc.epilogue != EPILOGUE_DEFAULT && desc.epilogue & ~(EPILOGUE_BIAS | EPILOGUE_RELU))
        return NOT_SUPPORTED;
    if (bias && (type == C_32F || type == C_64F)) return NOT_SUPPORTED;
    if ((bias && refuses("bias")) || (d.batch > 1 && refuses("batch")) || refuses("all"))
        return NOT_SUPPORTED;
    return SUCCESS;
}

static u64 fingerprint(const Desc& desc, const Layout* const (&layouts)[4]) {
    u64 hash = 0xcbf29ce484222325ull;
    auto add = [&](u64 word) { hash = (hash ^ word) * 0x100000001b3ull; };
    for (int word : {desc.compute, desc.scale, desc.turned[0], desc.turned[1], desc.epilogue})
        add(static_cast<u64>(word));
    for (const Layout* x : layouts)
        for (u64 word : {u64(x->type), u64(x->batch), x->rows, x->cols, u64(x->leading), u64(x->step)})
            add(word);
    return hash;
}

API cublasLtMatmulAlgoGetHeuristic(Handle* handle, Desc* desc, Layout* a, Layout* b, Layout* c,
                                   Layout* d, Wishes* wishes, int most, Answer* out, int* count) {
    if (!is(handle, HANDLE, "handle") || !is(desc, DESC, "product") || !out || !count || most < 1)
        return INVALID_VALUE;
    for (const Layout* x : {a, b, c, d})
        if (!is(x, LAYOUT, "matrix")) return INVALID_VALUE;
    if (!is(wishes, WISHES, "preference")) return INVALID_VALUE;
    *count = 0;
    const Layout* const layouts[4] = {a, b, c, d};
    const Status status = check(*desc, layouts);
    if (status != SUCCESS) return status;
    Algorithm algorithm{ALGORITHM, fingerprint(*desc, layouts), 0, {}, 1, {}};
    // The real library considers the alignment of the address.
    if (desc->epilogue & EPILOGUE_BIAS) {
        const u64 bias = reinterpret_cast<u64>(desc->bias);
        if (!bias) return INVALID_VALUE;
        algorithm.bias_aligned = bias % 256 ? bias & -bias : 256;
    }
    for (int i = 0; i < 4; i++) {
        const u32 aligned = wishes->aligned[i];
        if (aligned == 0 || aligned & (aligned - 1)) return INVALID_VALUE;
        if (aligned < element(a->type) || (aligned < 16 && refuses("unaligned"))) return NOT_SUPPORTED;
        algorithm.aligned[i] = aligned;
    }
    // Long sums are computed in parts, which need a workspace.
    const u64 deep = desc->turned[0] ? a->rows : a->cols;
    if (deep >= 32 && wishes->workspace >= 8192) algorithm.workspace = 4096 + 256 * (deep % 8);
    *out = Answer{algorithm, algorithm.workspace, SUCCESS, 1, {}};
    *count = 1;
    std::lock_guard<std::mutex> locked(counting);
    asked++;
    return SUCCESS;
}

// ---- Products

struct Job {
    Desc desc;
    Layout a, b, c, d;
    const char *of_a, *of_b, *of_c;
    char* of_d;
    char* workspace;
    u64 workspace_bytes;
    alignas(16) char alpha[16], beta[16];
};

// Computes the byte range of all matrices of a layout.
static void extent(const Layout& x, const char* at, const char** from, const char** to) {
    const i64 one = static_cast<i64>(x.cols - 1) * x.leading + static_cast<i64>(x.rows);
    const i64 last = (x.batch - 1) * x.step, size = static_cast<i64>(element(x.type));
    *from = at + (last < 0 ? last : 0) * size;
    *to = at + ((last > 0 ? last : 0) + one) * size;
}

static void check_extent(const Layout& x, const char* at, const char* what) {
    const char *from, *to;
    extent(x, at, &from, &to);
    check_range(from, static_cast<u64>(to - from), what);
}

static void check_apart(const Job& job, const Layout& x, const char* at, const char* what) {
    const char *from, *to, *first, *last;
    extent(x, at, &from, &to);
    extent(job.d, job.of_d, &first, &last);
    if (from < last && first < to) give_up("the result lies over %s", what);
}

template <class S> static S rounded(S x) { return x; }
template <> f32 rounded(f32 x) { return to_tf32(x); }
template <> std::complex<f32> rounded(std::complex<f32> x) {
    return {to_tf32(x.real()), to_tf32(x.imag())};
}
template <class S> static S positive(S x) {
    if constexpr (std::is_floating_point_v<S>) return x < 0 ? S(0) : x;
    else return x;
}
template <class E> static Compute<E> wide(E x) { return widen(x); }
template <class E> static E slim(Compute<E> x) { return narrow<E>(x); }

template <class E> static void multiply(const Job& job) {
    using S = Compute<E>;
    S alpha, beta;
    memcpy(static_cast<void*>(&alpha), job.alpha, sizeof(S));
    memcpy(static_cast<void*>(&beta), job.beta, sizeof(S));
    const bool tf32 = job.desc.compute == COMPUTE_TF32;
    const i64 deep = static_cast<i64>(job.desc.turned[0] ? job.a.rows : job.a.cols);
    for (i64 nth = 0; nth < job.d.batch; nth++) {
        const E* a = reinterpret_cast<const E*>(job.of_a) + nth * job.a.step;
        const E* b = reinterpret_cast<const E*>(job.of_b) + nth * job.b.step;
        const E* c = reinterpret_cast<const E*>(job.of_c) + nth * job.c.step;
        E* d = reinterpret_cast<E*>(job.of_d) + nth * job.d.step;
        for (i64 j = 0; j < static_cast<i64>(job.d.cols); j++)
            for (i64 i = 0; i < static_cast<i64>(job.d.rows); i++) {
                S sum{};
                for (i64 l = 0; l < deep; l++) {
                    S x = wide(a[job.desc.turned[0] ? i * job.a.leading + l : l * job.a.leading + i]);
                    S y = wide(b[job.desc.turned[1] ? l * job.b.leading + j : j * job.b.leading + l]);
                    if (tf32) x = rounded(x), y = rounded(y);
                    sum += x * y;
                }
                sum = alpha * sum;
                if (beta != S{}) sum += beta * wide(c[j * job.c.leading + i]);
                if (job.desc.epilogue & EPILOGUE_BIAS)
                    sum += wide(static_cast<const E*>(job.desc.bias)[i]);
                if (job.desc.epilogue & EPILOGUE_RELU) sum = positive(sum);
                d[j * job.d.leading + i] = slim<E>(sum);
            }
    }
}

static void run(void* data) {
    Job* job = static_cast<Job*>(data);
    const bool reads_c = job->of_c != nullptr;
    check_extent(job->a, job->of_a, "operand A of a product");
    check_extent(job->b, job->of_b, "operand B of a product");
    if (reads_c) check_extent(job->c, job->of_c, "operand C of a product");
    check_extent(job->d, job->of_d, "the result of a product");
    check_apart(*job, job->a, job->of_a, "operand A");
    check_apart(*job, job->b, job->of_b, "operand B");
    if (reads_c && job->of_c != job->of_d) check_apart(*job, job->c, job->of_c, "operand C");
    if (job->desc.epilogue & EPILOGUE_BIAS)
        check_range(job->desc.bias, job->d.rows * element(job->d.type), "the bias of a product");
    if (job->workspace_bytes) {
        check_range(job->workspace, job->workspace_bytes, "the workspace of a product");
        memset(job->workspace, 0xa5, job->workspace_bytes);
    }
    switch (job->d.type) {
    case R_16F: multiply<f16>(*job); break;
    case R_16BF: multiply<bf16>(*job); break;
    case R_32F: multiply<f32>(*job); break;
    case R_64F: multiply<f64>(*job); break;
    case C_32F: multiply<std::complex<f32>>(*job); break;
    case C_64F: multiply<std::complex<f64>>(*job); break;
    }
    std::lock_guard<std::mutex> locked(counting);
    multiplied++;
}

API cublasLtMatmul(Handle* handle, Desc* desc, const void* alpha, const void* a, Layout* of_a,
                   const void* b, Layout* of_b, const void* beta, const void* c, Layout* of_c, void* d,
                   Layout* of_d, const Algorithm* algorithm, void* workspace, size_t bytes,
                   void* stream) {
    if (!is(handle, HANDLE, "handle") || !is(desc, DESC, "product")) return INVALID_VALUE;
    const Layout* const layouts[4] = {of_a, of_b, of_c, of_d};
    for (const Layout* x : layouts)
        if (!is(x, LAYOUT, "matrix")) return INVALID_VALUE;
    if (!alpha || !beta || !a || !b || !d || !is(algorithm, ALGORITHM, "algorithm"))
        return INVALID_VALUE;
    const Status status = check(*desc, layouts);
    if (status != SUCCESS) return status;
    if (algorithm->fingerprint != fingerprint(*desc, layouts)) return NOT_SUPPORTED;
    const void* at[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        if (reinterpret_cast<u64>(at[i]) % algorithm->aligned[i]) return INVALID_VALUE;
    if (bytes < algorithm->workspace || (bytes && !workspace)) return INVALID_VALUE;
    if (reinterpret_cast<u64>(workspace) % 16) return INVALID_VALUE;
    const u64 scale = element(desc->scale);
    static const char zeros[16] = {};
    const bool reads_c = memcmp(beta, zeros, scale) != 0;
    if (reads_c && !c) return INVALID_VALUE;
    if (reads_c && c == d && (of_c->leading != of_d->leading || of_c->step != of_d->step))
        return INVALID_VALUE;
    if (desc->epilogue & EPILOGUE_BIAS &&
        (!desc->bias || reinterpret_cast<u64>(desc->bias) % algorithm->bias_aligned))
        return INVALID_VALUE;
    Job* job = new Job{*desc, *of_a, *of_b, *of_c, *of_d, static_cast<const char*>(a),
                       static_cast<const char*>(b), reads_c ? static_cast<const char*>(c) : nullptr,
                       static_cast<char*>(d), static_cast<char*>(workspace), algorithm->workspace, {}, {}};
    memcpy(job->alpha, alpha, scale);
    memcpy(job->beta, beta, scale);
    return enqueue(stream, run, job) ? SUCCESS : EXECUTION_FAILED;
}
