// Uses the emulated GPU's libraries as a program uses a GPU: `drive <kernel> <folder of headers>` compiles
// host.cu for one kernel, launches it and prints the memory it wrote.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuStreamCreate(void**, unsigned);
int cuStreamSynchronize(void*);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemcpyDtoDAsync_v2(unsigned long long, unsigned long long, size_t, void*);
int cuMemAllocAsync(unsigned long long*, size_t, void*);
int cuMemFreeAsync(unsigned long long, void*);
int cuMemAllocHost_v2(void**, size_t);
int cuMemcpyHtoDAsync_v2(unsigned long long, const void*, size_t, void*);
int cuMemcpyDtoHAsync_v2(void*, unsigned long long, size_t, void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                   void**, void**);
int nvrtcCreateProgram(void**, const char*, const char*, int, const char* const*,
                       const char* const*);
int nvrtcCompileProgram(void*, int, const char* const*);
int nvrtcGetProgramLogSize(void*, size_t*);
int nvrtcGetProgramLog(void*, char*);
int nvrtcGetCUBINSize(void*, size_t*);
int nvrtcGetCUBIN(void*, char*);
int nvrtcDestroyProgram(void**);
}

static void check(int code, const char* what) {
    if (code == 0) return;
    printf("%s: error %d\n", what, code);
    exit(2);
}
#define CHECK(call) check(call, #call)

static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) check(-1, path.c_str());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

static std::string compile(const std::string& source, const std::string& folder,
                           const std::string& define) {
    const char* names[] = {"types.cuh", "index.cuh", "block.cuh", "lookback.cuh"};
    std::vector<std::string> texts;
    std::vector<const char*> headers;
    for (const char* name : names) texts.push_back(read(folder + "/" + name));
    for (const std::string& text : texts) headers.push_back(text.c_str());
    void* program;
    CHECK(nvrtcCreateProgram(&program, source.c_str(), "host.cu", 4, headers.data(), names));
    const char* options[] = {"--gpu-architecture=sm_90", "--std=c++17", define.c_str()};
    int compiled = nvrtcCompileProgram(program, 3, options);
    size_t bytes;
    CHECK(nvrtcGetProgramLogSize(program, &bytes));
    std::string log(bytes, 0);
    CHECK(nvrtcGetProgramLog(program, log.data()));
    printf("%s", log.c_str());
    check(compiled, "nvrtcCompileProgram");
    CHECK(nvrtcGetCUBINSize(program, &bytes));
    std::string image(bytes, 0);
    CHECK(nvrtcGetCUBIN(program, image.data()));
    CHECK(nvrtcDestroyProgram(&program));
    return image;
}

// The argument of every kernel in host.cu.
struct Arguments {
    unsigned long long x, y;
    unsigned long long n;
};

int main(int count, char** given) {
    if (count < 4) return 3;
    std::string kernel = given[1], source = read(given[3]);
    std::string image = compile(source, given[2], "-DKERNEL_" + kernel);

    void *context, *stream, *module, *function;
    int device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 1));
    CHECK(cuModuleLoadData(&module, image.data()));
    CHECK(cuModuleGetFunction(&function, module, kernel.c_str()));

    constexpr unsigned BLOCKS = 6, THREADS = 256, PER_BLOCK = 1000;
    std::vector<float> x(BLOCKS * PER_BLOCK), y(BLOCKS);
    for (size_t i = 0; i < x.size(); i++) x[i] = float(i % 7) - 2;
    Arguments arguments{0, 0, PER_BLOCK};
    CHECK(cuMemAllocAsync(&arguments.x, x.size() * sizeof(float), stream));
    CHECK(cuMemAllocAsync(&arguments.y, y.size() * sizeof(float), stream));
    CHECK(cuMemcpyHtoDAsync_v2(arguments.x, x.data(), x.size() * sizeof(float), stream));
    size_t bytes = sizeof(arguments);
    unsigned dynamic = 1024;
    void* pinned = y.data();
    if (kernel == "wrong_size") bytes -= 8;
    if (kernel == "freed_before") CHECK(cuMemFreeAsync(arguments.x, stream));
    if (kernel == "other_device") {
        void* other;
        CHECK(cuDevicePrimaryCtxRetain(&other, 1));
        CHECK(cuCtxSetCurrent(other));
        unsigned long long there;
        CHECK(cuMemAlloc_v2(&there, x.size() * sizeof(float)));
        CHECK(cuCtxSetCurrent(context));
        int code = cuMemcpyDtoDAsync_v2(there, arguments.x, 4, stream);
        printf("a copy to another device: error %d\n", code);
        fflush(stdout);
        arguments.x = there;
    }
    if (kernel == "host_pointer") arguments.x = reinterpret_cast<unsigned long long>(x.data());
    if (kernel == "not_awaited") CHECK(cuMemAllocHost_v2(&pinned, y.size() * sizeof(float)));
    void* extra[] = {reinterpret_cast<void*>(1), &arguments, reinterpret_cast<void*>(2), &bytes,
                     nullptr};
    int repeat = count > 4 ? atoi(given[4]) : 1;
    std::clock_t start = std::clock();
    for (int i = 0; i < repeat; i++)
        CHECK(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, dynamic, stream, nullptr,
                             extra));
    CHECK(cuMemcpyDtoHAsync_v2(pinned, arguments.y, y.size() * sizeof(float), stream));
    if (kernel != "not_awaited") CHECK(cuStreamSynchronize(stream));
    double took = 1e6 * double(std::clock() - start) / CLOCKS_PER_SEC;
    if (repeat > 1) printf("%.2f microseconds a block\n", took / repeat / BLOCKS);
    memcpy(y.data(), pinned, y.size() * sizeof(float));
    for (float value : y) printf("%g ", value);
    printf("\n");
    CHECK(cuMemFreeAsync(arguments.x, stream));
    CHECK(cuMemFreeAsync(arguments.y, stream));
    CHECK(cuStreamSynchronize(stream));
    return 0;
}
