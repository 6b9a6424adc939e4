// Devices, contexts, errors, settings.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include "driver.h"

std::recursive_mutex driver_lock;

static size_t number(const char* name, size_t otherwise) {
    const char* text = getenv(name);
    return text && *text ? strtoull(text, nullptr, 10) : otherwise;
}

static Settings read_settings() {
    Settings s;
    s.devices = static_cast<int>(number("NOMINA_FAKE_DEVICES", 2));
    s.processors = static_cast<int>(number("NOMINA_FAKE_PROCESSORS", 4));
    s.cuda = static_cast<int>(number("NOMINA_FAKE_CUDA", 13000));
    s.memory = number("NOMINA_FAKE_MEMORY", size_t(4) << 30);
    const char* order = getenv("NOMINA_FAKE_ORDER");
    s.order = order && *order ? order : "forward";
    s.seed = strtoull(s.order.c_str(), nullptr, 10);
    s.lazy = number("NOMINA_FAKE_LAZY", 0) != 0;
    s.fence = number("NOMINA_FAKE_FENCE", 0) != 0;
    s.report = number("NOMINA_FAKE_REPORT", 0) != 0;
    s.trace = number("NOMINA_FAKE_TRACE", 0) != 0;
    s.uncaptured = number("NOMINA_FAKE_UNCAPTURED", 0) != 0;
    bool known = s.order == "forward" || s.order == "backward"
                 || s.order.find_first_not_of("0123456789") == std::string::npos;
    if (!known) give_up("NOMINA_FAKE_ORDER is forward, backward or a seed, not '%s'", order);
    return s;
}

const Settings& settings() {
    static const Settings read = read_settings();
    return read;
}

void give_up(const char* format, ...) {
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    fprintf(stderr, "fake driver: %s%s\n", text, place_in_kernel().c_str());
    fflush(stderr);
    abort();
}

static bool initialized;
static thread_local std::vector<Context*> contexts;

bool is_initialized() { return initialized; }

Context* current() { return contexts.empty() ? nullptr : contexts.back(); }

Device& device(int ordinal) {
    // Never destroyed: other destructors may still free memory.
    static std::vector<Device>& devices = *[] {
        auto* all = new std::vector<Device>(static_cast<size_t>(settings().devices));
        for (size_t i = 0; i < all->size(); i++) (*all)[i].context.device = static_cast<int>(i);
        return all;
    }();
    return devices[static_cast<size_t>(ordinal)];
}

static bool is_device(CUdevice ordinal) { return ordinal >= 0 && ordinal < settings().devices; }

static void report_at_exit() {
    if (!settings().report) return;
    report_memory();
    report_launches();
}

CUDA cuInit(unsigned flags) {
    LOCK;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (settings().devices == 0) return CUDA_ERROR_NO_DEVICE;
    if (!initialized) atexit(report_at_exit);
    initialized = true;
    return CUDA_SUCCESS;
}

CUDA cuDriverGetVersion(int* version) {
    *version = settings().cuda;
    return CUDA_SUCCESS;
}

CUDA cuDeviceGetCount(int* count) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    *count = settings().devices;
    return CUDA_SUCCESS;
}

CUDA cuDeviceGet(CUdevice* out, int ordinal) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUDA cuDeviceGetName(char* name, int length, CUdevice ordinal) {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, static_cast<size_t>(length), "fake GPU %d", ordinal);
    return CUDA_SUCCESS;
}

static CUresult uuid(unsigned char* bytes, CUdevice ordinal) {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    memset(bytes, 0xfa, 16);
    bytes[15] = static_cast<unsigned char>(ordinal);
    return CUDA_SUCCESS;
}
CUDA cuDeviceGetUuid(unsigned char* bytes, CUdevice ordinal) { return uuid(bytes, ordinal); }
CUDA cuDeviceGetUuid_v2(unsigned char* bytes, CUdevice ordinal) { return uuid(bytes, ordinal); }

CUDA cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = settings().memory;
    return CUDA_SUCCESS;
}

CUDA cuDeviceGetAttribute(int* value, int attribute, CUdevice ordinal) {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    static const struct {
        int attribute, value;
    } known[] = {
        {1, 1024},                              // threads per block
        {2, 1024}, {3, 1024}, {4, 64},          // threads per block dim
        {5, 0x7fffffff}, {6, 65535}, {7, 65535}, // blocks per grid dim
        {8, SHARED_LIMIT}, {9, 65536}, {10, 32}, {11, 0x7fffffff}, {12, 65536},
        {13, 1980000}, {14, 512}, {15, 1}, {17, 0}, {18, 0}, {19, 1}, {20, 0},
        {31, 1}, {32, 1}, {33, 0}, {34, 0}, {35, 0},
        {36, 3201000}, {37, 6144}, {38, 50 << 20}, {39, 2048}, {40, 3}, {41, 1},
        {75, 9}, {76, 0}, {78, 1}, {79, 1}, {80, 1}, {81, 228 << 10}, {82, 65536},
        {83, 1}, {84, 0}, {89, 0}, {91, 0}, {95, 1}, {97, SHARED_OPT_IN}, {102, 1},
        {106, 32}, {111, 1024}, {115, 1},
    };
    if (attribute == 16) {
        *value = settings().processors;
        return CUDA_SUCCESS;
    }
    for (auto& entry : known)
        if (entry.attribute == attribute) {
            *value = entry.value;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUDA cuDeviceCanAccessPeer(int* can, CUdevice one, CUdevice other) {
    if (!is_device(one) || !is_device(other)) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
}

CUDA cuCtxEnablePeerAccess(CUcontext, unsigned) { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; }

CUDA cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
    LOCK;
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *context = &device(ordinal).context;
    (*context)->retained++;
    return CUDA_SUCCESS;
}

CUDA cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    LOCK;
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    Context& context = device(ordinal).context;
    if (context.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--context.retained == 0) drain_device(ordinal);
    return CUDA_SUCCESS;
}

CUDA cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned) {
    return is_device(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUDA cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = device(ordinal).context.retained > 0;
    return CUDA_SUCCESS;
}

static bool is_context(CUcontext context) {
    for (int i = 0; i < settings().devices; i++)
        if (context == &device(i).context) return context->retained > 0;
    return false;
}

CUDA cuCtxSetCurrent(CUcontext context) {
    LOCK;
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!contexts.empty()) contexts.pop_back();
    if (context) contexts.push_back(context);
    return CUDA_SUCCESS;
}

CUDA cuCtxGetCurrent(CUcontext* context) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    *context = current();
    return CUDA_SUCCESS;
}

CUDA cuCtxPushCurrent_v2(CUcontext context) {
    LOCK;
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!context || !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    contexts.push_back(context);
    return CUDA_SUCCESS;
}

CUDA cuCtxPopCurrent_v2(CUcontext* context) {
    NEED_CONTEXT;
    if (context) *context = current();
    contexts.pop_back();
    return CUDA_SUCCESS;
}

CUDA cuCtxGetDevice(CUdevice* ordinal) {
    NEED_CONTEXT;
    *ordinal = current()->device;
    return CUDA_SUCCESS;
}

CUDA cuCtxSynchronize() {
    LOCK;
    NEED_CONTEXT;
    drain_device(current()->device);
    return CUDA_SUCCESS;
}

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image for the device"},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

CUDA cuGetErrorName(CUresult code, const char** name) {
    for (auto& error : errors)
        if (error.code == code) {
            *name = error.name;
            return CUDA_SUCCESS;
        }
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}

CUDA cuGetErrorString(CUresult code, const char** text) {
    for (auto& error : errors)
        if (error.code == code) {
            *text = error.text;
            return CUDA_SUCCESS;
        }
    *text = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult find(const char* symbol, void** address) {
    Dl_info own;
    if (!dladdr(reinterpret_cast<void*>(&cuInit), &own)) return CUDA_ERROR_NOT_FOUND;
    void* library = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    *address = nullptr;
    for (const char* version : {"_v2", ""})
        if (!*address) *address = dlsym(library, (std::string(symbol) + version).c_str());
    return *address ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUDA cuGetProcAddress_v2(const char* symbol, void** address, int, uint64_t, int* status) {
    CUresult result = find(symbol, address);
    if (status) *status = result == CUDA_SUCCESS ? 0 : 1;
    return result;
}
