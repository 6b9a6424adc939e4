// Fibres: stacks that an OS thread switches between.
#ifndef NOMINA_HOST_FIBRE_H
#define NOMINA_HOST_FIBRE_H

// A suspended execution and its stack.
struct Fibre {
    void* resume;
    void* stack;
};

// Gives `fibre` a stack on which it starts with `start`, which never returns.
void begin(Fibre& fibre, void (*start)());
// Releases the stack, which may then be reused. Only for a fibre that never resumes, or the running
// one just before it switches away for good.
void end(Fibre& fibre);
// Switches from the running fibre, which is saved in `from`, to another one.
void change(Fibre& from, Fibre& to);

#endif
