// Handlers of the compiler's alignment and bounds checks: a device would fault where x86-64
// continues.
#ifndef NOMINA_HOST_SHIM_CHECKS_H
#define NOMINA_HOST_SHIM_CHECKS_H

// The compiler's description of a source location.
struct ShimPlace {
    const char* file;
    unsigned line, column;
};
struct ShimType {
    unsigned short kind, info;
    char name[1];
};
struct ShimMisuse {
    ShimPlace place;
    const ShimType* type;
    unsigned char log_align, access;
};
struct ShimBeyond {
    ShimPlace place;
    const ShimType* array;
    const ShimType* index;
};

inline void shim_misuse(const ShimMisuse* what, unsigned long address) {
    ShimSite site{what->place.file, static_cast<int>(what->place.line)};
    bool misaligned = address & ((1ul << what->log_align) - 1);
    shim_state.fail(address == 0 ? "access to address 0"
                    : misaligned ? "access to an address that is not aligned for its type"
                                 : "access to an object too small for its type",
                    site);
}
inline void shim_beyond(const ShimBeyond* what) {
    ShimSite site{what->place.file, static_cast<int>(what->place.line)};
    shim_state.fail("index beyond the end of an array", site);
}

#define SHIM_HANDLER extern "C" __attribute__((visibility("hidden"), used))
SHIM_HANDLER void __ubsan_handle_type_mismatch_v1(ShimMisuse* what, unsigned long address);
void __ubsan_handle_type_mismatch_v1(ShimMisuse* what, unsigned long address) {
    shim_misuse(what, address);
}
SHIM_HANDLER void __ubsan_handle_type_mismatch_v1_abort(ShimMisuse* what, unsigned long address);
void __ubsan_handle_type_mismatch_v1_abort(ShimMisuse* what, unsigned long address) {
    shim_misuse(what, address);
}
SHIM_HANDLER void __ubsan_handle_out_of_bounds(ShimBeyond* what, unsigned long);
void __ubsan_handle_out_of_bounds(ShimBeyond* what, unsigned long) { shim_beyond(what); }
SHIM_HANDLER void __ubsan_handle_out_of_bounds_abort(ShimBeyond* what, unsigned long);
void __ubsan_handle_out_of_bounds_abort(ShimBeyond* what, unsigned long) { shim_beyond(what); }

#endif
