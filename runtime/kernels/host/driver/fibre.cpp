#include "fibre.h"

#include <cstdint>
#include <sys/mman.h>
#include <vector>

#include "driver.h"

static constexpr size_t STACK = 64 << 10, PAGE = 4096, LINE = 64;

static void* take_stack();
static std::vector<void*>& unused = *new std::vector<void*>;

#if defined(__x86_64__) && !defined(NOMINA_FAKE_UCONTEXT)

extern "C" void fake_change(void** from, void* to);
// Saves the callee-saved registers on the stack that is left.
asm(R"(
    .text
    .globl fake_change
    .hidden fake_change
    .type fake_change, @function
fake_change:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size fake_change, .-fake_change
)");

void begin(Fibre& fibre, void (*start)()) {
    fibre.stack = take_stack();
    // Six registers and the return address; at a function's entry the stack is 8 bytes off 16-byte
    // alignment.
    uintptr_t* top = reinterpret_cast<uintptr_t*>(static_cast<char*>(fibre.stack) + STACK) - 8;
    // Stagger the tops of stacks: otherwise they would share a few cache sets.
    top -= reinterpret_cast<uintptr_t>(fibre.stack) / (STACK + PAGE) % 61 * LINE / sizeof(*top);
    for (int i = 0; i < 6; i++) top[i] = 0;
    top[6] = reinterpret_cast<uintptr_t>(start);
    top[7] = 0;
    fibre.resume = top;
}

void change(Fibre& from, Fibre& to) { fake_change(&from.resume, to.resume); }

#else

#include <ucontext.h>

// The context is at the low end of its stack; the context of the system's stack is created once.
void begin(Fibre& fibre, void (*start)()) {
    fibre.stack = take_stack();
    auto* context = static_cast<ucontext_t*>(fibre.stack);
    getcontext(context);
    context->uc_stack.ss_sp = static_cast<char*>(fibre.stack) + PAGE;
    context->uc_stack.ss_size = STACK - PAGE;
    context->uc_link = nullptr;
    makecontext(context, start, 0);
    fibre.resume = context;
}

void change(Fibre& from, Fibre& to) {
    if (!from.resume) from.resume = new ucontext_t;
    swapcontext(static_cast<ucontext_t*>(from.resume), static_cast<ucontext_t*>(to.resume));
}

#endif

void end(Fibre& fibre) {
    unused.push_back(fibre.stack);
    fibre.stack = nullptr;
}

static void* take_stack() {
    if (unused.empty()) {
        // A guard page below each stack.
        void* pages = mmap(nullptr, STACK + PAGE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pages == MAP_FAILED) give_up("no memory for the stacks of a block");
        mprotect(pages, PAGE, PROT_NONE);
        return static_cast<char*>(pages) + PAGE;
    }
    void* stack = unused.back();
    unused.pop_back();
    return stack;
}
