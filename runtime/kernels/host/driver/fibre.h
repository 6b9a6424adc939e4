// Fibres: stacks that a thread of the system changes between.
#ifndef NOMINA_HOST_FIBRE_H
#define NOMINA_HOST_FIBRE_H

// A place to go on at, with its stack.
struct Fibre {
    void* resume;
    void* stack;
};

// Gives `fibre` a stack on which it begins with `start`, which never returns.
void begin(Fibre& fibre, void (*start)());
// Its stack may be given to another; only a fibre that never goes on again, or the running one just
// before it leaves for good.
void end(Fibre& fibre);
// Leaves the running one, which `from` keeps, for another.
void change(Fibre& from, Fibre& to);

#endif
