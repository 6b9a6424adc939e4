// Numbers of cuDNN's graphs, and the attributes of their descriptors.
#ifndef NOMINA_HOST_CUDNN_NAMES_H
#define NOMINA_HOST_CUDNN_NAMES_H

#include "library.h"

enum Status : u32 {
    SUCCESS = 0,
    NOT_INITIALIZED = 1001,
    SERIALIZATION_VERSION_MISMATCH = 1003,
    BAD_PARAM = 2000,
    BAD_PARAM_MISALIGNED_POINTER = 2003,
    BAD_PARAM_NOT_FINALIZED = 2004,
    BAD_PARAM_OUT_OF_BOUND = 2005,
    BAD_PARAM_SHAPE_MISMATCH = 2008,
    BAD_PARAM_ATTRIBUTE_TYPE = 2010,
    NOT_SUPPORTED = 3000,
    NOT_SUPPORTED_GRAPH_PATTERN = 3001,
    NOT_SUPPORTED_DATA_TYPE = 3003,
    NOT_SUPPORTED_LAYOUT = 3004,
    NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING = 3008,
    NOT_SUPPORTED_PADDING = 3011,
    EXECUTION_FAILED = 5000,
};
enum Kind : int {
    POINTWISE = 0, CONVOLUTION = 1, ENGINE = 2, CONFIG = 3, HEURISTICS = 4, PLAN = 5, FORWARD = 10, GRADIENT = 11,
    DATA = 12, ADDITION = 13, GRAPH = 15, PACK = 16, TENSOR = 17,
};
enum Type : int {
    AS_HANDLE = 0, AS_DATA_TYPE = 1, AS_BOOLEAN = 2, AS_INT64 = 3, AS_FLOAT = 4, AS_DOUBLE = 5, AS_ADDRESS = 6,
    AS_CONVOLUTION_MODE = 7, AS_HEURISTIC_MODE = 8, AS_NOTE = 11, AS_POINTWISE_MODE = 14, AS_DESCRIPTOR = 15,
    AS_CHAR = 24,
};
enum : i64 { FLOAT = 0, DOUBLE = 1, HALF = 2, BFLOAT16 = 9 };
enum Note : u32 { TENSOR_CORE = 0, DOWN_CONVERT_INPUTS = 1, NONDETERMINISTIC = 4 };
enum Name : int {
    MODE = 0, PRECISION = 1,
    SUM_TYPE = 100, CONVOLUTION_MODE = 101, DILATIONS = 102, STEPS = 103, AFTER = 104, BEFORE = 105, SPATIAL_DIMS = 106,
    HEURISTIC_MODE = 200, HEURISTIC_GRAPH = 201, RESULTS = 202, CONFIG_ENGINE = 300,
    PLAN_HANDLE = 400, PLAN_CONFIG = 401, PLAN_WORKSPACE = 402, PLAN_TEXT = 405,
    ADD = 750, ADD_X = 751, ADD_BIAS = 752, ADD_Y = 753, GRAPH_HANDLE = 800, OPERATIONS = 801,
    ALIGNMENT = 900, ELEMENT = 901, DIMS = 902, STRIDES = 903, ID = 906, VIRTUAL = 907,
    PACK_IDS = 1000, PACK_ADDRESSES = 1001, PACK_WORKSPACE = 1003, NOTES = 1303,
    // Not visible to programs.
    ENGINE_NUMBER = -1, CONFIG_GRAPH = -2,
};

// An attribute that can be set: the most values it takes, whether it is necessary, and the descriptors it refers to.
struct Attribute {
    int kind, name, type, most;
    bool needed;
    int refers = -1;
};
static const Attribute ATTRIBUTES[] = {
    {TENSOR, ALIGNMENT, AS_INT64, 1, true},
    {TENSOR, ELEMENT, AS_DATA_TYPE, 1, true},
    {TENSOR, DIMS, AS_INT64, 8, true},
    {TENSOR, STRIDES, AS_INT64, 8, true},
    {TENSOR, ID, AS_INT64, 1, true},
    {TENSOR, VIRTUAL, AS_BOOLEAN, 1, false},
    {CONVOLUTION, SUM_TYPE, AS_DATA_TYPE, 1, true},
    {CONVOLUTION, CONVOLUTION_MODE, AS_CONVOLUTION_MODE, 1, true},
    {CONVOLUTION, DILATIONS, AS_INT64, 8, true},
    {CONVOLUTION, STEPS, AS_INT64, 8, true},
    {CONVOLUTION, AFTER, AS_INT64, 8, true},
    {CONVOLUTION, BEFORE, AS_INT64, 8, true},
    {CONVOLUTION, SPATIAL_DIMS, AS_INT64, 1, true},
    {POINTWISE, MODE, AS_POINTWISE_MODE, 1, true},
    {POINTWISE, PRECISION, AS_DATA_TYPE, 1, true},
    {ADDITION, ADD, AS_DESCRIPTOR, 1, true, POINTWISE},
    {ADDITION, ADD_X, AS_DESCRIPTOR, 1, true, TENSOR},
    {ADDITION, ADD_BIAS, AS_DESCRIPTOR, 1, true, TENSOR},
    {ADDITION, ADD_Y, AS_DESCRIPTOR, 1, true, TENSOR},
    {GRAPH, GRAPH_HANDLE, AS_HANDLE, 1, true},
    {GRAPH, OPERATIONS, AS_DESCRIPTOR, 8, true},
    {HEURISTICS, HEURISTIC_MODE, AS_HEURISTIC_MODE, 1, true},
    {HEURISTICS, HEURISTIC_GRAPH, AS_DESCRIPTOR, 1, true, GRAPH},
    {PLAN, PLAN_HANDLE, AS_HANDLE, 1, true},
    {PLAN, PLAN_CONFIG, AS_DESCRIPTOR, 1, false, CONFIG},
    {PLAN, PLAN_TEXT, AS_CHAR, 1 << 20, false},
    {PACK, PACK_IDS, AS_INT64, 8, true},
    {PACK, PACK_ADDRESSES, AS_ADDRESS, 8, true},
    {PACK, PACK_WORKSPACE, AS_ADDRESS, 1, true},
};

// The attributes of the three convolutions follow each other: alpha, beta, convolution, and three tensors.
struct Sides {
    int first, x, w, y;
};
static Sides sides(int kind) {
    if (kind == FORWARD) return {700, 704, 703, 705};
    if (kind == DATA) return {706, 710, 709, 711};
    return {712, 716, 715, 717};
}
static bool is_convolution(int kind) { return kind == FORWARD || kind == DATA || kind == GRADIENT; }

#endif
