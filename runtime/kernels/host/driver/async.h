// What goes on beside the threads of a block: products of warpgroups, copies of boxes, barriers that count.
#ifndef NOMINA_HOST_ASYNC_H
#define NOMINA_HOST_ASYNC_H

#include <cstddef>

#include "../state.h"

// ---- async.cpp, for block.cpp
void connect_async(ShimState* state);
// Before the threads of a block, and after them: nothing may be under way then.
void begin_async();
void end_async();
// A thread has gone.
void leave_async(unsigned thread);
// Does one thing of those that are under way, if there is one: products that somebody waits for, then copies, the oldest
// first. `which` is a number to choose by.
bool go_on_async(size_t which);

// ---- block.cpp, for async.cpp
unsigned running_thread();
// Lets others go on until somebody wakes the running thread.
void sleep_thread(const char* what, ShimSite site);
void wake_thread(unsigned thread);
// Bytes of shared memory; gives up unless all lie in an array of the block.
char* shared_bytes(unsigned address, size_t bytes, const char* what);
// Whether all is done as soon as it may be.
bool at_once();

#endif
