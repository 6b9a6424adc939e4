"""Packs the node cases of the `onnx` wheel for nomina-onnx's tests: onnx/tests/data/node_cases.bin.

Usage: python3 scripts/onnx_cases.py [OUT]   (pip install onnx zstandard)

Layout, little-endian, compressed by zstd: u32 cases; for each: name, model, u32 sets; for each set: u32 inputs, their
TensorProtos, u32 outputs, theirs. A text or message is a u32 and its bytes.
"""
import struct
import sys

import numpy as np
import zstandard
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def message(value, info):
    """The bytes of an input or output."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, TensorProto):
        return value.SerializeToString()
    if kind == "sequence_type":
        return numpy_helper.from_list(list(value), info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def packed(data):
    return struct.pack("<I", len(data)) + data


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else "onnx/tests/data/node_cases.bin"
    np.random.seed(0)
    cases = [case for case in collect_testcases(None) if case.model is not None]
    body = struct.pack("<I", len(cases))
    for case in cases:
        graph = case.model.graph
        body += packed(case.name.encode()) + packed(case.model.SerializeToString())
        sets = case.data_sets or []
        body += struct.pack("<I", len(sets))
        for inputs, outputs in sets:
            for values, infos in ((inputs, graph.input), (outputs, graph.output)):
                body += struct.pack("<I", len(values))
                for value, info in zip(values, infos):
                    body += packed(message(value, info))
    data = zstandard.ZstdCompressor(level=22, write_content_size=True).compress(body)
    with open(out, "wb") as file:
        file.write(data)
    print(f"{len(cases)} cases, {len(body)} bytes, {len(data)} compressed")


main()
