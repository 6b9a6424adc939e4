// Uses descriptors of the emulated cuDNN wrongly, and prints the status of each call on one line.
#include <cstdint>
#include <cstdio>

extern "C" {
int cudnnBackendCreateDescriptor(int, void**);
int cudnnBackendDestroyDescriptor(void*);
int cudnnBackendSetAttribute(void*, int, int, int64_t, const void*);
int cudnnBackendGetAttribute(void*, int, int, int64_t, int64_t*, void*);
int cudnnBackendFinalize(void*);
}

enum { FORWARD = 10, TENSOR = 17 };
enum { AS_DATA_TYPE = 1, AS_INT64 = 3, AS_DESCRIPTOR = 15 };
enum { SPATIAL_DIMS = 106, FORWARD_X = 704, ALIGNMENT = 900, ELEMENT, DIMS, STRIDES, ID = 906 };

static void say(const char* what, int status) { printf("%s %d\n", what, status); }

int main() {
    void *tensor = nullptr, *operation = nullptr;
    const int64_t dims[] = {2, 3, 4, 5}, strides[] = {60, 20, 5, 1}, one = 1, alignment = 16;
    const int element = 0;
    cudnnBackendCreateDescriptor(TENSOR, &tensor);
    cudnnBackendCreateDescriptor(FORWARD, &operation);
    say("without attributes", cudnnBackendFinalize(tensor));
    say("with another type", cudnnBackendSetAttribute(tensor, ELEMENT, AS_INT64, 1, &one));
    say("of another descriptor", cudnnBackendSetAttribute(tensor, SPATIAL_DIMS, AS_INT64, 1, &one));
    say("too many values", cudnnBackendSetAttribute(tensor, ID, AS_INT64, 2, dims));
    cudnnBackendSetAttribute(tensor, ELEMENT, AS_DATA_TYPE, 1, &element);
    cudnnBackendSetAttribute(tensor, DIMS, AS_INT64, 4, dims);
    cudnnBackendSetAttribute(tensor, STRIDES, AS_INT64, 3, strides);
    cudnnBackendSetAttribute(tensor, ID, AS_INT64, 1, &one);
    cudnnBackendSetAttribute(tensor, ALIGNMENT, AS_INT64, 1, &alignment);
    say("a stride too few", cudnnBackendFinalize(tensor));
    say("not finalized", cudnnBackendSetAttribute(operation, FORWARD_X, AS_DESCRIPTOR, 1, &tensor));
    say("read too early", cudnnBackendGetAttribute(tensor, ID, AS_INT64, 0, nullptr, nullptr));
    cudnnBackendSetAttribute(tensor, STRIDES, AS_INT64, 4, strides);
    say("complete", cudnnBackendFinalize(tensor));
    say("set too late", cudnnBackendSetAttribute(tensor, STRIDES, AS_INT64, 4, strides));
    say("finalized", cudnnBackendSetAttribute(operation, FORWARD_X, AS_DESCRIPTOR, 1, &tensor));
    say("without a weight", cudnnBackendFinalize(operation));
    cudnnBackendDestroyDescriptor(tensor);
    fflush(stdout);
    // Ends the process.
    cudnnBackendSetAttribute(operation, FORWARD_X, AS_DESCRIPTOR, 1, &tensor);
    puts("a destroyed descriptor was accepted");
}
