// Operations that run concurrently with the threads of a block: warpgroup products, copies of boxes, transaction
// barriers.
#ifndef NOMINA_HOST_ASYNC_H
#define NOMINA_HOST_ASYNC_H

#include <cstddef>

#include "../state.h"

// ---- async.cpp, for block.cpp
void connect_async(ShimState* state);
// Called before and after the threads of a block; nothing may be pending at the end.
void begin_async();
void end_async();
// Called when a thread ends.
void leave_async(unsigned thread);
// Completes one pending operation, if any: first awaited products, then the oldest copy. `which` selects among them.
bool go_on_async(size_t which);

// ---- block.cpp, for async.cpp
unsigned running_thread();
// Suspends the running thread until it is woken.
void sleep_thread(const char* what, ShimSite site);
void wake_thread(unsigned thread);
// Returns a pointer to bytes of shared memory; gives up unless all are in one array of the block.
char* shared_bytes(unsigned address, size_t bytes, const char* what);
// Returns whether operations complete as early as possible.
bool at_once();

#endif
