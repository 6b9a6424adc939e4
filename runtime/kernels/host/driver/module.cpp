// Modules (shared objects of the fake NVRTC), functions, launches.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

typedef Module* CUmodule;
typedef Function* CUfunction;

static std::set<Module*>& modules = *new std::set<Module*>;
static std::set<Function*>& functions = *new std::set<Function*>;
static std::map<std::string, uint64_t>& launches = *new std::map<std::string, uint64_t>;
static uint64_t loaded, launched;

// Returns the size of an image, computed from its headers: the driver gets only a pointer to it.
static size_t image_size(const unsigned char* image) {
    if (memcmp(image, ELFMAG, SELFMAG) != 0 || image[EI_CLASS] != ELFCLASS64) return 0;
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof(header));
    if (header.e_type != ET_DYN) return 0;
    return header.e_shoff + size_t(header.e_shnum) * header.e_shentsize;
}

static void* open_image(const unsigned char* image, size_t bytes) {
    int file = memfd_create("nomina-module", MFD_CLOEXEC);
    if (file < 0) give_up("no memory for a module: %s", strerror(errno));
    for (size_t at = 0; at < bytes;) {
        ssize_t written = write(file, image + at, bytes - at);
        if (written <= 0) give_up("no memory for a module: %s", strerror(errno));
        at += static_cast<size_t>(written);
    }
    // The loader treats libraries with the same path as one, so the module's number is encoded in
    // the path, as redundant components.
    std::string path = "/proc/self/";
    for (uint64_t number = ++loaded; number > 0; number /= 2) path += number % 2 ? "./" : "/";
    path += "fd/" + std::to_string(file);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) give_up("a module does not load: %s", dlerror());
    close(file);
    return library;
}

static CUresult load(CUmodule* out, const void* image) {
    LOCK;
    NEED_CONTEXT;
    // The real driver may allow it, but may also wait for the device.
    if (is_capturing(current()->device)) give_up("a module is loaded while a stream captures");
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = image_size(static_cast<const unsigned char*>(image));
    if (bytes == 0) return CUDA_ERROR_INVALID_IMAGE;
    void* library = open_image(static_cast<const unsigned char*>(image), bytes);
    auto attach = reinterpret_cast<ShimState* (*)()>(dlsym(library, "shim_attach"));
    if (!attach) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    auto* module = new Module{current()->device, library, attach(), {}};
    connect(module->state);
    modules.insert(module);
    *out = module;
    return CUDA_SUCCESS;
}
CUDA cuModuleLoadData(CUmodule* out, const void* image) { return load(out, image); }
CUDA cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, void*, void*) {
    return load(out, image);
}

CUDA cuModuleUnload(CUmodule module) {
    LOCK;
    NEED_CONTEXT;
    if (!modules.count(module)) return CUDA_ERROR_INVALID_HANDLE;
    drain_device(module->device);
    for (Function* function : module->functions) {
        functions.erase(function);
        delete function;
    }
    dlclose(module->library);
    modules.erase(module);
    delete module;
    return CUDA_SUCCESS;
}

CUDA cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
    LOCK;
    NEED_CONTEXT;
    if (!modules.count(module)) return CUDA_ERROR_INVALID_HANDLE;
    for (Function* known : module->functions)
        if (known->name == name) {
            *out = known;
            return CUDA_SUCCESS;
        }
    auto symbol = [&](const char* ending) {
        return dlsym(module->library, (std::string(name) + ending).c_str());
    };
    auto* arguments = static_cast<const size_t*>(symbol("__size"));
    auto* alignment = static_cast<const size_t*>(symbol("__align"));
    auto* threads = static_cast<const size_t*>(symbol("__threads"));
    auto entry = reinterpret_cast<void (*)(const void*)>(symbol(""));
    if (!entry || !arguments || !alignment) return CUDA_ERROR_NOT_FOUND;
    unsigned bound = threads ? static_cast<unsigned>(*threads) : 1024;
    *out = new Function{module, name, entry, *arguments, *alignment, bound, SHARED_LIMIT, 0};
    functions.insert(*out);
    module->functions.push_back(*out);
    return CUDA_SUCCESS;
}

CUDA cuFuncGetName(const char** name, CUfunction function) {
    LOCK;
    if (!functions.count(function)) return CUDA_ERROR_INVALID_HANDLE;
    *name = function->name.c_str();
    return CUDA_SUCCESS;
}

enum { MAX_THREADS, STATIC_SHARED, REGISTERS = 4, PTX, BINARY, MAX_DYNAMIC = 8, CARVEOUT };

CUDA cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    LOCK;
    NEED_CONTEXT;
    if (!functions.count(function)) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == CARVEOUT) return CUDA_SUCCESS;
    if (attribute != MAX_DYNAMIC || value < 0 || unsigned(value) > SHARED_OPT_IN)
        return CUDA_ERROR_INVALID_VALUE;
    function->dynamic_limit = static_cast<unsigned>(value);
    return CUDA_SUCCESS;
}

CUDA cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
    LOCK;
    NEED_CONTEXT;
    if (!functions.count(function)) return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
    case MAX_THREADS: *value = static_cast<int>(function->max_threads); break;
    case STATIC_SHARED: *value = static_cast<int>(function->static_bytes); break;
    case REGISTERS: *value = 32; break;
    case PTX:
    case BINARY: *value = 90; break;
    case MAX_DYNAMIC: *value = static_cast<int>(function->dynamic_limit); break;
    default: *value = 0;
    }
    return CUDA_SUCCESS;
}

static CUresult occupancy(int* blocks, CUfunction function, int threads, size_t dynamic) {
    LOCK;
    NEED_CONTEXT;
    if (!functions.count(function)) return CUDA_ERROR_INVALID_HANDLE;
    if (threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    size_t shared = dynamic + function->static_bytes + 1024;
    size_t most = std::min<size_t>(32, (228 << 10) / shared);
    *blocks = static_cast<int>(std::min<size_t>(most, 2048 / static_cast<unsigned>(threads)));
    if (unsigned(threads) > function->max_threads) *blocks = 0;
    return CUDA_SUCCESS;
}
CUDA cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                 size_t dynamic) {
    return occupancy(blocks, function, threads, dynamic);
}
CUDA cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                          int threads, size_t dynamic, unsigned) {
    return occupancy(blocks, function, threads, dynamic);
}

// Returns whether an address that is not device memory is mapped in this process.
static bool is_mapped(uint64_t address) {
    unsigned char resident;
    void* page = reinterpret_cast<void*>(address & ~4095ull);
    return address >= 1ull << 32 && address < 1ull << 47 && mincore(page, 1, &resident) == 0;
}

// Checks that pointers among the arguments refer to live memory of the stream's device.
static void check_arguments(const Function& function, const Stream& stream,
                            const std::vector<uint64_t>& words) {
    for (size_t i = 0; i < words.size(); i++) {
        uint64_t word = words[i];
        auto refuse = [&](const char* what) {
            give_up("kernel %s: the argument at byte %zu, %p, is %s", function.name.c_str(),
                    8 * i, reinterpret_cast<void*>(word), what);
        };
        if (Allocation* a = allocation_of(word)) {
            if (a->free_queued) refuse("memory that was freed");
            if (a->device != stream.device) refuse("memory of another device");
            check_guards(*a, "work before this launch");
        } else if (freed_of(word)) {
            refuse("memory that was freed");
        } else if (word % 4 == 0 && is_mapped(word) && !is_pinned(reinterpret_cast<void*>(word))) {
            refuse("memory of the host");
        }
    }
}

static CUresult collect(std::vector<uint64_t>& words, const Function& function, void** parameters,
                        void** extra) {
    const void* start = nullptr;
    size_t bytes = 0;
    if (parameters && extra) return CUDA_ERROR_INVALID_VALUE;
    void** const buffer = extra;
    if (extra) {
        // Pairs of a key (1 a pointer, 2 a pointer to the size) and a value, terminated by null.
        for (; *extra; extra += 2) {
            uintptr_t what = reinterpret_cast<uintptr_t>(extra[0]);
            if (what == 1)
                start = extra[1];
            else if (what == 2)
                bytes = *static_cast<size_t*>(extra[1]);
            else
                return CUDA_ERROR_INVALID_VALUE;
        }
    } else if (parameters) {
        start = parameters[0];
        bytes = function.arguments;
    }
    if (!start) return CUDA_ERROR_INVALID_VALUE;
    if (buffer && function.alignment > 16)
        give_up("kernel %s takes a struct that is aligned to %zu bytes, and a buffer is put where that may not be",
                function.name.c_str(), function.alignment);
    if (bytes != function.arguments)
        give_up("kernel %s takes %zu bytes of arguments and was given %zu", function.name.c_str(),
                function.arguments, bytes);
    words.assign((bytes + 7) / 8, 0);
    memcpy(words.data(), start, bytes);
    return CUDA_SUCCESS;
}

CUDA cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic,
                    CUstream handle, void** parameters, void** extra) {
    LOCK;
    NEED_CONTEXT;
    Stream* stream = stream_of(handle);
    if (!stream || !functions.count(function)) return CUDA_ERROR_INVALID_HANDLE;
    if (function->module->device != stream->device) return CUDA_ERROR_INVALID_HANDLE;
    uint64_t threads = uint64_t(block_x) * block_y * block_z;
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || threads == 0) return CUDA_ERROR_INVALID_VALUE;
    if (grid_x > 0x7fffffff || grid_y > 65535 || grid_z > 65535) return CUDA_ERROR_INVALID_VALUE;
    if (threads > 1024 || block_z > 64) return CUDA_ERROR_INVALID_VALUE;
    if (threads > function->max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (dynamic > function->dynamic_limit) return CUDA_ERROR_INVALID_VALUE;

    Launch launch{function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic, {},
                  ++launched};
    CUresult collected = collect(launch.arguments, *function, parameters, extra);
    if (collected != CUDA_SUCCESS) return collected;
    check_arguments(*function, *stream, launch.arguments);
    launches[function->name]++;
    if (settings().trace)
        fprintf(stderr, "fake driver: launch %s, grid (%u, %u, %u), block (%u, %u, %u), shared %u\n",
                function->name.c_str(), grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic);
    if (stream->capture)
        stream->capture->checks.push_back(
            [launch, stream] { check_arguments(*launch.function, *stream, launch.arguments); });
    enqueue(stream, [launch = std::move(launch)] {
        run(launch);
        std::string what = "kernel " + launch.function->name;
        for (uint64_t word : launch.arguments)
            if (Allocation* a = allocation_of(word)) check_guards(*a, what.c_str());
    });
    return CUDA_SUCCESS;
}

void report_launches() {
    fprintf(stderr, "fake driver: modules %llu, launches %llu\n",
            static_cast<unsigned long long>(loaded), static_cast<unsigned long long>(launched));
    for (auto& entry : launches)
        fprintf(stderr, "fake driver: launched %s %llu\n", entry.first.c_str(),
                static_cast<unsigned long long>(entry.second));
}
