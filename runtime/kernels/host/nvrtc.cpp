// The fake NVRTC: the system's C++ compiler compiles kernels, with shim.h included first, into a shared object, which
// takes the place of GPU code; the fake driver loads it.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define NVRTC extern "C" __attribute__((visibility("default"))) nvrtcResult

enum nvrtcResult : int {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
};

struct Header {
    std::string name, text;
};
struct Program {
    std::string source, name, log, image;
    std::vector<Header> headers;
};
typedef Program* nvrtcProgram;

extern char** environ;

static bool write_file(const std::string& path, const std::string& text) {
    FILE* file = fopen(path.c_str(), "wb");
    if (!file) return false;
    bool written = fwrite(text.data(), 1, text.size(), file) == text.size();
    return fclose(file) == 0 && written;
}

static bool read_file(const std::string& path, std::string& text) {
    FILE* file = fopen(path.c_str(), "rb");
    if (!file) return false;
    char part[65536];
    size_t count;
    text.clear();
    while ((count = fread(part, 1, sizeof(part), file)) > 0) text.append(part, count);
    fclose(file);
    return true;
}

static void remove_folder(const std::string& folder) {
    DIR* entries = opendir(folder.c_str());
    if (!entries) return;
    while (dirent* entry = readdir(entries)) unlink((folder + "/" + entry->d_name).c_str());
    closedir(entries);
    rmdir(folder.c_str());
}

static std::string new_folder(const std::string& above) {
    std::string path = above + "/nomina-XXXXXX";
    return mkdtemp(path.data()) ? path : "";
}

static std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> found;
    size_t at = 0;
    while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
        size_t end = std::min(text.find(' ', at), text.size());
        found.push_back(text.substr(at, end - at));
        at = end;
    }
    return found;
}

// Returns the folder of this library, which contains shim.h and precompiled headers.
static std::string own_folder() {
    Dl_info own;
    if (!dladdr(reinterpret_cast<void*>(&own_folder), &own)) return "";
    char* path = realpath(own.dli_fname, nullptr);
    if (!path) return "";
    std::string folder(path);
    free(path);
    return folder.substr(0, folder.rfind('/'));
}

// Runs the compiler in `folder`; its output goes to a log there.
static bool compile(const std::vector<std::string>& arguments, const std::string& folder,
                    std::string& log) {
    const char* named = getenv("CXX");
    std::vector<std::string> command = words(named && *named ? named : "c++");
    for (const char* always :
         {"-std=c++17", "-O1", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-gnu-unique",
          "-fno-strict-aliasing", "-fno-math-errno", "-ffp-contract=off", "-fvisibility=hidden",
          "-fsanitize=alignment,bounds", "-w", "-pipe"})
        command.push_back(always);
    command.push_back("-I" + own_folder());
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : command) pointers.push_back(word.data());
    pointers.push_back(nullptr);

    std::string said = folder + "/log";
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t child;
    int failed = posix_spawnp(&child, pointers[0], &files, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failed) {
        log = "fake nvrtc: no compiler: " + command[0] + ": " + strerror(failed) + "\n";
        return false;
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    read_file(said, log);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static unsigned long digest(const std::vector<Header>& headers) {
    unsigned long hash = 0xcbf29ce484222325ul;
    auto add = [&](const std::string& text) {
        for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3ul;
        hash = (hash ^ text.size()) * 0x100000001b3ul;
    };
    const char* named = getenv("CXX");
    add(named ? named : "");
    for (const Header& header : headers) add(header.name), add(header.text);
    return hash;
}

// Returns a folder with the headers as files. It is renamed to its final name once it is complete.
static std::string header_folder(const std::vector<Header>& headers) {
    std::string above = own_folder();
    char name[32];
    snprintf(name, sizeof(name), "/headers-%016lx", digest(headers));
    std::string folder = above + name;
    if (access(folder.c_str(), R_OK) == 0) return folder;
    std::string made = new_folder(above);
    if (made.empty()) return "";
    bool well = true;
    for (const Header& header : headers) well &= write_file(made + "/" + header.name, header.text);
    if (!well || rename(made.c_str(), folder.c_str()) != 0) remove_folder(made);
    return access(folder.c_str(), R_OK) == 0 ? folder : "";
}

// Headers that do not depend on a program's macros: they are precompiled.
static const char* const COMMON[] = {"types.cuh",   "index.cuh",   "block.cuh",
                                     "numeric.cuh", "special.cuh", "philox.cuh"};

// Returns a header to include first: shim.h and the common headers that the program includes, precompiled.
static std::string prefix(const std::string& source, const std::string& folder,
                          const std::string& temporary) {
    std::string path = folder + "/prefix", text = "#include \"shim.h\"\n", log;
    for (const char* common : COMMON) {
        std::string line = std::string("#include \"") + common + "\"\n";
        if (source.find(line) == std::string::npos) continue;
        text += line;
        path += std::string("-") + common;
    }
    path += ".h";
    if (access((path + ".gch").c_str(), R_OK) == 0) return path;
    // Several programs may be compiled at once, so a file gets its final name once it is complete. If a header has
    // errors, the program that includes it reports them.
    std::string made = new_folder(folder), own = made + "/prefix.h", plain = temporary + "/plain.h";
    bool well = write_file(own, text)
                && compile({"-I" + folder, "-x", "c++-header", own, "-o", own + ".gch"}, made, log)
                && rename(own.c_str(), path.c_str()) == 0
                && rename((own + ".gch").c_str(), (path + ".gch").c_str()) == 0;
    remove_folder(made);
    write_file(plain, "#include \"shim.h\"\n");
    return well ? path : plain;
}

static bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// Passes macros on; options for a GPU are ignored.
static bool take_option(const std::string& option, std::vector<std::string>& arguments) {
    for (const char* define : {"--define-macro=", "-D"})
        if (starts(option, define)) {
            arguments.push_back("-D" + option.substr(strlen(define)));
            return true;
        }
    for (const char* known :
         {"--gpu-architecture=", "-arch=", "--std=", "-std=", "--fmad=", "-fmad=", "--device-debug",
          "--generate-line-info", "-lineinfo", "--restrict", "--extra-device-vectorization",
          "--default-device", "-default-device", "--maxrregcount=", "--ptxas-options=", "--dopt",
          "--no-source-include", "--diag-suppress=", "--minimal", "--split-compile="})
        if (starts(option, known)) return true;
    return false;
}

NVRTC nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

static const int ARCHS[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

NVRTC nvrtcGetNumSupportedArchs(int* count) {
    *count = sizeof(ARCHS) / sizeof(ARCHS[0]);
    return NVRTC_SUCCESS;
}

NVRTC nvrtcGetSupportedArchs(int* archs) {
    memcpy(archs, ARCHS, sizeof(ARCHS));
    return NVRTC_SUCCESS;
}

// Injects a fault for a test: NOMINA_FAKE_FAULT is "from=>to", and each occurrence of `from` is replaced.
static std::string faulty(std::string text) {
    const char* fault = getenv("NOMINA_FAKE_FAULT");
    const char* arrow = fault ? strstr(fault, "=>") : nullptr;
    if (!arrow) return text;
    std::string from(fault, arrow), to(arrow + 2);
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

NVRTC nvrtcCreateProgram(nvrtcProgram* out, const char* source, const char* name, int count,
                         const char* const* headers, const char* const* names) {
    if (!out || !source || count < 0) return NVRTC_ERROR_INVALID_INPUT;
    auto* program = new Program{faulty(source), name && *name ? name : "default_program.cu", "", "", {}};
    for (int i = 0; i < count; i++) program->headers.push_back({names[i], faulty(headers[i])});
    for (char& letter : program->name)
        if (letter == '/') letter = '_';
    *out = program;
    return NVRTC_SUCCESS;
}

NVRTC nvrtcDestroyProgram(nvrtcProgram* program) {
    if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

// The number of compiled modules, reported at exit if NOMINA_FAKE_REPORT is set.
static std::atomic<int> compiled_modules;

static void report_compiled() {
    fprintf(stderr, "fake nvrtc: %d modules compiled\n", compiled_modules.load());
}

NVRTC nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    if (compiled_modules++ == 0 && getenv("NOMINA_FAKE_REPORT")) atexit(report_compiled);
    std::vector<std::string> arguments;
    for (int i = 0; i < count; i++)
        if (!take_option(options[i], arguments)) {
            program->log = std::string("fake nvrtc: unknown option ") + options[i] + "\n";
            return NVRTC_ERROR_INVALID_OPTION;
        }
    const char* temporary = getenv("TMPDIR");
    std::string folder = new_folder(temporary && *temporary ? temporary : "/tmp");
    std::string headers = header_folder(program->headers);
    if (folder.empty() || headers.empty()) {
        program->log = "fake nvrtc: no folder for what is compiled\n";
        return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    }
    std::string source = folder + "/" + program->name, image = folder + "/image.so";
    // The image has only two segments, because a process has a limited number of mappings.
    const std::string fixed[] = {"-I" + headers, "-include",
                                 prefix(program->source, headers, folder), "-shared", "-nostdlib",
                                 "-Wl,-z,noseparate-code,-z,norelro", "-x", "c++", source, "-o",
                                 image, "-lm", "-lc"};
    arguments.insert(arguments.end(), std::begin(fixed), std::end(fixed));
    bool compiled = write_file(source, program->source) && compile(arguments, folder, program->log)
                    && read_file(image, program->image);
    remove_folder(folder);
    return compiled ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

static nvrtcResult image_size(nvrtcProgram program, size_t* size) {
    if (!program || program->image.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
    *size = program->image.size();
    return NVRTC_SUCCESS;
}
static nvrtcResult image(nvrtcProgram program, char* out) {
    if (!program || program->image.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
    memcpy(out, program->image.data(), program->image.size());
    return NVRTC_SUCCESS;
}
NVRTC nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) { return image_size(program, size); }
NVRTC nvrtcGetCUBIN(nvrtcProgram program, char* out) { return image(program, out); }
NVRTC nvrtcGetPTXSize(nvrtcProgram program, size_t* size) { return image_size(program, size); }
NVRTC nvrtcGetPTX(nvrtcProgram program, char* out) { return image(program, out); }

NVRTC nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    *size = program->log.size() + 1;
    return NVRTC_SUCCESS;
}
NVRTC nvrtcGetProgramLog(nvrtcProgram program, char* out) {
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    memcpy(out, program->log.c_str(), program->log.size() + 1);
    return NVRTC_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(nvrtcResult code) {
    switch (code) {
    case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case NVRTC_ERROR_OUT_OF_MEMORY: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NVRTC_ERROR_PROGRAM_CREATION_FAILURE: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case NVRTC_ERROR_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION: return "NVRTC_ERROR_COMPILATION";
    }
    return "NVRTC_ERROR unknown";
}
